//! Telemetry: metrics for Prometheus, logging (to a file while the console is open, to stderr when serving), and crash
//! reports.

mod metrics;

use std::{
    backtrace::Backtrace,
    fs::{DirBuilder, File, OpenOptions},
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use chrono::Utc;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::{filter::Targets, layer::SubscriberExt as _};

pub use self::metrics::{install_metrics, run_metrics_upkeep};

use crate::domain::sanitize::line;

/// Log rotation: a larger file is renamed when the next console opens; one older file is kept.
const LARGEST_LOG: u64 = 8 * 1024 * 1024;

/// Starts logging to stderr, for commands without a screen of their own.
pub fn to_stderr(level: LevelFilter, color: bool) {
    let styled = color && io::stderr().is_terminal();
    let layer = tracing_subscriber::fmt::layer()
        .with_writer(move || Sanitized { to: io::stderr(), styled })
        .with_ansi(styled)
        .with_target(false)
        // A log that cannot be written, such as a file on a full disk, must not end what was logged. The complaint
        // about it would panic.
        .log_internal_errors(false);
    // A second call (a test in one process) keeps the first subscriber.
    let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer).with(filter(level)));
}

/// Starts logging to `avert.log` in this directory, which is made: nothing gets onto the console's screen.
pub fn to_file(level: LevelFilter, directory: &Path) -> io::Result<PathBuf> {
    let path = directory.join("avert.log");
    let file = Arc::new(open_log(&path)?);
    let writer = move || Sanitized { to: Arc::clone(&file), styled: false };
    let layer = tracing_subscriber::fmt::layer().with_writer(writer).with_ansi(false).log_internal_errors(false);
    let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer).with(filter(level)));
    Ok(path)
}

/// A writer of events, each of which becomes one line that is safe to show.
struct Sanitized<W> {
    to: W,
    /// True where events hold escape sequences of the log's own, which has escaped those of others.
    styled: bool,
}

impl<W: Write> Write for Sanitized<W> {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let (text, end) = text.strip_suffix('\n').map_or((&*text, ""), |text| (text, "\n"));
        let safe = match self.styled {
            true => text.split('\u{1b}').map(line).collect::<Vec<_>>().join("\u{1b}").into(),
            false => line(text),
        };
        self.to.write_all(format!("{safe}{end}").as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// avert's own events at this level; of the parts it stands on only warnings.
fn filter(level: LevelFilter) -> Targets {
    Targets::new().with_default(level.min(LevelFilter::WARN)).with_target("avert", level)
}

fn open_log(path: &Path) -> io::Result<File> {
    if let Some(directory) = path.parent() {
        make_private(directory)?;
    }
    if std::fs::metadata(path).is_ok_and(|metadata| metadata.len() > LARGEST_LOG) {
        std::fs::rename(path, path.with_extension("log.1"))?;
    }
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Makes a directory that nobody else can look into: logs and reports tell of alerts.
fn make_private(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// Installs a panic hook that writes a crash report into this directory and says on stderr where it is. Hooks that are
/// set later (the console's, which gives the terminal back first) call this one.
pub fn report_panics(directory: PathBuf) {
    std::panic::set_hook(Box::new(move |panic| {
        let report = format!(
            "avert {} {} {}\n{} thread {}\n\n{panic}\n\n{}\n",
            env!("CARGO_PKG_VERSION"),
            std::env::consts::OS,
            std::env::consts::ARCH,
            Utc::now().to_rfc3339(),
            std::thread::current().name().unwrap_or("unnamed"),
            Backtrace::force_capture(),
        );
        let said = match write_report(&directory, &report) {
            Ok(path) => format!("avert: a fault of avert itself; a report of it is in {}\n", path.display()),
            Err(_) => format!("avert: a fault of avert itself:\n{report}"),
        };
        // Nothing can be done about a stderr that is gone.
        let _ = io::stderr().write_all(said.as_bytes());
    }));
}

fn write_report(directory: &Path, report: &str) -> io::Result<PathBuf> {
    make_private(directory)?;
    let file = tempfile::Builder::new()
        .prefix(&format!("avert-panic-{}-", Utc::now().format("%Y%m%dT%H%M%SZ")))
        .suffix(".txt")
        .disable_cleanup(true)
        .tempfile_in(directory)?;
    file.as_file().write_all(report.as_bytes())?;
    Ok(file.path().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line_that_is_safe_to_show() {
        let logged = |event: &str, styled| {
            let mut log = Sanitized { to: Vec::new(), styled };
            log.write_all(event.as_bytes()).unwrap();
            String::from_utf8(log.to).unwrap()
        };

        assert_eq!(
            logged("INFO said=a\nERROR forged\u{202e}\u{200b} \u{1b}[2J\n", false),
            "INFO said=a·ERROR forged ·[2J\n"
        );
        assert_eq!(logged("\u{1b}[32mINFO\u{1b}[0m said\u{9b}\u{61c}\n", true), "\u{1b}[32mINFO\u{1b}[0m said·\n");
    }

    #[test]
    fn a_log_that_has_grown_large_is_set_aside() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("logs/avert.log");
        open_log(&path).unwrap().set_len(LARGEST_LOG + 1).unwrap();

        let log = open_log(&path).unwrap();

        assert_eq!(log.metadata().unwrap().len(), 0);
        assert_eq!(std::fs::metadata(path.with_extension("log.1")).unwrap().len(), LARGEST_LOG + 1);
    }

    #[test]
    fn nobody_else_can_read_the_log() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("logs/avert.log");

        let log = open_log(&path).unwrap();

        let mode = |metadata: std::fs::Metadata| metadata.permissions().mode() & 0o777;
        assert_eq!(mode(log.metadata().unwrap()), 0o600);
        assert_eq!(mode(std::fs::metadata(directory.path().join("logs")).unwrap()), 0o700);
    }

    #[test]
    fn a_report_is_written_and_stays() {
        let directory = tempfile::tempdir().unwrap();

        let path = write_report(&directory.path().join("panics"), "what happened").unwrap();

        assert_eq!(std::fs::read_to_string(path).unwrap(), "what happened");
    }
}
