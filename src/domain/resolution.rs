//! Resolutions: what a merchant says of an alert, its rules, and [`decide`], the transition table of the interface.

use std::collections::BTreeMap;

use super::alert::AlertStatus;
use super::card::mask_card_numbers;
use super::money::Amount;
use super::open_enum::open_enum;

/// Longest comment, in Unicode scalar values (interface, Limits).
pub const MAX_COMMENT_CHARS: usize = 250;

/// Which of the interface's two variants is spoken (decisions, Two dialects): each has its own body of a resolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Dialect {
    /// API keys, decimal strings, `ethocaMerchantId`.
    #[default]
    Current,
    /// Bearer tokens, decimals as numbers, `ethocaMergantId`.
    Older,
}

/// What is wrong with one field of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// The field or parameter, spelled as on the wire.
    pub field: String,
    /// What was wrong and what is allowed.
    pub message: String,
}

impl FieldError {
    /// An error at a field. Both may repeat what was given, so neither keeps a card number.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        let without_cards = |text: String| mask_card_numbers(&text).into_owned();
        Self { field: without_cards(field.into()), message: without_cards(message.into()) }
    }
}

/// The reason of an INVALID answer (interface, body of the current variant).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InvalidReason {
    /// The merchant had refunded before the alert came.
    PreviouslyRefunded,
    /// A chargeback has already been received.
    ChargebackReceived,
    /// The alert is a double of another one.
    Duplicate,
    /// The transaction cannot be found.
    NotFound,
}

impl InvalidReason {
    /// Every reason, in the order of the interface.
    pub const ALL: [Self; 4] = [Self::PreviouslyRefunded, Self::ChargebackReceived, Self::Duplicate, Self::NotFound];

    /// The spelling on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PreviouslyRefunded => "REFUNDED_PREVIOUSLY_REFUNDED",
            Self::ChargebackReceived => "NOT_REFUNDED_CHARGEBACK_RECEIVED",
            Self::Duplicate => "NOT_REFUNDED_DUPLICATE",
            Self::NotFound => "NOT_REFUNDED_NOT_FOUND",
        }
    }

    /// The meaning in words, as the interface gives it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::PreviouslyRefunded => "refunded before the alert",
            Self::ChargebackReceived => "a chargeback already received",
            Self::Duplicate => "duplicate alert",
            Self::NotFound => "transaction not found",
        }
    }
}

/// The merchant's decision in the current dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Decision {
    /// The cardholder has been refunded because of the alert.
    Refunded,
    /// No refund: the dispute may become a chargeback.
    NotRefunded,
    /// The alert does not call for a decision, for this reason.
    Invalid(InvalidReason),
}

impl Decision {
    /// Every decision there is.
    pub const ALL: [Self; 6] = [
        Self::Refunded,
        Self::NotRefunded,
        Self::Invalid(InvalidReason::PreviouslyRefunded),
        Self::Invalid(InvalidReason::ChargebackReceived),
        Self::Invalid(InvalidReason::Duplicate),
        Self::Invalid(InvalidReason::NotFound),
    ];

    /// The `refunded` field of the body.
    pub const fn refunded(self) -> &'static str {
        match self {
            Self::Refunded => "REFUNDED",
            Self::NotRefunded => "NOT REFUNDED",
            Self::Invalid(_) => "INVALID",
        }
    }

    /// The `resolution` field of the body.
    pub const fn reason(self) -> Option<InvalidReason> {
        match self {
            Self::Invalid(reason) => Some(reason),
            Self::Refunded | Self::NotRefunded => None,
        }
    }
}

