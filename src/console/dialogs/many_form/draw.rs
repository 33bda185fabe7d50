//! Draws the form for several alerts: what is said, how many get it, and below that what each alert gets.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::gets::AnswerScope;
use super::told::sums;
use super::{ManyForm, Part, Target};
use crate::console::dialogs::alert_rows::{self, AlertRow, OF_MANY, of_one_payment};
use crate::console::dialogs::resolve_form::AnswerRoom;
use crate::console::guards::{Gets, left_out_words};
use crate::console::pen::put_right;
use crate::console::text::{columns, counted, sanitize, wrap, wrap_styled};
use crate::console::unfinished::in_words_with;
use crate::console::{Action, AppContext, Pen};
use crate::domain::Dialect;
use crate::ui::fit::{self, KeyHint};
use crate::ui::table;

/// From so many columns on the counts stand beside the answer.
const WIDE: u16 = 110;

/// Columns of the counts there, with what is between.
const BESIDE: u16 = 40;

/// Rows of the comments.
const COMMENTS: u16 = 2;

/// From so many rows on there is room for blank lines between fields, and for what was not chosen beside what was.
const TALL: u16 = 30;

/// Columns between what stands in one line.
const BETWEEN: u16 = 3;

/// Columns that sums stand in below their count.
const INDENT: u16 = 2;

/// What is said while what they get is not said.
const NOT_CHOSEN: &str = "Choose an answer.";

/// Rows that the list keeps: its titles and three alerts.
const LIST: u16 = 4;

/// A line of what is told of the whole.
enum Told {
    Words(Vec<(String, Style)>),
    /// A sentence of parts, each in its style.
    Sentence(Vec<(String, Style)>),
    /// The number that is typed.
    Number,
}

impl ManyForm {
    pub(super) fn draw_all(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.targets.clear();
        let draw = cx.draw_context();
        alert_rows::open_page(&draw, frame.buffer_mut(), area);
        let inside = Rect { x: area.x + 2, width: area.width.saturating_sub(4), ..area };
        let mut y = area.y + 1;
        self.draw_title(frame, Rect { y, height: 1, ..inside }, cx);
        y += 2;
        let is_tall = area.height >= TALL;
        let room = AnswerRoom {
            gap: u16::from(is_tall),
            comments: COMMENTS,
            chosen_alone: !is_tall,
            each_its_own: self.gets.is_ok(),
        };
        let wide = area.width >= WIDE;
        let answer_width = if wide { inside.width.saturating_sub(BESIDE).min(84) } else { inside.width };
        let told_width = if wide { inside.width.saturating_sub(answer_width + 4) } else { inside.width };
        let told = self.told(wide, told_width, cx);
        let told_rows = u16::try_from(told.len()).unwrap_or(u16::MAX);
        let below = if wide { 0 } else { told_rows };
        // Beside the counts the number that is typed would be no field of the form: it stands below the comments.
        let number = u16::from(wide && self.asked_number().is_some());
        let most = (area.bottom().saturating_sub(y)).saturating_sub(below + number + LIST + 1);
        let answer =
            Rect { y, width: answer_width, height: self.answer.answer_rows(answer_width, room).min(most), ..inside };
        self.answer.draw_answer(frame, answer, room, draw.theme);
        let told_area = match wide {
            true => Rect { x: answer.right() + 4, y, width: told_width, height: told_rows },
            false => Rect { y: answer.bottom(), height: told_rows, ..inside },
        };
        self.draw_told(&told, frame, told_area.intersection(area), cx);
        if number > 0 {
            let row = Rect { y: answer.bottom(), height: 1, ..answer }.intersection(area);
            let field = self.draw_number(frame, row, cx);
            let wrong = self.number_wrong().map(|wrong| format!("✗ {wrong}")).unwrap_or_default();
            let beside = Rect { x: field.right() + 2, width: row.right().saturating_sub(field.right() + 2), ..row };
            Pen::new(frame.buffer_mut(), beside).put(&wrong, cx.theme.danger);
        }
        y = (answer.bottom() + number).max(told_area.bottom()) + 1;
        let list = Rect { x: area.x, y, width: area.width, height: area.bottom().saturating_sub(y + 1) };
        self.draw_list(frame, list, cx);
        self.draw_word(frame, Rect { y: area.bottom().saturating_sub(1), height: 1, ..inside }, cx);
    }

