//! A resolution from its parts and back: the one way between it and what bodies, rows, flags, forms and drafts say.

use std::collections::BTreeMap;

use super::{Decision, Dialect, FieldError, InvalidReason, MAX_COMMENT_CHARS, OlderRefunded, OlderWord, Resolution};
use crate::{Amount, Money, card::mask_card_numbers, sanitize::excerpt};

/// The parts of a resolution as text, before any rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResolutionParts {
    /// The `refunded` word of either dialect.
    pub refunded: Option<String>,
    /// The reason of the current dialect, or the word of the older one.
    pub resolution: Option<String>,
    /// Stopped amount, of the older dialect only.
    pub amount_stopped: Option<String>,
    /// Empty where none were given.
    pub comments: String,
}

impl ResolutionParts {
    /// Returns true where nothing is given beyond the `refunded` word.
    pub fn is_bare(&self) -> bool {
        self.resolution.is_none() && self.amount_stopped.is_none() && self.comments.is_empty()
    }
}

/// Errors by field.
type Errors = BTreeMap<&'static str, String>;

impl Resolution {
    /// Makes a resolution of its parts, or reports every error, field by field. `disputed` is the money of the alert,
    /// where a stopped amount is to be checked against it.
    ///
    /// # Errors
    /// When a field breaks a rule of the interface.
    pub fn from_parts(
        parts: ResolutionParts,
        dialect: Dialect,
        disputed: Option<&Money>,
    ) -> Result<Self, Vec<FieldError>> {
        let mut errors = Errors::new();
        let ResolutionParts { refunded, resolution, amount_stopped, comments } = parts;
        let comments = noted(&mut errors, "comments", valid_comments(&comments)).unwrap_or_default();
        let said = match dialect {
            Dialect::Current => {
                if amount_stopped.is_some() {
                    errors.insert("amountStopped", "is for the older dialect: leave it out".to_owned());
                }
                match decision(refunded.as_deref(), resolution.as_deref()) {
                    Ok(decision) => Some(Self::Current { decision, comments }),
                    Err((field, message)) => noted(&mut errors, field, Err(message)),
                }
            }
            Dialect::Older => {
                let word = one_of(resolution, OlderWord::parse, &OlderWord::ALL.map(OlderWord::as_str));
                let word = noted(&mut errors, "resolution", word);
                let refunded = one_of(refunded, OlderRefunded::parse, &OlderRefunded::ALL.map(OlderRefunded::as_str));
                let refunded = noted(&mut errors, "refunded", refunded);
                let amount = valid_amount(word, amount_stopped.as_deref(), disputed);
                let amount_stopped = noted(&mut errors, "amountStopped", amount).flatten();
                word.zip(refunded).map(|(word, refunded)| Self::Older { word, refunded, amount_stopped, comments })
            }
        };
        said.filter(|_| errors.is_empty())
            .ok_or_else(|| errors.into_iter().map(|(field, message)| FieldError::new(field, message)).collect())
    }

    /// Returns the parts that make this resolution.
    pub fn to_parts(&self) -> ResolutionParts {
        let (refunded, resolution, amount_stopped) = match self {
            Self::Current { decision, .. } => (decision.refunded(), decision.reason().map(InvalidReason::as_str), None),
            Self::Older { word, refunded, amount_stopped, .. } => {
                (refunded.as_str(), Some(word.as_str()), *amount_stopped)
            }
        };
        ResolutionParts {
            refunded: Some(refunded.to_owned()),
            resolution: resolution.map(str::to_owned),
            amount_stopped: amount_stopped.map(|amount| amount.to_string()),
            comments: self.comments().to_owned(),
        }
    }

    /// Holds a resolution that was made somewhere else to every rule; it comes back as it is stored.
    ///
    /// # Errors
    /// When a field is not allowed: every error, field by field.
    pub fn checked(&self, disputed: Option<&Money>) -> Result<Self, Vec<FieldError>> {
        Self::from_parts(self.to_parts(), self.dialect(), disputed)
    }
}

/// Notes the error of a field.
fn noted<T>(errors: &mut Errors, field: &'static str, read: Result<T, String>) -> Option<T> {
    read.map_err(|message| errors.insert(field, message)).ok()
}

