//! A provider behind its guard: when it is left alone, how it proves itself again, and how many calls are with it at
//! the same time.

use std::{sync::Arc, time::Duration};

use avert::{
    outbound::circuit::CircuitLimits,
    providers::{
        AlertProvider, Capabilities, Cause, Declined, GuardLimits, Guarded, LookUp, Simulator, SubmitResult,
        simulator::{Fault, FaultRates},
    },
};
use chrono::TimeDelta;
use rstest::rstest;

use super::gateway::refunded;
use crate::support::{alerts::NOON, clock::ManualClock, engine::Gate};

const LIMITS: GuardLimits = GuardLimits {
    circuit: CircuitLimits { failures: 3, first_pause: TimeDelta::seconds(10), longest_pause: TimeDelta::seconds(60) },
    at_once: 2,
    patience: Duration::ZERO,
};

fn simulated() -> Arc<Simulator> {
    let capabilities = Capabilities { lookup: true, idempotent: true, ..Capabilities::default() };
    Arc::new(Simulator::new(capabilities, FaultRates::default(), 1))
}

fn guarded(inner: Arc<dyn AlertProvider>, clock: &Arc<ManualClock>) -> Arc<Guarded> {
    Arc::new(Guarded::new(inner, "CDRN", LIMITS, clock.clone()))
}

fn not_sent(why: &str) -> SubmitResult {
    SubmitResult::Declined(Declined::NotSent(why.to_owned()))
}

/// A guard that three failures have just opened.
async fn opened(network: &Arc<Simulator>, clock: &Arc<ManualClock>) -> Arc<Guarded> {
    let guarded = guarded(network.clone(), clock);
    network.script([Some(Fault::Unreachable); 3]);
    for _ in 0..3 {
        guarded.submit(&refunded()).await;
    }
    guarded
}

#[rstest]
#[case(Fault::Unreachable)]
#[case(Fault::ServerError { applied: false })]
#[case(Fault::Unreadable { applied: false })]
#[tokio::test]
async fn a_provider_that_is_ill_is_left_alone_and_it_is_said_until_when(#[case] fault: Fault) {
    let (network, clock) = (simulated(), ManualClock::at(NOON));
    let guarded = guarded(network.clone(), &clock);
    network.script([Some(fault); 3]);
    for _ in 0..3 {
        guarded.submit(&refunded()).await;
    }

    let (answer, found) = (guarded.submit(&refunded()).await, guarded.look_up(&refunded()).await);

    let why = "it failed 3 times in a row and is left alone until 12:00:10 UTC";
    assert_eq!(answer, not_sent(why));
    assert_eq!(found, LookUp::Failed(why.to_owned()));
    assert_eq!((network.submissions(), network.look_ups()), (3, 0), "nothing was sent");
}

#[rstest]
#[case(Fault::Refusal)]
#[case(Fault::AlreadyActioned { applied: false })]
#[tokio::test]
async fn a_provider_that_refuses_is_well(#[case] fault: Fault) {
    let (network, clock) = (simulated(), ManualClock::at(NOON));
    let guarded = guarded(network.clone(), &clock);
    network.script([Some(fault); 20]);
    for _ in 0..20 {
        guarded.submit(&refunded()).await;
    }

    let answer = guarded.submit(&refunded()).await;

    assert_ne!(answer, not_sent("it failed 3 times in a row and is left alone until 12:00:10 UTC"));
    assert_eq!(network.submissions(), 21);
}

#[tokio::test]
async fn a_call_that_its_caller_cuts_off_is_a_failure() {
    let (network, clock) = (simulated(), ManualClock::at(NOON));
    let guarded = guarded(network.clone(), &clock);
    network.script([Some(Fault::TimeOut { applied: false }); 3]);
    for _ in 0..3 {
        assert!(tokio::time::timeout(Duration::ZERO, guarded.submit(&refunded())).await.is_err());
    }

    let answer = guarded.submit(&refunded()).await;

    assert!(matches!(answer, SubmitResult::Declined(Declined::NotSent(_))), "{answer:?}");
}

#[tokio::test]
async fn after_the_pause_a_success_closes_it_and_a_failure_doubles_the_pause() {
    let (network, clock) = (simulated(), ManualClock::at(NOON));
    let guarded = opened(&network, &clock).await;

    clock.advance(TimeDelta::seconds(10));
    network.script([Some(Fault::Unreachable)]);
    let failed = guarded.submit(&refunded()).await;
    clock.advance(TimeDelta::seconds(19));
    let early = guarded.submit(&refunded()).await;
    clock.advance(TimeDelta::seconds(1));
    let answers = [guarded.submit(&refunded()).await, guarded.submit(&refunded()).await];

    assert_eq!(failed, not_sent("connection refused (simulated)"));
    assert_eq!(early, not_sent("it failed 4 times in a row and is left alone until 12:00:30 UTC"));
    // The second is another decision on the same alert, and reaches the network all the same.
    assert_eq!(answers, [SubmitResult::Accepted, SubmitResult::Indeterminate(Cause::AlreadyActioned)]);
}

