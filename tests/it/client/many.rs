//! `avert alerts resolve --from FILE`: each decision sent once, what became of each told and kept, and gone on with
//! after whatever ended it.

use std::{
    path::{Path, PathBuf},
    process::{Output, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use avert::domain::AlertId;
use rstest::rstest;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::foreign::{open, resolved};
use crate::support::{
    binary::{avert, run, run_ok},
    raw_server::{Asked, Play, RawServer},
    terminal::Terminal,
};

/// A deployment with some alerts, and how it answers to a decision on each.
pub struct Place {
    pub server: RawServer,
    pub ids: Vec<AlertId>,
    /// Alerts that were decided.
    decided: Arc<Mutex<Vec<AlertId>>>,
    /// What else an alert is called.
    names: Arc<Mutex<Vec<(String, AlertId)>>>,
    /// Whether nothing can be listed.
    lists_fail: Arc<AtomicBool>,
    pub home: TempDir,
}

/// How a decision goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goes {
    Well,
    Refused(u16, &'static str),
    /// It lands, and its answer never comes.
    Lost,
    /// It lands, and a gateway answers in its place.
    Found,
    /// Something on the way sends it twice, and what is heard is the answer to the second.
    Twice,
    /// Another decision is first.
    Overtaken,
    /// The alert cannot even be read.
    Away,
    /// Its network asks for no answer.
    Notice,
    /// Its window has closed.
    Closed,
    /// It has a reference that this deployment cannot be searched by.
    Referenced,
}

impl Place {
    pub async fn with(ways: &[Goes]) -> Self {
        let ids: Vec<AlertId> = ways.iter().map(|_| AlertId::generate()).collect();
        let decided = Arc::<Mutex<Vec<AlertId>>>::default();
        let (known, ways, landed) = (ids.clone(), ways.to_vec(), Arc::clone(&decided));
        let names = Arc::<Mutex<Vec<(String, AlertId)>>>::default();
        let called = Arc::clone(&names);
        let lists_fail = Arc::<AtomicBool>::default();
        let fails = Arc::clone(&lists_fail);
        let plan = move |asked: &Asked, before: &[Asked]| {
            if asked.path() == "/api/v1/alerts" && fails.load(Ordering::SeqCst) {
                return Play::json(500, &json!({"detail": "its words"}));
            }
            if asked.path() == "/api/v1/alerts" {
                let called = called.lock().unwrap();
                let named = |(name, id): &(String, AlertId)| {
                    let mut alert = open(*id);
                    alert["providerId"] = json!(name);
                    alert
                };
                let found: Vec<Value> = called.iter().map(named).collect();
                return Play::json(200, &json!({"data": found, "total": found.len()}));
            }
            let Some(at) = known.iter().position(|id| asked.path().contains(&id.to_string())) else {
                return Play::json(404, &json!({"code": "alert_not_found"}));
            };
            let mut landed = landed.lock().unwrap();
            let as_it_is = |landed: &[AlertId]| match landed.contains(&known[at]) {
                true => {
                    // As it was sent, or by somebody else.
                    let is_of_it = |sent: &&Asked| sent.method == "PUT" && sent.path() == asked.path();
                    let sent = std::iter::once(asked).chain(before.iter().rev()).find(is_of_it);
                    let body =
                        sent.and_then(|sent| serde_json::from_slice::<Value>(&sent.body).ok()).unwrap_or_default();
                    let contrary = ways[at] == Goes::Overtaken;
                    let refunded =
                        if (body["refunded"] == "NOT REFUNDED") != contrary { "not refunded" } else { "refunded" };
                    let mut alert = resolved(known[at], refunded, "of its own", "");
                    // When it was is not told: the binary's clock is the machine's own.
                    alert["outcome"]["actionTimestamp"] = Value::Null;
                    alert
                }
                false => {
                    let mut alert = open(known[at]);
                    let known = match ways[at] {
                        Goes::Notice => json!({"type": "VERIFI_FRAUD_NOTICE", "provider": "VERIFI"}),
                        Goes::Closed => {
                            json!({"status": "EXPIRED", "hoursLeft": 0, "expiredAt": "2026-03-01T10:00:00.000Z"})
                        }
                        Goes::Referenced => {
                            json!({"acquirerReferenceNumber": "74537605259536043849425", "cardLastFour": "1111",
                                "amount": 9.0, "currency": "EUR"})
                        }
                        _ => json!({}),
                    };
                    alert.as_object_mut().unwrap().extend(known.as_object().unwrap().clone());
                    alert
                }
            };
            match (asked.method.as_str(), ways[at]) {
                ("PUT", Goes::Refused(status, code)) => {
                    Play::json(status, &json!({"code": code, "detail": "its words"}))
                }
                (_, Goes::Away) => Play::json(503, &json!({"detail": "its words"})),
                ("PUT", Goes::Lost) => {
                    landed.push(known[at]);
                    Play::Hang
                }
                ("PUT", Goes::Found) => {
                    landed.push(known[at]);
                    Play::json(502, &json!({}))
                }
                ("PUT", Goes::Twice | Goes::Overtaken) => {
                    landed.push(known[at]);
                    Play::json(409, &json!({"code": "alert_already_resolved"}))
                }
                ("PUT", Goes::Well | Goes::Notice | Goes::Closed | Goes::Referenced) => {
                    landed.push(known[at]);
                    Play::json(200, &as_it_is(&landed))
                }
                _ => Play::json(200, &as_it_is(&landed)),
            }
        };
        Self {
            server: RawServer::start(plan).await,
            ids,
            decided,
            names,
            lists_fail,
            home: tempfile::tempdir().unwrap(),
        }
    }

    /// From now on the deployment has an outcome for this alert.
    pub fn decided_elsewhere(&self, at: usize) {
        self.decided.lock().unwrap().push(self.ids[at]);
    }

    /// From now on nothing can be listed.
    pub fn fail_lists(&self) {
        self.lists_fail.store(true, Ordering::SeqCst);
    }

    /// From now on an alert is found by this id of its network too.
    fn known_as(&self, name: &str, id: AlertId) {
        self.names.lock().unwrap().push((name.to_owned(), id));
    }

    /// A file with a row for each alert, all refunded.
    pub fn file(&self) -> PathBuf {
        let rows: String = self.ids.iter().map(|id| format!("{id},REFUNDED\n")).collect();
        self.written("rows.csv", &format!("id,refunded\n{rows}"))
    }

    pub fn written(&self, name: &str, text: &str) -> PathBuf {
        let file = self.home.path().join(name);
        std::fs::write(&file, text).unwrap();
        file
    }

    fn command(&self, file: &Path, flags: &[&str]) -> std::process::Command {
        let url = self.server.url();
        let mut command =
            avert(self.home.path(), &["alerts", "resolve", "--from", file.to_str().unwrap(), "--url", &url]);
        command.args(flags).env("AVERT_API_KEY", "avk_test_1_s3cret");
        command
    }

    pub fn resolve(&self, file: &Path, flags: &[&str]) -> Output {
        self.command(file, flags).output().unwrap()
    }

    pub fn puts(&self) -> usize {
        self.server.count("PUT")
    }
}

/// What is said of one whose answer did not come, and that is found answered as it says.
const FOUND: &str = "found out by reading: answered as decided; by whom is not known";

/// Line, result and reason of each line of the answer.
pub fn told(output: &Output) -> Vec<(u64, String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let lines = String::from_utf8(output.stdout.clone()).unwrap();
    let records = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    records.map(|record| (record["line"].as_u64().unwrap(), text(&record["result"]), text(&record["reason"]))).collect()
}

pub fn results(output: &Output) -> Vec<(u64, String)> {
    told(output).into_iter().map(|(line, result, _)| (line, result)).collect()
}

pub fn expected(rows: &[(u64, &str)]) -> Vec<(u64, String)> {
    rows.iter().map(|(line, result)| (*line, (*result).to_owned())).collect()
}

pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_row_is_decided_once_and_told_with_its_own_line() {
    let place = Place::with(&[
        Goes::Well,
        Goes::Refused(409, "resolution_in_progress"),
        Goes::Refused(400, "provider_failed"),
        Goes::Refused(400, "invalid_resolution"),
        Goes::Well,
    ])
    .await;

    let output = place.resolve(&place.file(), &["--yes"]);

    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let all = [(2, "recorded"), (3, "conflict"), (4, "failed"), (5, "refused"), (6, "recorded")];
    assert_eq!(results(&output), expected(&all));
    assert!(said(&output).contains("2 of 5 recorded, 1 conflict, 1 refused, 1 failed"), "{}", said(&output));
    let sent: Vec<Asked> = place.server.asked().into_iter().filter(|asked| asked.method == "PUT").collect();
    assert!(sent.len() == 5 && sent.iter().all(|put| put.body == br#"{"refunded":"REFUNDED"}"#), "{sent:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_recorded_is_a_success_and_gone_on_with_it_repeats_none() {
    let place = Place::with(&[Goes::Well, Goes::Well]).await;
    let file = place.file();

    let (first, again) = (place.resolve(&file, &["--yes"]), place.resolve(&file, &["--yes", "--resume"]));

    assert_eq!((first.status.code(), again.status.code()), (Some(0), Some(0)), "{} {}", said(&first), said(&again));
    assert_eq!(results(&first), expected(&[(2, "recorded"), (3, "recorded")]));
    assert!(
        told(&again).iter().all(|(_, result, reason)| (result.as_str(), reason.as_str()) == ("recorded", "earlier")),
        "{again:?}"
    );
    assert_eq!(place.puts(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_failed_is_tried_again_when_it_is_gone_on_with_and_a_second_run_by_accident_is_refused() {
    let place = Place::with(&[Goes::Well, Goes::Refused(400, "provider_failed")]).await;
    let file = place.file();
    place.resolve(&file, &["--yes"]);

    let (by_accident, again) = (place.resolve(&file, &["--yes"]), place.resolve(&file, &["--yes", "--resume"]));

    assert_eq!(by_accident.status.code(), Some(2), "{}", said(&by_accident));
    assert!(said(&by_accident).contains("--resume goes on with it"), "{}", said(&by_accident));
    assert_eq!(results(&again), expected(&[(2, "recorded"), (3, "failed")]));
    assert_eq!(place.puts(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_one_ends_with_6_and_is_read_and_never_sent_again() {
    let place = Place::with(&[Goes::Refused(400, "provider_outcome_unknown"), Goes::Well]).await;
    let file = place.file();

    let first = place.resolve(&file, &["--yes"]);
    let still = place.resolve(&file, &["--yes", "--resume"]);
    place.decided.lock().unwrap().push(place.ids[0]);
    let landed = place.resolve(&file, &["--yes", "--resume"]);

    assert_eq!(
        (first.status.code(), still.status.code(), landed.status.code()),
        (Some(6), Some(6), Some(0)),
        "{}",
        said(&landed)
    );
    assert_eq!(results(&still), expected(&[(2, "unknown"), (3, "recorded")]));
    assert_eq!(told(&landed)[0], (2, "asDecided".to_owned(), FOUND.to_owned()));
    assert_eq!(place.puts(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_killed_between_a_decision_and_its_answer_finds_out_by_reading() {
    let place = Place::with(&[Goes::Lost, Goes::Well]).await;
    let file = place.file();
    let mut killed = place.command(&file, &["--yes"]).stdout(Stdio::null()).spawn().unwrap();
    while place.puts() == 0 {
        tokio::task::yield_now().await;
    }
    killed.kill().unwrap();
    killed.wait().unwrap();

    let again = place.resolve(&file, &["--yes", "--resume"]);

    assert_eq!(again.status.code(), Some(0), "{}", said(&again));
    assert_eq!(told(&again)[0], (2, "asDecided".to_owned(), FOUND.to_owned()));
    assert_eq!(place.puts(), 2, "one for each alert");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_alert_that_another_line_may_have_decided_is_not_decided_again() {
    let place = Place::with(&[Goes::Refused(400, "provider_outcome_unknown")]).await;
    let id = place.ids[0];
    // The first name is not found at first, so that the second one is what decides.
    let file = place.written(
        "rows.ndjson",
        &format!("{{\"id\":\"later\",\"refunded\":\"REFUNDED\"}}\n{{\"id\":\"{id}\",\"refunded\":\"REFUNDED\"}}\n"),
    );
    let first = place.resolve(&file, &["--yes"]);
    place.known_as("later", id);

    let again = place.resolve(&file, &["--yes", "--resume"]);

    assert_eq!(
        (results(&first), first.status.code()),
        (expected(&[(1, "refused"), (2, "unknown")]), Some(6)),
        "{}",
        said(&first)
    );
    assert_eq!(
        told(&again)[0],
        (1, "skipped".to_owned(), "the same alert as in line 2".to_owned()),
        "{}",
        said(&again)
    );
    assert_eq!(place.puts(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn results_of_another_deployment_are_not_gone_on_with() {
    let (rehearsal, production) = (Place::with(&[Goes::Well]).await, Place::with(&[Goes::Well]).await);
    let file = rehearsal.file();
    rehearsal.resolve(&file, &["--yes"]);

    let refused = production.resolve(&file, &["--yes", "--resume"]);

    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    assert!(
        said(&refused).contains(&rehearsal.server.url()) && said(&refused).contains(&production.server.url()),
        "{}",
        said(&refused)
    );
    assert_eq!(production.puts(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_of_decisions_alone_ends_the_run_too() {
    let place = Place::with(&[Goes::Refused(502, ""); 5]).await;

    let output = place.resolve(&place.file(), &["--yes"]);

    let all = [(2, "unknown"), (3, "unknown"), (4, "unknown"), (5, "skipped"), (6, "skipped")];
    assert_eq!((results(&output), output.status.code()), (expected(&all), Some(6)), "{}", said(&output));
    assert_eq!(place.puts(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_left_when_it_left_however_often_it_was_looked_for() {
    let place = Place::with(&[Goes::Refused(400, "provider_outcome_unknown")]).await;
    let file = place.file();
    place.resolve(&file, &["--yes"]);
    let left = || {
        let text = std::fs::read_to_string(place.home.path().join("rows.csv.results")).unwrap();
        text.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap()["at"].clone()).collect::<Vec<_>>()
    };
    let first = left()[0].clone();

    place.resolve(&file, &["--yes", "--resume"]);

    let moments = left();
    assert!(moments.len() == 3 && moments.iter().all(|at| *at == first), "{moments:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_sends_nothing_keeps_nothing_and_says_what_would_not_be_sent() {
    let place = Place::with(&[Goes::Well, Goes::Well, Goes::Well]).await;
    place.decided.lock().unwrap().push(place.ids[1]);
    let [good, answered, wrong] = [0, 1, 2].map(|at| place.ids[at]);
    let rows = format!(
        "id,refunded,comments\n{good},REFUNDED,\n{answered},REFUNDED,\n{wrong},MAYBE,\n{good},REFUNDED,\nnobody,\
            REFUNDED,\n"
    );
    let file = place.written("rows.csv", &rows);
    let well = place.written("well.csv", &format!("id,refunded\n{good},REFUNDED\n"));

    let (output, all_good) = (place.resolve(&file, &["--dry-run"]), place.resolve(&well, &["--dry-run"]));

    let all = [(2, "skipped"), (3, "conflict"), (4, "refused"), (5, "skipped"), (6, "refused")];
    assert_eq!(results(&output), expected(&all), "{}", said(&output));
    assert!(
        told(&output)[0].2.contains("would be sent") && told(&output)[3].2.contains("line 2"),
        "{:?}",
        told(&output)
    );
    assert_eq!((output.status.code(), all_good.status.code()), (Some(1), Some(0)), "{}", said(&all_good));
    assert_eq!(place.puts(), 0);
    assert!(!place.home.path().join("rows.csv.results").exists());
}

#[rstest]
#[case::a_notice(Goes::Notice, "a notice (Fraud notice): no answer is asked for")]
#[case::a_closed_window(Goes::Closed, "the window has closed, 2026-03-01T10:00:00.000Z")]
#[tokio::test(flavor = "multi_thread")]
async fn what_an_answer_may_not_count_for_is_left_to_its_own_command_which_warns_and_sends(
    #[case] goes: Goes,
    #[case] words: &str,
) {
    let place = Place::with(&[goes, Goes::Well]).await;
    let [left, well] = [0, 1].map(|at| place.ids[at]);
    let file = place.written("rows.csv", &format!("id,refunded\n{left},NOT REFUNDED\n{well},NOT REFUNDED\n"));

    let (rehearsed, sent) = (place.resolve(&file, &["--dry-run"]), place.resolve(&file, &["--yes"]));
    let puts = place.puts();
    let (id, url) = (left.to_string(), place.server.url());
    let mut alone =
        avert(place.home.path(), &["alerts", "resolve", &id, "--refunded", "not-refunded", "--yes", "--url", &url]);
    let alone = alone.env("AVERT_API_KEY", "avk_test_1_s3cret").output().unwrap();

    assert_eq!(results(&rehearsed), expected(&[(2, "skipped"), (3, "skipped")]), "{}", said(&rehearsed));
    assert_eq!((results(&sent), puts), (expected(&[(2, "skipped"), (3, "recorded")]), 1), "{}", said(&sent));
    for reason in [&told(&rehearsed)[0].2, &told(&sent)[0].2] {
        assert!(reason.starts_with(words) && reason.contains("decide it by itself"), "{reason}");
    }
    assert_eq!((rehearsed.status.code(), sent.status.code()), (Some(1), Some(1)), "{}", said(&sent));
    assert!(said(&alone).contains(&format!("warning: {words}")), "{}", said(&alone));
    assert_eq!(place.puts(), 2, "the command for one alert sends it");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_refund_could_not_be_compared_by_is_said_in_its_row() {
    let place = Place::with(&[Goes::Referenced, Goes::Referenced]).await;
    let [refunded, declined] = [0, 1].map(|at| place.ids[at]);
    let file = place.written("rows.csv", &format!("id,refunded\n{refunded},REFUNDED\n{declined},NOT REFUNDED\n"));

    let (rehearsed, sent) = (place.resolve(&file, &["--dry-run"]), place.resolve(&file, &["--yes"]));

    let words = "ARN not checked: not searchable here";
    assert_eq!(told(&rehearsed)[0].2, format!("dry run: would be sent; {words}"), "{}", said(&rehearsed));
    assert_eq!(told(&sent)[0], (2, "recorded".to_owned(), words.to_owned()), "{}", said(&sent));
    assert_eq!(
        (told(&rehearsed)[1].2.as_str(), told(&sent)[1].2.as_str()),
        ("dry run: would be sent", ""),
        "no money goes back"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_was_changed_since_is_not_gone_on_with() {
    let place = Place::with(&[Goes::Well, Goes::Well]).await;
    let file = place.file();
    place.resolve(&file, &["--yes"]);
    place.written("rows.csv", &format!("id,refunded\n{},REFUNDED\n{},NOT REFUNDED\n", place.ids[0], place.ids[1]));

    let again = place.resolve(&file, &["--yes", "--resume"]);

    assert_eq!(again.status.code(), Some(2), "{}", said(&again));
    assert!(said(&again).contains("line 3 is another one"), "{}", said(&again));
    assert_eq!(place.puts(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_right_to_decide_the_rest_is_left_out_and_it_ends_with_5() {
    let place = Place::with(&[Goes::Refused(403, "not_authorized"), Goes::Well]).await;

    let output = place.resolve(&place.file(), &["--yes"]);

    assert_eq!(output.status.code(), Some(5), "{}", said(&output));
    assert_eq!(results(&output), expected(&[(2, "refused"), (3, "skipped")]));
    assert_eq!(place.puts(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deployment_that_is_away_three_times_in_a_row_is_asked_no_more_and_the_rest_can_be_gone_on_with() {
    use Goes::{Away, Well};
    let place = Place::with(&[Away, Away, Well, Away, Away, Away, Well]).await;

    let output = place.resolve(&place.file(), &["--yes"]);

    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let rows = ["failed", "failed", "recorded", "failed", "failed", "failed", "skipped"];
    assert_eq!(results(&output), expected(&(2..).zip(rows).collect::<Vec<_>>()));
    assert!(said(&output).contains("its words") && said(&output).contains("1 of 7 recorded"), "{}", said(&output));
    assert_eq!(place.puts(), 1);
}

#[rstest]
#[case(&["--from", "FILE"], "--yes")]
#[case(&["--from", "/nowhere/rows.csv", "--yes"], "cannot be read")]
#[case(&["--from", "EMPTY", "--yes"], "holds no decision")]
#[case(&["--from", "FILE", "--refunded", "refunded"], "cannot be used with")]
#[case(&["--dry-run"], "--from")]
#[case(&["--refunded", "refunded"], "<ID>")]
#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_meant_is_refused_and_nothing_is_sent(#[case] flags: &[&str], #[case] words: &str) {
    let place = Place::with(&[Goes::Well]).await;
    let (file, empty) = (place.file(), place.written("empty.csv", "\n"));
    let flags: Vec<&str> = flags
        .iter()
        .map(|flag| match *flag {
            "FILE" => file.to_str().unwrap(),
            "EMPTY" => empty.to_str().unwrap(),
            flag => flag,
        })
        .collect();
    let mut command = avert(place.home.path(), &["alerts", "resolve", "--url", &place.server.url()]);

    let output = command.args(flags).env("AVERT_API_KEY", "k").output().unwrap();

    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains(words), "{}", said(&output));
    assert_eq!(place.puts(), 0);
}

#[test]
fn this_machines_own_alerts_are_decided_by_their_networks_ids_and_are_on_record() {
    let home = tempfile::tempdir().unwrap();
    let alert = |provider_id: &str| {
        json!({"providerId": provider_id, "provider": "CDRN", "type": "VERIFI_DISPUTE",
        "amount": "1.00", "currency": "EUR", "hoursLeft": 9})
    };
    let alerts = home.path().join("alerts.ndjson");
    std::fs::write(&alerts, format!("{}\n{}\n", alert("N-1"), alert("N-2"))).unwrap();
    run_ok(home.path(), &["import", alerts.to_str().unwrap()]);
    let row = |provider_id: &str, more: Value| {
        let mut row = json!({"provider": "cdrn", "providerId": provider_id});
        row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        row
    };
    let rows = home.path().join("rows.ndjson");
    let invalid =
        row("N-2", json!({"refunded": "INVALID", "resolution": "NOT_REFUNDED_DUPLICATE", "comments": "twice"}));
    std::fs::write(&rows, format!("{}\n{invalid}\n", row("N-1", json!({"refunded": "not-refunded"})))).unwrap();

    let output =
        run(home.path(), &["alerts", "resolve", "--from", rows.to_str().unwrap(), "--yes", "--output", "json"]);

    assert!(output.status.success(), "{}", said(&output));
    let array: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&array[0]["line"], &array[1]["result"], &array[1]["reason"]),
        (&json!(1), &json!("recorded"), &Value::Null)
    );
    let shown = |id: &str| {
        serde_json::from_str::<Value>(&run_ok(home.path(), &["alerts", "show", id, "--output", "json"])).unwrap()
    };
    assert_eq!(
        (&shown("N-1")["status"], &shown("N-2")["outcome"]["comments"]),
        (&json!("CHARGEBACK"), &json!("twice"))
    );
}

/// Two alerts on one payment, of CDRN and of VERIFI, on this machine's own engine.
fn two_on_one_payment() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let alert = |provider: &str, id: &str| {
        json!({"providerId": id, "provider": provider, "type": "VERIFI_DISPUTE", "amount": "9.00", "currency": "EUR",
            "hoursLeft": 9,
               "acquirerReferenceNumber": "74537605259536043849425", "cardBin": "411111", "cardLastFour": "1111"})
    };
    let alerts = home.path().join("alerts.ndjson");
    std::fs::write(&alerts, format!("{}\n{}\n", alert("CDRN", "C-1"), alert("VERIFI", "V-1"))).unwrap();
    run_ok(home.path(), &["import", alerts.to_str().unwrap()]);
    home
}

#[rstest]
#[case::of_a_refund("refunded", "not sent: possible double refund: CDRN C-1 is refunded")]
#[case::of_another_answer("not-refunded", "not sent: same payment: CDRN C-1 is refunded")]
fn a_refund_of_the_same_payment_while_the_question_stands_is_found_right_before_sending(
    #[case] answer: &str,
    #[case] says: &str,
) {
    let home = two_on_one_payment();
    let command = ["alerts", "resolve", "V-1", "--refunded", answer];
    let mut terminal = Terminal::start(home.path(), &command, 120, 40);
    terminal.wait_for("Send it? [y/N]");
    run_ok(home.path(), &["alerts", "resolve", "C-1", "--refunded", "refunded", "--yes"]);

    terminal.press("y\r");

    terminal.wait_for(says);
    assert_eq!(terminal.wait_exit().0, 1);
    let alert: Value =
        serde_json::from_str(&run_ok(home.path(), &["alerts", "show", "V-1", "--output", "json"])).unwrap();
    assert_eq!(alert["outcome"], Value::Null);
}

#[test]
fn one_payment_is_not_refunded_twice_by_a_file_and_a_refund_of_ones_own_is_warned_of() {
    let home = two_on_one_payment();
    let rows = home.path().join("rows.csv");
    std::fs::write(&rows, "provider,providerId,refunded\nCDRN,C-1,REFUNDED\nVERIFI,V-1,REFUNDED\n").unwrap();
    let from = ["alerts", "resolve", "--from", rows.to_str().unwrap()];

    let rehearsed = run(home.path(), &[&from[..], &["--dry-run"]].concat());
    let sent = run(home.path(), &[&from[..], &["--yes"]].concat());
    let alone = run(home.path(), &["alerts", "resolve", "V-1", "--refunded", "refunded", "--yes"]);

    assert_eq!(results(&rehearsed), expected(&[(2, "skipped"), (3, "refused")]), "{}", said(&rehearsed));
    assert_eq!(results(&sent), expected(&[(2, "recorded"), (3, "refused")]), "{}", said(&sent));
    assert!(told(&sent)[1].2.contains("possible double refund: CDRN C-1 is refunded"), "{:?}", told(&sent));
    assert!(
        alone.status.success() && said(&alone).contains("warning: possible double refund: CDRN C-1 is refunded"),
        "{}",
        said(&alone)
    );
}
