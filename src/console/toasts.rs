//! Toasts: short notifications that go away by themselves, on lines of their own above the footer.

use chrono::Duration;
use ratatui::{
    buffer::Buffer,
    layout::{Margin, Rect},
    widgets::{Clear, Widget},
};

use super::{
    Pen, Theme,
    text::{sanitize, wrap, wrap_to},
};
use crate::domain::Timestamp;

/// The severity of a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// It went well.
    Good,
    /// Something to know.
    Note,
    /// It did not go well.
    Bad,
}

impl Tone {
    /// Its name in the journal.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Note => "note",
            Self::Bad => "bad",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Toast {
    tone: Tone,
    text: String,
    until: Timestamp,
    /// Subject whose fate it tells, such as a decision or a run of them.
    of: Option<String>,
    /// True where it is about the last key, and goes with the next one.
    is_hint: bool,
}

/// The notifications that are on the screen.
#[derive(Debug, Default)]
pub struct Toasts {
    all: Vec<Toast>,
}

/// A line of a notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteLine {
    /// Set where a note begins.
    tone: Option<Tone>,
    text: String,
}

/// So many are kept at once.
const MOST: usize = 3;

/// Lines that they may take.
const MOST_LINES: usize = 3;

/// Columns at either side, and of the sign before a note.
const MARGIN: u16 = 2;
const SIGN: u16 = 2;

impl Toasts {
    /// Tells something. The same words again only stay longer; whether they are new.
    pub fn notify(&mut self, tone: Tone, text: impl Into<String>, now: Timestamp) -> bool {
        let text = text.into();
        let seconds = if tone == Tone::Bad { 15 } else { 5 };
        let before = self.all.len();
        self.all.retain(|toast| toast.text != text);
        let is_new = self.all.len() == before;
        self.all.push(Toast { tone, text, until: now + Duration::seconds(seconds), of: None, is_hint: false });
        let surplus = self.all.len().saturating_sub(MOST);
        self.all.drain(..surplus);
        is_new
    }

    /// Tells what became of something: what was told of it before and is so no longer goes.
    pub fn notify_of(&mut self, of: &str, tone: Tone, text: impl Into<String>, now: Timestamp) {
        self.withdraw(of);
        self.notify(tone, text, now);
        self.all.last_mut().into_iter().for_each(|told| told.of = Some(of.to_owned()));
    }

    /// Takes away what was told of something: something else is so by now.
    pub fn withdraw(&mut self, of: &str) {
        self.all.retain(|toast| toast.of.as_deref() != Some(of));
    }

    /// Says something about a key, until the next one.
    pub fn hint(&mut self, text: impl Into<String>, now: Timestamp) {
        self.notify(Tone::Note, text, now);
        self.all.last_mut().into_iter().for_each(|said| said.is_hint = true);
    }

    /// Takes away what was said about the key before.
    pub fn drop_hints(&mut self) {
        self.all.retain(|toast| !toast.is_hint);
    }

    /// Takes all away.
    pub fn clear(&mut self) {
        self.all.clear();
    }

    /// Takes away what was only to know: whoever goes elsewhere has read it.
    pub fn drop_notes(&mut self) {
        self.all.retain(|toast| toast.tone != Tone::Note);
    }

    /// Takes away those whose time is over.
    pub fn expire(&mut self, now: Timestamp) {
        self.all.retain(|toast| toast.until > now);
    }

    /// When the next one goes.
    pub fn next_wake(&self) -> Option<Timestamp> {
        self.all.iter().map(|toast| toast.until).min()
    }

    /// The lines of a screen of this width: what lasts in two lines at most, then the notifications, the newest last
    /// and in full as far as there is room. What was told of the fate of `but_of` is left out.
    pub fn lines(&self, but_of: Option<&str>, lasting: Option<&str>, width: u16) -> Vec<NoteLine> {
        let room = width.saturating_sub(2 * MARGIN + SIGN);
        let mut lines =
            lasting.map_or_else(Vec::new, |text| note(Tone::Bad, wrap_to(&sanitize(text), room, MOST_LINES - 1)));
        let mut notes: Vec<NoteLine> = Vec::new();
        for toast in self.all.iter().rev().filter(|toast| but_of.is_none() || toast.of.as_deref() != but_of) {
            let (text, left) = (sanitize(&toast.text), MOST_LINES - lines.len() - notes.len());
            // An older one that does not fit as a whole is left out.
            if left == 0 || (!notes.is_empty() && wrap(&text, room).len() > left) {
                break;
            }
            notes.splice(0..0, note(toast.tone, wrap_to(&text, room, left)));
        }
        lines.extend(notes);
        lines
    }
}

