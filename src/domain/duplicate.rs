//! Duplicates: several alerts on one payment. What to ask a service for, what says that two of them are, and what follows for an answer.

mod facts;

use std::collections::{BTreeSet, HashMap};

use chrono::Duration;

pub use facts::{SharedFact, shared_facts};

use super::alert::{Alert, Provider};
use super::filter::{AlertFilter, AlertQuery, MAX_PAGE_SIZE, PageRequest, Sort, SortField, SortOrder};
use super::ids::AlertId;
use super::resolution::{InvalidReason, Resolution};
use super::time::Timestamp;

/// How far apart two networks may date the same transaction (field notes, Matching).
const SAME_TRANSACTION: Duration = Duration::days(3);

/// How far apart two alerts on one transaction may be raised, where a transaction time is missing.
const SAME_DISPUTE: Duration = Duration::days(14);

/// How far apart two alerts with one auth code may be, where no card says that it is the same one: codes of six digits come again.
const SAME_CODE: Duration = Duration::days(2);

/// Shorter references than this name no single transaction.
const SHORTEST_ARN: usize = 8;

/// The query for an alert's possible duplicates: everything on the card's last four digits, newest first, which is as near as the
/// interface comes to "the same card". `None` where too little is known of the card or the money.
pub fn query(alert: &Alert) -> Option<AlertQuery> {
    let last_four = last_four(alert)?;
    alert.amount.is_some().then(|| AlertQuery {
        filter: AlertFilter { q: Some(last_four.to_owned()), ..AlertFilter::default() },
        sort: Sort { field: SortField::AlertTimeStamp, order: SortOrder::Descending },
        page: PageRequest { page: 0, size: MAX_PAGE_SIZE },
    })
}

fn last_four(alert: &Alert) -> Option<&str> {
    Some(alert.card_last_four.trim()).filter(|digits| digits.len() >= 4)
}

/// The evidence that two alerts are on one payment: what they have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DuplicateEvidence {
    /// Card, amount, currency, and the day of the transaction.
    CardAmountAndDay,
    /// Card, amount and currency, and dates that are near as far as they are known.
    CardAndAmount,
    /// The acquirer's reference of the transaction.
    Arn,
    /// Card and authorization code, and dates that are near as far as they are known.
    CardAndAuthCode,
    /// Authorization code, amount and currency within two days, where one side has no card digits.
    AuthCodeAndAmount,
}

impl DuplicateEvidence {
    /// In words, for beside the other alert.
    pub const fn words(self) -> &'static str {
        match self {
            Self::CardAmountAndDay => "same card, amount and day",
            Self::CardAndAmount => "same card and amount",
            Self::Arn => "same ARN",
            Self::CardAndAuthCode => "same card and auth code",
            Self::AuthCodeAndAmount => "same auth code and amount",
        }
    }
}

/// What a service that can only be asked what the interface knows leaves uncompared, in words; nothing where there is nothing more to compare.
pub fn not_compared(alert: &Alert) -> Option<String> {
    let has = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.trim().is_empty());
    let references = match (has(&alert.acquirer_reference_number), has(&alert.auth_code)) {
        (true, true) => Some("ARN and auth code not checked"),
        (true, false) => Some("ARN not checked"),
        (false, true) => Some("auth code not checked"),
        (false, false) => None,
    };
    match (query(alert).is_none(), references) {
        (true, Some(words)) => Some(format!("doubles not looked for: no card digits or no amount; {words}")),
        (true, None) => Some("doubles not looked for: no card digits or no amount".to_owned()),
        (false, words) => {
            let it = if has(&alert.acquirer_reference_number) && has(&alert.auth_code) { "them" } else { "it" };
            words.map(|words| format!("{words}: this deployment cannot be searched by {it}"))
        }
    }
}

