//! The application: clock, size, the screens, and the dialogs that lie over them. [`App::update`] routes one message
//! and says what is to be done; it never waits.

use std::collections::VecDeque;

use chrono::Duration;
use crossterm::event::{Event, MouseEventKind};
use ratatui::layout::Rect;
use uuid::Uuid;

pub use super::session::DeskState;
use super::{
    Action, AppContext, ClickTargets, Dialog, Effect, Keep, Message, Session, Task, Tasks, Theme, Tone,
    decisions::{Ledger, PendingDecision},
    dialog::run,
    dialogs::{self, answer_form::Choice, question::ask, snooze_menu, unsent::EarlierSession},
    drafts::{AnswerDraftList, NoteList, UnsavedDrafts},
    failures::{FailedCalls, WriteCheck},
    journal_reading::JournalReading,
    known_alerts::KnownAlerts,
    reminders::Reminders,
    resolving,
    runs::Runs,
    screens::{
        ScreenName, Screens,
        activity::state::ActivityScreen,
        insights::state::InsightsScreen,
        queue::{ANOTHER_LIST, state::Queue},
        settings::state::SettingsScreen,
        webhooks::state::WebhooksScreen,
    },
    session::NextConsole,
    setting::{ReadRules, SettingValue},
    text::counted,
    times::{self, until_next_minute},
    toasts::{NoteLine, Toasts},
    unfinished::Unfinished,
    user_settings::USER_SETTINGS,
    views::{SavedViews, SnoozeList},
};
use crate::{
    desk::{JournalDecision, Layout, Leftovers},
    domain::{AlertId, Timestamp, time::SharedClock},
};

/// Interval between two tries to open a desk that could not be written at the start.
const DESK_AGAIN: Duration = Duration::seconds(5);

/// The application.
pub struct App {
    pub(super) cx: AppContext,
    pub(super) clock: SharedClock,
    pub(super) area: Rect,
    pub(super) more_notes: u16,
    pub(super) screens: Screens,
    /// Open dialogs; the last one is on top and has the input.
    pub(super) dialogs: Vec<Box<dyn Dialog>>,
    /// Dialogs that open next.
    waiting: VecDeque<Box<dyn Dialog>>,
    /// The alert that is read to be gone to, or to open its case.
    pub(super) seeking: Option<(AlertId, bool)>,
    /// A form that opens once its alert is under the cursor, as this decision was filled in.
    pub(super) reopening: Option<(Choice, JournalDecision)>,
    /// True where the console has the mouse.
    pub(super) has_mouse: bool,
    /// Settings of the file as it was read last, in the order of the table of settings.
    pub(super) settings_read: Vec<SettingValue>,
    /// The terminal's title as it was set last.
    pub(super) title: String,
    /// Click targets around the screen.
    pub(super) targets: ClickTargets<Action>,
    pub(super) kept: Layout,
    dirty: bool,
}

impl App {
    /// The application as it was left, on a screen of so many columns and rows, and what has to be asked first.
    pub fn new(session: Session, theme: Theme, kept: DeskState, size: (u16, u16)) -> (Self, Vec<Effect>) {
        let Session { deployment, clock, place, settings, alert_json, .. } = session;
        let (operator, vocabulary) = (deployment.changes.is_some(), deployment.vocabulary);
        let (now, area) = (clock.now(), Rect::new(0, 0, size.0, size.1));
        let views = SavedViews::of(kept.views, vocabulary);
        let snoozes = SnoozeList::of(kept.snoozed);
        let mut queue = Queue::new(&kept.layout, vocabulary, operator, area, now, settings.calendar(now));
        queue.follow_snoozes(&snoozes, now);
        let refresh = settings.refresh.and_then(|every| Duration::from_std(every).ok());
        let mut effects = queue.start(refresh, settings.page_size, now);
        effects.extend(queue.run_due(now));
        let ledger = Ledger::new(&place.name, place.user.clone(), kept.session);
        let mut app = Self {
            has_mouse: settings.mouse,
            settings_read: USER_SETTINGS.iter().map(|setting| (setting.current)(&settings)).collect(),
            cx: AppContext {
                place,
                settings,
                theme,
                alert_json,
                operator,
                now,
                covered: false,
                held_back: false,
                leaving: false,
                ledger,
                runs: Runs::default(),
                reminders: Reminders::begun(now),
                export: None,
                last_made: None,
                unfinished: Unfinished::default(),
                contradicted: Vec::new(),
                unkept: UnsavedDrafts::of(kept.keeps_nothing),
                answer_drafts: AnswerDraftList::of(kept.answer_drafts),
                notes: NoteList::of(kept.notes, kept.note_drafts),
                snoozes,
                views,
                toasts: Toasts::default(),
                said: false,
                journal: JournalReading::begun(kept.session.is_some(), now),
                known: KnownAlerts::default(),
                failed_calls: FailedCalls::default(),
                desk_due: kept.keeps_nothing.then(|| now + DESK_AGAIN),
                writes: WriteCheck::from(operator.then_some(now)),
                next_console: None,
            },
            clock,
            area,
            more_notes: 0,
            screens: Screens {
                current: ScreenName::Queue,
                queue,
                insights: InsightsScreen::new(operator),
                webhooks: WebhooksScreen::new(operator),
                activity: ActivityScreen::new(operator),
                settings: SettingsScreen::new(operator),
            },
            seeking: None,
            reopening: None,
            dialogs: Vec::new(),
            waiting: VecDeque::new(),
            title: String::new(),
            targets: ClickTargets::default(),
            kept: Layout::default(),
            dirty: true,
        };
        app.kept = app.screens.queue.kept();
        if operator {
            app.cx.unfinished.changed(now);
        }
        if let Some(said) = app.take_left(kept.left) {
            app.dialogs.push(ask(said));
        }
        for trouble in kept.troubles {
            app.cx.notify(Tone::Bad, trouble);
        }
        (app, effects)
    }

