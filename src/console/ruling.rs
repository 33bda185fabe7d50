//! What the application does with rules that stage by themselves: it asks for what they match, looks the payments up,
//! and stages what they may.

use std::collections::HashSet;

use chrono::Duration;

use super::app::App;
use super::auto_rules::{Candidate, RuleClaim};
use super::guards::{looked_up_at_once, on_its_payment};
use super::message::OnPayment;
use super::rule_acts::{RuleAct, RuleActs, RuleDesk, grace_of_rules};
use super::rules_file::ReadRules;
use super::text::{count, counted};
use super::{Action, AppContext, Effect, Keep, Message, Orders, Reply, Tone};
use crate::desk::JournalStep;
use crate::desk::closing::ClosingAlerts;
use crate::desk::journal_steps::new_key;
use crate::domain::rule::DecisionRule;
use crate::domain::{Alert, AlertFilter, AlertId, Timestamp, duplicate};
use crate::service::ServiceError;

impl App {
    /// Says what the rules that the profile names do here.
    pub(super) fn introduce_rules(&mut self) {
        let names = self.cx.auto.names().join(", ");
        if !names.is_empty() && self.cx.place.read_only {
            self.cx.notify(
                Tone::Note,
                format!("This place is read-only: the desk rules named for it ({names}) stage nothing."),
            );
        }
    }

    /// Something could not be kept on the desk: what rules did could be forgotten, so they rest.
    pub(super) fn rest_rules(&mut self) {
        if self.cx.auto.act() {
            self.cx.auto.pause(true, self.cx.now);
            let key = self.cx.key(Action::RulesPause);
            self.cx.notify(
                Tone::Bad,
                format!("Rules are paused, because the desk cannot keep what they do; {key} lets them go on."),
            );
        }
    }

    /// Whether rules may ask the service for what they match: nothing speaks of trouble, and what was decided before is
    /// known.
    fn rules_can_ask(&self) -> bool {
        let (cx, link) = (&self.cx, &self.screens.queue.link);
        let is_well =
            link.trouble.is_none() && link.read_at.is_some() && link.left_alone(cx.now).is_none() && !cx.held_back;
        let is_known = !cx.journal.is_loading() && cx.journal.trouble().is_none();
        let is_told = !cx.operator || cx.unfinished.is_known();
        cx.auto.act()
            && !cx.place.read_only
            && !cx.leaving
            && is_well
            && is_known
            && is_told
            && cx.writes.failing.is_none()
    }

    /// Whether rules may stage now: somebody who looks on sees it, and `u` takes back that and nothing else.
    fn rules_can_stage(&self) -> bool {
        let decisions = &self.cx.decisions;
        self.rules_can_ask() && self.dialogs.is_empty() && !self.is_too_small() && !decisions.has_ones_own()
    }

    /// Asks for what the acting rules match, where that is due.
    pub(super) fn ask_for_rules(&mut self) -> Vec<Effect> {
        if self.cx.auto.is_searched() && self.cx.journal.was_read_since(self.cx.auto.began()) {
            let orders = self
                .cx
                .auto
                .take_searched(self.cx.now)
                .map_or_else(Vec::new, |searched| self.stage_by_rules(&searched));
            return self.carry_out(orders);
        }
        if !self.rules_can_stage() {
            return Vec::new();
        }
        let now = self.cx.now;
        let every = self.screens.queue.pace(now);
        if !self.cx.auto.is_due(every, now) {
            return Vec::new();
        }
        // What another console on this desk has decided is left alone too: it is known before anything is staged.
        self.cx.journal.look_now(now);
        let vocabulary = self.cx.views.vocabulary;
        let (names, filters): (Vec<String>, Vec<AlertFilter>) =
            acting(&self.cx).filter_map(|rule| Some((rule.name.clone(), rule.waiting(vocabulary)?))).unzip();
        vec![Effect::ReadForRules(self.cx.auto.begin(names, now), filters)]
    }

    /// When there is something to ask for by itself.
    pub(super) fn next_ruling(&self) -> Option<Timestamp> {
        self.cx.auto.due().filter(|_| self.rules_can_stage())
    }

