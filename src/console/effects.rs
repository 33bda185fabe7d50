//! Effects: what an update wants done. [`perform`] performs those on the service, in tasks that come back as messages; the desk's are
//! written one after the other; those on the terminal are the loop's.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::Message;
use super::failures::FailureLog;
use super::listener::{Heard, ListenRequest, ReplayRequest, Replayed, RequestFailure, RequestPart, WebhookListener};
use super::message::OnPayment;
use super::notices::Notice;
use super::order_matches::{MatchChange, advisor, match_orders};
use super::profile_directory::ProfileDirectory;
use super::program_log::ProgramLog;
use super::reads::{audited, count, count_given_up, deliveries_of, refunds};
use super::rules_file::RulesFile;
use super::screens::queue::listing::Need;
use super::setting::{SettingValue, SettingsKeeper};
use super::user_settings::UserSetting;
use super::workstation::{browse, export_list, rehearse_rules};
use crate::desk::closing::{closing, first_to_lapse};
use crate::desk::collect::{Stretch, collect};
use crate::desk::find::find_with_orders;
use crate::desk::indeterminate::look_up;
use crate::desk::insights::insights;
use crate::desk::same_payment::{same_payment, same_payments};
use crate::desk::snoozed_page::{page_of, read_all};
use crate::desk::{
    AlertRecords, Desk, Draft, ExportRequest, GroupDraft, JournalMark, JournalStep, Layout, Note, SalesCount, SavedView, SnoozedAlert,
    write_new,
};
use crate::domain::rule::DecisionRule;
use crate::domain::{
    Alert, AlertFilter, AlertId, AlertQuery, AttemptId, Calendar, CredentialKind, DeliveryFilter, DeliveryId, EndpointId, FindQuery,
    Secret, Timestamp,
};
use crate::service::{Deployment, ResolveRequest, ServiceError};

/// How many alerts a search shows.
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
    /// Load the alerts that may be on the same card.
    SameCard(AlertId, Option<AlertQuery>),
    /// The same for several alerts.
    SameCards(Vec<(AlertId, Option<AlertQuery>)>),
    /// Load these rows of a list, whether they are shown or not.
    Collect(u64, Stretch),
    /// Load what lapses within so many hours, as much as a page has.
    ReadClosing(u32),
    /// Load what waits within these filters, the first to lapse first, as much as a page of each has, under this number.
    ReadForRules(u64, Vec<AlertFilter>),
    /// Read these alerts anew for rules that stage by themselves, with what is on their payments, under this number.
    LookUpForRules(u64, Vec<(AlertId, Option<AlertQuery>)>),
    /// Rehearse rules on the alerts of so many days before this moment, under this number.
    Rehearse(u64, Arc<[DecisionRule]>, u32, Timestamp),
    /// Give the rehearsal up that is on its way.
    GiveUpRehearsal,
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
    /// Match an alert with the desk's orders, after this change of what matches.
    MatchOrders(Box<Alert>, Option<MatchChange>),
    /// Ask what the desk's orders advise for alerts.
    AdviseByOrders(Vec<Alert>),
    /// Search many fields; an earlier search is given up.
    Find(FindQuery),
    /// Give the search up that is on its way.
    GiveUpFind,
    /// Read these alerts, to be marked again.
    ReadAlerts(Vec<AlertId>),
    /// Ask which of these alerts have duplicates.
    Mark(Vec<AlertId>),
    /// After so long, wait for a change after this one.
    Watch(u64, Duration),
    /// Send a decision. Final.
    Resolve(u64, AlertId, ResolveRequest),
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
    /// Start a local listener.
    StartListening(Box<ListenRequest>),
    /// Stop it.
    StopListening,
    /// Send what was recorded again.
    Replay(Box<ReplayRequest>),
    /// Send no more of it: what is on its way comes to its end.
    StopReplay,
    /// Load every key and client.
    LoadCredentials,
    /// Create a credential.
    CreateCredential(CredentialKind),
    /// Revoke a credential.
    RevokeCredential(CredentialKind, String),
    /// Load so many entries of the service's audit log, the newest first.
    LoadAudit(u32),
    /// Look for what the newest entries of the service's audit log say of these alerts.
    AuditOf(Vec<AlertId>),
    /// Read what was written into the desk's journal from here on.
    ReadJournal(JournalMark),
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
    /// Read what the program logged after this event.
    ReadLog(u64),
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
    /// Whether it changes something at the service, so that it runs to its end once it has begun.
    fn writes(&self) -> bool {
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
    /// What the screen looks like.
    Layout(Layout),
    /// A view under a name of one's own.
    View(SavedView),
    /// That a view is no longer wanted.
    NoView(String),
    /// A decision that was begun.
    Draft(AlertId, Draft),
    /// That a draft is no longer needed.
    NoDraft(AlertId),
    /// An answer to several alerts that was begun.
    GroupDraft(GroupDraft),
    /// That it is no longer needed.
    NoGroupDraft(Uuid),
    /// A step of the journal.
    Journal(JournalStep),
    /// Steps of the journal, written at once.
    JournalSteps(Vec<JournalStep>),
    /// The sales of a month.
    Sales(SalesCount),
    /// A note on an alert.
    Note(Note),
    /// A note that is being written.
    NoteDraft(AlertId, Draft),
    /// That it is no longer.
    NoNoteDraft(AlertId),
    /// Alerts that are put aside, as of this moment.
    Snooze(Vec<SnoozedAlert>, Timestamp),
    /// That alerts are no longer put aside, as of this moment.
    NoSnooze(Vec<AlertId>, Timestamp),
}

