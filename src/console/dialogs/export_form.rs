//! The form that exports what the Queue lists: all pages of it, in its filter and order, into a new file.

use ratatui::Frame;
use ratatui::layout::Rect;

use super::entry_form::{Entered, EntryForm, EntryRow};
use super::export_progress::ExportProgress;
use crate::console::screens::queue::state::Queue;
use crate::console::text::counted;
use crate::console::{AppContext, Dialog, Effect, Message, Order, Orders, Tone, dialog};
use crate::desk::{ExportRequest, RecordFormat};
use crate::domain::filter::MAX_PAGE_SIZE;
use crate::domain::{AlertQuery, PageRequest, query};

const FORMAT: usize = 0;
const FILE: usize = 1;

/// The formats, as they can be chosen, each with the ending of its files.
const FORMATS: [&str; 2] = ["CSV", "NDJSON"];
const KINDS: [(RecordFormat, &str); 2] = [(RecordFormat::Csv, "csv"), (RecordFormat::Ndjson, "ndjson")];

/// The form while it is open.
#[derive(Debug)]
pub struct ExportForm {
    form: EntryForm,
    query: AlertQuery,
}

/// Opens it; the progress where an export is on its way.
pub fn open(queue: &Queue, cx: &mut AppContext) -> Orders {
    if queue.lists_snoozed() {
        cx.notify(Tone::Note, "What is snoozed is known here alone: choose a view that the service lists to export it.");
        return Vec::new();
    }
    if cx.exports.running().is_some() {
        return dialog::open(ExportProgress::default());
    }
    dialog::open(ExportForm::of(queue, cx))
}

impl ExportForm {
    /// For what is listed.
    fn of(queue: &Queue, cx: &AppContext) -> Self {
        let local = cx.now.with_timezone(&cx.settings.zone.offset(cx.now));
        let name = format!("avert-{}-{}.{}", in_a_file_name(&queue.view.name), local.format("%Y%m%d-%H%M"), KINDS[0].1);
        let path = cx.settings.files.join(name);
        let rows = vec![EntryRow::choice("Format", &FORMATS, 0), EntryRow::text("File", &path.to_string_lossy())];
        let (filter, sort) = (queue.filter().clone(), queue.order());
        let asked = query::render(&filter, sort);
        let many = queue.listing.total().map_or_else(|| "all alerts".to_owned(), |total| counted(total, "alert", "alerts"));
        let what = if asked.is_empty() { many } else { format!("{many}: {asked}") };
        let query = AlertQuery { filter, sort, page: PageRequest { page: 0, size: MAX_PAGE_SIZE } };
        Self { form: EntryForm::new(format!("Export {what}"), "Export", rows, FILE), query }
    }

    /// What is asked for, or what is wrong with the file.
    fn request(&self, cx: &AppContext) -> Result<ExportRequest, String> {
        let (format, ending) = KINDS[self.form.chosen(FORMAT)];
        let given = self.form.given(FILE).ok_or("The path of a file is needed.")?;
        let mut path = cx.settings.files.join(given);
        // The ending of the other format would say what is not so.
        let other = KINDS.iter().any(|(_, other)| *other != ending && path.extension().is_some_and(|given| given == *other));
        if other || path.extension().is_none() {
            path.set_extension(ending);
        }
        if path.file_name().is_none() {
            return Err("The name of a file is missing.".to_owned());
        }
        Ok(ExportRequest { path, format, query: self.query.clone() })
    }
}

/// A name of a view as a part of a file's name.
fn in_a_file_name(name: &str) -> String {
    let letters = name.to_lowercase();
    let words = letters.split(|sign: char| !sign.is_alphanumeric()).filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join("-");
    if name.is_empty() { "alerts".to_owned() } else { name }
}

impl Dialog for ExportForm {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        match self.form.update(message, cx) {
            Entered::Nothing => {}
            Entered::Leave => return vec![Order::Close],
            Entered::Submit => match self.request(cx) {
                Ok(request) => {
                    let number = cx.exports.begin(request.path.clone());
                    let progress = Order::Open(Box::new(ExportProgress::default()));
                    return vec![Order::Close, progress, Effect::Export(number, Box::new(request)).into()];
                }
                Err(wrong) => self.form.refuse(FILE, wrong),
            },
        }
        Vec::new()
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        let hints = ["", "the path of a new file that only you can read"];
        self.form.draw(&hints, &cx.draw_context(), frame, area);
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Awaiting answer", "awaiting-answer")]
    #[case("../my view!", "my-view")]
    #[case("…", "alerts")]
    fn a_view_names_its_file(#[case] view: &str, #[case] name: &str) {
        assert_eq!(in_a_file_name(view), name);
    }
}
