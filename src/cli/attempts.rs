//! `avert attempts`: unfinished decisions, and setting the result of those that are parked.

use anyhow::Context as _;
use serde_json::json;

use super::{
    alerts::single,
    args::AttemptsCommand,
    ask::confirm,
    context::Context,
    failure::NotFound,
    local::Local,
    output::{ListColumns, Report, printable},
};
use crate::{
    domain::{AttemptId, ResolutionAttempt, time::to_iso},
    service::{Attempts, ServiceError},
};

pub(super) async fn run(context: Context, command: AttemptsCommand) -> anyhow::Result<()> {
    let local = Local::existing(&context).await?;
    let answer = match command {
        AttemptsCommand::List { organization } => {
            let acting = local.acting(context.organization(&organization)).await?;
            listing(&acting.unfinished().await?)
        }
        AttemptsCommand::Settle(args) => {
            let id: AttemptId =
                args.id.parse().map_err(|_| misused!("{:?} is not an attempt's id: a UUID is needed", args.id))?;
            let acting = local.acting(context.organization(&args.organization)).await?;
            let found = acting.unfinished().await?.into_iter().find(|attempt| attempt.id == id);
            let attempt = found.ok_or_else(|| {
                NotFound(format!("there is no unsettled attempt {id}; `avert attempts list` shows them"))
            })?;
            // Refused before a question is asked.
            if attempt.state != "PARKED" {
                let why = format!(
                    "the attempt is {}: an avert that stays running here finds out, or leaves it to you",
                    attempt.state
                );
                return Err(ServiceError::Conflict(why).into());
            }
            if !args.yes {
                confirm(question(&attempt, args.word.applied)).await?;
            }
            let alert = acting.settle_parked(id, args.word.applied).await?;
            single(&alert, local.now()).context("the alert cannot be written")?
        }
    };
    local.close();
    context.output.print(&answer)
}

fn question(attempt: &ResolutionAttempt, applied: bool) -> String {
    let word = if applied {
        "holds this answer: it becomes the alert's outcome"
    } else {
        "does not hold it: the alert can be answered anew"
    };
    let asked = format!("{}, {}, by {}", attempt.resolution, to_iso(attempt.started_at), attempt.actor);
    format!(
        "alert {}\n{}\nYou say that the network {word}.\nThis is final. Settle it? [y/N] ",
        attempt.alert,
        printable(&asked)
    )
}

fn listing(attempts: &[ResolutionAttempt]) -> Report {
    let columns = ListColumns::new()
        .both("id", "ID", |attempt: &ResolutionAttempt| json!(attempt.id.to_string()))
        .both("alertId", "ALERT", |attempt| json!(attempt.alert.to_string()))
        .both("state", "STATE", |attempt| json!(attempt.state))
        .both("decision", "ANSWER", |attempt| json!(attempt.resolution.to_string()))
        .member("comments", |attempt| json!(attempt.resolution.comments()))
        .member("actor", |attempt| json!(attempt.actor))
        .both("startedAt", "SENT", |attempt| json!(to_iso(attempt.started_at)))
        .member("nextCheckAt", |attempt| json!(attempt.next_check.map(to_iso)))
        .member("checks", |attempt| json!(attempt.checks))
        .both("detail", "WHAT IS KNOWN", |attempt| json!(attempt.detail));
    let parked = attempts.iter().any(|attempt| attempt.state == "PARKED");
    let note = match attempts.is_empty() {
        true => Some("no unconfirmed answers".to_owned()),
        false => parked.then(|| {
            "ask the network about what is PARKED, then `avert attempts settle ID --applied` or `--not-applied`"
                .to_owned()
        }),
    };
    let mut report = columns.report(attempts, note);
    report.columns.retain(|name| name != "comments");
    report
}
