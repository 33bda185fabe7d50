//! A mistyped place is told instead of being made; every verb of every command in every form; what is said twice.

use std::path::Path;

use super::*;

/// Commands that make no sense where nothing is kept yet.
const NEED_DATA: &[&[&str]] = &[
    &["organizations", "list"],
    &["keys", "list"],
    &["keys", "revoke", "abc"],
    &["clients", "list"],
    &["clients", "revoke", "abc"],
    &["webhooks", "list"],
    &["alerts", "list"],
    &["alerts", "show", "018f0000-0000-7000-8000-000000000001"],
    &["alerts", "resolve", "018f0000-0000-7000-8000-000000000001", "--refunded", "refunded", "--yes"],
    &["alerts", "export"],
    &["backup", "file.backup"],
];

/// Commands that begin a new place.
const MAKE_IT: &[&[&str]] = &[
    &["import", "-"],
    &["organizations", "create", "ACME"],
    &["keys", "create"],
    &["clients", "create"],
    &["webhooks", "add", "http://127.0.0.1:9/", "--basic", "a:b"],
];

#[test]
fn where_nothing_is_kept_nothing_is_found_and_nothing_is_made() {
    let home = home();
    let mistyped = home.path().join("mistyped");
    let place = mistyped.to_str().unwrap();

    for command in NEED_DATA {
        let output = run(home.path(), &[*command, &["--data-dir", place]].concat());

        assert_refused(&output, 3, &["there is no avert data in", place, "--data-dir", "avert import"]);
        assert!(output.stdout.is_empty() && !mistyped.exists(), "{command:?}");
    }
}

#[test]
fn the_doctor_finds_a_place_without_data_wrong_and_makes_nothing() {
    let home = home();
    let mistyped = home.path().join("mistyped");

    let output = run(home.path(), &["doctor", "--data-dir", mistyped.to_str().unwrap()]);

    let told = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("avert.db does not exist") && told.contains("name the right --data-dir"), "{told}");
    assert!(!mistyped.exists());
}

#[test]
fn a_command_that_makes_a_new_place_says_so_the_first_time_and_never_again() {
    for command in MAKE_IT {
        let home = home();
        let made = format!("made a new data directory {}", home.path().display());

        let first = run(home.path(), command);
        let second = run(home.path(), command);

        assert_eq!(first.status.code(), Some(0), "{command:?}: {}", words(&first));
        assert!(words(&first).contains(&made), "{command:?}: {}", words(&first));
        assert!(!words(&second).contains("made a new data directory"), "{command:?}: {}", words(&second));
    }
}

#[test]
fn a_server_says_that_its_place_is_new() {
    let home = home();
    let log = home.path().join("log");
    let place = home.path().join("new");

    let server = Server::start_logging(&place, &[], fs::File::create(&log).unwrap().into());
    assert_eq!(server.terminate(), Some(0));

    let said = fs::read_to_string(log).unwrap();
    assert!(said.contains(&format!("made a new data directory {}", place.display())), "{said}");
}

#[test]
fn each_credential_is_listed_with_the_world_it_was_made_for() {
    let home = home();
    let settings = home.path().join("production.toml");
    fs::write(&settings, "environment = \"production\"\n").unwrap();
    let production = ["--config", settings.to_str().unwrap()];

    for (command, head) in [("keys", "MADE FOR"), ("clients", "MADE FOR")] {
        run_ok(home.path(), &[command, "create"]);
        run_ok(home.path(), &[&production, [command, "create"].as_slice()].concat());

        let list = parsed(&run_ok(home.path(), &[command, "list", "--output", "json"]));
        assert_eq!([&list[0]["environment"], &list[1]["environment"]], ["sandbox", "production"], "{command}");
        let table = run_ok(home.path(), &[command, "list"]);
        assert!(table.contains(head) && table.contains("sandbox") && table.contains("production"), "{table}");
    }
}

#[tokio::test]
async fn a_proxy_that_is_not_trusted_is_pointed_out_once_and_one_that_is_not_at_all() {
    let home = home();
    let (plain, trusting) = (home.path().join("plain.log"), home.path().join("trusting.log"));
    let settings = home.path().join("trusting.toml");
    fs::write(&settings, "[serve]\ntrusted_proxies = [\"127.0.0.1\"]\n").unwrap();
    let servers = [
        (Server::start_logging(&home.path().join("a"), &[], fs::File::create(&plain).unwrap().into()), plain),
        (
            Server::start_logging(
                &home.path().join("b"),
                &["--config", settings.to_str().unwrap()],
                fs::File::create(&trusting).unwrap().into(),
            ),
            trusting,
        ),
    ];

    let mut said = Vec::new();
    for (server, log) in servers {
        for _ in 0..3 {
            let request =
                reqwest::Client::new().get(format!("{}/health", server.url)).header("X-Forwarded-For", "192.0.2.7");
            assert_eq!(request.send().await.unwrap().status(), 200);
        }
        server.terminate();
        said.push(fs::read_to_string(log).unwrap().matches("name it in trusted_proxies").count());
    }

    assert_eq!(said, [1, 0]);
}

