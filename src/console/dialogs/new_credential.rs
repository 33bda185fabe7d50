//! The list of what can be created: keys and client credentials, each with what it is for.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::menu::{List, OpenMenu};
use crate::console::screens::settings::state::SettingsScreen;
use crate::console::widgets::menu::Selection;
use crate::console::{Action, AppContext, Dialog, KeyContext, Message, Order, Orders, Tone, dialog};
use crate::domain::{CredentialKind, KeyScope};

/// What can be created, in the order of the list, each with what it is for.
const KINDS: [(CredentialKind, &str, &str); 4] = [
    (CredentialKind::Key(KeyScope::Alerts), "API key, scope alerts", "lists, reads and resolves alerts (X-API-KEY)"),
    (
        CredentialKind::Key(KeyScope::Operator),
        "API key, scope operator",
        "avert's own routes: alerts in, webhooks, keys",
    ),
    (CredentialKind::Key(KeyScope::Both), "API key, both scopes", "for a console elsewhere that does both"),
    (CredentialKind::Client, "client credentials", "access tokens for callers of the older dialect"),
];

/// The list while it is open.
#[derive(Debug)]
struct NewCredential {
    menu: OpenMenu,
}

/// Asks what to create.
pub fn open(settings: &SettingsScreen, cx: &mut AppContext) -> Orders {
    let creating = || settings.creating.map(|_| "One is being created: its secret comes first.");
    match settings.refusal(cx.place.read_only).or_else(creating) {
        Some(words) => {
            cx.notify(Tone::Note, words);
            Vec::new()
        }
        None => dialog::open(NewCredential {
            menu: OpenMenu::new(Selection::default(), &[KeyContext::Menu], Action::MenuPick),
        }),
    }
}

impl Dialog for NewCredential {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        let Message::Input(event) = message else { return Vec::new() };
        match (self.menu.update(event, KINDS.len(), cx), self.menu.chosen.index(KINDS.len())) {
            (Some(Action::MenuPick), Some(at)) => vec![Order::Close, Message::CreateCredential(KINDS[at].0).into()],
            (Some(Action::MenuClose), _) => vec![Order::Close],
            _ => Vec::new(),
        }
    }

    fn gives_way(&self) -> bool {
        true
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        let theme = &cx.theme;
        let line = |(_, name, about): &(CredentialKind, &'static str, &'static str)| {
            Line::from(vec![Span::styled(format!("{name:<25}"), theme.strong), Span::styled(*about, theme.quiet)])
        };
        let entries = KINDS.iter().map(line).collect();
        self.menu.draw(
            List { title: "Create; its secret is shown this once", entries, ..List::default() },
            frame,
            area,
            cx,
        );
    }
}
