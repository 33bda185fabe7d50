//! avert's own routes under /operator/v1: who may use them, what they change, what they never tell.

use avert::{
    api::ROUTES,
    domain::{
        Alert, AlertId, AttemptId, CredentialKind, KeyScope, NextStep, Resolution, resolution::Decision,
        time::Timestamp,
    },
    service::Credentials,
    store::{AttemptEnd, AttemptRecord, Claim, ClaimRequest},
};
use chrono::Duration;
use futures::StreamExt;
use reqwest::{Method, RequestBuilder, Response};
use rstest::rstest;
use serde_json::{Value, json as value};

use super::served::{PATIENCE, Served, fields, json, refused};
use crate::support::{
    alerts::{noon, open_alert},
    engine::KEY,
    tls::Authority,
};

const SECRET: &str = "s3cr3t-of-the-endpoint";

impl Served {
    pub(super) fn operator(&self, method: Method, path: &str) -> RequestBuilder {
        self.bare(method, &format!("/operator/v1{path}")).header("X-API-KEY", &self.operator_key)
    }

    pub(super) async fn see(&self, path: &str) -> Value {
        json(self.operator(Method::GET, path).send().await.unwrap(), 200).await
    }

    async fn tell(&self, method: Method, path: &str, body: Value) -> Response {
        self.operator(method, path)
            .header("Content-Type", "application/json")
            .body(body.to_string())
            .send()
            .await
            .unwrap()
    }

    pub(super) async fn endpoint(&self) -> String {
        let auth = value!({"header": {"name": "X-API-Key", "value": SECRET}});
        let body = value!({"url": "https://example.com/hooks", "auth": auth});
        let added = json(self.tell(Method::POST, "/endpoints", body).await, 201).await;
        added["id"].as_str().unwrap().to_owned()
    }

    /// Tries what is due once, and gives up at once.
    pub(super) async fn exhaust(&self, now: Timestamp) -> Vec<u32> {
        let due = self.store.claim_due_deliveries(now, now + Duration::minutes(1), 100, 100, &[]).await.unwrap();
        let tries = due.iter().map(|due| due.attempt).collect();
        let record = |due: &avert::store::DueDelivery| AttemptRecord {
            delivery: due.delivery,
            generation: due.generation,
            started_at: now,
            duration: Duration::milliseconds(41),
            status: Some(500),
            error: None,
            refused: false,
            answer: "out of order".to_owned(),
            sent: None,
            ended_at: now,
            next: NextStep::Exhausted,
        };
        self.store.record_attempts(due.iter().map(record).collect(), now).await.unwrap();
        tries
    }

    /// An attempt of an alert that waits for a person.
    pub(super) async fn parked(&self) -> (AlertId, AttemptId) {
        let alert = self.alert().await;
        let attempt = AttemptId::generate();
        let request = ClaimRequest {
            attempt,
            organization: self.acting.caller().organization.organization.id,
            alert,
            resolution: Resolution::Current { decision: Decision::Refunded, comments: "told".to_owned() },
            body_hash: [0; 32],
            idempotency_key: None,
            deadline: noon() + Duration::seconds(10),
            now: noon().into(),
        };
        let Claim::Claimed { generation, .. } = self.store.claim_resolution(request).await.unwrap() else {
            panic!("not claimed")
        };
        assert!(
            self.store
                .end_attempt(attempt, generation, AttemptEnd::Parked, "nobody knows", noon().into())
                .await
                .unwrap()
        );
        (alert, attempt)
    }
}

