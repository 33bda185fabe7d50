//! `avert journal`: its verbs and their flags.

use std::path::PathBuf;
use std::str::FromStr;

use chrono::{Duration, NaiveDate, NaiveTime};
use clap::{Args, Subcommand};

use super::remote::{DeskArgs, RemoteArgs};
use crate::domain::Timestamp;
use crate::domain::time::from_iso;

/// `avert journal`.
#[derive(Debug, Subcommand)]
pub(crate) enum JournalCommand {
    /// Write out the decisions of this desk with what became of each, for whoever comes next
    Export(JournalExportArgs),
}

/// Whose desk it is.
const PROFILE: &str = "The profile whose desk is meant; local for this machine's own alerts. Default: the current one \
    [env: AVERT_PROFILE]";
const URL: &str = "The deployment whose desk is meant, where it has no profile [env: AVERT_URL]";

/// `avert journal export`.
#[derive(Debug, Clone, Default, Args)]
#[command(mut_arg("profile", |arg| arg.help(PROFILE)), mut_arg("url", |arg| arg.help(URL)))]
pub(crate) struct JournalExportArgs {
    #[command(flatten)]
    pub(crate) desk: DeskArgs,
    /// What happened since then: 8h, 2d, 2026-11-23 or 2026-11-23T06:00:00Z. Default: all that is kept, 90 days
    #[arg(long, value_name = "TIME", conflicts_with = "days")]
    pub(crate) since: Option<SinceWhen>,
    /// What happened in the last N days
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=90))]
    pub(crate) days: Option<u16>,
    /// Only what failed or is not known, and nobody has seen to yet
    #[arg(long, conflicts_with = "notifications")]
    pub(crate) open: bool,
    /// What the console told, in place of the decisions
    #[arg(long)]
    pub(crate) notifications: bool,
    /// Write a file, which must not be there yet, in place of stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
}

impl JournalExportArgs {
    /// These, and the deployment of the flags before the command where these name none.
    pub(crate) fn or(self, before: RemoteArgs) -> Self {
        Self { desk: self.desk.or(before), ..self }
    }
}

/// A moment from which on something is told: a fixed one, or so long ago.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SinceWhen {
    At(Timestamp),
    Ago(Duration),
}

impl SinceWhen {
    /// The moment that is meant.
    pub(crate) fn moment(self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(moment) => moment,
            Self::Ago(ago) => now.checked_sub_signed(ago).unwrap_or_default(),
        }
    }
}

impl FromStr for SinceWhen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let ago = |unit: char, minutes: i64| {
            let number: u32 = text.strip_suffix(unit)?.parse().ok()?;
            Duration::try_minutes(i64::from(number) * minutes).map(Self::Ago)
        };
        let day = || text.parse::<NaiveDate>().ok().map(|day| Self::At(day.and_time(NaiveTime::MIN).and_utc()));
        let found = ago('h', 60).or_else(|| ago('d', 24 * 60)).or_else(|| from_iso(text).map(Self::At)).or_else(day);
        found.ok_or_else(|| {
            "8h, 2d, a date such as 2026-11-23 (from midnight UTC), or a moment such as 2026-11-23T06:00:00Z".to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("8h", "2026-11-23T04:00:00Z")]
    #[case("2d", "2026-11-21T12:00:00Z")]
    #[case("2026-11-23", "2026-11-23T00:00:00Z")]
    #[case("2026-11-23T06:00:00Z", "2026-11-23T06:00:00Z")]
    #[case("2026-11-23T06:00:00+02:00", "2026-11-23T04:00:00Z")]
    fn a_moment_is_fixed_or_so_long_ago(#[case] text: &str, #[case] moment: &str) {
        let now = from_iso("2026-11-23T12:00:00Z").unwrap();

        assert_eq!(text.parse::<SinceWhen>().map(|since| since.moment(now)), Ok(from_iso(moment).unwrap()));
    }

    #[rstest]
    #[case("")]
    #[case("h")]
    #[case("-8h")]
    #[case("8")]
    #[case("yesterday")]
    #[case("2026-13-01")]
    fn other_texts_are_refused_with_what_is_allowed(#[case] text: &str) {
        assert!(text.parse::<SinceWhen>().is_err_and(|why| why.contains("8h, 2d")));
    }
}
