//! Draws the detail of one alert: what decides first, warnings with the keys that answer them, then the facts in
//! sections.

mod answer;

use std::borrow::Cow;

use ratatui::{
    buffer::Buffer,
    layout::{Margin, Rect, Size},
    style::{Modifier, Style},
    text::{Line, Span},
};

use super::{
    columns::{amount, masked, status_word},
    facts::Facts,
    state::{Queue, QueueTarget},
};
use crate::{
    Action, AppContext, Loadable,
    answer_words::answer_words,
    code_words::{dispute_reason, field_value, merchant_category},
    domain::{
        Alert, AlertStatus, Deadline, Delivery, Money, Provider,
        field::{Content, Field, Kind, Section, Shown},
    },
    screens::webhooks::draw::outlook,
    text::{cut, hanging, sanitize, wrap, wrap_spans},
    times::{self, Urgency},
    widgets::scrollbar::{self, Scroll},
};

/// Columns of the labels.
const LABEL: u16 = 14;

/// The widest that lines get: longer ones are hard to read.
pub const WIDEST: u16 = 96;

/// One line of the detail.
pub struct Part {
    line: Line<'static>,
    /// The colour of the box it belongs to.
    boxed: Option<Style>,
    /// What a click on it does.
    target: Option<Action>,
}

impl Part {
    /// A line of its own.
    pub fn of(line: Line<'static>) -> Self {
        Self { line, boxed: None, target: None }
    }

    /// Returns true where nothing stands in it.
    pub fn is_blank(&self) -> bool {
        self.line.width() == 0
    }
}

/// Which facts are wanted of an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Facet {
    /// All that is known.
    Whole,
    /// What decides: what becomes of it, its outcome, its order. Where it stands `alone` it is named; else it is in a
    /// list above.
    Decides { alone: bool },
    /// What it has in common with the others of its payment.
    Payment,
    /// What is its own: its network, its webhooks; and its window, where it does not stand `alone`.
    Own { alone: bool },
}

/// A labelled fact.
struct Fact {
    label: Cow<'static, str>,
    value: String,
    style: Style,
}

/// Collects lines of a fixed width.
struct Parts<'l> {
    cx: &'l AppContext,
    width: u16,
    /// The bar of the box that is open.
    bar: Option<Style>,
    parts: Vec<Part>,
}

/// Draws the detail of the alert under the cursor, scrolled as it was left.
pub fn draw(queue: &Queue, cx: &AppContext, buffer: &mut Buffer, area: Rect) {
    let Some(alert) = queue.current() else { return };
    let parts = facets(Facet::Whole, alert, queue.listing.is_gone(), &queue.facts, cx, area.width.min(WIDEST));
    put(&[(&parts, area)], &queue.detail_scroll, cx, buffer, area, |line, action| {
        queue.targets.push(line, QueueTarget::Do(action));
    });
}

/// Draws columns of lines into an area, each scrolled as far as its own end.
pub fn put(
    columns: &[(&[Part], Rect)],
    scroll: &Scroll,
    cx: &AppContext,
    buffer: &mut Buffer,
    area: Rect,
    note: impl Fn(Rect, Action),
) {
    let longest = columns.iter().map(|(parts, _)| parts.len()).max().unwrap_or(0);
    let top = scroll.fit(longest, area.height);
    for (parts, column) in columns {
        let height = usize::from(column.height);
        let first = usize::from(top).min(parts.len().max(height) - height);
        let lines = column.resize(Size::new(column.width.min(WIDEST), column.height));
        for (part, line) in parts.iter().skip(first).zip(lines.rows()) {
            if let Some(bar) = part.boxed {
                // The box is a column wider than its text on either side, as far as there is room; a bar says how grave
                // it is.
                let wide = line.outer(Margin::new(1, 0)).intersection(buffer.area);
                buffer.set_style(wide, cx.theme.panel);
                buffer.set_stringn(wide.x, wide.y, "▎", 1, bar);
            }
            buffer.set_line(line.x, line.y, &part.line, line.width);
            if let Some(action) = part.target {
                note(line, action);
            }
        }
    }
    scrollbar::draw(&cx.theme, buffer, scrollbar::beside(area), top.into(), longest as u64);
}

