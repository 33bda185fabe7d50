//! Calls in the application: it reads what lapses next, tells who calls, rings, and keeps the
//! terminal's title.

use chrono::Duration;

use super::{
    Action, AppContext, Effect, Message, Tone,
    app::App,
    calls::{AttentionCall, hours_read, left_words, subject, when_words},
    decisions::Decisions,
    text::{count, counted, sanitize},
};
use crate::{
    desk::{Fate, Notification},
    domain::{AlertId, Timestamp},
};

impl App {
    /// Takes in what calls are made of.
    pub(super) fn hear_calls(&mut self, message: &Message) {
        let cx = &mut self.cx;
        match message {
            Message::Closing(answer) => {
                if let Some(wrong) = cx.calls.read(answer.clone(), cx.settings.notices.before, cx.now) {
                    cx.notify(Tone::Bad, wrong);
                }
            }
            Message::Concluded(alert) => cx.calls.concluded(alert),
            _ => {}
        }
    }

    /// Tells who calls by now, and asks what lapses next.
    pub(super) fn call(&mut self) -> Vec<Effect> {
        let left_alone = self.screens.queue.link.left_alone(self.cx.now);
        let cx = &mut self.cx;
        let mut effects = Vec::new();
        let before = cx.settings.notices.before;
        // Nothing is read where reminders are off or the service asked for a pause.
        if before > Duration::zero() && left_alone.is_none() && cx.calls.take_due(cx.now) {
            effects.push(Effect::ReadClosing(hours_read(before)));
        }
        let mut outside: Vec<String> = Vec::new();
        for call in calls(cx) {
            outside.push(call.outside.clone());
            tell(call, cx);
        }
        outside.extend(cx.calls.take_failures());
        if let [first, more @ ..] = outside.as_slice()
            && !is_quiet(cx)
        {
            // What comes at once rings once.
            let words =
                if more.is_empty() { first.clone() } else { format!("{first}, and {} more", count(more.len() as u64)) };
            effects.extend(cx.settings.notices.notice(&words).map(Effect::Notice));
        }
        let title = cx.settings.notices.title.then(|| title(cx));
        if self.title != title {
            self.title.clone_from(&title);
            effects.push(Effect::Title(title));
        }
        effects
    }

    /// When there is something to read, or to call for, by itself.
    pub(super) fn next_call(&self) -> Option<Timestamp> {
        let before = self.cx.settings.notices.before;
        if before.is_zero() {
            return None;
        }
        // A service that wants to be left alone is asked once that is over.
        let alone = self.screens.queue.link.left_alone(self.cx.now);
        let reads = self.cx.calls.next_wake().map(|due| alone.map_or(due, |until| due.max(until)));
        let held =
            self.cx.decisions.held(before, self.cx.now).filter(|(decision, _)| !self.cx.calls.knows_held(decision.key));
        reads.into_iter().chain(held.map(|(_, at)| at)).min()
    }
}

/// Returns true where neither bell nor desktop is used now.
fn is_quiet(cx: &AppContext) -> bool {
    let local = cx.now.with_timezone(&cx.settings.zone.offset(cx.now)).time();
    cx.settings.notices.quiet.is_some_and(|quiet| quiet.contains(local))
}

/// Returns true where a decision on an alert is on its way, or waits here and calls by itself.
fn is_underway(decisions: &Decisions, alert: AlertId) -> bool {
    decisions.of(alert).is_some_and(|decision| decision.fate() != Fate::NotRecorded)
}

/// The title of the terminal.
pub(super) fn title(cx: &AppContext) -> String {
    let (failed, before) = (cx.decisions.with_fate(Fate::NotRecorded).count(), cx.settings.notices.before);
    let calling = cx.decisions.held(before, cx.now).filter(|(_, at)| *at <= cx.now && !before.is_zero());
    let open =
        [(calling.count(), "queued, not sent"), (failed, if failed == 1 { "answer failed" } else { "answers failed" })];
    cx.calls.title(&sanitize(&cx.place.name), &cx.settings.notices, open, |id| is_underway(&cx.decisions, id), cx.now)
}

/// Returns the calls that are due.
fn calls(cx: &mut AppContext) -> Vec<AttentionCall> {
    let (now, before) = (cx.now, cx.settings.notices.before);
    if before.is_zero() {
        return Vec::new();
    }
    let mut calls: Vec<AttentionCall> = held(cx).into_iter().collect();
    if cx.calls.take_news() {
        let (times, decisions) = (cx.times(), &cx.decisions);
        calls.extend(cx.calls.deadlines(before, |id| is_underway(decisions, id), times, now));
    }
    calls
}

/// The call of decisions that are held here while their windows come to an end.
fn held(cx: &mut AppContext) -> Option<AttentionCall> {
    let (now, before) = (cx.now, cx.settings.notices.before);
    let near: Vec<u64> =
        cx.decisions.held(before, now).filter(|(_, at)| *at <= now).map(|(decision, _)| decision.key).collect();
    let new = cx.calls.take_held(near.into_iter());
    let decisions = new.iter().filter_map(|key| cx.decisions.get(*key));
    let mut about: Vec<_> = decisions.map(|decision| decision.alert.clone()).collect();
    about.sort_by_key(|alert| (alert.deadline.moment().is_none(), alert.deadline.moment(), alert.id));
    let first = about.first()?;
    let answers = counted(about.len() as u64, "answer is not sent", "answers are not sent");
    let left = left_words(first, now);
    let words =
        format!("{answers}: due {}. Press {} to see it.", when_words(first, cx.times(), now), cx.key(Action::Bulk));
    Some(AttentionCall {
        words,
        outside: format!("{answers}: {} {}, due {left}", first.provider, first.provider_id),
        about,
    })
}

/// Tells a call in a message, and each alert of it in the journal.
fn tell(call: AttentionCall, cx: &mut AppContext) {
    let AttentionCall { words, about, .. } = call;
    match about.split_first() {
        Some((first, others)) => {
            cx.notify_about(first, Tone::Bad, words);
            for alert in others {
                let when = when_words(alert, cx.times(), cx.now);
                let words = format!("{}: due {when}.", subject(alert));
                let tone = Tone::Bad.as_str().to_owned();
                cx.told.push((None, Notification { tone, words, alert: Some(alert.into()) }));
            }
        }
        None => cx.notify(Tone::Bad, words),
    }
}
