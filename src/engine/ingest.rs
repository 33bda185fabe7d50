//! Bringing alerts in: what is read becomes a complete alert, or a reason why not.
//!
//! Provider data is hostile: text is bounded and stripped of what could steer a terminal, and no card number is kept beyond BIN and last
//! four. No message repeats card data.

use chrono::{Datelike, TimeDelta};

use super::{Caller, Engine, EngineSettings, later_by, text, unavailable};
use crate::domain::card::{holds_card_number, mask_card_numbers};
use crate::domain::money::MAX_DECIMALS;
use crate::domain::{
    Alert, AlertStatus, AlertType, Amount, Currency, Deadline, FieldError, IncomingAlert, IngestOptions, IngestReport, Outcome, Provider,
    RejectedRow, Timestamp,
};
use crate::service::ServiceError;
use crate::store::{IngestRow, OrganizationRecord};

/// How many rows are stored in one commit: few enough that a resolution need not wait long behind it.
const BATCH: usize = 4_000;

/// Longest words, ids and names, in characters.
const MAX_WORD: usize = 64;
const MAX_ID: usize = 128;
const MAX_NAME: usize = 255;
/// Longest comments of an outcome; other services allow more than the 250 of a resolution.
const MAX_COMMENTS: usize = 2_000;

/// The most hours an alert can have left: ten years.
const MAX_HOURS: i64 = 87_600;

impl Engine {
    /// Takes alerts in, batch by batch; a row that cannot be taken does not hold up the others.
    pub(super) async fn ingest(
        &self,
        caller: &Caller,
        rows: Vec<IncomingAlert>,
        options: IngestOptions,
    ) -> Result<IngestReport, ServiceError> {
        let present = Present { date: self.now(), trusted: self.trusted_now() };
        let now = present.date;
        let store = self.signed(caller);
        let mut report = IngestReport::default();
        let mut batch = Vec::with_capacity(rows.len().min(BATCH));
        for row in rows {
            let line = row.line;
            match prepare(row, &caller.organization, options, present, self.settings()) {
                Ok(row) => batch.push(row),
                Err(error) => report.rejected.push(RejectedRow { line, error }),
            }
            if batch.len() == BATCH {
                let stored = store.ingest(caller.organization.organization.id, std::mem::take(&mut batch), now).await;
                report.add(stored.map_err(unavailable)?);
            }
        }
        if !batch.is_empty() {
            report.add(store.ingest(caller.organization.organization.id, batch, now).await.map_err(unavailable)?);
        }
        report.rejected.sort_by_key(|rejected| rejected.line);
        Ok(report)
    }
}

/// The present moment: what the clock shows, and how far that can be believed. Only by the latter is anything too late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Present {
    /// What the clock shows.
    pub date: Timestamp,
    /// The same, unless the clock has just jumped ahead.
    pub trusted: Timestamp,
}

impl From<Timestamp> for Present {
    fn from(now: Timestamp) -> Self {
        Self { date: now, trusted: now }
    }
}

/// Makes a complete alert of what was read: checks it, cleans it, fills in what is missing, and settles deadline, status and event
/// (decisions, Bringing alerts in).
///
/// # Errors
/// The first field at fault and why.
pub fn prepare(
    incoming: IncomingAlert,
    organization: &OrganizationRecord,
    options: IngestOptions,
    now: impl Into<Present>,
    settings: &EngineSettings,
) -> Result<IngestRow, FieldError> {
    let Present { date: now, trusted } = now.into();
    let IncomingAlert { line, mut alert, id_given, status_given, expires_at } = incoming;
    check_identity(&mut alert, id_given)?;
    check_money(&mut alert)?;
    check_card(&mut alert)?;
    clean_texts(&mut alert)?;
    check_times(&alert, expires_at)?;
    if !status_given {
        alert.status = AlertStatus::Open;
    }
    let mut row = IngestRow {
        line,
        by_id: id_given,
        alert_time_given: alert.alert_time.is_some(),
        transaction_time_given: alert.transaction_time.is_some(),
        company_given: alert.company_id.is_some(),
        enrollment_given: alert.enrollment_id.is_some(),
        event: false,
        alert,
    };
    let alert = &mut row.alert;
    let raised = *alert.alert_time.get_or_insert(now);
    alert.transaction_time.get_or_insert(raised);
    alert.created_at.get_or_insert(now);
    alert.updated_at.get_or_insert(now);
    alert.company_id.get_or_insert(organization.default_company);
    alert.enrollment_id.get_or_insert(organization.default_enrollment);
    settle_deadline(alert, raised, expires_at, Present { date: now, trusted }, settings)?;
    settle_outcome(alert, now);
    let waits = alert.outcome.is_none() && alert.status != AlertStatus::Expired;
    row.event = options.events && waits && alert.deadline.moment().is_some_and(|deadline| deadline > trusted);
    Ok(row)
}

