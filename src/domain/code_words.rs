//! Words for the codes of the card networks: merchant category codes (ISO 18245), dispute reason codes, and the values
//! of fields that have a few.
//!
//! The codes stand in `assets/codes.toml`. A code that is not there has no words, and none are made up for it.

use std::{collections::BTreeMap, ops::RangeInclusive, sync::LazyLock};

use serde::Deserialize;

/// The file as it stands.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct CodeFile {
    merchant_categories: BTreeMap<String, String>,
    /// Codes of each network.
    reasons: BTreeMap<String, BTreeMap<String, String>>,
    /// Values of each field of the interface.
    values: BTreeMap<String, BTreeMap<String, String>>,
}

/// The codes by what they are looked up with.
struct CodeBook {
    categories: Vec<(RangeInclusive<u16>, String)>,
    reasons: BTreeMap<String, String>,
    values: BTreeMap<String, BTreeMap<String, String>>,
}

impl CodeBook {
    fn read(text: &str) -> Self {
        let CodeFile { merchant_categories, reasons, values } =
            toml::from_str(text).expect("the codes are part of the program, and a test reads them");
        let range = |codes: &str| {
            let (first, last) = codes.split_once('-').unwrap_or((codes, codes));
            let code = |text: &str| text.parse().expect("a merchant category code is a number, and a test reads each");
            code(first)..=code(last)
        };
        let categories = merchant_categories.into_iter().map(|(codes, words)| (range(&codes), words)).collect();
        let reasons = reasons.into_iter().flat_map(|(network, codes)| {
            codes.into_iter().map(move |(code, words)| (code, format!("{network}: {words}")))
        });
        Self { categories, reasons: reasons.collect(), values }
    }
}

static CODES: LazyLock<CodeBook> = LazyLock::new(|| CodeBook::read(include_str!("../../assets/codes.toml")));

/// Describes a merchant category code (ISO 18245, four digits): `travel agencies`.
pub fn merchant_category(code: &str) -> Option<&'static str> {
    let number: u16 = code.trim().parse().ok().filter(|_| code.trim().len() == 4)?;
    CODES.categories.iter().find(|(codes, _)| codes.contains(&number)).map(|(_, words)| words.as_str())
}

/// Describes a dispute reason code, with the network whose code it is: `Visa: fraud, card absent`.
pub fn dispute_reason(code: &str) -> Option<&'static str> {
    CODES.reasons.get(code.trim().to_ascii_uppercase().as_str()).map(String::as_str)
}

/// Describes a value of a field, in any letter case: `e-commerce`.
pub fn field_value(field: &str, value: &str) -> Option<&'static str> {
    CODES.values.get(field)?.get(value.trim().to_ascii_lowercase().as_str()).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("4722", Some("travel agencies"))]
    #[case(" 5732 ", Some("electronics"))]
    #[case("3066", Some("an airline"))]
    #[case("3999", Some("a hotel"))]
    #[case("0742", Some("veterinarians"))]
    #[case("742", None)]
    #[case("0001", None)]
    #[case("travel", None)]
    fn a_merchant_category_is_told_by_its_four_digits(#[case] code: &str, #[case] words: Option<&str>) {
        assert_eq!(merchant_category(code), words);
    }

    #[rstest]
    #[case("10.4", Some("Visa: fraud, card absent"))]
    #[case("4853", Some("Mastercard: cardholder dispute, goods or services"))]
    #[case("ua02", Some("Discover: fraud, card absent"))]
    #[case("F29", Some("American Express: fraud, card absent"))]
    #[case("UAU123", None)]
    #[case("", None)]
    fn a_reason_is_told_with_its_network_and_one_that_nobody_knows_is_not(
        #[case] code: &str,
        #[case] words: Option<&str>,
    ) {
        assert_eq!(dispute_reason(code), words);
    }

    #[rstest]
    #[case("transactionType", "ECOMMERCE", Some("e-commerce"))]
    #[case("transactionType", "eCommerce", Some("e-commerce"))]
    #[case("initiatedBy", "ISSUER", Some("issuer"))]
    #[case("initiatedBy", "NOT_AVAILABLE", Some("not told"))]
    #[case("initiatedBy", "the bank", None)]
    #[case("issuer", "ISSUER", None)]
    fn a_value_of_a_field_with_a_few_is_told_in_words_in_any_letter_case(
        #[case] field: &str,
        #[case] value: &str,
        #[case] words: Option<&str>,
    ) {
        assert_eq!(field_value(field, value), words);
    }

    #[test]
    fn no_code_of_the_file_means_two_things() {
        let text = include_str!("../../assets/codes.toml");
        let CodeFile { merchant_categories, reasons, .. } = toml::from_str(text).unwrap();
        let all: usize = reasons.values().map(BTreeMap::len).sum();
        let mut categories: Vec<_> = CODES.categories.iter().map(|(codes, _)| codes.clone()).collect();
        categories.sort_by_key(|codes| *codes.start());

        assert_eq!(CODES.reasons.len(), all, "no reason code is in two networks");
        assert_eq!(categories.len(), merchant_categories.len());
        assert!(categories.windows(2).all(|pair| pair[0].end() < pair[1].start()), "no two ranges overlap");
    }
}
