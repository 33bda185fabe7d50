//! The store at size: lists, searches, single alerts, resolutions, import.
//!
//! `AVERT_BENCH_ALERTS` is how many alerts there are (100,000 unless told; the aims are for 1,000,000). Each list is
//! measured beside the same list in plain SQL where that tells something: absolute times depend on the machine, ratios
//! less so.

#![allow(clippy::unwrap_used, clippy::print_stderr, missing_docs, reason = "a benchmark")]

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use avert::domain::PageRequest;
use avert::domain::resolution::Decision;
use avert::domain::time::{Timestamp, from_iso};
use avert::domain::{
    Alert, AlertFilter, AlertId, AlertPatch, AlertQuery, AlertStatus, AlertType, AttemptId, CompanyId, Currency,
    Deadline, EnrollmentId, EventKind, EventSubject, EventTemplate, FindQuery, OrganizationId, Outcome, OutcomeId,
    Provider, Resolution, Sort, SortField, SortOrder,
};
use avert::store::{Claim, ClaimRequest, Commit, CommitRequest, SharedStore, SqliteOptions, SqliteStore};
use chrono::Duration as Span;
use criterion::{Criterion, criterion_group, criterion_main};
use tokio::runtime::Runtime;
use uuid::Uuid;

/// Rows in one transaction of an import.
const BATCH: usize = 10_000;

/// The span over which the alerts are spread.
const DAYS: i64 = 700;

fn plain_events(kind: &EventKind, subject: EventSubject<'_>, _: Option<EventTemplate>, _: Timestamp) -> String {
    match subject {
        EventSubject::Alert(alert) => format!("{kind} {}", alert.id),
        EventSubject::Endpoint(endpoint) => format!("{kind} {}", endpoint.id),
        EventSubject::Rule(rule) => format!("{kind} {}", rule.name),
        EventSubject::Source(source) => format!("{kind} {}", source.name),
    }
}

fn now() -> Timestamp {
    from_iso("2026-03-10T12:00:00Z").unwrap()
}

