//! Lists against the meaning of filters and sorts as the domain has them: same alerts, same order, same totals.

use avert::domain::{
    Alert, AlertFilter, AlertId, AlertQuery, AlertStatus, AlertType, Amount, Calendar, CalendarDay, CompanyId,
    Comparison, Currency, CurrencySum, Deadline, LocalConditions, MAX_PAGE_SIZE, PageRequest, Provider, Sort,
    SortField, SortOrder,
    query::{Vocabulary, parse},
    time::Timestamp,
};
use chrono::{Duration, NaiveDate};
use proptest::{prelude::*, sample::select};
use uuid::Uuid;

use super::{
    Fixture,
    organizations::organization,
    outcome,
    resolutions::{claim, resolve},
    row,
};
use crate::support::alerts::{noon, open_alert};

fn companies() -> Vec<CompanyId> {
    (1..=3).map(|number| CompanyId(Uuid::from_u128(number))).collect()
}

/// Few values, so that many alerts are equal in them; a fair share of nulls.
fn moments() -> impl Strategy<Value = Option<Timestamp>> {
    let near = (-4i64..=4, prop_oneof![Just(0i64), Just(1), Just(43_200_000_000), Just(86_399_999_999)]).prop_map(
        |(days, micros)| Some(noon() - Duration::hours(12) + Duration::days(days) + Duration::microseconds(micros)),
    );
    prop_oneof![8 => near, 1 => Just(None)]
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => select(vec!["ACME*Shop", "acme*shop", "Acme", "ÄPFEL GmbH", "äpfel", "İstanbul", "ΣΟΦΟΣ", "", "100%_",
            "a\"b'c", "🦀 crab", "ZZ\u{10ffff}"])
            .prop_map(str::to_owned),
        1 => "[a-cA-C0-1 *ß]{0,6}",
        1 => "\\PC{0,5}",
    ]
}

fn amounts() -> impl Strategy<Value = Option<Amount>> {
    select(vec![
        None,
        Some("10"),
        Some("10.00"),
        Some("9.5"),
        Some("0"),
        Some("0.000001"),
        Some("123456789.99"),
        Some("-3"),
        Some("0.0000001"),
    ])
    .prop_map(|text| text.map(|text| text.parse().unwrap()))
}

fn providers() -> impl Strategy<Value = Provider> {
    select(vec![Provider::Ethoca, Provider::Verifi, Provider::Cdrn, Provider::parse("Mystery")])
}

fn types() -> impl Strategy<Value = AlertType> {
    select(vec![
        AlertType::EthocaConfirmedFraud,
        AlertType::VerifiDispute,
        AlertType::VerifiCancel,
        AlertType::VerifiFraudNotice,
        AlertType::parse("NEW_KIND"),
    ])
}

fn statuses() -> impl Strategy<Value = AlertStatus> {
    select(vec![
        AlertStatus::Open,
        AlertStatus::Open,
        AlertStatus::Expired,
        AlertStatus::Resolved,
        AlertStatus::Invalid,
        AlertStatus::OtherStatus,
        AlertStatus::parse("UNHEARD_OF"),
    ])
}

prop_compose! {
    pub(super) fn alerts()(
        id in any::<u128>(),
        words in (providers(), types(), statuses()),
        times in (moments(), moments(), moments(), moments(), moments(), moments()),
        texts in (texts(), texts(), texts(), texts(), texts(), texts()),
        currency in select(vec!["EUR", "USD", "usd"]),
        mcc in proptest::option::of(select(vec!["5941", " 5941\u{a0}", "5732", "AB", "ab", ""])),
        amount in amounts(),
        company in proptest::option::of(select(companies())),
        word in proptest::option::of(select(vec!["resolved", "RESOLVED", "not_found", "Ünknown"])),
    ) -> Alert {
        let id = AlertId(Uuid::from_u128(id));
        let mut alert = Alert {
            company_id: company,
            status: words.2,
            alert_time: times.0,
            transaction_time: times.1,
            created_at: times.2,
            updated_at: times.3,
            expired_at: times.4,
            // The engine gives every alert a deadline before it is stored.
            deadline: Deadline::At(times.5.unwrap_or_else(noon)),
            provider_id: texts.0,
            merchant_descriptor: texts.1,
            card_bin: texts.2,
            card_last_four: texts.3,
            issuer: texts.4,
            merchant_name: texts.5,
            currency: Currency::new(currency),
            amount,
            mcc: mcc.map(str::to_owned),
            ..Alert::new(id, words.0, words.1)
        };
        alert.outcome = word.map(|word| outcome(&alert, word));
        alert
    }
}

