//! The newest events in memory, beside the file that has all: a bounded ring that a console looks at.

use std::collections::VecDeque;
use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

use crate::domain::sanitize::line;

/// Most events that are retained, and most bytes of each.
const MOST: usize = 1_000;
const LONGEST: usize = 2_000;

/// An event that was logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecentEvent {
    /// Sequence number, from 1 on.
    pub number: u64,
    pub at: DateTime<Utc>,
    pub level: Level,
    /// The module that logged it.
    pub target: String,
    /// One line that is safe to show.
    pub text: String,
}

/// The newest events of the process.
#[derive(Debug, Clone, Default)]
pub struct RecentEvents {
    ring: Arc<Mutex<Ring>>,
}

#[derive(Debug, Default)]
struct Ring {
    last: u64,
    events: VecDeque<RecentEvent>,
}

impl RecentEvents {
    /// The events after this number, the oldest first.
    pub fn after(&self, number: u64) -> Vec<RecentEvent> {
        let ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        ring.events.iter().filter(|event| event.number > number).cloned().collect()
    }

    fn push(&self, level: Level, target: &str, text: String) {
        let mut ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        ring.last += 1;
        let event = RecentEvent { number: ring.last, at: Utc::now(), level, target: target.to_owned(), text };
        if ring.events.len() == MOST {
            ring.events.pop_front();
        }
        ring.events.push_back(event);
    }
}

impl<S: Subscriber> Layer<S> for RecentEvents {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut words = EventWords::default();
        event.record(&mut words);
        let EventWords { mut message, fields } = words;
        message.push_str(&fields);
        let end = (0..=LONGEST.min(message.len())).rev().find(|end| message.is_char_boundary(*end)).unwrap_or(0);
        self.push(*event.metadata().level(), event.metadata().target(), line(&message[..end]).into_owned());
    }
}

/// Text of an event: its message, then its fields.
#[derive(Default)]
struct EventWords {
    message: String,
    fields: String,
}

impl Visit for EventWords {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing into a text cannot fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => self.message.push_str(value),
            name => {
                let _ = write!(self.fields, " {name}={value}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    fn logged(work: impl FnOnce()) -> Vec<RecentEvent> {
        let recent = RecentEvents::default();
        tracing::subscriber::with_default(tracing_subscriber::registry().with(recent.clone()), work);
        recent.after(0)
    }

    #[test]
    fn an_event_is_kept_with_its_level_its_words_and_its_fields() {
        let events = logged(|| tracing::warn!(rows = 3, host = "shop", error = %"no route", "rows were left out"));

        assert_eq!(events.len(), 1);
        assert_eq!((events[0].number, events[0].level), (1, Level::WARN));
        assert_eq!(events[0].text, "rows were left out rows=3 host=shop error=no route");
    }

    #[test]
    fn what_a_network_said_is_one_line_that_is_safe_to_show() {
        let events = logged(|| tracing::info!(said = "a\nERROR forged\u{202e}\u{1b}[2J", "heard"));

        assert_eq!(events[0].text, "heard said=a·ERROR forged·[2J");
    }

    #[test]
    fn the_oldest_gives_way_and_a_long_one_is_cut() {
        let events = logged(|| {
            tracing::info!("{}", "é".repeat(LONGEST));
            for number in 0..MOST {
                tracing::info!(number, "one");
            }
        });

        assert_eq!(events.len(), MOST);
        assert_eq!(events.first().map(|event| event.number), Some(2));
        assert!(logged(|| tracing::info!("{}", "é".repeat(LONGEST)))[0].text.len() <= LONGEST);
    }
}