/// The evidence that two alerts are duplicates; `None` where there is none, and for an alert and itself. Times that were not given are none.
pub fn evidence(one: &Alert, other: &Alert) -> Option<DuplicateEvidence> {
    if one.id == other.id {
        return None;
    }
    let same = |a: &Option<String>, b: &Option<String>, shortest: usize| {
        let [a, b] = [a, b].map(|text| text.as_deref().map(str::trim));
        a == b && a.is_some_and(|text| text.len() >= shortest)
    };
    let transacted = one.given_transaction_time().zip(other.given_transaction_time());
    let raised = one.alert_time.zip(other.alert_time);
    let within = |times: Option<(Timestamp, Timestamp)>, limit: Duration| times.map(|(a, b)| (a - b).abs() <= limit);
    let in_time = || within(transacted, SAME_TRANSACTION).or_else(|| within(raised, SAME_DISPUTE)).unwrap_or(true);
    let amounts = one.amount.zip(other.amount).is_some_and(|(a, b)| a.decimal() == b.decimal());
    let money = amounts && one.currency.is_same(&other.currency);
    let arn = same(&one.acquirer_reference_number, &other.acquirer_reference_number, SHORTEST_ARN);
    let code = same(&one.auth_code, &other.auth_code, 1);
    match is_of_one_card(one, other) {
        Some(true) if money && in_time() => {
            let day = transacted.is_some_and(|(a, b)| a.date_naive() == b.date_naive());
            Some(if day { DuplicateEvidence::CardAmountAndDay } else { DuplicateEvidence::CardAndAmount })
        }
        Some(_) if arn => Some(DuplicateEvidence::Arn),
        Some(true) if code && in_time() => Some(DuplicateEvidence::CardAndAuthCode),
        // Without digits on both sides a card says nothing, and the money has to agree.
        None if money && arn => Some(DuplicateEvidence::Arn),
        None if money && code && within(transacted.or(raised), SAME_CODE) == Some(true) => Some(DuplicateEvidence::AuthCodeAndAmount),
        Some(_) | None => None,
    }
}

/// Whether two alerts are on one card, where both tell its last digits.
fn is_of_one_card(one: &Alert, other: &Alert) -> Option<bool> {
    last_four(one).zip(last_four(other)).map(|(a, b)| a == b && same_bin(&one.card_bin, &other.card_bin))
}

/// Whether two BINs are of one card: networks give six digits or eight.
pub(super) fn same_bin(one: &str, other: &str) -> bool {
    let (one, other) = (one.trim(), other.trim());
    one == other || one.len().min(other.len()) >= 6 && (one.starts_with(other) || other.starts_with(one))
}

/// The duplicates of an alert among candidates: refunded ones first, then those that probably were, in their order otherwise.
pub fn of<'a>(alert: &Alert, candidates: &'a [Alert]) -> Vec<&'a Alert> {
    let mut found: Vec<&Alert> = candidates.iter().filter(|other| evidence(alert, other).is_some()).collect();
    found.sort_by_key(|other| (!other.was_refunded(), !other.refund_is_likely()));
    found
}

/// The positions of many alerts by what two of them have to agree in to be worth a comparison: card digits, acquirer's reference or
/// authorization code.
fn grouped<'a>(alerts: &[&'a Alert]) -> impl Iterator<Item = Vec<usize>> + use<'a> {
    let text = |text: &'a Option<String>| text.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let mut groups: HashMap<(usize, &'a str), Vec<usize>> = HashMap::new();
    for (position, alert) in alerts.iter().enumerate() {
        let keys = [last_four(alert), text(&alert.acquirer_reference_number), text(&alert.auth_code)];
        for (kind, key) in keys.into_iter().enumerate() {
            if let Some(key) = key {
                groups.entry((kind, key)).or_default().push(position);
            }
        }
    }
    groups.into_values().filter(|group| group.len() > 1)
}

