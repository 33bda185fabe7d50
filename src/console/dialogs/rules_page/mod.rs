//! The rules on a page: what each one wants and answers, what waits of it, and how it would have done.

mod draw;

use std::collections::HashMap;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers, MouseEventKind};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::console::dialogs::page_keys::{is_everywhere, lead_elsewhere};
use crate::console::idle::{NONE_STAGED, NONE_TOLD, OTHER_PLACE, unless};
use crate::console::rules_file::ReadRules;
use crate::console::screens::ScreenName;
use crate::console::text::counted;
use crate::console::{
    Action, AppContext, ClickTargets, Dialog, Effect, KeyContext, Loadable, Message, Order, Orders, Reply, Tone, dialog,
};
use crate::desk::closing::ClosingAlerts;
use crate::desk::rehearsing::RehearsedDays;
use crate::domain::rule::{DecisionRule, suggestion};
use crate::domain::{AlertFilter, Timestamp};

/// Whose keys it takes.
const CONTEXTS: [KeyContext; 2] = [KeyContext::Rules, KeyContext::Always];

/// So many days are rehearsed.
pub const REHEARSED_DAYS: u32 = 30;

/// What a click can meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Row(usize),
    Do(Action),
}

/// How many alerts wait that a rule wins, as far as one page of the list tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingMatches {
    /// Of those that were read.
    pub won: u64,
    pub read: u64,
    /// How many the list has of what it can be asked for.
    pub total: u64,
    /// Whether there may be more than that, and whether those that were read lapse first.
    pub open_end: bool,
    pub first: bool,
}

impl WaitingMatches {
    /// Whether it is all there are.
    pub fn is_all(self) -> bool {
        self.read >= self.total && !self.open_end
    }
}

/// How far the rehearsal is.
#[derive(Debug, Clone, Default, PartialEq)]
enum Rehearsed {
    #[default]
    NotAsked,
    /// How many of how many were read.
    Running(u64, Option<u64>),
    Done(RehearsedDays, Timestamp),
    Failed(String),
}

/// The page while it is open.
#[derive(Debug, Default)]
pub struct RulesPage {
    at: usize,
    /// By name.
    waiting: HashMap<String, Loadable<WaitingMatches>>,
    /// The rules that were asked for, in the order of the question.
    asked: Vec<String>,
    counted_at: Option<Timestamp>,
    rehearsed: Rehearsed,
    /// The number of the rehearsal.
    rehearsals: u64,
    targets: ClickTargets<Target>,
}

/// Opens it.
pub fn open(cx: &AppContext) -> Orders {
    let mut page = RulesPage::default();
    let asked = page.ask(cx);
    dialog::open(page).into_iter().chain(asked).collect()
}

/// Takes in what the file of rules says by now; where something is wrong with it, the rules of before stay.
pub fn taken(answer: Result<ReadRules, String>, cx: &mut AppContext) -> Orders {
    match answer {
        Ok(ReadRules { rules, place }) => {
            let read = counted(rules.len() as u64, "desk rule", "desk rules");
            cx.notify(Tone::Good, format!("Read again: {read}."));
            (cx.settings.rules, cx.settings.rules_in) = (rules.into(), Some(place));
            cx.rules_read_at = cx.now;
            vec![Message::RulesTaken.into()]
        }
        Err(why) => {
            cx.notify(Tone::Bad, format!("The desk rules of before stay: {why}"));
            Vec::new()
        }
    }
}

impl RulesPage {
    /// Asks what waits of each rule.
    fn ask(&mut self, cx: &AppContext) -> Orders {
        let (mut filters, mut asked): (Vec<AlertFilter>, Vec<String>) = Default::default();
        self.waiting.clear();
        for rule in cx.settings.rules.iter() {
            let counts = match rule.waiting(cx.views.vocabulary) {
                Some(filter) => {
                    filters.push(filter);
                    asked.push(rule.name.clone());
                    Loadable::Loading
                }
                None => Loadable::Loaded(WaitingMatches { won: 0, read: 0, total: 0, open_end: false, first: true }),
            };
            self.waiting.insert(rule.name.clone(), counts);
        }
        self.asked = asked;
        if filters.is_empty() { Vec::new() } else { vec![Effect::ReadForRules(filters).into()] }
    }

