//! The program's log for the console: the newest events that telemetry keeps, in the console's words.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use tracing::Level;
use tracing::level_filters::LevelFilter;

use super::context::Context;
use crate::console::program_log::{LogLine, LogSeverity, ProgramLog};
use crate::telemetry::{self, RecentEvents};

/// Log of this process. The first console decides its directory, however many are opened one after the other.
static LOG: OnceLock<ConsoleLog> = OnceLock::new();

/// Newest events of the log.
#[derive(Clone)]
struct ConsoleLog {
    events: RecentEvents,
    /// Reason for which the log has no file.
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

/// Returns the part of the program that a module belongs to: its room, or its crate.
fn part_of(target: &str) -> &str {
    let mut names = target.split("::");
    match (names.next(), names.next()) {
        (Some("avert"), Some(room)) => room,
        (first, _) => first.unwrap_or_default(),
    }
}

/// Starts logging for a console, into a file of this directory and into memory. Where no file can be written the
/// console opens all the same, and says so.
pub(super) fn start(context: &Context, data_dir: &Path) -> Arc<dyn ProgramLog> {
    Arc::new(log_in(context.raised(context.settings.log.level.filter()), &data_dir.join("logs")))
}

fn log_in(level: LevelFilter, logs: &Path) -> ConsoleLog {
    let begin = || {
        let events = RecentEvents::default();
        let unkept =
            telemetry::to_file(level, logs, events.clone()).err().map(|error| format!("{}: {error}", logs.display()));
        if unkept.is_some() {
            telemetry::to_memory(level, events.clone());
        }
        ConsoleLog { events, unkept }
    };
    LOG.get_or_init(begin).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_console_of_a_process_decides_whether_the_log_is_in_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("plain");
        std::fs::write(&file, "a file where a directory must be").unwrap();
        let unkept = |log: ConsoleLog| log.unkept().map(str::to_owned);

        let first = unkept(log_in(LevelFilter::OFF, &directory.path().join("logs")));
        let second = unkept(log_in(LevelFilter::OFF, &file.join("logs")));

        assert_eq!([first, second], [None, None]);
    }

    #[test]
    fn an_event_is_of_a_room_of_averts_or_of_another_crate() {
        assert_eq!(["avert::client::http", "avert", "reqwest::connect"].map(part_of), ["client", "avert", "reqwest"]);
    }
}
