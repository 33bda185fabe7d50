//! Lists over HTTP against a naive filter over the same alerts: any parameters together, in both dialects.

use avert::{
    domain::{Alert, resolution::OlderWord},
    wire::Dialect,
};
use proptest::{
    prelude::*,
    sample::{select, subsequence},
    strategy::ValueTree,
    test_runner::{Config, TestRunner},
};
use reqwest::Method;
use tokio::runtime::Runtime;

use super::{
    lists::{desk, expected, ids},
    served::{Served, json},
};
use crate::support::size::sized;

/// One in three parameters is given.
fn given(name: &'static str, value: impl Strategy<Value = String> + 'static) -> BoxedStrategy<Option<String>> {
    proptest::option::weighted(0.33, value.prop_map(move |value| format!("{name}={value}"))).boxed()
}

fn one_of(words: &'static [&'static str]) -> BoxedStrategy<String> {
    select(words).prop_map(str::to_owned).boxed()
}

fn some_of(words: Vec<&'static str>) -> BoxedStrategy<String> {
    let most = words.len().min(4);
    subsequence(words, 1..=most).prop_map(|words| words.join(",")).boxed()
}

/// Two days in order, or one, or none.
fn days(start: &'static str, end: &'static str) -> BoxedStrategy<Option<String>> {
    let day = |day: u32| format!("2026-03-{day:02}");
    let both = (3_u32..=11, 0_u32..=4)
        .prop_map(move |(from, more)| format!("{start}={}&{end}={}", day(from), day((from + more).min(11))));
    let first = (3_u32..=11).prop_map(move |from| format!("{start}={}", day(from)));
    let last = (3_u32..=11).prop_map(move |to| format!("{end}={}", day(to)));
    proptest::option::weighted(0.3, prop_oneof![both, first, last]).boxed()
}

/// Any query that the dialect understands, without a page.
fn query(dialect: Dialect) -> impl Strategy<Value = String> {
    let (statuses, providers, outcomes, hours) = match dialect {
        Dialect::Current => (
            vec!["OPEN", "RESOLVED", "REFUNDED", "CHARGEBACK", "EXPIRED", "INVALID"],
            vec!["ETHOCA", "VERIFI", "CDRN"],
            vec!["resolved", "unresolved_dispute", "other", "not_found", "Stopped"],
            1..60_u32,
        ),
        Dialect::Older => (
            vec!["NEW", "OPEN", "RESOLVED", "REFUNDED", "PROCESSING", "NOT_FOUND", "CHARGEBACK", "OTHER", "EXPIRED"],
            vec!["ETHOCA", "VERIFI"],
            OlderWord::ALL.map(OlderWord::as_str).to_vec(),
            1..25,
        ),
    };
    let types = vec![
        "ETHOCA_CONFIRMED_FRAUD",
        "ETHOCA_CUSTOMER_DISPUTE",
        "VERIFI_DISPUTE",
        "VERIFI_CANCEL",
        "VERIFI_FRAUD_NOTICE",
    ];
    let companies = vec![
        "018f0000-0000-7000-8000-000000000000",
        "018f0000-0000-7000-8000-000000000001",
        "018f0000-0000-7000-8000-000000000003",
        "018f0000-0000-7000-8000-00000000ffff",
    ];
    let filters = vec![
        days("startDate", "endDate"),
        days("transactionStartDate", "transactionEndDate"),
        given("provider", some_of(providers)),
        given("type", some_of(types)),
        given("status", some_of(statuses)),
        given("descriptor", one_of(&["a", "ACME", "acme*s", "caf%C3%A9", "100%25", "%25", "_", "zzz"])),
        given("outcome", some_of(outcomes)),
        given("expired", one_of(&["true", "false"])),
        given("expiresIn", hours.prop_map(|hours| hours.to_string())),
        given("companyIds", some_of(companies)),
        given("q", one_of(&["4", "px", "Px0", "411111", "acme", "%25", "_", "%C3%BC", "99", "shop%20b"])),
    ];
    let fields = one_of(&[
        "alertTimeStamp",
        "transactionTimeStamp",
        "createdAt",
        "updatedAt",
        "expiredAt",
        "amount",
        "currency",
        "provider",
        "providerId",
        "type",
        "status",
        "issuer",
        "merchantDescriptor",
        "merchantName",
        "cardBin",
        "cardLastFour",
        "hoursLeft",
    ]);
    let sort = (proptest::option::of(fields), proptest::option::of(one_of(&["ASC", "DESC", "desc"]))).prop_map(
        |(field, order)| {
            [field.map(|field| format!("sortField={field}")), order.map(|order| format!("sortOrder={order}"))]
        },
    );
    (filters, sort).prop_map(|(filters, sort)| filters.into_iter().chain(sort).flatten().collect::<Vec<_>>().join("&"))
}

