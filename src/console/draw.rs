//! Draws a frame: the header, the screen, the dialogs over it, the footer with the keys, and notifications.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::answer_words::without_reason;
use super::app::App;
use super::areas::{Areas, SMALLEST};
use super::decisions::Departure;
use super::pen::{put_middle, put_right};
use super::plain::{clear_beside, simplify, unmark};
use super::text::{columns, counted};
use super::{Action, KeyContext, Keys, Pen, toasts};

/// Columns of the footer that its own keys keep beside what waits.
const LEFT_TO_KEYS: u16 = 40;

impl App {
    /// Draws everything. What can be clicked is noted on the way.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        let area = frame.area();
        if area != self.area {
            // The terminal is ahead of its own events: what is drawn must fit what is there now.
            self.resize(area);
        }
        self.targets.clear();
        frame.buffer_mut().set_style(area, self.cx.theme.page);
        if self.is_too_small() {
            self.draw_too_small(frame.buffer_mut(), area);
        } else {
            self.draw_all(frame, area);
        }
        self.cx.theme.even_rows(frame.buffer_mut());
        if self.cx.settings.plain {
            simplify(frame.buffer_mut());
        }
    }

    fn draw_too_small(&self, buffer: &mut Buffer, area: Rect) {
        let (width, height) = SMALLEST;
        let line = Rect { y: area.y + area.height / 2, height: area.height.min(1), ..area };
        put_middle(buffer, line, &format!("avert needs {width} x {height}"), self.cx.theme.strong);
    }

    fn draw_all(&self, frame: &mut Frame<'_>, area: Rect) {
        let Areas { header, body, footer } = Areas::of(area);
        self.screens.shown().draw(frame, body, &self.cx);
        if !self.dialogs.is_empty() {
            self.cx.theme.veil(frame.buffer_mut(), area);
        }
        self.draw_header(frame.buffer_mut(), header);
        let notes = self.notes(area.width);
        let noted = u16::try_from(notes.len()).unwrap_or(0);
        let between = Rect { y: header.bottom(), height: area.height.saturating_sub(2 + noted), ..area };
        // What hides lists hides them too where something lies over it.
        let hiding = self.dialogs.iter().rposition(|dialog| dialog.hides_lists()).unwrap_or(0);
        for (index, dialog) in self.dialogs.iter().enumerate() {
            if index < hiding && dialog.gives_way() {
                continue;
            }
            if !self.cx.settings.plain {
                dialog.draw(frame, between, &self.cx);
                continue;
            }
            if index + 1 == self.dialogs.len() {
                unmark(frame.buffer_mut());
            }
            let before = frame.buffer_mut().clone();
            dialog.draw(frame, between, &self.cx);
            clear_beside(&before, frame.buffer_mut());
        }
        let lines = Rect { y: footer.y.saturating_sub(noted), height: noted, ..area };
        toasts::draw(&notes, &self.cx.theme, frame.buffer_mut(), lines);
        self.draw_footer(frame.buffer_mut(), footer);
    }

    fn draw_footer(&self, buffer: &mut Buffer, footer: Rect) {
        let (theme, keymap, screen) = (&self.cx.theme, &self.cx.settings.keymap, self.screens.shown());
        buffer.set_style(footer, Style::reset().patch(theme.page).patch(theme.bar));
        let line = Rect { x: footer.x + 1, width: footer.width.saturating_sub(2), ..footer };
        let taken = self.draw_underway(buffer, line);
        let gap = if taken.width > 0 { 2 } else { 0 };
        let line = Rect { width: taken.x.saturating_sub(line.x + gap), ..line };
        if self.cx.leaving {
            return;
        }
        if let Some(dialog) = self.dialogs.last() {
            dialog.draw_keys(buffer, line, &self.cx);
            return;
        }
        let mut pen = Pen::new(buffer, line);
        let context = match self.keys() {
            Keys::Of(context) => context,
            Keys::Typed(keys) => {
                for (key, words) in keys {
                    // A key without what it does would say nothing.
                    if columns(key) + 1 + columns(words) > pen.room() {
                        return;
                    }
                    pen.put_key(key, words, theme);
                    pen.skip(3);
                }
                return;
            }
        };
        let back = keymap.binding(Action::Back);
        // The help stays, however narrow it gets: from there every key is found.
        let help = keymap.binding(Action::Help);
        let help_key = help.and_then(|help| help.keys.first()).map_or(0, |key| columns(&key.to_string()));
        let help_room = help.map_or(0, |help| 3 + help_key + 1 + columns(&help.words));
        // The screen's own keys come before those of every screen.
        let of = |context: KeyContext| keymap.bindings(context).filter(|binding| binding.footer);
        let leads = screen.leads_with();
        let first = leads.and_then(|action| keymap.binding(action));
        // The facts of an alert are worth more than what is done with many.
        let is_of_many = |action| matches!(action, Action::Bulk | Action::Mark);
        let own = of(context)
            .filter(|binding| !is_of_many(binding.action))
            .chain(of(context).filter(|binding| is_of_many(binding.action)));
        let others = own.chain(of(KeyContext::Always)).filter(|binding| Some(binding.action) != leads);
        let shown =
            back.into_iter().chain(first).chain(others).filter(|binding| screen.offers(binding.action, &self.cx));
        let mut full = false;
        for binding in shown {
            let Some(key) = binding.keys.first().map(ToString::to_string) else { continue };
            let words = screen.words(binding.action, &self.cx).unwrap_or(&binding.words);
            let needed = columns(&key) + 1 + columns(words);
            let reserved = if binding.action == Action::Help { 0 } else { help_room };
            // What comes first matters most: nothing jumps the queue because it is short, but the help.
            full |= needed + reserved > pen.room();
            if full && binding.action != Action::Help || needed > pen.room() {
                continue;
            }
            self.targets.push(pen.put_key(&key, words, theme), binding.action);
            pen.skip(3);
        }
    }

    /// How many decisions wait here, with the key that asks what becomes of them and the one that takes them back, as
    /// far as there is room. Returns the area it took.
    fn draw_waiting(&self, buffer: &mut Buffer, line: Rect, waiting: u64) -> Rect {
        let theme = &self.cx.theme;
        let verb = if waiting == 1 { "waits" } else { "wait" };
        let what = format!("{} {verb}, not sent", counted(waiting, "decision", "decisions"));
        if self.dialogs.last().is_some_and(|dialog| !dialog.takes_questions()) {
            return put_right(buffer, line, &what, theme.warning);
        }
        let offers = [(Action::Refresh, "asks"), (Action::Undo, "takes back")]
            .map(|(action, words)| (action, self.cx.key(action), words));
        let needed = |(_, key, words): &(Action, String, &str)| 2 + columns(key) + 1 + columns(words);
        let both = columns(&what) + offers.iter().map(needed).sum::<u16>();
        // A page has the key that takes back among its own.
        let has_both = self.dialogs.is_empty() && both + LEFT_TO_KEYS <= line.width;
        let shown = if has_both { &offers[..] } else { &offers[..1] };
        let width = (columns(&what) + shown.iter().map(needed).sum::<u16>()).min(line.width);
        let area = Rect { x: line.right() - width, width, ..line };
        let mut pen = Pen::new(buffer, area);
        pen.put(&what, theme.warning);
        for (action, key, words) in shown {
            pen.skip(2);
            self.targets.push(pen.put_key(key, words, theme), *action);
        }
        area
    }

    /// What is on its way, at the right end of the footer. Returns the area it took.
    fn draw_underway(&self, buffer: &mut Buffer, line: Rect) -> Rect {
        let (theme, decisions) = (&self.cx.theme, &self.cx.decisions);
        let nothing = Rect { x: line.right(), width: 0, ..line };
        let staged = decisions.staged();
        let Some((next, due)) = staged.first() else {
            let sending = decisions.sending() as u64;
            let waiting = decisions.waiting().count() as u64;
            return match (self.cx.leaving, sending) {
                (false, 0) if waiting > 0 => self.draw_waiting(buffer, line, waiting),
                (true, 1..) => put_right(
                    buffer,
                    line,
                    &format!("leaving once {} come back", counted(sending, "answer has", "answers have")),
                    theme.warning,
                ),
                (false, 1..) => put_right(
                    buffer,
                    line,
                    &format!("sending {}…", counted(sending, "decision", "decisions")),
                    theme.accent,
                ),
                _ => nothing,
            };
        };
        if !self.dialogs.is_empty() {
            return nothing;
        }
        let binding = self.cx.settings.keymap.binding(Action::Undo);
        let (key, undo) = (self.cx.key(Action::Undo), binding.map_or("", |binding| binding.words.as_str()));
        let when = match decisions.departure(next, *due, self.cx.now) {
            Departure::In(seconds) => format!("in {seconds} s"),
            Departure::InTurn => "in its turn".to_owned(),
            Departure::Paused => "paused".to_owned(),
            Departure::AfterLook => "once doubles are looked for".to_owned(),
            Departure::AfterFirst => "after the refund".to_owned(),
        };
        let behind = 2 + columns(&key) + 1 + columns(undo);
        let what = match staged.len() {
            1 => {
                let (word, subject) = (next.word(), next.subject());
                // Where it would take the room of the keys, why it is invalid stands in the list alone.
                let whole = format!("{word} {subject} {when}");
                if columns(&whole) + behind + LEFT_TO_KEYS <= line.width {
                    whole
                } else {
                    format!("{} {subject} {when}", without_reason(&word))
                }
            }
            more => format!("{more} decisions, next {when}"),
        };
        let width = (columns(&what) + behind).min(line.width);
        let area = Rect { x: line.right() - width, width, ..line };
        let mut pen = Pen::new(buffer, area);
        pen.put(&what, theme.plain);
        pen.skip(2);
        self.targets.push(pen.put_key(&key, undo, theme), Action::Undo);
        area
    }
}
