//! `avert organizations`, `avert keys` and `avert clients`: who the HTTP interface is for, and their credentials; and
//! `avert secrets`, which rotates the keys that avert keeps for itself, while it works.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::{Map, json};

use super::{
    args::{ClientsCommand, KeysCommand, OrganizationsCommand, RotateCommand, SecretsCommand},
    context::Context,
    database::{key_file_of, shared_key_file},
    local::Local,
    output::{ListColumns, Report},
};
use crate::{
    domain::{Credential, CredentialKind, Environment, KeyScope, database::DatabaseLocation, time::to_iso},
    engine::RotatedSigningKey,
    service::Credentials,
    store::{OrganizationRecord, rekeying::RotatedDataKey},
};

/// Verb with its arguments.
enum Asked {
    Create(CredentialKind),
    List,
    Revoke(String),
}

/// Words of a verb.
struct Words {
    /// Kind that the verb works on; a key is found by it whatever its scope.
    kind: CredentialKind,
    /// Member of the id, and its column.
    id: (&'static str, &'static str),
    /// Member of the secret.
    secret: &'static str,
}

const KEYS: Words = Words { kind: CredentialKind::Key(KeyScope::Alerts), id: ("id", "ID"), secret: "key" };

const CLIENTS: Words = Words { kind: CredentialKind::Client, id: ("client_id", "CLIENT ID"), secret: "client_secret" };

pub(super) async fn keys(context: Context, command: KeysCommand) -> anyhow::Result<()> {
    let asked = match command {
        KeysCommand::Create { scope } => Asked::Create(CredentialKind::Key(scope)),
        KeysCommand::List => Asked::List,
        KeysCommand::Revoke { id } => Asked::Revoke(id),
    };
    run(context, &KEYS, asked).await
}

pub(super) async fn clients(context: Context, command: ClientsCommand) -> anyhow::Result<()> {
    let asked = match command {
        ClientsCommand::Create => Asked::Create(CredentialKind::Client),
        ClientsCommand::List => Asked::List,
        ClientsCommand::Revoke { id } => Asked::Revoke(id),
    };
    run(context, &CLIENTS, asked).await
}

async fn run(context: Context, words: &Words, asked: Asked) -> anyhow::Result<()> {
    let local = match &asked {
        Asked::Create(_) => Local::making(&context).await?,
        Asked::List | Asked::Revoke(_) => Local::existing(&context).await?,
    };
    let acting = local.acting(context.organization()).await?;
    let name = acting.caller().organization.organization.name.clone();
    let answer = match asked {
        Asked::Create(kind) => {
            let created = acting.create_credential(kind).await?;
            let (id, secret) = (created.credential.id, created.secret.reveal());
            let of_scope = scope_of(kind).map(|scope| format!(", scope {scope}")).unwrap_or_default();
            say!("{} {id} for organization {name}{of_scope}; {} is shown this once", kind.as_str(), words.secret);
            let mut record = Map::new();
            record.insert(words.id.0.to_owned(), id.into());
            record.insert(words.secret.to_owned(), secret.into());
            record.insert("organization".to_owned(), name.into());
            record.extend(scope_of(kind).map(|scope| ("scope".to_owned(), scope.into())));
            Report::one(record.into(), secret.to_owned())
        }
        Asked::List => {
            let all = acting.credentials().await?.credentials;
            let own: Vec<Credential> =
                all.into_iter().filter(|credential| credential.kind.is_alike(words.kind)).collect();
            let noun = words.kind.as_str();
            let none = || format!("organization {name} has no {noun}s; `avert {noun}s create` makes one");
            columns(words, &name).report(&own, own.is_empty().then(none))
        }
        Asked::Revoke(id) => {
            let revoked = acting.revoke_credential(words.kind, &id).await?;
            let credential = &revoked.credential;
            let what = format!("{} {}", credential.kind.as_str(), credential.id);
            let note = match credential.revoked_at.filter(|_| revoked.already) {
                Some(at) => format!("{what} was revoked already, at {}", to_iso(at)),
                None => format!("{what} is revoked"),
            };
            Report::one(columns(words, &name).record(credential), note)
        }
    };
    context.output.print(&answer)
}

fn scope_of(kind: CredentialKind) -> Option<&'static str> {
    match kind {
        CredentialKind::Key(scope) => Some(scope.as_str()),
        CredentialKind::Client => None,
    }
}

