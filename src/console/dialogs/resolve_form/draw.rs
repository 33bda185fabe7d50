//! Draws the resolve form: a calm column of labels and what belongs to them, closer together where there is less room.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::options::{DECISION_GAP, decisions, longest_reason, option_width};
use super::plan::{AnswerRoom, HEAD, Plan, Sheet};
use super::{Choice, Errors, Focus, FormMoment, ResolveForm, Target, View};
use crate::console::dialogs::form::Measures;
use crate::console::text::{columns, counted, cut, cut_words, sanitize};
use crate::console::widgets::buttons::{Button, ButtonKind, draw_buttons, flow};
use crate::console::widgets::panel::Panel;
use crate::console::widgets::scrollbar;
use crate::console::{Theme, times};
use crate::domain::card::mask_card_numbers;
use crate::domain::resolution::{InvalidReason, MAX_COMMENT_CHARS};
use crate::domain::{Alert, Deadline, Timestamp};

impl ResolveForm {
    /// Draws the form into the middle of an area, over what is there.
    pub fn draw(&self, frame: &mut Frame<'_>, area: Rect, theme: &Theme, moment: FormMoment) {
        self.targets.clear();
        let wide = Panel::is_wide(area);
        let label = match (wide, &self.older) {
            (true, _) => 12,
            (false, None) => 10,
            (false, Some(_)) => 11,
        };
        let Some(form) = Measures::of(area, label) else { return };
        let sheet = self.sheet(form.content, area.height, moment, false);
        let body = sheet.body;
        // The top stays where it is when the choice changes: only what is below the decision moves.
        let tallest = self.tallest(form.content, area.height, moment);
        let place = form.panel.place(sheet.height.saturating_sub(2), tallest.saturating_sub(2));
        let inner = form.panel.open_at(place, theme, frame.buffer_mut());
        // The head above, the buttons and a line of words below stay; what is between them scrolls where it has no
        // room.
        let window =
            Rect { y: inner.y + inner.height.min(HEAD), height: inner.height.saturating_sub(HEAD + 2), ..inner };
        let hidden = Rect { height: 0, ..inner };
        let mut pen = FormPen { frame, theme, form: self, inner, window: hidden, label, wide, y: 0, focus: None };
        pen.body(&sheet);
        let top = self.scrolled(pen.focus.unwrap_or_default(), body, window.height);
        pen.window = inner;
        pen.y = i32::from(inner.y);
        pen.title();
        pen.facts(moment.now);
        pen.window = window;
        pen.y = i32::from(window.y) - i32::from(top);
        pen.body(&sheet);
        pen.window = inner;
        pen.y = i32::from(window.bottom());
        pen.buttons(moment);
        pen.word(body.saturating_sub(top + window.height));
        let bar = Rect { x: inner.right(), width: 1, ..window };
        scrollbar::draw(theme, frame.buffer_mut(), bar, top.into(), body.into());
    }

    /// Draws what is answered alone, without facts and buttons, into an area of its own; what has no room is scrolled.
    pub fn draw_answer(&self, frame: &mut Frame<'_>, area: Rect, room: AnswerRoom, theme: &Theme) {
        self.targets.clear();
        let (plan, errors) = (Plan::of_answer(area.width.saturating_sub(self.label()), room), self.shown_errors());
        let rows =
            self.rows_of_answer(&plan, &errors, area.width.saturating_sub(self.label()), false) + plan.comments + 1;
        let hidden = Rect { height: 0, ..area };
        let mut pen = FormPen {
            frame,
            theme,
            form: self,
            inner: area,
            window: hidden,
            label: self.label(),
            wide: true,
            y: 0,
            focus: None,
        };
        pen.answer(&plan, &errors);
        let top = self.scrolled(pen.focus.unwrap_or_default(), rows, area.height);
        pen.window = area;
        pen.y = i32::from(area.y) - i32::from(top);
        pen.answer(&plan, &errors);
        // Over the bar of the list below it.
        let bar = Rect { x: area.right() + 1, width: 1, ..area }.intersection(frame.area());
        scrollbar::draw(theme, frame.buffer_mut(), bar, top.into(), rows.into());
    }

