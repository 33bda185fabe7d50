//! The resolution table: one running attempt of an alert, fences, Idempotency-Keys, and what is taken over.

use std::sync::Arc;

use avert::{
    domain::{
        Alert, AlertStatus, AttemptId, CutOffs, Holder, MonotonicTime, Outcome, OutcomeId, Resolution, Timestamp,
        resolution::{Decision, OlderRefunded, OlderWord},
    },
    store::{AttemptEnd, Claim, ClaimRequest, Commit, CommitRequest},
};
use chrono::Duration;
use sha2::{Digest as _, Sha256};

use super::Fixture;
use crate::support::alerts::{noon, open_alert};

contract!(
    a_commit_stores_outcome_and_status_and_ends_the_wait,
    an_older_answer_is_stored_with_its_amount,
    an_alert_of_nobody_cannot_be_claimed,
    of_many_claims_at_once_exactly_one_wins,
    a_released_alert_can_be_claimed_anew,
    an_unknown_or_parked_attempt_keeps_others_out,
    a_finish_with_a_lost_fence_changes_nothing,
    the_same_key_and_body_gives_the_first_answer_again,
    a_key_used_for_something_else_is_refused,
    a_key_may_try_anew_after_a_failure_and_waits_while_it_runs,
    a_key_is_forgotten_after_a_day,
    attempts_past_their_deadline_are_taken_over_once,
    no_more_attempts_are_taken_over_than_are_asked_for,
    an_unknown_attempt_is_taken_over_when_its_check_is_due,
    a_late_yes_is_committed_where_there_is_no_outcome,
    a_late_yes_after_another_outcome_is_parked,
    a_second_late_yes_ends_and_is_forgotten_in_its_time,
    a_late_yes_of_the_attempt_that_was_committed_changes_nothing,
);

fn refunded() -> Resolution {
    Resolution::Current { decision: Decision::Refunded, comments: "Refunded on 10 March".to_owned() }
}

fn request(
    fixture: &Fixture,
    alert: &Alert,
    resolution: Resolution,
    key: Option<&str>,
    now: Timestamp,
) -> ClaimRequest {
    ClaimRequest {
        attempt: AttemptId::generate(),
        organization: fixture.organization,
        alert: alert.id,
        body_hash: Sha256::digest(resolution.canonical()).into(),
        resolution,
        idempotency_key: key.map(str::to_owned),
        deadline: now + Duration::seconds(10),
        now: now.into(),
    }
}

/// A plain wish to resolve an alert.
pub(super) fn claim(fixture: &Fixture, alert: &Alert) -> ClaimRequest {
    request(fixture, alert, refunded(), None, noon())
}

/// Claims, and expects to win; returns the fence.
pub(super) async fn claimed(fixture: &Fixture, request: ClaimRequest) -> i64 {
    match fixture.store.claim_resolution(request).await.unwrap() {
        Claim::Claimed { generation, .. } => generation,
        other => panic!("not claimed: {other:?}"),
    }
}

pub(super) fn yes(request: &ClaimRequest, generation: i64) -> CommitRequest {
    CommitRequest { attempt: request.attempt, generation, now: noon() + Duration::seconds(1) }
}

/// Claims and commits; returns the alert as it is then.
pub(super) async fn resolve(fixture: &Fixture, request: ClaimRequest) -> Alert {
    let generation = claimed(fixture, request.clone()).await;
    committed(fixture, yes(&request, generation)).await
}

pub(super) async fn committed(fixture: &Fixture, commit: CommitRequest) -> Alert {
    match fixture.store.commit_resolution(commit).await.unwrap() {
        Commit::Committed(alert) => *alert,
        fenced @ Commit::Fenced(_) => panic!("not committed: {fenced:?}"),
    }
}

async fn stored(fixture: &Fixture) -> Alert {
    let alert = open_alert("P1");
    fixture.bring(std::slice::from_ref(&alert)).await;
    alert
}

