//! Resolution attempts: their states, who may take one over, what a claim is answered with, and how one ends.

use chrono::TimeDelta;

use crate::{
    Alert, AlertId, AttemptId, MonotonicTime, OutcomeId, Present, Resolution, Timestamp, closed_enum,
    resolution::{FieldError, decide},
    time::later_by,
};

/// Retention of an Idempotency-Key, 24 h.
pub const IDEMPOTENCY_KEY_MEMORY: TimeDelta = TimeDelta::hours(24);

/// Checks that an Idempotency-Key has 1 to 255 visible ASCII characters.
///
/// # Errors
/// The error of the field.
pub fn check_idempotency_key(key: &str) -> Result<(), FieldError> {
    let fits = (1..=255).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic());
    let wrong = || FieldError::new("Idempotency-Key", "must be 1 to 255 visible ASCII characters");
    if fits { Ok(()) } else { Err(wrong()) }
}

closed_enum! {
    /// State of a resolution attempt. One attempt of an alert at most is open: INFLIGHT, UNKNOWN or PARKED.
    pub enum AttemptState {
        /// A call to the provider may be under way.
        Inflight = "INFLIGHT",
        /// Indeterminate: it is looked up, or sent again, when its check is due.
        Unknown = "UNKNOWN",
        /// Parked: a person has to decide it.
        Parked = "PARKED",
        /// Accepted: its outcome is the alert's.
        Committed = "COMMITTED",
        /// Declined, or abandoned: the alert can be resolved anew.
        Released = "RELEASED",
    }
}

impl AttemptState {
    /// Returns true for an attempt that has not ended.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Inflight | Self::Unknown | Self::Parked)
    }
}

/// A resolution attempt that is unfinished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolutionAttempt {
    /// The attempt; also what the provider knows it by.
    pub id: AttemptId,
    pub alert: AlertId,
    /// `INFLIGHT`, `UNKNOWN` or `PARKED`.
    pub state: String,
    pub resolution: Resolution,
    pub started_at: Timestamp,
    pub next_check: Option<Timestamp>,
    /// Number of checks made.
    pub checks: u32,
    /// Description of what is known about it.
    pub detail: String,
    pub actor: String,
}

/// Holder of the open attempt of an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// A living process works on it, or its next check is not due yet.
    Somebody,
    /// No process: the attempt can be taken over now.
    Nobody,
    /// A person: the attempt is PARKED, and only the result that a person sets ends it.
    Person(AttemptId),
}

/// An open attempt, with the facts that permit a takeover. Its waits are measured by the monotonic clock. The counts of
/// another boot say nothing: then its owner's death or, after a while, the date permits a takeover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenAttempt {
    pub state: AttemptState,
    pub counted: Option<AttemptCounts>,
    /// Time of its turn by the guarded clock: the end of its call or lease, or its next check.
    pub turn: Timestamp,
    /// True where the process that owns it is provably dead.
    pub owner_dead: bool,
}

/// The waits of an attempt by the monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptCounts {
    /// Moment from which none of its calls is running any more.
    pub calls_over: MonotonicTime,
    /// Next check of an UNKNOWN attempt.
    pub next_check: Option<MonotonicTime>,
    /// End of the lease of the process that took it over.
    pub lease_until: Option<MonotonicTime>,
}

/// Extra time, beyond its turn by the date, that a living process keeps an attempt whose counts cannot be compared.
const STRANGERS_PATIENCE: TimeDelta = TimeDelta::minutes(1);

impl OpenAttempt {
    /// Returns its counts, where they are of the present boot.
    fn counts(&self, now: Present) -> Option<AttemptCounts> {
        self.counted.filter(|counts| counts.calls_over.epoch == now.counted.epoch)
    }

