//! The rows of the journal's views: the things that a row can be about, and what it says of one.

use std::borrow::Cow;

use crate::console::AppContext;
use crate::console::text::{columns, sanitize};
use crate::console::unfinished::in_words;
use crate::desk::{DecisionRecord, JournalAlert, Note, NotificationRecord};
use crate::domain::exchange::without_exchange;
use crate::domain::{AlertId, AttemptId, AuditEntry, ResolutionAttempt, Timestamp};

use super::proof::{RowTone, proof, standing_of};
use super::run::DecidedTogether;
use super::words::{maker, name_of, what, who};

/// The identity of a row, whatever stands above it by now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActivityId {
    Decision(String),
    /// Those that were made together with this one.
    Run(String),
    Attempt(AttemptId),
    Audit(u64),
    /// What was told then, in these words.
    Told(Timestamp, String),
    /// What was noted then on this alert.
    Noted(Timestamp, AlertId),
}

/// A thing that happened, and that a row is about.
#[derive(Debug, Clone)]
pub enum Happening<'a> {
    /// A decision of this desk.
    Decision(&'a DecisionRecord),
    /// Several that were made together.
    Run(DecidedTogether<'a>),
    /// One of those that stand beneath their run.
    Part(&'a DecisionRecord),
    /// A decision that the engine has not finished, of whomever.
    Attempt(&'a ResolutionAttempt),
    /// An entry of the service's audit log.
    Audit(&'a AuditEntry),
    /// A notification.
    Told(&'a NotificationRecord),
    /// A note on an alert.
    Noted(&'a Note),
}

impl<'a> Happening<'a> {
    /// What tells it from every other one.
    pub fn id(&self) -> ActivityId {
        match self {
            Self::Decision(record) | Self::Part(record) => ActivityId::Decision(record.key.clone()),
            Self::Run(together) => ActivityId::Run(together.run.first.clone()),
            Self::Attempt(attempt) => ActivityId::Attempt(attempt.id),
            Self::Audit(entry) => ActivityId::Audit(entry.number),
            Self::Told(told) => ActivityId::Told(told.at, told.words.clone()),
            Self::Noted(note) => ActivityId::Noted(note.at, note.alert),
        }
    }

    /// Whether it is the one of this identity.
    pub fn is(&self, id: &ActivityId) -> bool {
        match (self, id) {
            (Self::Decision(record) | Self::Part(record), ActivityId::Decision(key)) => record.key == *key,
            (Self::Run(together), ActivityId::Run(first)) => together.run.first == *first,
            (Self::Attempt(attempt), ActivityId::Attempt(id)) => attempt.id == *id,
            (Self::Audit(entry), ActivityId::Audit(number)) => entry.number == *number,
            (Self::Told(told), ActivityId::Told(at, words)) => told.at == *at && told.words == *words,
            (Self::Noted(note), ActivityId::Noted(at, alert)) => note.at == *at && note.alert == *alert,
            _ => false,
        }
    }

    /// When it happened.
    pub fn at(&self) -> Timestamp {
        match self {
            Self::Decision(record) | Self::Part(record) => record.made_at,
            Self::Run(together) => together.made_at(),
            Self::Attempt(attempt) => attempt.started_at,
            Self::Audit(entry) => entry.at,
            Self::Told(told) => told.at,
            Self::Noted(note) => note.at,
        }
    }

    /// The alert that it was about.
    pub fn alert(&self) -> Option<AlertId> {
        match self {
            Self::Decision(record) | Self::Part(record) => Some(record.said.alert.id),
            Self::Run(_) => None,
            Self::Attempt(attempt) => Some(attempt.alert),
            Self::Audit(entry) => entry.action.starts_with("alert.").then(|| entry.subject.parse().ok()).flatten(),
            Self::Told(told) => told.alert.as_ref().map(|alert| alert.id),
            Self::Noted(note) => Some(note.alert),
        }
    }

    /// The decision that it is.
    pub fn record(&self) -> Option<&'a DecisionRecord> {
        match self {
            Self::Decision(record) | Self::Part(record) => Some(record),
            _ => None,
        }
    }

    /// That alert, as far as it is named here.
    pub fn named(&self) -> Option<&'a JournalAlert> {
        match self {
            Self::Decision(record) | Self::Part(record) => Some(&record.said.alert),
            Self::Told(told) => told.alert.as_ref(),
            Self::Noted(note) => note.about.as_ref(),
            Self::Run(_) | Self::Attempt(_) | Self::Audit(_) => None,
        }
    }
}

/// Columns that a row beneath its run is indented by.
pub const PART_INDENT: u16 = 2;

/// What a row says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ActivityRow {
    pub sign: &'static str,
    pub tone: RowTone,
    pub who: String,
    pub what: String,
    /// The same in ever fewer words, for where it has no room: a sum is never cut.
    pub what_briefly: Vec<String>,
    pub named: String,
    pub proof: String,
    /// What a key does with the row, in words.
    pub hint: String,
    /// Whether it stands beneath the row of its run, which says when and by whom.
    pub is_part: bool,
    /// Whether what it says is a sentence, which has the room of all these.
    pub is_told: bool,
    /// Whether many alerts were chosen for it: from where is less than what was decided and its sum.
    pub is_bulk: bool,
}

impl ActivityRow {
    /// What it says in so much room: whole, or in as many words as have it.
    pub fn what_in(&self, room: u16) -> &str {
        let mut forms = std::iter::once(&self.what).chain(&self.what_briefly);
        forms.find(|form| columns(form) <= room).or(self.what_briefly.last()).unwrap_or(&self.what)
    }

    /// What a sentence says of the alert it begins with, where it begins with the one that the row is about: `ETHOCA
    /// ··4242`.
    pub fn said_of_named(&self) -> Option<&str> {
        let name = self.named.match_indices(' ').nth(1).map_or(self.named.as_str(), |(at, _)| &self.named[..at]);
        self.what.strip_prefix(name)?.strip_prefix(' ').filter(|_| self.is_told && !name.is_empty())
    }

    /// What names the alert behind the sentence: what that does not say itself.
    pub fn named_behind(&self) -> &str {
        match self.said_of_named() {
            Some(_) => self.named.match_indices(' ').nth(1).map_or("", |(at, _)| &self.named[at + 1..]),
            None => &self.named,
        }
    }
}

/// A head of so many columns says enough by itself: `CHARGEBACK, found 05:22:37`, not `seen to`.
const ENOUGH: u16 = 14;

/// A proof without what it adds behind a `;`: that gives way first, and makes no room for itself.
pub fn proof_briefly(proof: &str) -> &str {
    proof.split_once("; ").map(|(head, _)| head).filter(|head| columns(head) >= ENOUGH).unwrap_or(proof)
}

/// A proof in so much room: where it is too long, what it adds goes first and the exchange, which stand with the steps,
/// and then the time, which is near that of the row.
pub fn proof_in(proof: &str, room: u16) -> Cow<'_, str> {
    if columns(proof) <= room {
        return Cow::Borrowed(proof);
    }
    let brief = proof_briefly(proof);
    if columns(brief) <= room {
        return Cow::Borrowed(brief);
    }
    for known in ["recorded", "found"] {
        if let Some((status, _)) = brief.split_once(&format!(", {known} ")) {
            let untimed = format!("{status}, {known}");
            return if columns(&untimed) <= room { Cow::Owned(untimed) } else { Cow::Borrowed(status) };
        }
    }
    without_exchange(proof)
}

/// What a row says of a thing.
pub fn row_of(happening: &Happening<'_>, cx: &AppContext) -> ActivityRow {
    match happening {
        Happening::Decision(record) => of_decision(record, cx),
        Happening::Part(record) => ActivityRow { is_part: true, ..of_decision(record, cx) },
        Happening::Run(together) => of_run(together, cx),
        Happening::Attempt(attempt) => of_attempt(attempt, cx),
        Happening::Audit(entry) => of_audit(entry, cx),
        Happening::Told(told) => of_notification(told),
        Happening::Noted(note) => of_note(note, cx),
    }
}

fn of_run(together: &DecidedTogether<'_>, cx: &AppContext) -> ActivityRow {
    let (sign, tone, proof) = together.proof(cx);
    let mut said = together.what().into_iter();
    ActivityRow {
        sign,
        tone,
        who: together.who(cx),
        what: said.next().unwrap_or_default(),
        what_briefly: said.collect(),
        named: together.chosen(),
        proof,
        hint: together.hint(cx),
        is_bulk: together.run.from.is_some(),
        ..ActivityRow::default()
    }
}

fn of_note(note: &Note, cx: &AppContext) -> ActivityRow {
    // What older versions kept of a note does not name its alert.
    let named =
        note.about.as_ref().or_else(|| cx.alert_named(note.alert)).map_or_else(|| note.alert.to_string(), name_of);
    ActivityRow {
        sign: "n",
        who: who(cx.journal.is_user(note.user.as_deref()), note.user.as_deref()),
        what: sanitize(&note.text.replace('\n', " / ")).into_owned(),
        named,
        is_told: true,
        ..ActivityRow::default()
    }
}

/// An alert is named by what it is known by, and an endpoint by its address, where that is told.
fn of_audit(entry: &AuditEntry, cx: &AppContext) -> ActivityRow {
    let detail = sanitize(&entry.detail).into_owned();
    let alert = Happening::Audit(entry).alert().and_then(|id| cx.alert_named(id)).map(name_of);
    // One that was added or removed is told with the address that it had then.
    let address = || {
        detail
            .split_once("://")
            .filter(|_| entry.action.starts_with("endpoint."))
            .map(|(_, address)| address.to_owned())
    };
    let endpoint = || cx.endpoints.address(&entry.subject).map(str::to_owned);
    let settled = || {
        let (id, fate) = detail.strip_prefix("alert ")?.split_once(": ")?;
        Some((name_of(cx.alert_named(id.parse().ok()?)?), fate.to_owned()))
    };
    let (named, proof) = match (alert, entry.action.as_str()) {
        (Some(name), _) => (name, detail),
        (None, "endpoint.added" | "endpoint.removed") => {
            (address().unwrap_or_else(|| entry.subject.clone()), String::new())
        }
        (None, "attempt.settled") => settled().unwrap_or_else(|| (entry.subject.clone(), detail.clone())),
        (None, _) => (endpoint().unwrap_or_else(|| entry.subject.clone()), detail),
    };
    ActivityRow {
        sign: "·",
        tone: RowTone::Quiet,
        who: by_whom(entry),
        what: sanitize(&entry.action).replace(['.', '_'], " "),
        named: sanitize(&named).into_owned(),
        proof,
        ..ActivityRow::default()
    }
}

/// Who did something: the credential, and behind it who that caller said to be.
fn by_whom(entry: &AuditEntry) -> String {
    sanitize(&entry.by_whom()).into_owned()
}

fn of_notification(told: &NotificationRecord) -> ActivityRow {
    let (sign, tone) = match told.tone.as_str() {
        "good" => ("✓", RowTone::Quiet),
        "bad" | "lost" => ("!", RowTone::Wrong),
        _ => ("·", RowTone::Quiet),
    };
    ActivityRow {
        sign,
        tone,
        // It was told to whoever sat there, by nobody else.
        who: "avert".to_owned(),
        what: sanitize(&told.words).into_owned(),
        named: told.alert.as_ref().map(name_of).unwrap_or_default(),
        is_told: true,
        ..ActivityRow::default()
    }
}

fn of_attempt(attempt: &ResolutionAttempt, cx: &AppContext) -> ActivityRow {
    let (sign, tone, proof) = standing_of(attempt, cx);
    ActivityRow {
        sign,
        tone,
        who: sanitize(&attempt.actor).into_owned(),
        what: sanitize(&in_words(&attempt.resolution)).into_owned(),
        named: cx.alert_named(attempt.alert).map_or_else(|| attempt.alert.to_string(), name_of),
        proof,
        ..ActivityRow::default()
    }
}

fn of_decision(record: &DecisionRecord, cx: &AppContext) -> ActivityRow {
    let (sign, tone, proof) = proof(record, cx);
    ActivityRow {
        sign,
        tone,
        who: maker(record, cx),
        what: what(&record.said),
        named: name_of(&record.said.alert),
        proof: sanitize(&proof).into_owned(),
        ..ActivityRow::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_proof_is_too_long_its_time_goes_before_its_words_do() {
        let told = [30, 22, 12].map(|room| proof_in("CHARGEBACK, recorded 02:41:42", room).into_owned());

        assert_eq!(told, ["CHARGEBACK, recorded 02:41:42", "CHARGEBACK, recorded", "CHARGEBACK"]);
    }

    #[test]
    fn what_a_proof_adds_goes_first_but_where_its_head_says_nothing() {
        let found = [48, 47, 25, 15]
            .map(|room| proof_in("CHARGEBACK, found 05:22:37; by whom is not known", room).into_owned());

        assert_eq!(
            found,
            [
                "CHARGEBACK, found 05:22:37; by whom is not known",
                "CHARGEBACK, found 05:22:37",
                "CHARGEBACK, found",
                "CHARGEBACK"
            ]
        );
        assert_eq!(
            proof_in("seen to; did not leave: the console ended first", 40),
            "seen to; did not leave: the console ended first"
        );
    }
}
