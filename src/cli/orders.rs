//! `avert orders`: the shop's orders, kept by the desk of a profile and never by an engine.

use anyhow::bail;
use serde_json::json;

use super::{
    args::{OrderImportArgs, OrdersCommand},
    context::Context,
    failure::SaidAlready,
    import::{ColumnNames, Input, Rejects, bytes_read, open, print},
    local::Local,
    output::ListColumns,
};
use crate::{
    desk::{Desk, OrderCounts, OrderDatabase, OrderOwner},
    domain::{IngestReport, MerchantOrder, RejectedRow, field::Field},
    wire::import::OrderImporter,
};

/// Number of orders in one commit.
const AT_ONCE: usize = 2_000;

/// Number of rows that a dry run shows.
const SHOWN: usize = 5;

pub(super) async fn run(context: Context, command: OrdersCommand) -> anyhow::Result<()> {
    match command {
        OrdersCommand::Import(args) => {
            let owner = owner(&context, &args).await?;
            import(&context, &args, owner)
        }
    }
}

/// Returns the organization that owns the orders. `None` on another deployment's desk, which has those of one shop, and
/// while this machine has no organization.
async fn owner(context: &Context, args: &OrderImportArgs) -> anyhow::Result<Option<OrderOwner>> {
    if !args.remote.means_this_machine(context)? {
        context.refuse_organization()?;
        return Ok(None);
    }
    if context.organization().is_none() && context.home.require_data().is_err() {
        return Ok(None);
    }
    let (local, acting) = Local::existing_for(context).await?;
    let owner = local.order_owner(acting.caller().organization.organization.id).await?;
    drop(acting);
    local.close();
    Ok(Some(owner))
}

fn import(context: &Context, args: &OrderImportArgs, owner: Option<OrderOwner>) -> anyhow::Result<()> {
    let Input { reader, again, size } = open(&args.file)?;
    let unusable = |why: String| anyhow::Error::from(misused!("{}: {why}", args.file.display()));
    let directory = args.remote.desk(context)?;
    let desk = Desk::open(directory)?.with_orders_of(owner);
    let mut rejects = Rejects::new(args.rejects.as_deref().filter(|_| !args.dry_run), &args.file)?;
    let mut total = IngestReport::default();
    let Some(mut importer) = OrderImporter::open(reader, again).map_err(unusable)? else {
        say!("{} is empty: nothing to import", args.file.display());
        print(context.output, &total, 0)?;
        return Ok(());
    };
    let names = ColumnNames::of(importer.headers(), &args.map, desk.orders()?.as_ref())?;
    let keep = || -> anyhow::Result<OrderDatabase> {
        let mut orders = desk.make_orders()?;
        names.keep(&mut orders)?;
        Ok(orders)
    };
    let mut orders = if args.dry_run { None } else { Some(keep()?) };
    importer.lay_out(&names.all, args.reading.conventions(), args.preset).map_err(unusable)?;
    say_layout(&importer);
    if importer.only_ids {
        let named = "name columns with --map, such as --map state=Header";
        bail!("{}: nothing but ids is understood: {named}; nothing was imported", args.file.display());
    }
    let Some(orders) = &mut orders else { return show_first(context, &mut importer, &mut rejects) };
    let bar = bytes_read(size);
    let (mut batch, mut older) = (Vec::with_capacity(AT_ONCE), 0);
    while let Some(row) = importer.next() {
        match row {
            Ok(order) => batch.push(order),
            Err(row) => bar.suspend(|| rejects.put(&row)),
        }
        if batch.len() == AT_ONCE {
            older += take_in(orders, &mut batch, &mut total)?;
            bar.set_position(importer.bytes_read());
        }
    }
    older += take_in(orders, &mut batch, &mut total)?;
    bar.finish_and_clear();
    if older > 0 {
        say!("{older} came with a state of before the one that is known (by state_at), which stays");
    }
    say_states(&importer);
    let rejected = rejects.finish()?;
    if rejected + total.created + total.updated + total.unchanged == 0 {
        say!("{} holds no orders", args.file.display());
    }
    print(context.output, &total, rejected)?;
    if rejected > 0 { Err(SaidAlready.into()) } else { Ok(()) }
}

/// Prints the preset by which a file is read, and the ignored columns.
fn say_layout(importer: &OrderImporter) {
    if let Some(preset) = importer.preset {
        say!("read as {}", preset.title);
    }
    if importer.without_amounts {
        say!("amounts are left out: no column is their currency; --map currency=Header names it");
    }
    let ignored: Vec<String> = importer.ignored().map(|header| format!("{header:?}")).collect();
    if !ignored.is_empty() {
        say!("ignored columns: {}", ignored.join(", "));
    }
}

/// Prints the unknown status words and the number of skipped rows of a file.
fn say_states(importer: &OrderImporter) {
    for word in importer.unknown_states.names() {
        say!("warning: unknown status {word:?}; such orders come in without a state");
    }
    if importer.skipped > 0 {
        say!("{} rows left out: no payment was made by their status", importer.skipped);
    }
}

/// Prints the first orders as they are read.
fn show_first(context: &Context, importer: &mut OrderImporter, rejects: &mut Rejects) -> anyhow::Result<()> {
    let rows: Vec<Result<MerchantOrder, RejectedRow>> = importer.take(SHOWN).collect();
    rows.iter().filter_map(|row| row.as_ref().err()).for_each(|row| rejects.put(row));
    let orders: Vec<&MerchantOrder> = rows.iter().flatten().collect();
    let mut columns = ListColumns::new();
    let is_told = |field: &&Field<MerchantOrder>| orders.iter().any(|order| order.cell(field).is_some());
    for field in MerchantOrder::FIELDS.iter().filter(is_told) {
        columns = columns.both(field.name, field.name, move |order: &&MerchantOrder| json!(order.cell(field)));
    }
    say_states(importer);
    context.output.print(&columns.report(&orders, Some("dry run: nothing was imported".to_owned())))?;
    if rows.iter().any(Result::is_err) { Err(SaidAlready.into()) } else { Ok(()) }
}

/// Imports a batch and returns the number of orders whose state is older than the known one.
fn take_in(
    orders: &mut OrderDatabase,
    batch: &mut Vec<MerchantOrder>,
    total: &mut IngestReport,
) -> anyhow::Result<u64> {
    let OrderCounts { created, updated, unchanged, older_states } = orders.import(std::mem::take(batch))?;
    total.add(IngestReport { created, updated, unchanged, rejected: Vec::new() });
    Ok(older_states)
}
