//! The program's log for the console: the newest events that telemetry keeps, in the console's words.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use tracing::Level;

use super::context::Context;
use crate::console::program_log::{LogLine, LogSeverity, ProgramLog};
use crate::telemetry::{self, RecentEvents};

/// The events of this process: one log, however many consoles are opened one after the other.
static RECENT: OnceLock<RecentEvents> = OnceLock::new();

/// The newest events.
struct ConsoleLog {
    events: RecentEvents,
    /// Why they are in no file.
    unkept: Option<String>,
}

impl ProgramLog for ConsoleLog {
    fn after(&self, number: u64) -> Vec<LogLine> {
        let events = self.events.after(number).into_iter();
        let line = |event: telemetry::RecentEvent| LogLine {
            number: event.number,
            at: event.at,
            severity: match event.level {
                Level::ERROR => LogSeverity::Error,
                Level::WARN => LogSeverity::Warning,
                Level::INFO => LogSeverity::Note,
                _ => LogSeverity::Detail,
            },
            part: part_of(&event.target).to_owned(),
            text: event.text,
        };
        events.map(line).collect()
    }

    fn unkept(&self) -> Option<&str> {
        self.unkept.as_deref()
    }
}

/// The part of the program that a module belongs to: its room, or the crate that it is of.
fn part_of(target: &str) -> &str {
    let mut names = target.split("::");
    match (names.next(), names.next()) {
        (Some("avert"), Some(room)) => room,
        (first, _) => first.unwrap_or_default(),
    }
}

/// Starts logging for a console, into a file of this directory and into memory; what the console reads. Where no file can be written the
/// console opens all the same, and says so.
pub(super) fn start(context: &Context, data_dir: &Path) -> Arc<dyn ProgramLog> {
    let logs = data_dir.join("logs");
    let events = RECENT.get_or_init(RecentEvents::default).clone();
    let level = context.raised(context.settings.log.level.filter());
    let unkept = telemetry::to_file(level, &logs, events.clone()).err().map(|error| format!("{}: {error}", logs.display()));
    if unkept.is_some() {
        telemetry::to_memory(level, events.clone());
    }
    Arc::new(ConsoleLog { events, unkept })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_of_a_room_of_averts_or_of_another_crate() {
        assert_eq!(["avert::client::http", "avert", "reqwest::connect"].map(part_of), ["client", "avert", "reqwest"]);
    }
}
