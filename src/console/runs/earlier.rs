//! Runs of earlier consoles: what became of alerts that were answered together stands in the journal until somebody has
//! seen it.

use std::collections::{HashSet, VecDeque};

use super::{DecisionRun, LeftKeys, RunItem, Runs};
use crate::console::decisions::alert_of;
use crate::console::text::counted;
use crate::desk::{AnswerStep, DecisionRecord, Fate, History};
use crate::domain::{Alert, AlertId};

/// The latest step of a decision of an earlier console; none where a living one has it.
fn step_of(record: &DecisionRecord, left: &LeftKeys) -> Option<AnswerStep> {
    match record.fate() {
        Fate::Queued => left.unsent.contains(&record.key).then_some(AnswerStep::NeverLeft),
        Fate::Sending => left.unanswered.contains(&record.key).then(|| AnswerStep::Unknown("no reply".to_owned())),
        _ => Some(record.step().clone()),
    }
}

/// The step of a later decision that tells of an alert of which nothing was recorded: as a console tells it that was
/// there all the time.
fn step_since(later: &DecisionRecord) -> Option<AnswerStep> {
    let status = later.step().status()?.to_owned();
    Some(if later.fate() == Fate::Recorded { AnswerStep::Recorded(status) } else { AnswerStep::Answered(status) })
}

/// The alert of a record, as far as the journal names it.
fn named(record: &DecisionRecord) -> Alert {
    let said = &record.said.alert;
    Alert { card_last_four: said.card_last_four.clone(), merchant_order_id: said.order.clone(), ..alert_of(said) }
}

/// A run as the journal tells it; none where a living console has it, or nothing of it can be read.
fn run(
    first: &str,
    history: &History,
    left: &LeftKeys,
    key_of: &impl Fn(&DecisionRecord) -> Option<u64>,
    number: u64,
) -> Option<DecisionRun> {
    let mut items = Vec::new();
    let mut is_case = false;
    for record in history.run(first) {
        is_case |= record.together.as_ref().is_some_and(|run| run.from.is_none());
        // One that cannot be read is left out alone: the others are still there to be answered.
        let Some(resolution) = record.said.resolution() else { continue };
        let found = step_of(record, left).map(|step| (record.last().0, step));
        let (alert, key) = (named(record), key_of(record).unwrap_or(u64::MAX));
        let mut item = RunItem { alert, resolution, key, step: found, again: false };
        let is_settled = item.step.is_some() && item.is_settled();
        match history.later_than(record).filter(|_| !is_settled) {
            None if item.step.is_none() => return None,
            None => {}
            Some(later) => match step_since(later).filter(|_| item.fate() == Fate::NotRecorded) {
                Some(since) => {
                    item.again = since.fate() == Fate::Recorded;
                    item.step = Some((later.last().0, since));
                }
                // The later decision tells of it.
                None => continue,
            },
        }
        items.push(item);
    }
    let started = history.record(first)?.made_at;
    let ended = history.run(first).map(|record| record.last().0).max()?;
    let alert = named(history.record(first)?);
    let subject = match is_case {
        true => {
            format!(
                "the case of {} {}",
                alert.provider,
                alert.money().map_or_else(|| alert.provider_id.clone(), |money| money.to_string())
            )
        }
        false => counted(items.len() as u64, "alert", "alerts"),
    };
    items.sort_by_key(RunItem::went_well);
    (!items.is_empty()).then(|| DecisionRun {
        number,
        subject,
        items,
        started,
        left_out: Vec::new(),
        order: Vec::new(),
        filled_in: None,
        ends: VecDeque::from([ended]),
        told: true,
        first: Some(first.to_owned()),
        is_earlier: true,
    })
}

