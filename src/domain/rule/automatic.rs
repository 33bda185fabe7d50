//! Automatic rules: those that the engine answers by, with their limits, the guard before each answer, and their state.

use chrono::{NaiveDate, NaiveTime, TimeDelta};
use sha2::{Digest, Sha256};

use super::DecisionRule;
use crate::{
    Actor, Alert, Amount, Money, Resolution, Timestamp,
    audit::hex,
    caution::{Caution, CheckedAnswer},
    closed_enum,
    duplicate::{Duplicate, DuplicateState, RefundTime},
    time::later_by,
};

/// Time for which a new line is dry.
const DRY: TimeDelta = TimeDelta::hours(24);

/// Number of answers of a rule that fail one after the other before it stops itself.
pub const MOST_FAILURES: u32 = 3;

/// Limits of an automatic rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleLimits {
    /// Most answers of a UTC day in an organization.
    pub per_day: u32,
    /// Most money of the alerts that it answers on such a day.
    pub amount_per_day: Money,
    /// Day from which it answers, in place of the first hours in which its line is dry.
    pub from: Option<NaiveDate>,
    /// True where refunds are made elsewhere, and no report of them is asked for.
    pub refunds_elsewhere: bool,
}

/// A rule that the engine answers by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AutomaticRule {
    pub rule: DecisionRule,
    pub limits: RuleLimits,
}

/// Facts of an alert that a rule is about to answer.
#[derive(Debug, Clone)]
pub struct RuleFacts<'a> {
    pub alert: &'a Alert,
    /// Others on its payment, with the answers on their way.
    pub duplicates: Vec<Duplicate>,
    /// Time of the succeeded refund of its whole amount; `None` where none is known.
    pub refund: Option<RefundTime>,
    /// True where another alert on the payment was answered with a refund, or is being answered so.
    pub is_refunded_elsewhere: bool,
}

impl AutomaticRule {
    /// Builds a rule that answers by itself.
    ///
    /// # Errors
    /// An answer that cannot be checked without the shop's orders, which the engine does not have.
    pub fn new(rule: DecisionRule, limits: RuleLimits) -> Result<Self, String> {
        let built = Self { rule, limits };
        if built.resolution().says_not_found() {
            let name = &built.rule.name;
            return Err(format!("rule {name} cannot be automatic: \"not found\" needs the shop's orders"));
        }
        Ok(built)
    }

    /// Returns its answer.
    pub fn resolution(&self) -> Resolution {
        Resolution::Current { decision: self.rule.decision, comments: self.rule.comments.clone() }
    }

    /// Returns the hash of its line.
    pub fn hash(&self) -> String {
        let DecisionRule { text, decision, comments, .. } = &self.rule;
        hex(&Sha256::digest(format!("{text}\n{decision:?}\n{comments}")))
    }

    /// Returns the actor of its answers.
    pub fn actor(&self) -> Actor {
        Actor { person: format!("rule:{}", self.rule.name), ..Actor::avert() }
    }

    /// Returns why it does not answer an alert; `None` where it may. What people would have to confirm is never sent.
    pub fn objection(&self, facts: &RuleFacts<'_>, now: Timestamp) -> Option<String> {
        let (alert, resolution) = (facts.alert, self.resolution());
        let answer = CheckedAnswer::of(alert, &resolution, facts.duplicates.clone());
        if let Some(caution) = answer.cautions(now).first() {
            return Some(caution.words().to_owned());
        }
        let RuleLimits { amount_per_day, refunds_elsewhere, .. } = &self.limits;
        let is_proven = |duplicate: &Duplicate| {
            matches!(duplicate.state, DuplicateState::Refunded { .. }) && duplicate.evidence.is_sure()
        };
        let of_money = match (resolution.gives_money_back(), resolution.says_refunded_before(), facts.refund) {
            (true, ..) if facts.is_refunded_elsewhere => Some(Caution::PaidTwice.words()),
            (true, _, Some(RefundTime::Before)) => Some("the payment was refunded before the alert"),
            (_, true, Some(RefundTime::Since)) => Some("the payment was refunded since the alert"),
            (true, _, Some(RefundTime::Since)) | (_, true, Some(RefundTime::Before)) => None,
            (false, true, _) if answer.refunds.iter().any(is_proven) => None,
            (true, ..) | (_, true, _) => (!refunds_elsewhere).then_some("no succeeded refund of the payment is known"),
            (false, false, refund) => refund.map(|_| Caution::RefundDenied.words()),
        };
        match alert.money() {
            _ if of_money.is_some() => of_money.map(str::to_owned),
            None => Some("its amount is unknown".to_owned()),
            Some(money) if !money.currency.is_same(&amount_per_day.currency) => {
                Some(format!("its currency is not {}", amount_per_day.currency))
            }
            Some(money) if money.amount.decimal() > amount_per_day.amount.decimal() => {
                Some("its amount alone is above the limit of a day".to_owned())
            }
            Some(_) => None,
        }
    }

