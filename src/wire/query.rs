//! The query string of the list operation, both ways.
//!
//! A parameter without a value counts as not given, as forms send it. Lists are comma-separated or given several times,
//! words are read in any letter case. Unknown parameters are ignored; a known one that is no list and given twice is an
//! error. Every error names the parameter, the value and what is allowed.

use std::borrow::Cow;

use url::form_urlencoded::{Serializer, parse};

use super::{Dialect, json::quoted};
use crate::domain::{
    AlertFilter, AlertQuery, FieldError, MAX_PAGE_SIZE, PageRequest, Sort,
    filter::{SortField, SortOrder},
    query::{DEFAULT_SORT, Key, ONLY_HERE, Spelling, add_value, backward_ranges, render, values_of},
};

/// Last page that can be asked for: no offset of a page up to it leaves a signed 64-bit integer.
pub const MAX_PAGE: u64 = i64::MAX as u64 / MAX_PAGE_SIZE as u64;

/// Most values in one list.
pub const MAX_VALUES: usize = 1_000;

/// Longest text, in characters.
pub const MAX_TEXT: usize = 1_024;

/// Name of the company filter. The interface gives it none, and other services may use another one.
pub const COMPANY_PARAMETER: &str = "companyIds";

/// The parameters of the filter, each with its key.
const PARAMETERS: [(&str, Key); 13] = [
    ("startDate", Key::From),
    ("endDate", Key::To),
    ("transactionStartDate", Key::TxFrom),
    ("transactionEndDate", Key::TxTo),
    ("provider", Key::Provider),
    ("type", Key::Type),
    ("status", Key::Status),
    ("descriptor", Key::Descriptor),
    ("outcome", Key::Outcome),
    ("expired", Key::Expired),
    ("expiresIn", Key::Expires),
    (COMPANY_PARAMETER, Key::Company),
    ("q", Key::Text),
];

/// Reads a raw query string, without its question mark; reports everything that is wrong with it.
pub fn read(raw: &str, dialect: Dialect) -> Result<AlertQuery, Vec<FieldError>> {
    let mut given = Parameters { given: parse(raw.as_bytes()).collect(), errors: Vec::new() };
    let AlertQuery { mut filter, sort, page } = AlertQuery::default();
    for (name, key) in PARAMETERS {
        given.put(&mut filter, name, key, dialect);
    }
    for (start, why) in backward_ranges(&filter) {
        let name = PARAMETERS.iter().find(|(_, key)| *key == start).map_or("", |(name, _)| name);
        given.errors.push(FieldError::new(name, why));
    }
    let fields = || format!("one of {}", SortField::ALL.map(SortField::as_str).join(", "));
    let sort = Sort {
        field: given.one("sortField", SortField::known, fields).unwrap_or(sort.field),
        order: given.one("sortOrder", SortOrder::known, || "ASC or DESC".to_owned()).unwrap_or(sort.order),
    };
    let size = given.integer("size", 1, MAX_PAGE_SIZE.into()).and_then(|size| size.try_into().ok());
    let page =
        PageRequest { page: given.integer("page", 0, MAX_PAGE).unwrap_or(page.page), size: size.unwrap_or(page.size) };
    if given.errors.is_empty() { Ok(AlertQuery { filter, sort, page }) } else { Err(given.errors) }
}

/// Writes the query string that [`read`] makes the same query of. `company_parameter` is the name that the deployment
/// gives its company filter, mostly [`COMPANY_PARAMETER`].
///
/// # Errors
/// Conditions that no parameter says.
pub fn write(query: &AlertQuery, company_parameter: &str) -> Result<String, FieldError> {
    let AlertQuery { filter, sort, page } = query;
    if !filter.conditions.is_empty() {
        let only = AlertFilter { conditions: filter.conditions.clone(), ..AlertFilter::default() };
        return Err(FieldError::new(render(&only, DEFAULT_SORT), ONLY_HERE));
    }
    let mut out = Serializer::new(String::new());
    out.append_pair("page", &page.page.to_string()).append_pair("size", &page.size.to_string());
    out.append_pair("sortField", sort.field.as_str()).append_pair("sortOrder", sort.order.as_str());
    for (name, key) in PARAMETERS {
        let values = values_of(filter, None, key);
        if !values.is_empty() {
            out.append_pair(if key == Key::Company { company_parameter } else { name }, &values.join(","));
        }
    }
    Ok(out.finish())
}

