//! The console on a profile: where one is, what may leave, and files that no two deployments share.

use std::{net::TcpListener, sync::mpsc, thread, time::Duration};

use serde_json::{Value, json};
use wiremock::{Mock, MockServer, ResponseTemplate, matchers};

use super::{world, world_of};
use crate::support::{
    binary::{run, signal},
    journal::journal_text,
    terminal::Terminal,
    two_machines::TwoMachines,
};

const CTRL_S: &str = "\x13";

impl TwoMachines {
    fn console(&self, arguments: &[&str]) -> Terminal {
        Terminal::start(self.desk.path(), arguments, 120, 40)
    }
}

fn leave(mut terminal: Terminal) {
    terminal.press("q");
    assert_eq!(terminal.wait_exit().0, 0);
}

#[test]
fn profiles_and_rules_that_a_command_changes_show_in_an_open_console() {
    let world = world();
    world.add("shop", &[]);
    let rules = world.write("rules", "");
    let mut terminal = Terminal::start_with(world.desk.path(), &["open", "shop"], &[("AVERT_RULES", &rules)], 120, 40);
    terminal.wait_for("SHOP 2");
    terminal.press("5");
    terminal.wait_for("shop");

    world.add("team", &[]);
    terminal.wait_for("team");
    world.write("rules", "small: amount<25 currency:EUR -> refunded");
    terminal.wait_for("Read again: 1 rule.");

    leave(terminal);
}

#[test]
fn on_production_a_decision_leaves_by_ctrl_s_in_its_form_only() {
    let world = world_of("production");
    world.add("shop", &[]);
    let mut terminal = world.console(&["open", "shop"]);
    terminal.wait_for("SHOP 2");
    terminal.wait_for(" PRODUCTION  shop");

    terminal.press("n");
    terminal.wait_until("the form", |screen| {
        screen.contains("alt-enter starts a line") && screen.matches(" PRODUCTION ").count() == 2
    });
    for key in ["\r", "\r", "\r", "\r"] {
        terminal.press(key);
    }
    terminal.press(".");
    terminal.press("\x1b");
    terminal.wait_gone("alt-enter starts a line");
    terminal.press(".");
    terminal.press("\r");
    terminal.wait_for("esc back");
    terminal.press("\x1b");
    terminal.wait_gone("esc back");
    assert_eq!(world.alert(1)["outcome"], Value::Null, "neither enter nor a full stop has sent anything");
    terminal.press("n");
    terminal.wait_for("alt-enter starts a line");
    terminal.press("no refund");
    terminal.press(CTRL_S);
    terminal.wait_for("Not refunded, recorded");
    leave(terminal);

    assert_eq!(world.alert(1)["status"], json!("CHARGEBACK"));
}

#[test]
fn a_live_key_makes_it_production_whatever_the_profile_says() {
    let world = world_of("production");
    world.run_ok(&["profiles", "add", "shop", "--url", &world.server.url, "--environment", "sandbox"]);

    let terminal =
        Terminal::start_with(world.desk.path(), &["open", "shop"], &[("AVERT_API_KEY", &world.key)], 120, 40);

    terminal.wait_for(" PRODUCTION  shop");
    leave(terminal);
}

#[test]
fn a_read_only_profile_says_so_and_its_console_sends_nothing() {
    let world = world();
    world.add("shop", &["--read-only"]);
    world.run_ok(&["profiles", "use", "shop"]);
    let mut terminal = world.console(&[]);
    terminal.wait_for("SHOP 2");
    terminal.wait_for("READ-ONLY");

    terminal.press("r");
    terminal.wait_for("Read-only");
    leave(terminal);

    assert_eq!(world.alert(1)["outcome"], Value::Null);
}

#[test]
fn a_plain_address_is_asked_nothing_and_its_host_is_named() {
    let world = world();
    let file = world.write("plain", "not-of-an-avert");
    let terminal = world.console(&["--url", &world.server.url, "--api-key-file", &file]);

    terminal.wait_for(world.server.url.trim_start_matches("http://"));
    assert!(!terminal.text().contains("PRODUCTION") && !terminal.text().contains("SANDBOX"), "{}", terminal.text());
    leave(terminal);
}

