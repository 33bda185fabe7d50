//! `avert copy`: a desk moved from one database into another, of either kind.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};

use super::args::CopyArgs;
use super::context::Context;
use super::database::{key_file_of, of_flag, shared_key_file, with_password};
use super::failure::{Misused, SaidAlready, say};
use super::home::Home;
use super::output::{Report, Rows};
use crate::domain::database::DatabaseLocation;
use crate::store::transfer::{NewKey, Transferred, transfer};

pub(super) async fn run(context: Context, args: CopyArgs) -> anyhow::Result<()> {
    let (from, to) = (of_flag("--from", &args.from)?, of_flag("--to", &args.to)?);
    if is_same(&from, &to) {
        bail!(Misused(format!("--from and --to name one database: {from}")));
    }
    let (from, to) = (whole(from, &context.home)?, whole(to, &context.home)?);
    if let DatabaseLocation::Sqlite(file) = &from {
        Home::at(PathBuf::new()).with_database(DatabaseLocation::Sqlite(file.clone())).require_data()?;
    }
    let key = || match &from {
        DatabaseLocation::Sqlite(file) => Ok(key_file_of(file, &context.settings).0),
        DatabaseLocation::Postgres(_) => shared_key_file(&context.settings).map(ToOwned::to_owned),
    };
    let new_key = match &args.to_secret_key_file {
        Some(file) => Some(NewKey { from: key()?, to: file.clone() }),
        None => None,
    };
    let bar = ProgressBar::no_length().with_style(ProgressStyle::with_template("{spinner} {msg}")?);
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
    let copied = transfer(&from, &to, new_key.as_ref(), |table, rows| bar.set_message(format!("{table}: {rows}"))).await;
    bar.finish_and_clear();
    let copied = copied.with_context(|| format!("the copy from {from} to {to}"))?;
    if copied.is_same() && new_key.is_none() && !copied.before {
        tell_of_the_key(&from, &to, &context)?;
    }
    context.output.print(&report(&copied, &to))?;
    if copied.is_same() { Ok(()) } else { Err(SaidAlready.into()) }
}

fn is_same(from: &DatabaseLocation, to: &DatabaseLocation) -> bool {
    match (from, to) {
        (DatabaseLocation::Sqlite(from), DatabaseLocation::Sqlite(to)) => {
            let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
            real(from) == real(to)
        }
        (DatabaseLocation::Postgres(from), DatabaseLocation::Postgres(to)) => {
            (&from.host, from.port, &from.name) == (&to.host, to.port, &to.name)
        }
        _ => false,
    }
}

/// The location with its password.
fn whole(location: DatabaseLocation, home: &Home) -> anyhow::Result<DatabaseLocation> {
    Ok(match location {
        DatabaseLocation::Postgres(address) => DatabaseLocation::Postgres(with_password(&address, home)?),
        file @ DatabaseLocation::Sqlite(_) => file,
    })
}

/// The copy is worth nothing without the key that its secrets are sealed with: a file has it beside it, a server cannot.
fn tell_of_the_key(from: &DatabaseLocation, to: &DatabaseLocation, context: &Context) -> anyhow::Result<()> {
    let DatabaseLocation::Sqlite(source) = from else { return Ok(()) };
    let (key, beside) = key_file_of(source, &context.settings);
    match to {
        DatabaseLocation::Sqlite(file) if beside => {
            let place = file.with_file_name("secret.key");
            if !place.exists() {
                std::fs::copy(&key, &place).with_context(|| format!("the key cannot be copied to {}", place.display()))?;
            }
        }
        DatabaseLocation::Postgres(_) if beside => say(&format!(
            "Its secrets are sealed with the key in {}: name that file, or a copy of it, with AVERT_SECRET_KEY_FILE.",
            key.display()
        )),
        DatabaseLocation::Sqlite(_) | DatabaseLocation::Postgres(_) => {}
    }
    Ok(())
}

fn report(copied: &Transferred, to: &DatabaseLocation) -> Report {
    let records: Vec<Value> = copied.tables.iter().map(|table| json!({"table": table.table, "from": table.from, "to": table.to})).collect();
    let rows = copied.tables.iter().map(|table| {
        let state = if table.same { "" } else { "differs" };
        vec![table.table.to_owned(), table.from.to_string(), table.to.to_string(), state.to_owned()]
    });
    let note = match (copied.is_same(), copied.before) {
        (true, false) => format!("{to} holds the same, table by table."),
        (true, true) => format!("{to} holds this copy already; nothing was changed."),
        (false, _) => format!("{to} does not hold the same: nothing was kept there."),
    };
    let table = Rows { head: vec!["TABLE", "FROM", "TO", ""], rows: rows.collect(), note: Some(note), ..Rows::default() };
    Report::new(json!({"tables": records}), records.clone(), &["table", "from", "to"], table)
}
