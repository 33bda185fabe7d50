//! `avert migrate`: brings the schema of the database up to date, or only inspects it.

use anyhow::Context as _;
use serde_json::json;

use super::{
    args::MigrateArgs,
    context::Context,
    database::{OpenedBy, open, shared_key_file, with_password},
    failure::{InDoubt, NotOurs, SaidAlready, code, told},
    output::Report,
};
use crate::{
    domain::database::DatabaseLocation,
    store::{PostgresStore, SchemaState, StoreError, postgres, sqlite::schema_of},
};

pub(super) async fn run(context: Context, args: MigrateArgs) -> anyhow::Result<()> {
    let home = &context.home;
    let shown = &home.database;
    let waiting = look(&context).await.map_err(|error| if args.check { unknown(error) } else { error })?;
    let steps = waiting.waiting().to_vec();
    if args.check {
        let words = match &waiting {
            SchemaState::Current => format!("{shown}: its schema is up to date"),
            SchemaState::Waiting(_) => {
                format!("{shown}: its schema waits for {}; apply with `avert migrate`", steps.join(", "))
            }
            SchemaState::Empty(_) => {
                format!("{shown}: nothing is there yet; `avert migrate` makes it ({})", steps.join(", "))
            }
        };
        context.output.print(&Report::one(json!({"waiting": steps, "applied": []}), words))?;
        return if steps.is_empty() { Ok(()) } else { Err(SaidAlready.into()) };
    }
    let applied = match shown {
        // Opening a file brings it up to date, with a backup before.
        DatabaseLocation::Sqlite(_) => {
            open(home, &context.settings, OpenedBy::Console).await?.close();
            steps
        }
        DatabaseLocation::Postgres(address) => {
            let server = with_password(address, home)?;
            // The process that creates the tables creates the data key too: of nodes that start together only one
            // could.
            let key_file = match &waiting {
                SchemaState::Empty(_) => Some(shared_key_file(&context.settings)?),
                SchemaState::Waiting(_) | SchemaState::Current => None,
            };
            let applied = postgres::migrate::migrate(&server).await.with_context(|| shown.to_string())?;
            if let Some(file) = key_file {
                PostgresStore::make_data_key(&server, file).await.with_context(|| shown.to_string())?;
            }
            applied
        }
    };
    let words = match applied.is_empty() {
        true => format!("{shown}: its schema is up to date"),
        false => format!("{shown}: applied {}", applied.join(", ")),
    };
    context.output.print(&Report::one(json!({"waiting": [], "applied": applied}), words))
}

/// Inspects the state of the schema. Changes nothing.
async fn look(context: &Context) -> anyhow::Result<SchemaState> {
    let shown = &context.home.database;
    let state = match shown {
        DatabaseLocation::Sqlite(file) => schema_of(file),
        DatabaseLocation::Postgres(address) => {
            postgres::migrate::inspect(&with_password(address, &context.home)?).await
        }
    };
    state.with_context(|| shown.to_string())
}

/// Maps an error of `--check` to another exit code than 1, which says that migrations are pending.
fn unknown(error: anyhow::Error) -> anyhow::Error {
    let words = told(&error);
    match error.downcast_ref::<StoreError>() {
        Some(StoreError::Unusable(_)) => NotOurs(words).into(),
        _ if code(&error) == 1 => InDoubt(words).into(),
        _ => error,
    }
}
