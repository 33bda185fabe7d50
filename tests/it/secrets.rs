//! Secrets: the keys that avert keeps for itself, rotated while it serves, and those that come from files.

mod data;
mod files;
mod signing;
