//! Insights against the meaning that the domain gives them: the same counts and sums on every kind of store.

use avert::domain::{
    Alert, AlertFilter, AlertStatus, AlertType, Calendar, CardScheme, CurrencySum, Deadline, Insights, OrganizationId,
    TruthKind, TruthReport, insights,
};
use chrono::Duration;
use proptest::{prelude::*, sample::select};

use super::{
    Fixture,
    lists::{alerts, block_on, filters},
    outcome,
};
use crate::support::alerts::{noon, open_alert};

contract!(
    another_organizations_alerts_are_in_no_count,
    what_is_answered_moves_from_what_waits_to_its_day,
    what_is_answered_before_midnight_here_is_of_the_day_before,
    notices_are_at_no_risk,
    disputes_of_the_month_count_in_place_of_alerts_once_one_is_reported,
);

/// What insights are by the domain's own words.
fn naive(alerts: &[Alert], filter: &AlertFilter, calendar: Calendar) -> Insights {
    let within = alerts.iter().filter(|alert| filter.matches(alert, noon()));
    Insights { monitored: insights::monitored(alerts, noon()), ..Insights::of(within, noon(), calendar) }
}

async fn told_by(fixture: &Fixture, filter: &AlertFilter, calendar: Calendar) -> Insights {
    fixture.store.insights(fixture.organization, filter, calendar, noon()).await.unwrap()
}

async fn told(fixture: &Fixture, filter: &AlertFilter) -> Insights {
    told_by(fixture, filter, Calendar::UTC).await
}

prop_compose! {
    /// Alerts on cards of schemes, answered at different times with different words, some of them long ago.
    fn answered_alerts()(
        alert in alerts(),
        card in select(vec!["411111", "510510", "222100", "371234", ""]),
        status in proptest::option::of(select(vec![AlertStatus::Chargeback, AlertStatus::Expired, AlertStatus::Open,
            AlertStatus::Invalid])),
        alert_type in proptest::option::of(select(vec![AlertType::VerifiFraudNotice, AlertType::EthocaConfirmedFraud])),
        refunded in select(vec!["refunded", "Refunded", "not refunded", ""]),
        answered_hours_ago in proptest::option::of(0i64..900),
        deadline_minutes in -200i64..5_000,
    ) -> Alert {
        let mut alert = Alert {
            card_bin: card.to_owned(),
            status: status.unwrap_or(alert.status.clone()),
            alert_type: alert_type.unwrap_or(alert.alert_type.clone()),
            deadline: Deadline::At(noon() + Duration::minutes(deadline_minutes)),
            ..alert
        };
        if let Some(outcome) = &mut alert.outcome {
            outcome.refunded = refunded.to_owned();
            outcome.action_time = answered_hours_ago.map(|hours| noon() - Duration::minutes(hours * 60 + 7));
        }
        alert
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 40, failure_persistence: None,
        ..ProptestConfig::default() })]

    #[test]
    fn the_insights_and_sums_of_every_filter_are_what_the_domain_says(
        mut alerts in proptest::collection::vec(answered_alerts(), 0..160),
        filters in proptest::collection::vec(filters(), 12),
        minutes in select(vec![0, 345, -210, 840, -720]),
    ) {
        let calendar = Calendar::of_minutes(minutes).unwrap();
        alerts.sort_by_key(|alert| alert.id);
        alerts.dedup_by_key(|alert| alert.id);
        block_on(async {
            for fixture in Fixture::on_each().await {
                fixture.bring(&alerts).await;
                for filter in filters.iter().cloned().chain([AlertFilter::default()]) {
                    assert_eq!(told_by(&fixture, &filter, calendar).await, naive(&alerts, &filter, calendar),
                        "{filter:?}");
                    let sums = fixture.store.sums(fixture.organization, &filter, noon()).await.unwrap();
                    assert_eq!(sums, CurrencySum::of(alerts.iter().filter(|alert| filter.matches(alert, noon()))),
                        "{filter:?}");
                }
            }
        });
    }
}

async fn another_organizations_alerts_are_in_no_count(fixture: Fixture) {
    fixture.bring(&[open_alert("P1")]).await;

    let strangers = fixture
        .store
        .insights(OrganizationId::generate(), &AlertFilter::default(), Calendar::UTC, noon())
        .await
        .unwrap();
    let sums = fixture.store.sums(OrganizationId::generate(), &AlertFilter::default(), noon()).await.unwrap();

    assert_eq!((strangers, sums), (Insights::default(), Vec::new()));
    assert_eq!(told(&fixture, &AlertFilter::default()).await.kinds[0].waiting, 1);
}

