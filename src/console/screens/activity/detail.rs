//! Draws the detail of a row of the Activity screen: the steps of an answer and what was sent, or the facts of another
//! item.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::proof::{RowTone, live, step_words};
use super::rows::{ActivityItem, row_of};
use super::state::ActivityScreen;
use crate::console::decisions::PendingDecision;
use crate::console::resolving::UNLOOKED;
use crate::console::text::{columns, hanging, sanitize, wrap};
use crate::console::{Action, AppContext};
use crate::desk::DecisionRecord;
use crate::domain::{AuditEntry, Timestamp};

/// Columns of the labels, and of a step's time at least.
const LABEL: u16 = 14;

/// Draws the detail of an item, scrolled as it was left.
pub fn draw(screen: &ActivityScreen, item: &ActivityItem<'_>, cx: &AppContext, buffer: &mut Buffer, area: Rect) {
    let mut detail = Detail { cx, width: area.width, lines: Vec::new() };
    detail.put(item);
    screen.scroll.draw(&detail.lines, &cx.theme, buffer, area);
}

/// The lines of a detail.
struct Detail<'c> {
    cx: &'c AppContext,
    width: u16,
    lines: Vec<Line<'static>>,
}

impl Detail<'_> {
    /// A label and a text beside it, in as many lines as it takes; nothing where there is no text.
    fn fact(&mut self, label: &str, text: &str, style: Style) {
        if text.is_empty() {
            return;
        }
        let beside = LABEL.max(columns(label) + 2);
        let label = Span::styled(format!("{label:<width$}", width = usize::from(beside)), self.cx.theme.quiet);
        self.lines.extend(hanging(label, &sanitize(text), style, self.width));
    }

    /// Adds a step: it happened, or is to happen, at a moment.
    fn step(&mut self, at: Timestamp, words: &str, style: Style) {
        let times = self.cx.times();
        self.fact(&times.row(at, self.cx.now), words, style);
    }

    fn gap(&mut self) {
        self.lines.push(Line::default());
    }

    fn put(&mut self, item: &ActivityItem<'_>) {
        let (theme, row) = (self.cx.theme, row_of(item, self.cx));
        let text = match item {
            ActivityItem::Noted(note) => note.text.clone(),
            _ => row.what.clone(),
        };
        let lines = text.lines().flat_map(|line| wrap(&sanitize(line), self.width));
        self.lines.extend(lines.map(|line| Line::styled(line, theme.strong)));
        self.gap();
        if let ActivityItem::Decision(record) = item {
            self.steps(record);
            self.gap();
            self.sent(record);
            return;
        }
        let when = item.at().map(|at| self.cx.times().minute(at)).unwrap_or_default();
        self.fact("when", &when, theme.plain);
        self.fact("by", &row.who, theme.plain);
        match item {
            ActivityItem::Audit(entry) => self.audit(entry),
            _ => self.fact("alert", &row.named, theme.plain),
        }
        match item {
            ActivityItem::Attempt(attempt) => {
                self.fact("known", &attempt.detail, theme.plain);
                self.fact("result", &row.result, row.tone.of(&theme));
            }
            ActivityItem::Draft(draft) => self.fact("comments", &draft.answer.comments, theme.plain),
            ActivityItem::Noted(_) => {
                self.fact("", "Kept on this computer; the service never sees it.", theme.quiet);
            }
            _ => {}
        }
    }

    fn audit(&mut self, entry: &AuditEntry) {
        let theme = self.cx.theme;
        self.fact("from", &entry.origin, theme.plain);
        self.fact("about", &entry.subject, theme.plain);
        self.fact("detail", &entry.detail, theme.plain);
        self.fact("entry", &entry.number.to_string(), theme.quiet);
    }

    fn steps(&mut self, record: &DecisionRecord) {
        let theme = self.cx.theme;
        let user = record.user.as_deref().map(|user| format!(" by {user}")).unwrap_or_default();
        let rule = record.rule.as_deref().map(|rule| format!(" by desk rule {rule}")).unwrap_or_default();
        for (index, (at, step)) in record.happened().enumerate() {
            let (mut words, tone) = step_words(step);
            if index == 0 {
                words = format!("{words}{rule}{user}");
            }
            self.step(*at, &words, tone.of(&theme));
        }
        if let Some(why) = &record.unlooked {
            self.fact("", &format!("{UNLOOKED}: {why}"), theme.warning);
        }
        let pending = live(record, self.cx);
        if let Some(due) = pending.and_then(PendingDecision::leaves_at) {
            self.step(due, "it is sent", RowTone::Under.of(&theme));
        }
        if let Some(polling) = pending.and_then(|decision| decision.polling.as_ref()) {
            if self.cx.unfinished.parked_on(record.said.alert.id).is_some() {
                let key = self.cx.key(Action::Settle);
                self.fact("", &format!("Check the network's portal; {key} sets the result."), theme.warning);
            } else if let Some(at) = polling.next_wake() {
                self.step(at, "next look; it is never sent twice", RowTone::Under.of(&theme));
            }
        }
        if record.dismissed {
            self.fact("", "dismissed", theme.quiet);
        }
    }

    /// Adds the answer that went out, or would have.
    fn sent(&mut self, record: &DecisionRecord) {
        let (theme, said) = (self.cx.theme, &record.said);
        self.fact(if record.sent_at().is_some() { "sent" } else { "not sent" }, &said.refunded, theme.plain);
        self.fact("resolution", said.resolution.as_deref().unwrap_or_default(), theme.plain);
        self.fact("amountStopped", said.amount_stopped.as_deref().unwrap_or_default(), theme.plain);
        self.fact("comments", &said.comments, theme.plain);
        self.fact("alert", &format!("{} {}", said.alert.provider, said.alert.provider_id), theme.plain);
        self.fact("key", &record.key, theme.quiet);
    }
}
