//! The state of the Settings screen: one list of keys and clients, profiles, rules and settings. The cursor holds what
//! it is on, never a row.

use std::cmp::Reverse;

use chrono::Duration;

use crate::{
    ClickTargets, Effect, Loadable, Reply,
    domain::{Credential, CredentialKind, CredentialList, Timestamp},
    screens::loading::{LoadSchedule, Polled},
    setting::ListedProfile,
    ui::table::Cursor,
    user_settings::{USER_SETTINGS, UserSetting},
};

/// How often the list is loaded again while it is looked at: uses are written down to the minute.
const POLL: Duration = Duration::seconds(15);

/// A row of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingsRow {
    /// A key or client that may come in, by its id.
    Credential(String),
    /// A profile that a console can be opened on, by its name.
    Profile(String),
    /// A rule that suggests answers, by its place.
    Rule(usize),
    /// A setting of this console, by its place.
    Setting(usize),
}

/// The Settings screen.
#[derive(Debug, Default)]
pub struct SettingsScreen {
    /// The keys and clients, as they were told last.
    pub list: Polled<CredentialList>,
    /// The kind that is being created: one at a time.
    pub creating: Option<CredentialKind>,
    /// The profiles, as they were listed last; what is wrong where they could not be.
    pub profiles: Option<Result<Vec<ListedProfile>, String>>,
    pub(super) window: Cursor,
    pub(super) targets: ClickTargets<usize>,
    /// True where keys and clients can be managed from here.
    pub offered: bool,
    /// Number of rules.
    rules: usize,
    cursor: Option<SettingsRow>,
    /// True where the profiles were asked for since they were last wanted.
    has_asked_profiles: bool,
    loads: LoadSchedule,
}

impl SettingsScreen {
    /// The screen, nothing asked for yet.
    pub fn new(offered: bool) -> Self {
        Self { offered, ..Self::default() }
    }

    /// The rows, from above.
    pub fn rows(&self) -> Vec<SettingsRow> {
        let credentials = self.credentials().into_iter().map(|row| SettingsRow::Credential(row.id.clone()));
        let profiles = self.profile_rows().iter().map(|row| SettingsRow::Profile(row.name.clone()));
        let rules = (0..self.rules).map(SettingsRow::Rule);
        credentials.chain(profiles).chain(rules).chain((0..USER_SETTINGS.len()).map(SettingsRow::Setting)).collect()
    }

    /// The row under the cursor, by its place.
    pub fn at(&self) -> usize {
        let place = self.cursor.as_ref().and_then(|cursor| self.rows().iter().position(|row| row == cursor));
        // Where there are no credentials to look at, a console is looked at for its own settings.
        place.unwrap_or(if self.offered { 0 } else { self.rows().len() - USER_SETTINGS.len() })
    }

    /// The row under the cursor.
    pub fn row(&self) -> SettingsRow {
        self.rows().swap_remove(self.at())
    }

    /// Puts the cursor on a row.
    pub fn move_to(&mut self, row: usize) {
        self.cursor = self.rows().get(row).cloned();
    }

    /// Goes to the first row of the next part.
    pub fn next_part(&mut self) {
        let (rows, at) = (self.rows(), self.at());
        let part = |row: &SettingsRow| std::mem::discriminant(row);
        let next = rows[at..].iter().position(|row| part(row) != part(&rows[at])).map_or(0, |further| at + further);
        self.move_to(next);
    }

    /// The profiles that are listed.
    pub fn profile_rows(&self) -> &[ListedProfile] {
        self.profiles.as_ref().and_then(|answer| answer.as_deref().ok()).unwrap_or_default()
    }

    /// The profile under the cursor.
    pub fn chosen_profile(&self) -> Option<&ListedProfile> {
        let SettingsRow::Profile(name) = self.row() else { return None };
        self.profile_rows().iter().find(|profile| profile.name == name)
    }

    /// Takes in how many rules there are by now.
    pub fn rules_listed(&mut self, rules: usize) {
        self.rules = rules;
    }

