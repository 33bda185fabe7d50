//! What the tests share.

pub mod alerts;
pub mod binary;
pub mod client;
pub mod clock;
pub mod cluster;
#[cfg(target_os = "linux")]
pub mod date;
pub mod engine;
pub mod gate;
pub mod link;
pub mod operations;
pub mod outside;
pub mod pooler;
pub mod ports;
pub mod postgres;
pub mod raw_server;
pub mod receiver;
pub mod respelling;
pub mod size;
pub mod stop;
pub mod store;
pub mod svg;
pub mod terminal;
pub mod tls;
pub mod two_machines;
