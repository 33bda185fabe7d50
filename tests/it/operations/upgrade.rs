//! A desk of the oldest schema is brought up to date with everything in it, on both kinds of database; a copy from
//! before leads back.
//!
//! The desk is filled by this avert, and its rows are put into the tables that the first step made: columns that came
//! later are left out.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use reqwest::Client;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::{
    binary::{Server, run, run_ok},
    cluster::Cluster,
    operations::alerts,
};

/// Runs a command that has to succeed on the desk, and returns what it prints.
type Run<'a> = &'a dyn Fn(&[&str]) -> String;

/// Brings in alerts, of which some are told to an endpoint and one is answered, and returns an API key.
async fn fill(run: Run<'_>, home: &Path, serve: impl Fn() -> Server) -> String {
    let import = |name: &str, lines: &str| {
        let file = home.join(name);
        fs::write(&file, lines).unwrap();
        run(&["import", file.to_str().unwrap()]);
    };
    import("first.ndjson", &alerts(1..=20));
    run(&["webhooks", "add", "http://127.0.0.1:9/", "--header", "X-Desk: secret", "--sign"]);
    import("second.ndjson", &alerts(21..=25));
    run(&["clients", "create"]);
    let key = run(&["keys", "create"]).trim().to_owned();
    let listed: Value = serde_json::from_str(&run(&["alerts", "list", "--output", "json"])).unwrap();
    let server = serve();
    let url = format!("{}/api/v1/alerts/{}/resolution", server.url, listed["data"][0]["id"].as_str().unwrap());
    let answer = Client::new().put(url).header("X-API-KEY", &key).json(&json!({"refunded": "REFUNDED"}));
    assert_eq!(answer.send().await.unwrap().status(), 200);
    assert_eq!(server.terminate(), Some(0));
    key
}

/// What the desk holds, as commands print it.
fn contents(run: Run<'_>) -> Vec<Value> {
    let commands = ["alerts export", "webhooks list", "clients list", "organizations list"];
    let of = |command: &str| {
        let words: Vec<&str> = command.split(' ').chain(["--output", "json"]).collect();
        serde_json::from_str(&run(&words)).unwrap()
    };
    let deliveries: Value = of("webhooks deliveries");
    let ids: Vec<Value> = deliveries["data"].as_array().unwrap().iter().map(|one| one["id"].clone()).collect();
    commands.map(of).into_iter().chain([ids.into()]).collect()
}

/// Checks that a desk works as it did: the doctor, a search, and a list by the key from before.
async fn check(run: Run<'_>, server: Server, key: &str) {
    let report: Value = serde_json::from_str(&run(&["doctor", "--output", "json"])).unwrap();
    assert_eq!(report["wrong"], 0, "{report:#}");
    let found: Value = serde_json::from_str(&run(&["alerts", "find", "P-0000021", "--output", "json"])).unwrap();
    assert_eq!(found.as_array().unwrap().len(), 1, "{found:#}");
    let list = Client::new().get(format!("{}/api/v1/alerts", server.url)).header("X-API-KEY", key).send();
    assert_eq!(list.await.unwrap().json::<Value>().await.unwrap()["total"], 25);
}

/// Number of steps that the schema of a kind of database has.
fn steps(kind: &str) -> usize {
    fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/migrations").join(kind)).unwrap().count()
}

fn applied(printed: &str) -> usize {
    serde_json::from_str::<Value>(printed).unwrap()["applied"].as_array().unwrap().len()
}

/// Makes a file of the first step, with the rows of another file.
fn of_the_first_step(file: &Path, newer: &Path) {
    fs::write(file, "").unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
    let database = Connection::open(file).unwrap();
    database.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    database.execute("ATTACH ?1 AS newer", [newer.to_str().unwrap()]).unwrap();
    let application: i64 = database.query_row("PRAGMA newer.application_id", [], |row| row.get(0)).unwrap();
    let made = "CREATE TABLE schema_migration (
            number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum BLOB NOT NULL, applied_at INTEGER NOT NULL
        ) STRICT;
        INSERT INTO schema_migration SELECT * FROM newer.schema_migration WHERE number = 1;";
    let step = include_str!("../../../assets/migrations/sqlite/0001_store.sql");
    database.execute_batch(&format!("PRAGMA application_id = {application}; {made} {step}")).unwrap();
    let copies = "SELECT 'INSERT OR REPLACE INTO main.' || t.name || ' (' || group_concat(o.name) || ') SELECT '
            || group_concat(o.name) || ' FROM newer.' || t.name
        FROM sqlite_schema t, pragma_table_info(t.name, 'main') o
            JOIN pragma_table_info(t.name, 'newer') n ON n.name = o.name
        WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name NOT LIKE 'alert_trigram%'
            AND t.name NOT IN ('schema_migration', 'audit_start')
        GROUP BY t.name";
    let copies: Vec<String> =
        database.prepare(copies).unwrap().query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert!(copies.len() > 15, "{copies:?}");
    copies.iter().for_each(|copy| database.execute_batch(copy).unwrap());
    database.execute_batch("INSERT INTO alert_trigram (alert_trigram) VALUES ('rebuild')").unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_the_oldest_schema_is_brought_up_to_date_and_a_backup_leads_back() {
    let (new, old) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let on_new = |words: &[&str]| run_ok(new.path(), words);
    let key = fill(&on_new, new.path(), || Server::start(new.path(), &[])).await;
    let file = old.path().join("avert.db");
    of_the_first_step(&file, &new.path().join("avert.db"));
    fs::copy(new.path().join("secret.key"), old.path().join("secret.key")).unwrap();
    let on_old = |words: &[&str]| run_ok(old.path(), words);

    let waiting = run(old.path(), &["migrate", "--check"]).status.code();
    let migrated = on_old(&["migrate", "--output", "json"]);

    assert_eq!((waiting, applied(&migrated)), (Some(1), steps("sqlite") - 1));
    assert_eq!(contents(&on_old), contents(&on_new));
    check(&on_old, Server::start(old.path(), &[]), &key).await;
    let mut entries = fs::read_dir(old.path()).unwrap().map(|entry| entry.unwrap().path());
    let backup = entries.find(|path| path.to_str().unwrap().contains("avert.db.schema-1.")).expect("a backup");
    fs::copy(backup, &file).unwrap();
    for beside in ["avert.db-wal", "avert.db-shm"] {
        let _ = fs::remove_file(old.path().join(beside));
    }
    let back = Connection::open(&file).unwrap();
    let number = |query: &str| back.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!([number("SELECT max(number) FROM schema_migration"), number("SELECT count(*) FROM alert")], [1, 25]);
}

