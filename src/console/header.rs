//! The header: where one is, in words, which screens there are, how the service and the networks answer, and how old is
//! what is shown.

use std::collections::BTreeSet;

use ratatui::{
    buffer::Buffer,
    layout::{Margin, Rect},
    style::Style,
};

use super::{
    Action,
    app::App,
    dialog::DataAge,
    screens::{ScreenName, activity::rows::needs_you, queue::link::LATE},
    text::{capitalized, sanitize},
    unfinished::Stage,
};
use crate::{
    domain::{Environment, Provider, Timestamp, redact::without_exchange},
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
    pub(super) const STALE: u8 = 4;
    pub(super) const CLOCK: u8 = 5;
    pub(super) const AGE: u8 = 6;
    pub(super) const PROGRAM: u8 = 7;
    pub(super) const MOUSE: u8 = 8;
}

/// Status of the connection: a sign in its colour, and words.
struct Standing {
    sign: &'static str,
    words: String,
    style: Style,
    /// True where all is read, and something needs somebody.
    calls: bool,
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

    /// The connection's status, the age of the list, and the time.
    fn link(&self, calls: usize) -> Vec<Segment<Action>> {
        let theme = &self.cx.theme;
        let standing = self.standing(calls);
        let is_well = standing.style == theme.ok;
        let style = if is_well { theme.quiet } else { standing.style };
        let words = Segment::new(0, format!(" {}", standing.words), style);
        let words = if is_well { words.or_none(rank::WORDS) } else { words.cut_to(rank::WORDS, 0) };
        let age = Segment::new(0, self.age(&standing), theme.quiet);
        let age = age.or_none(if is_well { rank::AGE } else { rank::STALE });
        let times = self.cx.times();
        let clock = format!("{} {}", times.at(self.cx.now, self.cx.now), times.zone.name(self.cx.now));
        let clock = Segment::new(3, clock, theme.plain).or_none(rank::CLOCK);
        let link = [Segment::new(2, standing.sign, standing.style), words, age].into_iter();
        let link = link.map(|part| if calls > 0 { part.target(Action::ShowActivity) } else { part });
        link.chain([clock]).map(Segment::right).collect()
    }

    /// Age of the list. Of a list that was just read none stands beside what is wrong.
    fn age(&self, standing: &Standing) -> String {
        let is_well = standing.style == self.cx.theme.ok || standing.calls;
        let Some(at) = self.read_at().filter(|at| is_well || self.cx.now - *at >= LATE) else { return String::new() };
        let age = self.cx.times().age(at, self.cx.now);
        // One that grows does not move the screens.
        if is_well { format!("{age:>10}") } else { format!("  read {age}") }
    }

    /// When what is on the screen was read; nothing where nothing was, or none of it is read.
    fn read_at(&self) -> Option<Timestamp> {
        match self.dialogs.iter().rev().map(|dialog| dialog.data_age()).find(|age| *age != DataAge::OfList) {
            Some(DataAge::Own) => None,
            Some(DataAge::ReadAt(at)) => Some(at),
            Some(DataAge::OfList) | None => self.screens.queue.read_at(),
        }
    }

    /// From when on what lies over the list, or the list that stands still below it, is older than a list gets that is
    /// read again and again.
    fn ages_at(&self) -> Option<Timestamp> {
        self.read_at().filter(|_| !self.dialogs.is_empty()).map(|at| at + self.screens.queue.every(self.cx.now) + LATE)
    }

    /// When the header says something else by itself.
    pub(super) fn next_header(&self) -> Option<Timestamp> {
        let (queue, told, now) = (&self.screens.queue, self.cx.times(), self.cx.now);
        let aged = self.read_at().map(|at| told.next_age(at, now));
        let ages = self.ages_at().filter(|at| *at > now);
        [queue.late_at(now), aged, ages].into_iter().flatten().min()
    }