fn column<'a>(list: &'a Value, name: &str) -> Vec<&'a str> {
    list["data"].as_array().unwrap().iter().map(|one| one[name].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_first_route_says_which_others_there_are() {
    let served = Served::start().await;

    let index = served.see("").await;

    assert_eq!(index["environment"], "sandbox");
    assert_eq!(index["organization"]["name"], "default");
    assert_eq!(index["routes"].as_array().unwrap().len(), ROUTES.len());
}

#[tokio::test]
async fn alerts_come_in_line_by_line_and_a_bad_line_holds_up_no_other() {
    let served = Served::start().await;
    let line = |id: &str| {
        format!(
            "{{\"provider\":\"ETHOCA\",\"type\":\"ETHOCA_CONFIRMED_FRAUD\",\"providerId\":\"{id}\",\
            \"amount\":\"10.00\",\"currency\":\"USD\",\"colour\":1}}\n"
        )
    };
    let body = format!("{}{{\"provider\":\"ETHOCA\"}}\n{}not json\n", line("A"), line("B"));
    let send = |body: String| {
        served.operator(Method::POST, "/alerts").header("Content-Type", "application/x-ndjson").body(body).send()
    };

    let report = json(send(body).await.unwrap(), 200).await;
    let again = json(send(line("A")).await.unwrap(), 200).await;

    assert_eq!(
        (&report["created"], &report["updated"], &report["rejectedCount"]),
        (&value!(2), &value!(0), &value!(2))
    );
    let lines: Vec<_> =
        report["rejected"].as_array().unwrap().iter().map(|row| row["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [2, 4]);
    assert!(report["rejected"][0]["message"].is_string() && report["rejected"][0]["field"].is_string());
    assert_eq!(report["unknownFields"], value!(["colour"]));
    assert_eq!(again["unchanged"], 1);
    assert_eq!(served.see("/counts").await["total"], 2);
}

/// A line of an alert without card digits.
fn line_of(provider_id: &str, amount: &str, code: &str) -> String {
    let transacted = "2026-03-05T10:00:00Z";
    let alert = value!({
        "provider": "ETHOCA", "type": "ETHOCA_CUSTOMER_DISPUTE", "providerId": provider_id, "amount": amount,
            "currency": "EUR",
        "authCode": code, "merchantOrderId": code, "transactionId": code, "transactionTimeStamp": transacted
    });
    format!("{alert}\n")
}

#[rstest]
#[case("093112", true)]
#[case("000000", false)]
#[case("n/a", false)]
#[case("0", false)]
#[case("--", false)]
#[case("5,36E+18", false)]
#[tokio::test]
async fn alerts_share_a_payment_by_a_code_that_identifies_something(#[case] code: &str, #[case] is_shared: bool) {
    let served = Served::start().await;
    let body = [line_of("A", "20.00", code), line_of("B", "20.00", code)].concat();
    let request = served.operator(Method::POST, "/alerts").header("Content-Type", "application/x-ndjson").body(body);
    let report = json(request.send().await.unwrap(), 200).await;
    assert_eq!(report["created"], 2);
    let list =
        json(served.bare(Method::GET, "/api/v1/alerts").header("X-API-KEY", &served.key).send().await.unwrap(), 200)
            .await;

    let found = served.see(&format!("/duplicates?ids={}", column(&list, "id")[0])).await;

    assert_eq!(column(&found, "providerId").len(), if is_shared { 2 } else { 1 });
    assert_eq!(column(&list, "authCode"), [code; 2], "it is kept as text");
}

#[tokio::test]
async fn a_row_that_names_no_alert_or_another_one_by_the_same_name_is_rejected() {
    let served = Served::start().await;
    let rows = [("5.36E+18", "12.50"), ("N/A", "12.50"), ("A", "12.50"), ("A", "980.00"), ("A", "12.5")];
    let body: String = rows.map(|(id, amount)| line_of(id, amount, "")).concat();

    let request = served.operator(Method::POST, "/alerts").header("Content-Type", "application/x-ndjson").body(body);
    let report = json(request.send().await.unwrap(), 200).await;

    let told: Vec<_> = report["rejected"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["line"].as_u64(), row["field"].as_str()))
        .collect();
    assert_eq!(told, [1, 2, 4].map(|line| (Some(line), Some("providerId"))));
    let again = ["unchanged", "updated"].map(|count| report[count].as_u64().unwrap());
    assert_eq!((report["created"].as_u64(), again.iter().sum::<u64>()), (Some(1), 1));
    assert!(report["rejected"][2]["message"].as_str().unwrap().contains("line 3"), "{report}");
}

#[rstest]
#[case("application/json", "not json")]
#[case("application/json", "{\"provider\": \"ETHOCA\"")]
#[case("application/json", "[1, 2]")]
#[case("application/x-ndjson", "not json\n{also not}\n")]
#[tokio::test]
async fn a_body_of_alerts_of_which_nothing_can_be_read_is_refused(#[case] kind: &str, #[case] body: &'static str) {
    let served = Served::start().await;

    let answer = served.operator(Method::POST, "/alerts").header("Content-Type", kind).body(body).send().await.unwrap();

    let problem = refused(answer, 400, "invalid_body").await;
    assert!(problem["errors"][0]["message"].as_str().unwrap().starts_with("line 1 "), "{problem}");
}

#[tokio::test]
async fn unknown_networks_and_types_are_told_with_the_fields() {
    let served = Served::start().await;
    let alert = |id: &str| {
        value!({"provider": "DISCOVER", "type": "NEW_KIND", "providerId": id, "amount": 5,
        "currency": "EUR"})
    };

    let report = json(served.tell(Method::POST, "/alerts", value!([alert("A"), alert("B")])).await, 200).await;

    assert_eq!((&report["created"], &report["unknownProviders"]), (&value!(2), &value!(["DISCOVER"])));
    assert_eq!(report["unknownTypes"], value!(["NEW_KIND"]));
}

#[tokio::test]
async fn one_alert_or_an_array_comes_in_as_json() {
    let served = Served::start().await;
    let alert = |id: &str| {
        value!({"provider": "VERIFI", "type": "VERIFI_CANCEL", "providerId": id, "amount": 5,
        "currency": "EUR"})
    };

    let one = json(served.tell(Method::POST, "/alerts", alert("A")).await, 200).await;
    let two =
        json(served.tell(Method::POST, "/alerts?events=false", value!([alert("B"), alert("C")])).await, 200).await;

    assert_eq!((&one["created"], &two["created"]), (&value!(1), &value!(2)));
    refused(served.tell(Method::POST, "/alerts?events=maybe", alert("D")).await, 400, "invalid_query").await;
    let other =
        served.operator(Method::POST, "/alerts").header("Content-Type", "text/plain").body("x").send().await.unwrap();
    refused(other, 415, "unsupported_media_type").await;
}

#[tokio::test]
async fn a_body_over_64_mib_is_refused_whether_it_says_so_or_not() {
    let served = Served::start().await;
    let request = || served.operator(Method::POST, "/alerts").header("Content-Type", "application/x-ndjson");

    let said = format!(
        "POST /operator/v1/alerts HTTP/1.1\r\nHost: {}\r\nX-API-KEY: {}\r\nContent-Type: \
            application/x-ndjson\r\nContent-Length: 67108865\r\nConnection: close\r\n\r\n",
        served.address, served.operator_key
    );
    let blanks = futures::stream::iter((0..65).map(|_| Ok::<_, std::io::Error>(vec![b' '; 1 << 20])));
    let unsaid = request().body(reqwest::Body::wrap_stream(blanks)).send().await.unwrap();

    refused(unsaid, 413, "body_too_large").await;
    assert!(served.raw(said).await.starts_with("HTTP/1.1 413 "));
}

#[tokio::test]
async fn an_endpoint_lives_and_its_credential_is_never_told() {
    let served = Served::start().await;

    let id = served.endpoint().await;
    let path = format!("/endpoints/{id}");
    let off = json(served.tell(Method::PATCH, &path, value!({"enabled": false})).await, 200).await;
    let moved = value!({"url": "https://example.com/other", "auth": {"basic": {"username": "shop",
        "password": SECRET}}, "enabled": true});
    let on = json(served.tell(Method::PATCH, &path, moved).await, 200).await;
    let all = served.see("/endpoints").await;
    let removed = served.operator(Method::DELETE, &path).send().await.unwrap().status();

    assert_eq!((&off["enabled"], &off["auth"]), (&value!(false), &value!("X-API-Key")));
    assert!(off["disabledAt"].is_string() && off["disabledReason"].is_string());
    assert_eq!(
        (&on["enabled"], &on["auth"], &on["url"]),
        (&value!(true), &value!("Basic"), &value!("https://example.com/other"))
    );
    assert_eq!(column(&all, "id"), [id.as_str()]);
    assert!(![&off, &on, &all].iter().any(|shown| shown.to_string().contains(SECRET)));
    assert_eq!(removed, 204);
    refused(served.operator(Method::GET, &path).send().await.unwrap(), 404, "not_found").await;
    assert_eq!(served.see("/endpoints").await["data"], value!([]));
}

#[tokio::test]
async fn a_signing_secret_is_told_once_where_it_is_made_and_never_where_it_is_given() {
    let served = Served::start().await;
    let auth = || value!({"header": {"name": "X-API-Key", "value": SECRET}});
    let new = |more: &str, given: Value| value!({"url": "https://example.com/hooks", "auth": auth(), (more): given});
    let given = avert::domain::Secret::for_signing().reveal().to_owned();

    let unsigned = json(served.tell(Method::POST, "/endpoints", new("sign", value!(false))).await, 201).await;
    let made = json(served.tell(Method::POST, "/endpoints", new("sign", value!(true))).await, 201).await;
    let brought = json(served.tell(Method::POST, "/endpoints", new("secret", value!(given))).await, 201).await;
    let path = format!("/endpoints/{}/secret", made["id"].as_str().unwrap());
    let rotated = json(served.tell(Method::POST, &path, value!({"overlapHours": 2})).await, 200).await;
    let replaced =
        json(served.tell(Method::POST, &path, value!({"secret": given, "overlapHours": 0})).await, 200).await;
    let all = served.see("/endpoints").await;
    let stopped = json(served.operator(Method::DELETE, &path).send().await.unwrap(), 200).await;
    let audit = served.see("/audit?size=100").await;

    assert_eq!((&unsigned["signed"], unsigned.get("secret")), (&value!(false), None));
    assert_eq!((&brought["signed"], brought.get("secret")), (&value!(true), None));
    let secrets = [&made, &rotated].map(|shown| shown["secret"].as_str().unwrap().to_owned());
    assert_ne!(secrets[0], secrets[1]);
    assert_eq!(rotated["oldSecretUntil"], "2026-03-10T14:00:00.000Z");
    assert_eq!((&replaced["oldSecretUntil"], replaced.get("secret")), (&Value::Null, None));
    assert_eq!(stopped["signed"], false);
    for secret in secrets.iter().chain([&given]) {
        assert!(![&all, &stopped, &audit].iter().any(|shown| shown.to_string().contains(secret)));
    }
    let details: Vec<_> =
        audit["data"].as_array().unwrap().iter().map(|entry| entry["detail"].as_str().unwrap()).collect();
    assert_eq!(
        details[..3],
        ["no longer signed", "another signing secret, overlap 0 h", "another signing secret, overlap 2 h"]
    );
}

#[tokio::test]
async fn certificates_of_an_endpoint_are_read_by_their_field_and_taken_back_by_an_empty_one() {
    let served = Served::start().await;
    let new = |certificate: &str| {
        value!({"url": "https://example.com/hooks", "auth": {"header": {"name": "X-API-Key", "value": SECRET}},
        "caCertificate": certificate})
    };
    let named = new(&Authority::new().pem());

    let wrong = served.tell(Method::POST, "/endpoints", new("hello")).await;
    let added = json(served.tell(Method::POST, "/endpoints", named).await, 201).await;
    let path = format!("/endpoints/{}", added["id"].as_str().unwrap());
    let changed = json(served.tell(Method::PATCH, &path, value!({"caCertificate": ""})).await, 200).await;
    let audit = served.see("/audit?size=1").await;

    assert_eq!([&added, &changed].map(|shown| &shown["hasCaCertificate"]), [true, false]);
    assert_eq!(audit["data"][0]["detail"], "no CA certificate");
    let problem = json(wrong, 400).await;
    assert_eq!(
        problem["errors"][0],
        value!({"field": "caCertificate", "message": "holds no certificate in PEM form (BEGIN CERTIFICATE)"})
    );
}

#[tokio::test]
async fn plain_http_beyond_this_machine_is_refused_unless_it_is_asked_for() {
    let served = Served::start().await;
    let path = format!("/endpoints/{}", served.endpoint().await);
    let auth = value!({"header": {"name": "X-API-Key", "value": SECRET}});
    let (url, allowed) =
        ("http://shop.example/hooks", value!({"url": "http://shop.example/hooks", "insecureHttp": true}));

    let added = served.tell(Method::POST, "/endpoints", value!({"url": url, "auth": auth})).await;
    let changed = served.tell(Method::PATCH, &path, value!({"url": url, "insecureHttp": false})).await;
    let moved = served.tell(Method::PATCH, &path, allowed).await;

    for response in [added, changed] {
        let text = json(response, 400).await.to_string();
        assert!(text.contains("plain http") && text.contains("insecureHttp") && !text.contains(SECRET), "{text}");
    }
    assert_eq!(json(moved, 200).await["url"], url);
}

#[tokio::test]
async fn what_is_wrong_with_an_endpoint_is_told_field_by_field_and_without_its_secret() {
    let served = Served::start().await;
    let id = served.endpoint().await;
    let cases = [
        (Method::POST, "/endpoints".to_owned(), value!({}), vec!["url"]),
        (
            Method::POST,
            "/endpoints".to_owned(),
            value!({"url": 1, "auth": {"header": {"name": "X", "value": SECRET, "colour": 1}}}),
            vec!["url"],
        ),
        (
            Method::POST,
            "/endpoints".to_owned(),
            value!({"url": "https://x", "auth": {"header": {"name": "X", "value": SECRET, "colour": 1}}}),
            vec!["auth.header.colour"],
        ),
        (
            Method::POST,
            "/endpoints".to_owned(),
            value!({"url": "ftp://x", "auth": {"header": {"name": "X", "value": SECRET}}}),
            vec!["url"],
        ),
        (Method::PATCH, format!("/endpoints/{id}"), value!({"url": "nonsense", "enabled": "yes"}), vec!["enabled"]),
        (Method::PATCH, format!("/endpoints/{id}"), value!({"url": "nonsense"}), vec!["url"]),
        (Method::PATCH, format!("/endpoints/{id}"), value!({"auth": {}}), vec!["auth"]),
        (
            Method::POST,
            format!("/endpoints/{id}/secret"),
            value!({"secret": SECRET, "overlapHours": 721}),
            vec!["secret", "overlapHours"],
        ),
        (Method::POST, format!("/endpoints/{id}/secret"), value!({"overlapHours": i64::MAX}), vec!["overlapHours"]),
        (Method::POST, format!("/endpoints/{id}/secret"), value!({"overlapHours": 1.5}), vec!["overlapHours"]),
        (
            Method::POST,
            "/endpoints".to_owned(),
            value!({"url": "https://x", "auth": {"header": {"name": "X", "value": "v"}}, "sign": false,
                "secret": SECRET}),
            vec!["sign"],
        ),
    ];

    for (method, path, body, expected) in cases {
        let problem = refused(served.tell(method, &path, body.clone()).await, 400, "invalid_request").await;

        assert_eq!(fields(&problem), expected, "{body}");
        assert!(!problem.to_string().contains(SECRET));
    }
    refused(served.operator(Method::GET, "/endpoints/7").send().await.unwrap(), 400, "invalid_id").await;
}

#[tokio::test]
async fn deliveries_are_listed_by_what_they_are_and_page_by_page() {
    let served = Served::start().await;
    let endpoint = served.endpoint().await;
    let ids: Vec<AlertId> = [served.alert().await, served.alert().await, served.alert().await].into();
    served.exhaust(noon()).await;
    served.alert().await;

    let exhausted = served.see("/deliveries?state=exhausted").await;
    let pending = served.see("/deliveries?state=pending,leased").await;
    let of_one = served.see(&format!("/deliveries?alert={}&endpoint={endpoint}&event=alert.created", ids[1])).await;
    let of_event = served.see(&format!("/deliveries?event={}", of_one["data"][0]["eventId"].as_str().unwrap())).await;
    let first = served.see("/deliveries?size=3").await;
    let second = served.see(&format!("/deliveries?size=3&after={}", first["next"].as_str().unwrap())).await;

    assert_eq!(exhausted["data"].as_array().unwrap().len(), 3);
    assert_eq!(pending["data"].as_array().unwrap().len(), 1);
    assert_eq!(column(&of_one, "alertId"), [ids[1].to_string()]);
    assert_eq!(of_event, of_one);
    let listed: Vec<_> = column(&first, "id").into_iter().chain(column(&second, "id")).collect();
    assert_eq!(listed.len(), 4);
    assert!(listed.windows(2).all(|pair| pair[0] > pair[1]), "newest first, none twice");
    assert_eq!(second["next"], Value::Null);
    let problem = refused(
        served.operator(Method::GET, "/deliveries?state=lost&size=0&alert=1").send().await.unwrap(),
        400,
        "invalid_query",
    )
    .await;
    assert_eq!(fields(&problem), ["state", "alert", "size"]);
}

#[tokio::test]
async fn a_delivery_tells_its_tries_and_is_sent_again_with_all_its_gaps() {
    let served = Served::start().await;
    let endpoint = served.endpoint().await;
    served.alert().await;
    assert_eq!(served.exhaust(noon()).await, [1]);
    let id = column(&served.see("/deliveries").await, "id")[0].to_owned();

    let log = served.see(&format!("/deliveries/{id}")).await;
    let again =
        json(served.operator(Method::POST, &format!("/deliveries/{id}/redeliver")).send().await.unwrap(), 200).await;
    let attempt = served.exhaust(noon()).await;
    let path = format!("/endpoints/{endpoint}/redeliver");
    let all = json(served.operator(Method::POST, &path).send().await.unwrap(), 200).await;
    let none = json(served.operator(Method::POST, &path).send().await.unwrap(), 200).await;
    let tries = served.see(&format!("/deliveries/{id}")).await["tries"].as_array().unwrap().len();

    assert_eq!(
        log["tries"],
        value!([{"number": 1, "startedAt": "2026-03-10T12:00:00.000Z", "durationMs": 41, "status": 500,
            "error": null, "answer": "out of order", "sent": null}])
    );
    assert!(log["body"].as_str().unwrap().starts_with(r#"{"event":"alert.created""#));
    assert_eq!((&again["state"], &again["dueAt"]), (&value!("pending"), &value!("2026-03-10T12:00:00.000Z")));
    assert_eq!(attempt, [1], "the first gap comes first again");
    assert_eq!((all["redelivered"].as_u64(), none["redelivered"].as_u64(), tries), (Some(1), Some(0), 2));
    json(served.tell(Method::PATCH, &format!("/endpoints/{endpoint}"), value!({"enabled": false})).await, 200).await;
    refused(
        served.operator(Method::POST, &format!("/deliveries/{id}/redeliver")).send().await.unwrap(),
        409,
        "conflict",
    )
    .await;
    refused(served.operator(Method::POST, &path).send().await.unwrap(), 409, "conflict").await;
}

#[tokio::test]
async fn a_key_is_shown_once_and_ends_when_it_is_revoked() {
    let served = Served::start().await;

    let created = json(served.tell(Method::POST, "/keys", value!({"scope": "alerts"})).await, 201).await;
    let (id, key) = (created["id"].as_str().unwrap(), created["key"].as_str().unwrap());
    let list = || served.bare(Method::GET, "/api/v1/alerts").header("X-API-KEY", key).send();
    let before = list().await.unwrap().status();
    let all = served.see("/keys").await;
    let revoked = json(served.operator(Method::DELETE, &format!("/keys/{id}")).send().await.unwrap(), 200).await;

    assert_eq!(before, 200);
    assert!(column(&all, "id").contains(&id) && !all.to_string().contains(key));
    assert!(revoked["revokedAt"].is_string() && revoked["key"].is_null());
    refused(list().await.unwrap(), 403, "not_authorized").await;
    let problem =
        refused(served.tell(Method::POST, "/keys", value!({"scope": "everything"})).await, 400, "invalid_request")
            .await;
    assert_eq!(fields(&problem), ["scope"]);
    refused(served.operator(Method::DELETE, "/keys/nothing").send().await.unwrap(), 404, "not_found").await;
}

#[tokio::test]
async fn a_client_is_made_shown_once_and_revoked() {
    let served = Served::start().await;

    let created = json(served.operator(Method::POST, "/clients").send().await.unwrap(), 201).await;
    let (id, secret) = (created["id"].as_str().unwrap(), created["secret"].as_str().unwrap());
    let all = served.see("/clients").await;
    let revoked = json(served.operator(Method::DELETE, &format!("/clients/{id}")).send().await.unwrap(), 200).await;

    assert!(column(&all, "id").contains(&id) && !all.to_string().contains(secret));
    assert!(revoked["revokedAt"].is_string() && revoked["secret"].is_null());
    assert_eq!(served.see("/companies").await["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_search_answers_best_first_and_says_what_is_allowed() {
    let served = Served::start().await;
    let order = |id: &str, order: &str| Alert { merchant_order_id: Some(order.to_owned()), ..open_alert(id) };
    served.ingest(vec![order("inside", "XSO-7"), order("whole", "SO-7"), order("prefix", "so-77")]).await;
    let get = async |path: &str| served.operator(Method::GET, path).send().await.unwrap();

    let found = served.see("/find?q=so-7").await;

    let ids: Vec<&str> =
        found["data"].as_array().unwrap().iter().map(|alert| alert["providerId"].as_str().unwrap()).collect();
    assert_eq!(ids, ["whole", "prefix", "inside"]);
    assert_eq!(served.see("/find?q=so-7&size=1").await["data"].as_array().unwrap().len(), 1);
    assert_eq!(served.see("/find?q=nobody").await, value!({"data": []}));
    for (query, words) in [
        ("", "q is missing: the words to look for"),
        ("?q=%20%E2%80%A6", "a word to look for is needed"),
        ("?q=a&q=b", "given twice"),
        ("?q=a&size=101", "1 to 100"),
        (&format!("?q={}", "a".repeat(251)), "at most 250 characters"),
    ] {
        let problem = refused(get(&format!("/find{query}")).await, 400, "invalid_query").await.to_string();
        assert!(problem.contains(words.trim_start_matches("q is ")), "{query}: {problem}");
    }
}

#[tokio::test]
async fn counts_tell_status_provider_day_and_money_at_risk() {
    let served = Served::start().await;
    served.ingest(vec![open_alert("A"), open_alert("B")]).await;

    let counts = served.see("/counts?withinHours=87600").await;

    assert_eq!(
        (&counts["total"], &counts["byStatus"]["OPEN"], &counts["byProvider"]["ETHOCA"]),
        (&value!(2), &value!(2), &value!(2))
    );
    let days: u64 = counts["days"].as_array().unwrap().iter().map(|day| day["alerts"].as_u64().unwrap()).sum();
    assert_eq!(days, 2);
    assert_eq!(counts["days"][0]["day"].as_str().unwrap().len(), 10);
    assert_eq!(counts["atRisk"][0]["alerts"], 2);
    refused(served.operator(Method::GET, "/counts?withinHours=0").send().await.unwrap(), 400, "invalid_query").await;
}

#[tokio::test]
async fn a_person_says_that_a_parked_decision_was_applied_and_it_is_recorded() {
    let served = Served::start().await;
    let (alert, attempt) = served.parked().await;
    let path = format!("/attempts/{attempt}/decision");

    let waiting = served.see("/attempts").await;
    let missing = refused(served.tell(Method::POST, &path, value!({})).await, 400, "invalid_request").await;
    let settled = json(served.tell(Method::POST, &path, value!({"applied": true})).await, 200).await;

    assert_eq!(
        (column(&waiting, "id"), column(&waiting, "state")),
        (vec![attempt.to_string().as_str()], vec!["PARKED"])
    );
    assert_eq!(
        (&waiting["data"][0]["resolution"]["refunded"], &waiting["data"][0]["detail"]),
        (&value!("REFUNDED"), &value!("nobody knows"))
    );
    assert_eq!(fields(&missing), ["applied"]);
    assert_eq!(
        (&settled["id"], &settled["status"], &settled["outcome"]["comments"]),
        (&value!(alert.to_string()), &value!("RESOLVED"), &value!("told"))
    );
    assert_eq!(served.see("/attempts").await["data"], value!([]));
    refused(served.tell(Method::POST, &path, value!({"applied": false})).await, 409, "conflict").await;
}

#[tokio::test]
async fn a_person_says_that_a_parked_decision_was_not_applied_and_the_alert_can_be_answered() {
    let served = Served::start().await;
    let (alert, attempt) = served.parked().await;

    let settled = json(
        served.tell(Method::POST, &format!("/attempts/{attempt}/decision"), value!({"applied": false})).await,
        200,
    )
    .await;
    let answered = json(served.put(alert, r#"{"refunded":"NOT REFUNDED"}"#).send().await.unwrap(), 200).await;

    assert_eq!((&settled["status"], &settled["outcome"]), (&value!("OPEN"), &Value::Null));
    assert_eq!(answered["status"], "CHARGEBACK");
}

#[tokio::test]
async fn nothing_of_another_organization_is_seen_or_changed() {
    let served = Served::start().await;
    let endpoint = served.endpoint().await;
    let (_, attempt) = served.parked().await;
    let delivery = column(&served.see("/deliveries").await, "id")[0].to_owned();
    let key = served.acting.create_credential(CredentialKind::Key(KeyScope::Alerts)).await.unwrap().credential.id;
    let client = served.acting.create_credential(CredentialKind::Client).await.unwrap().credential.id;
    let theirs = served.engine.create_organization("theirs").await.unwrap();
    let them = served.engine.acting_for(served.engine.local_caller(Some("theirs")).await.unwrap());
    let their_key =
        them.create_credential(CredentialKind::Key(KeyScope::Operator)).await.unwrap().secret.reveal().to_owned();
    let as_them = |method: Method, path: String, body: Value| {
        let request = served.bare(method, &format!("/operator/v1{path}")).header("X-API-KEY", &their_key);
        request.header("Content-Type", "application/json").body(body.to_string()).send()
    };

    for (method, path, body) in [
        (Method::GET, format!("/endpoints/{endpoint}"), value!({})),
        (Method::PATCH, format!("/endpoints/{endpoint}"), value!({"enabled": false})),
        (Method::DELETE, format!("/endpoints/{endpoint}"), value!({})),
        (Method::POST, format!("/endpoints/{endpoint}/redeliver"), value!({})),
        (Method::POST, format!("/endpoints/{endpoint}/test"), value!({})),
        (Method::POST, format!("/endpoints/{endpoint}/secret"), value!({})),
        (Method::DELETE, format!("/endpoints/{endpoint}/secret"), value!({})),
        (Method::GET, format!("/deliveries/{delivery}"), value!({})),
        (Method::POST, format!("/deliveries/{delivery}/redeliver"), value!({})),
        (Method::POST, format!("/attempts/{attempt}/decision"), value!({"applied": true})),
        (Method::DELETE, format!("/keys/{key}"), value!({})),
        (Method::DELETE, format!("/clients/{client}"), value!({})),
    ] {
        refused(as_them(method, path, body).await.unwrap(), 404, "not_found").await;
    }
    for path in ["/endpoints", "/deliveries", "/attempts", "/clients"] {
        let seen = json(as_them(Method::GET, path.to_owned(), value!({})).await.unwrap(), 200).await;
        assert_eq!(seen["data"], value!([]), "{path}");
    }
    for filter in [format!("endpoint={endpoint}"), "event=alert.created".to_owned(), format!("after={delivery}")] {
        let seen = json(as_them(Method::GET, format!("/deliveries?{filter}"), value!({})).await.unwrap(), 200).await;
        assert_eq!(seen["data"], value!([]), "{filter}");
    }
    let counts = json(as_them(Method::GET, "/counts".to_owned(), value!({})).await.unwrap(), 200).await;
    assert_eq!(counts["total"], 0);
    let audit = json(as_them(Method::GET, "/audit?size=100".to_owned(), value!({})).await.unwrap(), 200).await;
    assert_eq!(column(&audit, "action"), ["key.created", "organization.created"]);
    assert_eq!(audit["data"][1]["subject"], theirs.organization.id.to_string());
    assert_eq!(served.see(&format!("/endpoints/{endpoint}")).await["enabled"], true);
}

#[tokio::test]
async fn the_change_stream_goes_on_where_it_was_and_ends_with_the_service() {
    let mut served = Served::start().await;
    let open = |last: Option<u64>| {
        let request = served.operator(Method::GET, "/changes");
        match last {
            Some(id) => request.header("Last-Event-ID", id.to_string()),
            None => request,
        }
        .send()
    };
    let mut stream = open(None).await.unwrap();
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    let first = next_event(&mut stream).await;

    served.alert().await;
    let second = next_event(&mut stream).await;
    let mut resumed = open(Some(first)).await.unwrap().bytes_stream();
    let told = String::from_utf8(resumed.next().await.unwrap().unwrap().to_vec()).unwrap();
    let mut beyond = open(Some(u64::MAX)).await.unwrap();

    assert!(second > first);
    assert!(told.contains(&format!("id: {second}\n")) && told.contains("event: change\n"), "{told}");
    assert_eq!(next_event(&mut beyond).await, second);
    refused(
        served.operator(Method::GET, "/changes").header("Last-Event-ID", "x").send().await.unwrap(),
        400,
        "invalid_request",
    )
    .await;
    served.stop.cancel();
    served.ends().await;
    assert!(tokio::time::timeout(PATIENCE, stream.chunk()).await.unwrap().unwrap().is_none());
}

#[tokio::test]
async fn the_change_stream_of_a_revoked_key_ends() {
    let served = Served::start().await;
    let mut stream = served.operator(Method::GET, "/changes").send().await.unwrap();
    next_event(&mut stream).await;

    let id = served.operator_key.split('_').nth(2).unwrap().to_owned();
    served.acting.revoke_credential(KEY, &id).await.unwrap();

    assert!(tokio::time::timeout(PATIENCE, stream.chunk()).await.unwrap().unwrap().is_none());
}

/// The number of the next event.
async fn next_event(stream: &mut Response) -> u64 {
    let chunk = tokio::time::timeout(PATIENCE, stream.chunk())
        .await
        .expect("an event comes")
        .unwrap()
        .expect("the stream goes on");
    let text = String::from_utf8(chunk.to_vec()).unwrap();
    let id = text.lines().find_map(|line| line.strip_prefix("id: ")).unwrap_or_else(|| panic!("{text}"));
    id.parse().unwrap()
}

#[tokio::test]
async fn the_audit_log_says_who_did_what_from_where() {
    let served = Served::start().await;
    let endpoint = served.endpoint().await;
    let alert = served.alert().await;
    json(served.put(alert, r#"{"refunded":"REFUNDED"}"#).send().await.unwrap(), 200).await;

    let audit = served.see("/audit?size=100").await;
    let first = served.see("/audit?size=1").await;
    let next = served.see(&format!("/audit?size=1&before={}", first["next"])).await;

    let entries = audit["data"].as_array().unwrap();
    assert_eq!(
        column(&audit, "action"),
        ["alert.resolved", "alerts.taken_in", "endpoint.added", "key.created", "key.created"]
    );
    assert_eq!(entries[0]["subject"], alert.to_string());
    assert_eq!(entries[0]["detail"], "RESOLVED: REFUNDED");
    assert_eq!((&entries[0]["origin"], &entries[1]["origin"]), (&value!("127.0.0.1"), &value!("this machine")));
    assert!(entries[0]["actor"].as_str().unwrap().starts_with("key ") && entries[1]["actor"] == "local");
    assert_eq!(entries[2]["subject"], endpoint);
    assert!(entries.windows(2).all(|pair| pair[0]["previous"] == pair[1]["hash"]));
    assert!(![SECRET, served.key.as_str()].iter().any(|secret| audit.to_string().contains(secret)));
    assert_eq!((&first["data"][0], &next["data"][0]), (&entries[0], &entries[1]));
    assert!(matches!(
        served.acting.verify_audit().await.unwrap(),
        avert::domain::AuditState::Whole { entries: 5, newest: 5, .. }
    ));
}