    /// Returns true where one more answer, to an alert of this amount, goes beyond its limits.
    pub fn exceeds(&self, today: &RuleDay, amount: Amount) -> bool {
        let RuleLimits { per_day, amount_per_day, .. } = &self.limits;
        let sum = today.amount.saturating_add(amount);
        today.answered >= u64::from(*per_day) || sum.decimal() > amount_per_day.amount.decimal()
    }

    /// Returns the record of a line that is seen now, with the stop of all rules.
    pub fn unseen(&self, stop: Option<RuleStop>, now: Timestamp) -> RuleRecord {
        let today = RuleDay { answered: 0, amount: Amount::from_micros(0) };
        let (name, hash) = (self.rule.name.clone(), self.hash());
        RuleRecord { name, hash, seen_at: now, stop, today, would_have_answered: 0 }
    }

    /// Returns it with its state.
    pub fn status(&self, record: &RuleRecord, now: Timestamp) -> RuleStatus {
        let (state, since) = self.state(record, now);
        RuleStatus {
            name: self.rule.name.clone(),
            query: self.rule.text.clone(),
            answer: self.rule.decision.words(),
            limits: self.limits.clone(),
            state,
            since,
            reason: record.stop.filter(|_| state == RuleState::Stopped).map(|stop| stop.reason),
            today: record.today,
            would_have_answered: record.would_have_answered,
        }
    }

    /// Returns its state, and since when it is in it.
    pub fn state(&self, record: &RuleRecord, now: Timestamp) -> (RuleState, Timestamp) {
        if let Some(stop) = record.stop.filter(|stop| stop.holds(now)) {
            return (RuleState::Stopped, stop.at);
        }
        let midnight = |day: NaiveDate| day.and_time(NaiveTime::MIN).and_utc();
        let begins = self.limits.from.map_or_else(|| later_by(record.seen_at, DRY), midnight);
        if now < begins { (RuleState::Dry, record.seen_at) } else { (RuleState::Active, begins.max(record.seen_at)) }
    }
}

closed_enum! {
    /// State of an automatic rule.
    pub enum RuleState {
        /// It tells what it would have answered.
        Dry = "dry",
        Active = "active",
        Stopped = "stopped",
    }
}

closed_enum! {
    /// Reason for which a rule is stopped.
    pub enum StopReason {
        Operator = "operator": "an operator stopped all rules",
        /// Until the end of the UTC day.
        Limit = "limit": "its limit of the day is reached",
        /// Until the file can be read again.
        File = "file": "its file cannot be read",
        Failures = "failures": "its last answers failed",
    }
}

/// The stop of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleStop {
    pub reason: StopReason,
    pub at: Timestamp,
}

impl RuleStop {
    /// Returns true where it still holds.
    pub fn holds(&self, now: Timestamp) -> bool {
        self.reason != StopReason::Limit || self.at.date_naive() >= now.date_naive()
    }
}

/// An automatic rule as it is kept for an organization, or the stop of all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleRecord {
    pub name: String,
    /// Hash of its line.
    pub hash: String,
    /// Time at which the line was first seen.
    pub seen_at: Timestamp,
    pub stop: Option<RuleStop>,
    pub today: RuleDay,
    /// Answers that it would have given.
    pub would_have_answered: u64,
}

impl RuleRecord {
    /// Returns true for the one without a name, which has the stop of all rules.
    pub fn is_of_all(&self) -> bool {
        self.name.is_empty()
    }
}

/// Answers of a rule on a UTC day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleDay {
    pub answered: u64,
    /// Money of the alerts that it answered.
    pub amount: Amount,
}

