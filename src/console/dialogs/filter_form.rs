//! The filter form: every parameter of the list operation, each with its error at its field. Nothing here is final, so
//! Enter applies from anywhere.

use chrono::NaiveDate;

use super::form_dialog::FormDialog;
use crate::{
    Message, Orders, dialog,
    domain::{
        AlertFilter, AlertStatus, AlertType, CompanyId, LocalConditions, Provider, Sort, SortField, SortOrder,
        calendar::parse_day,
        query::{self, Key, Spelling, Vocabulary},
    },
    text::sanitize,
    ui::form::{Form, FormField, FormOption},
};

const SEARCH: usize = 0;
const DESCRIPTOR: usize = 1;
const PROVIDER: usize = 2;
const TYPE: usize = 3;
const STATUS: usize = 4;
const HOURS: usize = 5;
const EXPIRED: usize = 6;
const FROM: usize = 7;
const TO: usize = 8;
const TX_FROM: usize = 9;
const TX_TO: usize = 10;
const OUTCOME: usize = 11;
const COMPANY: usize = 12;
const SORT_BY: usize = 13;
const ORDER: usize = 14;

/// Columns of a field for a day or a number.
const SHORT: u16 = 13;

/// Choices of the field "Expired".
const EXPIRES: [Option<bool>; 3] = [None, Some(true), Some(false)];

/// Columns of what is wrong that are repeated in its error.
const SHOWN_OF_WRONG: usize = 40;

/// Error of a field: its place, and what is wrong with it.
type FieldAtFault = (usize, String);

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
pub fn open(filter: &AlertFilter, sort: Sort, vocabulary: Vocabulary) -> Orders {
    let (offered, form) = FilterForm::of(filter, sort, vocabulary);
    dialog::open(FormDialog::new(form, move |form, _| {
        let (filter, sort) = offered.read(form)?;
        Ok(vec![Message::List(filter, sort).into()])
    }))
}

/// The known values, and those that are set though this version does not know them.
fn with_strangers<T: Clone + PartialEq>(known: &[T], set: &[T]) -> Vec<T> {
    known.iter().chain(set.iter().filter(|value| !known.contains(value))).cloned().collect()
}

fn checks<T: PartialEq>(label: &'static str, values: &[T], set: &[T], word: impl Fn(&T) -> String) -> FormField {
    FormField::checks(label, values.iter().map(|value| (sanitize(&word(value)).into_owned(), set.contains(value))))
}

impl FilterForm {
    /// The form on a filter.
    pub fn of(filter: &AlertFilter, sort: Sort, vocabulary: Vocabulary) -> (Self, Form) {
        let offered = Self {
            providers: with_strangers(vocabulary.providers(), &filter.providers),
            types: with_strangers(AlertType::KNOWN, &filter.types),
            statuses: with_strangers(vocabulary.statuses(), &filter.statuses),
            vocabulary,
            conditions: filter.conditions.clone(),
        };
        let day = |label, day: Option<NaiveDate>| {
            let text = day.map_or(String::new(), |day| day.format("%Y-%m-%d").to_string());
            FormField::text(label, &text).hint("YYYY-MM-DD").width(SHORT)
        };
        let text = |label, text: Option<&str>| FormField::text(label, text.unwrap_or_default());
        let companies: Vec<String> = filter.companies.iter().map(ToString::to_string).collect();
        let hours = filter.expires_in.map(|hours| hours.to_string());
        let expired = EXPIRES.iter().position(|expired| *expired == filter.expired).unwrap_or(0);
        let sorted = SortField::ALL.iter().position(|field| *field == sort.field).unwrap_or(0);
        let sort_words = SortField::ALL.iter().map(|field| FormOption::of(field.words())).collect();
        let descending = usize::from(sort.order == SortOrder::Descending);
        let fields = vec![
            text("Search", filter.q.as_deref()).hint("in network id, descriptor, BIN, last four"),
            text("Descriptor", filter.descriptor.as_deref()).hint("start of the merchant descriptor"),
            checks("Network", &offered.providers, &filter.providers, |value| value.as_str().to_owned()).apart(),
            checks("Type", &offered.types, &filter.types, |value| value.words().to_lowercase()),
            checks("Status", &offered.statuses, &filter.statuses, |value| value.as_str().to_owned()),
            text("Due within", hours.as_deref()).hint("any time").width(SHORT).note("hours").apart(),
            FormField::choice("Expired", &["any", "yes", "no"], expired),
            day("Alert from", filter.start_date).note("UTC days"),
            day("to", filter.end_date),
            day("Payment from", filter.transaction_start_date).note("UTC days"),
            day("to", filter.transaction_end_date),
            text("Outcome", Some(&filter.outcomes.join(", "))).hint("API outcome").apart(),
            text("Company", Some(&companies.join(", "))).hint("company ids"),
            FormField::list("Sort by", sort_words, Some(sorted), true).apart(),
            FormField::choice("Order", &["ascending", "descending"], descending),
        ];
        (offered, Form::new("Filter", "Apply", fields, SEARCH))
    }

