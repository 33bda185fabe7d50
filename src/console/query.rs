//! The typed query language: text to filter and sort, and back.
