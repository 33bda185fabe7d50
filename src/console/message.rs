//! Messages: everything that can happen to the console, from outside or because a dialog wants it of a screen.

use std::path::PathBuf;

use crossterm::event::Event;
use uuid::Uuid;

use super::Action;
use super::begun_text::BegunText;
use super::profile_directory::ListedProfile;
use super::rules_file::ReadRules;
use super::screens::queue::columns::Column;
use super::screens::queue::listing::Ticket;
use super::session::NextConsole;
use super::setting::SettingValue;
use super::user_settings::UserSetting;
use super::views::View;
use crate::desk::find::FoundAlerts;
use crate::desk::ledger::preflight::KnownRefunds;
use crate::desk::ledger::preflight::PreflightResult;
use crate::desk::ledger::sender::Landing;
use crate::desk::{
    AnswerDraft, ClosingAlerts, DeskFigures, ExportFailure, FoundInsights, JournalDecision, Leftovers, MatchedOrders,
    Note, SnoozedAlert, WholeJournal,
};
use crate::domain::indeterminate::Found;
use crate::domain::{
    Alert, AlertFilter, AlertId, AtRisk, AttemptId, AuditEntry, CreatedCredential, CredentialKind, CredentialList,
    CurrencySum, Delivery, DeliveryFilter, DeliveryId, DeliveryLog, DeliveryPage, Endpoint, EndpointId, FindQuery,
    OrderAdvice, Page, Resolution, ResolutionAttempt, Revoked, Sort,
};
use crate::service::ServiceError;

/// A service's reply.
pub type Reply<T> = Result<T, ServiceError>;

