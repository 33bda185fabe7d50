//! What only PostgreSQL has: a schema that is applied on purpose, a key that every process has, connections that are
//! lost, counts in parts.

use std::{fs, sync::Arc};

use avert::{
    domain::{
        Alert, AuditState, CutOffs, EndpointAuth, NewEndpoint, Secret,
        database::{DatabaseTls, PostgresAddress},
    },
    store::{PostgresOptions, PostgresStore, RefusalCause, SchemaState, StoreError, postgres::migrate},
};
use rstest::rstest;

use super::{
    Fixture,
    finds::found,
    ground::{Ground as _, Postgres, WITHOUT_NEWEST},
    organizations::organization,
    resolutions::{claim, resolve},
};
use crate::support::{
    alerts::{noon, open_alert},
    postgres::Database,
    tls::Authority,
};

/// The words of a refusal to open.
async fn refusal(options: &PostgresOptions) -> String {
    match PostgresStore::open(options).await {
        Err(StoreError::Unusable(words) | StoreError::Newer(words)) => words,
        Err(other) => panic!("not unusable: {other:?}"),
        Ok(_) => panic!("it opened"),
    }
}

async fn on_an_empty_database() -> Option<Postgres> {
    Some(Postgres { database: Database::empty().await?, keys: tempfile::tempdir().unwrap() })
}

