//! What the application does with rules that stage by themselves: it asks for what they match, looks the payments up, and stages what they may.

use std::collections::HashSet;

use chrono::Duration;

use super::app::App;
use super::auto_rules::Candidate;
use super::guards::{KnownDecisions, looked_up_at_once, on_its_payment};
use super::resolving::staged;
use super::rule_acts::{RuleAct, RuleActs, RuleDesk, grace_of_rules};
use super::rules_file::ReadRules;
use super::text::counted;
use super::{Action, AppContext, Effect, Loadable, Message, Orders, Reply, Tone};
use crate::desk::closing::ClosingAlerts;
use crate::domain::rule::DecisionRule;
use crate::domain::{Alert, AlertFilter, AlertId, Timestamp, duplicate};
use crate::service::ServiceError;

impl App {
    /// Says what the rules that the profile names do here.
    pub(super) fn introduce_rules(&mut self) {
        let names = self.cx.auto.names().join(", ");
        if !names.is_empty() && self.cx.place.read_only {
            self.cx.notify(Tone::Note, format!("This place is read-only: the rules named for it ({names}) stage nothing."));
        }
    }

    /// Whether rules may ask the service for what they match: nothing speaks of trouble, and what was decided before is known.
    fn rules_can_ask(&self) -> bool {
        let (cx, link) = (&self.cx, &self.screens.queue.link);
        let is_well = link.trouble.is_none() && link.read_at.is_some() && link.left_alone(cx.now).is_none() && !cx.offline;
        let is_known = !cx.journal.is_loading() && cx.journal.trouble().is_none();
        cx.auto.act() && !cx.place.read_only && !cx.leaving && is_well && is_known && cx.writes.failing.is_none()
    }

    /// Asks for what the acting rules match, where that is due.
    pub(super) fn ask_for_rules(&mut self) -> Vec<Effect> {
        if !self.rules_can_ask() {
            return Vec::new();
        }
        let now = self.cx.now;
        let every = self.screens.queue.pace(now);
        let Some(number) = self.cx.auto.begin(every, now) else { return Vec::new() };
        // What another console on this desk has decided is left alone too.
        self.cx.journal.look(now);
        let filters: Vec<AlertFilter> = acting(&self.cx).filter_map(|rule| rule.waiting(self.cx.views.vocabulary)).collect();
        vec![Effect::ReadForRules(number, filters)]
    }

    /// When there is something to ask for by itself.
    pub(super) fn next_ruling(&self) -> Option<Timestamp> {
        self.cx.auto.due().filter(|_| self.rules_can_ask())
    }

    /// Takes in what the acting rules match, and what is on those payments.
    pub(super) fn hear_rules(&mut self, message: &Message) -> Orders {
        match message {
            Message::ReadForRules(number, read) if self.cx.auto.reads(*number) => self.take_matched(read),
            Message::SameCards(found) => {
                for (id, answer) in found {
                    self.cx.auto.take(*id, |alert| {
                        let mut others = Loadable::Loading;
                        others.answer(on_its_payment(alert, answer));
                        others
                    });
                }
                let searched = self.cx.auto.take_searched();
                searched.map_or_else(Vec::new, |searched| self.stage_by_rules(&searched))
            }
            _ => Vec::new(),
        }
    }

    fn take_matched(&mut self, read: &[Reply<ClosingAlerts>]) -> Orders {
        let now = self.cx.now;
        let names: Vec<String> =
            acting(&self.cx).filter(|rule| rule.waiting(self.cx.views.vocabulary).is_some()).map(|rule| rule.name.clone()).collect();
        for (answer, name) in read.iter().zip(names) {
            match answer {
                Ok(_) => {}
                Err(ServiceError::InvalidRequest(errors)) => {
                    let why: Vec<String> = errors.iter().map(|error| format!("{} {}", error.field, error.message)).collect();
                    self.tell_once(format!("Rule {name} cannot be asked for here, and does not act: {}.", why.join("; ")));
                }
                Err(error) => {
                    let usual = self.screens.queue.pace(now) * 2;
                    let wait = match error {
                        ServiceError::Throttled { wait, .. } => Duration::from_std(*wait).map_or(usual, |wait| usual.max(wait)),
                        _ => usual,
                    };
                    self.cx.auto.failed(wait, now);
                    return Vec::new();
                }
            }
        }
        let in_hand = self.in_hand();
        let desk = rule_desk(&self.cx, &in_hand);
        let most = looked_up_at_once(self.cx.compares_all);
        let mut seen: HashSet<AlertId> = HashSet::new();
        let matched = read.iter().flatten().flat_map(|page| &page.alerts);
        let candidates: Vec<Alert> =
            matched.filter(|alert| desk.acting_on(alert).is_some() && seen.insert(alert.id)).take(most).cloned().collect();
        let asked: Vec<_> = candidates.iter().map(|alert| (alert.id, duplicate::query(alert))).collect();
        self.cx.auto.search(candidates, now);
        if asked.is_empty() { Vec::new() } else { vec![Effect::SameCards(asked).into()] }
    }

