//! Sales counts: how many sales a month had on a card scheme's cards, which no alert tells and the operator enters.

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::file::{DeskError, DeskFile};
use crate::domain::{
    CardScheme, SalesMonth, Timestamp,
    time::{from_iso, to_iso},
};

/// The most sales that can be entered for a month.
pub const MOST_SALES: u64 = 1_000_000_000_000;

/// The sales of a month on one scheme's cards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SalesCount {
    pub month: SalesMonth,
    pub scheme: CardScheme,
    pub count: u64,
    pub entered_at: Timestamp,
}

/// The file of sales counts.
#[derive(Debug, Clone)]
pub struct SalesCounts {
    file: DeskFile,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SalesRead {
    #[serde(default)]
    sales: Vec<SalesRowRead>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SalesRowRead {
    month: Spanned<String>,
    network: Spanned<String>,
    count: Spanned<u64>,
    entered_at: Spanned<String>,
}

#[derive(Serialize)]
struct SalesWritten {
    sales: Vec<SalesRow>,
}

#[derive(Serialize)]
struct SalesRow {
    month: String,
    network: &'static str,
    count: u64,
    entered_at: String,
}

impl SalesCounts {
    pub(super) fn new(file: DeskFile) -> Self {
        Self { file }
    }

    /// Returns the sales that were entered, the newest month first.
    pub fn list(&self) -> Result<Vec<SalesCount>, DeskError> {
        let Some(text) = self.file.text()? else { return Ok(Vec::new()) };
        let SalesRead { sales } = self.file.parse(&text)?;
        let mut counts = Vec::with_capacity(sales.len());
        for row in sales {
            let wrong = |span, message: &str| self.file.wrong(&text, Some(span), message);
            let month = row.month.get_ref().parse().map_err(|error: String| wrong(row.month.span(), &error))?;
            let scheme = CardScheme::known(row.network.get_ref()).ok_or_else(|| {
                wrong(row.network.span(), &format!("{:?} is not allowed: visa or mastercard", row.network.get_ref()))
            })?;
            let count = Some(*row.count.get_ref()).filter(|count| *count <= MOST_SALES);
            let count =
                count.ok_or_else(|| wrong(row.count.span(), &format!("a count of sales is at most {MOST_SALES}")))?;
            let entered_at = from_iso(row.entered_at.get_ref()).ok_or_else(|| {
                wrong(row.entered_at.span(), "a date with a time is needed, such as 2026-11-19T08:00:00Z")
            })?;
            counts.push(SalesCount { month, scheme, count, entered_at });
        }
        counts.sort_by_key(|count| (std::cmp::Reverse(count.month), count.scheme));
        Ok(counts)
    }

    /// Enters the sales of a month, in place of what was entered for it before. Refused while the file there cannot be
    /// read.
    pub fn set(&self, entered: SalesCount) -> Result<(), DeskError> {
        let _turn = self.file.turn()?;
        let mut counts = self.list()?;
        counts.retain(|count| (count.month, count.scheme) != (entered.month, entered.scheme));
        counts.push(entered);
        counts.sort_by_key(|count| (std::cmp::Reverse(count.month), count.scheme));
        let row = |count: &SalesCount| SalesRow {
            month: count.month.to_string(),
            network: count.scheme.as_str(),
            count: count.count,
            entered_at: to_iso(count.entered_at),
        };
        self.file.write(
            "Sales a month by card scheme: what monitoring programmes measure by.",
            &SalesWritten { sales: counts.iter().map(row).collect() },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::Desk;
    use super::*;

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
        "visa or mastercard"
    )]
    #[case(
        "month = \"2026-11\"\nnetwork = \"visa\"\ncount = 1000000000001\nentered_at = \"2026-11-19T08:00:00Z\"",
        4,
        "at most"
    )]
    #[case("month = \"2026-11\"\nnetwork = \"visa\"\ncount = -1\nentered_at = \"2026-11-19T08:00:00Z\"", 4, "")]
    #[case("month = \"2026-11\"\nnetwork = \"visa\"\ncount = 1\nentered_at = \"today\"", 5, "a date")]
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
