//! The dialog in which a person says what became of a decision that the engine cannot find out about.
//!
//! The safe button has the focus, and Enter never says the final word.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::menu::NO_FIELD;
use crate::console::text::{columns, sanitize, wrap};
use crate::console::unfinished::{Stage, in_words};
use crate::console::widgets::buttons::{ButtonKind, button, button_style};
use crate::console::widgets::panel::{Panel, PanelWidth};
use crate::console::{
    AppContext, ClickTargets, Dialog, DrawContext, Effect, Message, Order, Orders, Tone, dialog, times,
};
use crate::domain::{Alert, AlertId, ResolutionAttempt, decide};

/// Columns of the labels.
const LABEL: u16 = 9;

/// A line with its columns that can be clicked: from, to.
type Row = (Line<'static>, Vec<(Target, u16, u16)>);

/// What can be chosen and pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    /// The network applied it.
    Applied,
    /// The network did not apply it.
    NotApplied,
    /// The safe button.
    NotNow,
    /// The button that says the final word.
    SayIt,
}

impl Target {
    const ORDER: [Self; 4] = [Self::Applied, Self::NotApplied, Self::NotNow, Self::SayIt];
}

/// The dialog.
#[derive(Debug)]
pub struct Settle {
    unfinished: ResolutionAttempt,
    alert: Option<Alert>,
    production: bool,
    applied: Option<bool>,
    focus: Target,
    word: Option<String>,
    /// It was settled by somebody else meanwhile.
    gone: bool,
    targets: ClickTargets<Target>,
}

/// Opens the dialog on the decision that waits for a person: that on the wanted alert, else the oldest. `find` knows
/// the alerts of the page.
pub fn open<'a>(wanted: Option<AlertId>, find: impl Fn(AlertId) -> Option<&'a Alert>, cx: &mut AppContext) -> Orders {
    let here = wanted.and_then(|alert| cx.unfinished.parked_on(alert));
    let Some(unfinished) = here.or_else(|| cx.unfinished.parked().next()).cloned() else {
        let words = if cx.operator {
            "No decision waits for a person's word."
        } else {
            "Only the service itself knows which decisions wait for a person's word: ask its operator."
        };
        cx.notify(Tone::Note, words);
        return Vec::new();
    };
    if cx.place.read_only {
        cx.notify(Tone::Note, "This place is read-only: nothing is settled from here.");
        return Vec::new();
    }
    let (id, known) = (unfinished.alert, find(unfinished.alert).cloned());
    let mut outcome = dialog::open(Settle::new(unfinished, known, cx.place.is_production()));
    outcome.push(Effect::Get(id).into());
    outcome
}

impl Settle {
    /// Asks about a parked decision; the alert may come later.
    fn new(unfinished: ResolutionAttempt, alert: Option<Alert>, production: bool) -> Self {
        Self {
            unfinished,
            alert,
            production,
            applied: None,
            focus: Target::NotNow,
            word: None,
            gone: false,
            targets: ClickTargets::default(),
        }
    }

    fn key(&mut self, key: KeyEvent, cx: &mut AppContext) -> Orders {
        self.word = None;
        let command = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        match (key.code, self.focus) {
            (KeyCode::Char('s'), _) if key.modifiers == KeyModifiers::CONTROL => return self.say(cx),
            (KeyCode::Esc, _) | (KeyCode::Enter, Target::NotNow) => return vec![Order::Close],
            (KeyCode::Char(' '), target) => return self.press(target, cx),
            (KeyCode::Enter, Target::SayIt) => {
                self.word = Some("Enter never says the last word. Press space here, or ctrl-s.".to_owned());
            }
            (KeyCode::Enter, _) => self.focus = Target::NotNow,
            (KeyCode::Char('a'), _) if !command => self.choose(true),
            (KeyCode::Char('n'), _) if !command => self.choose(false),
            (KeyCode::Tab | KeyCode::Down | KeyCode::Right, _) => self.step(true),
            (KeyCode::BackTab | KeyCode::Up | KeyCode::Left, _) => self.step(false),
            _ => cx.hint_unknown_over_question(key),
        }
        Vec::new()
    }

    /// A click, or space.
    fn press(&mut self, target: Target, cx: &mut AppContext) -> Orders {
        self.focus = target;
        match target {
            Target::Applied => self.choose(true),
            Target::NotApplied => self.choose(false),
            Target::NotNow => return vec![Order::Close],
            Target::SayIt => return self.say(cx),
        }
        Vec::new()
    }

    fn choose(&mut self, applied: bool) {
        self.applied = Some(applied);
        self.focus = if applied { Target::Applied } else { Target::NotApplied };
    }

