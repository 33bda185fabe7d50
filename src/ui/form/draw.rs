//! Draws a form: lays its fields out, scrolls to the focus, and notes what can be clicked.

use ratatui::{
    Frame,
    layout::{Constraint, Layout, Margin, Rect},
};

use super::{Form, Spot, field::FieldKind};
use crate::{
    Pen, Theme,
    areas::{FILL, rest_of, stacked},
    pen::{put_lines, put_right},
    text::columns,
    widgets::{
        buttons::{button_lines, draw_buttons},
        panel::{Panel, PanelWidth},
        scrollbar,
    },
};

/// Fields as they are laid out for a frame: those in sight, where each begins, how high it is, and all together.
#[derive(Debug, Clone)]
struct LaidOut {
    shown: Vec<usize>,
    starts: Vec<u16>,
    heights: Vec<u16>,
    total: u16,
}

impl Form {
    /// Columns of the labels; none where there is no label.
    fn label_columns(&self) -> u16 {
        let widest = self.fields.iter().map(|field| columns(field.label)).max().filter(|widest| *widest > 0);
        widest.map_or(0, |widest| widest + 3)
    }

    /// Lays the fields out in so many columns: with blank lines between them, between groups, or without any.
    fn laid_out(&self, content: u16, theme: &Theme) -> [LaidOut; 3] {
        let shown: Vec<usize> = (0..self.fields.len()).filter(|field| !self.fields[*field].hidden).collect();
        let height = |field: &usize| {
            let each = &self.fields[*field];
            let foot = u16::try_from(each.foot(content, theme).len()).unwrap_or(1).max(u16::from(each.counts()));
            each.rows(content, self.focus == Spot::Field(*field)) + foot
        };
        let heights: Vec<u16> = shown.iter().map(height).collect();
        let with_gaps = |gap: &dyn Fn(usize) -> bool| {
            let mut end = 0;
            let start = |(place, height): (usize, &u16)| {
                let start = end + u16::from(place > 0 && gap(shown[place]));
                end = start + height;
                start
            };
            let starts = heights.iter().enumerate().map(start).collect();
            LaidOut { shown: shown.clone(), starts, heights: heights.clone(), total: end }
        };
        [with_gaps(&|_| true), with_gaps(&|field| self.fields[field].apart), with_gaps(&|_| false)]
    }

    /// Draws it into the middle of an area.
    pub fn draw(&self, theme: &Theme, frame: &mut Frame<'_>, area: Rect) {
        self.targets.clear();
        let panel = Panel::of(PanelWidth::Dialog, area);
        let label = self.label_columns();
        let Some(content) = panel.room().checked_sub(label).filter(|content| *content >= 20) else { return };
        let mut buttons = self.buttons();
        if !self.leave_note.is_empty() {
            buttons[0].note = Some((self.leave_note.to_owned(), theme.quiet));
        }
        let (button_rows, word) = (button_lines(&buttons, panel.room()), u16::from(self.word.is_some()));
        // Where there is little room the blank lines go first: between fields, between groups, then around them.
        let lines = |around: u16, fields: u16| 1 + around + fields + around.max(word) + button_rows;
        let fits = |(around, laid): &(u16, LaidOut)| lines(*around, laid.total) <= panel.most_lines();
        let [roomy, grouped, close] = self.laid_out(content, theme);
        let ways = [(1, roomy), (1, grouped), (1, close.clone())];
        let (around, laid) = ways.into_iter().find(fits).unwrap_or((0, close));
        let inside = panel.open(lines(around, laid.total), theme, frame.buffer_mut());
        let [title, _, body, said, foot] = stacked(inside, [1, around, FILL, around.max(word), button_rows]);
        let mut pen = Pen::new(frame.buffer_mut(), title);
        pen.put(&self.title, theme.strong);
        pen.skip(2);
        pen.put(&self.about, theme.quiet);
        put_right(frame.buffer_mut(), title, self.badge, theme.production);
        self.draw_fields(&laid, theme, frame, body);
        if let Some(word) = &self.word {
            Pen::new(frame.buffer_mut(), said).put(word, theme.warning);
        }
        draw_buttons(&buttons, self.focus, label, (theme, frame.buffer_mut(), foot), |area, spot| {
            self.targets.push(area, spot);
        });
    }

    /// Rows that its fields take in so many columns, and at most so many: blank lines go where there is little room.
    pub fn rows(&self, width: u16, most: u16, theme: &Theme) -> u16 {
        self.fitting(width, most, theme).total.min(most)
    }

    fn fitting(&self, width: u16, most: u16, theme: &Theme) -> LaidOut {
        let [roomy, grouped, close] = self.laid_out(width.saturating_sub(self.label_columns()), theme);
        [roomy, grouped].into_iter().find(|laid| laid.total <= most).unwrap_or(close)
    }

