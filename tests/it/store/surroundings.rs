//! Surroundings of a PostgreSQL database: what server, role and pooler bring along, causes of refusals, and a schema
//! that is not as its steps made it.

use std::{path::Path, sync::Arc, time::Duration};

use avert::{
    domain::database::{DatabaseLocation, PostgresAddress},
    engine::doctor::{Finding, Grade, examine},
    store::{PostgresOptions, PostgresStore, RefusalCause, SchemaState, StoreError, postgres::migrate},
};
use rstest::rstest;
use sha2::{Digest as _, Sha256};

use super::{
    Fixture,
    ground::{Ground as _, Postgres},
    organizations::organization,
    resolutions::{claim, claimed, committed, yes},
};
use crate::support::{
    alerts::{noon, open_alert},
    pooler::Pooler,
    postgres::Database,
};

/// The doctor's findings on a server.
async fn findings(server: PostgresAddress, key_file: Option<&Path>) -> Vec<Finding> {
    examine(&DatabaseLocation::Postgres(server), key_file, noon()).await.findings
}

/// The refusal of an opening.
async fn refused(options: &PostgresOptions) -> StoreError {
    match PostgresStore::open(options).await {
        Err(error) => error,
        Ok(_) => panic!("it opened"),
    }
}

/// The steps of the schema: their names and what they do.
fn steps() -> Vec<(String, String)> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/migrations/postgres");
    let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|file| file.extension().is_some_and(|extension| extension == "sql")).collect();
    files.sort();
    let name = |file: &Path| file.file_stem().unwrap().to_str().unwrap()[5..].to_owned();
    files.iter().map(|file| (name(file), std::fs::read_to_string(file).unwrap())).collect()
}

#[tokio::test]
async fn each_step_makes_the_schema_that_is_known_of_it() {
    let Some(database) = Database::empty().await else { return };
    let (server, hands, steps) = (database.server(), database.client().await, steps());
    let lock = "CREATE TABLE schema_lock (single bigint PRIMARY KEY);
        CREATE TABLE schema_migration (number bigint PRIMARY KEY, name text, checksum bytea, applied_at bigint)";
    hands.batch_execute(lock).await.unwrap();

    for (index, (name, sql)) in steps.iter().enumerate() {
        hands.batch_execute(sql).await.unwrap();
        let (number, checksum) = (index as i64 + 1, Sha256::digest(sql.as_bytes()).to_vec());
        hands
            .execute("INSERT INTO schema_migration VALUES ($1, $2, $3, 0)", &[&number, name, &checksum])
            .await
            .unwrap();

        let state = migrate::inspect(&server).await.unwrap_or_else(|error| panic!("{name}: {error}"));

        assert_eq!(state.waiting().len(), steps.len() - index - 1, "{name}");
    }
    assert_eq!(migrate::inspect(&server).await.unwrap(), SchemaState::Current);
}

#[rstest]
#[case("DROP INDEX resolution_attempt_running", "unique index resolution_attempt_running on resolution_attempt")]
#[case("DROP INDEX alert_by_time", "index alert_by_time on alert")]
#[case("DROP TRIGGER audit_is_kept ON audit", "trigger audit_is_kept on audit")]
#[case("ALTER TABLE audit DISABLE TRIGGER audit_is_kept", "trigger audit_is_kept on audit (altered)")]
#[case(
    "CREATE OR REPLACE FUNCTION audit_refuses() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END'",
    "trigger audit_is_not_altered on audit (altered)"
)]
#[case("DROP TABLE delivery_attempt", "table delivery_attempt")]
#[case("ALTER TABLE outcome SET UNLOGGED", "table outcome (altered)")]
#[case("ALTER TABLE alert DROP COLUMN issuer", "column alert.issuer")]
#[case("DROP SEQUENCE change_number", "sequence change_number")]
#[case(
    "DROP INDEX alert_by_id; CREATE INDEX alert_by_id ON alert (organization, id)",
    "unique index alert_by_id on alert"
)]
#[tokio::test]
async fn what_is_missing_in_a_schema_is_named_and_nothing_works_on_it(#[case] sql: &str, #[case] name: &str) {
    let Some(ground) = Postgres::fresh().await else { return };
    ground.database.client().await.batch_execute(sql).await.unwrap();
    let server = ground.database.server();

    let opened = refused(&ground.options()).await;
    let inspected = migrate::inspect(&server).await.unwrap_err();
    let migrated = migrate::migrate(&server).await.unwrap_err();
    let examined = findings(server, None).await;

    for error in [&opened, &inspected, &migrated] {
        assert!(
            matches!(error, StoreError::Refused(RefusalCause::Damaged, words) if words.contains(name)),
            "{error:?}"
        );
    }
    let told = examined.iter().any(|finding| finding.grade == Grade::Wrong && finding.found.contains(name));
    assert!(told, "{examined:?}");
}

