//! `avert alerts resolve --from FILE`: sends many decisions, each once, and keeps their results beside the file.

mod rows;

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use anyhow::{Context as _, bail};

use super::{
    answer::{as_decided, find_named},
    command_journal::CommandJournal,
    resolve::{not_compared, parts, rule_in_words, unanswerable},
};
use crate::{
    cli::{
        args::AlertResolveArgs,
        ask::confirm,
        context::Context,
        failure::{InDoubt, Misused, Signalled, code_of_service, say},
        output::printable,
        process::Signals,
        source::{AlertAccess, MeantAlerts},
    },
    desk::{
        JournalRun, JournalStep,
        ledger::{
            command::CommandDecision,
            history::KnownAnswer,
            preflight::PreflightResult,
            results::{ResultEntry, ResultsFile, RowOutcome, RowResult},
            sender::{proven, step_of},
        },
    },
    domain::{Alert, AlertId, FieldError, Resolution, Timestamp, resolution::Decision},
    service::ServiceError,
};
use rows::{DecisionRow, FileReport, SaidRow};

/// Advice on a row that a check warns of.
const ALONE: &str = "decide it by itself, where you can say that it is to be answered all the same";

/// Words for a decision of an earlier run whose alert does not prove its result.
const UNPROVEN: &str =
    "the alert has no outcome so far; it is not sent again: look at the alert, and decide it by itself";

/// Number of consecutive rows without a reply after which the others are not sent.
const MOST_IN_VAIN: u32 = 3;

pub(super) async fn run(context: &Context, args: &AlertResolveArgs, from: &Path) -> anyhow::Result<()> {
    let rows = rows::read(from, args.reading.conventions())?;
    let source = MeantAlerts::of(context, &args.remote)?.open_as_operator(context).await?;
    source.require_writable()?;
    let (results, earlier) = match args.dry_run {
        true => (None, HashMap::new()),
        false => {
            let (results, earlier) = ResultsFile::open(from, args.resume, &source.place)?;
            check_unchanged(from, &rows, &earlier)?;
            (Some(results), earlier)
        }
    };
    if !args.dry_run && !args.yes {
        confirm(question(&rows, &earlier, &source)).await?;
    }
    // An alert that any line decided, or may have decided, is not decided by another line, even after the file was
    // changed. A possible refund counts as one.
    let lines = |is_meant: fn(RowResult) -> bool| {
        let meant = earlier.values().filter(move |entry| is_meant(entry.outcome.result));
        meant.filter_map(|entry| Some((entry.alert()?, entry.line)))
    };
    let seen = lines(RowResult::may_be_done).collect();
    let refund = Resolution::Current { decision: Decision::Refunded, comments: String::new() };
    let refund = KnownAnswer::own(&refund, Some(source.now()));
    let refunds = lines(|result| result == RowResult::Unknown).map(|(id, _)| (id, refund.clone())).collect();
    let kept = results.map(|results| KeptRun { results, journal: CommandJournal::open(&source), together: None });
    let from_file = (rows.len() > 1).then(|| from.file_name().unwrap_or_default().to_string_lossy());
    let from_file = from_file.map(|name| format!("the file {}", printable(&name)));
    let mut run = Run { source: &source, kept, from_file, earlier, seen, refunds, in_vain: 0, stopped: None };
    // From here on a signal no longer ends the process by itself: a decision under way is reported first.
    let mut signals = Signals::listen()?;
    let mut report = FileReport::new(context.output, rows.len());
    let ended = run.all(&rows, &mut report, &mut signals).await;
    let stopped = run.stopped.take();
    drop(run);
    source.close();
    ended?;
    let summary = report.summary(from, args.dry_run);
    match stopped {
        Some(Stop::Signal(signal)) => Err(anyhow::Error::new(Signalled(signal)).context(summary)),
        _ if report.count(RowResult::Unknown) > 0 => Err(InDoubt(summary).into()),
        Some(Stop::Trouble(error)) => Err(anyhow::Error::new(error).context(summary)),
        None if report.all_are_well() => {
            say(&summary);
            Ok(())
        }
        None => bail!("{summary}"),
    }
}

/// Refuses a file whose rows differ from those of earlier entries.
fn check_unchanged(from: &Path, rows: &[DecisionRow], earlier: &HashMap<u64, ResultEntry>) -> Result<(), Misused> {
    let digest = |line: u64| {
        rows.iter().find(|row| row.line == line).and_then(|row| row.said.as_ref().ok()).map(SaidRow::digest)
    };
    let changed = earlier.values().filter(|entry| digest(entry.line).as_ref() != Some(&entry.row));
    match changed.map(|entry| entry.line).min() {
        None => Ok(()),
        Some(line) => Err(misused!(
            "{}: line {line} is another one than when it was tried: put it back, or give new decisions in a file of \
                their own",
            from.display()
        )),
    }
}