async fn a_commit_stores_outcome_and_status_and_ends_the_wait(fixture: Fixture) {
    let alert = stored(&fixture).await;
    let request = claim(&fixture, &alert);
    let generation = claimed(&fixture, request.clone()).await;
    let before = fixture.get(&alert).await;
    let commit = yes(&request, generation);

    let told = committed(&fixture, commit.clone()).await;

    let outcome = Outcome {
        id: OutcomeId(commit.attempt.0),
        alert_id: alert.id,
        provider_alert_id: "P1".to_owned(),
        status: "success".to_owned(),
        outcome: "resolved".to_owned(),
        refunded: "refunded".to_owned(),
        comments: "Refunded on 10 March".to_owned(),
        dispute_reason_code: None,
        action_time: Some(commit.now),
        amount_stopped: None,
    };
    let expected =
        Alert { status: AlertStatus::Resolved, outcome: Some(outcome), updated_at: Some(commit.now), ..alert.clone() };
    assert_eq!(before, alert);
    assert_eq!(told, expected);
    assert_eq!(fixture.get(&alert).await, expected);
    assert_eq!(fixture.store.next_deadline().await.unwrap(), None);
    let second = fixture.store.claim_resolution(claim(&fixture, &alert)).await.unwrap();
    assert_eq!(second, Claim::AlreadyResolved(Box::new(expected)));
}

async fn an_older_answer_is_stored_with_its_amount(fixture: Fixture) {
    let alert = stored(&fixture).await;
    let resolution = Resolution::Older {
        word: OlderWord::PartiallyStopped,
        refunded: OlderRefunded::NotSettled,
        amount_stopped: Some("12.50".parse().unwrap()),
        comments: "two\nlines".to_owned(),
    };

    let told = resolve(&fixture, request(&fixture, &alert, resolution, None, noon())).await;

    let outcome = told.outcome.clone().unwrap();
    assert_eq!(
        (outcome.outcome.as_str(), outcome.refunded.as_str(), outcome.comments.as_str()),
        ("partially_stopped", "not settled", "two\nlines")
    );
    assert_eq!(outcome.amount_stopped, Some("12.50".parse().unwrap()));
    assert_eq!(fixture.get(&alert).await, told);
}

async fn an_alert_of_nobody_cannot_be_claimed(fixture: Fixture) {
    let alert = stored(&fixture).await;
    let stranger = ClaimRequest { organization: avert::domain::OrganizationId::generate(), ..claim(&fixture, &alert) };

    assert_eq!(fixture.store.claim_resolution(claim(&fixture, &open_alert("P9"))).await.unwrap(), Claim::NotFound);
    assert_eq!(fixture.store.claim_resolution(stranger).await.unwrap(), Claim::NotFound);
}

async fn of_many_claims_at_once_exactly_one_wins(fixture: Fixture) {
    let alert = stored(&fixture).await;
    let start = Arc::new(tokio::sync::Barrier::new(64));
    let claims: Vec<_> = (0..64)
        .map(|_| {
            let (store, request, start) = (Arc::clone(&fixture.store), claim(&fixture, &alert), Arc::clone(&start));
            tokio::spawn(async move {
                start.wait().await;
                store.claim_resolution(request).await.unwrap()
            })
        })
        .collect();

    let mut won = 0;
    let mut lost = 0;
    for claim in claims {
        match claim.await.unwrap() {
            Claim::Claimed { .. } => won += 1,
            Claim::InProgress(Holder::Somebody) => lost += 1,
            other => panic!("{other:?}"),
        }
    }

    assert_eq!((won, lost), (1, 63));
}

async fn a_released_alert_can_be_claimed_anew(fixture: Fixture) {
    let alert = stored(&fixture).await;
    let first = claim(&fixture, &alert);
    let generation = claimed(&fixture, first.clone()).await;

    let ended = fixture
        .store
        .end_attempt(first.attempt, generation, AttemptEnd::Released, "refused", noon().into())
        .await
        .unwrap();
    let told = resolve(&fixture, claim(&fixture, &alert)).await;

    assert!(ended);
    assert!(told.outcome.is_some());
}

