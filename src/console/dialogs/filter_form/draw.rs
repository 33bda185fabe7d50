//! Draws the filter form: a column of fields that scrolls where there is less room, under the query that says the same.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

use super::{Field, FilterForm, Target};
use crate::console::Theme;
use crate::console::dialogs::form::Measures;
use crate::console::text::{columns, cut, sanitize};
use crate::console::widgets::buttons::{Button, draw_buttons};
use crate::console::widgets::panel::Panel;
use crate::domain::query::field_word;
use crate::domain::{SortField, SortOrder};

/// Columns between two things in a row.
const GAP: u16 = 2;

/// Rows around the fields: margins, title, a gap on either side, buttons, the line of words.
const FRAME_ROWS: u16 = 7;

/// What stands in a row, from left to right.
enum Cell {
    Words(&'static str),
    /// What `‹` and `›` change.
    Value(String),
    Input {
        field: Field,
        width: u16,
        hint: &'static str,
    },
    /// One of the things to choose: `[x] OPEN`, `(•) any`.
    Choice {
        field: Field,
        index: usize,
        text: String,
        on: bool,
    },
}

impl Cell {
    fn width(&self) -> u16 {
        match self {
            Self::Words(text) => columns(text),
            Self::Value(text) => columns(text),
            Self::Input { width, .. } => *width,
            Self::Choice { text, .. } => columns(text),
        }
    }

    fn field(&self) -> Option<Field> {
        match self {
            Self::Words(_) | Self::Value(_) => None,
            Self::Input { field, .. } | Self::Choice { field, .. } => Some(*field),
        }
    }
}

/// A row of the form.
#[derive(Default)]
struct Row {
    label: &'static str,
    cells: Vec<Cell>,
    error: Option<String>,
    /// For an empty row: how soon it gives way where there is less room, 1 first; 0 for rows that stay.
    gap: u8,
}

impl Row {
    fn of(label: &'static str, cells: Vec<Cell>) -> Self {
        Self { label, cells, ..Self::default() }
    }

    fn gap(gap: u8) -> Self {
        Self { gap, ..Self::default() }
    }
}

impl FilterForm {
    /// Draws the form into the middle of an area, over what is there.
    pub fn draw(&self, frame: &mut Frame<'_>, area: Rect, theme: &Theme) {
        self.targets.clear();
        let Some(form) = Measures::of(area, if Panel::is_wide(area) { 14 } else { 13 }) else { return };
        let mut rows = self.rows(form.content);
        let height_of = |rows: &[Row]| u16::try_from(rows.len()).unwrap_or(u16::MAX).saturating_add(FRAME_ROWS);
        for level in [1, 2] {
            if height_of(&rows) > area.height {
                rows.retain(|row| row.gap != level);
            }
        }
        let height = height_of(&rows).min(area.height);
        let inner = form.panel.open(height.saturating_sub(2), theme, frame.buffer_mut());
        Pen { frame, theme, form: self, inner, label: form.label }.form(&rows);
    }

