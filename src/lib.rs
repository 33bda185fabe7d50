//! avert: a desk for chargeback alerts.

pub mod api;
pub mod cli;
pub mod config;
pub mod console;
pub mod desk;
pub mod domain;
pub mod engine;
pub mod providers;
pub mod service;
pub mod store;
pub mod telemetry;
pub mod webhooks;
pub mod wire;