/// The lines of an alert's facts, for so many columns. `gone`: it is no longer in its list.
pub fn facets(facet: Facet, alert: &Alert, gone: bool, facts: &Facts, cx: &AppContext, width: u16) -> Vec<Part> {
    let mut parts = Parts { cx, width, bar: None, parts: Vec::with_capacity(48) };
    let is_whole = facet == Facet::Whole;
    if matches!(facet, Facet::Whole | Facet::Decides { alone: true }) {
        parts.head(alert, gone);
    }
    if is_whole || matches!(facet, Facet::Decides { .. }) {
        parts.answer(alert, facts, is_whole);
    }
    if is_whole || facet == Facet::Payment {
        parts.fields(Section::Card, "CARD", alert);
        parts.fields(Section::Transaction, "TRANSACTION", alert);
        parts.fields(Section::Merchant, "MERCHANT", alert);
    }
    if is_whole || matches!(facet, Facet::Own { .. }) {
        parts.of_network(alert, facet == Facet::Own { alone: false });
        parts.webhooks(&facts.deliveries);
    }
    parts.parts
}

impl Parts<'_> {
    fn push(&mut self, line: impl Into<Line<'static>>) {
        self.parts.push(Part { line: line.into(), boxed: self.bar, target: None });
    }

    fn blank(&mut self) {
        self.push(Line::default());
    }

    fn quiet(&mut self, text: &str) {
        self.blank();
        for line in wrap(&sanitize(text), self.width) {
            self.push(Span::styled(line, self.cx.theme.quiet));
        }
    }

    /// A text in as many lines as it takes.
    fn say(&mut self, text: &str, style: Style) {
        for line in wrap(&sanitize(text), self.width) {
            self.push(Span::styled(line, style));
        }
    }

    /// What a key does, in as many lines as it takes, under each other behind the key; a click on it does the same.
    fn offer(&mut self, text: &str, target: Option<Action>) {
        let (key, words) = text.split_at(text.find("  ").map_or(0, |at| at + 2));
        let style = self.cx.theme.accent;
        for line in hanging(Span::styled(key.to_owned(), style), words, style, self.width) {
            self.parts.push(Part { line, boxed: self.bar, target });
        }
    }

    /// A box behind a bar: its title, lines, and what keys do.
    fn callout(&mut self, bar: Style, title: &str, content: impl FnOnce(&mut Self)) {
        self.blank();
        self.bar = Some(bar);
        self.say(title, bar.add_modifier(Modifier::BOLD));
        content(self);
        self.bar = None;
    }

    /// Parts of a line, in as many lines as they take.
    fn spans(&mut self, spans: &[Span<'static>]) {
        wrap_spans(spans, self.width).into_iter().for_each(|line| self.push(line));
    }

    fn head(&mut self, alert: &Alert, gone: bool) {
        let theme = &self.cx.theme;
        let badge = if alert.status == AlertStatus::Open { theme.badge } else { theme.muted };
        let said = |text: String, style| Span::styled(sanitize(&text).into_owned(), style);
        self.spans(&[
            said(alert.provider.to_string(), theme.strong),
            said(format!("  {}  ", alert.alert_type.words()), theme.plain),
            said(format!(" {} ", status_word(alert)), badge),
        ]);
        self.blank();
        let mut line = vec![said(amount(alert), theme.strong), said(format!(" {}    ", alert.currency), theme.quiet)];
        line.extend(self.closing(alert));
        self.spans(&line);
        let snoozed = self.cx.snoozes.until(alert.id).filter(|_| alert.outcome.is_none());
        if let Some(until) = snoozed {
            let (left, until) = (times::short(until - self.cx.now), self.cx.times().at(until, self.cx.now));
            self.say(&format!("snoozed until {until} ({left})"), theme.accent);
        } else if gone {
            self.push(Span::styled("no longer in this list", theme.quiet));
        }
    }

    fn closing(&self, alert: &Alert) -> Vec<Span<'static>> {
        let (theme, now) = (&self.cx.theme, self.cx.now);
        let quiet = |text: String| Span::styled(text, theme.quiet);
        if let Some(outcome) = &alert.outcome {
            let when = outcome.action_time.map_or_else(String::new, |at| format!(" {}", times::ago(at, now)));
            return vec![quiet(format!("answered{when}"))];
        }
        if let Some(at) = alert.expired_at {
            return vec![quiet(format!("expired {}", times::ago(at, now)))];
        }
        let left = times::left(alert, now);
        let style = if left.urgency == Urgency::Today { theme.strong } else { self.cx.urgency(left.urgency) };
        let at = alert.deadline.moment().map(|at| quiet(format!("  {}", self.cx.times().at(at, now))));
        let said = match (left.urgency, alert.alert_type.is_notice()) {
            (Urgency::Over, _) if left.text == "?" => quiet("due time unknown".to_owned()),
            (Urgency::Over, _) => quiet(left.text),
            (_, true) => quiet("no answer expected, ends".to_owned()),
            (_, false) => Span::styled(format!("due in {}", left.text), style),
        };
        std::iter::once(said).chain(at).collect()
    }

    fn label(&self, text: &str) -> Span<'static> {
        let room = (self.width / 3).clamp(12, LABEL);
        Span::styled(format!("{:<width$}", cut(text, room - 1), width = usize::from(room)), self.cx.theme.quiet)
    }

    fn fact(&self, label: impl Into<Cow<'static, str>>, value: impl Into<String>) -> Fact {
        Fact { label: label.into(), value: value.into(), style: self.cx.theme.plain }
    }

    /// A section of facts; those without a value are left out.
    fn section(&mut self, title: &'static str, mut facts: Vec<Fact>) {
        facts.retain(|fact| !fact.value.is_empty());
        if facts.is_empty() {
            return;
        }
        self.blank();
        self.push(Span::styled(title, self.cx.theme.quiet));
        for Fact { label, value, style } in facts {
            // A value that is longer than its line goes on in the next one, under itself.
            let lines = hanging(self.label(&sanitize(&label)), &sanitize(&value), style, self.width);
            lines.into_iter().for_each(|line| self.push(line));
        }
    }

    /// What the network tells of it, and when its window closes where that does not stand above.
    fn of_network(&mut self, alert: &Alert, with_window: bool) {
        let mut facts = self.facts_of(Section::Provider, alert);
        if let (true, None, None, Deadline::At(at)) = (with_window, &alert.outcome, alert.expired_at, alert.deadline) {
            let due = format!("{}, in {}", self.cx.times().minute(at), times::short(at - self.cx.now));
            let behind = facts.iter().position(|fact| fact.label == "alerted").map_or(facts.len(), |at| at + 1);
            facts.insert(behind, self.fact("due", due));
        }
        if alert.provider == Provider::Stripe {
            facts.push(self.fact("deadline", "no network deadline"));
        }
        self.section("NETWORK", facts);
    }

    /// A section of the alert's own fields.
    fn fields(&mut self, section: Section, title: &'static str, alert: &Alert) {
        self.section(title, self.facts_of(section, alert));
    }

    /// The alert's fields of a section: the label of each, and what it shows.
    fn facts_of(&self, section: Section, alert: &Alert) -> Vec<Fact> {
        let of_section =
            |field: &'static Field<Alert>| Some((field, field.shown.filter(|shown| shown.section == section)?));
        let mut fields: Vec<_> = Alert::FIELDS.iter().filter_map(of_section).collect();
        fields.sort_by_key(|(_, shown)| shown.rank);
        let fact = |(field, shown): (&Field<Alert>, Shown)| self.fact(shown.label, self.value(field, alert));
        fields.into_iter().map(fact).collect()
    }

    /// What a field shows, with what its code means.
    fn value(&self, field: &Field<Alert>, alert: &Alert) -> String {
        let value = match &field.kind {
            Kind::Moment(_) if field.name == "transactionTimeStamp" && alert.given_transaction_time().is_none() => {
                alert.transaction_time.map(|_| "not given".to_owned())
            }
            Kind::Moment(moment) => (moment.get)(alert).map(|at| self.cx.times().since(at, self.cx.now)),
            Kind::Id(id) | Kind::Reference(id) => (id.get)(alert).map(|id| id.to_string()),
            Kind::Amount(amount) => (amount.get)(alert).map(|amount| {
                let currency = alert.chargeback_currency.as_ref().unwrap_or(&alert.currency).clone();
                Money { amount, currency }.to_string()
            }),
            Kind::Flag(flag) => (flag.get)(alert).map(|flag| if flag { "yes" } else { "no" }.to_owned()),
            Kind::Word(text) | Kind::Text(text) => match ((text.get)(alert).unwrap_or_default(), field.text.content) {
                (bin, Content::Bin) if bin.is_empty() && alert.card_last_four.is_empty() => None,
                (_, Content::Bin) => Some(masked(alert)),
                (number, _) if field.name == "acquirerReferenceNumber" => Some(in_fours(number)),
                (text, _) => Some(field_value(field.name, text).unwrap_or(text).to_owned()),
            },
        };
        let value = value.unwrap_or_default();
        let words = match field.name {
            "mcc" => merchant_category(&value).map(str::to_owned),
            "reasonCode" => dispute_reason(&value),
            _ => None,
        };
        words.map_or(value.clone(), |words| format!("{value}, {words}"))
    }

    fn outcome(&mut self, alert: &Alert) {
        let Some(outcome) = &alert.outcome else { return };
        let at = outcome.action_time.map(|at| self.cx.times().since(at, self.cx.now));
        let stopped = outcome.amount_stopped.map(|amount| Money { amount, currency: alert.currency.clone() });
        let answer = answer_words(alert, outcome);
        // Of an answer in the older dialect's own words it is a fact of its own; the stored words stand in the JSON.
        let is_told = answer.contains("efunded") || answer.starts_with("Invalid");
        let facts = vec![
            self.fact("answer", answer),
            self.fact("refund", if is_told { "" } else { outcome.refunded.as_str() }),
            self.fact("stopped", stopped.map(|money| money.to_string()).unwrap_or_default()),
            self.fact("at", at.unwrap_or_default()),
            self.fact("comments", outcome.comments.as_str()),
        ];
        self.section("ANSWER", facts);
    }

    fn webhooks(&mut self, deliveries: &Loadable<Vec<Delivery>>) {
        match deliveries {
            Loadable::NotAsked | Loadable::Loading => {}
            Loadable::Failed(error) => self.quiet(&format!("Webhooks not loaded: {error}")),
            Loadable::Loaded(deliveries) => {
                let facts = deliveries.iter().map(|delivery| self.delivery(delivery)).collect();
                self.section("WEBHOOKS", facts);
            }
        }
    }

    /// A delivery: its event, its state, where it goes, and what is known of its attempts.
    fn delivery(&self, delivery: &Delivery) -> Fact {
        let (sign, words, style) = self.cx.delivery_state(delivery.state);
        let address = delivery.url.split_once("://").map_or(delivery.url.as_str(), |(_, address)| address);
        let host = address.split('/').next().unwrap_or_default();
        let known = [format!("{sign} {words}"), host.to_owned()].into_iter().chain(outlook(delivery, self.cx));
        let kind = delivery.kind.as_str().trim_start_matches("alert.").to_owned();
        Fact { style, ..self.fact(kind, known.collect::<Vec<_>>().join(", ")) }
    }
}

/// A long number in groups of four digits.
fn in_fours(number: &str) -> String {
    if number.len() < 12 || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return number.to_owned();
    }
    number.as_bytes().chunks(4).map(|group| String::from_utf8_lossy(group)).collect::<Vec<_>>().join(" ")
}
