//! The log of a console, in a file of its data directory.

use std::{path::Path, sync::OnceLock};

use tracing::level_filters::LevelFilter;

use super::context::Context;
use crate::telemetry;

/// Reason for which this process writes no log. The first console decides its directory, however many are opened one
/// after the other.
static TROUBLE: OnceLock<Option<String>> = OnceLock::new();

/// Starts logging for a console, into a file of this directory. Where none can be written the console opens all the
/// same; returns why.
pub(super) fn start(context: &Context, data_dir: &Path) -> Option<String> {
    log_in(context.raised(context.settings.log.level.filter()), &data_dir.join("logs"))
}

fn log_in(level: LevelFilter, logs: &Path) -> Option<String> {
    let begin = || telemetry::to_file(level, logs).err().map(|error| format!("{}: {error}", logs.display()));
    TROUBLE.get_or_init(begin).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_console_of_a_process_decides_whether_the_log_is_in_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("plain");
        std::fs::write(&file, "a file where a directory must be").unwrap();

        let first = log_in(LevelFilter::OFF, &directory.path().join("logs"));
        let second = log_in(LevelFilter::OFF, &file.join("logs"));

        assert_eq!([first, second], [None, None]);
    }
}
