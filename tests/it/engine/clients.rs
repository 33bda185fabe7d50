//! Client credentials and the tokens that they get.

use avert::{
    domain::{CreatedCredential, CredentialKind, time::Clock},
    engine::{ActingEngine, Engine, TOKEN_LIFETIME},
    service::{Credentials, Intake, ServiceError},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::Duration;
use jsonwebtoken::EncodingKey;

use crate::support::{
    alerts::NOON,
    clock::ManualClock,
    engine::{acting, engine_on, network},
};

/// How much longer than its tokens a key is taken after a rotation.
const MARGIN: Duration = Duration::seconds(30);

pub fn refused<T: std::fmt::Debug>(result: Result<T, ServiceError>) -> String {
    match result.unwrap_err() {
        ServiceError::NotAuthorized(why) => why,
        other => panic!("{other}"),
    }
}

pub async fn token(engine: &Engine, client: &CreatedCredential) -> Result<String, ServiceError> {
    let known = engine.client(&client.credential.id).await?;
    Ok(engine.issue_token(known, client.secret.reveal()).await?.token.reveal().to_owned())
}

async fn fresh(directory: &std::path::Path) -> (Engine, ActingEngine, std::sync::Arc<ManualClock>) {
    let clock = ManualClock::at(NOON);
    let engine = engine_on(directory, &clock, &network(true, true));
    let acting = acting(&engine).await;
    (engine, acting, clock)
}

#[tokio::test]
async fn a_token_stands_for_its_clients_organization() {
    let directory = tempfile::tempdir().unwrap();
    let (engine, acting, _) = fresh(directory.path()).await;
    engine.create_organization("rival").await.unwrap();
    let rival = engine.acting_for(engine.local_caller(Some("rival")).await.unwrap());
    let (ours, theirs) = (
        acting.create_credential(CredentialKind::Client).await.unwrap(),
        rival.create_credential(CredentialKind::Client).await.unwrap(),
    );

    let caller = engine.authenticate_token(&token(&engine, &ours).await.unwrap()).await.unwrap();
    let rivals = engine.authenticate_token(&token(&engine, &theirs).await.unwrap()).await.unwrap();

    assert_eq!(caller.organization, acting.caller().organization);
    assert_eq!(caller.actor.name, format!("client {}", ours.credential.id));
    assert_eq!(rivals.organization, rival.caller().organization);
}

#[tokio::test]
async fn only_the_clients_own_secret_gets_a_token() {
    let directory = tempfile::tempdir().unwrap();
    let (engine, acting, _) = fresh(directory.path()).await;
    let (one, other) = (
        acting.create_credential(CredentialKind::Client).await.unwrap(),
        acting.create_credential(CredentialKind::Client).await.unwrap(),
    );
    let mut mistyped = one.secret.reveal().to_owned();
    let last = if mistyped.ends_with('0') { "1" } else { "0" };
    mistyped.replace_range(mistyped.len() - 1.., last);

    for secret in [other.secret.reveal(), &mistyped, "", "hunter2"] {
        let known = engine.client(&one.credential.id).await.unwrap();
        assert!(
            refused(engine.issue_token(known, secret).await).starts_with("the client is not known here, or its secret")
        );
    }
    assert!(
        refused(engine.issue_token(None, one.secret.reveal()).await)
            .starts_with("the client is not known here, or its secret")
    );
    assert!(engine.client("avc_test_00000000000").await.unwrap().is_none());
}

#[tokio::test]
async fn revoking_a_client_ends_it_and_its_tokens_at_once_in_every_process() {
    let directory = tempfile::tempdir().unwrap();
    let (engine, acting, clock) = fresh(directory.path()).await;
    let other_process = engine_on(directory.path(), &clock, &network(true, true));
    let client = acting.create_credential(CredentialKind::Client).await.unwrap();
    let token_text = token(&engine, &client).await.unwrap();
    assert!(other_process.authenticate_token(&token_text).await.is_ok(), "one key signs for all");

    let revoked = acting.revoke_credential(CredentialKind::Client, &client.credential.id).await.unwrap();

    assert_eq!(revoked.credential.revoked_at, Some(clock.now()));
    for engine in [&engine, &other_process] {
        assert_eq!(refused(engine.authenticate_token(&token_text).await), "the access token's client was revoked");
        assert_eq!(refused(token(engine, &client).await), "the client was revoked");
    }
    let another = acting.revoke_credential(CredentialKind::Client, "avc_test_nothing").await;
    assert!(matches!(another, Err(ServiceError::NotFound(what)) if what == "client avc_test_nothing"));
}

#[tokio::test]
async fn a_token_ends_with_its_time_and_outlives_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let (engine, acting, clock) = fresh(directory.path()).await;
    let client = acting.create_credential(CredentialKind::Client).await.unwrap();
    let token_text = token(&engine, &client).await.unwrap();
    drop((engine, acting));

    let engine = engine_on(directory.path(), &clock, &network(true, true));
    clock.advance(TOKEN_LIFETIME - Duration::seconds(1));
    let last = engine.authenticate_token(&token_text).await;
    clock.advance(Duration::seconds(1));

    assert!(last.is_ok());
    assert_eq!(refused(engine.authenticate_token(&token_text).await), "the access token has expired");
}

