//! `avert backup` and `avert restore`: a verified copy of everything, and the way back.

use std::path::Path;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::{
    args::{BackupArgs, RestoreArgs},
    context::Context,
    database::key_file_of,
    failure::Misused,
    output::Report,
};
use crate::{
    domain::AuditState,
    store::{
        Actor,
        sqlite::backup::{BackupOptions, Contents, RestoreOptions, back_up, restore},
    },
};

/// Refusal of `avert backup` for a database on a server.
const NO_BACKUP: &str = "a database on a server is backed up by the server's own means, such as pg_dump, with the file \
    that AVERT_SECRET_KEY_FILE names";

/// Refusal of `avert restore` for a database on a server.
const NO_RESTORE: &str = "a database on a server is restored by the server's own means, such as pg_restore into an \
    empty database, with the file that AVERT_SECRET_KEY_FILE names";

pub(super) fn run_backup(context: &Context, args: BackupArgs) -> anyhow::Result<()> {
    let database = context.home.require_file(NO_BACKUP)?.to_owned();
    context.home.require_data()?;
    if args.file.as_os_str() == "-" {
        let words = "a backup is a file, which is verified in its place: name one (./- for a file of that name)";
        return Err(Misused(words.to_owned()).into());
    }
    let (key_file, beside) = key_file_of(&database, &context.settings);
    let options = BackupOptions {
        database,
        with_key: beside && !args.no_key,
        key_file,
        target: args.file,
        overwrite: args.force,
    };
    let backup = back_up(&options, &|_| ())?;
    let key_file = backup.key.as_deref().unwrap_or(&options.key_file).display();
    say!("Keep {key_file} too: the secrets in the backup are encrypted with it.");
    warn_of_the_audit_log(&backup.contents);
    let record = json!({
        "file": path(&options.target),
        "keyFile": backup.key.as_deref().map(path),
        "sha256": backup.sha256,
    });
    print(context, record, &backup.contents)
}

pub(super) fn run_restore(context: &Context, args: RestoreArgs) -> anyhow::Result<()> {
    let database = context.home.require_file(NO_RESTORE)?.to_owned();
    let (key_file, beside) = key_file_of(&database, &context.settings);
    let options = RestoreOptions {
        database,
        key_file,
        replace_key: beside,
        from: args.file,
        key: args.key,
        by: Actor::at_this_machine(),
    };
    let restored = restore(&options, &|_| ())?;
    warn_of_the_audit_log(&restored.contents);
    let from = options.from.display();
    if restored.sha256.is_none() {
        say!(
            "warning: not verified: no checksum beside it ({from}.sha256, which avert backup writes); it can be read, \
                but nobody knows \
             whether it is as it was written"
        );
    }
    say!("Answers given after the backup are not in it: those alerts are open here and answered at the network.");
    let record = json!({
        "file": path(&options.from),
        "verified": restored.sha256.is_some(),
        "sha256": restored.sha256,
        "database": path(&options.database),
        "keptDatabase": restored.kept.as_deref().map(path),
        "keptKey": restored.kept_key.as_deref().map(path),
    });
    print(context, record, &restored.contents)
}

/// Describes what is wrong with the audit log; `None` where nothing is.
fn fault(contents: &Contents) -> Option<String> {
    match &contents.audit {
        AuditState::Whole { .. } => None,
        AuditState::Broken { number, what } => Some(format!("entry {number} {what}")),
    }
}

/// Warns of a broken audit log. It is copied as it is: the alerts are needed, and it is evidence.
fn warn_of_the_audit_log(contents: &Contents) {
    if let Some(fault) = fault(contents) {
        say!(
            "warning: the audit log in it is broken: {fault}; somebody changed the database by other means than avert"
        );
    }
}

fn path(path: &Path) -> String {
    path.display().to_string()
}

/// Prints the result, with the contents of the database.
fn print(context: &Context, mut record: Value, contents: &Contents) -> anyhow::Result<()> {
    record["schema"] = contents.schema.into();
    for (name, table) in [("alerts", "alert"), ("outcomes", "outcome")] {
        record[name] = contents.rows_of(table).into();
    }
    record["auditFault"] = fault(contents).into();
    record["bytes"] = contents.bytes.into();
    context.output.print(&Report::of_record(record)).context("the result cannot be written")
}
