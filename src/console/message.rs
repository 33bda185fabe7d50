//! Messages, everything that can happen to the console, from outside or because a dialog wants it of a screen; and
//! effects, what an update wants done, as values.

use std::{path::PathBuf, time::Duration};

use crossterm::event::Event;
use uuid::Uuid;

use super::{
    Action,
    reminders::Reminder,
    screens::queue::listing::{Need, Ticket},
    session::NextConsole,
    setting::{ListedProfile, ReadRules, SettingValue},
    user_settings::UserSetting,
    views::View,
};
use crate::{
    desk::{
        AnswerDraft, ExportFailure, ExportRequest, FoundInsights, JournalDecision, JournalEntry, Layout, Leftovers,
        MatchedOrders, Note, SavedView, SnoozedAlert, WholeJournal,
        find::FoundAlerts,
        ledger::{
            preflight::{Preflight, PreflightResult},
            sender::Landing,
        },
        lists::Stretch,
    },
    domain::{
        Alert, AlertFilter, AlertId, AlertQuery, AttemptId, AuditEntry, Calendar, ContradictedAnswer,
        CreatedCredential, CredentialKind, CredentialList, CurrencySum, Delivery, DeliveryFilter, DeliveryId,
        DeliveryLog, DeliveryPage, Endpoint, EndpointId, FindQuery, HeldCount, Page, Resolution, ResolutionAttempt,
        Revoked, SalesCount, Secret, Sort, Timestamp, duplicate::KnownRefunds, indeterminate::Found,
        source::SourceStatus,
    },
    service::{ResolveRequest, ServiceError},
};

/// A service's reply.
pub type Reply<T> = Result<T, ServiceError>;

/// The orders of the shop that an alert may be on, or why the desk cannot say it; none where none were ever brought in.
pub type OrdersFound = Option<Result<MatchedOrders, String>>;

/// A text that somebody has typed and neither sent nor kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BegunText {
    /// An answer.
    Answer(Uuid),
    /// A note on an alert.
    Note(AlertId),
}