fn days() -> impl Strategy<Value = Option<NaiveDate>> {
    let near = (-5i64..=5).prop_map(|days| Some((noon() + Duration::days(days)).date_naive()));
    prop_oneof![12 => Just(None), 4 => near, 1 => select(vec![Some(NaiveDate::MIN), Some(NaiveDate::MAX)])]
}

/// A list that is mostly empty, which means any.
fn some<T: Clone + std::fmt::Debug + 'static>(one: impl Strategy<Value = T> + 'static) -> BoxedStrategy<Vec<T>> {
    prop_oneof![3 => Just(Vec::new()), 2 => proptest::collection::vec(one, 1..3)].boxed()
}

/// Conditions that few or many alerts fulfil, and some that none can.
fn conditions() -> impl Strategy<Value = LocalConditions> {
    let amount = select(vec!["10", "9.50", "0", "0.000001", "123456789.99"]).prop_map(|text| text.parse().unwrap());
    let amounts = some((select(&Comparison::ALL[..]), amount));
    let currencies = some(select(vec!["EUR", "USD", "usd", "JPY"]).prop_map(Currency::new));
    let issuers = some(prop_oneof![
        4 => select(vec!["acme", "ACME*", "ä", "İs", "σο", "100%", "a\"B", "\u{1f980}", "zz\u{10ffff}", "ß",
            "nobody"]).prop_map(str::to_owned),
        1 => "[a-cA-C0-1*]{1,3}",
    ]);
    let mccs = some(select(vec!["5941", "5732", "ab", "594", "a\0"]).prop_map(str::to_owned));
    let notices = prop_oneof![3 => Just(None), 1 => any::<bool>().prop_map(Some)];
    // Around the days of the answers, by the days of anywhere.
    let day = (-4i64..=4, select(vec![0, 345, -210])).prop_map(|(days, minutes)| CalendarDay {
        date: (noon() + Duration::days(days)).date_naive(),
        calendar: Calendar::of_minutes(minutes).unwrap(),
    });
    let answered = prop_oneof![3 => Just(None), 1 => day.prop_map(Some)];
    (amounts, currencies, issuers, mccs, (notices, answered)).prop_map(|(amounts, currencies, issuers, mccs, rest)| {
        LocalConditions { amounts, currencies, issuers, mccs, notices: rest.0, answered: rest.1 }
    })
}

prop_compose! {
    pub(super) fn filters()(
        alert_days in (days(), days()),
        transaction_days in (days(), days()),
        providers in some(providers()),
        types in some(types()),
        statuses in some(statuses()),
        outcomes in prop_oneof![4 => Just(Vec::new()), 1 => some(select(vec!["resolved", "NOT_FOUND", "ünknown",
            "nothing"]).prop_map(str::to_owned))],
        descriptor in prop_oneof![4 => Just(None), 2 => texts().prop_map(Some)],
        expired in prop_oneof![4 => Just(None), 1 => any::<bool>().prop_map(Some)],
        expires_in in prop_oneof![4 => Just(None), 1 => select(vec![Some(0), Some(12), Some(48), Some(u32::MAX)])],
        companies in prop_oneof![4 => Just(Vec::new()), 1 => some(select(companies())),
            1 => Just(vec![CompanyId(Uuid::from_u128(99))])],
        q in prop_oneof![4 => Just(None), 4 => texts().prop_map(Some), 2 => "[a-c0-1*]{1,3}".prop_map(Some)],
        conditions in prop_oneof![3 => Just(LocalConditions::default()), 2 => conditions()],
        // With all the rest hardly anything is left that could be wrong.
        alone in prop_oneof![2 => Just(true), 1 => Just(false)],
    ) -> AlertFilter {
        if alone && !conditions.is_empty() {
            return AlertFilter { statuses, conditions, ..AlertFilter::default() };
        }
        AlertFilter {
            start_date: alert_days.0,
            end_date: alert_days.1,
            transaction_start_date: transaction_days.0,
            transaction_end_date: transaction_days.1,
            providers,
            types,
            statuses,
            descriptor,
            outcomes,
            expired,
            expires_in,
            companies,
            q,
            conditions,
        }
    }
}

