//! The screens and the forms that open over them: each has its state, what a key does to it, and how it is drawn.

pub mod filter_form;
pub mod queue;
pub mod resolve_form;
