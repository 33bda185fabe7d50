//! A search over all fields of all alerts while one types: when it is asked for, and what came of it.

use chrono::Duration;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

use crate::{
    AppContext, Effect, Orders, Reply, TextInput, Tone,
    desk::find::FoundAlerts,
    domain::{Alert, FindQuery, Timestamp},
    times::searched_at,
    widgets::text_input::Typed,
};

/// Typing rests so long before it is searched for at a deployment that has to be asked for each word by itself.
const LONG_REST: Duration = Duration::milliseconds(350);

/// A search for alerts by what is being typed.
#[derive(Debug, Default)]
pub struct AlertSearch {
    /// When it is searched for what is typed.
    due: Option<Timestamp>,
    /// The search that is on its way.
    asked: Option<FindQuery>,
    /// The newest answer, and what it is an answer to.
    shown: Option<(FindQuery, Reply<FoundAlerts>)>,
    /// Why what is typed cannot be searched for.
    wrong: Option<String>,
}

impl AlertSearch {
    /// A search that is due at a moment.
    pub fn due_at(due: Timestamp) -> Self {
        Self { due: Some(due), ..Self::default() }
    }

    /// Something was typed: it is searched for when typing rests.
    pub fn typed(&mut self, cx: &AppContext) {
        self.due = Some(if cx.operator { searched_at(self.asked.is_some(), cx.now) } else { cx.now + LONG_REST });
    }

    /// Searches for a text.
    pub fn search(&mut self, text: &str) -> Orders {
        self.due = None;
        self.asked = None;
        self.wrong = None;
        if text.trim().is_empty() {
            self.shown = None;
            return Vec::new();
        }
        match FindQuery::parse(text) {
            Ok(query) if self.shown.as_ref().is_some_and(|shown| is_answer(shown, &query)) => Vec::new(),
            Ok(query) => {
                self.asked = Some(query.clone());
                vec![Effect::Find(query).into()]
            }
            Err(why) => {
                self.wrong = Some(why);
                self.shown = None;
                Vec::new()
            }
        }
    }

    /// Takes an answer in; whether it is the one that is waited for.
    pub fn answered(&mut self, query: &FindQuery, answer: &Reply<FoundAlerts>) -> bool {
        if self.asked.as_ref() != Some(query) {
            return false;
        }
        self.asked = None;
        self.shown = Some((query.clone(), answer.clone()));
        true
    }

    /// When it is searched for what is typed.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.due
    }

    /// Returns true where a search is on its way.
    pub fn is_under_way(&self) -> bool {
        self.asked.is_some()
    }

    /// Returns true where what is shown is the answer to what is typed.
    pub fn is_current(&self) -> bool {
        self.due.is_none() && self.asked.is_none()
    }

    /// Why what is typed cannot be searched for.
    pub fn wrong(&self) -> Option<&str> {
        self.wrong.as_deref()
    }

    /// The newest answer, and what it is an answer to.
    pub fn shown(&self) -> Option<&(FindQuery, Reply<FoundAlerts>)> {
        self.shown.as_ref()
    }

    /// What was found last.
    pub fn alerts(&self) -> &[Alert] {
        match &self.shown {
            Some((_, Ok(found))) => &found.alerts,
            _ => &[],
        }
    }

    /// What could not be searched; the last sentences say it of the whole deployment.
    pub fn limits(&self) -> &[String] {
        match &self.shown {
            Some((_, Ok(found))) => &found.limits[found.limits.len().saturating_sub(3)..],
            _ => &[],
        }
    }
}

/// Returns true where this is the service's answer to a search.
fn is_answer((known, answer): &(FindQuery, Reply<FoundAlerts>), query: &FindQuery) -> bool {
    known == query && answer.as_ref().is_ok_and(|found| !found.only_held)
}

/// Types an event into the field of a dialog. Returns whether the text is another one; nothing where the event is not
/// the field's.
pub fn type_into(input: &mut TextInput, event: &Event, cx: &mut AppContext) -> Option<bool> {
    match event {
        Event::Key(key) if is_typed(key) => Some(input.key(*key) == Typed::Changed),
        Event::Paste(text) => {
            let pasted = input.paste(text);
            let is_changed = pasted.is_ok();
            pasted.unwrap_or_else(Some).into_iter().for_each(|words| cx.notify(Tone::Note, words));
            Some(is_changed)
        }
        _ => None,
    }
}

/// Returns true where a key goes to the field: what is a letter, and what edits a line. Letters by AltGr come with both
/// control and alt.
pub fn is_typed(key: &KeyEvent) -> bool {
    let both = KeyModifiers::CONTROL | KeyModifiers::ALT;
    let plain = !key.modifiers.intersects(both) || key.modifiers.contains(both);
    let edits =
        key.modifiers == KeyModifiers::CONTROL && matches!(key.code, KeyCode::Char('a' | 'e' | 'k' | 'u' | 'w'));
    match key.code {
        KeyCode::Char(_) => plain || edits,
        code => matches!(code, KeyCode::Backspace | KeyCode::Delete | KeyCode::Left | KeyCode::Right),
    }
}
