//! An export has all that the deployment counts, or ends with an error that says why not.

use std::{
    collections::HashSet,
    path::Path,
    process::Output,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use avert::domain::AlertId;
use rstest::rstest;
use serde_json::{Value, json};
use wiremock::{MockServer, Request, ResponseTemplate};

use super::foreign::{answer, listing, open};
use crate::support::{
    binary::avert,
    raw_server::{Play, RawServer},
    terminal::Terminal,
};

const SIZE: usize = 100;

/// A deployment whose list answers each page that is asked for with what `rows` gives of these alerts, and tells this
/// total.
async fn deployment(total: u64, rows: fn(&[Value], usize) -> Vec<Value>) -> MockServer {
    let server = MockServer::start().await;
    let all: Vec<Value> = (0..230).map(|_| open(AlertId::generate())).collect();
    let respond = move |request: &Request| -> ResponseTemplate {
        let page =
            request.url.query_pairs().find(|(name, _)| name == "page").map_or(0, |(_, page)| page.parse().unwrap());
        answer(200, &json!({"data": rows(&all, page), "total": total, "page": page, "size": SIZE}))
    };
    listing().respond_with(respond).mount(&server).await;
    server
}

fn page(all: &[Value], page: usize) -> Vec<Value> {
    all.iter().skip(page * SIZE).take(SIZE).cloned().collect()
}

fn export(server: &MockServer, output: &str) -> (Output, String) {
    let home = tempfile::tempdir().unwrap();
    let mut command = avert(home.path(), &["alerts", "export", "--output", output]);
    let output = command.env("AVERT_URL", server.uri()).env("AVERT_API_KEY", "avk_test_1_s3cret").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, said)
}

#[rstest]
#[case::as_it_should_be(230, page)]
#[case::more_than_it_counts(200, page)]
#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_can_be_read_to_its_end_is_exported(
    #[case] total: u64,
    #[case] rows: fn(&[Value], usize) -> Vec<Value>,
) {
    let (output, said) = export(&deployment(total, rows).await, "ndjson");

    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(
        (output.stdout.iter().filter(|byte| **byte == b'\n').count(), said.trim()),
        (230, "230 alerts exported")
    );
}

#[rstest]
#[case::numbered_from_1(230, |all: &[Value], number: usize| page(all, number.saturating_sub(1)), 100,
    "numbered them from 1")]
#[case::nothing_on_page_0(230, |all: &[Value], number: usize| if number == 0 { Vec::new() } else { page(all,
    number - 1) }, 0, "numbered them from 1")]
#[case::a_page_twice(230, |all: &[Value], number: usize| page(all, number.min(1)), 200, "its page 2 repeats")]
#[case::more_counted_than_given(400, page, 230, "counts 400 alerts and 230 could be read")]
#[case::one_that_is_none(230, |all: &[Value], number: usize| page(all,
    number).into_iter().skip(1).chain([json!({"id": 7})]).collect(), 227, "is empty already")]
#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_is_not_whole_ends_with_an_error_and_what_was_read(
    #[case] total: u64,
    #[case] rows: fn(&[Value], usize) -> Vec<Value>,
    #[case] read: usize,
    #[case] words: &str,
) {
    let (output, said) = export(&deployment(total, rows).await, "json");

    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("the list is not whole") && said.contains(words), "{said}");
    assert_eq!(
        serde_json::from_slice::<Vec<Value>>(&output.stdout).unwrap().len(),
        read,
        "what was read is well-formed JSON"
    );
}

/// Exports to a file in this folder.
fn export_to(home: &Path, url: &str, flags: &[&str]) -> Output {
    let file = home.join("alerts.out");
    let mut command = avert(home, &["alerts", "export", "--to", file.to_str().unwrap(), "--url", url]);
    command.args(flags).env("AVERT_API_KEY", "avk_test_1_s3cret").output().unwrap()
}