    /// The rows of the fields; a row without cells is a gap.
    fn rows(&self, width: u16) -> Vec<Row> {
        let input = |field, width, hint| Cell::Input { field, width, hint };
        let days = |from, to| {
            let day = |field| input(field, 13, "YYYY-MM-DD");
            vec![Cell::Words("from"), day(from), Cell::Words("to"), day(to), Cell::Words("whole UTC days")]
        };
        let expired = ["any", "yes", "no"]
            .iter()
            .enumerate()
            .map(|(index, text)| self.choice(Field::Expired, index, text))
            .collect();
        let mut sort = vec![
            Cell::Choice { field: Field::SortBy, index: 0, text: "‹".to_owned(), on: false },
            Cell::Value(format!("{:^11}", field_word(self.sort.field))),
            Cell::Choice { field: Field::SortBy, index: 1, text: "›".to_owned(), on: false },
        ];
        sort.extend(
            order_words(self.sort.field).iter().enumerate().map(|(index, text)| self.choice(Field::Order, index, text)),
        );
        let company = input(Field::Company, width, "company ids");

        let line = |label, cells| std::iter::once(Row::of(label, cells));
        let gap = |level| std::iter::once(Row::gap(level));
        let search = input(Field::Search, width, "in provider id, descriptor, BIN and last four digits");
        let descriptor = input(Field::Descriptor, width, "what the merchant descriptor begins with");
        let hours = vec![input(Field::Hours, 13, "any time"), Cell::Words("hours or less, and waits for an answer")];
        let outcome = input(Field::Outcome, width, "stored words, such as resolved, not_found");
        line("Search", vec![search])
            .chain(gap(1))
            .chain(line("Descriptor", vec![descriptor]))
            .chain(gap(2))
            .chain(self.wrapped("Provider", Field::Provider, width))
            .chain(gap(1))
            .chain(self.wrapped("Type", Field::Type, width))
            .chain(gap(1))
            .chain(self.wrapped("Status", Field::Status, width))
            .chain(gap(2))
            .chain(line("Lapses in", hours))
            .chain(self.errors(&[Field::Hours]))
            .chain(gap(1))
            .chain(line("Lapsed", expired))
            .chain(gap(1))
            .chain(line("Alerted", days(Field::From, Field::To)))
            .chain(self.errors(&[Field::From, Field::To]))
            .chain(gap(1))
            .chain(line("Transaction", days(Field::TxFrom, Field::TxTo)))
            .chain(self.errors(&[Field::TxFrom, Field::TxTo]))
            .chain(gap(2))
            .chain(line("Outcome", vec![outcome]))
            .chain(gap(1))
            .chain(line("Company", vec![company]))
            .chain(self.errors(&[Field::Company]))
            .chain(gap(2))
            .chain(line("Sort by", sort))
            .collect()
    }

    /// The row that says what is wrong with the fields above it.
    fn errors(&self, fields: &[Field]) -> Option<Row> {
        let errors: Vec<String> = fields.iter().filter_map(|field| self.error(*field)).collect();
        (!errors.is_empty()).then(|| Row { error: Some(errors.join("; ")), ..Row::default() })
    }

    /// The things to choose in a field: in columns, in as few rows as they need, and about as many in each.
    fn wrapped(&self, label: &'static str, field: Field, width: u16) -> Vec<Row> {
        let mut cells: Vec<Cell> = (0..self.choices(field)).map(|index| self.choice(field, index, "")).collect();
        let column = cells.iter().map(Cell::width).max().unwrap_or(1).max(1);
        let most = usize::from((width + GAP) / (column + GAP)).max(1);
        let rows = cells.len().div_ceil(most).max(1);
        let each = cells.len().div_ceil(rows).max(1);
        for cell in &mut cells {
            if let Cell::Choice { text, .. } = cell
                && rows > 1
            {
                *text = format!("{text}{}", " ".repeat(usize::from(column.saturating_sub(columns(text)))));
            }
        }
        let mut labels = std::iter::once(label).chain(std::iter::repeat(""));
        let mut cells = cells.into_iter();
        (0..rows).map(|_| Row::of(labels.next().unwrap_or(""), cells.by_ref().take(each).collect())).collect()
    }