/// Scatters a number (SplitMix64).
fn scatter(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Alert `number` of `of`, in the order of time: 5 % open, 75 % answered, 20 % expired.
fn alert(number: u64, of: u64) -> Alert {
    let random = |salt: u64, below: u64| scatter(number.wrapping_mul(31).wrapping_add(salt)) % below;
    let pick = |salt: u64, words: &[&str]| words[usize::try_from(random(salt, words.len() as u64)).unwrap()].to_owned();
    let (provider, types): (Provider, &[AlertType]) = match random(1, 10) {
        0..5 => (Provider::Ethoca, &[AlertType::EthocaConfirmedFraud, AlertType::EthocaCustomerDispute]),
        5..9 => (Provider::Verifi, &[AlertType::VerifiDispute, AlertType::VerifiCancel, AlertType::VerifiFraudNotice]),
        _ => (Provider::Cdrn, &[AlertType::VerifiDispute]),
    };
    let age = Span::microseconds(DAYS * 86_400_000_000) * i32::try_from((of - number) * 1_000_000 / of.max(1)).unwrap()
        / 1_000_000;
    let raised = now() - age + Span::microseconds(i64::try_from(random(2, 60_000_000)).unwrap());
    let shop = pick(
        3,
        &["ACME", "NORDLICHT", "KITE SUPPLY", "BLUE HARBOR", "PIXELFORGE", "CAFE LUNA", "ATLAS TRAVEL", "VELO CITY"],
    );
    let mut alert = Alert {
        provider_id: format!("{:016X}", scatter(number)),
        alert_time: Some(raised),
        enrollment_id: Some(EnrollmentId(Uuid::from_u128(7 + u128::from(random(4, 3))))),
        company_id: Some(CompanyId(Uuid::from_u128(1 + u128::from(random(5, 4))))),
        issuer: pick(6, &["HSBC", "Chase", "BNP Paribas", "Santander", "ING", "Nordea", "Emirates NBD"]),
        card_bin: format!("{}", 400_000 + random(7, 150_000)),
        card_last_four: format!("{:04}", random(8, 10_000)),
        card_expiration_date: Some("12/27".to_owned()),
        transaction_time: Some(raised - Span::hours(1 + i64::try_from(random(9, 90 * 24)).unwrap())),
        merchant_descriptor: format!(
            "{shop}*{} {}",
            pick(10, &["SHOP", "STORE", "ONLINE", "BOOKING"]),
            random(11, 2_000)
        ),
        descriptor_contact: Some("disputes@merchant.example".to_owned()),
        merchant_id: format!("M-{}", random(12, 200)),
        merchant_order_id: Some(format!("A-{}", random(13, 10_000_000))),
        merchant_name: format!("{shop} Ltd"),
        mcc: Some("5732".to_owned()),
        amount: Some(format!("{}.{:02}", 1 + random(14, 900), random(15, 100)).parse().unwrap()),
        currency: Currency::new(pick(16, &["EUR", "USD", "GBP", "AED"])),
        transaction_type: "eCommerce".to_owned(),
        initiated_by: "issuer".to_owned(),
        auth_code: Some(format!("{:06}", random(17, 1_000_000))),
        source: Some("network".to_owned()),
        reason_code: Some("10.4".to_owned()),
        acquirer_reference_number: Some(format!("7432045611{:013}", random(18, 10_000_000_000))),
        created_at: Some(raised),
        updated_at: Some(raised + Span::hours(2)),
        deadline: Deadline::At(raised + Span::hours(24)),
        ..Alert::new(
            AlertId::generate(),
            provider,
            types[usize::try_from(random(19, types.len() as u64)).unwrap()].clone(),
        )
    };
    // The last twentieth is open.
    if number * 20 >= of * 19 {
        alert.deadline = Deadline::At(now() + Span::minutes(1 + i64::try_from(random(20, 72 * 60)).unwrap()));
    } else if random(21, 95) < 75 {
        let (status, word) = match random(22, 10) {
            0..5 => (AlertStatus::Resolved, "resolved"),
            5..9 => (AlertStatus::Chargeback, "unresolved_dispute"),
            _ => (AlertStatus::Invalid, "previously_refunded"),
        };
        alert.status = status;
        alert.outcome = Some(Outcome {
            id: OutcomeId::generate(),
            alert_id: alert.id,
            provider_alert_id: alert.provider_id.clone(),
            status: "success".to_owned(),
            outcome: word.to_owned(),
            refunded: "refunded".to_owned(),
            comments: "Refunded after review".to_owned(),
            dispute_reason_code: None,
            action_time: Some(raised + Span::hours(2)),
            amount_stopped: None,
        });
    } else {
        alert.status = AlertStatus::Expired;
        alert.expired_at = alert.deadline.moment();
    }
    alert
}

fn row(alert: Alert) -> AlertPatch {
    AlertPatch::of(alert).without("id")
}

struct Desk {
    runtime: Runtime,
    store: SharedStore,
    organization: OrganizationId,
    directory: tempfile::TempDir,
    alerts: u64,
}

impl Desk {
    fn open() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let directory =
            tempfile::tempdir_in(std::env::var_os("AVERT_BENCH_DIR").unwrap_or_else(|| std::env::temp_dir().into()))
                .unwrap();
        let store: SharedStore =
            SqliteStore::open(&SqliteOptions::file(directory.path().join("avert.db"), plain_events)).unwrap();
        let organization = runtime.block_on(store.organizations()).unwrap()[0].organization.id;
        Self { runtime, store, organization, directory, alerts: 0 }
    }

    /// Brings in what there is to be, in batches; tells how fast that went and how large it is.
    fn fill(&mut self, alerts: u64) {
        let mut spent = Duration::ZERO;
        let mut number = 0;
        while number < alerts {
            let until = (number + BATCH as u64).min(alerts);
            let rows: Vec<AlertPatch> = (number..until).map(|number| row(alert(number, alerts))).collect();
            let started = Instant::now();
            self.runtime.block_on(self.store.ingest(self.organization, rows, now())).unwrap();
            spent += started.elapsed();
            number = until;
        }
        self.alerts = alerts;
        // With everything of the log moved into it.
        let bytes = {
            let database = self.directory.path().join("avert.db");
            rusqlite::Connection::open(&database)
                .unwrap()
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
                .unwrap();
            std::fs::metadata(database).unwrap().len()
        };
        let rate = alerts as f64 / spent.as_secs_f64();
        eprintln!("filled with {alerts} alerts: {rate:.0} rows/s, {} bytes each", bytes / alerts);
    }

    fn list(&self, query: &AlertQuery) -> u64 {
        let page = self.runtime.block_on(self.store.list_alerts(self.organization, query, now())).unwrap();
        page.total + page.data.len() as u64
    }
}

