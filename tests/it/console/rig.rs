//! The application on a fake service without a loop: effects are done at once, or held back and let go one by one.

use std::{
    collections::{HashSet, VecDeque},
    path::PathBuf,
    sync::{Arc, LazyLock},
    time::Duration as Wait,
};

use avert::{
    console::{
        Preferences, Session, SessionInfo,
        app::{App, DeskState},
        message::{Effect, Keep, Message},
        perform::{kept, match_orders, perform},
        reminders::ReminderSettings,
        runner::keep_on,
        setting::{ListedProfile, ReadRules, SettingOverride},
        theme::{Theme, ThemeName},
        times::Zone,
        views::View,
        workstation::export_list,
    },
    desk::{AlertRecords, BuiltIn, Desk, Fate, JournalEntry, JournalStep, links::LinkTemplates},
    domain::{Alert, AlertFilter, AlertId, Calendar, Environment, RefundProof, rule::parse_rules, time::Clock},
    service::Deployment,
    wire,
};
use chrono::{Duration, FixedOffset};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use futures::executor::block_on;
use ratatui::{Terminal, backend::TestBackend, buffer::Buffer};
use tokio::runtime::{Builder, Handle, Runtime};

use super::fake::{Fake, morning};
use crate::support::clock::ManualClock;

/// Where timers are made.
static TIMERS: LazyLock<Runtime> = LazyLock::new(|| Builder::new_current_thread().enable_time().build().unwrap());

pub const NOW: &str = "2026-11-20T14:03:00Z";

/// The sizes that pictures are taken at.
pub const SIZES: [(u16, u16); 2] = [(80, 24), (120, 40)];

/// The screen of a state at each size, and the size as the name of its picture has it.
pub fn screens(state: impl Fn((u16, u16)) -> Rig) -> impl Iterator<Item = (String, String)> {
    SIZES.into_iter().map(move |size| (format!("{}x{}", size.0, size.1), state(size).screen()))
}

/// Holds the screens of a state to the pictures of this name, one for each size. Pictures are kept by the room that
/// asks, hence a macro.
macro_rules! assert_screens {
    ($name:expr, $screens:expr) => {
        for (size, screen) in $screens {
            insta::assert_snapshot!(format!("{}@{size}", $name), screen);
        }
    };
}
pub(super) use assert_screens;

/// The application and what surrounds it.
pub struct Rig {
    pub app: App,
    pub clock: Arc<ManualClock>,
    pub service: Arc<Fake>,
    deployment: Deployment,
    terminal: Terminal<TestBackend>,
    /// Effects on the terminal and the desk, in their order.
    pub done: Vec<Effect>,
    /// Whether list answers are held back.
    pub holding: bool,
    /// Whether the answers of searches, for duplicates too, are held back.
    pub holding_searches: bool,
    /// Whether last looks are held until [`Rig::release`].
    pub holding_looks: bool,
    held: VecDeque<Effect>,
    /// The answers that were looked at, and have not left since.
    looked_at: HashSet<u64>,
    watching: bool,
    desk: Option<Desk>,
    /// What comes of keeping a setting.
    pub keeping: Result<(), String>,
    /// What comes of keeping anything else.
    pub desk_answers: Result<(), String>,
    /// What the file of rules says by now.
    pub rules_now: Result<&'static str, String>,
    /// The profiles there are by now.
    pub profiles_now: Result<Vec<ListedProfile>, String>,
}