fn every_sort() -> impl Iterator<Item = Sort> {
    let orders = [SortOrder::Ascending, SortOrder::Descending];
    SortField::ALL.into_iter().flat_map(move |field| orders.map(|order| Sort { field, order }))
}

/// What a list is by the domain's own words.
fn naive(alerts: &[Alert], query: &AlertQuery) -> (Vec<AlertId>, u64) {
    let mut matching: Vec<&Alert> = alerts.iter().filter(|alert| query.filter.matches(alert, noon())).collect();
    matching.sort_by(|left, right| query.sort.compare(left, right));
    let PageRequest { page, size } = query.page;
    let skip = usize::try_from(page.saturating_mul(size.into())).unwrap();
    (matching.iter().skip(skip).take(size as usize).map(|alert| alert.id).collect(), matching.len() as u64)
}

async fn assert_lists(fixture: &Fixture, alerts: &[Alert], query: &AlertQuery) {
    let (expected, total) = naive(alerts, query);
    let (data, found) = fixture.list(query).await;
    let ids: Vec<AlertId> = data.iter().map(|alert| alert.id).collect();
    assert_eq!((ids, found), (expected, total), "{query:?}");
}

contract!(
    pages_cover_everything_once_and_beyond_the_last_there_is_nothing,
    another_organizations_alerts_are_not_there,
    money_at_risk_is_summed_by_currency,
    what_is_due_is_summed_by_hour_and_currency_over_all_organizations,
    a_search_for_what_nobody_has_finds_nothing_and_quotes_do_no_harm,
    what_means_something_in_a_pattern_is_searched_as_it_is,
    a_text_is_looked_for_among_the_alerts_of_one_organization_alone,
    a_page_deep_in_the_list_is_the_one_that_follows_from_the_pages_before,
    every_condition_is_answered_as_the_domain_says,
    what_is_answered_leaves_the_total_of_what_is_open,
);

async fn what_is_answered_leaves_the_total_of_what_is_open(fixture: Fixture) {
    let alerts = ["P1", "P2", "P3"].map(open_alert);
    fixture.bring(&alerts).await;
    let total = async |status| {
        let filter = AlertFilter { statuses: vec![status], ..AlertFilter::default() };
        fixture.list(&AlertQuery { filter, ..AlertQuery::default() }).await.1
    };
    let before = total(AlertStatus::Open).await;

    let answered = resolve(&fixture, claim(&fixture, &alerts[1])).await;

    assert_eq!((before, total(AlertStatus::Open).await, total(answered.status).await), (3, 2, 1));
}

pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 40, failure_persistence: None,
        ..ProptestConfig::default() })]

    #[test]
    fn every_filter_sort_and_page_gives_what_the_domain_says(
        mut alerts in proptest::collection::vec(alerts(), 0..160),
        filters in proptest::collection::vec(filters(), 24),
        sizes in proptest::collection::vec((0u64..6, prop_oneof![Just(1u32), Just(7), Just(10),
            Just(MAX_PAGE_SIZE)]), 24),
    ) {
        alerts.sort_by_key(|alert| alert.id);
        alerts.dedup_by_key(|alert| alert.id);
        block_on(async {
            for fixture in Fixture::on_each().await {
            fixture.bring(&alerts).await;
            let everything = AlertFilter::default();
            // What waits has an index of its own.
            let open = AlertFilter { statuses: vec![AlertStatus::Open], ..AlertFilter::default() };
            let always = [(everything, (1, 7)), (open.clone(), (0, 2)), (open, (2, 2))];
            for (filter, (page, size)) in filters.iter().cloned().zip(sizes.clone()).chain(always) {
                for sort in every_sort() {
                    let page = PageRequest { page, size };
                    assert_lists(&fixture, &alerts, &AlertQuery { filter: filter.clone(), sort, page }).await;
                }
            }
            }
        });
    }

    #[test]
    fn a_stored_alert_comes_back_as_it_was(alerts in proptest::collection::vec(alerts(), 1..20)) {
        block_on(async {
            for fixture in Fixture::on_each().await {
                fixture.bring(&alerts).await;
                for alert in &alerts {
                    assert_eq!(&fixture.get(alert).await, alert);
                }
            }
        });
    }
}

