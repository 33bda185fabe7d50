//! Deliveries to real receivers: bodies, credentials, retries, order.

mod receiving;
mod sending;
