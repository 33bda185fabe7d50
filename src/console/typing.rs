//! The debounce of a search while one types: when it is asked for what is typed.

use chrono::Duration;

use crate::domain::Timestamp;

/// Typing rests so long: keys that were sent by a program come sooner after each other, and nobody's own do.
const REST: Duration = Duration::milliseconds(10);

/// The same while an earlier search has not come back.
const WHILE_ASKED: Duration = Duration::milliseconds(90);

/// When it is searched for what is typed now, where an earlier search is on its way or is not.
pub fn searched_at(is_asked: bool, now: Timestamp) -> Timestamp {
    now + if is_asked { WHILE_ASKED } else { REST }
}
