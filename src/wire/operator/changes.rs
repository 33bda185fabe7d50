//! The change stream: server-sent events, each with the newest change number.

use serde::Serialize;

/// An event of the change stream.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChangeJson {
    /// The change number.
    pub id: String,
    pub event: &'static str,
    /// The number once more, as JSON.
    pub data: String,
}

impl ChangeJson {
    /// The change of this number.
    pub fn of(number: u64) -> Self {
        Self { id: number.to_string(), event: "change", data: format!("{{\"number\":{number}}}") }
    }

    /// The change number that a line of the stream tells, where it tells one.
    pub fn number_in(line: &str) -> Option<u64> {
        line.strip_prefix("id:")?.trim().parse().ok()
    }
}