fn columns<'a>(words: &Words, organization: &'a str) -> ListColumns<'a, Credential> {
    let columns = ListColumns::new()
        .both(words.id.0, words.id.1, |credential: &Credential| json!(credential.id))
        .member("organization", move |_| json!(organization));
    let columns = match scope_of(words.kind) {
        Some(_) => columns.both("scope", "SCOPE", |credential| json!(scope_of(credential.kind))),
        None => columns,
    };
    columns
        .both("environment", "MADE FOR", |credential| json!(credential.environment.map(Environment::as_str)))
        .both("createdAt", "CREATED", |credential| json!(to_iso(credential.created_at)))
        .both("lastUsedAt", "LAST USED", |credential| json!(credential.last_used_at.map(to_iso)))
        .both("revokedAt", "REVOKED", |credential| json!(credential.revoked_at.map(to_iso)))
}

pub(super) async fn organizations(context: Context, command: OrganizationsCommand) -> anyhow::Result<()> {
    let answer = match command {
        OrganizationsCommand::Create { name } => {
            let created = Local::making(&context).await?.engine.create_organization(&name).await?;
            let organization = &created.organization;
            Report::one(
                organization_columns().record(&created),
                format!("organization {} has the id {}", organization.name, organization.id),
            )
        }
        OrganizationsCommand::List => {
            organization_columns().report(&Local::existing(&context).await?.engine.organizations().await?, None)
        }
    };
    context.output.print(&answer)
}

fn organization_columns() -> ListColumns<'static, OrganizationRecord> {
    ListColumns::new()
        .both("id", "ID", |one: &OrganizationRecord| json!(one.organization.id.to_string()))
        .both("name", "NAME", |one| json!(one.organization.name))
        .member("defaultCompanyId", |one| json!(one.default_company.to_string()))
        .member("defaultEnrollmentId", |one| json!(one.default_enrollment.to_string()))
}

pub(super) async fn secrets(context: Context, command: SecretsCommand) -> anyhow::Result<()> {
    let SecretsCommand::Rotate(which) = command;
    let report = match which {
        RotateCommand::Signing => {
            let local = Local::existing(&context).await?;
            signing(&local.engine.rotate_signing_key().await?)
        }
        RotateCommand::Data { new_key_file } => {
            let file = in_use(&context, new_key_file.as_deref())?;
            let local = Local::existing(&context).await?;
            let rotated = local.engine.rotate_data_key(&file, new_key_file.as_deref()).await;
            data(&rotated.context("the rotation of the data key")?, &file)
        }
    };
    context.output.print(&report)
}

/// Returns the file with the data key in use.
fn in_use(context: &Context, new_key_file: Option<&Path>) -> anyhow::Result<PathBuf> {
    match &context.home.database {
        DatabaseLocation::Sqlite(file) => Ok(key_file_of(file, &context.settings).0),
        DatabaseLocation::Postgres(_) => {
            let file = shared_key_file(&context.settings)?;
            if new_key_file.is_none() {
                refuse!(
                    "a database on a server needs --new-key-file KEYFILE: every machine has to have the new key, best \
                        as {}.new beforehand",
                    file.display()
                );
            }
            Ok(file.to_owned())
        }
    }
}

fn signing(rotated: &RotatedSigningKey) -> Report {
    let RotatedSigningKey { key, before } = rotated;
    let (old, until) = before.as_ref().map(|(old, until)| (old, to_iso(*until))).unzip();
    Report::of_record(json!({"key": key, "before": old, "beforeUntil": until}))
}

fn data(rotated: &RotatedDataKey, file: &Path) -> Report {
    let RotatedDataKey { sealed, kept, not_in_place } = rotated;
    if let Some(why) = not_in_place {
        let shown = file.display();
        say!("the new key is in {shown}.new and could not be put in {shown} ({why}): put it there");
    }
    say!(
        "Backups that were made before need the key before. Processes on other machines need the new key, as the file \
            that they name or as that with .new."
    );
    let path = |path: &Path| path.display().to_string();
    let record = json!({
        "sealed": sealed,
        "keyFile": path(file),
        "inPlace": not_in_place.is_none(),
        "keptKey": kept.as_deref().map(path),
    });
    Report::of_record(record)
}
