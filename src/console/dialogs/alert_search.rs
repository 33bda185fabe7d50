//! A search over all fields of all alerts while one types: when it is asked for, what came of it, and how an alert that was found is written.

use std::borrow::Cow;

use chrono::Duration;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::text::{Line, Span};

use crate::console::screens::queue::columns::{Column, amount};
use crate::console::text::{columns, cut, sanitize};
use crate::console::{AppContext, Effect, Orders, Reply, times};
use crate::desk::find::FoundAlerts;
use crate::domain::find::FindField;
use crate::domain::{Alert, FindQuery, Timestamp};

/// Typing rests so long before it is searched for, and so long while an earlier search has not come back.
const REST: [Duration; 2] = [Duration::milliseconds(25), Duration::milliseconds(90)];

/// The same at a deployment that has to be asked for each word by itself.
const LONG_REST: Duration = Duration::milliseconds(350);

/// Columns for the time left or the state, the network, the money, the field that matched, and the card.
const LEFT: u16 = 10;
const NETWORK: u16 = 7;
const MONEY: u16 = 16;
const FIELD: u16 = 38;
const CARD: u16 = 14;

/// A search for alerts by what is being typed.
#[derive(Debug, Default)]
pub struct AlertSearch {
    /// When it is searched for what is typed.
    due: Option<Timestamp>,
    /// The search that is on its way.
    asked: Option<FindQuery>,
    /// The newest answer, and what it is an answer to.
    shown: Option<(FindQuery, Reply<FoundAlerts>)>,
    /// Why what is typed cannot be searched for.
    wrong: Option<String>,
}

impl AlertSearch {
    /// A search that is due at a moment.
    pub fn due_at(due: Timestamp) -> Self {
        Self { due: Some(due), ..Self::default() }
    }

    /// Something was typed: it is searched for when typing rests.
    pub fn typed(&mut self, cx: &AppContext) {
        let rest = if cx.operator { REST[usize::from(self.asked.is_some())] } else { LONG_REST };
        self.due = Some(cx.now + rest);
    }

    /// Searches for a text.
    pub fn search(&mut self, text: &str) -> Orders {
        self.due = None;
        self.asked = None;
        self.wrong = None;
        if text.trim().is_empty() {
            self.shown = None;
            return Vec::new();
        }
        match FindQuery::parse(text) {
            Ok(query) if self.shown.as_ref().is_some_and(|(known, answer)| *known == query && answer.is_ok()) => Vec::new(),
            Ok(query) => {
                self.asked = Some(query.clone());
                vec![Effect::Find(query).into()]
            }
            Err(why) => {
                self.wrong = Some(why);
                self.shown = None;
                Vec::new()
            }
        }
    }

    /// Takes an answer in; whether it is the one that is waited for.
    pub fn answered(&mut self, query: &FindQuery, answer: &Reply<FoundAlerts>) -> bool {
        if self.asked.as_ref() != Some(query) {
            return false;
        }
        self.asked = None;
        self.shown = Some((query.clone(), answer.clone()));
        true
    }

    /// When it is searched for what is typed.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.due
    }

    /// Whether a search is on its way.
    pub fn is_under_way(&self) -> bool {
        self.asked.is_some()
    }

    /// Whether what is shown is the answer to what is typed.
    pub fn is_current(&self) -> bool {
        self.due.is_none() && self.asked.is_none()
    }

    /// Why what is typed cannot be searched for.
    pub fn wrong(&self) -> Option<&str> {
        self.wrong.as_deref()
    }

    /// The newest answer, and what it is an answer to.
    pub fn shown(&self) -> Option<&(FindQuery, Reply<FoundAlerts>)> {
        self.shown.as_ref()
    }

    /// What was found last.
    pub fn alerts(&self) -> &[Alert] {
        match &self.shown {
            Some((_, Ok(found))) => &found.alerts,
            _ => &[],
        }
    }

    /// What could not be searched; the last sentence says it of the whole deployment.
    pub fn limits(&self) -> &[String] {
        match &self.shown {
            Some((_, Ok(found))) => &found.limits[found.limits.len().saturating_sub(2)..],
            _ => &[],
        }
    }
}

/// An alert in so many columns: what it is known by first, as much else as there is room for.
pub fn line<'l>(alert: &Alert, query: &FindQuery, found: &FoundAlerts, room: u16, cx: &AppContext) -> Line<'l> {
    let theme = &cx.theme;
    let (left, style) = if alert.is_over() {
        (sanitize(alert.status.as_str()).to_lowercase(), theme.quiet)
    } else {
        let left = times::left(alert, cx.now);
        (left.text, cx.draw_context().urgency(left.urgency))
    };
    let (value, strong) = if alert.is_over() { (theme.quiet, theme.plain) } else { (theme.plain, theme.strong) };
    let money = format!("{} {}", amount(alert), sanitize(alert.currency.as_str()));
    let mut spans = vec![
        Span::styled(cell(&left, LEFT), style),
        Span::styled(cell(&sanitize(alert.provider.as_str()), NETWORK), value),
        Span::styled(format!("{}{money}  ", blanks(MONEY.saturating_sub(columns(&money)))), value),
    ];
    let mut room = room.saturating_sub(LEFT + NETWORK + MONEY + 6);
    let mut last = Column::Descriptor;
    let order = || {
        let (order_id, confidence) = found.order_of(alert.id)?;
        Some(FindField { label: "order", value: Cow::Owned(format!("{order_id}, {} match", confidence.words())) })
    };
    if let Some(field) = query.best_field(alert).or_else(order) {
        // What stands here already is not said twice.
        if field.value == alert.merchant_descriptor {
            last = Column::Order;
        }
        let name = format!("{} ", field.label);
        let width = FIELD.min(room).saturating_sub(columns(&name));
        spans.push(Span::styled(name, theme.quiet));
        spans.push(Span::styled(cell(&sanitize(&field.value), width), strong));
        room = room.saturating_sub(FIELD + 2);
    }
    if room >= CARD {
        spans.push(Span::styled(cell(&Column::Card.text(alert, CARD, cx.times(), cx.now), CARD), theme.quiet));
        let width = room.saturating_sub(CARD + 2);
        spans.push(Span::styled(cut(&last.text(alert, width, cx.times(), cx.now), width).into_owned(), theme.quiet));
    }
    Line::from(spans)
}

fn blanks(columns: u16) -> String {
    " ".repeat(columns.into())
}

/// A text in so many columns, and two blank ones.
fn cell(text: &str, width: u16) -> String {
    let text = cut(text, width);
    format!("{text}{}", blanks(width.saturating_sub(columns(&text)) + 2))
}

/// Whether a key goes to the field: what is a letter, and what edits a line. Letters by AltGr come with both control and alt.
pub fn is_typed(key: &KeyEvent) -> bool {
    let both = KeyModifiers::CONTROL | KeyModifiers::ALT;
    let plain = !key.modifiers.intersects(both) || key.modifiers.contains(both);
    let edits = key.modifiers == KeyModifiers::CONTROL && matches!(key.code, KeyCode::Char('a' | 'e' | 'k' | 'u' | 'w'));
    match key.code {
        KeyCode::Char(_) => plain || edits,
        code => matches!(code, KeyCode::Backspace | KeyCode::Delete | KeyCode::Left | KeyCode::Right),
    }
}
