//! Reminders of alerts that are due soon, of answers that failed and of answers on hold: messages, the terminal's bell
//! and title, and messages on the desktop.

use std::collections::HashSet;

use chrono::Duration;

use super::{
    text::count,
    times::{self, Zone, hour_bound},
};
use crate::{
    domain::{Alert, AlertId, Deadline, QuietHours, Timestamp},
    service::ServiceError,
    ui::terminal::plain,
};

/// A sequence that has a terminal show a message on the desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DesktopSequence {
    Osc9,
    Osc777,
}

/// Settings of reminders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReminderSettings {
    pub bell: bool,
    /// True where the terminal's title counts what is due.
    pub title: bool,
    pub desktop: Option<DesktopSequence>,
    /// Time of a reminder before the deadline; zero for none.
    pub before: Duration,
    pub quiet: Option<QuietHours>,
}

impl Default for ReminderSettings {
    fn default() -> Self {
        Self { bell: true, title: true, desktop: None, before: Duration::minutes(30), quiet: None }
    }
}

impl ReminderSettings {
    /// The reminder with these words, by what is switched on.
    pub fn reminder(&self, words: &str) -> Option<Reminder> {
        let desktop = self.desktop.map(|sequence| (sequence, words.to_owned()));
        (self.bell || desktop.is_some()).then_some(Reminder { bell: self.bell, desktop })
    }
}

/// A reminder outside the console: the bell, and a message on the desktop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reminder {
    pub bell: bool,
    pub desktop: Option<(DesktopSequence, String)>,
}

impl Reminder {
    /// Returns the bytes that are written to the terminal.
    pub fn sequence(&self) -> String {
        let bell = if self.bell { "\x07" } else { "" };
        let desktop = self.desktop.as_ref().map_or_else(String::new, |(sequence, words)| {
            let words = plain(words);
            match sequence {
                DesktopSequence::Osc9 => format!("\x1b]9;{words}\x1b\\"),
                DesktopSequence::Osc777 => format!("\x1b]777;notify;avert;{words}\x1b\\"),
            }
        });
        format!("{bell}{desktop}")
    }
}

/// Interval between two reads of the alerts that are due next, 60 s.
const READ_EVERY: Duration = Duration::seconds(60);

/// Least interval between two reads, 5 s.
const APART: Duration = Duration::seconds(5);

/// State of the reminders of a console.
#[derive(Debug, Default)]
pub struct Reminders {
    /// Alerts that were reminded of: each once.
    told: HashSet<AlertId>,
    /// Keys of the answers on hold that were reminded of.
    held: HashSet<u64>,
    /// The alerts that are due next.
    closing: Vec<Alert>,
    failures: Vec<String>,
    /// True where alerts were read since the last reminder.
    news: bool,
    due: Option<Timestamp>,
}

/// Returns the number of hours ahead that are read.
pub fn hours_read(before: Duration) -> u32 {
    let hours = (before.num_minutes().max(0) + 59) / 60;
    u32::try_from(hours.max(1)).unwrap_or(u32::MAX)
}

/// Returns true where an open alert may expire within this time. Whole hours count from their earliest end.
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

/// The alert's money, or its network's id.
pub fn money_or_id(alert: &Alert) -> String {
    alert.money().map_or_else(|| alert.provider_id.clone(), |money| money.to_string())
}

/// The alert in a few words: its network and its money.
pub fn subject(alert: &Alert) -> String {
    format!("{} {}", alert.provider, money_or_id(alert))
}

/// An alert as it is named outside the console: without its money.
pub fn outside_name(alert: &Alert) -> String {
    format!("{} {}", alert.provider, alert.provider_id)
}

/// Returns when an alert is due, in words that stay true while they stand.
pub fn due_words(alert: &Alert, zone: Zone, now: Timestamp) -> String {
    match alert.deadline {
        Deadline::At(moment) => format!("due {}", zone.at(moment, now)),
        Deadline::HoursLeft(hours @ 0..) => format!("due in less than {} h", hour_bound(hours)),
        Deadline::HoursLeft(..0) | Deadline::Unknown => "due at an unknown time".to_owned(),
    }
}

/// Sorts alerts by deadline.
pub fn by_deadline(mut alerts: Vec<Alert>) -> Vec<Alert> {
    alerts.sort_by_key(|alert| (alert.deadline.moment().is_none(), alert.deadline.moment(), alert.id));
    alerts
}

impl Reminders {
    /// Begins with a read that is due now.
    pub fn begun(now: Timestamp) -> Self {
        Self { due: Some(now), ..Self::default() }
    }