/// Returns the question that confirms the decisions to send.
fn question(rows: &[DecisionRow], earlier: &HashMap<u64, ResultEntry>, source: &AlertAccess) -> String {
    let may_be_done = |line: &u64| earlier.get(line).is_some_and(|entry| entry.outcome.result.may_be_done());
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows.iter().filter(|row| !may_be_done(&row.line)).filter_map(|row| row.said.as_ref().ok()) {
        let word = parts(&row.refunded, None, None, None).refunded.unwrap_or_default();
        *counts.entry(printable(&word).into_owned()).or_default() += 1;
    }
    let total: usize = counts.values().sum();
    let each: Vec<String> = counts.into_iter().map(|(word, count)| format!("{count} {word}")).collect();
    let place = source.environment.map_or_else(String::new, |known| format!(" ({})", known.as_str()));
    format!("{total} decisions{place}: {}\nEach is final. Send them? [y/N] ", each.join(", "))
}

/// Run over the rows.
struct Run<'a> {
    source: &'a AlertAccess,
    /// Results and journal of the run; `None` in a dry run.
    kept: Option<KeptRun>,
    /// Name of the file for the journal, where it has several decisions.
    from_file: Option<String>,
    earlier: HashMap<u64, ResultEntry>,
    /// Line that decided each alert.
    seen: HashMap<AlertId, u64>,
    /// Refunds of the run, and possible ones of earlier runs.
    refunds: HashMap<AlertId, KnownAnswer>,
    in_vain: u32,
    /// Reason for which no further decision is sent.
    stopped: Option<Stop>,
}

/// Reason of a run that stopped.
enum Stop {
    Trouble(ServiceError),
    Signal(&'static str),
}

/// Decision without a warning.
struct Ready {
    decision: CommandDecision,
    /// Reason for which the search for duplicates was not complete.
    unsearched: Option<String>,
}

/// Results and journal of a run that sends.
struct KeptRun {
    results: ResultsFile,
    journal: CommandJournal,
    /// Run of the journal, once the first decision is sent.
    together: Option<JournalRun>,
}

/// Time at which a decision was sent, and its key in the journal.
type Left = (Timestamp, Option<String>);

impl Run<'_> {
    async fn all(
        &mut self,
        rows: &[DecisionRow],
        report: &mut FileReport,
        signals: &mut Signals,
    ) -> anyhow::Result<()> {
        for row in rows {
            let outcome = match &row.said {
                Err(wrong) => RowOutcome::new(RowResult::Refused, wrong.clone()),
                Ok(said) => self.row(row.line, said, signals).await?,
            };
            report.row(row.line, outcome)?;
        }
        report.finish()
    }

    async fn row(&mut self, line: u64, said: &SaidRow, signals: &mut Signals) -> anyhow::Result<RowOutcome> {
        match self.earlier.get(&line).cloned() {
            Some(entry) if entry.outcome.result.is_done() => {
                Ok(RowOutcome { reason: Some("earlier".to_owned()), ..entry.outcome })
            }
            Some(entry) if entry.outcome.result == RowResult::Unknown => {
                let unknown = |why: String| RowOutcome { reason: Some(why), ..entry.outcome.clone() };
                if matches!(self.stopped, Some(Stop::Signal(_))) {
                    let why = "not looked up: the run was stopped before it; --resume looks it up";
                    return Ok(unknown(why.to_owned()));
                }
                let outcome = tokio::select! {
                    biased;
                    outcome = self.look_up(&entry, said) => outcome,
                    signal = signals.next() => {
                        self.stopped = Some(Stop::Signal(signal));
                        unknown(left_unanswered(signal))
                    }
                };
                // The time of sending stays, however late the result is found.
                self.put(line, said, &outcome, (entry.at, entry.decision))?;
                Ok(outcome)
            }
            _ if self.stopped.is_some() => Ok(not_tried()),
            _ => {
                let ready = tokio::select! {
                    biased;
                    ready = self.prepare(line, said) => ready,
                    signal = signals.next() => {
                        self.stopped = Some(Stop::Signal(signal));
                        Err(not_tried())
                    }
                };
                match ready {
                    Ok(ready) => self.send(line, said, ready, signals).await,
                    Err(outcome) => Ok(outcome),
                }
            }
        }
    }