/// Which of many alerts have duplicates among them; `true` where one of those was refunded.
pub fn among<'a>(alerts: impl Iterator<Item = &'a Alert>) -> HashMap<AlertId, bool> {
    let alerts: Vec<&Alert> = alerts.collect();
    let mut found: HashMap<AlertId, bool> = HashMap::new();
    for group in grouped(&alerts) {
        for (index, one) in group.iter().map(|position| alerts[*position]).enumerate() {
            for other in group[index + 1..].iter().map(|position| alerts[*position]) {
                let known = |of: &Alert, by: &Alert| found.get(&of.id).is_some_and(|refunded| *refunded || !by.was_refunded());
                if known(one, other) && known(other, one) || evidence(one, other).is_none() {
                    continue;
                }
                *found.entry(one.id).or_default() |= other.was_refunded();
                *found.entry(other.id).or_default() |= one.was_refunded();
            }
        }
    }
    found
}

/// For each of many alerts the positions of its duplicates that stand before it.
pub fn before(alerts: &[&Alert]) -> Vec<BTreeSet<usize>> {
    let mut found = vec![BTreeSet::new(); alerts.len()];
    for group in grouped(alerts) {
        for (index, one) in group.iter().enumerate() {
            for other in &group[index + 1..] {
                if !found[*other].contains(one) && evidence(alerts[*one], alerts[*other]).is_some() {
                    found[*other].insert(*one);
                }
            }
        }
    }
    found
}

/// When the money of an alert's payment went back: before the alert was raised or since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefundTime {
    Before,
    Since,
    /// Where either time is not known.
    Unknown,
}

impl RefundTime {
    /// That of a refund at this moment.
    fn of(alert: &Alert, refunded_at: Option<Timestamp>) -> Self {
        match refunded_at.zip(alert.alert_time) {
            Some((refunded, raised)) if refunded >= raised => Self::Since,
            Some(_) => Self::Before,
            None => Self::Unknown,
        }
    }

    /// The reason of an INVALID answer to an alert whose payment was refunded by the answer to another one: a refund before the alert was
    /// raised had gone back already, one after it makes the alert a duplicate (decisions, Outcome). Else the refund is what is certain.
    const fn reason(self) -> InvalidReason {
        match self {
            Self::Since => InvalidReason::Duplicate,
            Self::Before | Self::Unknown => InvalidReason::PreviouslyRefunded,
        }
    }
}

/// A duplicate of an alert, as whoever answers that one has to know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    pub provider: Provider,
    /// Its id at that network.
    pub provider_id: String,
    pub evidence: DuplicateEvidence,
    pub state: DuplicateState,
}

/// How far a duplicate is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DuplicateState {
    /// It has no answer either.
    Waiting,
    /// It has no answer, and its network's own rule has probably refunded already.
    RefundedByRule,
    /// It was refunded; when, where that is known.
    Refunded { at: Option<Timestamp> },
    /// A decision on it is on its way, which may yet be taken back or refused.
    OnItsWay {
        says: DecisionSays,
        /// In words: `REFUNDED`.
        decision: String,
    },
    /// It was answered otherwise; when, where that is known.
    Answered {
        /// With what, in words: `not refunded`.
        outcome: String,
        at: Option<Timestamp>,
    },
}

/// What a decision says of the money of its payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionSays {
    /// It goes back by this decision.
    Refunds,
    /// It had gone back before.
    RefundedBefore,
    /// It does not go back.
    NotRefunded,
}

impl DuplicateState {
    /// A decision that is on its way, in these words.
    fn on_its_way(resolution: &Resolution, decision: String) -> Self {
        let says = if resolution.gives_money_back() {
            DecisionSays::Refunds
        } else if resolution.says_refunded_before() {
            DecisionSays::RefundedBefore
        } else {
            DecisionSays::NotRefunded
        };
        Self::OnItsWay { says, decision }
    }
}

impl Duplicate {
    /// Another alert as a duplicate of an alert; `None` where nothing says that it is one.
    pub fn of(alert: &Alert, other: &Alert) -> Option<Self> {
        let evidence = evidence(alert, other)?;
        let at = other.outcome.as_ref().and_then(|outcome| outcome.action_time);
        let state = match &other.outcome {
            _ if other.was_refunded() => DuplicateState::Refunded { at },
            Some(outcome) => DuplicateState::Answered { outcome: outcome.outcome.replace('_', " "), at },
            None if other.network_rule_applied() => DuplicateState::RefundedByRule,
            None => DuplicateState::Waiting,
        };
        Some(Self { provider: other.provider.clone(), provider_id: other.provider_id.clone(), evidence, state })
    }