/// The parameters that were given, and what was wrong with them.
struct Parameters<'a> {
    given: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    errors: Vec<FieldError>,
}

impl Parameters<'_> {
    /// The values of a parameter that are not empty, as one list.
    fn take(&mut self, name: &str, is_list: bool) -> Option<String> {
        let values: Vec<&str> =
            self.given.iter().filter(|(given, _)| given == name).map(|(_, value)| &**value).collect();
        if values.len() > 1 && !is_list {
            self.errors.push(FieldError::new(name, "is given twice: once is allowed"));
            return None;
        }
        let given = values.into_iter().filter(|value| !value.trim().is_empty()).collect::<Vec<_>>().join(",");
        (!given.is_empty()).then_some(given)
    }

    fn refuse(&mut self, name: &str, value: &str, allowed: &str) {
        self.errors.push(FieldError::new(name, format!("{} is not allowed: {allowed}", quoted(value))));
    }

    /// Takes the values of a key into the filter, up to the first that is not allowed.
    fn put(&mut self, filter: &mut AlertFilter, name: &str, key: Key, dialect: Dialect) {
        let Some(given) = self.take(name, key.is_list()) else { return };
        let values: Vec<&str> = if key.is_list() { given.split(',').collect() } else { vec![&given] };
        if values.len() > MAX_VALUES {
            return self.refuse(name, &given, &format!("at most {MAX_VALUES} values"));
        }
        for value in values.into_iter().map(str::trim) {
            // The decoder puts U+FFFD where bytes are not UTF-8.
            if value.chars().count() > MAX_TEXT || value.contains(|c: char| c.is_control() || c == '\u{FFFD}') {
                let allowed = format!("at most {MAX_TEXT} characters of UTF-8, none of them a control character");
                return self.refuse(name, value, &allowed);
            }
            if !add_value(filter, key, value, dialect.into(), Spelling::Interface) {
                return self.refuse(name, value, &key.takes(dialect.into(), Spelling::Interface));
            }
        }
    }

    fn one<T>(&mut self, name: &str, read: impl Fn(&str) -> Option<T>, allowed: impl Fn() -> String) -> Option<T> {
        let value = self.take(name, false)?;
        let read = read(value.trim());
        if read.is_none() {
            self.refuse(name, &value, &allowed());
        }
        read
    }

    fn integer(&mut self, name: &str, least: u64, most: u64) -> Option<u64> {
        let read = |text: &str| {
            let digits = text.bytes().all(|byte| byte.is_ascii_digit()).then_some(text)?;
            digits.parse().ok().filter(|number| (least..=most).contains(number))
        };
        self.one(name, read, || format!("a whole number from {least} to {most}"))
    }
}

#[cfg(test)]
mod tests {
    use chrono::NaiveDate;
    use proptest::prelude::*;
    use proptest::sample::{select, subsequence};
    use rstest::rstest;
    use uuid::Uuid;

    use super::*;
    use crate::domain::{AlertStatus, AlertType, CompanyId, LocalConditions, Provider, resolution::OlderWord};

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
    #[case("startDate=2026-01-02&endDate=2026-01-01", "startDate", "after its end on 2026-01-01")]
    #[case("transactionStartDate=2026-01-02&transactionEndDate=2026-01-01", "transactionStartDate", "after")]
    #[case("provider=MYSTERY", "provider", "ETHOCA, VERIFI, CDRN")]
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

        assert_eq!(errors.iter().map(|error| error.field.as_str()).collect::<Vec<_>>(), ["status", "size", "page"]);
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
            subsequence(OlderWord::ALL.to_vec(), 0..3),
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
