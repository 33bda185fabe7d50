//! Keys and the caller at this machine.

use avert::{
    domain::{CredentialKind, Environment, KeyScope, time::Clock},
    engine::EngineSettings,
    service::{Alerts, Credentials, ServiceError},
};
use chrono::Duration;
use rstest::rstest;

use crate::support::{
    alerts::{NOON, open_alert},
    clock::ManualClock,
    engine::{Desk, KEY, acting, bring_in, engine_on, engine_with, network},
};

fn refused<T: std::fmt::Debug>(result: Result<T, ServiceError>) -> String {
    match result.unwrap_err() {
        ServiceError::NotAuthorized(why) => why,
        other => panic!("{other}"),
    }
}

#[rstest]
#[case(Environment::Sandbox, "avk_test_")]
#[case(Environment::Production, "avk_live_")]
#[tokio::test]
async fn a_key_opens_its_organization_and_says_its_world(#[case] environment: Environment, #[case] beginning: &str) {
    let directory = tempfile::tempdir().unwrap();
    let settings = EngineSettings { environment, ..EngineSettings::default() };
    let engine = engine_with(directory.path(), &ManualClock::at(NOON), network(true, true), settings);
    let acting = acting(&engine).await;
    let created = acting.create_credential(CredentialKind::Key(KeyScope::Alerts)).await.unwrap();

    let caller = engine.authenticate(created.secret.reveal(), KeyScope::Alerts).await.unwrap();

    assert!(created.secret.reveal().starts_with(beginning));
    assert_eq!(caller.organization, acting.caller().organization);
    assert_eq!(caller.actor.name, format!("key {}", created.credential.id));
    assert_eq!(acting.credentials().await.unwrap().credentials[0].id, created.credential.id);
}

#[tokio::test]
async fn nothing_of_a_keys_secret_is_stored_or_shown() {
    let directory = tempfile::tempdir().unwrap();
    let engine = engine_on(directory.path(), &ManualClock::at(NOON), &network(true, true));
    let acting = acting(&engine).await;
    let created = acting.create_credential(CredentialKind::Key(KeyScope::Alerts)).await.unwrap();
    let secret = created.secret.reveal().rsplit('_').next().unwrap().to_owned();

    let shown = format!("{:?} {:?}", acting.credentials().await.unwrap().credentials, created.secret);

    assert!(!shown.contains(&secret));
    drop((acting, engine));
    for file in std::fs::read_dir(directory.path()).unwrap() {
        let path = file.unwrap().path();
        let bytes = if path.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
        assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{}", path.display());
    }
}

#[tokio::test]
async fn a_key_of_another_service_is_not_known_here() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let engine = engine_on(here.path(), &ManualClock::at(NOON), &network(true, true));
    let foreign = acting(&engine_on(there.path(), &ManualClock::at(NOON), &network(true, true))).await;
    let key = foreign.create_credential(CredentialKind::Key(KeyScope::Alerts)).await.unwrap();

    assert_eq!(
        refused(engine.authenticate(key.secret.reveal(), KeyScope::Alerts).await),
        "the API key is not known here"
    );
}

#[tokio::test]
async fn a_key_with_a_known_id_and_a_wrong_secret_is_refused() {
    let desk = Desk::new().await;
    let created = desk.acting.create_credential(CredentialKind::Key(KeyScope::Alerts)).await.unwrap();
    // The forger knows the id and how checksums are made.
    let body = format!("avk_test_{}_{}", created.credential.id, "x".repeat(43));
    let forged = format!("{body}{}", checksum(&body));

    assert_eq!(refused(desk.engine.authenticate(&forged, KeyScope::Alerts).await), "the API key is not known here");
}

/// The checksum, reckoned independently: CRC-32 in six digits of base 62.
fn checksum(body: &str) -> String {
    let alphabet: Vec<char> = ('0'..='9').chain('A'..='Z').chain('a'..='z').collect();
    let mut number = crc32fast::hash(body.as_bytes()) as usize;
    let mut digits = Vec::new();
    for _ in 0..6 {
        digits.push(alphabet[number % 62]);
        number /= 62;
    }
    digits.iter().rev().collect()
}

#[tokio::test]
async fn a_mistyped_key_is_told_apart_by_its_checksum() {
    let desk = Desk::new().await;
    let created = desk.acting.create_credential(CredentialKind::Key(KeyScope::Alerts)).await.unwrap();
    let mut text = created.secret.reveal().to_owned();
    let wrong = if text.ends_with('0') { "1" } else { "0" };
    text.replace_range(text.len() - 1.., wrong);

    for mistyped in [text.as_str(), "", "hunter2", &created.secret.reveal()[..60]] {
        assert_eq!(
            refused(desk.engine.authenticate(mistyped, KeyScope::Alerts).await),
            "the API key is mistyped or cut off"
        );
    }
}

#[tokio::test]
async fn a_revoked_key_stops_working_at_once() {
    let desk = Desk::new().await;
    let created = desk.acting.create_credential(CredentialKind::Key(KeyScope::Alerts)).await.unwrap();
    assert!(desk.engine.authenticate(created.secret.reveal(), KeyScope::Alerts).await.is_ok());

    let revoked = desk.acting.revoke_credential(KEY, &created.credential.id).await.unwrap();

    assert_eq!(revoked.credential.revoked_at, Some(desk.clock.now()));
    assert_eq!(
        refused(desk.engine.authenticate(created.secret.reveal(), KeyScope::Alerts).await),
        "the API key was revoked"
    );
    assert!(matches!(desk.acting.revoke_credential(KEY, "nothing").await,
            Err(ServiceError::NotFound(what)) if what == "key nothing"));
}