    /// Takes a message in and says what is to be done.
    pub fn update(&mut self, message: Message) -> Vec<Effect> {
        // Terminals tell of every cell the mouse passes over; none of it means anything here.
        if matches!(&message, Message::Input(Event::Mouse(mouse)) if mouse.kind == MouseEventKind::Moved) {
            return Vec::new();
        }
        self.cx.now = self.clock.now();
        let closed = resolving::closed_unseen(&mut self.cx);
        if let Some(missed) = self.cx.ledger.adjust_for_clock(self.cx.now) {
            let (undo, went_by) = (self.cx.key(Action::Undo), times::short(self.cx.now + missed - self.cx.now));
            let words = format!("The console slept for {went_by}. Queued answers keep their undo time ({undo} undo).");
            self.cx.notify(Tone::Note, words);
        }
        self.dirty = true;
        let mut effects = match message {
            Message::Input(event) => self.input(event),
            message => self.deliver(message),
        };
        effects.extend(self.carry_out(closed));
        // Whoever leaves waits for what is on its way to the disk.
        self.cx.unkept.watch(&effects);
        let due = self.run_due();
        self.cx.unkept.watch(&due);
        effects.extend(due);
        let opened = self.open_reopened();
        effects.extend(self.carry_out(opened));
        self.follow_journal(&mut effects);
        self.dialogs.iter_mut().for_each(|dialog| dialog.refresh(&self.cx));
        effects
    }

