//! Indeterminate decisions: sent, and their answer did not come. When the alert is polled, how often, and what it
//! proves.
//!
//! Nothing is ever sent again, whatever is found.

use chrono::TimeDelta;

use crate::{
    Alert, Outcome, Resolution, Timestamp,
    resolution::{InvalidReason, OlderRefunded, OlderWord, decide},
};

/// Seconds before each poll, the first of which is made at once, and before each later one.
const GAPS: [i64; 6] = [0, 2, 4, 8, 15, 30];
const LATER_GAP: i64 = 60;

/// Number of polls without an outcome after which the decision has probably not arrived. It may still arrive, and
/// polling goes on.
const GIVE_UP: usize = 6;

/// Number of polls that a command makes before it returns its result: some fifteen seconds.
const POLLS_OF_A_COMMAND: usize = 4;

/// Returns the time before a poll, counted from 0, since the one before it.
pub fn gap_before(poll: usize) -> TimeDelta {
    TimeDelta::seconds(GAPS.get(poll).copied().unwrap_or(LATER_GAP))
}

/// Returns the gaps before the polls of a command.
pub fn gaps_of_a_command() -> Vec<std::time::Duration> {
    (0..POLLS_OF_A_COMMAND).map(|poll| gap_before(poll).to_std().unwrap_or_default()).collect()
}

/// An alert as a poll found it.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The alert, read after the other.
    pub alert: Alert,
    /// True where the engine still works on a decision on it; `None` where the provider does not say.
    pub pending: Option<bool>,
    /// Lead of the provider's clock over ours, negative where it is late; `None` where it does not say.
    pub clock_lead: Option<TimeDelta>,
}

/// Evidence of a poll about a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// The decision is the alert's outcome.
    Landed,
    /// The alert has another outcome.
    Overtaken,
    /// The engine has found out that the network did not apply it.
    NotApplied,
    /// No evidence so far: the decision may still arrive.
    Nothing,
}

/// Returns the evidence of an alert, as it was found, about a resolution that was sent at this moment.
pub fn proof(resolution: &Resolution, sent_at: Timestamp, found: &Found) -> Proof {
    // The service's times are by its own clock: one that is late puts what followed on the decision before it.
    let sent_at = sent_at + found.clock_lead.unwrap_or_default().min(TimeDelta::zero());
    match (&found.alert.outcome, found.pending) {
        (Some(outcome), _) if !outcome.has_succeeded() => Proof::Nothing,
        (Some(outcome), _) if is_meant(resolution, outcome, sent_at) => Proof::Landed,
        (Some(_), _) => Proof::Overtaken,
        (None, Some(false)) => Proof::NotApplied,
        (None, Some(true) | None) => Proof::Nothing,
    }
}

/// The polling of an alert whose decision is indeterminate.
#[derive(Debug, Clone, PartialEq)]
pub struct Polling {
    /// Reason that the decision is indeterminate.
    pub why: String,
    pub since: Timestamp,
    /// Number of polls that found no outcome.
    pub polls: usize,
    /// Time of the next poll.
    pub next_poll: Timestamp,
    /// Number of polls made; some of them may have failed.
    attempts: usize,
    in_flight: bool,
}

impl Polling {
    /// Begins polling at once.
    pub fn new(why: String, now: Timestamp) -> Self {
        Self { why, since: now, polls: 0, next_poll: now + gap_before(0), attempts: 0, in_flight: false }
    }

    /// Returns true after so many polls without an outcome that the decision has probably not arrived.
    pub fn has_given_up(&self) -> bool {
        self.polls >= GIVE_UP
    }

    /// Brings the next poll forward: something changed.
    pub fn poll_now(&mut self, now: Timestamp) {
        self.next_poll = self.next_poll.min(now);
    }

    /// Returns the time of the next poll; `None` while one is in flight.
    pub fn next_wake(&self) -> Option<Timestamp> {
        (!self.in_flight).then_some(self.next_poll)
    }

    /// Takes the poll that is due, one at a time. One that is further away than its gap is due: then the clock was set
    /// back.
    pub fn take_due(&mut self, now: Timestamp) -> bool {
        let due = self.next_wake().is_some_and(|at| at <= now || at - now > gap_before(self.attempts));
        self.in_flight |= due;
        due
    }

    /// Records a poll; `in_vain` where it proved nothing. One that failed counts for nothing. Returns true
    /// where it was the last poll without an outcome before [`Polling::has_given_up`].
    pub fn polled(&mut self, in_vain: bool, now: Timestamp) -> bool {
        self.in_flight = false;
        self.attempts += 1;
        self.next_poll = now + gap_before(self.attempts);
        self.polls += usize::from(in_vain);
        in_vain && self.polls == GIVE_UP
    }
}

