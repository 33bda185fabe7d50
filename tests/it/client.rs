//! The client against deployments that are not avert's: odd answers, slow ones, broken ones, and tokens that end.

mod answers;
mod commands;
mod compressed;
mod doubts;
mod exports;
mod foreign;
mod journaled;
mod lists;
mod many;
mod refusals;
mod tls;
mod tokens;
