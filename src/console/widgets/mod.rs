//! Widgets: they know nothing of screens.

pub mod text_input;
