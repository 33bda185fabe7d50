//! The journal as a pane beside any screen: at the right where there is room, else at the foot.

use std::borrow::Cow;
use std::cell::Cell;

use crossterm::event::{Event, MouseButton, MouseEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::idle::{NOTHING_LISTED, OTHER_PLACE, unless};
use super::screens::activity::acts;
use super::screens::activity::draw::put_told;
use super::screens::activity::rows::{ActivityRow, Happening, PART_INDENT, proof_in, row_of};
use super::screens::activity::state::{ChosenRow, RowCursor};
use super::screens::activity::views::{ActivityView, RowWidths, ShownRows, each, folded, needs_you};
use super::text::{columns, cut, whole_words, wrap};
use super::widgets::scrollbar;
use super::{Action, AppContext, ClickTargets, Orders, Pen};
use crate::domain::Timestamp;

/// From so many columns on it stands at the right.
const BESIDE: u16 = 140;

/// What the screen is left of the width, and the most that the pane takes of it.
const SCREEN: u16 = 100;
const WIDEST: u16 = 64;

/// From so many columns on a row is one line.
const ONE_LINE: u16 = 72;

/// On one line what was decided and its alert stand in columns of their own, at most so wide where there is much room,
/// and where there is not.
const ROOMY: u16 = 100;
const MOST: [u16; 2] = [48, 30];
const MOST_NARROW: [u16; 2] = [26, 13];

/// Columns left of a row's text: the cursor's bar and a blank.
const GUTTER: u16 = 2;

/// The room that the pane takes of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaneRoom {
    /// So many columns at the right.
    Right(u16),
    /// So many lines at the foot.
    Foot(u16),
}

/// The journal beside a screen.
#[derive(Debug, Default)]
pub struct JournalPane {
    is_open: bool,
    has_focus: bool,
    cursor: RowCursor,
    /// Which runs are unfolded.
    shown: ShownRows,
    /// Rows that are scrolled away and rows there are room for, as the last frame found.
    window: Cell<(usize, usize)>,
    widths: RowWidths,
    targets: ClickTargets<usize>,
}

impl JournalPane {
    /// Whether it is open.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Whether it has the keys.
    pub fn has_focus(&self) -> bool {
        self.is_open && self.has_focus
    }

    /// Opens or closes it.
    pub fn toggle(&mut self) {
        *self = Self { is_open: !self.is_open, ..Self::default() };
    }

    /// Gives it the keys, or takes them. They are first for something that is to be seen to or was decided, and what
    /// comes in above it does not take its place.
    pub fn focus(&mut self, focus: bool, cx: &AppContext) {
        if focus && !self.has_focus {
            let rows = self.rows(cx);
            let is_told = |row: usize| matches!(rows.get(row), Some(Happening::Told(_)));
            let at = self.cursor.row(&rows);
            let first = (0..rows.len()).find(|row| !is_told(*row)).unwrap_or(at);
            let mut cursor = self.cursor.clone();
            cursor.hold(if is_told(at) { first } else { at }, &rows);
            self.cursor = cursor;
        }
        self.has_focus = focus;
    }

    /// The room that it takes of a frame, where it is open.
    pub fn room(&self, frame: Rect) -> Option<PaneRoom> {
        self.is_open.then(|| match frame.width {
            width @ BESIDE.. => PaneRoom::Right((width - SCREEN).min(WIDEST)),
            _ => PaneRoom::Foot((frame.height / 3).clamp(4, 12)),
        })
    }

