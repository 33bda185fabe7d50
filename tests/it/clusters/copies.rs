//! A desk is copied from a file to a server and back: everything arrives, nothing of another desk is touched, and a
//! copy is found to be one.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Output, Stdio},
};

use avert::{
    domain::database::DatabaseLocation,
    store::{
        StoreError,
        transfer::{CopyKeys, transfer},
    },
};
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::{
    binary::{Server, avert, run, run_ok},
    cluster::Cluster,
    operations::{alerts, import, refused},
    receiver::Receiver,
    tls::Authority,
};

/// A desk in a file, with something in every table that people fill; its key of scope alerts.
async fn desk(home: &Path, receiver: &Receiver) -> String {
    import(home, &alerts(1..=4));
    run_ok(home, &["organizations", "create", "second"]);
    let key = run_ok(home, &["keys", "create", "--organization", "default"]).trim().to_owned();
    run_ok(home, &["clients", "create", "--organization", "second"]);
    let url = format!("{}?token=stapler", receiver.url());
    let ca_file = Authority::new().file(home);
    let (credential, ca_file) = (["--basic", "shop:hunter22", "--sign"], ["--ca-file", ca_file.to_str().unwrap()]);
    run_ok(home, &[&["webhooks", "add", &url, "--organization", "default"][..], &credential, &ca_file].concat());
    let server = Server::start(home, &[]);
    bring_and_decide(&server.url, home, &key).await;
    receiver.wait_for(2).await;
    assert_eq!(server.terminate(), Some(0));
    key
}

/// Brings one alert in by the command line, and decides it over HTTP.
async fn bring_and_decide(url: &str, home: &Path, key: &str) {
    let file = home.join("one.ndjson");
    fs::write(&file, alerts([rand::random_range(1_000..9_999_999)])).unwrap();
    run_ok(home, &["import", file.to_str().unwrap(), "--organization", "default"]);
    decide(url, key).await;
}

/// Decides an open alert over HTTP.
async fn decide(url: &str, key: &str) {
    let client = reqwest::Client::new();
    let list = client.get(format!("{url}/api/v1/alerts?status=OPEN")).header("X-API-KEY", key).send().await.unwrap();
    let page: Value = list.json().await.unwrap();
    let id = page["data"][0]["id"].as_str().unwrap_or_else(|| panic!("{page}"));
    let decision = client.put(format!("{url}/api/v1/alerts/{id}/resolution")).header("X-API-KEY", key);
    assert_eq!(decision.json(&json!({"refunded": "REFUNDED"})).send().await.unwrap().status(), 200);
}

fn file_of(home: &Path) -> String {
    format!("sqlite:{}", home.join("avert.db").display())
}

fn copy(home: &Path, from: &str, to: &str, further: &[&str]) -> Output {
    avert(home, &[&["copy", "--from", from, "--to", to, "--output", "json"], further].concat()).output().unwrap()
}