async fn an_unknown_or_parked_attempt_keeps_others_out(fixture: Fixture) {
    let alert = stored(&fixture).await;
    let first = claim(&fixture, &alert);
    let generation = claimed(&fixture, first.clone()).await;
    let end = async |end: AttemptEnd| {
        assert!(fixture.store.end_attempt(first.attempt, generation, end, "", noon().into()).await.unwrap());
        fixture.store.claim_resolution(claim(&fixture, &alert)).await.unwrap()
    };

    let later = noon() + Duration::seconds(1);
    assert_eq!(
        end(AttemptEnd::Unknown { next_check: later, calls_over: MonotonicTime::by_date(noon()) }).await,
        Claim::InProgress(Holder::Somebody)
    );
    assert_eq!(
        end(AttemptEnd::Unknown { next_check: noon(), calls_over: MonotonicTime::by_date(noon()) }).await,
        Claim::InProgress(Holder::Nobody)
    );
    assert_eq!(end(AttemptEnd::Parked).await, Claim::InProgress(Holder::Person(first.attempt)));
    assert!(matches!(end(AttemptEnd::Released).await, Claim::Claimed { .. }));
}

async fn a_finish_with_a_lost_fence_changes_nothing(fixture: Fixture) {
    let alert = stored(&fixture).await;
    let request = claim(&fixture, &alert);
    let generation = claimed(&fixture, request.clone()).await;

    let wrong = fixture.store.commit_resolution(yes(&request, generation + 1)).await.unwrap();
    let wrong_end = fixture
        .store
        .end_attempt(request.attempt, generation + 1, AttemptEnd::Released, "", noon().into())
        .await
        .unwrap();
    let told = committed(&fixture, yes(&request, generation)).await;
    let again = fixture.store.commit_resolution(yes(&request, generation)).await.unwrap();
    let end_after =
        fixture.store.end_attempt(request.attempt, generation, AttemptEnd::Released, "", noon().into()).await.unwrap();

    assert_eq!(wrong, Commit::Fenced(Box::new(alert.clone())));
    assert!(!wrong_end);
    assert_eq!(again, Commit::Fenced(Box::new(told.clone())));
    assert!(!end_after);
    assert_eq!(fixture.get(&alert).await, told);
}

async fn the_same_key_and_body_gives_the_first_answer_again(fixture: Fixture) {
    let alert = stored(&fixture).await;
    let keyed = |now| request(&fixture, &alert, refunded(), Some("key-1"), now);
    let told = resolve(&fixture, keyed(noon())).await;

    let again = fixture.store.claim_resolution(keyed(noon() + Duration::hours(23))).await.unwrap();

    assert_eq!(again, Claim::Replay(Box::new(told)));
}

async fn a_key_used_for_something_else_is_refused(fixture: Fixture) {
    let (alert, other) = (stored(&fixture).await, open_alert("P2"));
    fixture.bring(std::slice::from_ref(&other)).await;
    resolve(&fixture, request(&fixture, &alert, refunded(), Some("key-1"), noon())).await;
    let not_refunded = Resolution::Current { decision: Decision::NotRefunded, comments: String::new() };

    let other_body =
        fixture.store.claim_resolution(request(&fixture, &alert, not_refunded, Some("key-1"), noon())).await.unwrap();
    let other_alert =
        fixture.store.claim_resolution(request(&fixture, &other, refunded(), Some("key-1"), noon())).await.unwrap();
    let other_key =
        fixture.store.claim_resolution(request(&fixture, &alert, refunded(), Some("key-2"), noon())).await.unwrap();

    assert_eq!((other_body, other_alert), (Claim::IdempotencyKeyReused, Claim::IdempotencyKeyReused));
    assert!(matches!(other_key, Claim::AlreadyResolved(_)));
}

async fn a_key_may_try_anew_after_a_failure_and_waits_while_it_runs(fixture: Fixture) {
    let alert = stored(&fixture).await;
    let keyed = || request(&fixture, &alert, refunded(), Some("key-1"), noon());
    let first = keyed();
    let generation = claimed(&fixture, first.clone()).await;

    let while_running = fixture.store.claim_resolution(keyed()).await.unwrap();
    fixture.store.end_attempt(first.attempt, generation, AttemptEnd::Released, "refused", noon().into()).await.unwrap();
    let after_failure = fixture.store.claim_resolution(keyed()).await.unwrap();

    assert_eq!(while_running, Claim::InProgress(Holder::Somebody));
    assert!(matches!(after_failure, Claim::Claimed { .. }));
}

