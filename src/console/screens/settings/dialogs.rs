//! The dialogs of the Settings screen: what to create, a secret shown this once, and whether to revoke.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::KINDS;
use super::draw::described;
use crate::console::hits::{Hit, Hits};
use crate::console::keymap::Context;
use crate::console::look::Look;
use crate::console::pen::Pen;
use crate::console::text::{clean, columns, wrap};
use crate::console::widgets::menu::{Choice, Menu, centered};
use crate::domain::{CreatedCredential, Credential, CredentialKind};

/// Draws what can be created.
pub fn draw_kinds(choice: Choice, look: &Look<'_>, frame: &mut Frame<'_>, area: Rect, hits: &mut Hits) {
    let theme = look.theme;
    let line = |(_, name, about): &(CredentialKind, &'static str, &'static str)| {
        Line::from(vec![Span::styled(format!("{name:<25}"), theme.strong), Span::styled(*about, theme.quiet)])
    };
    let menu = Menu {
        title: "Create; its secret is shown this once",
        entries: KINDS.iter().map(line).collect(),
        groups: Vec::new(),
        choice,
        contexts: &[Context::Menu],
        empty: "",
        picks: true,
        width: 80,
        field: 0,
    };
    menu.draw(look, frame, area, hits);
}

/// What a key does to a secret that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretStep {
    /// It goes to the clipboard.
    Copy,
    /// The client's id goes to the clipboard.
    CopyId,
    /// It was kept elsewhere: it is wiped.
    Done,
    /// Anything else does not close it.
    Stay,
}

/// A secret that is shown this once. Its text is wiped from memory when this is dropped.
#[derive(Debug)]
pub struct SecretDialog {
    /// What was created.
    pub created: CreatedCredential,
    /// Whether the secret was copied.
    pub copied: bool,
    /// Whether somebody tried to leave by another key.
    pub nudged: bool,
}

impl SecretDialog {
    /// Shows what was created.
    pub fn new(created: CreatedCredential) -> Self {
        Self { created, copied: false, nudged: false }
    }

    fn is_client(&self) -> bool {
        self.created.credential.kind == CredentialKind::Client
    }

    /// What a key means here. Neither Enter nor Escape closes it: what is closed is gone for good.
    pub fn key(&mut self, key: KeyEvent) -> SecretStep {
        let plain = !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        match key.code {
            KeyCode::Char('y') if plain => SecretStep::Copy,
            KeyCode::Char('i') if plain && self.is_client() => SecretStep::CopyId,
            KeyCode::Char('d') if plain => SecretStep::Done,
            _ => {
                self.nudged = true;
                SecretStep::Stay
            }
        }
    }

    /// Draws it over the screen.
    pub fn draw(&self, look: &Look<'_>, frame: &mut Frame<'_>, area: Rect, hits: &mut Hits) {
        let theme = look.theme;
        let width = 78.min(area.width.saturating_sub(4));
        let room = width.saturating_sub(4);
        let secret = self.created.secret.reveal();
        let id = &self.created.credential.id;
        let mut lines: Vec<(String, Style)> = Vec::new();
        let title = if self.is_client() { "New client credentials" } else { "New API key" };
        lines.push((title.to_owned(), theme.strong));
        lines.extend(wrap(&described(&self.created.credential, look.now), room).into_iter().map(|line| (line, theme.quiet)));
        lines.push((String::new(), theme.plain));
        if self.is_client() {
            lines.push((format!("client_id      {}", clean(id)), theme.plain));
            lines.push(("client_secret".to_owned(), theme.plain));
        }
        let field = theme.page.patch(theme.field).patch(theme.strong);
        lines.extend(wrap(&clean(secret), room).into_iter().map(|line| (format!("{line:<room$}", room = usize::from(room)), field)));
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
        hits.push(panel, Hit::Inside);
        for ((text, style), y) in lines.iter().zip(inside.y..inside.bottom()) {
            Pen::new(frame.buffer_mut(), Rect { y, height: 1, ..inside }).put(text, *style);
        }
        let mut buttons: Vec<(&str, &str, SecretStep)> =
            vec![("y", if self.is_client() { "copy the secret" } else { "copy" }, SecretStep::Copy)];
        if self.is_client() {
            buttons.push(("i", "copy the id", SecretStep::CopyId));
        }
        buttons.push(("d", "I have kept it: close", SecretStep::Done));
        let mut pen = Pen::new(frame.buffer_mut(), Rect { y: inside.bottom().saturating_sub(1), height: 1, ..inside });
        for (key, words, step) in buttons {
            let style = if step == SecretStep::Copy { theme.primary } else { theme.button };
            let key = pen.put(&format!(" {key} "), style);
            pen.skip(1);
            let words = pen.put(words, theme.plain);
            hits.push(key.union(words), Hit::Secret(step));
            pen.skip(3);
        }
    }
}

/// The answers to whether a credential is to be revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revoke {
    /// It goes on working.
    Keep,
    /// It stops working now.
    Revoke,
}

impl Revoke {
    const ALL: [(Self, &'static str, &'static str); 2] = [(Self::Keep, "enter", "keep it"), (Self::Revoke, "r", "revoke it")];

    /// What a key means here. Enter is the safe choice.
    pub fn of(key: KeyEvent) -> Option<Self> {
        let plain = !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        match key.code {
            KeyCode::Enter | KeyCode::Esc => Some(Self::Keep),
            KeyCode::Char('r' | 'R') if plain => Some(Self::Revoke),
            _ => None,
        }
    }
}

/// Draws the question.
pub fn draw_revoke(credential: &Credential, own: bool, look: &Look<'_>, frame: &mut Frame<'_>, area: Rect, hits: &mut Hits) {
    let theme = look.theme;
    let width = 64.min(area.width.saturating_sub(4));
    let room = width.saturating_sub(4);
    let client = credential.kind == CredentialKind::Client;
    let stops = if client {
        "From then on it gets no access token, and those it has stop working. This cannot be undone."
    } else {
        "From then on every request with it is refused. This cannot be undone."
    };
    let mut lines: Vec<(String, Style)> = vec![(format!("Revoke {} {}?", credential.kind.as_str(), clean(&credential.id)), theme.strong)];
    let mut say = |text: &str, style: Style| lines.extend(wrap(text, room).into_iter().map(|line| (line, style)));
    say(&described(credential, look.now), theme.quiet);
    say(" ", theme.plain);
    say(stops, theme.plain);
    if own {
        say("⚠ This console itself uses it and will be cut off.", theme.warning);
    }
    say(" ", theme.plain);
    let panel = centered(area, width, u16::try_from(lines.len() + Revoke::ALL.len()).unwrap_or(u16::MAX).saturating_add(2));
    let inside = theme.open_panel(frame.buffer_mut(), panel);
    hits.push(panel, Hit::Inside);
    let mut y = inside.y;
    for (text, style) in &lines {
        Pen::new(frame.buffer_mut(), Rect { y, height: 1, ..inside }).put(text, *style);
        y += 1;
    }
    for (choice, key, words) in Revoke::ALL {
        let row = Rect { y, height: u16::from(y < inside.bottom()), ..inside };
        let button =
            Pen::new(frame.buffer_mut(), row).put(&format!(" {key} "), if choice == Revoke::Keep { theme.primary } else { theme.button });
        let beside = Rect { x: button.right() + 1, width: inside.right().saturating_sub(button.right() + 1), ..row };
        Pen::new(frame.buffer_mut(), beside).put(words, theme.plain);
        hits.push(Rect { width: button.width + 1 + columns(words), ..button }, Hit::Revoke(choice));
        y += 1;
    }
}