async fn what_is_answered_moves_from_what_waits_to_its_day(fixture: Fixture) {
    let waits = Alert { deadline: Deadline::At(noon() + Duration::hours(1)), ..open_alert("P1") };
    let answered =
        Alert { alert_time: Some(noon() - Duration::minutes(95)), status: AlertStatus::Resolved, ..open_alert("P2") };
    let answered = Alert { outcome: Some(outcome(&answered, "resolved")), ..answered };

    fixture.bring(&[waits, answered]).await;

    let insights = told(&fixture, &AlertFilter::default()).await;
    assert_eq!((insights.kinds[0].waiting, insights.kinds[0].answered), (1, 1));
    assert_eq!(insights.lapsing.iter().map(|row| (row.soon, row.sum.alerts)).collect::<Vec<_>>(), [(true, 1)]);
    assert_eq!(insights.days.iter().map(|day| day.refunded).sum::<u64>(), 1);
    assert_eq!(insights.response_times.iter().map(|time| (time.minutes, time.alerts)).collect::<Vec<_>>(), [(95, 1)]);
}

async fn what_is_answered_before_midnight_here_is_of_the_day_before(fixture: Fixture) {
    let answered =
        Alert { alert_time: Some(noon() - Duration::hours(11)), status: AlertStatus::Resolved, ..open_alert("P1") };
    let mut answer = outcome(&answered, "resolved");
    answer.action_time = Some(noon() - Duration::hours(9));
    fixture.bring(&[Alert { outcome: Some(answer), ..answered }]).await;

    // Noon UTC is 07:00 there: what was answered at 03:00 UTC was answered at 22:00 of the day before.
    let west = Calendar::of_minutes(-300).unwrap();
    let days = [Calendar::UTC, west].map(|calendar| calendar.day_of(noon()));
    let told = [told(&fixture, &AlertFilter::default()).await, told_by(&fixture, &AlertFilter::default(), west).await];

    let on = |insights: &Insights, day| {
        insights.days.iter().filter(|count| count.day == day).map(|count| (count.raised, count.refunded)).next()
    };
    assert_eq!((on(&told[0], days[0]), on(&told[1], days[1])), (Some((1, 1)), None));
    assert_eq!(on(&told[1], days[1] - 1), Some((1, 1)));
}

async fn notices_are_at_no_risk(fixture: Fixture) {
    let of = |name: &str, alert_type: AlertType| Alert { alert_type, ..open_alert(name) };
    let mut all = vec![of("asks", AlertType::VerifiDispute), of("unknown", AlertType::parse("CDRN_QUERY"))];
    all.extend(AlertType::NOTICES.into_iter().map(|notice| of(notice.as_str(), notice.clone())));

    fixture.bring(&all).await;

    let until = noon() + Duration::days(30);
    let due = fixture.store.due(Some(fixture.organization), noon(), until).await.unwrap();
    let lapsing = told(&fixture, &AlertFilter::default()).await.lapsing;
    assert_eq!(due.iter().map(|(_, sum)| sum.alerts).sum::<u64>(), 2);
    assert_eq!(lapsing.iter().map(|row| row.sum.alerts).sum::<u64>(), 2);
}

async fn disputes_of_the_month_count_in_place_of_alerts_once_one_is_reported(fixture: Fixture) {
    let lost = |id: &str| Alert { status: AlertStatus::Chargeback, ..open_alert(id) };
    fixture.bring(&[lost("P1"), lost("P2")]).await;
    let report =
        |cells: &[(&'static str, &str)]| TruthReport::of_cells(TruthKind::Dispute, cells.iter().copied()).unwrap();
    let counted = async || {
        let found = told(&fixture, &AlertFilter::default()).await;
        let counts = found.monitored.iter().map(|count| (count.scheme, count.fraud_reports, count.chargebacks));
        (found.has_dispute_feed, found.has_fraud_feed, counts.collect::<Vec<_>>())
    };
    let before = counted().await;
    let of_no_scheme = report(&[("id", "D-0"), ("at", "2026-03-02T10:00:00Z")]);
    fixture.store.record_truth(fixture.organization, vec![of_no_scheme], noon()).await.unwrap();
    let without_scheme = counted().await;

    let disputes = [
        report(&[("id", "D-1"), ("card_bin", "411111"), ("at", "2026-03-02T10:00:00Z")]),
        report(&[("id", "D-2"), ("network", "mc_applepay"), ("at", "2026-03-09T10:00:00Z")]),
        report(&[("id", "D-3"), ("card_bin", "411111"), ("at", "2026-02-27T10:00:00Z")]),
        report(&[("id", "D-4"), ("card_bin", "411111"), ("status", "prevented"), ("at", "2026-03-09T10:00:00Z")]),
    ];
    fixture.store.record_truth(fixture.organization, disputes.to_vec(), noon()).await.unwrap();

    assert_eq!(before, (false, false, vec![(CardScheme::Visa, 2, 2)]));
    assert_eq!(without_scheme, before, "a dispute that names no scheme measures none");
    let expected = vec![(CardScheme::Visa, 2, 1), (CardScheme::Mastercard, 0, 1)];
    assert_eq!(counted().await, (true, false, expected), "fraud is counted by alerts still");
}
