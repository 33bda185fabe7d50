//! What the tests share.

pub mod alerts;
pub mod binary;
pub mod clock;
pub mod receiver;
pub mod terminal;
