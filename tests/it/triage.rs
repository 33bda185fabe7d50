//! The console in one process, the engine in another: alerts triaged over HTTP, by API key and by access token.

mod unlucky;

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::{
    binary::{binary, run, run_ok, signal},
    journal::{ON_A_FULL_DISK, journal_text},
    terminal::Terminal,
    two_machines::{TwoMachines, far_alert},
};

const CTRL_S: &str = "\x13";

impl TwoMachines {
    /// The flags for an API key, the key itself in a file.
    fn by_key(&self, url: &str) -> Vec<String> {
        flags(&["--url", url, "--dialect", "current", "--api-key-file", &self.key_file()])
    }

    /// The flags for client credentials, the secret in a file.
    fn by_token(&self, url: &str) -> Vec<String> {
        let client: Value =
            serde_json::from_str(&run_ok(self.engine.path(), &["clients", "create", "--output", "json"])).unwrap();
        let file = self.write("secret", client["client_secret"].as_str().unwrap());
        let id = client["client_id"].as_str().unwrap();
        flags(&["--url", url, "--dialect", "older", "--client-id", id, "--client-secret-file", &file])
    }

    fn console_by(&self, flags: &[String]) -> Terminal {
        self.console_with(flags, &[])
    }

    /// A console in which a decision can be taken back for longer than any test lasts.
    fn console_that_keeps_decisions(&self, flags: &[String]) -> Terminal {
        self.console_with(flags, &[("AVERT_GRACE_SECONDS", "60")])
    }

    fn console_with(&self, flags: &[String], variables: &[(&str, &str)]) -> Terminal {
        let arguments: Vec<&str> = std::iter::once("open").chain(flags.iter().map(String::as_str)).collect();
        let terminal = Terminal::start_with(self.desk.path(), &arguments, variables, 120, 40);
        terminal.wait_until("the alerts", |screen| (1..=3).all(|number| screen.contains(&format!("SHOP {number}"))));
        terminal
    }

    /// Nothing was kept on the console's machine that belongs to an engine.
    fn assert_no_database(&self) {
        assert!(!self.desk.path().join("avert.db").exists());
    }
}

