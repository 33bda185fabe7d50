//! avert: a desk for chargeback alerts, and the whole alert service behind it.
//!
//! Card networks warn a merchant before a dispute becomes a chargeback. The merchant has a day or three to say what it
//! did, once, and the answer is final. This crate is the service that keeps those alerts and records those answers, and
//! the console in which people work them. It is a library with one binary on top.
//!
//! # The map
//!
//! The words and rules of the field are in [`domain`]: alerts, exact money, filters, and `decide`, the table of what an
//! answer does. It is pure; everything else speaks in its terms.
//!
//! [`service`] is the seam in the middle: **a console talks to a service and does not know whether the service is in
//! the same process.** A handle behind that seam is bound to one caller when it is made, so nothing above it can forget
//! whose alerts these are.
//!
//! Below the seam is the engine's half. [`engine`] holds the use cases and is the only writer of alerts. It calls the
//! networks through [`engine::providers`], and keeps everything in a [`store`], each of whose methods is one whole unit
//! of work: an outcome, the new status, the event and its deliveries are one commit. [`engine::webhooks`] takes the
//! deliveries from there and brings them to the merchant. All that goes out by HTTP is set up, bounded and explained by
//! [`outbound`], and all that comes in is bounded by [`inbound`]. [`sources`] maps what others send. [`wire`] is the
//! JSON of the interface, and [`api`] answers it over HTTP.
//!
//! [`client`] stands behind the same seam for a service that is somewhere else: it speaks to it over HTTP, in either
//! dialect of [`wire`].
//!
//! Above the seam is the desk's half. [`console`] is the terminal: a model, one pure `update`, effects that run on the
//! service, and a draw, built of the kit in [`ui`], which knows nothing of alerts. [`desk`] is what belongs to this
//! workstation and not to the service; it also finds out what became of a decision whose answer was lost. [`cli`] is
//! the command line, the one room that knows all the others and puts them together; [`config`] and [`telemetry`] serve
//! it.
//!
//! # Who may use whom
//!
//! ```text
//! console   → desk, domain, service, ui
//! desk      → domain, service
//! api       → domain, engine, inbound, service, wire
//! client    → domain, outbound, service, wire
//! engine    → domain, inbound, outbound, service, sources, store, wire
//! store     → domain, outbound
//! ui        → domain
//! wire      → domain
//! service   → domain
//! inbound   → domain
//! sources   → domain
//! outbound  → domain
//! config    → desk, domain, outbound, sources
//! telemetry → domain
//! ```
//!
//! [`cli`] uses all of them, [`config`] and [`telemetry`] too. Each room but these three is a crate below `src`, which
//! lists its dependencies in its manifest; `tests/it/tidy.rs` checks manifests and imports against this diagram and
//! forbids cycles of files.
//!
//! # How state flows
//!
//! In the console: key, keymap, action, `App::update`, effects, a task on the service, a message, `update` again; when
//! no message waits and something changed, one frame. Over HTTP: request, caller, service on the engine, `decide`,
//! one commit, response. Apart from both, the dispatcher: claim with a lease, send, record, schedule.
//!
//! # Words
//!
//! The merchant's word on an alert is an *answer* on the screen, a *decision* in the console and the journal, a
//! *resolution* on the wire. The engine makes an *attempt* to have it applied by the network; what is stored of it is
//! the *outcome*.

pub mod cli;
pub mod config;
pub mod telemetry;

pub use avert_api as api;
pub use avert_client as client;
pub use avert_console as console;
pub use avert_desk as desk;
pub use avert_domain as domain;
pub use avert_engine::{self as engine, providers, webhooks};
pub use avert_inbound as inbound;
pub use avert_outbound as outbound;
pub use avert_service as service;
pub use avert_sources as sources;
pub use avert_store as store;
pub use avert_ui as ui;
pub use avert_wire as wire;