async fn pages_cover_everything_once_and_beyond_the_last_there_is_nothing(fixture: Fixture) {
    let alerts: Vec<Alert> = (0..23).map(|number| open_alert(&format!("P{number}"))).collect();
    fixture.bring(&alerts).await;
    let page = |page| AlertQuery { page: PageRequest { page, size: 10 }, ..AlertQuery::default() };

    let mut seen = Vec::new();
    for number in 0..3 {
        seen.extend(fixture.list(&page(number)).await.0);
    }
    let (beyond, total) = fixture.list(&page(3)).await;
    let (far_beyond, _) = fixture.list(&page(u64::MAX)).await;

    let mut expected = alerts;
    expected.sort_by(|left, right| Sort::default().compare(left, right));
    assert_eq!(seen, expected);
    assert_eq!((beyond.len(), far_beyond.len(), total), (0, 0, 23));
}

async fn another_organizations_alerts_are_not_there(fixture: Fixture) {
    let alert = open_alert("P1");
    fixture.bring(std::slice::from_ref(&alert)).await;
    let stranger = avert::domain::OrganizationId::generate();

    let page = fixture.store.list_alerts(stranger, &AlertQuery::default(), noon()).await.unwrap();
    let found = fixture.store.get_alert(stranger, alert.id).await.unwrap();

    assert_eq!((page.total, page.data.len(), found), (0, 0, None));
    assert_eq!(fixture.store.count_alerts(stranger).await.unwrap(), 0);
    assert_eq!(fixture.store.count_alerts(fixture.organization).await.unwrap(), 1);
}

async fn money_at_risk_is_summed_by_currency(fixture: Fixture) {
    let at = |id: &str, currency: &str, amount: &str, hours: i64| Alert {
        currency: Currency::new(currency),
        amount: Some(amount.parse().unwrap()),
        deadline: Deadline::At(noon() + Duration::hours(hours)),
        ..open_alert(id)
    };
    let answered = at("answered", "EUR", "1000", 1);
    let answered = Alert { outcome: Some(outcome(&answered, "resolved")), status: AlertStatus::Resolved, ..answered };
    fixture
        .bring(&[
            at("a", "EUR", "10.10", 1),
            at("b", "EUR", "0.90", 2),
            at("c", "JPY", "9000000000000", 1),
            at("d", "JPY", "9000000000000.5", 2),
            at("e", "JPY", "1", 1),
            at("later", "EUR", "1000", 3),
            at("now", "EUR", "1000", 0),
            answered,
        ])
        .await;

    let due = fixture.store.due(Some(fixture.organization), noon(), noon() + Duration::hours(2)).await.unwrap();

    let sums = CurrencySum::by_currency(due.into_iter().map(|(_, sum)| sum));
    let told: Vec<_> = sums.iter().map(|sum| (sum.alerts, sum.money.to_string())).collect();
    assert_eq!(told, [(3, "18,000,000,000,001.5 JPY".to_owned()), (2, "11.00 EUR".to_owned())]);
}