    fn take(&mut self, read: &[Reply<ClosingAlerts>], cx: &AppContext) {
        for (name, answer) in self.asked.iter().zip(read) {
            let won = |page: &ClosingAlerts| {
                let wins = |rule: Option<&DecisionRule>| rule.is_some_and(|rule| rule.name == *name);
                let won =
                    page.alerts.iter().filter(|alert| wins(suggestion(&cx.settings.rules, alert, cx.now))).count();
                let ClosingAlerts { alerts, total, first, open_end, .. } = page;
                WaitingMatches {
                    won: won as u64,
                    read: alerts.len() as u64,
                    total: *total,
                    open_end: *open_end,
                    first: *first,
                }
            };
            let known = self.waiting.entry(name.clone()).or_default();
            known.answer(answer.as_ref().map(won).map_err(Clone::clone));
        }
        self.counted_at = Some(cx.now);
    }

    fn rule<'c>(&self, cx: &'c AppContext) -> Option<&'c DecisionRule> {
        cx.settings.rules.get(self.at)
    }

    fn move_to(&mut self, row: usize, cx: &AppContext) {
        self.at = row.min(cx.settings.rules.len().saturating_sub(1));
    }

    fn act(&mut self, action: Action, cx: &mut AppContext) -> Orders {
        match action {
            Action::Back if matches!(self.rehearsed, Rehearsed::Running(..)) => {
                self.rehearsed = Rehearsed::NotAsked;
                return vec![Effect::GiveUpRehearsal.into()];
            }
            Action::Back => return vec![Order::Close],
            Action::Down => self.move_to(self.at + 1, cx),
            Action::Up => self.move_to(self.at.saturating_sub(1), cx),
            Action::PageDown => self.move_to(self.at + 10, cx),
            Action::PageUp => self.move_to(self.at.saturating_sub(10), cx),
            Action::Top => self.move_to(0, cx),
            Action::Bottom => self.move_to(usize::MAX, cx),
            Action::RulesShow => {}
            Action::Refresh => {
                // Whoever let decisions wait wants to be asked once more.
                cx.decisions.ask_again();
                return vec![Effect::ReadRules.into()];
            }
            Action::Rehearse => return self.rehearse(cx),
            Action::Open => return self.list(cx),
            Action::Find | Action::GoToTold => return lead_elsewhere(action),
            action if ScreenName::of(action).is_some() => return lead_elsewhere(action),
            action if is_everywhere(action) => return vec![Order::Act(action)],
            action => cx.hint_idle(action, self.why_idle(action, cx)),
        }
        Vec::new()
    }

    fn rehearse(&mut self, cx: &AppContext) -> Orders {
        if cx.settings.rules.is_empty() || matches!(self.rehearsed, Rehearsed::Running(..)) {
            return Vec::new();
        }
        self.rehearsals += 1;
        self.rehearsed = Rehearsed::Running(0, None);
        vec![Effect::Rehearse(self.rehearsals, cx.settings.rules.clone(), REHEARSED_DAYS, cx.now).into()]
    }

    /// Goes to the Queue with what waits of the rule, which is what its line counts; where it wants nothing that waits,
    /// with all it matches.
    fn list(&self, cx: &mut AppContext) -> Orders {
        let Some(rule) = self.rule(cx).cloned() else { return Vec::new() };
        match cx.views.read(&rule.text) {
            Ok((filter, sort)) => {
                let mut outcome = lead_elsewhere(Action::ShowQueue);
                let filter = rule.waiting(cx.views.vocabulary).unwrap_or(filter);
                outcome.push(Message::List(filter, sort).into());
                outcome
            }
            Err(error) => {
                cx.notify(Tone::Note, format!("The Queue cannot list what {} matches: {error}", rule.name));
                Vec::new()
            }
        }
    }

    fn key(&mut self, key: KeyEvent, cx: &mut AppContext) -> Orders {
        if key.code == KeyCode::Esc && key.modifiers == KeyModifiers::NONE {
            return self.act(Action::Back, cx);
        }
        match cx.settings.keymap.action(&CONTEXTS, key.into()) {
            Some(action) => self.act(action, cx),
            None => {
                cx.hint_unknown(key);
                Vec::new()
            }
        }
    }
}