#[rstest]
#[case(KeyScope::Alerts, KeyScope::Operator)]
#[case(KeyScope::Operator, KeyScope::Alerts)]
#[tokio::test]
async fn a_key_works_only_within_its_scope(#[case] has: KeyScope, #[case] needs: KeyScope) {
    let desk = Desk::new().await;
    let created = desk.acting.create_credential(CredentialKind::Key(has)).await.unwrap();

    let why = refused(desk.engine.authenticate(created.secret.reveal(), needs).await);

    assert!(why.contains(has.as_str()) && why.contains(needs.as_str()), "{why}");
}

#[rstest]
#[case(KeyScope::Alerts)]
#[case(KeyScope::Operator)]
#[tokio::test]
async fn a_key_of_both_scopes_works_within_each(#[case] needs: KeyScope) {
    let desk = Desk::new().await;
    let created = desk.acting.create_credential(CredentialKind::Key(KeyScope::Both)).await.unwrap();

    assert!(desk.engine.authenticate(created.secret.reveal(), needs).await.is_ok());
}

#[rstest]
#[case(CredentialKind::Key(KeyScope::Alerts))]
#[case(CredentialKind::Key(KeyScope::Operator))]
#[case(CredentialKind::Client)]
#[tokio::test]
async fn a_second_revocation_says_that_it_is_one_and_changes_nothing(#[case] kind: CredentialKind) {
    let (directory, clock) = (tempfile::tempdir().unwrap(), ManualClock::at(NOON));
    let acting = acting(&engine_on(directory.path(), &clock, &network(true, true))).await;
    let created = acting.create_credential(kind).await.unwrap();

    let first = acting.revoke_credential(kind, &created.credential.id).await.unwrap();
    clock.advance(Duration::seconds(1));
    let second = acting.revoke_credential(kind, &created.credential.id).await.unwrap();

    assert_eq!((first.already, second.already), (false, true));
    assert_eq!(first.credential, second.credential);
    let listed = acting.credentials().await.unwrap();
    assert_eq!((listed.credentials, listed.organization.as_str()), (vec![first.credential], "default"));
}

#[tokio::test]
async fn a_key_sees_only_its_own_organization() {
    let desk = Desk::new().await;
    desk.engine.create_organization("rival").await.unwrap();
    let ours = desk.engine.acting_for(desk.engine.local_caller(Some("default")).await.unwrap());
    let rival = desk.engine.acting_for(desk.engine.local_caller(Some("rival")).await.unwrap());
    let alert = open_alert("P-1");
    bring_in(&ours, [alert.clone()]).await;
    let key = rival.create_credential(CredentialKind::Key(KeyScope::Alerts)).await.unwrap();

    let rival = desk.engine.acting_for(desk.engine.authenticate(key.secret.reveal(), KeyScope::Alerts).await.unwrap());

    assert_eq!(rival.get(alert.id).await, Err(ServiceError::AlertNotFound(alert.id)));
    assert!(matches!(ours.revoke_credential(KEY, &key.credential.id).await, Err(ServiceError::NotFound(_))));
    assert_eq!(ours.credentials().await.unwrap().credentials, []);
}

#[tokio::test]
async fn the_use_of_a_key_is_written_down_once_a_minute_at_most() {
    let desk = Desk::new().await;
    let created = desk.acting.create_credential(CredentialKind::Key(KeyScope::Alerts)).await.unwrap();
    let tasks = desk.engine.start(tokio_util::sync::CancellationToken::new());
    let loops = tasks.len();
    let mut used = Vec::new();

    for seconds in [0, 59, 1] {
        desk.clock.advance(Duration::seconds(seconds));
        desk.engine.authenticate(created.secret.reveal(), KeyScope::Alerts).await.unwrap();
        // The loops stay; the writing beside the request ends.
        while tasks.len() > loops {
            tokio::task::yield_now().await;
        }
        used.push(desk.acting.credentials().await.unwrap().credentials[0].last_used_at.unwrap());
    }

    let first = used[0];
    assert_eq!(used, [first, first, first + Duration::minutes(1)]);
}

#[tokio::test]
async fn the_caller_at_this_machine_names_the_organization_only_where_there_are_several() {
    let desk = Desk::new().await;
    let only = desk.engine.local_caller(None).await.unwrap();
    desk.engine.create_organization("rival").await.unwrap();

    let unnamed = desk.engine.local_caller(None).await.unwrap_err().to_string();
    let unknown = desk.engine.local_caller(Some("nobody")).await.unwrap_err().to_string();
    let by_id = desk.engine.local_caller(Some(&only.organization.organization.id.to_string())).await;

    assert_eq!(only.organization.organization.name, "default");
    assert!(unnamed.contains("default, rival"), "{unnamed}");
    assert!(unknown.contains("default, rival"), "{unknown}");
    assert_eq!(by_id, Ok(only));
}
