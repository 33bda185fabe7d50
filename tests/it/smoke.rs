//! The real binary in a pseudo-terminal: an alert resolved by keys, seen on the screen and in the database.

use std::{path::Path, time::Instant};

use chrono::{Duration, Utc};
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::{
    binary::{Server, binary, run_ok, signal},
    terminal::Terminal,
};

const CTRL_S: &str = "\x13";
const ESC: &str = "\x1b";

/// Alerts that lapse one after the other, the first in two hours.
fn bring_in(home: &Path, descriptors: &[&str]) {
    let now = Utc::now();
    let lines = descriptors.iter().enumerate().map(|(index, descriptor)| {
        let lapses = now + Duration::hours(2 + i64::try_from(index).unwrap());
        let alert = json!({
            "provider": "ETHOCA", "type": "ETHOCA_CONFIRMED_FRAUD", "providerId": format!("SMOKE-{index}"),
            "amount": format!("{}9.90", index + 1), "currency": "EUR", "merchantDescriptor": descriptor,
            "cardBin": "411111", "cardLastFour": format!("000{index}"), "expiresAt": lapses.to_rfc3339(),
        });
        format!("{alert}\n")
    });
    let file = home.join("alerts.ndjson");
    std::fs::write(&file, lines.collect::<String>()).unwrap();
    run_ok(home, &["import", file.to_str().unwrap()]);
}

/// One alert by its provider id, as `avert alerts list` tells of it.
fn alert(home: &Path, provider_id: &str) -> Value {
    let page: Value =
        serde_json::from_str(&run_ok(home, &["alerts", "list", "--q", provider_id, "--output", "json"])).unwrap();
    assert_eq!(page["total"], 1, "{page}");
    page["data"][0].clone()
}

fn console(home: &Path, columns: u16, rows: u16) -> Terminal {
    Terminal::start(home, &["open"], columns, rows)
}

/// Opens the resolve form with a key and waits until it has looked for doubles of the alert.
fn open_form(terminal: &mut Terminal, key: &str) {
    terminal.press(key);
    terminal.wait_until("the form, done with looking", |screen| {
        screen.contains("alt-enter starts a line") && !screen.contains("Checking duplicates")
    });
}

fn click_on(terminal: &mut Terminal, text: &str) {
    let (column, row) =
        terminal.find(text).unwrap_or_else(|| panic!("{text:?} is on the screen:\n{}", terminal.text()));
    terminal.click(column + 1, row);
}

fn refund_by_http(server: &Server, home: &Path, provider_id: &str) {
    let key: Value = serde_json::from_str(&run_ok(home, &["keys", "create", "--output", "json"])).unwrap();
    let url = format!("{}/api/v1/alerts/{}/resolution", server.url, alert(home, provider_id)["id"].as_str().unwrap());
    let status = tokio::runtime::Runtime::new().unwrap().block_on(async {
        let request = reqwest::Client::new().put(url).header("X-API-KEY", key["key"].as_str().unwrap());
        request.json(&json!({"refunded": "REFUNDED"})).send().await.unwrap().status()
    });
    assert_eq!(status, 200);
}

#[test]
fn an_alert_is_resolved_by_keys_and_the_database_holds_it() {
    let home = tempfile::tempdir().unwrap();
    bring_in(home.path(), &["FIRST SHOP", "SECOND SHOP"]);
    let mut terminal = console(home.path(), 120, 40);
    terminal.wait_for("SECOND SHOP");

    open_form(&mut terminal, "i");
    terminal.press("3");
    terminal.press(CTRL_S);
    terminal.wait_for_undo();
    terminal.wait_gone("FIRST SHOP");

    let resolved = alert(home.path(), "SMOKE-0");
    assert_eq!(resolved["status"], "INVALID");
    assert_eq!(resolved["outcome"]["disputeReasonCode"], "duplicate");
    assert_eq!(resolved["hoursLeft"], 0);
    assert_eq!(alert(home.path(), "SMOKE-1")["outcome"], Value::Null);
    let database = rusqlite::Connection::open(home.path().join("avert.db")).unwrap();
    let outcomes: i64 = database.query_row("SELECT count(*) FROM outcome", [], |row| row.get(0)).unwrap();
    assert_eq!(outcomes, 1);
    terminal.press("q");
    assert_eq!(terminal.wait_exit().0, 0);
}

