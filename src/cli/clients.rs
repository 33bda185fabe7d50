//! `avert clients`: client credentials, which get access tokens for the HTTP interface.

use serde_json::{Value, json};

use super::args::ClientsCommand;
use super::context::Context;
use super::failure::say;
use super::local::Local;
use super::output::{Answer, Rows, columns_of};
use crate::domain::ApiClient;
use crate::domain::time::to_iso;

pub(super) async fn run(context: Context, command: ClientsCommand) -> anyhow::Result<()> {
    let (ClientsCommand::Create { organization } | ClientsCommand::List { organization } | ClientsCommand::Revoke { organization, .. }) =
        &command;
    let local = match &command {
        ClientsCommand::Create { .. } => Local::making(&context.home, &context.settings).await?,
        ClientsCommand::List { .. } | ClientsCommand::Revoke { .. } => Local::existing(&context.home, &context.settings).await?,
    };
    let acting = local.acting(context.organization(organization)).await?;
    let name = acting.caller().organization.organization.name.clone();
    let answer = match &command {
        ClientsCommand::Create { .. } => {
            let created = acting.create_client().await?;
            let (id, secret) = (&created.client.id, created.secret.reveal());
            say(&format!("client {id} for organization {name}; its secret is shown this once"));
            let record = json!({"client_id": id, "client_secret": secret, "organization": name});
            single(record, secret.to_owned())
        }
        ClientsCommand::List { .. } => listing(&acting.clients().await?, &name),
        ClientsCommand::Revoke { id, .. } => {
            let before = local.now();
            let client = acting.revoke_client(id).await?;
            let note = match client.revoked_at.filter(|at| *at < before) {
                Some(at) => format!("client {} was revoked already, at {}", client.id, to_iso(at)),
                None => format!("client {} is revoked, and its tokens with it", client.id),
            };
            single(record(&client, &name), note)
        }
    };
    context.output.print(&answer)?;
    Ok(())
}

fn single(record: Value, note: String) -> Answer {
    Answer {
        table: Rows { note: Some(note), ..Rows::default() },
        document: record.clone(),
        columns: columns_of(&record),
        records: vec![record],
    }
}

fn record(client: &ApiClient, organization: &str) -> Value {
    json!({
        "client_id": client.id,
        "organization": organization,
        "createdAt": to_iso(client.created_at),
        "lastUsedAt": client.last_used_at.map(to_iso),
        "revokedAt": client.revoked_at.map(to_iso),
    })
}

fn listing(clients: &[ApiClient], organization: &str) -> Answer {
    let records: Vec<Value> = clients.iter().map(|client| record(client, organization)).collect();
    let time = |moment: Option<_>| moment.map(to_iso).unwrap_or_default();
    let row = |client: &ApiClient| vec![client.id.clone(), to_iso(client.created_at), time(client.last_used_at), time(client.revoked_at)];
    Answer {
        table: Rows {
            head: vec!["CLIENT ID", "CREATED", "LAST USED", "REVOKED"],
            rows: clients.iter().map(row).collect(),
            note: clients.is_empty().then(|| format!("organization {organization} has no clients; `avert clients create` makes one")),
            ..Rows::default()
        },
        columns: ["client_id", "organization", "createdAt", "lastUsedAt", "revokedAt"].map(str::to_owned).to_vec(),
        document: Value::Array(records.clone()),
        records,
    }
}
