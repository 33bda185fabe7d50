//! Tests of the demo's feed.

use std::collections::{BTreeSet, HashSet};

use proptest::prelude::*;

use super::{super::shop, *};
use crate::domain::{order::matches, time::from_iso};

fn now() -> Timestamp {
    from_iso("2026-03-10T12:00:00Z").unwrap()
}

fn left(alert: &Alert) -> Duration {
    super::left(alert, now())
}

fn waits(alert: &Alert) -> bool {
    super::waits(alert, now())
}

fn backlog() -> Vec<Alert> {
    DemoFeed::new(1).backlog(240, now()).into_iter().map(|row| row.alert).collect()
}

#[test]
fn the_same_seed_gives_the_same_alerts() {
    let make = |seed| {
        let mut feed = DemoFeed::new(seed);
        let mut rows = feed.backlog(50, now());
        rows.push(feed.arrival(now()));
        (rows, feed.gap(12.0))
    };

    assert_eq!(make(7), make(7));
    assert_ne!(make(7), make(8));
}

#[test]
fn a_quarter_waits_with_deadlines_from_a_minute_to_days() {
    let alerts = backlog();
    let mut waiting: Vec<Duration> = alerts.iter().filter(|alert| waits(alert)).map(left).collect();
    waiting.sort();

    assert_eq!((alerts.len(), waiting.len()), (240, 60));
    assert!(waiting[0] < Duration::seconds(70) && waiting[2] < Duration::seconds(150), "{waiting:?}");
    assert!(waiting.iter().filter(|left| **left < Duration::hours(1)).count() >= 8);
    assert!(waiting.iter().filter(|left| **left > Duration::hours(24)).count() >= 8);
    assert!(*waiting.last().unwrap() < Duration::hours(72));
}

#[test]
fn a_history_is_of_its_span_and_a_twentieth_of_it_waits() {
    let (mut feed, span) = (DemoFeed::new(1), Duration::days(730));
    let companies = [1, 2, 3].map(|number| CompanyId(uuid::Uuid::from_u128(number)));

    let alerts: Vec<Alert> =
        (0..4_000).map(|index| feed.history(index, 4_000, span, &companies, now()).alert).collect();

    let share =
        |wanted: &dyn Fn(&Alert) -> bool| alerts.iter().filter(|alert| wanted(alert)).count() * 100 / alerts.len();
    assert_eq!(share(&waits), 5);
    assert!((70..80).contains(&share(&|alert| alert.outcome.is_some())), "{}", share(&|alert| alert.outcome.is_some()));
    assert!((45..55).contains(&share(&|alert| alert.company_id == Some(companies[0]))));
    let oldest = alerts.iter().filter_map(|alert| alert.alert_time).min().unwrap();
    assert!(oldest >= now() - span && oldest < now() - span + Duration::days(2), "{oldest}");
    assert!(alerts.iter().all(|alert| alert.transaction_time < alert.alert_time && alert.alert_time < Some(now())));
}

#[test]
fn doubles_stand_across_networks_beside_refunded_and_waiting_ones() {
    let alerts = backlog();
    let same = |a: &Alert, b: &Alert| {
        a.provider != b.provider
            && (&a.card_bin, &a.card_last_four, a.amount, &a.currency)
                == (&b.card_bin, &b.card_last_four, b.amount, &b.currency)
    };
    let duplicates = |wanted: fn(&Alert) -> bool| {
        alerts
            .iter()
            .filter(|alert| waits(alert) && alerts.iter().any(|other| same(alert, other) && wanted(other)))
            .count()
    };

    assert!(duplicates(|other| other.status == AlertStatus::Resolved) >= 3);
    assert!(duplicates(waits) >= 4);
}

#[test]
fn what_lapses_first_is_an_ordinary_alert_that_nothing_speaks_for_or_against() {
    let rules = parse_rules(RULES).unwrap();
    for (seed, count) in (0..60).flat_map(|seed| [(seed, 12), (seed, 240)]) {
        let alerts: Vec<Alert> = DemoFeed::new(seed).backlog(count, now()).into_iter().map(|row| row.alert).collect();
        let orders = shop::orders_of(alerts.iter());
        let mut waiting: Vec<&Alert> = alerts.iter().filter(|alert| waits(alert)).collect();
        waiting.sort_by_key(|alert| left(alert));

        for alert in &waiting[..PLAIN] {
            assert_eq!(
                (&alert.status, alert.alert_type.is_notice(), alert.network_rule_applied()),
                (&AlertStatus::Open, false, false)
            );
            assert!(alerts.iter().all(|other| evidence(alert, other).is_none()), "{seed}");
            assert_eq!(suggestion(&rules, alert, now()).map(|rule| &rule.name), None);
            let found = matches(alert, orders.clone()).into_iter().next();
            assert_eq!(found.and_then(|found| found.advice(alert)), None, "{seed}");
        }
        assert!(
            waiting.iter().all(|alert| alert.transaction_time < alert.alert_time && alert.alert_time <= Some(now()))
        );
    }
}