    /// Returns true where it may be taken over. It is INFLIGHT of a dead process or past the end of its call, or
    /// UNKNOWN with its check due. No living process has it leased.
    pub fn is_due(&self, now: Present) -> bool {
        let open = matches!(self.state, AttemptState::Inflight | AttemptState::Unknown);
        let Some(AttemptCounts { calls_over, next_check, lease_until }) = self.counts(now) else {
            return open && (self.owner_dead || later_by(self.turn, STRANGERS_PATIENCE) <= now.date);
        };
        let has_come = |moment: MonotonicTime| moment.has_come(now.counted);
        let due = match self.state {
            AttemptState::Inflight => self.owner_dead || has_come(calls_over),
            _ => next_check.is_none_or(has_come),
        };
        open && due && (self.owner_dead || lease_until.is_none_or(has_come))
    }

    /// Returns its holder at this moment.
    pub fn holder(&self, id: AttemptId, now: Present) -> Holder {
        match self.state {
            AttemptState::Parked => Holder::Person(id),
            _ if self.is_due(now) => Holder::Nobody,
            _ => Holder::Somebody,
        }
    }

    /// Returns the moment from which none of its calls is running, after a takeover for the time of `lease`. A call of
    /// a dead process is over by now, its first one and any after a takeover. A call of a process that let its lease
    /// run out is over since then. Where nothing is known of a living process, its call may last as long as a lease
    /// from now on.
    pub fn calls_over_after_takeover(&self, now: Present, lease: TimeDelta) -> MonotonicTime {
        match self.counts(now) {
            Some(AttemptCounts { lease_until: Some(_), .. }) if self.owner_dead => now.counted,
            Some(AttemptCounts { calls_over, .. }) if self.owner_dead => calls_over.min(now.counted),
            Some(AttemptCounts { calls_over, lease_until, .. }) => {
                lease_until.map_or(calls_over, |lease| calls_over.max(lease))
            }
            None if self.owner_dead || self.state == AttemptState::Unknown => now.counted,
            None => now.counted.after(lease),
        }
    }
}

/// An earlier use of an Idempotency-Key, within the time that it is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdempotencyKeyUse {
    /// True where it was for the same alert and the same body.
    pub same: bool,
    /// True where that attempt was committed.
    pub committed: bool,
}

/// The result of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// The attempt is INFLIGHT and ours; the alert as it was then, and the fence for the finish.
    Claimed {
        /// The alert, without outcome.
        alert: Box<Alert>,
        /// Fence to pass to the finish.
        generation: i64,
    },
    /// No such alert in the organization.
    NotFound,
    /// The alert has an outcome.
    AlreadyResolved(Box<Alert>),
    /// Another attempt is open, with this holder.
    InProgress(Holder),
    /// The same Idempotency-Key, alert and body committed within [`IDEMPOTENCY_KEY_MEMORY`]: the alert as it is.
    Replay(Box<Alert>),
    /// The Idempotency-Key was used within [`IDEMPOTENCY_KEY_MEMORY`] for another alert or body.
    IdempotencyKeyReused,
}

/// Grants a claim of an alert's one attempt, and gives the alert back.
///
/// # Errors
/// [`Claim`] when it is refused. A key's first use binds it to its alert and body; after a failure it may try anew.
pub fn grant(alert: Box<Alert>, key_uses: &[IdempotencyKeyUse], holder: Option<Holder>) -> Result<Box<Alert>, Claim> {
    if key_uses.iter().any(|used| !used.same) {
        Err(Claim::IdempotencyKeyReused)
    } else if key_uses.iter().any(|used| used.committed) {
        Err(Claim::Replay(alert))
    } else if alert.outcome.is_some() {
        Err(Claim::AlreadyResolved(alert))
    } else {
        holder.map_or(Ok(alert), |holder| Err(Claim::InProgress(holder)))
    }
}

/// Returns true where an acceptance is committed at once: the attempt is open, its fence holds (no takeover), and the
/// alert has no outcome.
pub fn may_commit(state: AttemptState, fence_holds: bool, resolved: bool) -> bool {
    state.is_open() && fence_holds && !resolved
}

