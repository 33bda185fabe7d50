//! Deliveries to real receivers: bodies, credentials, retries, order.

mod addresses;
mod allowing;
mod calls;
mod clocks;
mod commands;
mod disabling;
mod dispatching;
mod faulty;
mod hostile;
pub mod house;
mod listening;
mod log;
mod receiving;
mod recovering;
mod sending;
mod sharing;
mod signing;
mod testing;
pub mod troubled;
mod trusting;
