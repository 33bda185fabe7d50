//! The engine on a real store: the transition table, the one winner, what becomes of every fault, deadlines, ingest,
//! keys.

mod access;
mod clients;
mod clocks;
mod duplicates;
mod environments;
mod expiry;
mod ingest;
mod reconcile;
mod repeats;
mod resolve;