#[rstest]
#[case(
    "CREATE TRIGGER meddler AFTER INSERT ON outcome FOR EACH ROW EXECUTE FUNCTION audit_refuses('no')",
    "trigger meddler on outcome"
)]
#[case("CREATE RULE meddler AS ON INSERT TO outcome DO INSTEAD NOTHING", "rule meddler on outcome")]
#[case("CREATE UNIQUE INDEX meddler ON alert (organization, provider_id)", "unique index meddler on alert")]
#[tokio::test]
async fn a_foreign_object_that_meddles_is_named_and_refused_without_a_word_of_a_restore(
    #[case] sql: &str,
    #[case] name: &str,
) {
    let Some(ground) = Postgres::fresh().await else { return };
    ground.database.client().await.batch_execute(sql).await.unwrap();

    let error = refused(&ground.options()).await;

    assert!(
        matches!(&error, StoreError::Unusable(words) if words.contains(name) && !words.contains("restore")),
        "{error:?}"
    );
}

#[tokio::test]
async fn what_an_administrator_adds_for_himself_is_told_by_the_doctor_alone() {
    let Some(ground) = Postgres::fresh().await else { return };
    let added =
        "CREATE INDEX reports ON alert (issuer, amount_micros); CREATE TABLE reports_done (day date PRIMARY KEY)";
    ground.database.client().await.batch_execute(added).await.unwrap();

    let opened = PostgresStore::open(&ground.options()).await;
    let examined = findings(ground.database.server(), Some(&ground.options().secret_key_file)).await;

    assert!(opened.is_ok(), "{:?}", opened.err());
    let schema = examined.iter().find(|finding| finding.check == "schema").unwrap();
    assert!(schema.grade == Grade::Notice && schema.found.contains("index reports on alert"), "{schema:?}");
    assert!(!schema.found.contains("reports_done"), "a table beside it is nobody's business: {schema:?}");
}

