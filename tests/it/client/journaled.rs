//! What `avert alerts resolve` writes into the desk's journal, as a console of the desk does, and what it says of an
//! outcome that it found.

use std::{
    path::PathBuf,
    process::{Output, Stdio},
};

use rstest::rstest;
use serde_json::{Value, json};

use super::many::{Goes, Place, expected, results, said, told};
use crate::support::{
    binary::avert,
    journal::{break_journal, journal_text, on_a_full_disk},
};

const FOUND: &str = "answered as decided; by whom is not known";

impl Place {
    /// A command of ana's at this deployment.
    fn by_ana(&self, arguments: &[&str]) -> std::process::Command {
        let mut command = avert(self.home.path(), &[arguments, &["--url", &self.server.url()]].concat());
        command.env("AVERT_API_KEY", "avk_test_1_s3cret").env("AVERT_USER", "ana");
        command
    }

    /// Refunds the first alert by itself.
    fn refund_one(&self) -> Output {
        self.refunding_one().output().unwrap()
    }

    fn refunding_one(&self) -> std::process::Command {
        self.by_ana(&[
            "alerts",
            "resolve",
            &self.ids[0].to_string(),
            "--refunded",
            "refunded",
            "--yes",
            "--output",
            "json",
        ])
    }

    /// What the journal of the desk tells.
    fn exported(&self, flags: &[&str]) -> Vec<Value> {
        let output = self.by_ana(&[&["journal", "export", "--output", "json"], flags].concat()).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        serde_json::from_slice::<Value>(&output.stdout).unwrap().as_array().unwrap().clone()
    }

    fn fates(&self, flags: &[&str]) -> Vec<String> {
        self.exported(flags).iter().map(|record| record["fate"].as_str().unwrap().to_owned()).collect()
    }

    /// How a console on it is called, and the directory of its desk.
    fn desk(&self) -> (String, PathBuf) {
        let host = self.server.url().trim_start_matches("http://").to_owned();
        let desk = self.home.path().join("desk/hosts").join(host.replace(':', "_"));
        (host, desk)
    }
}

#[rstest]
#[case::recorded(Goes::Well, 0, "recorded", "", false)]
#[case::refused(Goes::Refused(400, "provider_failed"), 1, "refused", "not taken: its words", true)]
#[case::not_taken(Goes::Refused(429, ""), 1, "refused", "the service refused: ", true)]
#[case::unknown(Goes::Refused(400, "provider_outcome_unknown"), 6, "unknown", "its words", true)]
#[case::found(Goes::Found, 0, "asDecided", "", false)]
#[case::sent_twice(Goes::Twice, 0, "asDecided", "", false)]
#[case::overtaken(Goes::Overtaken, 4, "overtaken", "", false)]
#[tokio::test(flavor = "multi_thread")]
async fn one_decision_is_in_the_journal_with_who_made_it_and_what_became_of_it(
    #[case] goes: Goes,
    #[case] code: i32,
    #[case] fate: &str,
    #[case] reason: &str,
    #[case] needs_somebody: bool,
) {
    let place = Place::with(&[goes]).await;

    let output = place.refund_one();

    assert_eq!(output.status.code(), Some(code), "{}", said(&output));
    let all = place.exported(&[]);
    let [record] = all.as_slice() else { panic!("{all:?}") };
    let says = ["alertId", "user", "place", "refunded", "fate"].map(|name| record[name].as_str().unwrap());
    assert_eq!(says, [place.ids[0].to_string().as_str(), "ana", &place.desk().0, "REFUNDED", fate]);
    assert!(record["reason"].as_str().unwrap_or_default().contains(reason), "{record}");
    assert!(record["sentAt"].is_string() && record["run"].is_null() && record["unlooked"].is_null(), "{record}");
    assert_eq!(place.exported(&["--open"]).len(), usize::from(needs_somebody));
    let put = place.server.asked().into_iter().find(|asked| asked.method == "PUT").unwrap();
    assert_eq!(record["decision"], put.header("idempotency-key"), "it goes by what the service knows it by");
}

