//! State that belongs to this workstation and to no service. It is saved views, drafts, notes, snoozes, the layout of
//! the screen, and the journal of decisions made here. It is also profiles of deployments with their credentials, the
//! orders of the shop, and the fate of decisions that were sent.
//!
//! Most of it is kept in TOML files, readable by their owner only and replaced in one step. The journal, the notes, the
//! orders and the secrets in the system's keyring are not. A file that cannot be read is reported with its line and
//! kept: nothing here ever overwrites what it could not read.

use avert_domain as domain;
use avert_service as service;

pub mod drafts;
pub mod export;
pub mod export_part;
mod file;
pub mod find;
pub mod insights;
mod kept_list;
mod keyring;
pub mod ledger;
pub mod links;
pub mod lists;
pub mod notes;
pub mod orders;
pub mod profiles;
pub mod records;
pub mod rehearsing;
pub mod run_file;
pub mod sales;
pub mod secrets;
pub mod snoozes;
pub mod views;
pub mod whole_list;

use std::{path::PathBuf, sync::Arc};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use drafts::{AnswerDraft, Draft, Drafts, NoteDraft};
pub use export::{AlertRecords, ExportFailure, ExportRequest};
pub use file::{DeskError, begins_with, directory_of, make_directory, open_own, replace, turn, write_new};
pub use insights::{FoundInsights, InsightLimit};
pub use kept_list::KeptList;
pub use keyring::KeyringError;
pub use ledger::{
    files::{Journal, WholeJournal},
    history::{DecisionRecord, History, Leftovers, NotificationRecord},
    steps::{
        Fate, JournalAlert, JournalDecision, JournalEntry, JournalRun, JournalStep, JournalWriter, Notification,
        StagedAnswer,
    },
};
pub use notes::{Note, Notes};
pub use orders::{MatchedOrders, OrderCounts, OrderDatabase, OrderFindings, OrderOwner};
pub use profiles::{Profile, ProfileList, ProfileName, Profiles};
pub use records::RecordFormat;
use sales::KeptSales;
pub use secrets::{SecretError, SecretKind, SecretStorage, Secrets};
pub use snoozes::SnoozedAlert;
pub use views::{BuiltIn, SavedView, same_name};

use file::DeskFile;

use crate::domain::{Alert, AlertId, OrderAdvice, time::SharedClock};

/// The desk: a directory of TOML files. Cheap to clone; every call reads or writes the disk, so none belongs on the
/// drawing path.
#[derive(Clone)]
pub struct Desk {
    directory: PathBuf,
    journal: Option<Journal>,
    /// Owner of the orders that are meant, where the desk has those of several organizations.
    order_owner: Option<OrderOwner>,
    /// True where its files can be read and nothing can be written.
    only_read: bool,
}

impl Desk {
    /// Opens a desk directory, making it (for its owner only) where there is none.
    pub fn open(directory: impl Into<PathBuf>) -> Result<Self, DeskError> {
        let directory = directory.into();
        make_directory(&directory)?;
        Ok(Self { directory, journal: None, order_owner: None, only_read: false })
    }

    /// The same desk with the orders of an organization.
    #[must_use]
    pub fn with_orders_of(self, order_owner: Option<OrderOwner>) -> Self {
        Self { order_owner, ..self }
    }

    /// Returns whether its files can be read and nothing can be written.
    pub fn is_only_read(&self) -> bool {
        self.only_read
    }

    /// Opens the journal for a console on this place and whoever sits at it; what earlier ones left unfinished there.
    pub fn open_journal(
        &mut self,
        place: &str,
        user: Option<&str>,
        clock: SharedClock,
    ) -> Result<Leftovers, DeskError> {
        let journal = Journal::open(&self.directory, place, user, clock)?;
        let leftovers = journal.leftovers()?;
        self.journal = Some(journal);
        Ok(leftovers)
    }

    /// The journal, where it is open, to be written or to be read alone.
    pub fn journal(&self) -> Option<&Journal> {
        self.journal.as_ref()
    }

    /// The views saved under names of one's own.
    pub fn views(&self) -> KeptList<SavedView> {
        let about = "Views of the queue: a name and a query each. Can be edited by hand.";
        KeptList::new(self.directory.join("views.toml"), "view", about)
    }

    /// The snoozed alerts.
    pub fn snoozes(&self) -> KeptList<SnoozedAlert> {
        KeptList::new(self.directory.join("snoozed.toml"), "snoozed", "Alerts that are put aside for a while.")
    }

    /// The sales counts that an older version kept here.
    pub fn sales(&self) -> KeptList<KeptSales> {
        KeptList::new(self.directory.join("sales.toml"), "sales", "")
    }

    /// The drafts of answers that were not sent.
    pub fn answer_drafts(&self) -> Drafts<Uuid, AnswerDraft> {
        Drafts::new(self.directory.join("group-drafts"), "An answer that was begun and not sent.")
    }

