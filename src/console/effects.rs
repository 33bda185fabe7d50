//! Effects: what an update wants done, as values.

use std::{path::PathBuf, time::Duration};

use uuid::Uuid;

use super::{
    message::BegunText, notices::Notice, order_matches::MatchChange, screens::queue::listing::Need,
    setting::SettingValue, user_settings::UserSetting,
};
use crate::{
    desk::{
        AnswerDraft, ExportRequest, JournalEntry, JournalStep, Layout, Note, SavedView, SnoozedAlert,
        ledger::preflight::Preflight, lists::Stretch,
    },
    domain::{
        Alert, AlertFilter, AlertId, AlertQuery, AttemptId, Calendar, CredentialKind, DeliveryFilter, DeliveryId,
        EndpointId, FindQuery, Secret, Timestamp,
    },
    service::ResolveRequest,
};

/// Most alerts that a search shows.
pub const SHOWN_OF_FOUND: u32 = 50;

/// An effect: something to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Load a page of a list.
    Load(Need),
    /// No page of this list is waited for any more.
    Abandon(u64),
    /// Count a list.
    Count(u64, AlertFilter),
    /// Count all alerts.
    CountAll,
    /// Add up the alerts within a filter by currency; what was asked before is given up.
    Sums(AlertFilter),
    /// Ask what lapses within so many hours.
    AtRisk(u32),
    /// Load an alert.
    Get(AlertId),
    /// Load an alert's webhooks.
    Deliveries(AlertId),
    /// Load the alerts that may be on the same card as these.
    SameCards(Vec<(AlertId, Option<AlertQuery>)>),
    /// Load these rows of a list, whether they are shown or not.
    Collect(u64, Stretch),
    /// Load what is due within so many hours, as much as a page has.
    ReadClosing(u32),
    /// Read the file of rules again.
    ReadRules,
    /// List the profiles.
    ListProfiles,
    /// Export a list, under this number.
    Export(u64, Box<ExportRequest>),
    /// Give the export up that is on its way.
    GiveUpExport,
    /// Open an address in the browser.
    Browse(String),
    /// Ring, and tell on the desktop.
    Notice(Notice),
    /// Set the terminal's title; nothing gives it the one back that it had.
    Title(Option<String>),
    /// Write a text into a new file.
    WriteFile(PathBuf, String),
    /// Match alerts, each with these others on its payment, with the desk's orders, after this change of what matches
    /// the first of them.
    MatchOrders(Vec<(Alert, Vec<Alert>)>, Option<MatchChange>),
    /// Search many fields; an earlier search is given up.
    Find(FindQuery),
    /// Give the search up that is on its way.
    GiveUpFind,
    /// Read the alerts of a draft, to open its form.
    ReadAlerts(Vec<AlertId>, Uuid),
    /// Ask which of these alerts have duplicates.
    Mark(Vec<AlertId>),
    /// After so long, wait for a change after this one.
    Watch(u64, Duration),
    /// Look whether something speaks against a decision that is about to leave.
    Preflight(u64, Box<Preflight>),
    /// Send a decision, at this moment. Final.
    Resolve(u64, AlertId, ResolveRequest, Timestamp),
    /// Look up what became of a decision.
    LookUp(u64, AlertId),
    /// Load the endpoints of webhooks.
    LoadEndpoints,
    /// Load deliveries, under this number.
    ListDeliveries(u64, DeliveryFilter),
    /// Load a delivery with its attempts.
    LoadDelivery(DeliveryId),
    /// Send a test to an endpoint.
    TestEndpoint(EndpointId),
    /// Send a delivery again.
    SendAgain(DeliveryId),
    /// Count what was given up for an endpoint.
    CountGivenUp(EndpointId),
    /// Send everything again that was given up for an endpoint.
    SendAllAgain(EndpointId),
    /// Load every key and client.
    LoadCredentials,
    /// Create a credential.
    CreateCredential(CredentialKind),
    /// Revoke a credential.
    RevokeCredential(CredentialKind, String),
    /// Load so many entries of the service's audit log, the newest first.
    LoadAudit(u32),
    /// Look for what the newest entries of the service's audit log say of these alerts, each with whether it is
    /// answered.
    AuditOf(Vec<(AlertId, bool)>),
    /// Read the desk's journal.
    ReadJournal,
    /// Open the desk anew that could not be written.
    OpenDesk,
    /// Use the desk that was opened; what was to be kept before is kept there.
    UseDesk,
    /// Count the alerts within a filter by the days of a calendar, as of this moment.
    Insights(AlertFilter, Calendar, Timestamp),
    /// Read what the desk knows: when decisions were recorded, and sales.
    ReadFigures,
    /// Try whether the service can write.
    TryWriting,
    /// Ask which decisions the engine has not finished.
    Unfinished,
    /// Tell the engine whether the network applied a parked decision on this alert. Final.
    Settle(AttemptId, AlertId, bool),
    /// Keep something on the desk.
    Keep(Keep),
    /// Keep a setting in the settings file.
    KeepSetting(&'static UserSetting, SettingValue),
    /// Copy a text to the clipboard of whoever sits at the terminal.
    Copy(String),
    /// Copy a secret to the clipboard, and keep it nowhere.
    CopySecret(Secret),
    /// Take the mouse, or give it back to the terminal.
    Mouse(bool),
    /// Draw everything anew.
    Redraw,
    /// Stop the process until it is continued.
    Suspend,
    /// End the console.
    Quit,
}