/// Puts the rows of a database into tables of the first step, which take the place of its own.
const BACK_TO_THE_FIRST_STEP: &str = "
    CREATE TABLE schema_lock (single bigint PRIMARY KEY CHECK (single = 1));
    INSERT INTO schema_lock VALUES (1);
    CREATE TABLE schema_migration (
        number bigint PRIMARY KEY, name text NOT NULL, checksum bytea NOT NULL, applied_at bigint NOT NULL
    );
    INSERT INTO schema_migration SELECT * FROM newer.schema_migration WHERE number = 1;
    SET session_replication_role = replica;
    DO $$
    DECLARE
        place text;
        columns text;
    BEGIN
        FOR place IN SELECT relname FROM pg_class
            WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname NOT LIKE 'schema_%' LOOP
            SELECT string_agg(quote_ident(o.attname), ', ' ORDER BY o.attnum) INTO columns
                FROM pg_attribute o JOIN pg_attribute n
                ON n.attname = o.attname AND n.attrelid = format('newer.%I', place)::regclass AND NOT n.attisdropped
                WHERE o.attrelid = format('public.%I', place)::regclass AND o.attnum > 0;
            EXECUTE format('DELETE FROM public.%I', place);
            EXECUTE format('INSERT INTO public.%1$I (%2$s) SELECT %2$s FROM newer.%1$I', place, columns);
            IF columns LIKE 'key, %' THEN
                EXECUTE format('SELECT setval(pg_get_serial_sequence(''public.%1$I'', ''key''),
                    coalesce(max(key), 0) + 1, false) FROM public.%1$I', place);
            END IF;
        END LOOP;
    END $$;
    SELECT setval('public.change_number', last_value) FROM newer.change_number;
    DROP SCHEMA newer CASCADE";

#[tokio::test(flavor = "multi_thread")]
async fn a_database_on_a_server_of_the_oldest_schema_is_brought_up_to_date() {
    let Some(cluster) = Cluster::migrated().await else { return };
    let on_node = |words: &[&str]| cluster.run_ok("a", words);
    let key = fill(&on_node, &cluster.home("a"), || cluster.serve("a", &[])).await;
    let before = contents(&on_node);
    let hands = cluster.database.client().await;
    let step = include_str!("../../../assets/migrations/postgres/0001_store.sql");
    let back = format!("ALTER SCHEMA public RENAME TO newer; CREATE SCHEMA public; {step}; {BACK_TO_THE_FIRST_STEP}");
    hands.batch_execute(&back).await.unwrap();

    let waiting = cluster.run("a", &["migrate", "--check"]).status.code();
    let migrated = on_node(&["migrate", "--output", "json"]);

    assert_eq!((waiting, applied(&migrated)), (Some(1), steps("postgres") - 1));
    assert_eq!(contents(&on_node), before);
    check(&on_node, cluster.serve("a", &[]), &key).await;
}

#[test]
fn the_page_of_changes_has_this_version_with_its_schemas() {
    let page = include_str!("../../../assets/docs/changes.md");
    let newest = page.lines().skip_while(|line| !line.starts_with("| --- ")).nth(1).unwrap();

    let cells: Vec<&str> = newest.split('|').map(str::trim).collect();

    let version = env!("CARGO_PKG_VERSION");
    assert!(cells[1].starts_with(version) && page.contains(&format!("\n## {version}\n")), "{newest}");
    assert_eq!(cells[2..4], [steps("sqlite").to_string(), steps("postgres").to_string()]);
}
