//! Everything that comes in by HTTP, to the API and to the webhook receiver: the code that both servers share.
//!
//! [`connections`] takes connections within bounds, serves them, knows the activity of each, and which one gives way.
//! [`framing`] refuses what frames a body twice and reads bodies. [`write_timeout`] closes connections whose client
//! stops reading. [`signature`] checks who sent a webhook.

use avert_domain as domain;

pub mod connections;
pub mod framing;
pub mod signature;
pub mod write_timeout;
