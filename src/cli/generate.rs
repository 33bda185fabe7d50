//! `avert generate`: test alerts by a seed, for a desk that is to be measured or tried at size.

use anyhow::bail;
use chrono::Duration;
use serde_json::json;
use uuid::Uuid;

use super::{
    args::GenerateArgs,
    context::Context,
    demo::DemoFeed,
    local::Local,
    output::{ListColumns, progress},
};
use crate::{
    domain::{AlertQuery, CompanyId, Environment, IngestOptions, Timestamp, batch},
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
    let desks = organizations(&local, args.organizations).await?;
    let mut filled = Vec::new();
    for (number, (name, acting)) in (0..).zip(&desks) {
        let count = if number == 0 { args.alerts } else { args.alerts * OTHERS / 100 };
        let seed = args.seed.wrapping_add(number);
        fill(acting, name, count, seed, args.years, now).await?;
        filled.push((name.as_str(), count, seed));
    }
    let columns = ListColumns::new()
        .both("organization", "ORGANIZATION", |(name, ..): &(&str, _, _)| json!(name))
        .both("alerts", "ALERTS", |(_, count, _)| json!(count))
        .both("seed", "SEED", |(.., seed)| json!(seed));
    context.output.print(&columns.report(&filled, None))
}

/// Returns the organizations to fill: existing ones, and new ones up to this number. It is an error where one has an
/// alert.
async fn organizations(local: &Local, number: u32) -> anyhow::Result<Vec<(String, ActingEngine)>> {
    let mut names = Vec::new();
    for known in local.engine.organizations().await? {
        let name = known.organization.name;
        let there = local.acting(Some(&name)).await?.list(&AlertQuery::default()).await?.total;
        if there > 0 {
            refuse!("organization {name} has {there} alerts: test alerts are for a database without any");
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

/// Makes alerts and ingests them batch by batch, oldest first. No event is sent for them.
async fn fill(
    acting: &ActingEngine,
    name: &str,
    count: u64,
    seed: u64,
    years: u32,
    now: Timestamp,
) -> anyhow::Result<()> {
    let bar = progress(Some(count), "{msg} {bar:32} {pos}/{len}  {eta} left").with_message(name.to_owned());
    let span = Duration::days(YEAR * i64::from(years));
    let companies: Vec<_> = (1..=COMPANIES).map(|number| CompanyId(Uuid::from_u64_pair(seed, number))).collect();
    let mut feed = DemoFeed::new(seed);
    for start in (0..count).step_by(batch::INTAKE) {
        let end = count.min(start + batch::INTAKE as u64);
        let rows = (start..end).map(|index| feed.history(index, count, span, &companies, now)).collect();
        let report = acting.ingest(rows, IngestOptions { events: false }).await?;
        if let Some(row) = report.rejected.first() {
            bail!("a test alert was rejected: {} {}", row.error.field, row.error.message);
        }
        bar.set_position(end);
    }
    bar.finish_and_clear();
    Ok(())
}
