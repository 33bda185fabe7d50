//! kill -9 of the real binary: nothing acknowledged is lost.