#[rstest]
#[case("LATIN1")]
#[case("SQL_ASCII")]
#[tokio::test]
async fn a_database_in_another_encoding_is_refused_by_whoever_looks_at_it(#[case] encoding: &str) {
    let Some(ground) = Postgres::fresh().await else { return };
    let hands = ground.database.client().await;
    let name = format!("{}_{}", ground.database.server().name, encoding.to_lowercase());
    let made =
        format!("CREATE DATABASE {name} ENCODING '{encoding}' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0");
    hands.batch_execute(&made).await.unwrap();
    let server = PostgresAddress { name, ..ground.database.server() };

    let inspected = migrate::inspect(&server).await.unwrap_err();
    let migrated = migrate::migrate(&server).await.unwrap_err();
    let opened = refused(&PostgresOptions { server: server.clone(), ..ground.options() }).await;
    let examined = findings(server, None).await;

    for error in [inspected, migrated, opened] {
        assert!(
            matches!(&error, StoreError::Refused(RefusalCause::Encoding, words) if words.contains(encoding)),
            "{error:?}"
        );
    }
    assert!(examined[0].grade == Grade::Wrong && examined[0].advice == RefusalCause::Encoding.advice(), "{examined:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pooler_that_gives_a_session_to_somebody_else_with_the_next_transaction_is_refused() {
    let Some(ground) = Postgres::fresh().await else { return };
    let pooler = Pooler::before(ground.database.server().port).await;
    let server =
        PostgresAddress { host: "127.0.0.1".to_owned(), port: pooler.address.port(), ..ground.database.server() };

    let opened = refused(&PostgresOptions { server: server.clone(), ..ground.options() }).await;
    let inspected = migrate::inspect(&server).await.unwrap_err();

    assert!(matches!(opened, StoreError::Refused(RefusalCause::Pooler, _)), "{opened:?}");
    assert!(matches!(inspected, StoreError::Refused(RefusalCause::Pooler, _)), "{inspected:?}");
}

#[tokio::test]
async fn what_server_database_and_role_bring_along_counts_for_nothing() {
    let Some(ground) = Postgres::fresh().await else { return };
    let (hands, name) = (ground.database.client().await, ground.database.server().name);
    // A schema with the role's name comes before the one with the tables.
    let before =
        "CREATE SCHEMA avert; CREATE TABLE avert.alert AS SELECT * FROM alert; CREATE TABLE avert.seen (settings text)";
    hands.batch_execute(before).await.unwrap();
    for setting in
        ["synchronous_commit = off", "statement_timeout = '9s'", "lock_timeout = '5s'", "DateStyle = 'SQL, DMY'"]
    {
        hands.batch_execute(&format!("ALTER DATABASE {name} SET {setting}")).await.unwrap();
    }
    let fixture = Fixture::start(Arc::new(ground)).await;
    let noted = "CREATE FUNCTION avert.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            INSERT INTO avert.seen SELECT string_agg(current_setting(s), ' ')
                FROM unnest(ARRAY['synchronous_commit', 'search_path', 'statement_timeout', 'lock_timeout']) s;
            RETURN new;
        END $$;
        CREATE TRIGGER note BEFORE INSERT OR UPDATE ON public.fact FOR EACH ROW EXECUTE FUNCTION avert.note()";
    hands.batch_execute(noted).await.unwrap();

    fixture.bring(&[open_alert("P1")]).await;
    fixture.store.probe(noon()).await.unwrap();

    let seen: String = hands.query_one("SELECT DISTINCT settings FROM avert.seen", &[]).await.unwrap().get(0);
    assert_eq!(seen, "on public 1min 6s");
    assert_eq!(fixture.list(&avert::domain::AlertQuery::default()).await.1, 1);
    let rows = "SELECT (SELECT count(*) FROM avert.alert), (SELECT count(*) FROM public.alert)";
    let rows = hands.query_one(rows, &[]).await.unwrap();
    assert_eq!((rows.get::<_, i64>(0), rows.get::<_, i64>(1)), (0, 1));
}

#[rstest]
#[case("53100", Some(RefusalCause::DiskFull))]
#[case("53300", Some(RefusalCause::Connections))]
#[case("55P03", Some(RefusalCause::Locked))]
#[case("25006", Some(RefusalCause::ReadOnly))]
#[case("42P05", Some(RefusalCause::Pooler))]
#[case("26000", Some(RefusalCause::Pooler))]
#[case("22P05", Some(RefusalCause::Encoding))]
#[case("XX001", Some(RefusalCause::Damaged))]
#[case("XX002", Some(RefusalCause::Damaged))]
#[case("XX000", None)]
#[case("23514", None)]
#[case("08P01", None)]
#[case("22003", None)]
#[case("42P01", None)]
#[case("P0001", None)]
#[tokio::test]
async fn what_the_server_refuses_is_told_by_its_cause_and_only_damage_speaks_of_a_restore(
    #[case] state: &str,
    #[case] cause: Option<RefusalCause>,
) {
    let Some(ground) = Postgres::fresh().await else { return };
    let store = PostgresStore::open(&ground.options()).await.unwrap();
    let raised = format!(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'so it is' USING \
            ERRCODE = '{state}'; END $$;
         CREATE TRIGGER refuse BEFORE INSERT ON organization FOR EACH ROW EXECUTE FUNCTION refuse()"
    );
    ground.database.client().await.batch_execute(&raised).await.unwrap();

    let error = store.add_organization(organization("a"), noon()).await.unwrap_err();

    let found = if let StoreError::Refused(cause, _) = &error { Some(*cause) } else { None };
    let words = error.to_string();
    assert_eq!(found, cause, "{words}");
    assert!(words.contains("so it is"), "{words}");
    assert_eq!(words.contains("restore"), cause == Some(RefusalCause::Damaged), "{words}");
}

/// A role of so many connections, with the rights that the page of PostgreSQL names and no other.
async fn role(ground: &Postgres, connections: u32) -> PostgresOptions {
    let hands = ground.database.client().await;
    let user = format!("few_{}", ground.database.server().name);
    let grants = format!(
        "CREATE ROLE {user} LOGIN CONNECTION LIMIT {connections};
         GRANT USAGE ON SCHEMA public TO {user};
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {user};
         GRANT SELECT, USAGE ON ALL SEQUENCES IN SCHEMA public TO {user}"
    );
    hands.batch_execute(&grants).await.unwrap();
    PostgresOptions { server: PostgresAddress { user, ..ground.database.server() }, ..ground.options() }
}

#[rstest]
#[case(2)]
#[case(3)]
#[case(5)]
#[tokio::test(flavor = "multi_thread")]
async fn whoever_finds_no_connection_waits_for_one_of_those_that_there_are(#[case] limit: u32) {
    let Some(ground) = Postgres::fresh().await else { return };
    let store = PostgresStore::open(&role(&ground, limit).await).await.unwrap();
    let of = store.organizations().await.unwrap()[0].organization.id;

    let done = futures::future::join_all((0..40).map(|_| store.count_alerts(of))).await;

    assert!(done.iter().all(Result::is_ok), "{done:?}");
    assert!(store.probe(noon()).await.is_ok());
}

#[rstest]
#[case(3)]
#[case(6)]
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_committed_while_every_other_connection_is_at_work(#[case] limit: u32) {
    let Some(ground) = Postgres::fresh().await else { return };
    let options = role(&ground, limit).await;
    let mut hands = ground.database.client().await;
    let setup = Fixture::start(Arc::new(ground)).await;
    let alert = open_alert("P1");
    setup.bring(std::slice::from_ref(&alert)).await;
    let store = PostgresStore::open(&options).await.unwrap();
    let fixture = Fixture { store: store.clone(), ..setup };
    // Every connection that the role has is opened before the claim.
    futures::future::join_all((0..40).map(|_| store.count_alerts(fixture.organization))).await;
    let request = claim(&fixture, &alert);
    let generation = claimed(&fixture, request.clone()).await;
    let locked = hands.transaction().await.unwrap();
    locked.batch_execute("LOCK TABLE api_key IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let waiting: Vec<_> = (0..20)
        .map(|_| {
            tokio::spawn({
                let (store, of) = (store.clone(), fixture.organization);
                async move { store.credentials(of).await.map(drop) }
            })
        })
        .collect();

    let commit = committed(&fixture, yes(&request, generation));
    let alert = tokio::time::timeout(Duration::from_secs(60), commit).await.expect("a connection is kept for it");
    assert!(waiting.iter().any(|one| !one.is_finished()), "the others are still at work");

    locked.rollback().await.unwrap();
    assert!(alert.outcome.is_some());
    futures::future::join_all(waiting).await;
}

#[tokio::test]
async fn a_missing_grant_names_the_object_of_the_servers_own_message() {
    let Some(ground) = Postgres::fresh().await else { return };
    let options = role(&ground, 9).await;
    let revoked = format!("REVOKE SELECT ON SEQUENCE change_number FROM {}", options.server.user);
    ground.database.client().await.batch_execute(&revoked).await.unwrap();

    let words = refused(&options).await.to_string();

    assert!(words.contains("denied for sequence change_number") && words.contains("needs a grant"), "{words}");
}
