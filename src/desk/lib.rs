//! State that belongs to this workstation and to no service. It is saved views, drafts, notes, snoozes, the layout of
//! the screen, and the journal of decisions made here. It is also profiles of deployments with their credentials, the
//! orders of the shop, and the fate of decisions that were sent.
//!
//! Most of it is kept in TOML files, readable by their owner only and replaced in one step. The journal, the notes, the
//! orders and the secrets in the system's keyring are not. A file that cannot be read is reported with its line and
//! kept: nothing here ever overwrites what it could not read.

use avert_domain as domain;
use avert_service as service;

mod address;
pub mod answer_drafts;
pub mod closing;
pub mod collect;
pub mod drafts;
pub mod export;
mod file;
pub mod find;
pub mod insights;
mod keyring;
pub mod layout;
pub mod ledger;
mod merge;
pub mod notes;
mod order_owner;
pub mod orders;
pub mod profiles;
pub mod records;
pub mod rehearsing;
pub mod sales;
pub mod same_payment;
pub mod secrets;
pub mod snoozed_page;
pub mod snoozes;
pub mod views;
pub mod whole_list;

use std::path::{Path, PathBuf};

pub use address::DeskAddress;
pub use answer_drafts::{AnswerDraft, AnswerDrafts, Draft};
pub use closing::ClosingAlerts;
pub use drafts::NoteDrafts;
pub use export::{AlertRecords, ExportFailure, ExportRequest};
pub use file::{DeskError, begins_with, directory_of, make_directory, open_own, replace, turn, write_new};
pub use insights::{DeskFigures, FoundInsights, InsightLimit};
pub use keyring::KeyringError;
pub use layout::{ColumnLayout, Layout};
pub use ledger::{
    fate::Fate,
    files::{Journal, Leftovers, WholeJournal},
    fold::{DecisionRecord, History, LeftDecision, NotificationRecord},
    steps::{AnswerStep, JournalAlert, JournalDecision, JournalEntry, JournalRun, JournalStep},
};
pub use merge::in_form_of;
pub use notes::{Note, Notes};
pub use order_owner::OrderOwner;
pub use orders::{MatchedOrders, OrderCounts, OrderDatabase};
pub use profiles::{Profile, ProfileList, ProfileName, Profiles};
pub use records::RecordFormat;
pub use sales::{SalesCount, SalesCounts};
pub use secrets::{SecretError, SecretKind, SecretStorage, Secrets};
pub use snoozes::{SnoozedAlert, Snoozes};
pub use views::{BuiltIn, SavedView, Views, same_name};

use file::DeskFile;

use crate::domain::{Alert, OrderAdvice, time::SharedClock};

/// The desk: a directory of TOML files. Cheap to clone; every call reads or writes the disk, so none belongs on the
/// drawing path.
#[derive(Debug, Clone)]
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

    /// A desk on which nothing can be written.
    fn only_read(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), journal: None, order_owner: None, only_read: true }
    }

    /// Tries whether a file can be made here.
    fn try_writing(&self) -> Result<(), DeskError> {
        file::try_writing(&self.directory)
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
        let (journal, leftovers) = Journal::open(&self.directory, place, user, clock)?;
        self.journal = Some(journal);
        Ok(leftovers)
    }

    /// Opens the journal to be read alone, where nothing can be written here.
    fn read_journal(&mut self, place: &str, user: Option<&str>, clock: SharedClock) {
        self.journal = Some(Journal::only_read(&self.directory, place, user, clock));
    }

    /// The journal, where it is open, to be written or to be read alone.
    pub fn journal(&self) -> Option<&Journal> {
        self.journal.as_ref()
    }

    /// Directory of the desk.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The views saved under names of one's own.
    pub fn views(&self) -> Views {
        Views::new(DeskFile::new(self.directory.join("views.toml")))
    }

    /// The drafts of answers that were not sent.
    pub fn answer_drafts(&self) -> AnswerDrafts {
        AnswerDrafts::new(self.directory.join("group-drafts"))
    }

    /// The drafts of notes not kept yet.
    pub fn note_drafts(&self) -> NoteDrafts {
        NoteDrafts::new(self.directory.join("note-drafts"))
    }

    /// The notes on alerts.
    pub fn notes(&self) -> Notes {
        Notes::new(&self.directory)
    }

    /// The snoozed alerts.
    pub fn snoozes(&self) -> Snoozes {
        Snoozes::new(DeskFile::new(self.directory.join("snoozed.toml")))
    }

    /// The sales counts that were entered.
    pub fn sales(&self) -> SalesCounts {
        SalesCounts::new(DeskFile::new(self.directory.join("sales.toml")))
    }

    /// Returns the sales that were entered.
    pub fn figures(&self) -> DeskFigures {
        let (sales, troubles) = match self.sales().list() {
            Ok(sales) => (sales, Vec::new()),
            Err(error) => (Vec::new(), vec![error.to_string()]),
        };
        DeskFigures { sales, troubles }
    }

    /// The orders of the shop; none where none were ever imported.
    pub fn orders(&self) -> Result<Option<OrderDatabase>, DeskError> {
        OrderDatabase::at(self.order_file()?)?.map(|orders| self.claimed(orders)).transpose()
    }

    /// The order that an alert matches best, or another one on its payment, by its id, and what it advises; nothing
    /// where it advises nothing.
    pub fn order_advice(&self, alert: &Alert, others: &[Alert]) -> Result<Option<(String, OrderAdvice)>, DeskError> {
        let matched = self.orders()?.map(|orders| orders.matches_among(alert, others)).transpose()?;
        Ok(matched.and_then(|matched| matched.advice(alert).map(|(id, advice)| (id.to_owned(), advice))))
    }

    /// The orders of the shop, to bring some in.
    pub fn make_orders(&self) -> Result<OrderDatabase, DeskError> {
        OrderDatabase::making(self.order_file()?).and_then(|orders| self.claimed(orders))
    }

    fn order_file(&self) -> Result<PathBuf, DeskError> {
        order_owner::order_file(&self.directory, self.order_owner.as_ref())
    }

    /// Orders of nobody belong to whoever opens them: the next organization that comes does not inherit them.
    fn claimed(&self, orders: OrderDatabase) -> Result<OrderDatabase, DeskError> {
        match &self.order_owner {
            Some(owner) => orders.claimed_by(&owner.organization),
            None => Ok(orders),
        }
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
        DeskFile::new(self.directory.join("layout.toml"))
    }
}