fn flags(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Opens the form with a key and waits until it has looked for doubles.
fn open_form(terminal: &mut Terminal, key: &str) {
    terminal.press(key);
    terminal.wait_until("the form, done with looking", |screen| {
        screen.contains("alt-enter starts a line") && !screen.contains("Checking duplicates")
    });
}

/// Sends what the form says and waits until it is told that it landed.
fn send(terminal: &mut Terminal, landed: &str) {
    terminal.press(CTRL_S);
    terminal.wait_for_undo();
    terminal.wait_for(landed);
}

fn leave(mut terminal: Terminal) {
    terminal.press("q");
    assert_eq!(terminal.wait_exit().0, 0);
}

#[test]
fn alerts_of_another_process_are_triaged_by_api_key() {
    let world = TwoMachines::with_alerts(3);
    let mut terminal = world.console_by(&world.by_key(&world.server.url));

    open_form(&mut terminal, "r");
    send(&mut terminal, "ETHOCA 19.90 EUR: Refunded, recorded (API status RESOLVED)");
    terminal.wait_for("network id  FAR-2");
    open_form(&mut terminal, "i");
    terminal.press("3");
    send(&mut terminal, "ETHOCA 29.90 EUR: Invalid (duplicate alert), recorded (API status INVALID)");
    leave(terminal);

    let (refunded, duplicate, untouched) = (world.alert(1), world.alert(2), world.alert(3));
    assert_eq!((&refunded["status"], &refunded["outcome"]["refunded"]), (&json!("RESOLVED"), &json!("refunded")));
    assert_eq!(
        (&duplicate["status"], &duplicate["outcome"]["disputeReasonCode"]),
        (&json!("INVALID"), &json!("duplicate"))
    );
    assert_eq!((&untouched["status"], &untouched["outcome"]), (&json!("OPEN"), &Value::Null));
    world.assert_no_database();
}

#[test]
fn alerts_of_another_process_are_triaged_by_token_in_the_words_of_the_older_dialect() {
    let world = TwoMachines::with_alerts(3);
    let mut terminal = world.console_by(&world.by_token(&world.server.url));

    open_form(&mut terminal, "r");
    terminal.press("\x1b[Z29.50");
    terminal.wait_until("the amount", |screen| screen.contains("9.50") && screen.contains("Stopped"));
    send(&mut terminal, "ETHOCA 19.90 EUR: PARTIALLY_STOPPED, 9.50, REFUNDED, recorded (API status RESOLVED)");
    terminal.wait_for("network id  FAR-2");
    open_form(&mut terminal, "n");
    send(&mut terminal, "recorded (API status CHARGEBACK)");
    terminal.wait_for("network id  FAR-3");
    open_form(&mut terminal, "i");
    terminal.press("11");
    send(&mut terminal, "recorded (API status REFUNDED)");
    leave(terminal);

    let outcome = |number| {
        let alert = world.alert(number);
        ["outcome", "refunded"].map(|field| alert["outcome"][field].as_str().unwrap().to_owned())
    };
    assert_eq!(outcome(1), ["partially_stopped", "refunded"]);
    assert_eq!(outcome(2), ["unresolved_dispute", "not refunded"]);
    assert_eq!(outcome(3), ["previously_refunded", "refunded"]);
    let exported = run_ok(world.engine.path(), &["alerts", "export", "--q", "FAR-1"]);
    assert_eq!(serde_json::from_str::<Value>(&exported).unwrap()["outcome"]["amountStopped"], "9.50");
    world.assert_no_database();
}

#[test]
fn several_alerts_of_another_process_are_answered_together_in_the_words_of_the_older_dialect() {
    let world = TwoMachines::with_alerts(3);
    let mut terminal = world.console_by(&world.by_token(&world.server.url));

    terminal.press("*");
    terminal.wait_for("3 marked");
    terminal.press("i");
    terminal.wait_for("Answer 3 alerts");
    terminal.press("9");
    terminal.wait_for("(•) OTHER");
    terminal.press("\x1bn");
    terminal.wait_until("what they get", |screen| {
        screen.contains("3 will be sent") && !screen.contains("Checking duplicates")
    });
    terminal.press(CTRL_S);
    terminal.wait_for("3 recorded");
    terminal.press("\x1b");
    terminal.wait_gone("3 recorded");
    leave(terminal);

    let said = |number| {
        let alert = world.alert(number);
        [&alert["status"], &alert["outcome"]["refunded"]].map(|field| field.as_str().unwrap().to_owned())
    };
    assert_eq!([1, 2, 3].map(said), [["OTHER", "not refunded"]; 3]);
}

#[test]
fn a_case_of_another_process_is_refunded_in_the_words_of_the_older_dialect() {
    let networks = [("ETHOCA", "ETHOCA_CUSTOMER_DISPUTE"), ("VERIFI", "VERIFI_CANCEL"), ("VERIFI", "VERIFI_DISPUTE")];
    let payment = (1..).zip(networks).map(|(number, (provider, kind))| {
        let mut alert = far_alert(number, provider, kind);
        for (field, value) in
            [("amount", "19.90"), ("cardLastFour", "0001"), ("acquirerReferenceNumber", "74320456118200319940007")]
        {
            alert[field] = json!(value);
        }
        alert
    });
    let world = TwoMachines::of("sandbox", "", payment);
    let mut terminal = world.console_by(&world.by_token(&world.server.url));

    terminal.press("\r");
    terminal.wait_for("reports this one as refunded, the others as duplicates");
    terminal.press("r");
    terminal.wait_until("what each gets", |screen| {
        screen.contains("3 will be sent") && !screen.contains("Checking duplicates")
    });
    terminal.press(CTRL_S);
    terminal.wait_until("all three recorded", |screen| {
        ["FAR-2: OTHER by", "FAR-3: OTHER by"].iter().all(|words| screen.contains(words))
    });
    terminal.press("\x1b");
    terminal.wait_for("by deadline");
    leave(terminal);

    let said = |number| {
        let alert = world.alert(number);
        [&alert["status"], &alert["outcome"]["refunded"]].map(|field| field.as_str().unwrap().to_owned())
    };
    assert_eq!([1, 2, 3].map(said), [["RESOLVED", "refunded"], ["OTHER", "not refunded"], ["OTHER", "not refunded"]]);
}

#[test]
fn an_amount_beyond_the_alerts_is_refused_in_the_form_and_nothing_leaves() {
    let world = TwoMachines::with_alerts(3);
    let mut terminal = world.console_by(&world.by_token(&world.server.url));

    open_form(&mut terminal, "r");
    terminal.press("\x1b[Z219.91");
    terminal.press(CTRL_S);

    terminal.wait_for("more than 0 and at most");
    terminal.press("\x1b");
    terminal.wait_gone("Resolution");
    leave(terminal);
    assert_eq!(world.alert(1)["outcome"], Value::Null);
}

#[test]
fn the_command_line_answers_another_process_by_token_with_a_stopped_amount() {
    let world = TwoMachines::with_alerts(3);
    let id = world.alert(3)["id"].as_str().unwrap().to_owned();
    let by_token = world.by_token(&world.server.url);
    let answer = |amount: &str| {
        let said = ["--resolution", "partially-stopped", "--refunded", "refunded", "--amount-stopped", amount, "--yes"];
        let arguments: Vec<&str> =
            ["alerts", "resolve", &id].into_iter().chain(said).chain(by_token.iter().map(String::as_str)).collect();
        run(world.desk.path(), &arguments)
    };

    let too_much = answer("39.91");
    let taken = answer("39.90");

    assert_eq!(too_much.status.code(), Some(2), "{}", String::from_utf8_lossy(&too_much.stderr));
    assert!(taken.status.success(), "{}", String::from_utf8_lossy(&taken.stderr));
    assert_eq!(world.alert(3)["outcome"]["outcome"], "partially_stopped");
}

/// Leaves decisions on the alerts of these numbers to a person, as an engine does that cannot find out.
fn park(home: &Path, numbers: &[u32]) {
    let database = rusqlite::Connection::open(home.join("avert.db")).unwrap();
    for number in numbers {
        let sql = "INSERT INTO resolution_attempt (id, organization, alert, dialect, refunded, comments, body_hash, \
            state, generation,
                instance, started_at, deadline, detail, actor, origin)
            SELECT randomblob(16), organization, key, 'current', 'REFUNDED', 'by the shop', randomblob(32), 'PARKED', \
            1, randomblob(16),
                created_at, created_at, 'the network cannot be asked', 'key ops-1', 'here' FROM alert WHERE \
                provider_id = ?1";
        assert_eq!(database.execute(sql, [format!("FAR-{number}")]).unwrap(), 1);
    }
}

