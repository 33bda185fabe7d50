//! The engine over a real store: ingest, resolution protocol, expiry, keys.
