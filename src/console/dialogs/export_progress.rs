//! The progress of an export: how far it is, and that it can be given up. It goes on without its dialog.

use std::path::Path;

use ratatui::{Frame, layout::Rect};

use super::question::{KeyedAnswer, Question, answered_of};
use crate::{
    AppContext, ClickTargets, Dialog, Effect, Message, Order, Orders, Tone,
    context::RunningExport,
    desk::ExportFailure,
    text::{count, counted, cut_path},
};

/// What can be done here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deed {
    Back,
    Cancel,
}

const DEEDS: [KeyedAnswer<'static, Deed>; 2] =
    [(Deed::Back, "esc", "Continue in background"), (Deed::Cancel, "x", "Stop")];

/// The dialog while it is open.
#[derive(Debug, Default)]
pub struct ExportProgress {
    targets: ClickTargets<Deed>,
}

impl Dialog for ExportProgress {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        match answered_of(message, &self.targets, &DEEDS, cx) {
            None => Vec::new(),
            Some(Deed::Back) => vec![Order::Close],
            Some(Deed::Cancel) => match cx.exports.cancel() {
                Some(RunningExport { path, written, total, .. }) => {
                    let came = progress_words(written, total);
                    cx.notify(Tone::Note, format!("Export to {} stopped at {came}. No file was left.", path.display()));
                    vec![Effect::GiveUpExport.into(), Order::Close]
                }
                None => vec![Order::Close],
            },
        }
    }

    fn is_stale(&self, cx: &AppContext) -> bool {
        cx.exports.running().is_none()
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.targets.clear();
        let Some(RunningExport { path, written, total, .. }) = cx.exports.running() else { return };
        let theme = &cx.theme;
        let mut question = Question::new(area);
        let (room, home) = (question.room(), cx.settings.home.as_deref());
        let done = total.filter(|total| *total > 0).map_or(0, |total| u64::from(room) * (*written).min(total) / total);
        question.line("Export", theme.strong);
        question.line(cut_path(&path.display().to_string(), home, room), theme.quiet);
        question.gap();
        question.line("━".repeat(usize::try_from(done).unwrap_or(0)), theme.accent);
        question.line(progress_words(*written, *total), theme.plain);
        question.gap();
        question.draw(&DEEDS, &self.targets, theme, frame.buffer_mut());
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
pub fn ended(number: u64, path: &Path, result: Result<u64, ExportFailure>, cx: &mut AppContext) {
    cx.exports.ended(number);
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