#[test]
fn enter_alone_never_sends_a_decision() {
    let home = tempfile::tempdir().unwrap();
    bring_in(home.path(), &["FIRST SHOP"]);
    let mut terminal = console(home.path(), 80, 24);
    terminal.wait_for("FIRST SHOP");

    open_form(&mut terminal, "r");
    terminal.press(&"\r".repeat(12));
    terminal.press(ESC);
    terminal.wait_gone("alt-enter starts a line");

    assert_eq!(alert(home.path(), "SMOKE-0")["outcome"], Value::Null);
    terminal.press("q");
    assert_eq!(terminal.wait_exit().0, 0);
}

#[rstest]
#[case::by_its_key(|terminal: &mut Terminal| terminal.press("\x1a"))]
#[case::from_outside(|terminal: &mut Terminal| signal(terminal.in_foreground(), "STOP"))]
fn what_a_shell_has_stopped_leaves_the_terminal_alone_and_sends_once_it_has_it_again(#[case] stop: fn(&mut Terminal)) {
    let home = tempfile::tempdir().unwrap();
    bring_in(home.path(), &["FIRST SHOP", "SECOND SHOP"]);
    let shell = ["--norc", "--noprofile", "-i"];
    let variables = [("AVERT_GRACE_SECONDS", "20"), ("PS1", "shell> ")];
    let mut terminal = Terminal::start_program(Path::new("bash"), home.path(), &shell, &variables, 120, 40);
    terminal.wait_for("shell>");
    terminal.press(&format!("{} open\r", binary().display()));
    terminal.wait_for("SECOND SHOP");
    open_form(&mut terminal, "n");
    terminal.press(CTRL_S);
    // A stop in the middle of a frame lets its rest through; for a second after a count nothing is drawn.
    terminal.wait_until("a second counted down", |screen| {
        screen.contains(" u undo") && !screen.contains("u undoes") && !screen.contains("in 20 s")
    });

    stop(&mut terminal);
    terminal.wait_for("Stopped");
    let drawn = terminal.pictures();
    terminal.press("bg\r");
    // Whoever changes the modes of a terminal that another one has is stopped by the kernel.
    terminal.press("wait %1; echo a''live\r");
    terminal.wait_until("a second stop", |screen| screen.contains("alive") && screen.matches("Stopped").count() > 1);
    assert_eq!(terminal.pictures(), drawn, "{}", terminal.text());
    assert_eq!(alert(home.path(), "SMOKE-0")["outcome"], Value::Null);

    terminal.press("fg\r");
    terminal
        .wait_until("the console, and no shell", |screen| screen.contains("SECOND SHOP") && !screen.contains("shell>"));
    let waited = Instant::now();
    while alert(home.path(), "SMOKE-0")["outcome"].is_null() {
        assert!(waited.elapsed().as_secs() < 120, "nothing was sent; the screen:\n{}", terminal.text());
    }
    terminal.press("q");
    terminal.wait_for("shell>");
}

#[test]
fn a_decision_is_taken_back_within_its_grace() {
    let home = tempfile::tempdir().unwrap();
    bring_in(home.path(), &["FIRST SHOP"]);
    let mut terminal = Terminal::start_with(home.path(), &["open"], &[("AVERT_GRACE_SECONDS", "60")], 120, 40);
    terminal.wait_for("FIRST SHOP");

    open_form(&mut terminal, "n");
    terminal.press(CTRL_S);
    terminal.wait_for_undo();
    terminal.press("u");
    terminal.wait_gone("undo");

    terminal.press("q");
    assert_eq!(terminal.wait_exit().0, 0);
    assert_eq!(alert(home.path(), "SMOKE-0")["outcome"], Value::Null);
}

