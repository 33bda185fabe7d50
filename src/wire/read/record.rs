//! The known fields of one alert as they were given, by their place in the tables of the domain, and what is read of
//! them.

use std::{borrow::Cow, collections::HashMap, sync::LazyLock};

use uuid::Uuid;

use crate::{
    domain::{
        Alert, AlertId, Amount, Deadline, FieldError, Outcome, OutcomeId, Timestamp,
        card::mask_card_numbers,
        field::{Access, Content, Field, Kind},
        intake::MAX_HOURS_LEFT,
        time::from_iso,
    },
    import::{CellKind, ColumnField, letters},
    json::{Given, Place, each_member},
};

/// Longest text of one field, in bytes; an alert has no use for more.
const MAX_TEXT: usize = 4_096;

/// Members beside the fields of the table, by their place after them.
const BESIDE: [&str; 3] = ["outcome", "hoursLeft", "expiresAt"];
const OUTCOME: Slot = Slot(Alert::FIELDS.len());
const HOURS_LEFT: Slot = Slot(OUTCOME.0 + 1);
pub(super) const EXPIRES_AT: Slot = Slot(OUTCOME.0 + 2);
/// The fields of the outcome come last.
const IN_OUTCOME: usize = OUTCOME.0 + BESIDE.len();
const COUNT: usize = IN_OUTCOME + Outcome::FIELDS.len();
const OUTCOME_PREFIX: &str = "outcome.";

/// The place of a known field in a [`Record`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot(pub(super) usize);

impl Slot {
    /// Finds a field of an alert by its name in any letter case. Senders mostly keep the interface's order, so the
    /// search goes on after the last find.
    fn find(name: &str, after: usize) -> Option<Self> {
        let is_called = |index: &usize| match Alert::FIELDS.get(*index) {
            Some(field) => field.is_called(name),
            None => BESIDE[*index - OUTCOME.0].eq_ignore_ascii_case(name),
        };
        let after = after.min(IN_OUTCOME);
        (after..IN_OUTCOME).chain(0..after).find(is_called).map(Self)
    }

    fn find_in_outcome(name: &str) -> Option<Self> {
        Outcome::FIELDS.iter().position(|field| field.is_called(name)).map(|index| Self(IN_OUTCOME + index))
    }
}

/// Columns of tables by the letters of their names; those of the outcome carry its name in front.
static COLUMNS: LazyLock<HashMap<String, Slot>> = LazyLock::new(|| {
    let older = Alert::FIELDS.iter().zip((0..).map(Slot)).filter_map(|(field, slot)| Some((field.older_name?, slot)));
    let columns = (0..COUNT).map(|place| (letters(&Slot(place).name()), Slot(place)));
    columns.chain(older.map(|(name, slot)| (letters(name), slot))).collect()
});

impl ColumnField for Slot {
    fn named(letters: &str) -> Option<Self> {
        COLUMNS.get(letters).copied()
    }

    /// The spelling on the wire; of the outcome's fields with its name in front.
    fn name(self) -> Cow<'static, str> {
        match (Alert::FIELDS.get(self.0), self.0.checked_sub(IN_OUTCOME)) {
            (Some(field), _) => field.name.into(),
            (None, None) => BESIDE[self.0 - OUTCOME.0].into(),
            (None, Some(index)) => format!("{OUTCOME_PREFIX}{}", Outcome::FIELDS[index].name).into(),
        }
    }

    fn kind(self) -> CellKind<Self> {
        match (Alert::FIELDS.get(self.0), self.0.checked_sub(IN_OUTCOME)) {
            (Some(field), _) => field_kind(field),
            (None, Some(index)) => field_kind(&Outcome::FIELDS[index]),
            (None, None) if self == EXPIRES_AT => CellKind::Moment,
            (None, None) => CellKind::Plain,
        }
    }
}

fn field_kind<R>(field: &Field<R>) -> CellKind<Slot> {
    match (&field.kind, field.text.content) {
        (Kind::Amount(_), _) => {
            let currency = if field.name == "chargebackAmount" { "chargebackCurrency" } else { "currency" };
            CellKind::Amount(Slot::find(currency, 0))
        }
        (Kind::Moment(_), _) if field.name == "transactionTimeStamp" => CellKind::Day,
        (Kind::Moment(_), _) => CellKind::Moment,
        (Kind::Word(_) | Kind::Text(_), Content::Name | Content::Code | Content::Prose | Content::Lines) => {
            CellKind::Text
        }
        _ => CellKind::Plain,
    }
}