    fn step(&mut self, forward: bool) {
        let (at, count) =
            (Target::ORDER.iter().position(|target| *target == self.focus).unwrap_or(0), Target::ORDER.len());
        self.focus = Target::ORDER[(at + if forward { 1 } else { count - 1 }) % count];
    }

    fn say(&mut self, cx: &mut AppContext) -> Orders {
        match self.applied {
            _ if self.gone => {
                self.word = Some("It was settled meanwhile: there is nothing to say any more.".to_owned());
            }
            None => self.word = Some("Choose first what became of it: a or n.".to_owned()),
            Some(applied) => {
                let (attempt, alert) = (self.unfinished.id, self.unfinished.alert);
                cx.unfinished.said(alert);
                return vec![Order::Close, Effect::Settle(attempt, alert, applied).into()];
            }
        }
        Vec::new()
    }

    /// Every line with the columns that can be clicked.
    fn lines(&self, draw: &DrawContext<'_>, width: u16) -> Vec<Row> {
        let theme = draw.theme;
        let mut lines: Vec<Row> = Vec::new();
        let said = in_words(&self.unfinished.resolution);
        let mut title = vec![Span::styled(format!("What became of {}?", sanitize(&said)), theme.strong)];
        if self.production {
            let used: usize = title.iter().map(Span::width).sum();
            title.push(Span::raw(" ".repeat(usize::from(width).saturating_sub(used + 12).max(1))));
            title.push(Span::styled(" PRODUCTION ", theme.production));
        }
        lines.push((title.into(), Vec::new()));
        lines.push((Line::default(), Vec::new()));
        let room = width.saturating_sub(LABEL);
        let mut labelled = |label: &'static str, text: &str, style: Style| {
            for (index, line) in wrap(&sanitize(text), room).into_iter().enumerate() {
                let label = Span::styled(format!("{:<9}", if index == 0 { label } else { "" }), theme.quiet);
                lines.push((Line::from(vec![label, Span::styled(line, style)]), Vec::new()));
            }
        };
        labelled("Alert", &self.about(), theme.plain);
        let (at, now) = (self.unfinished.started_at, draw.now);
        labelled(
            "Sent",
            &format!("{}, {}, by {}", draw.times.full_within(at, 0), times::ago(at, now), self.unfinished.actor),
            theme.plain,
        );
        let comments = self.unfinished.resolution.comments();
        if !comments.is_empty() {
            labelled("Comments", &comments.replace('\n', " / "), theme.plain);
        }
        labelled("Known", &known(&self.unfinished), theme.plain);
        labelled("", "Look at the network's own portal before you answer.", theme.quiet);
        if self.gone {
            labelled("", "It was settled meanwhile.", theme.warning);
        }
        lines.push((Line::default(), Vec::new()));
        for (target, key, words, what) in [
            (Target::Applied, 'a', "the network applied it", self.if_applied()),
            (Target::NotApplied, 'n', "the network did not apply it", self.if_not()),
        ] {
            self.answer(&mut lines, draw, width, (target, key, words), &what);
        }
        lines.push((Line::default(), Vec::new()));
        lines.push(self.buttons(draw));
        let word = self.word.clone().unwrap_or_default();
        lines.push((Line::from(Span::styled(word, theme.warning)), Vec::new()));
        lines
    }

    fn answer(
        &self,
        lines: &mut Vec<Row>,
        draw: &DrawContext<'_>,
        width: u16,
        (target, key, words): (Target, char, &'static str),
        what: &str,
    ) {
        let theme = draw.theme;
        let chosen = self.applied == Some(target == Target::Applied);
        let mark = if chosen { "(•)" } else { "( )" };
        let style = if chosen { theme.strong } else { theme.plain };
        let mut line = Line::from(vec![
            Span::styled(key.to_string(), theme.key),
            Span::styled(format!(" {mark} "), if chosen { theme.key } else { theme.quiet }),
            Span::styled(words, style),
        ]);
        if self.focus == target {
            line = line.patch_style(theme.selection);
        }
        lines.push((line, vec![(target, 0, 6 + columns(words))]));
        for line in wrap(what, width.saturating_sub(6)) {
            lines.push((Line::from(vec![Span::raw("      "), Span::styled(line, theme.quiet)]), Vec::new()));
        }
    }

    fn buttons(&self, draw: &DrawContext<'_>) -> Row {
        let theme = draw.theme;
        let button = |text: &str, target| button(text, self.focus == target);
        let style = |kind, target| button_style(theme, kind, self.focus == target);
        let can_say = self.applied.is_some() && !self.gone;
        let say = if can_say { ButtonKind::Primary } else { ButtonKind::Disabled };
        let spans = vec![
            Span::raw("      "),
            Span::styled(button("Not now", Target::NotNow), style(ButtonKind::Quiet, Target::NotNow)),
            Span::styled("  esc", theme.key),
            Span::raw("    "),
            Span::styled(button("Say so", Target::SayIt), style(say, Target::SayIt)),
            Span::styled("  ctrl-s", theme.key),
            Span::styled("  final", theme.warning),
        ];
        (Line::from(spans), vec![(Target::NotNow, 6, 17), (Target::SayIt, 26, 36)])
    }

    /// The alert in a line.
    fn about(&self) -> String {
        let Some(alert) = &self.alert else { return format!("{}, not loaded yet", self.unfinished.alert) };
        let money = alert.money().map_or_else(String::new, |money| format!("  {money}"));
        let card = match (alert.card_bin.as_str(), alert.card_last_four.as_str()) {
            ("", "") => String::new(),
            (bin, last) => format!("  {bin}··{last}"),
        };
        format!("{} {}{money}{card}  {}", alert.provider, alert.alert_type.words(), alert.provider_id)
    }

    fn if_applied(&self) -> String {
        let next = decide(&self.unfinished.resolution).status;
        match self.alert.as_ref().map(|alert| (&alert.status, &alert.outcome)) {
            Some((status, Some(outcome))) => {
                format!(
                    "The alert has an outcome already ({}) and stays {status}; this is only put on record.",
                    sanitize(&outcome.outcome)
                )
            }
            Some((status, None)) => format!("status {status} → {next}; the outcome is stored."),
            None => format!("status becomes {next}; the outcome is stored."),
        }
    }

    fn if_not(&self) -> String {
        match self.alert.as_ref().and_then(|alert| alert.outcome.as_ref()) {
            Some(_) => "The alert keeps the outcome that it has; this is only put on record.".to_owned(),
            None => "Nothing is stored, and the alert can be answered again. If it did arrive, a new refund is a \
                second one."
                .to_owned(),
        }
    }
}

