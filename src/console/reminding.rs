//! Reminders in the application: it reads the alerts that are due next, reminds of them, and keeps the terminal's
//! title.

use chrono::Duration;

use super::{
    Action, AppContext, Effect, Message, Tone,
    app::App,
    decisions::Ledger,
    reminders::{by_deadline, due_words, hours_read, near_words, outside_name},
    text::{count, counted, sanitize},
};
use crate::{
    desk::Fate,
    domain::{AlertId, Timestamp},
};

impl App {
    /// Takes in what reminders rest on.
    pub(super) fn hear_reminders(&mut self, message: &Message) {
        let cx = &mut self.cx;
        match message {
            Message::Closing(answer) => cx.reminders.read(answer.clone(), cx.settings.reminders.before, cx.now),
            Message::Concluded(alert) => cx.reminders.concluded(alert),
            _ => {}
        }
    }

    /// Returns the effects of the reminders that are due, and of reading the alerts that are due next.
    pub(super) fn remind(&mut self) -> Vec<Effect> {
        let left_alone = self.screens.queue.link.left_alone(self.cx.now);
        let cx = &mut self.cx;
        let mut effects = Vec::new();
        let before = cx.settings.reminders.before;
        let mut outside: Vec<String> = Vec::new();
        if before > Duration::zero() {
            // Nothing is read where the service asked for a pause.
            if left_alone.is_none() && cx.reminders.take_due(cx.now) {
                effects.push(Effect::ReadClosing(hours_read(before)));
            }
            outside.extend(remind_of_held(cx));
            outside.extend(remind_of_near(cx));
        }
        outside.extend(cx.reminders.take_failures());
        if let [first, more @ ..] = outside.as_slice()
            && !is_quiet(cx)
        {
            // Several at once ring once.
            let words =
                if more.is_empty() { first.clone() } else { format!("{first}, and {} more", count(more.len() as u64)) };
            effects.extend(cx.settings.reminders.reminder(&words).map(Effect::Remind));
        }
        let title = if cx.settings.reminders.title { title(cx) } else { String::new() };
        if self.title != title {
            self.title.clone_from(&title);
            effects.push(Effect::Title(title));
        }
        effects
    }

    /// Returns the time of the next read or reminder.
    pub(super) fn next_reminder(&self) -> Option<Timestamp> {
        let before = self.cx.settings.reminders.before;
        if before.is_zero() {
            return None;
        }
        // Not before the service allows it.
        let alone = self.screens.queue.link.left_alone(self.cx.now);
        let reads = self.cx.reminders.next_wake().map(|due| alone.map_or(due, |until| due.max(until)));
        let held = self
            .cx
            .ledger
            .held(before, self.cx.now)
            .filter(|(decision, _)| !self.cx.reminders.knows_held(decision.key));
        reads.into_iter().chain(held.map(|(_, at)| at)).min()
    }
}

/// Returns true where neither bell nor desktop is used now.
fn is_quiet(cx: &AppContext) -> bool {
    let local = cx.now.with_timezone(&cx.settings.zone.offset(cx.now)).time();
    cx.settings.reminders.quiet.is_some_and(|quiet| quiet.contains(local))
}

/// Returns true where a decision on an alert is pending, which has a reminder of its own.
fn is_underway(ledger: &Ledger, alert: AlertId) -> bool {
    ledger.of(alert).is_some_and(|decision| decision.fate() != Fate::NotRecorded)
}

/// Returns the title of the terminal.
pub(super) fn title(cx: &AppContext) -> String {
    let (failed, before) = (cx.ledger.with_fate(Fate::NotRecorded).count(), cx.settings.reminders.before);
    let calling = cx.ledger.held(before, cx.now).filter(|(_, at)| *at <= cx.now && !before.is_zero());
    let open =
        [(calling.count(), "queued, not sent"), (failed, if failed == 1 { "answer failed" } else { "answers failed" })];
    cx.reminders.title(
        &sanitize(&cx.place.name),
        &cx.settings.reminders,
        open,
        |id| is_underway(&cx.ledger, id),
        cx.now,
    )
}

/// Reminds of alerts that are due soon; returns the text outside the console.
fn remind_of_near(cx: &mut AppContext) -> Option<String> {
    let (now, before, decisions) = (cx.now, cx.settings.reminders.before, &cx.ledger);
    let near = cx.reminders.come_near(before, |id| is_underway(decisions, id), now);
    let (words, outside) = near_words(&near, &due_words(near.first()?, cx.times(), now), before)?;
    let key = cx.key(Action::Top);
    cx.notify_about(&near[0], Tone::Bad, format!("{words} Press {key} in To answer."));
    Some(outside)
}

/// Reminds of answers on hold whose deadline is near; returns the text outside the console.
fn remind_of_held(cx: &mut AppContext) -> Option<String> {
    let now = cx.now;
    let held = cx.ledger.held(cx.settings.reminders.before, now).filter(|(_, at)| *at <= now);
    let near: Vec<u64> = held.map(|(decision, _)| decision.key).collect();
    let new = cx.reminders.take_held(near.into_iter());
    let decisions = new.iter().filter_map(|key| cx.ledger.get(*key));
    let about = by_deadline(decisions.map(|decision| decision.alert.clone()).collect());
    let first = about.first()?;
    let answers = counted(about.len() as u64, "answer is not sent", "answers are not sent");
    let (due, key) = (due_words(first, cx.times(), now), cx.key(Action::Bulk));
    cx.notify_about(first, Tone::Bad, format!("{answers}: {due}. Press {key} to see it."));
    Some(format!("{answers}: {}, {due}", outside_name(first)))
}
