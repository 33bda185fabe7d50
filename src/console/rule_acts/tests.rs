//! Tests of what rules that stage by themselves may act on.

use proptest::array::uniform6;
use proptest::bool::{Weighted, weighted};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use rstest::rstest;

use super::*;
use crate::console::decisions::Decisions;
use crate::console::unfinished::Unfinished;
use crate::desk::{History, JournalDecision, JournalEntry, JournalStep, SnoozedAlert};
use crate::domain::duplicate::RefundTime;
use crate::domain::resolution::{Decision, InvalidReason};
use crate::domain::rule::parse_rules;
use crate::domain::time::{from_iso, to_iso};
use crate::domain::{AlertType, AttemptId, Deadline, OrderAdvice, Outcome, Provider, ResolutionAttempt, Timestamp};
use crate::service::ServiceError;

const RULES: &str = "\
gone: descriptor:gone -> invalid not-found
small: amount<25 currency:EUR -> refunded \"below the fee\"
rest: currency:EUR -> not-refunded";

fn now() -> Timestamp {
    from_iso("2026-03-03T12:00:00Z").unwrap()
}

/// An alert of 5.00 EUR that waits for nine hours more, alone on its card.
fn small() -> Alert {
    let id = AlertId::generate();
    let digits: String = id.to_string().chars().filter(char::is_ascii_digit).take(4).collect();
    Alert {
        id,
        amount: Some("5.00".parse().unwrap()),
        card_last_four: format!("{digits:0<4}"),
        deadline: Deadline::At(now() + Duration::hours(9)),
        ..Alert::sample()
    }
}

fn refunded(alert: &Alert) -> Alert {
    let id = AlertId::generate();
    Alert { id, outcome: Some(Outcome::sample(id)), ..alert.clone() }
}

/// A payment with these other alerts on it.
fn beside(others: Vec<Alert>) -> Loadable<OnPayment> {
    Loadable::Loaded(OnPayment { others, order: None })
}

/// A payment with nothing else on it.
fn alone() -> Loadable<OnPayment> {
    beside(Vec::new())
}

/// What is around the rules, as a test sets it.
struct Around {
    rules: Vec<DecisionRule>,
    acting: Vec<String>,
    read_only: bool,
    dialect: Dialect,
    grace: Duration,
    compares_all: bool,
    here: Decisions,
    unfinished: Unfinished,
    history: History,
    drafts: HashMap<AlertId, Draft>,
    snoozes: SnoozeList,
    in_hand: HashSet<AlertId>,
    left: HashSet<AlertId>,
}

impl Default for Around {
    fn default() -> Self {
        Self {
            rules: parse_rules(RULES).unwrap(),
            acting: vec!["Small".to_owned(), "gone".to_owned()],
            read_only: false,
            dialect: Dialect::Current,
            grace: Duration::seconds(10),
            compares_all: true,
            here: Decisions::default(),
            unfinished: Unfinished::default(),
            history: History::default(),
            drafts: HashMap::new(),
            snoozes: SnoozeList::default(),
            in_hand: HashSet::new(),
            left: HashSet::new(),
        }
    }
}

impl Around {
    fn desk(&self) -> RuleDesk<'_> {
        RuleDesk {
            rules: &self.rules,
            acting: &self.acting,
            read_only: self.read_only,
            dialect: self.dialect,
            grace: self.grace,
            compares_all: self.compares_all,
            known: KnownDecisions {
                here: &self.here,
                unfinished: &self.unfinished,
                history: &self.history,
                now: now(),
            },
            drafts: &self.drafts,
            snoozes: &self.snoozes,
            in_hand: &self.in_hand,
            left: &self.left,
        }
    }

    fn decided(&mut self, alert: &Alert, then: JournalStep) {
        let said =
            JournalDecision::of(alert, &Resolution::Current { decision: Decision::Refunded, comments: String::new() });
        let staged = JournalStep::Staged { decision: "earlier".to_owned(), said, rule: None, together: None };
        for step in [staged, then] {
            let (at, session) = (to_iso(now() - Duration::hours(1)), uuid::Uuid::nil());
            self.history.take(JournalEntry { at, session, place: "acme".to_owned(), user: None, step });
        }
    }

    /// What is staged of an alert with nothing else on its payment.
    fn staged(&self, alert: &Alert) -> Vec<RuleAct> {
        self.desk().acts(&[(alert.clone(), alone())]).staged
    }
}

