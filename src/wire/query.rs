//! The query string of the list operation, both ways.
//!
//! A parameter without a value counts as not given, as forms send it. Lists are comma-separated or given several times,
//! words are read in any letter case. Unknown parameters are ignored; a known one that is no list and given twice is an
//! error. Every error names the parameter, the value and what is allowed.

use std::borrow::Cow;

use chrono::NaiveDate;
use url::form_urlencoded::{Serializer, parse};

use super::{Dialect, json::quoted};
use crate::domain::{
    AlertFilter, AlertQuery, AlertStatus, AlertType, FieldError, LocalConditions, MAX_PAGE_SIZE, PageRequest, Provider,
    Sort,
    calendar::parse_day,
    filter::{SortField, SortOrder},
    query::{DEFAULT_SORT, ONLY_HERE, Vocabulary, render},
    resolution::OlderWord,
};

/// Last page that can be asked for: no offset of a page up to it leaves a signed 64-bit integer.
pub const MAX_PAGE: u64 = i64::MAX as u64 / MAX_PAGE_SIZE as u64;

/// Most values in one list.
pub const MAX_VALUES: usize = 1_000;

/// Longest text, in characters.
pub const MAX_TEXT: usize = 1_024;

/// Name of the company filter, which the interface does not give (decisions, List).
pub const COMPANY_PARAMETER: &str = "companyIds";

/// Reads a raw query string, without its question mark; reports everything that is wrong with it.
pub fn read(raw: &str, dialect: Dialect) -> Result<AlertQuery, Vec<FieldError>> {
    let mut given = Parameters::read(raw);
    let vocabulary = Vocabulary::from(dialect);
    let filter = AlertFilter {
        start_date: given.date("startDate"),
        end_date: given.date("endDate"),
        transaction_start_date: given.date("transactionStartDate"),
        transaction_end_date: given.date("transactionEndDate"),
        providers: given.words("provider", vocabulary.providers(), Provider::as_str),
        types: given.words("type", AlertType::KNOWN, AlertType::as_str),
        statuses: given.words("status", vocabulary.statuses(), AlertStatus::as_str),
        descriptor: given.text("descriptor"),
        outcomes: given
            .words("outcome", vocabulary.outcomes(), OlderWord::as_str)
            .iter()
            .map(|word| word.as_str().to_lowercase())
            .collect(),
        expired: given.flag("expired"),
        expires_in: expires_in(&mut given, vocabulary),
        companies: given.list(COMPANY_PARAMETER, |text| text.parse().ok(), || "UUIDs, separated by commas".to_owned()),
        q: given.text("q"),
        conditions: LocalConditions::default(),
    };
    given.in_order("startDate", filter.start_date, "endDate", filter.end_date);
    given.in_order(
        "transactionStartDate",
        filter.transaction_start_date,
        "transactionEndDate",
        filter.transaction_end_date,
    );
    let default = AlertQuery::default();
    let sort = Sort {
        field: given.one("sortField", SortField::known, sort_fields).unwrap_or(default.sort.field),
        order: given.one("sortOrder", SortOrder::known, || "ASC or DESC".to_owned()).unwrap_or(default.sort.order),
    };
    let page = PageRequest {
        page: given.integer("page", 0, MAX_PAGE).unwrap_or(default.page.page),
        size: given
            .integer("size", 1, MAX_PAGE_SIZE.into())
            .and_then(|size| size.try_into().ok())
            .unwrap_or(default.page.size),
    };
    if given.errors.is_empty() { Ok(AlertQuery { filter, sort, page }) } else { Err(given.errors) }
}

