//! The data key in this process: whether it is at hand, and its rotation.

use std::path::Path;

use super::handle::Engine;
use crate::store::{
    Actor, StoreError, StoreResult,
    key_file::{RotatedDataKey, rotate_data_key},
};

/// The cause of an error where one is known, in words for strangers; the log has the whole error.
fn cause_of(error: &StoreError) -> Option<String> {
    tracing::warn!(%error, "the store cannot do its work");
    match error {
        StoreError::Refused(cause, _) => Some(cause.to_string()),
        _ => None,
    }
}

impl Engine {
    /// Checks that the database can be read.
    ///
    /// # Errors
    /// When it cannot; with the cause where it is a known one.
    pub async fn ping(&self) -> Result<(), Option<String>> {
        self.store().ping().await.map_err(|error| cause_of(&error))
    }

    /// Checks that the database can be written.
    ///
    /// # Errors
    /// When it cannot; with the cause where it is a known one.
    pub async fn probe(&self) -> Result<(), Option<String>> {
        self.store().probe(self.now()).await.map_err(|error| cause_of(&error))
    }

    /// Returns whether the key of what is sealed in the database is at hand. Where it is not, the log names the file
    /// that has to hold it. Where the database does not answer, nothing is known to be wrong.
    pub async fn has_data_key(&self) -> bool {
        match self.store().prove_key().await {
            Err(error @ StoreError::Unusable(_)) => {
                tracing::error!(%error, "webhooks and access tokens wait for the data key");
                false
            }
            _ => true,
        }
    }

    /// Seals everything in the database anew with another data key, in the place of the one in this file. Only who
    /// works at this machine can; so the audit log says.
    ///
    /// # Errors
    /// [`Unusable`](StoreError::Unusable) with the file that is at fault, and what of the store cannot be done now.
    pub async fn rotate_data_key(&self, file: &Path, new_file: Option<&Path>) -> StoreResult<RotatedDataKey> {
        rotate_data_key(&self.store().signed(Actor::at_this_machine()), file, new_file, self.now(), |_| {}).await
    }
}
