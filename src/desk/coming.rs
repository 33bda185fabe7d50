//! Coming decisions: those in the journal that may still land, of every console on the desk, by what each wrote last.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use uuid::Uuid;

use super::history::DecisionFate;
use super::journal_steps::{JournalAlert, JournalEntry, JournalStep};
use super::known_answers::KnownAnswer;
use crate::domain::time::from_iso;
use crate::domain::{Alert, AlertId, Resolution};

/// Stage of a coming decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComingStage {
    /// Made; it has not left.
    Staged,
    /// Sent, and its answer is not here.
    Sent,
    /// Unconfirmed: it is not known whether it arrived.
    Unknown,
}

/// A decision in the journal that may still land.
#[derive(Debug, Clone, PartialEq)]
pub struct ComingDecision {
    /// Idempotency key.
    pub key: String,
    pub alert: JournalAlert,
    pub resolution: Resolution,
    /// The console that made it.
    pub session: Uuid,
    pub stage: ComingStage,
}

/// The decisions in a journal that may still land, in the order in which they were made.
#[derive(Debug, Clone, Default)]
pub struct ComingDecisions {
    all: Vec<ComingDecision>,
    /// The keys of those that had not left when another one on their alert was recorded.
    overtaken: HashSet<String>,
    /// Alert and resolution of those that no longer come, by key: more may be told of their alerts.
    ended: HashMap<String, (AlertId, Resolution)>,
    /// The answers to alerts that decisions came to.
    answers: HashMap<AlertId, KnownAnswer>,
}

impl ComingDecisions {
    /// Takes the next entry in.
    pub fn take(&mut self, entry: &JournalEntry) {
        match &entry.step {
            JournalStep::Staged { decision, said, .. } => {
                if let Some(resolution) = said.resolution() {
                    let (key, alert, session) = (decision.clone(), said.alert.clone(), entry.session);
                    self.all.push(ComingDecision { key, alert, resolution, session, stage: ComingStage::Staged });
                }
            }
            JournalStep::Sent { decision } => self.put(decision, ComingStage::Sent),
            JournalStep::NotSent { decision, .. } => self.put(decision, ComingStage::Staged),
            JournalStep::Unknown { decision, .. } => self.put(decision, ComingStage::Unknown),
            JournalStep::TakenBack { decision }
            | JournalStep::Refused { decision, .. }
            | JournalStep::Read { decision } => {
                let ended = self.all.extract_if(.., |coming| coming.key == *decision);
                self.ended.extend(ended.map(|coming| (coming.key, (coming.alert.id, coming.resolution))));
                self.overtaken.remove(decision);
            }
            JournalStep::Recorded { decision, status } => {
                self.answered(decision, &DecisionFate::Recorded(status.clone()), &entry.at);
            }
            JournalStep::AsDecided { decision, status } => {
                self.answered(decision, &DecisionFate::AsDecided(status.clone()), &entry.at);
            }
            JournalStep::Overtaken { decision, status } => {
                self.answered(decision, &DecisionFate::Overtaken(status.clone()), &entry.at);
            }
            JournalStep::Answered { decision, status } => {
                self.answered(decision, &DecisionFate::Answered(status.clone()), &entry.at);
            }
            JournalStep::Unlooked { .. }
            | JournalStep::Settled { .. }
            | JournalStep::Typing { .. }
            | JournalStep::Closed { .. }
            | JournalStep::Dismissed { .. }
            | JournalStep::RunDismissed { .. }
            | JournalStep::Notified { .. } => {}
        }
    }

    /// The alert of a decision has its outcome: none of the others on it lands any more.
    fn answered(&mut self, decision: &str, fate: &DecisionFate, at: &str) {
        let coming =
            self.all.iter().find(|coming| coming.key == decision).map(|coming| (coming.alert.id, &coming.resolution));
        let ended = || self.ended.get(decision).map(|(alert, resolution)| (*alert, resolution));
        let Some((alert, said)) = coming.or_else(ended) else { return };
        if let Some(answer) = KnownAnswer::of(Some(said), fate, from_iso(at).unwrap_or_default()) {
            let earlier = self.answers.remove(&alert);
            self.answers.insert(alert, answer.or_earlier(earlier));
        }
        let others = self.all.extract_if(.., |coming| coming.alert.id == alert).filter(|coming| coming.key != decision);
        for late in others {
            if late.stage == ComingStage::Staged {
                self.overtaken.insert(late.key.clone());
            }
            self.ended.insert(late.key, (alert, late.resolution));
        }
    }

    /// An alert with the outcome that a decision on it came to, where the alert shows none.
    pub fn as_answered<'a>(&self, alert: &'a Alert) -> Cow<'a, Alert> {
        KnownAnswer::given(self.answers.get(&alert.id), alert)
    }

    fn put(&mut self, decision: &str, stage: ComingStage) {
        self.all.iter_mut().filter(|coming| coming.key == decision).for_each(|coming| coming.stage = stage);
    }

    /// Returns whether another decision on its alert was recorded before this one was sent.
    pub fn is_overtaken(&self, key: &str) -> bool {
        self.overtaken.contains(key)
    }

    /// Returns the decisions that may still be recorded while these consoles run. A decision not sent by a console that
    /// is gone is never sent. One that it had sent is unconfirmed.
    pub fn while_live(&self, live: &HashSet<Uuid>) -> Vec<ComingDecision> {
        let stage = |coming: &ComingDecision| match coming.stage {
            stage if live.contains(&coming.session) => Some(stage),
            ComingStage::Staged => None,
            ComingStage::Sent | ComingStage::Unknown => Some(ComingStage::Unknown),
        };
        self.all.iter().filter_map(|coming| Some(ComingDecision { stage: stage(coming)?, ..coming.clone() })).collect()
    }
}