/// Writes the query string that [`read`] makes the same query of. `company_parameter` is the name that the deployment
/// gives its company filter, mostly [`COMPANY_PARAMETER`].
///
/// # Errors
/// Conditions that no parameter says.
pub fn write(query: &AlertQuery, company_parameter: &str) -> Result<String, FieldError> {
    let AlertQuery { filter, sort, page } = query;
    let AlertFilter {
        start_date,
        end_date,
        transaction_start_date,
        transaction_end_date,
        providers,
        types,
        statuses,
        descriptor,
        outcomes,
        expired,
        expires_in,
        companies,
        q,
        conditions,
    } = filter;
    if !conditions.is_empty() {
        let only = AlertFilter { conditions: conditions.clone(), ..AlertFilter::default() };
        return Err(FieldError::new(render(&only, DEFAULT_SORT), ONLY_HERE));
    }
    let mut out = Serializer::new(String::new());
    let mut put = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            out.append_pair(name, &value);
        }
    };
    let day = |day: Option<NaiveDate>| day.map(|day| day.format("%Y-%m-%d").to_string());
    put("page", Some(page.page.to_string()));
    put("size", Some(page.size.to_string()));
    put("startDate", day(*start_date));
    put("endDate", day(*end_date));
    put("transactionStartDate", day(*transaction_start_date));
    put("transactionEndDate", day(*transaction_end_date));
    put("provider", joined(providers, |word| word.as_str().to_owned()));
    put("type", joined(types, |word| word.as_str().to_owned()));
    put("status", joined(statuses, |word| word.as_str().to_owned()));
    put("descriptor", descriptor.clone());
    put("outcome", joined(outcomes, Clone::clone));
    put("expired", expired.map(|expired| expired.to_string()));
    put("expiresIn", expires_in.map(|hours| hours.to_string()));
    put(company_parameter, joined(companies, ToString::to_string));
    put("sortField", Some(sort.field.as_str().to_owned()));
    put("sortOrder", Some(sort.order.as_str().to_owned()));
    put("q", q.clone());
    Ok(out.finish())
}

fn joined<T>(items: &[T], spell: impl Fn(&T) -> String) -> Option<String> {
    (!items.is_empty()).then(|| items.iter().map(spell).collect::<Vec<_>>().join(","))
}

fn expires_in(given: &mut Parameters<'_>, vocabulary: Vocabulary) -> Option<u32> {
    let most = vocabulary.most_hours().map_or(u64::MAX, u64::from);
    given.integer("expiresIn", 1, most).map(|hours| u32::try_from(hours).unwrap_or(u32::MAX))
}

fn sort_fields() -> String {
    format!("one of {}", SortField::ALL.map(SortField::as_str).join(", "))
}

/// The parameters that were given, and what was wrong with them.
struct Parameters<'a> {
    given: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    errors: Vec<FieldError>,
}

impl<'a> Parameters<'a> {
    fn read(raw: &'a str) -> Self {
        Self { given: parse(raw.as_bytes()).collect(), errors: Vec::new() }
    }

    /// The values of a parameter that are not empty, as one list.
    fn take(&mut self, name: &str, is_list: bool) -> Option<String> {
        let values: Vec<&str> =
            self.given.iter().filter(|(given, _)| given == name).map(|(_, value)| &**value).collect();
        let wrong = if values.len() > 1 && !is_list {
            "is given twice: once is allowed"
        } else if values.iter().any(|value| value.contains('\u{FFFD}')) {
            // What the decoder puts where bytes are not UTF-8.
            "is not UTF-8, percent-encoded"
        } else {
            let given = values.into_iter().filter(|value| !value.trim().is_empty()).collect::<Vec<_>>().join(",");
            return (!given.is_empty()).then_some(given);
        };
        self.errors.push(FieldError::new(name, wrong));
        None
    }

    fn refuse<T>(&mut self, name: &str, value: &str, allowed: &str) -> Option<T> {
        self.errors.push(FieldError::new(name, format!("{} is not allowed: {allowed}", quoted(value))));
        None
    }

    fn text(&mut self, name: &str) -> Option<String> {
        let given = self.take(name, false)?;
        let value = given.trim();
        if value.chars().count() > MAX_TEXT {
            return self.refuse(name, value, &format!("at most {MAX_TEXT} characters"));
        }
        if value.chars().any(char::is_control) {
            return self.refuse(name, value, "text without control characters");
        }
        Some(value.to_owned())
    }

