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
    desk::{AlertRecords, Desk, DeskAddress, ExportRequest, Journal, NoteDraft},
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
            Effect::Keep(what) => self.keep(what),
            Effect::ReadJournal => self.read_journal(),
            Effect::OpenDesk => self.open_desk(),
            Effect::MatchOrders(asked, change) => self.match_orders(asked, change),
            Effect::KeepSetting(setting, value) => self.keep_setting(setting, value),
            Effect::Export(request) => self.export(*request),
            Effect::ReadRules => self.read_rules(),
            Effect::ListProfiles => self.list_profiles(),
            Effect::GiveUpExport => self.give_up(Job::Export),
            Effect::Browse(address) => self.beside(move || browse(address)),
            Effect::Copy(_)
            | Effect::Remind(_)
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
        // That an answer was staged is in the journal before it is checked, and that it leaves before it does.
        let kept = matches!(effect, Effect::Preflight(..) | Effect::Resolve(..)).then(|| self.when_kept());
        let (deployment, messages) = (self.deployment.clone(), self.messages.clone());
        let desk = self.desk.clone();
        let work = async move {
            // The alert may expire: a journal that cannot be written holds no answer back.
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

    fn export(&mut self, request: ExportRequest) {
        let (deployment, records, messages) = (self.deployment.clone(), self.records.clone(), self.messages.clone());
        let work = async move {
            let told = |message| drop(messages.send(message));
            let ended = export_list(&deployment, &records, request, told).await;
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
            let mut is_changed = |file: PathBuf| {
                let now = file.metadata().and_then(|now| Ok((now.modified()?, now.len()))).ok();
                seen.insert(file, now).is_some_and(|before| before != now)
            };
            // Each of them is looked at.
            let mut have_changed =
                |files: Vec<PathBuf>| files.into_iter().map(&mut is_changed).fold(false, |any, one| any | one);
            let told = [
                rules.filter(|rules| have_changed(rules.files())).map(|rules| Message::RulesRead(rules.read())),
                profiles.filter(|all| have_changed(all.files())).map(|all| Message::Profiles(all.list())),
                keeper.filter(|keeper| have_changed(keeper.files())).map(|keeper| Message::SettingsRead(keeper.read())),
            ];
            told.into_iter().flatten().for_each(|message| drop(messages.send(message)));
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

    /// Uses the desk that was opened anew, where one was: what is kept from now on is kept there, and before it what
    /// was to be since the start.
    fn use_opened_desk(&mut self) {
        let Some(desk) = self.opened.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        self.desk = Some(desk);
        // The one before was only read; its reads come to their end.
        self.keeping = None;
        std::mem::take(&mut self.later).into_iter().for_each(|what| self.keep(what));
    }

    fn read_journal(&self) {
        let Some(journal) = self.desk.as_ref().and_then(Desk::journal).cloned() else { return };
        self.beside(move || Some(Message::JournalRead(journal.read().map_err(|error| error.to_string()))));
    }

    /// Tells when all that is to be kept by now is on the desk, or cannot be.
    fn when_kept(&mut self) -> oneshot::Receiver<()> {
        self.use_opened_desk();
        let (done, kept) = oneshot::channel();
        self.work_on_desk(move |_| {
            // Whoever waits may be gone.
            let _ = done.send(());
        });
        kept
    }

    /// Keeps something; says what came of it where somebody waits for that, or it failed.
    fn keep(&mut self, what: Keep) {
        self.use_opened_desk();
        let messages = self.messages.clone();
        let tell = move |what: &Keep, answer| {
            kept(what, answer).into_iter().for_each(|message| drop(messages.send(message)));
        };
        match &self.desk {
            Some(desk) if !desk.is_only_read() => self.work_on_desk(move |desk| tell(&what, keep_on(desk, &what))),
            // A note is meant to last longer than the console.
            Some(_) if matches!(what, Keep::Note(_)) => {
                tell(&what, Err("this computer's files cannot be written".to_owned()));
            }
            desk => {
                tell(&what, Ok(()));
                // Texts and the journal are kept anew by whoever holds them.
                if desk.is_some() && what.begun_text().is_none() && !matches!(what, Keep::Journal(_)) {
                    self.later.push(what);
                }
            }
        }
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