    /// The same with a decision on the other alert that is on its way, told in these words; what has an answer keeps it.
    pub fn with_coming(
        alert: &Alert,
        other: &Alert,
        coming: Option<&Resolution>,
        words: impl FnOnce(&Resolution) -> String,
    ) -> Option<Self> {
        let found = Self::of(alert, other)?;
        Some(match coming.filter(|_| other.outcome.is_none()) {
            Some(resolution) => Self { state: DuplicateState::on_its_way(resolution, words(resolution)), ..found },
            None => found,
        })
    }

    /// Whether money has gone back already, has probably, or is about to.
    pub fn is_refunded(&self) -> bool {
        match self.state {
            DuplicateState::Refunded { .. } | DuplicateState::RefundedByRule => true,
            DuplicateState::OnItsWay { says, .. } => says != DecisionSays::NotRefunded,
            DuplicateState::Waiting | DuplicateState::Answered { .. } => false,
        }
    }

    /// When it was refunded, as `alert` has it.
    pub(super) fn refund_time(&self, alert: &Alert) -> Option<RefundTime> {
        match self.state {
            DuplicateState::Refunded { at } => Some(RefundTime::of(alert, at)),
            DuplicateState::RefundedByRule => Some(RefundTime::Unknown),
            // The alert was there before it.
            DuplicateState::OnItsWay { says: DecisionSays::Refunds, .. } => Some(RefundTime::Since),
            DuplicateState::OnItsWay { says: DecisionSays::RefundedBefore, .. } => Some(RefundTime::Unknown),
            DuplicateState::OnItsWay { .. } | DuplicateState::Waiting | DuplicateState::Answered { .. } => None,
        }
    }

