//! Saved views: lists of alerts by name, built in or one's own; and the snoozed alerts that lists leave out: until when
//! each is, and which are back.

use std::collections::{HashMap, HashSet};

use crate::{
    desk::{BuiltIn, SavedView, SnoozedAlert, same_name},
    domain::{
        AlertFilter, AlertId, Calendar, Sort, Timestamp,
        query::{self, QueryError, Vocabulary},
    },
};

/// A view by name, with its filter and sort.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct View {
    pub name: String,
    pub filter: AlertFilter,
    pub sort: Sort,
    /// The part of its name that the list cannot be asked for, in words.
    pub note: Option<&'static str>,
}

impl View {
    /// A built-in view where lists know these words.
    pub fn built_in(view: BuiltIn, vocabulary: Vocabulary, now: Timestamp, calendar: Calendar) -> Self {
        let (filter, sort) = view.query(now, calendar, vocabulary);
        Self { name: view.name().to_owned(), filter, sort, note: view.note(vocabulary) }
    }

    /// A view as it was left by whoever listed this.
    pub fn listed(name: String, filter: AlertFilter, sort: Sort) -> Self {
        Self { name, filter, sort, note: None }
    }

    /// The built-in view of this name as it is by now, where time has made another one of it.
    pub fn renewed(&self, vocabulary: Vocabulary, now: Timestamp, calendar: Calendar) -> Option<Self> {
        let view = Self::built_in(BuiltIn::named(&self.name)?, vocabulary, now, calendar);
        (view.filter != self.filter).then_some(view)
    }

    /// Returns true where it is the one of the snoozed alerts.
    pub fn is_snoozed(&self) -> bool {
        self.name == BuiltIn::Snoozed.name()
    }
}

/// One's own views.
#[derive(Debug, Default)]
pub struct SavedViews {
    own: Vec<SavedView>,
    /// Words that lists can be asked for here.
    pub vocabulary: Vocabulary,
}

impl SavedViews {
    /// These are kept on the desk.
    pub fn of(own: Vec<SavedView>, vocabulary: Vocabulary) -> Self {
        Self { own, vocabulary }
    }

    /// Reads a query as lists can be asked here.
    pub fn read(&self, text: &str) -> Result<(AlertFilter, Sort), QueryError> {
        query::parse(text, self.vocabulary)
    }

    /// One's own view at a place among all.
    pub fn own(&self, at: usize) -> Option<&SavedView> {
        self.own.get(at.checked_sub(BuiltIn::ALL.len())?)
    }

    /// The names of all, the built-in ones first.
    pub fn names(&self) -> Vec<&str> {
        BuiltIn::ALL.iter().map(|view| view.name()).chain(self.own.iter().map(|view| view.name.as_str())).collect()
    }

    /// A view by its name, with today as a day of the calendar. One's own whose query can no longer be read is the
    /// error.
    pub fn named(&self, name: &str, now: Timestamp, calendar: Calendar) -> Option<Result<View, QueryError>> {
        // One's own may be older than a built-in one of this name.
        let Some(own) = self.own.iter().find(|view| view.name == name) else {
            let view = BuiltIn::named(name)?;
            return Some(Ok(View::built_in(view, self.vocabulary, now, calendar)));
        };
        Some(self.read(&own.query).map(|(filter, sort)| View::listed(own.name.clone(), filter, sort)))
    }

    /// Saves a view under its name; another one of that name gives way.
    pub fn save(&mut self, view: SavedView) {
        match self.own.iter_mut().find(|known| same_name(&known.name, &view.name)) {
            Some(known) => *known = view,
            None => self.own.push(view),
        }
    }

    /// Deletes one's own view of this name.
    pub fn delete(&mut self, name: &str) {
        self.own.retain(|view| view.name != name);
    }
}

/// Most alerts that are put aside at once: what is put aside is to be few, and the view of them reads each one.
pub const MOST_SNOOZED: usize = 100;

/// The alerts that are put aside.
#[derive(Debug, Clone, Default)]
pub struct SnoozeList {
    all: HashMap<AlertId, SnoozedAlert>,
}

impl SnoozeList {
    /// These are kept on the desk.
    pub fn of(kept: Vec<SnoozedAlert>) -> Self {
        Self { all: kept.into_iter().map(|snoozed| (snoozed.alert.id, snoozed)).collect() }
    }

    /// Until when an alert is put aside.
    pub fn until(&self, alert: AlertId) -> Option<Timestamp> {
        self.all.get(&alert).map(|snoozed| snoozed.until)
    }

    /// Number of them.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns true where nothing is put aside.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Which there are.
    pub fn ids(&self) -> HashSet<AlertId> {
        self.all.keys().copied().collect()
    }

    /// Which there are, the first that is back first.
    pub fn in_order(&self) -> Vec<AlertId> {
        let mut all: Vec<&SnoozedAlert> = self.all.values().collect();
        all.sort_by_key(|snoozed| (snoozed.until, snoozed.alert.id));
        all.into_iter().map(|snoozed| snoozed.alert.id).collect()
    }

    /// Puts alerts aside.
    pub fn put(&mut self, new: Vec<SnoozedAlert>) {
        self.all.extend(new.into_iter().map(|snoozed| (snoozed.alert.id, snoozed)));
    }

    /// Ends the snoozes of these alerts; those of them that were put aside.
    pub fn end(&mut self, alerts: impl IntoIterator<Item = AlertId>) -> Vec<AlertId> {
        alerts.into_iter().filter(|id| self.all.remove(id).is_some()).collect()
    }

    /// Takes out what is over: the alerts that are back, the earliest first.
    pub fn take_over(&mut self, now: Timestamp) -> Vec<SnoozedAlert> {
        let mut over: Vec<SnoozedAlert> = self.all.values().filter(|snoozed| snoozed.until <= now).cloned().collect();
        over.sort_by_key(|snoozed| (snoozed.until, snoozed.alert.id));
        for snoozed in &over {
            self.all.remove(&snoozed.alert.id);
        }
        over
    }

    /// Moment at which the next one is back.
    pub fn next_wake(&self) -> Option<Timestamp> {
        self.all.values().map(|snoozed| snoozed.until).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_of_today_is_another_one_tomorrow_and_others_stay() {
        let at = |text: &str| crate::domain::time::from_iso(text).unwrap();
        let of = |view| View::built_in(view, Vocabulary::Desk, at("2026-03-10T23:59:59Z"), Calendar::UTC);
        let renewed = |view, now: &str| of(view).renewed(Vocabulary::Desk, at(now), Calendar::UTC).is_some();

        assert_eq!(
            [renewed(BuiltIn::AnsweredToday, "2026-03-10T23:59:59Z"), renewed(BuiltIn::Due, "2026-03-11T00:00:00Z")],
            [false; 2]
        );
        assert!(renewed(BuiltIn::AnsweredToday, "2026-03-11T00:00:00Z"));
    }
}
