//! Duplicates: several alerts on one payment. What to ask a service for, what says that two of them are, and what follows for an answer.

use std::collections::HashMap;

use chrono::Duration;

use super::alert::{Alert, Provider};
use super::filter::{AlertFilter, AlertQuery, MAX_PAGE_SIZE, PageRequest, Sort, SortField, SortOrder};
use super::ids::AlertId;
use super::resolution::InvalidReason;
use super::time::Timestamp;

/// How far apart two networks may date the same transaction (field notes, Matching).
const SAME_TRANSACTION: Duration = Duration::days(3);

/// How far apart two alerts on one transaction may be raised, where a transaction time is missing.
const SAME_DISPUTE: Duration = Duration::days(14);

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
}

impl DuplicateEvidence {
    /// In words, for beside the other alert.
    pub const fn words(self) -> &'static str {
        match self {
            Self::CardAmountAndDay => "same card, amount and day",
            Self::CardAndAmount => "same card and amount",
            Self::Arn => "same ARN",
            Self::CardAndAuthCode => "same card and auth code",
        }
    }
}

/// The evidence that two alerts are duplicates; `None` where there is none, and for an alert and itself.
pub fn evidence(one: &Alert, other: &Alert) -> Option<DuplicateEvidence> {
    if one.id == other.id {
        return None;
    }
    let same = |a: &Option<String>, b: &Option<String>, shortest: usize| {
        let [a, b] = [a, b].map(|text| text.as_deref().map(str::trim));
        a == b && a.is_some_and(|text| text.len() >= shortest)
    };
    let near = |a: Option<Timestamp>, b: Option<Timestamp>, within: Duration| a.zip(b).map(|(a, b)| (a - b).abs() <= within);
    let card = one.card_bin == other.card_bin && one.card_last_four == other.card_last_four;
    let amounts = one.amount.zip(other.amount).is_some_and(|(a, b)| a.decimal() == b.decimal());
    let in_time = || {
        near(one.transaction_time, other.transaction_time, SAME_TRANSACTION)
            .or_else(|| near(one.alert_time, other.alert_time, SAME_DISPUTE))
            .unwrap_or(true)
    };
    if card && amounts && one.currency == other.currency && in_time() {
        let day = one.transaction_time.zip(other.transaction_time).is_some_and(|(a, b)| a.date_naive() == b.date_naive());
        return Some(if day { DuplicateEvidence::CardAmountAndDay } else { DuplicateEvidence::CardAndAmount });
    }
    if same(&one.acquirer_reference_number, &other.acquirer_reference_number, SHORTEST_ARN) {
        return Some(DuplicateEvidence::Arn);
    }
    let codes = card && !one.card_last_four.is_empty() && same(&one.auth_code, &other.auth_code, 1);
    (codes && in_time()).then_some(DuplicateEvidence::CardAndAuthCode)
}

/// The duplicates of an alert among candidates: refunded ones first, in their order otherwise.
pub fn of<'a>(alert: &Alert, candidates: &'a [Alert]) -> Vec<&'a Alert> {
    let mut found: Vec<&Alert> = candidates.iter().filter(|other| evidence(alert, other).is_some()).collect();
    found.sort_by_key(|other| !other.was_refunded());
    found
}

/// Which of many alerts have duplicates among them; `true` where one of those was refunded.
pub fn among<'a>(alerts: impl Iterator<Item = &'a Alert>) -> HashMap<AlertId, bool> {
    let mut by_card: HashMap<&str, Vec<&Alert>> = HashMap::new();
    for alert in alerts {
        if let Some(last_four) = last_four(alert) {
            by_card.entry(last_four).or_default().push(alert);
        }
    }
    let mut found: HashMap<AlertId, bool> = HashMap::new();
    for mut group in by_card.into_values().filter(|group| group.len() > 1) {
        // Refunded ones first: the first duplicate that is found of an alert then tells whether there is a refunded one.
        group.sort_by_key(|alert| !alert.was_refunded());
        for (index, one) in group.iter().enumerate() {
            for other in &group[index + 1..] {
                if found.contains_key(&one.id) && found.contains_key(&other.id) || evidence(one, other).is_none() {
                    continue;
                }
                found.entry(one.id).or_insert_with(|| other.was_refunded());
                found.entry(other.id).or_insert_with(|| one.was_refunded());
            }
        }
    }
    found
}

/// The reason of an INVALID answer to an alert that a duplicate speaks for. A duplicate alert is one of the same network; of two networks'
/// alerts on one payment, one is answered first and then the other is known (field notes).
pub fn reason(alert: &Alert, provider: &Provider, refunded: bool) -> Option<InvalidReason> {
    match refunded {
        true => Some(InvalidReason::PreviouslyRefunded),
        false => (*provider == alert.provider).then_some(InvalidReason::Duplicate),
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
    /// It was refunded; when, where that is known.
    Refunded { at: Option<Timestamp> },
    /// It was answered otherwise; when, where that is known.
    Answered {
        /// With what, in words: `not refunded`.
        outcome: String,
        at: Option<Timestamp>,
    },
}

impl Duplicate {
    /// Another alert as a duplicate of an alert; `None` where nothing says that it is one.
    pub fn of(alert: &Alert, other: &Alert) -> Option<Self> {
        let evidence = evidence(alert, other)?;
        let at = other.outcome.as_ref().and_then(|outcome| outcome.action_time);
        let state = match &other.outcome {
            _ if other.was_refunded() => DuplicateState::Refunded { at },
            Some(outcome) => DuplicateState::Answered { outcome: outcome.outcome.replace('_', " "), at },
            None => DuplicateState::Waiting,
        };
        Some(Self { provider: other.provider.clone(), provider_id: other.provider_id.clone(), evidence, state })
    }

    /// Whether money has gone back already.
    pub fn is_refunded(&self) -> bool {
        matches!(self.state, DuplicateState::Refunded { .. })
    }

    /// The reason of an INVALID answer to `alert` that it speaks for.
    pub fn reason(&self, alert: &Alert) -> Option<InvalidReason> {
        reason(alert, &self.provider, self.is_refunded())
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
                Some((Some(InvalidReason::PreviouslyRefunded), DuplicateState::Refunded { at })),
                Some((of_this_network, unresolved)),
                Some((Some(InvalidReason::PreviouslyRefunded), DuplicateState::Refunded { at: None })),
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
                prop_assert_eq!(&one.card_last_four, &other.card_last_four);
                prop_assert_eq!(&one.currency, &other.currency);
                prop_assert_eq!(one.amount.map(crate::domain::Amount::decimal), other.amount.map(crate::domain::Amount::decimal));
            }
        }

        #[test]
        fn what_is_found_among_many_is_what_is_found_of_each_on_the_same_digits(alerts in prop::collection::vec(alerts(), 0..8)) {
            let found = among(alerts.iter());

            for alert in &alerts {
                let duplicates = of(alert, &alerts);
                let on_digits = duplicates.iter().filter(|other| last_four(alert).is_some() && last_four(alert) == last_four(other));
                let refunded: Vec<bool> = on_digits.map(|other| other.was_refunded()).collect();
                prop_assert!(refunded.is_sorted_by_key(|refunded| !refunded), "refunded ones first");
                prop_assert_eq!(found.get(&alert.id).copied(), refunded.first().copied());
            }
        }
    }
}