open_enum! {
    /// The `resolution` word of the older dialect's body.
    pub enum OlderWord {
        Stopped = "STOPPED",
        PartiallyStopped = "PARTIALLY_STOPPED",
        PreviouslyCancelled = "PREVIOUSLY_CANCELLED",
        Missed = "MISSED",
        Notfound = "NOTFOUND",
        AccountSuspended = "ACCOUNT_SUSPENDED",
        InProgress = "IN_PROGRESS",
        ShipperContacted = "SHIPPER_CONTACTED",
        OtherWord = "OTHER",
        Resolved = "RESOLVED",
        PreviouslyRefunded = "PREVIOUSLY_REFUNDED",
        UnresolvedDispute = "UNRESOLVED_DISPUTE",
        NotFound = "NOT_FOUND",
    }
}

impl OlderWord {
    /// The meaning in words; the interface itself gives none (field notes, Outcome vocabulary).
    pub const fn words(&self) -> &'static str {
        match self {
            Self::Stopped => "stopped before it was fulfilled",
            Self::PartiallyStopped => "part of it stopped: say how much",
            Self::PreviouslyCancelled => "cancelled before the alert came",
            Self::Missed => "too late: shipped or used already",
            Self::Notfound => "transaction not found, older spelling",
            Self::AccountSuspended => "the customer's account is suspended",
            Self::InProgress => "being worked on; final all the same",
            Self::ShipperContacted => "the carrier was asked to turn it back",
            Self::OtherWord => "something else: see the comments",
            Self::Resolved => "settled with the customer",
            Self::PreviouslyRefunded => "refunded before the alert came",
            Self::UnresolvedDispute => "not settled: may become a chargeback",
            Self::NotFound => "transaction not found",
            Self::Other(_) => "",
        }
    }
}

open_enum! {
    /// The `refunded` word of the older dialect's body.
    pub enum OlderRefunded {
        Refunded = "REFUNDED",
        NotRefunded = "NOT REFUNDED",
        NotSettled = "NOT SETTLED",
    }
}

/// A valid resolution in either dialect. Made by [`CurrentBody::validate`] or [`OlderBody::validate`] only, so that whoever holds
/// one knows that the rules hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// Body of the current dialect.
    Current {
        /// The decision with its reason.
        decision: Decision,
        /// Free text, at most [`MAX_COMMENT_CHARS`]; empty where none was given.
        comments: String,
    },
    /// Body of the older dialect.
    Older {
        /// The `resolution` word, one of the known ones.
        word: OlderWord,
        /// The `refunded` word, one of the known ones.
        refunded: OlderRefunded,
        /// The stopped amount; present exactly with PARTIALLY_STOPPED.
        amount_stopped: Option<Amount>,
        /// Free text, at most [`MAX_COMMENT_CHARS`]; empty where none was given.
        comments: String,
    },
}

impl Resolution {
    /// In whose words it is said.
    pub const fn dialect(&self) -> Dialect {
        match self {
            Self::Current { .. } => Dialect::Current,
            Self::Older { .. } => Dialect::Older,
        }
    }

    /// The comments; empty where none were given.
    pub fn comments(&self) -> &str {
        match self {
            Self::Current { comments, .. } | Self::Older { comments, .. } => comments,
        }
    }

    /// One line that is the same exactly for the same decision: what a repeat is compared by (decisions, Repeats).
    pub fn canonical(&self) -> String {
        match self {
            Self::Current { decision, comments } => {
                format!("current|{}|{}|{comments}", decision.refunded(), decision.reason().map_or("", InvalidReason::as_str))
            }
            Self::Older { word, refunded, amount_stopped, comments } => {
                let amount = amount_stopped.map(|amount| amount.decimal().normalize().to_string()).unwrap_or_default();
                format!("older|{word}|{refunded}|{amount}|{comments}")
            }
        }
    }
}

/// The body of the current dialect as it was received or typed, before the rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CurrentBody {
    /// REFUNDED, NOT REFUNDED or INVALID.
    pub refunded: Option<String>,
    /// A reason, only with INVALID.
    pub resolution: Option<String>,
    /// Free text.
    pub comments: Option<String>,
}

