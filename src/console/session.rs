//! Parameters of a console: the service, session facts, preferences, what the desk kept; and errors by which it ends.

use std::{
    collections::HashMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use uuid::Uuid;

use super::{
    keymap::Keymap,
    reminders::ReminderSettings,
    setting::{ProfileDirectory, RulesFile, SettingOverride, SettingsKeeper},
    text::sanitize,
    theme::ThemeName,
    times::Zone,
};
use crate::{
    desk::{
        AlertRecords, AnswerDraft, Layout, Leftovers, Note, OrderOwner, SavedView, SnoozedAlert, links::LinkTemplates,
    },
    domain::{
        Alert, AlertId, Calendar, Dialect, Environment, MAX_PAGE_SIZE, Timestamp, rule::DecisionRule, time::SharedClock,
    },
    service::Deployment,
};

/// Writes an alert as the interface does, for copying it.
pub type AlertJson = Arc<dyn Fn(&Alert, Timestamp) -> String + Send + Sync>;

/// The configuration of a console's session.
#[derive(Clone)]
pub struct Session {
    /// The service to work on.
    pub deployment: Deployment,
    pub clock: SharedClock,
    pub place: SessionInfo,
    pub settings: Preferences,
    /// Where views, drafts and the look of the screen are kept; nowhere means they end with the console.
    pub desk_dir: Option<PathBuf>,
    /// Writes an alert as the interface does.
    pub alert_json: AlertJson,
    /// Writes alerts as exports do.
    pub alert_records: AlertRecords,
    /// Reason for which no log is written, where that is so.
    pub log_trouble: Option<String>,
    /// Where the rules are; nothing where there is no file of them.
    pub rules: Option<Arc<dyn RulesFile>>,
    /// Where the profiles are; nothing where none can be opened from here.
    pub profiles: Option<Arc<dyn ProfileDirectory>>,
    /// The keeper of changed settings; none where they are not kept.
    pub keeper: Option<Arc<dyn SettingsKeeper>>,
}

/// The console that is opened when one is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextConsole {
    /// That of a profile, by its name.
    Profile(String),
    /// That of another organization of the same engine, by its name.
    Organization(String),
}

/// Facts of the session for the header.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionInfo {
    /// The profile's or organization's name.
    pub name: String,
    /// Environment that decisions reach; none where nobody has said it.
    pub environment: Option<Environment>,
    /// A throwaway engine with made-up alerts.
    pub demo: bool,
    /// Another deployment, reached by HTTP: a decision waits while it does not answer.
    pub remote: bool,
    /// Nothing may be sent from here: the deployment refuses it, and says so.
    pub read_only: bool,
    /// Nobody would continue the console if it stopped: it is the first program of its terminal.
    pub unstoppable: bool,
    /// In whose words decisions are given.
    pub dialect: Dialect,
    /// The analyst's name, where it is known.
    pub user: Option<String>,
    /// Facts of this console and its service for the Settings screen: label and words.
    pub facts: Vec<(&'static str, String)>,
    /// The other profiles that a console can be opened on from here.
    pub profiles: Vec<String>,
    /// The other organizations of the same engine that one can be opened on from here.
    pub organizations: Vec<String>,
    /// Owner of the shop's orders on this desk, where there may be those of several organizations.
    pub order_owner: Option<OrderOwner>,
    /// The shell's command that reads the alert `{id}`; it names the credential by a variable.
    pub curl: Option<String>,
}

impl SessionInfo {
    /// Returns true where decisions given here may reach the real world, as far as it is known.
    pub fn may_be_production(&self) -> bool {
        self.environment != Some(Environment::Sandbox) && !self.demo
    }

    /// Returns true where decisions given here are known to reach the real world.
    pub fn is_production(&self) -> bool {
        self.environment == Some(Environment::Production) && !self.demo
    }
}

/// Preferences of the console's user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preferences {
    /// The theme by name; none means what the terminal's background calls for.
    pub theme: Option<ThemeName>,
    /// Undo time of a decision before it leaves; zero for none.
    pub undo_window: Duration,
    /// Interval of reading a list again where nobody tells of changes; none is the usual one.
    pub refresh: Option<Duration>,
    /// Number of alerts of a list that are asked for at once.
    pub page_size: u32,
    pub mouse: bool,
    pub keymap: Keymap,
    /// The rules that suggest decisions, in the order in which they are asked.
    pub rules: Arc<[DecisionRule]>,
    /// Where the rules are, in words.
    pub rules_in: Option<String>,
    /// The analyst's own time zone.
    pub zone: Zone,
    /// True where moments are told in UTC.
    pub utc: bool,
    /// True where nothing is drawn but words and signs, for screen readers.
    pub plain: bool,
    /// Settings of reminders.
    pub reminders: ReminderSettings,
    /// Where orders, payments and portals are.
    pub links: LinkTemplates,
    /// True where a browser can be opened from here.
    pub browses: bool,
    /// Where files are written whose path does not say it.
    pub files: PathBuf,
    /// The directory of `~` in the path of a file.
    pub home: Option<PathBuf>,
    /// True where the terminal has more than 256 colours.
    pub has_all_colors: bool,
    /// The file in which changes of settings are kept; none where they are not.
    pub kept_in: Option<PathBuf>,
    /// Settings that are stronger than that file here.
    pub overrides: Vec<SettingOverride>,
}

impl Default for Preferences {
    fn default() -> Self {
        Self {
            theme: None,
            undo_window: Duration::from_secs(5),
            refresh: None,
            page_size: MAX_PAGE_SIZE,
            mouse: true,
            keymap: Keymap::default(),
            rules: Arc::default(),
            rules_in: None,
            zone: Zone::Machine,
            utc: false,
            plain: false,
            reminders: ReminderSettings::default(),
            links: LinkTemplates::default(),
            browses: false,
            files: PathBuf::new(),
            home: None,
            has_all_colors: true,
            kept_in: None,
            overrides: Vec::new(),
        }
    }
}

impl Preferences {
    /// The time zone of every moment on the screen.
    pub fn times(&self) -> Zone {
        if self.utc { Zone::Utc } else { self.zone }
    }

    /// Returns a path in words; home is `~`.
    pub fn path_words(&self, path: &Path) -> String {
        let below_home = self.home.as_ref().and_then(|home| path.strip_prefix(home).ok());
        let path = below_home.map_or_else(|| path.to_owned(), |below| Path::new("~").join(below));
        sanitize(&path.display().to_string()).into_owned()
    }

    /// The analyst's own days.
    pub fn calendar(&self, now: Timestamp) -> Calendar {
        Calendar::at(self.times().offset(now))
    }
}

/// A console error: why it ended otherwise than by its user.
#[derive(Debug, thiserror::Error)]
pub enum ConsoleError {
    /// There is no terminal to draw on and to read keys from.
    #[error("this needs a terminal: standard input and output must both be one")]
    NoTerminal,
    /// The terminal is gone.
    #[error("the terminal is gone: {error}{lost}")]
    TerminalGone {
        /// The terminal's error.
        error: io::Error,
        /// What is lost with it, in words; empty for nothing.
        lost: String,
    },
    /// The process was told to end.
    #[error("ended by {signal}{lost}")]
    Terminated { signal: &'static str, lost: String },
    /// An error of avert's own; the terminal was given back and the report was named already.
    #[error("avert stopped on an error of its own")]
    Crashed,
}

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
}
