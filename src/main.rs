//! The `avert` binary: parse, run the command, turn an error into an exit code.

fn main() {}