/// A note's lines: the sign stands before the first.
fn note(tone: Tone, lines: Vec<String>) -> Vec<NoteLine> {
    let line = |(index, text)| NoteLine { tone: (index == 0).then_some(tone), text };
    lines.into_iter().enumerate().map(line).collect()
}

/// Draws the lines, one below the other.
pub fn draw(lines: &[NoteLine], theme: &Theme, buffer: &mut Buffer, area: Rect) {
    for (line, row) in lines.iter().zip(area.rows()) {
        Clear.render(row, buffer);
        buffer.set_style(row, theme.page);
        let mut pen = Pen::new(buffer, row.inner(Margin::new(MARGIN, 0)));
        match line.tone {
            Some(Tone::Good) => pen.put("✓ ", theme.ok),
            Some(Tone::Note) => pen.put("· ", theme.accent),
            Some(Tone::Bad) => pen.put("! ", theme.danger),
            None => pen.put("  ", theme.plain),
        };
        pen.put(&line.text, theme.plain);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::from_iso;

    fn told(texts: &[&str]) -> Toasts {
        let mut toasts = Toasts::default();
        for text in texts {
            toasts.notify(Tone::Note, *text, from_iso("2026-03-10T12:00:00Z").unwrap());
        }
        toasts
    }

    fn texts(lines: &[NoteLine]) -> Vec<String> {
        lines.iter().map(|line| line.text.clone()).collect()
    }

    #[test]
    fn what_was_bad_news_of_a_decision_goes_with_its_good_news_and_that_of_others_stays() {
        let (mut toasts, now) = (Toasts::default(), Timestamp::UNIX_EPOCH);
        toasts.notify_of("run 1", Tone::Bad, "1 recorded, 2 unknown", now);
        toasts.notify_of("run 2", Tone::Bad, "1 failed", now);

        toasts.notify_of("run 1", Tone::Good, "3 recorded", now);

        let told: Vec<&str> = toasts.all.iter().map(|toast| toast.text.as_str()).collect();
        assert_eq!(told, ["1 failed", "3 recorded"]);
    }

    #[test]
    fn the_newest_stands_last_and_what_lasts_stands_first() {
        let lines = told(&["one", "two", "three"]).lines(None, Some("full"), 80);

        assert_eq!(texts(&lines), ["full", "two", "three"]);
    }

    #[test]
    fn the_newest_has_the_room_it_needs_before_older_ones_do() {
        let lines =
            told(&["an older one", "twenty words or so that need a second line of their own"]).lines(None, None, 40);

        assert_eq!(texts(&lines), ["an older one", "twenty words or so that need a", "second line of their own"]);
        let lines = told(&["an older one that needs two lines for itself", "and a newer one that needs two as well"])
            .lines(None, None, 30);
        assert_eq!(texts(&lines), ["and a newer one that", "needs two as well"]);
    }

    #[test]
    fn what_has_no_end_is_cut_in_the_last_line() {
        let lines = told(&["word ".repeat(100).as_str()]).lines(None, None, 40);

        assert_eq!(lines.len(), MOST_LINES);
        assert!(lines.last().is_some_and(|line| line.text.ends_with('…')), "{lines:?}");
    }

    #[test]
    fn what_was_said_about_a_key_goes_with_the_next_one_and_what_happened_stays() {
        let now = from_iso("2026-03-10T12:00:00Z").unwrap();
        let mut toasts = told(&["what happened"]);
        toasts.hint("the first key", now);

        toasts.drop_hints();
        toasts.hint("the second key", now);

        assert_eq!(texts(&toasts.lines(None, None, 80)), ["what happened", "the second key"]);
    }

    #[test]
    fn the_same_words_again_are_no_news() {
        let mut toasts = Toasts::default();
        let news = [(); 2].map(|()| toasts.notify(Tone::Note, "three", Timestamp::UNIX_EPOCH));

        assert_eq!(news, [true, false]);
    }
}