/// The known fields of one alert as they were given.
#[derive(Debug)]
pub(crate) struct Record<'a, 'u> {
    given: [Option<Given<'a>>; COUNT],
    has_outcome: bool,
    /// Leaves out what cannot be read, numbers count as text, and a mere word is an outcome: an answer is never refused
    /// for a field that we could do without. Only `id` has to be read.
    pub(super) is_forgiving: bool,
    /// Names of fields that are not known, or left out.
    unknown: &'u mut UnknownNames,
}

impl<'a, 'u> Record<'a, 'u> {
    pub(crate) fn empty(unknown: &'u mut UnknownNames) -> Self {
        Self { given: [const { None }; COUNT], has_outcome: false, is_forgiving: false, unknown }
    }

    /// Takes the object `json`, which begins at `start` of its source.
    pub(crate) fn from_json(json: &'a str, start: Place, unknown: &'u mut UnknownNames) -> Result<Self, FieldError> {
        let mut record = Self::empty(unknown);
        let mut next = 0;
        each_member(json, start, |name, value| match Slot::find(&name, next) {
            Some(slot) => {
                next = slot.0 + 1;
                record.put(slot, Given::of(value));
            }
            None => record.unknown.add(&name),
        })?;
        if let Some(&Given::Object(outcome)) = record.given[OUTCOME.0].as_ref() {
            // An empty object is an outcome too: something was recorded.
            record.put_outcome(outcome)?;
        }
        Ok(record)
    }

    /// Takes the members of an outcome.
    pub(super) fn put_outcome(&mut self, json: &'a str) -> Result<(), FieldError> {
        self.has_outcome = true;
        each_member(json, Place::START, |name, value| match Slot::find_in_outcome(&name) {
            Some(slot) => self.put(slot, Given::of(value)),
            None => self.unknown.add(&format!("{OUTCOME_PREFIX}{name}")),
        })
    }

    /// Takes one cell of a table, which is not empty.
    pub(crate) fn put_cell(&mut self, slot: Slot, cell: Cow<'a, str>) {
        self.has_outcome |= slot.0 >= IN_OUTCOME;
        self.put(slot, Given::Text(cell));
    }

    fn or_left_out<T: Default>(&mut self, slot: Slot, read: Result<T, FieldError>) -> Result<T, FieldError> {
        if read.is_err() && self.is_forgiving {
            self.unknown.add(&format!("{} (not readable)", slot.name()));
            return Ok(T::default());
        }
        read
    }

    /// A later value replaces an earlier one, unless it is empty: a field with two spellings may come in both.
    fn put(&mut self, slot: Slot, given: Given<'a>) {
        let is_empty = given == Given::Null || given.scalar() == Some("");
        if !is_empty || self.given[slot.0].is_none() {
            self.given[slot.0] = Some(given);
        }
    }

    fn take(&mut self, slot: Slot) -> Option<Given<'a>> {
        self.given[slot.0].take().filter(|given| *given != Given::Null)
    }

    /// Reads the fields of a record, the first of which is at `first`; one that was not given stays as it is.
    fn read<R>(&mut self, first: usize, fields: &[Field<R>], into: &mut R) -> Result<(), FieldError> {
        for (field, slot) in fields.iter().zip((first..).map(Slot)) {
            let read = self.read_field(slot, field, into);
            self.or_left_out(slot, read)?;
        }
        Ok(())
    }

    fn read_field<R>(&mut self, slot: Slot, field: &Field<R>, into: &mut R) -> Result<(), FieldError> {
        match &field.kind {
            Kind::Id(id) | Kind::Reference(id) => set(into, id, self.id(slot)?),
            Kind::Moment(moment) => set(into, moment, self.moment(slot)?),
            Kind::Amount(amount) => set(into, amount, self.decimal(slot)?),
            Kind::Flag(flag) => set(into, flag, self.flag(slot)?),
            Kind::Word(access) | Kind::Text(access) => {
                let Some(text) = self.text(slot)? else { return Ok(()) };
                let is_trimmed = matches!(field.kind, Kind::Word(_)) || field.text.content == Content::Currency;
                (access.set)(into, if is_trimmed { Cow::Borrowed(text.trim()) } else { text });
            }
        }
        Ok(())
    }