/// How a rig is made.
pub struct Made {
    pub alerts: Vec<Alert>,
    pub size: (u16, u16),
    pub place: SessionInfo,
    pub undo_window: Wait,
    /// How often a list is read again, where that was chosen.
    pub refresh: Option<Wait>,
    pub operator: bool,
    pub kept: DeskState,
    pub down: bool,
    pub holding: bool,
    pub deployment: Option<Deployment>,
    /// Ids of the credentials that the console itself uses.
    pub own: Vec<String>,
    /// Where the shop's orders are, if there are any.
    pub desk: Option<Desk>,
    /// The text of the rules that suggest decisions.
    pub rules: &'static str,
    /// How it calls; for nothing, unless a test is about that.
    pub reminders: ReminderSettings,
    pub links: LinkTemplates,
    pub browses: bool,
    /// Where files are written.
    pub files: PathBuf,
    /// The settings file, where changes are kept.
    pub kept_in: Option<PathBuf>,
    /// What is stronger than it.
    pub overrides: Vec<SettingOverride>,
    /// Whether moments are told in UTC.
    pub utc: bool,
    /// Whether it is drawn without lines and blocks.
    pub plain: bool,
    /// The profiles of this user.
    pub profiles: Vec<ListedProfile>,
}

impl Default for Made {
    fn default() -> Self {
        Self {
            alerts: morning(clock().now()),
            size: (120, 40),
            place: SessionInfo {
                name: "acme-eu".to_owned(),
                environment: Some(Environment::Production),
                ..SessionInfo::default()
            },
            undo_window: Wait::from_secs(5),
            refresh: None,
            operator: true,
            kept: DeskState::default(),
            down: false,
            holding: false,
            deployment: None,
            own: Vec::new(),
            desk: None,
            rules: "",
            reminders: ReminderSettings {
                bell: true,
                title: false,
                before: Duration::zero(),
                ..ReminderSettings::default()
            },
            links: LinkTemplates::default(),
            browses: false,
            files: PathBuf::from("/nowhere"),
            kept_in: Some(PathBuf::from("/home/omar/.config/avert/config.toml")),
            overrides: Vec::new(),
            utc: true,
            plain: false,
            profiles: Vec::new(),
        }
    }
}

pub fn clock() -> Arc<ManualClock> {
    ManualClock::at(NOW)
}

impl Made {
    pub fn of(alerts: Vec<Alert>) -> Self {
        Self { alerts, ..Self::default() }
    }

    /// Starts the application and answers what it asks first.
    pub fn start(self) -> Rig {
        let clock = clock();
        let service = Fake::with(self.alerts, clock.clone());
        service.own.lock().unwrap().extend(self.own);
        if self.down {
            service.set_down(Some(avert::service::ServiceError::Unavailable("the database is busy".to_owned())));
        }
        let deployment = self
            .deployment
            .unwrap_or_else(|| if self.operator { service.deployment() } else { service.plain_deployment() });
        let deployment = if self.place.read_only { deployment.read_only() } else { deployment };
        let dialect = self.place.dialect;
        let zone = Zone::Fixed(FixedOffset::east_opt(4 * 3600).unwrap());
        let session = Session {
            deployment: deployment.clone(),
            place: self.place,
            settings: Preferences {
                undo_window: self.undo_window,
                refresh: self.refresh,
                rules: parse_rules(self.rules).unwrap().into(),
                rules_in: Some("/home/omar/.config/avert/rules.txt".to_owned()),
                kept_in: self.kept_in,
                overrides: self.overrides,
                zone,
                reminders: self.reminders,
                links: self.links,
                browses: self.browses,
                home: Some(self.files.clone()),
                files: self.files,
                utc: self.utc,
                plain: self.plain,
                ..Preferences::default()
            },
            desk_dir: None,
            clock: clock.clone(),
            alert_json: Arc::new(move |alert, now| String::from_utf8(wire::write::alert(alert, dialect, now)).unwrap()),
            alert_records: records(),
            log_trouble: None,
            rules: None,
            profiles: None,
            keeper: None,
        };
        let (app, first) = App::new(session, Theme::named(ThemeName::Dark), self.kept, self.size);
        let terminal = Terminal::new(TestBackend::new(self.size.0, self.size.1)).unwrap();
        let mut rig = Rig {
            app,
            clock,
            service,
            deployment,
            terminal,
            done: Vec::new(),
            holding: self.holding,
            holding_searches: false,
            holding_looks: false,
            held: VecDeque::new(),
            looked_at: HashSet::new(),
            watching: false,
            desk: self.desk,
            keeping: Ok(()),
            desk_answers: Ok(()),
            rules_now: Ok(self.rules),
            profiles_now: Ok(self.profiles),
        };
        rig.perform(first);
        // The cursor rests, and what is asked around its alert comes.
        rig.advance(Duration::milliseconds(400));
        rig
    }
}