async fn what_is_due_is_summed_by_hour_and_currency_over_all_organizations(fixture: Fixture) {
    let at = |id: &str, currency: &str, micros: i64| Alert {
        currency: Currency::new(currency),
        amount: Some("10.10".parse().unwrap()),
        deadline: Deadline::At(noon() + Duration::microseconds(micros)),
        ..open_alert(id)
    };
    let hour = 3_600_000_000;
    let notice = Alert { alert_type: AlertType::VerifiFraudNotice, ..at("notice", "EUR", 1) };
    let unpriced = Alert { amount: None, ..at("unpriced", "EUR", hour) };
    let ours = [at("a", "EUR", 1), unpriced, at("next", "EUR", hour + 1), at("over", "EUR", 0), notice];
    fixture.bring(&[&ours[..], &[at("last", "JPY", 3 * hour), at("later", "JPY", 3 * hour + 1)]].concat()).await;
    let theirs = vec![row(&at("b", "EUR", hour), false)];
    let other = organization("Other");
    fixture.store.add_organization(other.clone(), noon()).await.unwrap();
    fixture.store.ingest(other.organization.id, theirs, noon()).await.unwrap();

    let due = fixture.store.due(None, noon(), noon() + Duration::hours(3)).await.unwrap();

    let mut told: Vec<_> =
        due.iter().map(|(hour, sum)| (*hour, sum.alerts, sum.money.to_string(), sum.unpriced)).collect();
    told.sort();
    let expected = [(1, 3, "20.20 EUR", 1), (2, 1, "10.10 EUR", 0), (3, 1, "10.1 JPY", 0)];
    assert_eq!(told, expected.map(|(hour, alerts, money, unpriced)| (hour, alerts, money.to_owned(), unpriced)));
}

async fn a_search_for_what_nobody_has_finds_nothing_and_quotes_do_no_harm(fixture: Fixture) {
    fixture.bring(&[open_alert("P\"1'--"), open_alert("P2")]).await;
    let found = async |q: &str| {
        let filter = AlertFilter { q: Some(q.to_owned()), ..AlertFilter::default() };
        fixture.list(&AlertQuery { filter, ..AlertQuery::default() }).await.1
    };

    assert_eq!(found("\"1'").await, 1);
    assert_eq!(found("\"1'--").await, 1);
    assert_eq!(found("p").await, 2);
    assert_eq!(found("nobody").await, 0);
    assert_eq!(found("\0").await, 0);
    assert_eq!(found("a\0b OR \"").await, 0);
    assert_eq!(found("*").await, 2);
}

async fn what_means_something_in_a_pattern_is_searched_as_it_is(fixture: Fixture) {
    fixture.bring(&["100% off", "1000 off", "a_b", "axb", "back\\slash", "backslash"].map(open_alert)).await;
    let found = async |q: &str| {
        let filter = AlertFilter { q: Some(q.to_owned()), ..AlertFilter::default() };
        fixture.list(&AlertQuery { filter, ..AlertQuery::default() }).await.1
    };

    assert_eq!((found("100%").await, found("a_b").await, found("back\\s").await), (1, 1, 1));
    assert_eq!((found("%").await, found("_").await, found("\\").await), (1, 1, 1));
    let nobodys = AlertFilter { providers: vec![Provider::parse("\0")], ..AlertFilter::default() };
    assert_eq!(fixture.list(&AlertQuery { filter: nobodys, ..AlertQuery::default() }).await.1, 0);
}

