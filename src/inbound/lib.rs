//! Everything that comes in by HTTP, to the API and to the webhook receiver: the code that both servers share.
//!
//! [`accepting`] takes connections within bounds, and [`connection`] serves one of them. [`connections`] knows the
//! activity of each, and which one gives way. `framing` refuses what frames a body twice. [`answering`] sees an answer
//! to its end, and [`body`] reads the body of a request. [`network`] tells addresses apart, and [`write_timeout`] ends
//! what nobody reads.

pub mod connections;
pub mod framing;
pub mod write_timeout;