    /// How many rows what is answered takes in so many columns.
    pub fn answer_rows(&self, width: u16, room: AnswerRoom) -> u16 {
        let content = width.saturating_sub(self.label());
        self.rows_of_answer(&Plan::of_answer(content, room), &self.shown_errors(), content, false) + room.comments + 1
    }

    /// Columns of the labels beside each other's fields.
    fn label(&self) -> u16 {
        if self.older.is_some() { 11 } else { 10 }
    }

    /// How many rows of the body are scrolled away: as few as bring what has the focus into sight; all that can be
    /// where one is about to send, so that what speaks against it is seen.
    fn scrolled(&self, focus: FocusRows, body: u16, page: u16) -> u16 {
        let most = body.saturating_sub(page);
        let follow = match self.focus {
            Focus::Confirmation | Focus::Cancel | Focus::Send => most,
            _ => focus.last.saturating_sub(page).min(focus.first).max((focus.row + 1).saturating_sub(page)),
        };
        let top = self.peek.unwrap_or(follow).min(most);
        self.view.set(View { top, most, page });
        top
    }
}

/// The rows of the body that belong to what has the focus.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FocusRows {
    first: u16,
    /// The row after the last one.
    last: u16,
    /// The one that is highlighted.
    row: u16,
}

/// Draws from the top down, and nothing outside its window.
pub(super) struct FormPen<'p, 'f> {
    pub(super) frame: &'p mut Frame<'f>,
    pub(super) theme: &'p Theme,
    pub(super) form: &'p ResolveForm,
    pub(super) inner: Rect,
    window: Rect,
    label: u16,
    wide: bool,
    pub(super) y: i32,
    focus: Option<FocusRows>,
}

/// What stands chosen where each of several alerts gets the reason that fits it.
const EACH_ITS_OWN: &str = "each its own, as the list says";

impl FormPen<'_, '_> {
    fn body(&mut self, sheet: &Sheet) {
        let Sheet { errors, plan, .. } = sheet;
        self.down(plan.gaps[0]);
        self.answer(plan, errors);
        self.down(plan.gaps[3]);
        self.then(plan.short_then);
        self.down(plan.gaps[4]);
        self.seen(&sheet.seen);
        let is_asked = self.form.needs_confirmation();
        if is_asked || self.form.fitting_reason().is_some() {
            self.down(plan.gaps[5]);
            self.instead();
        }
        if is_asked {
            self.confirmation();
            self.error(errors.confirmation.as_deref());
        }
        self.down(plan.gaps[6]);
    }

    /// What is answered: the decision with its reason, or the older dialect's fields, and the comments.
    fn answer(&mut self, plan: &Plan, errors: &Errors) {
        match &self.form.older {
            Some(older) => self.older(older, plan, errors),
            None => {
                self.decision();
                self.down(plan.gaps[1]);
                if self.form.choice == Choice::Invalid {
                    match (self.form.shows_chosen_alone(plan, errors), self.form.reason) {
                        (true, Some(reason)) => {
                            self.chosen(
                                "Reason",
                                InvalidReason::ALL.iter().position(|known| *known == reason),
                                reason.words(),
                            );
                        }
                        (true, None) => self.chosen("Reason", None, EACH_ITS_OWN),
                        (false, _) => self.reasons(self.form.each_has_its_own(plan)),
                    }
                    self.error(errors.reason.as_deref());
                    self.down(plan.gaps[2]);
                }
            }
        }
        self.comments(plan.comments, errors);
    }

    pub(super) fn down(&mut self, rows: u16) {
        self.y += i32::from(rows);
    }

