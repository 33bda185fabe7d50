//! Tests of the evidence that two alerts are on one payment, and of what follows.

use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::{AlertStatus, Currency, Outcome, advice::advice, resolution::InvalidReason, time::from_iso};

#[rstest]
#[case(|_: &mut Alert| {}, true)]
#[case(|other: &mut Alert| other.amount = Some("129.9".parse().unwrap()), true)]
#[case(|other: &mut Alert| other.currency = Currency::new("eur"), true)]
#[case(|other: &mut Alert| other.transaction_time = from_iso("2026-03-04T09:00:00Z"), true)]
#[case(|other: &mut Alert| other.transaction_time = from_iso("2026-04-01T10:00:00Z"), false)]
#[case(|other: &mut Alert| { other.transaction_time = None; other.alert_time = from_iso("2026-05-01T10:00:00Z") },
    false)]
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
fn which_have_a_duplicate_among_others_is_what_comparing_each_with_each_says() {
    let base = Alert::sample();
    let of = |number: u32, last_four: &str, arn: Option<&str>, code: Option<&str>, amount: &str| Alert {
        id: AlertId(uuid::Uuid::from_u128(u128::from(number) + 77)),
        card_last_four: last_four.to_owned(),
        acquirer_reference_number: arn.map(str::to_owned),
        auth_code: code.map(str::to_owned),
        amount: amount.parse().ok(),
        ..base.clone()
    };
    let (arns, codes, digits) =
        ([None, Some("74320456118200319945202"), Some(" ")], [None, Some("093112"), Some("1")], ["", "1234", "8831"]);
    let all: Vec<Alert> = (0..54)
        .map(|number: u32| {
            let at = |count: u32, by: u32| usize::try_from(number / by % count).unwrap();
            of(number, digits[at(3, 1)], arns[at(3, 3)], codes[at(3, 9)], ["10.00", "12.50"][at(2, 27)])
        })
        .collect();
    let (shown, coming) = all.split_at(27);

    let found = with_duplicate_in(shown, coming);

    let plain = shown.iter().filter(|alert| coming.iter().any(|other| evidence(alert, other).is_some()));
    assert_eq!(found, plain.map(|alert| alert.id).collect());
    assert!(!found.is_empty() && found.len() < shown.len(), "{found:?}");
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
#[case(|other: &mut Alert| other.acquirer_reference_number = Some("74320456118200319945216".to_owned()),
    Some(DuplicateEvidence::Arn))]
#[case(|other: &mut Alert| other.auth_code = Some("093112".to_owned()), Some(DuplicateEvidence::AuthCodeAndAmount))]
#[case(|other: &mut Alert| {
    other.auth_code = Some("093112".to_owned()); other.amount = Some("50".parse().unwrap()); }, None)]
#[case(|other: &mut Alert| { other.auth_code = Some("093112".to_owned()); other.currency = Currency::new("USD") },
    None)]
#[case(|other: &mut Alert| {
    other.auth_code = Some("093112".to_owned()); other.transaction_time = from_iso("2026-03-04T10:00:00Z"); }, None)]
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
    let made = |alert_time| Alert {
        alert_time: from_iso(alert_time),
        transaction_time: from_iso(alert_time),
        ..Alert::sample()
    };
    let (one, same_day) = (made("2026-03-03T10:00:00Z"), made("2026-03-03T11:00:00Z"));
    let days_later = made("2026-03-08T10:00:00Z");

    let found = [&same_day, &days_later].map(|other| evidence(&one, other));

    assert_eq!(
        found,
        [Some(DuplicateEvidence::CardAndAmount); 2],
        "no day is claimed, and the alerts' own times bound it"
    );
}

#[test]
fn a_card_is_the_same_with_six_digits_of_its_bin_or_eight() {
    let bin = |bin: &str| Alert { card_bin: bin.to_owned(), ..Alert::sample() };

    assert!(evidence(&bin("41111122"), &bin("411111")).is_some());
    assert!(evidence(&bin("41111122"), &bin("41111133")).is_none());
}

#[rstest]
#[case::all_agree(|_: &mut Alert| {}, true)]
#[case::another_day(|other: &mut Alert| other.transaction_time = from_iso("2026-03-02T09:00:00Z"), false)]
#[case::no_day(|other: &mut Alert| other.transaction_time = None, false)]
#[case::another_amount(|other: &mut Alert| other.amount = Some("129.91".parse().unwrap()), false)]
#[case::another_currency(|other: &mut Alert| other.currency = Currency::new("USD"), false)]
#[case::other_last_four(|other: &mut Alert| other.card_last_four = "1235".to_owned(), false)]
#[case::another_bin(|other: &mut Alert| other.card_bin = "552201".to_owned(), false)]
fn where_a_bin_is_missing_the_last_four_with_amount_and_day_are_no_proof_but_worth_a_look(
    #[case] change: fn(&mut Alert),
    #[case] found: bool,
) {
    let (one, mut other) = (Alert::sample(), Alert { card_bin: " ".to_owned(), ..Alert::sample() });
    change(&mut other);

    assert_eq!(evidence(&one, &other), found.then_some(DuplicateEvidence::LastFourAmountAndDay));
    assert_eq!(sure_evidence(&one, &other), None);
}

/// The reason that is advised where a duplicate is all that is known.
fn reason(duplicate: &Duplicate, alert: &Alert) -> Option<InvalidReason> {
    advice(alert, std::iter::once(duplicate), None).and_then(|advice| advice.decision.reason())
}

#[test]
fn one_that_is_only_to_be_looked_at_speaks_for_no_reason() {
    let other = Alert { card_bin: String::new(), status: AlertStatus::Refunded, ..Alert::sample() };

    let told = Duplicate::of(&Alert::sample(), &other, None).unwrap();

    assert_eq!((told.is_refunded(), reason(&told, &Alert::sample())), (true, None));
}

