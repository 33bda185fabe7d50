//! Saved views: built-in ones as functions of the present moment, and the user's by name in a file that can be edited
//! by hand.

use chrono::Duration;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use super::{file::DeskError, kept_list::KeptList};
use crate::domain::{
    AlertFilter, AlertStatus, AlertType, Calendar, CalendarDay, LocalConditions, Sort, SortField, SortOrder, Timestamp,
    query::Vocabulary,
};

/// The hours of [`BuiltIn::Due`].
const DUE_HOURS: u32 = 6;

/// The longest window a network gives, in days: what was answered today was raised no earlier than that.
const LONGEST_WINDOW_DAYS: i64 = 3;

/// A built-in view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BuiltIn {
    ToAnswer,
    Due,
    Notices,
    Snoozed,
    AnsweredToday,
    Expired,
    All,
}

impl BuiltIn {
    /// Every built-in view, in the order of the list of views.
    pub const ALL: [Self; 7] =
        [Self::ToAnswer, Self::Due, Self::Notices, Self::Snoozed, Self::AnsweredToday, Self::Expired, Self::All];

    /// The name in lists and settings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ToAnswer => "To answer",
            Self::Due => "Due within 6 hours",
            Self::Notices => "Notices",
            Self::Snoozed => "Snoozed",
            Self::AnsweredToday => "Answered today",
            Self::Expired => "Expired",
            Self::All => "All",
        }
    }

    /// Describes the view, for lists with this vocabulary.
    pub const fn about(self, vocabulary: Vocabulary) -> &'static str {
        match (self, vocabulary) {
            (Self::ToAnswer, _) => "open alerts that expect an answer, due next first",
            (Self::Due, _) => "to answer within 6 hours",
            (Self::Notices, _) => "alerts that expect no answer",
            (Self::Snoozed, _) => "snoozed by you",
            (Self::AnsweredToday, Vocabulary::Desk) => "answered since midnight, latest first",
            (Self::AnsweredToday, _) => "answered alerts of the last four days",
            (Self::Expired, _) => "expired without an answer",
            (Self::All, _) => "everything, newest first",
        }
    }

    /// Describes the limit of a list with this vocabulary that cannot be asked for the view exactly, so that it shows
    /// something near it.
    pub const fn note(self, vocabulary: Vocabulary) -> Option<&'static str> {
        match (vocabulary, self) {
            (Vocabulary::Desk, _) | (_, Self::Snoozed | Self::All) => None,
            (_, Self::AnsweredToday) => Some("by status and the alerts' days"),
            (_, Self::ToAnswer | Self::Due | Self::Notices | Self::Expired) => Some("known types only"),
        }
    }

    /// Finds a built-in view by its name, in any letter case.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|view| same_name(view.name(), name))
    }

    /// Returns the filter and the order of the view at the moment `now`, for a list with this vocabulary. Today is a
    /// day of the calendar.
    pub fn query(self, now: Timestamp, calendar: Calendar, vocabulary: Vocabulary) -> (AlertFilter, Sort) {
        let (field, order) = match self {
            Self::ToAnswer | Self::Due | Self::Snoozed => (SortField::HoursLeft, SortOrder::Ascending),
            Self::AnsweredToday => (SortField::UpdatedAt, SortOrder::Descending),
            Self::Expired => (SortField::ExpiredAt, SortOrder::Descending),
            Self::Notices | Self::All => (SortField::AlertTimeStamp, SortOrder::Descending),
        };
        let filter = match self {
            Self::ToAnswer => AlertFilter { statuses: vec![AlertStatus::Open], ..notices(false, vocabulary) },
            Self::Due => AlertFilter { expires_in: Some(DUE_HOURS), ..notices(false, vocabulary) },
            Self::Notices => notices(true, vocabulary),
            Self::AnsweredToday if vocabulary == Vocabulary::Desk => {
                let answered = Some(CalendarDay::of(now, calendar));
                let conditions = LocalConditions { answered, ..LocalConditions::default() };
                AlertFilter { conditions, ..AlertFilter::default() }
            }
            // The list operation cannot ask for the time of the answer; this is as near as it comes.
            Self::AnsweredToday => AlertFilter {
                statuses: vocabulary.statuses().iter().filter(|status| is_answered(status)).cloned().collect(),
                start_date: Some((now - Duration::days(LONGEST_WINDOW_DAYS)).date_naive()),
                ..AlertFilter::default()
            },
            Self::Expired => AlertFilter { statuses: vec![AlertStatus::Expired], ..notices(false, vocabulary) },
            // The service does not know which are snoozed.
            Self::Snoozed | Self::All => AlertFilter::default(),
        };
        (filter, Sort { field, order })
    }
}

