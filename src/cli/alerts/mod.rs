//! `avert alerts`: alerts without a screen, on this machine or at another deployment.

mod answer;
mod command_journal;
mod export;
mod many;
mod resolve;

use super::{
    args::AlertsCommand,
    context::Context,
    failure::{Misused, say},
    source::MeantAlerts,
};
use crate::{desk::find::find_everywhere, domain::FindQuery};

pub(super) use export::{alert_records, read_whole_list};

use answer::{find_named, finding, listing, query, refund_of, require_name, single};

pub(super) async fn run(context: Context, command: AlertsCommand) -> anyhow::Result<()> {
    let answer = match command {
        AlertsCommand::List(args) => {
            let meant = MeantAlerts::of(&context, &args.remote)?;
            let query = query(args.query.as_deref(), args.parameters(), meant.dialect, meant.vocabulary())?;
            let source = meant.open(&context).await?;
            let page = source.alerts.list(&query).await?;
            listing(&page, source.now())?
        }
        AlertsCommand::Show(args) => {
            require_name(&args.id)?;
            let source = MeantAlerts::of(&context, &args.remote)?.open(&context).await?;
            let alert = find_named(&source, &args.id, args.provider.as_deref()).await?;
            single(&alert, refund_of(&source, alert.id).await, source.now())?
        }
        AlertsCommand::Find(args) => {
            let asked = FindQuery::parse(&args.text.join(" ")).map_err(Misused)?;
            let source = MeantAlerts::of(&context, &args.remote)?.open_as_operator(&context).await?;
            let found = find_everywhere(
                source.desk()?.as_ref(),
                &*source.alerts,
                source.deployment.find.as_deref(),
                &asked,
                args.size,
            )
            .await?;
            found.limits.iter().for_each(|limit| say(limit));
            if let Some(on_order) = &found.on_order {
                say!("alerts that the shop's order {} matches: {}", on_order.order_id, on_order.alerts.len());
            }
            finding(&found.alerts, args.size, source.now())?
        }
        AlertsCommand::Resolve(args) => {
            return match &args.from {
                Some(from) => many::run(&context, &args, from).await,
                None => resolve::run(&context, *args).await,
            };
        }
        AlertsCommand::Export(args) => return export::run(&context, *args).await,
    };
    context.output.print(&answer)
}
