//! The state of the Settings screen. The cursor holds a credential's id, never a row.

use std::cell::Cell;
use std::cmp::Reverse;

use chrono::Duration;

use crate::console::profile_directory::ListedProfile;
use crate::console::user_settings::{USER_SETTINGS, UserSetting};
use crate::console::{Action, ClickTargets, Effect, Loadable, Reply};
use crate::domain::{Credential, CredentialKind, CredentialList, Timestamp};
use crate::service::ServiceError;
use crate::ui::table::moved;

/// How often the list is loaded again while it is looked at: uses are written down to the minute.
const POLL: Duration = Duration::seconds(15);

/// What a click can meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SettingsTarget {
    Row(SettingsPart, usize),
    Do(Action),
}

/// A part of the screen that has rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SettingsPart {
    /// The keys and clients that may come in.
    #[default]
    Credentials,
    /// What a console can be opened on.
    Profiles,
    /// The rules that suggest answers.
    Rules,
    /// What this console is set to.
    Console,
}

/// The Settings screen.
#[derive(Debug, Default)]
pub struct SettingsScreen {
    /// The keys and clients, as they were told last.
    pub list: Loadable<CredentialList>,
    /// Since when they cannot be loaded, and why.
    pub trouble: Option<(Timestamp, ServiceError)>,
    /// What is being created: one at a time.
    pub creating: Option<CredentialKind>,
    /// The profiles, as they were listed last; what is wrong where they could not be.
    pub profiles: Option<Result<Vec<ListedProfile>, String>>,
    /// Lines that are scrolled away and lines there are room for, as the last frame found.
    pub window: Cell<(usize, usize)>,
    pub(super) targets: ClickTargets<SettingsTarget>,
    /// True where keys and clients can be managed from here.
    offered: bool,
    /// Where the cursor is.
    part: SettingsPart,
    /// Which of the settings the cursor is on there.
    setting: usize,
    /// Which of the rules it is on there, and how many there are.
    rule: usize,
    rules: usize,
    /// The name of the profile that it is on there.
    profile: Option<String>,
    cursor: Option<String>,
    /// True where the profiles were asked for since they were last wanted.
    has_asked_profiles: bool,
    refresh_due: Option<Timestamp>,
}

impl SettingsScreen {
    /// The screen, nothing asked for yet.
    pub fn new(offered: bool) -> Self {
        let part = if offered { SettingsPart::Credentials } else { SettingsPart::Console };
        Self { offered, part, ..Self::default() }
    }

    /// Returns true where keys and clients can be managed from here.
    pub fn is_offered(&self) -> bool {
        self.offered
    }

    /// The parts that the cursor can be in, from above.
    pub fn parts(&self) -> Vec<SettingsPart> {
        let all = [
            (self.offered && !self.rows().is_empty(), SettingsPart::Credentials),
            (!self.profile_rows().is_empty(), SettingsPart::Profiles),
            (self.rules > 0, SettingsPart::Rules),
            (true, SettingsPart::Console),
        ];
        all.into_iter().filter(|(is_there, _)| *is_there).map(|(_, part)| part).collect()
    }

    /// Where the cursor is: where the part that it belongs to has no rows, in the first one that has some.
    pub fn part(&self) -> SettingsPart {
        let parts = self.parts();
        if parts.contains(&self.part) { self.part } else { parts[0] }
    }

    /// Goes to the next part.
    pub fn next_part(&mut self) {
        let parts = self.parts();
        let at = parts.iter().position(|part| *part == self.part()).map_or(0, |at| (at + 1) % parts.len());
        self.part = parts[at];
    }

    /// Goes to a part, where it is there.
    pub fn go_to_part(&mut self, part: SettingsPart) {
        if self.parts().contains(&part) {
            self.part = part;
        }
    }

    /// The profiles that are listed.
    pub fn profile_rows(&self) -> &[ListedProfile] {
        self.profiles.as_ref().and_then(|answer| answer.as_deref().ok()).unwrap_or_default()
    }

    /// The place of the profile under the cursor.
    pub fn profile_row(&self) -> usize {
        self.profile.as_ref().and_then(|name| self.profile_rows().iter().position(|row| row.name == *name)).unwrap_or(0)
    }