#[test]
fn what_is_revoked_already_is_said_to_be() {
    let home = home();
    for (command, member) in [("keys", "id"), ("clients", "client_id")] {
        let created = parsed(&run_ok(home.path(), &[command, "create", "--output", "json"]));
        let id = created[member].as_str().unwrap();

        let first = run_ok(home.path(), &[command, "revoke", id]);
        let revoked_at = parsed(&run_ok(home.path(), &[command, "list", "--output", "json"]))[0]["revokedAt"].clone();
        let second = run_ok(home.path(), &[command, "revoke", id]);

        assert!(first.contains("is revoked") && !first.contains("already"), "{first}");
        assert!(second.contains(&format!("{id} was revoked already, at {}", revoked_at.as_str().unwrap())), "{second}");
    }
}

/// A place with something of each kind in it.
fn furnished() -> (TempDir, Vec<Vec<String>>) {
    let home = home();
    let created = |command: &[&str], member: &str| {
        let text = run_ok(home.path(), &[command, &["--output", "json"]].concat());
        parsed(&text)[member].as_str().unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    let organization = created(&["organizations", "create", "ACME, Inc."], "id");
    let of = ["--organization", "ACME, Inc."];
    let key = created(&[["keys", "create"], of].concat(), "id");
    let client = created(&[["clients", "create"], of].concat(), "client_id");
    run_ok(home.path(), &[&["webhooks", "add", "http://127.0.0.1:9/", "--basic", "a:b"], &of[..]].concat());
    let by_id = vec!["--organization".to_owned(), organization];
    let command = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).chain(by_id.clone()).collect::<Vec<_>>();
    let commands = vec![
        vec!["organizations".to_owned(), "list".to_owned()],
        command(&["keys", "list"]),
        command(&["keys", "create", "--scope", "operator"]),
        command(&["keys", "revoke", &key]),
        command(&["clients", "list"]),
        command(&["clients", "create"]),
        command(&["clients", "revoke", &client]),
        command(&["webhooks", "list"]),
        command(&["alerts", "list"]),
    ];
    (home, commands)
}

fn output_of(home: &Path, command: &[String], form: &str) -> String {
    let words: Vec<&str> = command.iter().map(String::as_str).chain(["--output", form]).collect();
    run_ok(home, &words)
}

#[test]
fn every_verb_answers_in_every_form() {
    let (home, commands) = furnished();

    for command in &commands {
        let table = output_of(home.path(), command, "table");
        let json = parsed(&output_of(home.path(), command, "json"));
        let lines: Vec<Value> = output_of(home.path(), command, "ndjson").lines().map(parsed).collect();
        let csv = output_of(home.path(), command, "csv");

        assert!(!table.trim().is_empty(), "{command:?}");
        assert!(json.is_object() || json.is_array(), "{command:?}: {json}");
        assert!(lines.iter().all(Value::is_object), "{command:?}: {lines:?}");
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let columns = reader.headers().unwrap().len();
        let rows: Vec<_> = reader.records().map(|row| row.expect("as many cells as columns")).collect();
        assert!(columns > 1 && rows.len() == lines.len(), "{command:?}: {csv}");
        // One member of every object has a column of its own.
        if let (Some(line), Some(row)) = (lines.first(), rows.first()) {
            let named = names(line)[0];
            let column = reader
                .headers()
                .unwrap()
                .iter()
                .position(|name| name == named)
                .unwrap_or_else(|| panic!("{named} of {csv}"));
            assert!(!row[column].is_empty(), "{command:?}: {csv}");
        }
    }
}

#[test]
fn an_organization_is_found_by_name_and_by_id_and_another_name_is_misused() {
    let (home, _) = furnished();
    let all = parsed(&run_ok(home.path(), &["organizations", "list", "--output", "json"]));
    let acme = all.as_array().unwrap().iter().find(|one| one["name"] == "ACME, Inc.").unwrap();

    for named in [acme["id"].as_str().unwrap(), "ACME, Inc."] {
        let made = parsed(&run_ok(home.path(), &["keys", "create", "--organization", named, "--output", "json"]));
        assert_eq!(made["organization"], "ACME, Inc.");
    }
    let unnamed = run(home.path(), &["keys", "list"]);
    assert_refused(
        &unnamed,
        2,
        &["organization must be named", "ACME, Inc.", "default", "--organization NAME", "AVERT_ORGANIZATION"],
    );
    let another = run(home.path(), &["keys", "list", "--organization", "Acme"]);
    assert_refused(&another, 2, &["\"Acme\" is not one of", "ACME, Inc.", "default"]);
    let taken = run(home.path(), &["organizations", "create", "ACME, Inc."]);
    assert_refused(&taken, 4, &["ACME, Inc."]);
    let nameless = run(home.path(), &["organizations", "create", "  "]);
    assert_refused(&nameless, 2, &["1 to 64 characters"]);
    for command in ["keys", "clients"] {
        let missing = run(home.path(), &[command, "revoke", "nothing", "--organization", "default"]);
        assert_refused(&missing, 3, &["nothing"]);
    }
}

