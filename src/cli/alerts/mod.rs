//! `avert alerts`: alerts without a screen, on this machine or at another deployment.

mod answer;
mod export;
mod export_part;
mod many;
mod named;
mod resolve;
mod whole_list;

use super::args::AlertsCommand;
use super::context::Context;
use super::source::AlertAccess;

pub(super) use answer::single;
pub(super) use resolve::confirm;

use answer::{listing, query};

pub(super) async fn run(context: Context, command: AlertsCommand) -> anyhow::Result<()> {
    let answer = match command {
        AlertsCommand::List(args) => {
            let asked = |dialect| query(args.query.as_deref(), args.parameters(), dialect);
            let (source, query) = AlertAccess::open_for(&context, &args.remote, &args.organization, asked).await?;
            let page = source.alerts.list(&query).await?;
            listing(&page, source.now())?
        }
        AlertsCommand::Show(args) => {
            named::require(&args.id)?;
            let source = AlertAccess::open(&context, &args.remote, &args.organization).await?;
            single(&named::find(&source, &args.id, args.provider.as_deref()).await?, source.now())?
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
