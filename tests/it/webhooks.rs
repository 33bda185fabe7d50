//! Deliveries to real receivers: bodies, credentials, retries, order.

mod dispatching;
pub mod house;
mod receiving;
mod recovering;
mod sending;
mod signing;
pub mod troubled;
