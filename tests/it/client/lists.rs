//! What the client asks for, and which addresses it talks to.

use avert::{
    client::{Client, ClientOptions},
    domain::{
        AlertFilter, AlertId, AlertQuery, CompanyId, PageRequest, Provider,
        query::{Vocabulary, parse},
        url::{BaseUrl, PlainHttp},
    },
    service::{Alerts, ServiceError},
    wire::{self, Dialect},
};
use rstest::rstest;
use serde_json::json;
use uuid::Uuid;
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{any, header as has_header, query_param},
};

use crate::support::raw_server::{Asked, Play, RawServer};

use super::foreign::{KEY, answer, current, getting, header, listing, older, open, options, requests, token};

#[tokio::test]
async fn a_query_and_its_key_reach_the_service_and_its_page_comes_back() {
    let server = MockServer::start().await;
    let id = AlertId::generate();
    let page = json!({"data": [open(id)], "total": 41, "totalPages": 5, "page": 2, "size": 10});
    listing()
        .and(has_header("x-api-key", KEY))
        .and(query_param("page", "2"))
        .and(query_param("provider", "ETHOCA,CDRN"))
        .and(query_param("q", "a&b=c+d"))
        .respond_with(answer(200, &page))
        .expect(1)
        .mount(&server)
        .await;
    let query = AlertQuery {
        filter: AlertFilter {
            providers: vec![Provider::Ethoca, Provider::Cdrn],
            q: Some("a&b=c+d".to_owned()),
            ..AlertFilter::default()
        },
        page: PageRequest { page: 2, size: 10 },
        ..AlertQuery::default()
    };

    let page = current(&server).list(&query).await.unwrap();

    assert_eq!((page.total, page.page, page.size), (41, 2, 10));
    assert_eq!(page.data[0].id, id);
}

#[tokio::test]
async fn the_company_filter_has_the_name_the_deployment_gives_it() {
    let server = MockServer::start().await;
    let company = CompanyId::generate();
    listing()
        .and(query_param("companies", company.to_string()))
        .respond_with(answer(200, &json!([])))
        .expect(1)
        .mount(&server)
        .await;
    let client = Client::new(ClientOptions {
        company_parameter: "companies".to_owned(),
        ..options(&server.uri(), Dialect::Current)
    })
    .unwrap();
    let filter = AlertFilter { companies: vec![company], ..AlertFilter::default() };

    let page = client.list(&AlertQuery { filter, ..AlertQuery::default() }).await.unwrap();

    assert_eq!(page.total, 0);
}