    fn text(&mut self, slot: Slot) -> Result<Option<Cow<'a, str>>, FieldError> {
        match self.take(slot) {
            None => Ok(None),
            Some(Given::Text(text)) if text.len() > MAX_TEXT => {
                Err(FieldError::new(slot.name(), format!("has {} bytes: at most {MAX_TEXT} are allowed", text.len())))
            }
            Some(Given::Text(text)) => Ok(Some(text)),
            Some(Given::Bare(digits)) if self.is_forgiving => Ok(Some(digits.into())),
            Some(other) => Err(wrong(slot, &other, "a text")),
        }
    }

    fn parsed<T>(
        &mut self,
        slot: Slot,
        allowed: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, FieldError> {
        let Some(given) = self.take(slot) else { return Ok(None) };
        match given.scalar().map(str::trim) {
            Some("") => Ok(None),
            text => text.and_then(parse).map(Some).ok_or_else(|| wrong(slot, &given, allowed)),
        }
    }

    pub(super) fn moment(&mut self, slot: Slot) -> Result<Option<Timestamp>, FieldError> {
        self.parsed(slot, "an ISO 8601 date-time such as 2026-03-10T12:00:00Z", from_iso)
    }

    fn id(&mut self, slot: Slot) -> Result<Option<Uuid>, FieldError> {
        self.parsed(slot, "a UUID", |text| text.parse::<AlertId>().ok().map(|id| id.0))
    }

    fn decimal(&mut self, slot: Slot) -> Result<Option<Amount>, FieldError> {
        self.parsed(slot, "a decimal such as 129.90, as a string or a number", |text| text.parse().ok())
    }

    fn hours(&mut self) -> Result<Option<i64>, FieldError> {
        let allowed = format!("a whole number of hours, at most {MAX_HOURS_LEFT}");
        let hours: Option<i64> = self.parsed(HOURS_LEFT, &allowed, |text| text.parse().ok())?;
        Ok(hours.map(|hours| hours.max(-1)))
    }

    fn flag(&mut self, slot: Slot) -> Result<Option<bool>, FieldError> {
        // In the languages that spreadsheets are sold in, too.
        self.parsed(slot, "true or false", |text| match text.to_lowercase().as_str() {
            "true" | "wahr" | "vrai" | "verdadeiro" | "vero" => Some(true),
            "false" | "falsch" | "faux" | "falso" | "onwaar" => Some(false),
            _ => None,
        })
    }

    /// Makes an alert of what was given, and tells whether its id was; whatever is missing stays empty.
    pub(super) fn alert(&mut self) -> Result<(Alert, bool), FieldError> {
        let mut alert = Alert::default();
        let id = self.id(Slot(Alert::ID))?;
        alert.id = id.map(AlertId).unwrap_or_default();
        self.read(0, Alert::FIELDS, &mut alert)?;
        let hours = self.hours();
        alert.deadline = self.or_left_out(HOURS_LEFT, hours)?.map_or(Deadline::Unknown, Deadline::HoursLeft);
        alert.outcome = self.outcome(&alert)?;
        Ok((alert, id.is_some()))
    }

    /// The outcome, where there is one. It answers `alert`, whatever it says itself.
    pub(super) fn outcome(&mut self, alert: &Alert) -> Result<Option<Outcome>, FieldError> {
        match self.take(OUTCOME) {
            None | Some(Given::Object(_)) => {}
            // A table writes the outcome in columns of its own.
            Some(Given::Text(text)) if text.trim().is_empty() => {}
            Some(Given::Text(word)) if self.is_forgiving => {
                self.has_outcome = true;
                if let Some(slot) = Slot::find_in_outcome("outcome") {
                    self.given[slot.0] = Some(Given::Text(word));
                }
            }
            Some(other) => {
                let why = wrong(OUTCOME, &other, "an object or null (in CSV: columns outcome.outcome and so on)");
                return self.or_left_out(OUTCOME, Err(why));
            }
        }
        if !self.has_outcome {
            return Ok(None);
        }
        let mut outcome =
            Outcome { id: OutcomeId::generate(), provider_alert_id: alert.provider_id.clone(), ..Outcome::default() };
        self.read(IN_OUTCOME, Outcome::FIELDS, &mut outcome)?;
        Ok(Some(Outcome { alert_id: alert.id, ..outcome }))
    }
}

fn set<R, T>(into: &mut R, access: &Access<R, T>, value: Option<T>) {
    if let Some(value) = value {
        (access.set)(into, value);
    }
}

fn wrong(slot: Slot, given: &Given<'_>, allowed: &str) -> FieldError {
    FieldError::new(slot.name(), format!("is {}: {allowed} is allowed", given.words()))
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::alert_column;

    #[test]
    fn every_column_is_known_by_its_own_name_and_no_two_are_one() {
        for slot in (0..COUNT).map(Slot) {
            assert_eq!(Slot::named(&letters(&slot.name())), Some(slot));
        }
        assert_eq!(alert_column("Provider ID").as_deref(), Some("providerId"));
        assert_eq!(alert_column("colour"), None);
    }
}