    /// Looks up the result of a decision that an earlier run sent. It is never sent again.
    async fn look_up(&mut self, entry: &ResultEntry, said: &SaidRow) -> RowOutcome {
        let Some(id) = entry.alert() else {
            return RowOutcome::new(RowResult::Unknown, "its entry names no alert");
        };
        let found = self.source.sender().look_up(id, None).await;
        let proven = found.map_err(|error| format!("the alert cannot be read: {error}")).and_then(|found| {
            let meant = self.resolution(said, &found.alert)?;
            proven(&meant, entry.at, found).map_err(|_| UNPROVEN.to_owned())
        });
        let outcome = match proven {
            Ok(reply) => {
                self.found_out(entry, step_of(&reply));
                let found = format!("found out by reading: {}", as_decided());
                reply.map_or_else(|error| self.refused(error), |_| RowOutcome::new(RowResult::AsDecided, found))
            }
            Err(why) => RowOutcome::new(RowResult::Unknown, why),
        };
        outcome.about(id)
    }

    /// Writes the result of an earlier run's decision into the journal, where it is still open there.
    fn found_out(&self, entry: &ResultEntry, step: JournalStep) {
        let Some((kept, key)) = self.kept.as_ref().zip(entry.decision.clone()) else { return };
        // A decision counts as open where the journal does not tell of it.
        let is_open = self.source.history().record(&key).is_none_or(|record| record.fate().may_have_arrived());
        if is_open {
            kept.journal.write(&key, vec![step]);
        }
    }

    /// Checks a row's decision. The error is the outcome of a row that is not to be sent.
    async fn prepare(&mut self, line: u64, said: &SaidRow) -> Result<Ready, RowOutcome> {
        let found = find_named(self.source, &said.name, said.provider.as_deref()).await;
        let alert = found.map_err(|error| match error.downcast::<ServiceError>() {
            Ok(error) => self.refused(error),
            Err(other) => RowOutcome::new(RowResult::Refused, other.to_string()),
        })?;
        let id = alert.id;
        let ready = self.check(said, alert).await.map_err(|(result, why)| RowOutcome::new(result, why).about(id))?;
        self.seen.insert(id, line);
        let resolution = &ready.decision.resolution;
        if resolution.gives_money_back() {
            self.refunds.insert(id, KnownAnswer::own(resolution, Some(self.source.now())));
        }
        Ok(ready)
    }

    /// Checks a decision on an alert. Nobody is there to be asked, so a row that a check warns of is not sent.
    async fn check(&self, said: &SaidRow, alert: Alert) -> Result<Ready, (RowResult, String)> {
        if let Some(before) = self.seen.get(&alert.id) {
            return Err((RowResult::Skipped, format!("the same alert as in line {before}")));
        }
        let resolution = self.resolution(said, &alert).map_err(|wrong| (RowResult::Refused, wrong))?;
        if alert.outcome.is_some() {
            return Err((RowResult::Conflict, already(&alert)));
        }
        if let Some(why) = unanswerable(&alert, self.source.now()) {
            return Err((RowResult::Skipped, format!("{why}: {ALONE}")));
        }
        let warned = |why: String| Err((RowResult::Refused, format!("{why}: {ALONE}")));
        let mut unsearched = None;
        if resolution.gives_money_back() {
            unsearched = not_compared(self.source, &alert);
            if let Some(rule) = rule_in_words(&alert) {
                return warned(rule);
            }
        }
        let gives_money_back = resolution.gives_money_back();
        let decision = CommandDecision::new(alert, resolution);
        match decision.check(&self.source.sender(), self.source.history(), &self.refunds).await {
            PreflightResult::Clear => Ok(Ready { decision, unsearched }),
            PreflightResult::Answered(alert) => Err((RowResult::Conflict, already(&alert))),
            PreflightResult::InPart(why, _) if gives_money_back => {
                warned(format!("other refunds could not be looked for: {why}"))
            }
            PreflightResult::InPart(why, _) => {
                let unlooked = format!("it could not be looked at before: {why}");
                Ok(Ready { decision, unsearched: Some(unlooked) })
            }
            against => warned(against.objection().unwrap_or_default()),
        }
    }

