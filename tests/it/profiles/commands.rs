//! `avert profiles` and `--profile`: which deployment is meant, and what is refused.

use serde_json::{Value, json};
use wiremock::{MockServer, ResponseTemplate};

use super::{assert_refused, world, world_of};
use crate::support::{
    binary::{avert, run, run_ok},
    two_machines::{TwoMachines, errors, far_alert},
};

#[test]
fn a_profile_is_listed_in_the_form_that_scripts_rely_on() {
    let world = world();

    world.add("shop", &["--environment", "sandbox", "--read-only"]);
    world.add("other", &[]);
    world.run_ok(&["profiles", "use", "other"]);

    let url = &world.server.url;
    let one = |name: &str, read_only: bool, current: bool| {
        json!({"name": name, "url": url, "environment": "sandbox",
        "dialect": "current", "readOnly": read_only, "current": current, "credential": "file"})
    };
    let list = world.run_ok(&["profiles", "list", "--output", "json"]);
    assert_eq!(
        serde_json::from_str::<Value>(&list).unwrap(),
        json!([one("other", false, true), one("shop", true, false)])
    );
    let members: Vec<usize> = ["name", "url", "environment", "dialect", "readOnly", "current", "credential"]
        .map(|name| list.find(&format!("\"{name}\":")).unwrap())
        .into();
    assert!(members.is_sorted(), "{list}");
}

#[test]
fn the_key_is_in_the_plain_file_of_its_owner_alone_and_in_no_other() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = world();

    world.add("shop", &[]);

    let file = world.config().join("secrets.toml");
    assert_eq!(world.files_with(&world.key), std::slice::from_ref(&file));
    for file in [file, world.config().join("profiles.toml")] {
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600, "{}", file.display());
    }
}

#[test]
fn a_credential_that_an_earlier_profile_left_behind_goes_to_no_other_address() {
    let world = world();
    world.add("shop", &[]);
    std::fs::remove_file(world.config().join("profiles.toml")).unwrap();

    let added = world.run(&["profiles", "add", "shop", "--url", "https://elsewhere.example"]);

    assert!(added.status.success(), "{}", errors(&added));
    assert!(world.files_with(&world.key).is_empty(), "{:?}", world.files_with(&world.key));
}

#[test]
fn the_profile_of_the_environment_is_shown_where_none_is_named() {
    let world = world();
    world.add("shop", &[]);
    world.add("other", &[]);

    let shown = world.command(&["profiles", "show", "--output", "json"]).env("AVERT_PROFILE", "shop").output().unwrap();

    assert_eq!(serde_json::from_slice::<Value>(&shown.stdout).unwrap()["name"], "shop", "{}", errors(&shown));
}

#[test]
fn commands_work_on_the_profile_that_is_named_and_else_on_the_current_one() {
    let world = world();
    world.add("shop", &[]);
    let named = ["alerts", "list", "--profile", "shop"];

    assert_eq!(world.json(&named)["total"], 2);
    assert_eq!(world.json(&["--profile", "shop", "alerts", "list"])["total"], 2);
    let by_variable =
        world.command(&["alerts", "list", "--output", "json"]).env("AVERT_PROFILE", "shop").output().unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&by_variable.stdout).unwrap()["total"], 2, "{}", errors(&by_variable));
    assert_refused(&world.run(&["alerts", "list"]), 3, &["there is no avert data in"]);
    world.run_ok(&["profiles", "use", "shop"]);
    assert_eq!(world.json(&["alerts", "list"])["total"], 2);
}

#[test]
fn this_machine_is_meant_by_its_data_directory_and_by_the_name_local() {
    let world = world();
    world.add("shop", &[]);
    world.run_ok(&["profiles", "use", "shop"]);
    let empty = world.desk.path().join("empty");
    let here = "there is no avert data in";

    assert_refused(&world.run(&["alerts", "list", "--data-dir", empty.to_str().unwrap()]), 3, &[here]);
    assert_refused(&world.run(&["alerts", "list", "--profile", "local"]), 3, &[here]);
    assert_refused(&world.run(&["keys", "list"]), 3, &[here]);
    world.run_ok(&["profiles", "use", "local"]);
    assert_refused(&world.run(&["alerts", "list"]), 3, &[here]);
}