impl CurrentBody {
    /// Applies every rule of the interface and reports all that is wrong, field by field.
    pub fn validate(&self) -> Result<Resolution, Vec<FieldError>> {
        let mut errors = BTreeMap::new();
        let resolution = self.resolution.as_deref();
        let reason = resolution.and_then(|text| InvalidReason::ALL.into_iter().find(|reason| reason.as_str() == text));
        let decision = match (self.refunded.as_deref(), resolution, reason) {
            (Some("REFUNDED"), None, _) => Some(Decision::Refunded),
            (Some("NOT REFUNDED"), None, _) => Some(Decision::NotRefunded),
            (Some("INVALID"), Some(_), Some(reason)) => Some(Decision::Invalid(reason)),
            (Some("INVALID"), None, _) => {
                errors.insert("resolution", format!("is required when refunded is INVALID: one of {}", reasons()));
                None
            }
            (Some("INVALID"), Some(text), None) => {
                errors.insert("resolution", format!("{} is not allowed: one of {}", quoted(text), reasons()));
                None
            }
            (Some("REFUNDED" | "NOT REFUNDED"), Some(_), _) => {
                errors.insert("resolution", "goes only with refunded = INVALID: leave it out or null".to_owned());
                None
            }
            (Some(text), _, _) => {
                errors.insert("refunded", format!("{} is not allowed: REFUNDED, NOT REFUNDED or INVALID", quoted(text)));
                None
            }
            (None, _, _) => {
                errors.insert("refunded", "is required: REFUNDED, NOT REFUNDED or INVALID".to_owned());
                None
            }
        };
        let comments = valid_comments(self.comments.as_deref()).map_err(|message| errors.insert("comments", message)).ok();
        match (decision, comments) {
            (Some(decision), Some(comments)) => Ok(Resolution::Current { decision, comments }),
            _ => Err(field_errors(errors)),
        }
    }
}

/// The body of the older dialect as it was received or typed, before the rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OlderBody {
    /// One of the thirteen words.
    pub resolution: Option<String>,
    /// REFUNDED, NOT REFUNDED or NOT SETTLED.
    pub refunded: Option<String>,
    /// The stopped amount, exactly with PARTIALLY_STOPPED.
    pub amount_stopped: Option<Amount>,
    /// Free text.
    pub comments: Option<String>,
}

impl OlderBody {
    /// Applies every rule and reports all that is wrong, field by field. `disputed` is the amount of the alert.
    pub fn validate(&self, disputed: Option<Amount>) -> Result<Resolution, Vec<FieldError>> {
        let mut errors = BTreeMap::new();
        let word = required_word(self.resolution.as_deref(), OlderWord::KNOWN, OlderWord::as_str)
            .map_err(|message| errors.insert("resolution", message))
            .ok();
        let refunded = required_word(self.refunded.as_deref(), OlderRefunded::KNOWN, OlderRefunded::as_str)
            .map_err(|message| errors.insert("refunded", message))
            .ok();
        let partially = word == Some(OlderWord::PartiallyStopped);
        match (partially, self.amount_stopped) {
            (true, None) => {
                errors.insert("amountStopped", "is required when resolution is PARTIALLY_STOPPED".to_owned());
            }
            (true, Some(amount)) => {
                let too_much = disputed.is_some_and(|disputed| amount.decimal() > disputed.decimal());
                if amount.decimal() <= 0.into() || too_much {
                    let most = disputed.map_or(String::new(), |disputed| format!(" and at most the alert's amount, {disputed}"));
                    errors.insert("amountStopped", format!("{amount} is not allowed: more than 0{most}"));
                }
            }
            (false, Some(_)) if word.is_some() => {
                errors.insert("amountStopped", "goes only with resolution = PARTIALLY_STOPPED: leave it out".to_owned());
            }
            (false, _) => {}
        }
        let comments = valid_comments(self.comments.as_deref()).map_err(|message| errors.insert("comments", message)).ok();
        match (word, refunded, comments) {
            (Some(word), Some(refunded), Some(comments)) if errors.is_empty() => {
                Ok(Resolution::Older { word, refunded, amount_stopped: self.amount_stopped, comments })
            }
            _ => Err(field_errors(errors)),
        }
    }
}

