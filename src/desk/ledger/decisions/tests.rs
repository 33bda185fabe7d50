//! The decisions on their way, from staged to proven.

use super::*;
use crate::{
    domain::{
        Outcome,
        resolution::{Decision as Answer, InvalidReason},
        time::from_iso,
    },
    service::OutcomeUnknown,
};

fn now() -> Timestamp {
    from_iso("2026-03-10T12:00:00Z").unwrap()
}

fn alert() -> Alert {
    Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud)
}

fn refunded() -> Resolution {
    Resolution::Current { decision: Answer::Refunded, comments: String::new() }
}

fn staged(undo_window: i64) -> (Ledger, u64, Alert) {
    let mut decisions = Ledger::default();
    let alert = alert();
    let key = decisions.stage(alert.clone(), refunded(), Duration::seconds(undo_window), now());
    (decisions, key, alert)
}

#[rstest::rstest]
#[case("it refused: already refunded", "network refused: already refunded")]
#[case("it could not be reached: no connection", "network not reached: no connection")]
#[case("it turned the call away: 401", "network turned it away: 401")]
#[case("closed", "not taken: closed")]
fn who_refused_a_decision_and_why_comes_first(#[case] why: &str, #[case] said: &str) {
    let (mut decisions, key, _) = staged(0);
    decisions.leave_checked(now());

    let event = decisions.answered(key, Err(ServiceError::ProviderFailed(why.to_owned())), now());

    assert_eq!(event, Some(DecisionEvent::refused(said)));
}

fn is_duplicate() -> Resolution {
    Resolution::Current { decision: Answer::Invalid(InvalidReason::Duplicate), comments: String::new() }
}

/// A refund that is staged now and the decision on its double that rests on it, made three seconds later.
fn two_on_a_payment() -> (Ledger, [u64; 2], [Alert; 2]) {
    let mut decisions = Ledger::default();
    let one = Alert { id: AlertId::generate(), ..Alert::sample() };
    let other = Alert { id: AlertId::generate(), ..Alert::sample() };
    let first = decisions.stage(one.clone(), refunded(), Duration::seconds(5), now());
    let second = decisions.stage(other.clone(), is_duplicate(), Duration::seconds(5), now() + Duration::seconds(3));
    (decisions, [first, second], [one, other])
}

#[test]
fn what_rests_on_a_refund_leaves_once_that_is_recorded_and_behind_its_own_grace() {
    let (mut decisions, [first, second], [one, _]) = two_on_a_payment();
    let left = |decisions: &mut Ledger, seconds| {
        decisions
            .leave_checked(now() + Duration::seconds(seconds))
            .iter()
            .map(|decision| decision.key)
            .collect::<Vec<_>>()
    };

    assert_eq!(left(&mut decisions, 5), [first]);
    decisions.answered(first, Ok(Landing { alert: one, found: false }), now() + Duration::seconds(6));

    assert_eq!([left(&mut decisions, 7), left(&mut decisions, 8)], [vec![], vec![second]]);
}

#[test]
fn what_rests_on_a_refund_stays_where_that_is_not_recorded() {
    let (mut decisions, [first, _], _) = two_on_a_payment();
    decisions.leave_checked(now() + Duration::seconds(5));

    decisions.answered(first, Err(ServiceError::ProviderFailed("closed".to_owned())), now() + Duration::seconds(6));

    assert!(decisions.leave_checked(now() + Duration::seconds(60)).is_empty());
    assert_eq!(decisions.take_question(), Some(HoldReason::NotRecorded(first)));
}

#[test]
fn an_answer_that_rests_on_no_other_waits_for_none() {
    let (mut decisions, _, _) = two_on_a_payment();
    let other = Alert { id: AlertId::generate(), ..Alert::sample() };
    let not_refunded = Resolution::Current { decision: Answer::NotRefunded, comments: String::new() };

    let keys = [
        decisions.stage(alert(), is_duplicate(), Duration::zero(), now()),
        decisions.stage(other, not_refunded, Duration::zero(), now()),
    ];

    assert_eq!(decisions.leave_checked(now()).iter().map(|decision| decision.key).collect::<Vec<_>>(), keys);
}

