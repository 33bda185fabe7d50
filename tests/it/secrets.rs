//! The keys that avert keeps for itself, rotated by the real binary while it serves, on a file and on a server.

mod data;
mod signing;