async fn a_key_is_forgotten_after_a_day(fixture: Fixture) {
    let (alert, other) = (stored(&fixture).await, open_alert("P2"));
    fixture.bring(std::slice::from_ref(&other)).await;
    resolve(&fixture, request(&fixture, &alert, refunded(), Some("key-1"), noon())).await;
    let next_day = noon() + Duration::hours(24);

    let same =
        fixture.store.claim_resolution(request(&fixture, &alert, refunded(), Some("key-1"), next_day)).await.unwrap();
    let elsewhere =
        fixture.store.claim_resolution(request(&fixture, &other, refunded(), Some("key-1"), next_day)).await.unwrap();

    assert!(matches!(same, Claim::AlreadyResolved(_)));
    assert!(matches!(elsewhere, Claim::Claimed { .. }));
}

async fn attempts_past_their_deadline_are_taken_over_once(fixture: Fixture) {
    let alert = stored(&fixture).await;
    let request = claim(&fixture, &alert);
    let generation = claimed(&fixture, request.clone()).await;
    let take = async |now: Timestamp| {
        fixture.store.claim_due_attempts(now.into(), now + Duration::seconds(30), 10).await.unwrap()
    };

    let before_deadline = take(noon() + Duration::seconds(9)).await;
    let taken = take(noon() + Duration::seconds(10)).await;
    let while_leased = take(noon() + Duration::seconds(39)).await;
    let after_lease = take(noon() + Duration::seconds(40)).await;
    let stale = fixture.store.commit_resolution(yes(&request, generation)).await.unwrap();
    let told = committed(&fixture, yes(&request, after_lease[0].generation)).await;

    assert!(before_deadline.is_empty() && while_leased.is_empty());
    assert_eq!((taken.len(), after_lease.len()), (1, 1));
    let unfinished = &taken[0];
    assert_eq!(
        (unfinished.attempt, unfinished.organization, &unfinished.alert),
        (request.attempt, fixture.organization, &alert)
    );
    assert_eq!((&unfinished.resolution, unfinished.started_at), (&request.resolution, request.now.date));
    assert_eq!(unfinished.calls_over, MonotonicTime::by_date(request.deadline));
    assert_eq!((unfinished.checks, after_lease[0].checks), (0, 1));
    assert!(matches!(stale, Commit::Fenced(_)));
    assert!(told.outcome.is_some());
}

async fn no_more_attempts_are_taken_over_than_are_asked_for(fixture: Fixture) {
    let mut attempts = Vec::new();
    for id in ["P1", "P2", "P3"] {
        let alert = open_alert(id);
        fixture.bring(std::slice::from_ref(&alert)).await;
        let request = claim(&fixture, &alert);
        attempts.push(request.attempt);
        claimed(&fixture, request).await;
    }
    let late = noon() + Duration::minutes(1);

    let taken = fixture.store.claim_due_attempts(late.into(), late + Duration::seconds(30), 2).await.unwrap();

    assert_eq!(taken.iter().map(|one| one.attempt).collect::<Vec<_>>(), attempts[..2], "the oldest first");
}