#[rstest::rstest]
#[case::far_away(Deadline::At(now() + Duration::hours(2)), 60)]
#[case::near(Deadline::At(now() + Duration::seconds(30)), 20)]
#[case::over(Deadline::At(now() + Duration::seconds(3)), 0)]
#[case::in_hours(Deadline::HoursLeft(2), 60)]
#[case::any_moment(Deadline::HoursLeft(0), 5)]
#[case::not_known(Deadline::Unknown, 60)]
fn a_last_look_takes_no_longer_than_its_window_allows(#[case] deadline: Deadline, #[case] seconds: u64) {
    let mut decisions = Ledger::default();
    let key = decisions.stage(Alert { deadline, ..alert() }, refunded(), Duration::zero(), now());

    let check = decisions.get(key).map(|decision| decision.preflight(&History::default(), now())).unwrap();

    assert_eq!(check.within.as_secs(), seconds);
}

#[test]
fn a_staged_decision_leaves_once_and_when_its_grace_is_over() {
    let (mut decisions, key, _) = staged(5);

    assert!(decisions.leave_checked(now() + Duration::seconds(4)).is_empty());
    assert_eq!(
        decisions.leave_checked(now() + Duration::seconds(5)).iter().map(|decision| decision.key).collect::<Vec<_>>(),
        [key]
    );
    assert!(decisions.leave_checked(now() + Duration::seconds(6)).is_empty());
    assert_eq!(decisions.with_fate(Fate::Sending).count(), 1);
}

#[test]
fn the_last_staged_decision_is_taken_back_first_and_a_sent_one_never() {
    let (mut decisions, first, _) = staged(5);
    let second = decisions.stage(alert(), refunded(), Duration::seconds(9), now());

    assert_eq!(decisions.take_back(now()).iter().map(|decision| decision.key).collect::<Vec<_>>(), [second]);
    decisions.leave_checked(now() + Duration::seconds(5));
    assert_eq!(decisions.take_back(now()), []);
    assert!(decisions.get(first).is_some());
}

#[test]
fn a_refusal_is_kept_until_the_next_decision_on_the_alert() {
    let (mut decisions, key, alert) = staged(0);
    decisions.leave_checked(now());

    let event = decisions.answered(key, Err(ServiceError::ProviderFailed("down".to_owned())), now());

    assert!(event.unwrap().step.reason().unwrap().contains("down"));
    assert!(!decisions.is_underway(alert.id));
    decisions.stage(alert.clone(), refunded(), Duration::zero(), now());
    assert!(decisions.is_underway(alert.id));
}

#[test]
fn another_ones_answer_is_told_from_our_own() {
    let (mut decisions, key, alert) = staged(0);
    decisions.leave_checked(now());
    let theirs = Outcome { outcome: "unresolved_dispute".to_owned(), ..Outcome::sample(alert.id) };
    let resolved = Alert { outcome: Some(theirs), ..alert };

    let event = decisions.answered(key, Err(ServiceError::AlreadyResolved(Box::new(resolved.clone()))), now());

    assert_eq!(event, Some(DecisionEvent::overtaken(resolved)));
}

/// A decision whose answer never came, and its alert.
fn unknown() -> (Ledger, u64, Alert) {
    let (mut decisions, key, alert) = staged(0);
    decisions.leave_checked(now());
    decisions.answered(key, Err(ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::told("time-out"))), now());
    (decisions, key, alert)
}

fn found(alert: &Alert, pending: Option<bool>) -> Result<Found, ServiceError> {
    Ok(Found { alert: alert.clone(), pending, clock_lead: None })
}