/// Runs effects on a deployment and a desk.
pub struct Runner {
    deployment: Deployment,
    desk: Option<Desk>,
    listener: Option<Arc<dyn WebhookListener>>,
    records: AlertRecords,
    log: Option<Arc<dyn ProgramLog>>,
    keeper: Option<Arc<dyn SettingsKeeper>>,
    rules: Option<Arc<dyn RulesFile>>,
    profiles: Option<Arc<dyn ProfileDirectory>>,
    failures: FailureLog,
    /// Stops the replay that was begun last.
    replay: CancellationToken,
    messages: UnboundedSender<Message>,
    /// Reads; they end with the runner.
    tasks: JoinSet<()>,
    lists: HashMap<u64, Vec<AbortHandle>>,
    /// The search over all fields that is on its way.
    finding: Option<AbortHandle>,
    /// The sums that are on their way.
    adding_up: Option<AbortHandle>,
    /// The export that is on its way.
    exporting: Option<AbortHandle>,
    /// The rehearsal that is on its way.
    rehearsing: Option<AbortHandle>,
    /// What is kept is written one after the other, so that the last state wins.
    keeping: Option<(UnboundedSender<DeskWrite>, JoinHandle<()>)>,
}

/// A write to the desk in its turn, and who waits for it.
struct DeskWrite {
    what: Keep,
    done: Option<oneshot::Sender<Result<(), String>>>,
}

impl Runner {
    /// Runs effects here; their results come as messages. To be made inside a tokio runtime.
    pub fn new(
        deployment: Deployment,
        desk: Option<Desk>,
        listener: Option<Arc<dyn WebhookListener>>,
        records: AlertRecords,
        messages: UnboundedSender<Message>,
    ) -> Self {
        let (replay, tasks, lists) = (CancellationToken::new(), JoinSet::new(), HashMap::new());
        let (log, keeper, rules, profiles, failures) = (None, None, None, None, FailureLog::default());
        Self {
            deployment,
            desk,
            listener,
            records,
            log,
            keeper,
            rules,
            profiles,
            failures,
            replay,
            messages,
            tasks,
            lists,
            finding: None,
            adding_up: None,
            exporting: None,
            rehearsing: None,
            keeping: None,
        }
    }