    /// Filter and sort of the fields, or the error of the first field at fault.
    pub fn read(&self, form: &Form) -> Result<(AlertFilter, Sort), FieldAtFault> {
        let some = |field| Some(form.raw_text(field)).filter(|text| !text.trim().is_empty());
        let expires_in = self.hours(&form.text(HOURS)).map_err(|wrong| (HOURS, wrong))?;
        let [start_date, end_date] = days(form, [FROM, TO])?;
        let [transaction_start_date, transaction_end_date] = days(form, [TX_FROM, TX_TO])?;
        let filter = AlertFilter {
            start_date,
            end_date,
            transaction_start_date,
            transaction_end_date,
            providers: form.ticked(PROVIDER, &self.providers),
            types: form.ticked(TYPE, &self.types),
            statuses: form.ticked(STATUS, &self.statuses),
            descriptor: some(DESCRIPTOR),
            outcomes: self.outcomes(form)?,
            expired: EXPIRES[form.chosen(EXPIRED)],
            expires_in,
            companies: companies(form)?,
            q: some(SEARCH),
            conditions: self.conditions.clone(),
        };
        let descending = form.chosen(ORDER) == 1;
        let order = if descending { SortOrder::Descending } else { SortOrder::Ascending };
        Ok((filter, Sort { field: SortField::ALL[form.chosen(SORT_BY)], order }))
    }

    fn hours(&self, text: &str) -> Result<Option<u32>, String> {
        match text.parse() {
            _ if text.is_empty() => Ok(None),
            Ok(hours @ 1..) => match self.vocabulary.most_hours() {
                Some(most) if hours > most => Err(format!("1 to {most} hours")),
                _ => Ok(Some(hours)),
            },
            _ => Err("whole hours, such as 6".to_owned()),
        }
    }

    fn outcomes(&self, form: &Form) -> Result<Vec<String>, FieldAtFault> {
        let outcomes = parts(&form.text(OUTCOME));
        let is_wrong =
            |outcome: &&String| query::read_value(Key::Outcome, outcome, self.vocabulary, Spelling::Typed).is_none();
        match outcomes.iter().find(is_wrong) {
            None => Ok(outcomes),
            Some(wrong) => {
                let takes = Key::Outcome.takes(self.vocabulary, Spelling::Typed);
                Err((OUTCOME, format!("{} is not one of {takes}", first_chars(wrong))))
            }
        }
    }
}

/// The first and the last day of two fields.
fn days(form: &Form, fields: [usize; 2]) -> Result<[Option<NaiveDate>; 2], FieldAtFault> {
    let day = |field| match form.given(field) {
        None => Ok(None),
        Some(text) => match parse_day(&text) {
            None => Err((field, format!("{text} is no day: use YYYY-MM-DD"))),
            day => Ok(day),
        },
    };
    let [first, last] = [day(fields[0])?, day(fields[1])?];
    match (first, last) {
        (Some(first), Some(last)) if first > last => Err((fields[1], format!("{last} is before the start, {first}"))),
        days => Ok(days.into()),
    }
}

fn companies(form: &Form) -> Result<Vec<CompanyId>, FieldAtFault> {
    let read = |id: &String| {
        let wrong = || (COMPANY, format!("{} is no company id: use UUIDs with commas", first_chars(id)));
        id.parse().map_err(|_| wrong())
    };
    parts(&form.text(COMPANY)).iter().map(read).collect()
}

fn first_chars(text: &str) -> String {
    text.chars().take(SHOWN_OF_WRONG).collect()
}

/// The parts of a list with commas, without the blanks around them; none twice.
fn parts(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        if !parts.iter().any(|there| there == part) {
            parts.push(part.to_owned());
        }
    }
    parts
}
