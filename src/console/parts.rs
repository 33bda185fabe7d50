//! Parts of an application: the session, what the service can, and what the desk kept.

use std::collections::HashMap;

use uuid::Uuid;

use super::{
    Theme,
    session::{AlertJson, Preferences, SessionInfo},
};
use crate::{
    desk::{AnswerDraft, Layout, Leftovers, Note, SavedView, SnoozedAlert},
    domain::{AlertId, query::Vocabulary, time::SharedClock},
};

/// The desk's state when the console was opened.
#[derive(Debug, Clone, Default)]
pub struct DeskState {
    pub layout: Layout,
    pub views: Vec<SavedView>,
    /// Answers that were begun.
    pub answer_drafts: Vec<AnswerDraft>,
    pub notes: Vec<Note>,
    /// Notes that were being written.
    pub note_drafts: HashMap<AlertId, String>,
    pub snoozed: Vec<SnoozedAlert>,
    /// Answers and texts that earlier consoles did not finish.
    pub left: Leftovers,
    /// This console's name in the journal, where there is one.
    pub session: Option<Uuid>,
    /// True where nothing can be kept: what is begun is lost with the console.
    pub keeps_nothing: bool,
    /// Errors of reading, in words.
    pub troubles: Vec<String>,
    /// That no log is written, in words: nothing that was decided here is less known for it.
    pub log_trouble: Option<String>,
}

/// The parts of an application.
pub struct Parts {
    pub place: SessionInfo,
    pub settings: Preferences,
    pub theme: Theme,
    pub clock: SharedClock,
    pub alert_json: AlertJson,
    /// True where the service tells of changes and of more than the interface does.
    pub operator: bool,
    /// True where the service counts what insights tell.
    pub counts: bool,
    /// True where the service looks for doubles by every fact.
    pub compares_all: bool,
    /// True where keys and clients can be managed from here.
    pub credentials: bool,
    /// True where endpoints and deliveries can be seen from here.
    pub webhooks: bool,
    /// True where the service's audit log can be seen from here.
    pub audits: bool,
    /// Filters that lists can be asked for.
    pub vocabulary: Vocabulary,
    pub kept: DeskState,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
}
