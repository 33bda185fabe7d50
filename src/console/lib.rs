//! The terminal console: the alert that lapses next, what speaks against a plain answer to it, one decision, sent once,
//! the next one.
//!
//! [`run`] takes the terminal, goes round the loop and gives the terminal back, whatever ends it. The loop waits for
//! keys, messages and the next moment something changes by itself; [`app::App::update`] turns each into effects;
//! [`runner::Runner`] runs those on the deployment, and their results come back as messages. A frame is drawn when
//! nothing waits and something changed. The console knows services, never an engine: what else it needs of one is
//! handed to it in its [`Session`].

use std::time::SystemTime;

use avert_desk as desk;
use avert_domain as domain;
use avert_service as service;
use avert_ui as ui;
use theme::ThemeName;

use crate::desk::{Desk, DeskAddress, DeskError, Journal};
pub use crate::ui::{
    ClickTargets, Pen, TextInput, Theme, compact_backend, pen, terminal, terminal_input, text, theme, widgets,
};
use app::DeskState;
pub use avert_desk::ledger::decisions;
pub use context::AppContext;
pub use dialog::{Dialog, Screen, Task, Tasks};
pub use keymap::{Action, KeyContext};
pub use message::{Effect, Keep, Loadable, Message, Reply};
pub use session::{AlertJson, ConsoleError, NextConsole, Preferences, Session, SessionInfo};
pub use toasts::Tone;

pub mod answer_words;
pub mod app;
pub mod code_words;
mod context;
pub mod dialog;
pub mod dialogs;
pub mod drafts;
pub mod draw;
pub mod event_loop;
pub mod failures;
pub mod header;
pub mod idle;
mod input;
pub mod journal_reading;
pub mod journaling;
pub mod keymap;
pub mod known_alerts;
pub mod known_decisions;
mod leaving;
pub mod message;
pub mod perform;
mod preferring;
pub mod reminders;
mod reminding;
pub mod resolving;
pub mod runner;
pub mod runs;
pub mod screens;
mod session;
pub mod setting;
pub mod suggestion;
pub mod times;
pub mod toasts;
pub mod unfinished;
pub mod user_settings;
pub mod views;
pub mod workstation;

/// Opens the console on a service and returns when its user leaves: the console that is to be opened next, where one
/// was chosen.
///
/// # Errors
/// When there is no terminal, or something other than the user ended the console. The terminal is given back in every
/// case.
pub async fn run(mut session: Session) -> Result<Option<NextConsole>, ConsoleError> {
    if !terminal::is_there() {
        return Err(ConsoleError::NoTerminal);
    }
    let wanted = session.settings.theme;
    session.settings.has_all_colors = terminal::has_all_colors();
    // Both ask the outside world and may take a while: the terminal for its colours, the disk for what was kept.
    let theme = tokio::task::spawn_blocking(move || terminal::pick_theme(wanted));
    let (place, clock) = (session.place.clone(), session.clock.clone());
    let address = session.desk_dir.clone().map(|directory| {
        let SessionInfo { name, user, order_owner, .. } = place;
        DeskAddress { directory, place: name, user, order_owner, clock }
    });
    let opening = address.clone();
    let kept = tokio::task::spawn_blocking(move || open_desk(opening.as_ref()));
    let theme = theme.await.unwrap_or_else(|_| Theme::named(ThemeName::Ansi));
    let (desk, mut kept) = kept.await.unwrap_or_default();
    kept.troubles.splice(0..0, session.log_trouble.iter().map(|why| format!("No log: {why}.")));
    event_loop::run(session, theme, (desk, address), kept).await
}

/// Opens the desk and reads what it kept. What cannot be read is told and does not keep the console from opening.
fn open_desk(address: Option<&DeskAddress>) -> (Option<Desk>, DeskState) {
    let mut kept = DeskState::default();
    let Some(address) = address else { return (None, kept) };
    let now = address.clock.now();
    let desk = match address.open() {
        Ok((desk, left)) => {
            kept.left = left;
            desk
        }
        Err(error) => {
            kept.keeps_nothing = true;
            kept.troubles.push(format!("Nothing is saved on this computer: {error}. Retrying."));
            let desk = address.read();
            if desk.journal().is_none() {
                return (Some(desk), kept);
            }
            desk
        }
    };
    kept.session = desk.journal().map(Journal::session);
    let troubles = &mut kept.troubles;
    kept.layout = or_trouble(desk.layout(), troubles);
    kept.views = or_trouble(desk.views().list(), troubles);
    let note_drafts = or_trouble(desk.note_drafts().all(SystemTime::now()), troubles);
    kept.note_drafts = note_drafts.into_iter().map(|(alert, draft)| (alert, draft.text)).collect();
    kept.answer_drafts = or_trouble(desk.answer_drafts().list(SystemTime::now()), troubles);
    kept.notes = or_trouble(desk.notes().list(), troubles);
    kept.snoozed = or_trouble(desk.snoozes().at(now), troubles);
    (Some(desk), kept)
}

/// Returns what was kept; where it cannot be read nothing, and why.
fn or_trouble<T: Default>(kept: Result<T, DeskError>, troubles: &mut Vec<String>) -> T {
    kept.unwrap_or_else(|error| {
        troubles.push(error.to_string());
        T::default()
    })
}
