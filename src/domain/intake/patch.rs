//! The alert patch: what a source says of one alert, and which fields it gave.

use crate::{
    alert::{Alert, AlertStatus},
    field::Field,
    ids::AlertId,
};

/// Set of fields of an alert, by their place in the table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FieldSet(u128);

const _: () = assert!(Alert::FIELDS.len() <= u128::BITS as usize, "a set of fields is to be wider");

impl FieldSet {
    /// Returns the fields that are not blank.
    pub fn said_by(alert: &Alert) -> Self {
        let bit = |(place, field): (usize, &Field<Alert>)| u128::from(!(field.is_blank)(alert)) << place;
        Self(Alert::FIELDS.iter().enumerate().map(bit).sum())
    }

    /// Returns true where the field at this place of the table is in the set.
    pub fn contains(self, place: usize) -> bool {
        self.0 >> place & 1 == 1
    }

    pub(super) fn fields(self) -> impl Iterator<Item = &'static Field<Alert>> {
        Alert::FIELDS.iter().enumerate().filter(move |(place, _)| self.contains(*place)).map(|(_, field)| field)
    }

    /// Returns the fields that are in both.
    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn with(self, place: usize, is_in: bool) -> Self {
        Self(self.0 & !(1 << place) | u128::from(is_in) << place)
    }
}

/// Alert patch: the content of an alert to ingest. A new alert is stored as the patch once it is complete; a known one
/// takes over the given fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertPatch {
    /// The line or position in its source, for reports; 1-based.
    pub line: u64,
    /// `alert.deadline` is `At` where the source gave one, and `HoursLeft` where it gave the hours.
    pub alert: Alert,
    /// Fields given by the source itself. The id is the identity where it is given; otherwise provider and provider id
    /// are.
    pub given: FieldSet,
    /// True where `alert.created` is recorded if the alert is new.
    pub event: bool,
}

impl AlertPatch {
    /// Returns a patch that gives every field of an alert that is not blank.
    pub fn of(alert: Alert) -> Self {
        Self::read(1, alert, true)
    }

    /// Returns a patch as it was read from a line of a source. A blank field was not given, such as an id of zeros
    /// alone.
    pub fn read(line: u64, mut alert: Alert, id_given: bool) -> Self {
        let given = FieldSet::said_by(&alert).with(Alert::ID, id_given && alert.id != AlertId::default());
        if alert.status == AlertStatus::default() {
            alert.status = AlertStatus::Open;
        }
        Self { line, alert, given, event: false }
    }

    /// Returns the patch as from another line.
    #[must_use]
    pub fn at(self, line: u64) -> Self {
        Self { line, ..self }
    }

    /// Returns the patch without one of its given fields.
    #[must_use]
    pub fn without(self, name: &str) -> Self {
        let place = Alert::FIELDS.iter().position(|field| field.name == name);
        Self { given: place.map_or(self.given, |place| self.given.with(place, false)), ..self }
    }

    /// Returns true for a field that was given.
    pub fn gives(&self, name: &str) -> bool {
        self.given.fields().any(|field| field.name == name)
    }

    /// Returns true where the id is the identity.
    pub fn is_by_id(&self) -> bool {
        self.given.contains(Alert::ID)
    }
}
