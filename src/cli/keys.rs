//! `avert keys`: API keys for the HTTP interface.

use serde_json::{Value, json};

use super::args::KeysCommand;
use super::context::Context;
use super::failure::say;
use super::local::Local;
use super::output::{Answer, Rows, columns_of};
use crate::domain::ApiKey;
use crate::domain::time::to_iso;

pub(super) async fn run(context: Context, command: KeysCommand) -> anyhow::Result<()> {
    let (KeysCommand::Create { organization, .. } | KeysCommand::List { organization } | KeysCommand::Revoke { organization, .. }) =
        &command;
    let local = match &command {
        KeysCommand::Create { .. } => Local::making(&context.home, &context.settings).await?,
        KeysCommand::List { .. } | KeysCommand::Revoke { .. } => Local::existing(&context.home, &context.settings).await?,
    };
    let acting = local.acting(context.organization(organization)).await?;
    let name = acting.caller().organization.organization.name.clone();
    let answer = match &command {
        KeysCommand::Create { scope, .. } => {
            let created = acting.create_key(*scope).await?;
            let (id, secret) = (&created.key.id, created.secret.reveal());
            say(&format!("key {id} for organization {name}, scope {}; it is shown this once", scope.as_str()));
            let record = json!({"id": id, "key": secret, "organization": name, "scope": scope.as_str()});
            Answer {
                table: Rows { note: Some(secret.to_owned()), ..Rows::default() },
                document: record.clone(),
                columns: columns_of(&record),
                records: vec![record],
            }
        }
        KeysCommand::List { .. } => listing(&acting.keys().await?, &name),
        KeysCommand::Revoke { id, .. } => {
            let before = local.now();
            let key = acting.revoke_key(id).await?;
            let record = record(&key, &name);
            let note = match key.revoked_at.filter(|at| *at < before) {
                Some(at) => format!("key {} was revoked already, at {}", key.id, to_iso(at)),
                None => format!("key {} is revoked", key.id),
            };
            Answer {
                table: Rows { note: Some(note), ..Rows::default() },
                document: record.clone(),
                columns: columns_of(&record),
                records: vec![record],
            }
        }
    };
    context.output.print(&answer)?;
    Ok(())
}

fn record(key: &ApiKey, organization: &str) -> Value {
    json!({
        "id": key.id,
        "organization": organization,
        "scope": key.scope.as_str(),
        "createdAt": to_iso(key.created_at),
        "lastUsedAt": key.last_used_at.map(to_iso),
        "revokedAt": key.revoked_at.map(to_iso),
    })
}

fn listing(keys: &[ApiKey], organization: &str) -> Answer {
    let records: Vec<Value> = keys.iter().map(|key| record(key, organization)).collect();
    let time = |moment: Option<_>| moment.map(to_iso).unwrap_or_default();
    let row = |key: &ApiKey| {
        vec![key.id.clone(), key.scope.as_str().to_owned(), to_iso(key.created_at), time(key.last_used_at), time(key.revoked_at)]
    };
    Answer {
        table: Rows {
            head: vec!["ID", "SCOPE", "CREATED", "LAST USED", "REVOKED"],
            rows: keys.iter().map(row).collect(),
            note: keys.is_empty().then(|| format!("organization {organization} has no keys; `avert keys create` makes one")),
            ..Rows::default()
        },
        columns: ["id", "organization", "scope", "createdAt", "lastUsedAt", "revokedAt"].map(str::to_owned).to_vec(),
        document: Value::Array(records.clone()),
        records,
    }
}