impl Rig {
    pub fn new(alerts: Vec<Alert>) -> Self {
        Made::of(alerts).start()
    }

    /// Goes to a built-in view.
    /// Lists other alerts, as the form of filters does.
    pub fn list(&mut self, filter: AlertFilter) {
        let sort = self.app.queue().sort();
        self.update(Message::List(filter, sort));
        self.advance(Duration::milliseconds(500));
    }

    pub fn show_view(&mut self, view: BuiltIn) {
        let vocabulary = self.deployment.vocabulary;
        let view = View::built_in(view, vocabulary, self.clock.now(), Calendar::UTC);
        self.update(Message::ShowView(view));
    }

    /// Hands the application a message and does what it wants, until nothing is left to do.
    pub fn update(&mut self, message: Message) {
        let effects = self.app.update(message);
        self.perform(effects);
        self.assert_journal_agrees();
    }

    /// What the journal tells of each answer on its way is what the console does with it.
    fn assert_journal_agrees(&self) {
        for decision in self.app.ledger().all() {
            let Some(record) = self.app.ledger().history().record(&decision.journal_key()) else { continue };
            // One that another console sent is looked up here.
            let fate = decision.fate();
            let is_adopted = fate == Fate::Unconfirmed && record.fate() == Fate::Sending;
            assert!(is_adopted || record.fate() == fate, "{fate:?} is {record:?}");
        }
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        let mut queue = VecDeque::from(effects);
        while let Some(effect) = queue.pop_front() {
            let searches = self.holding_searches && matches!(effect, Effect::SameCards(_) | Effect::Find(_));
            let looks = self.holding_looks && matches!(effect, Effect::Preflight(..));
            if searches
                || looks
                || self.holding
                    && matches!(
                        effect,
                        Effect::Load(_)
                            | Effect::Resolve(..)
                            | Effect::CreateCredential(_)
                            | Effect::TestEndpoint(_)
                            | Effect::Export(..)
                    )
            {
                self.held.push_back(effect);
                continue;
            }
            if let Some(message) = self.answer(effect) {
                queue.extend(self.app.update(message));
            }
        }
    }

    /// Does one effect; its answer, where it has one now.
    fn answer(&mut self, effect: Effect) -> Option<Message> {
        match effect {
            Effect::Watch(..) => {
                self.watching = true;
                None
            }
            Effect::ReadJournal => {
                let journal = self.desk.as_ref().and_then(Desk::journal)?;
                Some(Message::JournalRead(journal.read().map_err(|error| error.to_string())))
            }
            Effect::Keep(what) => {
                if let (Keep::Journal(_), Some(desk)) = (&what, &self.desk) {
                    keep_on(desk, &what).unwrap();
                }
                let told = kept(&what, self.desk_answers.clone());
                self.done.push(Effect::Keep(what));
                told
            }
            Effect::GiveUpFind
            | Effect::OpenDesk
            | Effect::GiveUpExport
            | Effect::Browse(_)
            | Effect::Remind(_)
            | Effect::Title(_)
            | Effect::Copy(_)
            | Effect::Mouse(_)
            | Effect::Redraw
            | Effect::Suspend
            | Effect::Quit => {
                self.done.push(effect);
                None
            }
            Effect::KeepSetting(setting, _) => {
                self.done.push(effect);
                Some(Message::SettingKept(setting, self.keeping.clone()))
            }
            Effect::ListProfiles => Some(Message::Profiles(self.profiles_now.clone())),
            Effect::ReadRules => Some(Message::RulesRead(self.rules_now.clone().map(rules_of))),
            Effect::MatchOrders(asked, change) => Some(match_orders(self.desk.as_ref(), asked, change)),
            Effect::Export(request) => Some(block_on(export_list(&self.deployment, &records(), *request, |_| {}))),
            effect => {
                if let Effect::Preflight(key, _) = &effect {
                    self.looked_at.insert(*key);
                }
                if let Effect::Resolve(key, _, request, _) = &effect {
                    assert!(self.looked_at.remove(key), "looked at right before it leaves: {request:?}");
                    let is_its = |entry: &JournalEntry| {
                        entry.step == JournalStep::Sent && entry.decision == request.idempotency_key
                    };
                    assert!(self.entries().any(is_its), "written down before it leaves: {request:?}");
                }
                // What is bounded in time asks for a timer, which never comes here.
                let _timers = Handle::try_current().is_err().then(|| TIMERS.enter());
                block_on(perform(&self.deployment, self.desk.as_ref(), effect))
            }
        }
    }