    /// The profile under the cursor, where that is among them.
    pub fn chosen_profile(&self) -> Option<&ListedProfile> {
        self.profile_rows().get(self.profile_row()).filter(|_| self.part() == SettingsPart::Profiles)
    }

    /// Takes the profiles in; the cursor leaves them where there are none any more.
    pub fn profiles_listed(&mut self, answer: Result<Vec<ListedProfile>, String>) {
        self.profiles = Some(answer);
        if self.part == SettingsPart::Profiles && self.profile_rows().is_empty() {
            self.part = SettingsPart::Console;
        }
    }

    /// Takes in how many rules there are by now.
    pub fn rules_listed(&mut self, rules: usize) {
        self.rules = rules;
        self.rule = moved(self.rule, 0, rules);
    }

    /// The place of the rule under the cursor, where that is among them.
    pub fn chosen_rule(&self) -> Option<usize> {
        (self.part() == SettingsPart::Rules).then_some(self.rule)
    }

    /// The place of the setting under the cursor.
    pub fn setting_row(&self) -> usize {
        self.setting.min(USER_SETTINGS.len() - 1)
    }

    /// The setting under the cursor, where that is in what this console is set to.
    pub fn setting(&self) -> Option<&'static UserSetting> {
        USER_SETTINGS.get(self.setting_row()).filter(|_| self.part() == SettingsPart::Console)
    }

    /// Puts the cursor on a setting.
    pub fn go_to_setting(&mut self, setting: &UserSetting) {
        self.part = SettingsPart::Console;
        self.setting = USER_SETTINGS.iter().position(|known| known == setting).unwrap_or(0);
    }

    /// Why no key or client can be created or revoked, where that is so.
    pub fn refusal(&self, read_only: bool) -> Option<&'static str> {
        if read_only {
            Some("Read-only connection")
        } else if !self.is_offered() {
            Some("Keys and clients are not available here.")
        } else {
            None
        }
    }

    /// Returns true where this console itself is known to the service by this credential.
    pub fn is_own(&self, credential: &Credential) -> bool {
        self.list.loaded().is_some_and(|list| list.in_use.contains(&credential.id))
    }

    /// The rows: those that work, the newest first, then the revoked ones, the last revoked first.
    pub fn rows(&self) -> Vec<&Credential> {
        let mut rows: Vec<&Credential> =
            self.list.loaded().map(|list| list.credentials.iter().collect()).unwrap_or_default();
        rows.sort_by(|one, other| {
            let rank = |credential: &Credential| {
                (credential.revoked_at.is_some(), Reverse(credential.revoked_at.unwrap_or(credential.created_at)))
            };
            rank(one).cmp(&rank(other)).then_with(|| one.id.cmp(&other.id))
        });
        rows
    }

    /// The row of the cursor.
    pub fn cursor(&self) -> usize {
        let rows = self.rows();
        self.cursor.as_ref().and_then(|id| rows.iter().position(|row| row.id == *id)).unwrap_or(0)
    }

    /// The credential under the cursor.
    pub fn current(&self) -> Option<&Credential> {
        self.rows().get(self.cursor()).copied()
    }

    /// The credential that is meant: the one under the cursor, where that is among them.
    pub fn chosen(&self) -> Option<&Credential> {
        self.current().filter(|_| self.part() == SettingsPart::Credentials)
    }

    /// Puts the cursor on a row of its part, or on the last one.
    pub fn move_to(&mut self, row: usize) {
        // Whoever moves it has seen where it is.
        self.part = self.part();
        match self.part {
            SettingsPart::Console => self.setting = row.min(USER_SETTINGS.len() - 1),
            SettingsPart::Rules => self.rule = moved(row, 0, self.rules),
            SettingsPart::Profiles => {
                let rows = self.profile_rows();
                self.profile = rows.get(row).or(rows.last()).map(|profile| profile.name.clone());
            }
            SettingsPart::Credentials => {
                let rows = self.rows();
                self.cursor = rows.get(row).or(rows.last()).map(|credential| credential.id.clone());
            }
        }
    }

    /// The row of the cursor in its part.
    pub fn row(&self) -> usize {
        match self.part() {
            SettingsPart::Console => self.setting_row(),
            SettingsPart::Profiles => self.profile_row(),
            SettingsPart::Rules => self.rule,
            SettingsPart::Credentials => self.cursor(),
        }
    }

    /// Moves the cursor by so many rows of its part.
    pub fn move_by(&mut self, rows: isize) {
        self.move_to(moved(self.row(), rows, usize::MAX));
    }

    /// Loads the lists at the next chance.
    pub fn refresh(&mut self, now: Timestamp) {
        self.refresh_due = Some(now);
        self.has_asked_profiles = false;
    }

    /// Takes the list in; the cursor stays on its credential.
    pub fn listed(&mut self, answer: Reply<CredentialList>, now: Timestamp) {
        let shown = self.current().map(|credential| credential.id.clone());
        self.trouble = match &answer {
            Ok(_) => None,
            Err(error) => Some((self.trouble.take().map_or(now, |(since, _)| since), error.clone())),
        };
        self.list.answer(answer);
        self.cursor = self.cursor.take().or(shown);
    }

    /// Takes in what was just created, for the list; its secret is somewhere else. The cursor goes to it.
    pub fn created(&mut self, credential: &Credential) {
        self.creating = None;
        self.put(credential);
        self.cursor = Some(credential.id.clone());
    }

    /// Takes in how a credential is now.
    pub fn put(&mut self, credential: &Credential) {
        let Loadable::Loaded(list) = &mut self.list else { return };
        match list.credentials.iter_mut().find(|known| known.id == credential.id) {
            Some(known) => known.clone_from(credential),
            None => list.credentials.push(credential.clone()),
        }
    }

    /// What is due while the screen is looked at.
    pub fn run_due(&mut self, now: Timestamp) -> Vec<Effect> {
        let mut effects = Vec::new();
        if !self.has_asked_profiles {
            self.has_asked_profiles = true;
            effects.push(Effect::ListProfiles);
        }
        if self.is_offered() && self.refresh_due.is_none_or(|due| due <= now) {
            self.refresh_due = Some(now + POLL);
            self.list.ask();
            effects.push(Effect::LoadCredentials);
        }
        effects
    }

    /// When [`SettingsScreen::run_due`] has something to do by itself.
    pub fn due(&self) -> Option<Timestamp> {
        self.refresh_due.filter(|_| self.is_offered())
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

        let ids: Vec<_> = settings.rows().into_iter().map(|row| row.id.as_str()).collect();

        assert_eq!(ids, ["new", "old", "gone", "long"]);
    }

    #[test]
    fn the_cursor_stays_on_its_credential_when_others_come_before_it() {
        let mut settings = screen(vec![credential("a", 9, None), credential("b", 8, None)]);
        settings.move_by(1);
        assert_eq!(settings.current().map(|row| row.id.as_str()), Some("a"));

        let more = vec![credential("a", 9, None), credential("b", 8, None), credential("c", 1, None)];
        settings.listed(Ok(CredentialList { credentials: more, ..settings.list.loaded().unwrap().clone() }), now());

        assert_eq!((settings.cursor(), settings.current().map(|row| row.id.as_str())), (2, Some("a")));
    }

    #[test]
    fn a_list_that_cannot_be_loaded_again_keeps_what_is_known_and_says_since_when() {
        let mut settings = screen(vec![credential("a", 9, None)]);
        let later = now() + Duration::minutes(1);

        settings.listed(Err(ServiceError::Unavailable("busy".to_owned())), now());
        settings.listed(Err(ServiceError::Unavailable("still".to_owned())), later);

        assert_eq!(settings.rows().len(), 1);
        assert_eq!(settings.trouble, Some((now(), ServiceError::Unavailable("still".to_owned()))));
    }

    #[test]
    fn nothing_but_the_profiles_is_asked_where_keys_cannot_be_managed() {
        let mut settings = SettingsScreen::new(false);

        let asked = [settings.run_due(now()), settings.run_due(now())];

        assert_eq!(asked, [vec![Effect::ListProfiles], vec![]]);
    }
}