fn check_identity(alert: &mut Alert, id_given: bool) -> Result<(), FieldError> {
    let provider = word("provider", alert.provider.as_str(), MAX_WORD)?;
    let alert_type = word("type", alert.alert_type.as_str(), MAX_WORD)?;
    let status = word("status", alert.status.as_str(), MAX_WORD)?;
    alert.provider_id = word("providerId", &alert.provider_id, MAX_ID)?;
    for (field, text) in [("provider", &provider), ("type", &alert_type)] {
        if text.is_empty() {
            return Err(FieldError::new(field, "is required"));
        }
    }
    if alert.provider_id.is_empty() && !id_given {
        return Err(FieldError::new("providerId", "is required where there is no id"));
    }
    alert.provider = Provider::parse(&provider);
    alert.alert_type = AlertType::parse(&alert_type);
    alert.status = if status.is_empty() { AlertStatus::Open } else { AlertStatus::parse(&status) };
    Ok(())
}

/// Text that things are told apart by. It is refused, not changed: two ids must not become one.
fn word(field: &str, text: &str, most: usize) -> Result<String, FieldError> {
    let text = text.trim();
    if let Some(bad) = text.chars().find(|&c| !text::is_harmless(c)) {
        return Err(FieldError::new(field, format!("holds the character U+{:04X}, which cannot be shown", u32::from(bad))));
    }
    not_too_long(field, text, most)?;
    Ok(text.to_owned())
}

fn not_too_long(field: &str, text: &str, most: usize) -> Result<(), FieldError> {
    // Most texts are short: their bytes are counted before their characters.
    if text.len() > most && text.chars().count() > most {
        return Err(FieldError::new(field, format!("has {} characters: at most {most} are allowed", text.chars().count())));
    }
    Ok(())
}

fn check_money(alert: &mut Alert) -> Result<(), FieldError> {
    let storable = |field: &str, amount: Amount| match amount.micros() {
        Some(_) => Ok(()),
        None => {
            let most = Amount::from_micros(i64::MAX.into());
            Err(FieldError::new(field, format!("{amount} is not allowed: 0 to {most} with at most {MAX_DECIMALS} decimal places")))
        }
    };
    let amount = alert.amount.ok_or_else(|| FieldError::new("amount", "is required"))?;
    storable("amount", amount)?;
    if let Some(amount) = alert.chargeback_amount {
        storable("chargebackAmount", amount)?;
    }
    let currency = word("currency", alert.currency.as_str(), MAX_WORD)?;
    if currency.is_empty() {
        return Err(FieldError::new("currency", "is required"));
    }
    alert.currency = Currency::new(currency);
    if let Some(currency) = alert.chargeback_currency.take() {
        let currency = word("chargebackCurrency", currency.as_str(), MAX_WORD)?;
        alert.chargeback_currency = Some(currency).filter(|code| !code.is_empty()).map(Currency::new);
    }
    Ok(())
}

/// Card data: BIN and last four, nothing more (reliability, Security).
fn check_card(alert: &mut Alert) -> Result<(), FieldError> {
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    alert.card_bin = alert.card_bin.trim().to_owned();
    alert.card_last_four = alert.card_last_four.trim().to_owned();
    let (bin, last_four) = (&alert.card_bin, &alert.card_last_four);
    if !(bin.is_empty() || digits(bin) && matches!(bin.len(), 6 | 8)) {
        return Err(FieldError::new("cardBin", "must be the first 6 or 8 digits of the card, no more"));
    }
    if !(last_four.is_empty() || digits(last_four) && last_four.len() == 4) {
        return Err(FieldError::new("cardLastFour", "must be the last 4 digits of the card, no more"));
    }
    // With 8 of an American Express card's 15 digits and the last four, 3 would be left to guess.
    if bin.starts_with("34") || bin.starts_with("37") {
        alert.card_bin.truncate(6);
    }
    Ok(())
}

