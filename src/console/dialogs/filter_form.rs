//! The filter form: every parameter of the list operation, read as the query language reads it. Nothing here is final,
//! so Enter applies from anywhere.

use super::question::FormDialog;
use crate::{
    Message, Tasks, dialog,
    domain::{
        AlertFilter, AlertStatus, AlertType, LocalConditions, Provider, Sort, SortField, SortOrder,
        query::{Key, Spelling, Vocabulary, add_value, backward_ranges, values_of},
    },
    text::sanitize,
    ui::form::{Form, FormField, FormOption},
};

const PROVIDER: usize = 2;
const TYPE: usize = 3;
const STATUS: usize = 4;
const EXPIRED: usize = 6;
const SORT_BY: usize = 13;
const ORDER: usize = 14;

/// The fields that are typed, each with its key of the query language.
const TYPED: [(usize, Key); 9] = [
    (0, Key::Text),
    (1, Key::Descriptor),
    (5, Key::Expires),
    (7, Key::From),
    (8, Key::To),
    (9, Key::TxFrom),
    (10, Key::TxTo),
    (11, Key::Outcome),
    (12, Key::Company),
];

/// Columns of a field for a day or a number.
const SHORT: u16 = 13;

/// Choices of the field "Expired".
const EXPIRES: [Option<bool>; 3] = [None, Some(true), Some(false)];

/// The values that the form offers, and what it keeps of the filter without a field.
#[derive(Debug)]
pub struct FilterForm {
    providers: Vec<Provider>,
    types: Vec<AlertType>,
    statuses: Vec<AlertStatus>,
    vocabulary: Vocabulary,
    /// Conditions of the query that have no field here.
    conditions: LocalConditions,
}

/// Opens the form on the filter of now.
pub fn open(filter: &AlertFilter, sort: Sort, vocabulary: Vocabulary) -> Tasks {
    let (offered, form) = FilterForm::of(filter, sort, vocabulary);
    dialog::open(FormDialog::new(form, move |form, _| {
        let (filter, sort) = offered.read(form)?;
        Ok(vec![Message::List(filter, sort).into()])
    }))
}

/// The values of the networks: those of sources are offered where they are set.
fn of_networks<T>(known: &[T], is_of_source: fn(&T) -> bool) -> &[T] {
    &known[..known.iter().position(is_of_source).unwrap_or(known.len())]
}

/// The known values, and those that are set though this version does not know them.
fn with_strangers<T: Clone + PartialEq>(known: &[T], set: &[T]) -> Vec<T> {
    known.iter().chain(set.iter().filter(|value| !known.contains(value))).cloned().collect()
}

fn checks<T: PartialEq>(label: &'static str, values: &[T], set: &[T], word: impl Fn(&T) -> String) -> FormField {
    FormField::checks(label, values.iter().map(|value| (sanitize(&word(value)).into_owned(), set.contains(value))))
}

/// Names a status as its answer: outside the older dialect RESOLVED is that of Refunded, and REFUNDED is listed too.
fn status_word(status: &AlertStatus, vocabulary: Vocabulary) -> String {
    match status {
        AlertStatus::Resolved if vocabulary != Vocabulary::Older => "refunded".to_owned(),
        AlertStatus::Refunded if vocabulary != Vocabulary::Older => "status REFUNDED".to_owned(),
        status => status.words().to_lowercase(),
    }
}

impl FilterForm {
    /// The form on a filter.
    pub fn of(filter: &AlertFilter, sort: Sort, vocabulary: Vocabulary) -> (Self, Form) {
        let offered = Self {
            providers: with_strangers(of_networks(vocabulary.providers(), Provider::is_source), &filter.providers),
            types: with_strangers(of_networks(AlertType::KNOWN, AlertType::is_of_source), &filter.types),
            statuses: with_strangers(vocabulary.statuses(), &filter.statuses),
            vocabulary,
            conditions: filter.conditions.clone(),
        };
        let text = |label, key| FormField::text(label, &values_of(filter, None, key).join(", "));
        let day = |label, key| text(label, key).hint("YYYY-MM-DD").width(SHORT);
        let expired = EXPIRES.iter().position(|expired| *expired == filter.expired).unwrap_or(0);
        let sorted = SortField::ALL.iter().position(|field| *field == sort.field).unwrap_or(0);
        let sort_words = SortField::ALL.iter().map(|field| FormOption::of(field.words())).collect();
        let descending = usize::from(sort.order == SortOrder::Descending);
        let fields = vec![
            text("Search", Key::Text).hint("in network id, descriptor, BIN, last four"),
            text("Descriptor", Key::Descriptor).hint("start of the merchant descriptor"),
            checks("Network", &offered.providers, &filter.providers, |value| value.as_str().to_owned()).apart(),
            checks("Type", &offered.types, &filter.types, |value| value.words().to_lowercase()),
            checks("Status", &offered.statuses, &filter.statuses, |value| status_word(value, vocabulary)),
            text("Due within", Key::Expires).hint("any time").width(SHORT).note("hours").apart(),
            FormField::choice("Expired", &["any", "yes", "no"], expired),
            day("Alert from", Key::From).note("UTC days"),
            day("to", Key::To),
            day("Payment from", Key::TxFrom).note("UTC days"),
            day("to", Key::TxTo),
            text("Outcome", Key::Outcome).hint("API outcome").apart(),
            text("Company", Key::Company).hint("company ids"),
            FormField::list("Sort by", sort_words, Some(sorted), true).apart(),
            FormField::choice("Order", &["ascending", "descending"], descending),
        ];
        (offered, Form::new("Filter", "Apply", fields, 0))
    }

    /// Filter and sort of the fields; or the first field at fault, and what is wrong with it.
    pub fn read(&self, form: &Form) -> Result<(AlertFilter, Sort), (usize, String)> {
        let mut filter = AlertFilter {
            providers: form.ticked(PROVIDER, &self.providers),
            types: form.ticked(TYPE, &self.types),
            statuses: form.ticked(STATUS, &self.statuses),
            expired: EXPIRES[form.chosen(EXPIRED)],
            conditions: self.conditions.clone(),
            ..AlertFilter::default()
        };
        for (field, key) in TYPED {
            let text = form.text(field);
            let values = text.split(|c: char| c == ',' && key.is_list()).map(str::trim);
            for value in values.filter(|value| !value.is_empty()) {
                if !add_value(&mut filter, key, value, self.vocabulary, Spelling::Typed) {
                    return Err((field, format!("takes {}", key.takes(self.vocabulary, Spelling::Typed))));
                }
            }
        }
        if let Some((key, wrong)) = backward_ranges(&filter).next() {
            let begins = TYPED.into_iter().find(|(_, of)| *of == key);
            return Err((begins.map_or(0, |(field, _)| field), wrong));
        }
        let descending = form.chosen(ORDER) == 1;
        let order = if descending { SortOrder::Descending } else { SortOrder::Ascending };
        Ok((filter, Sort { field: SortField::ALL[form.chosen(SORT_BY)], order }))
    }
}