    /// The same with the program's log and whoever keeps settings.
    pub fn with(self, log: Option<Arc<dyn ProgramLog>>, keeper: Option<Arc<dyn SettingsKeeper>>) -> Self {
        Self { log, keeper, ..self }
    }

    /// The same with the file of rules.
    pub fn with_rules(self, rules: Option<Arc<dyn RulesFile>>) -> Self {
        Self { rules, ..self }
    }

    /// The same with the profiles.
    pub fn with_profiles(self, profiles: Option<Arc<dyn ProfileDirectory>>) -> Self {
        Self { profiles, ..self }
    }

    /// Starts an effect. Those on the terminal are given back.
    pub fn run(&mut self, effect: Effect) -> Option<Effect> {
        while self.tasks.try_join_next().is_some() {}
        match effect {
            Effect::Abandon(list) => self.lists.remove(&list).unwrap_or_default().iter().for_each(AbortHandle::abort),
            Effect::GiveUpFind => self.give_up_find(),
            Effect::Keep(what) => self.keep(what, None),
            Effect::ReadJournal(mark) => self.read_journal(mark),
            Effect::MatchOrders(alert, change) => self.match_orders(*alert, change),
            Effect::StartListening(request) => self.listen(*request),
            Effect::StopListening => self.stop_listening(),
            Effect::Replay(request) => self.replay(*request),
            Effect::StopReplay => self.replay.cancel(),
            Effect::ReadFigures => self.read_figures(),
            Effect::ReadLog(number) => {
                let lines = self.log.as_ref().map(|log| log.after(number)).unwrap_or_default();
                let _ = self.messages.send(Message::LogRead(lines));
            }
            Effect::KeepSetting(setting, value) => self.keep_setting(setting, value),
            Effect::Export(number, request) => self.export(number, *request),
            Effect::Rehearse(number, rules, days, now) => self.rehearse(number, rules, days, now),
            Effect::GiveUpRehearsal => self.rehearsing.take().iter().for_each(AbortHandle::abort),
            Effect::ReadRules => self.read_rules(),
            Effect::ListProfiles => self.list_profiles(),
            Effect::GiveUpExport => self.exporting.take().iter().for_each(AbortHandle::abort),
            Effect::Browse(address) => self.browse(address),
            Effect::Copy(_)
            | Effect::CopySecret(_)
            | Effect::Notice(_)
            | Effect::Title(_)
            | Effect::Mouse(_)
            | Effect::Redraw
            | Effect::Suspend
            | Effect::Quit => return Some(effect),
            effect => self.start(effect),
        }
        None
    }

    fn start(&mut self, effect: Effect) {
        let list = if let Effect::Load(need) = &effect { Some(need.ticket.listing) } else { None };
        let (writes, finds, adds_up) = (effect.writes(), matches!(effect, Effect::Find(_)), matches!(effect, Effect::Sums(_)));
        let intent = self.record_intent(&effect);
        let (deployment, messages, failures) = (self.deployment.clone(), self.messages.clone(), self.failures.clone());
        let desk = self.desk.clone();
        let work = async move {
            if let (Some(intent), Effect::Resolve(key, ..)) = (intent, &effect)
                && let Err(why) = intent.await.unwrap_or_else(|_| Err("it is closed".to_owned()))
            {
                let refused = ServiceError::NotSent(format!("the desk journal could not be written before it: {why}"));
                let _ = messages.send(Message::Resolved(*key, Err(refused)));
                return;
            }
            if let Some(message) = perform(&deployment, desk.as_ref(), effect).await {
                failures.note(&message);
                // The loop may have ended meanwhile.
                let _ = messages.send(message);
            }
        };
        if writes {
            // Not among the reads: what has left runs to its end whatever happens to the console.
            tokio::spawn(work);
            return;
        }
        let handle = self.tasks.spawn(work);
        if finds {
            self.give_up_find();
            self.finding = Some(handle.clone());
        }
        if adds_up && let Some(earlier) = self.adding_up.replace(handle.clone()) {
            earlier.abort();
        }
        if let Some(list) = list {
            let of_list = self.lists.entry(list).or_default();
            of_list.retain(|handle| !handle.is_finished());
            of_list.push(handle);
        }
    }

