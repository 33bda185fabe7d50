//! Answers and event bodies: alerts, outcomes and pages as JSON, straight from the domain's structs.

use chrono::{Datelike, Timelike};
use serde::ser::{Serialize, SerializeSeq, SerializeStruct, Serializer};

use super::Dialect;
use crate::domain::event::RenderEvent;
use crate::domain::time::to_iso;
use crate::domain::{Alert, Amount, Currency, EventKind, Outcome, Page, Timestamp};

/// One alert with its outcome (interface, Alert): every field present, nullable ones null. `now` is what `hoursLeft` counts from.
pub fn alert(alert: &Alert, dialect: Dialect, now: Timestamp) -> Vec<u8> {
    bytes(&AlertJson { alert, form: dialect.into(), now }, 2_048)
}

/// The outcome alone.
pub fn outcome(outcome: &Outcome, dialect: Dialect) -> Vec<u8> {
    bytes(&OutcomeJson { outcome, form: dialect.into() }, 512)
}

/// A page of alerts (interface, Paginated list envelope).
pub fn page(page: &Page<Alert>, dialect: Dialect, now: Timestamp) -> Vec<u8> {
    bytes(&PageJson { page, form: dialect.into(), now }, 128 + page.data.len() * 2_048)
}

/// Writes event bodies: `event`, `timestamp` and `payload`, and nothing else (interface, Events).
///
/// The payload is in the current dialect with the Ethoca merchant id under both spellings, because the interface's own sample of a
/// webhook uses the other one.
#[derive(Debug, Clone, Copy, Default)]
pub struct EventBody;

impl RenderEvent for EventBody {
    fn render(&self, kind: &EventKind, alert: &Alert, at: Timestamp) -> String {
        let body = bytes(&EventJson { kind, alert, at }, 2_304);
        String::from_utf8(body).expect("serde_json writes UTF-8")
    }
}

fn bytes(value: &impl Serialize, expected: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(expected);
    serde_json::to_writer(&mut bytes, value).expect("text keys into memory: nothing here can fail");
    bytes
}

/// How fields are spelled and decimals written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Current,
    Older,
    Webhook,
}

impl From<Dialect> for Form {
    fn from(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Current => Self::Current,
            Dialect::Older => Self::Older,
        }
    }
}

struct EventJson<'a> {
    kind: &'a EventKind,
    alert: &'a Alert,
    at: Timestamp,
}

impl Serialize for EventJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut json = serializer.serialize_struct("Event", 3)?;
        json.serialize_field("event", self.kind.as_str())?;
        json.serialize_field("timestamp", &Moment(self.at))?;
        json.serialize_field("payload", &AlertJson { alert: self.alert, form: Form::Webhook, now: self.at })?;
        json.end()
    }
}

struct PageJson<'a> {
    page: &'a Page<Alert>,
    form: Form,
    now: Timestamp,
}

impl Serialize for PageJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut json = serializer.serialize_struct("Page", 5)?;
        json.serialize_field("data", &AlertsJson(self))?;
        json.serialize_field("total", &self.page.total)?;
        json.serialize_field("totalPages", &self.page.total_pages())?;
        json.serialize_field("page", &self.page.page)?;
        json.serialize_field("size", &self.page.size)?;
        json.end()
    }
}

struct AlertsJson<'a>(&'a PageJson<'a>);

impl Serialize for AlertsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let PageJson { page, form, now } = *self.0;
        let mut json = serializer.serialize_seq(Some(page.data.len()))?;
        for alert in &page.data {
            json.serialize_element(&AlertJson { alert, form, now })?;
        }
        json.end()
    }
}

struct AlertJson<'a> {
    alert: &'a Alert,
    form: Form,
    now: Timestamp,
}