fn filter(filter: AlertFilter) -> AlertQuery {
    AlertQuery { filter, ..AlertQuery::default() }
}

fn search(q: &str) -> AlertQuery {
    filter(AlertFilter { q: Some(q.to_owned()), ..AlertFilter::default() })
}

fn sorted(field: SortField, order: SortOrder) -> AlertQuery {
    AlertQuery { sort: Sort { field, order }, ..AlertQuery::default() }
}

fn lists(c: &mut Criterion, desk: &Desk) {
    let any = AlertFilter::default();
    let open = AlertFilter { statuses: vec![AlertStatus::Open], ..any.clone() };
    let two = AlertFilter {
        statuses: vec![AlertStatus::Resolved, AlertStatus::Invalid],
        providers: vec![Provider::Verifi],
        ..any.clone()
    };
    let day = (now() - Span::days(100)).date_naive();
    let month = AlertFilter { start_date: Some(day), end_date: Some(day + Span::days(30)), ..any.clone() };
    let paid = AlertFilter { transaction_start_date: Some(day), transaction_end_date: Some(day), ..any.clone() };
    let prefix = AlertFilter { descriptor: Some("kite supply*shop 12".to_owned()), ..any.clone() };
    let wide_prefix = AlertFilter { descriptor: Some("kite".to_owned()), ..any.clone() };
    let company = AlertFilter { companies: vec![CompanyId(Uuid::from_u128(2))], ..any.clone() };
    let soon = AlertFilter { expires_in: Some(2), ..any.clone() };
    let latest = Sort { field: SortField::AlertTimeStamp, order: SortOrder::Descending };
    let deep = PageRequest { page: desk.alerts / 20, size: 10 };
    let hours = SortField::HoursLeft;
    let id = format!("{:016X}", scatter(desk.alerts / 3));
    let queries: Vec<(&str, AlertQuery)> = vec![
        ("everything", filter(any)),
        ("everything, latest first", AlertQuery { sort: latest, ..AlertQuery::default() }),
        ("open", filter(open.clone())),
        ("open by deadline", AlertQuery { filter: open.clone(), ..sorted(hours, SortOrder::Ascending) }),
        ("all by deadline", sorted(hours, SortOrder::Ascending)),
        ("two statuses and a provider", filter(two.clone())),
        ("a month", filter(month.clone())),
        (
            "two statuses, a provider, a month",
            filter(AlertFilter { start_date: month.start_date, end_date: month.end_date, ..two }),
        ),
        ("one transaction day", filter(paid)),
        ("a selective descriptor", filter(prefix)),
        ("a common descriptor", filter(wide_prefix)),
        ("one company of four", filter(company)),
        ("expires within 2 h", AlertQuery { filter: soon, ..sorted(hours, SortOrder::Ascending) }),
        ("deep page", AlertQuery { page: deep, ..AlertQuery::default() }),
        ("by amount", sorted(SortField::Amount, SortOrder::Descending)),
        ("by last update", sorted(SortField::UpdatedAt, SortOrder::Descending)),
        ("by status", sorted(SortField::Status, SortOrder::Ascending)),
        ("by issuer", sorted(SortField::Issuer, SortOrder::Ascending)),
        ("search: a provider id", search(&id)),
        ("search: 6 characters, few", search(&id[..6])),
        ("search: 4 digits, some", search("8831")),
        ("search: a common word", search("harbor")),
        ("search: a common word, open", filter(AlertFilter { q: Some("harbor".to_owned()), ..open })),
        ("search: 2 characters", search("88")),
        ("search: 1 character", search("7")),
        ("search: nothing found", search("no such thing")),
    ];
    let mut group = c.benchmark_group("list of 10 with exact total");
    for (name, query) in &queries {
        group.bench_function(*name, |b| b.iter(|| desk.list(query)));
    }
    group.finish();
}