#[tokio::test]
async fn more_hours_than_the_older_dialect_knows_are_refused_before_anything_is_sent() {
    let server = MockServer::start().await;
    let (client, _) = older(&server);
    let filter = AlertFilter { expires_in: Some(25), ..AlertFilter::default() };

    let error = client.list(&AlertQuery { filter, ..AlertQuery::default() }).await.unwrap_err();

    let ServiceError::InvalidRequest(errors) = error else { panic!("{error}") };
    assert_eq!(errors[0].field, "expiresIn");
    assert!(server.received_requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn conditions_that_no_parameter_says_are_refused_in_either_dialect_before_anything_is_sent() {
    let server = MockServer::start().await;
    let (filter, _) = parse("status:open amount<25 currency:EUR", Vocabulary::Desk).unwrap();
    let query = AlertQuery { filter, ..AlertQuery::default() };

    for client in [current(&server), older(&server).0] {
        let error = client.list(&query).await.unwrap_err();

        let ServiceError::InvalidRequest(errors) = error else { panic!("{error}") };
        assert_eq!((errors.len(), errors[0].field.as_str()), (1, "amount<25 currency:EUR"));
        assert!(
            errors[0].message.contains("another deployment's list cannot be asked for it"),
            "{}",
            errors[0].message
        );
        assert_eq!(client.deployment().vocabulary, client.dialect().into());
    }
    assert!(server.received_requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_base_with_a_path_has_the_interface_below_it() {
    let server = MockServer::start().await;
    let id = AlertId::generate();
    Mock::given(wiremock::matchers::path(format!("/sandbox/api/v1/alerts/{id}")))
        .respond_with(answer(200, &open(id)))
        .mount(&server)
        .await;
    let client = Client::new(options(&format!("{}/sandbox/", server.uri()), Dialect::Current)).unwrap();

    assert_eq!(client.get(id).await.unwrap().id, id);
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_takes_no_credential_along() {
    let (server, elsewhere) = (MockServer::start().await, MockServer::start().await);
    let id = AlertId::generate();
    Mock::given(any()).respond_with(answer(200, &open(id))).mount(&elsewhere).await;
    getting(id)
        .respond_with(ResponseTemplate::new(307).insert_header("location", elsewhere.uri()))
        .mount(&server)
        .await;

    let error = current(&server).get(id).await.unwrap_err();

    assert!(matches!(&error, ServiceError::Unavailable(why) if why.contains("redirect")), "{error}");
    assert!(elsewhere.received_requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn the_older_dialect_asks_with_a_bearer_token() {
    let server = MockServer::start().await;
    super::foreign::asking_for_a_token().respond_with(token("a.b.c")).mount(&server).await;
    listing().respond_with(answer(200, &json!({"data": [], "total": 0}))).mount(&server).await;
    let (client, _) = older(&server);

    client.list(&AlertQuery::default()).await.unwrap();

    let list = &requests(&server, "GET").await[0];
    assert_eq!((header(list, "authorization"), header(list, "x-api-key")), ("Bearer a.b.c", ""));
    let asked = &requests(&server, "POST").await[0];
    assert_eq!(header(asked, "content-type"), "application/x-www-form-urlencoded");
    assert_eq!(asked.body, b"client_id=desk+1&client_secret=s%26cret&grant_type=client_credentials");
}

#[test]
fn plain_http_beyond_this_machine_needs_to_be_allowed() {
    let far = "http://alerts.example.com";

    assert!(BaseUrl::parse(far, PlainHttp::when(false, "say so")).is_err());
    let base_url = BaseUrl::parse(far, PlainHttp::when(true, "say so")).unwrap();
    assert!(Client::new(ClientOptions { base_url, ..options("https://alerts.example.com", Dialect::Current) }).is_ok());
}

#[test]
fn no_secret_shows_when_a_client_is_printed() {
    for dialect in [Dialect::Current, Dialect::Older] {
        let client = Client::new(options("https://alerts.example.com", dialect)).unwrap();

        let text = format!("{client:?}");

        assert!(!text.contains("s3cret") && !text.contains("s&cret"), "{text}");
    }
}

/// A list of so many alerts, of which no answer has more than seven rows; whether it tells how many a page has.
async fn of_sevens(total: u64, tells_size: bool) -> (RawServer, Vec<AlertId>) {
    let ids: Vec<AlertId> = (1..=total).map(|number| AlertId(Uuid::from_u128(number.into()))).collect();
    let all = ids.clone();
    let plan = move |asked: &Asked, _: &[Asked]| {
        let (_, query) = asked.target.split_once('?').unwrap();
        let PageRequest { page, size } = wire::query::read(query, Dialect::Current).unwrap().page;
        let size = size.min(7);
        let rows = all.iter().skip((page * u64::from(size)).try_into().unwrap()).take(size as usize);
        let mut answer = json!({"data": rows.map(|id| open(*id)).collect::<Vec<_>>(), "total": total, "page": page});
        if tells_size {
            answer["size"] = json!(size);
        }
        Play::json(200, &answer)
    };
    (RawServer::start(plan).await, ids)
}

#[rstest]
#[case::that_says_so(true)]
#[case::that_does_not(false)]
#[tokio::test]
async fn a_deployment_that_gives_fewer_rows_than_it_is_asked_for_is_read_row_by_row_all_the_same(
    #[case] tells_size: bool,
) {
    let (server, ids) = of_sevens(60, tells_size).await;
    let client = Client::new(options(&server.url(), Dialect::Current)).unwrap();

    let mut pages = Vec::new();
    for page in 0..4 {
        pages.push(
            client.list(&AlertQuery { page: PageRequest { page, size: 25 }, ..AlertQuery::default() }).await.unwrap(),
        );
    }

    let read: Vec<Vec<AlertId>> = pages.iter().map(|page| page.data.iter().map(|alert| alert.id).collect()).collect();
    assert_eq!(read, [&ids[..25], &ids[25..50], &ids[50..], &[]]);
    assert!(pages.iter().all(|page| (page.total, page.size) == (60, 25)), "{pages:?}");
}

#[tokio::test]
async fn a_first_page_without_a_row_that_can_be_read_is_no_answer() {
    let server = MockServer::start().await;
    let mut nameless = open(AlertId::generate());
    nameless["id"] = json!("not-a-uuid");
    listing().respond_with(answer(200, &json!({"data": [nameless], "total": 1}))).mount(&server).await;

    let error = current(&server).list(&AlertQuery::default()).await.unwrap_err();

    assert!(
        matches!(&error, ServiceError::Unavailable(why) if why.contains("its answer is no list of alerts: id")),
        "{error}"
    );
}
