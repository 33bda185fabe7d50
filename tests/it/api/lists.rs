//! The list operation over HTTP: every parameter alone and with others, order, pages.

use avert::{
    domain::{Alert, AlertStatus, AlertType, CompanyId, Currency, Deadline, Provider},
    service::Alerts,
    wire::{Dialect, query},
};
use chrono::Duration;
use rstest::rstest;
use serde_json::Value;
use uuid::Uuid;

use super::served::{Served, json};
use crate::support::alerts::{noon, open_alert};

fn company(number: u128) -> CompanyId {
    CompanyId(Uuid::from_u128(0x018f_0000_0000_7000_8000_0000_0000_0000 + number))
}

/// Alerts that differ in everything that can be filtered or sorted by.
fn many() -> Vec<Alert> {
    (0..48_i64)
        .map(|index| {
            let pick = |count: usize| usize::try_from(index).unwrap() % count;
            let raised = noon() - Duration::hours(index * 5 % 71) - Duration::minutes(index);
            let provider = [Provider::Ethoca, Provider::Verifi, Provider::Cdrn][pick(3)].clone();
            Alert {
                provider,
                alert_type: AlertType::KNOWN[pick(7)].clone(),
                provider_id: format!("Px{:03}", index * 37 % 101),
                alert_time: Some(raised),
                transaction_time: (index % 5 != 0).then(|| raised - Duration::days(index % 9)),
                company_id: Some(company(u128::try_from(index % 4).unwrap())),
                issuer: ["HSBC", "Emirates NBD", "Österreichische Bank"][pick(3)].to_owned(),
                card_bin: format!("{}", 411_111 + index % 6 * 7),
                card_last_four: format!("{:04}", index * 411 % 10_000),
                merchant_descriptor: ["ACME*SHOP BERLIN", "acme*travel", "Café Zürich", "100%_OFF"][pick(4)].to_owned(),
                merchant_name: ["B", "a", "Ä"][pick(3)].to_owned(),
                amount: Some(format!("{}.{:02}", index * 7919 % 1000, index).parse().unwrap()),
                currency: Currency::new(["EUR", "USD", "JPY"][pick(3)]),
                deadline: Deadline::At(noon() + Duration::hours(index * 7 % 50) + Duration::minutes(1)),
                ..open_alert("")
            }
        })
        .collect()
}

/// A desk with many alerts, some of them resolved, some expired; and what is in it.
pub async fn desk() -> (Served, Vec<Alert>) {
    let served = Served::start().await;
    let stored = served.ingest(many()).await;
    let bodies = [
        r#"{"refunded":"REFUNDED"}"#,
        r#"{"refunded":"NOT REFUNDED"}"#,
        r#"{"refunded":"INVALID","resolution":"NOT_REFUNDED_DUPLICATE"}"#,
    ];
    for (index, alert) in stored.iter().enumerate().filter(|(index, _)| index % 4 == 0) {
        json(served.put(alert.id, bodies[index / 4 % 3]).send().await.unwrap(), 200).await;
    }
    served.clock.advance(Duration::hours(6));
    served.engine.expire_once().await.unwrap();
    let mut now = Vec::new();
    for alert in stored {
        now.push(served.acting.get(alert.id).await.unwrap());
    }
    (served, now)
}

pub fn ids(page: &Value) -> Vec<String> {
    page["data"].as_array().unwrap().iter().map(|alert| alert["id"].as_str().unwrap().to_owned()).collect()
}

/// What a query must find, by the plain meaning of the parameters.
pub fn expected(alerts: &[Alert], raw: &str, dialect: Dialect) -> Vec<String> {
    let query = query::read(raw, dialect).unwrap();
    let now = noon() + Duration::hours(6);
    let mut found: Vec<_> = alerts.iter().filter(|alert| query.filter.matches(alert, now)).collect();
    found.sort_by(|left, right| query.sort.compare(left, right));
    found.iter().map(|alert| alert.id.to_string()).collect()
}

