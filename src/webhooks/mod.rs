//! Webhook delivery: sends the deliveries that the outbox holds.
//!
//! A [`Dispatcher`] leases due deliveries from the store, a [`Sender`] makes one POST of each ([`signature`] signs it),
//! [`crate::domain::webhook::schedule`] says what follows, and the result is recorded. [`resolver`] guards which addresses are connected to.
//! [`Receiver`] is the other side: a small local receiver for the demo and for trying things out.

pub mod breaker;
pub mod dispatcher;
mod queues;
pub mod receiver;
pub mod resolver;
pub mod sender;
pub mod signature;

pub use dispatcher::{Dispatcher, DispatcherSettings, RunReport};
pub use receiver::{ReceivedEvent, Receiver, ReceiverSettings};
pub use sender::{AttemptReport, Sender, SenderSettings};