    fn one<T>(&mut self, name: &str, read: impl Fn(&str) -> Option<T>, allowed: impl Fn() -> String) -> Option<T> {
        let value = self.take(name, false)?;
        read(value.trim()).or_else(|| self.refuse(name, &value, &allowed()))
    }

    fn list<T>(&mut self, name: &str, read: impl Fn(&str) -> Option<T>, allowed: impl Fn() -> String) -> Vec<T> {
        let Some(value) = self.take(name, true) else { return Vec::new() };
        if value.split(',').count() > MAX_VALUES {
            self.refuse::<T>(name, &value, &format!("at most {MAX_VALUES} values"));
            return Vec::new();
        }
        let mut items = Vec::new();
        for item in value.split(',').map(str::trim) {
            match Some(item).filter(|item| !item.is_empty() && item.len() <= MAX_TEXT).and_then(&read) {
                Some(item) => items.push(item),
                None => {
                    self.refuse::<T>(name, item, &allowed());
                    break;
                }
            }
        }
        items
    }

    fn words<T: Clone>(&mut self, name: &str, known: &'static [T], spell: fn(&T) -> &str) -> Vec<T> {
        let find = |text: &str| known.iter().find(|word| spell(word).eq_ignore_ascii_case(text)).cloned();
        self.list(name, find, || format!("one or more of {}", known.iter().map(spell).collect::<Vec<_>>().join(",")))
    }