impl Runs {
    /// Restores the runs of earlier consoles on this place that nobody has dismissed: the last one, and those of which
    /// something failed or is unconfirmed. `key_of` tells the answer of this console that goes on with a record.
    /// Returns their summaries, and the alerts to be read again.
    pub fn restore(
        &mut self,
        history: &History,
        place: &str,
        key_of: impl Fn(&DecisionRecord) -> Option<u64>,
    ) -> (Vec<String>, Vec<AlertId>) {
        let Some(left) = self.left.take() else { return Default::default() };
        let mut firsts: Vec<&str> = Vec::new();
        let mut known = HashSet::new();
        for record in history.records().iter().filter(|record| record.place == place) {
            if let Some(run) = &record.together
                && known.insert(run.first.as_str())
                && self.all.iter().all(|ours| ours.first.as_deref() != Some(&run.first))
            {
                firsts.push(&run.first);
            }
        }
        let last = firsts.last().copied();
        let unseen = firsts.into_iter().filter(|first| !history.is_run_dismissed(first));
        let earlier =
            unseen.zip(0..).filter_map(|(first, number)| run(first, history, &left, &key_of, EARLIER + number));
        let seen_to = |run: &DecisionRun| {
            let open = |item: &RunItem| matches!(item.fate(), Fate::NotRecorded | Fate::Unconfirmed);
            let dismissed = |item: &RunItem| history.latest_on(item.alert.id).is_some_and(|record| record.dismissed);
            run.items.iter().all(|item| !open(item) || dismissed(item))
        };
        let earlier: Vec<DecisionRun> = earlier.filter(|run| run.first.as_deref() == last || !seen_to(run)).collect();
        let open: Vec<&DecisionRun> = earlier.iter().filter(|run| !seen_to(run)).collect();
        let words = open.iter().map(|run| format!("{}: {}", run.subject, run.words())).collect();
        let items = open.iter().flat_map(|run| &run.items).filter(|item| !item.is_settled());
        let alerts = items.map(|item| item.alert.id).take(READ).collect();
        self.all.splice(0..0, earlier);
        (words, alerts)
    }

    /// Takes in more of an alert of an earlier run, of which the journal has only what names it.
    pub fn take_alert(&mut self, alert: &Alert) {
        let earlier = self.all.iter_mut().filter(|run| run.is_earlier).flat_map(|run| &mut run.items);
        earlier.filter(|item| item.alert.id == alert.id).for_each(|item| item.alert.clone_from(alert));
    }
}

/// Numbers of earlier runs are beyond all that this console gives.
const EARLIER: u64 = 1 << 62;

/// So many alerts of earlier runs are read again.
const READ: usize = 100;

#[cfg(test)]
mod tests {
    use chrono::Duration;
    use uuid::Uuid;

    use super::*;
    use crate::desk::{JournalDecision, JournalEntry, JournalRun, JournalStep};
    use crate::domain::resolution::Decision;
    use crate::domain::time::{from_iso, to_iso};
    use crate::domain::{AlertType, Provider, Resolution};