    /// So many rows from the present one on, as far as they are in the window.
    pub(super) fn rows(&self, x: u16, width: u16, rows: u16) -> Rect {
        let (top, bottom) = (i32::from(self.window.y), i32::from(self.window.bottom()));
        let first = self.y.clamp(top, bottom);
        let last = (self.y + i32::from(rows)).clamp(first, bottom);
        let (y, height) = (u16::try_from(first).unwrap_or(0), u16::try_from(last - first).unwrap_or(0));
        Rect { x, y, width: width.min(self.inner.right().saturating_sub(x)), height }
    }

    pub(super) fn content_x(&self) -> u16 {
        self.inner.x + self.label
    }

    pub(super) fn content_width(&self) -> u16 {
        self.inner.width - self.label
    }

    /// Draws spans at a column of the present row; nothing leaves the form.
    pub(super) fn put(&mut self, x: u16, spans: Vec<Span<'_>>) -> Rect {
        let line = Line::from(spans);
        let right = self.inner.right();
        let width = u16::try_from(line.width()).unwrap_or(u16::MAX).min(right.saturating_sub(x));
        let area = self.rows(x, width, 1);
        if !area.is_empty() {
            self.frame.buffer_mut().set_line(x, area.y, &line, right - x);
        }
        Rect { width, ..area }
    }

    /// The same with one text.
    pub(super) fn put_text(&mut self, x: u16, text: &str, style: Style) -> Rect {
        self.put(x, vec![Span::styled(text, style)])
    }

    pub(super) fn target(&mut self, area: Rect, target: Target) {
        let visible = area.intersection(self.inner);
        if !visible.is_empty() {
            self.form.targets.push(visible, target);
        }
    }

    pub(super) fn label(&mut self, text: &'static str, focused: bool) {
        let style = if focused { self.theme.key } else { self.theme.quiet };
        self.put_text(self.inner.x, text, style);
        let here = u16::try_from(self.y).unwrap_or(0);
        match &mut self.focus {
            None if focused => self.focus = Some(FocusRows { first: here, last: here, row: here }),
            // The next label ends it.
            Some(rows) if rows.last == rows.first => rows.last = here,
            _ => {}
        }
    }

    /// The row of what is chosen in the field that has the focus.
    pub(super) fn highlight(&mut self, area: Rect) {
        if let Some(rows) = &mut self.focus {
            rows.row = u16::try_from(self.y).unwrap_or(0);
        }
        let area = area.intersection(self.window);
        self.frame.buffer_mut().set_style(area, self.theme.selection);
    }

