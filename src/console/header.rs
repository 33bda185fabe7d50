//! The header: where one is, in words, which screens there are, how the service and the networks answer, and how old is what is shown.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

use super::app::App;
use super::network_trouble::{DecisionFault, NetworkTrouble};
use super::pen::put_right;
use super::screens::ScreenName;
use super::screens::activity::rows::needs_you;
use super::text::{columns, sanitize};
use super::{Action, Pen};
use crate::domain::{Environment, Timestamp};
use crate::service::ServiceError;

/// How things stand: a sign in its colour, and words.
struct Standing {
    sign: &'static str,
    words: String,
    style: Style,
}

impl App {
    /// Draws the header.
    pub(super) fn draw_header(&self, buffer: &mut Buffer, header: Rect) {
        let (theme, place) = (&self.cx.theme, &self.cx.place);
        buffer.set_style(header, Style::reset().patch(theme.page).patch(theme.bar));
        let line = Rect { x: header.x + 1, width: header.width.saturating_sub(2), ..header };
        let name = sanitize(&place.name);
        let (badge, style) = match (place.demo, place.environment) {
            (true, _) => (" DEMO ".to_owned(), theme.muted),
            (false, Some(Environment::Production)) => (" PRODUCTION ".to_owned(), theme.production),
            (false, Some(Environment::Sandbox)) => (" SANDBOX ".to_owned(), theme.muted),
            // Nobody has said which of the two it is, so neither is claimed.
            (false, None) => (format!(" {name} "), theme.muted),
        };
        let named = place.demo || place.environment.is_some();
        let whereabouts = columns("avert") + 2 + columns(&badge) + if named { 1 + columns(&name) } else { 0 };
        let said = self.rules_said().map_or(0, |(said, _)| columns(said) + 2);
        let right = self.draw_link(buffer, line, whereabouts + said);
        let calls = needs_you(&self.cx).len();
        let right = self.draw_rules(buffer, Rect { width: right.x.saturating_sub(line.x + 2), ..line }, whereabouts, calls);
        let mut pen = Pen::new(buffer, Rect { width: right.saturating_sub(line.x), ..line });
        pen.put("avert", theme.accent.patch(theme.key));
        pen.skip(2);
        pen.put(&badge, style);
        if named {
            pen.skip(1);
            pen.put(&name, theme.strong);
        }
        if place.read_only {
            pen.skip(2);
            pen.put(" READ-ONLY ", theme.muted);
        }
        pen.skip(4);
        self.draw_tabs(&mut pen, calls);
        if !self.has_mouse && self.cx.settings.mouse {
            pen.skip(3);
            pen.put_whole("mouse off", theme.quiet);
        }
    }

