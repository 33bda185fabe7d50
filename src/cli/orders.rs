//! `avert orders`: the shop's orders, kept by the desk of a profile and never by an engine.

use std::collections::BTreeMap;

use super::args::{OrderImportArgs, OrdersCommand};
use super::context::Context;
use super::failure::{Misused, SaidAlready, say};
use super::import::{Rejects, open, print, progress, same_file};
use super::local::Local;
use super::target::variable;
use crate::desk::{Desk, OrderCounts, OrderDatabase, OrderOwner};
use crate::domain::{IngestReport, MerchantOrder, OrderField};
use crate::wire::import::{OrderHeaderError, OrderImporter};

/// Orders in one commit.
const AT_ONCE: usize = 2_000;

pub(super) async fn run(context: Context, command: OrdersCommand) -> anyhow::Result<()> {
    match command {
        OrdersCommand::Import(args) => {
            let owner = owner(&context, &args).await?;
            import(&context, &args, owner)
        }
    }
}

/// The organization whose orders they are; none on another deployment's desk, which has those of one shop, and before this machine has any.
async fn owner(context: &Context, args: &OrderImportArgs) -> anyhow::Result<Option<OrderOwner>> {
    if !args.desk.remote().means_this_machine(context, variable)? {
        args.organization.refuse_elsewhere()?;
        return Ok(None);
    }
    if args.organization.organization.is_none() && context.home.require_data().is_err() {
        return Ok(None);
    }
    let (local, acting) = Local::existing_for(context, &args.organization).await?;
    let owner = local.order_owner(acting.caller().organization.organization.id).await?;
    drop(acting);
    local.close();
    Ok(Some(owner))
}

fn import(context: &Context, args: &OrderImportArgs, owner: Option<OrderOwner>) -> anyhow::Result<()> {
    let (input, size) = open(&args.file, "a CSV of orders")?;
    if let Some(rejects) = args.rejects.as_deref().filter(|rejects| same_file(rejects, &args.file)) {
        return Err(Misused(format!("--rejects {}: is the file that is read: name another one", rejects.display())).into());
    }
    let directory = args.desk.remote().desk(context, variable)?;
    let mut orders = Desk::open(directory)?.with_orders_of(owner).make_orders()?;
    let named: BTreeMap<OrderField, Option<String>> = args.map.iter().cloned().collect();
    let mut before = orders.headers()?;
    before.retain(|field, _| !named.contains_key(field));
    // A name that is taken back is of no file, and helps none: it goes whatever this one has.
    let taken_back = named.iter().filter(|(_, header)| header.is_none()).map(|(field, _)| (*field, None)).collect();
    orders.keep_headers(&taken_back)?;
    let given = named.iter().filter_map(|(field, header)| Some((*field, header.clone()?))).collect();
    let importer = OrderImporter::new(input, &given, &before).map_err(|error| unusable(args, &error))?;
    let is_there = |header: &str| importer.as_ref().is_some_and(|importer| importer.has(header));
    for (field, header) in before.iter().filter(|(_, header)| is_there(header)) {
        say(&format!("{} is the column {header:?}, as named before; --map {}= takes that back", field.as_str(), field.as_str()));
    }
    // Only headers that a file really has are worth keeping.
    orders.keep_headers(&named)?;
    let mut rejects = Rejects::new(args.rejects.as_deref())?;
    let mut total = IngestReport::default();
    match importer {
        None => say(&format!("nothing to import in {}", args.file.display())),
        Some(mut importer) => {
            let ignored: Vec<String> = importer.ignored().map(|header| format!("{header:?}")).collect();
            if !ignored.is_empty() {
                say(&format!("ignored columns: {}", ignored.join(", ")));
            }
            let bar = progress(size);
            let (mut batch, mut older) = (Vec::with_capacity(AT_ONCE), 0);
            while let Some(row) = importer.next() {
                match row {
                    Ok(order) => batch.push(order),
                    Err(row) => bar.suspend(|| rejects.put(&row)),
                }
                if batch.len() == AT_ONCE {
                    older += take_in(&mut orders, &mut batch, &mut total)?;
                    bar.set_position(importer.bytes_read());
                }
            }
            older += take_in(&mut orders, &mut batch, &mut total)?;
            bar.finish_and_clear();
            if older > 0 {
                say(&format!("{older} came with a state of before the one that is known (by state_at), which stays"));
            }
        }
    }
    let rejected = rejects.finish()?;
    print(context.output, &total, rejected)?;
    if rejected > 0 { Err(SaidAlready.into()) } else { Ok(()) }
}

/// Takes in a batch; how many came with a state of before the one that is known.
fn take_in(orders: &mut OrderDatabase, batch: &mut Vec<MerchantOrder>, total: &mut IngestReport) -> anyhow::Result<u64> {
    let OrderCounts { created, updated, unchanged, older_states } = orders.import(std::mem::take(batch))?;
    total.add(IngestReport { created, updated, unchanged, rejected: Vec::new() });
    Ok(older_states)
}

fn unusable(args: &OrderImportArgs, error: &OrderHeaderError) -> Misused {
    Misused(format!("{}: {error}", args.file.display()))
}