/// Longest lag of another machine's clock behind ours.
const SKEW: TimeDelta = TimeDelta::minutes(5);

/// Returns true for an `outcome` that results from `resolution`, sent at `sent_at`.
fn is_meant(resolution: &Resolution, outcome: &Outcome, sent_at: Timestamp) -> bool {
    let verdict = decide(resolution);
    let (said, reason) = match resolution {
        Resolution::Current { decision, .. } => (decision.refunded(), decision.reason().map(InvalidReason::as_str)),
        Resolution::Older { refunded, .. } => (refunded.as_str(), None),
    };
    let code = outcome.dispute_reason_code.as_deref().unwrap_or_default();
    let reason_or = |word| reason.unwrap_or(word);
    let reasons = InvalidReason::ALL.map(InvalidReason::as_str);
    let refunded = OlderRefunded::ALL.map(OlderRefunded::as_str).into_iter().chain(["INVALID"]);
    let outcomes = OlderWord::ALL.map(OlderWord::as_str).into_iter().chain(reasons);
    let codes = InvalidReason::ALL.map(InvalidReason::code);
    let codes = codes.iter().map(String::as_str).chain(reasons);
    let evidence = [
        word(&outcome.refunded, [&verdict.refunded, said], refunded),
        word(&outcome.outcome, [&verdict.outcome, reason_or(&verdict.outcome)], outcomes),
        word(code, [verdict.dispute_reason_code.as_deref().unwrap_or_default(), reason_or("")], codes),
    ];
    let earlier = outcome.action_time.is_some_and(|acted| acted < sent_at - SKEW);
    let amount = match (verdict.amount_stopped, outcome.amount_stopped) {
        (Some(meant), Some(stored)) => meant.decimal() == stored.decimal(),
        (None, Some(stored)) => stored.decimal().is_zero(),
        (_, None) => true,
    };
    let comments = prose(resolution.comments()) == prose(&outcome.comments);
    comments && amount && !earlier && !evidence.contains(&Some(false)) && evidence.contains(&Some(true))
}

/// Returns true for an outcome that contradicts a resolution about the money. A provider that answers with it has not
/// recorded the resolution, whatever it calls its answer. An earlier refund may be reported either way.
pub fn is_contrary(resolution: &Resolution, outcome: &Outcome) -> bool {
    let [refunded, not_refunded] =
        [OlderRefunded::Refunded, OlderRefunded::NotRefunded].map(|word| plain(word.as_str()));
    let contrary = if plain(&decide(resolution).refunded) == refunded { not_refunded } else { refunded };
    !resolution.says_refunded_before() && plain(&outcome.refunded) == contrary
}

/// Returns the evidence of a stored word: true where it is one of the meant ones, false where it is another one that is
/// known of its field. An unknown word is no evidence.
fn word<'w>(stored: &str, meant: [&str; 2], mut known: impl Iterator<Item = &'w str>) -> Option<bool> {
    let stored = plain(stored);
    let is = |word: &str| plain(word) == stored;
    let is_meant = meant.into_iter().any(is);
    (!stored.is_empty() && (is_meant || known.any(is))).then_some(is_meant)
}