#[test]
fn an_unknown_fate_is_settled_by_the_alerts_own_outcome() {
    let (mut decisions, key, alert) = unknown();

    assert_eq!(decisions.looked_up(key, found(&alert, None), now()), None);
    assert!(decisions.is_checking(alert.id));
    let landed = Alert { outcome: Some(Outcome::sample(alert.id)), ..alert.clone() };
    assert_eq!(
        decisions.looked_up(key, found(&landed, None), now()),
        Some(Ok(Ok(Landing { alert: landed, found: true }).into()))
    );
    assert!(!decisions.is_checking(alert.id));
}

#[test]
fn an_outcome_that_says_something_else_is_anothers() {
    let (mut decisions, key, alert) = unknown();
    let theirs = Outcome {
        outcome: "unresolved_dispute".to_owned(),
        refunded: "not refunded".to_owned(),
        ..Outcome::sample(alert.id)
    };
    let resolved = Alert { outcome: Some(theirs), ..alert };

    assert_eq!(decisions.looked_up(key, found(&resolved, None), now()), Some(Ok(DecisionEvent::overtaken(resolved))));
}

#[test]
fn what_the_engine_has_settled_without_an_outcome_was_not_recorded() {
    let (mut decisions, key, alert) = unknown();

    assert_eq!(decisions.looked_up(key, found(&alert, Some(true)), now()), None);
    let event = decisions.looked_up(key, found(&alert, Some(false)), now());

    assert!(event.unwrap().unwrap().step.reason().unwrap().contains("did not apply"));
    assert!(!decisions.is_checking(alert.id));
}

#[test]
fn an_alert_is_looked_at_again_and_again_each_time_later_and_told_of_once_when_it_was_in_vain() {
    let (mut decisions, key, alert) = unknown();
    let mut at = now();
    let mut gaps = Vec::new();
    let mut told = Vec::new();
    for _ in 0..9 {
        assert_eq!(decisions.polls(at), [(key, alert.id)], "at {at}");
        assert!(decisions.polls(at).is_empty(), "one look at a time");
        told.extend(decisions.looked_up(key, found(&alert, None), at));
        let next = decisions.next_wake(at).unwrap();
        assert!(decisions.polls(next - Duration::milliseconds(1)).is_empty());
        gaps.push((next - at).num_seconds());
        at = next;
    }

    assert_eq!(gaps, [2, 4, 8, 15, 30, 60, 60, 60, 60]);
    assert_eq!(told, [Err(6)]);
    assert!(decisions.is_checking(alert.id), "it may still arrive");
}

#[test]
fn a_look_that_fails_is_made_again_and_counts_for_nothing() {
    let (mut decisions, key, alert) = unknown();
    decisions.polls(now());

    assert_eq!(decisions.looked_up(key, Err(ServiceError::Unavailable("gone".to_owned())), now()), None);

    assert_eq!(decisions.polls(now() + Duration::seconds(2)), [(key, alert.id)]);
    assert_eq!(decisions.get(key).unwrap().polling.as_ref().unwrap().polls, 0);
}

#[test]
fn news_of_a_change_bring_the_next_look_forward() {
    let (mut decisions, key, alert) = unknown();
    decisions.polls(now());
    decisions.looked_up(key, found(&alert, None), now());
    assert!(decisions.polls(now()).is_empty());

    decisions.poll_now(now());

    assert_eq!(decisions.polls(now()), [(key, alert.id)]);
}

#[test]
fn a_held_countdown_goes_on_where_it_stopped() {
    let (mut decisions, ..) = staged(5);
    let later = |seconds| now() + Duration::seconds(seconds);
    decisions.hold(true, later(2));

    assert!(decisions.leave_checked(later(60)).is_empty());
    decisions.hold(false, later(60));

    assert!(decisions.leave_checked(later(62)).is_empty());
    assert_eq!(decisions.leave_checked(later(63)).len(), 1);
}

#[test]
fn the_countdown_wakes_at_each_whole_second() {
    let (decisions, ..) = staged(5);

    assert_eq!(decisions.next_wake(now()), Some(now() + Duration::seconds(1)));
    assert_eq!(decisions.next_wake(now() + Duration::milliseconds(300)), Some(now() + Duration::seconds(1)));
}