    /// Lets the oldest held answer come.
    pub fn release_one(&mut self) {
        if let Some(effect) = self.held.pop_front()
            && let Some(message) = self.answer(effect)
        {
            self.update(message);
        }
    }

    /// Lets every held answer come, the oldest first, and holds nothing more back.
    pub fn release(&mut self) {
        self.holding = false;
        self.holding_searches = false;
        self.holding_looks = false;
        while !self.held.is_empty() {
            self.release_one();
        }
    }

    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// Changes the service's alerts; the console hears of it and loads again.
    pub fn change(&mut self, change: impl FnOnce(&mut Vec<Alert>)) {
        self.service.change(change);
        self.hear();
    }

    /// The console hears that something changed.
    pub fn hear(&mut self) {
        if self.watching {
            self.update(Message::Changed(Ok(2)));
        }
        self.advance(Duration::milliseconds(400));
    }

    /// Time goes by, with a tick wherever the application wants one.
    pub fn advance(&mut self, by: Duration) {
        let end = self.clock.now() + by;
        // Each tick moves the next wish, so this comes to its end.
        while self.app.next_wake() <= end {
            let wake = self.app.next_wake().max(self.clock.now());
            self.clock.advance(wake - self.clock.now());
            let before = self.app.next_wake();
            self.update(Message::Tick);
            assert!(
                self.app.next_wake() > before || self.app.next_wake() > wake,
                "a tick settles what it was wanted for"
            );
        }
        self.clock.advance(end - self.clock.now());
        self.update(Message::Tick);
    }

    /// Presses keys: letters as they are, others by name (`enter`, `ctrl-s`).
    pub fn press(&mut self, keys: &str) {
        for name in keys.split_whitespace() {
            self.update(Message::Input(Event::Key(key(name))));
        }
    }

    /// Does what the palette finds by these words.
    pub fn choose(&mut self, words: &str) {
        self.press(":");
        self.type_text(words);
        self.press("enter");
    }