#[test]
fn parked_decisions_are_settled_by_a_persons_word_in_the_console() {
    let world = TwoMachines::with_alerts(3);
    park(world.engine.path(), &[1, 2]);
    let mut terminal = Terminal::start(world.engine.path(), &["open"], 120, 40);
    terminal.wait_for("Refunded: unconfirmed");

    terminal.press("p");
    terminal.wait_for("Set the result of Refunded");
    terminal.press("\x1b");
    terminal.wait_gone("Set the result of Refunded");
    assert_eq!(world.alert(1)["outcome"], Value::Null);
    terminal.press("p");
    terminal.wait_for("API status becomes RESOLVED");
    terminal.press("a");
    terminal.press(CTRL_S);
    terminal.wait_for("ETHOCA 19.90 EUR is RESOLVED");
    terminal.press("p");
    terminal.wait_for("29.90 EUR  FAR-2");
    terminal.press("n");
    terminal.press(CTRL_S);
    terminal.wait_for("not applied. Answer it again.");
    leave(terminal);

    let (applied, not_applied) = (world.alert(1), world.alert(2));
    assert_eq!((&applied["status"], &applied["outcome"]["comments"]), (&json!("RESOLVED"), &json!("by the shop")));
    assert_eq!((&not_applied["status"], &not_applied["outcome"]), (&json!("OPEN"), &Value::Null));
    run_ok(
        world.engine.path(),
        &["alerts", "resolve", not_applied["id"].as_str().unwrap(), "--refunded", "not-refunded", "--yes"],
    );
    assert_eq!(world.alert(2)["status"], "CHARGEBACK");
}

/// Kills the console the hard way: no handler of its own runs.
fn kill(terminal: Terminal) {
    signal(terminal.process(), "KILL");
    terminal.wait_exit();
}

