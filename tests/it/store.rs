//! The contract of every store.