    /// The gravest of what there is to say; well only where nothing is wrong. `calls`: how many things need somebody.
    fn standing(&self, calls: usize) -> Standing {
        let (theme, queue, times) = (&self.cx.theme, &self.screens.queue, self.cx.times());
        let plain = |sign, words: &str, style| Standing { sign, words: words.to_owned(), style, calls: false };
        let wrong = |words: &str| plain("▲", words, theme.warning);
        let has_list = queue.listing.total().is_some();
        let hour = |since: &Timestamp| times.at(*since, self.cx.now);
        if let Some((since, _)) = &queue.link.trouble {
            let since = hour(since);
            return wrong(&match (queue.link.is_unreachable(), queue.link.next_try()) {
                (true, Some(next)) => format!("offline since {since}, retry {}", times.second(next)),
                (true, None) => format!("offline since {since}"),
                (false, _) if has_list => format!("stale since {since}"),
                (false, _) => format!("list not read since {since}"),
            });
        }
        if self.cx.writes.failing.is_some() {
            return wrong("nothing can be recorded");
        }
        if queue.is_late(self.cx.now) {
            return wrong("no reply");
        }
        if let Some((networks, since)) = self.unconfirmed() {
            return wrong(&format!("unconfirmed since {}: {}", hour(&since), networks.join(", ")));
        }
        if calls > 0 {
            let need = format!("{calls} {} you", if calls == 1 { "needs" } else { "need" });
            // Who is there already needs no key that goes there.
            let words = match self.screens.current == ScreenName::Activity {
                true => need,
                false => format!("{need}: {}", self.cx.key(Action::ShowActivity)),
            };
            return Standing { calls: true, ..wrong(&words) };
        }
        if let Some(call) = self.cx.failed_calls.told() {
            return wrong(&format!("failed at {}: {}", hour(&call.since), call.asked));
        }
        if self.cx.unkept.keeps_nothing() {
            return wrong("nothing is saved");
        }
        if self.ages_at().is_some_and(|at| at <= self.cx.now) {
            return plain("·", "stale", theme.quiet);
        }
        match has_list {
            true => plain("●", "live", theme.ok),
            false => plain("·", "connecting", theme.quiet),
        }
    }

    /// The networks whose answers are unconfirmed, from here or at the engine, and since when.
    fn unconfirmed(&self) -> Option<(Vec<String>, Timestamp)> {
        let cx = &self.cx;
        let own = cx.decisions.unconfirmed().map(|decision| (Some(&decision.alert.provider), decision.sent_at));
        let engines = cx.unfinished.all().filter(|attempt| Stage::of(attempt) == Stage::Unknown).map(|attempt| {
            let alert = self.screens.queue.listing.find(attempt.alert);
            (alert.map(|alert| &alert.provider), Some(attempt.started_at))
        });
        let all: Vec<_> = own.chain(engines).collect();
        let since = all.iter().filter_map(|(_, since)| *since).min()?;
        let named = |network: Option<&Provider>| {
            network.map_or_else(|| "a network".to_owned(), |network| sanitize(network.as_str()).into_owned())
        };
        let networks: BTreeSet<String> = all.iter().map(|(network, _)| named(*network)).collect();
        Some((networks.into_iter().collect(), since))
    }

    /// Returns the note of trouble that lasts and needs more words than the header has room for.
    pub(super) fn lasting_note(&self) -> Option<String> {
        // The exchange behind it stands in the log.
        let why = |error: &ServiceError| match error {
            ServiceError::Unavailable(why) | ServiceError::Unreachable(why) | ServiceError::Throttled { why, .. } => {
                without_exchange(why).into_owned()
            }
            other => without_exchange(&other.to_string()).into_owned(),
        };
        let link = &self.screens.queue.link;
        let again = |what: &str, since: &Timestamp, error: &ServiceError| {
            let next = link
                .next_try()
                .map_or_else(|| "by itself".to_owned(), |at| format!("at {}", self.cx.times().second(at)));
            let since = self.cx.times().at(*since, self.cx.now);
            format!("{} since {since}: {}. Retry {next}.", capitalized(what), why(error))
        };
        if let Some((since, error)) = link.trouble.as_ref().filter(|_| self.screens.queue.listing.rows() > 0) {
            let what = if link.is_unreachable() { "offline" } else { "the list cannot be read" };
            return Some(again(what, since, error));
        }
        if let Some((since, error)) = &self.cx.writes.failing {
            return Some(again("nothing can be recorded", since, error));
        }
        // Of a service that is not reached nothing is read: where there are no rows it is said in their place.
        let call = self.cx.failed_calls.told().filter(|_| !link.is_unreachable())?;
        Some(format!(
            "{} failed at {}: {}.",
            capitalized(call.asked),
            self.cx.times().at(call.since, self.cx.now),
            why(&call.error)
        ))
    }
}