/// Searches over all fields, of 20 alerts, for words that few alerts have and for some that many have.
fn finds(c: &mut Criterion, desk: &Desk) {
    let id = format!("{:016X}", scatter(desk.alerts / 3));
    let searches = [
        ("a whole network id", id.as_str()),
        ("its beginning", &id[..6]),
        ("a part of it", &id[5..12]),
        ("an amount", "321.09"),
        ("an amount with a name", "321.09 harbor"),
        ("a name", "harbor"),
        ("last four", "8831"),
        ("3 digits", "883"),
        ("2 characters", "88"),
        ("1 character", "7"),
        ("a word of comments", "review"),
        ("two names of which no alert has both", "harbor nordlicht"),
        ("nothing found", "nobody"),
    ];
    let mut group = c.benchmark_group("find 20");
    for (name, text) in searches {
        let query = FindQuery::parse(text).unwrap();
        let find = || desk.runtime.block_on(desk.store.find(desk.organization, &query, 20)).unwrap().len();
        group.bench_function(name, |b| b.iter(find));
    }
    group.finish();
}

/// The plain way to the same lists, on a connection of its own: what the ways around it are worth.
fn plain_sql(c: &mut Criterion, desk: &Desk) {
    let conn = rusqlite::Connection::open(desk.directory.path().join("avert.db")).unwrap();
    let read = |sql: &str| {
        let mut statement = conn.prepare_cached(sql).unwrap();
        let mut rows = statement.query([]).unwrap();
        let mut seen = 0;
        while let Some(row) = rows.next().unwrap() {
            seen += row.get::<_, i64>(0).unwrap();
        }
        seen
    };
    let middle = desk.alerts / 2;
    let deep = format!("SELECT * FROM alert WHERE organization = 1 ORDER BY alert_time, id LIMIT 10 OFFSET {middle}");
    let mut group = c.benchmark_group("plain SQL");
    group.bench_function("count of everything", |b| {
        b.iter(|| read("SELECT count(*) FROM alert WHERE organization = 1"));
    });
    group.bench_function("page of everything", |b| {
        b.iter(|| read("SELECT * FROM alert WHERE organization = 1 ORDER BY alert_time, id LIMIT 10"));
    });
    group.bench_function("deep page", |b| b.iter(|| read(&deep)));
    group.bench_function("search: a common word", |b| {
        b.iter(|| read("SELECT count(*) FROM alert WHERE organization = 1 AND merchant_descriptor LIKE '%harbor%'"));
    });
    group.finish();
}

fn single(c: &mut Criterion, desk: &Desk) {
    let page = desk.runtime.block_on(desk.store.list_alerts(desk.organization, &search("88"), now())).unwrap();
    let ids: Vec<AlertId> = page.data.iter().map(|alert| alert.id).collect();
    let mut next = ids.iter().cycle();
    c.bench_function("one alert by id", |b| {
        b.iter(|| desk.runtime.block_on(desk.store.get_alert(desk.organization, *next.next().unwrap())).unwrap());
    });
    c.bench_function("money at risk in 2 h", |b| {
        b.iter(|| {
            desk.runtime.block_on(desk.store.due(Some(desk.organization), now(), now() + Span::hours(2))).unwrap()
        });
    });
}

/// Claim and commit, as the engine does with a provider that takes no time.
async fn resolve(store: &SharedStore, organization: OrganizationId, alert: AlertId) {
    let resolution = Resolution::Current { decision: Decision::Refunded, comments: "Refunded".to_owned() };
    let attempt = AttemptId::generate();
    let request = ClaimRequest {
        attempt,
        organization,
        alert,
        resolution,
        body_hash: [0; 32],
        idempotency_key: None,
        deadline: now() + Span::seconds(10),
        now: now().into(),
    };
    let Claim::Claimed { generation, .. } = store.claim_resolution(request).await.unwrap() else {
        panic!("not claimed")
    };
    let commit = CommitRequest { attempt, generation, now: now() };
    let Commit::Committed(_) = store.commit_resolution(commit).await.unwrap() else { panic!("not committed") };
}

