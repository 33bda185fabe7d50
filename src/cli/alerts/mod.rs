//! `avert alerts`: alerts without a screen, on this machine or at another deployment.

mod answer;
mod export;
mod many;
mod resolve;
mod run_file;

use super::{
    args::AlertsCommand,
    context::Context,
    failure::{Misused, say},
    source::AlertAccess,
};
use crate::{desk::find::find_everywhere, domain::FindQuery};

pub(super) use answer::single;
pub(super) use export::{alert_records, read_whole_list};

use answer::{find_named, finding, listing, query, require_name};

pub(super) async fn run(context: Context, command: AlertsCommand) -> anyhow::Result<()> {
    let answer = match command {
        AlertsCommand::List(args) => {
            let asked = |dialect, vocabulary| query(args.query.as_deref(), args.parameters(), dialect, vocabulary);
            let (source, query) = AlertAccess::open_for(&context, &args.source, asked).await?;
            let page = source.alerts.list(&query).await?;
            listing(&page, source.now())?
        }
        AlertsCommand::Show(args) => {
            require_name(&args.id)?;
            let source = AlertAccess::open(&context, &args.source).await?;
            single(&find_named(&source, &args.id, args.provider.as_deref()).await?, source.now())?
        }
        AlertsCommand::Find(args) => {
            let asked = FindQuery::parse(&args.text.join(" ")).map_err(Misused)?;
            let source = AlertAccess::open_as_operator(&context, &args.source).await?;
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
