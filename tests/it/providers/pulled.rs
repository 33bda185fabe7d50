//! Alerts that are pulled: page by page, each once, by one process at a time, from where it stopped.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use avert::{
    domain::{AlertQuery, IngestReport, Provider},
    engine::{Engine, PullFrom, PullOf, Pulled},
    providers::{AlertSource, Providers, PulledPage},
    service::Alerts,
};
use chrono::TimeDelta;
use serde_json::json;
use tokio::sync::Semaphore;

use super::gateway::{TOKEN, provider};
use crate::{
    support::{
        alerts::NOON,
        clock::ManualClock,
        engine::{acting, engine_on, impatient, network},
        receiver::{Answer, Receiver},
    },
    webhooks::troubled::{Trouble, TroubledStore},
};

/// A source that gives these pages, one each, and remembers what it was asked with.
#[derive(Default)]
struct Pages {
    pages: Mutex<VecDeque<Result<PulledPage, String>>>,
    asked: Mutex<Vec<Option<String>>>,
    /// Where each call waits, if it does.
    gate: Option<(Semaphore, Semaphore)>,
}

impl Pages {
    fn of(pages: impl IntoIterator<Item = Result<PulledPage, String>>) -> Arc<Self> {
        Arc::new(Self { pages: Mutex::new(pages.into_iter().collect()), ..Self::default() })
    }

    fn then(&self, page: Result<PulledPage, String>) {
        self.pages.lock().unwrap().push_back(page);
    }

    fn asked(&self) -> Vec<Option<String>> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl AlertSource for Pages {
    async fn pull(&self, cursor: Option<&str>) -> Result<PulledPage, String> {
        self.asked.lock().unwrap().push(cursor.map(str::to_owned));
        if let Some((inside, through)) = &self.gate {
            inside.add_permits(1);
            through.acquire().await.unwrap().forget();
        }
        self.pages.lock().unwrap().pop_front().unwrap_or_else(|| Ok(page(&[], cursor)))
    }
}

fn row(id: &str) -> String {
    let row = json!({
        "provider": "ETHOCA", "providerId": id, "type": "ETHOCA_CUSTOMER_DISPUTE", "amount": "10.00", "currency": "EUR",
        "alertTimeStamp": NOON,
    });
    row.to_string()
}

fn page(rows: &[String], cursor: Option<&str>) -> PulledPage {
    PulledPage { rows: rows.to_vec(), cursor: cursor.map(str::to_owned), is_last: false }
}

fn from(source: Arc<dyn AlertSource>) -> PullFrom {
    let every = Duration::from_secs(60);
    PullFrom {
        of: PullOf::Network(Provider::Ethoca),
        source,
        place: "https://gateway.example".to_owned(),
        organization: None,
        every,
    }
}

fn created(created: u64) -> IngestReport {
    IngestReport { created, ..IngestReport::default() }
}

async fn count(engine: &Engine) -> u64 {
    acting(engine).await.list(&AlertQuery::default()).await.unwrap().total
}

struct Desk {
    directory: tempfile::TempDir,
    clock: Arc<ManualClock>,
    engine: Engine,
}

impl Desk {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let clock = ManualClock::at(NOON);
        let engine = engine_on(directory.path(), &clock, &network(true, true));
        Self { directory, clock, engine }
    }

    fn another_process(&self) -> Engine {
        engine_on(self.directory.path(), &self.clock, &network(true, true))
    }
}

#[tokio::test]
async fn every_page_is_taken_in_and_the_next_turn_goes_on_where_it_stopped() {
    let desk = Desk::new();
    let pages = Pages::of([Ok(page(&[row("A"), row("B")], Some("2"))), Ok(page(&[row("C")], Some("3")))]);
    let from = from(pages.clone());

    let first = desk.engine.pull_once(&from).await.unwrap();
    desk.clock.advance(TimeDelta::seconds(60));
    pages.then(Ok(page(&[row("D")], Some("4"))));
    let second = desk.engine.pull_once(&from).await.unwrap();

    assert_eq!(first, Pulled::Pages { pages: 3, report: created(3) });
    assert_eq!(second, Pulled::Pages { pages: 2, report: created(1) });
    let asked: Vec<_> = pages.asked().into_iter().map(Option::unwrap_or_default).collect();
    assert_eq!(asked, ["", "2", "3", "3", "4"]);
    assert_eq!(count(&desk.engine).await, 4);
}