#[test]
fn a_rule_that_is_named_stages_its_answer_on_what_waits() {
    let (alert, around) = (small(), Around::default());

    let staged = around.staged(&alert);

    let resolution = Resolution::Current { decision: Decision::Refunded, comments: "below the fee".to_owned() };
    assert_eq!(staged, [RuleAct { rule: "small".to_owned(), alert, resolution }]);
}

#[test]
fn what_an_earlier_rule_wins_or_an_unnamed_one_matches_is_left_alone() {
    let alert = small();
    let first = Around { acting: vec!["small".to_owned(), "rest".to_owned()], ..Around::default() };
    let gone = Alert { merchant_descriptor: "GONE*SHOP".to_owned(), ..alert.clone() };
    let dear = Alert { amount: Some("99".parse().unwrap()), ..alert.clone() };
    let unnamed = Around { acting: vec!["gone".to_owned()], ..Around::default() };

    let rules = |acts: Vec<RuleAct>| acts.into_iter().map(|act| act.rule).collect::<Vec<_>>();

    assert_eq!(
        [rules(first.staged(&gone)), rules(first.staged(&dear)), rules(unnamed.staged(&alert))],
        [vec![], vec!["rest".to_owned()], vec![]]
    );
}

#[rstest]
#[case::read_only(|around: &mut Around, _: &Alert| around.read_only = true)]
#[case::in_a_form(|around: &mut Around, alert: &Alert| around.in_hand.extend([alert.id]))]
#[case::left_before(|around: &mut Around, alert: &Alert| around.left.extend([alert.id]))]
#[case::with_a_draft(|around: &mut Around, alert: &Alert| drop(around.drafts.insert(alert.id, Draft::default())))]
#[case::snoozed(|around: &mut Around, alert: &Alert| {
    around.snoozes.put(vec![SnoozedAlert { alert: alert.into(), until: now() + Duration::hours(1) }]);
})]
#[case::taken_back(|around: &mut Around, alert: &Alert| around.decided(alert,
    JournalStep::TakenBack { decision: "earlier".to_owned() }))]
#[case::refused(|around: &mut Around, alert: &Alert| {
    around.decided(alert, JournalStep::Refused { decision: "earlier".to_owned(), why: "closed".to_owned() });
})]
#[case::never_left(|around: &mut Around, alert: &Alert| around.decided(alert,
    JournalStep::Read { decision: "earlier".to_owned() }))]
#[case::staged_here(|around: &mut Around, alert: &Alert| {
    let resolution = Resolution::Current { decision: Decision::NotRefunded, comments: String::new() };
    around.here.stage(alert.clone(), resolution, Duration::seconds(5), now());
})]
#[case::refused_here(|around: &mut Around, alert: &Alert| {
    let resolution = Resolution::Current { decision: Decision::NotRefunded, comments: String::new() };
    let key = around.here.stage(alert.clone(), resolution, Duration::zero(), now());
    around.here.leave(now());
    around.here.answered(key, Err(ServiceError::Refused("closed".to_owned())), now());
})]
#[case::parked_at_the_engine(|around: &mut Around, alert: &Alert| {
    let resolution = Resolution::Current { decision: Decision::NotRefunded, comments: String::new() };
    let attempt = ResolutionAttempt {
        id: AttemptId::generate(),
        alert: alert.id,
        state: "PARKED".to_owned(),
        resolution,
        started_at: now(),
        next_check: None,
        checks: 0,
        detail: String::new(),
        actor: String::new(),
    };
    drop(around.unfinished.take(vec![attempt], now()));
})]
fn what_is_in_somebodys_hand_or_was_ever_decided_here_is_left_to_people(#[case] set: fn(&mut Around, &Alert)) {
    let (alert, mut around) = (small(), Around::default());
    let before = around.staged(&alert).len();

    set(&mut around, &alert);

    assert_eq!((before, around.staged(&alert)), (1, vec![]));
}

