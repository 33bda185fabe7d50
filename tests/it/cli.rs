//! The command line with its fixed forms, run as the real binary.