    /// Does what a key asks for while it has them; `None` where that is not its own.
    pub fn act(&mut self, action: Action, cx: &mut AppContext) -> Option<Orders> {
        let page = i64::try_from(self.window.get().1.max(2) - 1).unwrap_or(1);
        match action {
            Action::Down => self.move_by(1, cx),
            Action::Up => self.move_by(-1, cx),
            Action::PageDown => self.move_by(page, cx),
            Action::PageUp => self.move_by(-page, cx),
            Action::Top => self.move_to(0, cx),
            Action::Bottom => self.move_to(usize::MAX, cx),
            Action::Back => self.has_focus = false,
            Action::GoToAlert | Action::Reopen | Action::Dismiss | Action::CopyId | Action::CopyJson => {
                let chosen = self.chosen(cx)?;
                if let (Action::GoToAlert, Some(run)) = (action, &chosen.run) {
                    self.shown.turn(run);
                    return Some(Vec::new());
                }
                let orders = acts::act(&chosen, action, cx);
                // Whoever is led to an alert works on there.
                self.has_focus = orders.is_empty() || !matches!(action, Action::GoToAlert | Action::Reopen);
                return Some(orders);
            }
            _ => return None,
        }
        Some(Vec::new())
    }

    /// Why an action means nothing while it has the keys, where that is so.
    pub fn why_idle(&self, action: Action, cx: &AppContext) -> Option<&'static str> {
        use Action::{Bottom, CopyId, CopyJson, Dismiss, Down, GoToAlert, PageDown, PageUp, Reopen, Top, Up};
        match action {
            GoToAlert | Reopen | Dismiss | CopyId | CopyJson => match self.chosen(cx) {
                Some(chosen) => acts::why_idle(&chosen, action, cx),
                None => Some(NOTHING_LISTED),
            },
            Down | Up | PageDown | PageUp | Top | Bottom => unless(!self.rows(cx).is_empty(), NOTHING_LISTED),
            Action::Back | Action::Help => None,
            _ => Some(OTHER_PLACE),
        }
    }

    /// Whether the footer tells of an action while it has the keys.
    pub fn offers(&self, action: Action, cx: &AppContext) -> bool {
        self.why_idle(action, cx).is_none()
    }

    /// What the footer calls an action while it has the keys, where that is not what the keymap calls it.
    pub fn words(&self, action: Action, cx: &AppContext) -> Option<&'static str> {
        let chosen = (action == Action::GoToAlert).then(|| self.chosen(cx))??;
        acts::words_of_going(&chosen, &self.shown)
    }

    /// Whether an action is for its rows while it has the keys.
    pub fn is_own(&self, action: Action) -> bool {
        use Action::{Back, Bottom, CopyId, CopyJson, Dismiss, Down, GoToAlert, PageDown, PageUp, Reopen, Top, Up};
        matches!(
            action,
            Down | Up | PageDown | PageUp | Top | Bottom | Back | GoToAlert | Reopen | Dismiss | CopyId | CopyJson
        )
    }

    fn move_to(&mut self, row: usize, cx: &AppContext) {
        let mut cursor = self.cursor.clone();
        cursor.hold(row, &self.rows(cx));
        self.cursor = cursor;
    }

    fn move_by(&mut self, by: i64, cx: &AppContext) {
        let mut cursor = self.cursor.clone();
        cursor.move_by(by, &self.rows(cx));
        self.cursor = cursor;
    }

    /// What it shows: what the engine has not finished and somebody has to see to, then what was decided and told here,
    /// the newest first. What only repeats the steps of a decision stands in that one's row.
    fn rows<'a>(&self, cx: &'a AppContext) -> Vec<Happening<'a>> {
        let attempts = needs_you(cx).into_iter().filter(|happening| matches!(happening, Happening::Attempt(_)));
        let all = each(ActivityView::All, &self.shown, cx, &[]);
        attempts.chain(folded(all, &self.shown, cx)).collect()
    }

    fn chosen(&self, cx: &AppContext) -> Option<ChosenRow> {
        let rows = self.rows(cx);
        rows.get(self.cursor.row(&rows)).map(ChosenRow::from)
    }

    /// Takes a click or the wheel; whether it was meant.
    pub fn pointed(&mut self, event: &Event, cx: &AppContext) -> bool {
        let Event::Mouse(mouse) = event else { return false };
        let Some(row) = self.targets.at((mouse.column, mouse.row).into()).filter(|_| self.is_open) else {
            return false;
        };
        match mouse.kind {
            MouseEventKind::ScrollDown => self.move_by(1, cx),
            MouseEventKind::ScrollUp => self.move_by(-1, cx),
            MouseEventKind::Down(MouseButton::Left) => {
                self.has_focus = true;
                self.move_to(row, cx);
            }
            _ => {}
        }
        true
    }

    /// Draws it.
    pub fn draw(&self, cx: &AppContext, buffer: &mut Buffer, area: Rect, beside: bool) {
        self.targets.clear();
        if area.height < 2 {
            return;
        }
        let theme = &cx.theme;
        let inside = if beside {
            for y in area.y..area.bottom() {
                buffer.set_stringn(area.x, y, "│", 1, theme.line);
            }
            Rect { x: area.x + 1, width: area.width.saturating_sub(1), ..area }
        } else {
            let line = Rect { x: area.x + 1, width: area.width.saturating_sub(2), height: 1, ..area };
            Pen::new(buffer, line).put(&"─".repeat(usize::from(line.width)), theme.line);
            Rect { y: area.y + 1, height: area.height - 1, ..area }
        };
        let title = Rect { x: inside.x + GUTTER, width: inside.width.saturating_sub(GUTTER + 1), height: 1, ..inside };
        let [tab, close] = [Action::NextPane, Action::JournalPane].map(|action| cx.key(action));
        let way = if self.has_focus { " goes out" } else { " goes in" };
        let hint = [
            (tab.as_str(), theme.key),
            (way, theme.quiet),
            (", ", theme.quiet),
            (close.as_str(), theme.key),
            (" closes", theme.quiet),
        ];
        let width = hint.iter().map(|(text, _)| columns(text)).sum::<u16>().min(title.width);
        let mut pen = Pen::new(buffer, Rect { x: title.right() - width, width, ..title });
        hint.iter().for_each(|(text, style)| _ = pen.put(text, *style));
        let mut pen = Pen::new(buffer, title);
        pen.put("Journal", if self.has_focus { theme.accent } else { theme.strong });
        pen.put(&format!(", {}", cx.times().heading()), theme.quiet);
        pen.skip(2);
        let needs = needs_you(cx).len();
        if needs > 0 {
            pen.put_whole(&format!("{needs} {} you", if needs == 1 { "needs" } else { "need" }), theme.danger);
        }
        self.draw_rows(cx, buffer, Rect { y: inside.y + 1, height: inside.height.saturating_sub(1), ..inside });
    }

    fn draw_rows(&self, cx: &AppContext, buffer: &mut Buffer, body: Rect) {
        let (theme, rows) = (&cx.theme, self.rows(cx));
        if rows.is_empty() {
            let words = if cx.journal.is_loading() { "Reading…" } else { "Each decision is written down here." };
            let inside = Rect { x: body.x + GUTTER, width: body.width.saturating_sub(GUTTER + 1), ..body };
            for (line, row) in wrap(words, inside.width).iter().zip(inside.rows()) {
                Pen::new(buffer, row).put(line, theme.plain);
            }
            return;
        }
        let lines: u16 = if body.width >= ONE_LINE { 1 } else { 2 };
        let (height, cursor) = (usize::from(body.height / lines).max(1), self.cursor.row(&rows));
        let top = self
            .window
            .get()
            .0
            .clamp((cursor + 1).saturating_sub(height), cursor)
            .min(rows.len().saturating_sub(height));
        self.window.set((top, height));
        let shown: Vec<ActivityRow> =
            rows.iter().skip(top).take(height).map(|happening| row_of(happening, cx)).collect();
        let [_, what, named, _] = self.widths.with(ActivityView::All, &shown, body.width);
        let most = if body.width >= ROOMY { MOST } else { MOST_NARROW };
        let aligned = if lines == 1 { [what.min(most[0]), named.min(most[1])] } else { [0, 0] };
        let when = shown
            .iter()
            .zip(rows.iter().skip(top))
            .map(|(_, row)| columns(&cx.times().moment(row.at(), cx.now)))
            .max()
            .unwrap_or(0);
        let in_sight = rows.iter().enumerate().skip(top).zip(&shown);
        for (((index, happening), row), y) in in_sight.zip((body.y..).step_by(usize::from(lines))) {
            let area = Rect { y, height: lines, width: body.width.saturating_sub(2), ..body }.intersection(body);
            if index == cursor && self.has_focus {
                for row in area.rows() {
                    theme.mark_row(buffer, row);
                }
            }
            self.targets.push(area, index);
            draw_row((row, happening.at()), (when, aligned), self.has_focus, cx, buffer, area);
        }
        if rows.len() > height {
            let bar = Rect { x: body.right().saturating_sub(1), width: 1, ..body };
            scrollbar::draw(theme, buffer, bar, top as u64 * u64::from(lines), rows.len() as u64 * u64::from(lines));
        }
    }
}

