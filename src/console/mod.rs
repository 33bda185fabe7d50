//! The terminal console.

pub mod query;
pub mod screens;
pub mod theme;
pub mod widgets;