    /// Sends a decision. It is unconfirmed where a signal ends the run before the reply.
    async fn send(
        &mut self,
        line: u64,
        said: &SaidRow,
        ready: Ready,
        signals: &mut Signals,
    ) -> anyhow::Result<RowOutcome> {
        let Ready { mut decision, unsearched } = ready;
        let id = decision.alert.id;
        let Some(kept) = &mut self.kept else {
            let would = RowOutcome::new(RowResult::Skipped, "dry run: would be sent").noting(unsearched).about(id);
            return Ok(RowOutcome { would_be_sent: true, ..would });
        };
        if let Some(from) = &self.from_file {
            let run = kept
                .together
                .get_or_insert_with(|| JournalRun { first: decision.key.clone(), from: Some(from.clone()) });
            decision.together = Some(run.clone());
        }
        // From here on until the result is written, no reader of the file may take it for one that was not sent.
        let left = (self.source.now(), Some(decision.key.clone()));
        let sending = RowOutcome::new(RowResult::Unknown, "it left, and its answer was not written").about(id);
        self.put(line, said, &sending, left.clone())?;
        let Some(kept) = &self.kept else { return Ok(sending) };
        let write = |key: &str, steps| kept.journal.write(key, steps);
        let sender = self.source.sender();
        let outcome = match decision.send(&sender, &*self.source.clock, signals.next(), write).await {
            Ok(Ok(landing)) if landing.found => RowOutcome::new(RowResult::AsDecided, as_decided()),
            Ok(Ok(_)) => RowOutcome { reason: None, ..RowOutcome::new(RowResult::Recorded, "") },
            Ok(Err(error)) => self.refused(error),
            Err(signal) => {
                self.stopped = Some(Stop::Signal(signal));
                RowOutcome::new(RowResult::Unknown, left_unanswered(signal))
            }
        };
        if outcome.result.is_done() || outcome.result == RowResult::Conflict {
            self.in_vain = 0;
        }
        if !outcome.result.may_be_done() {
            self.refunds.remove(&id);
        }
        let outcome = outcome.noting(unsearched).about(id);
        self.put(line, said, &outcome, left)?;
        Ok(outcome)
    }

    /// Maps a service's error to the result of its row, and stops the run where the next rows would fail too.
    fn refused(&mut self, error: ServiceError) -> RowOutcome {
        if let ServiceError::AlreadyResolved(alert) = &error {
            return RowOutcome::new(RowResult::Conflict, already(alert));
        }
        let words = error.to_string();
        let result = match (code_of_service(&error), &error) {
            (2 | 3, _) => RowResult::Refused,
            (4, _) => RowResult::Conflict,
            (5, _) => {
                self.stopped = Some(Stop::Trouble(error));
                RowResult::Refused
            }
            (6, _) => {
                self.had_no_answer(error);
                RowResult::Unknown
            }
            (_, ServiceError::ProviderFailed(_) | ServiceError::Refused(_)) => RowResult::Failed,
            _ => {
                self.had_no_answer(error);
                RowResult::Failed
            }
        };
        RowOutcome::new(result, words)
    }

    /// Counts a row without a reply. A few in a row are an outage, in which every other row would become unconfirmed.
    fn had_no_answer(&mut self, error: ServiceError) {
        self.in_vain += 1;
        if self.in_vain == MOST_IN_VAIN {
            self.stopped = Some(Stop::Trouble(error));
        }
    }

    fn resolution(&self, said: &SaidRow, alert: &Alert) -> Result<Resolution, String> {
        let SaidRow { refunded, resolution, amount_stopped, comments, .. } = said;
        let parts = parts(refunded, resolution.as_deref(), amount_stopped.as_deref(), comments.as_deref());
        let words = |error: &FieldError| format!("{} {}", error.field, error.message);
        Resolution::from_parts(parts, self.source.dialect, alert.money().as_ref())
            .map_err(|errors| errors.iter().map(words).collect::<Vec<_>>().join("; "))
    }

    /// Writes the outcome of a row, whose decision was sent at this time.
    fn put(&mut self, line: u64, said: &SaidRow, outcome: &RowOutcome, (at, decision): Left) -> anyhow::Result<()> {
        let Some(kept) = &mut self.kept else { return Ok(()) };
        let entry = ResultEntry { line, outcome: outcome.clone(), row: said.digest(), at, decision };
        kept.results.put(&entry).context("no further decision is sent")
    }
}

/// Returns the result of a row that a stopped run does not reach.
fn not_tried() -> RowOutcome {
    RowOutcome::new(RowResult::Skipped, "not tried: the run was stopped before it")
}

/// Describes a row whose reply a signal cut off.
fn left_unanswered(signal: &str) -> String {
    format!("{signal} ended the run before its answer came: it may have arrived; --resume looks it up")
}

fn already(alert: &Alert) -> String {
    match &alert.outcome {
        Some(outcome) => {
            format!("it has an outcome already: {}, {}", printable(&outcome.refunded), printable(&outcome.outcome))
        }
        None => "it has an outcome already".to_owned(),
    }
}
