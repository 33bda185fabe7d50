//! Output of a run over many decisions: a line for each row as it comes, and the counts at its end.

use std::collections::HashMap;
use std::io::{self, IsTerminal};
use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget};
use serde_json::{Value, json};

use super::results::{ResultEntry, ResultsFile, RowResult};
use crate::cli::alerts::answer::as_decided;
use crate::cli::args::Format;
use crate::cli::output::{ListColumns, Output, json as on_one_line, print_line};
use crate::domain::AlertId;

/// Result of a row, with its alert and its reason.
pub(super) struct Became {
    pub(super) id: Option<String>,
    pub(super) result: RowResult,
    pub(super) reason: Option<String>,
    /// True where only the dry run kept it from being sent.
    good: bool,
}

impl Became {
    pub(super) fn new(result: RowResult, reason: impl Into<String>) -> Self {
        Self { id: None, result, reason: Some(reason.into()), good: false }
    }

    /// Makes the result of a recorded decision.
    pub(super) fn recorded() -> Self {
        Self { id: None, result: RowResult::Recorded, reason: None, good: false }
    }

    /// Makes the result of an alert that was found with the outcome of the decision; `found` says how.
    pub(super) fn as_decided(found: Option<&str>) -> Self {
        let reason: Vec<String> = found.map(ToOwned::to_owned).into_iter().chain([as_decided()]).collect();
        Self::new(RowResult::AsDecided, reason.join(": "))
    }

    /// Makes the result of a row that only the dry run keeps from being sent.
    pub(super) fn would_be_sent() -> Self {
        Self { good: true, ..Self::new(RowResult::Skipped, "dry run: would be sent") }
    }

    /// Adds a note to the reason.
    pub(super) fn noting(self, note: Option<String>) -> Self {
        let reason: Vec<String> = self.reason.into_iter().chain(note).collect();
        Self { reason: (!reason.is_empty()).then(|| reason.join("; ")), ..self }
    }

    /// Adds the alert.
    pub(super) fn about(self, id: AlertId) -> Self {
        Self { id: Some(id.to_string()), ..self }
    }

    /// Adds the alert of an earlier run's entry.
    pub(super) fn about_that_of(self, entry: &ResultEntry) -> Self {
        Self { id: entry.id.clone(), ..self }
    }
}

/// Number of rows by result.
#[derive(Debug, Default)]
pub(super) struct Counts {
    rows: u64,
    /// Rows that a dry run would have sent.
    good: u64,
    by_result: HashMap<&'static str, u64>,
}

impl Counts {
    pub(super) fn add(&mut self, became: &Became) {
        self.rows += 1;
        self.good += u64::from(became.good);
        *self.by_result.entry(became.result.as_str()).or_default() += 1;
    }

    pub(super) fn of(&self, result: RowResult) -> u64 {
        self.by_result.get(result.as_str()).copied().unwrap_or_default()
    }

    pub(super) fn all_are_well(&self, dry: bool) -> bool {
        self.rows == if dry { self.good } else { self.of(RowResult::Recorded) + self.of(RowResult::AsDecided) }
    }

    pub(super) fn words(&self, from: &Path, dry: bool) -> String {
        if dry {
            return format!("dry run: {} of {} would be sent; nothing was", self.good, self.rows);
        }
        let others =
            [RowResult::Conflict, RowResult::Refused, RowResult::Failed, RowResult::Unknown, RowResult::Skipped];
        let found = match self.of(RowResult::AsDecided) {
            0 => String::new(),
            found => format!(", {found} {}", as_decided()),
        };
        let others: String = others
            .into_iter()
            .filter(|of| self.of(*of) > 0)
            .map(|of| format!(", {} {}", self.of(of), of.as_str()))
            .collect();
        let kept = ResultsFile::path_of(from);
        format!(
            "{} of {} recorded{found}{others}; what was sent is kept in {}",
            self.of(RowResult::Recorded),
            self.rows,
            kept.display()
        )
    }
}

/// Output of the rows: lines as they come, or one document at the end. With a progress bar on a terminal.
pub(super) struct Told {
    output: Output,
    records: Vec<Value>,
    bar: ProgressBar,
}

impl Told {
    pub(super) fn new(output: Output, rows: usize) -> Self {
        let shown = io::stderr().is_terminal() && !io::stdout().is_terminal();
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        Self { output, records: Vec::new(), bar: ProgressBar::with_draw_target(Some(rows as u64), target) }
    }

    pub(super) fn row(&mut self, line: u64, became: &Became) -> anyhow::Result<()> {
        let record = json!({"line": line, "id": became.id, "result": became.result.as_str(), "reason": became.reason});
        match self.output.asked() {
            None | Some(Format::Ndjson) => {
                let line = on_one_line(&record)?;
                self.bar.suspend(|| print_line(&line))?;
            }
            Some(_) => self.records.push(record),
        }
        self.bar.inc(1);
        Ok(())
    }

    pub(super) fn finish(self) -> anyhow::Result<()> {
        self.bar.finish_and_clear();
        if matches!(self.output.asked(), None | Some(Format::Ndjson)) {
            return Ok(());
        }
        let columns = ListColumns::new()
            .both("line", "LINE", |record: &Value| record["line"].clone())
            .both("id", "ID", |record| record["id"].clone())
            .both("result", "RESULT", |record| record["result"].clone())
            .both("reason", "REASON", |record| record["reason"].clone());
        self.output.print(&columns.report(&self.records, None))
    }
}