/// What kind of text a field holds.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// An id or code: a card number in it is a reason to refuse the row, and other digits stay.
    Code,
    /// Words of people: card numbers in it are masked.
    Prose,
}

/// Bounds and cleans every text of the alert.
fn clean_texts(alert: &mut Alert) -> Result<(), FieldError> {
    let (bin, last_four) = (alert.card_bin.clone(), alert.card_last_four.clone());
    let cleaned = |field: &str, kind: Kind, most: usize, text: &str| -> Result<String, FieldError> {
        let text = text::one_line(text);
        not_too_long(field, &text, most)?;
        if kind == Kind::Prose {
            return Ok(mask_card_numbers(&text).into_owned());
        }
        if !bin.is_empty() && !last_four.is_empty() && holds_card_number(&text, &bin, &last_four) {
            return Err(FieldError::new(field, "holds the whole card number: only BIN and last four may be brought in"));
        }
        Ok(text)
    };
    let texts = [
        ("providerId", Kind::Code, MAX_ID, &mut alert.provider_id),
        ("issuer", Kind::Prose, MAX_NAME, &mut alert.issuer),
        ("merchantDescriptor", Kind::Code, MAX_NAME, &mut alert.merchant_descriptor),
        ("merchantId", Kind::Code, MAX_ID, &mut alert.merchant_id),
        ("merchantName", Kind::Prose, MAX_NAME, &mut alert.merchant_name),
        ("transactionType", Kind::Code, MAX_WORD, &mut alert.transaction_type),
        ("initiatedBy", Kind::Code, MAX_WORD, &mut alert.initiated_by),
    ];
    for (field, kind, most, text) in texts {
        *text = cleaned(field, kind, most, text)?;
    }
    let nullable = [
        ("cardExpirationDate", Kind::Code, MAX_WORD, &mut alert.card_expiration_date),
        ("acquirerBin", Kind::Code, MAX_WORD, &mut alert.acquirer_bin),
        ("statusCode", Kind::Code, MAX_WORD, &mut alert.status_code),
        ("ruleType", Kind::Code, MAX_NAME, &mut alert.rule_type),
        ("ruleName", Kind::Prose, MAX_NAME, &mut alert.rule_name),
        ("installmentNumber", Kind::Code, MAX_WORD, &mut alert.installment_number),
        ("pricingTier", Kind::Code, MAX_WORD, &mut alert.pricing_tier),
        ("descriptorContact", Kind::Prose, MAX_NAME, &mut alert.descriptor_contact),
        ("ethocaMerchantId", Kind::Code, MAX_ID, &mut alert.ethoca_merchant_id),
        ("merchantOrderId", Kind::Code, MAX_ID, &mut alert.merchant_order_id),
        ("partnerId", Kind::Code, MAX_ID, &mut alert.partner_id),
        ("partnerName", Kind::Prose, MAX_NAME, &mut alert.partner_name),
        ("clientName", Kind::Prose, MAX_NAME, &mut alert.client_name),
        ("caid", Kind::Code, MAX_ID, &mut alert.caid),
        ("mcc", Kind::Code, MAX_WORD, &mut alert.mcc),
        ("liability", Kind::Code, MAX_NAME, &mut alert.liability),
        ("authCode", Kind::Code, MAX_WORD, &mut alert.auth_code),
        ("source", Kind::Prose, MAX_NAME, &mut alert.source),
        ("reasonCode", Kind::Code, MAX_NAME, &mut alert.reason_code),
        ("acquirerReferenceNumber", Kind::Code, MAX_ID, &mut alert.acquirer_reference_number),
        ("transactionId", Kind::Code, MAX_ID, &mut alert.transaction_id),
        ("paymentType", Kind::Code, MAX_NAME, &mut alert.payment_type),
    ];
    for (field, kind, most, value) in nullable {
        if let Some(text) = value.take() {
            *value = Some(cleaned(field, kind, most, &text)?).filter(|text| !text.is_empty());
        }
    }
    let Some(outcome) = &mut alert.outcome else { return Ok(()) };
    let words = [
        ("outcome.ethocaID", MAX_ID, &mut outcome.provider_alert_id),
        ("outcome.status", MAX_WORD, &mut outcome.status),
        ("outcome.outcome", MAX_WORD, &mut outcome.outcome),
        ("outcome.refunded", MAX_WORD, &mut outcome.refunded),
    ];
    for (field, most, text) in words {
        *text = cleaned(field, Kind::Code, most, text)?;
    }
    if let Some(code) = outcome.dispute_reason_code.take() {
        outcome.dispute_reason_code =
            Some(cleaned("outcome.disputeReasonCode", Kind::Code, MAX_WORD, &code)?).filter(|code| !code.is_empty());
    }
    let comments = text::lines(&outcome.comments);
    not_too_long("outcome.comments", &comments, MAX_COMMENTS)?;
    outcome.comments = mask_card_numbers(&comments).into_owned();
    match outcome.amount_stopped {
        Some(amount) if amount.micros().is_none() => Err(FieldError::new("outcome.amountStopped", format!("{amount} is not allowed"))),
        _ => Ok(()),
    }
}