    fn flag(&mut self, name: &str) -> Option<bool> {
        let read = |text: &str| match text.to_ascii_lowercase().as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        };
        self.one(name, read, || "true or false".to_owned())
    }

    fn integer(&mut self, name: &str, least: u64, most: u64) -> Option<u64> {
        let read = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            // More digits than fit are only more than the largest number there is.
            digits.then(|| text.parse().unwrap_or(u64::MAX)).filter(|number| (least..=most).contains(number))
        };
        self.one(name, read, || match most {
            u64::MAX => format!("a whole number, {least} or more"),
            _ => format!("a whole number from {least} to {most}"),
        })
    }

    fn date(&mut self, name: &str) -> Option<NaiveDate> {
        self.one(name, parse_day, || "a day such as 2026-03-10 (YYYY-MM-DD)".to_owned())
    }

    fn in_order(&mut self, start: &str, first: Option<NaiveDate>, end: &str, last: Option<NaiveDate>) {
        if let (Some(first), Some(last)) = (first, last)
            && first > last
        {
            self.errors.push(FieldError::new(
                start,
                format!("{first} is after {end} {last}: the start must not be after the end"),
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::{select, subsequence};
    use rstest::rstest;
    use uuid::Uuid;

    use super::*;
    use crate::domain::CompanyId;

    #[test]
    fn nothing_given_means_the_first_ten_by_alert_time() {
        assert_eq!(read("", Dialect::Current), Ok(AlertQuery::default()));
        assert_eq!(
            read("status=&q=&page=&utm_source=mail&utm_source=mail", Dialect::Current),
            Ok(AlertQuery::default())
        );
    }

    #[test]
    fn every_parameter_is_read_in_any_letter_case_of_its_words() {
        let raw = "page=2&size=50&startDate=2026-01-01&endDate=2026-01-01&transactionStartDate=2025-12-01&\
            transactionEndDate=2025-12-31\
            &provider=ethoca,VERIFI&type=verifi_dispute&status=Open,expired&descriptor=ACME*+shop%20%26&\
            outcome=Resolved,other&expired=TRUE\
            &expiresIn=72&companyIds=018f0000-0000-7000-8000-000000000001&sortField=amount&sortOrder=desc&q=41";

        let query = read(raw, Dialect::Current).unwrap();

        let day = |text: &str| text.parse().ok();
        let expected = AlertQuery {
            filter: AlertFilter {
                start_date: day("2026-01-01"),
                end_date: day("2026-01-01"),
                transaction_start_date: day("2025-12-01"),
                transaction_end_date: day("2025-12-31"),
                providers: vec![Provider::Ethoca, Provider::Verifi],
                types: vec![AlertType::VerifiDispute],
                statuses: vec![AlertStatus::Open, AlertStatus::Expired],
                descriptor: Some("ACME* shop &".to_owned()),
                outcomes: vec!["resolved".to_owned(), "other".to_owned()],
                expired: Some(true),
                expires_in: Some(72),
                companies: vec!["018f0000-0000-7000-8000-000000000001".parse().unwrap()],
                q: Some("41".to_owned()),
                conditions: LocalConditions::default(),
            },
            sort: Sort { field: SortField::Amount, order: SortOrder::Descending },
            page: PageRequest { page: 2, size: 50 },
        };
        assert_eq!(query, expected);
    }

    #[rstest]
    #[case("page=-1", "page", "from 0")]
    #[case("page=1.0", "page", "\"1.0\"")]
    #[case("page=92233720368547759", "page", "92233720368547758")]
    #[case("page=99999999999999999999999", "page", "from 0")]
    #[case("size=0", "size", "from 1 to 100")]
    #[case("size=101", "size", "from 1 to 100")]
    #[case("size=ten", "size", "\"ten\"")]
    #[case("startDate=2026-1-1", "startDate", "YYYY-MM-DD")]
    #[case("endDate=2026-02-30", "endDate", "2026-02-30")]
    #[case("transactionStartDate=yesterday", "transactionStartDate", "yesterday")]
    #[case("transactionEndDate=2026-01-01T00:00:00Z", "transactionEndDate", "YYYY-MM-DD")]
    #[case("startDate=2026-01-02&endDate=2026-01-01", "startDate", "after endDate 2026-01-01")]
    #[case("transactionStartDate=2026-01-02&transactionEndDate=2026-01-01", "transactionStartDate", "after")]
    #[case("provider=MYSTERY", "provider", "ETHOCA,VERIFI,CDRN")]
    #[case("provider=ETHOCA,,VERIFI", "provider", "\"\"")]
    #[case("type=DISPUTE", "type", "VERIFI_CANCEL_NOTICE")]
    #[case("status=OPEN,PROCESSING", "status", "\"PROCESSING\"")]
    #[case("expired=maybe", "expired", "true or false")]
    #[case("expiresIn=0", "expiresIn", "1 or more")]
    #[case("expiresIn=-5", "expiresIn", "-5")]
    #[case("companyIds=7", "companyIds", "UUID")]
    #[case("outcome=foo", "outcome", "UNRESOLVED_DISPUTE")]
    #[case("status=OPEN&status=x", "status", "\"x\"")]
    #[case("sortField=comments", "sortField", "hoursLeft")]
    #[case("sortOrder=UP", "sortOrder", "ASC or DESC")]
    #[case("q=a&q=a", "q", "twice")]
    #[case("q=&q=a", "q", "twice")]
    #[case("descriptor=%ff", "descriptor", "UTF-8")]
    #[case("q=a%00", "q", "control")]
    fn each_wrong_parameter_is_told_with_its_value_and_what_is_allowed(
        #[case] raw: &str,
        #[case] field: &str,
        #[case] words: &str,
    ) {
        let errors = read(raw, Dialect::Current).unwrap_err();

        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].field, field);
        assert!(errors[0].message.contains(words), "{}", errors[0].message);
    }

    #[rstest]
    #[case("provider=ETHOCA&provider=VERIFI,CDRN", "provider=ETHOCA,VERIFI,CDRN")]
    #[case("status=open&page=1&status=&status=EXPIRED", "page=1&status=OPEN,EXPIRED")]
    #[case("q=+acme%20&descriptor=%20%20", "q=acme")]
    #[case("descriptor=%C2%A0ACME+shop+", "descriptor=ACME+shop")]
    fn two_ways_to_ask_mean_the_same(#[case] one: &str, #[case] other: &str) {
        assert_eq!(read(one, Dialect::Current).unwrap(), read(other, Dialect::Current).unwrap());
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once() {
        let errors = read("size=0&status=x&page=x", Dialect::Current).unwrap_err();

        assert_eq!(errors.iter().map(|error| error.field.as_str()).collect::<Vec<_>>(), ["status", "page", "size"]);
    }

    #[rstest]
    #[case("status=PROCESSING,not_found", true)]
    #[case("expiresIn=24", true)]
    #[case("expiresIn=25", false)]
    #[case("provider=CDRN", false)]
    #[case("outcome=stopped,IN_PROGRESS", true)]
    #[case("outcome=anything", false)]
    #[case("type=VERIFI_CANCEL,VERIFI_DISPUTE", true)]
    fn the_older_dialect_has_its_own_limits(#[case] raw: &str, #[case] allowed: bool) {
        assert_eq!(read(raw, Dialect::Older).is_ok(), allowed);
    }

    #[test]
    fn hours_without_end_mean_for_ever() {
        let query = read("expiresIn=99999999999999999999", Dialect::Current).unwrap();

        assert_eq!(query.filter.expires_in, Some(u32::MAX));
    }

    fn text() -> impl Strategy<Value = Option<String>> {
        proptest::option::of("[^\\s\\pC\u{FFFD}]([^\\pC\u{FFFD}]{0,20}[^\\s\\pC\u{FFFD}])?")
    }

    fn days() -> impl Strategy<Value = (Option<NaiveDate>, Option<NaiveDate>)> {
        let day = |days: i32| NaiveDate::from_num_days_from_ce_opt(days);
        (proptest::option::of(1..3_000_000), proptest::option::of(0..500_000))
            .prop_map(move |(start, more)| (start.and_then(day), more.and_then(|more| day(start.unwrap_or(1) + more))))
    }

    fn filter() -> impl Strategy<Value = AlertFilter> {
        let words = (
            subsequence(Provider::KNOWN.to_vec(), 0..=Provider::KNOWN.len()),
            subsequence(AlertType::KNOWN.to_vec(), 0..=AlertType::KNOWN.len()),
            subsequence(AlertStatus::CURRENT.to_vec(), 0..=AlertStatus::CURRENT.len()),
            subsequence(OlderWord::KNOWN.to_vec(), 0..3),
        );
        let rest =
            (any::<Option<bool>>(), proptest::option::of(1..=u32::MAX), proptest::collection::vec(any::<u128>(), 0..3));
        (days(), days(), words, rest, text(), text()).prop_map(|(dates, transaction, words, rest, descriptor, q)| {
            AlertFilter {
                start_date: dates.0,
                end_date: dates.1,
                transaction_start_date: transaction.0,
                transaction_end_date: transaction.1,
                providers: words.0,
                types: words.1,
                statuses: words.2,
                descriptor,
                outcomes: words.3.into_iter().map(|word| word.as_str().to_lowercase()).collect(),
                expired: rest.0,
                expires_in: rest.1,
                companies: rest.2.into_iter().map(|number| CompanyId(Uuid::from_u128(number))).collect(),
                q,
                conditions: LocalConditions::default(),
            }
        })
    }

    proptest! {
        #[test]
        fn every_query_survives_the_way_to_text_and_back(
            filter in filter(),
            field in select(&SortField::ALL[..]),
            descending in any::<bool>(),
            page in 0..=MAX_PAGE,
            size in 1..=MAX_PAGE_SIZE,
        ) {
            let order = if descending { SortOrder::Descending } else { SortOrder::Ascending };
            let query = AlertQuery { filter, sort: Sort { field, order }, page: PageRequest { page, size } };

            prop_assert_eq!(read(&write(&query, COMPANY_PARAMETER).unwrap(), Dialect::Current), Ok(query));
        }

        #[test]
        fn no_query_string_makes_reading_panic(raw in "(page|size|q|expiresIn|startDate|status|companyIds|\
            x)?=?\\PC{0,30}(&|%|=|,)?\\PC{0,30}") {
            let _ = read(&raw, Dialect::Current);
            let _ = read(&raw, Dialect::Older);
        }
    }
}