#[rstest]
#[case::other_last_four(|other: &mut Alert| other.card_last_four = "1235".to_owned())]
#[case::another_bin(|other: &mut Alert| other.card_bin = "552201".to_owned())]
#[case::another_bin_alone(|other: &mut Alert| (other.card_bin, other.card_last_four) = ("552201".to_owned(),
    String::new()))]
fn a_reference_on_another_card_is_no_proof_but_worth_a_look(#[case] change: fn(&mut Alert)) {
    let with_arn =
        || Alert { acquirer_reference_number: Some("74320456118200319945216".to_owned()), ..Alert::sample() };
    let (one, mut other) = (with_arn(), Alert { status: AlertStatus::Refunded, ..with_arn() });
    change(&mut other);

    let told = Duplicate::of(&one, &other, None).unwrap();

    assert_eq!(
        (told.evidence, told.is_refunded(), reason(&told, &one)),
        (DuplicateEvidence::ArnOnOtherCard, true, None)
    );
    assert_eq!(sure_evidence(&one, &other), None);
}

#[rstest]
#[case("000000")]
#[case("N/A")]
#[case("0")]
#[case("-")]
#[case("NULL")]
#[case("777777")]
#[case("5.36E+18")]
fn what_identifies_nothing_makes_no_duplicate(#[case] filler: &str) {
    let bare = || Alert {
        card_last_four: String::new(),
        auth_code: Some(filler.to_owned()),
        acquirer_reference_number: Some("0".repeat(23)),
        transaction_id: Some(filler.to_owned()),
        ..Alert::sample()
    };
    let (one, other) = (bare(), bare());

    assert_eq!((evidence(&one, &other), among([&one, &other].into_iter()).len()), (None, 0));
    assert!(!shared_facts(&one, &other).contains(&"auth code"));
    assert_eq!(
        not_compared(&Alert { acquirer_reference_number: None, ..one }),
        not_compared(&Alert { auth_code: None, ..bare() })
    );
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
    assert!(
        not_compared(&with(Some("7432"), Some("0931")))
            .is_some_and(|words| words.starts_with("ARN, auth code not checked"))
    );
    assert!(not_compared(&no_card).is_some_and(|words| words.starts_with("card and amount, ARN not checked")));
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

    let told = others.map(|other| {
        Duplicate::of(&Alert::sample(), &other, None).map(|found| (reason(&found, &Alert::sample()), found.state))
    });

    let of_this_network = Some(InvalidReason::Duplicate);
    let unresolved = DuplicateState::Answered { outcome: "unresolved dispute".to_owned(), at };
    assert_eq!(
        told,
        [
            Some((None, DuplicateState::Waiting)),
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
    let texts = || {
        prop::sample::select(vec![
            None,
            Some(""),
            Some("000000000"),
            Some("74320456118200319945216"),
            Some(" 74320456118200319945216"),
        ])
    };
    let money = (
        prop::sample::select(vec![None, Some("5"), Some("5.00"), Some("6")]),
        prop::sample::select(vec!["EUR", "USD"]),
    );
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
    fn what_identifies_nothing_is_as_good_as_not_told(one in alerts(), other in alerts()) {
        let told = |alert: &Alert| Alert {
            acquirer_reference_number: alert.known_arn().map(str::to_owned),
            auth_code: alert.known_auth_code().map(str::to_owned),
            ..alert.clone()
        };

        prop_assert_eq!(evidence(&one, &other), evidence(&told(&one), &told(&other)));
    }

    #[test]
    fn by_card_and_money_it_takes_both_to_agree(one in alerts(), other in alerts()) {
        if let Some(DuplicateEvidence::CardAmountAndDay | DuplicateEvidence::CardAndAmount) = evidence(&one, &other) {
            prop_assert_eq!(last_four(&one), last_four(&other));
            prop_assert!(last_four(&one).is_some(), "two alerts without a card have no card in common");
            prop_assert_eq!(&one.currency, &other.currency);
            prop_assert_eq!(one.amount.map(crate::Amount::decimal),
                other.amount.map(crate::Amount::decimal));
        }
    }

    #[test]
    fn the_duplicates_before_an_alert_are_those_that_anyone_would_find_by_comparing_all(
        alerts in prop::collection::vec(alerts(), 0..8),
    ) {
        let alerts: Vec<&Alert> = alerts.iter().collect();

        let found = before(&alerts);

        for (position, alert) in alerts.iter().enumerate() {
            let naive: BTreeSet<usize> = (0..position).filter(|other| evidence(alerts[*other],
                alert).is_some()).collect();
            prop_assert_eq!(&found[position], &naive);
        }
    }

    #[test]
    fn what_is_found_among_many_is_what_is_found_of_each(alerts in prop::collection::vec(alerts(), 0..8)) {
        let found = among(alerts.iter());

        for alert in &alerts {
            let duplicates = of(alert, &alerts);
            let refunded: Vec<bool> = duplicates.iter().map(Alert::refund_is_likely).collect();
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
        DuplicateEvidence::LastFourAmountAndDay,
        DuplicateEvidence::ArnOnOtherCard,
    ];

    let words: HashSet<&str> = all.iter().map(|evidence| evidence.as_str()).collect();

    assert_eq!(words.len(), all.len());
    let is_sure =
        |evidence: &DuplicateEvidence| evidence.as_str().starts_with("same ") && !evidence.as_str().contains("but");
    assert!(all.iter().all(|evidence| evidence.is_sure() == is_sure(evidence)), "{words:?}");
}
