//! The runner of effects: those on the service in tasks that come back as messages, those on the desk written one after
//! the other; those on the terminal are the loop's.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use tokio::{
    sync::{mpsc::UnboundedSender, oneshot},
    task::{AbortHandle, JoinHandle, JoinSet},
};

use super::{
    Message,
    message::{Effect, Keep, MatchChange},
    perform::{kept, match_orders, perform},
    setting::{ProfileDirectory, RulesFile, SettingValue, SettingsKeeper},
    user_settings::UserSetting,
    workstation::{browse, export_list},
};
use crate::{
    desk::{AlertRecords, Desk, DeskAddress, ExportRequest, Journal, JournalStep, NoteDraft},
    domain::Alert,
    service::Deployment,
};

/// Runs effects on a deployment and a desk.
pub struct Runner {
    deployment: Deployment,
    desk: Option<Desk>,
    records: AlertRecords,
    /// The keeper of settings, the file of rules and the profiles.
    pub keeper: Option<Arc<dyn SettingsKeeper>>,
    pub rules: Option<Arc<dyn RulesFile>>,
    pub profiles: Option<Arc<dyn ProfileDirectory>>,
    /// The place of its desk, which is opened anew where it could not be written.
    pub address: Option<DeskAddress>,
    /// The desk that was opened anew and is to be used.
    opened: Arc<Mutex<Option<Desk>>>,
    /// Writes that wait until the desk can be written.
    later: Vec<Keep>,
    messages: UnboundedSender<Message>,
    /// Reads; they end with the runner.
    tasks: JoinSet<()>,
    /// Those that are given up where they are no longer wanted.
    jobs: HashMap<Job, Vec<AbortHandle>>,
    /// Each file with rules, profiles and settings, as it was when it was looked at last.
    seen: Arc<Mutex<HashMap<PathBuf, FileVersion>>>,
    /// Queue of writes, one after the other, so that the last state wins.
    keeping: Option<(UnboundedSender<DeskWork>, JoinHandle<()>)>,
}

/// Work that is given up where it is no longer wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Job {
    /// The pages of a list.
    List(u64),
    /// The search over all fields.
    Find,
    Sums,
    Export,
}

/// Modification time and length of a file; nothing where there is none.
type FileVersion = Option<(SystemTime, u64)>;

/// Work on the desk in its turn.
type DeskWork = Box<dyn FnOnce(&Desk) + Send>;

impl Runner {
    /// Runs effects here; their results come as messages. To be made inside a tokio runtime.
    pub fn new(
        deployment: Deployment,
        desk: Option<Desk>,
        records: AlertRecords,
        messages: UnboundedSender<Message>,
    ) -> Self {
        Self {
            deployment,
            desk,
            records,
            keeper: None,
            rules: None,
            profiles: None,
            address: None,
            opened: Arc::default(),
            later: Vec::new(),
            messages,
            tasks: JoinSet::new(),
            jobs: HashMap::new(),
            seen: Arc::default(),
            keeping: None,
        }
    }

