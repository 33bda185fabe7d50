//! Widgets: they know nothing of screens.

pub mod menu;
pub mod scrollbar;
pub mod text_input;