#[test]
fn rules_of_the_network_and_orders_of_the_shop_fit_their_alerts() {
    let limit = |name: &str| {
        name.strip_prefix("Below ")?.split_once(' ').map(|(limit, code)| (limit.to_owned(), code.to_owned()))
    };
    let mut ruled = 0;
    for seed in 0..60 {
        let mut feed = DemoFeed::new(seed);
        let mut rows = feed.backlog(240, now());
        rows.extend((0..60).map(|_| feed.arrival(now())));
        for alert in rows.into_iter().map(|row| row.alert) {
            if let Some(name) = &alert.rule_name {
                ruled += 1;
                assert_eq!(alert.provider, Provider::Verifi);
                match limit(name) {
                    Some((limit, code)) => {
                        assert_eq!(code, alert.currency.as_str());
                        assert!(
                            alert.amount.unwrap().decimal() < limit.parse().unwrap(),
                            "{name} on {:?}",
                            alert.amount
                        );
                    }
                    None => assert_eq!(name.strip_prefix("Reason code "), alert.reason_code.as_deref()),
                }
            }
            let Some(order) = order_of(&alert) else { continue };
            assert!(
                order.currency.as_ref() == Some(&alert.currency)
                    && order.amount.map(Amount::decimal) >= alert.amount.map(Amount::decimal)
            );
            assert!(
                order.paid_at < alert.alert_time && order.state_at >= order.paid_at && order.state_at < Some(now()),
                "{order:?}"
            );
            let before = order.state == Some(OrderState::Refunded) && order.state_at < alert.alert_time;
            assert!(before || !alert.says_refunded_before(), "{order:?}");
        }
    }
    assert!(ruled > 200, "{ruled}");
}

#[test]
fn every_network_type_and_answer_is_among_them() {
    let alerts = backlog();
    let types: BTreeSet<&str> = alerts.iter().map(|alert| alert.alert_type.as_str()).collect();
    let statuses: BTreeSet<&str> = alerts.iter().map(|alert| alert.status.as_str()).collect();
    let providers: BTreeSet<&str> = alerts.iter().map(|alert| alert.provider.as_str()).collect();
    let currencies: BTreeSet<&str> = alerts.iter().map(|alert| alert.currency.as_str()).collect();

    assert_eq!(types.len(), AlertType::KNOWN.len() - 2, "all of the networks'");
    assert_eq!(statuses, BTreeSet::from(["CHARGEBACK", "INVALID", "OPEN", "RESOLVED"]));
    assert_eq!(providers.len(), 3);
    assert!(currencies.contains("JPY") && currencies.contains("KWD"), "{currencies:?}");
    assert!(alerts.iter().any(|alert| waits(alert) && alert.network_rule_applied()));
    assert!(alerts.iter().any(|alert| alert.outcome.is_none() && left(alert) < Duration::zero()), "none has lapsed");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn every_alert_of_every_seed_is_one_that_ingest_takes(seed: u64) {
        let mut feed = DemoFeed::new(seed);
        let mut rows = feed.backlog(60, now());
        rows.extend((0..60).map(|_| feed.arrival(now())));
        let mut ids = HashSet::new();
        for row in rows {
            let alert = row.alert;
            prop_assert!(ids.insert(alert.id));
            let amount = alert.amount.unwrap();
            prop_assert_eq!(amount.decimal().scale(), alert.currency.exponent());
            prop_assert!(amount.micros().is_some_and(|micros| micros > 0));
            prop_assert!(matches!(alert.card_bin.len(), 6 | 8) && alert.card_last_four.len() == 4);
            prop_assert!(!alert.provider_id.is_empty());
            prop_assert_eq!(mask_card_numbers(&alert.provider_id), alert.provider_id.as_str());
            prop_assert!(alert.transaction_time < alert.alert_time && alert.alert_time <= Some(now()));
            prop_assert!(alert.network_rule_applied() == alert.rule_name.is_some());
            if let Some(outcome) = &alert.outcome {
                prop_assert!(outcome.action_time > alert.alert_time && outcome.action_time < Some(now()));
                prop_assert_eq!(&outcome.provider_alert_id, &alert.provider_id);
                prop_assert_eq!(outcome.alert_id, alert.id);
            }
        }
    }

    #[test]
    fn the_gap_stays_near_its_mean(seed: u64, per_minute in 0.1_f64..6_000.0) {
        let gap = DemoFeed::new(seed).gap(per_minute).as_secs_f64();

        prop_assert!(gap >= 0.04 * 60.0 / per_minute && gap <= 4.01 * 60.0 / per_minute);
    }
}