/// The directory that a console on this deployment keeps its files in.
fn desk_of(world: &TwoMachines, url: &str) -> PathBuf {
    let host = url.trim_start_matches("http://").replace(':', "_");
    world.desk.path().join("desk/hosts").join(host)
}

/// The steps in the journal, as they stand there.
fn journal(desk: &Path) -> Vec<String> {
    let text = journal_text(desk);
    // The last line may be half written yet.
    text.split_inclusive('\n')
        .filter(|line| line.ends_with('\n'))
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["step"].as_str().unwrap().to_owned())
        .collect()
}

/// Waits until the journal has a step: it is written beside the screen.
fn until_written(desk: &Path, step: &str) {
    let begin = Instant::now();
    while !journal(desk).contains(&step.to_owned()) {
        assert!(begin.elapsed() < Duration::from_secs(120), "no {step}: {:?}", journal(desk));
        std::thread::yield_now();
    }
}

/// The console started anew, after one that died.
fn again(world: &TwoMachines, flags: &[String]) -> Terminal {
    let arguments: Vec<&str> = std::iter::once("open").chain(flags.iter().map(String::as_str)).collect();
    Terminal::start(world.desk.path(), &arguments, 120, 40)
}

#[test]
fn a_full_disk_keeps_no_answer_back() {
    let world = TwoMachines::with_alerts(3);
    let program = binary();
    let flags = world.by_key(&world.server.url);
    let words = ["-c", ON_A_FULL_DISK, "sh", program.to_str().unwrap(), "open"];
    let arguments: Vec<&str> = words.into_iter().chain(flags.iter().map(String::as_str)).collect();
    let mut terminal = Terminal::start_program(Path::new("sh"), world.desk.path(), &arguments, &[], 120, 40);
    terminal.wait_for("SHOP 3");

    open_form(&mut terminal, "n");
    terminal.press(CTRL_S);

    terminal.wait_for("journal.ndjson: cannot be written");
    terminal.wait_gone("SHOP 1");
    assert_eq!(world.alert(1)["outcome"]["refunded"], "not refunded");
    leave(terminal);
}

#[test]
fn a_console_that_is_killed_before_a_decision_left_says_so_at_the_next_start() {
    let world = TwoMachines::with_alerts(3);
    let flags = world.by_key(&world.server.url);
    let mut terminal = world.console_that_keeps_decisions(&flags);
    open_form(&mut terminal, "n");
    terminal.press("goods were sent");
    terminal.press(CTRL_S);
    terminal.wait_for_undo();
    until_written(&desk_of(&world, &world.server.url), "staged");
    kill(terminal);

    let mut terminal = again(&world, &flags);
    terminal.wait_for("The last session ended early");
    terminal.wait_for("Not sent");
    terminal.wait_for("Not refunded  ETHOCA 19.90 EUR");
    terminal.press("\r");
    terminal.wait_gone("Not sent");
    open_form(&mut terminal, "n");
    terminal.wait_for("goods were sent");
    terminal.press("\x1b");
    terminal.wait_gone("alt-enter starts a line");
    leave(terminal);

    assert_eq!(world.alert(1)["outcome"], Value::Null, "nothing was sent");
    assert!(!journal(&desk_of(&world, &world.server.url)).contains(&"sent".to_owned()));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode =
            std::fs::metadata(desk_of(&world, &world.server.url).join("journal.ndjson")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn a_console_that_is_killed_between_sending_and_the_answer_looks_it_up_and_sends_nothing_again() {
    let world = TwoMachines::with_alerts(3);
    let flags = world.by_key(&world.server.url);
    let mut terminal = world.console_by(&flags);
    open_form(&mut terminal, "n");
    signal(world.server.id(), "STOP");
    terminal.press(CTRL_S);
    terminal.wait_for("sending 1 answer");
    until_written(&desk_of(&world, &world.server.url), "sent");
    kill(terminal);
    signal(world.server.id(), "CONT");

    let mut terminal = again(&world, &flags);
    terminal.wait_for("Sent, no reply");
    terminal.press("\r");
    terminal.wait_gone("Sent, no reply");
    leave(terminal);

    let steps = journal(&desk_of(&world, &world.server.url));
    assert_eq!(steps.iter().filter(|step| *step == "sent").count(), 1, "{steps:?}");
}
