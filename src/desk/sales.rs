//! Sales counts: how many sales a month had on a card scheme's cards, which no alert tells and the operator enters.

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use super::{file::DeskError, kept_list::KeptList, ledger::steps::text};
use crate::domain::{CardScheme, SalesMonth, Timestamp};

/// The most sales that can be entered for a month.
pub const MOST_SALES: u64 = 1_000_000_000_000;

/// The sales of a month on one scheme's cards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SalesCount {
    #[serde(with = "text")]
    pub month: SalesMonth,
    #[serde(rename = "network")]
    pub scheme: CardScheme,
    #[serde(deserialize_with = "bounded")]
    pub count: u64,
    pub entered_at: Timestamp,
}

fn bounded<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let count = u64::deserialize(deserializer)?;
    let wrong = || D::Error::custom(format!("a count of sales is at most {MOST_SALES}"));
    Some(count).filter(|count| *count <= MOST_SALES).ok_or_else(wrong)
}

impl KeptList<SalesCount> {
    /// Enters the sales of a month, in place of what was entered for it before; the newest month is the first.
    pub fn set(&self, entered: SalesCount) -> Result<(), DeskError> {
        self.change(|counts| {
            counts.retain(|count| (count.month, count.scheme) != (entered.month, entered.scheme));
            counts.push(entered);
            counts.sort_by_key(|count| (std::cmp::Reverse(count.month), count.scheme));
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Desk;
    use super::*;
    use crate::domain::time::from_iso;

    fn count(month: &str, scheme: CardScheme, count: u64) -> SalesCount {
        SalesCount {
            month: month.parse().unwrap(),
            scheme,
            count,
            entered_at: from_iso("2026-11-19T08:00:00Z").unwrap(),
        }
    }

    #[test]
    fn what_is_entered_is_there_at_the_next_start_and_a_month_has_one_count() {
        let directory = tempfile::tempdir().unwrap();
        let sales = || Desk::open(directory.path()).unwrap().sales();

        sales().set(count("2026-10", CardScheme::Visa, 7)).unwrap();
        sales().set(count("2026-11", CardScheme::Visa, 8)).unwrap();
        sales().set(count("2026-11", CardScheme::Mastercard, 9)).unwrap();
        sales().set(count("2026-10", CardScheme::Visa, 10)).unwrap();

        let expected = [
            count("2026-11", CardScheme::Visa, 8),
            count("2026-11", CardScheme::Mastercard, 9),
            count("2026-10", CardScheme::Visa, 10),
        ];
        assert_eq!(sales().list().unwrap(), expected);
    }

    #[test]
    fn nothing_was_entered_at_first() {
        let directory = tempfile::tempdir().unwrap();

        assert_eq!(Desk::open(directory.path()).unwrap().sales().list(), Ok(Vec::new()));
    }

    #[rstest::rstest]
    #[case("month = \"2026\"\nnetwork = \"visa\"\ncount = 1\nentered_at = \"2026-11-19T08:00:00Z\"", 2, "no month")]
    #[case(
        "month = \"2026-11\"\nnetwork = \"amex\"\ncount = 1\nentered_at = \"2026-11-19T08:00:00Z\"",
        3,
        "visa, mastercard"
    )]
    #[case(
        "month = \"2026-11\"\nnetwork = \"visa\"\ncount = 1000000000001\nentered_at = \"2026-11-19T08:00:00Z\"",
        4,
        "at most"
    )]
    #[case("month = \"2026-11\"\nnetwork = \"visa\"\ncount = -1\nentered_at = \"2026-11-19T08:00:00Z\"", 4, "")]
    #[case("month = \"2026-11\"\nnetwork = \"visa\"\ncount = 1\nentered_at = \"today\"", 5, "")]
    fn a_wrong_line_is_told_and_the_file_is_kept(#[case] row: &str, #[case] line: usize, #[case] words: &str) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("sales.toml");
        std::fs::write(&path, format!("[[sales]]\n{row}\n")).unwrap();
        let sales = Desk::open(directory.path()).unwrap().sales();

        let error = sales.list().unwrap_err();

        assert_eq!(error.line, Some(line));
        assert!(error.message.contains(words), "{error}");
        assert!(sales.set(count("2026-11", CardScheme::Visa, 8)).is_err());
        assert!(std::fs::read_to_string(&path).unwrap().contains(row));
    }
}