    fn draw_title(&self, frame: &mut Frame<'_>, line: Rect, cx: &AppContext) {
        let theme = &cx.theme;
        let mut room = line;
        if cx.place.is_production() {
            let badge = put_right(frame.buffer_mut(), line, " PRODUCTION ", theme.production);
            room.width = badge.x.saturating_sub(line.x + 1);
        }
        let mut pen = Pen::new(frame.buffer_mut(), room);
        let what = match self.purpose {
            AnswerScope::Bulk => format!("Answer {}", counted(self.rows.len() as u64, "alert", "alerts")),
            AnswerScope::Case(_) => {
                format!("Answer {}, same payment", counted(self.rows.len() as u64, "alert", "alerts"))
            }
        };
        pen.put(&what, theme.strong);
        pen.skip(3);
        let sums = match self.purpose {
            AnswerScope::Bulk => sums(self.rows.iter().map(|row| &row.alert)),
            // The alerts of a case are about one payment.
            AnswerScope::Case(first) => sums(self.rows.iter().map(|row| &row.alert).filter(|alert| alert.id == first)),
        };
        for (index, sum) in sums.iter().enumerate() {
            let more = format!("+{} more", sums.len() - index);
            let rest = sums[index..].iter().map(|sum| 2 + columns(sum)).sum::<u16>();
            if rest > pen.room() + 2 && columns(sum) + 2 + columns(&more) > pen.room() {
                pen.put_whole(&more, theme.quiet);
                break;
            }
            pen.put(&sanitize(sum), theme.plain);
            pen.skip(2);
        }
        pen.skip(1);
        pen.put_whole(&self.from, theme.quiet);
    }

    /// How many get what, and what is still to come, each with its style; each has a line of so much room, where there
    /// is such.
    fn count_lines(&self, room: Option<u16>, cx: &AppContext) -> Vec<(String, Style)> {
        let theme = &cx.theme;
        let mut lines = match self.gets {
            Err(_) => vec![(NOT_CHOSEN.to_owned(), theme.plain)],
            Ok(_) => {
                let style = |index, care| match (care, index) {
                    (true, _) => theme.warning,
                    (false, 0) => theme.strong,
                    (false, _) => theme.plain,
                };
                self.counts_in_words(room)
                    .into_iter()
                    .enumerate()
                    .map(|(index, (words, care))| (words, style(index, care)))
                    .collect()
            }
        };
        if self.is_searching() {
            lines.push(("checking duplicates…".to_owned(), theme.quiet));
        }
        lines
    }