/// Returns whether a status tells that an alert was answered.
fn is_answered(status: &AlertStatus) -> bool {
    !matches!(status, AlertStatus::Open | AlertStatus::New | AlertStatus::Expired)
}

/// Returns the filter for notices alone, or for all other alerts. The list operation can only be asked for known types.
fn notices(notices: bool, vocabulary: Vocabulary) -> AlertFilter {
    match vocabulary {
        Vocabulary::Desk => AlertFilter {
            conditions: LocalConditions { notices: Some(notices), ..LocalConditions::default() },
            ..AlertFilter::default()
        },
        Vocabulary::Interface | Vocabulary::Older => {
            AlertFilter { types: AlertType::expecting(!notices), ..AlertFilter::default() }
        }
    }
}

/// A view saved under a name of one's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedView {
    /// Unique, letter case ignored, and not a built-in view's.
    #[serde(deserialize_with = "name_of_own")]
    pub name: String,
    pub query: String,
}

fn name_of_own<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    wrong_name(&name).map_or(Ok(name), |problem| Err(D::Error::custom(problem)))
}

impl KeptList<SavedView> {
    /// Saves a view; one of the same name is replaced where it stands.
    pub fn save(&self, view: SavedView) -> Result<(), DeskError> {
        if let Some(problem) = wrong_name(&view.name) {
            return Err(DeskError::new(&self.file.path, problem));
        }
        self.change(|views| match views.iter_mut().find(|there| same_name(&there.name, &view.name)) {
            Some(there) => *there = view,
            None => views.push(view),
        })
    }

    /// Removes the view of a name.
    pub fn remove(&self, name: &str) -> Result<(), DeskError> {
        self.change(|views| views.retain(|view| !same_name(&view.name, name)))
    }
}

/// Returns whether two names are of one view: letter case tells none apart.
pub fn same_name(left: &str, right: &str) -> bool {
    left.to_lowercase() == right.to_lowercase()
}