    /// Returns true where the read is due, and takes it.
    pub fn take_due(&mut self, now: Timestamp) -> bool {
        self.due.take_if(|due| *due <= now).is_some()
    }

    /// Returns the time of the next read.
    pub fn next_wake(&self) -> Option<Timestamp> {
        self.due
    }

    /// Takes in the alerts that are due next.
    pub fn read(&mut self, answer: Result<Vec<Alert>, ServiceError>, before: Duration, now: Timestamp) {
        self.news = true;
        let mut again = READ_EVERY;
        match answer {
            Ok(closing) => self.closing = closing,
            Err(ServiceError::Throttled { wait, .. }) => again = again.max(Duration::from_std(wait).unwrap_or(again)),
            Err(_) => {}
        }
        // An alert is read again before its reminder: somebody else may have answered it.
        let near = self.closing.iter().filter(|alert| waits(alert) && !self.told.contains(&alert.id));
        let next = near.filter_map(|alert| Some(alert.deadline.moment()? - before)).filter(|at| *at > now).min();
        self.due = Some(next.map_or(now + again, |at| at.max(now + APART).min(now + again)));
    }

    /// Takes in an alert that was answered.
    pub fn concluded(&mut self, alert: &Alert) {
        if let Some(known) = self.closing.iter_mut().find(|known| known.id == alert.id) {
            known.clone_from(alert);
        }
    }

    /// Adds a failed answer, for the bell and the desktop; its message is shown elsewhere.
    pub fn failed(&mut self, alert: &Alert) {
        self.failures.push(format!("To do: {}", outside_name(alert)));
    }

    /// Adds failed answers in these words.
    pub fn failed_together(&mut self, what: impl Into<String>) {
        self.failures.push(what.into());
    }

    /// Takes the texts of the answers that failed since the last call.
    pub fn take_failures(&mut self) -> Vec<String> {
        std::mem::take(&mut self.failures)
    }

    /// Returns the alerts that may expire within this time, without those that have a pending decision.
    fn near<'c>(
        &'c self,
        before: Duration,
        underway: &'c impl Fn(AlertId) -> bool,
        now: Timestamp,
    ) -> impl Iterator<Item = &'c Alert> {
        self.closing.iter().filter(move |alert| lapses_within(alert, before, now) && !underway(alert.id))
    }

    /// Takes the alerts that are due for a reminder, the nearest deadline first. Each is returned once.
    pub fn come_near(&mut self, before: Duration, underway: impl Fn(AlertId) -> bool, now: Timestamp) -> Vec<Alert> {
        if !std::mem::take(&mut self.news) {
            return Vec::new();
        }
        let new = self.near(before, &underway, now).filter(|alert| !self.told.contains(&alert.id));
        let new = by_deadline(new.cloned().collect());
        self.told.extend(new.iter().map(|alert| alert.id));
        new
    }

    /// Takes those of these answers on hold that were not reminded of.
    pub fn take_held(&mut self, keys: impl Iterator<Item = u64>) -> Vec<u64> {
        keys.filter(|key| self.held.insert(*key)).collect()
    }

    /// Returns true where an answer on hold was reminded of.
    pub fn knows_held(&self, key: u64) -> bool {
        self.held.contains(&key)
    }

    /// Returns the terminal's title: the number of alerts due and of open answers, and the place.
    pub fn title(
        &self,
        place: &str,
        settings: &ReminderSettings,
        open: [(usize, &str); 2],
        underway: impl Fn(AlertId) -> bool,
        now: Timestamp,
    ) -> String {
        let due = format!("due within {}", times::short(settings.before));
        let near = (self.near(settings.before, &underway, now).count(), due.as_str());
        let open = [near].into_iter().chain(open).filter(|(number, _)| *number > 0);
        let parts: Vec<String> = open.map(|(number, words)| format!("{} {words}", count(number as u64))).collect();
        if parts.is_empty() { format!("avert: {place}") } else { format!("avert: {} - {place}", parts.join(", ")) }
    }
}

/// Returns the reminder of alerts that have come near, the first that is due in front in the words `due`: the message,
/// and its text outside the console.
pub fn near_words(near: &[Alert], due: &str, before: Duration) -> Option<(String, String)> {
    let (first, more) = near.split_first()?;
    let within = times::short(before);
    Some(match more.len() {
        0 => (format!("{} {due}, unanswered.", subject(first)), format!("{} {due}", outside_name(first))),
        more => (
            format!("{} {due}, and {} more within {within}.", subject(first), count(more as u64)),
            format!("{} alerts due within {within}, {} {due}", count(near.len() as u64), outside_name(first)),
        ),
    })
}

#[cfg(test)]
mod tests;