    /// The reason of an INVALID answer to `alert` that it speaks for by itself. One that was not refunded makes it a duplicate alert where it is of the
    /// same network; of two networks' alerts on one payment, one is answered first and then the other is known (field notes).
    pub fn reason(&self, alert: &Alert) -> Option<InvalidReason> {
        let of_network = || (self.provider == alert.provider).then_some(InvalidReason::Duplicate);
        self.refund_time(alert).map(RefundTime::reason).or_else(of_network)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::domain::time::from_iso;
    use crate::domain::{AlertStatus, Currency, Outcome};

    #[rstest]
    #[case(|_: &mut Alert| {}, true)]
    #[case(|other: &mut Alert| other.amount = Some("129.9".parse().unwrap()), true)]
    #[case(|other: &mut Alert| other.currency = Currency::new("eur"), true)]
    #[case(|other: &mut Alert| other.transaction_time = from_iso("2026-03-04T09:00:00Z"), true)]
    #[case(|other: &mut Alert| other.transaction_time = from_iso("2026-04-01T10:00:00Z"), false)]
    #[case(|other: &mut Alert| { other.transaction_time = None; other.alert_time = from_iso("2026-05-01T10:00:00Z") }, false)]
    #[case(|other: &mut Alert| other.amount = Some("129.91".parse().unwrap()), false)]
    #[case(|other: &mut Alert| other.currency = Currency::new("USD"), false)]
    #[case(|other: &mut Alert| other.card_last_four = "1235".to_owned(), false)]
    #[case(|other: &mut Alert| other.card_bin = "552201".to_owned(), false)]
    fn alerts_on_one_payment_agree_in_card_money_and_date(#[case] change: fn(&mut Alert), #[case] duplicates: bool) {
        let (one, mut other) = (Alert::sample(), Alert::sample());
        change(&mut other);

        assert_eq!(evidence(&one, &other).is_some(), duplicates);
    }

    #[test]
    fn a_reference_of_the_acquirer_names_the_payment_whatever_else_differs() {
        let mut one = Alert::sample();
        one.acquirer_reference_number = Some("74320456118200319945216".to_owned());
        let mut other = Alert { amount: Some("50.00".parse().unwrap()), ..Alert::sample() };
        assert_eq!(evidence(&one, &other), None);

        other.acquirer_reference_number = Some(" 74320456118200319945216 ".to_owned());
        assert_eq!(evidence(&one, &other), Some(DuplicateEvidence::Arn));
        (one.acquirer_reference_number, other.acquirer_reference_number) = (Some("0".to_owned()), Some("0".to_owned()));
        assert_eq!(evidence(&one, &other), None, "nothing that short names a payment");
    }

    #[test]
    fn an_authorization_code_names_the_payment_on_its_card_and_in_its_time_only() {
        let with_code = || Alert { auth_code: Some("093112".to_owned()), ..Alert::sample() };
        let other = |change: fn(&mut Alert)| {
            let mut other = Alert { amount: Some("50.00".parse().unwrap()), ..with_code() };
            change(&mut other);
            evidence(&with_code(), &other)
        };

        assert_eq!(other(|_| {}), Some(DuplicateEvidence::CardAndAuthCode));
        assert_eq!(other(|other| other.card_last_four = "1235".to_owned()), None);
        assert_eq!(other(|other| other.transaction_time = from_iso("2026-04-01T10:00:00Z")), None);
        assert_eq!(other(|other| other.auth_code = Some(" ".to_owned())), None);
    }

    #[rstest]
    #[case(|_: &mut Alert| {}, None)]
    #[case(|other: &mut Alert| other.acquirer_reference_number = Some("74320456118200319945216".to_owned()), Some(DuplicateEvidence::Arn))]
    #[case(|other: &mut Alert| other.auth_code = Some("093112".to_owned()), Some(DuplicateEvidence::AuthCodeAndAmount))]
    #[case(|other: &mut Alert| { other.auth_code = Some("093112".to_owned()); other.amount = Some("50".parse().unwrap()) }, None)]
    #[case(|other: &mut Alert| { other.auth_code = Some("093112".to_owned()); other.currency = Currency::new("USD") }, None)]
    #[case(|other: &mut Alert| { other.auth_code = Some("093112".to_owned()); other.transaction_time = from_iso("2026-03-04T10:00:00Z") }, None)]
    fn where_one_side_has_no_card_digits_a_reference_needs_the_same_money(
        #[case] change: fn(&mut Alert),
        #[case] found: Option<DuplicateEvidence>,
    ) {
        let arn = Some("74320456118200319945216".to_owned());
        let one = Alert { acquirer_reference_number: arn, auth_code: Some("093112".to_owned()), ..Alert::sample() };
        let mut other = Alert { card_bin: String::new(), card_last_four: String::new(), ..Alert::sample() };
        change(&mut other);

        assert_eq!(evidence(&one, &other), found);
    }

    #[test]
    fn a_transaction_time_that_was_made_up_is_no_evidence() {
        let made = |alert_time| Alert { alert_time: from_iso(alert_time), transaction_time: from_iso(alert_time), ..Alert::sample() };
        let (one, same_day) = (made("2026-03-03T10:00:00Z"), made("2026-03-03T11:00:00Z"));
        let days_later = made("2026-03-08T10:00:00Z");

        let found = [&same_day, &days_later].map(|other| evidence(&one, other));

        assert_eq!(found, [Some(DuplicateEvidence::CardAndAmount); 2], "no day is claimed, and the alerts' own times bound it");
    }

    #[test]
    fn a_card_is_the_same_with_six_digits_of_its_bin_or_eight() {
        let bin = |bin: &str| Alert { card_bin: bin.to_owned(), ..Alert::sample() };

        assert!(evidence(&bin("41111122"), &bin("411111")).is_some());
        assert!(evidence(&bin("41111122"), &bin("41111133")).is_none());
    }

    #[test]
    fn what_cannot_be_compared_is_told() {
        let with = |arn: Option<&str>, code: Option<&str>| Alert {
            acquirer_reference_number: arn.map(str::to_owned),
            auth_code: code.map(str::to_owned),
            ..Alert::sample()
        };
        let no_card = Alert { card_last_four: String::new(), ..with(Some("7432"), None) };

        assert_eq!(not_compared(&with(None, Some(" "))), None);
        assert!(not_compared(&with(Some("7432"), Some("0931"))).is_some_and(|words| words.starts_with("ARN and auth code not checked:")));
        assert!(not_compared(&no_card).is_some_and(|words| words.contains("no card digits") && words.ends_with("ARN not checked")));
    }

    #[test]
    fn duplicates_are_found_among_many_and_a_refunded_one_is_told() {
        let (open, twin) = (Alert::sample(), Alert::sample());
        let mut paid = Alert::sample();
        paid.outcome = Some(Outcome::sample(paid.id));
        let other_card = Alert { card_last_four: "9999".to_owned(), ..Alert::sample() };
        let no_card = || Alert { card_last_four: String::new(), ..Alert::sample() };
        let unknown = [no_card(), no_card()];

        let two = among([&open, &twin, &other_card].into_iter().chain(&unknown));
        let three = among([&open, &twin, &paid].into_iter());

        assert_eq!(two, HashMap::from([(open.id, false), (twin.id, false)]));
        assert_eq!((three[&open.id], three[&twin.id], three.len()), (true, true, 3));
    }

    #[test]
    fn too_little_of_the_card_or_no_amount_is_nothing_to_ask_for() {
        let asked = query(&Alert { card_last_four: " 1234 ".to_owned(), ..Alert::sample() });

        assert_eq!(asked.and_then(|query| query.filter.q).as_deref(), Some("1234"));
        assert_eq!(query(&Alert { card_last_four: "234".to_owned(), ..Alert::sample() }), None);
        assert_eq!(query(&Alert { amount: None, ..Alert::sample() }), None);
    }

    #[test]
    fn a_duplicate_is_told_with_its_state_and_the_reason_it_speaks_for() {
        let at = from_iso("2026-03-04T10:00:00Z");
        let answered = |outcome: &str, refunded: &str| {
            let outcome = Outcome {
                outcome: outcome.to_owned(),
                refunded: refunded.to_owned(),
                action_time: at,
                ..Outcome::sample(Alert::sample().id)
            };
            Alert { outcome: Some(outcome), ..Alert::sample() }
        };
        let others = [
            Alert::sample(),
            Alert { provider: Provider::Cdrn, ..Alert::sample() },
            answered("resolved", "Refunded"),
            answered("unresolved_dispute", "not refunded"),
            Alert { status: AlertStatus::Refunded, ..Alert::sample() },
            Alert { provider: Provider::Verifi, rule_name: Some("R".to_owned()), ..Alert::sample() },
            Alert { currency: Currency::new("USD"), ..Alert::sample() },
        ];

        let told = others.map(|other| Duplicate::of(&Alert::sample(), &other).map(|found| (found.reason(&Alert::sample()), found.state)));

        let of_this_network = Some(InvalidReason::Duplicate);
        let unresolved = DuplicateState::Answered { outcome: "unresolved dispute".to_owned(), at };
        assert_eq!(
            told,
            [
                Some((of_this_network, DuplicateState::Waiting)),
                Some((None, DuplicateState::Waiting)),
                Some((of_this_network, DuplicateState::Refunded { at })),
                Some((of_this_network, unresolved)),
                Some((Some(InvalidReason::PreviouslyRefunded), DuplicateState::Refunded { at: None })),
                Some((Some(InvalidReason::PreviouslyRefunded), DuplicateState::RefundedByRule)),
                None,
            ]
        );
    }

    /// Alerts of so few values that many agree.
    fn alerts() -> impl Strategy<Value = Alert> {
        let moments = || {
            prop::sample::select(vec![
                None,
                from_iso("2026-03-01T10:00:00Z"),
                from_iso("2026-03-01T23:00:00Z"),
                from_iso("2026-03-05T10:00:00Z"),
            ])
        };
        let texts =
            || prop::sample::select(vec![None, Some(""), Some("0"), Some("74320456118200319945216"), Some(" 74320456118200319945216")]);
        let money = (prop::sample::select(vec![None, Some("5"), Some("5.00"), Some("6")]), prop::sample::select(vec!["EUR", "USD"]));
        let card = prop::sample::select(vec!["", "234", "1234", " 1234"]);
        (card, money, moments(), moments(), texts(), texts(), any::<bool>()).prop_map(
            |(card, (amount, currency), transacted, alerted, arn, code, paid)| Alert {
                card_last_four: card.to_owned(),
                amount: amount.map(|amount| amount.parse().unwrap()),
                currency: Currency::new(currency),
                transaction_time: transacted,
                alert_time: alerted,
                acquirer_reference_number: arn.map(str::to_owned),
                auth_code: code.map(str::to_owned),
                status: if paid { AlertStatus::Refunded } else { AlertStatus::Open },
                ..Alert::sample()
            },
        )
    }

    proptest! {
        #[test]
        fn a_duplicate_is_one_from_both_sides_and_never_of_itself(one in alerts(), other in alerts()) {
            prop_assert_eq!(evidence(&one, &other), evidence(&other, &one));
            prop_assert_eq!(evidence(&one, &one), None);
        }

        #[test]
        fn by_card_and_money_it_takes_both_to_agree(one in alerts(), other in alerts()) {
            if let Some(DuplicateEvidence::CardAmountAndDay | DuplicateEvidence::CardAndAmount) = evidence(&one, &other) {
                prop_assert_eq!(last_four(&one), last_four(&other));
                prop_assert!(last_four(&one).is_some(), "two alerts without a card have no card in common");
                prop_assert_eq!(&one.currency, &other.currency);
                prop_assert_eq!(one.amount.map(crate::domain::Amount::decimal), other.amount.map(crate::domain::Amount::decimal));
            }
        }

        #[test]
        fn the_duplicates_before_an_alert_are_those_that_anyone_would_find_by_comparing_all(
            alerts in prop::collection::vec(alerts(), 0..8),
        ) {
            let alerts: Vec<&Alert> = alerts.iter().collect();

            let found = before(&alerts);

            for (position, alert) in alerts.iter().enumerate() {
                let naive: BTreeSet<usize> = (0..position).filter(|other| evidence(alerts[*other], alert).is_some()).collect();
                prop_assert_eq!(&found[position], &naive);
            }
        }

        #[test]
        fn what_is_found_among_many_is_what_is_found_of_each(alerts in prop::collection::vec(alerts(), 0..8)) {
            let found = among(alerts.iter());

            for alert in &alerts {
                let duplicates = of(alert, &alerts);
                let refunded: Vec<bool> = duplicates.iter().map(|other| other.was_refunded()).collect();
                prop_assert!(refunded.is_sorted_by_key(|refunded| !refunded), "refunded ones first");
                prop_assert_eq!(found.get(&alert.id).copied(), refunded.first().copied());
            }
        }
    }

    #[test]
    fn the_same_day_is_said_and_another_one_within_reach_is_not() {
        let (one, same_day) = (Alert::sample(), Alert::sample());
        let next_day = Alert { transaction_time: from_iso("2026-03-02T09:00:00Z"), ..Alert::sample() };

        assert_eq!(evidence(&one, &same_day), Some(DuplicateEvidence::CardAmountAndDay));
        assert_eq!(evidence(&one, &next_day), Some(DuplicateEvidence::CardAndAmount));
    }

    #[test]
    fn each_evidence_has_words_of_its_own() {
        let all = [
            DuplicateEvidence::CardAmountAndDay,
            DuplicateEvidence::CardAndAmount,
            DuplicateEvidence::Arn,
            DuplicateEvidence::CardAndAuthCode,
            DuplicateEvidence::AuthCodeAndAmount,
        ];

        let words: std::collections::HashSet<&str> = all.iter().map(|evidence| evidence.words()).collect();

        assert_eq!(words.len(), all.len());
        assert!(words.iter().all(|words| words.starts_with("same ")), "{words:?}");
    }
}