#[tokio::test]
async fn a_turn_is_not_due_before_its_time() {
    let desk = Desk::new();
    let from = from(Pages::of([]));
    desk.engine.pull_once(&from).await.unwrap();

    desk.clock.advance(TimeDelta::seconds(59));
    let early = desk.engine.pull_once(&from).await.unwrap();
    desk.clock.advance(TimeDelta::seconds(1));
    let due = desk.engine.pull_once(&from).await.unwrap();
    desk.clock.advance(TimeDelta::days(-30));
    let after_a_clock_set_back = desk.engine.pull_once(&from).await.unwrap();

    assert_eq!(early, Pulled::NotNow);
    assert!(matches!(due, Pulled::Pages { .. }), "{due:?}");
    assert!(matches!(after_a_clock_set_back, Pulled::Pages { .. }), "{after_a_clock_set_back:?}");
}

#[tokio::test]
async fn a_page_that_comes_twice_does_nothing_the_second_time() {
    let desk = Desk::new();
    let pages = Pages::of([Ok(page(&[row("A")], None))]);
    let from = from(pages.clone());
    desk.engine.pull_once(&from).await.unwrap();

    desk.clock.advance(TimeDelta::seconds(60));
    pages.then(Ok(page(&[row("A")], None)));
    let again = desk.engine.pull_once(&from).await.unwrap();

    assert_eq!(again, Pulled::Pages { pages: 1, report: IngestReport { unchanged: 1, ..IngestReport::default() } });
    assert_eq!(count(&desk.engine).await, 1);
}

#[tokio::test]
async fn rows_that_are_no_alerts_or_another_networks_do_not_hold_up_the_others() {
    let desk = Desk::new();
    let others = row("X").replace("\"ETHOCA\"", "\"VERIFI\"");
    let pages = Pages::of([Ok(page(&[row("A"), "[1]".to_owned(), others, "{}".to_owned(), row("B")], None))]);

    let Pulled::Pages { report, .. } = desk.engine.pull_once(&from(pages)).await.unwrap() else { panic!("a page") };

    assert_eq!(report.created, 2);
    let rejected: Vec<_> = report.rejected.iter().map(|row| (row.line, row.error.field.as_str())).collect();
    assert_eq!(rejected.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 3, 4]);
    assert_eq!(rejected[1].1, "provider");
}

#[tokio::test]
async fn a_failure_keeps_the_place_and_the_pauses_double_up_to_a_quarter_of_an_hour() {
    let desk = Desk::new();
    let pages = Pages::of([Ok(page(&[row("A")], Some("2")))]);
    let from = from(pages.clone());
    desk.engine.pull_once(&from).await.unwrap();
    desk.clock.advance(TimeDelta::seconds(60));

    let mut pauses = Vec::new();
    for _ in 0..6 {
        pages.then(Err("it answered 503".to_owned()));
        assert_eq!(desk.engine.pull_once(&from).await.unwrap(), Pulled::Failed("it answered 503".to_owned()));
        let state = desk.engine.store().pull_state("ETHOCA https://gateway.example").await.unwrap().unwrap();
        let pause = state.next_at - desk.engine.clock().now();
        assert_eq!((state.cursor.as_deref(), state.failure.as_str()), (Some("2"), "it answered 503"));
        pauses.push(pause.num_seconds());
        desk.clock.advance(pause);
    }
    let recovered = desk.engine.pull_once(&from).await.unwrap();

    assert_eq!(pauses, [60, 120, 240, 480, 900, 900]);
    assert!(matches!(recovered, Pulled::Pages { pages: 1, .. }), "{recovered:?}");
    assert_eq!(pages.asked().last().unwrap().as_deref(), Some("2"));
}

#[tokio::test]
async fn while_one_process_pulls_another_does_not_and_when_it_is_gone_the_other_goes_on() {
    let desk = Desk::new();
    let gated = Arc::new(Pages { gate: Some((Semaphore::new(0), Semaphore::new(0))), ..Pages::default() });
    gated.then(Ok(page(&[row("A")], Some("2"))));
    let first = tokio::spawn({
        let (engine, from) = (desk.engine.clone(), from(gated.clone()));
        async move { engine.pull_once(&from).await }
    });
    let (inside, through) = gated.gate.as_ref().unwrap();
    tokio::time::timeout(Duration::from_secs(30), inside.acquire()).await.unwrap().unwrap().forget();
    let other = desk.another_process();
    let others = Pages::of([Ok(page(&[row("A")], Some("9")))]);

    let meanwhile = other.pull_once(&from(others.clone())).await.unwrap();
    desk.clock.advance(TimeDelta::minutes(10));
    let after_the_lease = other.pull_once(&from(others)).await.unwrap();
    through.add_permits(9);
    let late = first.await.unwrap().unwrap();

    assert_eq!(meanwhile, Pulled::NotNow);
    assert!(matches!(after_the_lease, Pulled::Pages { .. }), "{after_the_lease:?}");
    assert_eq!(late, Pulled::Failed("another process has taken over".to_owned()));
    let state = other.store().pull_state("ETHOCA https://gateway.example").await.unwrap().unwrap();
    assert_eq!((state.cursor.as_deref(), state.failure.as_str()), (Some("9"), ""), "who is late changes nothing");
    assert_eq!(count(&other).await, 1);
}