#[tokio::test]
async fn after_the_pause_one_call_is_let_through_and_others_are_not() {
    let (gate, clock) = (Gate::new(true, true), ManualClock::at(NOON));
    let guarded = guarded(gate.clone(), &clock);
    for _ in 0..3 {
        gate.let_through(SubmitResult::Indeterminate(Cause::ServerError(503)));
        guarded.submit(&refunded()).await;
        gate.reached().await;
    }
    clock.advance(TimeDelta::seconds(10));

    let first = tokio::spawn({
        let guarded = guarded.clone();
        async move { guarded.submit(&refunded()).await }
    });
    gate.reached().await;
    let second = guarded.submit(&refunded()).await;
    gate.let_through(SubmitResult::Accepted);

    assert_eq!(
        second,
        not_sent("it failed 3 times in a row, and one call is on its way to see whether it answers again")
    );
    assert_eq!(first.await.unwrap(), SubmitResult::Accepted);
    gate.let_through(SubmitResult::Accepted);
    assert_eq!(guarded.submit(&refunded()).await, SubmitResult::Accepted);
}

#[tokio::test]
async fn a_call_let_through_that_is_cut_off_gives_the_next_one_its_turn() {
    let (network, clock) = (simulated(), ManualClock::at(NOON));
    let guarded = opened(&network, &clock).await;
    clock.advance(TimeDelta::seconds(10));
    network.script([Some(Fault::TimeOut { applied: false })]);

    assert!(tokio::time::timeout(Duration::ZERO, guarded.submit(&refunded())).await.is_err());
    clock.advance(TimeDelta::seconds(20));

    assert_eq!(guarded.submit(&refunded()).await, SubmitResult::Accepted);
}

#[tokio::test]
async fn calls_that_were_on_their_way_when_it_opened_do_not_lengthen_the_pause() {
    let (gate, clock) = (Gate::new(true, true), ManualClock::at(NOON));
    let limits = GuardLimits { at_once: 9, ..LIMITS };
    let guarded = Arc::new(Guarded::new(gate.clone(), "CDRN", limits, clock.clone()));
    let calls: Vec<_> = (0..9)
        .map(|_| {
            let guarded = guarded.clone();
            tokio::spawn(async move { guarded.submit(&refunded()).await })
        })
        .collect();
    for _ in 0..9 {
        gate.reached().await;
    }

    for _ in 0..9 {
        gate.let_through(SubmitResult::Indeterminate(Cause::TimedOut(Duration::from_secs(1))));
    }
    for call in calls {
        call.await.unwrap();
    }

    assert_eq!(
        guarded.submit(&refunded()).await,
        not_sent("it failed 3 times in a row and is left alone until 12:00:10 UTC")
    );
}

#[tokio::test]
async fn no_more_calls_than_places_are_with_it_at_the_same_time() {
    let (gate, clock) = (Gate::new(true, true), ManualClock::at(NOON));
    let guarded = guarded(gate.clone(), &clock);
    let inside: Vec<_> = (0..2)
        .map(|_| {
            let guarded = guarded.clone();
            tokio::spawn(async move { guarded.submit(&refunded()).await })
        })
        .collect();
    gate.reached().await;
    gate.reached().await;

    let (third, look) = (guarded.submit(&refunded()).await, guarded.look_up(&refunded()).await);
    gate.let_through(SubmitResult::Accepted);
    gate.let_through(SubmitResult::Accepted);
    for call in inside {
        assert_eq!(call.await.unwrap(), SubmitResult::Accepted);
    }

    assert_eq!(third, not_sent("all its 2 places were taken for 0 s; try again in a moment"));
    assert!(matches!(look, LookUp::Failed(_)), "{look:?}");
    assert_eq!(guarded.look_up(&refunded()).await, LookUp::NotKnown, "a place is free again");
}

#[tokio::test]
async fn a_call_waits_for_a_place_that_becomes_free_in_time() {
    let (gate, clock) = (Gate::new(true, true), ManualClock::at(NOON));
    let limits = GuardLimits { at_once: 1, patience: Duration::from_secs(60), ..LIMITS };
    let guarded = Arc::new(Guarded::new(gate.clone(), "CDRN", limits, clock.clone()));
    let call = |guarded: Arc<Guarded>| tokio::spawn(async move { guarded.submit(&refunded()).await });
    let (first, second) = (call(guarded.clone()), call(guarded.clone()));
    gate.reached().await;

    gate.let_through(SubmitResult::Accepted);
    gate.reached().await;
    gate.let_through(SubmitResult::Accepted);

    assert_eq!((first.await.unwrap(), second.await.unwrap()), (SubmitResult::Accepted, SubmitResult::Accepted));
}
