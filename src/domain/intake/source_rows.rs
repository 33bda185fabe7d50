//! The rows of one source: a second one of the same identity that contradicts the first is of another alert.

use std::{
    collections::HashMap,
    hash::{BuildHasher as _, RandomState},
};

use super::{patch::AlertPatch, report::RejectedRow};
use crate::{identity::Identifier, resolution::FieldError};

/// Facts of a row that are compared. Networks give six digits of a BIN or eight.
const FACTS: [&str; 5] = ["card", "card", "card", "amount", "currency"];

/// Facts of a source's rows so far, by identity: hashes alone, some sixty bytes of each.
#[derive(Debug, Default)]
pub struct SourceRows {
    hasher: RandomState,
    /// Line of the row, and a hash of each fact; 0 of one that was not given.
    known: HashMap<u64, (u64, [u64; FACTS.len()])>,
}

impl SourceRows {
    /// Takes a row in.
    ///
    /// # Errors
    /// When an earlier row has the same identity and another card, amount or currency.
    pub fn admit(&mut self, row: AlertPatch) -> Result<AlertPatch, RejectedRow> {
        let alert = &row.alert;
        let (field, identity) = if row.is_by_id() {
            ("id", alert.id.to_string())
        } else {
            // A row that identifies nothing is rejected by itself.
            let Some(id) = Identifier::Name.read(Some(&alert.provider_id)) else { return Ok(row) };
            ("providerId", format!("{} {id}", alert.provider))
        };
        let bin = alert.card_bin.trim();
        let amount = alert.amount.map_or_else(String::new, |amount| amount.decimal().normalize().to_string());
        let told = [
            bin.get(..6).unwrap_or_default(),
            bin.get(..8).unwrap_or_default(),
            alert.card_last_four.trim(),
            &amount,
            &alert.currency.as_str().to_ascii_uppercase(),
        ];
        let told = told.map(|text| if text.is_empty() { 0 } else { self.hasher.hash_one(text) | 1 });
        let (line, known) = self.known.entry(self.hasher.hash_one(identity)).or_insert((row.line, told));
        for ((known, told), what) in known.iter_mut().zip(told).zip(FACTS) {
            if *known == 0 {
                *known = told;
            } else if told != 0 && told != *known {
                let why = format!("is that of line {line} too, where the {what} is another: one of the two is wrong");
                return Err(RejectedRow { line: row.line, error: FieldError::new(field, why) });
            }
        }
        Ok(row)
    }
}
