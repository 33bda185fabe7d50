//! The views of what happened: which things each holds, folded where they were decided together, and narrowed by words.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use crate::console::decisions::State;
use crate::console::journal_feed::CALLS_FOR;
use crate::console::text::columns;
use crate::console::unfinished::Stage;
use crate::console::{AppContext, times};
use crate::desk::{DecisionFate, DecisionRecord, History, NotificationRecord};
use crate::domain::{AuditEntry, ResolutionAttempt};

use super::proof::live;
use super::rows::{ActivityRow, Happening, PART_INDENT, proof_briefly, row_of};
use super::run::{DecidedTogether, way_of};

/// A view of what happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ActivityView {
    /// What failed, is unknown or parked.
    #[default]
    NeedsYou,
    /// The decisions of the day.
    Today,
    /// Those that whoever sits here made by hand.
    Mine,
    /// Those that a rule made.
    ByRules,
    /// All of this desk: decisions, and what the console told.
    All,
    /// The service's audit log.
    Service,
    /// What the console told.
    Notices,
    /// The notes on alerts.
    Notes,
}

impl ActivityView {
    /// Every view, in the order of the screen, with its word.
    pub const ALL: [(Self, &'static str); 8] = [
        (Self::NeedsYou, "Needs you"),
        (Self::Today, "Today"),
        (Self::Mine, "Mine"),
        (Self::ByRules, "Rules"),
        (Self::All, "All"),
        (Self::Service, "Service"),
        (Self::Notices, "Notices"),
        (Self::Notes, "Notes"),
    ];

    /// The view so many further on, round and round.
    pub fn step(self, by: usize) -> Self {
        let at = Self::ALL.iter().position(|(view, _)| *view == self).unwrap_or(0);
        Self::ALL[(at + by) % Self::ALL.len()].0
    }

    /// Whether what it holds are sentences, and not decisions.
    pub fn is_of_sentences(self) -> bool {
        matches!(self, Self::Notices | Self::Notes)
    }
}

/// What of a view is shown: which runs are unfolded, and the words that narrow it.
#[derive(Debug, Default)]
pub struct ShownRows {
    unfolded: HashSet<String>,
    pub filter: Option<WordFilter>,
}

impl ShownRows {
    /// Unfolds a run, or folds it again.
    pub fn turn(&mut self, run: &str) {
        if !self.unfolded.remove(run) {
            self.unfolded.insert(run.to_owned());
        }
    }

    /// Whether the decisions of a run stand beneath it.
    pub fn is_unfolded(&self, run: &str) -> bool {
        self.unfolded.contains(run)
    }

    fn has(&self, happening: &Happening<'_>, cx: &AppContext) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.has(happening, cx))
    }
}

/// A filter of rows by words: each has to stand somewhere in what a row says.
#[derive(Debug, Default)]
pub struct WordFilter {
    text: String,
    words: Vec<String>,
    /// Of decisions that are settled: by how many steps, and whether they have the words. There may be many, and what
    /// they say stays.
    known: RefCell<HashMap<String, (usize, bool)>>,
}

impl WordFilter {
    /// The filter by these words; none where there is no word.
    pub fn of(text: &str) -> Option<Self> {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        (!words.is_empty()).then(|| Self { text: text.trim().to_owned(), words, known: RefCell::default() })
    }

    /// The words as they were typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    fn has(&self, happening: &Happening<'_>, cx: &AppContext) -> bool {
        let settled = happening.record().filter(|record| is_settled(record) && live(record, cx).is_none());
        let Some(record) = settled else { return self.is_in(&text_of(happening, cx)) };
        let steps = record.steps.len() + usize::from(record.dismissed);
        match self.known.borrow().get(&record.key) {
            Some((known, has)) if *known == steps => return *has,
            _ => {}
        }
        let has = self.is_in(&text_of(happening, cx));
        self.known.borrow_mut().insert(record.key.clone(), (steps, has));
        has
    }