    fn give_up_find(&mut self) {
        if let Some(earlier) = self.finding.take() {
            earlier.abort();
        }
    }

    fn export(&mut self, number: u64, request: ExportRequest) {
        let (alerts, records, messages) = (Arc::clone(&self.deployment.alerts), self.records.clone(), self.messages.clone());
        let work = async move {
            let told = |message| drop(messages.send(message));
            let ended = export_list(&*alerts, &records, number, request, told).await;
            drop(messages.send(ended));
        };
        self.exporting = Some(self.tasks.spawn(work));
    }

    fn rehearse(&mut self, number: u64, rules: Arc<[DecisionRule]>, days: u32, now: Timestamp) {
        let (alerts, messages) = (Arc::clone(&self.deployment.alerts), self.messages.clone());
        let work = async move {
            let told = |message| drop(messages.send(message));
            let ended = rehearse_rules(&*alerts, number, &rules, days, now, told).await;
            drop(messages.send(ended));
        };
        self.rehearsing.take().iter().for_each(AbortHandle::abort);
        self.rehearsing = Some(self.tasks.spawn(work));
    }

    fn read_rules(&self) {
        let (rules, messages) = (self.rules.clone(), self.messages.clone());
        tokio::task::spawn_blocking(move || {
            let read = rules.map_or_else(|| Err("this console has no file of rules".to_owned()), |rules| rules.read());
            drop(messages.send(Message::RulesRead(read)));
        });
    }

    /// The keyring may be asked, which takes its time.
    fn list_profiles(&self) {
        let (Some(profiles), messages) = (self.profiles.clone(), self.messages.clone()) else { return };
        tokio::task::spawn_blocking(move || drop(messages.send(Message::Profiles(profiles.list()))));
    }

    fn browse(&self, address: String) {
        let messages = self.messages.clone();
        tokio::task::spawn_blocking(move || {
            if let Some(failed) = browse(address) {
                drop(messages.send(failed));
            }
        });
    }

    /// The file is on the disk, and a change of it is not given up.
    fn keep_setting(&self, setting: &'static UserSetting, value: SettingValue) {
        let (Some(keeper), messages) = (self.keeper.clone(), self.messages.clone()) else { return };
        tokio::task::spawn_blocking(move || {
            drop(messages.send(Message::SettingKept(setting, keeper.keep(setting.table, setting.key, value))));
        });
    }

    fn read_figures(&self) {
        let (Some(desk), messages) = (self.desk.clone(), self.messages.clone()) else { return };
        tokio::task::spawn_blocking(move || drop(messages.send(Message::Figures(Box::new(desk.figures())))));
    }

    /// The desk's orders are on the disk, and a change of them is not given up.
    fn match_orders(&self, alert: Alert, change: Option<MatchChange>) {
        let (desk, messages) = (self.desk.clone(), self.messages.clone());
        // The loop may have ended meanwhile.
        tokio::task::spawn_blocking(move || drop(messages.send(match_orders(desk.as_ref(), &alert, change))));
    }

    fn listen(&self, request: ListenRequest) {
        let (listener, messages) = (self.listener.clone(), self.messages.clone());
        let heard = messages.clone();
        let heard: Heard = Arc::new(move |event| drop(heard.send(Message::Heard(event))));
        tokio::spawn(async move {
            let answer = match listener {
                Some(listener) => listener.start(request, heard).await,
                None => Err(nothing_listens()),
            };
            drop(messages.send(Message::ListenStarted(answer)));
        });
    }

    fn stop_listening(&self) {
        let (listener, messages) = (self.listener.clone(), self.messages.clone());
        tokio::spawn(async move {
            if let Some(listener) = listener {
                listener.stop().await;
            }
            drop(messages.send(Message::ListenStopped));
        });
    }