    /// The setting under the cursor.
    pub fn setting(&self) -> Option<&'static UserSetting> {
        let SettingsRow::Setting(place) = self.row() else { return None };
        USER_SETTINGS.get(place)
    }

    /// Returns true where this console itself is known to the service by this credential.
    pub fn is_own(&self, credential: &Credential) -> bool {
        self.list.loaded().is_some_and(|list| list.in_use.contains(&credential.id))
    }

    /// The keys and clients: those that work, the newest first, then the revoked ones, the last revoked first.
    pub fn credentials(&self) -> Vec<&Credential> {
        let mut rows: Vec<&Credential> = self.list.loaded().into_iter().flat_map(|list| &list.credentials).collect();
        rows.sort_by_key(|row| {
            (row.revoked_at.is_some(), Reverse(row.revoked_at.unwrap_or(row.created_at)), row.id.as_str())
        });
        rows
    }

    /// The credential under the cursor.
    pub fn chosen(&self) -> Option<&Credential> {
        let SettingsRow::Credential(id) = self.row() else { return None };
        self.list.loaded()?.credentials.iter().find(|credential| credential.id == id)
    }

    /// Loads the lists at the next chance.
    pub fn refresh(&mut self, now: Timestamp) {
        self.loads.refresh(now);
        self.has_asked_profiles = false;
    }

    /// Takes the list in; the cursor stays on its credential.
    pub fn listed(&mut self, answer: Reply<CredentialList>, now: Timestamp) {
        self.cursor = self.cursor.take().or_else(|| self.chosen().map(|row| SettingsRow::Credential(row.id.clone())));
        self.list.take(answer, now);
    }

    /// Takes in what was just created, for the list; its secret is somewhere else. The cursor goes to it.
    pub fn created(&mut self, credential: &Credential) {
        self.creating = None;
        self.put(credential);
        self.cursor = Some(SettingsRow::Credential(credential.id.clone()));
    }

    /// Takes in how a credential is now.
    pub fn put(&mut self, credential: &Credential) {
        let Loadable::Loaded(list) = &mut self.list.data else { return };
        match list.credentials.iter_mut().find(|known| known.id == credential.id) {
            Some(known) => known.clone_from(credential),
            None => list.credentials.push(credential.clone()),
        }
    }

    /// Effects that are due while the screen is looked at.
    pub fn run_due(&mut self, now: Timestamp) -> Vec<Effect> {
        let mut effects = Vec::new();
        if !std::mem::replace(&mut self.has_asked_profiles, true) {
            effects.push(Effect::ListProfiles);
        }
        if self.offered && self.loads.take_due(now, POLL) {
            self.list.data.ask();
            effects.push(Effect::LoadCredentials);
        }
        effects
    }

    /// When [`SettingsScreen::run_due`] has something to do by itself.
    pub fn due(&self) -> Option<Timestamp> {
        self.loads.due.filter(|_| self.offered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Environment;
    use crate::domain::time::from_iso;

    fn now() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    fn credential(id: &str, days_old: i64, revoked_days_ago: Option<i64>) -> Credential {
        Credential {
            kind: CredentialKind::Client,
            id: id.to_owned(),
            environment: Some(Environment::Sandbox),
            created_at: now() - Duration::days(days_old),
            last_used_at: None,
            revoked_at: revoked_days_ago.map(|days| now() - Duration::days(days)),
        }
    }

    fn screen(credentials: Vec<Credential>) -> SettingsScreen {
        let mut settings = SettingsScreen::new(true);
        let (organization, environment, in_use) = ("acme".to_owned(), Environment::Sandbox, vec!["own".to_owned()]);
        settings.listed(Ok(CredentialList { organization, environment, credentials, in_use }), now());
        settings
    }

    #[test]
    fn what_works_comes_first_and_the_newest_of_it_on_top() {
        let settings = screen(vec![
            credential("old", 9, None),
            credential("gone", 1, Some(1)),
            credential("new", 1, None),
            credential("long", 3, Some(2)),
        ]);

        let ids: Vec<_> = settings.credentials().into_iter().map(|row| row.id.as_str()).collect();

        assert_eq!(ids, ["new", "old", "gone", "long"]);
    }

    #[test]
    fn the_cursor_stays_on_its_credential_when_others_come_before_it() {
        let mut settings = screen(vec![credential("a", 9, None), credential("b", 8, None)]);
        settings.move_to(1);
        assert_eq!(settings.chosen().map(|row| row.id.as_str()), Some("a"));

        let more = vec![credential("a", 9, None), credential("b", 8, None), credential("c", 1, None)];
        settings.listed(Ok(CredentialList { credentials: more, ..settings.list.loaded().unwrap().clone() }), now());

        assert_eq!((settings.at(), settings.chosen().map(|row| row.id.as_str())), (2, Some("a")));
    }

    #[test]
    fn nothing_but_the_profiles_is_asked_where_keys_cannot_be_managed() {
        let mut settings = SettingsScreen::new(false);

        let asked = [settings.run_due(now()), settings.run_due(now())];

        assert_eq!(asked, [vec![Effect::ListProfiles], vec![]]);
    }
}