impl Effect {
    /// Returns true where it changes something at the service, so that it runs to its end once it has begun.
    pub fn writes(&self) -> bool {
        matches!(
            self,
            Self::Resolve(..)
                | Self::Settle(..)
                | Self::CreateCredential(_)
                | Self::RevokeCredential(..)
                | Self::TestEndpoint(_)
                | Self::SendAgain(_)
                | Self::SendAllAgain(_)
        )
    }
}

/// A write to the desk.
#[derive(Debug, Clone, PartialEq)]
pub enum Keep {
    /// The layout of the screen.
    Layout(Layout),
    /// A view under a name of one's own.
    View(SavedView),
    /// That a view is no longer wanted.
    NoView(String),
    /// An answer that was begun.
    AnswerDraft(AnswerDraft),
    /// That it is no longer needed.
    NoAnswerDraft(Uuid),
    /// A step of the journal.
    Journal(JournalStep),
    /// Steps of the journal, written at once.
    JournalSteps(Vec<JournalStep>),
    /// Entries that the journal did not have yet, each at its time.
    JournalEntries(Vec<JournalEntry>),
    /// A note on an alert.
    Note(Note),
    /// A note that is being written.
    NoteDraft(AlertId, String),
    /// That it is no longer.
    NoNoteDraft(AlertId),
    /// Alerts that are put aside, as of this moment.
    Snooze(Vec<SnoozedAlert>, Timestamp),
    /// That alerts are no longer put aside, as of this moment.
    NoSnooze(Vec<AlertId>, Timestamp),
}

impl Keep {
    /// The begun text that it keeps; none where the desk has it already, or nothing is left of it.
    pub fn begun_text(&self) -> Option<BegunText> {
        match self {
            Self::AnswerDraft(draft) => Some(BegunText::Answer(draft.id)),
            Self::NoteDraft(alert, _) => Some(BegunText::Note(*alert)),
            _ => None,
        }
    }

    /// Returns true where it is to be kept as soon as that can be done. Texts, steps and the layout are kept anew by
    /// whoever holds them.
    pub fn is_due_later(&self) -> bool {
        let is_held = matches!(
            self,
            Self::Layout(_) | Self::Journal(_) | Self::JournalSteps(_) | Self::JournalEntries(_) | Self::Note(_)
        );
        !is_held && self.begun_text().is_none()
    }

    /// The begun text that it does not keep any more.
    pub fn text_let_go(&self) -> Option<BegunText> {
        match self {
            Self::NoAnswerDraft(id) => Some(BegunText::Answer(*id)),
            Self::NoNoteDraft(alert) => Some(BegunText::Note(*alert)),
            _ => None,
        }
    }
}
