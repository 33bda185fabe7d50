//! The real console in a terminal: it rings and tells in the title, opens links without a shell, exports to a file, and
//! gives everything back.

use std::path::{Path, PathBuf};

use chrono::{Duration, Utc};
use serde_json::{Value, json};

use crate::support::{
    binary::{Server, run_ok, signal},
    terminal::Terminal,
};

/// Alerts with these times left, in minutes.
fn bring_in(home: &Path, minutes: &[i64]) {
    let lines = minutes.iter().enumerate().map(|(number, minutes)| {
        let alert = json!({
            "provider": "ETHOCA", "type": "ETHOCA_CONFIRMED_FRAUD", "providerId": format!("CALL-{number}"),
            "amount": format!("{}9.90", number + 1), "currency": "EUR", "merchantDescriptor": format!("SHOP {number}"),
            "cardBin": "411111", "cardLastFour": format!("000{number}"), "merchantOrderId": format!("A/{number} b"),
            "expiresAt": (Utc::now() + Duration::minutes(*minutes)).to_rfc3339(),
        });
        format!("{alert}\n")
    });
    let file = home.join("alerts.ndjson");
    std::fs::write(&file, lines.collect::<String>()).unwrap();
    run_ok(home, &["import", file.to_str().unwrap()]);
}

fn settings(home: &Path, text: &str) -> String {
    let file = home.join("settings.toml");
    std::fs::write(&file, text).unwrap();
    file.display().to_string()
}

const LOUD: &str = "[notices]\nquiet = \"\"\ndesktop = \"osc777\"\n";

/// What was written by a terminal until it ended.
fn leave(mut terminal: Terminal) -> String {
    terminal.press("q");
    let (code, written) = terminal.wait_exit();
    assert_eq!(code, 0);
    String::from_utf8_lossy(&written).into_owned()
}

#[test]
fn an_alert_that_lapses_soon_rings_once_and_the_title_is_given_back() {
    let home = tempfile::tempdir().unwrap();
    bring_in(home.path(), &[20, 300]);
    let file = settings(home.path(), LOUD);

    let terminal = Terminal::start(home.path(), &["--config", &file, "open"], 120, 40);
    terminal.wait_for("unanswered.");
    let written = leave(terminal);

    assert_eq!(written.matches("\x1b]777;notify;avert;ETHOCA CALL-0 due ").count(), 1, "{written:?}");
    let around = written.find("\x07\x1b]777;").expect("a bell before the notice");
    assert!(written.contains("\x1b]0;avert: 1 due within 30m - "), "the title tells it");
    let (kept, given_back) = (written.find("\x1b[22;0t").unwrap(), written.rfind("\x1b[23;0t").unwrap());
    assert!(kept < around && around < given_back);
}

#[test]
fn what_is_switched_off_is_not_written() {
    let home = tempfile::tempdir().unwrap();
    bring_in(home.path(), &[20]);
    let file = settings(home.path(), "[notices]\nquiet = \"\"\nbell = false\ntitle = false\n");

    let terminal = Terminal::start(home.path(), &["--config", &file, "open"], 120, 40);
    terminal.wait_for("unanswered.");
    let written = leave(terminal);

    assert!(!written.contains('\x07') && !written.contains("\x1b]0;"), "{written:?}");
}

#[test]
fn a_console_told_to_end_gives_the_title_back() {
    let home = tempfile::tempdir().unwrap();
    bring_in(home.path(), &[300]);
    let terminal = Terminal::start(home.path(), &["open"], 120, 40);
    terminal.wait_for("SHOP 0");

    signal(terminal.process(), "TERM");

    let written = String::from_utf8_lossy(&terminal.wait_exit().1).into_owned();
    assert!(written.rfind("\x1b[23;0t") > written.find("\x1b[22;0t"), "{written:?}");
}

#[test]
fn a_console_on_another_deployment_calls_with_what_the_interface_tells() {
    let home = tempfile::tempdir().unwrap();
    bring_in(home.path(), &[20, 300]);
    let server = Server::start(home.path(), &[]);
    let key: Value = serde_json::from_str(&run_ok(home.path(), &["keys", "create", "--output", "json"])).unwrap();
    let desk = tempfile::tempdir().unwrap();
    let file = settings(desk.path(), LOUD);
    let key = [("AVERT_API_KEY", key["key"].as_str().unwrap())];

    let terminal = Terminal::start_with(desk.path(), &["--config", &file, "--url", &server.url], &key, 120, 40);
    terminal.wait_for("due in less than 1 h, unanswered.");
    let written = leave(terminal);

    assert_eq!(written.matches("]777;notify;avert;ETHOCA CALL-0 due in less than 1 h").count(), 1, "{written:?}");
}