/// The counts of a copy that has to succeed, by table: both ends have the same.
#[track_caller]
fn copied(output: &Output) -> Vec<(String, u64)> {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let tables = told["tables"].as_array().unwrap().iter();
    tables
        .map(|table| {
            (
                table["table"].as_str().unwrap().to_owned(),
                table["to"].as_u64().filter(|to| table["from"] == *to).unwrap(),
            )
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_arrives_on_a_server_and_comes_back() {
    let Some(cluster) = Cluster::empty().await else { return };
    let (home, receiver) = (tempfile::tempdir().unwrap(), Receiver::start().await);
    let key = desk(home.path(), &receiver).await;
    fs::copy(home.path().join("secret.key"), cluster.key_file()).unwrap();

    let there = copied(&copy(home.path(), &file_of(home.path()), &cluster.address(), &[]));
    let again = copied(&copy(home.path(), &file_of(home.path()), &cluster.address(), &[]));
    cluster.run_ok("a", &["doctor"]);
    let exported = |text: String| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    let in_file = exported(run_ok(home.path(), &["alerts", "export", "--organization", "default"]));
    let on_server = exported(cluster.run_ok("a", &["alerts", "export", "--organization", "default"]));
    let endpoints = cluster.run_ok("a", &["webhooks", "list", "--organization", "default", "--output", "json"]);
    let server = cluster.serve("a", &[]);
    decide(&server.url, &key).await;
    let heard = receiver.wait_for(3).await;
    assert_eq!(server.terminate(), Some(0));
    let back = tempfile::tempdir().unwrap();
    let key_file = cluster.key_file();
    let output =
        avert(back.path(), &["copy", "--from", &cluster.address(), "--to", &file_of(back.path()), "--output", "json"]);
    let output = { output }.env("AVERT_SECRET_KEY_FILE", &key_file).output().unwrap();
    let (home_again, told) = (copied(&output), String::from_utf8(output.stderr).unwrap());

    assert_eq!(there, again);
    let count = |tables: &[(String, u64)], name: &str| tables.iter().find(|(table, _)| table == name).unwrap().1;
    for (table, rows) in [
        ("alert", 5),
        ("outcome", 1),
        ("organization", 2),
        ("api_key", 1),
        ("client", 1),
        ("endpoint", 1),
        ("event", 2),
    ] {
        assert_eq!(count(&there, table), rows, "{table}: {there:?}");
    }
    assert!(
        ["signing_secret", "delivery", "delivery_attempt", "resolution_attempt", "audit"]
            .iter()
            .all(|table| count(&there, table) > 0)
    );
    assert_eq!(on_server, in_file);
    assert!(endpoints.contains("\"hasCaCertificate\": true"), "{endpoints}");
    let [.., last] = heard.as_slice() else { panic!("nothing was heard") };
    assert!(last.header("authorization").starts_with("Basic ") && !last.header("webhook-signature").is_empty());
    assert_eq!((count(&home_again, "outcome"), count(&home_again, "alert")), (2, 5));
    let mode = fs::metadata(back.path().join("avert.db")).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600, "nobody else can read it");
    assert!(told.contains("sealed with the data key of database "), "{told}");
    fs::copy(&key_file, back.path().join("secret.key")).unwrap();
    run_ok(back.path(), &["doctor"]);
    let server = Server::start(back.path(), &[]);
    bring_and_decide(&server.url, back.path(), &key).await;
    assert_eq!(receiver.wait_for(5).await.len(), 5);
    assert_eq!(
        run_ok(back.path(), &["alerts", "list", "--q", "ACME", "--organization", "default", "--output", "json"])
            .matches("providerId")
            .count(),
        6
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_desk_with_several_outcomes_on_each_day_arrives() {
    let Some(cluster) = Cluster::empty().await else { return };
    let home = tempfile::tempdir().unwrap();
    run_ok(home.path(), &["generate", "--alerts", "1000", "--years", "1", "--organizations", "1"]);

    let there = copied(&copy(home.path(), &file_of(home.path()), &cluster.address(), &[]));

    assert!(there.contains(&("alert".to_owned(), 1_000)), "{there:?}");
}

/// A desk of so many made-up alerts in a file.
fn generated(home: &Path, alerts: u32) {
    run_ok(home, &["generate", "--alerts", &alerts.to_string(), "--years", "1", "--organizations", "2"]);
}

/// Starts a copy and kills it as soon as this is so. False where it had ended by then.
async fn kill_a_copy(home: &Path, from: &str, to: &str, mut is_time: impl AsyncFnMut() -> bool) -> bool {
    let mut copy =
        avert(home, &["copy", "--from", from, "--to", to]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !is_time().await && copy.try_wait().unwrap().is_none() {
        tokio::task::yield_now().await;
    }
    copy.kill().unwrap();
    !copy.wait().unwrap().success()
}

/// What was told of alerts, without what is left of their time: that runs on between two tellings.
fn not_running_on(told: &str) -> Vec<String> {
    told.lines().filter(|line| !line.contains("\"hoursLeft\"")).map(str::to_owned).collect()
}

/// Every kind of command, and the doctor.
const REFUSED: [&[&str]; 7] = [
    &["serve", "--listen", "127.0.0.1:0"],
    &["alerts", "list"],
    &["organizations", "create", "late"],
    &["keys", "create"],
    &["migrate"],
    &["migrate", "--check"],
    &["doctor", "--output", "json"],
];

/// What a refused command has said, on either stream.
fn all_said(output: &Output) -> String {
    // A check of the schema tells what is none of avert's from steps that wait.
    assert!(matches!(output.status.code(), Some(1 | 4)), "{output:?}");
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Has the server hold a copy up before alerts with a greater key than this, until the second session lets go of it.
async fn hold_up(hands: &tokio_postgres::Client, key: i64) {
    hands
        .batch_execute(&format!(
            "CREATE FUNCTION held_up() RETURNS bool LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(7); \
                RETURN true; END $$;
             ALTER TABLE alert ADD CONSTRAINT held_up CHECK (key <= {key} OR held_up()) NOT VALID;
             SELECT pg_advisory_lock(7)"
        ))
        .await
        .unwrap();
}

async fn let_go(hands: &tokio_postgres::Client) {
    let gone = "SELECT pg_advisory_unlock(7); ALTER TABLE alert DROP CONSTRAINT held_up; DROP FUNCTION held_up()";
    hands.batch_execute(gone).await.unwrap();
}

/// Whether a session waits for the one that holds it up.
async fn is_held_up(hands: &tokio_postgres::Client) -> bool {
    let waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    hands.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) > 0
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_node_put_down_in_the_audit_log_is_in_the_copy() {
    let Some(cluster) = Cluster::migrated().await else { return };
    cluster.run_ok("a", &["keys", "create"]);
    let put_down = "INSERT INTO audit_pending (at, organization, actor, origin, action, subject, detail, person)
        SELECT 0, key, 'local', '', 'key.revoked', 'x', '', '' FROM organization";
    cluster.database.client().await.batch_execute(put_down).await.unwrap();
    let back = tempfile::tempdir().unwrap();
    let output =
        avert(back.path(), &["copy", "--from", &cluster.address(), "--to", &file_of(back.path()), "--output", "json"]);

    let there = copied(&{ output }.env("AVERT_SECRET_KEY_FILE", cluster.key_file()).output().unwrap());

    assert!(there.contains(&("audit".to_owned(), 2)), "{there:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_to_a_server_that_was_killed_is_refused_by_all_and_begins_anew() {
    let (Some(cluster), Some(whole)) = (Cluster::empty().await, Cluster::empty().await) else { return };
    let home = tempfile::tempdir().unwrap();
    generated(home.path(), 5_000);
    fs::copy(home.path().join("secret.key"), cluster.key_file()).unwrap();
    cluster.run_ok("a", &["migrate"]);
    let (hands, file) = (cluster.database.client().await, file_of(home.path()));
    hold_up(&hands, 2_000).await;

    assert!(kill_a_copy(home.path(), &file, &cluster.address(), async || is_held_up(&hands).await).await);
    let words = REFUSED.map(|command| all_said(&cluster.run("a", command)));
    let_go(&hands).await;
    let arrived: i64 = hands.query_one("SELECT count(*) FROM alert", &[]).await.unwrap().get(0);
    let output = copy(home.path(), &file, &cluster.address(), &[]);
    let in_one_go = copied(&copy(home.path(), &file, &whole.address(), &[]));
    let again = copied(&copy(home.path(), &file, &cluster.address(), &[]));

    for said in words {
        assert!(
            said.contains("is an unfinished copy of /") && said.contains("run the same `avert copy` again"),
            "{said}"
        );
    }
    assert_eq!(arrived, 2_000, "what was on its way was not kept");
    let begun_anew = copied(&output);
    assert!(String::from_utf8_lossy(&output.stderr).contains("begins anew"), "{output:?}");
    assert_eq!((&begun_anew, &again), (&in_one_go, &in_one_go));
    cluster.run_ok("a", &["doctor"]);
    let found = |cluster: &Cluster| {
        not_running_on(&cluster.run_ok("a", &["alerts", "find", "a", "--organization", "default", "--output", "json"]))
    };
    fs::copy(home.path().join("secret.key"), whole.key_file()).unwrap();
    assert_eq!(found(&cluster), found(&whole));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_to_a_file_that_was_killed_is_refused_by_all_and_begins_anew() {
    let Some(cluster) = Cluster::migrated().await else { return };
    let whole = tempfile::tempdir().unwrap();
    cluster.run_ok("a", &["generate", "--alerts", "4000", "--years", "1", "--organizations", "2"]);
    let some_have_arrived = |file: &Path| {
        let conn = rusqlite::Connection::open_with_flags(file, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY);
        let count =
            |conn: rusqlite::Connection| conn.query_row("SELECT count(*) FROM alert", [], |row| row.get::<_, i64>(0));
        conn.and_then(count).is_ok_and(|alerts| alerts > 0)
    };

    // A copy may have ended before it is killed.
    let home = loop {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("avert.db");
        let (from, to) = (cluster.address(), file_of(home.path()));
        if kill_a_copy(home.path(), &from, &to, async || some_have_arrived(&file)).await {
            break home;
        }
    };
    let words = REFUSED.map(|command| all_said(&run(home.path(), command)));
    let backup = all_said(&run(home.path(), &["backup", home.path().join("b").to_str().unwrap()]));
    let output = copy(home.path(), &cluster.address(), &file_of(home.path()), &[]);
    let in_one_go = copied(&copy(whole.path(), &cluster.address(), &file_of(whole.path()), &[]));
    let again = copied(&copy(home.path(), &cluster.address(), &file_of(home.path()), &[]));

    for said in words.iter().chain([&backup]) {
        assert!(
            said.contains("is an unfinished copy of database ") && said.contains("run the same `avert copy` again"),
            "{said}"
        );
    }
    let begun_anew = copied(&output);
    assert!(String::from_utf8_lossy(&output.stderr).contains("begins anew"), "{output:?}");
    assert_eq!((&begun_anew, &again), (&in_one_go, &in_one_go));
    for directory in [home.path(), whole.path()] {
        fs::copy(cluster.key_file(), directory.join("secret.key")).unwrap();
        run_ok(directory, &["doctor"]);
    }
    let found = |directory: &Path| {
        not_running_on(&run_ok(directory, &["alerts", "find", "a", "--organization", "default", "--output", "json"]))
    };
    assert_eq!(found(home.path()), found(whole.path()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_off_copy_begins_anew_with_what_has_changed_since_and_one_of_another_desk_is_refused() {
    let Some(cluster) = Cluster::empty().await else { return };
    let (home, other, receiver) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), Receiver::start().await);
    desk(home.path(), &receiver).await;
    run_ok(other.path(), &["keys", "create"]);
    cluster.run_ok("a", &["migrate"]);
    let hands = cluster.database.client().await;
    hands
        .batch_execute(
            "CREATE FUNCTION broken() RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'broken off'; END $$;
             ALTER TABLE audit_start ADD CONSTRAINT broken CHECK (broken()) NOT VALID",
        )
        .await
        .unwrap();

    let broken = refused(&copy(home.path(), &file_of(home.path()), &cluster.address(), &[]), 1);
    hands.batch_execute("ALTER TABLE audit_start DROP CONSTRAINT broken").await.unwrap();
    let of_another = refused(&copy(home.path(), &file_of(other.path()), &cluster.address(), &[]), 1);
    run_ok(home.path(), &["organizations", "create", "third"]);
    let output = copy(home.path(), &file_of(home.path()), &cluster.address(), &[]);

    assert!(broken.contains("broken off"), "{broken}");
    assert!(of_another.contains("holds an unfinished copy of another desk"), "{of_another}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("begins anew"), "{output:?}");
    assert!(copied(&output).contains(&("organization".to_owned(), 3)));
    fs::copy(home.path().join("secret.key"), cluster.key_file()).unwrap();
    cluster.run_ok("a", &["doctor"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_desk_another_program_and_a_source_at_work_are_refused_and_left_as_they_are() {
    let (Some(other), Some(foreign)) = (Cluster::migrated().await, Cluster::empty().await) else { return };
    let (home, receiver) = (tempfile::tempdir().unwrap(), Receiver::start().await);
    desk(home.path(), &receiver).await;
    other.key("alerts");
    foreign.database.client().await.batch_execute("CREATE TABLE bookmarks (url text)").await.unwrap();
    let file = file_of(home.path());

    let to_another = refused(&copy(home.path(), &file, &other.address(), &[]), 1);
    let to_a_foreign = refused(&copy(home.path(), &file, &foreign.address(), &[]), 1);
    let to_itself = refused(&copy(home.path(), &file, &file, &[]), 2);
    let beside = format!("sqlite:{}", home.path().join("other.db").display());
    let to_a_file_beside = refused(&copy(home.path(), &file, &beside, &[]), 2);
    let from_nothing = refused(&copy(home.path(), "sqlite:/nowhere/avert.db", &other.address(), &[]), 3);
    let server = Server::start(home.path(), &[]);
    let at_work = refused(&copy(home.path(), &file, &foreign.address(), &[]), 1);
    drop(server);
    let node = other.serve("a", &[]);
    let back = tempfile::tempdir().unwrap();
    let served = refused(&copy(back.path(), &other.address(), &file_of(back.path()), &[]), 1);
    assert_eq!(node.terminate(), Some(0));

    assert!(to_another.contains("holds another desk"), "{to_another}");
    assert!(to_a_foreign.contains("another program"), "{to_a_foreign}");
    assert!(to_itself.contains("name one database"), "{to_itself}");
    assert!(to_a_file_beside.contains("name another directory"), "{to_a_file_beside}");
    assert!(!home.path().join("other.db").exists());
    assert!(from_nothing.contains("/nowhere"), "{from_nothing}");
    assert!(
        at_work.contains("another avert works on it") && served.contains("another avert works on it"),
        "{at_work} {served}"
    );
    let (keys, tables) = (other.run_ok("a", &["keys", "list", "--output", "json"]), foreign.database.client().await);
    assert_eq!(serde_json::from_str::<Value>(&keys).unwrap().as_array().map(Vec::len), Some(1));
    let tables: i64 =
        tables.query_one("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", &[]).await.unwrap().get(0);
    assert_eq!(tables, 1);
    assert!(!back.path().join("avert.db").exists());
}

#[rstest]
#[case::by_a_process("INSERT INTO instance VALUES (gen_random_uuid(), clock_timestamp())")]
#[case::in_what_is_seen("SELECT nextval('change_number')")]
#[case::in_what_is_audited("UPDATE audit_head SET number = number + 1")]
#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_is_worked_on_while_it_is_copied_is_told_and_the_copy_stays_unfinished(#[case] work: &str) {
    let (Some(cluster), Some(target)) = (Cluster::migrated().await, Cluster::empty().await) else { return };
    cluster.key("alerts");
    let hands = cluster.database.client().await;
    let (from, to) =
        (DatabaseLocation::Postgres(cluster.database.server()), DatabaseLocation::Postgres(target.database.server()));
    let mut works = 0;

    let keys = CopyKeys::default();
    let copied = transfer(&from, &to, &keys, |_| {
        if works == 0 {
            tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(hands.batch_execute(work)))
                .unwrap();
        }
        works += 1;
    });
    let Err(StoreError::Unusable(told)) = copied.await else { panic!("it was copied") };

    let said = all_said(&target.run("a", &["alerts", "list"]));
    assert!(told.contains("was worked on while it was copied") && works > 0, "{told}");
    assert!(said.contains("is an unfinished copy of"), "{said}");
}

#[test]
fn a_copied_file_gets_its_key_also_later_and_another_key_there_is_told() {
    let (home, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run_ok(home.path(), &["keys", "create"]);
    let copy_there = || copy(home.path(), &file_of(home.path()), &file_of(there.path()), &[]);
    let (key, place) = (fs::read(home.path().join("secret.key")).unwrap(), there.path().join("secret.key"));

    copied(&copy_there());
    fs::remove_file(&place).unwrap();
    copied(&copy_there());
    let brought = fs::read(&place).unwrap();
    let another = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n";
    fs::write(&place, another).unwrap();
    let told = refused(&copy_there(), 1);

    assert_eq!(brought, key);
    assert!(
        told.contains("is another key") && told.contains(home.path().join("secret.key").to_str().unwrap()),
        "{told}"
    );
    assert_eq!(fs::read_to_string(&place).unwrap(), another, "it is somebody's");
    fs::write(&place, key).unwrap();
    run_ok(there.path(), &["doctor"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_may_be_sealed_with_another_key() {
    let Some(cluster) = Cluster::empty().await else { return };
    let (home, receiver) = (tempfile::tempdir().unwrap(), Receiver::start().await);
    let key = desk(home.path(), &receiver).await;
    let key_file = cluster.key_file();

    let made = copied(&copy(
        home.path(),
        &file_of(home.path()),
        &cluster.address(),
        &["--to-secret-key-file", key_file.to_str().unwrap()],
    ));
    let again = copied(&copy(
        home.path(),
        &file_of(home.path()),
        &cluster.address(),
        &["--to-secret-key-file", key_file.to_str().unwrap()],
    ));
    let mut with_the_old = cluster.command("a", &["keys", "list"]);
    let with_the_old =
        refused(&with_the_old.env("AVERT_SECRET_KEY_FILE", home.path().join("secret.key")).output().unwrap(), 1);
    let server = cluster.serve("a", &[]);
    decide(&server.url, &key).await;
    let heard = receiver.wait_for(3).await;

    assert_eq!(made, again);
    assert!(with_the_old.contains("not the key"), "{with_the_old}");
    assert_ne!(fs::read(&key_file).unwrap(), fs::read(home.path().join("secret.key")).unwrap());
    assert_eq!(heard[2].header("authorization"), heard[0].header("authorization"));
    assert_eq!(heard[2].path, heard[0].path);
    assert_eq!(server.terminate(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_not_the_sources_is_refused_and_one_that_is_not_named_is_asked_for() {
    let (Some(cluster), Some(target)) = (Cluster::migrated().await, Cluster::empty().await) else { return };
    cluster.key("alerts");
    let home = tempfile::tempdir().unwrap();
    let another = home.path().join("another.key");
    fs::write(&another, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n").unwrap();
    let with_key = |to: &str, key: &Path| {
        avert(home.path(), &["copy", "--from", &cluster.address(), "--to", to])
            .env("AVERT_SECRET_KEY_FILE", key)
            .output()
            .unwrap()
    };

    let wrong = refused(&with_key(&file_of(home.path()), &another), 1);
    let missing = refused(&with_key(&file_of(home.path()), &home.path().join("nowhere.key")), 1);
    let unnamed = run(home.path(), &["copy", "--from", &cluster.address(), "--to", &target.address()]);

    assert!(
        wrong.contains("is not the key that the source was sealed with") && wrong.contains("another.key"),
        "{wrong}"
    );
    assert!(missing.contains("nowhere.key"), "{missing}");
    assert!(!home.path().join("avert.db").exists());
    let told = String::from_utf8(unnamed.stderr).unwrap();
    assert_eq!(unnamed.status.code(), Some(0), "{told}");
    assert!(told.contains("sealed with the data key of database ") && told.contains("AVERT_SECRET_KEY_FILE"), "{told}");
}

/// What only one kind of database has: what it makes anew, and what belongs to the processes on it.
const ONLY_IN_FILES: [&str; 13] = [
    "alert_count",
    "word",
    "reference",
    "alert_search",
    "alert_trigram",
    "alert_find",
    "alert_head",
    "alert_unindexed",
    "change_number",
    "schema_migration",
    "sqlite_sequence",
    "alert.changed",
    "event.changed",
];
const ONLY_ON_SERVERS: [&str; 10] = [
    "alert_count",
    "instance",
    "alert_total",
    "turnstile",
    "schema_lock",
    "schema_migration",
    "audit_head",
    "audit_pending",
    "alert.searched",
    "alert.find_text",
];

#[tokio::test(flavor = "multi_thread")]
async fn both_kinds_of_database_have_the_same_columns_to_carry() {
    let Some(cluster) = Cluster::migrated().await else { return };
    let home = tempfile::tempdir().unwrap();
    run(home.path(), &["migrate"]);
    let file = rusqlite::Connection::open(home.path().join("avert.db")).unwrap();
    let mut columns = file
        .prepare(
            "SELECT m.name, replace(c.name, 'only', 'single') FROM sqlite_schema m JOIN pragma_table_info(m.name) c \
                WHERE m.type = 'table'",
        )
        .unwrap();
    let in_files = columns.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap);
    let carried = |(table, column): &(String, String), left_out: &[&str]| {
        !left_out.iter().any(|out| {
            *out == *table
                || *out == format!("{table}.{column}")
                || (["alert_trigram", "alert_find", "alert_head"].contains(out) && table.starts_with(out))
        })
    };
    let in_files: BTreeSet<(String, String)> = in_files.filter(|column| carried(column, &ONLY_IN_FILES)).collect();
    let on_servers =
        "SELECT table_name::text, column_name::text FROM information_schema.columns WHERE table_schema = 'public'";
    let rows = cluster.database.client().await.query(on_servers, &[]).await.unwrap();
    let on_servers = rows.iter().map(|row| (row.get(0), row.get(1))).filter(|column| carried(column, &ONLY_ON_SERVERS));
    let on_servers: BTreeSet<(String, String)> = on_servers.collect();

    let copied = copied(&copy(home.path(), &file_of(home.path()), &Cluster::empty().await.unwrap().address(), &[]));

    assert_eq!(in_files, on_servers);
    let tables: BTreeSet<&str> = copied.iter().map(|(table, _)| table.as_str()).collect();
    assert_eq!(tables, in_files.iter().map(|(table, _)| table.as_str()).collect(), "a table is not carried");
}
