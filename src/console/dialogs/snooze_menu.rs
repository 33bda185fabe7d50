//! The menu that puts alerts aside for a while, never past an hour before their windows close.

use chrono::Duration;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::menu::{List, OpenMenu};
use crate::console::decisions::alert_of;
use crate::console::resolving::subject;
use crate::console::screens::queue::state::Queue;
use crate::console::snoozes::MOST_SNOOZED;
use crate::console::text::{columns, count, counted, sanitize};
use crate::console::widgets::menu::Selection;
use crate::console::widgets::panel::PanelWidth;
use crate::console::{
    Action, AppContext, Dialog, Effect, Keep, KeyContext, Message, Order, Orders, Tone, dialog, times,
};
use crate::desk::SnoozedAlert;
use crate::domain::snooze::{NoSnooze, SNOOZE_LENGTHS, snooze_offers, snoozed_until};
use crate::domain::{Alert, AlertId, Timestamp};

/// Columns for the lengths.
const LENGTHS: usize = 12;

/// What an entry does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SnoozeChoice {
    For(Duration),
    NoLonger,
}

/// The menu while it is open.
#[derive(Debug)]
pub struct SnoozeMenu {
    alerts: Vec<Alert>,
    /// True where they were marked: then the marks go once something was done.
    marked: bool,
    choices: Vec<SnoozeChoice>,
    menu: OpenMenu,
}

/// Opens the menu on what is marked, else on the alert under the cursor.
pub fn open(queue: &Queue, cx: &mut AppContext) -> Orders {
    let alerts: Vec<Alert> = match queue.marked.alerts() {
        [] => queue.current().cloned().into_iter().collect(),
        // A mark keeps what was known when it was made.
        marked => marked.iter().map(|alert| queue.listing.find(alert.id).unwrap_or(alert).clone()).collect(),
    };
    begin(alerts, !queue.marked.alerts().is_empty(), cx)
}

/// Opens the menu on an alert.
pub fn open_on(alert: &Alert, cx: &mut AppContext) -> Orders {
    begin(vec![alert.clone()], false, cx)
}

/// Opens the menu on these alerts, or says why none of them can be put aside.
fn begin(alerts: Vec<Alert>, marked: bool, cx: &mut AppContext) -> Orders {
    let Some(first) = alerts.first() else { return Vec::new() };
    let mut choices: Vec<SnoozeChoice> = match alerts.as_slice() {
        [alone] => match fitting(alone, SNOOZE_LENGTHS[0], cx) {
            Ok(_) => snooze_offers(alone, cx.now)
                .unwrap_or_default()
                .iter()
                .map(|offer| SnoozeChoice::For(offer.length))
                .collect(),
            Err(_) => Vec::new(),
        },
        several => {
            let any = several.iter().any(|alert| fitting(alert, SNOOZE_LENGTHS[0], cx).is_ok());
            SNOOZE_LENGTHS.into_iter().filter(|_| any).map(SnoozeChoice::For).collect()
        }
    };
    let aside = alerts.iter().filter(|alert| cx.snoozes.until(alert.id).is_some()).count();
    if aside == alerts.len() {
        choices.insert(0, SnoozeChoice::NoLonger);
    } else if aside > 0 {
        choices.push(SnoozeChoice::NoLonger);
    }
    if choices.is_empty() {
        let why = match (alerts.len(), fitting(first, SNOOZE_LENGTHS[0], cx)) {
            (1, Err(why)) => why,
            _ => "each is answered, queued or due within an hour".to_owned(),
        };
        cx.notify(Tone::Note, format!("Not snoozed: {why}."));
        return Vec::new();
    }
    let menu = OpenMenu::new(Selection::default(), &[KeyContext::Menu], Action::MenuPick);
    dialog::open(SnoozeMenu { alerts, marked, choices, menu })
}

