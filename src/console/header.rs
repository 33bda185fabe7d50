//! The header: where one is, in words, which screens there are, and how the service answers.

use ratatui::{
    buffer::Buffer,
    layout::{Margin, Rect},
    style::Style,
};

use super::{
    Action,
    app::App,
    screens::{
        ScreenName,
        activity::rows::needs_you,
        queue::link::{LATE, reason},
    },
    text::{capitalized, sanitize},
};
use crate::{
    domain::{Environment, Timestamp},
    service::ServiceError,
    ui::fit::{self, Segment},
};

const READ_ONLY: &str = " READ-ONLY ";

/// Columns that a place's name is cut to.
const SHORTEST_PLACE: u16 = 10;

/// Letters of a name that is told shortly, and of the longest one that stays whole then.
const SHORT_NAME: usize = 3;
const LONGEST_WHOLE: usize = 5;

/// The ranks by which parts of the header give way, the last one first.
mod rank {
    pub(super) const NAMES: u8 = 1;
    pub(super) const WORDS: u8 = 2;
    pub(super) const PLACE: u8 = 3;
    pub(super) const CLOCK: u8 = 4;
    pub(super) const PROGRAM: u8 = 5;
    pub(super) const MOUSE: u8 = 6;
}

impl App {
    /// Draws the header.
    pub(super) fn draw_header(&self, buffer: &mut Buffer, header: Rect) {
        let theme = &self.cx.theme;
        buffer.set_style(header, Style::reset().patch(theme.page).patch(theme.bar));
        let line = header.inner(Margin::new(1, 0));
        let calls = needs_you(&self.cx).len();
        let mut segments = self.whereabouts();
        segments.extend(self.tabs(calls));
        if !self.has_mouse && self.cx.settings.mouse {
            segments.push(Segment::new(3, "mouse off", theme.quiet).or_none(rank::MOUSE));
        }
        segments.extend(self.link(calls));
        fit::draw(&segments, buffer, line, |area, action| self.targets.push(area, action));
    }

    /// The program, the environment, the connection's name, and the mark of a read-only one.
    fn whereabouts(&self) -> Vec<Segment<Action>> {
        let (theme, place) = (&self.cx.theme, &self.cx.place);
        let name = sanitize(&place.name);
        let badge = match (place.demo, place.environment) {
            (true, _) => Some((" DEMO ", theme.muted)),
            (false, Some(Environment::Production)) => Some((" PRODUCTION ", theme.production)),
            (false, Some(Environment::Sandbox)) => Some((" SANDBOX ", theme.muted)),
            // Nobody has said which of the two it is, so neither is claimed.
            (false, None) => None,
        };
        let named = |gap, style, around: &str| {
            Segment::new(gap, format!("{around}{name}{around}"), style).cut_to(rank::PLACE, SHORTEST_PLACE)
        };
        let program = Segment::new(0, "avert  ", theme.accent.patch(theme.key)).or_none(rank::PROGRAM);
        let mut segments = vec![program];
        match badge {
            Some((badge, style)) => {
                segments.extend([Segment::new(0, badge, style), named(1, theme.strong, "")]);
            }
            None => segments.push(named(0, theme.muted, " ")),
        }
        if place.read_only {
            segments.push(Segment::new(2, READ_ONLY, theme.muted));
        }
        segments
    }

    /// The screens, each with its key.
    fn tabs(&self, calls: usize) -> Vec<Segment<Action>> {
        let theme = &self.cx.theme;
        let mut segments = Vec::new();
        for (index, (screen, name, action)) in ScreenName::ALL.into_iter().enumerate() {
            let is_open = self.screens.current == screen;
            let (key_style, style) = if is_open { (theme.key, theme.strong) } else { (theme.quiet, theme.quiet) };
            let key = Segment::new(if index == 0 { 3 } else { 2 }, self.cx.key(action), key_style);
            // The open one is cut too: none moves when another one is opened.
            let short = if name.len() <= LONGEST_WHOLE { name } else { &name[..SHORT_NAME] };
            let named = Segment::new(0, format!(" {name}"), style).or(rank::NAMES, format!(" {short}"));
            segments.extend([key, named].map(|part| part.target(action)));
            if screen == ScreenName::Activity && calls > 0 {
                segments.push(Segment::new(1, calls.to_string(), theme.danger).target(action));
            }
        }
        segments
    }