#[test]
fn another_organizations_key_or_client_is_not_there_to_revoke() {
    let (home, commands) = furnished();
    for command in commands.iter().filter(|command| command[1] == "revoke") {
        let output = run(home.path(), &[command[0].as_str(), "revoke", &command[2], "--organization", "default"]);

        assert_refused(&output, 3, &[&command[2]]);
        assert_eq!(parsed(&output_of(home.path(), command, "json"))["organization"], "ACME, Inc.");
    }
}

#[test]
fn every_command_and_verb_explains_itself() {
    let home = home();
    for command in [
        &["organizations"][..],
        &["organizations", "create"],
        &["organizations", "list"],
        &["keys"],
        &["keys", "create"],
        &["keys", "list"],
        &["keys", "revoke"],
        &["clients"],
        &["clients", "create"],
        &["clients", "list"],
        &["clients", "revoke"],
        &["doctor"],
        &["backup"],
        &["restore"],
        &["import"],
    ] {
        let help = run_ok(home.path(), &[command, &["--help"]].concat());

        let (first, rest) = help.split_once('\n').unwrap();
        assert!(
            first.len() > 15 && rest.contains(&format!("Usage: avert {}", command.join(" "))),
            "{command:?}: {help}"
        );
        for line in rest.lines().filter(|line| line.trim_start().starts_with("--")) {
            let words = line.split_whitespace().filter(|word| !word.starts_with(['-', '<', '['])).count();
            // Clap puts the explanation of a long flag below it.
            assert!(
                words > 0 || rest.contains(&format!("{line}\n          ")),
                "{command:?}: {line:?} is not explained"
            );
        }
    }
    let lone = run(home.path(), &["keys"]);
    assert_refused(&lone, 2, &["Usage: avert keys"]);
}

#[rstest]
#[case("", "alerts.json")]
#[case("[]", "alerts.json")]
#[case("\n\n", "alerts.ndjson")]
#[case("{\"data\": [], \"total\": 0}", "page.json")]
#[case("providerId,provider,type,amount,currency\n", "alerts.csv")]
fn a_file_without_alerts_is_said_to_hold_none_and_is_no_failure(#[case] content: &str, #[case] name: &str) {
    let home = home();
    let path = file(&home, name, content);

    let output = run(home.path(), &["import", &path]);

    assert_refused(&output, 0, &[&format!("{path} holds no alerts")]);
    assert!(String::from_utf8(output.stdout).unwrap().contains('0'));
}

#[test]
fn an_amount_with_a_fraction_in_a_currency_that_has_none_is_taken_in_with_one_warning_and_its_digits() {
    let home = home();
    let of = |number: u32, amount: &str, currency: &str| {
        let mut alert = alert(number);
        (alert["amount"], alert["currency"]) = (json!(amount), json!(currency));
        alert
    };
    let rows = [
        of(1, "203.5", "CLP"),
        of(2, "7.25", "CLP"),
        of(3, "203.0", "JPY"),
        of(4, "203", "KRW"),
        of(5, "203.55", "EUR"),
    ];

    let output = run(home.path(), &["import", &file(&home, "alerts.ndjson", &lines(rows)), "--output", "json"]);
    let listed = run(home.path(), &["alerts", "list", "currency:CLP sort:-amount", "--output", "json"]);

    let said = words(&output);
    assert!(
        said.contains(
            "warning: CLP has no decimals, and an amount is 203.5 CLP; such amounts are taken in as they came"
        ),
        "{said}"
    );
    assert_eq!((said.matches("has no decimals").count(), output.status.code()), (1, Some(0)), "{said}");
    let listed = parsed(&String::from_utf8(listed.stdout).unwrap());
    assert_eq!(listed["data"][0]["amount"], json!("203.5"), "{listed}");
}

#[test]
fn a_network_that_nobody_knows_is_taken_in_with_one_warning_and_a_currency_that_is_none_is_rejected() {
    let home = home();
    let other = |number: u32, member: &str, value: &str| {
        let mut alert = alert(number);
        alert[member] = json!(value);
        alert
    };
    let rows = [
        other(1, "provider", "DISCOVER"),
        other(2, "provider", "DISCOVER"),
        other(3, "provider", "AMEX"),
        other(4, "currency", "EURO"),
        other(5, "currency", "E1R"),
        other(6, "currency", "€"),
        other(7, "chargebackCurrency", "US"),
        other(8, "currency", "usd"),
    ];

    let output = run(home.path(), &["import", &file(&home, "alerts.ndjson", &lines(rows)), "--output", "json"]);

    let said = words(&output);
    let told = parsed(&String::from_utf8(output.stdout).unwrap());
    assert_eq!((&told["created"], &told["rejected"], output.status.code()), (&json!(4), &json!(4), Some(1)), "{said}");
    for line in [
        "line 4: currency is \"EURO\": a currency code of three letters such as EUR is needed",
        "line 5: currency is \"E1R\"",
        "line 6: currency is \"€\"",
        "line 7: chargebackCurrency is \"US\"",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert_eq!(said.matches("unknown provider \"DISCOVER\"").count(), 1, "{said}");
    assert_eq!(said.matches("unknown provider").count(), 2, "{said}");
}
