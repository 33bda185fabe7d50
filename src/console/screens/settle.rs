//! The dialog in which a person says what became of a decision that the engine cannot find out about.
//!
//! The safe button has the focus, and Enter never says the final word.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::console::hits::{Hit, Hits};
use crate::console::look::Look;
use crate::console::text::{clean, columns, wrap};
use crate::console::times;
use crate::console::unsettled::in_words;
use crate::console::widgets::menu::centered;
use crate::domain::{Alert, AlertId, AttemptId, UnsettledResolution, decide};

/// Widest the dialog gets.
const WIDE: u16 = 84;

/// Columns of the labels.
const LABEL: u16 = 9;

/// A line with its columns that can be clicked: from, to.
type Row = (Line<'static>, Vec<(Spot, u16, u16)>);

/// What can be chosen and pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spot {
    /// The network applied it.
    Applied,
    /// The network did not apply it.
    NotApplied,
    /// The safe button.
    NotNow,
    /// The button that says the final word.
    SayIt,
}

impl Spot {
    const ORDER: [Self; 4] = [Self::Applied, Self::NotApplied, Self::NotNow, Self::SayIt];
}

/// What a key did to the dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettleStep {
    /// The dialog has taken it.
    Stay,
    /// Not for the dialog.
    Ignored,
    /// Close it; nothing was said.
    Close,
    /// A person's word: whether the network applied the decision.
    Settle(bool),
}

/// The dialog.
#[derive(Debug)]
pub struct Settle {
    unsettled: UnsettledResolution,
    alert: Option<Alert>,
    production: bool,
    applied: Option<bool>,
    focus: Spot,
    word: Option<String>,
    /// It was settled by somebody else meanwhile.
    gone: bool,
}

impl Settle {
    /// Asks about a parked decision; the alert may come later.
    pub fn new(unsettled: UnsettledResolution, alert: Option<Alert>, production: bool) -> Self {
        Self { unsettled, alert, production, applied: None, focus: Spot::NotNow, word: None, gone: false }
    }

    /// Which decision.
    pub fn attempt(&self) -> AttemptId {
        self.unsettled.id
    }

    /// On which alert.
    pub fn alert_id(&self) -> AlertId {
        self.unsettled.alert
    }

    /// Takes the alert as it is now.
    pub fn set_alert(&mut self, alert: &Alert) {
        if alert.id == self.unsettled.alert {
            self.alert = Some(alert.clone());
        }
    }

    /// The decision no longer waits for a person.
    pub fn set_gone(&mut self) {
        self.gone = true;
    }

    /// Applies a key.
    pub fn key(&mut self, key: KeyEvent) -> SettleStep {
        self.word = None;
        let command = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        match (key.code, self.focus) {
            (KeyCode::Char('s'), _) if key.modifiers == KeyModifiers::CONTROL => return self.say(),
            (KeyCode::Esc, _) | (KeyCode::Enter, Spot::NotNow) => return SettleStep::Close,
            (KeyCode::Char(' '), spot) => return self.press(spot),
            (KeyCode::Enter, Spot::SayIt) => self.word = Some("Enter never says the last word. Press space here, or ctrl-s.".to_owned()),
            (KeyCode::Enter, _) => self.focus = Spot::NotNow,
            (KeyCode::Char('a' | 'n' | '?'), _) if command => return SettleStep::Ignored,
            (KeyCode::Char('a'), _) => self.choose(true),
            (KeyCode::Char('n'), _) => self.choose(false),
            (KeyCode::Tab | KeyCode::Down | KeyCode::Right, _) => self.step(true),
            (KeyCode::BackTab | KeyCode::Up | KeyCode::Left, _) => self.step(false),
            _ => return SettleStep::Ignored,
        }
        SettleStep::Stay
    }

    /// A click, or space.
    pub fn press(&mut self, spot: Spot) -> SettleStep {
        self.focus = spot;
        match spot {
            Spot::Applied => self.choose(true),
            Spot::NotApplied => self.choose(false),
            Spot::NotNow => return SettleStep::Close,
            Spot::SayIt => return self.say(),
        }
        SettleStep::Stay
    }

