//! A list in a TOML file of the desk, which can be edited by hand: views, snoozed alerts, sales counts.

use std::{collections::BTreeMap, marker::PhantomData, path::PathBuf};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::file::{DeskError, DeskFile};

/// A list in a file.
#[derive(Debug, Clone)]
pub struct KeptList<T> {
    pub(super) file: DeskFile,
    /// Name of its items in the file.
    name: &'static str,
    about: &'static str,
    items: PhantomData<T>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListFile<T> {
    #[serde(default = "Vec::new", alias = "view", alias = "snoozed", alias = "sales")]
    items: Vec<T>,
}

impl<T: Serialize + DeserializeOwned> KeptList<T> {
    pub(super) fn new(path: PathBuf, name: &'static str, about: &'static str) -> Self {
        Self { file: DeskFile { path }, name, about, items: PhantomData }
    }

    /// The items in the order of the file.
    pub fn list(&self) -> Result<Vec<T>, DeskError> {
        Ok(self.file.read::<ListFile<T>>()?.map_or_else(Vec::new, |file| file.items))
    }

    /// Changes the list, one process after the other; a file without items goes. Refused while the file cannot be
    /// read.
    pub(super) fn change(&self, change: impl FnOnce(&mut Vec<T>)) -> Result<(), DeskError> {
        let _turn = self.file.turn()?;
        let mut items = self.list()?;
        change(&mut items);
        if items.is_empty() {
            return self.file.remove();
        }
        self.file.write(self.about, &BTreeMap::from([(self.name, items)]))
    }
}