/// A deployment whose list breaks off at a page until it is mended; which pages were asked for.
async fn breaking(at: usize, mended: Arc<AtomicBool>) -> RawServer {
    let all: Vec<Value> = (0..430).map(|_| open(AlertId::generate())).collect();
    RawServer::start(move |asked, _| {
        let number: usize = asked.parameter("page").map_or(0, |page| page.parse().unwrap());
        if number == at && !mended.load(Ordering::SeqCst) {
            return Play::answer(500, &[], "");
        }
        Play::json(200, &json!({"data": page(&all, number), "total": all.len(), "page": number, "size": SIZE}))
    })
    .await
}

#[rstest]
#[case::ndjson("ndjson",
    |text: &str| text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].to_string()).collect())]
#[case::json("json",
    |text: &str| serde_json::from_str::<Vec<Value>>(text).unwrap().iter().map(|alert| alert["id"].to_string())
        .collect())]
#[case::csv("csv", |text: &str| text.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned()).collect())]
#[tokio::test(flavor = "multi_thread")]
async fn an_export_that_broke_off_is_gone_on_with_where_it_was(
    #[case] form: &str,
    #[case] ids: fn(&str) -> Vec<String>,
) {
    let (mended, home) = (Arc::<AtomicBool>::default(), tempfile::tempdir().unwrap());
    let server = breaking(3, Arc::clone(&mended)).await;
    let broken = export_to(home.path(), &server.url(), &["--output", form]);
    let by_accident = export_to(home.path(), &server.url(), &["--output", form]);
    let asked = server.asked().len();
    mended.store(true, Ordering::SeqCst);

    let resumed = export_to(home.path(), &server.url(), &["--output", form, "--resume"]);

    assert_eq!((broken.status.code(), by_accident.status.code()), (Some(1), Some(2)), "{broken:?} {by_accident:?}");
    assert!(String::from_utf8_lossy(&by_accident.stderr).contains("--resume goes on with it"), "{by_accident:?}");
    assert!(resumed.status.success(), "{resumed:?}");
    let pages: Vec<_> = server.asked()[asked..].iter().filter_map(|asked| asked.parameter("page")).collect();
    assert_eq!(pages, ["0", "1", "2", "3", "4"]);
    let written = ids(&std::fs::read_to_string(home.path().join("alerts.out")).unwrap());
    assert_eq!((written.len(), written.iter().collect::<HashSet<_>>().len()), (430, 430));
    assert!(!home.path().join("alerts.out.part").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_that_was_cut_anywhere_is_gone_on_with_and_no_alert_comes_twice() {
    let (mended, home) = (Arc::<AtomicBool>::default(), tempfile::tempdir().unwrap());
    let server = breaking(2, Arc::clone(&mended)).await;
    export_to(home.path(), &server.url(), &[]);
    mended.store(true, Ordering::SeqCst);
    let part = std::fs::read(home.path().join("alerts.out.part")).unwrap();

    for cut in [part.len() - 1, part.len() / 2, part.len() / 2 + 7, 60] {
        std::fs::write(home.path().join("alerts.out.part"), &part[..cut]).unwrap();

        let resumed = export_to(home.path(), &server.url(), &["--resume"]);

        assert!(resumed.status.success(), "cut at {cut}: {resumed:?}");
        let text = std::fs::read_to_string(home.path().join("alerts.out")).unwrap();
        let ids: HashSet<String> =
            text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].to_string()).collect();
        assert_eq!((text.lines().count(), ids.len()), (430, 430), "cut at {cut}");
        std::fs::remove_file(home.path().join("alerts.out")).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_of_something_else_and_a_file_that_is_there_are_refused() {
    let (mended, home) = (Arc::<AtomicBool>::default(), tempfile::tempdir().unwrap());
    let server = breaking(1, Arc::clone(&mended)).await;
    export_to(home.path(), &server.url(), &[]);
    mended.store(true, Ordering::SeqCst);

    let other = export_to(home.path(), &server.url(), &["--resume", "status:open"]);
    let done = export_to(home.path(), &server.url(), &["--resume"]);
    let again = export_to(home.path(), &server.url(), &[]);

    assert_eq!(
        (other.status.code(), done.status.code(), again.status.code()),
        (Some(2), Some(0), Some(2)),
        "{other:?} {done:?}"
    );
    assert!(String::from_utf8_lossy(&other.stderr).contains("an export of something else"), "{other:?}");
    assert!(String::from_utf8_lossy(&again.stderr).contains("is there already"), "{again:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_that_is_whole_already_is_done_and_asks_for_nothing() {
    let (mended, home) = (Arc::new(AtomicBool::new(true)), tempfile::tempdir().unwrap());
    let server = breaking(1, mended).await;
    export_to(home.path(), &server.url(), &[]);
    let (written, asked) = (std::fs::read(home.path().join("alerts.out")).unwrap(), server.asked().len());

    let again = export_to(home.path(), &server.url(), &["--resume"]);

    assert_eq!((again.status.code(), server.asked().len()), (Some(0), asked), "{again:?}");
    assert!(String::from_utf8_lossy(&again.stderr).contains("is there and whole"), "{again:?}");
    assert_eq!(std::fs::read(home.path().join("alerts.out")).unwrap(), written);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_text_of_the_console_is_taken_as_flags_are() {
    let server = RawServer::start(|_, _| Play::json(200, &json!({"data": [], "total": 0}))).await;
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let mut command = avert(home.path(), arguments);
        command.args(["--url", &server.url()]).env("AVERT_API_KEY", "k").output().unwrap()
    };

    let listed = run(&["alerts", "list", "status:open expires:6 shop", "--size", "5"]);
    let exported = run(&["alerts", "export", "provider:ethoca,verifi"]);

    assert!(listed.status.success() && exported.status.success(), "{listed:?} {exported:?}");
    let asked = server.asked();
    let told = |at: usize, names: &[&str]| {
        names.iter().map(|name| asked[at].parameter(name).unwrap_or_default()).collect::<Vec<_>>()
    };
    assert_eq!(told(0, &["status", "expiresIn", "q", "size"]), ["OPEN", "6", "shop", "5"]);
    assert_eq!((told(1, &["provider"]), asked.len()), (vec!["ETHOCA,VERIFI".to_owned()], 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_console_whose_export_breaks_off_leaves_no_file_and_says_how_far_it_came() {
    let server = MockServer::start().await;
    let all: Vec<Value> = (0..230).map(|_| open(AlertId::generate())).collect();
    let respond = move |request: &Request| -> ResponseTemplate {
        let page_of = |request: &Request| {
            request.url.query_pairs().find(|(name, _)| name == "page").map(|(_, page)| page.parse().unwrap())
        };
        match page_of(request).unwrap_or(0) {
            2.. => answer(500, &json!({"status": 500, "title": "out of order"})),
            number => answer(200, &json!({"data": page(&all, number), "total": 230, "page": number, "size": SIZE})),
        }
    };
    listing().respond_with(respond).mount(&server).await;
    let home = tempfile::tempdir().unwrap();
    let key = [("AVERT_API_KEY", "avk_test_1_s3cret")];
    let mut terminal = Terminal::start_with(home.path(), &["--url", &server.uri()], &key, 200, 40);
    terminal.wait_for("by deadline   230");

    terminal.press("e");
    terminal.wait_for("Export  230 alerts");
    // What is prefilled goes.
    terminal.press("\x15");
    terminal.press(&format!("{}\r", home.path().join("view.csv").display()));

    terminal.wait_for("stopped at 200 of 230 alerts. No file was left.");
    let left: Vec<_> = std::fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(
        !left.iter().any(|name| name.to_string_lossy().contains("view") || name.to_string_lossy().starts_with(".tmp")),
        "{left:?}"
    );
    terminal.press("q");
    assert_eq!(terminal.wait_exit().0, 0);
}
