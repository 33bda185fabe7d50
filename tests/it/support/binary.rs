//! Runs the real binary: spawn, wait for its first line, kill.