    fn alert() -> Alert {
        Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud)
    }

    fn staged(key: &str, first: &str, alert: &Alert) -> JournalStep {
        let said =
            JournalDecision::of(alert, &Resolution::Current { decision: Decision::Refunded, comments: String::new() });
        let together = Some(JournalRun { first: first.to_owned(), from: Some("view Open".to_owned()) });
        JournalStep::Staged { decision: key.to_owned(), said, rule: None, together }
    }

    fn refused(key: &str) -> JournalStep {
        JournalStep::Refused { decision: key.to_owned(), why: "closed by the issuer".to_owned() }
    }

    fn recorded(key: &str) -> JournalStep {
        JournalStep::Recorded { decision: key.to_owned(), status: "RESOLVED".to_owned() }
    }

    fn history(steps: Vec<JournalStep>) -> History {
        let at = |second| to_iso(from_iso("2026-03-10T12:00:00Z").unwrap() + Duration::seconds(second));
        let entry = |(second, step)| JournalEntry {
            at: at(second),
            session: Uuid::nil(),
            place: "acme".to_owned(),
            user: None,
            step,
        };
        History::of((0..).zip(steps).map(entry))
    }

    /// Two alerts that were answered together: one was recorded, one refused.
    fn half_failed(key: &str) -> Vec<JournalStep> {
        let other = format!("{key}2");
        vec![staged(key, key, &alert()), staged(&other, key, &alert()), recorded(key), refused(&other)]
    }

    fn taken(steps: Vec<JournalStep>, left: LeftKeys) -> (Runs, Vec<String>) {
        let mut runs = Runs { left: Some(left), ..Runs::default() };
        let (words, _) = runs.restore(&history(steps), "acme", |_| None);
        (runs, words)
    }

    fn firsts(runs: &Runs) -> Vec<&str> {
        runs.all.iter().filter_map(|run| run.first.as_deref()).collect()
    }

    #[test]
    fn what_failed_in_an_earlier_run_is_there_again_with_the_result_of_each() {
        let (runs, words) = taken(half_failed("a"), LeftKeys::default());

        let run = runs.newest().unwrap();
        assert_eq!(words, ["2 alerts: 1 recorded, 1 failed"]);
        assert_eq!(
            (run.items[0].fate(), run.items[0].reason()),
            (Fate::NotRecorded, "closed by the issuer".to_owned())
        );
        assert!(run.has_ended() && run.failed().count() == 1 && runs.newest().unwrap().ended_at().is_some());
    }

    #[test]
    fn a_record_that_cannot_be_read_is_left_out_alone() {
        let mut steps = half_failed("a");
        if let JournalStep::Staged { said, .. } = &mut steps[0] {
            said.refunded = "PERHAPS".to_owned();
        }

        let (runs, words) = taken(steps, LeftKeys::default());

        assert_eq!((firsts(&runs), words), (vec!["a"], vec!["1 alert: 1 failed".to_owned()]));
    }

    #[test]
    fn what_was_dismissed_answered_again_or_seen_to_is_not() {
        let dismissed = [half_failed("a"), vec![JournalStep::RunDismissed { run: "a".to_owned() }]].concat();
        let (one, other) = (alert(), alert());
        let failed = vec![staged("a", "a", &one), staged("a2", "a", &other), refused("a"), refused("a2")];
        let again = vec![staged("b", "b", &one), staged("b2", "b", &other), recorded("b"), recorded("b2")];
        let seen_to = [
            half_failed("a"),
            vec![JournalStep::Dismissed { decision: "a2".to_owned(), taken_back: false }],
            half_failed("b"),
        ]
        .concat();

        assert_eq!(firsts(&taken(dismissed, LeftKeys::default()).0), Vec::<&str>::new());
        assert_eq!(firsts(&taken([failed, again].concat(), LeftKeys::default()).0), ["b"]);
        assert_eq!(firsts(&taken(seen_to, LeftKeys::default()).0), ["b"]);
    }

    /// A run whose failed alert has a later decision, that came to this.
    fn decided_again(end: JournalStep) -> Vec<JournalStep> {
        let again = alert();
        let first = vec![staged("a", "a", &alert()), staged("a2", "a", &again), recorded("a"), refused("a2")];
        let JournalStep::Staged { decision, said, rule, .. } = staged("b", "b", &again) else { unreachable!() };
        [first, vec![JournalStep::Staged { decision, said, rule, together: None }, end]].concat()
    }

    #[test]
    fn what_was_decided_again_since_is_told_as_it_was_before_the_restart() {
        let overtaken = JournalStep::Overtaken { decision: "b".to_owned(), status: "RESOLVED, REFUNDED".to_owned() };
        let all = [recorded("b"), overtaken].map(|end| taken(decided_again(end), LeftKeys::default()));

        let words = all.each_ref().map(|(runs, told)| (runs.newest().unwrap().words(), told.len()));

        let expected =
            ["1 recorded, 1 answered again since", "1 recorded, 1 already answered"].map(|words| (words.to_owned(), 0));
        assert_eq!(words, expected);
        let results: Vec<String> = all[1].0.newest().unwrap().items.iter().map(RunItem::reason).collect();
        assert!(results.contains(&"answered otherwise since: RESOLVED, REFUNDED".to_owned()), "{results:?}");
    }

    #[test]
    fn what_failed_again_is_told_by_the_later_decision_alone() {
        let (runs, _) = taken(decided_again(refused("b")), LeftKeys::default());

        assert_eq!(runs.newest().unwrap().words(), "1 recorded");
    }

    #[test]
    fn one_that_went_well_is_there_while_it_is_the_last_one_and_nothing_is_told_of_it() {
        let well = |key: &str| vec![staged(key, key, &alert()), recorded(key)];

        let (runs, words) = taken([well("a"), well("b")].concat(), LeftKeys::default());

        assert_eq!((firsts(&runs), words), (vec!["b"], Vec::<String>::new()));
    }

    #[test]
    fn what_another_console_is_about_is_left_to_it_and_what_a_dead_one_left_is_told() {
        let steps = || {
            vec![staged("a", "a", &alert()), staged("b", "a", &alert()), JournalStep::Sent { decision: "a".to_owned() }]
        };
        let keys = |key: &str| HashSet::from([key.to_owned()]);
        let dead = LeftKeys { unsent: keys("b"), unanswered: keys("a") };

        let (alive, _) = taken(steps(), LeftKeys::default());
        let (_, words) = taken(steps(), dead);

        assert!(alive.newest().is_none());
        assert_eq!(words, ["2 alerts: 1 not sent, 1 unconfirmed"]);
    }

    #[test]
    fn runs_of_other_places_are_not_taken_in_and_none_is_taken_in_twice() {
        let mut runs = Runs { left: Some(LeftKeys::default()), ..Runs::default() };
        let all = history(half_failed("a"));

        let elsewhere = Runs { left: Some(LeftKeys::default()), ..Runs::default() }.restore(&all, "other", |_| None);
        let once = runs.restore(&all, "acme", |_| None);
        let twice = runs.restore(&all, "acme", |_| None);

        assert_eq!((elsewhere.0.len(), once.0.len(), twice.0.len(), runs.all.len()), (0, 1, 0, 1));
        assert_eq!(once.1.len(), 1, "what failed is read again");
    }
}
