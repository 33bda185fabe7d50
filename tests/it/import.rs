//! Bringing alerts in from files.