/// A message: something that happened.
#[derive(Debug, Clone)]
pub enum Message {
    /// A key, the mouse, a paste, a new size, focus.
    Input(Event),
    /// The moment has come that [`super::app::App::next_wake`] named; to a screen: see what is due.
    Tick,
    /// A page of a list.
    Page(Ticket, Reply<Page<Alert>>),
    /// Number of alerts in all.
    CountedAll(Reply<u64>),
    /// The sums of the alerts within a filter.
    Sums(AlertFilter, Reply<Vec<CurrencySum>>),
    /// An alert as it is now.
    Alert(AlertId, Reply<Alert>),
    /// The webhooks of an alert.
    Deliveries(AlertId, Reply<Vec<Delivery>>),
    /// Alerts on the same card as these.
    SameCards(Vec<(AlertId, Reply<Vec<Alert>>)>),
    /// A stretch of a list that was asked for under this number, and how many alerts the list has.
    Collected(u64, Reply<(Vec<Alert>, u64)>),
    /// Alerts that are due next.
    Closing(Reply<Vec<Alert>>),
    /// Rules of the file, or what is wrong with it.
    RulesRead(Result<ReadRules, String>),
    /// Other rules hold from now on.
    RulesTaken,
    /// Number of alerts that an export has written, and of how many.
    Exporting(u64, u64),
    /// End of an export: the number of alerts in the file.
    Exported(PathBuf, Result<u64, ExportFailure>),
    /// An address did not open in the browser, and why.
    NotBrowsed(String, String),
    /// Nothing is marked any more.
    Unmark,
    /// These alerts are marked again: what was decided for them was taken back, or they were left out and still need a
    /// look.
    MarkAgain(Vec<Alert>),
    /// The alerts of a draft, as they are now.
    BegunRead(Uuid, Reply<Vec<Alert>>),
    /// The orders of the shop that these alerts may be on.
    OrdersMatched(Vec<(AlertId, OrdersFound)>),
    /// Those of these alerts that have duplicates, and whether one of those was refunded.
    Marked(Vec<AlertId>, Reply<Vec<(AlertId, Option<bool>)>>),
    /// The endpoints of webhooks.
    Endpoints(Reply<Vec<Endpoint>>),
    /// The sources with their counts.
    Sources(Reply<Vec<SourceStatus>>),
    /// The newest deliveries within a filter.
    DeliveryList(DeliveryFilter, Reply<DeliveryPage>),
    /// A delivery with its attempts.
    DeliveryAttempts(DeliveryId, Reply<DeliveryLog>),
    /// Result of a test of an endpoint.
    EndpointTested(EndpointId, Reply<DeliveryLog>),
    /// A delivery that is to be sent again, as it is now.
    SentAgain(Reply<Delivery>),
    /// Something changed at the service; the change's number.
    Changed(Reply<u64>),
    /// The result of the preflight check of an answer.
    PreflightResult(u64, PreflightResult),
    /// Reply to a decision.
    Resolved(u64, Reply<Landing>),
    /// The alert of an unconfirmed decision, as it is now.
    LookedUp(u64, Reply<Found>),
    /// The decisions that the engine has not finished.
    Unfinished(Reply<Vec<ResolutionAttempt>>),
    /// Answers that a later report contradicts.
    Contradictions(Reply<Vec<ContradictedAnswer>>),
    /// Reply to dismissing what contradicts the answer to an alert.
    ContradictionsDismissed(AlertId, Reply<()>),
    /// Reply to a person's word on a parked decision: on which alert, and whether it was applied.
    ResultSet(AttemptId, AlertId, bool, Reply<Alert>),
    /// Every key and client.
    Credentials(Reply<CredentialList>),
    /// Reply to creating a credential.
    CredentialCreated(Reply<CreatedCredential>),
    /// Reply to revoking a credential.
    CredentialRevoked(CredentialKind, String, Reply<Revoked>),
    /// Reply to stopping the automatic rules.
    RulesStopped(Reply<()>),
    /// The newest entries of the service's audit log.
    AuditLog(Reply<Vec<AuditEntry>>),
    /// Audit entries about the alerts of a case, and which alerts those are.
    AuditOf(Vec<(AlertId, bool)>, Reply<Vec<AuditEntry>>),
    /// Entries of the desk's journal, or why it cannot be read.
    JournalRead(Result<WholeJournal, String>),
    /// The desk was opened to be written, under this name in its journal, with what earlier consoles left; or why it
    /// cannot be.
    DeskOpened(Result<(Uuid, Leftovers), String>),
    /// Result of a try to write at the service.
    Written(Reply<()>),
    /// Something of the desk could not be kept, in words.
    DeskFailed(String),
    /// Result of keeping a begun text on the desk.
    TextKept(BegunText, Result<(), String>),
    /// Result of keeping a note on the desk.
    NoteKept(Box<Note>, Result<(), String>),
    /// The process was asked to stop for a while.
    Suspend,
    /// The process goes on after a stop.
    Continued,
    /// An action is wanted of the screen.
    Act(Action),
    /// The screen is shown from now on.
    Shown,
    /// A decision could not be sent: nobody answers.
    OutOfReach(ServiceError),
    /// An alert has an outcome by now, or is free again: the alert.
    Concluded(Box<Alert>),
    /// Answers to these alerts were queued together.
    Staged(Vec<AlertId>),
    /// An alert was answered in a form, from this draft; what was known of refunds on its payment.
    Decided(Box<Alert>, Resolution, Option<Box<AnswerDraft>>, KnownRefunds),
    /// These alerts are to be listed, in this order.
    List(AlertFilter, Sort),
    /// A view is to be shown.
    ShowView(View),
    /// These alerts were put aside.
    Snoozed(Vec<AlertId>),
    /// The cursor is to go to an alert.
    GoToAlert(AlertId),
    /// An alert that is known by its id alone is to be gone to, whatever is listed.
    Seek(AlertId),
    /// The case of an alert that is known by its id alone is to be opened.
    OpenCase(AlertId),
    /// A decision that failed is to be made again, in its form.
    Reopen(Box<JournalDecision>),
    /// This console is to be left, and another one opened.
    OpenConsole(NextConsole),
    /// An alert that was found is to be gone to, whatever is listed.
    GoToFound(Box<Alert>),
    /// Lists the alerts of a filter in an order, as a search without text.
    ListFound(AlertFilter, Sort),
    /// Alerts that a search over all fields found.
    Found(FindQuery, Reply<FoundAlerts>),
    /// Insights of all alerts.
    Insights(Reply<FoundInsights>),
    /// Sales that were entered.
    Sales(Reply<Vec<SalesCount>>),
    /// Answers, and how many of them were disputed afterwards.
    Held(Reply<Vec<HeldCount>>),
    /// The profiles there are.
    Profiles(Result<Vec<ListedProfile>, String>),
    /// A setting is to be changed.
    ChangeSetting(&'static UserSetting, SettingValue),
    /// Settings of the file, in the order of the table of settings.
    SettingsRead(Result<Vec<SettingValue>, String>),
    /// Result of keeping the change of a setting.
    SettingKept(&'static UserSetting, Result<(), String>),
    /// A credential is to be created.
    CreateCredential(CredentialKind),
}

impl Message {
    /// The alerts that it brings, as they are at the deployment now.
    pub fn alerts(&self) -> impl Iterator<Item = &Alert> {
        let (one, many): (Option<&Alert>, &[Alert]) = match self {
            Self::Page(_, Ok(page)) => (None, &page.data),
            Self::BegunRead(_, Ok(alerts)) | Self::Closing(Ok(alerts)) => (None, alerts),
            Self::Alert(_, Ok(alert)) | Self::ResultSet(_, _, _, Ok(alert)) => (Some(alert), &[]),
            Self::Resolved(_, Ok(landing)) => (Some(&landing.alert), &[]),
            Self::Concluded(alert) => (Some(alert), &[]),
            _ => (None, &[]),
        };
        let of_payments = if let Self::SameCards(found) = self { found.as_slice() } else { &[] };
        let of_payments = of_payments.iter().filter_map(|(_, answer)| answer.as_ref().ok()).flatten();
        one.into_iter().chain(many).chain(of_payments)
    }
}

/// The state of data that a service was asked for.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Loadable<T> {
    /// Nobody has asked yet.
    #[default]
    NotAsked,
    /// Asked, no answer yet.
    Loading,
    /// The answer.
    Loaded(T),
    /// No answer, and why.
    Failed(ServiceError),
}

impl<T> Loadable<T> {
    /// The answer, where there is one.
    pub fn loaded(&self) -> Option<&T> {
        match self {
            Self::Loaded(value) => Some(value),
            Self::NotAsked | Self::Loading | Self::Failed(_) => None,
        }
    }