/// Times that a calendar can show and a deadline can be reckoned from.
fn check_times(alert: &Alert, expires_at: Option<Timestamp>) -> Result<(), FieldError> {
    let action_time = alert.outcome.as_ref().and_then(|outcome| outcome.action_time);
    let times = [
        ("alertTimeStamp", alert.alert_time),
        ("transactionTimeStamp", alert.transaction_time),
        ("createdAt", alert.created_at),
        ("updatedAt", alert.updated_at),
        ("expiredAt", alert.expired_at),
        ("expiresAt", expires_at),
        ("outcome.actionTimestamp", action_time),
    ];
    match times.iter().find(|(_, time)| time.is_some_and(|time| !(1970..3000).contains(&time.year()))) {
        Some((field, _)) => Err(FieldError::new(*field, "must lie in the years 1970 to 2999")),
        None => Ok(()),
    }
}

/// Deadline, and with it EXPIRED (decisions, Alerts and time).
fn settle_deadline(
    alert: &mut Alert,
    raised: Timestamp,
    expires_at: Option<Timestamp>,
    Present { date: now, trusted }: Present,
    settings: &EngineSettings,
) -> Result<(), FieldError> {
    let by_window = later_by(raised, settings.windows.of(&alert.provider, &alert.alert_type));
    let waiting = alert.status == AlertStatus::Open && alert.outcome.is_none();
    let own = expires_at.or(alert.deadline.moment());
    let deadline = match (own, alert.deadline) {
        (Some(own), _) => own,
        (None, Deadline::HoursLeft(hours)) if waiting => {
            if hours > MAX_HOURS {
                return Err(FieldError::new("hoursLeft", format!("{hours} is not allowed: at most {MAX_HOURS}")));
            }
            later_by(now, TimeDelta::hours(hours.max(1)))
        }
        // It has lapsed, so its deadline has passed, whatever the window says.
        (None, _) if alert.status == AlertStatus::Expired => alert.expired_at.unwrap_or(by_window.min(now)),
        (None, _) => by_window,
    };
    alert.deadline = Deadline::At(deadline);
    if waiting {
        let lapsed = deadline <= trusted;
        alert.expired_at = lapsed.then_some(deadline);
        if lapsed {
            alert.status = AlertStatus::Expired;
        }
    } else if alert.status == AlertStatus::Expired {
        alert.expired_at.get_or_insert(deadline);
    }
    Ok(())
}

/// Fills in what an outcome that was brought along does not say.
fn settle_outcome(alert: &mut Alert, now: Timestamp) {
    let (alert_id, provider_id, updated) = (alert.id, alert.provider_id.clone(), alert.updated_at);
    let Some(outcome) = &mut alert.outcome else { return };
    let Outcome { alert_id: belongs_to, provider_alert_id, status, action_time, .. } = outcome;
    *belongs_to = alert_id;
    if provider_alert_id.is_empty() {
        *provider_alert_id = provider_id;
    }
    if status.is_empty() {
        "success".clone_into(status);
    }
    action_time.get_or_insert(updated.unwrap_or(now));
}

#[cfg(test)]
mod tests;