async fn every_condition_is_answered_as_the_domain_says(fixture: Fixture) {
    let mut alerts = Vec::new();
    for issuer in ["HSBC UK", " hsbc\u{a0}", "\u{c4}hnlich Bank", "\u{3a3}\u{39f}\u{3a6}\u{39f}\u{3a3}", ""] {
        for mcc in [None, Some("5941"), Some(" 5941\u{a0}"), Some("594")] {
            for amount in [None, Some("9.5"), Some("10"), Some("10.00"), Some("-3")] {
                for currency in ["EUR", "eur", "USD"] {
                    let number = alerts.len();
                    alerts.push(Alert {
                        issuer: issuer.to_owned(),
                        mcc: mcc.map(str::to_owned),
                        amount: amount.map(|amount| amount.parse().unwrap()),
                        currency: Currency::new(currency),
                        alert_type: if number % 30 < 8 { AlertType::VerifiCancel } else { AlertType::VerifiDispute },
                        status: if number % 31 == 1 { AlertStatus::Invalid } else { AlertStatus::Open },
                        ..open_alert(&format!("P-{number}"))
                    });
                }
            }
        }
    }
    fixture.bring(&alerts).await;
    let other = organization("other");
    fixture.store.add_organization(other.clone(), noon()).await.unwrap();
    let strangers =
        alerts.iter().map(|alert| row(&Alert { id: AlertId::generate(), ..alert.clone() }, false)).collect();
    fixture.store.ingest(other.organization.id, strangers, noon()).await.unwrap();

    for text in [
        "amount<10 currency:EUR",
        "amount<=9.50 currency:EUR,USD",
        "amount>9.5 amount<=10.000 currency:USD",
        "amount=10 currency:EUR mcc:5941",
        "amount>=0.000001 currency:EUR",
        "currency:EUR",
        "issuer:hsbc",
        "issuer:\u{e4}hnlich,\u{3c3}\u{3bf} currency:USD",
        "mcc:5941",
        "mcc:594,7777 issuer:hsbc",
        "mcc:5941 issuer:HSBC amount<10 currency:EUR",
        "mcc:5941 type:cancel",
        "issuer:hsbc status:invalid",
        "amount<20 currency:EUR expires:48",
        "issuer:hsbc p-1",
        "currency:EUR 411111 descriptor:acme",
    ] {
        let (filter, _) = parse(text, Vocabulary::Desk).unwrap();
        for sort in every_sort() {
            for page in [PageRequest { page: 0, size: 7 }, PageRequest { page: 1, size: 3 }] {
                let query = AlertQuery { filter: filter.clone(), sort, page };
                assert!(naive(&alerts, &query).1 > 0, "{text}");
                assert_lists(&fixture, &alerts, &query).await;
            }
        }
    }
    for text in ["issuer:nobody", "amount<0 currency:EUR", "amount>5 amount<5 currency:EUR", "mcc:1"] {
        let (filter, _) = parse(text, Vocabulary::Desk).unwrap();
        assert_lists(&fixture, &alerts, &AlertQuery { filter, ..AlertQuery::default() }).await;
    }
}

async fn a_text_is_looked_for_among_the_alerts_of_one_organization_alone(fixture: Fixture) {
    let other = organization("other");
    fixture.store.add_organization(other.clone(), noon()).await.unwrap();
    let name = |number: usize| if number.is_multiple_of(3) { "Meadow" } else { "Harbor" };
    let alerts = |whose: &str| {
        (0..40)
            .map(|number| Alert { merchant_descriptor: name(number).into(), ..open_alert(&format!("{whose}{number}")) })
            .collect()
    };
    let (own, strangers): (Vec<Alert>, Vec<Alert>) = (alerts("own"), alerts("other"));
    let rows = strangers.iter().map(|alert| row(alert, false)).collect();
    fixture.store.ingest(other.organization.id, rows, noon()).await.unwrap();
    fixture.bring(&own).await;

    for (q, providers) in [("harbor", vec![]), ("harbor", vec![Provider::Ethoca]), ("ha", vec![])] {
        let filter = AlertFilter { q: Some(q.to_owned()), providers, ..AlertFilter::default() };
        for (sort, page) in every_sort().flat_map(|sort| (0..4).map(move |page| (sort, page))) {
            let page = PageRequest { page, size: 7 };
            assert_lists(&fixture, &own, &AlertQuery { filter: filter.clone(), sort, page }).await;
        }
    }
}

async fn a_page_deep_in_the_list_is_the_one_that_follows_from_the_pages_before(fixture: Fixture) {
    let at = |number: i64| (number % 11 != 0).then(|| noon() + Duration::hours(7 * (number % 90)));
    let status = |number: i64| if number % 10 == 0 { AlertStatus::Expired } else { AlertStatus::Open };
    let alert = |number| Alert { alert_time: at(number), status: status(number), ..open_alert(&format!("P{number}")) };
    let alerts: Vec<Alert> = (0..1_300).map(alert).collect();
    fixture.bring(&alerts).await;

    // What waits for an answer has indexes of its own.
    for statuses in [vec![], vec![AlertStatus::Open]] {
        let filter = AlertFilter { statuses, ..AlertFilter::default() };
        for order in [SortOrder::Ascending, SortOrder::Descending] {
            for page in [100, 105, 107, 115, 116, 118, 119, 129, 130] {
                let page = PageRequest { page, size: 10 };
                assert_lists(
                    &fixture,
                    &alerts,
                    &AlertQuery { filter: filter.clone(), sort: Sort { order, ..Sort::default() }, page },
                )
                .await;
            }
        }
    }
}
