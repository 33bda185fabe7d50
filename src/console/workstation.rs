//! What effects do on this machine beside the desk: a list is written into a file or tried by rules, an address opens in the browser.

use super::Message;
use crate::desk::export::export;
use crate::desk::rehearsing::rehearse;
use crate::desk::{AlertRecords, ExportRequest};
use crate::domain::Timestamp;
use crate::domain::rule::DecisionRule;
use crate::service::Alerts;

/// Exports a list; `told` hears how far it is. The message that it ends with.
pub async fn export_list(
    alerts: &dyn Alerts,
    records: &AlertRecords,
    number: u64,
    request: ExportRequest,
    told: impl Fn(Message) + Send + Sync,
) -> Message {
    let path = request.path.clone();
    let ended = export(alerts, records, request, |written, total| told(Message::Exporting(number, written, total))).await;
    Message::Exported(number, path, ended)
}

/// Rehearses rules on the alerts of some days; `told` hears how far it is. The message that it ends with.
pub async fn rehearse_rules(
    alerts: &dyn Alerts,
    number: u64,
    rules: &[DecisionRule],
    days: u32,
    now: Timestamp,
    told: impl Fn(Message) + Send + Sync,
) -> Message {
    let ended = rehearse(alerts, rules, days, now, |read, total| told(Message::Rehearsing(number, read, total))).await;
    Message::Rehearsed(number, ended.map_err(|error| error.to_string()))
}

/// Opens an address in the browser: by the desktop's own opener, with the address as its one argument and no shell between. What went wrong,
/// where that can be told.
pub fn browse(address: String) -> Option<Message> {
    match open::that_detached(&address) {
        Ok(()) => None,
        Err(error) => Some(Message::NotBrowsed(address, error.to_string())),
    }
}
