//! `avert secrets`: rotates the keys that avert keeps for itself, while it works.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::json;

use super::{
    args::{RotateCommand, SecretsCommand},
    context::Context,
    database::{key_file_of, shared_key_file},
    local::Local,
    output::Report,
};
use crate::{
    domain::{database::DatabaseLocation, time::to_iso},
    engine::RotatedSigningKey,
    store::key_file::RotatedDataKey,
};

pub(super) async fn run(context: Context, command: SecretsCommand) -> anyhow::Result<()> {
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
            data(&rotated.context("the rotation of the data key")?, &file, new_key_file.as_deref())
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
    let before = match (old, &until) {
        (Some(old), Some(until)) => format!("; those of {old} are accepted until {until}"),
        _ => String::new(),
    };
    let note = format!("access tokens are signed with the key {key} from now on{before}");
    Report::one(json!({"key": key, "before": old, "beforeUntil": until}), note)
}

fn data(rotated: &RotatedDataKey, file: &Path, new_file: Option<&Path>) -> Report {
    let RotatedDataKey { sealed, kept, not_in_place } = rotated;
    let shown = file.display();
    let mut note = match not_in_place {
        None => format!("{sealed} secrets are sealed with the new key, which is in {shown} now."),
        Some(why) => format!(
            "{sealed} secrets are sealed with the new key, which is in {shown}.new and could not be put in {shown} \
                ({why}): put it there."
        ),
    };
    note.push_str(&match kept {
        Some(kept) => format!(" The key before is kept in {}: backups that were made before need it.", kept.display()),
        None => " Keep the key before: backups that were made before need it.".to_owned(),
    });
    if let Some(new) = new_file {
        // A new key beside the file in use has moved into its place.
        let new = if new.exists() { new } else { file };
        note.push_str(&format!(
            " Processes on other machines need the key in {}, as the file that they name or as that with .new, which \
                they put in its place.",
            new.display()
        ));
    }
    let path = |path: &Path| path.display().to_string();
    let record = json!({
        "sealed": sealed,
        "keyFile": path(file),
        "inPlace": not_in_place.is_none(),
        "keptKey": kept.as_deref().map(path),
    });
    Report::one(record, note)
}