    /// Starts an effect. Those on the terminal are given back.
    pub fn run(&mut self, effect: Effect) -> Option<Effect> {
        while self.tasks.try_join_next().is_some() {}
        match effect {
            Effect::Abandon(list) => self.give_up(Job::List(list)),
            Effect::GiveUpFind => self.give_up(Job::Find),
            Effect::Keep(what) => self.keep(what, None),
            Effect::ReadJournal => self.read_journal(),
            Effect::OpenDesk => self.open_desk(),
            Effect::UseDesk => self.use_desk(),
            Effect::MatchOrders(asked, change) => self.match_orders(asked, change),
            Effect::ReadSales => self.read_sales(),
            Effect::KeepSetting(setting, value) => self.keep_setting(setting, value),
            Effect::Export(number, request) => self.export(number, *request),
            Effect::ReadRules => self.read_rules(),
            Effect::ListProfiles => self.list_profiles(),
            Effect::GiveUpExport => self.give_up(Job::Export),
            Effect::Browse(address) => self.beside(move || browse(address)),
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
        let writes = effect.writes();
        let job = match &effect {
            Effect::Load(need) => Some(Job::List(need.ticket.listing)),
            Effect::Find(_) => Some(Job::Find),
            Effect::Sums(_) => Some(Job::Sums),
            _ => None,
        };
        let intent = self.record_intent(&effect);
        // What was staged here is in the journal before it is looked at.
        let kept = if matches!(effect, Effect::Preflight(..)) { self.when_kept() } else { None };
        let (deployment, messages) = (self.deployment.clone(), self.messages.clone());
        let desk = self.desk.clone();
        let work = async move {
            // The alert may expire: a journal that cannot be written holds no answer back.
            if let Some(intent) = intent
                && let Ok(Err(why)) = intent.await
            {
                let _ = messages.send(Message::DeskFailed(format!("{why}. Answers are sent all the same.")));
            }
            if let Some(kept) = kept {
                let _ = kept.await;
            }
            if let Some(message) = perform(&deployment, desk.as_ref(), effect).await {
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
        let Some(job) = job else { return };
        if matches!(job, Job::Find | Job::Sums) {
            self.give_up(job);
        }
        let handles = self.jobs.entry(job).or_default();
        handles.retain(|handle| !handle.is_finished());
        handles.push(handle);
    }

    fn give_up(&mut self, job: Job) {
        self.jobs.remove(&job).unwrap_or_default().iter().for_each(AbortHandle::abort);
    }

    /// Works on this computer beside the loop, and is not given up; says what there is to say.
    fn beside(&self, work: impl FnOnce() -> Option<Message> + Send + 'static) {
        let messages = self.messages.clone();
        // The loop may have ended meanwhile.
        tokio::task::spawn_blocking(move || work().into_iter().for_each(|message| drop(messages.send(message))));
    }

    fn export(&mut self, number: u64, request: ExportRequest) {
        let (alerts, records, messages) =
            (Arc::clone(&self.deployment.alerts), self.records.clone(), self.messages.clone());
        let work = async move {
            let told = |message| drop(messages.send(message));
            let ended = export_list(&*alerts, &records, number, request, told).await;
            drop(messages.send(ended));
        };
        self.jobs.insert(Job::Export, vec![self.tasks.spawn(work)]);
    }

    fn read_rules(&self) {
        let rules = self.rules.clone();
        let read = move || rules.map_or_else(|| Err("no rules file".to_owned()), |rules| rules.read());
        self.beside(move || Some(Message::RulesRead(read())));
    }

    /// Reads rules, profiles and settings again where somebody else has changed their files since this was called last.
    pub fn read_what_changed(&self) {
        let (rules, profiles, keeper) = (self.rules.clone(), self.profiles.clone(), self.keeper.clone());
        let (seen, messages) = (Arc::clone(&self.seen), self.messages.clone());
        tokio::task::spawn_blocking(move || {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            let mut read_changed = |files: Vec<PathBuf>, read: &dyn Fn() -> Message| {
                let states = files
                    .into_iter()
                    .map(|file| (file.metadata().and_then(|now| Ok((now.modified()?, now.len()))).ok(), file));
                let changed =
                    states.filter_map(|(now, file)| seen.insert(file, now).filter(|before| *before != now)).count();
                if changed > 0 {
                    let _ = messages.send(read());
                }
            };
            if let Some(rules) = rules {
                read_changed(rules.files(), &|| Message::RulesRead(rules.read()));
            }
            if let Some(profiles) = profiles {
                read_changed(profiles.files(), &|| Message::Profiles(profiles.list()));
            }
            if let Some(keeper) = keeper {
                read_changed(keeper.files(), &|| Message::SettingsRead(keeper.read()));
            }
        });
    }

    /// The keyring may be asked, which takes its time.
    fn list_profiles(&self) {
        let (profiles, none) = (self.profiles.clone(), "no settings directory: use --config FILE");
        let list = move || profiles.map_or_else(|| Err(none.to_owned()), |profiles| profiles.list());
        self.beside(move || Some(Message::Profiles(list())));
    }

    fn keep_setting(&self, setting: &'static UserSetting, value: SettingValue) {
        let Some(keeper) = self.keeper.clone() else { return };
        self.beside(move || Some(Message::SettingKept(setting, keeper.keep(setting.table, setting.key, value))));
    }

    fn read_sales(&self) {
        let Some(desk) = self.desk.clone() else { return };
        self.beside(move || Some(Message::Sales(desk.sales().list())));
    }

    /// The desk's orders are on the disk, and a change of them is not given up.
    fn match_orders(&self, asked: Vec<(Alert, Vec<Alert>)>, change: Option<MatchChange>) {
        let desk = self.desk.clone();
        self.beside(move || Some(match_orders(desk.as_ref(), asked, change)));
    }

    fn open_desk(&self) {
        let (Some(address), opened) = (self.address.clone(), Arc::clone(&self.opened)) else { return };
        self.beside(move || {
            let answer = address.open().map_err(|error| error.to_string()).map(|(desk, left)| {
                let session = desk.journal().map(Journal::session).unwrap_or_default();
                *opened.lock().unwrap_or_else(PoisonError::into_inner) = Some(desk);
                (session, left)
            });
            Some(Message::DeskOpened(answer))
        });
    }

    /// Uses the desk that was opened anew: what is kept from now on is kept there, and before it what was to be since
    /// the start.
    fn use_desk(&mut self) {
        let Some(desk) = self.opened.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        self.desk = Some(desk);
        // The one before was only read; its reads come to their end.
        self.keeping = None;
        for what in std::mem::take(&mut self.later) {
            let messages = self.messages.clone();
            self.work_on_desk(move |desk| {
                if let Err(why) = keep_on(desk, &what) {
                    let _ = messages.send(Message::DeskFailed(why));
                }
            });
        }
    }

    fn read_journal(&self) {
        let Some(journal) = self.desk.as_ref().and_then(Desk::journal).cloned() else { return };
        self.beside(move || Some(Message::JournalRead(journal.read().map_err(|error| error.to_string()))));
    }

    /// Tells when all that is to be kept by now is on the desk.
    fn when_kept(&mut self) -> Option<oneshot::Receiver<()>> {
        self.desk.as_ref()?;
        let (done, kept) = oneshot::channel();
        self.work_on_desk(move |_| {
            // Whoever waits may be gone.
            let _ = done.send(());
        });
        Some(kept)
    }

    /// Has the journal record that a decision leaves. It leaves when that is on the disk, or cannot be written there.
    fn record_intent(&mut self, effect: &Effect) -> Option<oneshot::Receiver<Result<(), String>>> {
        let Effect::Resolve(_, _, request, _) = effect else { return None };
        let decision = request.idempotency_key.clone()?;
        let journal = self.desk.as_ref().filter(|desk| !desk.is_only_read())?.journal()?;
        let sent = journal.entry(Some(&decision), JournalStep::Sent);
        let (done, written) = oneshot::channel();
        self.keep(Keep::Journal(vec![sent]), Some(done));
        Some(written)
    }

    /// Keeps something; `done` gets what came of it, else a failure is told.
    fn keep(&mut self, what: Keep, done: Option<oneshot::Sender<Result<(), String>>>) {
        let messages = self.messages.clone();
        let only_read = self.desk.as_ref().is_some_and(Desk::is_only_read);
        if only_read || self.desk.is_none() {
            // It lasts as long as the console does; a note is meant to last longer.
            let is_short = only_read && matches!(what, Keep::Note(_));
            let answer = if is_short { Err("this computer's files cannot be written".to_owned()) } else { Ok(()) };
            kept(&what, answer).into_iter().for_each(|message| drop(messages.send(message)));
            if only_read && what.is_due_later() {
                self.later.push(what);
            }
            return;
        }
        self.work_on_desk(move |desk| match (done, keep_on(desk, &what)) {
            (Some(done), answer) => drop(done.send(answer)),
            (None, answer) => kept(&what, answer).into_iter().for_each(|message| drop(messages.send(message))),
        });
    }

    fn work_on_desk(&mut self, work: impl FnOnce(&Desk) + Send + 'static) {
        let Some(desk) = self.desk.clone() else { return };
        let (keeping, _) = self.keeping.get_or_insert_with(|| {
            let (sender, mut queue) = tokio::sync::mpsc::unbounded_channel::<DeskWork>();
            let worker = tokio::task::spawn_blocking(move || {
                while let Some(work) = queue.blocking_recv() {
                    work(&desk);
                }
            });
            (sender, worker)
        });
        let _ = keeping.send(Box::new(work));
    }

    /// Ends every read and waits until everything that was to be kept is on the disk.
    pub async fn finish(mut self) {
        self.tasks.shutdown().await;
        if let Some((sender, writer)) = self.keeping.take() {
            drop(sender);
            let _ = writer.await;
        }
    }
}

/// Keeps something on a desk.
pub fn keep_on(desk: &Desk, what: &Keep) -> Result<(), String> {
    match what {
        Keep::Layout(layout) => desk.keep_layout(layout),
        Keep::View(view) => desk.views().save(view.clone()),
        Keep::NoView(name) => desk.views().remove(name),
        Keep::AnswerDraft(draft) => desk.answer_drafts().put(&draft.id, draft),
        Keep::NoAnswerDraft(id) => desk.answer_drafts().remove(id),
        Keep::Note(note) => desk.notes().add(note).and_then(|()| desk.note_drafts().remove(&note.alert)),
        Keep::NoteDraft(alert, text) => desk.note_drafts().put(alert, &NoteDraft { text: text.clone() }),
        Keep::NoNoteDraft(alert) => desk.note_drafts().remove(alert),
        Keep::Snooze(snoozed, now) => desk.snoozes().put(snoozed, *now),
        Keep::NoSnooze(ended, now) => desk.snoozes().end(ended, *now),
        Keep::Journal(entries) => desk.journal().map_or(Ok(()), |journal| journal.append(entries)),
    }
    .map_err(|error| error.to_string())
}
