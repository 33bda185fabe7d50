//! A desk in a file and a copy of it on a server answer the same, byte for byte: every sort, filter, search and page,
//! and every refusal.

use reqwest::Client;
use serde_json::{Value, json};

use crate::support::{
    binary::{Server, run_ok},
    cluster::Cluster,
};

/// Texts that databases order, fold and match in ways of their own.
const ODD: [&str; 12] = [
    "acme",
    "ACME",
    "Acme*Shop",
    "50% off",
    "a_b",
    "a\\b",
    "Ärger",
    "ärger",
    "ZEBRA",
    "zebra",
    "\u{1F4B3} card",
    "İstanbul 'x' \"y\"",
];
const SORTS: [&str; 17] = [
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
];
const FILTERS: [&str; 24] = [
    "",
    "provider=ETHOCA",
    "provider=VERIFI,CDRN",
    "status=OPEN",
    "status=RESOLVED,CHARGEBACK",
    "type=ETHOCA_CONFIRMED_FRAUD",
    "outcome=RESOLVED",
    "expired=true",
    "expired=false",
    "expiresIn=30",
    "descriptor=acme",
    "descriptor=50%25",
    "descriptor=%C3%84",
    "q=a_b",
    "q=%25",
    "q=%5C",
    "q=zebra",
    "q=%C3%A4rger",
    "q=%C4%B0stanbul",
    "q=i%CC%87stanbul",
    "q=P-1",
    "q=4",
    "startDate=2026-03-05&endDate=2026-03-20",
    "transactionStartDate=2026-03-05",
];
const REFUSED: [&str; 6] = ["size=0", "page=-1", "sortField=nothing", "status=HORSE", "startDate=yesterday", "q=%00"];

fn alert(number: usize) -> Value {
    let (provider, kind) =
        [("ETHOCA", "ETHOCA_CONFIRMED_FRAUD"), ("VERIFI", "VERIFI_CANCEL"), ("CDRN", "VERIFI_DISPUTE")][number % 3];
    let amount = ["9.90", "10", "100.5", "0.01", "1234567.891"][number % 5];
    let currency = ["EUR", "USD", "JPY"][number % 3];
    let odd = |by: usize| ODD[number * by % ODD.len()];
    let moment = |days: usize| format!("2026-03-{:02}T{:02}:00:00.000Z", 1 + (number + days) % 28, number % 24);
    json!({
        "providerId": format!("P-{}{}", number % 7, number), "provider": provider, "type": kind,
            "alertTimeStamp": moment(0),
        "transactionTimeStamp": moment(5), "cardBin": format!("4{:05}", number * 37 % 100_000),
            "cardLastFour": format!("{:04}", number * 7_919 % 10_000),
        "merchantDescriptor": odd(1), "merchantName": odd(5), "issuer": odd(7),
        "amount": amount, "currency": currency, "hoursLeft": 20 + number,
    })
}

/// Searches over all fields: of each kind of match, by comments, in odd letters, of what matches everything and
/// nothing.
const FINDS: [&str; 19] = [
    "acme",
    "P-11",
    "9.9",
    "9.90 EUR",
    "0.01",
    "%C3%A4rger",
    "arger",
    "10usd",
    "4000000000",
    "%C4%B0",
    "50%25",
    "a_b",
    "%5C",
    "z",
    "by%20hand",
    "hand%20p-1",
    "4",
    "usd",
    "nobody",
];

/// Status and body, without the id of the request.
async fn answer(client: &Client, url: &str, key: &str, query: &str) -> (u16, String) {
    let asked = client.get(format!("{url}{query}")).header("X-API-KEY", key).send().await.unwrap();
    let status = asked.status().as_u16();
    let body = asked.text().await.unwrap();
    if status == 200 {
        return (status, body);
    }
    let mut problem: Value = serde_json::from_str(&body).unwrap();
    for own in ["request", "requestId", "instance"] {
        problem.as_object_mut().unwrap().remove(own);
    }
    (status, problem.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_and_its_copy_on_a_server_answer_the_same_byte_for_byte() {
    let Some(cluster) = Cluster::empty().await else { return };
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("alerts.ndjson");
    std::fs::write(&file, (0..90).map(|number| format!("{}\n", alert(number))).collect::<String>()).unwrap();
    run_ok(home.path(), &["import", file.to_str().unwrap(), "--no-events"]);
    let key = run_ok(home.path(), &["keys", "create", "--scope", "alerts,operator"]).trim().to_owned();
    for (number, refunded) in ["refunded", "not-refunded", "refunded", "not-refunded"].into_iter().enumerate() {
        run_ok(
            home.path(),
            &[
                "alerts",
                "resolve",
                &format!("P-{number}{number}"),
                "--refunded",
                refunded,
                "--comments",
                "by hand",
                "--yes",
            ],
        );
    }
    let from = format!("sqlite:{}", home.path().join("avert.db").display());
    run_ok(home.path(), &["copy", "--from", &from, "--to", &cluster.address()]);
    std::fs::copy(home.path().join("secret.key"), cluster.key_file()).unwrap();
    let servers = [Server::start(home.path(), &[]), cluster.serve("a", &[])];
    let client = Client::new();

    let sorted =
        SORTS.iter().flat_map(|sort| ["ASC", "DESC"].map(|order| format!("sortField={sort}&sortOrder={order}")));
    let all: Vec<String> =
        sorted.flat_map(|sort| FILTERS.map(|filter| format!("{filter}&{sort}&size=20&page=0"))).collect();
    let pages = (0..9).flat_map(|page| {
        ["merchantDescriptor", "amount", "hoursLeft"].map(|sort| format!("sortField={sort}&size=11&page={page}"))
    });
    let lists = all.into_iter().chain(pages).chain(REFUSED.map(str::to_owned));
    let lists = lists.map(|query| format!("/api/v1/alerts?{}", query.trim_start_matches('&')));
    let finds = FINDS.iter().flat_map(|q| [3, 100].map(|size| format!("/operator/v1/find?q={q}&size={size}")));
    for query in lists.chain(finds) {
        let [in_file, on_server] = [&servers[0].url, &servers[1].url];
        let ask =
            async || (answer(&client, in_file, &key, &query).await, answer(&client, on_server, &key, &query).await);
        let (mut expected, mut found) = ask().await;
        if expected != found {
            // An hour may have passed between the two.
            (expected, found) = ask().await;
        }
        assert_eq!(found, expected, "{query}");
    }
}