impl Dialog for RulesPage {
    fn page(&self) -> Option<(Action, &'static str)> {
        Some((Action::RulesShow, "Rules"))
    }

    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        match message {
            Message::Input(Event::Key(key)) => return self.key(*key, cx),
            Message::Input(Event::Mouse(mouse)) => match mouse.kind {
                MouseEventKind::ScrollDown => self.move_to(self.at + 1, cx),
                MouseEventKind::ScrollUp => self.move_to(self.at.saturating_sub(1), cx),
                _ => match self.targets.clicked(&Event::Mouse(*mouse)) {
                    Some(Target::Row(row)) => self.move_to(row, cx),
                    Some(Target::Do(action)) => return self.act(action, cx),
                    None => {}
                },
            },
            Message::ReadForRules(read) => self.take(read, cx),
            Message::RulesTaken => {
                self.move_to(self.at, cx);
                // What was rehearsed were other rules.
                let given_up = matches!(self.rehearsed, Rehearsed::Running(..)).then(|| Effect::GiveUpRehearsal.into());
                self.rehearsed = Rehearsed::NotAsked;
                let asked = self.ask(cx);
                return given_up.into_iter().chain(asked).collect();
            }
            Message::Rehearsing(number, read, total) if *number == self.rehearsals => {
                if matches!(self.rehearsed, Rehearsed::Running(..)) {
                    self.rehearsed = Rehearsed::Running(*read, Some(*total));
                }
            }
            Message::Rehearsed(number, answer) if *number == self.rehearsals => {
                if matches!(self.rehearsed, Rehearsed::Running(..)) {
                    self.rehearsed = match answer {
                        Ok(days) => Rehearsed::Done(days.clone(), cx.now),
                        Err(why) => Rehearsed::Failed(why.clone()),
                    };
                }
            }
            _ => {}
        }
        Vec::new()
    }

    fn contexts(&self) -> &'static [KeyContext] {
        &CONTEXTS
    }

    fn why_idle(&self, action: Action, cx: &AppContext) -> Option<&'static str> {
        use Action::{Back, Bottom, Down, Find, Open, PageDown, PageUp, Refresh, Rehearse, Top, Up};
        match action {
            Down | Up | Top | Bottom | PageDown | PageUp => {
                unless(cx.settings.rules.len() > 1, "there is no other rule")
            }
            Open | Rehearse => unless(!cx.settings.rules.is_empty(), "there is no rule"),
            Action::Undo => unless(!cx.decisions.staged().is_empty(), NONE_STAGED),
            Action::GoToTold => unless(cx.toasts.about().is_some(), NONE_TOLD),
            Back | Find | Refresh => None,
            action => unless(ScreenName::of(action).is_some() || is_everywhere(action), OTHER_PLACE),
        }
    }

    fn takes_questions(&self) -> bool {
        true
    }

    fn act(&mut self, action: Action, cx: &mut AppContext) -> Option<Orders> {
        // What is the same everywhere the application does; nothing else ever goes on to what lies below.
        (!is_everywhere(action)).then(|| self.act(action, cx))
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.draw_all(frame, area, cx);
    }

    fn draw_keys(&self, buffer: &mut Buffer, line: Rect, cx: &AppContext) {
        self.draw_offered(buffer, line, cx);
    }

    fn abandon(&mut self, _: &mut AppContext) -> Vec<Effect> {
        if matches!(self.rehearsed, Rehearsed::Running(..)) { vec![Effect::GiveUpRehearsal] } else { Vec::new() }
    }
}