    pub fn type_text(&mut self, text: &str) {
        for c in text.chars() {
            self.update(Message::Input(Event::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE))));
        }
    }

    /// Draws a frame.
    pub fn draw(&mut self) -> Buffer {
        let app = &mut self.app;
        self.terminal.draw(|frame| app.draw(frame)).unwrap();
        self.terminal.backend().buffer().clone()
    }

    /// The screen as text, blanks at the ends of lines left out.
    pub fn screen(&mut self) -> String {
        let buffer = self.draw();
        let area = buffer.area;
        let mut text = String::new();
        for y in area.y..area.bottom() {
            let mut line = String::new();
            let mut skip = 0;
            for x in area.x..area.right() {
                let symbol = buffer[(x, y)].symbol();
                if skip == 0 {
                    line.push_str(symbol);
                }
                skip =
                    if skip > 0 { skip - 1 } else { unicode_width::UnicodeWidthStr::width(symbol).saturating_sub(1) };
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    pub fn resize(&mut self, width: u16, height: u16) {
        self.terminal.backend_mut().resize(width, height);
        self.update(Message::Input(Event::Resize(width, height)));
    }

    /// The terminal shrinks, and the console has not heard of it yet.
    pub fn shrink_silently(&mut self, width: u16, height: u16) {
        self.terminal.backend_mut().resize(width, height);
    }

    pub fn click(&mut self, column: u16, row: u16) {
        self.mouse(MouseEventKind::Down(MouseButton::Left), column, row);
        self.mouse(MouseEventKind::Up(MouseButton::Left), column, row);
    }

    /// Clicks on the first place where the screen shows this text.
    pub fn click_on(&mut self, text: &str) {
        let screen = self.screen();
        let (row, line) =
            screen.lines().enumerate().find(|(_, line)| line.contains(text)).expect("the text is on the screen");
        let column = unicode_width::UnicodeWidthStr::width(&line[..line.find(text).unwrap()]);
        self.click(u16::try_from(column).unwrap(), u16::try_from(row).unwrap());
    }

    pub fn mouse(&mut self, kind: MouseEventKind, column: u16, row: u16) {
        self.update(Message::Input(Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE })));
    }

    /// The alert under the cursor.
    pub fn current(&self) -> AlertId {
        self.app.queue().listing.cursor_id.expect("an alert under the cursor")
    }

    /// The steps that it wrote into its journal.
    pub fn journaled(&self) -> Vec<JournalStep> {
        self.entries().map(|entry| entry.step.clone()).collect()
    }

    fn entries(&self) -> impl Iterator<Item = &JournalEntry> {
        let of = |effect| match effect {
            &Effect::Keep(Keep::Journal(ref entries)) => &entries[..],
            _ => &[],
        };
        self.done.iter().flat_map(of)
    }

    /// What it wrote into its journal as told, with the alerts that it names.
    pub fn told(&self) -> Vec<(String, Option<AlertId>)> {
        let told = self.journaled().into_iter().filter_map(|step| match step {
            JournalStep::Notified(told) => Some((told.words, told.alert.map(|alert| alert.id))),
            _ => None,
        });
        told.collect()
    }

    /// How often something was sent.
    pub fn sent(&self) -> usize {
        self.service.resolutions.lock().unwrap().len()
    }

    pub fn has_quit(&self) -> bool {
        self.done.contains(&Effect::Quit)
    }
}

/// Records of exported alerts: by their network's ids, with the references of their refunds.
pub fn records() -> AlertRecords {
    let record = |alert: &Alert, refund: Option<RefundProof>| {
        let refund = refund.map(|proof| format!(" {}", proof.reference)).unwrap_or_default();
        serde_json::json!({ "providerId": format!("{}{refund}", alert.provider_id) }).to_string()
    };
    AlertRecords { columns: vec!["providerId".to_owned()], record: Arc::new(record) }
}

/// A text of rules as it is read again.
fn rules_of(text: &str) -> ReadRules {
    ReadRules { rules: parse_rules(text).unwrap(), place: "/home/omar/.config/avert/rules.txt".to_owned() }
}

/// A key by its name.
pub fn key(name: &str) -> KeyEvent {
    let prefixes = [("ctrl-", KeyModifiers::CONTROL), ("alt-", KeyModifiers::ALT), ("shift-", KeyModifiers::SHIFT)];
    let prefixed = prefixes.into_iter().find_map(|(prefix, modifier)| Some((modifier, name.strip_prefix(prefix)?)));
    let (modifiers, rest) = prefixed.unwrap_or((KeyModifiers::NONE, name));
    let code = match rest {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "space" => KeyCode::Char(' '),
        "backspace" => KeyCode::Backspace,
        "delete" => KeyCode::Delete,
        "f1" => KeyCode::F(1),
        "f5" => KeyCode::F(5),
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "pageup" => KeyCode::PageUp,
        "pagedown" => KeyCode::PageDown,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        letter => KeyCode::Char(letter.chars().next().expect("a letter")),
    };
    KeyEvent::new(code, modifiers)
}