/// Fresh open alerts to be resolved.
fn open_alerts(desk: &Desk, count: u64) -> Vec<AlertId> {
    let rows: Vec<AlertPatch> = (0..count)
        .map(|_| {
            // The last of so many, whatever so many is: the last ones are open.
            let number = 20_000_000 + u64::from(Uuid::new_v4().as_fields().0);
            let mut open = alert(number, number);
            open.alert_time = Some(now());
            // So many numbers repeat themselves, and a known alert is not a fresh one.
            open.provider_id = Uuid::new_v4().to_string();
            row(open)
        })
        .collect();
    let ids = rows.iter().map(|row| row.alert.id).collect();
    desk.runtime.block_on(desk.store.ingest(desk.organization, rows, now())).unwrap();
    ids
}

fn resolutions(c: &mut Criterion, desk: &Desk) {
    let mut group = c.benchmark_group("resolve");
    group.throughput(criterion::Throughput::Elements(1));
    group.bench_function("one by one", |b| {
        b.iter_custom(|times| {
            let alerts = open_alerts(desk, times);
            let started = Instant::now();
            desk.runtime.block_on(async {
                for alert in alerts {
                    resolve(&desk.store, desk.organization, alert).await;
                }
            });
            started.elapsed()
        });
    });
    // What durable means here: a claim and an answer, each on the disk before it counts.
    group.bench_function("two syncs of a page alone", |b| {
        let mut log = File::create(desk.directory.path().join("syncs")).unwrap();
        b.iter(|| {
            for _ in 0..2 {
                log.write_all(&[7; 4096]).unwrap();
                log.sync_data().unwrap();
            }
        });
    });
    group.bench_function("64 callers", |b| {
        b.iter_custom(|times| {
            let alerts = Arc::new(open_alerts(desk, times));
            let next = Arc::new(AtomicUsize::new(0));
            let started = Instant::now();
            desk.runtime.block_on(async {
                let callers: Vec<_> = (0..64)
                    .map(|_| {
                        let (store, organization) = (Arc::clone(&desk.store), desk.organization);
                        let (alerts, next) = (Arc::clone(&alerts), Arc::clone(&next));
                        tokio::spawn(async move {
                            while let Some(alert) = alerts.get(next.fetch_add(1, Ordering::Relaxed)) {
                                resolve(&store, organization, *alert).await;
                            }
                        })
                    })
                    .collect();
                for caller in callers {
                    caller.await.unwrap();
                }
            });
            started.elapsed()
        });
    });
    group.finish();
}

fn import(c: &mut Criterion, desk: &Desk) {
    let mut group = c.benchmark_group("import");
    group.throughput(criterion::Throughput::Elements(BATCH as u64));
    group.bench_function("10,000 more in one transaction", |b| {
        b.iter_custom(|times| {
            (0..times)
                .map(|_| {
                    let offset = scatter(u64::from(Uuid::new_v4().as_fields().0)) % 1_000_000_000;
                    let rows = (0..BATCH as u64).map(|number| Alert {
                        provider_id: format!("{offset}-{number}"),
                        ..alert(number, BATCH as u64)
                    });
                    let rows = rows.map(row).collect();
                    let started = Instant::now();
                    desk.runtime.block_on(desk.store.ingest(desk.organization, rows, now())).unwrap();
                    started.elapsed()
                })
                .sum()
        });
    });
    group.finish();
}

fn all(c: &mut Criterion) {
    let alerts = std::env::var("AVERT_BENCH_ALERTS").ok().and_then(|text| text.parse().ok()).unwrap_or(100_000);
    let mut desk = Desk::open();
    desk.fill(alerts);
    lists(c, &desk);
    finds(c, &desk);
    plain_sql(c, &desk);
    single(c, &desk);
    resolutions(c, &desk);
    import(c, &desk);
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = all
}
criterion_main!(benches);