fn draw_row(
    (row, at): (&ActivityRow, Timestamp),
    (when, aligned): (u16, [u16; 2]),
    has_keys: bool,
    cx: &AppContext,
    buffer: &mut Buffer,
    area: Rect,
) {
    let theme = &cx.theme;
    // The screen takes the key that it names where the pane does not.
    let hint = if has_keys { row.hint.as_str() } else { "" };
    let tone = row.tone.of(theme);
    let mut pen =
        Pen::new(buffer, Rect { x: area.x + GUTTER, width: area.width.saturating_sub(GUTTER), height: 1, ..area });
    pen.put(row.sign, tone);
    pen.skip(1);
    let moment = if row.is_part { String::new() } else { cx.times().moment(at, cx.now) };
    pen.put(&format!("{moment:<width$}", width = usize::from(when)), theme.quiet);
    pen.skip(2);
    if row.is_told {
        let x = area.right() - pen.room();
        put_told(row, theme, buffer, Rect { x, width: area.right() - x, ..area });
        return;
    }
    // Half an id names nothing; of what was decided the beginning says more than nothing.
    let cuts: [fn(&str, u16) -> Cow<'_, str>; 2] = [cut, whole_words];
    let said = if aligned[0] > 0 { row.what_in(aligned[0]) } else { &row.what };
    let [what, named] =
        [(said, aligned[0], cuts[0]), (row.named.as_str(), aligned[1], cuts[1])].map(|(text, width, cut)| {
            let text = if width > 0 { cut(text, width) } else { text.into() };
            format!("{text}{:blank$}", "", blank = usize::from(width.saturating_sub(columns(&text))))
        });
    if row.is_part {
        pen.skip(PART_INDENT);
    }
    pen.put(&what, cx.draw_context().digits());
    pen.skip(2);
    if area.height == 1 {
        pen.put(&named, theme.plain);
        pen.skip(2);
        pen.put(&proof_in(&row.proof, pen.room()), tone);
        pen.skip(3);
        pen.put_whole(hint, theme.quiet);
        return;
    }
    // What names the alert is whole: on the first line, or behind its proof.
    let above = columns(&row.named) <= pen.room();
    if above {
        pen.put(&row.named, theme.quiet);
    }
    let text = GUTTER + 2 + when + 2;
    let below = Rect { x: area.x + text, y: area.y + 1, width: area.width.saturating_sub(text), height: 1 };
    let mut pen = Pen::new(buffer, below.intersection(area));
    pen.put(&proof_in(&row.proof, pen.room()), tone);
    if !above {
        pen.skip(2);
        pen.put(&whole_words(&row.named, pen.room()), theme.quiet);
    }
    pen.skip(3);
    pen.put_whole(hint, theme.quiet);
}
