//! The integration tests: one binary, a file per subject.

mod api;
mod cli;
mod console;
mod crash;
mod engine;
mod forms;
mod import;
mod smoke;
mod store;
mod support;
mod tidy;
mod webhooks;
mod wire;