/// Effect of a late acceptance, whose fence no longer holds or which could not be stored when it came. It is never
/// discarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LateAcceptance {
    /// The alert has no outcome: this becomes it, whatever state the attempt was left in.
    Commit,
    /// The alert's outcome is its own already.
    Nothing,
    /// The alert has another outcome: a person has to decide.
    Park,
    /// The same, but another attempt of the alert is open already: it ends, noted as accepted.
    Release,
}

impl LateAcceptance {
    /// Text recorded with an attempt that is parked or released by it.
    pub const DETAIL: &str = "the network took this decision too, after another one was recorded";

    /// Returns the effect of a late acceptance of an attempt in this state.
    pub fn of(state: AttemptState, resolved: bool, another_open: bool) -> Self {
        match (resolved, state, another_open) {
            (false, ..) => Self::Commit,
            (true, AttemptState::Committed, _) => Self::Nothing,
            (true, _, false) => Self::Park,
            (true, _, true) => Self::Release,
        }
    }
}

/// Returns the words for the result that a person set.
pub const fn word_of(applied: bool) -> &'static str {
    if applied { "applied" } else { "not applied" }
}

/// Returns the id of the outcome that an attempt leads to: the attempt's own. Every finisher writes the same one, and
/// it differs from the outcome of another attempt.
pub const fn outcome_id(attempt: AttemptId) -> OutcomeId {
    OutcomeId(attempt.0)
}

