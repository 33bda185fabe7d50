//! Telemetry: metrics for Prometheus, logging (to a file while the console is open, to stderr when serving), and crash
//! reports.

use std::{
    backtrace::Backtrace,
    fs::{DirBuilder, File, OpenOptions},
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use chrono::Utc;
use metrics::{counter, describe_counter, describe_gauge, describe_histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tokio_util::sync::CancellationToken;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::{Layer as _, filter::Targets, layer::SubscriberExt as _};

use crate::domain::sanitize::line;

/// Log rotation: a larger file is renamed when the next console opens; one older file is kept.
const LARGEST_LOG: u64 = 8 * 1024 * 1024;

/// Starts logging to stderr, for commands without a screen of their own.
pub fn to_stderr(level: LevelFilter, color: bool, is_json: bool) {
    let styled = color && !is_json && io::stderr().is_terminal();
    subscribe(level, move || Sanitized { to: io::stderr(), styled }, styled, is_json);
}

/// Starts logging to `avert.log` in this directory, which is made: nothing gets onto the console's screen.
pub fn to_file(level: LevelFilter, directory: &Path, is_json: bool) -> io::Result<PathBuf> {
    let path = directory.join("avert.log");
    let file = Arc::new(open_log(&path)?);
    subscribe(level, move || Sanitized { to: Arc::clone(&file), styled: false }, false, is_json);
    Ok(path)
}

fn subscribe<W: Write + 'static>(
    level: LevelFilter,
    writer: impl Fn() -> W + Send + Sync + 'static,
    styled: bool,
    is_json: bool,
) {
    let layer = tracing_subscriber::fmt::layer()
        .with_writer(writer)
        .with_ansi(styled)
        .with_target(false)
        // A log that cannot be written, such as a file on a full disk, must not end what was logged. The complaint
        // about it would panic.
        .log_internal_errors(false);
    let layer = match is_json {
        true => layer.json().flatten_event(true).with_current_span(false).boxed(),
        false => layer.boxed(),
    };
    // A second call (a test in one process) keeps the first subscriber.
    let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer).with(filter(level)));
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
            env!("AVERT_VERSION"),
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

/// Upper bounds of times, in seconds: from a read in memory to a provider that does not answer.
const SECONDS: [f64; 14] = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0];

/// Upper bounds of the units of work in one commit.
const UNITS: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// Interval at which samples are gathered into their buckets, whether anybody asks for them or not.
const UPKEEP: Duration = Duration::from_secs(5);

/// Installs the metrics recorder of the process; `None` where somebody else keeps them already.
pub fn install_metrics() -> Option<PrometheusHandle> {
    let builder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)
        .and_then(|builder| builder.set_buckets_for_metric(Matcher::Suffix("_units".to_owned()), &UNITS));
    let handle = builder.and_then(PrometheusBuilder::install_recorder);
    let handle = handle.inspect_err(|error| tracing::warn!(%error, "no figures are kept")).ok()?;
    describe();
    begin();
    Some(handle)
}

/// Runs the recorder's upkeep until cancelled.
pub async fn run_metrics_upkeep(handle: PrometheusHandle, cancel: CancellationToken) {
    let mut ticks = tokio::time::interval(UPKEEP);
    loop {
        tokio::select! {
            () = cancel.cancelled() => return,
            _ = ticks.tick() => handle.run_upkeep(),
        }
    }
}

/// Counters and what they count.
const COUNTERS: &[(&str, &str)] = &[
    ("avert_http_requests_total", "Requests answered, by method, route and status."),
    ("avert_resolutions_total", "Resolutions answered, by result."),
    ("avert_provider_calls_total", "Calls to alert networks, by provider, call and result."),
    ("avert_provider_held_back_total", "Calls to alert networks that were not made, by provider and reason."),
    ("avert_pulls_total", "Turns of pulling alerts, by provider and result."),
    ("avert_pulled_alerts_total", "Alerts that were pulled, by provider and what became of them."),
    ("avert_reconciled_total", "Decisions of unknown fate that were looked at, by what came of it."),
    ("avert_expired_total", "Alerts that lapsed."),
    ("avert_forgotten_total", "Rows that retention removed, by kind."),
    ("avert_delivery_tries_total", "Tries to deliver a webhook, by result."),
    ("avert_store_commits_total", "Commits of the database, by result."),
    ("avert_store_connections_total", "Connections to a database on a server that were made."),
    ("avert_store_repeats_total", "Units of work that were done again because others were at work on the same rows."),
    ("avert_store_heartbeats_total", "Signs of life of this process in a PostgreSQL database, by result."),
];

/// Gauges and what they show.
const GAUGES: &[(&str, &str)] = &[
    ("avert_provider_held_off", "1 where an alert network does not answer and is left alone for a while, else 0."),
    ("avert_pull_newest_page", "When the newest page of pulled alerts was stored, in seconds since 1970, by provider."),
    ("avert_store_up", "1 where the database answered this question, else 0."),
    ("avert_deliveries_queued", "Deliveries that have not arrived, by state."),
    ("avert_deliveries_overdue_seconds", "For how long the oldest pending delivery has been due."),
    ("avert_decisions_unsettled", "Decisions without an end, by state."),
    ("avert_alerts_due", "Open alerts that ask for an answer, by the time within which they are due."),
    ("avert_amount_at_risk", "Amount of these alerts, by the time within which they are due and by currency."),
    ("avert_clock_off_seconds", "How far the machine's clock is ahead of the PostgreSQL server's."),
    ("avert_clock_ahead_seconds", "How far the machine's clock has jumped ahead and is not believed yet."),
];

/// Histograms and what they measure.
const HISTOGRAMS: &[(&str, &str)] = &[
    ("avert_http_request_seconds", "Time from the head of a request to its answer, by method and route."),
    ("avert_provider_call_seconds", "How long alert networks took, by provider and call."),
    ("avert_delivery_try_seconds", "How long receivers of webhooks took."),
    ("avert_store_commit_seconds", "Time of a commit, its units of work included."),
    ("avert_store_commit_units", "Units of work in one commit."),
];

fn describe() {
    COUNTERS.iter().for_each(|(name, help)| describe_counter!(*name, *help));
    GAUGES.iter().for_each(|(name, help)| describe_gauge!(*name, *help));
    HISTOGRAMS.iter().for_each(|(name, help)| describe_histogram!(*name, *help));
}

/// Begins at 0 what is alerted on at its first step: from nothing to one Prometheus sees no increase.
fn begin() {
    counter!("avert_expired_total").increment(0);
    for route in ["/health", "/ready"] {
        counter!("avert_http_requests_total", "method" => "GET", "route" => route, "status" => "503").increment(0);
    }
    counter!("avert_store_commits_total", "result" => "failed").increment(0);
    counter!("avert_store_heartbeats_total", "result" => "failed").increment(0);
    for result in ["exhausted", "disabled"] {
        counter!("avert_delivery_tries_total", "result" => result).increment(0);
    }
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