#[tokio::test]
async fn a_closed_store_refuses_work_and_says_so() {
    let Some(ground) = Postgres::fresh().await else { return };
    let store = PostgresStore::open(&ground.options()).await.unwrap();

    store.close();

    let refused = [store.ping().await.unwrap_err(), store.probe(noon()).await.unwrap_err()];
    assert!(
        refused.iter().all(|error| matches!(error, StoreError::Unavailable(words) if words.contains("closed"))),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_and_its_password_is_not() {
    let Some(ground) = Postgres::fresh().await else { return };
    let mut options = ground.options();
    let nowhere = ground.keys.path();
    options.server.host = nowhere.to_str().unwrap().to_owned();
    options.server.password = Some(Secret::new("correct horse"));

    let error = PostgresStore::open(&options).await.err().unwrap();

    assert!(matches!(&error, StoreError::Unavailable(words) if words.contains("cannot be reached")), "{error:?}");
    assert!(!format!("{error} {error:?}").contains("horse"));
    assert_eq!(fs::read_dir(nowhere).unwrap().count(), 0, "no key is made for it");
}

#[tokio::test]
async fn a_schema_that_waits_is_told_and_applied_once_by_whoever_comes_first() {
    let Some(ground) = on_an_empty_database().await else { return };
    let (server, hands) = (ground.database.server(), ground.database.client().await);
    let tables = async || {
        hands
            .query_one("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", &[])
            .await
            .unwrap()
            .get::<_, i64>(0)
    };

    let waiting = migrate::inspect(&server).await.unwrap();
    let refused = refusal(&ground.options()).await;
    let untouched = tables().await;
    let (one, other) = tokio::join!(migrate::migrate(&server), migrate::migrate(&server));
    let again = migrate::migrate(&server).await.unwrap();

    let SchemaState::Empty(steps) = waiting else { panic!("{waiting:?}") };
    assert_eq!((steps.first(), untouched), (Some(&"store"), 0));
    assert!(refused.contains("avert migrate"), "{refused}");
    assert_eq!([one.unwrap(), other.unwrap()].concat(), steps);
    assert!(again.is_empty() && migrate::inspect(&server).await.unwrap() == SchemaState::Current);
    let store = PostgresStore::open(&ground.options()).await.unwrap();
    assert_eq!(store.organizations().await.unwrap().len(), 1);
}

#[tokio::test]
async fn steps_of_the_schema_and_the_index_of_searches_may_take_their_time() {
    let Some(ground) = on_an_empty_database().await else { return };
    let hands = ground.database.client().await;
    let watch = "CREATE SCHEMA watch;
        CREATE TABLE watch.seen (made text, most text);
        CREATE FUNCTION watch.note() RETURNS event_trigger LANGUAGE plpgsql AS $$
            BEGIN INSERT INTO watch.seen VALUES (tg_tag, current_setting('statement_timeout')); END $$;
        CREATE EVENT TRIGGER watch ON ddl_command_end WHEN TAG IN ('CREATE EXTENSION', 'CREATE INDEX') EXECUTE \
        FUNCTION watch.note()";
    hands.batch_execute(watch).await.unwrap();

    migrate::migrate(&ground.database.server()).await.unwrap();

    let seen = hands.query("SELECT DISTINCT made, most FROM watch.seen ORDER BY made", &[]).await.unwrap();
    let seen: Vec<(String, String)> = seen.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert_eq!(
        seen,
        [("CREATE EXTENSION", "0"), ("CREATE INDEX", "0")].map(|(made, most)| (made.to_owned(), most.to_owned()))
    );
}

#[tokio::test]
async fn alerts_from_before_there_was_a_search_over_all_fields_are_found_by_it() {
    let Some(ground) = Postgres::fresh().await else { return };
    let (server, hands) = (ground.database.server(), ground.database.client().await);
    let fixture = Fixture::start(Arc::new(ground)).await;
    let (open, answered) = (open_alert("P1"), open_alert("P2"));
    fixture.bring(&[open.clone(), answered.clone()]).await;
    resolve(&fixture, claim(&fixture, &answered)).await;
    let before = &format!(
        "ALTER TABLE alert DROP COLUMN find_text; DROP INDEX outcome_by_action_time; ALTER TABLE audit DROP \
        COLUMN person;
         ALTER TABLE resolution_attempt DROP COLUMN person; DROP TABLE alert_total; DROP INDEX alert_waiting_by_time;
         DROP INDEX alert_by_company; DROP INDEX alert_by_time; CREATE INDEX alert_by_time ON alert (organization, \
         alert_time, id);
         DROP TABLE audit_pending; ALTER TABLE endpoint DROP COLUMN ca_certificate;
         {WITHOUT_NEWEST};
         DELETE FROM schema_migration WHERE number >= 4"
    );
    hands.batch_execute(before).await.unwrap();

    let applied = migrate::migrate(&server).await.unwrap();

    assert_eq!(
        applied,
        [
            "find",
            "insights",
            "persons",
            "lists",
            "audit_pending",
            "find_keys",
            "ca_certificates",
            "traces",
            "subscriptions",
            "sources",
            "truth",
            "rules",
            "source_order",
            "sales",
        ]
    );
    assert_eq!(fixture.store.count_alerts(fixture.organization).await.unwrap(), 2);
    assert_eq!(found(&fixture, "a-10293").await, [open.id, answered.id]);
    assert_eq!(found(&fixture, "10 march").await, [answered.id]);
}

#[tokio::test]
async fn alerts_from_before_accents_were_ignored_are_found_without_them() {
    let Some(ground) = Postgres::fresh().await else { return };
    let (server, hands) = (ground.database.server(), ground.database.client().await);
    let fixture = Fixture::start(Arc::new(ground)).await;
    let accented = Alert { merchant_name: "Kafé O’Brien".to_owned(), ..open_alert("P1") };
    fixture.bring(&[accented.clone(), open_alert("P2")]).await;
    let before = &format!(
        "UPDATE alert SET find_text = replace(find_text, 'kafe o''brien', 'kafé o’brien'); ALTER TABLE endpoint DROP \
            COLUMN ca_certificate;
         {WITHOUT_NEWEST}; DELETE FROM schema_migration WHERE number >= 9"
    );
    hands.batch_execute(before).await.unwrap();
    let rows = async || {
        hands
            .query("SELECT xmin::text FROM alert ORDER BY key", &[])
            .await
            .unwrap()
            .iter()
            .map(|row| row.get(0))
            .collect()
    };
    let (unaware, versions): (_, Vec<String>) = (found(&fixture, "kafe").await, rows().await);

    let applied = migrate::migrate(&server).await.unwrap();

    assert_eq!(
        (unaware, applied),
        (
            vec![],
            vec![
                "find_keys",
                "ca_certificates",
                "traces",
                "subscriptions",
                "sources",
                "truth",
                "rules",
                "source_order",
                "sales"
            ]
        )
    );
    assert_eq!(found(&fixture, "kafe o'brien").await, [accented.id]);
    let versions_now: Vec<String> = rows().await;
    assert_ne!(versions_now[0], versions[0]);
    assert_eq!(versions_now[1], versions[1], "what has its text already is not written");
}

#[rstest]
#[case("INSERT INTO schema_migration VALUES (9999, 'future', '', 0)", "newer avert")]
#[case("UPDATE schema_migration SET checksum = ''", "schema step 1")]
#[tokio::test]
async fn a_schema_that_this_version_does_not_know_is_told(#[case] sql: &str, #[case] word: &str) {
    let Some(ground) = Postgres::fresh().await else { return };
    ground.database.client().await.batch_execute(sql).await.unwrap();

    let words = refusal(&ground.options()).await;
    let by_hand = migrate::migrate(&ground.database.server()).await.unwrap_err().to_string();

    assert!(words.contains(word) && by_hand.contains(word), "{words}; {by_hand}");
}

#[tokio::test]
async fn the_tables_of_another_program_are_told_and_left_alone() {
    let Some(ground) = on_an_empty_database().await else { return };
    let hands = ground.database.client().await;
    hands.batch_execute("CREATE TABLE bookmarks (url text)").await.unwrap();

    let words = refusal(&ground.options()).await;
    let refused = migrate::migrate(&ground.database.server()).await.unwrap_err().to_string();

    assert!(words.contains("another program") && refused.contains("another program"), "{words}; {refused}");
    let tables = hands.query_one("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", &[]).await.unwrap();
    assert_eq!(tables.get::<_, i64>(0), 1);
}

#[tokio::test]
async fn a_wrong_or_missing_key_is_told_at_once_and_never_replaced() {
    let (Some(ground), Some(other)) = (Postgres::fresh().await, Postgres::fresh().await) else { return };
    PostgresStore::open(&ground.options()).await.unwrap();
    PostgresStore::open(&other.options()).await.unwrap();
    let key = ground.options().secret_key_file;

    fs::copy(other.options().secret_key_file, &key).unwrap();
    let wrong = refusal(&ground.options()).await;
    fs::remove_file(&key).unwrap();
    let missing = refusal(&ground.options()).await;

    assert!(wrong.contains("secret.key") && wrong.contains("not the key"), "{wrong}");
    assert!(missing.contains("secret.key") && missing.contains("missing"), "{missing}");
    assert!(!key.exists());
}

#[tokio::test]
async fn processes_that_open_fresh_data_at_once_have_one_key_one_id_and_one_organization() {
    let Some(ground) = Postgres::fresh().await else { return };
    let options = ground.options();

    let stores = futures::future::join_all((0..4).map(|_| PostgresStore::open(&options))).await;

    let stores: Vec<_> = stores.into_iter().map(Result::unwrap).collect();
    let ids: std::collections::BTreeSet<_> =
        stores.iter().map(|store| avert::store::Store::database(&**store)).collect();
    assert_eq!((ids.len(), stores[0].organizations().await.unwrap().len()), (1, 1));
}

#[tokio::test]
async fn a_store_goes_on_after_its_connections_were_lost() {
    let Some(ground) = Postgres::fresh().await else { return };
    let store = PostgresStore::open(&ground.options()).await.unwrap();
    let of = store.organizations().await.unwrap()[0].organization.id;

    let hands = ground.database.client().await;
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND \
        pid <> pg_backend_pid()";
    let ended: i64 = hands.query_one(end, &[]).await.unwrap().get(0);

    let answers =
        [store.ping().await, store.probe(noon()).await, store.count_alerts(of).await.map(drop), store.ping().await];

    assert!(ended > 0 && answers.iter().all(Result::is_ok), "{answers:?}");
}

#[tokio::test]
async fn a_database_that_may_be_written_again_is_written_at_once_whatever_its_connections_remember() {
    let Some(ground) = Postgres::fresh().await else { return };
    let store = PostgresStore::open(&ground.options()).await.unwrap();
    let of = store.organizations().await.unwrap()[0].organization.id;
    let (hands, name) = (ground.database.client().await, ground.database.server().name);
    let set = async |change: &str| hands.batch_execute(&format!("ALTER DATABASE {name} {change}")).await.unwrap();
    set("SET default_transaction_read_only = on").await;
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> \
        pg_backend_pid()";
    hands.query(end, &[]).await.unwrap();
    futures::future::join_all((0..4).map(|_| store.count_alerts(of))).await;

    let meanwhile = store.add_organization(organization("a"), noon()).await;
    futures::future::join_all((0..4).map(|_| store.count_alerts(of))).await;
    set("RESET default_transaction_read_only").await;
    let added =
        futures::future::join_all(["b", "c", "d"].map(|name| store.add_organization(organization(name), noon()))).await;

    assert!(matches!(meanwhile, Err(StoreError::Refused(RefusalCause::ReadOnly, _))), "{meanwhile:?}");
    assert!(added.iter().all(Result::is_ok), "{added:?}");
}

#[tokio::test]
async fn what_fails_behind_a_commit_is_not_a_failure_of_what_was_committed() {
    let Some(ground) = Postgres::fresh().await else { return };
    let store = PostgresStore::open(&ground.options()).await.unwrap();
    for name in ["a", "b"] {
        store.add_organization(organization(name), noon()).await.unwrap();
    }
    let hands = ground.database.client().await;
    let used_up = "DO $$ BEGIN EXECUTE format('ALTER SEQUENCE change_number MAXVALUE %s', (SELECT last_value FROM \
        change_number)); END $$";
    hands.batch_execute(used_up).await.unwrap();

    let added = store.add_organization(organization("c"), noon()).await;

    assert!(added.is_ok(), "{added:?}");
    assert_eq!(store.organizations().await.unwrap().len(), 4);
    assert!(hands.query_one("SELECT nextval('change_number')", &[]).await.is_err());
}

#[tokio::test]
async fn counts_are_drawn_together_and_stay_what_they_are() {
    let Some(ground) = Postgres::fresh().await else { return };
    let store = PostgresStore::open(&ground.options()).await.unwrap();
    let hands = ground.database.client().await;
    let rows = async || {
        let both = "SELECT (SELECT count(*) FROM alert_count), (SELECT count(*) FROM alert_total)";
        let row = hands.query_one(both, &[]).await.unwrap();
        (row.get::<_, i64>(0), row.get::<_, i64>(1))
    };
    let of = store.organizations().await.unwrap()[0].organization.id;
    for number in 0..6 {
        store.ingest(of, vec![super::row(&open_alert(&format!("P{number}")), false)], noon()).await.unwrap();
    }
    let (before, many) = (store.counts(of).await.unwrap(), rows().await);

    store.prune(CutOffs::default(), 10, noon()).await.unwrap();

    assert_eq!((before[0].alerts, many, rows().await), (6, (6, 6), (1, 1)));
    assert_eq!((store.counts(of).await.unwrap(), store.count_alerts(of).await.unwrap()), (before, 6));
}

/// Counts the rows that go into this table, whatever becomes of their transactions; the first one fails with this code,
/// where one is given.
fn counted(table: &str, first_fails: Option<&str>) -> String {
    let fails = first_fails.map_or_else(String::new, |code| {
        format!("IF n = 1 THEN RAISE EXCEPTION 'refused' USING ERRCODE = '{code}'; END IF;")
    });
    format!(
        "CREATE SEQUENCE {table}_rows;
         CREATE FUNCTION {table}_row() RETURNS trigger LANGUAGE plpgsql AS $$
             DECLARE n bigint := nextval('{table}_rows'); BEGIN {fails} RETURN NULL; END $$;
         CREATE TRIGGER counted AFTER INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION {table}_row();"
    )
}

#[tokio::test]
async fn a_unit_of_work_that_others_were_in_the_way_of_is_done_again_and_counts_once() {
    let Some(ground) = Postgres::fresh().await else { return };
    let store = PostgresStore::open(&ground.options()).await.unwrap();
    let hands = ground.database.client().await;
    let of = store.organizations().await.unwrap()[0].organization.id;
    hands.batch_execute(&counted("audit_pending", Some("40001"))).await.unwrap();

    let report = store.ingest(of, vec![super::row(&open_alert("P1"), true)], noon()).await.unwrap();

    let turns = hands.query_one("SELECT last_value FROM audit_pending_rows", &[]).await.unwrap().get::<_, i64>(0);
    assert_eq!((report.created, store.count_alerts(of).await.unwrap(), turns), (1, 1, 2));
    assert!(matches!(store.verify_audit().await.unwrap(), AuditState::Whole { entries: 1, .. }));
}

#[tokio::test]
async fn nothing_goes_on_behind_a_statement_that_failed() {
    let Some(ground) = Postgres::fresh().await else { return };
    let store = PostgresStore::open(&ground.options()).await.unwrap();
    let hands = ground.database.client().await;
    let of = store.organizations().await.unwrap()[0].organization.id;
    for sql in [counted("alert", Some("P0001")), counted("alert_count", None), counted("audit_pending", None)] {
        hands.batch_execute(&sql).await.unwrap();
    }
    let rows = || vec![super::row(&open_alert("P1"), true)];
    let behind = async || {
        let behind = "SELECT alert_count_rows.is_called, audit_pending_rows.is_called
            FROM alert_count_rows, audit_pending_rows";
        let row = hands.query_one(behind, &[]).await.unwrap();
        (row.get::<_, bool>(0), row.get::<_, bool>(1))
    };

    let refused = store.ingest(of, rows(), noon()).await;

    assert!(refused.is_err(), "{refused:?}");
    assert_eq!((behind().await, store.count_alerts(of).await.unwrap()), ((false, false), 0));
    assert_eq!(store.ingest(of, rows(), noon()).await.unwrap().created, 1, "the next one is done");
    assert_eq!((behind().await, store.count_alerts(of).await.unwrap()), ((true, true), 1));
}

#[tokio::test]
async fn the_database_itself_refuses_to_alter_replace_or_take_away_an_entry_of_the_audit_log() {
    let Some(ground) = Postgres::fresh().await else { return };
    let store = PostgresStore::open(&ground.options()).await.unwrap();
    for name in ["a", "b", "c", "d"] {
        store.add_organization(organization(name), noon()).await.unwrap();
    }
    assert!(matches!(store.verify_audit().await.unwrap(), AuditState::Whole { entries: 4, .. }), "they are linked");
    let hands = ground.database.client().await;

    for refused in [
        "UPDATE audit SET subject = 'x' WHERE number = 1",
        "DELETE FROM audit WHERE number = 4",
        "TRUNCATE audit",
        "INSERT INTO audit SELECT 2, at, organization, actor, origin, action, 'x', detail, previous, hash FROM audit \
            WHERE number = 3
            ON CONFLICT (number) DO UPDATE SET subject = 'x'",
        "UPDATE audit_start SET number = 99",
        "UPDATE audit_start SET number = 4",
        "DELETE FROM audit_start",
    ] {
        assert!(hands.execute(refused, &[]).await.is_err(), "{refused}");
    }
    assert!(matches!(store.verify_audit().await.unwrap(), AuditState::Whole { entries: 4, newest: 4, .. }));
    for (forged, found) in
        [("UPDATE audit SET actor = 'x' WHERE number = 3", 3), ("DELETE FROM audit WHERE number = 4", 4)]
    {
        let by_force = format!(
            "BEGIN; ALTER TABLE audit DISABLE TRIGGER ALL; {forged}; ALTER TABLE audit ENABLE TRIGGER ALL; COMMIT"
        );
        hands.batch_execute(&by_force).await.unwrap();
        let state = store.verify_audit().await.unwrap();
        assert!(matches!(state, AuditState::Broken { number, .. } if number <= found), "{forged}: {state:?}");
    }
}

#[tokio::test]
async fn whoever_writes_at_the_same_time_leaves_the_audit_log_whole() {
    let Some(first) = Fixture::on::<Postgres>().await else { return };
    let second = first.another().await;
    let alerts: Vec<_> = (0..12).map(|number| open_alert(&format!("P{number}"))).collect();
    first.bring(&alerts).await;

    let resolved = alerts.iter().enumerate().map(|(number, alert)| {
        let fixture = if number % 2 == 0 { &first } else { &second };
        resolve(fixture, claim(fixture, alert))
    });
    let resolved = futures::future::join_all(resolved).await;

    assert!(resolved.iter().all(|alert| alert.outcome.is_some()));
    assert!(matches!(first.store.verify_audit().await.unwrap(), AuditState::Whole { entries: 13, newest: 13, .. }));
}

#[tokio::test]
async fn nobody_who_changes_something_waits_for_the_newest_entry_of_the_audit_log() {
    let Some(ground) = Postgres::fresh().await else { return };
    let mut hands = ground.database.client().await;
    let fixture = Fixture::start(Arc::new(ground)).await;
    let alert = open_alert("P1");
    fixture.bring(std::slice::from_ref(&alert)).await;
    let another_at_work = hands.transaction().await.unwrap();
    another_at_work.query("SELECT number FROM audit_head FOR UPDATE", &[]).await.unwrap();

    let resolved = resolve(&fixture, claim(&fixture, &alert)).await;
    another_at_work.rollback().await.unwrap();

    assert!(resolved.outcome.is_some());
    let told = fixture.store.audit(fixture.organization, None, 1).await.unwrap();
    assert_eq!((told[0].action.as_str(), told[0].subject.clone()), ("alert.resolved", alert.id.to_string()));
}

#[tokio::test]
async fn entries_that_a_killed_process_put_down_are_linked_by_whoever_reads_the_audit_log() {
    let Some(ground) = Postgres::fresh().await else { return };
    let store = PostgresStore::open(&ground.options()).await.unwrap();
    let of = store.organizations().await.unwrap()[0].organization.id;
    let hands = ground.database.client().await;
    let put_down = "INSERT INTO audit_pending (at, organization, actor, origin, action, subject, detail, person)
        SELECT i, o.key, 'local', '', 'key.revoked', i::text, '', '' FROM organization o, generate_series(1, 2100) AS \
        s(i) ORDER BY s.i";
    hands.batch_execute(put_down).await.unwrap();
    let altered = hands.batch_execute("UPDATE audit_pending SET actor = 'x'").await;

    let newest = store.audit(of, None, 2).await.unwrap();

    let told: Vec<_> = newest.iter().map(|entry| (entry.number, entry.subject.as_str())).collect();
    assert_eq!(told, [(2100, "2100"), (2099, "2099")]);
    assert!(matches!(store.verify_audit().await.unwrap(), AuditState::Whole { entries: 2100, newest: 2100, .. }));
    let left: i64 = hands.query_one("SELECT count(*) FROM audit_pending", &[]).await.unwrap().get(0);
    assert!(left == 0 && altered.is_err());
}

#[tokio::test]
async fn no_table_holds_a_credential_in_plain_text() {
    let Some(ground) = Postgres::fresh().await else { return };
    let store = PostgresStore::open(&ground.options()).await.unwrap();
    let of = store.organizations().await.unwrap()[0].organization.id;
    let auth = EndpointAuth::Basic { username: "merchant".to_owned(), password: Secret::new("correct horse battery") };
    let url = "https://a.example/hook?token=stapler".parse().unwrap();

    let added = store.add_endpoint(of, NewEndpoint::new(url, auth.clone()), 32, noon()).await.unwrap().unwrap();

    let hands = ground.database.client().await;
    let row = hands
        .query_one(
            "SELECT e::text || encode(credential, 'escape') || encode(sealed_url, 'escape') FROM endpoint e",
            &[],
        )
        .await;
    let text: String = row.unwrap().get(0);
    assert!(text.contains("https://a.example/hook"), "the search itself works: {text}");
    assert!(!text.contains("horse") && !text.contains("stapler"), "{text}");
    let target = store.target(of, added.id, noon()).await.unwrap().unwrap();
    assert_eq!((target.url.reveal(), target.auth), ("https://a.example/hook?token=stapler", auth));
}

/// Opens a store by TCP, with this mode; whether all its connections are encrypted, or why it is not opened.
async fn by_tcp(ground: &Postgres, change: impl FnOnce(&mut PostgresAddress)) -> Result<bool, String> {
    let (mut server, _) = ground.database.by_tcp();
    change(&mut server);
    let options = PostgresOptions { server, ..ground.options() };
    let store = PostgresStore::open(&options).await.map_err(|error| error.to_string())?;
    store.ping().await.unwrap();
    let hands = ground.database.client().await;
    let encrypted = "SELECT bool_and(s.ssl) FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid)
        WHERE a.datname = current_database() AND a.application_name = 'avert'";
    Ok(hands.query_one(encrypted, &[]).await.unwrap().get(0))
}

#[tokio::test]
async fn the_way_to_the_server_is_as_its_mode_says() {
    let Some(ground) = Postgres::fresh().await else { return };
    let (_, authority) = ground.database.by_tcp();
    let another = Authority::new().file(ground.keys.path());

    for (tls, host, trusted, expected) in [
        (DatabaseTls::Disable, "localhost", None, Ok(false)),
        (DatabaseTls::Prefer, "localhost", None, Ok(true)),
        (DatabaseTls::Require, "localhost", None, Ok(true)),
        (DatabaseTls::VerifyCa, "127.0.0.1", Some(&authority), Ok(true)),
        (DatabaseTls::VerifyFull, "localhost", Some(&authority), Ok(true)),
        (DatabaseTls::VerifyFull, "127.0.0.1", Some(&authority), Err("certificate")),
        (DatabaseTls::VerifyCa, "localhost", Some(&another), Err("certificate")),
        (DatabaseTls::VerifyFull, "localhost", None, Err("certificate")),
    ] {
        let found = by_tcp(&ground, |server| {
            (server.tls, server.host, server.authorities) = (tls, host.to_owned(), trusted.cloned());
        })
        .await;

        match (&found, expected) {
            (Ok(encrypted), Ok(expected)) => assert_eq!(*encrypted, expected, "{tls:?} {host}"),
            (Err(words), Err(word)) => assert!(words.contains(word), "{tls:?} {host}: {words}"),
            (found, expected) => panic!("{tls:?} {host}: {found:?}, not {expected:?}"),
        }
    }
}

#[tokio::test]
async fn a_server_without_tls_is_refused_where_it_has_to_have_it() {
    let Some(ground) = Postgres::fresh().await else { return };
    // A socket is never encrypted.
    let mut options = ground.options();
    options.server.tls = DatabaseTls::Require;

    let error = PostgresStore::open(&options).await.err().unwrap();

    assert!(matches!(&error, StoreError::Unavailable(words) if words.contains("TLS")), "{error:?}");
}