    /// The screens, each with its key; where there is no room for all words, the word of the one that is open and the other keys.
    fn draw_tabs(&self, pen: &mut Pen<'_>, calls: usize) {
        let theme = &self.cx.theme;
        let tab = |(screen, _, name, action): (ScreenName, &str, &'static str, Action)| (screen, self.cx.key(action), name, action);
        let tabs = ScreenName::ALL.map(tab);
        let [all, short] = self.tabs_room(calls);
        let calls = match calls {
            0 => String::new(),
            many => many.to_string(),
        };
        let called = if calls.is_empty() { 0 } else { columns(&calls) + 1 };
        let all = all <= pen.room();
        let every = all || short <= pen.room();
        for (screen, key, name, action) in tabs.into_iter().filter(|(screen, ..)| every || *screen == self.screens.current) {
            let open = screen == self.screens.current;
            let word = if all || open { columns(name) + 1 } else { 0 };
            if columns(&key) + word > pen.room() {
                return;
            }
            let mut tab = pen.put(&key, if open { theme.key } else { theme.quiet });
            if word > 0 {
                pen.skip(1);
                tab = tab.union(pen.put(name, if open { theme.strong } else { theme.quiet }));
            }
            if screen == ScreenName::Activity && !calls.is_empty() && called <= pen.room() {
                // A bare number beside a key would look like another key.
                let calls = if word > 0 { format!(" {calls}") } else { format!("!{calls}") };
                tab = tab.union(pen.put(&calls, theme.danger));
            }
            self.targets.push(tab, action);
            pen.skip(3);
        }
    }

    /// Says that rules stage by themselves here, in as many words as leave room for the screens; with few columns rather this than those.
    /// Returns where the rest of the line ends.
    fn draw_rules(&self, buffer: &mut Buffer, line: Rect, whereabouts: u16, calls: usize) -> u16 {
        let Some((said, style)) = self.rules_said() else { return line.right() };
        let names = sanitize(&format!("{said}: {}", self.cx.auto.names().join(", "))).into_owned();
        let [all, short] = self.tabs_room(calls);
        let room = |tabs: u16| line.width.saturating_sub(whereabouts + 2 + if tabs > 0 { tabs + 4 } else { 0 });
        let words = [(names.clone(), all), (names, short), (said.to_owned(), short), (said.to_owned(), 0)];
        let Some((words, _)) = words.into_iter().find(|(words, tabs)| columns(words) <= room(*tabs)) else { return line.right() };
        let area = put_right(buffer, line, &words, style);
        self.targets.push(area, Action::RulesShow);
        area.x.saturating_sub(2)
    }

    /// Whether rules stage by themselves here, in the fewest words.
    fn rules_said(&self) -> Option<(&'static str, Style)> {
        let (theme, auto) = (&self.cx.theme, &self.cx.auto);
        if auto.names().is_empty() || self.cx.place.read_only {
            return None;
        }
        Some(match (auto.act(), self.cx.place.may_be_production()) {
            (true, true) => ("rules act", theme.warning),
            (true, false) => ("rules act", theme.plain),
            (false, _) => ("rules paused", theme.quiet),
        })
    }

    /// Columns of the screens: with all words, and with the word of the one that is open.
    fn tabs_room(&self, calls: usize) -> [u16; 2] {
        let called = if calls == 0 { 0 } else { columns(&calls.to_string()) + 1 };
        let tabs = || ScreenName::ALL.into_iter().map(|(screen, _, name, action)| (screen, columns(&self.cx.key(action)), columns(name)));
        let all = called + tabs().map(|(_, key, name)| key + name + 4).sum::<u16>();
        let short = called + tabs().map(|(screen, key, name)| key + 3 + self.if_open(screen, name + 1)).sum::<u16>();
        [all.saturating_sub(3), short.saturating_sub(3)]
    }

    fn if_open(&self, screen: ScreenName, columns: u16) -> u16 {
        if screen == self.screens.current { columns } else { 0 }
    }

    /// How the service answers, the age of what is shown, and the time. Returns the area it took. `whereabouts` is what the other end of the
    /// line needs: the age gives way to it.
    fn draw_link(&self, buffer: &mut Buffer, line: Rect, whereabouts: u16) -> Rect {
        let (theme, now) = (&self.cx.theme, self.cx.now);
        let clock = put_right(buffer, line, &self.cx.times().one_clock(now), theme.plain);
        let rest = Rect { width: clock.x.saturating_sub(line.x + 3), ..line };
        let Standing { sign, words, style } = self.standing();
        let is_well = style == theme.ok;
        let told = self.cx.times();
        let read = |at| format!("  {}{}", if is_well { "" } else { "read " }, told.age(at, now));
        let age = self.screens.queue.link.read_at.map(read).unwrap_or_default();
        let room = rest.width.saturating_sub(whereabouts + 2);
        let age = if columns(sign) + 1 + columns(&words) + columns(&age) <= room { age } else { String::new() };
        let area = put_right(buffer, rest, &format!("{sign} {words}{age}"), theme.quiet);
        let told = format!("{sign} {words}");
        let (said, style) = if is_well { (sign, style) } else { (told.as_str(), style) };
        buffer.set_stringn(area.x, area.y, said, said.width().min(usize::from(area.width)), style);
        Rect { width: line.right() - area.x, ..area }
    }

    /// The gravest of what there is to say; well only where nothing is wrong.
    fn standing(&self) -> Standing {
        let (theme, queue) = (&self.cx.theme, &self.screens.queue);
        let wrong = |words: String| Standing { sign: "▲", words, style: theme.warning };
        let has_list = queue.listing.total().is_some();
        let hour = |since: &Timestamp| self.cx.times().hour(*since);
        match &queue.link.trouble {
            Some((since, _)) if has_list => return wrong(format!("stale since {}", hour(since))),
            Some((since, _)) => return wrong(format!("list not read since {}", hour(since))),
            None => {}
        }
        if self.cx.writes.failing.is_some() {
            return wrong("nothing can be recorded".to_owned());
        }
        if queue.is_late(self.cx.now) {
            return wrong("no fresh answer".to_owned());
        }
        let network_of = |id| queue.listing.find(id).map(|alert| alert.provider.clone());
        if let Some(trouble) = self.cx.networks.now(&self.cx.decisions, &self.cx.unfinished, network_of) {
            return wrong(in_words(&trouble, &hour(&trouble.since)));
        }
        if let Some((part, (since, _))) = queue.link.missing() {
            return wrong(format!("{} not read since {}", part.words(), hour(since)));
        }
        match has_list {
            true => Standing { sign: "●", words: "live".to_owned(), style: theme.ok },
            false => Standing { sign: "·", words: "connecting".to_owned(), style: theme.quiet },
        }
    }

    /// What lasts and needs more words than the header has room for.
    pub(super) fn lasting_note(&self) -> Option<String> {
        let why = |error: &ServiceError| match error {
            ServiceError::Unavailable(why) | ServiceError::Unreachable(why) | ServiceError::Throttled { why, .. } => why.clone(),
            other => other.to_string(),
        };
        let link = &self.screens.queue.link;
        let again = |what: &str, since: &Timestamp, error: &ServiceError| {
            let next = link.next_try().map_or_else(|| "by itself".to_owned(), |at| format!("at {}", self.cx.times().second(at)));
            format!("Since {} {what}: {}. It is tried again {next}.", self.cx.times().hour(*since), why(error))
        };
        if let Some((since, error)) = link.trouble.as_ref().filter(|_| self.screens.queue.listing.rows() > 0) {
            return Some(again("the list cannot be read", since, error));
        }
        if let Some((since, error)) = &self.cx.writes.failing {
            return Some(again("nothing can be recorded", since, error));
        }
        let (part, (since, error)) = link.missing()?;
        Some(again(&format!("{} cannot be read", part.words()), since, error))
    }
}

/// `ETHOCA: outcome unknown since 14:03`
fn in_words(trouble: &NetworkTrouble, since: &str) -> String {
    let names: Vec<_> = trouble.networks.iter().map(|network| sanitize(network.as_str()).into_owned()).collect();
    let who = if names.is_empty() { "a network".to_owned() } else { names.join(", ") };
    match trouble.fault {
        DecisionFault::Unknown => format!("{who}: outcome unknown since {since}"),
        DecisionFault::Declined => format!("{who}: not recorded, {since}"),
        DecisionFault::Unheard => format!("a decision not known, {since}"),
        DecisionFault::Service => format!("a decision not recorded, {since}"),
    }
}
