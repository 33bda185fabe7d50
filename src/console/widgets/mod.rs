//! Widgets: they know nothing of screens.

pub mod menu;
pub mod scrollbar;
pub mod spots;
pub mod text_input;
