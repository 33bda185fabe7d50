//! The command line: the clap tree and a file per command; the only place that picks an engine.