#[test]
fn two_deployments_at_once_are_refused() {
    let world = world();
    world.add("shop", &[]);
    let url = &world.server.url;

    assert_refused(&world.run(&["alerts", "list", "--profile", "shop", "--url", url]), 2, &["--profile and --url"]);
    let by_variable = world.command(&["alerts", "list", "--url", url]).env("AVERT_PROFILE", "shop").output().unwrap();
    assert_refused(&by_variable, 2, &["AVERT_PROFILE and --url"]);
    let by_variables =
        world.command(&["alerts", "list"]).env("AVERT_PROFILE", "shop").env("AVERT_URL", url).output().unwrap();
    assert_refused(&by_variables, 2, &["AVERT_PROFILE and AVERT_URL"]);
    assert_refused(&world.run(&["keys", "list", "--profile", "shop"]), 2, &["--profile"]);
}

#[test]
fn an_address_sets_the_current_profile_aside() {
    let world = world();
    world.write("nowhere", "avk_test_0_none");
    let nowhere = world.desk.path().join("nowhere").to_str().unwrap().to_owned();
    world.run_ok(&[
        "profiles",
        "add",
        "far",
        "--url",
        "http://127.0.0.1:9",
        "--api-key-file",
        &nowhere,
        "--plain-secrets",
    ]);
    world.run_ok(&["profiles", "use", "far"]);

    let page = world.json(&["alerts", "list", "--url", &world.server.url, "--api-key-file", &world.key_file()]);

    assert_eq!(page["total"], 2);
}

#[test]
fn a_key_of_the_environment_beats_the_one_that_is_kept() {
    let world = world();
    world.write("key", "avk_test_0_wrong");
    world.add("shop", &[]);
    let list = ["alerts", "list", "--profile", "shop", "--output", "json"];

    let kept = world.run(&list);
    let by_variable = world.command(&list).env("AVERT_API_KEY", &world.key).output().unwrap();
    let listed =
        world.command(&["profiles", "list", "--output", "json"]).env("AVERT_API_KEY", &world.key).output().unwrap();

    assert_refused(&kept, 5, &["not authorized"]);
    assert!(by_variable.status.success(), "{}", errors(&by_variable));
    assert_eq!(serde_json::from_slice::<Value>(&listed.stdout).unwrap()[0]["credential"], "environment");
}