    fn choose(&mut self, applied: bool) {
        self.applied = Some(applied);
        self.focus = if applied { Spot::Applied } else { Spot::NotApplied };
    }

    fn step(&mut self, forward: bool) {
        let (at, count) = (Spot::ORDER.iter().position(|spot| *spot == self.focus).unwrap_or(0), Spot::ORDER.len());
        self.focus = Spot::ORDER[(at + if forward { 1 } else { count - 1 }) % count];
    }

    fn say(&mut self) -> SettleStep {
        match self.applied {
            _ if self.gone => self.word = Some("It was settled meanwhile: there is nothing to say any more.".to_owned()),
            None => self.word = Some("Choose first what became of it: a or n.".to_owned()),
            Some(applied) => return SettleStep::Settle(applied),
        }
        SettleStep::Stay
    }

    /// Draws the dialog over the screen.
    pub fn draw(&self, look: &Look<'_>, frame: &mut Frame<'_>, area: Rect, hits: &mut Hits) {
        let width = WIDE.min(area.width);
        let lines = self.lines(look, width.saturating_sub(4));
        let height = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(2);
        let panel = centered(area, width, height.min(area.height));
        let inside = look.theme.open_form(frame.buffer_mut(), panel);
        hits.push(panel, Hit::Inside);
        // Where there is no room for all, what is known gives way: the answers and the buttons stand at the end.
        let surplus = lines.len().saturating_sub(usize::from(inside.height));
        let shown = lines.iter().enumerate().filter(|(index, _)| !(2..2 + surplus).contains(index)).map(|(_, line)| line);
        for ((line, spots), y) in shown.zip(inside.y..inside.bottom()) {
            frame.buffer_mut().set_line(inside.x, y, line, inside.width);
            for (spot, from, to) in spots {
                let right = inside.x.saturating_add(*to).min(inside.right());
                let left = inside.x.saturating_add(*from);
                hits.push(Rect { x: left, y, width: right.saturating_sub(left), height: 1 }, Hit::Settle(*spot));
            }
        }
    }