/// A directory with an opener that writes down what it was called with.
fn opener(home: &Path) -> (String, PathBuf) {
    use std::os::unix::fs::PermissionsExt as _;
    let (bin, log) = (home.join("bin"), home.join("opened"));
    std::fs::create_dir(&bin).unwrap();
    let script = format!(
        "#!/bin/sh\nenv > '{0}.env'\nfor argument in \"$#\" \"$@\"; do printf '%s\\n' \"$argument\" >> '{0}.part'; \
            done\nmv '{0}.part' '{0}'\n",
        log.display()
    );
    std::fs::write(bin.join("xdg-open"), script).unwrap();
    std::fs::set_permissions(bin.join("xdg-open"), std::fs::Permissions::from_mode(0o755)).unwrap();
    (format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()), log)
}

#[test]
fn a_link_opens_by_the_desktops_opener_with_the_address_as_its_one_argument() {
    let home = tempfile::tempdir().unwrap();
    bring_in(home.path(), &[300]);
    let file = settings(home.path(), "[links]\norder = \"https://shop.example/orders/{merchantOrderId}?x=$(id);id\"\n");
    let (path, log) = opener(home.path());
    let secrets =
        [("AVERT_WEBHOOK_SECRET", "whsec_s3cret"), ("AVERT_OPERATOR_KEY", "s3cret"), ("PGPASSWORD", "s3cret")];
    let around =
        [("PATH", path.as_str()), ("DISPLAY", ":9"), ("SSH_CONNECTION", ""), ("SSH_TTY", ""), ("SSH_CLIENT", "")];
    let around = [&around[..], &secrets].concat();
    let mut terminal = Terminal::start_with(home.path(), &["--config", &file, "open"], &around, 120, 40);
    terminal.wait_for("SHOP 0");

    terminal.press("o");

    terminal.wait_for("Opening https://shop.example/orders/A%2F0%20b?");
    let begin = std::time::Instant::now();
    while !log.exists() {
        assert!(begin.elapsed().as_secs() < 30, "nothing was opened:\n{}", terminal.text());
        std::thread::yield_now();
    }
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "1\nhttps://shop.example/orders/A%2F0%20b?x=$(id);id\n");
    let inherited = std::fs::read_to_string(log.with_extension("env")).unwrap();
    assert!(inherited.contains("DISPLAY=:9") && !inherited.contains("s3cret"), "{inherited}");
    leave(terminal);
}

#[test]
fn behind_ssh_the_address_is_shown_and_copied() {
    let home = tempfile::tempdir().unwrap();
    bring_in(home.path(), &[300]);
    let file = settings(home.path(), "[links]\norder = \"https://shop.example/orders/{merchantOrderId}\"\n");
    let around = [("DISPLAY", ":9"), ("SSH_CONNECTION", "192.0.2.1 1 192.0.2.2 22")];
    let mut terminal = Terminal::start_with(home.path(), &["--config", &file, "open"], &around, 120, 40);
    terminal.wait_for("SHOP 0");

    terminal.press("o");
    terminal.wait_for("No browser here. Copied");
    let written = leave(terminal);

    // https://shop.example/orders/A%2F0%20b
    assert!(written.contains("\x1b]52;c;aHR0cHM6Ly9zaG9wLmV4YW1wbGUvb3JkZXJzL0ElMkYwJTIwYg=="), "{written:?}");
}

#[test]
fn the_view_is_exported_with_the_records_of_the_command_line() {
    let home = tempfile::tempdir().unwrap();
    bring_in(home.path(), &[300, 301]);
    let mut terminal = Terminal::start(home.path(), &["open"], 120, 40);
    terminal.wait_for("SHOP 1");
    let to = home.path().join("view.csv");

    terminal.press("e");
    terminal.wait_for("Export  2 alerts");
    // What is prefilled goes.
    terminal.press("\x15");
    terminal.press(&format!("{}\r", to.display()));
    terminal.wait_for("Exported 2 alerts to");
    leave(terminal);

    let exported = std::fs::read_to_string(&to).unwrap();
    let expected = run_ok(home.path(), &["alerts", "export", "--status", "OPEN", "--output", "csv"]);
    let columns = |csv: &str| csv.lines().next().unwrap().to_owned();
    // The command adds the proofs of refunds behind them.
    assert!(columns(&expected).starts_with(&columns(&exported)), "{exported}");
    assert_eq!(exported.lines().count(), 3);
    assert!(exported.contains("CALL-0") && exported.contains("CALL-1"));
    let left: Vec<_> = std::fs::read_dir(home.path())
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .collect();
    assert!(!left.iter().any(|name| name.starts_with(".tmp")), "{left:?}");
}
