//! Draws a form: lays its fields out, scrolls to the focus, and notes what can be clicked.

use ratatui::{
    Frame,
    layout::{Constraint, Layout, Margin, Rect},
};

use super::{Form, FormField, Spot, field::FieldKind};
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

/// A field as it is laid out for a frame: its place among all, the line that it begins on, and its lines.
#[derive(Debug, Clone, Copy)]
struct Placed {
    field: usize,
    start: u16,
    height: u16,
}

/// Says of a field whether a blank line stands before it.
type Gap = fn(&FormField) -> bool;

/// Blank lines between the fields, between their groups, or none: where there is little room they go in this order.
const GAPS: [Gap; 3] = [|_| true, |field| field.apart, |_| false];

/// Lines of all fields together.
fn total(placed: &[Placed]) -> u16 {
    placed.last().map_or(0, |last| last.start + last.height)
}

impl Form {
    /// Columns of the labels; none where there is no label.
    fn label_columns(&self) -> u16 {
        let widest = self.fields.iter().map(|field| columns(field.label)).max().filter(|widest| *widest > 0);
        widest.map_or(0, |widest| widest + 3)
    }

    /// Lays the fields out in so many columns.
    fn laid_out(&self, content: u16, gap: Gap, theme: &Theme) -> Vec<Placed> {
        let mut end = 0;
        let shown = self.fields.iter().enumerate().filter(|(_, field)| !field.hidden);
        let place = |(index, field): (usize, &FormField)| {
            let foot = u16::try_from(field.foot(content, theme).len()).unwrap_or(1).max(u16::from(field.counts()));
            let height = field.rows(content, self.focus == Spot::Field(index)) + foot;
            let start = end + u16::from(end > 0 && gap(field));
            end = start + height;
            Placed { field: index, start, height }
        };
        shown.map(place).collect()
    }

    /// The first layout in so many columns that takes as few lines, else the one without blank lines.
    fn fitting(&self, content: u16, most: u16, theme: &Theme) -> Vec<Placed> {
        let mut ways = GAPS.map(|gap| self.laid_out(content, gap, theme)).into_iter();
        let last = ways.next_back().unwrap_or_default();
        ways.find(|placed| total(placed) <= most).unwrap_or(last)
    }

    /// Draws it into the middle of an area.
    pub fn draw(&self, theme: &Theme, frame: &mut Frame<'_>, area: Rect) {
        self.targets.clear();
        let panel = Panel::of(PanelWidth::Dialog, area);
        let label = self.label_columns();
        let Some(content) = panel.room().checked_sub(label).filter(|content| *content >= 20) else { return };
        let buttons = self.buttons();
        let button_rows = button_lines(&buttons, panel.room());
        let (most, beside) = (panel.most_lines(), 3 + button_rows);
        let placed = self.fitting(content, most.saturating_sub(beside), theme);
        // Where even the fields alone have no room the blank lines around them go too.
        let around = u16::from(total(&placed) + beside <= most);
        let word = around.max(u16::from(self.word.is_some()));
        let lines = 1 + around + total(&placed) + word + button_rows;
        let inside = panel.open(lines.min(most), theme, frame.buffer_mut());
        let [title, _, body, said, foot] = stacked(inside, [1, around, FILL, word, button_rows]);
        let mut pen = Pen::new(frame.buffer_mut(), title);
        pen.put(&self.title, theme.strong);
        pen.skip(2);
        pen.put(&self.about, theme.quiet);
        put_right(frame.buffer_mut(), title, self.badge, theme.production);
        self.draw_fields(&placed, theme, frame, body);
        Pen::new(frame.buffer_mut(), said).put(self.word.as_deref().unwrap_or_default(), theme.warning);
        draw_buttons(&buttons, self.focus, label, (theme, frame.buffer_mut(), foot), |area, spot| {
            self.targets.push(area, spot);
        });
    }

    /// Rows that its fields take in so many columns, and at most so many: blank lines go where there is little room.
    pub fn rows(&self, width: u16, most: u16, theme: &Theme) -> u16 {
        total(&self.fitting(width.saturating_sub(self.label_columns()), most, theme)).min(most)
    }

    /// Draws its fields alone into an area of its user.
    pub fn draw_inside(&self, theme: &Theme, frame: &mut Frame<'_>, area: Rect) {
        self.targets.clear();
        let content = area.width.saturating_sub(self.label_columns());
        self.draw_fields(&self.fitting(content, area.height, theme), theme, frame, area);
    }

    fn draw_fields(&self, placed: &[Placed], theme: &Theme, frame: &mut Frame<'_>, body: Rect) {
        let (label, top) = (self.label_columns(), self.scroll(placed, body.height));
        for Placed { field, start, height } in placed {
            let Some(below_top) = start.checked_sub(top) else { continue };
            let place = Rect { y: body.y + below_top, height: *height, ..body }.intersection(body);
            if !place.is_empty() {
                self.draw_field(*field, label, theme, frame, place);
            }
        }
        let window = body.outer(Margin::new(1, 0));
        scrollbar::draw(theme, frame.buffer_mut(), window, top.into(), total(placed).into());
    }

    /// First line in sight: the beginning of a field.
    fn scroll(&self, placed: &[Placed], room: u16) -> u16 {
        let all = total(placed);
        let mut top = self.top.get().min(all - room.min(all));
        let focus = self.focus().and_then(|focus| placed.iter().find(|placed| placed.field == focus));
        if let Some(Placed { start, height, .. }) = focus.or(placed.last()).filter(|_| self.follows.get()) {
            let end = start + height;
            top = top.clamp((end - room.min(end)).min(*start), *start);
        }
        self.top.set(top);
        placed.iter().map(|placed| placed.start).find(|start| *start >= top).unwrap_or(top)
    }

    fn draw_field(&self, index: usize, label: u16, theme: &Theme, frame: &mut Frame<'_>, area: Rect) {
        let field = &self.fields[index];
        let focused = self.focus == Spot::Field(index);
        let [label, beside] = Layout::horizontal([Constraint::Length(label), Constraint::Fill(1)]).areas(area);
        Pen::new(frame.buffer_mut(), label).put(field.label, if focused { theme.key } else { theme.quiet });
        let [main, foot] = stacked(beside, [field.rows(beside.width, focused), FILL]);
        let [place, note] = match field.width {
            Some(width) => Layout::horizontal([Constraint::Length(width), Constraint::Fill(1)]).spacing(2).areas(main),
            None => [main, Rect::default()],
        };
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
                let lines = facts.iter().flat_map(|fact| fact.lines(place.width));
                for (line, row) in lines.zip(place.rows()) {
                    frame.buffer_mut().set_line(row.x, row.y, &line, row.width);
                }
            }
            FieldKind::Options { .. } => self.draw_options(index, focused, theme, frame, place),
        }
        Pen::new(frame.buffer_mut(), note).put(&field.note, theme.quiet);
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
