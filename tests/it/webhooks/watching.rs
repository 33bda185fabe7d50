//! The receiver of a console, in a pseudo-terminal at another avert: it is started, what comes is checked and recorded,
//! and the queue follows.

use std::path::Path;

use serde_json::Value;

use crate::support::binary::{Server, run_ok};
use crate::support::operations::{alerts, import};
use crate::support::receiver::Receiver;
use crate::support::terminal::Terminal;

/// The first word on the screen that begins like this.
fn word(screen: &str, beginning: &str) -> String {
    screen
        .split_whitespace()
        .find(|word| word.starts_with(beginning))
        .unwrap_or_else(|| panic!("no {beginning}:\n{screen}"))
        .to_owned()
}

fn file(home: &Path, name: &str, text: &str) -> String {
    let path = home.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_console_elsewhere_listens_for_the_deployments_webhooks_and_its_queue_follows_and_what_came_is_sent_again() {
    let stand_in = Receiver::start().await;
    let (engine, desk) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let server = Server::start(engine.path(), &[]);
    let key = file(desk.path(), "alerts.key", run_ok(engine.path(), &["keys", "create"]).trim());
    let recording = desk.path().join("recording.ndjson");
    let mut terminal = Terminal::start(desk.path(), &["open", "--url", &server.url, "--api-key-file", &key], 120, 40);
    terminal.wait_for("Queue");

    terminal.press("3");
    terminal.wait_for("not listening");
    terminal.press("l");
    terminal.wait_for("Signed with");
    terminal.press("desk:hunter22");
    // Up to the address, and down again to the file.
    terminal.press("\x1b[A\x1b[A\x15");
    terminal.press("127.0.0.1:0");
    terminal.press("\t\t\t\t\t");
    terminal.press(recording.to_str().unwrap());
    terminal.press("\r");
    terminal.wait_for("listening at http://127.0.0.1:");
    let address = word(&terminal.text(), "http://127.0.0.1:");
    let basic = file(engine.path(), "credential", "desk:hunter22\n");
    run_ok(engine.path(), &["webhooks", "add", &address, "--basic-file", &basic]);
    let stranger = file(engine.path(), "wrong", "desk:hunter23\n");
    run_ok(engine.path(), &["webhooks", "add", &format!("{address}/other"), "--basic-file", &stranger]);
    import(engine.path(), &alerts([7]));

    terminal.wait_for("✓ taken");
    terminal.wait_for("wrong credential");
    terminal.press("1");
    terminal.wait_for("ACME*SHOP 7");
    terminal.press("3");
    terminal.press("p");
    terminal.wait_for("Send what was recorded again");
    // Up to what is sent, all of it, and down again.
    terminal.press("\x1b[A\x1b[D\t");
    terminal.press(&stand_in.url());
    terminal.press("\r");
    terminal.wait_for("1 delivery was sent again to");
    terminal.wait_for("→ sent again");
    terminal.press("l");
    terminal.wait_for("not listening");
    terminal.press("q");
    let (code, _) = terminal.wait_exit();

    assert_eq!(code, 0);
    let [again] = &stand_in.requests()[..] else { panic!("one request") };
    let recorded = std::fs::read_to_string(&recording).unwrap();
    let lines: Vec<Value> = recorded.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 1, "{recorded}");
    assert!(lines[0]["body"].as_str().unwrap().contains("P-0000007") && !recorded.contains("hunter22"));
    assert_eq!(
        (again.body.as_slice(), again.header("webhook-id")),
        (lines[0]["body"].as_str().unwrap().as_bytes(), lines[0]["webhookId"].as_str().unwrap())
    );
    assert_eq!(again.header("authorization"), "", "the deployment's credential is none of that address");
}
