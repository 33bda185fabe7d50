//! A field to type in.