    fn choice(&self, field: Field, index: usize, text: &str) -> Cell {
        let (text, on) = match field {
            Field::Provider => {
                self.providers.items.get(index).map(|(value, on)| (sanitize(value.as_str()).into_owned(), *on))
            }
            Field::Type => self.types.items.get(index).map(|(value, on)| (sanitize(value.words()).to_lowercase(), *on)),
            Field::Status => {
                self.statuses.items.get(index).map(|(value, on)| (sanitize(value.as_str()).into_owned(), *on))
            }
            Field::Expired => Some((text.to_owned(), self.expired == [None, Some(true), Some(false)][index.min(2)])),
            _ => Some((text.to_owned(), (self.sort.order == SortOrder::Descending) == (index == 1))),
        }
        .unwrap_or_default();
        let mark = match (field, on) {
            (Field::Expired | Field::Order, true) => "(•)",
            (Field::Expired | Field::Order, false) => "( )",
            (_, true) => "[x]",
            (_, false) => "[ ]",
        };
        Cell::Choice { field, index, text: format!("{mark} {text}"), on }
    }
}

/// What either direction means for a property.
const fn order_words(field: SortField) -> [&'static str; 2] {
    use SortField as By;
    match field {
        By::AlertTimeStamp
        | By::TransactionTimeStamp
        | By::CreatedAt
        | By::UpdatedAt
        | By::ExpiredAt
        | By::HoursLeft => ["earliest first", "latest first"],
        By::Amount => ["smallest first", "largest first"],
        _ => ["a to z", "z to a"],
    }
}

struct Pen<'p, 'f> {
    frame: &'p mut Frame<'f>,
    theme: &'p Theme,
    form: &'p FilterForm,
    inner: Rect,
    label: u16,
}

impl Pen<'_, '_> {
    fn form(&mut self, rows: &[Row]) {
        let theme = self.theme;
        let Rect { x, y, width, height } = self.inner;
        let query = self.form.query();
        let said = if query.is_empty() {
            "everything, what lapses next first".to_owned()
        } else {
            sanitize(&query).into_owned()
        };
        let said = cut(&said, width.saturating_sub(self.label));
        self.put(x, y, "Filter", theme.strong, width);
        self.put(x + self.label, y, &said, theme.accent, width.saturating_sub(self.label));
        // The title and a gap above; a gap, buttons and the line of words below.
        let list = Rect { y: y + 2, height: height.saturating_sub(5), ..self.inner };
        self.rows(rows, list);
        self.buttons(self.inner.bottom().saturating_sub(2));
        if let Some(word) = &self.form.word {
            let text = cut(word, width - self.label);
            self.put(x + self.label, self.inner.bottom().saturating_sub(1), &text, theme.warning, width);
        }
    }

    fn rows(&mut self, rows: &[Row], list: Rect) {
        let most = u16::try_from(rows.len()).unwrap_or(u16::MAX).saturating_sub(list.height);
        let mut top = self.form.scrolled.get().min(most);
        if self.form.follow.get() && list.height > 0 {
            let (first, last) = self.focused_rows(rows);
            top = top.clamp((last + 1).saturating_sub(list.height).min(first), first);
        }
        self.form.scrolled.set(top);
        for (row, y) in rows.iter().skip(usize::from(top)).zip(list.y..list.bottom()) {
            self.row(row, y);
        }
        if most > 0 && list.height > 0 {
            self.scrollbar(list, rows.len(), top);
        }
    }

    /// The first and the last row of the field with the focus, its error with it.
    fn focused_rows(&self, rows: &[Row]) -> (u16, u16) {
        let has = |row: &Row| row.cells.iter().any(|cell| cell.field() == Some(self.form.focus));
        let small = |index: usize| u16::try_from(index).unwrap_or(u16::MAX);
        let first = rows.iter().position(has).unwrap_or(if self.form.focus.is_button() { rows.len() - 1 } else { 0 });
        let last = rows.iter().rposition(has).unwrap_or(first);
        let with_error = rows.get(last + 1).is_some_and(|row| row.error.is_some());
        (small(first), small(last) + u16::from(with_error))
    }

    fn scrollbar(&mut self, list: Rect, rows: usize, top: u16) {
        let x = self.inner.right().saturating_sub(1);
        let rows = u32::try_from(rows.max(1)).unwrap_or(u32::MAX);
        let part = |number: u16| u16::try_from(u32::from(number) * u32::from(list.height) / rows).unwrap_or(0);
        let thumb = part(list.height).max(1);
        let start = part(top).min(list.height - thumb);
        for index in 0..list.height {
            let inside = (start..start + thumb).contains(&index);
            let (sign, style) = if inside { ("┃", self.theme.thumb) } else { ("│", self.theme.line) };
            self.put(x + 1, list.y + index, sign, style, 1);
        }
    }

