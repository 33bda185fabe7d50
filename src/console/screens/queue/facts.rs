//! What the detail knows beyond the alert itself: its webhooks, other alerts on the same payment, and the warnings that follow.

use std::collections::HashMap;

use chrono::Duration;

use crate::console::loadable::Loadable;
use crate::domain::filter::MAX_PAGE_SIZE;
use crate::domain::resolution::InvalidReason;
use crate::domain::{Alert, AlertFilter, AlertId, AlertQuery, AlertStatus, Delivery, PageRequest, Sort, SortField, SortOrder};

/// How far apart two networks may date the same transaction (field notes, Matching).
const SAME_TRANSACTION: Duration = Duration::days(3);

/// How far apart two alerts on one transaction may be raised, where a transaction time is missing.
const SAME_DISPUTE: Duration = Duration::days(14);

/// What is known around one alert.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// Of which alert.
    pub alert: Option<AlertId>,
    /// Its events on their way to the merchant's endpoints.
    pub deliveries: Loadable<Vec<Delivery>>,
    /// Other alerts on the same payment.
    pub siblings: Loadable<Vec<Alert>>,
}

impl Facts {
    /// Nothing known yet of this alert.
    pub fn of(alert: AlertId) -> Self {
        Self { alert: Some(alert), ..Self::default() }
    }
}

/// Asks for everything on the card's last four digits, newest first: as near as the interface comes to "the same card".
pub fn sibling_query(alert: &Alert) -> Option<AlertQuery> {
    let last_four = alert.card_last_four.trim();
    (last_four.len() >= 4 && alert.amount.is_some()).then(|| AlertQuery {
        filter: AlertFilter { q: Some(last_four.to_owned()), ..AlertFilter::default() },
        sort: Sort { field: SortField::AlertTimeStamp, order: SortOrder::Descending },
        page: PageRequest { page: 0, size: MAX_PAGE_SIZE },
    })
}

/// What two alerts on one payment have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Same {
    /// Card, amount, currency, and the day of the transaction.
    CardAmountAndDay,
    /// Card, amount and currency, and dates that are near as far as they are known.
    CardAndAmount,
    /// The acquirer's reference of the transaction.
    Arn,
    /// Card and authorization code, and dates that are near as far as they are known.
    CardAndAuthCode,
}

impl Same {
    /// In words, for beside the other alert.
    pub fn words(self) -> &'static str {
        match self {
            Self::CardAmountAndDay => "same card, amount and day",
            Self::CardAndAmount => "same card and amount",
            Self::Arn => "same ARN",
            Self::CardAndAuthCode => "same card and auth code",
        }
    }
}

/// Shorter references than this name no single transaction.
const SHORTEST_ARN: usize = 8;

/// Whether two alerts are about the same payment.
pub fn are_siblings(one: &Alert, other: &Alert) -> bool {
    same_payment(one, other).is_some()
}

/// What says that two alerts are about the same payment; `None` where nothing does.
pub fn same_payment(one: &Alert, other: &Alert) -> Option<Same> {
    if one.id == other.id {
        return None;
    }
    let near = |a, b, within: Duration| match (a, b) {
        (Some(a), Some(b)) => {
            let apart: Duration = if a > b { a - b } else { b - a };
            Some(apart <= within)
        }
        _ => None,
    };
    let amounts = one.amount.zip(other.amount).is_some_and(|(a, b)| a.decimal() == b.decimal());
    let text = |text: &Option<String>| text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    let both = |a: &Option<String>, b: &Option<String>| text(a).is_some_and(|a| text(b) == Some(a));
    let card = one.card_bin == other.card_bin && one.card_last_four == other.card_last_four;
    let in_time = || {
        near(one.transaction_time, other.transaction_time, SAME_TRANSACTION)
            .or_else(|| near(one.alert_time, other.alert_time, SAME_DISPUTE))
            .unwrap_or(true)
    };
    if card && amounts && one.currency == other.currency && in_time() {
        let day = one.transaction_time.zip(other.transaction_time).is_some_and(|(a, b)| a.date_naive() == b.date_naive());
        return Some(if day { Same::CardAmountAndDay } else { Same::CardAndAmount });
    }
    let arn = &one.acquirer_reference_number;
    if arn.as_deref().is_some_and(|arn| arn.trim().len() >= SHORTEST_ARN) && both(arn, &other.acquirer_reference_number) {
        return Some(Same::Arn);
    }
    (card && !one.card_last_four.is_empty() && both(&one.auth_code, &other.auth_code) && in_time()).then_some(Same::CardAndAuthCode)
}

