//! The ledger of answers: each step of each answer that was given on this workstation is a line of the journal, and
//! what is known of an answer is the fold of its lines.

pub mod command;
pub mod decisions;
pub mod files;
pub mod history;
pub mod preflight;
pub mod results;
pub mod sender;
pub mod steps;
