//! Exports a view of what happened: its rows as they are shown, each with the moment in UTC and the alert's ids, as CSV
//! into a new file.

use std::path::PathBuf;

use super::rows::{Happening, row_of};
use super::views::ActivityView;
use crate::console::dialogs::form_dialog::prompt;
use crate::console::text::counted;
use crate::console::{AppContext, Effect, Orders};
use crate::domain::sanitize::exported_cell;
use crate::domain::time::to_iso;

/// The fields of a row.
const FIELDS: [&str; 7] = ["at", "who", "what", "alert", "alertId", "providerId", "proof"];

/// Asks for a file, and writes the rows of a view into it; nothing where there are none.
pub(super) fn open(view: ActivityView, rows: &[Happening<'_>], cx: &AppContext) -> Option<Orders> {
    if rows.is_empty() {
        return None;
    }
    let text = as_csv(rows, cx);
    let name = ActivityView::ALL.iter().find(|(known, _)| *known == view).map_or("activity", |(_, name)| name);
    let local = cx.now.with_timezone(&cx.settings.zone.offset(cx.now));
    let file = format!("avert-activity-{}-{}.csv", name.to_lowercase().replace(' ', "-"), local.format("%Y%m%d-%H%M"));
    let path = cx.settings.files.join(file);
    let title = format!("Export {} of {name}", counted(rows.len() as u64, "row", "rows"));
    let path = path.to_string_lossy();
    Some(prompt(title, ("a new file; CSV", "Write"), &path, move |path, _| {
        if path.is_empty() {
            return Err("the path of a file is needed".to_owned());
        }
        Ok(vec![Effect::WriteFile(PathBuf::from(path), text.clone(), None).into()])
    }))
}

/// The rows as CSV.
fn as_csv(rows: &[Happening<'_>], cx: &AppContext) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let write = |writer: &mut csv::Writer<Vec<u8>>| -> csv::Result<()> {
        writer.write_record(FIELDS)?;
        for happening in rows {
            let row = row_of(happening, cx);
            let id = happening.alert().map_or_else(String::new, |id| id.to_string());
            let provider_id = happening.named().map_or("", |alert| alert.provider_id.as_str());
            let at = to_iso(happening.at());
            let fields = [&at, &row.who, &row.what, &row.named, &id, provider_id, &row.proof];
            writer.write_record(fields.map(exported_cell))?;
        }
        Ok(())
    };
    // Nothing can fail in memory.
    let _ = write(&mut writer);
    writer.into_inner().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}
