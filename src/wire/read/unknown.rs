//! Names that nobody knows: of fields, networks and alert types.

use crate::domain::card::mask_card_numbers;

/// Unknown names, each once, in the order they were met.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnknownNames {
    names: Vec<String>,
    /// Number of those that were taken as new.
    taken: usize,
}

impl UnknownNames {
    /// So many different names are remembered; a hostile source makes no more.
    const MOST: usize = 100;

    /// The names, cut where they are long.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The names that have come up since this was asked before.
    pub fn take_new(&mut self) -> Vec<String> {
        let new = self.names.get(self.taken..).unwrap_or_default().to_vec();
        self.taken = self.names.len();
        new
    }

    /// Takes a name in, unless there are too many already.
    pub fn add(&mut self, name: &str) {
        if self.names.len() < Self::MOST {
            let name = mask_card_numbers(name);
            let name: String = name.chars().filter(|c| !c.is_control()).take(60).collect();
            if !self.names.contains(&name) {
                self.names.push(name);
            }
        }
    }
}
