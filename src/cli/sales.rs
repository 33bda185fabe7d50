//! `avert sales`: the monthly sales, which monitoring programmes measure by and no alert tells. They are kept on a
//! desk.

use serde_json::json;

use super::{
    args::{RemoteArgs, SalesCommand},
    context::Context,
    output::{ListColumns, Report},
    profile_access::unusable,
};
use crate::{
    console::text::count,
    desk::{Desk, SalesCount},
    domain::{
        SalesMonth,
        time::{Clock as _, SystemClock, to_iso},
    },
};

pub(super) fn run(context: &Context, command: SalesCommand) -> anyhow::Result<()> {
    let answer = match command {
        SalesCommand::Set(args) => {
            let now = SystemClock.now();
            if args.month > SalesMonth::of(now) {
                refuse!("{} is still to come: sales are entered for this month or one before", args.month);
            }
            let entered = SalesCount { month: args.month, scheme: args.network, count: args.count, entered_at: now };
            Desk::open(args.remote.desk(context)?)?.sales().set(entered).map_err(unusable)?;
            let said = format!(
                "sales of {} on {} cards: {}",
                entered.month.words(),
                entered.scheme.name(),
                count(entered.count)
            );
            Report::one(columns().record(&entered), said)
        }
        SalesCommand::List(args) => listing(&entered(context, &args.remote)?),
    };
    context.output.print(&answer)
}

/// Returns the sales that were entered. A missing desk is not made; on this machine its location may be mistyped.
fn entered(context: &Context, remote: &RemoteArgs) -> anyhow::Result<Vec<SalesCount>> {
    let directory = remote.desk(context)?;
    let is_own = directory == context.home.desk();
    let entered =
        if directory.exists() { Desk::open(directory)?.sales().list().map_err(unusable)? } else { Vec::new() };
    if entered.is_empty() && is_own {
        context.home.require_data()?;
    }
    Ok(entered)
}

fn columns() -> ListColumns<'static, SalesCount> {
    ListColumns::new()
        .both("month", "MONTH", |sales: &SalesCount| json!(sales.month.to_string()))
        .both("network", "NETWORK", |sales| json!(sales.scheme.as_str()))
        .member("count", |sales| json!(sales.count))
        .shown("SALES", |sales| count(sales.count))
        .right()
        .both("enteredAt", "ENTERED", |sales| json!(to_iso(sales.entered_at)))
}

fn listing(all: &[SalesCount]) -> Report {
    let note = all
        .is_empty()
        .then(|| "none were entered; `avert sales set 2026-11 --network visa --count N` enters them".to_owned());
    columns().report(all, note)
}
