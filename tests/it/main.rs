//! The integration tests: one binary, a file per subject.

// One crate of its own: what the files share is as public as their modules, and nobody is outside.
#![allow(unreachable_pub)]
// What a test cannot get on without may panic, in its helpers too.
#![allow(clippy::unwrap_used)]

mod api;
mod calling;
mod canaries;
mod cli;
mod client;
mod clusters;
mod console;
mod contract;
mod crash;
mod days;
mod deploy;
mod engine;
mod forms;
mod import;
mod operations;
mod organizations;
mod peers;
mod profiles;
mod protocol;
mod providers;
mod proxies;
mod read_only;
mod readme;
mod schemas;
mod secrets;
mod sentences;
mod settings;
mod smoke;
mod sources;
mod store;
mod support;
mod tidy;
mod triage;
mod walk;
mod webhooks;
mod wire;