/// Returns a word without letter case, blanks, hyphens and underscores: NOTFOUND and not_found are one.
fn plain(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, ' ' | '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// Prose as all keep it: what is lost on the way (blanks at the ends, forms of line breaks) does not count.
fn prose(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::{AlertId, AlertType, Amount, Outcome, Provider, resolution::Decision, time::from_iso};

    fn sent_at() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    fn says(decision: Decision, comments: &str) -> Resolution {
        Resolution::Current { decision, comments: comments.to_owned() }
    }

    /// Returns the outcome that avert's own engine stores for a resolution.
    fn stored(resolution: &Resolution) -> Outcome {
        let verdict = decide(resolution);
        Outcome {
            outcome: verdict.outcome,
            refunded: verdict.refunded,
            comments: resolution.comments().to_owned(),
            dispute_reason_code: verdict.dispute_reason_code,
            amount_stopped: verdict.amount_stopped,
            action_time: Some(sent_at()),
            ..Outcome::sample(AlertId::generate())
        }
    }

    #[test]
    fn each_decision_is_told_from_every_other_one() {
        for meant in Decision::ALL {
            for other in Decision::ALL {
                let landed = is_meant(&says(meant, ""), &stored(&says(other, "")), sent_at());

                assert_eq!(landed, meant == other, "{meant:?} {other:?}");
            }
        }
    }

    #[rstest]
    #[case(Decision::Refunded, "not refunded", true)]
    #[case(Decision::Refunded, "NOT_REFUNDED", true)]
    #[case(Decision::Refunded, "Refunded", false)]
    #[case(Decision::Refunded, "not settled", false)]
    #[case(Decision::Refunded, "", false)]
    #[case(Decision::NotRefunded, "refunded", true)]
    #[case(Decision::NotRefunded, "not refunded", false)]
    #[case(Decision::Invalid(InvalidReason::Duplicate), "refunded", true)]
    #[case(Decision::Invalid(InvalidReason::Duplicate), "INVALID", false)]
    #[case(Decision::Invalid(InvalidReason::PreviouslyRefunded), "not refunded", false)]
    fn the_contrary_is_that_money_went_back_where_none_was_to_or_the_other_way_round(
        #[case] meant: Decision,
        #[case] refunded: &str,
        #[case] contrary: bool,
    ) {
        let outcome = Outcome { refunded: refunded.to_owned(), ..Outcome::sample(AlertId::generate()) };

        assert_eq!(is_contrary(&says(meant, ""), &outcome), contrary);
    }

    #[rstest]
    #[case("REFUNDED", "RESOLVED", "", true)]
    #[case("Refunded", "something of its own", "", true)]
    #[case("", "Resolved", "", true)]
    #[case("NOT_REFUNDED", "", "", false)]
    #[case("refunded", "stopped", "", false)]
    #[case("refunded", "resolved", "DUPLICATE", false)]
    #[case("yes", "code 17", "", false)]
    #[case("", "", "", false)]
    fn a_refund_is_known_in_the_words_of_others(
        #[case] refunded: &str,
        #[case] outcome: &str,
        #[case] reason: &str,
        #[case] ours: bool,
    ) {
        let outcome = Outcome {
            refunded: refunded.to_owned(),
            outcome: outcome.to_owned(),
            dispute_reason_code: Some(reason.to_owned()).filter(|reason| !reason.is_empty()),
            ..stored(&says(Decision::Refunded, ""))
        };

        assert_eq!(is_meant(&says(Decision::Refunded, ""), &outcome, sent_at()), ours);
    }

    #[rstest]
    #[case("by Ann", "by Ann", true)]
    #[case("by Ann\r\n", "by Ann", true)]
    #[case("by Ann", "by Bob", false)]
    #[case("", "by Bob", false)]
    fn comments_tell_whose_decision_it_is(#[case] meant: &str, #[case] kept: &str, #[case] ours: bool) {
        let outcome = stored(&says(Decision::Refunded, kept));

        assert_eq!(is_meant(&says(Decision::Refunded, meant), &outcome, sent_at()), ours);
    }

    #[test]
    fn an_outcome_from_before_the_decision_left_is_not_ours() {
        let meant = says(Decision::Refunded, "");
        let at = |minutes| Outcome { action_time: Some(sent_at() + TimeDelta::minutes(minutes)), ..stored(&meant) };

        assert!(is_meant(&meant, &at(-4), sent_at()));
        assert!(is_meant(&meant, &at(-5), sent_at()), "as far apart as two clocks may be");
        assert!(!is_meant(&meant, &at(-6), sent_at()));
    }

    #[rstest]
    #[case(Some("10.1"), true)]
    #[case(Some("9.99"), false)]
    #[case(None, true)]
    fn a_partial_stop_is_known_by_its_amount(#[case] kept: Option<&str>, #[case] ours: bool) {
        let amount = |text: &str| -> Amount { text.parse().unwrap() };
        let meant = Resolution::Older {
            word: OlderWord::PartiallyStopped,
            refunded: OlderRefunded::Refunded,
            amount_stopped: Some(amount("10.10")),
            comments: String::new(),
        };
        let outcome = Outcome { amount_stopped: kept.map(amount), ..stored(&meant) };

        assert_eq!(is_meant(&meant, &outcome, sent_at()), ours);
    }

    fn now() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    fn found(refunded: Option<&str>, pending: Option<bool>) -> Found {
        let id = AlertId::generate();
        let outcome = refunded.map(|refunded| Outcome { refunded: refunded.to_owned(), ..Outcome::sample(id) });
        Found {
            alert: Alert { outcome, ..Alert::new(id, Provider::Cdrn, AlertType::VerifiDispute) },
            pending,
            clock_lead: None,
        }
    }

    #[rstest]
    #[case(Some("refunded"), Some(true), Proof::Landed)]
    #[case(Some("refunded"), None, Proof::Landed)]
    #[case(Some("not refunded"), Some(false), Proof::Overtaken)]
    #[case(None, Some(false), Proof::NotApplied)]
    #[case(None, Some(true), Proof::Nothing)]
    #[case(None, None, Proof::Nothing)]
    fn an_outcome_proves_whose_decision_landed_and_none_proves_something_only_where_the_engine_tells(
        #[case] refunded: Option<&str>,
        #[case] pending: Option<bool>,
        #[case] proves: Proof,
    ) {
        let meant = Resolution::Current { decision: Decision::Refunded, comments: String::new() };

        assert_eq!(proof(&meant, now(), &found(refunded, pending)), proves);
    }

    #[rstest]
    #[case("success", Proof::Landed)]
    #[case(" SUCCESS", Proof::Landed)]
    #[case("", Proof::Landed)]
    #[case("failure", Proof::Nothing)]
    #[case("pending", Proof::Nothing)]
    fn an_outcome_whose_processing_did_not_succeed_proves_nothing(#[case] status: &str, #[case] proves: Proof) {
        let meant = Resolution::Current { decision: Decision::Refunded, comments: String::new() };
        let mut found = found(Some("refunded"), None);
        found.alert.outcome.as_mut().unwrap().status = status.to_owned();

        assert_eq!(proof(&meant, now(), &found), proves);
    }

    #[rstest]
    #[case::in_step(0, -6, Proof::Overtaken)]
    #[case::late(-60, -60, Proof::Landed)]
    #[case::late_and_before(-60, -66, Proof::Overtaken)]
    #[case::ahead(60, 60, Proof::Landed)]
    fn a_late_clock_of_the_service_does_not_make_our_decision_anothers(
        #[case] lead: i64,
        #[case] acted: i64,
        #[case] proves: Proof,
    ) {
        let meant = Resolution::Current { decision: Decision::Refunded, comments: String::new() };
        let mut found = Found { clock_lead: Some(TimeDelta::minutes(lead)), ..found(Some("refunded"), None) };
        if let Some(outcome) = &mut found.alert.outcome {
            outcome.action_time = Some(now() + TimeDelta::minutes(acted));
        }

        assert_eq!(proof(&meant, now(), &found), proves);
    }

    #[test]
    fn polls_come_at_once_then_ever_later_and_never_more_than_a_minute_apart() {
        let gaps: Vec<i64> = (0..9).map(|poll| gap_before(poll).num_seconds()).collect();

        assert_eq!(gaps, [0, 2, 4, 8, 15, 30, 60, 60, 60]);
        assert_eq!((0..POLLS_OF_A_COMMAND).map(|poll| gap_before(poll).num_seconds()).sum::<i64>(), 14);
    }

    #[test]
    fn it_is_given_up_once_after_six_polls_in_vain_and_failed_ones_do_not_count() {
        let mut polling = Polling::new("time-out".to_owned(), now());
        let polls = [false, true].into_iter().cycle().take(14);

        let given_up: Vec<usize> =
            polls.enumerate().filter_map(|(at, in_vain)| polling.polled(in_vain, now()).then_some(at)).collect();

        assert_eq!(given_up, [11]);
        assert!(polling.has_given_up());
    }

    #[test]
    fn a_clock_set_back_keeps_no_poll_waiting_longer_than_its_gap() {
        let mut polling = Polling::new("time-out".to_owned(), now());
        polling.polled(false, now());

        assert!(!polling.take_due(now()), "it waits for 2 s");
        assert!(polling.take_due(now() - TimeDelta::days(1)));
    }

    #[test]
    fn one_poll_is_in_flight_at_a_time() {
        let mut polling = Polling::new("time-out".to_owned(), now());

        assert_eq!([polling.take_due(now()), polling.take_due(now())], [true, false]);
        assert_eq!(polling.next_wake(), None);
        polling.polled(false, now());
        assert!(!polling.take_due(now()) && polling.take_due(now() + gap_before(1)));
    }

    #[test]
    fn it_is_not_given_up_before_and_a_poll_can_be_brought_forward() {
        let mut polling = Polling::new("time-out".to_owned(), now());
        polling.polled(true, now());
        polling.polled(true, now());
        assert!(!polling.has_given_up());

        polling.poll_now(now() + TimeDelta::seconds(1));

        assert_eq!(polling.next_wake(), Some(now() + TimeDelta::seconds(1)));
        polling.poll_now(now() + TimeDelta::seconds(9));
        assert_eq!(polling.next_wake(), Some(now() + TimeDelta::seconds(1)), "never later");
    }
}
