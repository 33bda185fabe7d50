//! The JSON of the interface.
