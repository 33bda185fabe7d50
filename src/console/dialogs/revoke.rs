//! The dialog that asks whether a key or client is to be revoked.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;

use super::question::{Question, answered, put_answers};
use crate::console::screens::settings::draw::{described, revoked_already};
use crate::console::screens::settings::state::SettingsScreen;
use crate::console::text::sanitize;
use crate::console::{AppContext, ClickTargets, Dialog, Effect, Message, Order, Orders, Tone, dialog};
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
        match answered(message, &self.targets, Answer::of, cx) {
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
        let stops = if credential.kind == CredentialKind::Client {
            "From then on it gets no access token, and those it has stop working. This cannot be undone."
        } else {
            "From then on every request with it is refused. This cannot be undone."
        };
        let mut question = Question::new(64, area);
        question.line(format!("Revoke {} {}?", credential.kind.as_str(), sanitize(&credential.id)), theme.strong);
        question.say(&described(credential, cx.now), theme.quiet);
        question.gap();
        question.say(stops, theme.plain);
        if self.own {
            question.say("⚠ This console itself uses it and will be cut off.", theme.warning);
        }
        question.gap();
        let below = question.draw(2, theme, frame.buffer_mut(), area);
        put_answers(&Answer::ALL, Answer::Keep, &self.targets, theme, frame.buffer_mut(), below);
    }
}
