//! Calls, the reminders of the console: of alerts that lapse soon, decisions that failed, answers on hold.

use std::collections::HashSet;

use chrono::Duration;

use super::{
    notices::NoticeSettings,
    text::count,
    times::{self, Zone},
};
use crate::{
    desk::ClosingAlerts,
    domain::{Alert, AlertId, Deadline, Timestamp},
    service::ServiceError,
};

/// Interval between two reads of the alerts that are due next, 60 s.
const READ_EVERY: Duration = Duration::seconds(60);

/// Two readings are at least so far apart, however many alerts come near one after the other.
const APART: Duration = Duration::seconds(5);

/// A call: a message, and the alerts that it is about, the one to go to first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttentionCall {
    pub words: String,
    /// Text outside the console: counts, time left, a network's id.
    pub outside: String,
    pub about: Vec<Alert>,
}

/// The state of what calls, for as long as this console is open.
#[derive(Debug, Default)]
pub struct Calls {
    /// Alerts that were told: each calls once.
    told: HashSet<AlertId>,
    /// Decisions that are held here and were told.
    held: HashSet<u64>,
    closing: ClosingAlerts,
    failures: Vec<String>,
    /// True where it was told that nothing can be read.
    trouble_told: bool,
    /// True where an answer came that nothing was made of yet.
    news: bool,
    due: Option<Timestamp>,
}

/// Returns the number of hours ahead that are read.
pub fn hours_read(before: Duration) -> u32 {
    let hours = (before.num_minutes().max(0) + 59) / 60;
    u32::try_from(hours.max(1)).unwrap_or(u32::MAX)
}

/// Returns true where an alert waits for an answer that may be late within this time. Whole hours count at the earliest
/// that it can be.
pub fn lapses_within(alert: &Alert, before: Duration, now: Timestamp) -> bool {
    let due = match alert.deadline {
        Deadline::At(moment) => moment > now && moment - now <= before,
        Deadline::HoursLeft(hours @ 0..) => Duration::try_hours(hours).is_some_and(|left| left < before),
        Deadline::HoursLeft(..0) | Deadline::Unknown => false,
    };
    due && waits(alert)
}

/// Returns true where somebody has to answer it.
fn waits(alert: &Alert) -> bool {
    !alert.is_over() && alert.expired_at.is_none() && !alert.alert_type.is_notice()
}

/// The alert in a few words: its network and its money.
pub fn subject(alert: &Alert) -> String {
    let money = alert.money().map_or_else(|| alert.provider_id.clone(), |money| money.to_string());
    format!("{} {money}", alert.provider)
}

/// An alert as it is named outside the console.
fn outside_name(alert: &Alert) -> String {
    format!("{} {}", alert.provider, alert.provider_id)
}

/// Returns the time left of an alert, in words.
pub fn left_words(alert: &Alert, now: Timestamp) -> String {
    match alert.deadline {
        Deadline::At(moment) => format!("in {}", times::short(moment - now)),
        Deadline::HoursLeft(hours @ 0..) => format!("in less than {} h", times::hour_bound(hours)),
        Deadline::HoursLeft(..0) | Deadline::Unknown => "at an unknown time".to_owned(),
    }
}

/// When an alert lapses, in words that stay true while they stand.
pub fn when_words(alert: &Alert, told: Zone, now: Timestamp) -> String {
    match alert.deadline {
        Deadline::At(moment) => format!("at {}", told.at(moment, now)),
        // A day has its end, and so has what may be left.
        Deadline::HoursLeft(hours @ 0..) => {
            let most = Duration::try_hours(times::hour_bound(hours)).unwrap_or_default();
            format!("before {}", told.at(now.checked_add_signed(most).unwrap_or(now), now))
        }
        Deadline::HoursLeft(..0) | Deadline::Unknown => left_words(alert, now),
    }
}

impl Calls {
    /// Begins: everything is read at the first chance.
    pub fn begun(now: Timestamp) -> Self {
        Self { due: Some(now), ..Self::default() }
    }

    /// Returns true where it is to be read now what lapses next.
    pub fn take_due(&mut self, now: Timestamp) -> bool {
        self.due.take_if(|due| *due <= now).is_some()
    }

    /// When something is to be read.
    pub fn next_wake(&self) -> Option<Timestamp> {
        self.due
    }

    /// Takes in what lapses next. Returns what is wrong where it can never be read like this, once.
    pub fn read(
        &mut self,
        answer: Result<ClosingAlerts, ServiceError>,
        before: Duration,
        now: Timestamp,
    ) -> Option<String> {
        self.news = true;
        let mut again = READ_EVERY;
        let wrong = match answer {
            Ok(closing) => {
                self.closing = closing;
                None
            }
            Err(ServiceError::Throttled { wait, .. }) => {
                again = again.max(Duration::from_std(wait).unwrap_or(again));
                None
            }
            Err(error @ (ServiceError::InvalidRequest(_) | ServiceError::NotAuthorized(_))) => {
                let first = !std::mem::replace(&mut self.trouble_told, true);
                first.then(|| format!("No reminders: {error}"))
            }
            Err(_) => None,
        };
        // Who comes near meanwhile is read again first: somebody else may have answered.
        let near = self.closing.alerts.iter().filter(|alert| waits(alert) && !self.told.contains(&alert.id));
        let next = near.filter_map(|alert| Some(alert.deadline.moment()? - before)).filter(|at| *at > now).min();
        self.due = Some(next.map_or(now + again, |at| at.max(now + APART).min(now + again)));
        wrong
    }