    fn is_in(&self, text: &str) -> bool {
        self.words.iter().all(|word| text.contains(word))
    }
}

/// Whether nothing more becomes of a decision by itself.
fn is_settled(record: &DecisionRecord) -> bool {
    use DecisionFate::{Answered, AsDecided, NeverLeft, Overtaken, Recorded, Refused, TakenBack};
    matches!(
        record.fate(),
        Answered(_) | AsDecided(_) | NeverLeft | Overtaken(_) | Recorded(_) | Refused(_) | TakenBack
    )
}

/// What a row says, and by what else its alert is known, in small letters.
fn text_of(happening: &Happening<'_>, cx: &AppContext) -> String {
    let row = row_of(happening, cx);
    let id = happening.alert().map(|id| id.to_string()).unwrap_or_default();
    let provider_id = happening.named().map_or("", |alert| &alert.provider_id);
    let run = happening.record().and_then(|record| record.together.as_ref());
    let (way, from) = run.map_or(("", ""), |run| (way_of(run), run.from.as_deref().unwrap_or_default()));
    [&row.who, &row.what, &row.named, &row.proof, &id, provider_id, way, from].join("\n").to_lowercase()
}

/// From so many columns on a sentence about an alert has the columns of a decision, and so much of what it says counts
/// for them where there are decisions beside it.
const MUCH: u16 = 100;
const WIDEST_SAID: u16 = 46;

/// How wide who, what, which alert and the proof are in the rows of a view that were shown. They grow and never shrink,
/// so that nothing moves to and fro while one scrolls.
#[derive(Debug, Default)]
pub struct RowWidths {
    /// Of the view, and how wide what is said about an alert is among them.
    widths: Cell<(ActivityView, [u16; 4], u16)>,
    /// Folded runs whose rows are among them, by the keys of their first decisions: with how many steps, and as many of
    /// the rows as asked for.
    runs: RefCell<HashMap<String, (usize, usize)>>,
}

impl RowWidths {
    /// Those with these rows of a view, in so much room.
    pub fn with<'r>(&self, view: ActivityView, rows: impl IntoIterator<Item = &'r ActivityRow>, room: u16) -> [u16; 4] {
        let (before, known, said) = self.widths.get();
        let (known, mut most_said) = if before == view { (known, said) } else { ([0; 4], 0) };
        let widths = rows.into_iter().fold(known, |widths, row| {
            let [who, what, named, proof] = [&row.who, &row.what, &row.named, proof_briefly(&row.proof)].map(columns);
            // A sentence among decisions has the room that they leave, and makes none but where there is much.
            if row.is_told && !view.is_of_sentences() {
                let Some(said) = row.said_of_named().filter(|_| room >= MUCH) else {
                    return [widths[0].max(who), widths[1], widths[2], widths[3]];
                };
                most_said = most_said.max(columns(said));
                return [widths[0].max(who), widths[1], widths[2].max(named), widths[3]];
            }
            let what = if row.is_part { what + PART_INDENT } else { what };
            [widths[0].max(who), widths[1].max(what), widths[2].max(named), widths[3].max(proof)]
        });
        self.widths.set((view, widths, most_said));
        let [who, what, named, proof] = widths;
        let said = if proof == 0 { most_said } else { most_said.min(WIDEST_SAID) };
        [who, what.max(said), named, proof]
    }

    /// The decisions of a run whose rows are to be measured, so many at most: none where they were before and nothing
    /// more becomes of them.
    pub fn unmeasured<'d>(
        &self,
        view: ActivityView,
        together: &DecidedTogether<'d>,
        most: usize,
    ) -> Vec<&'d DecisionRecord> {
        let mut runs = self.runs.borrow_mut();
        if self.widths.get().0 != view {
            runs.clear();
        }
        let decisions = || together.decisions.iter().copied().take(most);
        let known = (decisions().map(|record| record.steps.len()).sum(), most);
        if runs.get(&together.run.first) == Some(&known) {
            return Vec::new();
        }
        if decisions().all(is_settled) {
            runs.insert(together.run.first.clone(), known);
        }
        decisions().collect()
    }
}