    /// Takes in what the acting rules match, and what is on those payments.
    pub(super) fn hear_rules(&mut self, message: &Message) -> Orders {
        match message {
            Message::ReadForRules(number, read) => {
                let names = self.cx.auto.take_read(*number, self.cx.now);
                names.map_or_else(Vec::new, |names| self.take_matched(&names, read))
            }
            Message::LookedUpForRules(number, found) => {
                for (id, answer) in found {
                    if let Err(ServiceError::Throttled { wait, .. }) = answer {
                        self.cx.auto.failed(Duration::from_std(*wait).unwrap_or_default(), self.cx.now);
                        return Vec::new();
                    }
                    let twins = |(alert, found): &(Alert, OnPayment)| {
                        let others = on_its_payment(alert, &found.others);
                        (alert.clone(), OnPayment { others, order: found.order })
                    };
                    self.cx.auto.take(*number, *id, answer.as_ref().map(twins).map_err(Clone::clone));
                }
                Vec::new()
            }
            Message::ClaimedForRules(answer) => self.stage_claimed(answer),
            _ => Vec::new(),
        }
    }

    fn take_matched(&mut self, names: &[String], read: &[Reply<ClosingAlerts>]) -> Orders {
        let now = self.cx.now;
        for (answer, name) in read.iter().zip(names) {
            match answer {
                Ok(_) => {}
                Err(ServiceError::InvalidRequest(errors)) => {
                    let why: Vec<String> =
                        errors.iter().map(|error| format!("{} {}", error.field, error.message)).collect();
                    self.tell_once(format!(
                        "Desk rule {name} cannot be asked for here, and does not act: {}.",
                        why.join("; ")
                    ));
                    self.cx.auto.refuse(name);
                }
                Err(error) => {
                    let usual = self.screens.queue.pace(now) * 2;
                    let wait = match error {
                        ServiceError::Throttled { wait, .. } => {
                            Duration::from_std(*wait).map_or(usual, |wait| usual.max(wait))
                        }
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
            matched.filter(|alert| desk.acting_on(alert).is_some() && seen.insert(alert.id)).cloned().collect();
        let (number, candidates) = self.cx.auto.search(candidates, most);
        let asked: Vec<_> = candidates.iter().map(|(alert, _)| (alert.id, duplicate::query(alert))).collect();
        if asked.is_empty() { Vec::new() } else { vec![Effect::LookUpForRules(number, asked).into()] }
    }

    /// Claims what rules may answer of these in the journal.
    fn stage_by_rules(&mut self, candidates: &[Candidate]) -> Orders {
        // Since it was asked, the place may have fallen into trouble, or somebody is about to decide.
        if !self.rules_can_stage() {
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
        let claim = |RuleAct { rule, alert, resolution }| RuleClaim { key: new_key(), rule, alert, resolution };
        let claims: Vec<RuleClaim> = acts.into_iter().map(claim).collect();
        let steps = claims.iter().map(RuleClaim::step).collect();
        cx.auto.claim(claims);
        // Another console of the desk may be about to stage the same: the journal knows who was first.
        vec![Effect::ClaimForRules(cx.journal.mark().clone(), steps).into()]
    }

    /// Stages what is claimed in the journal, together: one undo takes all of it back. What was taken in hand meanwhile
    /// is left to people.
    fn stage_claimed(&mut self, answer: &Result<Vec<String>, String>) -> Orders {
        let mut claims = self.cx.auto.take_claims();
        let won = match answer {
            Ok(won) => won,
            Err(words) => return vec![Message::DeskFailed(words.clone()).into()],
        };
        if won.len() < claims.len() {
            // What others have decided is to be known before the next round.
            self.cx.journal.look_now(self.cx.now);
        }
        claims.retain(|claim| won.contains(&claim.key));
        self.cx.journal.claimed(claims.iter().map(RuleClaim::step).collect(), self.cx.now);
        let (can_stage, in_hand) = (self.rules_can_stage(), self.in_hand());
        let cx = &mut self.cx;
        let is_free = |claim: &RuleClaim| {
            can_stage && !in_hand.contains(&claim.alert.id) && cx.decisions.of(claim.alert.id).is_none()
        };
        let (claims, left): (Vec<RuleClaim>, Vec<RuleClaim>) = claims.into_iter().partition(is_free);
        let mut outcome = Orders::new();
        if !left.is_empty() {
            cx.notify(Tone::Note, format!("Not staged after all, left to you: {}.", counts_in_words(&left)));
            let steps = left.into_iter().map(|claim| JournalStep::TakenBack { decision: claim.key }).collect();
            outcome.push(Effect::Keep(Keep::JournalSteps(steps)).into());
        }
        if claims.is_empty() {
            return outcome;
        }
        let words = counts_in_words(&claims);
        let grace = grace_of_rules(cx.grace());
        let made: Vec<_> = claims.iter().map(|claim| (claim.alert.clone(), claim.resolution.clone())).collect();
        let (number, keys) = cx.decisions.stage_together(made.clone(), false, grace, cx.now);
        let mut rules: Vec<&str> = claims.iter().map(|claim| claim.rule.as_str()).collect();
        rules.sort_unstable();
        rules.dedup();
        let subject = format!("by desk rule {}", rules.join(", "));
        let (leave, them) = if claims.len() == 1 { ("leaves", "it") } else { ("leave", "them") };
        for (key, claim) in keys.iter().zip(claims) {
            cx.decisions.staged_by(*key, claim.rule, claim.key);
        }
        // A rule answers each alert by itself: each is a row of its own.
        cx.runs.begin(number, subject, made, &keys, cx.now);
        let undo = cx.key(Action::Undo);
        cx.notify(
            Tone::Note,
            format!("{words} staged, {leave} in {} s, {undo} takes {them} back", grace.num_seconds()),
        );
        outcome
    }

    /// The alerts that somebody is about to answer: in a form or a case, or marked.
    fn in_hand(&self) -> HashSet<AlertId> {
        let open = self.dialogs.iter().flat_map(|dialog| dialog.in_hand());
        let marked = self.screens.queue.marked.alerts().iter().map(|alert| alert.id);
        open.chain(marked).chain(self.reopening.as_ref().map(|(_, said)| said.alert.id)).collect()
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
                cx.notify(
                    Tone::Good,
                    format!("Read again: {}.", counted(rules.len() as u64, "desk rule", "desk rules")),
                );
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

    /// Pauses the rules that stage by themselves, or lets them go on.
    pub(super) fn pause_rules(&mut self) -> Orders {
        let cx = &mut self.cx;
        let names = cx.auto.names().join(", ");
        if names.is_empty() {
            cx.notify(Tone::Note, "No desk rule stages by itself here: a profile names those that do (auto_rules).");
        } else if cx.place.read_only {
            cx.notify(
                Tone::Note,
                format!("This place is read-only: the desk rules named for it ({names}) stage nothing."),
            );
        } else {
            let paused = !cx.auto.is_paused();
            cx.auto.pause(paused, cx.now);
            let key = cx.key(Action::RulesPause);
            let words = if paused {
                format!(
                    "Rules are paused until {key} lets them go on or this console ends: {names}. What is staged \
                        leaves all the same."
                )
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
    cx.settings.rules.iter().filter(|rule| cx.auto.has(&rule.name))
}

fn rule_desk<'a>(cx: &'a AppContext, in_hand: &'a HashSet<AlertId>) -> RuleDesk<'a> {
    RuleDesk {
        rules: &cx.settings.rules,
        acting: cx.auto.names(),
        read_only: cx.place.read_only,
        dialect: cx.place.dialect,
        grace: grace_of_rules(cx.grace()),
        compares_all: cx.compares_all,
        known: cx.known_decisions(),
        drafts: &cx.drafts,
        snoozes: &cx.snoozes,
        in_hand,
        left: cx.auto.left(),
    }
}

/// `small: 3, gone: 1`
fn counts_in_words(claims: &[RuleClaim]) -> String {
    let mut counts: Vec<(&str, u64)> = Vec::new();
    for claim in claims {
        match counts.iter_mut().find(|(rule, _)| *rule == claim.rule) {
            Some((_, number)) => *number += 1,
            None => counts.push((&claim.rule, 1)),
        }
    }
    counts.iter().map(|(rule, number)| format!("{rule}: {}", count(*number))).collect::<Vec<_>>().join(", ")
}