#[test]
fn a_change_made_by_http_shows_in_the_open_console_without_moving_the_cursor() {
    let home = tempfile::tempdir().unwrap();
    bring_in(home.path(), &["FIRST SHOP", "SECOND SHOP", "THIRD SHOP"]);
    let server = Server::start(home.path(), &[]);
    let mut terminal = console(home.path(), 120, 40);
    terminal.wait_for("THIRD SHOP");
    terminal.press("jj");
    terminal.wait_for("network id  SMOKE-2");

    refund_by_http(&server, home.path(), "SMOKE-0");

    terminal.wait_gone("FIRST SHOP");
    let screen = terminal.text();
    assert!(screen.contains("network id  SMOKE-2"), "the cursor has left its alert:\n{screen}");
    terminal.press("q");
    assert_eq!(terminal.wait_exit().0, 0);
    assert_eq!(server.terminate(), Some(0));
}

#[test]
fn a_form_hears_that_its_alert_was_answered_elsewhere_and_sends_nothing() {
    let home = tempfile::tempdir().unwrap();
    bring_in(home.path(), &["FIRST SHOP"]);
    let server = Server::start(home.path(), &[]);
    let mut terminal = console(home.path(), 120, 40);
    terminal.wait_for("FIRST SHOP");
    open_form(&mut terminal, "n");

    refund_by_http(&server, home.path(), "SMOKE-0");

    terminal.wait_for("already answered: Refunded");
    terminal.press(CTRL_S);
    terminal.wait_for("Not sent: already answered: Refunded");
    assert_eq!(alert(home.path(), "SMOKE-0")["status"], "RESOLVED");
    terminal.press(ESC);
    terminal.wait_gone("alt-enter starts a line");
    terminal.press("q");
    assert_eq!(terminal.wait_exit().0, 0);
}

#[test]
fn an_alert_is_resolved_with_the_mouse_alone() {
    let home = tempfile::tempdir().unwrap();
    bring_in(home.path(), &["FIRST SHOP", "SECOND SHOP"]);
    let mut terminal = console(home.path(), 120, 40);
    terminal.wait_for("SECOND SHOP");

    click_on(&mut terminal, "SECOND SHOP");
    terminal.wait_for("network id  SMOKE-1");
    click_on(&mut terminal, "n not refunded");
    terminal.wait_until("the form, done with looking", |screen| {
        screen.contains("alt-enter starts a line") && !screen.contains("Checking duplicates")
    });
    click_on(&mut terminal, "ctrl-s send");
    terminal.wait_for_undo();
    terminal.wait_gone("undo");

    // It leaves when what is with the service has come back.
    terminal.press("q");
    assert_eq!(terminal.wait_exit().0, 0);
    assert_eq!(alert(home.path(), "SMOKE-1")["status"], "CHARGEBACK");
    assert_eq!(alert(home.path(), "SMOKE-0")["outcome"], Value::Null);
}

#[test]
fn a_terminal_too_small_says_so_and_comes_back() {
    let home = tempfile::tempdir().unwrap();
    bring_in(home.path(), &["FIRST SHOP"]);
    let mut terminal = console(home.path(), 120, 40);
    terminal.wait_for("FIRST SHOP");

    terminal.resize(40, 8);
    terminal.wait_for("avert needs 80 x 24");
    terminal.resize(120, 40);

    terminal.wait_for("FIRST SHOP");
    terminal.press("q");
    assert_eq!(terminal.wait_exit().0, 0);
}

#[test]
fn a_plain_console_draws_words_and_signs_and_no_lines() {
    let home = tempfile::tempdir().unwrap();
    bring_in(home.path(), &["FIRST SHOP"]);
    let mut terminal = Terminal::start(home.path(), &["open", "--plain"], 120, 40);
    terminal.wait_for("FIRST SHOP");
    let list = terminal.text();

    open_form(&mut terminal, "n");
    let form = terminal.text();

    for screen in [&list, &form] {
        assert!(!screen.chars().any(|letter| ('\u{2500}'..='\u{259f}').contains(&letter)), "{screen}");
    }
    assert!(list.lines().any(|line| line.starts_with('>') && line.contains("FIRST SHOP")), "{list}");
    terminal.press("\x1b");
    terminal.wait_gone("alt-enter starts a line");
    terminal.press("q");
    assert_eq!(terminal.wait_exit().0, 0);
}