/// What is shown of a view, the newest first: decisions that were made together in one row. Below what needs somebody
/// the other decisions of the day stand, or what was told that day where there is none.
pub fn happenings<'a>(
    view: ActivityView,
    shown: &ShownRows,
    cx: &'a AppContext,
    audit: &'a [AuditEntry],
) -> Vec<Happening<'a>> {
    let mut each = each(view, shown, cx, audit);
    match view {
        ActivityView::NeedsYou => {
            let needing: HashSet<&str> =
                each.iter().filter_map(Happening::record).map(|record| record.key.as_str()).collect();
            let mut today = happenings(ActivityView::Today, shown, cx, audit);
            if each.is_empty() && today.is_empty() {
                // A desk that has decided nothing yet was told something.
                let told = happenings(ActivityView::Notices, shown, cx, audit);
                today = told.into_iter().filter(|told| times::same_day(told.at(), cx.now, cx.settings.zone)).collect();
            }
            today.retain(|row| row.record().is_none_or(|record| !needing.contains(record.key.as_str())));
            each.append(&mut today);
            each
        }
        ActivityView::Today | ActivityView::Mine | ActivityView::ByRules | ActivityView::All => folded(each, shown, cx),
        _ => each,
    }
}

/// The same with each decision by itself.
pub fn each<'a>(
    view: ActivityView,
    shown: &ShownRows,
    cx: &'a AppContext,
    audit: &'a [AuditEntry],
) -> Vec<Happening<'a>> {
    let history = cx.journal.history();
    let told = || notices(cx).map(Happening::Told);
    // What became of a decision is told by its own row.
    let besides = || told().filter(|told| !repeats_decision(told, history));
    let mut all: Vec<Happening<'a>> = match view {
        ActivityView::NeedsYou => needs_you(cx),
        ActivityView::Today | ActivityView::Mine | ActivityView::ByRules => {
            decisions(view, cx).map(Happening::Decision).collect()
        }
        ActivityView::All => decisions(view, cx).map(Happening::Decision).chain(besides()).collect(),
        ActivityView::Service => audit.iter().map(Happening::Audit).collect(),
        ActivityView::Notices => told().collect(),
        ActivityView::Notes => cx.notes.all().map(Happening::Noted).collect(),
    };
    // The service tells its entries in their order.
    if view != ActivityView::Service {
        all.sort_by_key(Happening::at);
        all.reverse();
    }
    all.retain(|happening| shown.has(happening, cx));
    all
}

/// Whether a notification says what the row of a decision that is held says.
fn repeats_decision(happening: &Happening<'_>, history: &History) -> bool {
    let Happening::Told(told) = happening else { return false };
    told.decision.as_ref().is_some_and(|key| history.record(key).is_some())
}

/// These with a row for each run; each of its decisions stands beneath it where it is unfolded. A run that is here in
/// part is none.
pub fn folded<'a>(each: Vec<Happening<'a>>, shown: &ShownRows, cx: &'a AppContext) -> Vec<Happening<'a>> {
    let run_of = |happening: &Happening<'a>| happening.record().and_then(|record| record.together.as_ref());
    let mut here: HashMap<&str, usize> = HashMap::new();
    for run in each.iter().filter_map(run_of) {
        *here.entry(&run.first).or_default() += 1;
    }
    let history = cx.journal.history();
    here.retain(|first, here| *here > 1 && *here == history.run(first).len());
    let mut rows = Vec::with_capacity(each.len());
    let mut seen: HashSet<&str> = HashSet::new();
    for happening in each {
        let Some(run) = run_of(&happening).filter(|run| here.contains_key(run.first.as_str())) else {
            rows.push(happening);
            continue;
        };
        if !seen.insert(&run.first) {
            continue;
        }
        let is_unfolded = shown.is_unfolded(&run.first);
        rows.push(Happening::Run(DecidedTogether { run, decisions: history.run(&run.first).collect(), is_unfolded }));
        if is_unfolded {
            rows.extend(history.run(&run.first).map(Happening::Part));
        }
    }
    rows
}