#[tokio::test]
async fn a_token_of_another_service_is_not_taken() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (engine, _, _) = fresh(here.path()).await;
    let (foreign, acting, _) = fresh(there.path()).await;
    let token_text = token(&foreign, &acting.create_credential(CredentialKind::Client).await.unwrap()).await.unwrap();

    assert_eq!(
        refused(engine.authenticate_token(&token_text).await),
        "the access token was not signed by this service"
    );
}

#[tokio::test]
async fn many_that_need_the_first_signing_key_at_once_get_one() {
    let directory = tempfile::tempdir().unwrap();
    let clock = ManualClock::at(NOON);
    let processes: Vec<_> = (0..4).map(|_| engine_on(directory.path(), &clock, &network(true, true))).collect();

    let keys =
        futures::future::join_all(processes.iter().flat_map(|engine| [engine.public_keys(), engine.public_keys()]))
            .await;

    let first = keys[0].as_ref().unwrap();
    assert!(keys.iter().all(|key| key.as_ref().unwrap() == first));
    assert_eq!(first.keys.len(), 1);
}

#[tokio::test]
async fn a_rotated_signing_key_signs_at_once_in_every_process_and_the_old_one_is_taken_for_600_s_more() {
    let directory = tempfile::tempdir().unwrap();
    let (here, acting, clock) = fresh(directory.path()).await;
    let there = engine_on(directory.path(), &clock, &network(true, true));
    let client = acting.create_credential(CredentialKind::Client).await.unwrap();
    let ids = async |engine: &Engine| -> Vec<String> {
        engine.public_keys().await.unwrap().keys.into_iter().filter_map(|key| key.common.key_id).collect()
    };
    let takes = async |token: &str| {
        let (here, there) =
            (here.authenticate_token(token).await.is_ok(), there.authenticate_token(token).await.is_ok());
        assert_eq!(here, there);
        here
    };
    let (old, old_there) = (token(&here, &client).await.unwrap(), token(&there, &client).await.unwrap());
    let before = ids(&here).await;

    let rotated = here.rotate_signing_key().await.unwrap();
    let (new, new_there) = (token(&here, &client).await.unwrap(), token(&there, &client).await.unwrap());

    assert_eq!(rotated.before, Some((before[0].clone(), clock.now() + TOKEN_LIFETIME + MARGIN)));
    assert_eq!(
        (ids(&here).await, ids(&there).await),
        (vec![rotated.key.clone(), before[0].clone()], vec![rotated.key.clone(), before[0].clone()])
    );
    for token in [&new, &new_there] {
        assert_eq!(jsonwebtoken::decode_header(token).unwrap().kid.as_ref(), Some(&rotated.key));
    }
    assert!(takes(&old).await && takes(&old_there).await && takes(&new).await && takes(&new_there).await);
    clock.advance(TOKEN_LIFETIME - Duration::seconds(1));
    assert!(takes(&old).await && takes(&new).await);
    clock.advance(Duration::seconds(1));
    assert!(!takes(&old).await, "it has ended");
    clock.advance(MARGIN);
    assert_eq!(ids(&there).await, [rotated.key]);
}

#[tokio::test]
async fn a_process_that_has_read_the_keys_takes_a_token_of_a_new_one_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let (here, acting, clock) = fresh(directory.path()).await;
    let there = engine_on(directory.path(), &clock, &network(true, true));
    let client = acting.create_credential(CredentialKind::Client).await.unwrap();
    there.authenticate_token(&token(&here, &client).await.unwrap()).await.unwrap();

    here.rotate_signing_key().await.unwrap();
    let taken = there.authenticate_token(&token(&here, &client).await.unwrap()).await;

    assert!(taken.is_ok(), "{taken:?}");
}

#[tokio::test]
async fn a_token_that_was_signed_with_the_key_before_while_it_was_rotated_is_good_until_it_ends() {
    let directory = tempfile::tempdir().unwrap();
    let (here, acting, clock) = fresh(directory.path()).await;
    let client = acting.create_credential(CredentialKind::Client).await.unwrap();
    let ahead = ManualClock::at(NOON);
    let there = engine_on(directory.path(), &ahead, &network(true, true));
    ahead.advance(Duration::seconds(4));
    let signed = token(&there, &client).await.unwrap();

    here.rotate_signing_key().await.unwrap();
    clock.advance(TOKEN_LIFETIME + Duration::seconds(3));
    let at_last = here.authenticate_token(&signed).await;
    clock.advance(Duration::seconds(1));

    assert!(at_last.is_ok(), "{at_last:?}");
    assert!(here.authenticate_token(&signed).await.is_err(), "it has ended");
}