    /// The drafts of notes not kept yet.
    pub fn note_drafts(&self) -> Drafts<AlertId, NoteDraft> {
        Drafts::new(self.directory.join("note-drafts"), "A note that was begun and not kept.")
    }

    /// The notes on alerts.
    pub fn notes(&self) -> Notes {
        Notes::new(&self.directory)
    }

    /// The orders of the shop; none where none were ever imported.
    pub fn orders(&self) -> Result<Option<OrderDatabase>, DeskError> {
        let orders = OrderDatabase::at(self.order_file()?)?;
        orders.map(|orders| orders.claimed_by(self.order_owner.as_ref())).transpose()
    }

    /// The order that an alert matches best, or another one on its payment, by its id, and what it advises; nothing
    /// where it advises nothing.
    pub fn order_advice(&self, alert: &Alert, others: &[Alert]) -> Result<Option<(String, OrderAdvice)>, DeskError> {
        let matched = self.orders()?.map(|orders| orders.matches_among(alert, others)).transpose()?;
        Ok(matched.and_then(|matched| matched.advice(alert).map(|(id, advice)| (id.to_owned(), advice))))
    }

    /// The orders of the shop, to bring some in.
    pub fn make_orders(&self) -> Result<OrderDatabase, DeskError> {
        OrderDatabase::making(self.order_file()?)?.claimed_by(self.order_owner.as_ref())
    }

    fn order_file(&self) -> Result<PathBuf, DeskError> {
        orders::order_file(&self.directory, self.order_owner.as_ref())
    }

    /// The stored layout; the default one where there is none.
    pub fn layout(&self) -> Result<Layout, DeskError> {
        Ok(self.layout_file().read()?.unwrap_or_default())
    }

    /// Keeps what the screen looks like. Refused while the file there cannot be read.
    pub fn keep_layout(&self, layout: &Layout) -> Result<(), DeskError> {
        let file = self.layout_file();
        file.read::<Layout>()?;
        file.write("What the console looked like when it was last left.", layout)
    }

    fn layout_file(&self) -> DeskFile {
        DeskFile { path: self.directory.join("layout.toml") }
    }
}

/// The address of a desk.
#[derive(Clone)]
pub struct DeskAddress {
    pub directory: PathBuf,
    /// The profile or deployment that the journal is open for.
    pub place: String,
    pub user: Option<String>,
    /// Owner of the orders that are meant, where the desk has those of several organizations.
    pub order_owner: Option<OrderOwner>,
    pub clock: SharedClock,
}

impl DeskAddress {
    /// Opens the desk and its journal for writing, and returns what earlier consoles left unfinished there.
    ///
    /// # Errors
    /// When one of them cannot be written.
    pub fn open(&self) -> Result<(Desk, Leftovers), DeskError> {
        let mut desk = Desk::open(&self.directory)?.with_orders_of(self.order_owner.clone());
        file::try_writing(&self.directory)?;
        let left = desk.open_journal(&self.place, self.user.as_deref(), Arc::clone(&self.clock))?;
        Ok((desk, left))
    }

    /// The desk to be read alone, with its journal where there is a directory; where there is none, nothing can be read
    /// either.
    pub fn read(&self) -> Desk {
        let Self { directory, place, user, order_owner, clock } = self.clone();
        let journal = directory.is_dir().then(|| Journal::only_read(&directory, &place, user.as_deref(), clock));
        Desk { directory, journal, order_owner, only_read: true }
    }
}

/// The console's layout when it was last left.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Layout {
    /// Share of the width that the list has beside the detail, in percent.
    pub divider: Option<u8>,
}

#[cfg(test)]
mod tests {
    use super::Desk;
    use super::*;

    #[test]
    fn the_screen_looks_at_the_next_start_as_it_was_left() {
        let directory = tempfile::tempdir().unwrap();
        let left = Layout { divider: Some(64) };

        Desk::open(directory.path()).unwrap().keep_layout(&left).unwrap();

        assert_eq!(Desk::open(directory.path()).unwrap().layout(), Ok(left));
    }

    #[test]
    fn the_first_start_has_the_usual_look() {
        let directory = tempfile::tempdir().unwrap();

        assert_eq!(Desk::open(directory.path().join("new")).unwrap().layout(), Ok(Layout::default()));
    }

    #[test]
    fn a_layout_of_another_version_is_read_as_far_as_it_is_known() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("layout.toml"), "view = \"Open\"\ndivider = 40\n").unwrap();

        let layout = Desk::open(directory.path()).unwrap().layout().unwrap();

        assert_eq!(layout.divider, Some(40));
    }

    #[test]
    fn a_broken_layout_is_reported_and_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("layout.toml");
        std::fs::write(&path, "view = \"Open\"\ndivider = 300\n").unwrap();
        let desk = Desk::open(directory.path()).unwrap();

        assert_eq!(desk.layout().unwrap_err().line, Some(2));
        assert!(desk.keep_layout(&Layout::default()).is_err());
        assert!(std::fs::read_to_string(&path).unwrap().contains("300"));
    }
}
