//! The list of what can be created: keys and client credentials, each with what it is for.

use ratatui::text::{Line, Span};

use super::pick;
use crate::{
    Action, AppContext, Message, Order, Orders, Screen as _,
    domain::{CredentialKind, KeyScope},
    screens::settings::state::SettingsScreen,
};

/// What can be created, in the order of the list, each with what it is for.
const KINDS: [(CredentialKind, &str, &str); 4] = [
    (CredentialKind::Key(KeyScope::Alerts), "API key, scope alerts", "lists, reads and answers alerts (X-API-KEY)"),
    (CredentialKind::Key(KeyScope::Operator), "API key, scope operator", "operator routes: import, webhooks, keys"),
    (CredentialKind::Key(KeyScope::Both), "API key, both scopes", "for a remote console"),
    (CredentialKind::Client, "client credentials", "access tokens (older dialect)"),
];

/// Asks what to create, where anything can be.
pub fn open(settings: &SettingsScreen, cx: &AppContext) -> Orders {
    if settings.why_idle(Action::CredentialCreate, cx).is_some() {
        return Vec::new();
    }
    let theme = &cx.theme;
    let line = |(_, name, about): &(CredentialKind, &'static str, &'static str)| {
        Line::from(vec![Span::styled(format!("{name:<25}"), theme.strong), Span::styled(*about, theme.quiet)])
    };
    pick::open("Create (secret shown only once)", 0, KINDS.iter().map(line).collect(), |at, _| {
        vec![Order::Close, Message::CreateCredential(KINDS[at].0).into()]
    })
}
