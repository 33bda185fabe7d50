//! `avert copy`: copies a desk from one database into another, of either kind.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use indicatif::ProgressBar;
use serde_json::json;

use super::{
    args::CopyArgs,
    context::{Context, Home},
    database::{key_file_of, named_key_file, of_flag, shared_key_file, with_password},
    failure::SaidAlready,
    output::{ListColumns, Report, progress},
};
use crate::{
    desk::directory_of,
    domain::database::DatabaseLocation,
    store::transfer::{CopyKeys, CopyStep, Transferred, TransferredTable, transfer},
};

pub(super) async fn run(context: Context, args: CopyArgs) -> anyhow::Result<()> {
    let (from, to) = (of_flag("--from", &args.from)?, of_flag("--to", &args.to)?);
    if from == to {
        refuse!("--from and --to name one database: {from}");
    }
    if let (DatabaseLocation::Sqlite(one), DatabaseLocation::Sqlite(other)) = (&from, &to)
        && real_directory_of(one) == real_directory_of(other)
    {
        refuse!("--to: {to} is beside {from}; name another directory: a desk has its own");
    }
    let (from, to) = (whole(from, &context.home)?, whole(to, &context.home)?);
    if let DatabaseLocation::Sqlite(file) = &from {
        Home::at(PathBuf::new()).with_database(DatabaseLocation::Sqlite(file.clone())).require_data()?;
    }
    if let (DatabaseLocation::Postgres(_), Some(_)) = (&from, &args.to_secret_key_file) {
        // Without it nothing can be encrypted for the new key.
        shared_key_file(&context.settings)?;
    }
    let keys = CopyKeys { from: key_of(&from, &context), to: args.to_secret_key_file.clone() };
    let bar = progress(None, "{spinner} {msg:32} {pos} of {len}");
    let copied = transfer(&from, &to, &keys, |step| show(&bar, step)).await;
    bar.finish_and_clear();
    let copied = copied.with_context(|| format!("the copy from {from} to {to}"))?;
    context.output.print(&report(&copied, &to))?;
    if !copied.is_same() {
        return Err(SaidAlready.into());
    }
    if keys.to.is_none() && copied.is_sealed() {
        bring_key(&copied, &from, &to, &context)?;
    }
    Ok(())
}

/// Returns the file with the data key of the source. A key file beside a SQLite file that does not exist is left out:
/// the key may be elsewhere.
fn key_of(from: &DatabaseLocation, context: &Context) -> Option<PathBuf> {
    match from {
        DatabaseLocation::Sqlite(file) => Some(key_file_of(file, &context.settings).0).filter(|key| key.exists()),
        DatabaseLocation::Postgres(_) => named_key_file(&context.settings).map(Path::to_owned),
    }
}

/// Shows the progress of the copy on a terminal.
fn show(bar: &ProgressBar, step: CopyStep) {
    match step {
        CopyStep::BeginsAnew => {
            say!("An earlier copy was broken off: what had arrived is removed, and the copy begins anew.");
        }
        CopyStep::Copied { table, rows, of } => {
            bar.set_length(of);
            bar.set_position(rows);
            bar.set_message(table);
        }
        CopyStep::Compares { table } => bar.set_message(format!("comparing {table}")),
        CopyStep::Indexes => bar.set_message("making the index of searches"),
    }
}

/// Returns the canonical directory of a file.
fn real_directory_of(file: &Path) -> PathBuf {
    let directory = directory_of(file);
    directory.canonicalize().unwrap_or_else(|_| directory.to_owned())
}

/// Completes the location with its password.
fn whole(location: DatabaseLocation, home: &Home) -> anyhow::Result<DatabaseLocation> {
    Ok(match location {
        DatabaseLocation::Postgres(address) => DatabaseLocation::Postgres(with_password(&address, home)?),
        file @ DatabaseLocation::Sqlite(_) => file,
    })
}

/// Copies the key of a copied file beside the copy, without which its secrets cannot be read; else says where it has to
/// be.
fn bring_key(
    copied: &Transferred,
    from: &DatabaseLocation,
    to: &DatabaseLocation,
    context: &Context,
) -> anyhow::Result<()> {
    let (DatabaseLocation::Sqlite(_), DatabaseLocation::Sqlite(target), None) =
        (from, to, named_key_file(&context.settings))
    else {
        say!("Its secrets are sealed with the data key of {from}: name its file with AVERT_SECRET_KEY_FILE.");
        return Ok(());
    };
    let place = target.with_file_name("secret.key");
    let shown = place.display();
    if copied.key_at(&place).is_some() {
        return Ok(());
    }
    let Some(key) = key_of(from, context).and_then(|key| copied.key_at(&key)) else {
        bail!("the copy needs the key that its secrets are sealed with in {shown}, and there is none beside {from}");
    };
    if place.exists() {
        bail!("{shown} was there already and is another key: put the one in {} in its place", key.display());
    }
    std::fs::copy(&key, &place).with_context(|| format!("the key cannot be copied to {shown}"))?;
    Ok(())
}

fn report(copied: &Transferred, to: &DatabaseLocation) -> Report {
    let note = match (copied.is_same(), copied.before) {
        (true, false) => format!("{to} holds the same, table by table."),
        (true, true) => format!("{to} holds this copy already; nothing was changed."),
        (false, _) => {
            format!("{to} does not hold the same: it stays an unfinished copy, and the same command begins it anew.")
        }
    };
    let report = ListColumns::new()
        .both("table", "TABLE", |table: &TransferredTable| json!(table.table))
        .both("from", "FROM", |table| json!(table.from))
        .both("to", "TO", |table| json!(table.to))
        .shown("", |table| if table.same { String::new() } else { "differs".to_owned() })
        .report(&copied.tables, Some(note));
    Report { document: json!({"tables": report.document}), ..report }
}