fn field_errors(errors: BTreeMap<&str, String>) -> Vec<FieldError> {
    errors.into_iter().map(|(field, message)| FieldError::new(field, message)).collect()
}

fn required_word<T: Clone>(text: Option<&str>, known: &[T], spell: fn(&T) -> &str) -> Result<T, String> {
    let allowed = || known.iter().map(spell).collect::<Vec<_>>().join(", ");
    match text {
        None => Err(format!("is required: one of {}", allowed())),
        // Bodies are read exactly as the interface writes them; only filters and answers forgive the letter case.
        Some(text) => known
            .iter()
            .find(|word| spell(word) == text)
            .cloned()
            .ok_or_else(|| format!("{} is not allowed: one of {}", quoted(text), allowed())),
    }
}

fn reasons() -> String {
    InvalidReason::ALL.map(InvalidReason::as_str).join(", ")
}

fn quoted(text: &str) -> String {
    let short: String = text.chars().take(60).collect();
    format!("{short:?}")
}

/// Checks comments (length in Unicode scalar values, no control characters but line breaks) and masks card numbers in them.
pub fn valid_comments(comments: Option<&str>) -> Result<String, String> {
    let comments = comments.unwrap_or_default();
    let count = comments.chars().count();
    if count > MAX_COMMENT_CHARS {
        return Err(format!("has {count} characters: at most {MAX_COMMENT_CHARS} are allowed"));
    }
    if let Some(control) = comments.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\r')) {
        return Err(format!("holds the control character U+{:04X}: only line breaks are allowed", u32::from(control)));
    }
    Ok(mask_card_numbers(comments).into_owned())
}

/// What a resolution does to an alert and to its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The alert's next status.
    pub status: AlertStatus,
    /// `outcome.outcome`.
    pub outcome: String,
    /// `outcome.refunded`.
    pub refunded: &'static str,
    /// `outcome.disputeReasonCode`.
    pub dispute_reason_code: Option<&'static str>,
    /// `outcome.amountStopped`.
    pub amount_stopped: Option<Amount>,
}

/// The transition table (interface, States and transitions; decisions, Outcome).
pub fn decide(resolution: &Resolution) -> Verdict {
    match resolution {
        Resolution::Current { decision, .. } => decide_current(*decision),
        Resolution::Older { word, refunded, amount_stopped, .. } => decide_older(word, refunded, *amount_stopped),
    }
}

fn decide_current(decision: Decision) -> Verdict {
    use AlertStatus::{Chargeback, Invalid, Resolved};
    use InvalidReason as Reason;
    let (status, outcome, refunded, dispute_reason_code) = match decision {
        Decision::Refunded => (Resolved, "resolved", "refunded", None),
        Decision::NotRefunded => (Chargeback, "unresolved_dispute", "not refunded", None),
        Decision::Invalid(Reason::PreviouslyRefunded) => (Invalid, "previously_refunded", "refunded", Some("previously_refunded")),
        Decision::Invalid(Reason::ChargebackReceived) => (Invalid, "other", "not refunded", Some("chargeback_received")),
        Decision::Invalid(Reason::Duplicate) => (Invalid, "other", "not refunded", Some("duplicate")),
        Decision::Invalid(Reason::NotFound) => (Invalid, "not_found", "not refunded", Some("not_found")),
    };
    Verdict { status, outcome: outcome.to_owned(), refunded, dispute_reason_code, amount_stopped: None }
}

