//! Batch sizes: how much is done at once, one constant for each meaning.

/// Number of alerts that an intake reads ahead, and stores in one commit where no other process writes.
pub const INTAKE: usize = 4_000;

/// Number of them stored in one commit where another process may wait to write: some milliseconds.
pub const BESIDE_OTHERS: usize = 64;

/// Most rows that a background loop changes in one commit (expiry, pruning), so that others get their turn in between.
pub const AT_ONCE: u32 = 500;

/// Most resolution attempts that a reconciler takes over at once.
pub const TAKEOVER: u32 = 32;

/// Number of them that are checked at the same time.
pub const TAKEOVER_IN_FLIGHT: usize = 8;

/// Most results of delivery attempts in one commit.
pub const RECORDS: usize = 256;
