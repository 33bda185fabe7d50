//! An export has all that the deployment counts, or ends with an error that says why not.

use std::process::Output;

use avert::domain::AlertId;
use rstest::rstest;
use serde_json::{Value, json};
use wiremock::{MockServer, Request, ResponseTemplate};

use super::foreign::{answer, listing, open};
use crate::support::binary::avert;

const SIZE: usize = 100;

/// A deployment whose list answers each page that is asked for with what `rows` gives of these alerts, and tells this total.
async fn deployment(total: u64, rows: fn(&[Value], usize) -> Vec<Value>) -> MockServer {
    let server = MockServer::start().await;
    let all: Vec<Value> = (0..230).map(|_| open(AlertId::generate())).collect();
    let respond = move |request: &Request| -> ResponseTemplate {
        let page = request.url.query_pairs().find(|(name, _)| name == "page").map_or(0, |(_, page)| page.parse().unwrap());
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
async fn a_list_that_can_be_read_to_its_end_is_exported(#[case] total: u64, #[case] rows: fn(&[Value], usize) -> Vec<Value>) {
    let (output, said) = export(&deployment(total, rows).await, "ndjson");

    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!((output.stdout.iter().filter(|byte| **byte == b'\n').count(), said.trim()), (230, "230 alerts exported"));
}

#[rstest]
#[case::numbered_from_1(230, |all: &[Value], number: usize| page(all, number.saturating_sub(1)), 100, "numbered them from 1")]
#[case::nothing_on_page_0(230, |all: &[Value], number: usize| if number == 0 { Vec::new() } else { page(all, number - 1) }, 0, "numbered them from 1")]
#[case::a_page_twice(230, |all: &[Value], number: usize| page(all, number.min(1)), 200, "its page 2 repeats")]
#[case::more_counted_than_given(400, page, 230, "counts 400 alerts and 230 could be read")]
#[case::one_that_is_none(230, |all: &[Value], number: usize| page(all, number).into_iter().skip(1).chain([json!({"id": 7})]).collect(), 227, "is empty already")]
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
    assert_eq!(serde_json::from_slice::<Vec<Value>>(&output.stdout).unwrap().len(), read, "what was read is well-formed JSON");
}
