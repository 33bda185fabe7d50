//! The HTTP API of the engine: routes, credentials, errors, protection.
