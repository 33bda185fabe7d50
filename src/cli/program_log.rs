//! The program's log for the console: the newest events that telemetry keeps, in the console's words.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use anyhow::Context as _;
use tracing::Level;

use super::context::Context;
use crate::console::program_log::{LogLine, LogSeverity, ProgramLog};
use crate::telemetry::{self, RecentEvents};

/// The events of this process: one log, however many consoles are opened one after the other.
static RECENT: OnceLock<RecentEvents> = OnceLock::new();

/// The newest events.
struct ConsoleLog(RecentEvents);

impl ProgramLog for ConsoleLog {
    fn after(&self, number: u64) -> Vec<LogLine> {
        let events = self.0.after(number).into_iter();
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
}

/// The part of the program that a module belongs to: its room, or the crate that it is of.
fn part_of(target: &str) -> &str {
    let mut names = target.split("::");
    match (names.next(), names.next()) {
        (Some("avert"), Some(room)) => room,
        (first, _) => first.unwrap_or_default(),
    }
}

/// Starts logging for a console, into a file of this directory and into memory; what the console reads.
pub(super) fn start(context: &Context, data_dir: &Path) -> anyhow::Result<Arc<dyn ProgramLog>> {
    let logs = data_dir.join("logs");
    let recent = RECENT.get_or_init(RecentEvents::default).clone();
    telemetry::to_file(context.raised(context.settings.log.level.filter()), &logs, recent.clone())
        .with_context(|| format!("the log in {} cannot be written", logs.display()))?;
    Ok(Arc::new(ConsoleLog(recent)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_of_a_room_of_averts_or_of_another_crate() {
        assert_eq!(["avert::client::http", "avert", "reqwest::connect"].map(part_of), ["client", "avert", "reqwest"]);
    }
}
