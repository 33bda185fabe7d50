//! Dialogs of the Settings screen: what a setting may be, a credential to create or to revoke, and a secret that is
//! shown once, copied, and wiped when it is closed.

use super::{
    menu::Pick,
    question::{Confirmation, KeyedAnswer, PanelQuestion, Question},
};
use crate::{
    Action, AppContext, Effect, Message, Screen as _, Task, Tasks,
    domain::{CreatedCredential, CredentialKind, KeyScope, Secret},
    screens::settings::{draw::described, state::SettingsScreen},
    text::{capitalized, sanitize, wrap},
    user_settings::UserSetting,
};

/// Opens the values of a setting; the one of now is chosen.
pub fn open_setting(setting: &'static UserSetting, cx: &AppContext) -> Tasks {
    let now = (setting.current)(&cx.settings);
    let mut options = setting.options.to_vec();
    let at = options.iter().position(|(value, _)| *value == now).unwrap_or_else(|| {
        options.insert(0, (now, "current"));
        0
    });
    let entries = options.iter().map(|(value, words)| (value.shown(), (*words).to_owned())).collect();
    let picked =
        move |at: usize, _: &mut AppContext| vec![Task::Close, Message::ChangeSetting(setting, options[at].0).into()];
    Pick::new(capitalized(setting.label), entries, picked).at(at).open()
}

/// What can be created, in the order of the list, each with what it is for.
const KINDS: [(CredentialKind, &str, &str); 4] = [
    (CredentialKind::Key(KeyScope::Alerts), "API key, scope alerts", "lists, reads and answers alerts (X-API-KEY)"),
    (CredentialKind::Key(KeyScope::Operator), "API key, scope operator", "operator routes: import, webhooks, keys"),
    (CredentialKind::Key(KeyScope::Both), "API key, both scopes", "for a remote console"),
    (CredentialKind::Client, "client credentials", "access tokens (older dialect)"),
];

/// Asks what to create, where anything can be.
pub fn create(settings: &SettingsScreen, cx: &AppContext) -> Tasks {
    if settings.why_idle(Action::CredentialCreate, cx).is_some() {
        return Vec::new();
    }
    let entries = KINDS.iter().map(|(_, name, about)| ((*name).to_owned(), (*about).to_owned())).collect();
    let picked = |at: usize, _: &mut AppContext| vec![Task::Close, Message::CreateCredential(KINDS[at].0).into()];
    Pick::new("Create (secret shown only once)", entries, picked).open()
}

/// Asks about the credential under the cursor, where it can be revoked.
pub fn revoke(settings: &SettingsScreen, cx: &AppContext) -> Tasks {
    let can_be = settings.why_idle(Action::CredentialRevoke, cx).is_none();
    let Some(credential) = settings.chosen().filter(|_| can_be) else { return Vec::new() };
    let (kind, id) = (credential.kind, credential.id.clone());
    let follows = match kind {
        CredentialKind::Client => "Its tokens stop working at once. This cannot be undone.",
        CredentialKind::Key(_) => "Requests with it are refused at once. This cannot be undone.",
    };
    let own = if settings.is_own(credential) { "⚠ This console uses it and will be cut off." } else { "" };
    let title = format!("Revoke {} {}?", kind.as_str(), sanitize(&id));
    let revoke = move |_: &mut AppContext| vec![Effect::RevokeCredential(kind, id.clone()).into()];
    Confirmation::new(title, described(credential, cx.now), ("r", "Revoke"), revoke).follows([follows, own]).open()
}

/// Asks whether to stop the rules that answer by themselves, where they can be stopped.
pub fn stop_rules(settings: &SettingsScreen, cx: &AppContext) -> Tasks {
    if settings.why_idle(Action::StopRules, cx).is_some() {
        return Vec::new();
    }
    let about = "No rule answers by itself any more, on any node.".to_owned();
    let stop = |_: &mut AppContext| vec![Effect::StopRules.into()];
    let question = Confirmation::new("Stop all automatic rules?".to_owned(), about, ("s", "Stop"), stop);
    question.follows(["avert rules start starts them again.", ""]).open()
}

/// A secret that is shown this once. Its text is wiped from memory when this is dropped.
pub struct ShownSecret {
    created: CreatedCredential,
    copied: bool,
}

impl ShownSecret {
    /// Shows what was created.
    pub fn new(created: CreatedCredential) -> Self {
        Self { created, copied: false }
    }

    fn is_client(&self) -> bool {
        self.created.credential.kind == CredentialKind::Client
    }
}

impl PanelQuestion for ShownSecret {
    // Neither Enter nor Escape closes it: what is closed is gone for good.
    fn answers(&self, _: &AppContext) -> Vec<KeyedAnswer> {
        let copy = if self.is_client() { "Copy the secret" } else { "Copy" };
        let id = self.is_client().then_some(("i", "Copy the id"));
        [("y", copy)].into_iter().chain(id).chain([("d", "Saved, close")]).collect()
    }

    fn answered(&mut self, key: &str, _: &mut AppContext) -> Tasks {
        match key {
            "y" => {
                self.copied = true;
                vec![Effect::Copy(self.created.secret.clone()).into()]
            }
            "i" => vec![Effect::Copy(Secret::new(self.created.credential.id.clone())).into()],
            // Dropping the dialog wipes the secret; the frame that follows wipes it from the screen.
            _ => vec![Task::Close],
        }
    }

    fn tell(&self, question: &mut Question, cx: &AppContext) {
        let (theme, created) = (&cx.theme, &self.created);
        question.line(if self.is_client() { "New client credentials" } else { "New API key" }, theme.strong);
        question.say(&described(&created.credential, cx.now), theme.quiet);
        question.gap();
        if self.is_client() {
            question.line(format!("client_id      {}", sanitize(&created.credential.id)), theme.plain);
            question.line("client_secret", theme.plain);
        }
        let (room, field) = (question.room(), theme.page.patch(theme.field).patch(theme.strong));
        for line in wrap(&sanitize(created.secret.reveal()), room) {
            question.line(format!("{line:<width$}", width = usize::from(room)), field);
        }
        question.gap();
        question.say("Shown only once. Save it now.", theme.warning);
        match self.copied {
            true => question.say("Copied. Check the clipboard before you close.", theme.quiet),
            false => question.say("d closes this. It cannot be shown again.", theme.warning),
        }
    }
}