/// Returns the decision of the current dialect, or the error of a field with its allowed values.
fn decision(refunded: Option<&str>, reason: Option<&str>) -> Result<Decision, (&'static str, String)> {
    let reasons = || InvalidReason::ALL.map(InvalidReason::as_str).join(", ");
    match (refunded, reason) {
        (Some("REFUNDED"), None) => Ok(Decision::Refunded),
        (Some("NOT REFUNDED"), None) => Ok(Decision::NotRefunded),
        (Some("REFUNDED" | "NOT REFUNDED"), Some(_)) => {
            Err(("resolution", "goes only with refunded = INVALID: leave it out or null".to_owned()))
        }
        (Some("INVALID"), None) => {
            Err(("resolution", format!("is required when refunded is INVALID: one of {}", reasons())))
        }
        (Some("INVALID"), Some(text)) => InvalidReason::parse(text)
            .map(Decision::Invalid)
            .ok_or_else(|| ("resolution", format!("{} is not allowed: one of {}", quoted(text), reasons()))),
        (Some(text), _) => {
            Err(("refunded", format!("{} is not allowed: REFUNDED, NOT REFUNDED or INVALID", quoted(text))))
        }
        (None, _) => Err(("refunded", "is required: REFUNDED, NOT REFUNDED or INVALID".to_owned())),
    }
}

/// Returns a word exactly as the interface writes it: only filters and answers ignore the letter case.
fn one_of<T>(text: Option<String>, parse: fn(&str) -> Option<T>, allowed: &[&str]) -> Result<T, String> {
    let text = text.unwrap_or_default();
    parse(&text).ok_or_else(|| match text.as_str() {
        "" => format!("is required: one of {}", allowed.join(", ")),
        text => format!("{} is not allowed: one of {}", quoted(text), allowed.join(", ")),
    })
}

/// Returns the stopped amount: it goes with PARTIALLY_STOPPED and with no other word.
fn valid_amount(
    word: Option<OlderWord>,
    text: Option<&str>,
    disputed: Option<&Money>,
) -> Result<Option<Amount>, String> {
    let amount = text.map(str::parse::<Amount>).transpose()?;
    match (word, amount) {
        (Some(OlderWord::PartiallyStopped), None) => Err("is required when resolution is PARTIALLY_STOPPED".to_owned()),
        (Some(OlderWord::PartiallyStopped), Some(amount)) => {
            let too_much = disputed.is_some_and(|disputed| amount.decimal() > disputed.amount.decimal());
            if amount.decimal() <= 0.into() || too_much {
                let most = disputed
                    .map_or(String::new(), |disputed| format!(" and at most the alert's amount, {}", disputed.amount));
                return Err(format!("{amount} is not allowed: more than 0{most}"));
            }
            match disputed.map(|disputed| (disputed.decimals(), &disputed.currency)) {
                Some((most, currency)) if amount.decimal().normalize().scale() > most => {
                    Err(format!("{amount} is not allowed: with at most {most} decimals, as {currency} has them"))
                }
                _ => Ok(Some(amount)),
            }
        }
        (Some(_), Some(_)) => Err("goes only with resolution = PARTIALLY_STOPPED: leave it out".to_owned()),
        _ => Ok(amount),
    }
}

fn quoted(text: &str) -> String {
    format!("{:?}", excerpt(text))
}

/// Checks comments (length in Unicode scalar values, no control characters but line breaks) and masks card numbers in
/// them.
pub(crate) fn valid_comments(comments: &str) -> Result<String, String> {
    let count = comments.chars().count();
    if count > MAX_COMMENT_CHARS {
        return Err(format!("has {count} characters: at most {MAX_COMMENT_CHARS} are allowed"));
    }
    if let Some(control) = comments.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\r')) {
        return Err(format!("holds the control character U+{:04X}: only line breaks are allowed", u32::from(control)));
    }
    Ok(mask_card_numbers(comments).into_owned())
}

