//! The form that exports into a new CSV file: what the Queue lists, all pages of it in its filter and order, or the
//! results of a run.

use std::path::PathBuf;

use super::{export_progress::ExportProgress, form_dialog::FormDialog};
use crate::{
    AppContext, Effect, Order, Orders,
    desk::{ExportRequest, RecordFormat},
    dialog,
    domain::{AlertQuery, MAX_PAGE_SIZE, PageRequest, query},
    screens::queue::state::Queue,
    text::counted,
    ui::form::{Form, FormField},
};

/// Opens it; the progress where an export is on its way.
pub fn open(queue: &Queue, cx: &mut AppContext) -> Orders {
    if cx.exports.running().is_some() {
        return dialog::open(ExportProgress::default());
    }
    let (filter, sort) = (queue.filter().clone(), queue.order());
    let asked = query::render(&filter, sort);
    let many = many_words(queue);
    let about = if asked.is_empty() { many } else { format!("{many}: {asked}") };
    let named = if queue.is_set_aside() { "found" } else { &queue.view.name };
    let listing = queue.asked_listing();
    let (chosen, hidden) = (listing.chosen().cloned(), listing.hidden_ids());
    let query = AlertQuery { filter, sort, page: PageRequest { page: 0, size: MAX_PAGE_SIZE } };
    form(about, named, cx, move |path, cx| {
        let number = cx.exports.begin(path.clone());
        let (query, chosen, hidden) = (query.clone(), chosen.clone(), hidden.clone());
        let request = ExportRequest { path, format: RecordFormat::Csv, query, chosen, hidden };
        vec![Order::Open(Box::new(ExportProgress::default())), Effect::Export(number, Box::new(request)).into()]
    })
}

/// Opens it for the results of a run, as they are written.
pub fn of_results(subject: &str, csv: String, cx: &AppContext) -> Orders {
    form(format!("the results of {subject}"), "results", cx, move |path, _| {
        vec![Effect::WriteFile(path, csv.clone()).into()]
    })
}

fn form(
    about: String,
    named: &str,
    cx: &AppContext,
    mut export: impl FnMut(PathBuf, &mut AppContext) -> Orders + Send + 'static,
) -> Orders {
    let local = cx.now.with_timezone(&cx.settings.zone.offset(cx.now));
    let name = format!("avert-{}-{}.csv", in_a_file_name(named), local.format("%Y%m%d-%H%M"));
    let path = cx.settings.files.join(name);
    let file = FormField::text("File", &path.to_string_lossy()).hint("path of a new file, readable by you only");
    let form = Form::new("Export", "Export", vec![file], 0).about(about);
    dialog::open(FormDialog::new(form, move |form, cx| {
        let path = target(&form.text(0), cx).map_err(|wrong| (0, wrong.to_owned()))?;
        Ok(export(path, cx))
    }))
}

/// The file that a path means, or what is wrong with it.
fn target(given: &str, cx: &AppContext) -> Result<PathBuf, &'static str> {
    if given.is_empty() {
        return Err("A path is needed.");
    }
    let mut path = match (given.strip_prefix("~/"), &cx.settings.home) {
        (Some(below), Some(home)) => home.join(below),
        _ => cx.settings.files.join(given),
    };
    if path.extension().is_none() {
        path.set_extension("csv");
    }
    if path.file_name().is_none() {
        return Err("A file name is missing.");
    }
    Ok(path)
}

/// How many alerts of what is listed are exported, as far as it is known, and which are not: those that the list passes
/// over.
fn many_words(queue: &Queue) -> String {
    let listing = queue.asked_listing();
    let [one, more] =
        if listing.chosen().is_some() { ["snoozed alert", "snoozed alerts"] } else { ["alert", "alerts"] };
    let without = if listing.hidden_ids().is_empty() { "" } else { " (snoozed excluded)" };
    // While another list is read, how many there are is not known.
    let words = listing.listed().map_or_else(|| format!("all {more}"), |listed| counted(listed, one, more));
    format!("{words}{without}")
}

/// A name of a view as a part of a file's name.
fn in_a_file_name(name: &str) -> String {
    let letters = name.to_lowercase();
    let words = letters.split(|sign: char| !sign.is_alphanumeric()).filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join("-");
    if name.is_empty() { "alerts".to_owned() } else { name }
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
