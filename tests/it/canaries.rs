//! Secrets and card numbers are planted everywhere they could come in, through the real binary; then everything that it
//! wrote, said, answered, sent and showed is searched for them. What is harmless is planted beside them and has to be
//! found: the search can see.

use std::path::Path;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use crate::support::{
    binary::{Server, run, run_ok},
    receiver::{Answer, Receiver},
    terminal::Terminal,
};

const PROVIDER_CREDENTIAL: &str = "canary-Provider-7Hq2Zt9";
const HEADER_VALUE: &str = "canary-Header-Xw83kLm";
const PASSWORD: &str = "canary-Password-p0Rv5Yd";
const SIGNING: &str = "whsec_Y2FuYXJ5LXNpZ25pbmctc2VjcmV0LTAxMjM0NTY3";
const QUERY: &str = "canary-Query-4Ew9Rz1";
const WRONG_SECRET: &str = "canary-Guess-1Jb6Ns4";

/// A card number that passes Luhn, of so many digits, another one for each place where it is planted.
fn card(place: usize, length: usize) -> String {
    let mut digits = format!("4{place:03}").into_bytes();
    digits.extend((digits.len()..length - 1).map(|index| b'0' + u8::try_from((index * 7 + place) % 10).unwrap()));
    let last = (b'0'..=b'9')
        .find(|last| avert::domain::card::luhn(digits.iter().chain([last]).map(|digit| char::from(*digit))));
    digits.push(last.unwrap());
    String::from_utf8(digits).unwrap()
}

/// What must be found nowhere, each with where it was planted.
#[derive(Default)]
struct Planted(Vec<(String, Vec<u8>)>);

impl Planted {
    fn secret(&mut self, what: &str, text: &str) {
        self.0.push((what.to_owned(), text.as_bytes().to_vec()));
        self.0.push((
            format!("{what}, in base64"),
            BASE64_STANDARD.encode(text).trim_end_matches('=').as_bytes().to_vec(),
        ));
    }

    /// A new card number, bare.
    fn card(&mut self, place: &str) -> String {
        let number = self.0.len();
        let card = card(number, 13 + number % 7);
        self.0.push((format!("card in {place}"), card.clone().into_bytes()));
        card
    }

    /// A new card number with separators.
    fn separated(&mut self, place: &str, separator: char) -> String {
        let bare = self.card(place);
        let text: String = bare
            .chars()
            .enumerate()
            .flat_map(|(at, digit)| (at > 0 && at % 4 == 0).then_some(separator).into_iter().chain([digit]))
            .collect();
        self.0.push((format!("card in {place}, separated"), text.clone().into_bytes()));
        text
    }

    /// Everything of it that these bytes hold.
    fn found_in(&self, bytes: &[u8]) -> Vec<&str> {
        self.0.iter().filter(|(_, needle)| holds(bytes, needle)).map(|(what, _)| what.as_str()).collect()
    }
}

fn holds(bytes: &[u8], needle: &[u8]) -> bool {
    // A quick look for the first byte; files have megabytes.
    let mut from = 0;
    while let Some(at) = bytes[from..].iter().position(|byte| *byte == needle[0]) {
        if bytes[from + at..].starts_with(needle) {
            return true;
        }
        from += at + 1;
    }
    false
}

/// Everything that came out, by where it did.
#[derive(Default)]
struct Seen(Vec<(String, Vec<u8>)>);

impl Seen {
    fn add(&mut self, place: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.0.push((place.into(), bytes.into()));
    }

    fn directory(&mut self, directory: &Path) {
        for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
            match entry.path() {
                path if path.is_dir() => self.directory(&path),
                path => {
                    self.add(format!("file {}", path.file_name().unwrap().display()), std::fs::read(&path).unwrap());
                }
            }
        }
    }

    /// Whether something is in a place whose name begins like this.
    fn has(&self, place: &str, needle: &str) -> bool {
        self.0.iter().any(|(name, bytes)| name.starts_with(place) && holds(bytes, needle.as_bytes()))
    }
}

