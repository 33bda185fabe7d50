//! The filter form: every parameter of the list operation, each with its error at its field.
//!
//! Nothing here is final, so Enter applies from anywhere. The same filter can be typed: the form shows the query that
//! says it.

mod dialog;
mod draw;
mod input;

use std::cell::Cell;

use crate::console::{ClickTargets, TextInput};
use crate::domain::calendar::parse_day;
use crate::domain::query::{self, DEFAULT_SORT, Key, Vocabulary};
use crate::domain::{AlertFilter, AlertStatus, AlertType, CompanyId, LocalConditions, Provider, Sort};
use chrono::NaiveDate;

/// The result of a form's event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilterStep {
    /// The form has taken it; draw again.
    Stay,
    /// Not for the form. Keys may mean something to the application; a mouse event still means nothing to what is
    /// behind.
    Ignored,
    /// Close the form; everything stays as it was.
    Cancel,
    /// Close the form and show what was asked for.
    Apply(Box<AlertFilter>, Sort),
}

/// What can have the focus, in the order of Tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Field {
    Search,
    Descriptor,
    Provider,
    Type,
    Status,
    Hours,
    Expired,
    From,
    To,
    TxFrom,
    TxTo,
    Outcome,
    Company,
    SortBy,
    Order,
    // The safe button comes first.
    Cancel,
    Reset,
    Apply,
}

impl Field {
    const ALL: [Self; 18] = [
        Self::Search,
        Self::Descriptor,
        Self::Provider,
        Self::Type,
        Self::Status,
        Self::Hours,
        Self::Expired,
        Self::From,
        Self::To,
        Self::TxFrom,
        Self::TxTo,
        Self::Outcome,
        Self::Company,
        Self::SortBy,
        Self::Order,
        Self::Cancel,
        Self::Reset,
        Self::Apply,
    ];

    fn is_button(self) -> bool {
        matches!(self, Self::Apply | Self::Reset | Self::Cancel)
    }

    /// The fields to type in, in the order of [`FilterForm::texts`].
    const TYPED: [Self; 9] = [
        Self::Search,
        Self::Descriptor,
        Self::Hours,
        Self::From,
        Self::To,
        Self::TxFrom,
        Self::TxTo,
        Self::Outcome,
        Self::Company,
    ];
}

/// What a click can meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    /// A field to type in, or a button.
    Field(Field),
    /// One of the things that can be chosen in a field.
    Choice(Field, usize),
}

/// Some of many.
#[derive(Debug)]
struct Toggles<T> {
    items: Vec<(T, bool)>,
}

impl<T: Clone + PartialEq> Toggles<T> {
    /// The known values, and those that are set though this version does not know them.
    fn new(known: &[T], set: &[T]) -> Self {
        let strangers = set.iter().filter(|value| !known.contains(value));
        Self { items: known.iter().chain(strangers).map(|value| (value.clone(), set.contains(value))).collect() }
    }

    fn chosen(&self) -> Vec<T> {
        self.items.iter().filter(|(_, on)| *on).map(|(value, _)| value.clone()).collect()
    }

    fn toggle(&mut self, index: usize) {
        if let Some((_, on)) = self.items.get_mut(index) {
            *on = !*on;
        }
    }
}

/// The filter form.
#[derive(Debug)]
pub struct FilterForm {
    texts: [TextInput; 9],
    providers: Toggles<Provider>,
    types: Toggles<AlertType>,
    statuses: Toggles<AlertStatus>,
    vocabulary: Vocabulary,
    expired: Option<bool>,
    sort: Sort,
    /// What is typed as a query and has no field here.
    conditions: LocalConditions,
    focus: Field,
    /// Which of the things to choose has the cursor, in the field that has the focus.
    at: usize,
    /// Applying was tried: from now on what is half typed is an error too.
    tried: bool,
    /// One sentence about the last key, until the next one.
    word: Option<String>,
    targets: ClickTargets<Target>,
    /// Rows that are scrolled out of sight at the top.
    scrolled: Cell<u16>,
    /// Whether the next frame scrolls to the focus; the wheel looks elsewhere.
    follow: Cell<bool>,
}

impl FilterForm {
    /// Opens the form on what is shown now.
    pub fn new(filter: &AlertFilter, sort: Sort, vocabulary: Vocabulary) -> Self {
        let day = |day: Option<NaiveDate>| {
            TextInput::one_line(&day.map_or(String::new(), |day| day.format("%Y-%m-%d").to_string()))
        };
        let text = |text: Option<&str>| TextInput::one_line(text.unwrap_or_default());
        let companies: Vec<String> = filter.companies.iter().map(ToString::to_string).collect();
        Self {
            texts: [
                text(filter.q.as_deref()),
                text(filter.descriptor.as_deref()),
                text(filter.expires_in.map(|hours| hours.to_string()).as_deref()),
                day(filter.start_date),
                day(filter.end_date),
                day(filter.transaction_start_date),
                day(filter.transaction_end_date),
                text(Some(&filter.outcomes.join(", "))),
                text(Some(&companies.join(", "))),
            ],
            providers: Toggles::new(vocabulary.providers(), &filter.providers),
            types: Toggles::new(AlertType::KNOWN, &filter.types),
            statuses: Toggles::new(vocabulary.statuses(), &filter.statuses),
            expired: filter.expired,
            sort,
            conditions: filter.conditions.clone(),
            focus: Field::Search,
            at: 0,
            tried: false,
            word: None,
            targets: ClickTargets::default(),
            vocabulary,
            scrolled: Cell::default(),
            follow: Cell::new(true),
        }
    }

    fn input(&self, field: Field) -> Option<&TextInput> {
        Field::TYPED.iter().position(|typed| *typed == field).map(|index| &self.texts[index])
    }

