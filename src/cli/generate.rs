//! `avert generate`: test alerts by a seed, for a desk that is to be measured or tried at size.

use anyhow::bail;
use chrono::Duration;
use serde_json::json;
use tokio::sync::mpsc;
use uuid::Uuid;

use super::{
    args::GenerateArgs,
    context::Context,
    demo::DemoFeed,
    local::Local,
    output::{ListColumns, progress},
};
use crate::{
    domain::{
        AlertPatch, AlertQuery, CompanyId, Environment, IngestOptions, Timestamp, batch, database::DatabaseLocation,
    },
    engine::ActingEngine,
    service::{Alerts as _, Intake as _},
};

/// Alerts of every other organization for each 100 of the first one.
const OTHERS: u64 = 6;
/// Number of companies of an organization.
const COMPANIES: u64 = 5;
/// Number of days in a year.
const YEAR: i64 = 365;

pub(super) async fn run(context: Context, args: GenerateArgs) -> anyhow::Result<()> {
    if context.settings.environment == Environment::Production {
        refuse!("test alerts are for a sandbox: the environment is production");
    }
    let local = Local::making(&context).await?;
    let now = local.now();
    let elsewhere = match &context.home.database {
        DatabaseLocation::Sqlite(_) => "name another place with --data-dir",
        DatabaseLocation::Postgres(_) => "name another database with AVERT_DATABASE",
    };
    let desks = organizations(&local, args.organizations, elsewhere).await?;
    let mut filled = Vec::new();
    for (number, (name, acting)) in (0..).zip(&desks) {
        let count = if number == 0 { args.alerts } else { args.alerts * OTHERS / 100 };
        let made = Made {
            seed: args.seed.wrapping_add(number),
            count,
            span: Duration::days(YEAR * i64::from(args.years)),
            now,
        };
        fill(acting, made, name).await?;
        filled.push((name.as_str(), count, made.seed));
    }
    let columns = ListColumns::new()
        .both("organization", "ORGANIZATION", |(name, ..): &(&str, _, _)| json!(name))
        .both("alerts", "ALERTS", |(_, count, _)| json!(count))
        .both("seed", "SEED", |(.., seed)| json!(seed));
    context.output.print(&columns.report(&filled, None))
}

/// Returns the organizations to fill: existing ones, and new ones up to this number. It is an error where one has an
/// alert; `elsewhere` says what to do then.
async fn organizations(local: &Local, number: u32, elsewhere: &str) -> anyhow::Result<Vec<(String, ActingEngine)>> {
    let mut names = Vec::new();
    for known in local.engine.organizations().await? {
        let name = known.organization.name;
        let there = local.acting(Some(&name)).await?.list(&AlertQuery::default()).await?.total;
        if there > 0 {
            refuse!("organization {name} has {there} alerts: test alerts are for a database without any; {elsewhere}");
        }
        names.push(name);
    }
    for next in names.len() + 1..=number as usize {
        names.push(local.engine.create_organization(&format!("made-up-{next}")).await?.organization.name);
    }
    let mut desks = Vec::new();
    for name in names.into_iter().take(number as usize) {
        let acting = local.acting(Some(&name)).await?;
        desks.push((name, acting));
    }
    Ok(desks)
}

/// Parameters of the alerts that are made.
#[derive(Debug, Clone, Copy)]
struct Made {
    seed: u64,
    count: u64,
    span: Duration,
    now: Timestamp,
}

impl Made {
    /// Sends the alerts batch by batch, oldest first; ends early where the receiver is closed.
    fn send(self, batches: &mpsc::Sender<Vec<AlertPatch>>) {
        let mut feed = DemoFeed::new(self.seed);
        let companies =
            (1..=COMPANIES).map(|number| CompanyId(Uuid::from_u64_pair(self.seed, number))).collect::<Vec<_>>();
        let mut index = 0;
        while index < self.count {
            let end = self.count.min(index + batch::INTAKE as u64);
            let rows =
                (index..end).map(|index| feed.history(index, self.count, self.span, &companies, self.now)).collect();
            index = end;
            if batches.blocking_send(rows).is_err() {
                return;
            }
        }
    }
}

/// Makes alerts and ingests them: one batch is made while another is stored. No event is sent for them.
async fn fill(acting: &ActingEngine, made: Made, name: &str) -> anyhow::Result<()> {
    let bar = progress(Some(made.count), "{msg} {bar:32} {pos}/{len}  {eta} left").with_message(name.to_owned());
    let (sender, mut batches) = mpsc::channel(1);
    let making = tokio::task::spawn_blocking(move || made.send(&sender));
    while let Some(rows) = batches.recv().await {
        let many = rows.len() as u64;
        let report = acting.ingest(rows, IngestOptions { events: false }).await?;
        if let Some(row) = report.rejected.first() {
            bail!("a test alert was rejected: {} {}", row.error.field, row.error.message);
        }
        bar.inc(many);
    }
    bar.finish_and_clear();
    Ok(making.await?)
}