fn decide_older(word: &OlderWord, refunded: &OlderRefunded, amount_stopped: Option<Amount>) -> Verdict {
    use OlderWord as Word;
    let status = match word {
        Word::Stopped | Word::PartiallyStopped | Word::PreviouslyCancelled => AlertStatus::Resolved,
        Word::AccountSuspended | Word::ShipperContacted | Word::Resolved => AlertStatus::Resolved,
        Word::PreviouslyRefunded => AlertStatus::Refunded,
        Word::Missed | Word::UnresolvedDispute => AlertStatus::Chargeback,
        Word::Notfound | Word::NotFound => AlertStatus::NotFound,
        Word::InProgress => AlertStatus::Processing,
        Word::OtherWord | Word::Other(_) => AlertStatus::OtherStatus,
    };
    let refunded = match refunded {
        OlderRefunded::Refunded => "refunded",
        OlderRefunded::NotRefunded | OlderRefunded::Other(_) => "not refunded",
        OlderRefunded::NotSettled => "not settled",
    };
    Verdict { status, outcome: word.as_str().to_ascii_lowercase(), refunded, dispute_reason_code: None, amount_stopped }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn current(refunded: &str, resolution: Option<&str>) -> CurrentBody {
        CurrentBody { refunded: Some(refunded.to_owned()), resolution: resolution.map(str::to_owned), comments: None }
    }

    fn older(word: &str, amount_stopped: Option<&str>) -> OlderBody {
        OlderBody {
            resolution: Some(word.to_owned()),
            refunded: Some("NOT REFUNDED".to_owned()),
            amount_stopped: amount_stopped.map(|text| text.parse().unwrap()),
            comments: None,
        }
    }

    #[rstest]
    #[case("REFUNDED", None, "RESOLVED", "resolved", "refunded", None)]
    #[case("NOT REFUNDED", None, "CHARGEBACK", "unresolved_dispute", "not refunded", None)]
    #[case("INVALID", Some("REFUNDED_PREVIOUSLY_REFUNDED"), "INVALID", "previously_refunded", "refunded", Some("previously_refunded"))]
    #[case("INVALID", Some("NOT_REFUNDED_CHARGEBACK_RECEIVED"), "INVALID", "other", "not refunded", Some("chargeback_received"))]
    #[case("INVALID", Some("NOT_REFUNDED_DUPLICATE"), "INVALID", "other", "not refunded", Some("duplicate"))]
    #[case("INVALID", Some("NOT_REFUNDED_NOT_FOUND"), "INVALID", "not_found", "not refunded", Some("not_found"))]
    fn a_current_body_leads_to_its_row_of_the_table(
        #[case] refunded: &str,
        #[case] reason: Option<&str>,
        #[case] status: &str,
        #[case] outcome: &str,
        #[case] stored: &str,
        #[case] code: Option<&str>,
    ) {
        let verdict = decide(&current(refunded, reason).validate().unwrap());

        assert_eq!(verdict.status.as_str(), status);
        assert_eq!(verdict.outcome, outcome);
        assert_eq!(verdict.refunded, stored);
        assert_eq!(verdict.dispute_reason_code, code);
    }

    #[rstest]
    #[case("STOPPED", "RESOLVED", "stopped")]
    #[case("PREVIOUSLY_CANCELLED", "RESOLVED", "previously_cancelled")]
    #[case("ACCOUNT_SUSPENDED", "RESOLVED", "account_suspended")]
    #[case("SHIPPER_CONTACTED", "RESOLVED", "shipper_contacted")]
    #[case("RESOLVED", "RESOLVED", "resolved")]
    #[case("PREVIOUSLY_REFUNDED", "REFUNDED", "previously_refunded")]
    #[case("MISSED", "CHARGEBACK", "missed")]
    #[case("UNRESOLVED_DISPUTE", "CHARGEBACK", "unresolved_dispute")]
    #[case("NOTFOUND", "NOT_FOUND", "notfound")]
    #[case("NOT_FOUND", "NOT_FOUND", "not_found")]
    #[case("IN_PROGRESS", "PROCESSING", "in_progress")]
    #[case("OTHER", "OTHER", "other")]
    fn an_older_body_leads_to_its_row_of_the_table(#[case] word: &str, #[case] status: &str, #[case] stored: &str) {
        let verdict = decide(&older(word, None).validate(None).unwrap());

        assert_eq!(verdict.status.as_str(), status);
        assert_eq!(verdict.outcome, stored);
        assert_eq!(verdict.refunded, "not refunded");
        assert_eq!(verdict.dispute_reason_code, None);
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
        let errors = current(refunded, reason).validate().unwrap_err();

        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].field, field);
        assert!(errors[0].message.contains(allowed), "{}", errors[0].message);
    }

    #[test]
    fn every_wrong_field_is_reported_at_once() {
        let body = CurrentBody { refunded: None, resolution: None, comments: Some("x".repeat(251)) };

        let fields: Vec<_> = body.validate().unwrap_err().into_iter().map(|error| error.field).collect();

        assert_eq!(fields, ["comments", "refunded"]);
    }

    #[rstest]
    #[case(None, false)]
    #[case(Some("0"), false)]
    #[case(Some("10.01"), false)]
    #[case(Some("10.00"), true)]
    #[case(Some("0.01"), true)]
    fn a_partial_stop_needs_an_amount_within_the_alerts(#[case] stopped: Option<&str>, #[case] accepted: bool) {
        let result = older("PARTIALLY_STOPPED", stopped).validate(Some("10.00".parse().unwrap()));

        assert_eq!(result.is_ok(), accepted, "{result:?}");
    }

    #[test]
    fn a_stopped_amount_without_a_partial_stop_is_refused() {
        let errors = older("STOPPED", Some("5")).validate(None).unwrap_err();

        assert_eq!(errors[0].field, "amountStopped");
    }

    #[rstest]
    #[case("é".repeat(250), true)]
    #[case("é".repeat(251), false)]
    #[case("two\nlines\r\n".to_owned(), true)]
    #[case("bell\u{7}".to_owned(), false)]
    #[case("esc\u{1b}[2J".to_owned(), false)]
    #[case("next line\u{85}".to_owned(), false)]
    fn comments_count_unicode_scalars_and_refuse_control_characters(#[case] comments: String, #[case] accepted: bool) {
        assert_eq!(valid_comments(Some(&comments)).is_ok(), accepted);
    }

    #[test]
    fn a_card_number_in_comments_is_masked_before_anything_is_compared() {
        let plain = CurrentBody { comments: Some("card 4111111111111111".to_owned()), ..current("REFUNDED", None) };
        let masked = CurrentBody { comments: Some("card ************1111".to_owned()), ..current("REFUNDED", None) };

        assert_eq!(plain.validate().unwrap().canonical(), masked.validate().unwrap().canonical());
    }

    proptest! {
        #[test]
        fn a_reason_goes_with_invalid_and_with_nothing_else(
            refunded in prop_oneof!["REFUNDED", "NOT REFUNDED", "INVALID", "\\PC{0,12}"],
            reason in proptest::option::of(prop_oneof!["REFUNDED_PREVIOUSLY_REFUNDED", "NOT_REFUNDED_NOT_FOUND", "\\PC{0,12}"]),
        ) {
            let known = reason.as_deref().map(|text| InvalidReason::ALL.iter().any(|reason| reason.as_str() == text));
            let allowed = match refunded.as_str() {
                "REFUNDED" | "NOT REFUNDED" => reason.is_none(),
                "INVALID" => known == Some(true),
                _ => false,
            };
            prop_assert_eq!(current(&refunded, reason.as_deref()).validate().is_ok(), allowed);
        }

        #[test]
        fn only_invalid_answers_carry_a_reason_code(index in 0usize..6) {
            let decision = Decision::ALL[index];
            let verdict = decide(&Resolution::Current { decision, comments: String::new() });
            prop_assert_eq!(verdict.dispute_reason_code.is_some(), decision.reason().is_some());
            prop_assert_eq!(verdict.status == AlertStatus::Invalid, decision.reason().is_some());
        }
    }
}
