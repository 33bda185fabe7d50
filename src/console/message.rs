//! Messages: everything that can happen to the console, from outside or because a dialog wants it of a screen.

use std::path::PathBuf;

use crossterm::event::Event;
use uuid::Uuid;

use super::{
    Action,
    profile_directory::ListedProfile,
    rules_file::ReadRules,
    screens::queue::{columns::Column, listing::Ticket},
    session::NextConsole,
    setting::SettingValue,
    user_settings::UserSetting,
    views::View,
};
use crate::{
    desk::{
        AnswerDraft, ClosingAlerts, DeskFigures, ExportFailure, FoundInsights, JournalDecision, Leftovers,
        MatchedOrders, Note, SnoozedAlert, WholeJournal,
        find::FoundAlerts,
        ledger::{
            preflight::{KnownRefunds, PreflightResult},
            sender::Landing,
        },
    },
    domain::{
        Alert, AlertFilter, AlertId, AtRisk, AttemptId, AuditEntry, CreatedCredential, CredentialKind, CredentialList,
        CurrencySum, Delivery, DeliveryFilter, DeliveryId, DeliveryLog, DeliveryPage, Endpoint, EndpointId, FindQuery,
        Page, Resolution, ResolutionAttempt, Revoked, Sort, indeterminate::Found,
    },
    service::ServiceError,
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
    /// Number of alerts that a list has by now, while its order is frozen.
    Counted(u64, Reply<u64>),
    /// Number of alerts in all.
    CountedAll(Reply<u64>),
    /// The sums of the alerts within a filter.
    Sums(AlertFilter, Reply<Vec<CurrencySum>>),
    /// Alerts that lapse soon.
    AtRisk(Reply<Vec<AtRisk>>),
    /// An alert as it is now.
    Alert(AlertId, Reply<Alert>),
    /// The webhooks of an alert.
    Deliveries(AlertId, Reply<Vec<Delivery>>),
    /// Alerts on the same card as these.
    SameCards(Vec<(AlertId, Reply<Vec<Alert>>)>),
    /// A stretch of a list that was asked for under this number, and how many alerts the list has.
    Collected(u64, Reply<(Vec<Alert>, u64)>),
    /// Alerts that are due next.
    Closing(Reply<ClosingAlerts>),
    /// Rules of the file, or what is wrong with it.
    RulesRead(Result<ReadRules, String>),
    /// Other rules hold from now on.
    RulesTaken,
    /// Number of alerts that an export has written, and of how many.
    Exporting(u64, u64, u64),
    /// End of an export: the number of alerts in the file.
    Exported(u64, PathBuf, Result<u64, ExportFailure>),
    /// An address did not open in the browser, and why.
    NotBrowsed(String, String),
    /// Result of writing a file.
    FileWritten(PathBuf, Result<(), String>),
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
    /// Deliveries, by the number of the request for them.
    DeliveryList(u64, Reply<DeliveryPage>),
    /// A delivery with its attempts.
    DeliveryAttempts(DeliveryId, Reply<DeliveryLog>),
    /// Result of a test of an endpoint.
    EndpointTested(EndpointId, Reply<DeliveryLog>),
    /// A delivery that is to be sent again, as it is now.
    SentAgain(Reply<Delivery>),
    /// Number of deliveries to an endpoint that were given up, and whether there are even more.
    GivenUp(EndpointId, Reply<(u64, bool)>),
    /// Number of deliveries to an endpoint that are due again.
    AllSentAgain(EndpointId, Reply<u64>),
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
    /// Reply to a person's word on a parked decision: on which alert, and whether it was applied.
    Settled(AttemptId, AlertId, bool, Reply<Alert>),
    /// Every key and client.
    Credentials(Reply<CredentialList>),
    /// Reply to creating a credential.
    CredentialCreated(Reply<CreatedCredential>),
    /// Reply to revoking a credential.
    CredentialRevoked(CredentialKind, String, Reply<Revoked>),
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
    /// Result of keeping snoozed alerts on the desk.
    SnoozeKept(Vec<SnoozedAlert>, Result<(), String>),
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
    /// The detail beside a form is to show this alert of the list.
    ShowBeside(AlertId),
    /// An alert was answered in a form, from this draft; what was known of refunds on its payment.
    Decided(Box<Alert>, Resolution, Option<Box<AnswerDraft>>, KnownRefunds),
    /// These alerts are to be listed, in this order.
    List(AlertFilter, Sort),
    /// These deliveries are to be shown.
    ShowDeliveries(DeliveryFilter),
    /// The list is to be sorted.
    Sort(Sort),
    /// A view is to be shown.
    ShowView(View),
    /// The list is to have these columns.
    Columns(Vec<Column>),
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
    /// What a search means that no text says, or an hour that lapses, is to be listed, whatever is listed; what is to
    /// be said of the list.
    ListFound(AlertFilter, Sort, Option<String>),
    /// Alerts that a search over all fields found.
    Found(FindQuery, Reply<FoundAlerts>),
    /// Insights of the alerts within a filter.
    Insights(AlertFilter, Reply<FoundInsights>),
    /// Figures of the desk.
    Figures(Box<DeskFigures>),
    /// The profiles there are.
    Profiles(Result<Vec<ListedProfile>, String>),
    /// The cursor is to go to a setting.
    GoToSetting(&'static UserSetting),
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
            Self::BegunRead(_, Ok(alerts)) => (None, alerts),
            Self::Closing(Ok(closing)) => (None, &closing.alerts),
            Self::Alert(_, Ok(alert)) | Self::Settled(_, _, _, Ok(alert)) => (Some(alert), &[]),
            Self::Resolved(_, Ok(landing)) => (Some(&landing.alert), &[]),
            Self::Concluded(alert) => (Some(alert), &[]),
            _ => (None, &[]),
        };
        let of_payments = if let Self::SameCards(found) = self { found.as_slice() } else { &[] };
        let of_payments = of_payments.iter().filter_map(|(_, answer)| answer.as_ref().ok()).flatten();
        one.into_iter().chain(many).chain(of_payments)
    }
}