    fn replay(&mut self, request: ReplayRequest) {
        self.replay = CancellationToken::new();
        let (listener, messages, stop) = (self.listener.clone(), self.messages.clone(), self.replay.clone());
        let told = messages.clone();
        let replayed: Replayed = Arc::new(move |event| drop(told.send(Message::Replayed(event))));
        tokio::spawn(async move {
            let ended = match listener {
                Some(listener) => listener.replay(request, stop, replayed).await,
                None => Err(nothing_listens()),
            };
            drop(messages.send(Message::ReplayEnded(ended)));
        });
    }

    fn read_journal(&mut self, mark: JournalMark) {
        let Some(journal) = self.desk.as_ref().and_then(Desk::journal).cloned() else { return };
        let messages = self.messages.clone();
        self.tasks.spawn_blocking(move || {
            let read = journal.read(&mark).map_err(|error| error.to_string());
            drop(messages.send(Message::JournalRead(read)));
        });
    }

    /// Has the journal record that a decision leaves. It leaves when that is on the disk.
    fn record_intent(&mut self, effect: &Effect) -> Option<oneshot::Receiver<Result<(), String>>> {
        let Effect::Resolve(_, _, request) = effect else { return None };
        let decision = request.idempotency_key.clone()?;
        self.desk.as_ref()?.journal()?;
        let (done, written) = oneshot::channel();
        self.keep(Keep::Journal(JournalStep::Sent { decision }), Some(done));
        Some(written)
    }

    fn keep(&mut self, what: Keep, done: Option<oneshot::Sender<Result<(), String>>>) {
        let Some(desk) = self.desk.clone() else { return };
        let messages = self.messages.clone();
        let (keeping, _) = self.keeping.get_or_insert_with(|| {
            let (sender, mut queue) = tokio::sync::mpsc::unbounded_channel::<DeskWrite>();
            let writer = tokio::task::spawn_blocking(move || {
                while let Some(DeskWrite { what, done }) = queue.blocking_recv() {
                    let kept = keep_on(&desk, &what);
                    match (done, kept) {
                        (Some(done), kept) => drop(done.send(kept)),
                        (None, Err(error)) => drop(messages.send(Message::DeskFailed(error))),
                        (None, Ok(())) => {}
                    }
                }
            });
            (sender, writer)
        });
        let _ = keeping.send(DeskWrite { what, done });
    }

    /// Ends every read and waits until everything that was to be kept is on the disk.
    pub async fn finish(mut self) {
        self.replay.cancel();
        self.tasks.shutdown().await;
        if let Some(listener) = &self.listener {
            listener.stop().await;
        }
        if let Some((sender, writer)) = self.keeping.take() {
            drop(sender);
            let _ = writer.await;
        }
    }
}

fn nothing_listens() -> RequestFailure {
    RequestFailure::of(RequestPart::Address)("nothing can listen here".to_owned())
}

fn keep_on(desk: &Desk, what: &Keep) -> Result<(), String> {
    match what {
        Keep::Layout(layout) => desk.keep_layout(layout),
        Keep::View(view) => desk.views().save(view.clone()),
        Keep::NoView(name) => desk.views().remove(name).map(|_| ()),
        Keep::Draft(alert, draft) => desk.drafts().put(*alert, draft),
        Keep::NoDraft(alert) => desk.drafts().remove(*alert),
        Keep::GroupDraft(draft) => desk.group_drafts().put(draft),
        Keep::NoGroupDraft(id) => desk.group_drafts().remove(*id),
        Keep::Sales(entered) => desk.sales().set(*entered),
        Keep::Note(note) => desk.notes().add(note).and_then(|()| desk.note_drafts().remove(note.alert)),
        Keep::NoteDraft(alert, draft) => desk.note_drafts().put(*alert, draft),
        Keep::NoNoteDraft(alert) => desk.note_drafts().remove(*alert),
        Keep::Snooze(snoozed, now) => desk.snoozes().put(snoozed, *now),
        Keep::NoSnooze(ended, now) => desk.snoozes().end(ended, *now),
        Keep::Journal(step) => desk.journal().map_or(Ok(()), |journal| journal.append(step.clone())),
        Keep::JournalSteps(steps) => desk.journal().map_or(Ok(()), |journal| journal.append_all(steps.clone())),
    }
    .map_err(|error| error.to_string())
}

