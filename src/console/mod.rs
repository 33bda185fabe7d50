//! The terminal console.

pub mod decisions;
pub mod keymap;
pub mod loadable;
pub mod query;
pub mod screens;
pub mod text;
pub mod theme;
pub mod times;
pub mod widgets;