    /// Every line with the columns that can be clicked.
    fn lines(&self, look: &Look<'_>, width: u16) -> Vec<Row> {
        let theme = look.theme;
        let mut lines: Vec<Row> = Vec::new();
        let said = in_words(&self.unsettled.resolution);
        let mut title = vec![Span::styled(format!("What became of {}?", clean(&said)), theme.strong)];
        if self.production {
            let used: usize = title.iter().map(Span::width).sum();
            title.push(Span::raw(" ".repeat(usize::from(width).saturating_sub(used + 12).max(1))));
            title.push(Span::styled(" PRODUCTION ", theme.production));
        }
        lines.push((title.into(), Vec::new()));
        lines.push((Line::default(), Vec::new()));
        let room = width.saturating_sub(LABEL);
        let mut labelled = |label: &'static str, text: &str, style: Style| {
            for (index, line) in wrap(&clean(text), room).into_iter().enumerate() {
                let label = Span::styled(format!("{:<9}", if index == 0 { label } else { "" }), theme.quiet);
                lines.push((Line::from(vec![label, Span::styled(line, style)]), Vec::new()));
            }
        };
        labelled("Alert", &self.about(), theme.plain);
        let (at, now) = (self.unsettled.started_at, look.now);
        labelled("Sent", &format!("{}, {}, by {}", times::utc(at), times::ago(at, now), self.unsettled.actor), theme.plain);
        let comments = self.unsettled.resolution.comments();
        if !comments.is_empty() {
            labelled("Comments", &comments.replace('\n', " / "), theme.plain);
        }
        labelled("Known", &known(&self.unsettled), theme.plain);
        labelled("", "Look at the network's own portal before you answer.", theme.quiet);
        if self.gone {
            labelled("", "It was settled meanwhile.", theme.warning);
        }
        lines.push((Line::default(), Vec::new()));
        for (spot, key, words, what) in [
            (Spot::Applied, 'a', "the network applied it", self.if_applied()),
            (Spot::NotApplied, 'n', "the network did not apply it", self.if_not()),
        ] {
            self.answer(&mut lines, look, width, (spot, key, words), &what);
        }
        lines.push((Line::default(), Vec::new()));
        lines.push(self.buttons(look));
        let word = self.word.clone().unwrap_or_default();
        lines.push((Line::from(Span::styled(word, theme.warning)), Vec::new()));
        lines
    }

    fn answer(&self, lines: &mut Vec<Row>, look: &Look<'_>, width: u16, (spot, key, words): (Spot, char, &'static str), what: &str) {
        let theme = look.theme;
        let chosen = self.applied == Some(spot == Spot::Applied);
        let mark = if chosen { "(•)" } else { "( )" };
        let style = if chosen { theme.strong } else { theme.plain };
        let mut line = Line::from(vec![
            Span::styled(key.to_string(), theme.key),
            Span::styled(format!(" {mark} "), if chosen { theme.key } else { theme.quiet }),
            Span::styled(words, style),
        ]);
        if self.focus == spot {
            line = line.patch_style(theme.selection);
        }
        lines.push((line, vec![(spot, 0, 6 + columns(words))]));
        for line in wrap(what, width.saturating_sub(6)) {
            lines.push((Line::from(vec![Span::raw("      "), Span::styled(line, theme.quiet)]), Vec::new()));
        }
    }

    fn buttons(&self, look: &Look<'_>) -> Row {
        let theme = look.theme;
        let button = |text: &str, spot| if self.focus == spot { format!("[ {text} ]") } else { format!("  {text}  ") };
        let can_say = self.applied.is_some() && !self.gone;
        let spans = vec![
            Span::raw("      "),
            Span::styled(button("Not now", Spot::NotNow), theme.button),
            Span::styled("  esc", theme.key),
            Span::raw("      "),
            Span::styled(button("Say so", Spot::SayIt), if can_say { theme.primary } else { theme.muted }),
            Span::styled("  ctrl-s", theme.key),
            Span::styled("  final", theme.warning),
        ];
        (Line::from(spans), vec![(Spot::NotNow, 6, 17), (Spot::SayIt, 28, 38)])
    }

    /// The alert in a line.
    fn about(&self) -> String {
        let Some(alert) = &self.alert else { return format!("{}, not loaded yet", self.unsettled.alert) };
        let money = alert.money().map_or_else(String::new, |money| format!("  {money}"));
        let card = match (alert.card_bin.as_str(), alert.card_last_four.as_str()) {
            ("", "") => String::new(),
            (bin, last) => format!("  {bin}··{last}"),
        };
        format!("{} {}{money}{card}  {}", alert.provider, alert.alert_type.words(), alert.provider_id)
    }

    fn if_applied(&self) -> String {
        let next = decide(&self.unsettled.resolution).status;
        match self.alert.as_ref().map(|alert| (&alert.status, &alert.outcome)) {
            Some((status, Some(outcome))) => {
                format!("The alert has an outcome already ({}) and stays {status}; this is only put on record.", clean(&outcome.outcome))
            }
            Some((status, None)) => format!("status {status} → {next}; the outcome is stored, the webhook sent."),
            None => format!("status becomes {next}; the outcome is stored, the webhook sent."),
        }
    }

    fn if_not(&self) -> String {
        match self.alert.as_ref().and_then(|alert| alert.outcome.as_ref()) {
            Some(_) => "The alert keeps the outcome that it has; this is only put on record.".to_owned(),
            None => "Nothing is stored, and the alert can be answered again. If it did arrive, a new refund is a second one.".to_owned(),
        }
    }
}

/// What the engine knows of it.
fn known(unsettled: &UnsettledResolution) -> String {
    let detail = unsettled.detail.trim().trim_end_matches('.');
    let looked = match unsettled.checks {
        0 => String::new(),
        1 => "; looked at once".to_owned(),
        many => format!("; looked at {many} times"),
    };
    if detail.is_empty() { format!("nothing of its fate{looked}") } else { format!("{detail}{looked}") }
}
