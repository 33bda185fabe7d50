//! Reasons for which an action does nothing, in the words that more than one place says them in.

/// The reason, unless something holds.
pub fn unless(holds: bool, why: &'static str) -> Option<&'static str> {
    (!holds).then_some(why)
}

/// Nothing is written from this console.
pub const READ_ONLY: &str = "read-only connection";

/// The cursor is on no alert.
pub const NO_ALERT: &str = "no alert is here";

/// There is no last decision.
pub const NONE_MADE: &str = "no answer yet";

/// No alerts were answered together.
pub const NO_RUN: &str = "no run yet";

/// Nothing can be taken back on a screen.
pub const NONE_STAGED: &str = "nothing is queued";

/// Nothing waits for a person's word.
pub const NONE_PARKED: &str = "no answer needs a result";

/// There are no rows.
pub const NOTHING_LISTED: &str = "nothing is listed";

/// It is done elsewhere.
pub const OTHER_PLACE: &str = "not available here";