/// The decision on an alert that weighs most among coming ones: what has left goes before what has not, a refund before
/// the rest.
pub fn weightiest(coming: &[ComingDecision], alert: AlertId) -> Option<&ComingDecision> {
    let weight = |coming: &&ComingDecision| (coming.stage != ComingStage::Staged, coming.resolution.gives_money_back());
    coming.iter().filter(|coming| coming.alert.id == alert).max_by_key(weight)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::JournalDecision;
    use crate::domain::Alert;
    use crate::domain::resolution::Decision;

    const LIVES: Uuid = Uuid::from_u128(1);
    const GONE: Uuid = Uuid::from_u128(2);

    fn staged(key: &str, alert: &Alert) -> JournalStep {
        let refunded = Resolution::Current { decision: Decision::Refunded, comments: String::new() };
        JournalStep::Staged {
            decision: key.to_owned(),
            said: JournalDecision::of(alert, &refunded),
            rule: None,
            together: None,
        }
    }

    fn of(session: Uuid, steps: Vec<JournalStep>) -> Vec<(String, ComingStage)> {
        let mut all = ComingDecisions::default();
        for step in steps {
            all.take(&JournalEntry { at: String::new(), session, place: "acme-eu".to_owned(), user: None, step });
        }
        all.while_live(&HashSet::from([LIVES])).into_iter().map(|coming| (coming.key, coming.stage)).collect()
    }

    #[test]
    fn a_decision_comes_from_its_staging_to_its_end() {
        let (alert, decision) = (Alert::sample(), || "a".to_owned());
        let sent = || JournalStep::Sent { decision: decision() };
        let not_sent = JournalStep::NotSent { decision: decision(), why: "no connection".to_owned() };
        let unknown = || JournalStep::Unknown { decision: decision(), why: "time-out".to_owned() };
        let recorded = JournalStep::Recorded { decision: decision(), status: "RESOLVED".to_owned() };

        let stages = [
            vec![staged("a", &alert)],
            vec![staged("a", &alert), sent()],
            vec![staged("a", &alert), sent(), not_sent],
            vec![staged("a", &alert), sent(), unknown()],
            vec![staged("a", &alert), sent(), unknown(), recorded],
            vec![staged("a", &alert), JournalStep::TakenBack { decision: decision() }],
        ]
        .map(|steps| of(LIVES, steps).first().map(|(_, stage)| *stage));

        let known = [ComingStage::Staged, ComingStage::Sent, ComingStage::Staged, ComingStage::Unknown].map(Some);
        assert_eq!(stages, [known[0], known[1], known[2], known[3], None, None]);
    }

    #[test]
    fn an_alert_that_is_found_answered_after_its_decision_was_refused_is_known_as_answered() {
        let (alert, mut all) = (Alert::sample(), ComingDecisions::default());
        let decision = || "a".to_owned();
        let steps = [
            staged("a", &alert),
            JournalStep::Refused { decision: decision(), why: "closed".to_owned() },
            staged("b", &alert),
            JournalStep::Answered { decision: decision(), status: "RESOLVED".to_owned() },
        ];

        for step in steps {
            all.take(&JournalEntry {
                at: String::new(),
                session: LIVES,
                place: "acme-eu".to_owned(),
                user: None,
                step,
            });
        }

        assert!(all.as_answered(&alert).was_refunded());
        assert!(all.is_overtaken("b") && !all.is_overtaken("a"), "what waits here does not leave");
    }

    #[test]
    fn what_a_console_that_is_gone_had_sent_is_not_known_and_the_rest_never_leaves() {
        let (one, other) = (Alert::sample(), Alert::sample());

        let coming =
            of(GONE, vec![staged("a", &one), staged("b", &other), JournalStep::Sent { decision: "a".to_owned() }]);

        assert_eq!(coming, [("a".to_owned(), ComingStage::Unknown)]);
    }

    #[test]
    fn an_unknown_one_comes_until_its_alert_has_an_outcome_whatever_else_is_decided_on_it() {
        let alert = Alert::sample();
        let unknown =
            || vec![staged("a", &alert), JournalStep::Unknown { decision: "a".to_owned(), why: "time-out".to_owned() }];
        let then = |step: JournalStep| unknown().into_iter().chain([staged("b", &alert), step]).collect::<Vec<_>>();

        let taken_back = of(LIVES, then(JournalStep::TakenBack { decision: "b".to_owned() }));
        let overtaken =
            of(LIVES, then(JournalStep::Overtaken { decision: "b".to_owned(), status: "RESOLVED".to_owned() }));

        assert_eq!((taken_back, overtaken), (vec![("a".to_owned(), ComingStage::Unknown)], vec![]));
    }
}
