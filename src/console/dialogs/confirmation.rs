//! Questions with two answers: enter leaves things as they are, a letter has them changed.

use ratatui::{Frame, layout::Rect};

use super::question::{KeyedAnswer, Question, answered_of};
use crate::{
    Action, AppContext, ClickTargets, Dialog, Effect, Message, Order, Orders, Screen as _, dialog,
    domain::{Credential, CredentialKind, EndpointId, Timestamp},
    screens::settings::{draw::described, state::SettingsScreen},
    text::{count, sanitize},
};

/// A confirmation: what is asked, and what is done where the answer is yes.
pub struct Confirmation {
    pub question: String,
    /// What it is about, as it is at a moment.
    pub subject: Box<dyn Fn(Timestamp) -> String + Send>,
    /// What follows from yes.
    pub follows: &'static str,
    pub warning: Option<&'static str>,
    /// The key of yes and its words.
    pub yes: (&'static str, &'static str),
    pub effect: Effect,
    pub targets: ClickTargets<bool>,
}

impl Confirmation {
    fn answers(&self) -> [KeyedAnswer<'static, bool>; 2] {
        [(false, "enter", "Cancel"), (true, self.yes.0, self.yes.1)]
    }
}

impl Dialog for Confirmation {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        match answered_of(message, &self.targets, &self.answers(), cx) {
            Some(false) => vec![Order::Close],
            Some(true) => vec![Order::Close, self.effect.clone().into()],
            None => Vec::new(),
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.targets.clear();
        let theme = &cx.theme;
        let mut question = Question::new(area);
        question.line(self.question.as_str(), theme.strong);
        question.say(&(self.subject)(cx.now), theme.quiet);
        question.gap();
        question.say(self.follows, theme.plain);
        if let Some(warning) = self.warning {
            question.say(warning, theme.warning);
        }
        question.gap();
        question.draw(&self.answers(), &self.targets, theme, frame.buffer_mut());
    }
}

/// Asks about the credential under the cursor, where it can be revoked.
pub fn revoke(settings: &SettingsScreen, cx: &AppContext) -> Orders {
    let can_be = settings.why_idle(Action::CredentialRevoke, cx).is_none();
    let credential = settings.chosen().filter(|_| can_be).cloned();
    credential.map(|credential| dialog::open(revocation(settings.is_own(&credential), credential))).unwrap_or_default()
}

/// The question whether a credential is revoked; `own` where this console itself uses it.
fn revocation(own: bool, credential: Credential) -> Confirmation {
    Confirmation {
        question: format!("Revoke {} {}?", credential.kind.as_str(), sanitize(&credential.id)),
        effect: Effect::RevokeCredential(credential.kind, credential.id.clone()),
        follows: match credential.kind {
            CredentialKind::Client => "Its tokens stop working at once. This cannot be undone.",
            CredentialKind::Key(_) => "Requests with it are refused at once. This cannot be undone.",
        },
        warning: own.then_some("⚠ This console uses it and will be cut off."),
        yes: ("r", "Revoke"),
        subject: Box::new(move |now| described(&credential, now)),
        targets: ClickTargets::default(),
    }
}

/// Asks about so many deliveries to an endpoint, or even more than were counted.
pub fn send_all_again(endpoint: EndpointId, url: String, deliveries: u64, more: bool) -> Confirmation {
    Confirmation {
        question: format!("Resend {}?", how_many(deliveries, more)),
        subject: Box::new(move |_| url.clone()),
        follows: "Every failed delivery of this endpoint is resent, oldest first, with its own webhook-id.",
        warning: None,
        yes: ("s", "Resend"),
        effect: Effect::SendAllAgain(endpoint),
        targets: ClickTargets::default(),
    }
}

/// `214 deliveries`, `1 delivery`, `10,000 deliveries or more`.
fn how_many(deliveries: u64, more: bool) -> String {
    let word = if deliveries == 1 { "delivery" } else { "deliveries" };
    format!("{} {word}{}", count(deliveries), if more { " or more" } else { "" })
}
