//! The progress of an export: how far it is, and that it can be given up. It goes on without its dialog.

use std::path::Path;

use crossterm::event::{Event, KeyCode};
use ratatui::Frame;
use ratatui::layout::Rect;

use crate::console::exports::RunningExport;
use crate::console::text::{count, counted, cut_path};
use crate::console::widgets::buttons::{Button, draw_buttons};
use crate::console::widgets::panel::{Panel, PanelWidth};
use crate::console::{AppContext, ClickTargets, Dialog, Effect, Message, Order, Orders, Pen, Tone};
use crate::desk::ExportFailure;
use crate::ui::areas::stacked;

/// Title, file, bar, how far it is and buttons, with blank lines between them.
const LINES: u16 = 7;

/// What can be done here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deed {
    Back,
    Cancel,
}

/// The dialog while it is open.
#[derive(Debug, Default)]
pub struct ExportProgress {
    targets: ClickTargets<Deed>,
}

impl Dialog for ExportProgress {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        let Message::Input(event) = message else { return Vec::new() };
        let deed = match event {
            Event::Key(key) => match key.code {
                KeyCode::Esc => Some(Deed::Back),
                KeyCode::Char('x') if key.modifiers.is_empty() => Some(Deed::Cancel),
                _ => {
                    cx.hint_unknown(*key);
                    None
                }
            },
            event => self.targets.clicked(event),
        };
        match deed {
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
        let inside = Panel::of(PanelWidth::Dialog, area).open(LINES, theme, frame.buffer_mut());
        let buffer = frame.buffer_mut();
        let [title, name, _, bar, words, _, foot] = stacked(inside, [1; 7]);
        Pen::new(buffer, title).put("Export", theme.strong);
        Pen::new(buffer, name)
            .put(&cut_path(&path.display().to_string(), cx.settings.home.as_deref(), inside.width), theme.quiet);
        let done =
            total.filter(|total| *total > 0).map_or(0, |total| u64::from(inside.width) * (*written).min(total) / total);
        let mut pen = Pen::new(buffer, bar);
        pen.put(&"━".repeat(usize::try_from(done).unwrap_or(0)), theme.accent);
        pen.put(&"─".repeat(pen.room().into()), theme.line);
        Pen::new(buffer, words).put(&progress_words(*written, *total), theme.plain);
        let buttons = [
            Button::quiet(Some(Deed::Back), "Continue in background", "esc"),
            Button::primary(Some(Deed::Cancel), "Stop", "x"),
        ];
        draw_buttons(&buttons, None, 0, (theme, buffer, foot), |area, deed| {
            deed.into_iter().for_each(|deed| self.targets.push(area, deed));
        });
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
