//! `avert keys` and `avert clients`: the credentials by which others come in over HTTP, each printed in the words of
//! its verb.

use serde_json::{Map, Value};

use super::args::{ClientsCommand, KeysCommand, OrganizationArgs};
use super::context::Context;
use super::failure::say;
use super::local::Local;
use super::output::{Report, Rows};
use crate::domain::time::to_iso;
use crate::domain::{Credential, CredentialKind, Environment, KeyScope};
use crate::service::Credentials;

/// What is asked.
enum Asked {
    Create(CredentialKind),
    List,
    Revoke(String),
}

/// The words of a verb.
struct Words {
    /// What it works on; a key is known by it whatever its scope.
    kind: CredentialKind,
    /// The member that is the id, and its column.
    id: (&'static str, &'static str),
    /// The member that is the secret.
    secret: &'static str,
    /// How a new one is told of.
    once: &'static str,
    /// What goes with a revoked one.
    along: &'static str,
}

const KEYS: Words = Words {
    kind: CredentialKind::Key(KeyScope::Alerts),
    id: ("id", "ID"),
    secret: "key",
    once: "it is shown this once",
    along: "",
};

const CLIENTS: Words = Words {
    kind: CredentialKind::Client,
    id: ("client_id", "CLIENT ID"),
    secret: "client_secret",
    once: "its secret is shown this once",
    along: ", and its tokens with it",
};

pub(super) async fn keys(context: Context, command: KeysCommand) -> anyhow::Result<()> {
    let (asked, organization) = match command {
        KeysCommand::Create { scope, organization } => (Asked::Create(CredentialKind::Key(scope)), organization),
        KeysCommand::List { organization } => (Asked::List, organization),
        KeysCommand::Revoke { id, organization } => (Asked::Revoke(id), organization),
    };
    run(context, &KEYS, asked, organization).await
}

pub(super) async fn clients(context: Context, command: ClientsCommand) -> anyhow::Result<()> {
    let (asked, organization) = match command {
        ClientsCommand::Create { organization } => (Asked::Create(CredentialKind::Client), organization),
        ClientsCommand::List { organization } => (Asked::List, organization),
        ClientsCommand::Revoke { id, organization } => (Asked::Revoke(id), organization),
    };
    run(context, &CLIENTS, asked, organization).await
}

async fn run(context: Context, words: &Words, asked: Asked, organization: OrganizationArgs) -> anyhow::Result<()> {
    let local = match &asked {
        Asked::Create(_) => Local::making(&context).await?,
        Asked::List | Asked::Revoke(_) => Local::existing(&context).await?,
    };
    let acting = local.acting(context.organization(&organization)).await?;
    let name = acting.caller().organization.organization.name.clone();
    let answer = match asked {
        Asked::Create(kind) => {
            let created = acting.create_credential(kind).await?;
            let (id, secret) = (created.credential.id, created.secret.reveal());
            let of_scope = scope_of(kind).map(|scope| format!(", scope {scope}")).unwrap_or_default();
            say(&format!("{} {id} for organization {name}{of_scope}; {}", kind.as_str(), words.once));
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
            listing(words, &own, &name)
        }
        Asked::Revoke(id) => {
            let revoked = acting.revoke_credential(words.kind, &id).await?;
            let credential = &revoked.credential;
            let what = format!("{} {}", credential.kind.as_str(), credential.id);
            let note = match credential.revoked_at.filter(|_| revoked.already) {
                Some(at) => format!("{what} was revoked already, at {}", to_iso(at)),
                None => format!("{what} is revoked{}", words.along),
            };
            Report::one(record(words, credential, &name), note)
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

fn record(words: &Words, credential: &Credential, organization: &str) -> Value {
    let mut record = Map::new();
    record.insert(words.id.0.to_owned(), credential.id.as_str().into());
    record.insert("organization".to_owned(), organization.into());
    record.extend(scope_of(credential.kind).map(|scope| ("scope".to_owned(), scope.into())));
    record.insert("environment".to_owned(), credential.environment.map(Environment::as_str).into());
    record.insert("createdAt".to_owned(), to_iso(credential.created_at).into());
    record.insert("lastUsedAt".to_owned(), credential.last_used_at.map(to_iso).into());
    record.insert("revokedAt".to_owned(), credential.revoked_at.map(to_iso).into());
    record.into()
}

fn listing(words: &Words, credentials: &[Credential], organization: &str) -> Report {
    let noun = words.kind.as_str();
    let (with_scope, time) =
        (scope_of(words.kind).is_some(), |moment: Option<_>| moment.map(to_iso).unwrap_or_default());
    let row = |credential: &Credential| {
        let made_for = credential.environment.map_or("not known", Environment::as_str).to_owned();
        let used = credential.last_used_at.map_or_else(|| "never".to_owned(), to_iso);
        let rest = [made_for, to_iso(credential.created_at), used, time(credential.revoked_at)];
        [credential.id.clone()].into_iter().chain(scope_of(credential.kind).map(str::to_owned)).chain(rest).collect()
    };
    let named = |first: &[&'static str], scope: &'static str, rest: [&'static str; 4]| -> Vec<&'static str> {
        first.iter().copied().chain(with_scope.then_some(scope)).chain(rest).collect()
    };
    let records: Vec<Value> = credentials.iter().map(|credential| record(words, credential, organization)).collect();
    let columns =
        named(&[words.id.0, "organization"], "scope", ["environment", "createdAt", "lastUsedAt", "revokedAt"]);
    let table = Rows {
        head: named(&[words.id.1], "SCOPE", ["MADE FOR", "CREATED", "LAST USED", "REVOKED"]),
        rows: credentials.iter().map(row).collect(),
        note: credentials
            .is_empty()
            .then(|| format!("organization {organization} has no {noun}s; `avert {noun}s create` makes one")),
        ..Rows::default()
    };
    Report::list(records, &columns, table)
}
