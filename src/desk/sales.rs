//! Sales counts: how many sales a month had on a card scheme's cards, as they were entered at the service. Older
//! versions kept them on this desk.

use serde::{Deserialize, Serialize};

use super::{file::DeskError, kept_list::KeptList, ledger::steps::text};
use crate::{
    domain::{CardScheme, SalesCount, SalesMonth},
    service::{ServiceError, Truth},
};

/// The sales of a month on one scheme's cards, in the file of an older version.
#[derive(Debug, Serialize, Deserialize)]
pub struct KeptSales {
    #[serde(with = "text")]
    month: SalesMonth,
    #[serde(rename = "network")]
    scheme: CardScheme,
    count: u64,
}

/// Reads the sales that were entered at a service. Those in the file of a desk are entered there first, where it has
/// none of their month, and the file goes.
///
/// # Errors
/// When the service cannot answer, or the file cannot be read, which is kept.
pub async fn entered_sales(
    truth: &dyn Truth,
    file: Option<KeptList<KeptSales>>,
) -> Result<Vec<SalesCount>, ServiceError> {
    let known = truth.sales().await?;
    let unreadable = |error: DeskError| ServiceError::Unavailable(error.to_string());
    let Some(file) = file else { return Ok(known) };
    let kept = file.list().map_err(unreadable)?;
    if kept.is_empty() {
        return Ok(known);
    }
    for KeptSales { month, scheme, count } in kept {
        if known.iter().any(|known| (known.month, known.scheme) == (month, scheme)) {
            continue;
        }
        match truth.enter_sales(month, scheme, count).await {
            // They wait for a console that may write.
            Err(ServiceError::ReadOnly) => return Ok(known),
            entered => entered.map(drop)?,
        }
    }
    file.change(Vec::clear).map_err(unreadable)?;
    truth.sales().await
}
