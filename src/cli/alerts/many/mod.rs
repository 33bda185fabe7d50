//! `avert alerts resolve --from FILE`: sends many decisions, each once, and keeps their results beside the file.

mod results;
mod rows;
mod told;

use std::collections::HashMap;
use std::path::Path;

use anyhow::bail;

use super::named;
use super::resolve::{double_of, not_compared, on_payment, parts, rule_in_words, unanswerable};
use super::sending::{CommandDecision, CommandJournal};
use crate::cli::args::AlertResolveArgs;
use crate::cli::ask::confirm;
use crate::cli::context::Context;
use crate::cli::failure::{InDoubt, Misused, Signalled, code_of_service, say};
use crate::cli::output::printable;
use crate::cli::process::Signals;
use crate::cli::source::AlertAccess;
use crate::desk::ledger::sender;
use crate::desk::{AnswerStep, JournalRun};
use crate::domain::indeterminate::{Proof, proof};
use crate::domain::{Alert, AlertId, FieldError, Resolution, Timestamp};
use crate::service::ServiceError;
use results::{ResultEntry, ResultsFile, RowResult};
use rows::{DecisionRow, SaidRow};
use told::{Became, Counts, Told};

/// Advice on a row that a check warns of.
const ALONE: &str = "decide it by itself, where you can say that it is to be answered all the same";

/// Number of consecutive rows without a reply after which the others are not sent.
const MOST_IN_VAIN: u32 = 3;

