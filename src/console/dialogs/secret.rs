//! A secret that was just created: shown this once, copied, and wiped when it is closed.

use crossterm::event::Event;
use ratatui::{Frame, layout::Rect};

use super::question::{KeyedAnswer, Question, answered_of};
use crate::{
    AppContext, ClickTargets, Dialog, Effect, Message, Order, Orders,
    domain::{CreatedCredential, CredentialKind, Secret},
    screens::settings::draw::described,
    text::{sanitize, wrap},
};

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
    /// True where somebody tried to leave by another key.
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

    /// Neither Enter nor Escape closes it: what is closed is gone for good.
    fn answers(&self) -> Vec<KeyedAnswer<'static, Step>> {
        let copy = if self.is_client() { "Copy the secret" } else { "Copy" };
        let id = self.is_client().then_some((Step::CopyId, "i", "Copy the id"));
        [(Step::Copy, "y", copy)].into_iter().chain(id).chain([(Step::Done, "d", "Saved, close")]).collect()
    }
}

impl Dialog for ShownSecret {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        let step = answered_of(message, &self.targets, &self.answers(), cx);
        self.nudged |= step.is_none() && matches!(message, Message::Input(Event::Key(_)));
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

    fn lost(&self) -> Option<String> {
        let CreatedCredential { credential, .. } = &self.created;
        (!self.copied)
            .then(|| format!("the secret of {}, not copied: revoke it and create another", sanitize(&credential.id)))
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.targets.clear();
        let (theme, created) = (&cx.theme, &self.created);
        let mut question = Question::new(area);
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
        match (self.nudged, self.copied) {
            (true, _) => question.say("d closes this. It cannot be shown again.", theme.warning),
            (false, true) => {
                question.say("Copied. Check the clipboard before you close.", theme.quiet);
            }
            (false, false) => question.gap(),
        }
        question.gap();
        question.draw(&self.answers(), &self.targets, theme, frame.buffer_mut());
    }
}
