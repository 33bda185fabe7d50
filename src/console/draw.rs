//! Draws a frame: the header, the screen, the dialogs over it, the footer with the keys, and notifications; and the
//! plain look, without box drawing and blocks, which screen readers would read out one by one.

use ratatui::{
    Frame,
    buffer::Buffer,
    layout::{Constraint, Layout, Margin, Rect},
    style::Style,
    widgets::{Clear, Widget},
};

use super::{
    Action, KeyContext,
    answer_words::in_words,
    app::App,
    pen::put_middle,
    reminders::money_or_id,
    screens::activity::result::progress_of,
    text::{counted, sanitize},
    toasts,
};
use crate::desk::Fate;
use crate::ui::{
    areas::{Areas, FILL, SMALLEST, inset, stacked},
    fit::{self, KeyHint, Segment},
};

/// The rank of what is on its way: some keys are worth more than its words.
const UNDERWAY: u8 = 15;

/// Columns that what is on its way is cut to.
const LEAST_UNDERWAY: u16 = 20;

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
        let line = area.centered_vertically(Constraint::Length(1));
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
        let [_, between, lines, _] = stacked(area, [1, FILL, noted, 1]);
        let divider = self.screens.queue.regions().divider;
        for dialog in &self.dialogs {
            if self.cx.settings.plain {
                // Lines are read from end to end: nothing stands beside it.
                Clear.render(between, frame.buffer_mut());
            }
            match divider.filter(|_| dialog.docks()) {
                Some(divider) => {
                    let columns = [Constraint::Length(divider.x), Constraint::Fill(1)];
                    let [list, beside] = Layout::horizontal(columns).areas(between);
                    dialog.draw(frame, list, &self.cx);
                    dialog.draw_beside(frame.buffer_mut(), beside.intersection(body), &self.cx);
                }
                None => dialog.draw(frame, between, &self.cx),
            }
        }
        toasts::draw(&notes, &self.cx.theme, frame.buffer_mut(), lines);
        self.draw_footer(frame.buffer_mut(), footer);
    }

    fn draw_footer(&self, buffer: &mut Buffer, footer: Rect) {
        let (theme, keymap, screen) = (&self.cx.theme, &self.cx.settings.keymap, self.screens.shown());
        buffer.set_style(footer, Style::reset().patch(theme.page).patch(theme.bar));
        let line = footer.inner(Margin::new(1, 0));
        let note = |area, action| self.targets.push(area, action);
        let mut segments = self.underway();
        if self.cx.leaving {
            fit::draw(&segments, buffer, line, note);
            return;
        }
        if let Some(dialog) = self.dialogs.last() {
            let rest = fit::draw(&segments, buffer, line, note);
            let gap = if rest.width < line.width { 2 } else { 0 };
            dialog.draw_keys(buffer, inset(rest, 0, gap), &self.cx);
            return;
        }
        let back = keymap.binding(Action::Back);
        // The screen's own keys come before those of every screen.
        let of = |context: KeyContext| keymap.bindings(context).filter(|binding| binding.footer);
        let leads = screen.leads_with();
        let first = leads.and_then(|action| keymap.binding(action));
        // The facts of an alert are worth more than what is done with many.
        let is_of_many = |action| matches!(action, Action::Bulk | Action::Mark);
        let mut own: Vec<_> = of(screen.keys()).collect();
        own.sort_by_key(|binding| is_of_many(binding.action));
        let others = own.into_iter().chain(of(KeyContext::Always)).filter(|binding| Some(binding.action) != leads);
        let shown = back
            .into_iter()
            .chain(first)
            .chain(others)
            .filter(|binding| screen.why_idle(binding.action, &self.cx).is_none());
        let keys = shown.filter_map(|binding| {
            let key = binding.keys.first()?.to_string();
            let words = screen.words(binding.action, &self.cx).unwrap_or_else(|| binding.words.clone());
            // The help stays, however narrow it gets: from there every key is found.
            let stays = binding.action == Action::Help;
            Some(KeyHint { stays, ..KeyHint::new(key, words, binding.action) })
        });
        segments.extend(fit::keys(keys, theme));
        fit::draw(&segments, buffer, line, note);
    }

    /// Answers under way, at the right end of the footer, with the keys that ask about them and take them back.
    fn underway(&self) -> Vec<Segment<Action>> {
        let (theme, decisions) = (&self.cx.theme, &self.cx.ledger);
        let (staged, is_covered) = (decisions.staged(), !self.dialogs.is_empty());
        let (sending, waiting) =
            (decisions.with_fate(Fate::Sending).count() as u64, decisions.waiting().count() as u64);
        let said = |words: String, style| vec![Segment::new(2, words, style)];
        let mut segments = match staged.first() {
            Some(_) if is_covered => return Vec::new(),
            Some(next) => {
                let what = match staged.len() {
                    1 => format!("{} {}", in_words(&next.resolution), sanitize(&money_or_id(&next.alert))),
                    more => format!("{more} answers, next"),
                };
                let what = Segment::new(2, what, theme.plain).cut_to(UNDERWAY, LEAST_UNDERWAY);
                vec![what, Segment::new(1, progress_of(next, &self.cx).1, theme.plain)]
            }
            None if sending > 0 && self.cx.leaving => {
                let answers = counted(sending, "answer has", "answers have");
                said(format!("leaving once {answers} are in"), theme.warning)
            }
            None if sending > 0 => said(format!("sending {}…", counted(sending, "answer", "answers")), theme.accent),
            None if waiting > 0 && !self.cx.leaving => {
                let mut queued =
                    said(format!("{} queued, not sent", counted(waiting, "answer", "answers")), theme.warning);
                if self.dialogs.last().is_none_or(|dialog| dialog.takes_questions()) {
                    let asks = KeyHint::new(self.cx.key(Action::Refresh), "send or keep", Action::Refresh);
                    queued.extend(asks.segments(2, theme));
                }
                queued
            }
            None => return Vec::new(),
        };
        // A page has the key that takes back among its own.
        if !is_covered && (sending == 0 || !staged.is_empty()) {
            segments.extend(KeyHint::new(self.cx.key(Action::Undo), "undo", Action::Undo).segments(2, theme));
        }
        segments.into_iter().map(Segment::right).collect()
    }
}

/// Returns the substitute of a symbol that only draws; `None` for one that says something.
fn plain(symbol: &str) -> Option<&'static str> {
    let mut letters = symbol.chars();
    let (Some(letter), None) = (letters.next(), letters.next()) else { return None };
    match letter {
        // The row under the cursor is told by a letter as well as by its colour.
        '▌' => Some(">"),
        '▎' => Some(" "),
        '\u{2500}'..='\u{259f}' => Some(" "),
        _ => None,
    }
}

/// Takes what only draws out of a frame.
fn simplify(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if let Some(instead) = plain(cell.symbol()) {
            cell.set_symbol(instead);
        }
    }
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;

    #[test]
    fn lines_and_blocks_go_and_words_signs_and_the_cursor_stay() {
        let text = "╭─╮│┃▌⚠ 東京 ■━━─ █▇ ✓";
        let mut buffer = Buffer::empty(Rect::new(0, 0, 40, 1));
        buffer.set_string(0, 0, text, Style::new());

        simplify(&mut buffer);

        let line: String = buffer.content.iter().map(ratatui::buffer::Cell::symbol).collect();
        assert!(line.starts_with("     >⚠"), "{line:?}");
        assert!(line.contains("東") && line.contains('✓'), "{line:?}");
        assert!(!line.chars().any(|letter| ('\u{2500}'..='\u{259f}').contains(&letter)), "{line:?}");
    }
}