/// Records the outcome of an accepted attempt on its alert.
pub fn record_outcome(alert: &mut Alert, attempt: AttemptId, resolution: &Resolution, now: Timestamp) {
    decide(resolution).record(alert, outcome_id(attempt), resolution.comments(), Some(now));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::{AlertType, ClockEpoch, Outcome, Provider};

    fn at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + TimeDelta::seconds(seconds)
    }

    fn counted(seconds: i64) -> MonotonicTime {
        MonotonicTime::by_date(at(seconds))
    }

    fn now(seconds: i64) -> Present {
        at(seconds).into()
    }

    /// Of a machine that was booted since, after so many seconds by the date.
    fn after_a_boot(seconds: i64) -> Present {
        Present { counted: MonotonicTime { epoch: ClockEpoch::generate(), micros: 7_000_000 }, ..now(seconds) }
    }

    fn inflight(calls_over: i64, lease_until: Option<i64>, owner_dead: bool) -> OpenAttempt {
        let counts =
            AttemptCounts { calls_over: counted(calls_over), next_check: None, lease_until: lease_until.map(counted) };
        OpenAttempt {
            state: AttemptState::Inflight,
            counted: Some(counts),
            turn: at(calls_over.max(lease_until.unwrap_or_default())),
            owner_dead,
        }
    }

    fn unknown(next_check: Option<i64>, lease_until: Option<i64>, owner_dead: bool) -> OpenAttempt {
        let attempt = inflight(0, lease_until, owner_dead);
        let counts = attempt.counted.map(|counts| AttemptCounts { next_check: next_check.map(counted), ..counts });
        OpenAttempt {
            state: AttemptState::Unknown,
            counted: counts,
            turn: at(next_check.unwrap_or_default()),
            ..attempt
        }
    }

    #[rstest]
    #[case("", false)]
    #[case("a", true)]
    #[case("3f0c-77_~!", true)]
    #[case("with blank", false)]
    #[case("tab\t", false)]
    #[case("schlüssel", false)]
    fn an_idempotency_key_has_visible_ascii_characters(#[case] key: &str, #[case] fits: bool) {
        assert_eq!(check_idempotency_key(key).is_ok(), fits);
    }

    #[test]
    fn an_idempotency_key_has_at_most_255_characters() {
        assert!(check_idempotency_key(&"k".repeat(255)).is_ok());
        assert!(check_idempotency_key(&"k".repeat(256)).is_err());
    }

    #[rstest]
    #[case(inflight(10, None, false), 9, false)]
    #[case(inflight(10, None, false), 10, true)]
    #[case(inflight(10, None, true), 0, true)]
    #[case(inflight(10, Some(20), false), 19, false)]
    #[case(inflight(10, Some(20), false), 20, true)]
    #[case(inflight(10, Some(20), true), 11, true)]
    fn an_attempt_on_its_way_is_taken_over_past_its_deadline_and_lease_or_from_the_dead(
        #[case] attempt: OpenAttempt,
        #[case] seconds: i64,
        #[case] due: bool,
    ) {
        assert_eq!(attempt.is_due(now(seconds)), due);
        assert_eq!(
            attempt.holder(AttemptId::generate(), now(seconds)),
            if due { Holder::Nobody } else { Holder::Somebody }
        );
    }

    #[rstest]
    #[case(Some(10), None, false, 9, false)]
    #[case(Some(10), None, false, 10, true)]
    #[case(Some(10), None, true, 9, false)]
    #[case(None, None, false, 0, true)]
    #[case(Some(10), Some(20), false, 15, false)]
    #[case(Some(10), Some(20), true, 15, true)]
    fn an_unknown_attempt_is_taken_over_when_its_check_is_due_and_nobody_living_has_it(
        #[case] next_check: Option<i64>,
        #[case] lease: Option<i64>,
        #[case] owner_dead: bool,
        #[case] seconds: i64,
        #[case] due: bool,
    ) {
        assert_eq!(unknown(next_check, lease, owner_dead).is_due(now(seconds)), due);
    }

    #[test]
    fn no_date_makes_an_attempt_due_or_keeps_it() {
        let (attempt, day) = (unknown(Some(10), None, false), TimeDelta::days(1));
        let dated = |seconds, date| Present { date, ..now(seconds) };

        assert!(!attempt.is_due(dated(9, at(9) + day)), "a clock that jumped ahead");
        assert!(attempt.is_due(dated(10, at(10) - day)), "a clock that was set back");
    }

    #[rstest]
    #[case(inflight(10, None, true), 0, true, "the dead hold nothing")]
    #[case(unknown(Some(500), None, true), 0, true, "nor keep others from looking")]
    #[case(inflight(10, Some(20), false), 79, false, "the living have a minute more")]
    #[case(inflight(10, Some(20), false), 80, true, "and no longer")]
    fn what_another_boot_has_counted_keeps_nobody_out_for_ever(
        #[case] attempt: OpenAttempt,
        #[case] seconds: i64,
        #[case] due: bool,
        #[case] why: &str,
    ) {
        assert_eq!(attempt.is_due(after_a_boot(seconds)), due, "{why}");
        assert_eq!(OpenAttempt { counted: None, ..attempt }.is_due(after_a_boot(seconds)), due, "never counted: {why}");
    }

    proptest! {
        #[test]
        fn nobody_but_a_person_ends_a_parked_attempt(deadline in 0..9i64, lease in proptest::option::of(0..9i64),
            dead: bool, seconds in 0..20i64) {
            let parked = OpenAttempt { state: AttemptState::Parked, ..inflight(deadline, lease, dead) };
            let id = AttemptId::generate();

            for now in [now(seconds), after_a_boot(seconds + 900)] {
                prop_assert!(!parked.is_due(now));
                prop_assert_eq!(parked.holder(id, now), Holder::Person(id));
            }
        }
    }

    const LEASE: TimeDelta = TimeDelta::seconds(100);

    #[rstest]
    #[case(inflight(10, None, false), 12, 10, "a call that nobody followed up ended at its own deadline")]
    #[case(inflight(10, Some(40), false), 50, 40, "a living process may have called until its lease ran out")]
    #[case(inflight(60, Some(40), false), 70, 60, "or until its own deadline")]
    #[case(inflight(10, None, true), 5, 5, "a call of the dead is over when they are found dead")]
    #[case(inflight(10, None, true), 12, 10, "or was over before")]
    #[case(inflight(10, Some(40), true), 20, 20, "they may have called after taking it over")]
    fn taking_an_attempt_over_says_since_when_no_call_is_running(
        #[case] attempt: OpenAttempt,
        #[case] seconds: i64,
        #[case] over: i64,
        #[case] why: &str,
    ) {
        assert_eq!(attempt.calls_over_after_takeover(now(seconds), LEASE), counted(over), "{why}");
    }

    #[test]
    fn what_passed_before_a_boot_counts_as_not_passed() {
        let now = after_a_boot(900);
        let over = |attempt: OpenAttempt| attempt.calls_over_after_takeover(now, LEASE);

        assert_eq!([over(inflight(10, None, true)), over(unknown(Some(10), None, true))], [now.counted; 2]);
        assert_eq!(over(unknown(Some(10), None, false)), now.counted);
        assert_eq!(over(inflight(10, None, false)), now.counted.after(LEASE), "a living process may be calling");
    }

    #[test]
    fn a_key_is_bound_to_its_first_use_before_anything_else_is_looked_at() {
        let used = |same, committed| IdempotencyKeyUse { same, committed };
        let busy = Some(Holder::Somebody);
        let open = || Box::new(Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud));
        let resolved = || {
            let alert = open();
            Box::new(Alert { outcome: Some(Outcome::sample(alert.id)), ..*alert })
        };

        assert_eq!(grant(resolved(), &[used(true, true), used(false, false)], busy), Err(Claim::IdempotencyKeyReused));
        assert!(matches!(grant(resolved(), &[used(true, false), used(true, true)], None), Err(Claim::Replay(_))));
        assert!(matches!(grant(resolved(), &[used(true, false)], busy), Err(Claim::AlreadyResolved(_))));
        assert_eq!(grant(open(), &[used(true, false)], busy), Err(Claim::InProgress(Holder::Somebody)));
        assert!(grant(open(), &[used(true, false)], None).is_ok(), "after a failure the key may try anew");
        assert!(grant(open(), &[], None).is_ok());
    }

    #[test]
    fn an_acceptance_is_committed_only_by_whoever_holds_an_open_attempt_of_an_alert_without_outcome() {
        for state in AttemptState::ALL {
            assert_eq!(may_commit(state, true, false), state.is_open());
            assert!(!may_commit(state, false, false) && !may_commit(state, true, true));
        }
    }

    #[test]
    fn a_late_acceptance_is_never_thrown_away() {
        for state in AttemptState::ALL {
            for another_open in [false, true] {
                assert_eq!(LateAcceptance::of(state, false, another_open), LateAcceptance::Commit);
            }
            let resolved = [LateAcceptance::of(state, true, false), LateAcceptance::of(state, true, true)];
            let own = state == AttemptState::Committed;
            assert_eq!(
                resolved,
                if own { [LateAcceptance::Nothing; 2] } else { [LateAcceptance::Park, LateAcceptance::Release] }
            );
        }
    }

    #[test]
    fn a_state_is_read_as_it_is_written() {
        for state in AttemptState::ALL {
            assert_eq!(AttemptState::parse(state.as_str()), Some(state));
        }
        assert_eq!(AttemptState::parse("LOST"), None);
    }

    #[test]
    fn an_accepted_attempt_leaves_its_outcome_on_the_alert() {
        let (mut alert, attempt) = (Alert::sample(), AttemptId::generate());
        let resolution =
            Resolution::Current { decision: crate::resolution::Decision::Refunded, comments: "by Ann".to_owned() };

        record_outcome(&mut alert, attempt, &resolution, at(5));

        let outcome = alert.outcome.unwrap();
        assert_eq!(
            (outcome.id, outcome.comments.as_str(), outcome.action_time),
            (outcome_id(attempt), "by Ann", Some(at(5)))
        );
    }

    #[test]
    fn what_may_still_end_is_open_and_a_persons_word_is_told() {
        let open: Vec<AttemptState> = AttemptState::ALL.into_iter().filter(|state| state.is_open()).collect();

        assert_eq!(open, [AttemptState::Inflight, AttemptState::Unknown, AttemptState::Parked]);
        assert_eq!([true, false].map(word_of), ["applied", "not applied"]);
    }
}
