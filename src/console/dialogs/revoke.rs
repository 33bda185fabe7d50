//! The dialog that asks whether a key or client is to be revoked.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::menu::NO_FIELD;
use crate::console::screens::settings::draw::{described, revoked_already};
use crate::console::screens::settings::state::SettingsScreen;
use crate::console::text::{columns, sanitize, wrap};
use crate::console::widgets::menu::centered;
use crate::console::{AppContext, ClickTargets, Dialog, Effect, Message, Order, Orders, Pen, Tone, dialog};
use crate::domain::{Credential, CredentialKind};

/// The dialog while it is open.
#[derive(Debug)]
struct Revoke {
    credential: Credential,
    /// Whether this console itself uses it.
    own: bool,
    targets: ClickTargets<Answer>,
}

/// Asks about the credential under the cursor.
pub fn open(settings: &SettingsScreen, cx: &mut AppContext) -> Orders {
    let refusal = settings.refusal(cx.place.read_only).map(str::to_owned);
    let already = || settings.current().filter(|credential| credential.revoked_at.is_some()).map(|known| revoked_already(known, cx.now));
    match (refusal.or_else(already), settings.current().cloned()) {
        (Some(words), _) => {
            cx.notify(Tone::Note, words);
            Vec::new()
        }
        (None, Some(credential)) => {
            let own = settings.is_own(&credential);
            dialog::open(Revoke { credential, own, targets: ClickTargets::default() })
        }
        (None, None) => Vec::new(),
    }
}

/// What can be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// It goes on working.
    Keep,
    /// It stops working now.
    Revoke,
}

impl Answer {
    const ALL: [(Self, &'static str, &'static str); 2] = [(Self::Keep, "enter", "keep it"), (Self::Revoke, "r", "revoke it")];

    /// What a key means here. Enter is the safe choice.
    fn of(key: KeyEvent) -> Option<Self> {
        let plain = !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        match key.code {
            KeyCode::Enter | KeyCode::Esc => Some(Self::Keep),
            KeyCode::Char('r' | 'R') if plain => Some(Self::Revoke),
            _ => None,
        }
    }
}

impl Dialog for Revoke {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        let answer = match message {
            Message::Input(Event::Key(key)) => Answer::of(*key),
            Message::Input(Event::Paste(_)) => {
                cx.notify(Tone::Note, NO_FIELD);
                None
            }
            Message::Input(event) => self.targets.clicked(event),
            _ => None,
        };
        match answer {
            Some(Answer::Keep) => vec![Order::Close],
            Some(Answer::Revoke) => {
                vec![Order::Close, Effect::RevokeCredential(self.credential.kind, self.credential.id.clone()).into()]
            }
            None => Vec::new(),
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.targets.clear();
        let (theme, credential) = (&cx.theme, &self.credential);
        let width = 64.min(area.width.saturating_sub(4));
        let room = width.saturating_sub(4);
        let client = credential.kind == CredentialKind::Client;
        let stops = if client {
            "From then on it gets no access token, and those it has stop working. This cannot be undone."
        } else {
            "From then on every request with it is refused. This cannot be undone."
        };
        let mut lines: Vec<(String, Style)> =
            vec![(format!("Revoke {} {}?", credential.kind.as_str(), sanitize(&credential.id)), theme.strong)];
        let mut say = |text: &str, style: Style| lines.extend(wrap(text, room).into_iter().map(|line| (line, style)));
        say(&described(credential, cx.now), theme.quiet);
        say(" ", theme.plain);
        say(stops, theme.plain);
        if self.own {
            say("⚠ This console itself uses it and will be cut off.", theme.warning);
        }
        say(" ", theme.plain);
        let panel = centered(area, width, u16::try_from(lines.len() + Answer::ALL.len()).unwrap_or(u16::MAX).saturating_add(2));
        let inside = theme.open_panel(frame.buffer_mut(), panel);
        let mut y = inside.y;
        for (text, style) in &lines {
            Pen::new(frame.buffer_mut(), Rect { y, height: 1, ..inside }).put(text, *style);
            y += 1;
        }
        for (choice, key, words) in Answer::ALL {
            let row = Rect { y, height: u16::from(y < inside.bottom()), ..inside };
            let button = Pen::new(frame.buffer_mut(), row)
                .put(&format!(" {key} "), if choice == Answer::Keep { theme.primary } else { theme.button });
            let beside = Rect { x: button.right() + 1, width: inside.right().saturating_sub(button.right() + 1), ..row };
            Pen::new(frame.buffer_mut(), beside).put(words, theme.plain);
            self.targets.push(Rect { width: button.width + 1 + columns(words), ..button }, choice);
            y += 1;
        }
    }
}
