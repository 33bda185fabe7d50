//! `avert keys` and `avert clients`: the credentials of the HTTP interface, each printed in the words of its verb.

use serde_json::{Map, json};

use super::{
    args::{ClientsCommand, KeysCommand, OrganizationArgs},
    context::Context,
    local::Local,
    output::{ListColumns, Report},
};
use crate::{
    domain::{Credential, CredentialKind, Environment, KeyScope, time::to_iso},
    service::Credentials,
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
    /// Note on a new one, which is shown only once.
    once: &'static str,
    /// Note on a revoked one.
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
            say!("{} {id} for organization {name}{of_scope}; {}", kind.as_str(), words.once);
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
                None => format!("{what} is revoked{}", words.along),
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
        .member("environment", |credential| json!(credential.environment.map(Environment::as_str)))
        .shown("MADE FOR", |credential| credential.environment.map_or("not known", Environment::as_str).to_owned())
        .both("createdAt", "CREATED", |credential| json!(to_iso(credential.created_at)))
        .member("lastUsedAt", |credential| json!(credential.last_used_at.map(to_iso)))
        .shown("LAST USED", |credential| credential.last_used_at.map_or_else(|| "never".to_owned(), to_iso))
        .both("revokedAt", "REVOKED", |credential| json!(credential.revoked_at.map(to_iso)))
}
