//! The menu that snoozes alerts for a while, never past an hour before their deadlines.

use super::menu::Pick;
use crate::{
    AppContext, Effect, Keep, Message, Task, Tasks, Tone,
    decisions::alert_of,
    desk::snoozes::{SNOOZE_LENGTHS, SnoozedAlert, snoozed_until},
    domain::{Alert, AlertId, Timestamp},
    resolving::subject,
    screens::queue::state::Queue,
    text::{count, counted, sanitize},
    times,
    views::MOST_SNOOZED,
};
use chrono::Duration;

/// Reasons of which one holds for each of several alerts that cannot be snoozed.
const CANNOT_BE: &str = "answered, queued or due within an hour";

/// The alerts that a menu is about.
struct Snoozing {
    alerts: Vec<Alert>,
    /// True where they were marked: then the marks go once something was done.
    marked: bool,
}

/// Opens the menu on what is marked, else on the alert under the cursor.
pub fn open(queue: &Queue, cx: &mut AppContext) -> Tasks {
    let alerts: Vec<Alert> = match queue.marked.alerts() {
        [] => queue.current().cloned().into_iter().collect(),
        // A mark keeps what was known when it was made.
        marked => marked.iter().map(|alert| queue.listing.find(alert.id).unwrap_or(alert).clone()).collect(),
    };
    begin(Snoozing { alerts, marked: !queue.marked.alerts().is_empty() }, cx)
}

/// Opens the menu on an alert.
pub fn open_on(alert: &Alert, cx: &mut AppContext) -> Tasks {
    begin(Snoozing { alerts: vec![alert.clone()], marked: false }, cx)
}

/// Opens the menu on these alerts, or says why none of them can be snoozed.
fn begin(snoozing: Snoozing, cx: &mut AppContext) -> Tasks {
    let Some(first) = snoozing.alerts.first() else { return Vec::new() };
    // A length that ends with the one before it is not offered a second time.
    let mut offers: Vec<(Duration, Timestamp)> = SNOOZE_LENGTHS
        .into_iter()
        .filter_map(|length| Some((length, snoozing.fitting(length, cx).map(|snoozed| snoozed.until).max()?)))
        .collect();
    offers.dedup_by_key(|(_, until)| until.timestamp() / 60);
    let aside = snoozing.alerts.iter().filter(|alert| cx.snoozes.until(alert.id).is_some()).count();
    if offers.is_empty() && aside == 0 {
        let why = match (snoozing.alerts.len(), fitting(first, SNOOZE_LENGTHS[0], cx)) {
            (1, Err(why)) => why,
            _ => CANNOT_BE,
        };
        cx.notify(Tone::Note, format!("Not snoozed: {why}."));
        return Vec::new();
    }
    let mut choices: Vec<Option<(Duration, Timestamp)>> = offers.into_iter().map(Some).collect();
    if aside > 0 {
        choices.insert(if aside == snoozing.alerts.len() { 0 } else { choices.len() }, None);
    }
    let entry = |choice: &Option<(Duration, Timestamp)>| match choice {
        None => ("unsnooze".to_owned(), "back in its views at once".to_owned()),
        Some((_, until)) => (times::short(*until - cx.now), format!("until {}", cx.times().at(*until, cx.now))),
    };
    let entries = choices.iter().map(entry).collect();
    let about = match snoozing.alerts.as_slice() {
        [alone] => sanitize(&subject(alone)).into_owned(),
        several => counted(several.len() as u64, "alert", "alerts"),
    };
    let picked = move |at: usize, cx: &mut AppContext| match choices[at] {
        None => snoozing.end(cx),
        Some((length, _)) => snoozing.begin(length, cx),
    };
    Pick::new("Snooze", entries, picked).about(about).open()
}

/// Ends what is over, and what is being decided or was: it is told what came back.
pub fn end_due(cx: &mut AppContext) -> Vec<Effect> {
    if cx.snoozes.is_empty() {
        return Vec::new();
    }
    let decided: Vec<AlertId> = cx.snoozes.ids().into_iter().filter(|id| cx.ledger.is_underway(*id)).collect();
    let mut ended = cx.snoozes.end(decided);
    let back = cx.snoozes.take_over(cx.now);
    match back.as_slice() {
        [] => {}
        [alone] => {
            let alert = alert_of(&alone.alert);
            cx.notify_about(&alert, Tone::Note, format!("{} is back from snooze.", subject(&alert)));
        }
        several => cx.notify(Tone::Note, format!("{} alerts are back from snooze.", count(several.len() as u64))),
    }
    ended.extend(back.iter().map(|snoozed| snoozed.alert.id));
    if ended.is_empty() { Vec::new() } else { vec![Effect::Keep(Keep::NoSnooze(ended, cx.now))] }
}

/// Until when an alert is snoozed for so long, or why it is not, in words.
fn fitting(alert: &Alert, length: Duration, cx: &AppContext) -> Result<Timestamp, &'static str> {
    if cx.ledger.is_underway(alert.id) {
        return Err("an answer is queued");
    }
    snoozed_until(alert, length, cx.now)
}

impl Snoozing {
    /// The alerts that can be snoozed for so long, each until when.
    fn fitting(&self, length: Duration, cx: &AppContext) -> impl Iterator<Item = SnoozedAlert> {
        let until = move |alert: &Alert| fitting(alert, length, cx).ok();
        self.alerts.iter().filter_map(move |alert| Some(SnoozedAlert { alert: alert.into(), until: until(alert)? }))
    }

    fn end(&self, cx: &mut AppContext) -> Tasks {
        let ended = cx.snoozes.end(self.alerts.iter().map(|alert| alert.id));
        let words = match ended.len() {
            1 => "Unsnoozed.".to_owned(),
            many => format!("{} alerts unsnoozed.", count(many as u64)),
        };
        cx.notify(Tone::Good, words);
        self.done(Keep::NoSnooze(ended, cx.now), None)
    }

    fn begin(&self, length: Duration, cx: &mut AppContext) -> Tasks {
        let new: Vec<SnoozedAlert> = self.fitting(length, cx).collect();
        let ids: Vec<AlertId> = new.iter().map(|new| new.alert.id).collect();
        if cx.snoozes.len() + new.len() > MOST_SNOOZED {
            cx.notify(Tone::Note, format!("Not snoozed: {MOST_SNOOZED} alerts at once is the most."));
            return vec![Task::Close];
        }
        let Some(last) = new.iter().map(|new| new.until).max() else { return vec![Task::Close] };
        let back = cx.times().at(last, cx.now);
        let stay = match self.alerts.len() - new.len() {
            0 => String::new(),
            stay => format!(" {}: {CANNOT_BE}.", counted(stay as u64, "alert stays", "alerts stay")),
        };
        let snoozed = if new.len() == 1 { "Snoozed".to_owned() } else { format!("{} alerts snoozed", new.len()) };
        // The cursor has gone on: where the way back is has to be said.
        let words = format!("{snoozed} until {back}.{stay} Unsnooze in the view Snoozed.");
        cx.snoozes.put(new.clone());
        cx.notify(Tone::Good, words);
        self.done(Keep::Snooze(new, cx.now), Some(Message::Snoozed(ids)))
    }

    /// What follows from what was done.
    fn done(&self, keep: Keep, told: Option<Message>) -> Tasks {
        let unmark = self.marked.then_some(Message::Unmark);
        let told = unmark.into_iter().chain(told).map(Task::from);
        [Task::Close, Effect::Keep(keep).into()].into_iter().chain(told).collect()
    }
}