/// What the shop's orders advise for an alert.
#[derive(Debug, Clone)]
pub struct AdvisedAlert {
    pub alert: AlertId,
    /// The others on its payment that the orders were asked about with it.
    pub others: Vec<AlertId>,
    pub advice: Reply<Option<OrderAdvice>>,
    /// The id of the order that matches exactly.
    pub exact: Option<String>,
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
    /// How many alerts a list has by now, while its order is frozen.
    Counted(u64, Reply<u64>),
    /// How many alerts there are in all.
    CountedAll(Reply<u64>),
    /// The sums of the alerts within a filter.
    Sums(AlertFilter, Reply<Vec<CurrencySum>>),
    /// What lapses soon.
    AtRisk(Reply<Vec<AtRisk>>),
    /// An alert as it is now.
    Alert(AlertId, Reply<Alert>),
    /// The webhooks of an alert.
    Deliveries(AlertId, Reply<Vec<Delivery>>),
    /// Alerts on the same card.
    SameCard(AlertId, Reply<Vec<Alert>>),
    /// The same of several alerts.
    SameCards(Vec<(AlertId, Reply<Vec<Alert>>)>),
    /// A stretch of a list that was asked for under this number, and how many alerts the list has.
    Collected(u64, Reply<(Vec<Alert>, u64)>),
    /// What lapses next.
    Closing(Reply<ClosingAlerts>),
    /// What the file of rules says by now, or what is wrong with it.
    RulesRead(Result<ReadRules, String>),
    /// Other rules hold from now on.
    RulesTaken,
    /// How many alerts an export has written, and of how many.
    Exporting(u64, u64, u64),
    /// What became of an export: how many alerts are in the file.
    Exported(u64, PathBuf, Result<u64, ExportFailure>),
    /// An address did not open in the browser, and why.
    NotBrowsed(String, String),
    /// What became of writing a file, and the run whose results it has.
    FileWritten(PathBuf, Option<u64>, Result<(), String>),
    /// Nothing is marked any more.
    Unmark,
    /// These alerts are marked again: what was decided for them was taken back, or they were left out and still need a
    /// look.
    MarkAgain(Vec<Alert>),
    /// The alerts of a draft, as they are now.
    BegunRead(Uuid, Reply<Vec<Alert>>),
    /// What the shop's orders advise for alerts.
    AdvisedByOrders(Vec<AdvisedAlert>),
    /// The orders of the shop that an alert may be on, or why the desk cannot say it; nothing where none were ever
    /// brought in.
    OrdersMatched(AlertId, Option<Result<MatchedOrders, String>>),
    /// Which of these alerts have duplicates, and whether one of those was refunded.
    Marked(Vec<AlertId>, Reply<Vec<(AlertId, Option<bool>)>>),
    /// The endpoints of webhooks.
    Endpoints(Reply<Vec<Endpoint>>),
    /// Deliveries, by the number of the request for them.
    DeliveryList(u64, Reply<DeliveryPage>),
    /// A delivery with its attempts.
    DeliveryAttempts(DeliveryId, Reply<DeliveryLog>),
    /// What came of a test of an endpoint.
    EndpointTested(EndpointId, Reply<DeliveryLog>),
    /// A delivery that is to be sent again, as it is now.
    SentAgain(Reply<Delivery>),
    /// How many deliveries to an endpoint were given up, and whether there are even more.
    GivenUp(EndpointId, Reply<(u64, bool)>),
    /// How many deliveries to an endpoint are due again.
    AllSentAgain(EndpointId, Reply<u64>),
    /// Something changed at the service; the change's number.
    Changed(Reply<u64>),
    /// The result of the preflight check of an answer.
    PreflightResult(u64, PreflightResult),
    /// What became of a decision.
    Resolved(u64, Reply<Landing>),
    /// What the alert of a decision looks like whose fate is not known.
    LookedUp(u64, Reply<Found>),
    /// The decisions that the engine has not finished.
    Unfinished(Reply<Vec<ResolutionAttempt>>),
    /// What came of a person's word on a parked decision: on which alert, and whether it was applied.
    Settled(AttemptId, AlertId, bool, Reply<Alert>),
    /// Every key and client.
    Credentials(Reply<CredentialList>),
    /// What became of creating a credential.
    CredentialCreated(Reply<CreatedCredential>),
    /// What became of revoking a credential.
    CredentialRevoked(CredentialKind, String, Reply<Revoked>),
    /// The newest entries of the service's audit log.
    AuditLog(Reply<Vec<AuditEntry>>),
    /// What those of them say that are about the alerts of a case, and which alerts those are.
    AuditOf(Vec<(AlertId, bool)>, Reply<Vec<AuditEntry>>),
    /// What was written into the desk's journal, or why it cannot be read.
    JournalRead(Result<WholeJournal, String>),
    /// The desk was opened to be written, under this name in its journal, with what earlier consoles left; or why it
    /// cannot be.
    DeskOpened(Result<(Uuid, Leftovers), String>),
    /// Whether the service can write.
    Written(Reply<()>),
    /// Something of the desk could not be kept, in words.
    DeskFailed(String),
    /// Whether a begun text is on the desk, else why not.
    TextKept(BegunText, Result<(), String>),
    /// Whether a note is on the desk, else why not.
    NoteKept(Box<Note>, Result<(), String>),
    /// Whether alerts that were put aside are so on the desk, else why not.
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
    /// What a search over all fields found.
    Found(FindQuery, Reply<FoundAlerts>),
    /// What insights there are of the alerts within a filter.
    Insights(AlertFilter, Reply<FoundInsights>),
    /// What the desk knows besides.
    Figures(Box<DeskFigures>),
    /// The profiles there are.
    Profiles(Result<Vec<ListedProfile>, String>),
    /// The cursor is to go to a setting.
    GoToSetting(&'static UserSetting),
    /// A setting is to be changed.
    ChangeSetting(&'static UserSetting, SettingValue),
    /// What the settings file says by now, in the order of the table of settings.
    SettingsRead(Result<Vec<SettingValue>, String>),
    /// Whether the change of a setting was kept.
    SettingKept(&'static UserSetting, Result<(), String>),
    /// A credential is to be created.
    CreateCredential(CredentialKind),
}

impl Message {
    /// The alerts that it brings, as they are at the deployment now.
    pub fn alerts(&self) -> impl Iterator<Item = &Alert> {
        let (one, many): (Option<&Alert>, &[Alert]) = match self {
            Self::Page(_, Ok(page)) => (None, &page.data),
            Self::SameCard(_, Ok(alerts)) | Self::BegunRead(_, Ok(alerts)) => (None, alerts),
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
