//! The alert service's use cases; the only writer of alerts.
//!
//! An [`Engine`] stands on a store, the providers, a clock and its settings. It is bound to a caller before anything is
//! asked of it: [`Engine::acting_for`] gives the handle behind which every capability of the seam stands.
//! [`Engine::start`] starts its loops: alerts expire at their deadline, indeterminate decisions are reconciled with the
//! provider, rules answer, and rows beyond their retention are pruned.

use avert_domain as domain;
use avert_inbound as inbound;
use avert_outbound as outbound;
use avert_service as service;
use avert_sources as sources;
use avert_store as store;
use avert_wire as wire;

mod access;
mod acting;
mod background;
mod clock;
mod clock_guard;
mod credentials;
pub mod doctor;
mod endpoints;
mod engine_rules;
mod expire;
mod handle;
pub mod intake;
mod metrics;
mod organizations;
pub mod providers;
mod pull;
mod reconcile;
mod resolve;
mod rules;
mod source;
mod source_events;
mod token_keys;
mod tokens;
pub mod trace;
pub mod webhooks;

pub use access::KnownClient;
pub use acting::ActingEngine;
pub use clock::MonotonicClock;
pub use engine_rules::EngineRules;
pub use handle::{Caller, Engine, EngineSettings};
pub use pull::{PullFrom, PullOf, Pulled};
pub use reconcile::Reconciled;
pub use rules::AnsweredByRules;
pub use source::{InboundSource, SentEvent};
pub use source_events::{Remapped, SignedRequest};
pub use token_keys::RotatedSigningKey;
pub use tokens::{AccessToken, TOKEN_LIFETIME};
