//! The state of the local receiver: whether it listens and where, what it got, and what of that was sent again.

use std::cell::Cell;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::console::listener::{ListenRequest, ReplayRequest};
use crate::domain::Timestamp;
use crate::domain::webhook::received::{Receipt, ReceivedEvent, ReplayedEvent, Subject};

/// How many rows are kept.
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

/// The state of a replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaying {
    /// Where to, as it may be shown.
    pub to: String,
    pub sent: u64,
    pub taken: u64,
    /// Whether it was asked to stop.
    pub stopping: bool,
}

/// A row of what the receiver did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReceiverRow {
    Received(ReceivedEvent),
    Replayed(ReplayedEvent),
}

impl ReceiverRow {
    /// What it is about.
    pub fn subject(&self) -> &Subject {
        match self {
            Self::Received(event) => &event.subject,
            Self::Replayed(event) => &event.subject,
        }
    }

    /// The `webhook-id` that it came or went with.
    pub fn webhook_id(&self) -> Option<&str> {
        match self {
            Self::Received(event) => event.webhook_id.as_deref(),
            Self::Replayed(event) => event.webhook_id.as_deref(),
        }
    }
}

/// A recorded event: which recording has it, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedEvent {
    pub recording: PathBuf,
    /// Where its line begins.
    pub begins: u64,
}

/// The local receiver.
#[derive(Debug, Default)]
pub struct ReceiverPart {
    offered: bool,
    pub listening: Listening,
    pub replaying: Option<Replaying>,
    /// What was asked for last.
    request: Option<Box<ListenRequest>>,
    replay: Option<Box<ReplayRequest>>,
    /// What came and what was sent again, each with its number, the newest first.
    rows: VecDeque<(u64, ReceiverRow)>,
    numbers: u64,
    pub taken: u64,
    pub refused: u64,
    /// The number of the row under the cursor; nothing for the newest, whichever that is.
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

    /// Whether what was recorded can be sent again now.
    pub fn can_replay(&self) -> bool {
        self.offered && self.replaying.is_none()
    }

    /// Whether there is a list of what it did.
    pub fn is_shown(&self) -> bool {
        self.offered && (self.listening != Listening::Off || self.replaying.is_some() || !self.rows.is_empty())
    }

    /// What it was asked for last.
    pub fn last_request(&self) -> Option<&ListenRequest> {
        self.request.as_deref()
    }

    /// What was asked to be sent again last.
    pub fn last_replay(&self) -> Option<&ReplayRequest> {
        self.replay.as_deref()
    }

    /// It is being started.
    pub fn starts(&mut self, request: ListenRequest) {
        self.request = Some(Box::new(request));
        self.listening = Listening::Starting;
    }

    /// It was started, or not.
    pub fn started(&mut self, address: Option<SocketAddr>, now: Timestamp) {
        self.listening = address.map_or(Listening::Off, |address| Listening::At(address, now));
        if address.is_some() {
            (self.taken, self.refused) = (0, 0);
            self.rows.clear();
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

    /// What was recorded is being sent again.
    pub fn replays(&mut self, request: ReplayRequest) {
        self.replaying = Some(Replaying { to: request.to.to_string(), sent: 0, taken: 0, stopping: false });
        self.replay = Some(Box::new(request));
    }

    /// It got something, or knows more of what it got.
    pub fn heard(&mut self, event: ReceivedEvent) {
        let same = |row: &&mut ReceiverRow| matches!(row, ReceiverRow::Received(known) if known.number == event.number);
        if let Some(row) = self.rows.iter_mut().map(|(_, row)| row).find(same) {
            *row = ReceiverRow::Received(event);
            return;
        }
        match event.receipt {
            Receipt::Accepted => self.taken += 1,
            Receipt::WrongCredential | Receipt::NotVerified(_) | Receipt::NotKept(_) => self.refused += 1,
        }
        self.add(ReceiverRow::Received(event));
    }

    /// Something was sent again.
    pub fn replayed(&mut self, event: ReplayedEvent) {
        if let Some(replaying) = &mut self.replaying {
            replaying.sent += 1;
            replaying.taken += u64::from(event.is_taken());
        }
        self.add(ReceiverRow::Replayed(event));
    }

    fn add(&mut self, row: ReceiverRow) {
        self.numbers += 1;
        self.rows.push_front((self.numbers, row));
        self.rows.truncate(KEPT);
    }

    /// What came and what was sent again, the newest first.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &ReceiverRow> {
        self.rows.iter().map(|(_, row)| row)
    }

    /// The number of the cursor's row, from 0.
    pub fn row(&self) -> usize {
        self.cursor.and_then(|cursor| self.rows.iter().position(|(number, _)| *number == cursor)).unwrap_or(0)
    }

    /// The row under the cursor.
    pub fn current(&self) -> Option<&ReceiverRow> {
        self.rows.get(self.row()).map(|(_, row)| row)
    }

    /// The event under the cursor, where it was recorded.
    pub fn recorded_event(&self) -> Option<RecordedEvent> {
        let Some(ReceiverRow::Received(event)) = self.current() else { return None };
        Some(RecordedEvent { recording: self.request.as_ref()?.record.clone()?, begins: event.recorded? })
    }

    /// Puts the cursor on a row, or on the last one; on the first it stays with the newest.
    pub fn move_to(&mut self, row: usize) {
        let found = self.rows.get(row).or(self.rows.back());
        self.cursor = found.filter(|_| row > 0).map(|(number, _)| *number);
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
            recorded: None,
        }
    }

    fn under_cursor(receiver: &ReceiverPart) -> u64 {
        match receiver.current() {
            Some(ReceiverRow::Received(event)) => event.number,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_cursor_stays_with_its_event_and_on_the_first_row_with_the_newest() {
        let mut receiver = ReceiverPart::new(true);
        (1..=3).for_each(|number| receiver.heard(heard(number)));

        receiver.move_to(1);
        receiver.heard(heard(4));
        let with_its_own = (receiver.row(), under_cursor(&receiver));
        receiver.move_to(0);
        receiver.heard(heard(5));

        assert_eq!(with_its_own, (2, 2));
        assert_eq!((receiver.row(), under_cursor(&receiver)), (0, 5));
    }
}