#[test]
fn a_profile_of_client_credentials_speaks_the_older_dialect() {
    let world = world();
    let client: Value =
        serde_json::from_str(&run_ok(world.engine.path(), &["clients", "create", "--output", "json"])).unwrap();
    let (id, secret) = (client["client_id"].as_str().unwrap(), client["client_secret"].as_str().unwrap());
    let file = world.write("secret", secret);
    let url = &world.server.url;

    world.run_ok(&[
        "profiles",
        "add",
        "shop",
        "--url",
        url,
        "--client-id",
        id,
        "--client-secret-file",
        &file,
        "--plain-secrets",
    ]);

    let shown = world.json(&["profiles", "show", "shop"]);
    assert_eq!(
        (&shown["dialect"], &shown["clientId"], &shown["environment"]),
        (&json!("older"), &json!(id), &json!("sandbox"))
    );
    assert_eq!(world.json(&["alerts", "list", "--profile", "shop"])["total"], 2);
    let file = world.config().join("secrets.toml");
    assert!(world.files_with(secret).iter().all(|found| *found == file || found.ends_with("secret")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_on_a_read_only_profile_ends_with_5_and_nothing_is_sent() {
    let server = MockServer::start().await;
    wiremock::Mock::given(wiremock::matchers::any()).respond_with(ResponseTemplate::new(500)).mount(&server).await;
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("key"), "k").unwrap();
    let (url, file) = (server.uri(), home.path().join("key").to_str().unwrap().to_owned());
    let add = ["profiles", "add", "shop", "--url", &url, "--api-key-file", &file, "--plain-secrets", "--read-only"];
    assert!(run(home.path(), &add).status.success());
    let id = "018f0000-0000-7000-8000-000000000001";
    let resolve = ["alerts", "resolve", id, "--refunded", "refunded", "--yes", "--profile", "shop"];

    let refused = run(home.path(), &resolve);

    assert_refused(&refused, 5, &["read-only"]);
    assert_eq!(server.received_requests().await.unwrap().len(), 0);
}

#[test]
fn removing_a_profile_removes_its_credentials() {
    let world = world();
    let operator = world.write("operator", "avk_test_0_operator");
    world.add("shop", &["--operator-key-file", &operator]);
    world.run_ok(&["profiles", "use", "shop"]);
    assert!(!world.files_with(&world.key).is_empty());

    let said = world.run_ok(&["profiles", "remove", "shop"]);

    assert!(said.contains("profile shop and its credential removed"), "{said}");
    assert_eq!(world.files_with(&world.key), [""; 0].map(std::path::PathBuf::from));
    assert!(!world.config().join("secrets.toml").exists());
    assert_eq!(world.json(&["profiles", "list"]), json!([]));
    assert_refused(&world.run(&["alerts", "list"]), 3, &["there is no avert data in"]);
}

#[test]
fn a_profile_without_a_credential_says_how_it_gets_one() {
    let world = world();
    world.run_ok(&["profiles", "add", "shop", "--url", &world.server.url]);

    let refused = world.run(&["alerts", "list", "--profile", "shop"]);

    assert_refused(&refused, 5, &["profile shop has no credential", "avert login shop", "AVERT_API_KEY"]);
    assert_eq!(world.json(&["profiles", "list"])[0]["credential"], "none");
    assert_eq!(world.json(&["profiles", "list"])[0]["environment"], Value::Null);
}

#[test]
fn what_cannot_be_a_profile_is_refused_and_nothing_is_kept() {
    let world = world();
    world.add("shop", &[]);
    let url = world.server.url.clone();
    let key = world.key_file();
    let live = world.write("live", "avk_live_0_x");
    let add = |arguments: &[&str]| world.run(&[&["profiles", "add"], arguments].concat());

    assert_refused(&add(&["Shop", "--url", &url]), 4, &["there is a profile shop already"]);
    assert_refused(&add(&["local", "--url", &url]), 2, &["this machine's own desk"]);
    assert_refused(&add(&["a/b", "--url", &url]), 2, &["letters, digits"]);
    assert_refused(&add(&["other"]), 2, &["--url URL is needed", "without a terminal nothing is asked"]);
    assert_refused(&add(&["other", "--url", "http://alerts.example"]), 2, &["--insecure-http"]);
    assert_refused(&add(&["other", "--url", &url, "--client-id", "i"]), 2, &["--client-secret-file"]);
    assert_refused(&add(&["other", "--url", &url, "--api-key-file", &key, "--api-key", "x"]), 2, &["--api-key"]);
    assert_refused(
        &add(&["other", "--url", &url, "--environment", "sandbox", "--api-key-file", &live, "--plain-secrets"]),
        2,
        &["said to be sandbox", "says production"],
    );
    assert_refused(&world.run(&["profiles", "use", "other"]), 3, &["there is no profile other: there are shop"]);
    assert_refused(&world.run(&["alerts", "list", "--profile", "other"]), 3, &["there is no profile other"]);
    assert_eq!(world.json(&["profiles", "list"]).as_array().unwrap().len(), 1);
}

#[test]
fn a_wrong_line_of_the_file_is_named_and_the_file_is_left_alone() {
    let world = world();
    world.add("shop", &[]);
    let file = world.config().join("profiles.toml");
    let text = std::fs::read_to_string(&file).unwrap() + "colour = \"red\"\n";
    std::fs::write(&file, &text).unwrap();
    let line = format!("profiles.toml, line {}: unknown field `colour`", text.lines().count());

    assert_refused(&world.run(&["alerts", "list", "--profile", "shop"]), 2, &[&line]);
    assert_refused(&world.run(&["profiles", "remove", "shop"]), 2, &[&line]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    assert!(avert(world.engine.path(), &["keys", "list"]).output().unwrap().status.success());
}

#[test]
fn a_wrong_line_of_the_plain_credentials_is_told_without_what_stands_there() {
    let world = world();
    world.add("shop", &[]);
    std::fs::write(world.config().join("secrets.toml"), "shop = avk_test_1_s3cret\n").unwrap();

    let refused = world.run(&["alerts", "list", "--profile", "shop"]);

    assert_refused(&refused, 2, &["secrets.toml", "both in double quotes"]);
    assert!(!errors(&refused).contains("s3cret"), "{}", errors(&refused));
}

#[test]
fn a_live_key_makes_its_profile_one_of_production() {
    let world = world_of("production");

    let said = world.add("shop", &[]);

    assert!(said.contains("profile shop added: production at http://127.0.0.1"), "{said}");
    assert_eq!(world.json(&["profiles", "list"])[0]["environment"], "production");
}

#[test]
fn the_doctor_misses_no_database_where_only_profiles_are_worked_with() {
    let world = world();
    let told = |output: &std::process::Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let alone = world.run(&["doctor"]);
    world.add("shop", &[]);

    let with_profile = world.run(&["doctor"]);

    assert_eq!((alone.status.code(), with_profile.status.code()), (Some(1), Some(0)), "{}", told(&with_profile));
    assert!(
        told(&with_profile).contains("nothing, where only the profiles are worked with"),
        "{}",
        told(&with_profile)
    );
}

#[test]
fn the_doctor_sees_what_is_wrong_with_profiles() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = world();
    world.add("shop", &[]);
    let file = world.config().join("profiles.toml");
    let found = |world: &TwoMachines| {
        let told = world.run(&["doctor", "--output", "json"]).stdout;
        let told: Value = serde_json::from_slice(&told).unwrap();
        let ours = told["checks"].as_array().unwrap().iter().filter(|check| check["check"] == "profiles");
        ours.map(|check| format!("{} {}", check["state"].as_str().unwrap(), check["found"].as_str().unwrap()))
            .collect::<Vec<_>>()
    };

    assert_eq!(found(&world), ["ok 1 profile, every line is understood"]);
    std::fs::set_permissions(world.config().join("secrets.toml"), std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(found(&world)[1].ends_with("secrets.toml is open to other users"), "{:?}", found(&world));
    std::fs::write(&file, "current = \"gone\"\n").unwrap();
    assert!(found(&world)[0].contains("the current profile is gone"), "{:?}", found(&world));
    std::fs::write(&file, "currant = 1\n").unwrap();
    assert!(found(&world)[0].starts_with("wrong ") && found(&world)[0].contains("line 1"), "{:?}", found(&world));
}

#[test]
fn a_settings_file_may_be_named_by_its_bare_name() {
    let world = world();
    world.write("here.toml", "");
    let (key, url) = (world.key_file(), world.server.url.clone());
    let mut add = world.command(&[
        "profiles",
        "add",
        "shop",
        "--url",
        &url,
        "--api-key-file",
        &key,
        "--plain-secrets",
        "--config",
        "here.toml",
    ]);

    let added = add.current_dir(world.desk.path()).output().unwrap();

    assert!(added.status.success(), "{}", errors(&added));
    assert!(world.desk.path().join("secrets.toml").exists());
}

#[test]
fn a_decision_with_a_key_of_both_scopes_is_a_persons_and_compared_by_every_fact() {
    let on_one_payment = (1..=2).map(|number| {
        let mut alert = far_alert(number, if number == 1 { "ETHOCA" } else { "CDRN" }, "ETHOCA_CUSTOMER_DISPUTE");
        alert["acquirerReferenceNumber"] = "74537604221234567890123".into();
        alert
    });
    let world = TwoMachines::of("sandbox", "", on_one_payment);
    world.write("key", run_ok(world.engine.path(), &["keys", "create", "--scope", "alerts,operator"]).trim());
    world.add("shop", &[]);
    let refund = |alert: &str| {
        let mut command =
            world.command(&["alerts", "resolve", alert, "--refunded", "refunded", "--yes", "--profile", "shop"]);
        command.env("AVERT_USER", "anna").output().unwrap()
    };
    let first = refund("FAR-1");

    let second = refund("FAR-2");

    assert!(first.status.success(), "{}", errors(&first));
    assert!(errors(&second).contains("warning:") && errors(&second).contains("FAR-1"), "{}", errors(&second));
    let log = rusqlite::Connection::open(world.engine.path().join("avert.db")).unwrap();
    let by_anna: u32 = log.query_row("SELECT count(*) FROM audit WHERE person = 'anna'", [], |row| row.get(0)).unwrap();
    assert_eq!(by_anna, 2);
    let journal = world.run_ok(&["journal", "export", "--profile", "shop", "--output", "json"]);
    let journal: Value = serde_json::from_str(&journal).unwrap();
    let says = |at: usize| ["user", "place", "fate"].map(|name| journal[at][name].as_str().unwrap());
    assert_eq!([says(0), says(1)], [["anna", "shop", "recorded"]; 2]);
}