#[rstest]
#[case::closes_within_the_grace(Deadline::At(now() + Duration::seconds(19)), false)]
#[case::closes_after_it(Deadline::At(now() + Duration::seconds(21)), true)]
#[case::may_close_at_any_moment(Deadline::HoursLeft(0), false)]
#[case::whole_hours(Deadline::HoursLeft(1), true)]
#[case::has_closed(Deadline::At(now() - Duration::seconds(1)), false)]
fn what_could_not_be_taken_back_in_time_is_left_to_people(#[case] deadline: Deadline, #[case] staged: bool) {
    let alert = Alert { deadline, ..small() };

    assert_eq!(Around::default().staged(&alert).len(), usize::from(staged));
}

#[test]
fn what_rules_stage_never_leaves_at_once() {
    let graces = [0, 5, 60].map(|seconds| grace_of_rules(Duration::seconds(seconds)).num_seconds());

    assert_eq!(graces, [10, 5, 60]);
}

#[test]
fn a_guard_that_asks_for_a_tick_leaves_the_alert_to_people_and_is_remembered() {
    let (alert, around) = (small(), Around::default());
    let by_rule = Alert { provider: Provider::Verifi, rule_name: Some("R".to_owned()), ..small() };
    let notice =
        Alert { alert_type: AlertType::KNOWN.iter().find(|kind| kind.is_notice()).unwrap().clone(), ..small() };
    let candidates =
        [(alert.clone(), beside(vec![refunded(&alert)])), (by_rule.clone(), alone()), (notice.clone(), alone())];

    let acts = around.desk().acts(&candidates);

    assert_eq!((acts.staged, acts.left), (vec![], vec![alert.id, by_rule.id, notice.id]));
}

#[rstest]
#[case::refunded_before(Some(RefundTime::Before), "small", 0)]
#[case::refunded_some_time(Some(RefundTime::Unknown), "small", 0)]
#[case::shipped(None, "small", 1)]
fn an_order_whose_money_went_back_leaves_the_alert_to_people(
    #[case] refund: Option<RefundTime>,
    #[case] rule: &str,
    #[case] staged: usize,
) {
    let (alert, around) = (small(), Around::default());
    let decision =
        if refund.is_some() { Decision::Invalid(InvalidReason::PreviouslyRefunded) } else { Decision::NotRefunded };
    let order = Some(OrderAdvice {
        decision,
        why: "why",
        refund,
        refunded_at: None,
        leaves_refund_open: false,
        only_warns: false,
    });

    let acts = around.desk().acts(&[(alert.clone(), Loadable::Loaded(OnPayment { others: vec![], order }))]);

    let rules: Vec<&str> = acts.staged.iter().map(|act| act.rule.as_str()).collect();
    assert_eq!((rules, acts.left.len()), (vec![rule; staged], 1 - staged));
}

#[rstest]
#[case::refunds(Decision::Refunded, 0)]
#[case::says_that_no_money_goes_back(Decision::NotRefunded, 1)]
fn a_refund_of_a_cancelled_order_that_may_be_refunded_is_left_to_people(
    #[case] decision: Decision,
    #[case] staged: usize,
) {
    let (alert, mut around) = (small(), Around::default());
    around.rules[1].decision = decision;
    let why = "cancelled; whether it was refunded is not told";
    let order = Some(OrderAdvice {
        decision: Decision::Refunded,
        why,
        refund: None,
        refunded_at: None,
        leaves_refund_open: true,
        only_warns: false,
    });

    let acts = around.desk().acts(&[(alert.clone(), Loadable::Loaded(OnPayment { others: vec![], order }))]);

    assert_eq!((acts.staged.len(), acts.left.len()), (staged, 1 - staged));
}

