//! The state of the local receiver: whether it listens and where, and what it got.

use std::cell::Cell;
use std::collections::VecDeque;
use std::net::SocketAddr;

use crate::domain::Timestamp;
use crate::domain::webhook::received::{Receipt, ReceivedEvent};

/// How many events are kept.
const KEPT: usize = 500;

/// The state of a local receiver.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Listening {
    #[default]
    Off,
    Starting,
    /// It answers at this address since then.
    At(SocketAddr, Timestamp),
    Stopping,
}

/// The local receiver.
#[derive(Debug, Default)]
pub struct ReceiverPart {
    offered: bool,
    pub listening: Listening,
    /// What came, the newest first.
    pub events: VecDeque<ReceivedEvent>,
    pub taken: u64,
    pub refused: u64,
    /// The number of the event under the cursor; nothing for the newest, whichever that is.
    cursor: Option<u64>,
    /// Rows that are scrolled away and rows there are room for, as the last frame found.
    pub window: Cell<(usize, usize)>,
}

impl ReceiverPart {
    /// A receiver that does not listen yet; `offered` says whether it can.
    pub fn new(offered: bool) -> Self {
        Self { offered, ..Self::default() }
    }

    /// Whether one can listen here at all.
    pub fn is_offered(&self) -> bool {
        self.offered
    }

    /// Whether it can be started now.
    pub fn can_start(&self) -> bool {
        self.offered && self.listening == Listening::Off
    }

    /// Whether there is a list of what it got.
    pub fn is_shown(&self) -> bool {
        self.offered && (self.listening != Listening::Off || !self.events.is_empty())
    }

    /// It is being started.
    pub fn starts(&mut self) {
        self.listening = Listening::Starting;
    }

    /// It was started, or not.
    pub fn started(&mut self, answer: Result<SocketAddr, String>, now: Timestamp) {
        self.listening = answer.map_or(Listening::Off, |address| Listening::At(address, now));
        if matches!(self.listening, Listening::At(..)) {
            (self.taken, self.refused) = (0, 0);
            self.events.clear();
            self.cursor = None;
        }
    }

    /// It is to be stopped; whether there is anything to stop.
    pub fn stops(&mut self) -> bool {
        let runs = matches!(self.listening, Listening::At(..));
        if runs {
            self.listening = Listening::Stopping;
        }
        runs
    }

    /// It has ended.
    pub fn stopped(&mut self) {
        self.listening = Listening::Off;
    }

    /// It got something, or knows more of what it got.
    pub fn heard(&mut self, event: ReceivedEvent) {
        if let Some(known) = self.events.iter_mut().find(|known| known.number == event.number) {
            *known = event;
            return;
        }
        match event.receipt {
            Receipt::Accepted => self.taken += 1,
            Receipt::WrongCredential | Receipt::WrongSignature | Receipt::NotKept(_) => self.refused += 1,
        }
        self.events.push_front(event);
        self.events.truncate(KEPT);
    }

    /// The row of the cursor.
    pub fn row(&self) -> usize {
        self.cursor.and_then(|number| self.events.iter().position(|event| event.number == number)).unwrap_or(0)
    }

    /// The event under the cursor.
    pub fn event(&self) -> Option<&ReceivedEvent> {
        self.events.get(self.row())
    }

    /// Puts the cursor on a row, or on the last one; on the first it stays with the newest.
    pub fn move_to(&mut self, row: usize) {
        let event = self.events.get(row).or(self.events.back());
        self.cursor = event.filter(|_| row > 0).map(|event| event.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::webhook::received::{Forwarding, Subject};

    fn heard(number: u64) -> ReceivedEvent {
        let (at, receipt) = (Timestamp::UNIX_EPOCH, Receipt::Accepted);
        ReceivedEvent {
            number,
            at,
            subject: Subject::default(),
            webhook_id: None,
            receipt,
            verified: None,
            forwarding: Forwarding::Nowhere,
        }
    }

    #[test]
    fn the_cursor_stays_with_its_event_and_on_the_first_row_with_the_newest() {
        let mut receiver = ReceiverPart::new(true);
        (1..=3).for_each(|number| receiver.heard(heard(number)));

        receiver.move_to(1);
        receiver.heard(heard(4));
        let with_its_own = (receiver.row(), receiver.event().unwrap().number);
        receiver.move_to(0);
        receiver.heard(heard(5));

        assert_eq!(with_its_own, (2, 2));
        assert_eq!((receiver.row(), receiver.event().unwrap().number), (0, 5));
    }
}