/// How much a view holds, each decision counted, and before it is narrowed.
pub fn count_of(view: ActivityView, cx: &AppContext, audit: &[AuditEntry]) -> usize {
    match view {
        ActivityView::NeedsYou => needs_you(cx).len(),
        ActivityView::Today | ActivityView::Mine | ActivityView::ByRules => decisions(view, cx).count(),
        ActivityView::All => each(view, &ShownRows::default(), cx, audit).len(),
        ActivityView::Service => audit.len(),
        ActivityView::Notices => notices(cx).count(),
        ActivityView::Notes => cx.notes.all().count(),
    }
}

/// What consoles on this place told.
fn notices(cx: &AppContext) -> impl Iterator<Item = &NotificationRecord> {
    cx.journal.history().notifications().iter().filter(|told| cx.journal.is_of_here(&told.place))
}

/// The decisions of a view of decisions that were made on this place, in the order of the journal.
fn decisions(view: ActivityView, cx: &AppContext) -> impl Iterator<Item = &DecisionRecord> {
    let here = cx.journal.history().records().iter().filter(|record| cx.journal.is_of_here(&record.place));
    here.filter(move |record| match view {
        ActivityView::Today => times::same_day(record.made_at, cx.now, cx.settings.zone),
        ActivityView::Mine => record.rule.is_none() && cx.journal.is_own(record.session, record.user.as_deref()),
        ActivityView::ByRules => record.rule.is_some(),
        _ => true,
    })
}

/// What somebody has to see to: decisions of this desk, and those that the engine has not finished.
pub fn needs_you(cx: &AppContext) -> Vec<Happening<'_>> {
    let records = cx.journal.history().records().iter().rev();
    let young = records.take_while(|record| live(record, cx).is_some() || cx.now - record.made_at < CALLS_FOR);
    let own: Vec<&DecisionRecord> = young.filter(|record| calls(record, cx)).collect();
    let told = |attempt: &&ResolutionAttempt| own.iter().any(|record| record.said.alert.id == attempt.alert);
    let open = |attempt: &&ResolutionAttempt| match Stage::of(attempt) {
        Stage::Sending => false,
        Stage::Unknown | Stage::Parked => !told(attempt),
    };
    let attempts: Vec<_> = cx.unfinished.all().filter(open).map(Happening::Attempt).collect();
    own.into_iter().map(Happening::Decision).chain(attempts).collect()
}

/// Whether a decision certainly failed and calls for somebody still.
pub fn calls_as_failed(record: &DecisionRecord, cx: &AppContext) -> bool {
    calls(record, cx) && matches!(record.fate(), DecisionFate::Refused(_) | DecisionFate::NeverLeft)
}

