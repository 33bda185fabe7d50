//! The HTTP client of another deployment's alert service, in either dialect.
//!
//! A [`Client`] is bound to one credential, as an engine's handle is bound to one caller. Reads are repeated a little
//! where that helps. **A decision is sent once**: where no reply comes its result is indeterminate.

use avert_domain as domain;
use avert_outbound as outbound;
use avert_service as service;
use avert_wire as wire;

mod changes;
mod credentials;
mod handle;
mod http;
mod inner;
mod operator;
mod options;
mod paging;
mod probe;
mod reading;
mod refusals;
mod resolving;
mod tokens;
mod webhooks;

pub use handle::Client;
pub use options::{AccessCredential, ClientError, ClientOptions, Pauses};
pub use probe::{ListProbe, OperatorProbe};
