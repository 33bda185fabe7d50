//! Draws a frame: the header that says where one is, the screen, what lies over it, the footer with the keys, and news.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

use super::app::{App, ScreenName};
use super::decisions::{State, seconds_left};
use super::hits::{Hit, Hits};
use super::keymap::{Action, Context};
use super::look::Look;
use super::overlays::Overlay;
use super::pen::{Pen, put_middle, put_right};
use super::screens::queue::layout::{Regions, SMALLEST};
use super::screens::queue::{detail, list};
use super::screens::settings::{self, dialogs};
use super::screens::{columns_menu, leave, views_menu};
use super::text::{clean, columns, counted, wrap};
use super::theme::ThemeName;
use super::times;
use super::toasts::{self, NoteLine};
use crate::service::ServiceError;

impl App {
    /// Draws everything. What can be clicked is noted on the way.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        let mut hits = std::mem::take(&mut self.hits);
        hits.clear();
        let area = frame.area();
        if area != self.area {
            // The terminal is ahead of its own news: what is drawn must fit what is there now.
            self.area = area;
            self.queue.resize(area);
        }
        frame.buffer_mut().set_style(area, self.theme.page);
        if self.is_too_small() {
            self.draw_too_small(frame.buffer_mut(), area);
        } else {
            self.draw_screen(frame, area, &mut hits);
        }
        self.hits = hits;
    }

    fn draw_too_small(&self, buffer: &mut Buffer, area: Rect) {
        let (theme, (width, height)) = (&self.theme, SMALLEST);
        let quit = self.settings.keymap.key_of(Action::Quit);
        let mut lines = vec![
            ("This window is too small.".to_owned(), theme.strong),
            (format!("{} x {} here, {width} x {height} needed", area.width, area.height), theme.plain),
            (format!("{quit} quits"), theme.quiet),
        ];
        if self.unsent() > 0 {
            let unsent = counted(self.unsent() as u64, "decision leaves", "decisions leave");
            lines.push((format!("{unsent} soon; {quit} takes back"), theme.warning));
        }
        let top = area.y + area.height.saturating_sub(u16::try_from(lines.len()).unwrap_or(0)) / 2;
        let lines: Vec<_> = lines.iter().flat_map(|(line, style)| wrap(line, area.width).into_iter().map(|line| (line, *style))).collect();
        let top = top.min(area.bottom().saturating_sub(u16::try_from(lines.len()).unwrap_or(0)).max(area.y));
        for ((line, style), y) in lines.iter().zip(top..area.bottom()) {
            put_middle(buffer, Rect { y, height: 1, ..area }, line, *style);
        }
    }

    fn draw_screen(&self, frame: &mut Frame<'_>, area: Rect, hits: &mut Hits) {
        let look = self.look();
        let regions = self.queue.regions();
        match self.screen {
            ScreenName::Queue => self.draw_queue(frame, &regions, &look, hits),
            ScreenName::Settings => {
                let body = Rect { y: regions.title.y, height: regions.footer.y.saturating_sub(regions.title.y + 1), ..area };
                settings::draw::draw(&self.settings_screen, &self.facts(), &look, frame.buffer_mut(), body, hits);
            }
        }
        if self.overlay.is_some() {
            self.theme.veil(frame.buffer_mut(), area);
        }
        self.draw_header(frame.buffer_mut(), &regions, &look, hits);
        self.draw_footer(frame.buffer_mut(), &regions, &look, hits);
        let notes = self.notes(area.width);
        let noted = u16::try_from(notes.len()).unwrap_or(0);
        let between = Rect { y: regions.header.bottom(), height: area.height.saturating_sub(2 + noted), ..area };
        self.draw_overlay(frame, between, &look, hits);
        let lines = Rect { y: regions.footer.y.saturating_sub(noted), height: noted, ..area };
        toasts::draw(&notes, &self.theme, frame.buffer_mut(), lines);
    }

    /// The lines above the footer: what lasts, then what is new.
    pub(super) fn notes(&self, width: u16) -> Vec<NoteLine> {
        let lasting = self.unwritten.as_ref().map(|(since, error)| {
            let why = match error {
                ServiceError::Unavailable(why) => why.clone(),
                other => other.to_string(),
            };
            format!("Since {} nothing can be recorded: {why}. It is tried again by itself.", since.format("%H:%M"))
        });
        // What is wrong with a search is the nearest matter while one types.
        let search = self.queue.search.as_ref().filter(|_| self.is_searching() && list::error_is_long(&self.queue));
        let wrong = search.and_then(|search| search.error.as_ref()).map(ToString::to_string);
        match wrong {
            Some(wrong) => toasts::warning_lines(&wrong, width),
            None => self.toasts.lines(lasting.as_deref(), width),
        }
    }

    /// What this console is set to, for the Settings screen.
    fn facts(&self) -> Vec<(String, String)> {
        let settings = &self.settings;
        let theme = settings.theme.map_or("as the terminal's background calls for", ThemeName::as_str);
        let grace = match settings.grace.as_secs() {
            0 => "none: a decision is sent at once".to_owned(),
            seconds => format!("{seconds} s in which a decision can be taken back"),
        };
        let mut facts = self.place.facts.clone();
        facts.push(("theme".to_owned(), theme.to_owned()));
        facts.push(("grace".to_owned(), grace));
        facts
    }

    fn draw_queue(&self, frame: &mut Frame<'_>, regions: &Regions, look: &Look<'_>, hits: &mut Hits) {
        if !self.queue.page {
            list::draw(&self.queue, look, frame, hits);
        }
        if let Some(divider) = regions.divider {
            for y in divider.y..divider.bottom() {
                frame.buffer_mut().set_stringn(divider.x, y, "│", 1, look.theme.line);
            }
            hits.push(divider, Hit::Divider);
        }
        if let Some(detail) = regions.detail {
            let most = detail::draw(&self.queue, look, frame.buffer_mut(), detail, hits);
            self.queue.detail_most.set(most);
        }
    }

    fn draw_overlay(&self, frame: &mut Frame<'_>, area: Rect, look: &Look<'_>, hits: &mut Hits) {
        // A click beside what lies over the screen must not reach what is behind it.
        if self.overlay.is_some() {
            hits.push(frame.area(), Hit::Inside);
        }
        match &self.overlay {
            None => {}
            Some(Overlay::Resolve(form)) => form.draw(frame, area, look.theme, look.now),
            Some(Overlay::Settle(dialog)) => dialog.draw(look, frame, area, hits),
            Some(Overlay::Filter(form)) => form.draw(frame, area, look.theme),
            Some(Overlay::Help(help)) => help.draw(look, frame, area, hits),
            Some(Overlay::Views(choice)) => views_menu::draw(*choice, &self.views, &self.queue.view.name, look, frame, area, hits),
            Some(Overlay::Columns(choice)) => columns_menu::draw(*choice, &self.queue.columns, self.queue.sort(), look, frame, area, hits),
            Some(Overlay::Prompt(prompt)) => prompt.draw(look, frame, area, hits),
            Some(Overlay::Leave) => leave::draw(look, frame, area, hits),
            Some(Overlay::NewCredential(choice)) => dialogs::draw_kinds(*choice, look, frame, area, hits),
            Some(Overlay::Secret(dialog)) => dialog.draw(look, frame, area, hits),
            Some(Overlay::Revoke(credential)) => {
                dialogs::draw_revoke(credential, self.settings_screen.is_own(credential), look, frame, area, hits);
            }
        }
    }

    fn draw_header(&self, buffer: &mut Buffer, regions: &Regions, look: &Look<'_>, hits: &mut Hits) {
        let theme = look.theme;
        buffer.set_style(regions.header, Style::reset().patch(theme.page).patch(theme.bar));
        let line = Rect { x: regions.header.x + 1, width: regions.header.width.saturating_sub(2), ..regions.header };
        let right = self.draw_link(buffer, line, look);
        let mut pen = Pen::new(buffer, Rect { width: right.x.saturating_sub(line.x + 2), ..line });
        pen.put("avert", theme.accent.patch(theme.key));
        pen.skip(2);
        let (word, badge) = match (self.place.demo, self.place.is_production()) {
            (true, _) => (" DEMO ", theme.muted),
            (false, true) => (" PRODUCTION ", theme.production),
            (false, false) => (" SANDBOX ", theme.muted),
        };
        pen.put(word, badge);
        pen.skip(1);
        pen.put(&clean(&self.place.name), theme.strong);
        if self.place.read_only {
            pen.skip(2);
            pen.put(" READ-ONLY ", theme.muted);
        }
        pen.skip(4);
        self.draw_tabs(&mut pen, look, hits);
        if !self.mouse.is_on() && self.settings.mouse {
            pen.skip(3);
            pen.put_whole("mouse off", theme.quiet);
        }
    }

    /// The screens, each with its key; where there is no room for all, the one that is open.
    fn draw_tabs(&self, pen: &mut Pen<'_>, look: &Look<'_>, hits: &mut Hits) {
        let tab = |(screen, _, name, action): (ScreenName, &str, &'static str, Action)| (screen, look.key(action), name, action);
        let tabs = ScreenName::ALL.map(tab);
        let needed: u16 = tabs.iter().map(|(_, key, name, _)| columns(key) + columns(name) + 4).sum();
        let all = needed <= pen.room() + 3;
        for (screen, key, name, action) in tabs.into_iter().filter(|(screen, ..)| all || *screen == self.screen) {
            let open = screen == self.screen;
            if columns(&key) + 1 + columns(name) > pen.room() {
                return;
            }
            let number = pen.put(&key, if open { look.theme.key } else { look.theme.quiet });
            pen.skip(1);
            let word = pen.put(name, if open { look.theme.strong } else { look.theme.quiet });
            hits.push(number.union(word), Hit::Do(action));
            pen.skip(3);
        }
    }

    /// How the service answers, and the time. Returns the area it took.
    fn draw_link(&self, buffer: &mut Buffer, line: Rect, look: &Look<'_>) -> Rect {
        let theme = look.theme;
        let clock = times::utc_clock(look.now);
        let clock_area = put_right(buffer, line, &clock, theme.plain);
        let rest = Rect { width: clock_area.x.saturating_sub(line.x + 3), ..line };
        let (sign, words, style) = match &self.queue.link.trouble {
            Some((since, _)) if self.queue.listing.total().is_some() => {
                ("▲", format!("stale since {}, trying again", since.format("%H:%M")), theme.warning)
            }
            Some(_) => ("▲", "no answer, trying again".to_owned(), theme.warning),
            None if self.unwritten.is_some() => ("▲", "nothing can be recorded".to_owned(), theme.warning),
            None if self.queue.listing.total().is_none() => ("·", "connecting".to_owned(), theme.quiet),
            None => ("●", "live".to_owned(), theme.ok),
        };
        let text = format!("{sign} {words}");
        let area = put_right(buffer, rest, &text, theme.quiet);
        buffer.set_stringn(area.x, area.y, sign, sign.width(), style);
        Rect { width: line.right() - area.x, ..area }
    }

    fn draw_footer(&self, buffer: &mut Buffer, regions: &Regions, look: &Look<'_>, hits: &mut Hits) {
        let theme = look.theme;
        buffer.set_style(regions.footer, Style::reset().patch(theme.page).patch(theme.bar));
        let line = Rect { x: regions.footer.x + 1, width: regions.footer.width.saturating_sub(2), ..regions.footer };
        let taken = self.draw_underway(buffer, line, look, hits);
        let mut pen = Pen::new(buffer, Rect { width: taken.x.saturating_sub(line.x + 2), ..line });
        if self.overlay.is_some() || self.leaving {
            return;
        }
        if self.is_searching() {
            for (key, words) in [("enter", "keep"), ("esc", "as before"), ("↑↓", "walk the list")] {
                pen.put_whole(key, theme.key);
                pen.skip(1);
                pen.put_whole(words, theme.quiet);
                pen.skip(3);
            }
            return;
        }
        let in_queue = self.screen == ScreenName::Queue;
        let back = (self.queue.page || !in_queue).then_some(Action::Back);
        let bindings = back.iter().filter_map(|action| look.keymap.binding(*action));
        // The help stays, however narrow it gets: from there every key is found.
        let help = look.keymap.binding(Action::Help);
        let help_room = help.map_or(0, |help| columns(&help.words) + 8);
        let contexts = self.contexts();
        // The screen's own keys come before those of every screen.
        let of = |context: Context| look.keymap.bindings(context).filter(|binding| binding.footer);
        let shown = bindings.chain(contexts.into_iter().flat_map(of));
        let can_answer = !self.place.read_only && self.queue.current().is_none_or(|alert| alert.outcome.is_none());
        let mut full = false;
        for binding in shown {
            let Some(key) = binding.keys.first().map(ToString::to_string) else { continue };
            let is_hidden = match binding.action {
                Action::Open => self.queue.page,
                Action::Refund | Action::NotRefunded | Action::Invalid => !can_answer,
                Action::Search | Action::Filter | Action::Views => !self.queue.page,
                // Only where there is something to settle.
                Action::Settle => self.unsettled.parked().next().is_none(),
                _ => false,
            };
            let needed = columns(&key) + 1 + columns(&binding.words);
            let reserved = if binding.action == Action::Help { 0 } else { help_room };
            if is_hidden {
                continue;
            }
            // What comes first matters most: nothing jumps the queue because it is short, but the help.
            full |= needed + reserved > pen.room();
            if full && binding.action != Action::Help || needed > pen.room() {
                continue;
            }
            let key = pen.put(&key, theme.key);
            pen.skip(1);
            let words = pen.put(&binding.words, theme.quiet);
            hits.push(key.union(words), Hit::Do(binding.action));
            pen.skip(3);
        }
    }

    /// What is on its way, at the right end of the footer. Returns the area it took.
    fn draw_underway(&self, buffer: &mut Buffer, line: Rect, look: &Look<'_>, hits: &mut Hits) -> Rect {
        let theme = look.theme;
        let nothing = Rect { x: line.right(), width: 0, ..line };
        let staged = self.decisions.staged();
        let Some((next, due)) = staged.first() else {
            let sending = self.decisions.sending() as u64;
            return match (self.leaving, sending) {
                (true, 1..) => put_right(
                    buffer,
                    line,
                    &format!("leaving once {} came back", counted(sending, "answer has", "answers have")),
                    theme.warning,
                ),
                (false, 1..) => put_right(buffer, line, &format!("sending {}…", counted(sending, "decision", "decisions")), theme.accent),
                _ => nothing,
            };
        };
        let seconds = seconds_left(*due, look.now);
        if self.overlay.is_some() {
            return nothing;
        }
        let (key, undo) = (look.key(Action::Undo), look.keymap.binding(Action::Undo).map_or("", |binding| binding.words.as_str()));
        let what = match staged.len() {
            1 => format!("{} {} in {seconds} s", next.word(), next.subject()),
            more => format!("{more} decisions, next in {seconds} s"),
        };
        debug_assert!(matches!(next.state, State::Staged(_)));
        let width = (columns(&what) + 2 + columns(&key) + 1 + columns(undo)).min(line.width);
        let area = Rect { x: line.right() - width, width, ..line };
        let mut pen = Pen::new(buffer, area);
        pen.put(&what, theme.plain);
        pen.skip(2);
        let key = pen.put(&key, theme.key);
        pen.skip(1);
        let words = pen.put(undo, theme.quiet);
        hits.push(key.union(words), Hit::Do(Action::Undo));
        area
    }
}
