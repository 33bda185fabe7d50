//! The real binary in a pseudo-terminal: an alert resolved by keys.
