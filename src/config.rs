//! Settings: file < environment < flags, each with its default.