    /// Draws its fields alone into an area of its user.
    pub fn draw_inside(&self, theme: &Theme, frame: &mut Frame<'_>, area: Rect) {
        self.targets.clear();
        self.draw_fields(&self.fitting(area.width, area.height, theme), theme, frame, area);
    }

    fn draw_fields(&self, laid: &LaidOut, theme: &Theme, frame: &mut Frame<'_>, body: Rect) {
        let (label, top) = (self.label_columns(), self.scroll(laid, body.height));
        for ((field, start), height) in laid.shown.iter().zip(&laid.starts).zip(&laid.heights) {
            let Some(below_top) = start.checked_sub(top) else { continue };
            let place = Rect { y: body.y + below_top, height: *height, ..body }.intersection(body);
            if !place.is_empty() {
                self.draw_field(*field, label, theme, frame, place);
            }
        }
        let window = body.outer(Margin::new(1, 0));
        scrollbar::draw(theme, frame.buffer_mut(), window, top.into(), laid.total.into());
    }

    /// First line in sight: the beginning of a field.
    fn scroll(&self, laid: &LaidOut, room: u16) -> u16 {
        let LaidOut { shown, starts, heights, total } = laid;
        let mut top = self.top.get().min(total - room.min(*total));
        if self.follows.get() {
            let place = self.focus().and_then(|focus| shown.iter().position(|field| *field == focus));
            let place = place.unwrap_or(starts.len().max(1) - 1);
            if let (Some(first), Some(height)) = (starts.get(place), heights.get(place)) {
                let end = first + height;
                top = top.clamp((end - room.min(end)).min(*first), *first);
            }
        }
        self.top.set(top);
        starts.iter().copied().find(|start| *start >= top).unwrap_or(top)
    }

    fn draw_field(&self, index: usize, label: u16, theme: &Theme, frame: &mut Frame<'_>, area: Rect) {
        let field = &self.fields[index];
        let focused = self.focus == Spot::Field(index);
        let [label, beside] = Layout::horizontal([Constraint::Length(label), Constraint::Fill(1)]).areas(area);
        Pen::new(frame.buffer_mut(), label).put(field.label, if focused { theme.key } else { theme.quiet });
        let rows = field.rows(beside.width, focused);
        let [main, foot] = stacked(beside, [rows, FILL]);
        let input_width = field.width.map_or(Constraint::Fill(1), Constraint::Length);
        let [place, _, note] = Layout::horizontal([
            input_width,
            Constraint::Length(2),
            Constraint::Fill(u16::from(field.width.is_some())),
        ])
        .areas(main);
        let place = if field.width.is_some() { place } else { main };
        match &field.kind {
            FieldKind::Text { input, most_chars, .. } => {
                input.draw_field(frame, place, theme, focused, field.hint);
                self.targets.push(place, Spot::Field(index));
                if let Some(most) = most_chars {
                    let count = input.text().chars().count();
                    let style = if count > *most { theme.danger } else { theme.quiet };
                    put_right(frame.buffer_mut(), foot, &format!("{count}/{most}"), style);
                }
            }
            FieldKind::Facts(facts) => {
                let lines = facts.iter().flat_map(|fact| {
                    fact.lines(place.width).into_iter().enumerate().map(move |(at, line)| (fact, at == 0, line))
                });
                for ((fact, is_first, line), row) in lines.zip(place.rows()) {
                    let mut pen = Pen::new(frame.buffer_mut(), row);
                    pen.put(if is_first { &fact.lead.0 } else { "" }, fact.lead.1);
                    pen.skip(fact.indent() - if is_first { columns(&fact.lead.0) } else { 0 });
                    pen.put(&line, fact.style);
                }
            }
            FieldKind::Options { .. } => self.draw_options(index, focused, theme, frame, place),
        }
        if field.width.is_some() {
            Pen::new(frame.buffer_mut(), note).put(&field.note, theme.quiet);
        }
        put_lines(frame.buffer_mut(), foot, field.foot(beside.width, theme));
    }

    fn draw_options(&self, index: usize, focused: bool, theme: &Theme, frame: &mut Frame<'_>, area: Rect) {
        let field = &self.fields[index];
        let FieldKind::Options { options, at, on, open, .. } = &field.kind else { return };
        let places = field.places(area.width, focused);
        for ((option, text), (row, column)) in field.shown_options(focused).iter().zip(places) {
            let cursor = option == at;
            let is_on = on.as_ref().map_or(cursor && !open, |on| on[*option]);
            let style = if is_on { theme.strong } else { theme.plain };
            let style = if cursor && focused { style.patch(theme.selection) } else { style };
            let mut pen = Pen::new(frame.buffer_mut(), rest_of(area, (row, column)));
            let key = pen.put(&field.key_of(*option), theme.key);
            let drawn = key.union(pen.put(text, style));
            pen.skip(2);
            pen.put(options.get(*option).map_or("", |option| &option.aside), theme.quiet);
            self.targets.push(drawn, Spot::Option(index, *option));
        }
    }
}
