//! `avert secrets`: the keys that avert keeps for itself, rotated while it works.

use serde_json::json;

use super::args::{RotateCommand, SecretsCommand};
use super::context::Context;
use super::local::Local;
use super::output::Report;
use crate::domain::time::to_iso;
use crate::engine::RotatedSigningKey;

pub(super) async fn run(context: Context, command: SecretsCommand) -> anyhow::Result<()> {
    let SecretsCommand::Rotate(which) = command;
    let local = Local::existing(&context).await?;
    let report = match which {
        RotateCommand::Signing => signing(&local.engine.rotate_signing_key().await?),
    };
    local.close();
    context.output.print(&report)
}

fn signing(rotated: &RotatedSigningKey) -> Report {
    let RotatedSigningKey { key, before } = rotated;
    let (old, until) = before.as_ref().map(|(old, until)| (old, to_iso(*until))).unzip();
    let note = match (old, &until) {
        (Some(old), Some(until)) => {
            format!("access tokens are signed with the key {key} from now on; those of {old} are taken until {until}")
        }
        _ => format!("access tokens are signed with the key {key} from now on; none had been signed before"),
    };
    Report::one(json!({"key": key, "before": old, "beforeUntil": until}), note)
}