    /// What is told of the whole: the counts, each on a line where they stand beside the answer; the number that is
    /// typed; that it is final.
    fn told(&self, wide: bool, width: u16, cx: &AppContext) -> Vec<Told> {
        let counts = self.count_lines(wide.then_some(width), cx);
        // The payments of a case are one: its money stands in the title.
        let summed = self.purpose == AnswerScope::Bulk && self.gets.is_ok();
        let sum = |room: u16| Some(self.sum_of_sent(room)).filter(|sum| summed && !sum.is_empty());
        let taken = match wide {
            true => counts.first().map_or(0, |(first, _)| columns(first) + BETWEEN),
            false => counts.iter().map(|(text, _)| columns(text) + BETWEEN).sum(),
        };
        // Where not even the largest sum has room beside its count, the sums have the line below.
        let beside = sum(width.saturating_sub(taken));
        let below = if beside.is_none() { sum(width.saturating_sub(INDENT)) } else { None };
        let below =
            below.map(|sum| Told::Words(vec![(format!("{:1$}{sum}", "", usize::from(INDENT)), cx.theme.plain)]));
        let mut told: Vec<Told> = match wide {
            true => {
                let lines = |(text, style): (String, Style)| {
                    wrap(&text, width).into_iter().map(move |line| Told::Words(vec![(line, style)]))
                };
                let mut lines: Vec<Told> = counts.into_iter().flat_map(lines).collect();
                if let Some(Told::Words(first)) = lines.first_mut() {
                    first.extend(beside.map(|sum| (sum, cx.theme.plain)));
                }
                lines
            }
            false => {
                let mut counts = counts;
                if let Some(sum) = beside {
                    counts.insert(1, (sum, cx.theme.plain));
                }
                vec![Told::Words(counts)]
            }
        };
        if let Some(below) = below {
            told.insert(1, below);
        }
        let way = |[keys, does]: &[String; 2]| [(keys.clone(), cx.theme.key), (does.clone(), cx.theme.warning)];
        let ways: Vec<_> = self.ways_on(cx.place.dialect).iter().map(way).collect();
        let between = [("   ".to_owned(), cx.theme.warning)];
        // Each has a line of its own where they stand beside the answer.
        let sentences =
            if wide { ways.iter().map(|way| way.to_vec()).collect() } else { vec![ways.join(&between[..])] };
        for sentence in sentences {
            let parts = sentence.iter().map(|(text, style)| (text.as_str(), *style));
            told.extend(wrap_styled(parts, width).into_iter().filter(|line| !line.is_empty()).map(Told::Sentence));
        }
        told.extend(self.asked_number().filter(|_| !wide).map(|_| Told::Number));
        let wrong =
            self.number_wrong().filter(|_| !wide).map_or_else(Vec::new, |wrong| wrap(&format!("✗ {wrong}"), width));
        told.extend(wrong.into_iter().map(|line| Told::Words(vec![(line, cx.theme.danger)])));
        let follows = self.follows_refund().then_some("the refund is sent first, the others follow");
        let finality = (self.gets.is_err() || self.counts().sent > 0).then(|| self.finality(cx));
        let sentences = follows.map(|words| (words.to_owned(), cx.theme.plain)).into_iter();
        for (sentence, style) in sentences.chain(finality.map(|words| (words, cx.theme.warning))) {
            told.extend(wrap(&sentence, width).into_iter().map(|line| Told::Words(vec![(line, style)])));
        }
        told
    }

    /// That what is sent is final, and how long it can be taken back.
    fn finality(&self, cx: &AppContext) -> String {
        let seconds = cx.settings.grace.as_secs();
        match (cx.held_back_by(), seconds) {
            (Some(why), _) => format!("{why}: they stay queued"),
            (None, 0) => "Final at once.".to_owned(),
            (None, _) => format!("Final {seconds} s after ctrl-s. {} undoes until then.", cx.key(Action::Undo)),
        }
    }

    fn draw_told(&self, told: &[Told], frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        for (line, row) in told.iter().zip(area.rows()) {
            match line {
                Told::Number => {
                    self.draw_number(frame, row, cx);
                }
                Told::Sentence(parts) => {
                    let mut pen = Pen::new(frame.buffer_mut(), row);
                    for (text, style) in parts {
                        pen.put(text, *style);
                    }
                }
                Told::Words(words) => {
                    let mut pen = Pen::new(frame.buffer_mut(), row);
                    for (text, style) in words {
                        // The first one says it all where there is no room for more.
                        if pen.room() == row.width {
                            pen.put(text, *style);
                        } else {
                            pen.put_whole(text, *style);
                        }
                        pen.skip(BETWEEN);
                    }
                }
            }
        }
    }

