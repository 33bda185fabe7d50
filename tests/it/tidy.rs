//! House rules, held by reading the source.