pub(super) async fn run(context: &Context, args: &AlertResolveArgs, from: &Path) -> anyhow::Result<()> {
    let rows = rows::read(from, args.reading.conventions())?;
    let source = AlertAccess::open_as_operator(context, &args.source).await?;
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
    // changed.
    let lines = |is_meant: fn(RowResult) -> bool| {
        let meant = earlier.values().filter(|entry| is_meant(entry.result));
        meant.filter_map(|entry| Some((entry.id.as_deref()?.parse().ok()?, entry.line))).collect()
    };
    let seen = lines(RowResult::may_be_done);
    // A possible refund counts as one.
    let refunds = lines(|result| result == RowResult::Unknown);
    let kept = results.map(|results| KeptRun { results, journal: CommandJournal::open(&source), together: None });
    let from_file = (rows.len() > 1).then(|| from.file_name().unwrap_or_default().to_string_lossy());
    let from_file = from_file.map(|name| format!("the file {}", printable(&name)));
    let mut run = Run { source: &source, kept, from_file, earlier, seen, refunds, in_vain: 0, stopped: None };
    // From here on a signal no longer ends the process by itself: a decision under way is reported first.
    let mut signals = Signals::listen()?;
    let ended = run.all(&rows, Told::new(context.output, rows.len()), &mut signals).await;
    let stopped = run.stopped.take();
    drop(run);
    source.close();
    let counts = ended?;
    let summary = counts.words(from, args.dry_run);
    match stopped {
        Some(Stop::Signal(signal)) => Err(anyhow::Error::new(signal).context(summary)),
        _ if counts.of(RowResult::Unknown) > 0 => Err(InDoubt(summary).into()),
        Some(Stop::Trouble(error)) => Err(anyhow::Error::new(error).context(summary)),
        None if counts.all_are_well(args.dry_run) => {
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
    let mut changed: Vec<u64> = earlier
        .values()
        .filter(|entry| digest(entry.line).as_ref() != Some(&entry.row))
        .map(|entry| entry.line)
        .collect();
    changed.sort_unstable();
    match changed.first() {
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
    let settled = |line: &u64| earlier.get(line).is_some_and(|entry| entry.result.may_be_done());
    let mut counts: Vec<(String, usize)> = Vec::new();
    for row in rows.iter().filter(|row| !settled(&row.line)).filter_map(|row| row.said.as_ref().ok()) {
        let word = printable(&parts(&row.refunded, None, None, None).refunded.unwrap_or_default()).into_owned();
        match counts.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => counts.push((word, 1)),
        }
    }
    let total: usize = counts.iter().map(|(_, count)| count).sum();
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
    /// Line that refunded each alert.
    refunds: HashMap<AlertId, u64>,
    in_vain: u32,
    /// Reason for which no further decision is sent.
    stopped: Option<Stop>,
}

/// Reason of a run that stopped.
enum Stop {
    Trouble(ServiceError),
    Signal(Signalled),
}

/// Decision without a warning.
struct Ready {
    alert: Alert,
    resolution: Resolution,
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

impl KeptRun {
    fn put(&mut self, line: u64, said: &SaidRow, became: &Became, (at, decision): Left) -> anyhow::Result<()> {
        let Became { id, result, reason, .. } = became;
        self.results.put(&ResultEntry {
            line,
            id: id.clone(),
            result: *result,
            reason: reason.clone(),
            row: said.digest(),
            at,
            decision,
        })
    }
}

impl Run<'_> {
    async fn all(&mut self, rows: &[DecisionRow], mut told: Told, signals: &mut Signals) -> anyhow::Result<Counts> {
        let mut counts = Counts::default();
        for row in rows {
            let became = match &row.said {
                Err(wrong) => Became::new(RowResult::Refused, wrong.clone()),
                Ok(said) => self.row(row.line, said, signals).await?,
            };
            counts.add(&became);
            told.row(row.line, &became)?;
        }
        told.finish()?;
        Ok(counts)
    }

    async fn row(&mut self, line: u64, said: &SaidRow, signals: &mut Signals) -> anyhow::Result<Became> {
        match self.earlier.get(&line).cloned() {
            Some(entry) if entry.result.is_done() => Ok(Became::new(entry.result, "earlier").about_that_of(&entry)),
            Some(entry) if entry.result == RowResult::Unknown && self.is_told_to_end() => {
                let why = "not looked up: the run was stopped before it; --resume looks it up";
                Ok(Became::new(RowResult::Unknown, why).about_that_of(&entry))
            }
            Some(entry) if entry.result == RowResult::Unknown => {
                let became = tokio::select! {
                    biased;
                    became = self.look_up(&entry, said) => became,
                    signal = signals.next() => {
                        self.stopped = Some(Stop::Signal(Signalled(signal)));
                        Became::new(RowResult::Unknown, left_unanswered(signal,
                            entry.id.as_deref())).about_that_of(&entry)
                    }
                };
                // The time of sending stays, however late the result is found.
                self.put(line, said, &became, (entry.at, entry.decision))?;
                Ok(became)
            }
            _ if self.stopped.is_some() => Ok(not_tried()),
            _ => {
                let ready = tokio::select! {
                    biased;
                    ready = self.prepare(line, said) => ready,
                    signal = signals.next() => {
                        self.stopped = Some(Stop::Signal(Signalled(signal)));
                        Err(not_tried())
                    }
                };
                match ready {
                    Ok(ready) => self.send(line, said, ready, signals).await,
                    Err(became) => Ok(became),
                }
            }
        }
    }

    /// Returns whether a signal ended the run: then no request is made any more.
    fn is_told_to_end(&self) -> bool {
        matches!(self.stopped, Some(Stop::Signal(_)))
    }

    /// Looks up the result of a decision that an earlier run sent. It is never sent again.
    async fn look_up(&self, entry: &ResultEntry, said: &SaidRow) -> Became {
        let Some(id) = entry.id.as_deref().and_then(|id| id.parse::<AlertId>().ok()) else {
            return Became::new(RowResult::Unknown, "its entry names no alert");
        };
        let alerts = &*self.source.alerts;
        let became = match sender::look_up(alerts, None, id).await {
            Err(error) => Became::new(RowResult::Unknown, format!("the alert cannot be read: {error}")),
            Ok(found) => match self.resolution(said, &found.alert).map(|meant| proof(&meant, entry.at, &found)) {
                Ok(Proof::Landed) => {
                    self.found_out(entry, AnswerStep::AsDecided(found.alert.status.to_string()));
                    Became::as_decided(Some("found out by reading"))
                }
                Ok(Proof::Overtaken) => {
                    self.found_out(entry, AnswerStep::Overtaken(found.alert.status.to_string()));
                    Became::new(RowResult::Conflict, already(&found.alert))
                }
                Ok(Proof::NotApplied | Proof::Nothing) => Became::new(
                    RowResult::Unknown,
                    "the alert has no outcome so far; it is not sent again: look at the alert, and decide it by itself",
                ),
                Err(wrong) => Became::new(RowResult::Unknown, wrong),
            },
        };
        became.about(id)
    }

    /// Writes the result of an earlier run's decision into the journal, where it is still open there.
    fn found_out(&self, entry: &ResultEntry, step: AnswerStep) {
        let Some((kept, key)) = self.kept.as_ref().zip(entry.decision.clone()) else { return };
        // A decision counts as open where the journal does not tell of it.
        let is_open = self.source.history().record(&key).is_none_or(|record| record.fate().may_have_arrived());
        if is_open {
            kept.journal.became(key, step);
        }
    }

    /// Checks a row's decision. The error is the result of a row that is not to be sent.
    async fn prepare(&mut self, line: u64, said: &SaidRow) -> Result<Ready, Became> {
        let alert = match named::find(self.source, &said.name, said.provider.as_deref()).await {
            Ok(alert) => alert,
            Err(error) => {
                let became = match error.downcast::<ServiceError>() {
                    Ok(error) => self.refused(error),
                    Err(other) => Became::new(RowResult::Refused, other.to_string()),
                };
                return Err(became);
            }
        };
        let id = alert.id;
        if let Some(before) = self.seen.get(&id) {
            return Err(Became::new(RowResult::Skipped, format!("the same alert as in line {before}")).about(id));
        }
        let resolution = match self.resolution(said, &alert) {
            Ok(resolution) => resolution,
            Err(wrong) => return Err(Became::new(RowResult::Refused, wrong).about(id)),
        };
        if alert.outcome.is_some() {
            return Err(Became::new(RowResult::Conflict, already(&alert)).about(id));
        }
        if let Some(why) = unanswerable(&alert, self.source.now()) {
            return Err(Became::new(RowResult::Skipped, format!("{why}: {ALONE}")).about(id));
        }
        let unsearched = if resolution.gives_money_back() { not_compared(self.source, &alert) } else { None };
        if resolution.gives_money_back()
            && let Some(double) = self.refunded_double(&alert).await
        {
            return Err(Became::new(RowResult::Refused, format!("{double}: {ALONE}")).about(id));
        }
        self.seen.insert(id, line);
        if resolution.gives_money_back() {
            self.refunds.insert(id, line);
        }
        Ok(Ready { alert, resolution, unsearched })
    }

    /// Sends a decision. It is unconfirmed where a signal ends the run before the reply.
    async fn send(&mut self, line: u64, said: &SaidRow, ready: Ready, signals: &mut Signals) -> anyhow::Result<Became> {
        let Ready { alert, resolution, unsearched } = ready;
        let id = alert.id;
        let Some(kept) = &mut self.kept else { return Ok(Became::would_be_sent().noting(unsearched).about(id)) };
        let mut decision = CommandDecision::new(&alert, resolution);
        if let Some(from) = &self.from_file {
            let run = kept
                .together
                .get_or_insert_with(|| JournalRun { first: decision.key.clone(), from: Some(from.clone()) });
            decision.together = Some(run.clone());
        }
        // From here on until the result is written, no reader of the file may take it for one that was not sent.
        let left = (self.source.now(), Some(decision.key.clone()));
        kept.put(
            line,
            said,
            &Became::new(RowResult::Unknown, "it left, and its answer was not written").about(id),
            left.clone(),
        )?;
        let key = decision.key.clone();
        let became = tokio::select! {
            biased;
            landed = kept.journal.send(decision, self.source) => match landed {
                Ok(landing) if landing.found => Became::as_decided(None),
                Ok(_) => Became::recorded(),
                Err(error) => self.refused(error),
            },
            signal = signals.next() => {
                kept.journal.became(key, AnswerStep::Unknown(format!("{signal} ended the command before its answer \
                    came")));
                self.stopped = Some(Stop::Signal(Signalled(signal)));
                Became::new(RowResult::Unknown, left_unanswered(signal, Some(&id.to_string())))
            }
        };
        if became.result.is_done() || became.result == RowResult::Conflict {
            self.in_vain = 0;
        }
        if !became.result.is_done() && became.result != RowResult::Unknown {
            self.refunds.remove(&id);
        }
        let became = became.noting(unsearched).about(id);
        self.put(line, said, &became, left)?;
        Ok(became)
    }

    /// Returns the reason for which a refund would be a second one on its payment, or for which that could not be
    /// searched. Nobody is there to be asked.
    async fn refunded_double(&mut self, alert: &Alert) -> Option<String> {
        if let Some(rule) = rule_in_words(alert) {
            return Some(rule);
        }
        let others = match self.source.same_payment(alert).await {
            Ok(others) => others,
            Err(error) => return Some(format!("alerts on the same payment could not be looked for: {error}")),
        };
        let others = on_payment(alert, &others);
        if let Some(order) = self.source.refunded_order(alert, &others) {
            return Some(order);
        }
        let unfinished = self.source.unfinished().await;
        let mut doubles = others.iter().filter_map(|other| Some((other, double_of(alert, other, &unfinished)?)));
        let (other, (_, words)) =
            doubles.find(|(other, (found, _))| found.is_refunded() || self.refunds.contains_key(&other.id))?;
        let earlier = self.refunds.get(&other.id).map(|line| format!(", refunded by line {line}")).unwrap_or_default();
        Some(format!("on the same payment, {words}{earlier}"))
    }

    /// Maps a service's error to the result of its row, and stops the run where the next rows would fail too.
    fn refused(&mut self, error: ServiceError) -> Became {
        if let ServiceError::AlreadyResolved(alert) = &error {
            return Became::new(RowResult::Conflict, already(alert));
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
        Became::new(result, words)
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

    fn put(&mut self, line: u64, said: &SaidRow, became: &Became, left: Left) -> anyhow::Result<()> {
        self.kept.as_mut().map_or(Ok(()), |kept| kept.put(line, said, became, left))
    }
}

/// Returns the result of a row that a stopped run does not reach.
fn not_tried() -> Became {
    Became::new(RowResult::Skipped, "not tried: the run was stopped before it")
}

/// Describes a row whose reply a signal cut off, and the ways to look it up.
fn left_unanswered(signal: &str, id: Option<&str>) -> String {
    let show = id.map_or_else(String::new, |id| {
        format!("`avert alerts show {}` tells what became of it, and so does ", printable(id))
    });
    format!(
        "{signal} ended the run before its answer came: it may have arrived; {show}`--resume`, which never sends it \
            again"
    )
}

fn already(alert: &Alert) -> String {
    match &alert.outcome {
        Some(outcome) => {
            format!("it has an outcome already: {}, {}", printable(&outcome.refunded), printable(&outcome.outcome))
        }
        None => "it has an outcome already".to_owned(),
    }
}
