//! A secret that was just created: shown this once, copied, and wiped when it is closed.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::menu::NO_FIELD;
use crate::console::screens::settings::draw::described;
use crate::console::text::{sanitize, wrap};
use crate::console::widgets::menu::centered;
use crate::console::{AppContext, ClickTargets, Dialog, Effect, Message, Order, Orders, Pen, Tone};
use crate::domain::{CreatedCredential, CredentialKind, Secret};

/// What can be done with a secret that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// It goes to the clipboard.
    Copy,
    /// The client's id goes to the clipboard.
    CopyId,
    /// It was kept elsewhere: it is wiped.
    Done,
}

/// A secret that is shown this once. Its text is wiped from memory when this is dropped.
#[derive(Debug)]
pub struct ShownSecret {
    created: CreatedCredential,
    copied: bool,
    /// Whether somebody tried to leave by another key.
    nudged: bool,
    targets: ClickTargets<Step>,
}

impl ShownSecret {
    /// Shows what was created.
    pub fn new(created: CreatedCredential) -> Self {
        Self { created, copied: false, nudged: false, targets: ClickTargets::default() }
    }

    fn is_client(&self) -> bool {
        self.created.credential.kind == CredentialKind::Client
    }

    /// What a key means here. Neither Enter nor Escape closes it: what is closed is gone for good.
    fn step(&self, key: KeyEvent) -> Option<Step> {
        let plain = !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        match key.code {
            KeyCode::Char('y') if plain => Some(Step::Copy),
            KeyCode::Char('i') if plain && self.is_client() => Some(Step::CopyId),
            KeyCode::Char('d') if plain => Some(Step::Done),
            _ => None,
        }
    }
}

impl Dialog for ShownSecret {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        let step = match message {
            Message::Input(Event::Key(key)) => {
                let step = self.step(*key);
                self.nudged |= step.is_none();
                step
            }
            Message::Input(Event::Paste(_)) => {
                cx.notify(Tone::Note, NO_FIELD);
                None
            }
            Message::Input(event) => self.targets.clicked(event),
            _ => None,
        };
        match step {
            Some(Step::Copy) => {
                (self.copied, self.nudged) = (true, false);
                vec![Effect::CopySecret(self.created.secret.clone()).into()]
            }
            Some(Step::CopyId) => vec![Effect::CopySecret(Secret::new(self.created.credential.id.clone())).into()],
            // Dropping the dialog wipes the secret; the frame that follows wipes it from the screen.
            Some(Step::Done) => vec![Order::Close],
            None => Vec::new(),
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.targets.clear();
        let theme = &cx.theme;
        let width = 78.min(area.width.saturating_sub(4));
        let room = width.saturating_sub(4);
        let secret = self.created.secret.reveal();
        let id = &self.created.credential.id;
        let mut lines: Vec<(String, Style)> = Vec::new();
        let title = if self.is_client() { "New client credentials" } else { "New API key" };
        lines.push((title.to_owned(), theme.strong));
        lines.extend(wrap(&described(&self.created.credential, cx.now), room).into_iter().map(|line| (line, theme.quiet)));
        lines.push((String::new(), theme.plain));
        if self.is_client() {
            lines.push((format!("client_id      {}", sanitize(id)), theme.plain));
            lines.push(("client_secret".to_owned(), theme.plain));
        }
        let field = theme.page.patch(theme.field).patch(theme.strong);
        lines.extend(wrap(&sanitize(secret), room).into_iter().map(|line| (format!("{line:<room$}", room = usize::from(room)), field)));
        lines.push((String::new(), theme.plain));
        let warning = "It is shown this once and kept nowhere: put it where it belongs now.";
        lines.extend(wrap(warning, room).into_iter().map(|line| (line, theme.warning)));
        let note = match (self.nudged, self.copied) {
            (true, _) => "d closes this, once it is kept: it cannot be shown again.",
            (false, true) => "Sent to the terminal's clipboard. Not every terminal takes it: check before you close.",
            (false, false) => "",
        };
        let note_style = if self.nudged { theme.warning } else { theme.quiet };
        lines.extend(wrap(if note.is_empty() { " " } else { note }, room).into_iter().map(|line| (line, note_style)));
        lines.push((String::new(), theme.plain));
        let panel = centered(area, width, u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(3));
        let inside = theme.open_panel(frame.buffer_mut(), panel);
        for ((text, style), y) in lines.iter().zip(inside.y..inside.bottom()) {
            Pen::new(frame.buffer_mut(), Rect { y, height: 1, ..inside }).put(text, *style);
        }
        let mut buttons: Vec<(&str, &str, Step)> = vec![("y", if self.is_client() { "copy the secret" } else { "copy" }, Step::Copy)];
        if self.is_client() {
            buttons.push(("i", "copy the id", Step::CopyId));
        }
        buttons.push(("d", "I have kept it: close", Step::Done));
        let mut pen = Pen::new(frame.buffer_mut(), Rect { y: inside.bottom().saturating_sub(1), height: 1, ..inside });
        for (key, words, step) in buttons {
            let style = if step == Step::Copy { theme.primary } else { theme.button };
            let key = pen.put(&format!(" {key} "), style);
            pen.skip(1);
            let words = pen.put(words, theme.plain);
            self.targets.push(key.union(words), step);
            pen.skip(3);
        }
    }
}