/// A desk with alerts in every state of both dialects.
struct Desk {
    runtime: Runtime,
    served: Served,
    token: String,
    alerts: Vec<Alert>,
}

impl Desk {
    fn open() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (served, token, alerts) = runtime.block_on(Self::make());
        Self { runtime, served, token, alerts }
    }

    async fn make() -> (Served, String, Vec<Alert>) {
        let (served, alerts) = desk().await;
        let token = served.token().await;
        let open: Vec<Alert> =
            alerts.iter().filter(|alert| alert.outcome.is_none()).take(OlderWord::ALL.len()).cloned().collect();
        for (alert, word) in
            open.iter().zip(OlderWord::ALL.into_iter().filter(|word| *word != OlderWord::PartiallyStopped))
        {
            let request =
                served.bare(Method::PUT, &format!("/api/v1/alerts/{}/resolution", alert.id)).bearer_auth(&token);
            let body = format!(r#"{{"resolution":"{}","refunded":"REFUNDED"}}"#, word.as_str());
            json(request.header("Content-Type", "application/json").body(body).send().await.unwrap(), 200).await;
        }
        let mut now = Vec::new();
        for alert in alerts {
            now.push(avert::service::Alerts::get(&served.acting, alert.id).await.unwrap());
        }
        (served, token, now)
    }

    /// What the API lists: the ids of a page, and the total.
    fn list(&self, dialect: Dialect, raw: &str) -> (Vec<String>, u64) {
        let request = self.served.bare(Method::GET, &format!("/api/v1/alerts?{raw}"));
        let request = match dialect {
            Dialect::Current => request.header("X-API-KEY", &self.served.key),
            Dialect::Older => request.bearer_auth(&self.token),
        };
        let page = self.runtime.block_on(async { json(request.send().await.unwrap(), 200).await });
        (ids(&page), page["total"].as_u64().unwrap())
    }
}

fn holds_in(dialect: Dialect) {
    let desk = Desk::open();
    let mut found = 0;
    let mut runner = TestRunner::new(Config { cases: sized(100, 160_000), ..Config::default() });
    let strategy = (query(dialect), 1_usize..=60, 0_usize..4);
    let outcome = runner.run(&strategy, |(raw, size, page)| {
        let wanted = expected(&desk.alerts, &raw, dialect);
        let (listed, total) = desk.list(dialect, &format!("{raw}&size={size}&page={page}"));

        prop_assert_eq!(total, wanted.len() as u64, "{}", raw);
        prop_assert_eq!(listed, wanted.iter().skip(page * size).take(size).cloned().collect::<Vec<_>>(), "{}", raw);
        Ok(())
    });
    outcome.unwrap();
    // Lists that are all empty would prove nothing.
    for _ in 0..40 {
        let raw = query(dialect).new_tree(&mut runner).unwrap().current();
        found += usize::from(!expected(&desk.alerts, &raw, dialect).is_empty());
    }
    assert!(found >= 5, "{found} of 40 queries find something");
}

#[test]
fn any_query_of_the_current_dialect_finds_what_a_naive_filter_finds() {
    holds_in(Dialect::Current);
}

#[test]
fn any_query_of_the_older_dialect_finds_what_a_naive_filter_finds() {
    holds_in(Dialect::Older);
}