#[tokio::test]
async fn a_restart_goes_on_where_it_stopped_without_doubles() {
    let desk = Desk::new();
    let gateway = Receiver::start().await;
    let page = |rows: &[&str], cursor: &str| {
        let rows: Vec<_> = rows.iter().map(|id| row(id)).collect();
        Answer::Body(200, format!(r#"{{"data": [{}], "cursor": "{cursor}"}}"#, rows.join(",")).into_bytes())
    };
    let from = || from(provider(gateway.url()));
    gateway.answer(page(&[], "b&=2"));
    gateway.answer_next([page(&["A", "B"], "a 1"), page(&["C"], "b&=2")]);
    desk.engine.pull_once(&from()).await.unwrap();

    let Desk { directory, clock, engine } = desk;
    drop(engine);
    clock.advance(TimeDelta::seconds(60));
    let restarted = engine_on(directory.path(), &clock, &network(true, true));
    gateway.answer_next([page(&["B", "C", "D"], "c3"), page(&[], "c3")]);
    let pulled = restarted.pull_once(&from()).await.unwrap();

    assert_eq!(
        pulled,
        Pulled::Pages { pages: 2, report: IngestReport { created: 1, unchanged: 2, ..IngestReport::default() } }
    );
    assert_eq!(count(&restarted).await, 4);
    let requests = gateway.requests();
    let paths: Vec<_> = requests.iter().map(|request| request.path.as_str()).collect();
    let [first, second, third] = ["/hook/alerts", "/hook/alerts?cursor=a+1", "/hook/alerts?cursor=b%26%3D2"];
    assert_eq!(paths, [first, second, third, third, "/hook/alerts?cursor=c3"]);
    assert!(requests.iter().all(|request| request.header("authorization") == format!("Bearer {TOKEN}")));
}

#[tokio::test]
async fn what_is_no_page_is_told_and_nothing_is_taken_in() {
    let gateway = Receiver::start().await;
    let provider = provider(gateway.url());
    for (answer, words) in [
        (Answer::Status(200), "its page could not be read"),
        (Answer::Body(200, b"<html>".to_vec()), "its page could not be read"),
        (Answer::Body(200, br#"{"cursor": "a"}"#.to_vec()), "its page could not be read"),
        (Answer::Body(200, br#"{"data": [], "cursor": "a\u0007"}"#.to_vec()), "its cursor"),
        (Answer::Status(503), "it answered 503"),
        (Answer::Status(401), "it does not accept avert's credential (401)"),
        (Answer::Status(302), "redirects are not followed"),
        (Answer::Close, "the connection to the network broke"),
    ] {
        gateway.answer(answer);

        let error = provider.pull(None).await.unwrap_err();

        assert!(error.contains(words), "{error}");
    }
}

#[tokio::test]
async fn alerts_for_an_organization_that_is_not_there_are_not_taken_in() {
    let desk = Desk::new();
    let pages = Pages::of([Ok(page(&[row("A")], Some("2")))]);
    let from = PullFrom { organization: Some("Nobody".to_owned()), ..from(pages.clone()) };

    let pulled = desk.engine.pull_once(&from).await.unwrap();

    assert!(matches!(&pulled, Pulled::Failed(why) if why.contains("Nobody")), "{pulled:?}");
    assert_eq!(pages.asked(), []);
}

#[tokio::test]
async fn a_page_that_could_not_be_stored_comes_again() {
    let desk = Desk::new();
    let store = Arc::new(TroubledStore::new(desk.engine.store().clone(), "ingest", [Trouble::Fails]));
    let engine = Engine::new(store, Providers::all(network(true, true)), desk.clock.clone(), impatient());
    let pages = Pages::of([Ok(page(&[row("A")], Some("2"))), Ok(page(&[row("A")], Some("2")))]);
    let from = from(pages.clone());

    let failed = engine.pull_once(&from).await.unwrap();
    desk.clock.advance(TimeDelta::seconds(60));
    let again = engine.pull_once(&from).await.unwrap();

    assert!(matches!(failed, Pulled::Failed(_)), "{failed:?}");
    assert_eq!(again, Pulled::Pages { pages: 2, report: created(1) });
    assert_eq!(pages.asked(), [None, None, Some("2".to_owned())]);
}
