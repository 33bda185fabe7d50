//! The Queue screen.

pub mod columns;
pub mod facts;
pub mod listing;
