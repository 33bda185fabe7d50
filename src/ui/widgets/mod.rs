//! Widgets: parts that screens and dialogs are drawn with. They know text, pen and theme, and nothing of what they are
//! part of.

pub mod buttons;
pub mod click_targets;
pub mod menu;
pub mod panel;
pub mod scrollbar;
pub mod text_input;