impl Serialize for AlertJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { alert, form, now } = *self;
        let mut json = serializer.serialize_struct("Alert", 47)?;
        json.serialize_field("id", &alert.id.0)?;
        json.serialize_field("providerId", &alert.provider_id)?;
        json.serialize_field("provider", alert.provider.as_str())?;
        json.serialize_field("type", alert.alert_type.as_str())?;
        json.serialize_field("alertTimeStamp", &alert.alert_time.map(Moment))?;
        json.serialize_field("enrollmentId", &alert.enrollment_id.map(|id| id.0))?;
        json.serialize_field("companyId", &alert.company_id.map(|id| id.0))?;
        json.serialize_field("issuer", &alert.issuer)?;
        json.serialize_field("cardBin", &alert.card_bin)?;
        json.serialize_field("cardLastFour", &alert.card_last_four)?;
        json.serialize_field("cardExpirationDate", &alert.card_expiration_date)?;
        json.serialize_field("acquirerBin", &alert.acquirer_bin)?;
        json.serialize_field("status", alert.status.as_str())?;
        json.serialize_field("statusCode", &alert.status_code)?;
        json.serialize_field("ruleType", &alert.rule_type)?;
        json.serialize_field("ruleName", &alert.rule_name)?;
        json.serialize_field("installmentNumber", &alert.installment_number)?;
        json.serialize_field("pricingTier", &alert.pricing_tier)?;
        json.serialize_field("transactionTimeStamp", &alert.transaction_time.map(Moment))?;
        json.serialize_field("merchantDescriptor", &alert.merchant_descriptor)?;
        json.serialize_field("descriptorContact", &alert.descriptor_contact)?;
        if form != Form::Older {
            json.serialize_field("ethocaMerchantId", &alert.ethoca_merchant_id)?;
        }
        if form != Form::Current {
            json.serialize_field("ethocaMergantId", &alert.ethoca_merchant_id)?;
        }
        json.serialize_field("merchantId", &alert.merchant_id)?;
        json.serialize_field("merchantOrderId", &alert.merchant_order_id)?;
        json.serialize_field("merchantName", &alert.merchant_name)?;
        json.serialize_field("partnerId", &alert.partner_id)?;
        json.serialize_field("partnerName", &alert.partner_name)?;
        json.serialize_field("clientName", &alert.client_name)?;
        json.serialize_field("caid", &alert.caid)?;
        json.serialize_field("mcc", &alert.mcc)?;
        json.serialize_field("amount", &alert.amount.map(|amount| DecimalJson(amount, form)))?;
        json.serialize_field("currency", alert.currency.as_str())?;
        json.serialize_field("transactionType", &alert.transaction_type)?;
        json.serialize_field("initiatedBy", &alert.initiated_by)?;
        json.serialize_field("liability", &alert.liability)?;
        json.serialize_field("authCode", &alert.auth_code)?;
        json.serialize_field("source", &alert.source)?;
        json.serialize_field("reasonCode", &alert.reason_code)?;
        json.serialize_field("acquirerReferenceNumber", &alert.acquirer_reference_number)?;
        json.serialize_field("transactionId", &alert.transaction_id)?;
        json.serialize_field("chargebackAmount", &alert.chargeback_amount.map(|amount| DecimalJson(amount, form)))?;
        json.serialize_field("chargebackCurrency", &alert.chargeback_currency.as_ref().map(Currency::as_str))?;
        json.serialize_field("paymentType", &alert.payment_type)?;
        json.serialize_field("createdAt", &alert.created_at.map(Moment))?;
        json.serialize_field("updatedAt", &alert.updated_at.map(Moment))?;
        json.serialize_field("expiredAt", &alert.expired_at.map(Moment))?;
        json.serialize_field("hasExternalTransaction", &alert.has_external_transaction)?;
        json.serialize_field("outcome", &alert.outcome.as_ref().map(|outcome| OutcomeJson { outcome, form }))?;
        json.serialize_field("hoursLeft", &alert.hours_left(now))?;
        json.end()
    }
}

struct OutcomeJson<'a> {
    outcome: &'a Outcome,
    form: Form,
}

impl Serialize for OutcomeJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { outcome, form } = *self;
        let mut json = serializer.serialize_struct("Outcome", 10)?;
        json.serialize_field("id", &outcome.id.0)?;
        json.serialize_field("alertId", &outcome.alert_id.0)?;
        json.serialize_field("ethocaID", &outcome.provider_alert_id)?;
        json.serialize_field("status", &outcome.status)?;
        json.serialize_field("outcome", &outcome.outcome)?;
        json.serialize_field("refunded", &outcome.refunded)?;
        json.serialize_field("comments", &outcome.comments)?;
        json.serialize_field("disputeReasonCode", &outcome.dispute_reason_code)?;
        json.serialize_field("actionTimestamp", &outcome.action_time.map(Moment))?;
        if form == Form::Older {
            json.serialize_field("amountStopped", &outcome.amount_stopped.map(|amount| DecimalJson(amount, form)))?;
        }
        json.end()
    }
}

struct Moment(Timestamp);

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut buffer = [0; 27];
        match iso(self.0, &mut buffer) {
            Some(text) => serializer.serialize_str(text),
            None => serializer.serialize_str(&to_iso(self.0)),
        }
    }
}

/// Writes what [`to_iso`] writes, without asking for memory: six of these are in every alert. `None` for years of more than four digits.
fn iso(moment: Timestamp, buffer: &mut [u8; 27]) -> Option<&str> {
    let (date, time) = (moment.date_naive(), moment.time());
    let micros = moment.timestamp_subsec_micros();
    let year = u32::try_from(date.year()).ok().filter(|year| *year <= 9_999)?;
    *buffer = *b"0000-00-00T00:00:00.000000Z";
    put(&mut buffer[0..4], year);
    put(&mut buffer[5..7], date.month());
    put(&mut buffer[8..10], date.day());
    put(&mut buffer[11..13], time.hour());
    put(&mut buffer[14..16], time.minute());
    put(&mut buffer[17..19], time.second());
    let length = if micros.is_multiple_of(1_000) {
        put(&mut buffer[20..23], micros / 1_000);
        buffer[23] = b'Z';
        24
    } else {
        put(&mut buffer[20..26], micros);
        27
    };
    std::str::from_utf8(&buffer[..length]).ok()
}

fn put(digits: &mut [u8], number: u32) {
    let mut rest = number;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
}

/// A decimal with the digits it came with: a string in the current dialect, a number in the older one.
struct DecimalJson(Amount, Form);

impl Serialize for DecimalJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.1 {
            Form::Older => rust_decimal::serde::arbitrary_precision::serialize(&self.0.decimal(), serializer),
            Form::Current | Form::Webhook => serializer.collect_str(&self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::Duration;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn moments_are_written_as_everywhere(micros in -62_167_219_200_000_000_i64..253_402_300_800_000_000, whole in 0..3) {
            let unit = [1, 1_000, 1_000_000][usize::try_from(whole).unwrap()];
            let moment = Timestamp::default() + Duration::microseconds(micros / unit * unit);

            let (mut buffer, expected) = ([0; 27], to_iso(moment));

            prop_assert_eq!(iso(moment, &mut buffer), Some(expected.as_str()));
        }
    }

    #[test]
    fn years_of_more_than_four_digits_are_left_to_the_long_way() {
        assert_eq!(iso(Timestamp::MAX_UTC, &mut [0; 27]), None);
        assert_eq!(iso(Timestamp::MIN_UTC, &mut [0; 27]), None);
    }
}