#[test]
fn no_answer_of_the_terminal_does_anything_and_the_keys_behind_it_work() {
    const ANSWERS: [&str; 8] = [
        "\x1b[>0;276;0c",
        "\x1bP>|tmux 3.4\x1b\\",
        "\x1bP1$r0m\x1b\\",
        "\x1b_Gi=1;OK\x1b\\",
        "\x1b]11;rgb:ffff/ffff/ffff\x07",
        "\x1b[?2026;2$y",
        "\x1b[?997;1n",
        "\x1b[24;80R",
    ];
    let home = tempfile::tempdir().unwrap();
    bring_in(home.path(), &["FIRST SHOP", "SECOND SHOP"]);
    let mut terminal = console(home.path(), 120, 40);
    terminal.wait_for("SECOND SHOP");

    for answer in ANSWERS {
        let (begin, end) = answer.split_at(answer.len() / 2);
        for bytes in [answer, begin, end] {
            terminal.press(bytes);
        }
        // Over a form or a page it would be a letter, or nothing.
        terminal.press("?");
        terminal.wait_for("Keys and commands");
        terminal.press("\x1b");
        terminal.wait_gone("Keys and commands");
        assert!(!terminal.text().contains("alt-enter starts a line"), "{answer:?}");
    }

    terminal.press("q");
    assert_eq!(terminal.wait_exit().0, 0);
    assert_eq!(alert(home.path(), "SMOKE-0")["outcome"], Value::Null);
}

#[rstest]
fn a_console_told_to_end_gives_the_terminal_back(#[values("TERM", "QUIT", "USR1", "USR2")] name: &str) {
    let home = tempfile::tempdir().unwrap();
    bring_in(home.path(), &["FIRST SHOP"]);
    let terminal = console(home.path(), 120, 40);
    terminal.wait_for("FIRST SHOP");

    signal(terminal.process(), name);

    let written = String::from_utf8_lossy(&terminal.wait_exit().1).into_owned();
    let left = written.rfind("\x1b[?1049l").expect("the alternate screen is left");
    assert!(
        written[left..].contains("\x1b[?25h") || written[..left].contains("\x1b[?25h"),
        "the cursor is shown again"
    );
    assert!(written.contains("\x1b[?1000l") || written.contains("\x1b[?1006l"), "the mouse is given back");
}

#[test]
fn the_demo_opens_on_alerts_and_leaves_nothing_behind() {
    let home = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::start(home.path(), &["demo", "--rate", "0"], 120, 40);
    terminal.wait_for("DEMO");
    terminal.wait_until("alerts in the list", |screen| screen.contains("ETHOCA") && screen.contains("VERIFI"));

    open_form(&mut terminal, "n");
    terminal.press(CTRL_S);
    terminal.wait_for_undo();
    terminal.wait_gone("undo");
    terminal.press("3");
    terminal.wait_for("justt");
    terminal.press("4");
    terminal.wait_for("disputed afterwards");
    terminal.press("\t");
    terminal.wait_for("rule would answer");
    terminal.press("q");

    assert_eq!(terminal.wait_exit().0, 0);
    let left: Vec<_> = std::fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// The commit that is checked out; `None` where git does not tell.
fn commit() -> Option<String> {
    let mut git = std::process::Command::new("git");
    let told = git.args(["rev-parse", "--short=12", "HEAD"]).current_dir(env!("CARGO_MANIFEST_DIR")).output().ok()?;
    told.status.success().then(|| String::from_utf8(told.stdout).unwrap().trim().to_owned())
}

#[test]
fn the_version_names_the_commit_of_a_release_build() {
    let home = tempfile::tempdir().unwrap();
    // The binary that cargo builds for the tests is a debug build, whose version stands alone.
    let commit = std::env::var_os("AVERT_SMOKE_BINARY").and_then(|_| commit());

    let version = run_ok(home.path(), &["--version"]);

    let behind = commit.map(|commit| format!(" ({commit})")).unwrap_or_default();
    assert_eq!(version, format!("avert {}{behind}\n", env!("CARGO_PKG_VERSION")));
}
