//! Tracing: to a file while the console is open, to stderr when serving.
