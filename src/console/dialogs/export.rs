//! Export into a new CSV file: the form for what the Queue lists, all pages of it in its filter and order; and its
//! progress, which goes on without its dialog.

use std::path::{Path, PathBuf};

use super::question::{FormDialog, KeyedAnswer, PanelQuestion, Question, ask};
use crate::{
    AppContext, Effect, Task, Tasks, Tone,
    context::RunningExport,
    desk::{ExportFailure, ExportRequest, RecordFormat},
    dialog,
    domain::{AlertQuery, MAX_PAGE_SIZE, PageRequest, query},
    screens::queue::state::Queue,
    text::{count, counted},
    ui::form::{Form, FormField},
};

/// Opens it; the progress where an export is on its way.
pub fn open(queue: &Queue, cx: &mut AppContext) -> Tasks {
    if cx.export.is_some() {
        return vec![Task::Open(ask(ExportProgress))];
    }
    let (filter, sort) = (queue.filter().clone(), queue.asked_listing().order);
    let asked = query::render(&filter, sort);
    let many = many_words(queue);
    let about = if asked.is_empty() { many } else { format!("{many}: {asked}") };
    let named = if queue.is_set_aside() { "found" } else { &queue.view.name };
    let listing = queue.asked_listing();
    let (chosen, hidden) = (listing.chosen.clone(), listing.hidden_ids().clone());
    let query = AlertQuery { filter, sort, page: PageRequest { page: 0, size: MAX_PAGE_SIZE } };
    let local = cx.now.with_timezone(&cx.settings.zone.offset(cx.now));
    let name = format!("avert-{}-{}.csv", in_a_file_name(named), local.format("%Y%m%d-%H%M"));
    let path = cx.settings.files.join(name);
    let file = FormField::text("File", &path.to_string_lossy()).hint("path of a new file, readable by you only");
    let form = Form::new("Export", "Export", vec![file], 0).about(about);
    dialog::open(FormDialog::new(form, move |form, cx| {
        let path = target(&form.text(0), cx).map_err(|wrong| (0, wrong.to_owned()))?;
        cx.export = Some(RunningExport { path: path.clone(), written: 0, total: None });
        let (query, chosen, hidden) = (query.clone(), chosen.clone(), hidden.clone());
        let request = ExportRequest { path, format: RecordFormat::Csv, query, chosen, hidden };
        Ok(vec![Task::Open(ask(ExportProgress)), Effect::Export(Box::new(request)).into()])
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
    let [one, more] = if listing.chosen.is_some() { ["snoozed alert", "snoozed alerts"] } else { ["alert", "alerts"] };
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

/// The progress of an export.
struct ExportProgress;

impl PanelQuestion for ExportProgress {
    fn answers(&self, _: &AppContext) -> Vec<KeyedAnswer> {
        vec![("esc", "Continue in background"), ("x", "Stop")]
    }

    fn answered(&mut self, key: &str, cx: &mut AppContext) -> Tasks {
        let stopped = if key == "x" { cx.export.take() } else { None };
        let Some(RunningExport { path, written, total }) = stopped else { return vec![Task::Close] };
        let came = progress_words(written, total);
        cx.notify(Tone::Note, format!("Export to {} stopped at {came}. No file was left.", path.display()));
        vec![Effect::GiveUpExport.into(), Task::Close]
    }

    fn is_stale(&self, cx: &AppContext) -> bool {
        cx.export.is_none()
    }

    fn tell(&self, question: &mut Question, cx: &AppContext) {
        let Some(RunningExport { path, written, total }) = &cx.export else { return };
        question.line("Export", cx.theme.strong);
        question.line(cx.settings.path_words(path), cx.theme.quiet);
        question.gap();
        question.line(progress_words(*written, *total), cx.theme.plain);
    }
}

/// How much of how much, in words.
fn progress_words(written: u64, total: Option<u64>) -> String {
    match total {
        Some(total) => format!("{} of {}", count(written), counted(total, "alert", "alerts")),
        None => counted(written, "alert", "alerts"),
    }
}

/// Tells what became of an export.
pub fn ended(path: &Path, result: Result<u64, ExportFailure>, cx: &mut AppContext) {
    cx.export = None;
    match result {
        Ok(written) => {
            cx.notify(Tone::Good, format!("Exported {} to {}", progress_words(written, None), path.display()));
        }
        Err(ExportFailure { why, written, total }) => {
            let came = match (written, total) {
                (0, None) => String::new(),
                _ => format!(" It stopped at {}. No file was left.", progress_words(written, total)),
            };
            cx.notify(Tone::Bad, format!("Not exported to {}: {}.{came}", path.display(), why.trim_end_matches('.')));
        }
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
