//! `avert demo`: made-up alerts that look real.

mod catalogue;
mod feed;

pub use feed::DemoFeed;
