//! The address of a desk: where it is, and for which console it is opened.

use std::{path::PathBuf, sync::Arc};

use super::{Desk, DeskError, Leftovers, OrderOwner};
use crate::domain::time::SharedClock;

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
        desk.try_writing()?;
        let left = desk.open_journal(&self.place, self.user.as_deref(), Arc::clone(&self.clock))?;
        Ok((desk, left))
    }

    /// The desk to be read alone, with its journal where there is a directory; where there is none, nothing can be read
    /// either.
    pub fn read(&self) -> Desk {
        let desk = Desk::only_read(&self.directory);
        if !self.directory.is_dir() {
            return desk;
        }
        let mut desk = desk.with_orders_of(self.order_owner.clone());
        desk.read_journal(&self.place, self.user.as_deref(), Arc::clone(&self.clock));
        desk
    }
}