    fn row(&mut self, row: &Row, y: u16) {
        let theme = self.theme;
        let content = self.inner.x + self.label;
        if let Some(error) = &row.error {
            let text = format!("✗ {}", cut(error, (self.inner.width - self.label).saturating_sub(2)));
            self.put(content, y, &text, theme.danger, self.inner.width - self.label);
            return;
        }
        let focused = row.cells.iter().any(|cell| cell.field() == Some(self.form.focus));
        self.put(self.inner.x, y, row.label, if focused { theme.key } else { theme.quiet }, self.label);
        let mut x = content;
        for cell in &row.cells {
            let room = self.inner.right().saturating_sub(x);
            match cell {
                Cell::Words(text) => self.put(x, y, text, theme.quiet, room),
                Cell::Value(text) => {
                    let style = if self.form.focus == Field::SortBy {
                        theme.strong.patch(theme.selection)
                    } else {
                        theme.plain
                    };
                    self.put(x, y, text, style, room);
                }
                Cell::Input { field, width, hint } => {
                    self.input(*field, Rect { x, y, width: (*width).min(room), height: 1 }, hint);
                }
                Cell::Choice { field, index, text, on } => self.choice(*field, *index, text, *on, x, y, room),
            }
            x += cell.width() + GAP;
        }
    }

    fn input(&mut self, field: Field, area: Rect, hint: &'static str) {
        let theme = self.theme;
        let Some(input) = self.form.input(field) else { return };
        let focused = self.form.focus == field;
        let style = if self.form.error(field).is_some() { theme.field.patch(theme.danger) } else { theme.field };
        self.frame.buffer_mut().set_style(area, theme.field);
        let text = Rect { x: area.x + 1, width: area.width.saturating_sub(1), ..area };
        input.draw(self.frame, text, style, focused);
        if input.is_empty() && !focused {
            self.put(text.x, area.y, &cut(hint, text.width), theme.field.patch(theme.quiet), text.width);
        }
        self.form.targets.push(area, Target::Field(field));
    }

    #[allow(clippy::too_many_arguments, reason = "a place, a thing and its state")]
    fn choice(&mut self, field: Field, index: usize, text: &str, on: bool, x: u16, y: u16, room: u16) {
        let theme = self.theme;
        let focused = self.form.focus == field;
        let style = match (on, field) {
            (_, Field::SortBy) => theme.key,
            (true, _) => theme.accent,
            (false, _) => theme.plain,
        };
        let style = if focused && self.form.at == index && field != Field::SortBy {
            style.patch(theme.selection)
        } else {
            style
        };
        self.put(x, y, text, style, room);
        let area = Rect { x, y, width: columns(text).min(room), height: 1 };
        self.form.targets.push(area, Target::Choice(field, index));
    }

    fn buttons(&mut self, y: u16) {
        let theme = self.theme;
        let buttons = [
            Button::quiet(Field::Cancel, "Cancel", "esc"),
            Button::quiet(Field::Reset, "Reset", "ctrl-r"),
            Button::primary(Field::Apply, "Apply", "enter"),
        ];
        let line = Rect { y, height: 1, ..self.inner }.intersection(self.frame.area());
        let note = |area, field| self.form.targets.push(area, Target::Field(field));
        draw_buttons(&buttons, self.form.focus, self.label, (theme, self.frame.buffer_mut(), line), note);
    }

    fn put(&mut self, x: u16, y: u16, text: &str, style: Style, room: u16) {
        if y < self.frame.area().bottom() && x < self.frame.area().right() {
            self.frame.buffer_mut().set_line(x, y, &Line::styled(text, style), room);
        }
    }
}
