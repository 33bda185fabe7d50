//! The terminal console: the alert that lapses next, what speaks against a plain answer to it, one decision, sent once, the next one.
//!
//! [`run`] takes the terminal, goes round the loop and gives the terminal back, whatever ends it. The loop waits for keys, messages and
//! the next moment something changes by itself; [`app::App::update`] turns each into effects; [`effects::Runner`] runs those on the
//! deployment, and their results come back as messages. A frame is drawn when nothing waits and something changed. The console
//! knows services, never an engine: what else it needs of one is handed to it in its [`Session`].

pub mod app;
mod credentials;
pub mod decisions;
pub mod draw;
pub mod effects;
pub mod event_loop;
pub mod hits;
pub mod keymap;
pub mod lean;
pub mod loadable;
pub mod look;
pub mod message;
mod mouse;
mod overlays;
pub mod pen;
mod resolving;
pub mod screens;
mod settling;
pub mod terminal;
pub mod text;
pub mod theme;
pub mod times;
pub mod toasts;
pub mod unsettled;
pub mod widgets;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::desk::{Desk, Draft};
use crate::domain::time::SharedClock;
use crate::domain::{Alert, AlertId, Dialect, Environment, Timestamp};
use crate::service::Deployment;

use app::Kept;
use keymap::Keymap;
use theme::{Theme, ThemeName};
use times::Zone;

/// Writes an alert as the interface does, for copying it.
pub type AlertJson = Arc<dyn Fn(&Alert, Timestamp) -> String + Send + Sync>;

/// Everything a console is opened with.
#[derive(Clone)]
pub struct Session {
    /// The service to work on.
    pub deployment: Deployment,
    /// The present.
    pub clock: SharedClock,
    /// Where one is.
    pub place: Place,
    /// How one likes it.
    pub settings: ConsoleSettings,
    /// Where views, drafts and the look of the screen are kept; nowhere means they end with the console.
    pub desk_dir: Option<PathBuf>,
    /// Writes an alert as the interface does.
    pub alert_json: AlertJson,
}

/// Where one is; the header always says it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The profile's or organization's name.
    pub name: String,
    /// Which of the service's two worlds.
    pub environment: Environment,
    /// A throwaway engine with made-up alerts.
    pub demo: bool,
    /// Nothing may be sent from here.
    pub read_only: bool,
    /// In whose words decisions are given.
    pub dialect: Dialect,
    /// What there is to know of this console and its service, for the Settings screen: label and words.
    pub facts: Vec<(String, String)>,
}

/// How one likes the console.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsoleSettings {
    /// The theme by name; none means what the terminal's background calls for.
    pub theme: Option<ThemeName>,
    /// How long a decision waits, and can be taken back, before it leaves; zero for not at all.
    pub grace: Duration,
    /// Whether the console takes the mouse.
    pub mouse: bool,
    /// The keys.
    pub keymap: Keymap,
    /// The analyst's own time.
    pub zone: Zone,
    /// Where the report of a crash is written.
    pub reports: PathBuf,
}

impl Default for ConsoleSettings {
    fn default() -> Self {
        Self {
            theme: None,
            grace: Duration::from_secs(5),
            mouse: true,
            keymap: Keymap::default(),
            zone: Zone::Machine,
            reports: std::env::temp_dir(),
        }
    }
}

/// Why the console ended otherwise than by its user.
#[derive(Debug, thiserror::Error)]
pub enum ConsoleError {
    /// There is no terminal to draw on and to read keys from.
    #[error("this needs a terminal: standard input and output must both be one")]
    NoTerminal,
    /// The terminal is gone.
    #[error("the terminal is gone: {error}{}", and_unsent(*.unsent))]
    TerminalGone {
        /// What it answered.
        error: io::Error,
        /// Decisions that had not left yet.
        unsent: usize,
    },
    /// The process was told to end.
    #[error("ended by {signal}{}", and_unsent(*.unsent))]
    Terminated {
        /// Its name.
        signal: &'static str,
        /// Decisions that had not left yet.
        unsent: usize,
    },
    /// An error of avert's own; the terminal was given back and the report was named already.
    #[error("avert stopped on an error of its own")]
    Crashed,
}

fn and_unsent(decisions: usize) -> String {
    match decisions {
        0 => String::new(),
        1 => "; a decision that had not left yet was taken back".to_owned(),
        many => format!("; {many} decisions that had not left yet were taken back"),
    }
}

/// Opens the console on a service and returns when its user leaves.
///
/// # Errors
/// When there is no terminal, or something other than the user ended the console. The terminal is given back in every case.
pub async fn run(session: Session) -> Result<(), ConsoleError> {
    if !terminal::is_there() {
        return Err(ConsoleError::NoTerminal);
    }
    let wanted = session.settings.theme;
    // Both ask the outside world and may take a while: the terminal for its colours, the disk for what was kept.
    let theme = tokio::task::spawn_blocking(move || terminal::pick_theme(wanted));
    let desk_dir = session.desk_dir.clone();
    let kept = tokio::task::spawn_blocking(move || open_desk(desk_dir));
    let theme = theme.await.unwrap_or_else(|_| Theme::named(ThemeName::Ansi));
    let (desk, kept) = kept.await.unwrap_or_default();
    event_loop::run(session, theme, desk, kept).await
}

/// Opens the desk and reads what it kept. What cannot be read is told and does not keep the console from opening.
fn open_desk(directory: Option<PathBuf>) -> (Option<Desk>, Kept) {
    let mut kept = Kept::default();
    let Some(directory) = directory else { return (None, kept) };
    let desk = match Desk::open(directory) {
        Ok(desk) => desk,
        Err(error) => {
            kept.troubles.push(error.to_string());
            return (None, kept);
        }
    };
    match desk.layout() {
        Ok(layout) => kept.layout = layout,
        Err(error) => kept.troubles.push(error.to_string()),
    }
    match desk.views().list() {
        Ok(views) => kept.views = views,
        Err(error) => kept.troubles.push(error.to_string()),
    }
    let drafts = || -> Result<Vec<(AlertId, Draft)>, crate::desk::DeskError> {
        desk.drafts().sweep(std::time::SystemTime::now())?;
        let drafts = desk.drafts();
        drafts.alerts()?.into_iter().filter_map(|id| drafts.get(id).map(|draft| draft.map(|draft| (id, draft))).transpose()).collect()
    };
    match drafts() {
        Ok(drafts) => kept.drafts = drafts.into_iter().collect(),
        Err(error) => kept.troubles.push(error.to_string()),
    }
    (Some(desk), kept)
}