    /// Options beside each other, in a row more where one has no room; the key stands out while it works.
    pub(super) fn options(&mut self, gap: u16, all: &[(String, &'static str, bool)]) -> Vec<Rect> {
        let widths: Vec<u16> = all.iter().map(|(key, words, _)| option_width(key, words)).collect();
        let (top, x) = (self.y, self.content_x());
        let mut areas = Vec::with_capacity(all.len());
        for ((row, at), (key, words, chosen)) in flow(&widths, gap, self.content_width()).into_iter().zip(all) {
            self.y = top + i32::from(row);
            // Each key is told, and what is chosen alone stands out.
            areas.push(self.option(x + at, key, false, *chosen, words, self.theme.key));
        }
        self.y += 1;
        areas
    }

    pub(super) fn error(&mut self, error: Option<&str>) {
        let Some(error) = error else { return };
        let text = format!("✗ {}", cut_words(error, self.content_width().saturating_sub(2)));
        self.put_text(self.content_x(), &text, self.theme.danger);
        self.y += 1;
    }

    fn title(&mut self) {
        let theme = self.theme;
        let alert = &self.form.alert;
        let badge = if self.form.place.production { " PRODUCTION " } else { "" };
        let card = card(alert, self.wide);
        let gap = if self.wide { "   " } else { "  " };
        let mut spans = vec![
            Span::styled("Resolve", theme.strong),
            Span::styled(
                format!("  {} {}", sanitize(alert.provider.as_str()), sanitize(alert.alert_type.words())),
                theme.plain,
            ),
        ];
        if let Some(money) = alert.money() {
            spans.push(Span::styled(format!("{gap}{}", sanitize(&money.to_string())), theme.strong));
        }
        spans.push(Span::styled(format!("{gap}{card}"), theme.quiet));
        let room = self.inner.width.saturating_sub(columns(badge) + u16::from(!badge.is_empty()));
        let x = self.inner.x;
        self.put_within(x, spans, room);
        if !badge.is_empty() {
            let x = self.inner.right().saturating_sub(columns(badge)).max(self.inner.x);
            self.put_text(x, badge, theme.production);
        }
        self.y += 1;
    }

    /// Draws spans in a limited room; the one that does not fit is cut and the rest left out.
    fn put_within(&mut self, x: u16, spans: Vec<Span<'_>>, room: u16) {
        let mut left = room;
        let mut kept = Vec::new();
        for span in spans {
            let text = cut(&span.content, left).into_owned();
            let whole = text == span.content;
            left -= columns(&text).min(left);
            kept.push(Span::styled(text, span.style));
            if !whole {
                break;
            }
        }
        self.put(x, kept);
    }

    fn facts(&mut self, now: Timestamp) {
        let theme = self.theme;
        let alert = &self.form.alert;
        let mut spans = Vec::new();
        if let Some((text, style)) = closes(alert, now, theme) {
            spans.push(Span::styled(text, style));
            if let Some(moment) = alert.deadline.moment() {
                spans.push(Span::styled(format!("  {}", self.form.place.times.at(moment, now)), theme.quiet));
            }
            spans.push(Span::raw("   "));
        }
        spans.push(Span::styled(sanitize(&alert.merchant_descriptor), theme.plain));
        spans.push(Span::styled(format!("   {}", sanitize(&alert.provider_id)), theme.quiet));
        let (x, room) = (self.inner.x, self.inner.width);
        self.put_within(x, spans, room);
        self.y += 1;
    }

    fn decision(&mut self) {
        let focused = self.form.focus == Focus::Decision;
        self.label("Answer", focused);
        let is_chosen = |choice| !self.form.undecided && choice == self.form.choice;
        let all = decisions().map(|(key, words, choice)| (key, words, is_chosen(choice)));
        for (area, choice) in self.options(DECISION_GAP, &all).into_iter().zip(Choice::ALL) {
            if focused && is_chosen(choice) {
                self.highlight(area);
            }
            self.target(area, Target::Choice(choice));
        }
    }

    /// `alt-i (•) INVALID`: the key stands out where it alone chooses.
    pub(super) fn option(
        &mut self,
        x: u16,
        key: &str,
        works: bool,
        chosen: bool,
        words: &'static str,
        chosen_style: Style,
    ) -> Rect {
        let theme = self.theme;
        let mark = if chosen { "(•)" } else { "( )" };
        self.put(
            x,
            vec![
                Span::styled(key.to_owned(), if works { theme.key } else { theme.quiet }),
                Span::styled(format!(" {mark} "), if chosen { theme.key } else { theme.quiet }),
                Span::styled(words, if chosen { chosen_style } else { theme.plain }),
            ],
        )
    }

    /// What was chosen of several, with its number; a click shows the others.
    pub(super) fn chosen(&mut self, label: &'static str, at: Option<usize>, words: &str) {
        let theme = self.theme;
        self.label(label, false);
        let number = at.map_or_else(String::new, |at| format!("{} ", at + 1));
        let spans = vec![Span::styled(number, theme.key), Span::styled(words.to_owned(), theme.strong)];
        self.put_within(self.content_x(), spans, self.content_width());
        let area = self.rows(self.content_x(), self.content_width(), 1);
        self.target(area, Target::Field(if self.form.older.is_some() { Focus::Word } else { Focus::Reason }));
        self.y += 1;
    }

    fn reasons(&mut self, each_its_own: bool) {
        let theme = self.theme;
        let focused = self.form.focus == Focus::Reason;
        self.label("Reason", focused);
        let x = self.content_x();
        let longest = InvalidReason::ALL.map(|reason| columns(reason.as_str())).into_iter().max().unwrap_or(0);
        if each_its_own {
            self.option(x, " ", false, true, EACH_ITS_OWN, theme.strong);
            if focused {
                self.highlight(self.rows(x, self.content_width(), 1));
            }
            self.y += 1;
        }
        for (index, reason) in InvalidReason::ALL.into_iter().enumerate() {
            let chosen = self.form.reason == Some(reason);
            self.option(x, &(index + 1).to_string(), self.form.digits_choose(), chosen, reason.words(), theme.strong);
            let word_x = self.inner.right().saturating_sub(longest);
            // Where there is no room for both, the words say it.
            if x + longest_reason() + 2 <= word_x {
                self.put_text(word_x, reason.as_str(), theme.quiet);
            }
            let area = self.rows(x, self.content_width(), 1);
            if focused && (chosen || self.form.reason.is_none() && index == 0 && !each_its_own) {
                self.highlight(area);
            }
            self.target(area, Target::Reason(reason));
            self.y += 1;
        }
    }

    fn comments(&mut self, rows: u16, errors: &Errors) {
        let theme = self.theme;
        let focused = self.form.focus == Focus::Comments;
        self.label("Comments", focused);
        let area = self.rows(self.content_x(), self.content_width(), rows);
        if !area.is_empty() {
            self.frame.buffer_mut().set_style(area, theme.field);
            // One column of air at the left, as the cursor has one at the right.
            let text = Rect { x: area.x + 1, width: area.width.saturating_sub(1), ..area };
            self.form.comments.draw(self.frame, text, theme.field, focused);
            if self.form.comments.is_empty() {
                self.put_text(area.x + 1, "optional", theme.field.patch(theme.quiet));
            }
            self.target(area, Target::Field(Focus::Comments));
        }
        self.down(rows);
        self.comments_foot(focused, errors);
        self.y += 1;
    }

    fn comments_foot(&mut self, focused: bool, errors: &Errors) {
        let theme = self.theme;
        let count = self.form.comment_chars();
        let over = count > MAX_COMMENT_CHARS;
        let counter = [
            Span::styled(count.to_string(), if over { theme.danger } else { theme.strong }),
            Span::styled(format!("/{MAX_COMMENT_CHARS}"), if over { theme.danger } else { theme.quiet }),
        ];
        let width: u16 = counter.iter().map(|span| columns(&span.content)).sum();
        let right = self.inner.right().saturating_sub(1);
        self.put(right.saturating_sub(width), counter.to_vec());

        let text = self.form.comments.text();
        let masked = mask_card_numbers(&text) != text;
        let mut notes = Vec::new();
        if let Some(error) = &errors.comments {
            notes.push(Span::styled(format!("✗ {error}"), theme.danger));
        }
        if masked {
            let note = if notes.is_empty() {
                "card number: only BIN and last four are sent"
            } else {
                "; card numbers are masked"
            };
            notes.push(Span::styled(note, theme.warning));
        }
        if notes.is_empty() && focused {
            notes.push(Span::styled("alt-enter", theme.key));
            notes.push(Span::styled(" starts a line", theme.quiet));
        }
        let (x, room) = (self.content_x(), self.content_width().saturating_sub(width + 3));
        self.put_within(x, notes, room);
    }

    fn then(&mut self, short: bool) {
        let theme = self.theme;
        self.label("Then", false);
        let x = self.content_x();
        if let Some((nothing, why)) = self.form.sends_nothing() {
            let line = if short { format!("{nothing}: {why}") } else { nothing.to_owned() };
            self.put_text(x, &cut(&line, self.content_width()), theme.strong);
            self.y += 1;
            if !short {
                self.put_text(x, &why, theme.plain);
                self.y += 1;
            }
            return;
        }
        let next = match &self.form.older {
            Some(older) => older.next_status(),
            None => Some(self.form.choice.next_status()),
        };
        let before = sanitize(self.form.alert.status.as_str());
        let mut spans = vec![Span::styled("status ", theme.quiet)];
        match next {
            Some(next) => spans.push(Span::styled(format!("{before} → {next}"), theme.strong)),
            None => spans.push(Span::styled("follows from the resolution", theme.plain)),
        }
        if short {
            spans.push(Span::raw("  "));
            spans.push(Span::styled("final", theme.warning));
        }
        self.put(x, spans);
        self.y += 1;
        if !short {
            self.put_text(x, "Final once sent.", theme.warning);
            self.y += 1;
        }
    }

    fn buttons(&mut self, moment: FormMoment) {
        let theme = self.theme;
        let can_send = self.form.sends_nothing().is_none();
        let (key, note) = match self.form.place.grace_seconds {
            _ if !can_send => ("", None),
            _ if moment.held_back_by.is_some() => ("ctrl-s", Some(("stays queued".to_owned(), theme.warning))),
            0 => ("ctrl-s", None),
            _ if self.form.leaves_at_once(moment.now) => ("ctrl-s", Some(("sends at once".to_owned(), theme.warning))),
            grace => ("ctrl-s", Some((format!("sends after {grace} s"), theme.quiet))),
        };
        let draft = ("draft saved".to_owned(), theme.quiet);
        let cancel = Button { note: Some(draft), ..Button::quiet(Focus::Cancel, "Cancel", "esc") };
        // It is not ready before what asks for it is confirmed; pressed, it says so there.
        let is_ready = can_send && (!self.form.needs_confirmation() || self.form.is_confirmed());
        let kind = if is_ready { ButtonKind::Primary } else { ButtonKind::Disabled };
        let send = Button { note, ..Button::new(kind, Focus::Send, "Send", key) };
        let line = self.rows(self.inner.x, self.inner.width, 1);
        let targets = &self.form.targets;
        draw_buttons(
            &[cancel, send],
            self.form.focus,
            self.label,
            (theme, self.frame.buffer_mut(), line),
            |area, focus| {
                targets.push(area, Target::Field(focus));
            },
        );
        self.y += 1;
    }

    /// One sentence about the last key; else that there is more below.
    fn word(&mut self, below: u16) {
        let (x, room) = (self.content_x(), self.content_width());
        if let Some(word) = &self.form.word {
            self.put_text(x, &cut(word, room), self.theme.warning);
        } else if below > 0 {
            let more = format!("↓ {} below", counted(below.into(), "more line", "more lines"));
            self.put(x, vec![Span::styled(more, self.theme.plain), Span::styled("  pgdn", self.theme.key)]);
        }
        self.y += 1;
    }
}

/// The card as far as it is known: BIN, dots, last four digits.
fn card(alert: &Alert, wide: bool) -> String {
    let (bin, last) = (sanitize(&alert.card_bin), sanitize(&alert.card_last_four));
    match (bin.is_empty() && last.is_empty(), wide) {
        (true, _) => String::new(),
        (false, true) => format!("{bin} {} {last}", "·".repeat(12_usize.saturating_sub(bin.chars().count()).max(2))),
        (false, false) => format!("{bin}··{last}"),
    }
}

/// How long the window is open, with how much that matters.
fn closes(alert: &Alert, now: Timestamp, theme: &Theme) -> Option<(String, Style)> {
    let style = match times::left(alert, now).urgency {
        times::Urgency::Now => theme.danger,
        times::Urgency::Soon => theme.warning,
        _ => theme.plain,
    };
    if alert.outcome.is_some() {
        return None;
    }
    match alert.deadline {
        Deadline::At(moment) if moment > now && alert.expired_at.is_none() => {
            Some((format!("due in {}", times::short(moment - now)), style))
        }
        Deadline::At(moment) => Some((format!("expired {}", times::ago(moment, now)), theme.danger)),
        Deadline::HoursLeft(..0) => Some(("may have expired".to_owned(), style)),
        Deadline::HoursLeft(hours) => Some((format!("due in less than {} h", hours.saturating_add(1)), style)),
        Deadline::Unknown => None,
    }
}