    /// Hands a message to whoever it is for: open dialogs hear of everything, then the application or one screen takes
    /// it.
    fn deliver(&mut self, message: Message) -> Vec<Effect> {
        self.cx.known.hear(&message);
        self.cx.unkept.hear(&message);
        self.cx.failed_calls.hear(&message, self.cx.now);
        self.hear_reminders(&message);
        self.found_answered(message.alerts());
        let changed = resolving::seen(message.alerts(), &mut self.cx);
        let cx = &mut self.cx;
        let heard: Tasks = self.dialogs.iter_mut().flat_map(|dialog| dialog.update(&message, cx)).collect();
        let outcome = match message {
            Message::Tick => Vec::new(),
            Message::Suspend => suspend(cx),
            Message::Continued => vec![Effect::Redraw.into()],
            Message::TextKept(_, Ok(())) => Vec::new(),
            Message::DeskFailed(words) | Message::TextKept(_, Err(words)) => {
                cx.writes.probe_soon(cx.now);
                cx.notify(Tone::Bad, format!("Not saved: {words}"));
                Vec::new()
            }
            Message::NoteKept(note, answer) => dialogs::note_form::kept(*note, answer, cx),
            Message::PreflightResult(key, result) => resolving::checked(key, result, cx),
            Message::Resolved(key, answer) => resolving::answered(key, answer, cx),
            Message::LookedUp(key, found) => resolving::looked_up(key, found, cx),
            Message::ResultSet(attempt, id, applied, answer) => resolving::result_set(attempt, id, applied, answer, cx),
            Message::Unfinished(answer) => {
                resolving::listed_unfinished(answer, cx);
                run(cx.unnamed().into_iter().map(Effect::Get).collect())
            }
            Message::Contradictions(answer) => {
                answer.into_iter().for_each(|contradicted| cx.contradicted = contradicted);
                Vec::new()
            }
            Message::ContradictionsDismissed(alert, answer) => {
                match answer {
                    Ok(()) => cx.contradicted.retain(|contradicted| contradicted.alert != alert),
                    Err(error) => cx.notify(Tone::Bad, format!("Not dismissed: {error}.")),
                }
                Vec::new()
            }
            Message::Exporting(written, total) => {
                if let Some(export) = &mut cx.export {
                    (export.written, export.total) = (written, Some(total));
                }
                Vec::new()
            }
            Message::Exported(path, result) => {
                dialogs::export::ended(&path, result, cx);
                Vec::new()
            }
            // A form that was waited for does not open under other keys.
            Message::BegunRead(draft, answer)
                if self.dialogs.is_empty() && self.screens.current == ScreenName::Queue =>
            {
                dialogs::answer_form::begun(draft, answer, cx)
            }
            Message::RulesRead(answer) => rules_taken(answer, cx),
            Message::NotBrowsed(address, why) => dialogs::alert_menus::not_opened(address, &why, cx),
            Message::JournalRead(answer) => {
                self.journal_read(answer);
                Vec::new()
            }
            Message::Seek(alert) => self.seek(alert, false),
            Message::OpenCase(alert) => self.seek(alert, true),
            Message::Reopen(said) => self.reopen(&said),
            Message::ChangeSetting(setting, value) => self.change_setting(setting, value),
            Message::SettingsRead(answer) => self.take_settings(answer),
            Message::SettingKept(setting, answer) => {
                self.kept_setting(setting, answer);
                Vec::new()
            }
            Message::OpenConsole(next) => {
                self.cx.next_console = Some(next);
                run(self.quit())
            }
            Message::DeskOpened(answer) => self.desk_opened(answer),
            Message::Written(answer) => {
                if cx.writes.answered(answer, cx.now) {
                    cx.notify(Tone::Good, "Answers can be recorded again.");
                }
                Vec::new()
            }
            message => {
                if let Message::Changed(Ok(_)) = &message {
                    cx.unfinished.changed(cx.now);
                    cx.ledger.poll_now(cx.now);
                    self.screens.webhooks.changed(cx.now);
                    self.screens.activity.changed(cx.now);
                }
                let found = self.hear_of_alert(&message);
                let mut outcome = self.screens.get_mut(self.screens.addressee(&message)).update(message, &mut self.cx);
                outcome.extend(found);
                outcome
            }
        };
        let mut effects = self.carry_out(outcome);
        effects.extend(self.carry_out(heard));
        effects.extend(self.carry_out(changed));
        effects
    }

    /// Takes in that the desk was opened to be written, under this name in its journal, or that it still cannot be.
    pub(super) fn desk_opened(&mut self, answer: Result<(Uuid, Leftovers), String>) -> Tasks {
        let cx = &mut self.cx;
        let Ok((session, mut left)) = answer else {
            cx.desk_due = Some(cx.now + DESK_AGAIN);
            return Vec::new();
        };
        // The journal has nothing of this console yet.
        cx.ledger.kept_from(session);
        cx.journal.again(cx.now);
        cx.unkept.keeps_again();
        let mut tasks = run(cx.keep_again());
        cx.notify(Tone::Good, "This computer's files can be written again. Everything is saved.");
        // What was decided here on an alert is the newer one.
        left.unanswered.retain(|left| cx.ledger.of(left.said.alert.id).is_none());
        tasks.extend(self.take_left(left).map(|said| Task::OpenNext(ask(said))));
        tasks
    }

    /// Takes in what earlier consoles left unfinished; what is to be said of it.
    pub(super) fn take_left(&mut self, left: Leftovers) -> Option<EarlierSession> {
        let cx = &mut self.cx;
        for left in &left.unanswered {
            cx.ledger.adopt(left, cx.now);
        }
        cx.ledger.know_unsent(&left.unsent, cx.now);
        (!left.is_empty()).then_some(EarlierSession(left))
    }