/// Ends what is over, and what is being decided or was: it is told what came back.
pub fn end_due(cx: &mut AppContext) -> Vec<Effect> {
    if cx.snoozes.is_empty() {
        return Vec::new();
    }
    let decided: Vec<AlertId> = cx.snoozes.ids().into_iter().filter(|id| cx.decisions.is_underway(*id)).collect();
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

/// Takes in whether alerts that were put aside are so on the desk; those that are not stand in their views again.
pub fn kept(snoozed: &[SnoozedAlert], answer: Result<(), String>, cx: &mut AppContext) {
    let words = cx.snoozes.take_words();
    match answer {
        Ok(()) => words.into_iter().for_each(|words| cx.notify(Tone::Good, words)),
        Err(why) => {
            cx.snoozes.end(snoozed.iter().map(|snoozed| snoozed.alert.id));
            let why = why.trim_end_matches('.');
            cx.notify(Tone::Bad, format!("Not snoozed: {why}."));
        }
    }
}

/// Until when an alert is put aside for so long, or why it is not, in words.
fn fitting(alert: &Alert, length: Duration, cx: &AppContext) -> Result<Timestamp, String> {
    if cx.decisions.is_underway(alert.id) {
        return Err("an answer is queued".to_owned());
    }
    snoozed_until(alert, length, cx.now).map_err(|why| match why {
        NoSnooze::Answered => "it is answered".to_owned(),
        NoSnooze::Lapsed => "it has expired".to_owned(),
        // The journal keeps it: told by the clock it stays true.
        NoSnooze::ClosesIn(left) => {
            let closes = cx.times().at(cx.now + left, cx.now);
            format!("it is due at {closes}, too soon to snooze")
        }
        NoSnooze::FewHours(hours) => {
            format!("it is due in {}, too soon to snooze", counted_hours(hours))
        }
    })
}

fn counted_hours(hours: i64) -> String {
    counted(u64::try_from(hours).unwrap_or(0), "hour", "hours")
}

impl SnoozeMenu {
    fn choose(&self, choice: SnoozeChoice, cx: &mut AppContext) -> Orders {
        match choice {
            SnoozeChoice::NoLonger => self.end(cx),
            SnoozeChoice::For(length) => self.put_aside(length, cx),
        }
    }

    fn end(&self, cx: &mut AppContext) -> Orders {
        let ended = cx.snoozes.end(self.alerts.iter().map(|alert| alert.id));
        cx.notify(
            Tone::Good,
            match ended.len() {
                1 => "Unsnoozed.".to_owned(),
                many => format!("{} alerts unsnoozed.", count(many as u64)),
            },
        );
        self.done(Keep::NoSnooze(ended, cx.now), None)
    }

    fn put_aside(&self, length: Duration, cx: &mut AppContext) -> Orders {
        let fits =
            |alert: &Alert| fitting(alert, length, cx).ok().map(|until| SnoozedAlert { alert: alert.into(), until });
        let mut new: Vec<SnoozedAlert> = self.alerts.iter().filter_map(fits).collect();
        let not_fitting = self.alerts.len() - new.len();
        let known = new.iter().filter(|new| cx.snoozes.until(new.alert.id).is_some()).count();
        let room = (MOST_SNOOZED + known).saturating_sub(cx.snoozes.len());
        let no_room = new.len().saturating_sub(room);
        new.truncate(room);
        let Some(last) = new.iter().map(|new| new.until).max() else {
            cx.notify(Tone::Note, format!("Not snoozed: {MOST_SNOOZED} alerts are snoozed, the most at once."));
            return vec![Order::Close];
        };
        let back = cx.times().at(last, cx.now);
        let mut words = match new.len() {
            1 => format!("Snoozed until {back}."),
            many => format!("{many} alerts snoozed until {back}."),
        };
        if not_fitting > 0 {
            let left = counted(not_fitting as u64, "alert stays", "alerts stay");
            words.push_str(&format!(" {left}: answered, queued or due within an hour."));
        }
        if no_room > 0 {
            words.push_str(&format!(" No room for {no_room} more ({MOST_SNOOZED} at most)."));
        }
        // The cursor has gone on: where the way back is has to be said.
        let wakes = if new.len() == 1 { "unsnoozes it" } else { "unsnoozes them" };
        words.push_str(&format!(
            " In the view Snoozed {} {} {wakes}.",
            cx.key(Action::Snooze),
            cx.key(Action::MenuPick)
        ));
        let ids: Vec<AlertId> = new.iter().map(|new| new.alert.id).collect();
        cx.snoozes.begin(new.clone(), words);
        self.done(Keep::Snooze(new, cx.now), Some(Message::Snoozed(ids)))
    }

    /// What follows from what was done.
    fn done(&self, keep: Keep, told: Option<Message>) -> Orders {
        let unmark = self.marked.then_some(Message::Unmark);
        let told = unmark.into_iter().chain(told).map(Order::from);
        [Order::Close, Effect::Keep(keep).into()].into_iter().chain(told).collect()
    }

    /// An entry in words: how long, until when, and whether the deadline cuts it.
    fn line<'l>(&self, choice: SnoozeChoice, room: u16, cx: &'l AppContext) -> Line<'l> {
        let theme = &cx.theme;
        // Where the deadline cuts it is worth more than the second clock.
        let until = |until, more: &str| {
            let ways = [cx.times().at(until, cx.now), cx.times().at(until, cx.now)]
                .map(|until| format!("until {until}{more}"));
            let fits = ways.iter().position(|words| usize::from(columns(words)) + LENGTHS <= usize::from(room));
            ways[fits.unwrap_or(1)].clone()
        };
        let (name, about) = match (choice, self.alerts.as_slice()) {
            (SnoozeChoice::NoLonger, _) => ("unsnooze".to_owned(), "back in its views at once".to_owned()),
            (SnoozeChoice::For(length), [alone]) => {
                let offer = snooze_offers(alone, cx.now)
                    .ok()
                    .and_then(|offers| offers.into_iter().find(|offer| offer.length == length));
                let at = offer.map_or(cx.now + length, |offer| offer.until);
                let cut = offer.is_some_and(|offer| offer.is_cut);
                let name = if cut { times::short(at - cx.now) } else { times::short(length) };
                let more = if cut { ": 1 h before it is due" } else { "" };
                (name, until(at, more))
            }
            (SnoozeChoice::For(length), several) => {
                let cut = several
                    .iter()
                    .filter(|alert| fitting(alert, length, cx).is_ok_and(|until| until < cx.now + length))
                    .count();
                let more =
                    if cut == 0 { String::new() } else { format!(": {} of them back before", count(cut as u64)) };
                (times::short(length), until(cx.now + length, &more))
            }
        };
        Line::from(vec![Span::styled(format!("{name:<LENGTHS$}"), theme.strong), Span::styled(about, theme.quiet)])
    }
}

impl Dialog for SnoozeMenu {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        let Message::Input(event) = message else { return Vec::new() };
        let length = self.choices.len();
        match (self.menu.update(event, length, cx), self.menu.chosen.index(length)) {
            (Some(Action::MenuClose), _) => vec![Order::Close],
            (Some(Action::MenuPick), Some(at)) => self.choose(self.choices[at], cx),
            _ => Vec::new(),
        }
    }

    fn gives_way(&self) -> bool {
        true
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        let about = match self.alerts.as_slice() {
            [alone] => sanitize(&subject(alone)).into_owned(),
            several => counted(several.len() as u64, "alert", "alerts"),
        };
        let room = OpenMenu::room(PanelWidth::default(), area);
        let entries = self.choices.iter().map(|choice| self.line(*choice, room, cx)).collect();
        let wakes =
            self.menu.chosen.index(self.choices.len()).is_some_and(|at| self.choices[at] == SnoozeChoice::NoLonger);
        let pick = Some(if wakes { "wake" } else { "snooze" });
        self.menu.draw(List { title: "Snooze", about: &about, entries, pick, ..List::default() }, frame, area, cx);
    }
}