    /// `Type 35 to confirm`, and the field for it, whose place it says.
    fn draw_number(&self, frame: &mut Frame<'_>, row: Rect, cx: &AppContext) -> Rect {
        let theme = &cx.theme;
        let Some(asked) = self.asked_number() else { return row };
        let focused = self.part == Part::Number;
        let mut pen = Pen::new(frame.buffer_mut(), row);
        pen.put("Type ", if focused { theme.key } else { theme.quiet });
        pen.put(&asked.to_string(), theme.strong);
        pen.put(" to confirm ", if focused { theme.key } else { theme.quiet });
        let field = Rect { x: row.right() - pen.room(), width: 7.min(pen.room()), ..row };
        frame.buffer_mut().set_style(field, theme.page.patch(theme.field));
        let text = Rect { x: field.x + 1, width: field.width.saturating_sub(1), ..field };
        self.number.draw(frame, text, theme.page.patch(theme.field), focused);
        self.targets.push(row, Target::Number);
        field
    }

    fn draw_list(&self, frame: &mut Frame<'_>, list: Rect, cx: &AppContext) {
        let theme = &cx.theme;
        let draw = cx.draw_context();
        let shown = |position: usize| match self.gets_of(position) {
            Some(Gets::Sent(resolution)) => (
                ("·", theme.accent),
                sanitize(&in_words_with(resolution, &self.rows[position].alert.currency)).into_owned(),
                theme.plain,
                false,
            ),
            Some(Gets::Out { why, care: true, .. }) => (("⚠", theme.warning), why.clone(), theme.warning, false),
            Some(Gets::Out { why, care: false, .. }) => (("–", theme.quiet), left_out_words(why), theme.quiet, true),
            None => ((" ", theme.quiet), String::new(), theme.quiet, false),
        };
        let mut rows: Vec<AlertRow<'_>> = Vec::with_capacity(self.rows.len());
        for (position, row) in self.rows.iter().enumerate() {
            let (sign, what, style, quiet) = shown(position);
            rows.push(AlertRow { sign, alert: &row.alert, what, style, quiet, beside: Vec::new() });
        }
        let has_focus = self.part == Part::List;
        let columns = if self.purpose == AnswerScope::Bulk {
            OF_MANY
        } else {
            of_one_payment(self.rows.iter().map(|row| &row.alert))
        };
        let table = alert_rows::table(&rows, columns, ("ANSWER", &[]), table::room(list), &draw);
        let (at, buffer) = (self.list.at, frame.buffer_mut());
        let note = |area, row| self.targets.push(area, Target::Row(row));
        self.list.draw((&table, &rows), (at, has_focus), theme, buffer, list, note);
        if has_focus && self.word.is_none() {
            alert_rows::draw_below((&table, columns), rows.get(at), buffer, list);
        }
    }

    fn draw_word(&self, frame: &mut Frame<'_>, line: Rect, cx: &AppContext) {
        if let Some(word) = &self.word {
            Pen::new(frame.buffer_mut(), line).put(word, cx.theme.warning);
        }
    }

    pub(super) fn draw_offered(&self, buffer: &mut Buffer, line: Rect, cx: &AppContext) {
        let first = [("ctrl-s", "send", Some(Target::Send)), ("esc", "back", Some(Target::Back))];
        let rest: &[(&str, &str)] = match self.part {
            Part::List => &[("space", self.space_words()), ("tab", "fields"), ("j k", "move")],
            _ if cx.place.dialect == Dialect::Older => {
                &[("tab", self.space_in_list()), ("alt-r alt-n alt-s", "refund")]
            }
            _ => &[("tab", self.space_in_list()), ("alt-r alt-n alt-i", "decide")],
        };
        let rest = rest.iter().map(|(key, words)| (*key, *words, None));
        let keys = first.into_iter().chain(rest).map(|(key, words, target)| KeyHint::new(key, words, target));
        fit::draw(&fit::keys(keys, &cx.theme), buffer, line, |area, target| {
            target.into_iter().for_each(|target| self.targets.push(area, target));
        });
    }
}
