//! Validating a patch: the one rule for every way in.
//!
//! Provider data is hostile: text is bounded and stripped of terminal control characters. No card number is kept beyond
//! BIN and last four. No message repeats card data.

use std::borrow::Cow;

use chrono::Datelike;

use super::{AlertPatch, FieldSet};
use crate::{
    Alert, AlertStatus, Deadline, FieldError, Outcome, Timestamp,
    card::{is_card_number, mask_card_numbers},
    field::{Content, Field, Kind, TextRule},
    identity::Identifier,
    sanitize,
};

/// Most hours that an alert can have left: over ten years.
pub const MAX_HOURS_LEFT: i64 = 100_000;

impl AlertPatch {
    /// Checks every field and cleans its text; a text of which nothing is left was not given.
    ///
    /// # Errors
    /// When a field is not allowed: the first such field with the reason.
    pub fn validate(mut self) -> Result<Self, FieldError> {
        let is_by_id = self.is_by_id();
        let alert = &mut self.alert;
        check(alert, Alert::FIELDS, "")?;
        if !is_by_id && alert.provider_id.is_empty() {
            return Err(missing("providerId", "the identifier at the provider, or id,"));
        }
        if !alert.provider_id.is_empty() {
            Identifier::Name.require(&alert.provider_id).map_err(|why| FieldError::new("providerId", why))?;
        }
        if let Some(outcome) = &mut alert.outcome {
            check(outcome, Outcome::FIELDS, "outcome.")?;
        }
        match alert.deadline {
            Deadline::At(moment) => check_time(moment, "expiresAt")?,
            Deadline::HoursLeft(hours) if hours > MAX_HOURS_LEFT => {
                let allowed = format!("is {hours}: a whole number of hours, at most {MAX_HOURS_LEFT} is allowed");
                return Err(FieldError::new("hoursLeft", allowed));
            }
            Deadline::HoursLeft(_) | Deadline::Unknown => {}
        }
        // With 8 of an American Express card's 15 digits and the last four, 3 would be left to guess.
        if alert.card_bin.starts_with("34") || alert.card_bin.starts_with("37") {
            alert.card_bin.truncate(6);
        }
        self.given = self.given.and(FieldSet::said_by(alert).with(Alert::ID, is_by_id));
        if alert.status == AlertStatus::default() {
            alert.status = AlertStatus::Open;
        }
        Ok(self)
    }
}

/// Checks the fields of a record by their rules; the names of those at fault get the prefix.
pub(crate) fn check<R: Default>(record: &mut R, fields: &[Field<R>], prefix: &str) -> Result<(), FieldError> {
    for field in fields {
        let name = || format!("{prefix}{}", field.name);
        match &field.kind {
            Kind::Word(access) | Kind::Text(access) => {
                if let Some(text) = (access.get)(record) {
                    let sanitized = sanitized(text, field.text).map_err(|why| FieldError::new(name(), why))?;
                    // An empty text says nothing, and so is the default of every kind of text.
                    if sanitized.is_empty() {
                        if !(field.is_blank)(record) {
                            (field.take)(record, &mut R::default());
                        }
                    } else if sanitized != text {
                        let sanitized = sanitized.into_owned();
                        (access.set)(record, sanitized.into());
                    }
                }
            }
            Kind::Amount(access) => {
                if let Some(amount) = (access.get)(record).filter(|amount| amount.micros().is_none()) {
                    let allowed = "0 to 9,223,372,036,854 with at most 6 decimal places is allowed";
                    return Err(FieldError::new(name(), format!("is {amount}: {allowed}")));
                }
            }
            Kind::Moment(access) => {
                if let Some(moment) = (access.get)(record) {
                    check_time(moment, &name())?;
                }
            }
            Kind::Id(_) | Kind::Reference(_) | Kind::Flag(_) => {}
        }
        if let Some(allowed) = field.required.filter(|_| (field.is_blank)(record)) {
            return Err(missing(&name(), allowed));
        }
    }
    Ok(())
}

fn missing(field: &str, allowed: &str) -> FieldError {
    FieldError::new(field, format!("is missing: {allowed} is required"))
}

/// Times that a calendar can show and a deadline can be reckoned from.
fn check_time(moment: Timestamp, field: &str) -> Result<(), FieldError> {
    match (1970..3000).contains(&moment.year()) {
        true => Ok(()),
        false => Err(FieldError::new(field, "must lie in the years 1970 to 2999")),
    }
}

/// Returns the text as it is stored, or its error.
fn sanitized<'a>(given: &'a str, rule: TextRule) -> Result<Cow<'a, str>, String> {
    let TextRule { content, longest } = rule;
    let text = match content {
        Content::Prose | Content::Code => sanitize::stored_line(given),
        Content::Lines => sanitize::stored_lines(given).into(),
        Content::Name | Content::Currency | Content::Bin | Content::LastFour => given.trim().into(),
    };
    let digits = sanitize::are_digits(&text);
    match content {
        _ if text.is_empty() => return Ok(text),
        Content::Name => {
            if let Some(bad) = text.chars().find(|&c| sanitize::is_unsafe(c)) {
                return Err(format!("holds the character U+{:04X}, which cannot be shown", u32::from(bad)));
            }
        }
        // Form of an ISO 4217 code. The list of codes changes every few years, so it is not checked.
        Content::Currency if text.len() != longest || !text.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
            let shown = sanitize::excerpt(given);
            return Err(format!("is {shown:?}: a currency code of three letters such as EUR is needed"));
        }
        // Card data: BIN and last four, nothing more.
        Content::Bin if !(digits && matches!(text.len(), 6 | 8)) => {
            return Err("must be the first 6 or 8 digits of the card, no more".to_owned());
        }
        Content::LastFour if !(digits && text.len() == longest) => {
            return Err("must be the last 4 digits of the card, no more".to_owned());
        }
        _ => {}
    }
    // Most texts are short: their bytes are counted before their characters.
    if text.len() > longest && text.chars().count() > longest {
        return Err(format!("has {} characters: at most {longest} are allowed", text.chars().count()));
    }
    match content {
        Content::Prose | Content::Lines => Ok(match mask_card_numbers(&text) {
            Cow::Owned(masked) => masked.into(),
            Cow::Borrowed(_) => text,
        }),
        Content::Name | Content::Code if is_card_number(&text) => {
            Err("is a card number: only BIN and last four may be brought in".to_owned())
        }
        _ => Ok(text),
    }
}
