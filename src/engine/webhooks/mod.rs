//! Webhook delivery: sends the deliveries that the outbox holds.
//!
//! A [`Dispatcher`] leases due deliveries from the store, and a [`Sender`] makes one POST of each ([`signature`] signs
//! it). [`crate::domain::webhook::schedule`] says what follows, and the result is recorded. [`GuardedResolver`] guards
//! the addresses that are connected to. [`Receiver`] is the other side: a local listener that checks a delivery,
//! records it ([`recording`]) and sends it on ([`reposting`]).

pub mod dispatcher;
mod queues;
pub mod receiver;
pub mod recording;
pub mod reposting;
pub mod sender;

pub use crate::inbound::signature;
pub use dispatcher::{Dispatcher, DispatcherSettings, RunReport};
pub use receiver::{Receiver, ReceiverSettings};
pub use sender::{AttemptReport, GuardedResolver, Sender, SenderSettings};