/// Asks, and keeps everything that is answered.
async fn ask(seen: &mut Seen, place: &str, request: RequestBuilder) -> (u16, Value) {
    let answer = request.send().await.unwrap();
    let (status, headers) = (answer.status().as_u16(), format!("{:?}", answer.headers()));
    let body = answer.text().await.unwrap();
    seen.add(format!("answer to {place} ({status})"), format!("{headers}\n{body}"));
    (status, serde_json::from_str(&body).unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_secret_and_no_card_number_is_written_told_sent_or_shown() {
    let (place, mut planted, mut seen) = (tempfile::tempdir().unwrap(), Planted::default(), Seen::default());
    let home = place.path().join("home");
    for (what, secret) in [
        ("the provider's credential", PROVIDER_CREDENTIAL),
        ("the endpoint's header", HEADER_VALUE),
        ("the endpoint's password", PASSWORD),
        ("the query of the endpoint's address", QUERY),
        ("the signing secret", SIGNING.trim_start_matches("whsec_")),
        ("a guessed client secret", WRONG_SECRET),
    ] {
        planted.secret(what, secret);
    }
    planted.secret("the endpoint's Basic credential", &format!("shop:{PASSWORD}"));

    // Receivers and networks that say too much.
    let mut too_much = |secret: &str| {
        let cards = [planted.separated("a webhook's answer", ' '), planted.card("a webhook's answer")];
        Answer::Body(500, format!("harmless-answer {QUERY} {secret} {}", cards.join(" ")).into_bytes())
    };
    let receivers = [Receiver::answering(too_much(HEADER_VALUE)).await, Receiver::answering(too_much(PASSWORD)).await];
    let refusal = json!({"state": "refused", "detail": format!("harmless-refusal {PROVIDER_CREDENTIAL} \
        {}", planted.separated("a provider's refusal", '-'))});
    let gateway = Receiver::answering(Answer::Body(422, refusal.to_string().into_bytes())).await;
    let (settings, credential) = (place.path().join("config.toml"), place.path().join("credential"));
    std::fs::write(&credential, PROVIDER_CREDENTIAL).unwrap();
    let section = format!(
        "[providers.ethoca]\nurl = {:?}\ncredential_file = {:?}\n[log]\nlevel = \"trace\"\n",
        gateway.url(),
        credential
    );
    std::fs::write(&settings, section).unwrap();
    let settings = settings.to_str().unwrap();

    // Keys are told once, on stdout; on stderr never.
    run_ok(&home, &["import", "--config", settings, "/dev/null"]);
    let create = |seen: &mut Seen, arguments: &[&str]| -> Value {
        let output = run(&home, &[arguments, &["--output", "json", "--config", settings]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        seen.add(format!("stderr of {arguments:?}"), output.stderr);
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let alerts_key = create(&mut seen, &["keys", "create"])["key"].as_str().unwrap().to_owned();
    let operator_key =
        create(&mut seen, &["keys", "create", "--scope", "operator"])["key"].as_str().unwrap().to_owned();
    let client = create(&mut seen, &["clients", "create"]);
    let (client_id, client_secret) = (client["client_id"].as_str().unwrap(), client["client_secret"].as_str().unwrap());
    planted.secret("the alerts key", &alerts_key);
    planted.secret("the operator key", &operator_key);
    planted.secret("the client secret", client_secret);

    let (log, console_home) = (place.path().join("serve.log"), home.clone());
    let server =
        Server::start_logging(&home, &["--config", settings, "-vv"], std::fs::File::create(&log).unwrap().into());
    let http = Client::builder().no_proxy().build().unwrap();
    let at = |method: Method, path: &str| http.request(method, format!("{}{path}", server.url));
    let operator =
        |method: Method, path: &str| at(method, &format!("/operator/v1{path}")).header("X-API-KEY", &operator_key);
    let alerts =
        |method: Method, path: &str| at(method, &format!("/api/v1/alerts{path}")).header("X-API-KEY", &alerts_key);

    // Endpoints with every kind of credential.
    let auths = [
        json!({"header": {"name": "X-Shop-Key", "value": HEADER_VALUE}}),
        json!({"basic": {"username": "shop", "password": PASSWORD}}),
    ];
    for (auth, receiver) in auths.into_iter().zip(&receivers) {
        let body =
            json!({"url": format!("{}?token={QUERY}", receiver.url()), "auth": auth, "secret": SIGNING}).to_string();
        let (status, _) = ask(
            &mut seen,
            "an endpoint",
            operator(Method::POST, "/endpoints").header("Content-Type", "application/json").body(body),
        )
        .await;
        assert_eq!(status, 201);
    }

    // Alerts with card numbers where they must not be: prose is masked, what cannot be masked is refused, what nobody
    // knows is dropped.
    let row = |id: &str, more: Value| {
        let mut row = json!({
            "provider": "ETHOCA", "type": "ETHOCA_CONFIRMED_FRAUD", "providerId": id, "amount": "10.00",
                "currency": "EUR",
            "merchantDescriptor": "HARMLESS*SHOP", "hoursLeft": 20, "cardBin": "411111", "cardLastFour": "1234",
        });
        row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        row.to_string()
    };
    let own = card(411, 16);
    let (own_bin, own_last) = (own[..6].to_owned(), own[own.len() - 4..].to_owned());
    planted.0.push(("a row's own card".to_owned(), own.clone().into_bytes()));
    let lines = [
        row(
            "OPEN-1",
            json!({"issuer": format!("Bank {}", planted.card("issuer")),
                "merchantName": planted.separated("merchantName", ' ')}),
        ),
        row(
            "OPEN-2",
            json!({"ruleName": planted.separated("ruleName", '-'), "source": planted.card("source"),
                "descriptorContact": planted.card("contact")}),
        ),
        row("OPEN-3", json!({planted.card("a field's name"): 1, "note": planted.card("an unknown field")})),
        row(
            "DONE-1",
            json!({"status": "RESOLVED", "outcome": {"status": "success", "outcome": "resolved", "refunded": "refunded",
            "comments": planted.separated("an outcome's comments", ' '), "actionTimestamp": "2026-03-10T12:00:00Z"}}),
        ),
        row(&own, json!({"cardBin": own_bin, "cardLastFour": own_last})),
        row("OPEN-4", json!({"merchantDescriptor": own, "cardBin": own_bin, "cardLastFour": own_last})),
        row("BAD-2", json!({"cardBin": planted.card("cardBin")})),
        row("BAD-3", json!({"cardLastFour": planted.card("cardLastFour")})),
        row("BAD-4", json!({"amount": format!("{}x", planted.card("an amount"))})),
        row("BAD-5", json!({"alertTimeStamp": planted.card("a time")})),
        row("BAD-6", json!({"hoursLeft": planted.card("hours")})),
        row("BAD-7", json!({"currency": planted.card("a currency")})),
        row("BAD-8", json!({"id": planted.card("an id")})),
        format!("{{\"providerId\": {} broken", planted.card("broken JSON")),
        planted.card("a bare line"),
    ];
    let body = lines.join("\n");
    let request = operator(Method::POST, "/alerts").header("Content-Type", "application/x-ndjson").body(body.clone());
    let (_, report) = ask(&mut seen, "alerts", request).await;
    assert_eq!((&report["created"], &report["rejectedCount"]), (&json!(5), &json!(lines.len() - 5)), "{report}");
    let file = place.path().join("rows.ndjson");
    std::fs::write(&file, body).unwrap();
    let imported = run(&home, &["import", file.to_str().unwrap(), "--config", settings, "-v"]);
    seen.add("stdout of import", imported.stdout);
    seen.add("stderr of import", imported.stderr);
    let (_, page) = ask(&mut seen, "the list", alerts(Method::GET, "?size=100")).await;
    let id_of = |provider_id: &str| {
        let found = page["data"].as_array().unwrap().iter().find(|alert| alert["providerId"] == provider_id);
        found.unwrap_or_else(|| panic!("{provider_id} in {page}"))["id"].as_str().unwrap().to_owned()
    };
    let (first, second) = (id_of("OPEN-1"), id_of("OPEN-2"));

    // Resolutions: one is refused by the network, which says too much; then one is taken.
    let resolve = |id: &str, body: String| {
        alerts(Method::PUT, &format!("/{id}/resolution")).header("Content-Type", "application/json").body(body)
    };
    let said = |comments: String| json!({"refunded": "REFUNDED", "comments": comments}).to_string();
    let request = resolve(&first, said(format!("paid back {}", planted.separated("refused comments", '-'))))
        .header("Idempotency-Key", planted.card("an Idempotency-Key"));
    let (status, problem) = ask(&mut seen, "a refused resolution", request).await;
    assert_eq!((status, &problem["code"]), (400, &json!("provider_failed")), "{problem}");
    gateway.answer(Answer::Body(
        200,
        json!({"state": "applied", "detail": planted.card("a provider's yes")}).to_string().into_bytes(),
    ));
    let request = resolve(
        &first,
        said(format!("harmless-comment {} {}", planted.card("comments"), planted.separated("comments", ' '))),
    );
    let request = request
        .header("Idempotency-Key", planted.card("a kept Idempotency-Key"))
        .header("User-Agent", planted.card("User-Agent"));
    let (status, _) =
        ask(&mut seen, "a resolution", request.header("X-Request-Id", planted.card("X-Request-Id"))).await;
    assert_eq!(status, 200);
    gateway.answer(Answer::Body(503, planted.card("a provider's fault").into_bytes()));
    ask(&mut seen, "a resolution of unknown fate", resolve(&second, said(planted.card("unknown comments")))).await;

    // Requests that are wrong in ways that make an answer speak of them.
    for name in [
        "size",
        "status",
        "type",
        "provider",
        "startDate",
        "expired",
        "expiresIn",
        "companyIds",
        "sortField",
        "sortOrder",
        "q",
        "descriptor",
        "outcome",
        "unknown",
    ] {
        ask(&mut seen, name, alerts(Method::GET, &format!("?{name}={}", planted.card(name)))).await;
    }
    ask(
        &mut seen,
        "a spaced query",
        alerts(Method::GET, &format!("?size={}", planted.separated("a spaced query", ' '))),
    )
    .await;
    ask(&mut seen, "a harmless query", alerts(Method::GET, "?size=harmless-word")).await;
    ask(&mut seen, "an id", alerts(Method::GET, &format!("/{}", planted.card("an id in a path")))).await;
    for body in [
        json!({"refunded": planted.card("refunded")}).to_string(),
        json!({"refunded": "INVALID", "resolution": planted.card("resolution")}).to_string(),
        json!({"refunded": "REFUNDED", planted.card("a member's name"): 1}).to_string(),
        json!({"refunded": planted.separated("refunded", ' '), "comments": [planted.card("a list")]}).to_string(),
        format!("{{\"refunded\": {}", planted.card("half a body")),
        planted.card("a body of digits"),
        said(planted.card("long comments").repeat(30)),
    ] {
        ask(&mut seen, "a wrong resolution", resolve(&id_of("OPEN-3"), body)).await;
    }
    for path in [
        "deliveries?state",
        "deliveries?endpoint",
        "deliveries?event",
        "counts?withinHours",
        "insights?q",
        "audit?before",
    ] {
        ask(&mut seen, path, operator(Method::GET, &format!("/{path}={}", planted.card(path)))).await;
    }
    for path in ["keys", "clients", "endpoints"] {
        ask(&mut seen, path, operator(Method::DELETE, &format!("/{path}/{}", planted.card(path)))).await;
    }
    for (path, body) in [
        ("/keys", json!({"scope": planted.card("a scope")})),
        ("/keys", json!({planted.card("a name"): "x"})),
        (
            "/endpoints",
            json!({"url": planted.card("a url"), "auth": {"header": {"name": planted.card("a header's name with it"),
                "value": HEADER_VALUE}}}),
        ),
        (
            "/endpoints",
            json!({"url": "x", "auth": {"header": {"name": "bad name", "value": HEADER_VALUE}},
                "secret": format!("{SIGNING}!")}),
        ),
        ("/endpoints", json!({"url": "x", "auth": {"basic": {"username": "a:b", "password": PASSWORD}}})),
    ] {
        ask(
            &mut seen,
            path,
            operator(Method::POST, path).header("Content-Type", "application/json").body(body.to_string()),
        )
        .await;
    }
    let form = |id: &str, secret: &str| format!("grant_type=client_credentials&client_id={id}&client_secret={secret}");
    let token = |form: String| {
        at(Method::POST, "/auth/token").header("Content-Type", "application/x-www-form-urlencoded").body(form)
    };
    ask(&mut seen, "a wrong secret", token(form(client_id, WRONG_SECRET))).await;
    ask(&mut seen, "a wrong client", token(form(&planted.card("a client id"), WRONG_SECRET))).await;
    let issued: Value = token(form(client_id, client_secret)).send().await.unwrap().json().await.unwrap();
    let token = issued["access_token"].as_str().unwrap().to_owned();
    planted.secret("the access token", &token);
    planted.secret("the access token's signature", token.rsplit('.').next().unwrap());
    ask(&mut seen, "a list by token", at(Method::GET, "/api/v1/alerts").bearer_auth(&token)).await;
    for (name, value) in [
        ("Authorization", format!("Bearer {token}x")),
        ("Authorization", format!("Basic {}", BASE64_STANDARD.encode(format!("shop:{PASSWORD}")))),
        ("X-API-KEY", format!("{alerts_key}x")),
        ("X-API-KEY", planted.card("a key")),
        ("Host", planted.card("Host")),
        ("Origin", format!("http://{}", planted.card("Origin"))),
    ] {
        ask(&mut seen, name, at(Method::GET, "/api/v1/alerts").header(name, value)).await;
    }
    let request = alerts(Method::PUT, &format!("/{second}/resolution"))
        .header("Content-Type", format!("text/{}", planted.card("Content-Type")));
    ask(&mut seen, "a content type", request.body("{}")).await;
    ask(
        &mut seen,
        "a change's number",
        operator(Method::GET, "/changes").header("Last-Event-ID", format!("x{}", planted.card("Last-Event-ID"))),
    )
    .await;

    // What operators see of it all.
    for receiver in &receivers {
        receiver.wait_for(2).await;
    }
    let mut tries = 0;
    let (_, deliveries) = ask(&mut seen, "deliveries", operator(Method::GET, "/deliveries?size=100")).await;
    for delivery in deliveries["data"].as_array().unwrap() {
        let path = format!("/deliveries/{}", delivery["id"].as_str().unwrap());
        tries +=
            ask(&mut seen, "a delivery's log", operator(Method::GET, &path)).await.1["tries"].as_array().unwrap().len();
    }
    assert!(tries > 0, "a try is in the log");
    for path in ["/audit?size=100", "/attempts", "/endpoints", "/keys", "/clients", "/counts", "/companies"] {
        ask(&mut seen, path, operator(Method::GET, path)).await;
    }
    ask(&mut seen, "figures", at(Method::GET, "/metrics").header("X-API-KEY", &operator_key)).await;
    for request in receivers.iter().flat_map(Receiver::requests) {
        // Its own credential is what a delivery is for; the rest of it is searched.
        seen.add("a webhook", request.body);
    }
    for request in gateway.requests() {
        seen.add("a decision at the gateway", request.body);
    }
    for arguments in [
        &["alerts", "list", "--output", "json"][..],
        &["alerts", "show", &first],
        &["webhooks", "list"],
        &["keys", "list"],
        &["clients", "list"],
        &["doctor"],
    ] {
        let output = run(&home, &[arguments, &["--config", settings, "-vv"]].concat());
        seen.add(format!("stdout of {arguments:?}"), output.stdout);
        seen.add(format!("stderr of {arguments:?}"), output.stderr);
    }

    // The console, with its log at its loudest.
    let mut terminal = Terminal::start(&console_home, &["open", "--config", settings, "-vv"], 160, 48);
    terminal.wait_for("HARMLESS*SHOP");
    terminal.press("\r");
    terminal.wait_for("4 alerts on one payment");
    // The first alert waits for a person; the next one can be answered.
    terminal.wait_for("Refunded: unconfirmed");
    seen.add("screen: the case", terminal.text());
    terminal.press("\t");
    terminal.press("r");
    terminal.wait_for("alerts, same payment");
    seen.add("screen: the form", terminal.text());
    terminal.press("\x1b");
    terminal.wait_gone("alerts, same payment");
    terminal.press("q");
    seen.add("screen", terminal.wait_exit().1);
    let backup = home.join("canary.backup");
    run_ok(&home, &["backup", backup.to_str().unwrap()]);
    seen.directory(&home);
    assert_eq!(server.terminate(), Some(0));
    seen.add("file serve.log", std::fs::read(&log).unwrap());
    seen.directory(&home);

    let leaks: Vec<String> = seen
        .0
        .iter()
        .flat_map(|(place, bytes)| planted.found_in(bytes).into_iter().map(move |what| format!("{what} is in {place}")))
        .collect();
    assert!(leaks.is_empty(), "{leaks:#?}");
    // The search sees: what is harmless stands beside it in every one of these places.
    for (place, harmless) in [
        ("answer to a harmless query", "harmless-word"),
        ("answer to a refused resolution", "harmless-refusal"),
        ("answer to a delivery's log", "harmless-answer"),
        ("answer to the list", "HARMLESS*SHOP"),
        ("a webhook", "HARMLESS*SHOP"),
        ("a decision at the gateway", "harmless-comment"),
        ("file avert.db", "harmless-comment"),
        ("file avert.db", "harmless-answer"),
        ("file canary.backup", "harmless-comment"),
        ("file serve.log", "endpoint added"),
        ("screen", "HARMLESS*SHOP"),
        ("stdout of import", "rejected"),
        ("stdout of [\"alerts\", \"list\"", "411111"),
    ] {
        assert!(seen.has(place, harmless), "{harmless} is in {place}");
    }
}