    /// Notes that it was asked for. What is known stays until the answer comes.
    pub fn ask(&mut self) {
        if !matches!(self, Self::Loaded(_)) {
            *self = Self::Loading;
        }
    }

    /// Takes an answer in. What was known stays when the new answer is a failure.
    pub fn answer(&mut self, result: Result<T, ServiceError>) {
        match result {
            Ok(value) => *self = Self::Loaded(value),
            Err(_) if matches!(self, Self::Loaded(_)) => {}
            Err(error) => *self = Self::Failed(error),
        }
    }
}

/// Most alerts that a search shows.
pub const SHOWN_OF_FOUND: u32 = 50;

/// An effect: something to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Load a page of a list.
    Load(Need),
    /// No page of this list is waited for any more.
    Abandon(u64),
    /// Count all alerts.
    CountAll,
    /// Add up the alerts within a filter by currency; what was asked before is given up.
    Sums(AlertFilter),
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
    /// Export a list.
    Export(Box<ExportRequest>),
    /// Give the export up that is on its way.
    GiveUpExport,
    /// Open an address in the browser.
    Browse(String),
    /// Ring, and tell on the desktop.
    Remind(Reminder),
    /// Set the terminal's title.
    Title(String),
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
    /// Load the sources with their counts.
    LoadSources,
    /// Load the newest deliveries within a filter.
    ListDeliveries(DeliveryFilter),
    /// Load a delivery with its attempts.
    LoadDelivery(DeliveryId),
    /// Send a test to an endpoint.
    TestEndpoint(EndpointId),
    /// Send a delivery again.
    SendAgain(DeliveryId),
    /// Load every key and client.
    LoadCredentials,
    /// Create a credential.
    CreateCredential(CredentialKind),
    /// Revoke a credential.
    RevokeCredential(CredentialKind, String),
    /// Stop the automatic rules.
    StopRules,
    /// Load so many entries of the service's audit log, the newest first.
    LoadAudit(u32),
    /// Look for what the newest entries of the service's audit log say of these alerts, each with whether it is
    /// answered.
    AuditOf(Vec<(AlertId, bool)>),
    /// Read the desk's journal.
    ReadJournal,
    /// Open the desk anew that could not be written.
    OpenDesk,
    /// Count all alerts by the days of a calendar, as of this moment.
    Insights(Calendar, Timestamp),
    /// Load the sales that were entered.
    LoadSales,
    /// Count how many answers were disputed afterwards.
    LoadHeld,
    /// Try whether the service can write.
    TryWriting,
    /// Ask which decisions the engine has not finished.
    Unfinished,
    /// Ask which answers a later report contradicts.
    Contradictions,
    /// Dismiss what contradicts the answer to an alert.
    DismissContradictions(AlertId),
    /// Tell the engine whether the network applied a parked decision on this alert. Final.
    SetResult(AttemptId, AlertId, bool),
    /// Keep something on the desk.
    Keep(Keep),
    /// Keep a setting in the settings file.
    KeepSetting(&'static UserSetting, SettingValue),
    /// Copy a text to the clipboard of whoever sits at the terminal.
    Copy(Secret),
    /// Take the mouse, or give it back to the terminal.
    Mouse(bool),
    /// Draw everything anew.
    Redraw,
    /// Stop the process until it is continued.
    Suspend,
    /// End the console.
    Quit,
}

/// A change of which orders match an alert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MatchChange {
    /// This order is taken off.
    Unmatch(String, Timestamp),
    /// Those that were taken off match again.
    MatchAgain,
}

impl Effect {
    /// Returns true where it changes something at the service, so that it runs to its end once it has begun.
    pub fn writes(&self) -> bool {
        matches!(
            self,
            Self::Resolve(..)
                | Self::SetResult(..)
                | Self::DismissContradictions(_)
                | Self::CreateCredential(_)
                | Self::RevokeCredential(..)
                | Self::StopRules
                | Self::TestEndpoint(_)
                | Self::SendAgain(_)
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
    /// Lines of the journal, written at once.
    Journal(Vec<JournalEntry>),
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
    /// The begun text that it keeps, as a draft or for good.
    pub fn begun_text(&self) -> Option<BegunText> {
        match self {
            Self::AnswerDraft(draft) => Some(BegunText::Answer(draft.id)),
            Self::NoteDraft(alert, _) | Self::Note(Note { alert, .. }) => Some(BegunText::Note(*alert)),
            _ => None,
        }
    }
}