#[test]
fn an_alert_whose_payment_could_not_be_looked_up_waits_for_another_round() {
    let (alert, around) = (small(), Around::default());
    let plain = Around { compares_all: false, ..Around::default() };
    let failed = Loadable::Failed(ServiceError::Unavailable("busy".to_owned()));

    let acts = around.desk().acts(&[(alert.clone(), failed)]);
    let no_digits = plain.staged(&Alert { card_last_four: String::new(), ..alert.clone() });

    assert_eq!((acts, no_digits), (RuleActs::default(), vec![]));
    assert_eq!(plain.staged(&alert).len(), 1);
}

#[test]
fn two_that_wait_on_one_payment_are_left_to_people_whether_both_match_or_one() {
    let (alert, around) = (small(), Around::default());
    let twin = Alert { id: AlertId::generate(), provider: Provider::Cdrn, ..alert.clone() };

    let both = around.desk().acts(&[(alert.clone(), alone()), (twin.clone(), alone())]);
    let one = around.desk().acts(&[(alert.clone(), beside(vec![twin.clone()]))]);

    assert_eq!((both.staged, both.left), (vec![], vec![alert.id, twin.id]));
    assert_eq!((one.staged, one.left), (vec![], vec![alert.id]));
}

#[rstest]
#[case(Decision::Refunded, AlertType::EthocaConfirmedFraud, "STOPPED, REFUNDED")]
#[case(Decision::NotRefunded, AlertType::EthocaConfirmedFraud, "MISSED, NOT REFUNDED")]
#[case(Decision::Refunded, AlertType::VerifiDispute, "RESOLVED, REFUNDED")]
#[case(Decision::Invalid(InvalidReason::PreviouslyRefunded), AlertType::VerifiDispute, "PREVIOUSLY_REFUNDED, REFUNDED")]
#[case(Decision::Invalid(InvalidReason::Duplicate), AlertType::VerifiDispute, "OTHER, NOT REFUNDED")]
#[case(Decision::Invalid(InvalidReason::NotFound), AlertType::VerifiDispute, "NOT_FOUND, NOT REFUNDED")]
fn in_the_older_dialect_a_rule_says_what_the_form_says(
    #[case] decision: Decision,
    #[case] kind: AlertType,
    #[case] words: &str,
) {
    let mut around = Around { dialect: Dialect::Older, ..Around::default() };
    around.rules[1].decision = decision;
    let alert = Alert { alert_type: kind, ..small() };

    let staged = around.staged(&alert);

    assert_eq!(staged.iter().map(|act| act.resolution.to_string()).collect::<Vec<_>>(), [words]);
}

#[test]
fn a_rule_that_cannot_be_said_is_told_and_its_alert_left() {
    let mut around = Around::default();
    around.rules[1].comments = "x".repeat(251);
    let alert = small();

    let acts = around.desk().acts(&[(alert.clone(), alone())]);

    assert_eq!((acts.staged, acts.left), (vec![], vec![alert.id]));
    assert_eq!(
        acts.unsaid,
        ["Desk rule small cannot be said here, its alerts are left to you: comments has 251 characters: at most \
                250 are allowed."]
    );
}

fn rarely() -> Weighted {
    weighted(0.15)
}