/// Performs an effect on a deployment; the message that it comes back as. `None` where the deployment has not what it takes, or the
/// effect is for the desk or the terminal.
pub async fn perform(deployment: &Deployment, desk: Option<&Desk>, effect: Effect) -> Option<Message> {
    let alerts = &deployment.alerts;
    let Deployment { webhooks, credentials, attempts, audit, stats, changes, .. } = deployment;
    Some(match effect {
        Effect::Load(need) => {
            let page = match &need.chosen {
                Some(chosen) => page_of(&**alerts, chosen, &need.query).await,
                None => alerts.list(&need.query).await,
            };
            Message::Page(need.ticket, page)
        }
        Effect::Count(list, filter) => Message::Counted(list, count(deployment, filter).await),
        Effect::CountAll => Message::CountedAll(match stats {
            Some(stats) => stats.count_all().await,
            None => count(deployment, AlertFilter::default()).await,
        }),
        Effect::Sums(filter) => {
            let sums = stats.as_ref()?.sums(&filter).await;
            Message::Sums(filter, sums)
        }
        Effect::AtRisk(hours) => Message::AtRisk(stats.as_ref()?.at_risk(hours).await),
        Effect::Get(id) => Message::Alert(id, alerts.get(id).await),
        Effect::ReadAlerts(ids) => Message::BegunRead(read_all(&**alerts, &ids).await),
        Effect::Deliveries(id) => Message::Deliveries(id, deliveries_of(webhooks.as_deref()?, id).await),
        Effect::SameCard(id, query) => Message::SameCard(id, same_payment(&**alerts, deployment.duplicates.as_deref(), id, query).await),
        Effect::AdviseByOrders(asked) => {
            let advice = advisor(desk);
            Message::AdvisedByOrders(asked.iter().map(|alert| (alert.id, advice(alert))).collect())
        }
        Effect::SameCards(asked) => Message::SameCards(same_payments(&**alerts, deployment.duplicates.as_deref(), asked).await),
        Effect::Collect(number, stretch) => Message::Collected(number, collect(&**alerts, stretch).await),
        Effect::ReadClosing(hours) => Message::Closing(closing(&**alerts, hours).await),
        Effect::ReadForRules(number, filters) => {
            let mut read = Vec::with_capacity(filters.len());
            for filter in filters {
                read.push(first_to_lapse(&**alerts, filter).await);
            }
            Message::ReadForRules(number, read)
        }
        Effect::LookUpForRules(number, asked) => {
            let mut read = Vec::with_capacity(asked.len());
            // Lists may leave facts out that a guard or an earlier rule asks for.
            let ids: Vec<AlertId> = asked.iter().map(|(id, _)| *id).collect();
            let payments = same_payments(&**alerts, deployment.duplicates.as_deref(), asked).await;
            for (id, (_, others)) in ids.into_iter().zip(payments) {
                read.push((id, alerts.get(id).await.and_then(|alert| Ok((alert, others?)))));
            }
            let advice = advisor(desk);
            let with_order = |(alert, others)| {
                let order = advice(&alert)?;
                Ok((alert, OnPayment { others, order }))
            };
            Message::LookedUpForRules(number, read.into_iter().map(|(id, looked_up)| (id, looked_up.and_then(with_order))).collect())
        }
        Effect::WriteFile(path, text) => {
            let written = write_new(&path, |file| file.write_all(text.as_bytes()));
            Message::FileWritten(path, written.map_err(|error| error.to_string()))
        }
        Effect::Find(query) => {
            let found = find_with_orders(desk, &**alerts, deployment.find.as_deref(), &query, SHOWN_OF_FOUND).await;
            Message::Found(query, found)
        }
        Effect::Mark(ids) => {
            let answer = deployment.duplicates.as_ref()?.duplicates(ids.clone()).await;
            Message::Marked(ids, answer.map(|found| found.into_iter().map(|(id, others)| (id, refunds(&others))).collect()))
        }
        Effect::Watch(after, delay) => {
            let changes = changes.as_ref()?;
            tokio::time::sleep(delay).await;
            Message::Changed(changes.next_change(after).await)
        }
        Effect::Resolve(key, id, request) => Message::Resolved(key, alerts.resolve(id, request).await),
        Effect::LookUp(key, id) => Message::LookedUp(key, look_up(&**alerts, attempts.as_deref(), id).await),
        Effect::Unfinished => Message::Unfinished(attempts.as_ref()?.unfinished().await),
        Effect::Settle(attempt, id, applied) => {
            let answer = match attempts {
                Some(attempts) => attempts.settle_parked(attempt, applied).await,
                None => Err(ServiceError::NotAuthorized("this deployment's operator has to say it".to_owned())),
            };
            Message::Settled(id, applied, answer)
        }
        Effect::LoadEndpoints => Message::Endpoints(webhooks.as_ref()?.endpoints().await),
        Effect::ListDeliveries(asked, filter) => Message::DeliveryList(asked, webhooks.as_ref()?.deliveries(filter).await),
        Effect::LoadDelivery(id) => Message::DeliveryAttempts(id, webhooks.as_ref()?.delivery(id).await),
        Effect::TestEndpoint(id) => Message::EndpointTested(id, webhooks.as_ref()?.test_endpoint(id).await),
        Effect::SendAgain(id) => Message::SentAgain(webhooks.as_ref()?.redeliver(id).await),
        Effect::CountGivenUp(id) => Message::GivenUp(id, count_given_up(webhooks.as_deref()?, id).await),
        Effect::SendAllAgain(id) => Message::AllSentAgain(id, webhooks.as_ref()?.redeliver_exhausted(id).await),
        Effect::LoadCredentials => Message::Credentials(credentials.as_ref()?.credentials().await),
        Effect::CreateCredential(kind) => Message::CredentialCreated(credentials.as_ref()?.create_credential(kind).await),
        Effect::RevokeCredential(kind, id) => {
            let answer = credentials.as_ref()?.revoke_credential(kind, &id).await;
            Message::CredentialRevoked(kind, id, answer)
        }
        Effect::AuditOf(alerts) => Message::AuditOf(audited(audit.as_deref()?, &alerts).await),
        Effect::LoadAudit(size) => Message::AuditLog(audit.as_ref()?.audit(None, size).await),
        Effect::Insights(scope, calendar, now) => {
            let found = insights(&**alerts, stats.as_deref(), &scope, calendar, now).await;
            Message::Insights(scope, found)
        }
        Effect::TryWriting => Message::Written(changes.as_ref()?.try_writing().await),
        Effect::Abandon(_)
        | Effect::Keep(_)
        | Effect::ReadFigures
        | Effect::ReadJournal(_)
        | Effect::MatchOrders(..)
        | Effect::StartListening(_)
        | Effect::StopListening
        | Effect::Replay(_)
        | Effect::GiveUpFind
        | Effect::StopReplay
        | Effect::Rehearse(..)
        | Effect::GiveUpRehearsal
        | Effect::ReadRules
        | Effect::ListProfiles
        | Effect::Export(..)
        | Effect::GiveUpExport
        | Effect::Browse(_)
        | Effect::Notice(_)
        | Effect::Title(_)
        | Effect::KeepSetting(..)
        | Effect::ReadLog(_)
        | Effect::Copy(_)
        | Effect::CopySecret(_)
        | Effect::Mouse(_)
        | Effect::Redraw
        | Effect::Suspend
        | Effect::Quit => return None,
    })
}
