//! The application context: what every screen and dialog reads and changes, handed down by the application.

use std::collections::HashMap;

use super::decisions::Decisions;
use super::network_trouble::NetworkTroubles;
use super::session::{AlertJson, Preferences, SessionInfo};
use super::toasts::Toasts;
use super::unfinished::Unfinished;
use super::views::SavedViews;
use super::write_check::WriteCheck;
use super::{Action, DrawContext, Effect, Keep, Theme, Tone};
use crate::desk::Draft;
use crate::domain::card::mask_card_numbers;
use crate::domain::{AlertId, Timestamp};

/// The application context.
pub struct AppContext {
    pub place: SessionInfo,
    pub settings: Preferences,
    pub theme: Theme,
    pub alert_json: AlertJson,
    /// Whether the service tells of changes and of more than the interface does.
    pub operator: bool,
    /// Whether doubles are looked for by every fact.
    pub compares_all: bool,
    pub now: Timestamp,
    /// Whether a dialog lies over the screen, so that the order of what it shows is frozen.
    pub covered: bool,
    /// Another deployment does not answer: what would leave now waits.
    pub offline: bool,
    /// Leaving as soon as what is with the service has come back.
    pub leaving: bool,
    pub decisions: Decisions,
    pub unfinished: Unfinished,
    /// Networks that did not answer or did not take a decision.
    pub networks: NetworkTroubles,
    pub drafts: HashMap<AlertId, Draft>,
    pub views: SavedViews,
    pub toasts: Toasts,
    pub writes: WriteCheck,
}

impl AppContext {
    /// The draw context.
    pub fn draw_context(&self) -> DrawContext<'_> {
        DrawContext {
            theme: &self.theme,
            now: self.now,
            zone: self.settings.zone,
            keymap: &self.settings.keymap,
            decisions: &self.decisions,
            unfinished: &self.unfinished,
            dialect: self.place.dialect,
            compares_all: self.compares_all,
            rules: &self.settings.rules,
        }
    }

    /// Notifies the user.
    pub fn notify(&mut self, tone: Tone, text: impl Into<String>) {
        self.toasts.notify(tone, text, self.now);
    }

    /// The key to name for an action.
    pub fn key(&self, action: Action) -> String {
        self.settings.keymap.key_of(action)
    }

    /// Keeps what was typed for an alert, card numbers masked as they would be sent, until its decision has landed.
    pub fn keep_draft(&mut self, alert: AlertId, draft: Draft) -> Vec<Effect> {
        if draft.is_bare() {
            return self.drop_draft(alert);
        }
        let draft = Draft { comments: mask_card_numbers(&draft.comments).into_owned(), ..draft };
        self.drafts.insert(alert, draft.clone());
        vec![Effect::Keep(Keep::Draft(alert, draft))]
    }

    /// Drops what was typed for an alert.
    pub fn drop_draft(&mut self, alert: AlertId) -> Vec<Effect> {
        if self.drafts.remove(&alert).is_some() { vec![Effect::Keep(Keep::NoDraft(alert))] } else { Vec::new() }
    }
}
