//! Ports: one where nobody listens, and ones that stay free until they are listened on.

use std::{
    net::TcpListener,
    sync::atomic::{AtomicU16, Ordering},
};

/// An address where nobody listens, now or later: no system hands this port out.
pub const NOBODY: &str = "127.0.0.1:1";

/// A free port, another one each time, below those that the system hands out by itself: nobody takes it before it is
/// listened on.
pub fn free_port() -> u16 {
    static TAKEN: AtomicU16 = AtomicU16::new(0);
    let first = (std::process::id() % 10_000) as u16;
    loop {
        let port = 20_000 + first.wrapping_add(TAKEN.fetch_add(1, Ordering::Relaxed)) % 10_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