/// Turn of an automatic rule at an alert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleTurn {
    /// It does nothing, and why.
    Held(String),
    /// It stops itself.
    Stop(StopReason),
    /// It tells what it would have answered.
    Dry,
    Answer,
}

/// An automatic rule with its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleStatus {
    pub name: String,
    pub query: String,
    /// Its answer, in words.
    pub answer: String,
    pub limits: RuleLimits,
    pub state: RuleState,
    pub since: Timestamp,
    /// Reason of the stop.
    pub reason: Option<StopReason>,
    pub today: RuleDay,
    pub would_have_answered: u64,
}

/// A stopped rule, as its event tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoppedRule {
    pub name: String,
    pub stop: RuleStop,
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::{
        AlertId, AlertStatus, AlertType, Currency, Deadline, Provider, duplicate::DuplicateState, rule::parse_rules,
        time::from_iso,
    };

    fn now() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    fn limits() -> RuleLimits {
        RuleLimits { per_day: 3, amount_per_day: "500 EUR".parse().unwrap(), from: None, refunds_elsewhere: false }
    }

    fn rule(answer: &str) -> AutomaticRule {
        let line = format!("small: amount<1000 currency:EUR -> {answer}");
        AutomaticRule::new(parse_rules(&line).unwrap().remove(0), limits()).unwrap()
    }

    fn alert() -> Alert {
        let deadline = Deadline::At(now() + TimeDelta::hours(9));
        Alert { id: AlertId::generate(), amount: "129.90".parse().ok(), deadline, ..Alert::sample() }
    }

    /// Another alert on the payment, with the answer on its way.
    fn twin(alert: &Alert, other: &Alert, coming: Option<&str>) -> Duplicate {
        let coming = coming.map(|answer| DuplicateState::OnItsWay(rule(answer).resolution()));
        let other = Alert { id: AlertId::generate(), provider: Provider::Cdrn, ..other.clone() };
        Duplicate::of(alert, &other, coming).unwrap()
    }

    /// Facts of an alert of which nothing else is known.
    fn known(alert: &Alert) -> RuleFacts<'_> {
        RuleFacts { alert, duplicates: Vec::new(), refund: None, is_refunded_elsewhere: false }
    }

    const BEFORE: Option<RefundTime> = Some(RefundTime::Before);
    const SINCE: Option<RefundTime> = Some(RefundTime::Since);
    const PROOF: &str = "no succeeded refund of the payment is known";

    #[rstest]
    #[case::refund_that_succeeded("refunded", SINCE, None, None)]
    #[case::refund_before_the_alert("refunded", BEFORE, None, Some("the payment was refunded before the alert"))]
    #[case::refund_at_an_unknown_time("refunded", Some(RefundTime::Unknown), None, Some(PROOF))]
    #[case::refund_that_nobody_knows("refunded", None, None, Some(PROOF))]
    #[case::refund_before_that_nobody_knows("invalid previously-refunded", None, None, Some(PROOF))]
    #[case::refund_before("invalid previously-refunded", BEFORE, None, None)]
    #[case::refund_since("invalid previously-refunded", SINCE, None, Some("the payment was refunded since the alert"))]
    #[case::denied_though_refunded("not-refunded", SINCE, None, Some("already refunded"))]
    #[case::denied("not-refunded", None, None, None)]
    #[case::another_refund_on_its_way("refunded", SINCE, Some("refunded"), Some("possible double refund"))]
    #[case::denied_with_a_refund_on_its_way("not-refunded", None, Some("refunded"), Some("already refunded"))]
    #[case::another_denied("not-refunded", None, Some("not-refunded"), None)]
    fn money_decides_which_answers_a_rule_gives(
        #[case] answer: &str,
        #[case] refund: Option<RefundTime>,
        #[case] coming: Option<&str>,
        #[case] why: Option<&str>,
    ) {
        let alert = alert();
        let duplicates = coming.map(|coming| twin(&alert, &alert, Some(coming))).into_iter().collect();
        let facts = RuleFacts { duplicates, refund, ..known(&alert) };

        assert_eq!(rule(answer).objection(&facts, now()).as_deref(), why);
    }

    #[rstest]
    #[case::expired(Alert { status: AlertStatus::Expired, ..alert() }, "expired")]
    #[case::due(Alert { deadline: Deadline::At(now()), ..alert() }, "expired")]
    #[case::notice(Alert { alert_type: AlertType::VerifiFraudNotice, ..alert() }, "the network expects no answer")]
    #[case::amount_unknown(Alert { amount: None, ..alert() }, "its amount is unknown")]
    #[case::other_currency(Alert { currency: Currency::new("USD"), ..alert() }, "its currency is not EUR")]
    #[case::above_the_limit(Alert { amount: "500.01".parse().ok(), ..alert() }, "its amount alone is above")]
    #[case::networks_rule(
        Alert { provider: Provider::Verifi, rule_name: Some("Above 10".to_owned()), ..alert() },
        "possible double refund"
    )]
    fn an_alert_that_people_would_look_at_is_left(#[case] alert: Alert, #[case] why: &str) {
        let facts = RuleFacts { refund: SINCE, ..known(&alert) };

        let said = rule("refunded").objection(&facts, now()).unwrap_or_default();

        assert!(said.starts_with(why), "{said}");
    }

    #[test]
    fn a_refund_of_another_alert_on_the_payment_holds_a_rule_whose_refunds_are_made_elsewhere() {
        let alert = alert();
        let refunded = Alert { status: AlertStatus::Refunded, ..alert.clone() };
        let facts = RuleFacts { duplicates: vec![twin(&alert, &refunded, None)], ..known(&alert) };
        let elsewhere =
            AutomaticRule { limits: RuleLimits { refunds_elsewhere: true, ..limits() }, ..rule("refunded") };

        let alone = known(&alert);
        let unlike = RuleFacts { is_refunded_elsewhere: true, ..known(&alert) };

        assert_eq!(elsewhere.objection(&facts, now()).as_deref(), Some("possible double refund"));
        assert_eq!(elsewhere.objection(&unlike, now()).as_deref(), Some("possible double refund"));
        assert_eq!(elsewhere.objection(&alone, now()), None);
    }

    #[rstest]
    #[case(2, "370.10", false)]
    #[case(3, "0.00", true)]
    #[case(1, "370.11", true)]
    fn one_answer_more_goes_up_to_the_limits(#[case] answered: u64, #[case] amount: &str, #[case] exceeds: bool) {
        let today = RuleDay { answered, amount: amount.parse().unwrap() };

        assert_eq!(rule("refunded").exceeds(&today, "129.90".parse().unwrap()), exceeds);
    }

    #[rstest]
    #[case::new(None, None, 23, RuleState::Dry)]
    #[case::known_for_a_day(None, None, 24, RuleState::Active)]
    #[case::from_a_day_that_came(Some("2026-03-10"), None, 0, RuleState::Active)]
    #[case::from_a_day_to_come(Some("2026-03-12"), None, 24, RuleState::Dry)]
    #[case::stopped(None, Some(StopReason::Operator), 48, RuleState::Stopped)]
    #[case::limit_of_the_day(None, Some(StopReason::Limit), 11, RuleState::Stopped)]
    #[case::limit_of_the_day_before(None, Some(StopReason::Limit), 12, RuleState::Dry)]
    fn a_rule_is_dry_active_or_stopped(
        #[case] from: Option<&str>,
        #[case] stop: Option<StopReason>,
        #[case] hours: i64,
        #[case] state: RuleState,
    ) {
        let limits = RuleLimits { from: from.map(|day| day.parse().unwrap()), ..limits() };
        let rule = AutomaticRule { limits, ..rule("refunded") };
        let record = rule.unseen(stop.map(|reason| RuleStop { reason, at: now() }), now());

        assert_eq!(rule.state(&record, now() + TimeDelta::hours(hours)).0, state);
    }

    #[test]
    fn another_answer_or_query_is_another_line_and_not_found_cannot_be_automatic() {
        let hashes = ["refunded", "refunded \"x\"", "not-refunded"].map(|answer| rule(answer).hash());
        let not_found = parse_rules("small: mcc:1 -> invalid not-found").unwrap().remove(0);

        assert!(hashes[0] != hashes[1] && hashes[0] != hashes[2] && hashes[0] == rule("refunded").hash());
        assert!(AutomaticRule::new(not_found, limits()).unwrap_err().contains("needs the shop's orders"));
    }
}