fn calls(record: &DecisionRecord, cx: &AppContext) -> bool {
    if let Some(decision) = live(record, cx) {
        return matches!(decision.state, State::Refused(_) | State::Checking(_) | State::Waiting);
    }
    cx.journal.is_failed(record)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::desk::{JournalDecision, JournalRun};
    use crate::domain::resolution::Decision;
    use crate::domain::{Alert, Resolution, Timestamp};

    #[test]
    fn columns_grow_with_what_is_shown_and_begin_anew_in_another_view() {
        let row = |what: &str| ActivityRow {
            who: "you".to_owned(),
            what: what.to_owned(),
            named: "ETHOCA".to_owned(),
            ..ActivityRow::default()
        };
        let widths = RowWidths::default();

        let told = [
            widths.with(ActivityView::All, &[row("REFUNDED 1,480.00 AED")], 120),
            widths.with(ActivityView::All, &[row("REFUNDED")], 120),
            widths.with(ActivityView::Today, &[row("REFUNDED")], 120),
        ];

        assert_eq!(told, [[3, 21, 6, 0], [3, 21, 6, 0], [3, 8, 6, 0]]);
    }

    #[test]
    fn what_a_proof_adds_takes_no_room_from_what_was_decided() {
        let found = ActivityRow {
            proof: "CHARGEBACK, found 05:22:37; by whom is not known".to_owned(),
            ..ActivityRow::default()
        };

        assert_eq!(RowWidths::default().with(ActivityView::Today, &[found], 120), [0, 0, 0, 26]);
    }

    #[test]
    fn a_folded_run_is_measured_once_in_a_view_unless_more_becomes_of_it_or_more_of_it_has_room() {
        let run = JournalRun { first: "first".to_owned(), from: None };
        let mut record = DecisionRecord {
            key: "first".to_owned(),
            said: JournalDecision::of(
                &Alert::sample(),
                &Resolution::Current { decision: Decision::Refunded, comments: String::new() },
            ),
            place: String::new(),
            session: Uuid::nil(),
            user: None,
            rule: None,
            together: Some(run.clone()),
            made_at: Timestamp::default(),
            steps: vec![(Timestamp::default(), DecisionFate::Sent)],
            unlooked: None,
            settled_by: None,
            dismissed: false,
        };
        let widths = RowWidths::default();
        let measured = |record: &DecisionRecord, view, most| {
            let together = DecidedTogether { run: &run, decisions: vec![record, record], is_unfolded: false };
            let measured = widths.unmeasured(view, &together, most).len();
            widths.with(view, &[], 120);
            measured
        };

        let under_way = [ActivityView::All; 2].map(|view| measured(&record, view, 1));
        record.steps.push((Timestamp::default(), DecisionFate::TakenBack));
        let ended = [ActivityView::All, ActivityView::All, ActivityView::Today, ActivityView::Today]
            .map(|view| measured(&record, view, 1));
        let in_a_higher_place = measured(&record, ActivityView::Today, 2);
        record.steps.push((Timestamp::default(), DecisionFate::TakenBack));

        assert_eq!((under_way, ended, in_a_higher_place), ([1, 1], [1, 0, 1, 0], 2));
        assert_eq!(measured(&record, ActivityView::Today, 2), 2);
    }

    #[test]
    fn a_sentence_among_decisions_has_room_for_who_told_it_and_makes_none_besides() {
        let told = ActivityRow {
            who: "avert".to_owned(),
            what: "a long sentence".to_owned(),
            is_told: true,
            ..ActivityRow::default()
        };

        assert_eq!(RowWidths::default().with(ActivityView::All, &[told], 200), [5, 0, 0, 0]);
    }

    #[test]
    fn a_sentence_about_the_alert_of_its_row_stands_in_the_columns_but_in_a_narrow_place() {
        let told = ActivityRow {
            what: "ETHOCA ··5667 299.00 EUR: the window closes at 03:05 UTC.".to_owned(),
            named: "ETHOCA ··5667 INV-2026-44966".to_owned(),
            is_told: true,
            ..ActivityRow::default()
        };
        let long = ActivityRow { what: told.what.replace("the window", &"the window ".repeat(9)), ..told.clone() };

        let decided =
            ActivityRow { what: "REFUNDED".to_owned(), proof: "recorded".to_owned(), ..ActivityRow::default() };

        let of = |rows: &[&ActivityRow], room| RowWidths::default().with(ActivityView::All, rows.iter().copied(), room);
        let widths =
            [of(&[&told], 80), of(&[&told], 120), of(&[&told], 200), of(&[&long], 120), of(&[&long, &decided], 120)];

        // Only beside a decision, whose columns it has, a long one is cut for them.
        assert_eq!(widths, [[0, 0, 0, 0], [0, 43, 28, 0], [0, 43, 28, 0], [0, 132, 28, 0], [0, 46, 28, 8]]);
        assert_eq!(told.named_behind(), "INV-2026-44966", "an alert is not named twice");
    }
}
