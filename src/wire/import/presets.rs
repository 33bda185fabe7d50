//! Presets of shops' order files: which header is which field, and which words of its status columns are which state.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;

use super::table::{letters, place_of};
use crate::domain::{OrderField, OrderState};

/// A shop's order file, known by its header.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrderPreset {
    pub name: String,
    /// In words.
    pub title: String,
    /// A file is one of these where it has a column of each line.
    recognised_by: Vec<Vec<String>>,
    /// An order goes over several rows, of which the first has all that it is.
    pub(super) several_rows: bool,
    /// Headers of each field, the best first.
    columns: BTreeMap<String, Vec<String>>,
    /// Headers of the time since when an order is in a state.
    state_at: BTreeMap<String, Vec<String>>,
    pub(super) states: Vec<StatusColumn>,
}

/// A column that tells an order's state.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StatusColumn {
    pub(super) column: Vec<String>,
    /// The state of an order where this column holds anything.
    any: Option<String>,
    /// May stand before each word.
    #[serde(default)]
    prefix: String,
    /// Its words: a state, `none` where it tells nothing, `skip` where the row is no order.
    #[serde(default)]
    words: BTreeMap<String, String>,
}

/// Meaning of a word of a status column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatusWord {
    State(OrderState),
    Nothing,
    NoOrder,
}

impl StatusColumn {
    /// The meaning of a cell; none of a word that is not known.
    pub(super) fn meaning(&self, cell: &str) -> Option<StatusWord> {
        let cell = letters(cell);
        let bare = cell.strip_prefix(&letters(&self.prefix)).unwrap_or(&cell);
        let word = self
            .any
            .as_ref()
            .or_else(|| self.words.iter().find(|(word, _)| letters(word) == bare).map(|(_, state)| state));
        match word?.as_str() {
            "none" => Some(StatusWord::Nothing),
            "skip" => Some(StatusWord::NoOrder),
            state => OrderState::parse(state).map(StatusWord::State),
        }
    }
}

static PRESETS: LazyLock<Vec<OrderPreset>> =
    LazyLock::new(|| FILES.iter().filter_map(|text| toml::from_str(text).ok()).collect());

const FILES: [&str; 3] = [
    include_str!("../../../assets/orders/shopify.toml"),
    include_str!("../../../assets/orders/woocommerce.toml"),
    include_str!("../../../assets/orders/stripe.toml"),
];

impl OrderPreset {
    /// All that there are.
    pub fn all() -> &'static [Self] {
        &PRESETS
    }

    /// Returns the preset with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().iter().find(|preset| preset.name.eq_ignore_ascii_case(name))
    }

    pub(super) fn recognised(headers: &[String]) -> Option<&'static Self> {
        Self::all().iter().find(|preset| preset.recognised_by.iter().all(|names| !places(names, headers).is_empty()))
    }

    /// The columns of each field, those that are there.
    pub(super) fn fields(&self, headers: &[String]) -> impl Iterator<Item = (OrderField, Vec<usize>)> {
        present(&self.columns, OrderField::parse, headers)
    }

    /// The columns of the time of each state.
    pub(super) fn times(&self, headers: &[String]) -> impl Iterator<Item = (OrderState, Vec<usize>)> {
        present(&self.state_at, OrderState::parse, headers)
    }

    /// The fields that no header is there for, each with the one that it has.
    pub fn missed(&self, headers: &[String]) -> Vec<String> {
        let fields = self.columns.iter().map(|(field, names)| (field.as_str(), names));
        let states = self.states.iter().filter(|status| status.any.is_none()).map(|status| ("state", &status.column));
        let missed = fields.chain(states).filter(|(_, names)| places(names, headers).is_empty());
        missed.map(|(field, names)| format!("{field} ({})", names[0])).collect()
    }
}

fn present<T>(
    columns: &BTreeMap<String, Vec<String>>,
    parse: fn(&str) -> Option<T>,
    headers: &[String],
) -> impl Iterator<Item = (T, Vec<usize>)> {
    let columns = columns.iter().filter_map(move |(name, names)| Some((parse(name)?, places(names, headers))));
    columns.filter(|(_, places)| !places.is_empty())
}

/// The columns of headers, in their order.
pub(super) fn places(names: &[String], headers: &[String]) -> Vec<usize> {
    let mut places = Vec::new();
    for place in names.iter().filter_map(|name| place_of(name, headers)) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_can_be_read_and_names_fields_and_states_that_there_are() {
        assert_eq!(OrderPreset::all().len(), FILES.len());
        for preset in OrderPreset::all() {
            assert!(preset.columns.keys().all(|field| OrderField::parse(field).is_some()), "{}", preset.name);
            assert!(preset.state_at.keys().all(|state| OrderState::parse(state).is_some()), "{}", preset.name);
            let words = preset.states.iter().flat_map(|status| status.words.values().chain(&status.any));
            for word in words {
                assert!(
                    matches!(word.as_str(), "none" | "skip") || OrderState::parse(word).is_some(),
                    "{}: {word}",
                    preset.name
                );
            }
        }
    }

    #[test]
    fn a_word_is_known_in_any_spelling_and_behind_its_prefix() {
        let status = &OrderPreset::named("WooCommerce").unwrap().states[0];

        let meanings = ["wc-completed", "Completed", "On hold", "on-hold", "Packing"].map(|word| status.meaning(word));

        let shipped = Some(StatusWord::State(OrderState::Shipped));
        assert_eq!(meanings, [shipped, shipped, Some(StatusWord::Nothing), Some(StatusWord::Nothing), None]);
    }
}