    pub(super) fn carry_out(&mut self, outcome: Tasks) -> Vec<Effect> {
        let mut effects = Vec::new();
        for task in outcome {
            match task {
                Task::Run(effect) => effects.push(*effect),
                Task::Send(message) => effects.extend(self.deliver(*message)),
                Task::Act(action) => effects.extend(self.act(action)),
                Task::Choose(action) => effects.extend(self.choose(action)),
                Task::Open(dialog) => self.dialogs.push(dialog),
                Task::OpenNext(dialog) => self.waiting.push_back(dialog),
                Task::Close => drop(self.dialogs.pop()),
                Task::Leave => effects.extend(self.abandon()),
            }
        }
        effects
    }

    /// Does what follows from whatever happened, and what is due.
    fn run_due(&mut self) -> Vec<Effect> {
        let now = self.cx.now;
        self.cx.toasts.expire(now);
        self.hold_back();
        let mut effects: Vec<Effect> = snooze_menu::end_due(&mut self.cx);
        let cx = &self.cx;
        self.dialogs.retain(|dialog| !dialog.is_stale(cx));
        self.waiting.retain(|dialog| !dialog.is_stale(cx));
        self.open_next();
        // What was looked at leaves first: did others take its turn, its look would grow old.
        let leaving = self.cx.ledger.leave(now);
        effects.extend(self.cx.write_journal());
        let send =
            |decision: PendingDecision| Effect::Resolve(decision.key, decision.alert.id, decision.request(), now);
        effects.extend(leaving.into_iter().map(send));
        let checks = self.cx.ledger.due_checks(now).into_iter();
        effects.extend(checks.map(|(key, check)| Effect::Preflight(key, Box::new(check))));
        let cx = &mut self.cx;
        let left = cx.runs.take_left(|number| cx.ledger.not_left().any(|decision| decision.together == Some(number)));
        effects.extend(left.into_iter().map(|id| Effect::Keep(Keep::NoAnswerDraft(id))));
        effects.extend(self.cx.ledger.polls(now).into_iter().map(|(key, id)| Effect::LookUp(key, id)));
        if self.cx.unfinished.take_due(now) {
            effects.push(Effect::Unfinished);
        }
        for (name, ..) in ScreenName::ALL {
            if self.is_running(name) {
                let outcome = self.screens.get_mut(name).update(Message::Tick, &mut self.cx);
                effects.extend(self.carry_out(outcome));
            }
        }
        if self.cx.writes.take_due(now) {
            // What contradicts an answer comes days later: once a minute is enough.
            effects.extend([Effect::TryWriting, Effect::Contradictions]);
        }
        if self.cx.desk_due.take_if(|due| *due <= now).is_some() {
            effects.push(Effect::OpenDesk);
        }
        effects.extend(self.remind());
        let layout = self.screens.queue.kept();
        if layout != self.kept {
            effects.push(Effect::Keep(Keep::Layout(layout.clone())));
            self.kept = layout;
        }
        if self.cx.leaving && self.cx.ledger.is_at_rest() && !self.cx.unkept.is_coming() {
            effects.extend(self.leave_or_ask());
        }
        self.make_room_for_notes();
        effects
    }

    /// Opens the dialog that waits for its turn, where none is open.
    pub(super) fn open_next(&mut self) {
        if self.dialogs.is_empty() {
            self.dialogs.extend(self.waiting.pop_front());
        }
        self.cx.covered = !self.dialogs.is_empty();
    }

    fn is_running(&self, name: ScreenName) -> bool {
        name == self.screens.current || self.screens.get(name).runs_hidden()
    }

    /// Notes hide no row: where they need more than the line that is kept for them, the screen above gets shorter.
    fn make_room_for_notes(&mut self) {
        let more = u16::try_from(self.notes(self.area.width).len().saturating_sub(1)).unwrap_or(0);
        if more != self.more_notes {
            self.more_notes = more;
            self.resize(self.area);
        }
    }

    /// The lines above the footer: what lasts, then what is new.
    pub(super) fn notes(&self, width: u16) -> Vec<NoteLine> {
        let told = self.dialogs.last().and_then(|dialog| dialog.tells_fate(&self.cx));
        self.cx.toasts.lines(told.as_deref(), self.lasting_note().as_deref(), width)
    }

