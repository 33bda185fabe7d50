//! The screens and what opens over them: each has its state, what a key does to it, and how it is drawn.

pub mod columns_menu;
pub mod filter_form;
pub mod help;
pub mod leave;
pub mod prompt;
pub mod queue;
pub mod resolve_form;
pub mod settings;
pub mod settle;
pub mod views_menu;