    /// An alert is through with.
    pub fn concluded(&mut self, alert: &Alert) {
        if let Some(known) = self.closing.alerts.iter_mut().find(|known| known.id == alert.id) {
            known.clone_from(alert);
        }
    }

    /// A decision failed: the message of it is told by whoever knows more.
    pub fn failed(&mut self, alert: &Alert) {
        self.failures.push(format!("To do: {}", outside_name(alert)));
    }

    /// Decisions failed that are told of in these words.
    pub fn failed_together(&mut self, what: impl Into<String>) {
        self.failures.push(what.into());
    }

    /// Takes the texts outside the console for decisions that failed since this was called last.
    pub fn take_failures(&mut self) -> Vec<String> {
        std::mem::take(&mut self.failures)
    }

    /// Returns true where an answer came that nothing was made of yet.
    pub fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.news)
    }

    /// The alerts that lapse within the time, but for those that a decision is on its way for.
    fn near<'c>(
        &'c self,
        before: Duration,
        underway: &'c impl Fn(AlertId) -> bool,
        now: Timestamp,
    ) -> impl Iterator<Item = &'c Alert> {
        self.closing.alerts.iter().filter(move |alert| lapses_within(alert, before, now) && !underway(alert.id))
    }

    /// Returns true where some of those that were not read may be near too: where they are in no order, or all of those
    /// that were read are.
    fn more_may_be_near(&self, before: Duration, underway: &impl Fn(AlertId) -> bool, now: Timestamp) -> bool {
        let waiting = || self.closing.alerts.iter().filter(|alert| waits(alert) && !underway(alert.id));
        let all_are_near = waiting().all(|alert| lapses_within(alert, before, now));
        self.closing.more && (!self.closing.first || all_are_near)
    }

    /// The call of the alerts that have come near since this was asked last. Each is told once. `times`: by which
    /// clocks.
    pub fn deadlines(
        &mut self,
        before: Duration,
        underway: impl Fn(AlertId) -> bool,
        times: Zone,
        now: Timestamp,
    ) -> Option<AttentionCall> {
        let mut about: Vec<Alert> =
            self.near(before, &underway, now).filter(|alert| !self.told.contains(&alert.id)).cloned().collect();
        about.sort_by_key(|alert| (alert.deadline.moment().is_none(), alert.deadline.moment(), alert.id));
        self.told.extend(about.iter().map(|alert| alert.id));
        let first = about.first()?;
        let least = at_least(self.more_may_be_near(before, &underway, now));
        let (left, when, within) = (left_words(first, now), when_words(first, times, now), times::short(before));
        // Of whole hours it is known only that they may end so soon.
        let may = if about.iter().all(|alert| alert.deadline.moment().is_some()) { "" } else { "may " };
        let (words, outside) = match about.len() {
            1 => (format!("{} due {when}, unanswered.", subject(first)), format!("{} due {left}", outside_name(first))),
            many => (
                format!(
                    "{} and {least}{} more {may}expire within {within}, the first {when}.",
                    subject(first),
                    count(many as u64 - 1)
                ),
                format!(
                    "{least}{} alerts {may}expire within {within}, {} {left}",
                    count(many as u64),
                    outside_name(first)
                ),
            ),
        };
        Some(AttentionCall { words, outside, about })
    }

    /// The decisions of these that are held here and were not told yet; they count as told.
    pub fn take_held(&mut self, keys: impl Iterator<Item = u64>) -> Vec<u64> {
        keys.filter(|key| self.held.insert(*key)).collect()
    }

    /// Returns true where a decision that is held here was told.
    pub fn knows_held(&self, key: u64) -> bool {
        self.held.contains(&key)
    }

    /// The terminal's title at a place: what is due, how many decisions are open in which way, and where.
    pub fn title(
        &self,
        place: &str,
        settings: &NoticeSettings,
        open: [(usize, &str); 2],
        underway: impl Fn(AlertId) -> bool,
        now: Timestamp,
    ) -> String {
        let near = self.near(settings.before, &underway, now).count() as u64;
        let more = if near > 0 && self.more_may_be_near(settings.before, &underway, now) { "+" } else { "" };
        let due = (near > 0).then(|| format!("{}{more} due within {}", count(near), times::short(settings.before)));
        let open = open
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, words)| format!("{} {words}", count(number as u64)));
        let parts: Vec<String> = due.into_iter().chain(open).collect();
        if parts.is_empty() { format!("avert: {place}") } else { format!("avert: {} - {place}", parts.join(", ")) }
    }
}

/// Returns the words before a number of alerts where there may be more than is known.
fn at_least(may_be_more: bool) -> &'static str {
    if may_be_more { "at least " } else { "" }
}

#[cfg(test)]
mod tests;
