//! The HTTP API of the engine: routes, credentials, errors, protection.

mod errors;
mod hostile;
mod lists;
mod resolving;
mod served;
