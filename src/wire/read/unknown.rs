//! Names of fields that nobody knows.

use crate::domain::card::mask_card_numbers;

/// Names of unknown fields, each once, in the order they were met.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnknownFields {
    names: Vec<String>,
}

impl UnknownFields {
    /// So many different names are remembered; a hostile source makes no more.
    const MOST: usize = 100;

    /// The names, cut where they are long.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    pub(in crate::wire) fn add(&mut self, name: &str) {
        if self.names.len() < Self::MOST {
            let name = mask_card_numbers(name);
            let name: String = name.chars().filter(|c| !c.is_control()).take(60).collect();
            if !self.names.contains(&name) {
                self.names.push(name);
            }
        }
    }
}
