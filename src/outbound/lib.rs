//! Everything that goes out by HTTP, to another deployment, to a gateway, to a receiver: what all these calls share.
//!
//! [`client`] is the one set-up of an HTTP client, [`trust`] the rule by which a server's certificate is good, [`tls`]
//! the files of a client's TLS, [`names`] how a host is found, [`proxy`] who stands in between, [`credential`] the
//! header that a call is known by, [`body`] the bounded body of an answer, [`date`] what its clock showed, [`reason`]
//! why none came (by its [`causes`] and the [`handshake`]), [`retry_after`] how long to wait, and [`circuit`] leaves
//! alone whoever does not answer.

extern crate self as outbound;

use avert_domain as domain;

pub mod body;
pub mod causes;
pub mod circuit;
pub mod client;
pub mod credential;
pub mod date;
pub mod handshake;
pub mod names;
pub mod proxy;
pub mod reason;
pub mod retry_after;
pub mod tls;
pub mod trust;
