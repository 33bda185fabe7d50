//! `avert sales`: what is entered is kept by the engine of the deployment that is meant; what an older version kept on
//! the desk is entered once; what is wrong is refused in words.

use avert::{client::AccessCredential, domain::Secret, service::Truth as _, wire::Dialect};

use super::*;
use crate::support::client::client_of;

const SET: [&str; 7] = ["sales", "set", "2026-01", "--network", "visa", "--count", "118200"];

/// A home with a data directory.
fn set_up() -> TempDir {
    let home = home();
    run_ok(home.path(), &["keys", "create"]);
    home
}

/// The sales that an engine has, newest month first, as a client with an operator's key reads them.
async fn entered(home: &TempDir) -> Vec<(String, &'static str, u64)> {
    let key = run_ok(home.path(), &["keys", "create", "--scope", "operator"]).trim().to_owned();
    let server = Server::start(home.path(), &[]);
    let credential = AccessCredential::ApiKey(Secret::new(key.clone()));
    let client = client_of(&server.url, Dialect::Current, credential, Some(&key), Arc::new(SystemClock));
    let sales = client.sales().await.unwrap().into_iter();
    sales.map(|sales| (sales.month.to_string(), sales.scheme.as_str(), sales.count)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_month_has_one_count_of_a_network() {
    let home = set_up();

    let said = run_ok(home.path(), &SET);
    run_ok(home.path(), &["sales", "set", "2026-02", "--network", "mastercard", "--count", "7"]);
    let last = parsed(&run_ok(
        home.path(),
        &["sales", "set", "2026-01", "--network", "visa", "--count", "9", "--output", "json"],
    ));

    assert!(said.contains("sales of January 2026 on Visa cards: 118,200"), "{said}");
    assert_eq!((&last["month"], &last["network"], &last["count"]), (&json!("2026-01"), &json!("visa"), &json!(9)));
    let expected = [("2026-02".to_owned(), "mastercard", 7), ("2026-01".to_owned(), "visa", 9)];
    assert_eq!(entered(&home).await, expected);
}

#[test]
fn a_deployment_that_is_no_avert_keeps_no_sales() {
    let home = home();

    let arguments = [&SET[..], &["--url", "https://shop.example", "--api-key-file", "-"]].concat();
    let key = file(&home, "key", "k3y");
    let arguments: Vec<&str> = arguments.into_iter().map(|word| if word == "-" { &*key } else { word }).collect();

    assert_refused(&run(home.path(), &arguments), 1, &["not available here"]);
}

/// The file of sales of an older version.
fn kept_before(home: &TempDir, text: &str) -> std::path::PathBuf {
    let path = home.path().join("desk/sales.toml");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_older_version_kept_on_the_desk_is_entered_once_and_its_file_goes() {
    let home = set_up();
    let of = |month: &str| {
        format!(
            "[[sales]]\nmonth = \"{month}\"\nnetwork = \"visa\"\ncount = 5\nentered_at = \"2026-01-19T08:00:00Z\"\n"
        )
    };
    let kept = kept_before(&home, &(of("2026-01") + &of("2025-12")));

    run_ok(home.path(), &SET);

    assert!(!kept.exists());
    let expected = [("2026-01".to_owned(), "visa", 118_200), ("2025-12".to_owned(), "visa", 5)];
    assert_eq!(entered(&home).await, expected);
}

#[rstest]
#[case(&["2026-13", "--network", "visa", "--count", "1"], &["2026-13", "no month", "2026-11"])]
#[case(&["2026-01", "--network", "amex", "--count", "1"], &["amex", "visa", "mastercard"])]
#[case(&["2026-01", "--network", "visa", "--count", "many"], &["many"])]
#[case(&["2026-01", "--network", "visa", "--count", "1000000000001"], &["1000000000000"])]
#[case(&["9999-01", "--network", "visa", "--count", "1"], &["9999-01", "still to come"])]
#[case(&["2026-01", "--count", "1"], &["--network"])]
fn what_is_wrong_is_refused_in_words(#[case] given: &[&str], #[case] expected: &[&str]) {
    let home = set_up();

    assert_refused(&run(home.path(), &[&["sales", "set"], given].concat()), 2, expected);
}

#[test]
fn a_file_that_cannot_be_read_is_told_with_its_line_and_kept() {
    let home = set_up();
    let broken = "[[sales]]\nmonth = 5\n";
    let kept = kept_before(&home, broken);

    assert_refused(&run(home.path(), &SET), 1, &["sales.toml, line 2"]);
    assert_eq!(fs::read_to_string(kept).unwrap(), broken);
}
