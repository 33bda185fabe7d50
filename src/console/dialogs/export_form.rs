//! The form that exports into a new file: what the Queue lists, all pages of it in its filter and order, or the results
//! of a run.

use std::collections::HashSet;
use std::path::PathBuf;

use ratatui::Frame;
use ratatui::layout::Rect;

use super::entry_form::{Entered, EntryForm, EntryRow};
use super::export_progress::ExportProgress;
use crate::console::screens::queue::state::Queue;
use crate::console::text::{count, counted};
use crate::console::{AppContext, Dialog, Effect, Message, Order, Orders, dialog};
use crate::desk::snoozed_page::ChosenAlerts;
use crate::desk::{ExportRequest, RecordFormat};
use crate::domain::filter::MAX_PAGE_SIZE;
use crate::domain::{AlertId, AlertQuery, PageRequest, query};

const FORMAT: usize = 0;
const FILE: usize = 1;

/// The formats, as they can be chosen, each with the ending of its files.
const FORMATS: [&str; 2] = ["CSV", "NDJSON"];
const KINDS: [(RecordFormat, &str); 2] = [(RecordFormat::Csv, "csv"), (RecordFormat::Ndjson, "ndjson")];

/// The form while it is open.
#[derive(Debug)]
pub struct ExportForm {
    form: EntryForm,
    exported: Exported,
}

/// What is exported.
#[derive(Debug)]
enum Exported {
    List(Box<ExportedList>),
    Results(ExportedResults),
}

/// A list as it is shown.
#[derive(Debug)]
struct ExportedList {
    query: AlertQuery,
    /// The alerts that it is of alone.
    chosen: Option<ChosenAlerts>,
    /// Those that are passed over in it.
    hidden: HashSet<AlertId>,
}

/// Results as they are written, in each format.
#[derive(Debug)]
pub struct ExportedResults {
    /// The number of their run.
    pub run: u64,
    pub csv: String,
    pub ndjson: String,
}

/// Opens it; the progress where an export is on its way.
pub fn open(queue: &Queue, cx: &mut AppContext) -> Orders {
    if cx.exports.running().is_some() {
        return dialog::open(ExportProgress::default());
    }
    dialog::open(ExportForm::of(queue, cx))
}

impl ExportForm {
    /// For what is listed.
    fn of(queue: &Queue, cx: &AppContext) -> Self {
        let (filter, sort) = (queue.filter().clone(), queue.order());
        let asked = query::render(&filter, sort);
        let many = many_words(queue);
        let what = if asked.is_empty() { many } else { format!("{many}: {asked}") };
        let query = AlertQuery { filter, sort, page: PageRequest { page: 0, size: MAX_PAGE_SIZE } };
        let named = if queue.is_set_aside() { "found" } else { &queue.view.name };
        let listing = queue.asked_listing();
        let list = ExportedList { query, chosen: listing.chosen().cloned(), hidden: listing.hidden_ids() };
        Self::new(&what, named, Exported::List(Box::new(list)), cx)
    }

    /// For what became of alerts that were answered together.
    pub fn of_results(subject: &str, results: ExportedResults, cx: &AppContext) -> Self {
        Self::new(&format!("the results of {subject}"), "results", Exported::Results(results), cx)
    }

    fn new(what: &str, named: &str, exported: Exported, cx: &AppContext) -> Self {
        let local = cx.now.with_timezone(&cx.settings.zone.offset(cx.now));
        let name = format!("avert-{}-{}.{}", in_a_file_name(named), local.format("%Y%m%d-%H%M"), KINDS[0].1);
        let path = cx.settings.files.join(name);
        let rows = vec![EntryRow::choice("Format", &FORMATS, 0), EntryRow::text("File", &path.to_string_lossy())];
        Self { form: EntryForm::new("Export", "Export", rows, FILE).about(what), exported }
    }

    /// Into which file and in which format, or what is wrong with the file.
    fn target(&self, cx: &AppContext) -> Result<(PathBuf, RecordFormat), String> {
        let (format, ending) = KINDS[self.form.chosen(FORMAT)];
        let given = self.form.given(FILE).ok_or("The path of a file is needed.")?;
        let mut path = match (given.strip_prefix("~/"), &cx.settings.home) {
            (Some(below), Some(home)) => home.join(below),
            _ => cx.settings.files.join(given),
        };
        // The ending of the other format would say what is not so.
        let other =
            KINDS.iter().any(|(_, other)| *other != ending && path.extension().is_some_and(|given| given == *other));
        if other || path.extension().is_none() {
            path.set_extension(ending);
        }
        if path.file_name().is_none() {
            return Err("The name of a file is missing.".to_owned());
        }
        Ok((path, format))
    }

    /// The file's name gets the ending of the format, where it had that of the one before.
    fn follow_format(&mut self, before: &str) {
        let path = self
            .form
            .given(FILE)
            .map(PathBuf::from)
            .filter(|path| path.extension().is_some_and(|ending| ending == before));
        if let Some(path) = path {
            self.form.set_text(FILE, &path.with_extension(KINDS[self.form.chosen(FORMAT)].1).to_string_lossy());
        }
    }

    /// Begins what is asked for.
    fn begin(&self, path: PathBuf, format: RecordFormat, cx: &mut AppContext) -> Orders {
        match &self.exported {
            Exported::List(list) => {
                let number = cx.exports.begin(path.clone());
                let ExportedList { query, chosen, hidden } = &**list;
                let (query, chosen, hidden) = (query.clone(), chosen.clone(), hidden.clone());
                let request = ExportRequest { path, format, query, chosen, hidden };
                let progress = Order::Open(Box::new(ExportProgress::default()));
                vec![Order::Close, progress, Effect::Export(number, Box::new(request)).into()]
            }
            Exported::Results(results) => {
                let text = if format == RecordFormat::Csv { &results.csv } else { &results.ndjson };
                vec![Order::Close, Effect::WriteFile(path, text.clone(), Some(results.run)).into()]
            }
        }
    }
}

/// How many alerts of what is listed are exported, as far as it is known, and which are not: those that the list passes
/// over.
fn many_words(queue: &Queue) -> String {
    let listing = queue.asked_listing();
    let [one, more] =
        if listing.chosen().is_some() { ["snoozed alert", "snoozed alerts"] } else { ["alert", "alerts"] };
    // While another list is read, how many there are is not known.
    let Some(listed) = listing.listed() else {
        let without = if listing.hidden_ids().is_empty() { "" } else { " without those that are snoozed" };
        return format!("all {more}{without}");
    };
    let without = match listing.hidden_alerts() {
        (0, true) => String::new(),
        (hidden, true) => format!(", without {} snoozed", count(hidden)),
        (_, false) if listing.hidden_ids().is_empty() => String::new(),
        (_, false) => " without those of them that are snoozed".to_owned(),
    };
    format!("{}{without}", counted(listed, one, more))
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
        let before = self.form.chosen(FORMAT);
        match self.form.update(message, cx) {
            Entered::Nothing if self.form.chosen(FORMAT) != before => self.follow_format(KINDS[before].1),
            Entered::Nothing => {}
            Entered::Leave => return vec![Order::Close],
            Entered::Submit => match self.target(cx) {
                Ok((path, format)) => return self.begin(path, format, cx),
                Err(wrong) => self.form.refuse(FILE, wrong),
            },
        }
        Vec::new()
    }

    fn lost(&self) -> Option<String> {
        self.form.lost()
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
