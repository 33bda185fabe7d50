//! The filter form: every parameter of the list operation, each with its error at its field.
//!
//! Nothing here is final, so Enter applies from anywhere. The same filter can be typed: the form shows the query that
//! says it.

use chrono::NaiveDate;
use crossterm::event::Event;
use ratatui::{Frame, layout::Rect};

use crate::{
    AppContext, Dialog, Message, Order, Orders, Theme,
    domain::{
        AlertFilter, AlertStatus, AlertType, CompanyId, LocalConditions, Provider, Sort, SortField, SortOrder,
        calendar::parse_day,
        query::{self, DEFAULT_SORT, Key, Spelling, Vocabulary},
    },
    text::sanitize,
    ui::form::{Entered, Form, FormField, FormOption},
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
const FIELDS: usize = 15;

/// Columns of a field for a day or a number.
const SHORT: u16 = 13;

/// Choices of the field "Expired".
const EXPIRES: [Option<bool>; 3] = [None, Some(true), Some(false)];

/// The result of a form's event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilterStep {
    /// The form has taken it; draw again.
    Stay,
    /// Close the form; everything stays as it was.
    Cancel,
    /// Close the form and show what was asked for.
    Apply(Box<AlertFilter>, Sort),
}

/// The filter form.
#[derive(Debug)]
pub struct FilterForm {
    form: Form,
    providers: Vec<Provider>,
    types: Vec<AlertType>,
    statuses: Vec<AlertStatus>,
    vocabulary: Vocabulary,
    /// Conditions of the query that have no field here.
    conditions: LocalConditions,
    /// Applying was tried: from now on what is half typed is an error too.
    tried: bool,
}

/// The known values, and those that are set though this version does not know them.
fn with_strangers<T: Clone + PartialEq>(known: &[T], set: &[T]) -> Vec<T> {
    known.iter().chain(set.iter().filter(|value| !known.contains(value))).cloned().collect()
}

fn checks<T: PartialEq>(label: &'static str, values: &[T], set: &[T], word: impl Fn(&T) -> String) -> FormField {
    FormField::checks(label, values.iter().map(|value| (sanitize(&word(value)).into_owned(), set.contains(value))))
}

impl FilterForm {
    /// Opens the form on the filter of now.
    pub fn new(filter: &AlertFilter, sort: Sort, vocabulary: Vocabulary) -> Self {
        let day = |label, day: Option<NaiveDate>| {
            let text = day.map_or(String::new(), |day| day.format("%Y-%m-%d").to_string());
            FormField::text(label, &text).hint("YYYY-MM-DD").width(SHORT)
        };
        let text = |label, text: Option<&str>| FormField::text(label, text.unwrap_or_default());
        let companies: Vec<String> = filter.companies.iter().map(ToString::to_string).collect();
        let providers = with_strangers(vocabulary.providers(), &filter.providers);
        let types = with_strangers(AlertType::KNOWN, &filter.types);
        let statuses = with_strangers(vocabulary.statuses(), &filter.statuses);
        let hours = filter.expires_in.map(|hours| hours.to_string());
        let expired = EXPIRES.iter().position(|expired| *expired == filter.expired).unwrap_or(0);
        let sorted = SortField::ALL.iter().position(|field| *field == sort.field).unwrap_or(0);
        let sort_words = SortField::ALL.iter().map(|field| FormOption::of(field.words())).collect();
        let descending = usize::from(sort.order == SortOrder::Descending);
        let fields = vec![
            text("Search", filter.q.as_deref()).hint("in network id, descriptor, BIN, last four"),
            text("Descriptor", filter.descriptor.as_deref()).hint("start of the merchant descriptor"),
            checks("Network", &providers, &filter.providers, |value| value.as_str().to_owned()).apart(),
            checks("Type", &types, &filter.types, |value| value.words().to_lowercase()),
            checks("Status", &statuses, &filter.statuses, |value| value.as_str().to_owned()),
            text("Due within", hours.as_deref()).hint("any time").width(SHORT).note("hours").apart(),
            FormField::choice("Expired", &["any", "yes", "no"], expired),
            day("Alert from", filter.start_date).note("UTC days"),
            day("to", filter.end_date),
            day("Payment from", filter.transaction_start_date).note("UTC days"),
            day("to", filter.transaction_end_date),
            text("Outcome", Some(&filter.outcomes.join(", "))).hint("API outcome").apart(),
            text("Company", Some(&companies.join(", "))).hint("company ids"),
            FormField::list("Sort by", sort_words, Some(sorted), true).apart(),
            FormField::choice("Order", &order_words(sort.field), descending),
        ];
        let form = Form::new("Filter", "Apply", fields, SEARCH).with_reset();
        let conditions = filter.conditions.clone();
        let mut form = Self { form, providers, types, statuses, vocabulary, conditions, tried: false };
        form.follow();
        form
    }