    /// When [`Message::Tick`] is wanted next. Nothing that can be seen changes by itself before that.
    pub fn next_wake(&self) -> Timestamp {
        let cx = &self.cx;
        let running = ScreenName::ALL.into_iter().filter(|(name, ..)| self.is_running(*name));
        let screens = running.filter_map(|(name, ..)| self.screens.get(name).next_due());
        let others = [
            self.next_header(),
            cx.ledger.next_wake(cx.now),
            cx.unfinished.next_wake(),
            cx.toasts.next_wake(),
            cx.writes.next_due(),
            cx.desk_due,
            cx.journal.next_wake(),
            self.next_reminder(),
            cx.snoozes.next_wake(),
        ];
        let closing = self
            .screens
            .queue
            .closing(cx.now)
            .into_iter()
            .chain(self.dialogs.iter().filter_map(|dialog| dialog.next_due()));
        others
            .into_iter()
            .flatten()
            .chain(screens)
            .chain(closing)
            .fold(cx.now + until_next_minute(cx.now), Timestamp::min)
    }

    /// Returns true where there is something to draw that was not drawn yet; it counts as drawn from now on.
    pub fn take_dirty(&mut self) -> bool {
        std::mem::take(&mut self.dirty)
    }

    /// The console that is to be opened after this one.
    pub fn next_console(&self) -> Option<&NextConsole> {
        self.cx.next_console.as_ref()
    }

    /// The Queue screen.
    pub fn queue(&self) -> &Queue {
        &self.screens.queue
    }

    /// Returns the ledger of every answer.
    pub fn ledger(&self) -> &Ledger {
        &self.cx.ledger
    }

    /// Takes a new size.
    pub(super) fn resize(&mut self, area: Rect) {
        self.area = area;
        for (name, ..) in ScreenName::ALL {
            self.screens.get_mut(name).resize(area, self.more_notes);
        }
    }

    /// Does what a key, a click or the help asks for.
    pub(super) fn act(&mut self, action: Action) -> Vec<Effect> {
        let (open, means_something) = (self.dialogs.len(), self.why_idle(action).is_none());
        self.cx.said = false;
        match action {
            // Whoever let decisions wait wants to be asked once more.
            Action::Refresh => self.cx.ledger.ask_again(),
            Action::Back => self.cx.toasts.clear(),
            _ => {}
        }
        let outcome = match action {
            Action::Undo => resolving::undo(&mut self.cx),
            Action::Mouse => {
                self.has_mouse = !self.has_mouse;
                let words = if self.has_mouse { "Mouse on." } else { "Mouse off: select text with the terminal." };
                self.cx.notify(Tone::Note, words);
                vec![Effect::Mouse(self.has_mouse).into()]
            }
            Action::Suspend => suspend(&mut self.cx),
            Action::Quit => return self.quit_for_good(),
            Action::Help => self.palette(),
            action if self.screens.current == ScreenName::Queue && self.screens.queue.is_on_former_rows(action) => {
                self.cx.hint(ANOTHER_LIST);
                Vec::new()
            }
            action => match ScreenName::of(action) {
                Some(name) if name == self.screens.current => Vec::new(),
                Some(name) => {
                    self.screens.current = name;
                    self.cx.toasts.drop_notes();
                    vec![Message::Shown.into()]
                }
                None => match dialogs::open(action, &mut self.screens, &mut self.cx) {
                    Some(outcome) => outcome,
                    None => vec![Message::Act(action).into()],
                },
            },
        };
        let effects = self.carry_out(outcome);
        if effects.is_empty() && !self.cx.said && self.dialogs.len() == open && !means_something {
            self.say_nothing_done(action);
        }
        effects
    }
}

/// Takes the rules in; where their file is wrong, the earlier ones stay.
fn rules_taken(answer: Result<ReadRules, String>, cx: &mut AppContext) -> Tasks {
    match answer {
        Ok(ReadRules { rules, place }) => {
            cx.notify(Tone::Good, format!("Read again: {}.", counted(rules.len() as u64, "rule", "rules")));
            (cx.settings.rules, cx.settings.rules_in) = (rules.into(), Some(place));
            vec![Message::RulesTaken.into()]
        }
        Err(why) => {
            cx.notify(Tone::Bad, format!("The earlier rules stay: {why}"));
            Vec::new()
        }
    }
}

/// Stops the console, where somebody can continue it.
fn suspend(cx: &mut AppContext) -> Tasks {
    if cx.place.unstoppable {
        cx.notify(Tone::Note, "No shell to go back to.");
        return Vec::new();
    }
    vec![Effect::Suspend.into()]
}