fn wrong_name(name: &str) -> Option<String> {
    let length = name.chars().count();
    if name.trim().is_empty() || name.trim() != name || length > 40 || name.contains(char::is_control) {
        Some(format!(
            "{:?} is no name for a view: 1 to 40 characters, no blank at either end",
            name.chars().take(60).collect::<String>()
        ))
    } else {
        BuiltIn::named(name).map(|view| format!("{} is the name of a built-in view", view.name()))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::Desk;
    use crate::domain::time::from_iso;
    use crate::domain::{Alert, AlertId, Deadline, Outcome, Provider};

    fn views() -> (tempfile::TempDir, KeptList<SavedView>) {
        let directory = tempfile::tempdir().unwrap();
        let views = Desk::open(directory.path()).unwrap().views();
        (directory, views)
    }

    fn view(name: &str, query: &str) -> SavedView {
        SavedView { name: name.to_owned(), query: query.to_owned() }
    }

    #[test]
    fn a_saved_view_is_there_after_a_restart_and_saving_it_again_replaces_it() {
        let (directory, views) = views();

        views.save(view("Mine", "status:open")).unwrap();
        views.save(view("Café \"x\"", "acme \"a\\b\"")).unwrap();
        views.save(view("MINE", "status:expired")).unwrap();

        let again = Desk::open(directory.path()).unwrap().views();
        assert_eq!(again.list().unwrap(), [view("MINE", "status:expired"), view("Café \"x\"", "acme \"a\\b\"")]);
    }

    #[test]
    fn a_removed_view_is_gone_and_removing_it_again_is_nothing() {
        let (_directory, views) = views();
        views.save(view("Mine", "status:open")).unwrap();

        assert_eq!([views.remove("mine"), views.remove("mine")], [Ok(()), Ok(())]);
        assert_eq!(views.list().unwrap(), []);
    }

    #[rstest]
    #[case("")]
    #[case(" x")]
    #[case("a\nb")]
    #[case("to answer")]
    #[case("0123456789012345678901234567890123456789x")]
    fn a_name_that_cannot_be_is_refused(#[case] name: &str) {
        let (_directory, views) = views();

        assert!(views.save(view(name, "")).is_err());
        assert_eq!(views.list().unwrap(), []);
    }

    #[rstest]
    #[case("[[view]]\nname = \"All\"\nquery = \"\"\n", 2, "built-in")]
    #[case("[[view]]\nname = \"A\"\nquery = 5\n", 3, "string")]
    #[case("[[view]]\nname = \"A\"\nquerry = \"\"\n", 3, "querry")]
    #[case("[[view]\n", 1, "")]
    fn a_broken_file_is_reported_with_its_line_and_never_overwritten(
        #[case] text: &str,
        #[case] line: usize,
        #[case] says: &str,
    ) {
        let (_directory, views) = views();
        std::fs::write(&views.file.path, text).unwrap();

        let error = views.list().unwrap_err();
        let saved = views.save(view("B", ""));
        let removed = views.remove("A");

        assert_eq!(error.line, Some(line), "{error}");
        assert!(error.message.contains(says), "{error}");
        assert!(saved.is_err() && removed.is_err());
        assert_eq!(std::fs::read_to_string(&views.file.path).unwrap(), text);
    }

    #[rstest]
    #[case::here(Vocabulary::Desk, [
        [1, 1, 0, 0, 0, 0, 0, 1, 0],
        [1, 0, 0, 0, 0, 0, 0, 1, 0],
        [0, 0, 1, 0, 0, 0, 0, 0, 0],
        [1; 9],
        [0, 0, 0, 1, 0, 1, 0, 0, 1],
        [0, 0, 0, 0, 0, 0, 1, 0, 0],
        [1; 9],
    ])]
    // Its list knows neither when an answer was given nor a type that has no name yet.
    #[case::elsewhere(Vocabulary::Interface, [
        [1, 1, 0, 0, 0, 0, 0, 0, 0],
        [1, 0, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 1, 0, 0, 0, 0, 0, 0],
        [1; 9],
        [0, 0, 0, 1, 1, 0, 0, 0, 1],
        [0, 0, 0, 0, 0, 0, 1, 0, 0],
        [1; 9],
    ])]
    fn the_built_in_views_show_what_they_say(#[case] vocabulary: Vocabulary, #[case] expected: [[u8; 9]; 7]) {
        let now = from_iso("2026-03-10T12:00:00Z").unwrap();
        let zone = Calendar::of_minutes(240).unwrap();
        let base = Alert {
            alert_time: Some(now - Duration::hours(20)),
            deadline: Deadline::At(now + Duration::hours(4)),
            ..Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud)
        };
        let refunded_at = |at: &str, alert: &Alert| {
            let outcome =
                Outcome { action_time: from_iso(at), refunded: "refunded".to_owned(), ..Outcome::sample(alert.id) };
            Alert { status: AlertStatus::Resolved, outcome: Some(outcome), ..alert.clone() }
        };
        let later = Alert { deadline: Deadline::At(now + Duration::hours(7)), ..base.clone() };
        let notice = Alert { alert_type: AlertType::VerifiFraudNotice, ..later.clone() };
        let today = refunded_at("2026-03-09T20:00:00Z", &base);
        let yesterday = refunded_at("2026-03-09T19:59:59Z", &base);
        let late =
            refunded_at("2026-03-10T11:00:00Z", &Alert { alert_time: Some(now - Duration::days(7)), ..base.clone() });
        let missed = Alert { status: AlertStatus::Expired, expired_at: Some(now), ..base.clone() };
        let unknown = Alert { alert_type: AlertType::parse("CDRN_QUERY"), ..base.clone() };
        let invalid = Alert { status: AlertStatus::Invalid, ..today.clone() };
        let alerts = [&base, &later, &notice, &today, &yesterday, &late, &missed, &unknown, &invalid];

        let shown = BuiltIn::ALL
            .map(|view| alerts.map(|alert| u8::from(view.query(now, zone, vocabulary).0.matches(alert, now))));

        assert_eq!(shown, expected);
    }
}