/// Returns an INVALID answer for a reason, in the words of a dialect.
pub fn invalid(reason: InvalidReason, dialect: Dialect, comments: String) -> ResolutionParts {
    let decision = Decision::Invalid(reason);
    let refunded = match dialect {
        Dialect::Current => decision.refunded(),
        Dialect::Older => decision.older_words().1.as_str(),
    };
    ResolutionParts {
        refunded: Some(refunded.to_owned()),
        resolution: Some(reason.resolution(dialect)),
        comments,
        ..ResolutionParts::default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::Currency;

    fn text(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    fn current(refunded: &str, reason: Option<&str>, comments: &str) -> Result<Resolution, Vec<FieldError>> {
        let parts = ResolutionParts {
            refunded: text(refunded),
            resolution: reason.and_then(text),
            comments: comments.to_owned(),
            ..ResolutionParts::default()
        };
        Resolution::from_parts(parts, Dialect::Current, None)
    }

    fn older(word: &str, amount_stopped: Option<&str>, disputed: Option<&str>) -> Result<Resolution, Vec<FieldError>> {
        let parts = ResolutionParts {
            refunded: text("NOT REFUNDED"),
            resolution: text(word),
            amount_stopped: amount_stopped.and_then(text),
            ..ResolutionParts::default()
        };
        let disputed = disputed.map(|amount| Money { amount: amount.parse().unwrap(), currency: Currency::new("EUR") });
        Resolution::from_parts(parts, Dialect::Older, disputed.as_ref())
    }

    #[rstest]
    #[case("INVALID", None, "resolution", "NOT_REFUNDED_DUPLICATE")]
    #[case("INVALID", Some("WHATEVER"), "resolution", "NOT_REFUNDED_DUPLICATE")]
    #[case("REFUNDED", Some("NOT_REFUNDED_DUPLICATE"), "resolution", "INVALID")]
    #[case("NOT REFUNDED", Some("NOT_REFUNDED_DUPLICATE"), "resolution", "INVALID")]
    #[case("NOT_REFUNDED", None, "refunded", "NOT REFUNDED")]
    #[case("refunded", None, "refunded", "REFUNDED")]
    fn a_wrong_current_body_names_the_field_and_what_is_allowed(
        #[case] refunded: &str,
        #[case] reason: Option<&str>,
        #[case] field: &str,
        #[case] allowed: &str,
    ) {
        let errors = current(refunded, reason, "").unwrap_err();

        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].field, field);
        assert!(errors[0].message.contains(allowed), "{}", errors[0].message);
    }

    #[test]
    fn every_wrong_field_is_reported_at_once() {
        let wrong = |dialect| {
            let parts = ResolutionParts {
                amount_stopped: text("much"),
                comments: "x".repeat(251),
                ..ResolutionParts::default()
            };
            Resolution::from_parts(parts, dialect, None)
                .unwrap_err()
                .into_iter()
                .map(|error| error.field)
                .collect::<Vec<_>>()
        };

        assert_eq!(wrong(Dialect::Current), ["amountStopped", "comments", "refunded"]);
        assert_eq!(wrong(Dialect::Older), ["amountStopped", "comments", "refunded", "resolution"]);
    }

    #[rstest]
    #[case(None, false)]
    #[case(Some("0"), false)]
    #[case(Some("10.01"), false)]
    #[case(Some("ten"), false)]
    #[case(Some("10.00"), true)]
    #[case(Some("0.01"), true)]
    fn a_partial_stop_needs_an_amount_within_the_alerts(#[case] stopped: Option<&str>, #[case] accepted: bool) {
        let result = older("PARTIALLY_STOPPED", stopped, Some("10.00"));

        assert_eq!(result.is_ok(), accepted, "{result:?}");
    }

    #[test]
    fn a_stopped_amount_without_a_partial_stop_is_refused() {
        let errors = older("STOPPED", Some("5"), None).unwrap_err();

        assert_eq!(errors[0].field, "amountStopped");
    }

    #[rstest]
    #[case("stopped", "\"stopped\" is not allowed")]
    #[case("", "is required")]
    fn a_word_of_the_older_dialect_is_read_exactly(#[case] word: &str, #[case] words: &str) {
        let errors = older(word, None, None).unwrap_err();

        assert!(
            errors.len() == 1 && errors[0].field == "resolution" && errors[0].message.starts_with(words),
            "{errors:?}"
        );
    }

    #[test]
    fn every_decision_is_valid_for_an_alert_as_it_is() {
        for decision in Decision::ALL {
            let resolution = Resolution::Current { decision, comments: "done\nand told".to_owned() };

            assert_eq!(resolution.clone().checked(None), Ok(resolution));
        }
    }

    #[rstest]
    #[case("10.00", "10.00 USD", true)]
    #[case("10.01", "10.00 USD", false)]
    #[case("9.995", "10.00 USD", false)]
    #[case("9.9900", "10 USD", true)]
    #[case("9.995", "10.001 USD", true)]
    #[case("9.995", "10.000 KWD", true)]
    #[case("9.5", "10 JPY", false)]
    fn a_partial_stop_is_held_against_the_alerts_amount_and_its_currency(
        #[case] stopped: &str,
        #[case] of: &str,
        #[case] accepted: bool,
    ) {
        let (amount, currency) = of.split_once(' ').unwrap();
        let disputed = Money { amount: amount.parse().unwrap(), currency: Currency::new(currency) };
        let (word, refunded) = (OlderWord::PartiallyStopped, OlderRefunded::Refunded);
        let said = Resolution::Older {
            word,
            refunded,
            amount_stopped: Some(stopped.parse().unwrap()),
            comments: String::new(),
        };

        assert_eq!(said.checked(Some(&disputed)).is_ok(), accepted);
    }

    #[rstest]
    #[case("é".repeat(250), true)]
    #[case("é".repeat(251), false)]
    #[case("two\nlines\r\n".to_owned(), true)]
    #[case("bell\u{7}".to_owned(), false)]
    #[case("esc\u{1b}[2J".to_owned(), false)]
    #[case("next line\u{85}".to_owned(), false)]
    fn comments_count_unicode_scalars_and_refuse_control_characters(#[case] comments: String, #[case] accepted: bool) {
        assert_eq!(valid_comments(&comments).is_ok(), accepted);
    }

    #[test]
    fn a_card_number_in_comments_is_masked_before_anything_is_compared() {
        let [plain, masked] = ["card 4111111111111111", "card 411111******1111"]
            .map(|comments| current("REFUNDED", None, comments).unwrap());

        assert_eq!(plain.canonical(), masked.canonical());
    }

    /// Any resolution that holds the rules.
    fn resolutions() -> impl Strategy<Value = Resolution> {
        let comments = "[\\PC\n]{0,40}".prop_map(|text| mask_card_numbers(&text).into_owned());
        let older = (0..OlderWord::ALL.len(), 0..OlderRefunded::ALL.len(), 1u32.., 0u32..7);
        (0..Decision::ALL.len(), older, any::<bool>(), comments).prop_map(
            |(at, (word, refunded, digits, scale), current, comments)| {
                if current {
                    return Resolution::Current { decision: Decision::ALL[at], comments };
                }
                let word = OlderWord::ALL[word];
                let amount = Amount::from(rust_decimal::Decimal::new(digits.into(), scale));
                let amount_stopped = (word == OlderWord::PartiallyStopped).then_some(amount);
                Resolution::Older { word, refunded: OlderRefunded::ALL[refunded], amount_stopped, comments }
            },
        )
    }

    proptest! {
        #[test]
        fn a_resolution_is_made_again_of_its_parts(said in resolutions()) {
            prop_assert_eq!(Resolution::from_parts(said.to_parts(), said.dialect(), None), Ok(said.clone()));
            prop_assert_eq!(said.clone().checked(None), Ok(said));
        }

        #[test]
        fn a_reason_goes_with_invalid_and_with_nothing_else(
            refunded in prop_oneof!["REFUNDED", "NOT REFUNDED", "INVALID", "\\PC{0,12}"],
            reason in proptest::option::of(prop_oneof!["REFUNDED_PREVIOUSLY_REFUNDED", "NOT_REFUNDED_NOT_FOUND",
                "\\PC{0,12}"]),
        ) {
            let known = reason.as_deref().map(|text| InvalidReason::ALL.iter().any(|reason| reason.as_str() == text));
            let allowed = match refunded.as_str() {
                "REFUNDED" | "NOT REFUNDED" => reason.is_none(),
                "INVALID" => known == Some(true),
                _ => false,
            };
            prop_assert_eq!(current(&refunded, reason.as_deref(), "").is_ok(), allowed);
        }
    }

    #[test]
    fn parts_are_bare_where_nothing_is_said_beyond_the_refund() {
        let bare = ResolutionParts { refunded: text("REFUNDED"), ..ResolutionParts::default() };
        let more = [
            ResolutionParts { resolution: text("STOPPED"), ..bare.clone() },
            ResolutionParts { amount_stopped: text("1"), ..bare.clone() },
            ResolutionParts { comments: "by Ann".to_owned(), ..bare.clone() },
        ];

        assert!(bare.is_bare());
        assert!(!more.iter().any(ResolutionParts::is_bare));
    }

    #[test]
    fn of_a_word_that_is_not_known_it_is_not_said_what_goes_with_it() {
        let errors = older("SHRUGGED", Some("5"), None).unwrap_err();

        assert_eq!(errors.iter().map(|error| error.field.as_str()).collect::<Vec<_>>(), ["resolution"]);
    }

    #[test]
    fn every_reason_makes_a_valid_answer_in_either_dialect() {
        for dialect in [Dialect::Current, Dialect::Older] {
            for reason in InvalidReason::ALL {
                let answer =
                    Resolution::from_parts(invalid(reason, dialect, "seen".to_owned()), dialect, None).unwrap();

                assert!(!answer.gives_money_back(), "{answer}");
                assert_eq!(answer.says_refunded_before(), reason == InvalidReason::PreviouslyRefunded);
            }
        }
    }
}
