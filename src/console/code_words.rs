//! Words for the codes of the card networks: merchant category codes (ISO 18245), dispute reason codes, and the values
//! of fields that have a few.
//!
//! The codes stand in `assets/codes.toml`. A code that is not there has no words, and none are made up for it.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;

use crate::domain::calendar::is_like;

/// The file as it stands.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct CodeBook {
    /// Merchant category codes, alone or as a range with both ends.
    merchant_categories: BTreeMap<String, String>,
    /// Codes of each network.
    reasons: BTreeMap<String, BTreeMap<String, String>>,
    /// Values of each field of the interface.
    values: BTreeMap<String, BTreeMap<String, String>>,
}

static CODES: LazyLock<CodeBook> = LazyLock::new(|| {
    toml::from_str(include_str!("../../assets/codes.toml"))
        .expect("the codes are part of the program, and a test reads them")
});

/// Returns the ends of a range of codes.
fn ends(codes: &str) -> (&str, &str) {
    codes.split_once('-').unwrap_or((codes, codes))
}

/// Describes a merchant category code (ISO 18245, four digits): `travel agencies`.
pub fn merchant_category(code: &str) -> Option<&'static str> {
    let code = Some(code.trim()).filter(|code| is_like(code, "0000"))?;
    // Of four digits each, they are compared as texts.
    let is_of = |codes: &str| ends(codes).0 <= code && code <= ends(codes).1;
    CODES.merchant_categories.iter().find(|(codes, _)| is_of(codes)).map(|(_, words)| words.as_str())
}

/// Describes a dispute reason code, with the network whose code it is: `Visa: fraud, card absent`.
pub fn dispute_reason(code: &str) -> Option<String> {
    let code = code.trim().to_ascii_uppercase();
    CODES.reasons.iter().find_map(|(network, codes)| Some(format!("{network}: {}", codes.get(&code)?)))
}

/// Describes a value of a field, in any letter case: `e-commerce`.
pub fn field_value(field: &str, value: &str) -> Option<&'static str> {
    CODES.values.get(field)?.get(value.trim().to_ascii_lowercase().as_str()).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

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
        assert_eq!(dispute_reason(code).as_deref(), words);
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
        let codes: Vec<&String> = CODES.reasons.values().flat_map(BTreeMap::keys).collect();
        let ranges: Vec<_> = CODES.merchant_categories.keys().map(|codes| ends(codes)).collect();

        let once: BTreeSet<_> = codes.iter().collect();
        assert_eq!(once.len(), codes.len(), "no reason code is in two networks");
        assert!(ranges.iter().all(|(first, last)| is_like(first, "0000") && is_like(last, "0000") && first <= last));
        assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0), "no two ranges overlap");
    }
}