#[tokio::test]
async fn each_parameter_finds_what_it_means_alone_and_with_others() {
    let (served, alerts) = desk().await;
    let (first, second) = (company(1).to_string(), company(2).to_string());
    let filters = [
        String::new(),
        "startDate=2026-03-09".to_owned(),
        "endDate=2026-03-09".to_owned(),
        "startDate=2026-03-09&endDate=2026-03-09".to_owned(),
        "transactionStartDate=2026-03-06".to_owned(),
        "transactionEndDate=2026-03-06".to_owned(),
        "transactionStartDate=2026-03-05&transactionEndDate=2026-03-07".to_owned(),
        "provider=ethoca".to_owned(),
        "provider=ETHOCA,CDRN".to_owned(),
        "type=VERIFI_CANCEL".to_owned(),
        "type=verifi_cancel,ETHOCA_CONFIRMED_FRAUD".to_owned(),
        "status=OPEN".to_owned(),
        "status=RESOLVED,chargeback,INVALID".to_owned(),
        "status=EXPIRED".to_owned(),
        "status=REFUNDED".to_owned(),
        "descriptor=acme".to_owned(),
        "descriptor=CAF%C3%89".to_owned(),
        "descriptor=100%25_".to_owned(),
        "descriptor=_00%25".to_owned(),
        "outcome=resolved".to_owned(),
        "outcome=RESOLVED,other".to_owned(),
        "outcome=shipper_contacted".to_owned(),
        "expired=true".to_owned(),
        "expired=false".to_owned(),
        "expiresIn=1".to_owned(),
        "expiresIn=20".to_owned(),
        "expiresIn=999999999999".to_owned(),
        format!("companyIds={first}"),
        format!("companyIds={first},{second}"),
        "q=4".to_owned(),
        "q=px0".to_owned(),
        "q=TRAVEL".to_owned(),
        "q=z%C3%BCr".to_owned(),
        "q=%25".to_owned(),
        "q=411118".to_owned(),
    ];
    let with =
        ["", "status=OPEN,EXPIRED", "provider=VERIFI,ETHOCA&expired=false", "q=a&sortField=amount&sortOrder=DESC"];

    for filter in &filters {
        for more in with {
            let twice = |name: &str| filter.starts_with(&format!("{name}=")) && more.contains(&format!("{name}="));
            if ["status", "provider", "expired", "q"].into_iter().any(twice) {
                continue;
            }
            let raw = format!("size=100&{filter}&{more}");
            let page = json(served.get(&format!("/api/v1/alerts?{raw}")).await, 200).await;
            let wanted = expected(&alerts, &raw, Dialect::Current);
            assert_eq!(ids(&page), wanted, "{raw}");
            assert_eq!(page["total"], wanted.len(), "{raw}");
        }
    }
}

#[tokio::test]
async fn every_order_is_total_and_the_same_on_every_page() {
    let (served, alerts) = desk().await;
    let fields = avert::domain::SortField::ALL.map(avert::domain::SortField::as_str);

    for field in fields {
        for order in ["ASC", "desc"] {
            let raw = format!("sortField={field}&sortOrder={order}");
            let mut walked = Vec::new();
            for number in 0..5 {
                let page = json(served.get(&format!("/api/v1/alerts?{raw}&size=11&page={number}")).await, 200).await;
                assert_eq!(
                    (&page["total"], &page["totalPages"], &page["page"]),
                    (&48.into(), &5.into(), &number.into())
                );
                walked.extend(ids(&page));
            }
            assert_eq!(walked, expected(&alerts, &raw, Dialect::Current), "{raw}");
        }
    }
}

#[tokio::test]
async fn without_parameters_the_first_ten_come_by_alert_time() {
    let (served, alerts) = desk().await;

    let page = json(served.get("/api/v1/alerts").await, 200).await;

    assert_eq!(ids(&page), expected(&alerts, "", Dialect::Current)[..10]);
    let keys: Vec<_> = page.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["data", "total", "totalPages", "page", "size"]);
    assert_eq!((&page["size"], &page["page"], &page["totalPages"]), (&10.into(), &0.into(), &5.into()));
}

#[rstest]
#[case("page=5&size=10")]
#[case("page=1000000&size=1")]
#[case("page=92233720368547758&size=100")]
#[tokio::test]
async fn beyond_the_last_page_there_is_nothing_but_the_total(#[case] raw: &str) {
    let (served, _) = desk().await;

    let page = json(served.get(&format!("/api/v1/alerts?{raw}")).await, 200).await;

    assert_eq!((ids(&page).len(), &page["total"]), (0, &48.into()));
}

#[tokio::test]
async fn nothing_at_all_is_an_empty_page() {
    let served = Served::start().await;

    let page = json(served.get("/api/v1/alerts").await, 200).await;

    assert_eq!(page, serde_json::json!({"data": [], "total": 0, "totalPages": 0, "page": 0, "size": 10}));
}

#[tokio::test]
async fn a_content_type_on_a_read_changes_nothing() {
    let (served, _) = desk().await;
    let plain = json(served.get("/api/v1/alerts").await, 200).await;

    for content_type in ["application/json", "text/plain", "nonsense"] {
        let read = served.request(reqwest::Method::GET, "/api/v1/alerts").header("Content-Type", content_type);
        assert_eq!(json(read.send().await.unwrap(), 200).await, plain);
    }
}

#[tokio::test]
async fn a_single_alert_has_the_fields_of_the_list() {
    let (served, alerts) = desk().await;
    let list = json(served.get("/api/v1/alerts?size=100").await, 200).await;

    for listed in list["data"].as_array().unwrap() {
        let id: avert::domain::AlertId = listed["id"].as_str().unwrap().parse().unwrap();
        assert_eq!(&served.read(id).await, listed);
    }
    assert!(alerts.iter().any(|alert| alert.status == AlertStatus::Expired));
}