/// An alert in some state, and which siblings it has.
fn candidates() -> impl Strategy<Value = Vec<Candidate>> {
    let deadlines = select(vec![
        Deadline::At(now() - Duration::hours(1)),
        Deadline::At(now() + Duration::seconds(5)),
        Deadline::At(now() + Duration::hours(5)),
        Deadline::At(now() + Duration::hours(20)),
        Deadline::HoursLeft(0),
        Deadline::HoursLeft(7),
        Deadline::Unknown,
    ]);
    let kinds = select(AlertType::KNOWN);
    let one = (
        deadlines,
        kinds,
        select(vec!["5", "30"]),
        [weighted(0.5), rarely(), rarely(), rarely(), rarely()],
        0u8..8,
        0u8..6,
    );
    proptest::collection::vec(one, 1..6).prop_map(|all| {
        let mut candidates: Vec<Candidate> = Vec::new();
        for (deadline, alert_type, amount, [verifi, by_rule, answered, lapsed, same_card], others, searched) in all {
            let mut alert = Alert { deadline, alert_type, amount: amount.parse().ok(), ..small() };
            if verifi {
                alert.provider = Provider::Verifi;
            }
            alert.rule_name = by_rule.then(|| "R".to_owned());
            alert.outcome = answered.then(|| Outcome::sample(alert.id));
            if lapsed {
                (alert.status, alert.expired_at) = (AlertStatus::Expired, Some(now()));
            }
            if let Some((first, _)) = candidates.first().filter(|_| same_card) {
                alert.card_last_four.clone_from(&first.card_last_four);
            }
            let waits = Alert { id: AlertId::generate(), ..small() };
            let found = match others {
                0 => vec![refunded(&alert)],
                1 => vec![waits],
                _ => vec![],
            };
            let others = match searched {
                0 => Loadable::Failed(ServiceError::Unavailable("busy".to_owned())),
                _ => beside(found),
            };
            candidates.push((alert, others));
        }
        candidates
    })
}

proptest! {
    #[test]
    fn whatever_the_alerts_and_the_journal_none_is_staged_with_a_caution_or_twice_or_where_nothing_may_be_sent(
        candidates in candidates(),
        (decided, in_hand) in (uniform6(rarely()), uniform6(rarely())),
        acting in subsequence(vec!["gone", "small", "rest"], 1..=3),
        read_only in weighted(0.2),
        dialect in select(Dialect::ALL.to_vec()),
    ) {
        let mut around = Around { acting: acting.iter().map(|name| (*name).to_owned()).collect(), read_only, dialect,
            ..Around::default() };
        for (at, (alert, _)) in candidates.iter().enumerate() {
            if decided[at] {
                around.decided(alert, JournalStep::TakenBack { decision: "earlier".to_owned() });
            }
            if in_hand[at] {
                around.in_hand.insert(alert.id);
            }
        }
        let twice: Vec<Candidate> = candidates.iter().chain(&candidates).cloned().collect();

        let acts = around.desk().acts(&candidates);
        let again = around.desk().acts(&twice);

        for act in &acts.staged {
            let at = candidates.iter().position(|(alert, _)| alert.id == act.alert.id).unwrap();
            let (alert, on_payment) = &candidates[at];
            prop_assert!(!read_only && !decided[at] && !in_hand[at] && acting.contains(&act.rule.as_str()));
            prop_assert_eq!(suggestion(&around.rules, alert, now()).map(|rule| &rule.name), Some(&act.rule));
            let OnPayment { others, .. } = on_payment.loaded().expect("its payment was looked up");
            prop_assert!(speaks_against(alert, &act.resolution, others.iter(), None, &[],
                around.desk().known).is_none());
            prop_assert!(others.iter().all(Alert::is_over) && !alert.is_over() && !may_close_within(alert,
                around.grace, now()));
            let same_payment = candidates.iter().filter(|(other, _)| duplicate::evidence(alert,
                other).is_some()).count();
            prop_assert_eq!(same_payment, 0);
        }
        let ids: HashSet<AlertId> = again.staged.iter().map(|act| act.alert.id).collect();
        prop_assert_eq!(ids.len(), again.staged.len());
    }
}