    /// Filter of the fields, as far as it can be read.
    fn filter(&self) -> AlertFilter {
        let form = &self.form;
        let some = |field| Some(form.raw_text(field)).filter(|text| !text.trim().is_empty());
        AlertFilter {
            start_date: self.day(FROM),
            end_date: self.day(TO),
            transaction_start_date: self.day(TX_FROM),
            transaction_end_date: self.day(TX_TO),
            providers: form.ticked(PROVIDER, &self.providers),
            types: form.ticked(TYPE, &self.types),
            statuses: form.ticked(STATUS, &self.statuses),
            descriptor: some(DESCRIPTOR),
            outcomes: parts(&form.text(OUTCOME)),
            expired: EXPIRES[form.chosen(EXPIRED)],
            expires_in: self.hours().ok().flatten(),
            companies: parts(&form.text(COMPANY)).iter().filter_map(|id| id.parse().ok()).collect(),
            q: some(SEARCH),
            conditions: self.conditions.clone(),
        }
    }

    fn sort(&self) -> Sort {
        let descending = self.form.chosen(ORDER) == 1;
        let order = if descending { SortOrder::Descending } else { SortOrder::Ascending };
        Sort { field: SortField::ALL[self.form.chosen(SORT_BY)], order }
    }

    fn day(&self, field: usize) -> Option<NaiveDate> {
        parse_day(&self.form.text(field))
    }

    fn hours(&self) -> Result<Option<u32>, String> {
        match self.form.text(HOURS).as_str() {
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

    /// Error of a field, in words.
    fn error(&self, field: usize) -> Option<String> {
        let first_chars = |text: &str| text.chars().take(40).collect::<String>();
        let left = self.tried || self.form.focus() != Some(field);
        match field {
            HOURS => self.hours().err(),
            FROM | TX_FROM => self.day_error(field, left),
            TO | TX_TO => self.day_error(field, left).or_else(|| {
                let (first, last) = (self.day(field - 1)?, self.day(field)?);
                (first > last).then(|| format!("{last} is before the start, {first}"))
            }),
            OUTCOME => {
                let outcomes = parts(&self.form.text(field));
                let wrong = outcomes.iter().find(|outcome| {
                    query::read_value(Key::Outcome, outcome, self.vocabulary, Spelling::Typed).is_none()
                })?;
                let takes = Key::Outcome.takes(self.vocabulary, Spelling::Typed);
                left.then(|| format!("{} is not one of {takes}", first_chars(wrong)))
            }
            COMPANY => {
                let ids = parts(&self.form.text(field));
                let wrong = ids.iter().find(|id| id.parse::<CompanyId>().is_err())?;
                Some(format!("{} is no company id: use UUIDs with commas", first_chars(wrong)))
            }
            _ => None,
        }
    }

    fn day_error(&self, field: usize, left: bool) -> Option<String> {
        let text = self.form.text(field);
        let is_wrong = !text.is_empty() && parse_day(&text).is_none();
        // While it is being typed, the beginning of a day is not an error yet.
        (is_wrong && left).then(|| format!("{text} is no day: use YYYY-MM-DD"))
    }

    fn apply(&mut self) -> FilterStep {
        self.tried = true;
        let wrong: Vec<(usize, String)> = (0..FIELDS).filter_map(|field| Some((field, self.error(field)?))).collect();
        let Some((first, error)) = wrong.first() else {
            return FilterStep::Apply(Box::new(self.filter()), self.sort());
        };
        self.form.refuse(*first, error.as_str());
        self.form.say(match wrong.len() {
            1 => "Not applied: one field is wrong.".to_owned(),
            count => format!("Not applied: {count} fields are wrong."),
        });
        FilterStep::Stay
    }

    /// Applies one event of the terminal.
    pub fn handle(&mut self, event: &Event) -> FilterStep {
        let step = match self.form.handle(event) {
            Entered::Nothing => FilterStep::Stay,
            Entered::Leave => FilterStep::Cancel,
            Entered::Submit => self.apply(),
            Entered::Reset => {
                *self = Self::new(&AlertFilter::default(), DEFAULT_SORT, self.vocabulary);
                self.form.say("Filter cleared. Enter applies.");
                FilterStep::Stay
            }
        };
        self.follow();
        step
    }

    /// Shows the errors, the query and the words of the order as they are now.
    fn follow(&mut self) {
        for field in 0..FIELDS {
            self.form.set_error(field, self.error(field));
        }
        self.form.set_options(ORDER, &order_words(self.sort().field));
        let query = query::render(&self.filter(), self.sort());
        let everything = "everything, due next first";
        self.form.set_about(if query.is_empty() { everything.into() } else { sanitize(&query) });
    }

    /// Draws the form into the middle of an area, over what is there.
    pub fn draw(&self, frame: &mut Frame<'_>, area: Rect, theme: &Theme) {
        self.form.draw(theme, frame, area);
    }
}

impl Dialog for FilterForm {
    fn update(&mut self, message: &Message, _: &mut AppContext) -> Orders {
        let Message::Input(event) = message else { return Vec::new() };
        match self.handle(event) {
            FilterStep::Apply(filter, sort) => vec![Order::Close, Message::List(*filter, sort).into()],
            FilterStep::Cancel => vec![Order::Close],
            FilterStep::Stay => Vec::new(),
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        FilterForm::draw(self, frame, area, &cx.theme);
    }
}

/// Words of either direction, by the property.
const fn order_words(field: SortField) -> [&'static str; 2] {
    use SortField as By;
    match field {
        By::AlertTimeStamp
        | By::TransactionTimeStamp
        | By::CreatedAt
        | By::UpdatedAt
        | By::ExpiredAt
        | By::HoursLeft => ["earliest first", "latest first"],
        By::Amount => ["smallest first", "largest first"],
        _ => ["a to z", "z to a"],
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