impl Dialog for Settle {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        match message {
            Message::Input(Event::Key(key)) => return self.key(*key, cx),
            Message::Input(Event::Paste(_)) => cx.notify(Tone::Note, NO_FIELD),
            Message::Input(event) => {
                if let Some(target) = self.targets.clicked(event) {
                    return self.press(target, cx);
                }
            }
            Message::Alert(_, Ok(alert)) if alert.id == self.unfinished.alert => self.alert = Some(alert.clone()),
            Message::Unfinished(Ok(all)) => {
                self.gone |= !all.iter().any(|one| one.id == self.unfinished.id && Stage::of(one) == Stage::Parked);
            }
            _ => {}
        }
        Vec::new()
    }

    fn lost(&self) -> Option<String> {
        let chosen = self.applied.is_some() && !self.gone;
        chosen.then(|| {
            format!("what became of {}, chosen and not said", sanitize(&in_words(&self.unfinished.resolution)))
        })
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.targets.clear();
        let draw = cx.draw_context();
        let panel = Panel::of(PanelWidth::Dialog, area);
        let lines = self.lines(&draw, panel.room());
        let height = u16::try_from(lines.len()).unwrap_or(u16::MAX);
        let inside = panel.open(height, draw.theme, frame.buffer_mut());
        // Where there is no room for all, what is known gives way: the answers and the buttons stand at the end.
        let surplus = lines.len().saturating_sub(usize::from(inside.height));
        let shown =
            lines.iter().enumerate().filter(|(index, _)| !(2..2 + surplus).contains(index)).map(|(_, line)| line);
        for ((line, targets), y) in shown.zip(inside.y..inside.bottom()) {
            frame.buffer_mut().set_line(inside.x, y, line, inside.width);
            for (target, from, to) in targets {
                let right = inside.x.saturating_add(*to).min(inside.right());
                let left = inside.x.saturating_add(*from);
                self.targets.push(Rect { x: left, y, width: right.saturating_sub(left), height: 1 }, *target);
            }
        }
    }
}

/// What the engine knows of it.
fn known(unfinished: &ResolutionAttempt) -> String {
    let detail = unfinished.detail.trim().trim_end_matches('.');
    let looked = match unfinished.checks {
        0 => String::new(),
        1 => "; looked at once".to_owned(),
        many => format!("; looked at {many} times"),
    };
    if detail.is_empty() { format!("nothing of its fate{looked}") } else { format!("{detail}{looked}") }
}