#[rstest]
#[case(Goes::Well, "recorded")]
#[case(Goes::Found, "asDecided")]
#[case(Goes::Twice, "asDecided")]
#[tokio::test(flavor = "multi_thread")]
async fn the_answer_says_whether_the_outcome_is_known_to_be_ones_own(#[case] goes: Goes, #[case] result: &str) {
    let place = Place::with(&[goes]).await;

    let output = place.refund_one();

    let alert: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&alert["result"], &alert["status"]), (&json!(result), &json!("RESOLVED")));
    assert_eq!(said(&output).contains(FOUND), result == "asDecided", "{}", said(&output));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refund_that_doubles_could_not_be_looked_for_says_so_in_the_journal() {
    let place = Place::with(&[Goes::Referenced]).await;
    place.fail_lists();

    let output = place.refund_one();

    assert!(output.status.success() && said(&output).contains("could not be looked for"), "{}", said(&output));
    let all = place.exported(&[]);
    assert!(all[0]["unlooked"].as_str().is_some_and(|why| why.contains("its words")), "{all:?}");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_is_asked_to_end_leaves_its_decision_as_not_known() {
    let place = Place::with(&[Goes::Lost]).await;
    let id = place.ids[0].to_string();
    let mut command = place.by_ana(&["alerts", "resolve", &id, "--refunded", "refunded", "--yes"]);
    let mut asked = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while place.puts() == 0 {
        tokio::task::yield_now().await;
    }

    std::process::Command::new("kill").args(["-TERM", &asked.id().to_string()]).status().unwrap();
    asked.wait().unwrap();

    let open = place.exported(&["--open"]);
    assert_eq!(
        (&open[0]["fate"], &open[0]["reason"]),
        (&json!("unknown"), &json!("SIGTERM ended the command before its answer came"))
    );
}

#[cfg(unix)]
#[rstest]
#[case("INT", 130)]
#[case("TERM", 143)]
#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_asked_to_end_tells_the_row_whose_answer_it_did_not_wait_for(
    #[case] signal: &str,
    #[case] code: i32,
) {
    let place = Place::with(&[Goes::Lost, Goes::Lost]).await;
    let rows = place.ids.iter().map(|id| format!("{id},NOT REFUNDED\n")).collect::<String>();
    let file = place.written("rows.csv", &format!("id,refunded\n{rows}"));
    let mut command = place.by_ana(&["alerts", "resolve", "--from", file.to_str().unwrap(), "--yes"]);
    let asked = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while place.puts() == 0 {
        tokio::task::yield_now().await;
    }

    std::process::Command::new("kill").args([&format!("-{signal}"), &asked.id().to_string()]).status().unwrap();
    let ended = asked.wait_with_output().unwrap();

    assert_eq!(results(&ended), expected(&[(2, "unknown"), (3, "skipped")]), "{}", said(&ended));
    let (_, _, reason) = &told(&ended)[0];
    assert!(reason.contains(&format!("SIG{signal} ended the run before its answer came")), "{reason}");
    assert!(reason.contains("--resume"), "{reason}");
    assert_eq!((ended.status.code(), place.puts()), (Some(code), 1));
    assert_eq!(place.exported(&["--open"])[0]["fate"], json!("unknown"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_decisions_is_a_run_in_the_journal_and_to_go_on_repeats_none() {
    let ways = [
        Goes::Well,
        Goes::Refused(400, "provider_failed"),
        Goes::Refused(400, "provider_outcome_unknown"),
        Goes::Found,
    ];
    let place = Place::with(&ways).await;
    let file = place.file();

    let first = place.by_ana(&["alerts", "resolve", "--from", file.to_str().unwrap(), "--yes"]).output().unwrap();
    let before = place.exported(&[]);
    place.decided_elsewhere(2);
    let again =
        place.by_ana(&["alerts", "resolve", "--from", file.to_str().unwrap(), "--yes", "--resume"]).output().unwrap();

    let all = [(2, "recorded"), (3, "failed"), (4, "unknown"), (5, "asDecided")];
    assert_eq!((results(&first), first.status.code()), (expected(&all), Some(6)), "{}", said(&first));
    assert!(told(&first)[3].2.starts_with(FOUND), "{:?}", told(&first));
    assert!(said(&first).contains("1 of 4 recorded, 1 asDecided, 1 failed, 1 unknown; "), "{}", said(&first));
    let says = |name: &str| {
        before.iter().map(|record| record[name].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(says("fate"), ["recorded", "refused", "unknown", "asDecided"]);
    let run = before[0]["decision"].as_str().unwrap();
    assert!(
        says("run").iter().all(|first| first == run) && says("user").iter().all(|user| user == "ana"),
        "{before:?}"
    );
    let all = [(2, "recorded"), (3, "failed"), (4, "asDecided"), (5, "asDecided")];
    assert_eq!(results(&again), expected(&all), "{}", said(&again));
    assert_eq!(
        (told(&again)[2].2.clone(), told(&again)[3].2.as_str()),
        (format!("found out by reading: {FOUND}"), "earlier")
    );
    assert_eq!(
        place.fates(&[]),
        ["recorded", "refused", "asDecided", "asDecided", "refused"],
        "only what had failed was tried again"
    );
    assert_eq!(place.fates(&["--open"]), ["refused"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_found_out_before_it_is_gone_on_with_is_not_told_again() {
    let place = Place::with(&[Goes::Refused(400, "provider_outcome_unknown")]).await;
    let file = place.file();
    place.resolve(&file, &["--yes"]);
    place.decided_elsewhere(0);
    let results_file = place.home.path().join("rows.csv.results");
    let unknown = std::fs::read(&results_file).unwrap();
    let lines = || journal_text(&place.desk().1).lines().count();

    place.resolve(&file, &["--yes", "--resume"]);
    let found = lines();
    std::fs::write(&results_file, unknown).unwrap();
    let again = place.resolve(&file, &["--yes", "--resume"]);

    assert_eq!((results(&again), found, lines()), (expected(&[(2, "asDecided")]), 4, 4), "{}", said(&again));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_writes_nothing_into_the_journal() {
    let place = Place::with(&[Goes::Well]).await;

    let output = place.resolve(&place.file(), &["--dry-run"]);

    assert!(output.status.success(), "{}", said(&output));
    assert!(!place.home.path().join("desk").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_journal_that_cannot_be_written_is_told_once_and_keeps_no_answer_back() {
    let place = Place::with(&[Goes::Well, Goes::Well, Goes::Well]).await;
    break_journal(&place.desk().1);
    let rows = format!("id,refunded\n{},REFUNDED\n{},REFUNDED\n", place.ids[1], place.ids[2]);

    let one = place.refund_one();
    let many = place.resolve(&place.written("two.csv", &rows), &["--yes"]);

    let words = "journal.ndjson: cannot be written: ";
    for output in [&one, &many] {
        assert!(output.status.success(), "{}", said(output));
        assert_eq!(said(output).matches(words).count(), 1, "{}", said(output));
        assert!(
            said(output).contains("warning: ") && said(output).contains("Answers are sent all the same"),
            "{}",
            said(output)
        );
    }
    assert_eq!(place.puts(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_keeps_no_answer_back() {
    let place = Place::with(&[Goes::Well]).await;
    let command = place.refunding_one();

    let output = on_a_full_disk(&command).output().unwrap();

    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(said(&output).matches("journal.ndjson: cannot be written: ").count(), 1, "{}", said(&output));
    assert_eq!(place.puts(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_journal_that_cannot_be_read_is_warned_of_and_its_answer_sent() {
    let place = Place::with(&[Goes::Well]).await;
    std::fs::create_dir_all(place.desk().1.join("journal.ndjson")).unwrap();

    let output = place.refund_one();

    assert!(output.status.success(), "{}", said(&output));
    assert!(said(&output).contains("Answers are sent all the same"), "{}", said(&output));
}