    /// The connection's status, and the time.
    fn link(&self, calls: usize) -> Vec<Segment<Action>> {
        let theme = &self.cx.theme;
        let (sign, words, style) = self.standing(calls);
        let is_well = style == theme.ok;
        let words = Segment::new(0, format!(" {words}"), if is_well { theme.quiet } else { style });
        let words = if is_well { words.or_none(rank::WORDS) } else { words.cut_to(rank::WORDS, 0) };
        let times = self.cx.times();
        let clock = format!("{} {}", times.at(self.cx.now, self.cx.now), times.name(self.cx.now));
        let clock = Segment::new(3, clock, theme.plain).or_none(rank::CLOCK);
        let link = [Segment::new(2, sign, style), words].into_iter();
        let link = link.map(|part| if calls > 0 { part.target(Action::ShowActivity) } else { part });
        link.chain([clock]).map(Segment::right).collect()
    }

    /// When what stands still below a form is older than a list gets that is read again and again. A page reads what it
    /// shows by itself.
    fn ages_at(&self) -> Option<Timestamp> {
        let stands_still = !self.dialogs.is_empty() && self.dialogs.iter().all(|dialog| dialog.contexts().is_empty());
        let queue = &self.screens.queue;
        queue.read_at().filter(|_| stands_still).map(|at| at + queue.every() + LATE)
    }

    /// When the header says something else by itself.
    pub(super) fn next_header(&self) -> Option<Timestamp> {
        let now = self.cx.now;
        let due = [self.screens.queue.late_at(), self.ages_at()];
        due.into_iter().flatten().filter(|at| *at > now).min()
    }

    /// The gravest of what there is to say, by a sign and in words; well only where nothing is wrong. `calls`: how many
    /// things need somebody.
    fn standing(&self, calls: usize) -> (&'static str, String, Style) {
        let (theme, queue, times) = (&self.cx.theme, &self.screens.queue, self.cx.times());
        let wrong = |words: String| ("▲", words, theme.warning);
        let has_list = queue.listing.total.is_some();
        let hour = |since: Timestamp| times.at(since, self.cx.now);
        if let Some((since, _)) = &queue.link.trouble {
            let since = hour(*since);
            return wrong(match (queue.link.is_unreachable, queue.link.retry_due) {
                (true, Some(next)) => format!("offline, retry {}", times.second(next)),
                (true, None) => format!("offline since {since}"),
                (false, _) if has_list => format!("stale since {since}"),
                (false, _) => format!("list not read since {since}"),
            });
        }
        if self.cx.writes.failing.is_some() {
            return wrong("nothing can be recorded".to_owned());
        }
        if queue.late_at().is_some_and(|at| at <= self.cx.now) {
            return wrong("no reply".to_owned());
        }
        if calls > 0 {
            let need = format!("{calls} {} you", if calls == 1 { "needs" } else { "need" });
            // Who is there already needs no key that goes there.
            return wrong(match self.screens.current == ScreenName::Activity {
                true => need,
                false => format!("{need}: {}", self.cx.key(Action::ShowActivity)),
            });
        }
        if let Some(call) = self.cx.failed_calls.told() {
            return wrong(format!("failed at {}: {}", hour(call.since), call.asked));
        }
        if self.cx.unkept.keeps_nothing() {
            return wrong("nothing is saved".to_owned());
        }
        match queue.read_at().filter(|_| self.ages_at().is_some_and(|at| at <= self.cx.now)) {
            Some(at) => ("·", format!("stale since {}", hour(at)), theme.quiet),
            None if has_list => ("●", "live".to_owned(), theme.ok),
            None => ("·", "connecting".to_owned(), theme.quiet),
        }
    }

    /// Returns the note of trouble that lasts and needs more words than the header has room for.
    pub(super) fn lasting_note(&self) -> Option<String> {
        let (link, times) = (&self.screens.queue.link, self.cx.times());
        let again = |what: &str, since: Timestamp, error: &ServiceError| {
            let since = times.at(since, self.cx.now);
            format!("{what} since {since}: {}. Retry {}.", reason(error), link.retry_words(times))
        };
        if let Some((since, error)) = link.trouble.as_ref().filter(|_| self.screens.queue.listing.rows() > 0) {
            let what = if link.is_unreachable { "Offline" } else { "The list cannot be read" };
            return Some(again(what, *since, error));
        }
        if let Some((since, error)) = &self.cx.writes.failing {
            return Some(again("Nothing can be recorded", *since, error));
        }
        // Of a service that is not reached nothing is read: where there are no rows it is said in their place.
        let call = self.cx.failed_calls.told().filter(|_| !link.is_unreachable)?;
        let since = times.at(call.since, self.cx.now);
        Some(format!("{} failed at {since}: {}.", capitalized(call.asked), reason(&call.error)))
    }
}
