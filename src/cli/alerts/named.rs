//! An alert by the name that a person gives: its own id, or the id of its network.

use anyhow::bail;

use super::{
    super::{
        failure::{Misused, NotFound},
        output::printable,
        source::AlertAccess,
    },
    answer::{card, joined},
};
use crate::{
    domain::{Alert, AlertFilter, AlertId, AlertQuery, MAX_PAGE_SIZE, PageRequest, Provider},
    service::ServiceError,
};

/// Most pages of a search for the text, before another name is asked for.
const MOST_PAGES: u64 = 20;
/// Most alerts that are listed where several have the name.
const MOST_LISTED: usize = 20;

/// Refuses an impossible name, before anything is opened for it.
pub(super) fn require(name: &str) -> Result<(), Misused> {
    if name.trim().is_empty() {
        refuse!("an alert's id is needed: its own (a UUID) or the one that its network gave it");
    }
    Ok(())
}

/// Finds the alert of a name, with all fields. `provider` chooses among several networks with the same id.
///
/// # Errors
/// [`NotFound`] when no alert has the name, [`Misused`] with the list when several have it.
pub(super) async fn find(source: &AlertAccess, name: &str, provider: Option<&str>) -> anyhow::Result<Alert> {
    let name = name.trim();
    let provider = provider.map(Provider::parse);
    let own = name.parse::<AlertId>().ok().filter(|_| provider.is_none());
    if let Some(id) = own {
        match source.alerts.get(id).await {
            // A network may use UUIDs too.
            Err(ServiceError::AlertNotFound(_)) => {}
            found => return Ok(found?),
        }
    }
    let mut found = bearing(source, name, provider.as_ref()).await?;
    match (found.len(), own) {
        (0, Some(id)) => Err(ServiceError::AlertNotFound(id).into()),
        (0, None) => {
            let whose = provider.map(|provider| format!(" at {provider}")).unwrap_or_default();
            bail!(NotFound(format!(
                "no alert has the id {:?}{whose}, neither its own (a UUID) nor its network's",
                printable(name)
            )))
        }
        (1, _) => Ok(source.alerts.get(found.remove(0).id).await?),
        (count, _) => {
            let line = |alert: &Alert| {
                let amount = alert.money().map(|money| money.to_string()).unwrap_or_default();
                let facts = [
                    alert.provider.to_string(),
                    alert.status.to_string(),
                    amount,
                    card(alert),
                    alert.merchant_descriptor.clone(),
                ];
                format!("\n{}  {}", alert.id, printable(&joined(facts)))
            };
            let lines: String = found.iter().take(MOST_LISTED).map(line).collect();
            let name = printable(name);
            refuse!("{count} alerts have the network id {name:?}: say --provider NAME, or an alert's own id{lines}")
        }
    }
}

/// Returns the alerts that have this id of their network.
async fn bearing(source: &AlertAccess, name: &str, provider: Option<&Provider>) -> anyhow::Result<Vec<Alert>> {
    let mut query = AlertQuery {
        filter: AlertFilter { q: Some(name.to_owned()), ..AlertFilter::default() },
        page: PageRequest { page: 0, size: MAX_PAGE_SIZE },
        ..AlertQuery::default()
    };
    let mut bearing: Vec<Alert> = Vec::new();
    loop {
        let page = source.alerts.list(&query).await?;
        let (rows, size) = (page.data.len(), u64::from(page.size));
        for alert in page.data {
            // Some lists leave fields out.
            let alert = if alert.provider_id.is_empty() { source.alerts.get(alert.id).await? } else { alert };
            let fits = alert.provider_id == name && provider.is_none_or(|provider| *provider == alert.provider);
            if fits && !bearing.iter().any(|known| known.id == alert.id) {
                bearing.push(alert);
            }
        }
        query.page.page += 1;
        if rows == 0 || query.page.page.saturating_mul(size) >= page.total {
            return Ok(bearing);
        }
        if query.page.page == MOST_PAGES {
            let name = printable(name);
            refuse!(
                "{} alerts hold {name:?}: name the alert by its own id, which `avert alerts list` tells",
                page.total
            );
        }
    }
}
