//! Webhooks: endpoints (address, credential, signing secrets), deliveries to them, and the rules that say what follows
//! an attempt.

pub mod delivery;
pub mod endpoint;
pub mod rendering;
pub mod schedule;
pub mod signing;
pub mod subscription;