#[tokio::test]
async fn what_a_stolen_key_signs_is_refused_everywhere_630_s_after_a_rotation() {
    let directory = tempfile::tempdir().unwrap();
    let (here, acting, clock) = fresh(directory.path()).await;
    let there = engine_on(directory.path(), &clock, &network(true, true));
    let client = acting.create_credential(CredentialKind::Client).await.unwrap();
    let real = token(&here, &client).await.unwrap();
    let stolen = EncodingKey::from_ed_der(&here.store().signing_keys().await.unwrap().unwrap().current.private_key);
    let claims = URL_SAFE_NO_PAD.decode(real.split('.').nth(1).unwrap()).unwrap();
    let mut claims: serde_json::Value = serde_json::from_slice(&claims).unwrap();
    claims["exp"] = i64::MAX.into();
    let forged = jsonwebtoken::encode(&jsonwebtoken::decode_header(&real).unwrap(), &claims, &stolen).unwrap();

    let before = there.authenticate_token(&forged).await;
    here.rotate_signing_key().await.unwrap();
    clock.advance(TOKEN_LIFETIME + MARGIN - Duration::seconds(1));
    let at_last = there.authenticate_token(&forged).await;
    clock.advance(Duration::seconds(1));

    assert!(before.is_ok() && at_last.is_ok(), "{before:?} {at_last:?}");
    for engine in [&here, &there] {
        assert_eq!(
            refused(engine.authenticate_token(&forged).await),
            "the access token was not signed by this service"
        );
    }
}

#[tokio::test]
async fn neither_a_client_secret_nor_the_signing_key_lies_open_in_the_data_directory() {
    let directory = tempfile::tempdir().unwrap();
    let (engine, acting, _) = fresh(directory.path()).await;
    let client = acting.create_credential(CredentialKind::Client).await.unwrap();
    let token_text = token(&engine, &client).await.unwrap();
    let private_key = engine.store().signing_keys().await.unwrap().unwrap().current.private_key;
    // PKCS #8 begins alike for every key; what follows is the key.
    let canaries = [client.secret.reveal().as_bytes(), token_text.as_bytes(), &private_key[16..48]];

    drop((engine, acting));

    let mut looked_at = 0;
    for file in std::fs::read_dir(directory.path()).unwrap() {
        let path = file.unwrap().path();
        let bytes = if path.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
        looked_at += bytes.len();
        for canary in canaries {
            assert!(!bytes.windows(canary.len()).any(|window| window == canary), "{}", path.display());
        }
    }
    assert!(looked_at > 10_000, "the database was not there");
}

#[tokio::test]
async fn the_use_of_a_client_is_written_down_to_the_minute() {
    let directory = tempfile::tempdir().unwrap();
    let (engine, acting, clock) = fresh(directory.path()).await;
    let client = acting.create_credential(CredentialKind::Client).await.unwrap();
    let tasks = engine.start(tokio_util::sync::CancellationToken::new());
    let loops = tasks.len();
    let settled = async || {
        // The loops stay; the writing beside the request ends.
        while tasks.len() > loops {
            tokio::task::yield_now().await;
        }
        acting.credentials().await.unwrap().credentials[0].last_used_at
    };
    let unused = settled().await;

    let token_text = token(&engine, &client).await.unwrap();
    let first = settled().await.unwrap();
    clock.advance(Duration::minutes(2));
    engine.authenticate_token(&token_text).await.unwrap();

    assert_eq!(unused, None);
    assert_eq!(settled().await, Some(first + Duration::minutes(2)));
}

#[tokio::test]
async fn an_organization_has_a_name_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let (engine, acting, _) = fresh(directory.path()).await;

    let created = engine.create_organization(" ACME Shop ").await.unwrap();
    let again = engine.create_organization("ACME Shop").await;
    let wrong = engine.create_organization("").await;

    assert_eq!(created.organization.name, "ACME Shop");
    assert!(matches!(again, Err(ServiceError::Conflict(why)) if why.contains("exists already")));
    assert!(matches!(wrong, Err(ServiceError::InvalidRequest(errors)) if errors[0].field == "name"));
    assert_eq!(engine.organizations().await.unwrap().len(), 2);
    let other = engine.acting_for(engine.local_caller(Some("ACME Shop")).await.unwrap());
    assert_eq!(other.companies().await.unwrap()[0].id, created.default_company);
    assert_ne!(acting.companies().await.unwrap(), other.companies().await.unwrap());
}
