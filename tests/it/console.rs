//! The console: its model driven by messages, its loop by injected input, and a picture of every state at three sizes.

mod activity;
mod any_keys;
mod bulk;
mod cases;
mod elsewhere;
pub mod fake;
mod fake_webhooks;
mod faults;
mod finding;
mod foreign_text;
mod going_round;
mod header;
mod insights;
mod journaled;
mod marks;
mod orders;
mod pictures;
mod receiver;
mod resolving;
mod rig;
mod rules;
mod sent;
mod settings;
mod settling;
mod styled;
mod walking;
mod webhooks;
