//! Saved views: lists of alerts by name, built in or one's own.

use crate::{
    desk::{BuiltIn, SavedView, same_name},
    domain::{
        AlertFilter, Calendar, Sort, Timestamp,
        query::{self, QueryError, Vocabulary},
    },
};

/// What is shown: a view by name, and what it asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct View {
    pub name: String,
    pub filter: AlertFilter,
    pub sort: Sort,
    /// What its name says and the list cannot be asked for, in words.
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

    /// Returns true where it is the one of what is put aside on this machine.
    pub fn is_snoozed(&self) -> bool {
        self.name == BuiltIn::Snoozed.name()
    }
}

/// One's own views, and the one that was deleted last.
#[derive(Debug, Default)]
pub struct SavedViews {
    own: Vec<SavedView>,
    /// What lists can be asked for here.
    pub vocabulary: Vocabulary,
    /// Where it stood, and what it was.
    deleted: Option<(usize, SavedView)>,
}

impl SavedViews {
    /// These are kept on the desk.
    pub fn of(own: Vec<SavedView>, vocabulary: Vocabulary) -> Self {
        Self { own, vocabulary, deleted: None }
    }

    /// Reads a query as lists can be asked here.
    pub fn read(&self, text: &str) -> Result<(AlertFilter, Sort), QueryError> {
        query::parse(text, self.vocabulary)
    }

    /// One's own.
    pub fn own(&self) -> &[SavedView] {
        &self.own
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

    /// Deletes a view by its place among all; the built-in ones stay.
    pub fn delete(&mut self, at: usize) -> Option<&SavedView> {
        let own = at.checked_sub(BuiltIn::ALL.len()).filter(|own| *own < self.own.len())?;
        let (_, view) = self.deleted.insert((own, self.own.remove(own)));
        Some(view)
    }

    /// Brings back the view that was deleted last: its place among all. One that was saved under its name meanwhile
    /// stays.
    ///
    /// # Errors
    /// In words, when there is none to bring back.
    pub fn restore(&mut self) -> Result<(usize, &SavedView), String> {
        let (at, view) = self.deleted.take().ok_or("No view was deleted.")?;
        if self.own.iter().any(|known| same_name(&known.name, &view.name)) {
            return Err(format!("Another view is called {} now.", view.name));
        }
        let at = at.min(self.own.len());
        self.own.insert(at, view);
        Ok((BuiltIn::ALL.len() + at, &self.own[at]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUILT_IN: usize = BuiltIn::ALL.len();

    fn views(names: &[&str]) -> SavedViews {
        SavedViews::of(
            names.iter().map(|name| SavedView { name: (*name).to_owned(), query: "status:open".to_owned() }).collect(),
            Vocabulary::Interface,
        )
    }

    #[test]
    fn a_deleted_view_comes_back_where_it_stood() {
        let mut all = views(&["one", "two", "three"]);

        let deleted = all.delete(BUILT_IN + 1).map(|view| view.name.clone());
        let restored = all.restore().map(|(at, view)| (at, view.name.clone()));

        assert_eq!(deleted.as_deref(), Some("two"));
        assert_eq!(restored, Ok((BUILT_IN + 1, "two".to_owned())));
        assert_eq!(all.names()[BUILT_IN..], ["one", "two", "three"]);
        assert_eq!(all.restore(), Err("No view was deleted.".to_owned()));
    }

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

    #[test]
    fn a_view_saved_under_a_deleted_ones_name_stays() {
        let mut all = views(&["one"]);
        all.delete(BUILT_IN);
        all.save(SavedView { name: "ONE".to_owned(), query: String::new() });

        assert_eq!(all.restore(), Err("Another view is called one now.".to_owned()));
        assert_eq!(all.names()[BUILT_IN..], ["ONE"]);
    }

    #[test]
    fn the_built_in_views_stay() {
        assert_eq!(views(&["one"]).delete(BUILT_IN - 1), None);
    }
}