async fn an_unknown_attempt_is_taken_over_when_its_check_is_due(fixture: Fixture) {
    let alert = stored(&fixture).await;
    let request = claim(&fixture, &alert);
    let generation = claimed(&fixture, request.clone()).await;
    let next_check = noon() + Duration::minutes(5);
    fixture
        .store
        .end_attempt(
            request.attempt,
            generation,
            AttemptEnd::Unknown { next_check, calls_over: MonotonicTime::by_date(noon() + Duration::seconds(3)) },
            "",
            noon().into(),
        )
        .await
        .unwrap();

    let early =
        fixture.store.claim_due_attempts((next_check - Duration::seconds(1)).into(), next_check, 10).await.unwrap();
    let due =
        fixture.store.claim_due_attempts(next_check.into(), next_check + Duration::seconds(30), 10).await.unwrap();
    fixture
        .store
        .end_attempt(request.attempt, due[0].generation, AttemptEnd::Parked, "nobody knows", next_check.into())
        .await
        .unwrap();
    let parked = fixture
        .store
        .claim_due_attempts((next_check + Duration::days(9)).into(), next_check + Duration::days(9), 10)
        .await
        .unwrap();

    assert_eq!((early.len(), due.len(), parked.len()), (0, 1, 0));
    assert_eq!(
        due[0].calls_over,
        MonotonicTime::by_date(noon() + Duration::seconds(3)),
        "no call was running any more from then on"
    );
}

async fn a_late_yes_is_committed_where_there_is_no_outcome(fixture: Fixture) {
    let alert = stored(&fixture).await;
    let request = claim(&fixture, &alert);
    let generation = claimed(&fixture, request.clone()).await;
    fixture
        .store
        .end_attempt(request.attempt, generation, AttemptEnd::Released, "not known there", noon().into())
        .await
        .unwrap();

    let fenced = fixture.store.commit_resolution(yes(&request, generation)).await.unwrap();
    let late = fixture.store.commit_late(yes(&request, generation)).await.unwrap();

    assert!(matches!(fenced, Commit::Fenced(_)));
    assert!(matches!(&late, Commit::Committed(told) if told.outcome.is_some()), "{late:?}");
    assert!(fixture.get(&alert).await.outcome.is_some());
}

async fn a_late_yes_after_another_outcome_is_parked(fixture: Fixture) {
    let alert = stored(&fixture).await;
    let lost = claim(&fixture, &alert);
    let generation = claimed(&fixture, lost.clone()).await;
    fixture
        .store
        .end_attempt(lost.attempt, generation, AttemptEnd::Released, "not known there", noon().into())
        .await
        .unwrap();
    let told = resolve(&fixture, claim(&fixture, &alert)).await;

    let late = fixture.store.commit_late(yes(&lost, generation)).await.unwrap();
    let unfinished = fixture
        .store
        .claim_due_attempts((noon() + Duration::days(1)).into(), noon() + Duration::days(2), 10)
        .await
        .unwrap();
    let again = fixture.store.commit_late(yes(&lost, generation)).await.unwrap();

    assert_eq!(late, Commit::Fenced(Box::new(told.clone())));
    assert!(unfinished.is_empty(), "a person decides");
    assert_eq!(again, Commit::Fenced(Box::new(told.clone())));
    assert_eq!(fixture.get(&alert).await, told);
}

async fn a_second_late_yes_ends_and_is_forgotten_in_its_time(fixture: Fixture) {
    let alert = stored(&fixture).await;
    let mut lost = Vec::new();
    for _ in 0..2 {
        let request = claim(&fixture, &alert);
        let generation = claimed(&fixture, request.clone()).await;
        fixture
            .store
            .end_attempt(request.attempt, generation, AttemptEnd::Released, "not known there", noon().into())
            .await
            .unwrap();
        lost.push((request, generation));
    }
    resolve(&fixture, claim(&fixture, &alert)).await;
    for (request, generation) in &lost {
        fixture.store.commit_late(yes(request, *generation)).await.unwrap();
    }
    let later = noon() + Duration::days(2);

    let pruned = fixture.store.prune(CutOffs { attempts: Some(later), ..CutOffs::default() }, 10, later).await.unwrap();

    assert_eq!(pruned.attempts, 2, "the one that was committed and the second late one; the first waits for a person");
}

async fn a_late_yes_of_the_attempt_that_was_committed_changes_nothing(fixture: Fixture) {
    let alert = stored(&fixture).await;
    let request = claim(&fixture, &alert);
    let generation = claimed(&fixture, request.clone()).await;
    let told = committed(&fixture, yes(&request, generation)).await;

    let late = fixture.store.commit_late(yes(&request, generation)).await.unwrap();

    assert_eq!(late, Commit::Fenced(Box::new(told)));
}
