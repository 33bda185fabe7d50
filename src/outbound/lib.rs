//! Everything that goes out by HTTP, to another deployment, to a gateway, to a receiver: the code that all these calls
//! share.
//!
//! [`client`] is the one set-up of an HTTP client, and [`address`] the guard of where it may connect. [`trust`] is the
//! rule by which a server's certificate is good, and [`tls`] reads the files of a client's TLS. [`proxy`] resolves a
//! host and finds the proxy in between, and [`credential`] makes the header that authenticates a call. [`body`] is the
//! bounded body of an answer, [`date`] the time that its clock showed and the wait that it asked for. [`reason`] tells
//! why none came, by its causes and the [`handshake`]. [`circuit`] leaves alone whoever does not answer.

use avert_domain as domain;

pub mod address;
pub mod body;
pub mod circuit;
pub mod client;
pub mod credential;
pub mod date;
pub mod handshake;
pub mod proxy;
pub mod reason;
pub mod tls;
pub mod trust;