    fn input_mut(&mut self, field: Field) -> Option<&mut TextInput> {
        Field::TYPED.iter().position(|typed| *typed == field).map(|index| &mut self.texts[index])
    }

    fn text(&self, field: Field) -> String {
        self.input(field).map(TextInput::text).unwrap_or_default()
    }

    /// What is asked for, as far as it can be read.
    fn filter(&self) -> AlertFilter {
        let some = |text: String| Some(text).filter(|text| !text.trim().is_empty());
        let day = |field| parse_day(self.text(field).trim());
        AlertFilter {
            start_date: day(Field::From),
            end_date: day(Field::To),
            transaction_start_date: day(Field::TxFrom),
            transaction_end_date: day(Field::TxTo),
            providers: self.providers.chosen(),
            types: self.types.chosen(),
            statuses: self.statuses.chosen(),
            descriptor: some(self.text(Field::Descriptor)),
            outcomes: parts(&self.text(Field::Outcome)),
            expired: self.expired,
            expires_in: self.hours().ok().flatten(),
            companies: parts(&self.text(Field::Company)).iter().filter_map(|id| id.parse().ok()).collect(),
            q: some(self.text(Field::Search)),
            conditions: self.conditions.clone(),
        }
    }

    fn hours(&self) -> Result<Option<u32>, String> {
        let text = self.text(Field::Hours);
        match text.trim() {
            "" => Ok(None),
            text if text.bytes().all(|b| b.is_ascii_digit()) => match text.parse() {
                Ok(hours @ 1..) => match self.vocabulary.most_hours() {
                    Some(most) if hours > most => Err(format!("1 to {most} hours")),
                    _ => Ok(Some(hours)),
                },
                Ok(_) => Err("1 hour or more".to_owned()),
                Err(_) => Err("too many hours".to_owned()),
            },
            _ => Err("whole hours, such as 6".to_owned()),
        }
    }

    /// What is wrong with a field, in words.
    fn error(&self, field: Field) -> Option<String> {
        match field {
            Field::Hours => self.hours().err(),
            Field::From | Field::TxFrom => self.day_error(field),
            Field::To => self.day_error(field).or_else(|| self.range_error(Field::From, field)),
            Field::TxTo => self.day_error(field).or_else(|| self.range_error(Field::TxFrom, field)),
            Field::Outcome => self.outcome_error(),
            Field::Company => {
                parts(&self.text(field)).into_iter().find(|id| id.parse::<CompanyId>().is_err()).map(|id| {
                    format!(
                        "{} is no company id: UUIDs, with commas between them",
                        id.chars().take(40).collect::<String>()
                    )
                })
            }
            _ => None,
        }
    }

    fn outcome_error(&self) -> Option<String> {
        let outcomes = parts(&self.text(Field::Outcome));
        let wrong = outcomes.iter().find(|outcome| !self.vocabulary.knows_outcome(outcome))?;
        let takes = Key::Outcome.takes(self.vocabulary);
        (self.tried || self.focus != Field::Outcome)
            .then(|| format!("{} is not among {takes}", wrong.chars().take(40).collect::<String>()))
    }

    fn day_error(&self, field: Field) -> Option<String> {
        let text = self.text(field);
        let text = text.trim();
        if text.is_empty() || parse_day(text).is_some() {
            return None;
        }
        // While it is being typed, the beginning of a day is not an error yet.
        let beginning = text.len() < 10
            && text.bytes().enumerate().all(|(at, b)| if matches!(at, 4 | 7) { b == b'-' } else { b.is_ascii_digit() });
        (self.tried || self.focus != field || !beginning).then(|| format!("{text} is no day: YYYY-MM-DD"))
    }

    fn range_error(&self, start: Field, end: Field) -> Option<String> {
        let (first, last) = (parse_day(self.text(start).trim())?, parse_day(self.text(end).trim())?);
        (first > last).then(|| format!("{last} is before the beginning, {first}"))
    }

    /// The query that says what the form asks for.
    fn query(&self) -> String {
        query::render(&self.filter(), self.sort)
    }

    fn apply(&mut self) -> FilterStep {
        self.tried = true;
        let wrong: Vec<Field> = Field::ALL.into_iter().filter(|field| self.error(*field).is_some()).collect();
        match wrong.first() {
            None => FilterStep::Apply(Box::new(self.filter()), self.sort),
            Some(first) => {
                self.set_focus(*first);
                self.word = Some(match wrong.len() {
                    1 => "Nothing was applied: one field is wrong.".to_owned(),
                    count => format!("Nothing was applied: {count} fields are wrong."),
                });
                FilterStep::Stay
            }
        }
    }

    fn reset(&mut self) {
        let focus = self.focus;
        *self = Self {
            word: Some("Everything is wanted again; enter applies.".to_owned()),
            ..Self::new(&AlertFilter::default(), DEFAULT_SORT, self.vocabulary)
        };
        self.set_focus(focus);
    }

    fn set_focus(&mut self, field: Field) {
        self.focus = field;
        self.at = match field {
            Field::Expired => {
                [None, Some(true), Some(false)].iter().position(|expired| *expired == self.expired).unwrap_or(0)
            }
            Field::Order => usize::from(self.sort.order == crate::domain::SortOrder::Descending),
            _ => 0,
        };
        self.follow.set(true);
    }

    /// How many things there are to choose in a field.
    fn choices(&self, field: Field) -> usize {
        match field {
            Field::Provider => self.providers.items.len(),
            Field::Type => self.types.items.len(),
            Field::Status => self.statuses.items.len(),
            Field::Expired => 3,
            Field::Order => 2,
            _ => 0,
        }
    }
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
