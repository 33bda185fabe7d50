//! `avert migrate`: the schema of the database brought up to date, or only looked at.

use serde_json::json;

use super::args::MigrateArgs;
use super::context::Context;
use super::database::{of_flag, open, with_password};
use super::failure::{SaidAlready, Superseded};
use super::output::Report;
use crate::domain::database::DatabaseLocation;
use crate::store::sqlite::schema_of;
use crate::store::{SchemaState, StoreError, StoreResult, postgres};

pub(super) async fn run(mut context: Context, args: MigrateArgs) -> anyhow::Result<()> {
    if let Some(database) = &args.database {
        context.home = context.home.with_database(of_flag("--database", database)?);
    }
    let home = &context.home;
    let shown = &home.database;
    let waiting = match shown {
        DatabaseLocation::Sqlite(file) => known(schema_of(file), shown)?,
        DatabaseLocation::Postgres(address) => known(postgres::migrate::inspect(&with_password(address, home)?).await, shown)?,
    };
    let steps = waiting.waiting().to_vec();
    if args.check {
        let words = match &waiting {
            SchemaState::Current => format!("{shown}: its schema is up to date"),
            SchemaState::Waiting(_) => format!("{shown}: its schema waits for {}; apply with `avert migrate`", steps.join(", ")),
            SchemaState::Empty(_) => format!("{shown}: nothing is there yet; `avert migrate` makes it ({})", steps.join(", ")),
        };
        context.output.print(&Report::one(json!({"waiting": steps, "applied": []}), words))?;
        return if steps.is_empty() { Ok(()) } else { Err(SaidAlready.into()) };
    }
    let applied = match shown {
        // Whoever opens a file brings it up to date, with a backup before.
        DatabaseLocation::Sqlite(_) => {
            open(home, &context.settings, true).await?.close();
            steps
        }
        DatabaseLocation::Postgres(address) => known(postgres::migrate::migrate(&with_password(address, home)?).await, shown)?,
    };
    let words = match applied.is_empty() {
        true => format!("{shown}: its schema is up to date"),
        false => format!("{shown}: applied {}", applied.join(", ")),
    };
    context.output.print(&Report::one(json!({"waiting": [], "applied": applied}), words))
}

/// What a look at a schema found; a newer one has an exit code of its own.
fn known<T>(looked: StoreResult<T>, shown: &DatabaseLocation) -> anyhow::Result<T> {
    looked.map_err(|error| match error {
        StoreError::Newer(words) => Superseded(format!("{shown}: {words}")).into(),
        error => anyhow::Error::new(error).context(shown.to_string()),
    })
}