    /// Stages what rules may answer of these, together: one undo takes all of it back.
    fn stage_by_rules(&mut self, candidates: &[Candidate]) -> Orders {
        // Since it was asked, the place may have fallen into trouble.
        if !self.rules_can_ask() {
            return Vec::new();
        }
        let in_hand = self.in_hand();
        let RuleActs { staged: acts, left, unsaid } = rule_desk(&self.cx, &in_hand).acts(candidates);
        unsaid.into_iter().for_each(|words| self.tell_once(words));
        let cx = &mut self.cx;
        cx.auto.leave(left);
        if acts.is_empty() {
            return Vec::new();
        }
        let words = counts_in_words(&acts);
        let grace = grace_of_rules(cx.grace());
        let made: Vec<_> = acts.iter().map(|act| (act.alert.clone(), act.resolution.clone())).collect();
        let (number, keys) = cx.decisions.stage_together(made.clone(), false, grace, cx.now);
        for (key, act) in keys.iter().zip(&acts) {
            cx.decisions.staged_by(*key, act.rule.clone());
        }
        let mut rules: Vec<&str> = acts.iter().map(|act| act.rule.as_str()).collect();
        rules.sort_unstable();
        rules.dedup();
        cx.runs.begin(number, format!("by rule {}", rules.join(", ")), made, &keys, cx.now);
        let (leave, them) = if acts.len() == 1 { ("leaves", "it") } else { ("leave", "them") };
        let undo = cx.key(Action::Undo);
        cx.notify(Tone::Note, format!("{words} staged, {leave} in {} s, {undo} takes {them} back", grace.num_seconds()));
        staged(&keys, cx)
    }

    /// The alerts that somebody is about to answer: in a form or a case, or marked.
    fn in_hand(&self) -> HashSet<AlertId> {
        let open = self.dialogs.iter().flat_map(|dialog| dialog.in_hand());
        let marked = self.screens.queue.marked.alerts().iter().map(|alert| alert.id);
        open.chain(marked).chain(self.reopening.map(|(alert, _)| alert)).collect()
    }

    fn tell_once(&mut self, words: String) {
        if self.cx.auto.is_news(&words) {
            self.cx.notify(Tone::Bad, words);
        }
    }

    /// Takes in what the file of rules says by now; where something is wrong with it, the rules of before stay.
    pub(super) fn take_rules(&mut self, answer: Result<ReadRules, String>) -> Orders {
        let cx = &mut self.cx;
        match answer {
            Ok(ReadRules { rules, place }) => {
                cx.notify(Tone::Good, format!("Read again: {}.", counted(rules.len() as u64, "rule", "rules")));
                (cx.settings.rules, cx.settings.rules_in) = (rules.into(), Some(place));
                cx.rules_read_at = cx.now;
                vec![Message::RulesTaken.into()]
            }
            Err(why) => {
                cx.notify(Tone::Bad, format!("The rules of before stay: {why}"));
                Vec::new()
            }
        }
    }

    /// Pauses the rules that stage by themselves, or lets them go on.
    pub(super) fn pause_rules(&mut self) -> Orders {
        let cx = &mut self.cx;
        let names = cx.auto.names().join(", ");
        if names.is_empty() {
            cx.notify(Tone::Note, "No rule stages by itself here: a profile names those that do (auto_rules).");
        } else if cx.place.read_only {
            cx.notify(Tone::Note, format!("This place is read-only: the rules named for it ({names}) stage nothing."));
        } else {
            let paused = !cx.auto.is_paused();
            cx.auto.pause(paused, cx.now);
            let key = cx.key(Action::RulesPause);
            let words = if paused {
                format!("Rules are paused until {key} lets them go on or this console ends: {names}. What is staged leaves all the same.")
            } else {
                format!("Rules act again: {names}.")
            };
            cx.notify(Tone::Note, words);
        }
        Vec::new()
    }
}

/// The rules that act, in their order.
fn acting(cx: &AppContext) -> impl Iterator<Item = &DecisionRule> {
    let names = cx.auto.names();
    cx.settings.rules.iter().filter(|rule| names.iter().any(|name| name.eq_ignore_ascii_case(&rule.name)))
}

fn rule_desk<'a>(cx: &'a AppContext, in_hand: &'a HashSet<AlertId>) -> RuleDesk<'a> {
    RuleDesk {
        rules: &cx.settings.rules,
        acting: cx.auto.names(),
        read_only: cx.place.read_only,
        dialect: cx.place.dialect,
        grace: grace_of_rules(cx.grace()),
        compares_all: cx.compares_all,
        known: KnownDecisions::of(cx),
        history: cx.journal.history(),
        drafts: &cx.drafts,
        snoozes: &cx.snoozes,
        in_hand,
        left: cx.auto.left(),
    }
}

/// `small: 3, gone: 1`
fn counts_in_words(acts: &[RuleAct]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for act in acts {
        match counts.iter_mut().find(|(rule, _)| *rule == act.rule) {
            Some((_, count)) => *count += 1,
            None => counts.push((&act.rule, 1)),
        }
    }
    counts.iter().map(|(rule, count)| format!("{rule}: {count}")).collect::<Vec<_>>().join(", ")
}