#[test]
fn every_deployment_has_desk_files_of_its_own() {
    let world = world();
    world.add("shop", &[]);
    let terminal = world.console(&["open", "shop"]);
    terminal.wait_for("SHOP 2");
    leave(terminal);
    let terminal = world.console(&["--url", &world.server.url, "--api-key-file", &world.key_file()]);
    terminal.wait_for("SHOP 2");
    leave(terminal);

    let desk = world.desk.path().join("desk");
    let host = world.server.url.trim_start_matches("http://").replace(':', "_");
    assert!(desk.join("profiles/shop").join(&host).join("journal.ndjson").exists());
    assert!(desk.join("hosts").join(host).join("journal.ndjson").exists());
    assert!(!desk.join("journal.ndjson").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_console_asks_for_as_many_alerts_as_its_profile_says_by_the_companys_own_name() {
    let server = MockServer::start().await;
    let page = json!({"data": [], "total": 0, "page": 0, "size": 25, "totalPages": 0});
    Mock::given(matchers::any()).respond_with(ResponseTemplate::new(200).set_body_json(page)).mount(&server).await;
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("key"), "k").unwrap();
    let (url, file) = (server.uri(), home.path().join("key").to_str().unwrap().to_owned());
    let how =
        ["--environment", "sandbox", "--page-size", "25", "--refresh-seconds", "1", "--company-parameter", "shopIds"];
    let add = ["profiles", "add", "shop", "--url", &url, "--api-key-file", &file, "--plain-secrets"];
    assert!(run(home.path(), &[&add[..], &how].concat()).status.success());

    let terminal = Terminal::start(home.path(), &["open", "shop"], 120, 40);
    terminal.wait_for("SANDBOX  shop");
    while server.received_requests().await.unwrap().len() < 6 {
        tokio::task::yield_now().await;
    }
    leave(terminal);
    let company = "0198c0de-0000-7000-8000-000000000001";
    run(home.path(), &["alerts", "list", "--profile", "shop", "--company-ids", company]);

    let requests = server.received_requests().await.unwrap();
    // What is about to lapse is asked for by a list of its own.
    let is_shown = |query: &&str| query.contains("sortField=hoursLeft") && !query.contains("expiresIn");
    let lists: Vec<&str> = requests.iter().filter_map(|request| request.url.query()).filter(is_shown).collect();
    assert!(lists.len() >= 2 && lists.iter().all(|query| query.contains("size=25")), "{lists:?}");
    assert!(
        requests.last().unwrap().url.query().unwrap().contains(&format!("shopIds={company}")),
        "{:?}",
        requests.last()
    );
}

#[test]
fn one_key_of_both_scopes_opens_all_that_an_avert_has() {
    let world = world();
    let key = run(world.engine.path(), &["keys", "create", "--scope", "operator,alerts", "--output", "json"]);
    let key: Value = serde_json::from_slice(&key.stdout).unwrap();
    assert_eq!(key["scope"], "alerts,operator");
    world.write("key", key["key"].as_str().unwrap());
    world.add("shop", &[]);

    let mut terminal = world.console(&["open", "shop"]);
    terminal.wait_for("SHOP 2");
    terminal.press("5");
    terminal.wait_for(key["id"].as_str().unwrap());
    leave(terminal);
}

#[test]
fn an_operators_key_beside_client_credentials_opens_all_that_an_avert_has() {
    let world = world();
    let made = |arguments: &[&str]| -> Value {
        serde_json::from_slice(&run(world.engine.path(), &[arguments, &["--output", "json"]].concat()).stdout).unwrap()
    };
    let (client, operator) = (made(&["clients", "create"]), made(&["keys", "create", "--scope", "operator"]));
    let secret = world.write("secret", client["client_secret"].as_str().unwrap());
    let key = world.write("operator", operator["key"].as_str().unwrap());
    let by_client = ["--client-id", client["client_id"].as_str().unwrap(), "--client-secret-file", &secret];
    let add = ["profiles", "add", "shop", "--url", &world.server.url, "--plain-secrets", "--operator-key-file", &key];
    world.run_ok(&[&add[..], &by_client].concat());

    let mut terminal = world.console(&["open", "shop"]);
    terminal.wait_for("SHOP 2");
    terminal.press("5");
    terminal.wait_for(operator["id"].as_str().unwrap());
    terminal.wait_for(client["client_id"].as_str().unwrap());
    leave(terminal);
}

#[test]
fn a_key_of_the_alerts_scope_alone_opens_the_interface_and_says_what_is_missing() {
    let world = world();
    world.add("shop", &[]);

    let mut terminal = world.console(&["open", "shop"]);
    terminal.wait_for("SHOP 2");
    terminal.press("5");
    terminal.wait_for("login --operator");
    leave(terminal);
}

#[test]
fn a_signal_that_comes_between_two_consoles_ends_the_program() {
    let world = world();
    world.add("shop", &[]);
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let key = world.write("key", &world.key);
    world.run_ok(&[
        "profiles",
        "add",
        "far",
        "--url",
        &url,
        "--environment",
        "sandbox",
        "--api-key-file",
        &key,
        "--plain-secrets",
    ]);
    let mut terminal = world.console(&["open", "shop"]);
    terminal.wait_for("SHOP 2");

    terminal.press(":");
    terminal.wait_for("Keys and commands");
    terminal.press("far");
    terminal.wait_for("Open its console");
    terminal.press("\r");
    let (send, asked) = mpsc::channel();
    thread::spawn(move || send.send(silent.accept().unwrap()));
    let asked = asked.recv_timeout(Duration::from_secs(60)).expect("the other deployment is asked");
    signal(terminal.process(), "TERM");
    drop(asked);

    assert_eq!(terminal.wait_exit().0, 143);
}

/// Answers the alert under the cursor by its form.
fn decide(terminal: &mut Terminal) {
    terminal.press("n");
    terminal.wait_for("alt-enter starts a line");
    terminal.press("not ours");
    terminal.wait_for("8/250");
    terminal.press(CTRL_S);
    terminal.wait_for("Not refunded, recorded");
}

#[test]
fn where_nothing_can_be_written_the_console_opens_says_so_once_and_works() {
    let world = world();
    let file = world.write("plain", "a file where a directory must be");
    let (home, key) = (format!("{file}/avert"), world.key_file());
    let arguments = ["--data-dir", &home, "--url", &world.server.url, "--api-key-file", &key];
    let mut terminal = world.console(&arguments);
    terminal.wait_for("SHOP 2");

    terminal.wait_for("Nothing is saved on this computer");
    terminal.wait_for("Retrying.");
    decide(&mut terminal);
    assert!(!terminal.text().contains("could not be kept"), "{}", terminal.text());
    terminal.press("j");
    terminal.press("a");
    terminal.wait_for("Note  ");
    terminal.press("nowhere to be");
    terminal.press(CTRL_S);
    terminal.wait_for("Note not saved");
    terminal.press("q");
    terminal.wait_for("1 text could not be saved");
    terminal.wait_for("the note on ETHOCA 29.90 EUR");
    terminal.press("l");
    assert_eq!(terminal.wait_exit().0, 0);

    assert_eq!(world.alert(1)["status"], json!("CHARGEBACK"));
}

#[test]
fn a_desk_that_can_be_written_by_now_has_what_was_decided_before_and_keeps_what_comes() {
    let world = world();
    let file = world.write("plain", "a file where a directory must be");
    let (home, key) = (format!("{file}/avert"), world.key_file());
    let arguments = ["--data-dir", &home, "--url", &world.server.url, "--api-key-file", &key];
    let mut terminal = world.console(&arguments);
    terminal.wait_for("SHOP 2");
    terminal.wait_for("nothing is saved");
    decide(&mut terminal);
    terminal.press("j");
    terminal.press("a");
    terminal.wait_for("Note  ");
    terminal.press("ask the shop");
    terminal.wait_for("12/");
    terminal.press("\x1b");
    terminal.wait_gone("Note  ");

    std::fs::remove_file(&file).unwrap();
    terminal.wait_for("files can be written again");
    terminal.wait_gone("nothing is saved");
    terminal.press("q");
    assert_eq!(terminal.wait_exit().0, 0);
    let journal = journal_in(home.as_ref());
    let steps: Vec<&str> =
        ["\"staged\"", "\"sent\"", "\"recorded\""].into_iter().filter(|step| journal.contains(step)).collect();
    assert_eq!(steps.len(), 3, "{journal}");
    let mut terminal = world.console(&arguments);
    terminal.wait_for("SHOP 2");
    terminal.press("a");
    terminal.wait_for("ask the shop");
    terminal.press("\x1b");
    terminal.wait_gone("Note  ");
    terminal.press("4\t");
    terminal.wait_for("Not refunded");
    leave(terminal);
}

/// The journals below a data directory.
fn journal_in(directory: &std::path::Path) -> String {
    let below = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let below: String = below.filter(|path| path.is_dir()).map(|path| journal_in(&path)).collect();
    below + &journal_text(directory)
}

#[cfg(target_os = "linux")]
#[test]
fn a_desk_on_a_read_only_file_system_is_read_and_not_written() {
    use std::process::Command;

    // A mount of one's own, where the system lets one make it: permissions do not bind root.
    let is_allowed = Command::new("unshare").args(["-rm", "true"]).status().is_ok_and(|status| status.success());
    if !is_allowed {
        return;
    }
    let world = world();
    let key = world.key_file();
    let arguments = ["--url", &world.server.url, "--api-key-file", &key];
    let mut first = world.console(&arguments);
    first.wait_for("SHOP 2");
    first.press("a");
    first.wait_for("Note  ");
    first.press("asked the shop");
    first.press(CTRL_S);
    first.wait_for("asked the shop");
    first.wait_gone("Note  ");
    first.press("j");
    decide(&mut first);
    leave(first);

    let home = world.desk.path().to_str().unwrap();
    let program = crate::support::binary::binary();
    let script =
        format!("mount --bind {home} {home} && mount -o remount,ro,bind {home} && exec {} \"$@\"", program.display());
    let all: Vec<&str> = ["-rm", "sh", "-c", &script, "avert"].into_iter().chain(arguments).collect();
    let mut terminal = Terminal::start_program("unshare".as_ref(), world.desk.path(), &all, &[], 120, 40);
    terminal.wait_for("Nothing is saved");
    terminal.wait_for("asked the shop");
    terminal.press("4\t");
    terminal.wait_for("Not refunded");
    terminal.press("1");
    terminal.wait_for("asked the shop");
    terminal.press("a");
    terminal.wait_for("Note  ");
    terminal.press("once more");
    terminal.press(CTRL_S);
    terminal.wait_for("Note not saved");
    terminal.press("q");
    terminal.wait_for("1 text could not be saved");
    terminal.press("l");
    assert_eq!(terminal.wait_exit().0, 0);
}
