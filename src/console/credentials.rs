//! What happens on the Settings screen: a key or client is created, its secret shown once and wiped, or one is revoked.

use crossterm::event::KeyEvent;

use super::app::{App, ScreenName};
use super::effects::Effect;
use super::keymap::Action;
use super::message::Answer;
use super::overlays::Overlay;
use super::screens::settings::KINDS;
use super::screens::settings::dialogs::{Revoke, SecretDialog, SecretStep};
use super::text::clean;
use super::times;
use super::toasts::Tone;
use super::widgets::menu;
use crate::domain::{CreatedCredential, Credential, CredentialKind, CredentialList, Revoked, Secret};

impl App {
    /// Does what a key or a click asks for on the Settings screen.
    pub(super) fn act_in_settings(&mut self, action: Action) -> Vec<Effect> {
        let page = i64::try_from(self.settings_screen.window.get().1.max(2) - 1).unwrap_or(1);
        let screen = &mut self.settings_screen;
        match action {
            Action::Down => screen.move_by(1),
            Action::Up => screen.move_by(-1),
            Action::PageDown => screen.move_by(page),
            Action::PageUp => screen.move_by(-page),
            Action::Top => screen.move_to(0),
            Action::Bottom => screen.move_to(usize::MAX),
            Action::Refresh => screen.refresh(self.now),
            Action::Back if !self.toasts.clear() => self.go_to(ScreenName::Queue),
            Action::CopyId => {
                if let Some(id) = screen.current().map(|credential| credential.id.clone()) {
                    self.tell(Tone::Note, format!("Copied {}", clean(&id)));
                    return vec![Effect::Copy(id)];
                }
            }
            Action::CredentialCreate => self.ask_what_to_create(),
            Action::CredentialRevoke => self.ask_whether_to_revoke(),
            _ => {}
        }
        Vec::new()
    }

    /// Why nothing can be changed here, where that is so.
    fn is_refused_here(&mut self) -> bool {
        let why = if self.place.read_only {
            "This console is read-only: keys and clients stay as they are."
        } else if !self.settings_screen.is_offered() {
            "Keys and clients cannot be managed from here."
        } else {
            return false;
        };
        self.tell(Tone::Note, why);
        true
    }

    fn ask_what_to_create(&mut self) {
        if self.is_refused_here() {
            return;
        }
        if self.settings_screen.creating.is_some() {
            self.tell(Tone::Note, "One is being created: its secret comes first.");
            return;
        }
        self.overlay = Some(Overlay::NewCredential(menu::Choice::default()));
    }

    fn ask_whether_to_revoke(&mut self) {
        if self.is_refused_here() {
            return;
        }
        let Some(credential) = self.settings_screen.current().cloned() else { return };
        match credential.revoked_at {
            Some(_) => self.tell_revoked_already(&credential),
            None => self.overlay = Some(Overlay::Revoke(Box::new(credential))),
        }
    }

    fn tell_revoked_already(&mut self, credential: &Credential) {
        let when = credential.revoked_at.map_or_else(String::new, |at| format!(", {}", times::ago(at, self.now)));
        self.tell(Tone::Note, format!("The {} {} was revoked already{when}.", credential.kind.as_str(), clean(&credential.id)));
    }

    pub(super) fn create_credential(&mut self, choice: menu::Choice) -> Vec<Effect> {
        let Some((kind, ..)) = choice.index(KINDS.len()).map(|index| KINDS[index]) else { return Vec::new() };
        self.settings_screen.creating = Some(kind);
        vec![Effect::CreateCredential(kind)]
    }

    pub(super) fn answer_revoke(&mut self, credential: &Credential, choice: Revoke) -> Vec<Effect> {
        match choice {
            Revoke::Keep => Vec::new(),
            Revoke::Revoke => vec![Effect::RevokeCredential(credential.kind, credential.id.clone())],
        }
    }

    pub(super) fn key_to_secret(&mut self, mut dialog: Box<SecretDialog>, key: KeyEvent) -> Vec<Effect> {
        let step = dialog.key(key);
        self.step_secret(dialog, step)
    }

    pub(super) fn step_secret(&mut self, mut dialog: Box<SecretDialog>, step: SecretStep) -> Vec<Effect> {
        let effects = match step {
            SecretStep::Copy => {
                (dialog.copied, dialog.nudged) = (true, false);
                vec![Effect::CopySecret(dialog.created.secret.clone())]
            }
            SecretStep::CopyId => vec![Effect::CopySecret(Secret::new(dialog.created.credential.id.clone()))],
            SecretStep::Stay => Vec::new(),
            // Dropping the dialog wipes the secret; the frame that follows wipes it from the screen.
            SecretStep::Done => return Vec::new(),
        };
        self.overlay = Some(Overlay::Secret(dialog));
        effects
    }

    pub(super) fn listed_credentials(&mut self, answer: Answer<CredentialList>) {
        self.settings_screen.listed(answer, self.now);
    }

    pub(super) fn credential_created(&mut self, answer: Answer<CreatedCredential>) {
        match answer {
            Ok(created) => {
                self.settings_screen.created(&created.credential);
                if self.overlay.is_some() {
                    self.tell(Tone::Note, format!("The {} was created: its secret is shown next.", created.credential.kind.as_str()));
                }
                self.settings_screen.arrived = Some(created);
            }
            Err(error) => {
                self.settings_screen.creating = None;
                self.settings_screen.refresh(self.now);
                self.note_unwritten(&error);
                self.tell(Tone::Bad, format!("Nothing was created: {error}"));
            }
        }
    }

    pub(super) fn credential_revoked(&mut self, kind: CredentialKind, id: &str, answer: Answer<Revoked>) {
        match answer {
            Ok(Revoked { credential, already }) => {
                self.settings_screen.put(&credential);
                if already {
                    self.tell_revoked_already(&credential);
                } else {
                    self.tell(Tone::Good, format!("Revoked {} {}: it no longer works.", kind.as_str(), clean(&credential.id)));
                }
            }
            Err(error) => {
                self.note_unwritten(&error);
                self.tell(Tone::Bad, format!("The {} {} was not revoked: {error}", kind.as_str(), clean(id)));
            }
        }
        self.settings_screen.refresh(self.now);
    }

    /// Shows a secret that came while something else lay over the screen.
    pub(super) fn show_arrived_secret(&mut self) {
        if self.overlay.is_none()
            && let Some(created) = self.settings_screen.arrived.take()
        {
            self.overlay = Some(Overlay::Secret(Box::new(SecretDialog::new(created))));
        }
    }
}