/// Which of these alerts are several on one payment; `true` where another of those was refunded.
pub fn doubles<'a>(alerts: impl Iterator<Item = &'a Alert>) -> HashMap<AlertId, bool> {
    let mut by_card: HashMap<&str, Vec<&Alert>> = HashMap::new();
    for alert in alerts.filter(|alert| alert.card_last_four.trim().len() >= 4) {
        by_card.entry(alert.card_last_four.trim()).or_default().push(alert);
    }
    let mut doubles: HashMap<AlertId, bool> = HashMap::new();
    for mut group in by_card.into_values().filter(|group| group.len() > 1) {
        // Refunded ones first: the first double that is found of an alert then tells whether there is a refunded one.
        group.sort_by_key(|alert| !was_refunded(alert));
        for (index, one) in group.iter().enumerate() {
            for other in &group[index + 1..] {
                if doubles.contains_key(&one.id) && doubles.contains_key(&other.id) || !are_siblings(one, other) {
                    continue;
                }
                doubles.entry(one.id).or_insert_with(|| was_refunded(other));
                doubles.entry(other.id).or_insert_with(|| was_refunded(one));
            }
        }
    }
    doubles
}

/// Something that speaks against a plain answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Warning<'a> {
    /// Another alert on the same payment was answered with a refund: all the others, the refunded ones first.
    PaidTwice(Vec<&'a Alert>),
    /// Other alerts on the same payment wait for an answer, or were answered otherwise.
    Doubles(Vec<&'a Alert>),
    /// A rule at the network has probably refunded already; its name, where it was told.
    NetworkRule(Option<&'a str>),
    /// The network asks for no answer.
    Notice,
}

impl Warning<'_> {
    /// The reason that fits an answer to `alert`, where the right answer is that it calls for none. A duplicate is one of the same
    /// network; of two networks' alerts on one payment, one is answered first and then the other is known (field notes).
    pub fn reason(&self, alert: &Alert) -> Option<InvalidReason> {
        match self {
            Self::PaidTwice(_) | Self::NetworkRule(_) => Some(InvalidReason::PreviouslyRefunded),
            Self::Doubles(others) => others.iter().any(|other| other.provider == alert.provider).then_some(InvalidReason::Duplicate),
            Self::Notice => None,
        }
    }
}

/// Whether an alert was answered with a refund.
pub fn was_refunded(alert: &Alert) -> bool {
    alert.outcome.as_ref().is_some_and(|outcome| outcome.refunded.eq_ignore_ascii_case("refunded"))
        || matches!(alert.status, AlertStatus::Refunded)
}

/// What speaks against a plain answer to this alert; the weightiest first. An answered alert warns of nothing.
pub fn warnings<'a>(alert: &'a Alert, siblings: &'a [Alert]) -> Vec<Warning<'a>> {
    if alert.outcome.is_some() {
        return Vec::new();
    }
    let mut warnings = Vec::new();
    let mut others: Vec<&Alert> = siblings.iter().filter(|other| are_siblings(alert, other)).collect();
    others.sort_by_key(|other| !was_refunded(other));
    match others.first() {
        Some(first) if was_refunded(first) => warnings.push(Warning::PaidTwice(others)),
        Some(_) => warnings.push(Warning::Doubles(others)),
        None => {}
    }
    if alert.network_rule_applied() {
        warnings.push(Warning::NetworkRule(alert.rule_name.as_deref()));
    }
    if alert.alert_type.is_notice() {
        warnings.push(Warning::Notice);
    }
    warnings
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::time::from_iso;
    use crate::domain::{AlertType, Currency, Outcome, Provider};

    fn alert() -> Alert {
        Alert {
            card_bin: "411111".to_owned(),
            card_last_four: "1234".to_owned(),
            amount: Some("129.90".parse().unwrap()),
            currency: Currency::new("EUR"),
            transaction_time: from_iso("2026-03-01T10:00:00Z"),
            alert_time: from_iso("2026-03-03T10:00:00Z"),
            ..Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud)
        }
    }

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
    fn alerts_on_one_payment_agree_in_card_money_and_date(#[case] change: fn(&mut Alert), #[case] siblings: bool) {
        let (one, mut other) = (alert(), alert());
        change(&mut other);

        assert_eq!(are_siblings(&one, &other), siblings);
    }

    #[test]
    fn a_reference_of_the_acquirer_names_the_payment_whatever_else_differs() {
        let mut one = alert();
        one.acquirer_reference_number = Some("74320456118200319945216".to_owned());
        let mut other = Alert { amount: Some("50.00".parse().unwrap()), ..alert() };
        assert_eq!(same_payment(&one, &other), None);

        other.acquirer_reference_number = Some(" 74320456118200319945216 ".to_owned());
        assert_eq!(same_payment(&one, &other), Some(Same::Arn));
        (one.acquirer_reference_number, other.acquirer_reference_number) = (Some("0".to_owned()), Some("0".to_owned()));
        assert_eq!(same_payment(&one, &other), None, "nothing that short names a payment");
    }

    #[test]
    fn an_authorization_code_names_the_payment_on_its_card_and_in_its_time_only() {
        let with_code = || Alert { auth_code: Some("093112".to_owned()), ..alert() };
        let other = |change: fn(&mut Alert)| {
            let mut other = Alert { amount: Some("50.00".parse().unwrap()), ..with_code() };
            change(&mut other);
            same_payment(&with_code(), &other)
        };

        assert_eq!(other(|_| {}), Some(Same::CardAndAuthCode));
        assert_eq!(other(|other| other.card_last_four = "1235".to_owned()), None);
        assert_eq!(other(|other| other.transaction_time = from_iso("2026-04-01T10:00:00Z")), None);
        assert_eq!(other(|other| other.auth_code = Some(" ".to_owned())), None);
    }

    #[test]
    fn doubles_are_found_among_many_and_a_refunded_one_is_told() {
        let (open, twin) = (alert(), alert());
        let mut paid = alert();
        paid.outcome = Some(Outcome::sample(paid.id));
        let other_card = Alert { card_last_four: "9999".to_owned(), ..alert() };
        let no_card = || Alert { card_last_four: String::new(), ..alert() };
        let unknown = [no_card(), no_card()];

        let two = doubles([&open, &twin, &other_card].into_iter().chain(&unknown));
        let three = doubles([&open, &twin, &paid].into_iter());

        assert_eq!(two, HashMap::from([(open.id, false), (twin.id, false)]));
        assert_eq!((three[&open.id], three[&twin.id], three.len()), (true, true, 3));
    }

    #[test]
    fn a_refunded_sibling_weighs_more_than_an_open_one() {
        let alert = alert();
        let open = Alert { provider: Provider::Cdrn, ..self::alert() };
        let mut paid = self::alert();
        paid.outcome = Some(Outcome::sample(paid.id));
        let siblings = [open, paid];

        let found = warnings(&alert, &siblings);

        assert_eq!(found, [Warning::PaidTwice(vec![&siblings[1], &siblings[0]])]);
        assert_eq!(found[0].reason(&alert), Some(InvalidReason::PreviouslyRefunded));
    }

    #[test]
    fn every_double_is_told_and_one_of_the_same_network_speaks_for_a_duplicate() {
        let alert = alert();
        let others =
            [Alert { provider: Provider::Cdrn, ..self::alert() }, Alert { provider: Provider::Verifi, ..self::alert() }, self::alert()];

        let (two, three) = (warnings(&alert, &others[..2]), warnings(&alert, &others));

        assert_eq!(two, [Warning::Doubles(vec![&others[0], &others[1]])]);
        assert_eq!((two[0].reason(&alert), three[0].reason(&alert)), (None, Some(InvalidReason::Duplicate)));
    }

    #[test]
    fn a_rule_of_the_network_and_a_notice_are_told() {
        let mut alert = alert();
        (alert.provider, alert.alert_type) = (Provider::Verifi, AlertType::VerifiFraudNotice);
        alert.rule_name = Some("Above 10 AED".to_owned());

        assert_eq!(warnings(&alert, &[]), [Warning::NetworkRule(Some("Above 10 AED")), Warning::Notice]);
    }

    #[test]
    fn an_answered_alert_warns_of_nothing() {
        let mut alert = alert();
        let sibling = self::alert();
        alert.outcome = Some(Outcome::sample(alert.id));

        assert!(warnings(&alert, &[sibling]).is_empty());
    }
}
