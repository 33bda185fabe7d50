//! Alerts as deployments and files hold them: every spelling, either form of a decimal, any letter case, fields left out.
//!
//! One list of fields serves JSON and CSV. Unknown fields are remembered once each; a value of the wrong kind is an error that names
//! the field, what was given and what is allowed.

mod envelope;
mod forgiving;

use std::borrow::Cow;
use std::str::FromStr;

pub use envelope::{ListAnswer, outcome, page};

use super::json::{Given, Place, each_member};
use crate::domain::card::mask_card_numbers;
use crate::domain::time::from_iso;
use crate::domain::{
    Alert, AlertId, AlertStatus, AlertType, Amount, Currency, Deadline, FieldError, IncomingAlert, Outcome, OutcomeId, Provider, Timestamp,
};

/// Longest text of one field, in bytes; an alert has no use for more.
const MAX_TEXT: usize = 4_096;
/// Most hours that `hoursLeft` may say: over ten years.
const MAX_HOURS_LEFT: i64 = 100_000;

macro_rules! fields {
    ($($name:ident = $text:literal,)+) => {
        /// A field that is known, in the order of the interface; those of the outcome carry its name in front.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Field { $($name,)+ }

        impl Field {
            const ALL: &'static [(Field, &'static str)] = &[$((Field::$name, $text),)+];
        }
    };
}

fields! {
    Id = "id",
    ProviderId = "providerId",
    Provider = "provider",
    Type = "type",
    AlertTimeStamp = "alertTimeStamp",
    EnrollmentId = "enrollmentId",
    CompanyId = "companyId",
    Issuer = "issuer",
    CardBin = "cardBin",
    CardLastFour = "cardLastFour",
    CardExpirationDate = "cardExpirationDate",
    AcquirerBin = "acquirerBin",
    Status = "status",
    StatusCode = "statusCode",
    RuleType = "ruleType",
    RuleName = "ruleName",
    InstallmentNumber = "installmentNumber",
    PricingTier = "pricingTier",
    TransactionTimeStamp = "transactionTimeStamp",
    MerchantDescriptor = "merchantDescriptor",
    DescriptorContact = "descriptorContact",
    EthocaMerchantId = "ethocaMerchantId",
    EthocaMergantId = "ethocaMergantId",
    MerchantId = "merchantId",
    MerchantOrderId = "merchantOrderId",
    MerchantName = "merchantName",
    PartnerId = "partnerId",
    PartnerName = "partnerName",
    ClientName = "clientName",
    Caid = "caid",
    Mcc = "mcc",
    Amount = "amount",
    Currency = "currency",
    TransactionType = "transactionType",
    InitiatedBy = "initiatedBy",
    Liability = "liability",
    AuthCode = "authCode",
    Source = "source",
    ReasonCode = "reasonCode",
    AcquirerReferenceNumber = "acquirerReferenceNumber",
    TransactionId = "transactionId",
    ChargebackAmount = "chargebackAmount",
    ChargebackCurrency = "chargebackCurrency",
    PaymentType = "paymentType",
    CreatedAt = "createdAt",
    UpdatedAt = "updatedAt",
    ExpiredAt = "expiredAt",
    HasExternalTransaction = "hasExternalTransaction",
    Outcome = "outcome",
    HoursLeft = "hoursLeft",
    ExpiresAt = "expiresAt",
    OutcomeId = "outcome.id",
    OutcomeAlertId = "outcome.alertId",
    OutcomeEthocaId = "outcome.ethocaID",
    OutcomeStatus = "outcome.status",
    OutcomeOutcome = "outcome.outcome",
    OutcomeRefunded = "outcome.refunded",
    OutcomeComments = "outcome.comments",
    OutcomeDisputeReasonCode = "outcome.disputeReasonCode",
    OutcomeActionTimestamp = "outcome.actionTimestamp",
    OutcomeAmountStopped = "outcome.amountStopped",
}

const COUNT: usize = Field::ALL.len();
const OUTCOME_PREFIX: &str = "outcome.";

impl Field {
    /// The spelling on the wire.
    pub(super) fn as_str(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Finds a field by its name in any letter case. Senders mostly keep the interface's order, so the search goes on after the last find.
    pub(super) fn find(name: &str, after: usize) -> Option<Self> {
        let (before, rest) = Self::ALL.split_at(after.min(COUNT));
        rest.iter().chain(before).find(|(_, known)| known.eq_ignore_ascii_case(name)).map(|(field, _)| *field)
    }

    fn in_outcome(self) -> bool {
        self as usize >= Field::OutcomeId as usize
    }
}

/// Names of fields that nobody knew, each once, in the order they were met.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnknownFields {
    names: Vec<String>,
}

impl UnknownFields {
    /// So many different names are remembered; a hostile source makes no more.
    const MOST: usize = 100;

    /// The names, cut where they are long.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn add(&mut self, name: &str) {
        if self.names.len() < Self::MOST {
            let name = mask_card_numbers(name);
            let name: String = name.chars().filter(|c| !c.is_control()).take(60).collect();
            if !self.names.contains(&name) {
                self.names.push(name);
            }
        }
    }
}

/// The known fields of one alert as they were given.
#[derive(Debug)]
pub(super) struct Record<'a> {
    given: [Option<Given<'a>>; COUNT],
    has_outcome: bool,
}

impl<'a> Record<'a> {
    pub(super) fn empty() -> Self {
        Self { given: [const { None }; COUNT], has_outcome: false }
    }

    /// Takes the object `json`, which begins at `start` of its source.
    pub(super) fn from_json(json: &'a str, start: Place, unknown: &mut UnknownFields) -> Result<Self, FieldError> {
        let mut record = Self::empty();
        let mut last = 0;
        each_member(json, start, |name, value| match Field::find(&name, last) {
            Some(field) if !field.in_outcome() => {
                last = field as usize + 1;
                record.put(field, Given::of(value));
            }
            _ => unknown.add(&name),
        })?;
        if let Some(&Given::Object(outcome)) = record.given[Field::Outcome as usize].as_ref() {
            // An empty object is an outcome too: something was recorded.
            record.put_outcome(outcome, unknown)?;
        }
        Ok(record)
    }

    /// Takes the members of an outcome.
    fn put_outcome(&mut self, json: &'a str, unknown: &mut UnknownFields) -> Result<(), FieldError> {
        self.has_outcome = true;
        let mut spelled = String::from(OUTCOME_PREFIX);
        each_member(json, Place::START, |name, value| {
            spelled.truncate(OUTCOME_PREFIX.len());
            spelled.push_str(&name);
            match Field::find(&spelled, Field::OutcomeId as usize) {
                Some(field) => self.put(field, Given::of(value)),
                None => unknown.add(&spelled),
            }
        })
    }

    /// Takes one cell of a table; an empty one is not given.
    pub(super) fn put_cell(&mut self, field: Field, cell: &'a str) {
        if !cell.is_empty() {
            self.has_outcome |= field.in_outcome();
            self.put(field, Given::Text(Cow::Borrowed(cell)));
        }
    }

    /// A later value replaces an earlier one.
    fn put(&mut self, field: Field, given: Given<'a>) {
        self.given[field as usize] = Some(given);
    }

    fn take(&mut self, field: Field) -> Option<Given<'a>> {
        self.given[field as usize].take().filter(|given| *given != Given::Null)
    }

    fn text(&mut self, field: Field) -> Result<Option<String>, FieldError> {
        match self.take(field) {
            None => Ok(None),
            Some(Given::Text(text)) if text.len() > MAX_TEXT => {
                Err(FieldError::new(field.as_str(), format!("has {} bytes: at most {MAX_TEXT} are allowed", text.len())))
            }
            Some(Given::Text(text)) => Ok(Some(text.into_owned())),
            Some(other) => Err(wrong(field, &other, "a text")),
        }
    }

    /// Text of which an empty one says nothing, as in files that write empty texts for null.
    fn filled(&mut self, field: Field) -> Result<Option<String>, FieldError> {
        Ok(self.text(field)?.filter(|text| !text.is_empty()))
    }

    fn parsed<T>(&mut self, field: Field, allowed: &str, parse: impl Fn(&str) -> Option<T>) -> Result<Option<T>, FieldError> {
        match self.take(field) {
            None => Ok(None),
            Some(Given::Text(text)) if text.trim().is_empty() => Ok(None),
            Some(Given::Text(text)) => match parse(text.trim()) {
                Some(value) => Ok(Some(value)),
                None => Err(wrong(field, &Given::Text(text), allowed)),
            },
            Some(other) => Err(wrong(field, &other, allowed)),
        }
    }

    fn moment(&mut self, field: Field) -> Result<Option<Timestamp>, FieldError> {
        self.parsed(field, "an ISO 8601 date-time such as 2026-03-10T12:00:00Z", from_iso)
    }

    fn id<T: FromStr>(&mut self, field: Field) -> Result<Option<T>, FieldError> {
        self.parsed(field, "a UUID", |text| text.parse().ok())
    }

    fn decimal(&mut self, field: Field) -> Result<Option<Amount>, FieldError> {
        self.number_as_text(field);
        self.parsed(field, "a decimal such as 129.90, as a string or a number", |text| text.parse().ok())
    }

    fn hours(&mut self, field: Field) -> Result<Option<i64>, FieldError> {
        self.number_as_text(field);
        let hours = self.parsed(field, "a whole number of hours, at most 100000", |text| {
            text.parse::<i64>().ok().filter(|hours| *hours <= MAX_HOURS_LEFT)
        })?;
        Ok(hours.map(|hours| hours.max(0)))
    }

    fn flag(&mut self, field: Field) -> Result<bool, FieldError> {
        if let Some(Given::Bool(flag)) = self.given[field as usize] {
            return Ok(flag);
        }
        let read = |text: &str| match text {
            _ if text.eq_ignore_ascii_case("true") => Some(true),
            _ if text.eq_ignore_ascii_case("false") => Some(false),
            _ => None,
        };
        Ok(self.parsed(field, "true or false", read)?.unwrap_or_default())
    }

    fn number_as_text(&mut self, field: Field) {
        if let Some(Given::Number(digits)) = self.given[field as usize] {
            self.given[field as usize] = Some(Given::Text(Cow::Borrowed(digits)));
        }
    }

    /// The outcome, where there is one. It answers `alert`, whatever it says itself.
    fn outcome(&mut self, alert: &Alert) -> Result<Option<Outcome>, FieldError> {
        match self.take(Field::Outcome) {
            None | Some(Given::Object(_)) => {}
            // A table writes the outcome in columns of its own.
            Some(Given::Text(text)) if text.trim().is_empty() => {}
            Some(other) => return Err(wrong(Field::Outcome, &other, "an object or null (in CSV: columns outcome.outcome and so on)")),
        }
        if !self.has_outcome {
            return Ok(None);
        }
        self.id::<AlertId>(Field::OutcomeAlertId)?;
        Ok(Some(Outcome {
            id: self.id(Field::OutcomeId)?.unwrap_or_else(OutcomeId::generate),
            alert_id: alert.id,
            provider_alert_id: self.text(Field::OutcomeEthocaId)?.unwrap_or_else(|| alert.provider_id.clone()),
            status: self.text(Field::OutcomeStatus)?.unwrap_or_default(),
            outcome: self.text(Field::OutcomeOutcome)?.unwrap_or_default(),
            refunded: self.text(Field::OutcomeRefunded)?.unwrap_or_default(),
            comments: self.text(Field::OutcomeComments)?.unwrap_or_default(),
            dispute_reason_code: self.text(Field::OutcomeDisputeReasonCode)?,
            action_time: self.moment(Field::OutcomeActionTimestamp)?,
            amount_stopped: self.decimal(Field::OutcomeAmountStopped)?,
        }))
    }
}

fn wrong(field: Field, given: &Given<'_>, allowed: &str) -> FieldError {
    FieldError::new(field.as_str(), format!("is {}: {allowed} is allowed", given.words()))
}

/// Reads an alert as a service answers with it: only the id is needed. Everything else may be missing, and what cannot be read counts as
/// missing and is remembered among the unknown fields.
pub fn answer(json: &str, unknown: &mut UnknownFields) -> Result<Alert, FieldError> {
    let mut record = Record::from_json(json, Place::START, unknown)?;
    record.forgive(unknown);
    let read = alert(record, 1)?;
    if !read.id_given {
        return Err(FieldError::new("id", "is missing: a UUID is required"));
    }
    Ok(read.alert)
}

/// Reads an alert on its way into the engine (decisions, Bringing alerts in), which begins at `line` of its source.
pub fn incoming(json: &str, line: u64, unknown: &mut UnknownFields) -> Result<IncomingAlert, FieldError> {
    complete(alert(Record::from_json(json, Place { line, column: 1 }, unknown)?, line)?)
}

/// Refuses an alert that lacks what bringing it in requires.
pub(super) fn complete(read: IncomingAlert) -> Result<IncomingAlert, FieldError> {
    let alert = &read.alert;
    let missing = |field: &str, allowed: &str| Err(FieldError::new(field, format!("is missing: {allowed} is required")));
    if alert.provider.as_str().is_empty() {
        return missing("provider", "ETHOCA, VERIFI, CDRN or another network's name");
    }
    if alert.alert_type.as_str().is_empty() {
        return missing("type", "an alert type such as ETHOCA_CONFIRMED_FRAUD");
    }
    match alert.amount {
        None => return missing("amount", "a decimal such as 129.90"),
        Some(amount) if amount.micros().is_none() => return Err(not_storable("amount", amount)),
        Some(_) => {}
    }
    if alert.currency.as_str().is_empty() {
        return missing("currency", CURRENCY);
    }
    let chargeback = alert.chargeback_currency.iter().map(|currency| ("chargebackCurrency", currency));
    for (field, currency) in [("currency", &alert.currency)].into_iter().chain(chargeback) {
        if !is_currency_code(currency.as_str()) {
            let shown: String = currency.as_str().chars().take(60).collect();
            return Err(FieldError::new(field, format!("is {shown:?}: {CURRENCY} is needed")));
        }
    }
    if !read.id_given && alert.provider_id.is_empty() {
        return missing("providerId", "the identifier at the provider, or id,");
    }
    if let Some(amount) = alert.chargeback_amount.filter(|amount| amount.micros().is_none()) {
        return Err(not_storable("chargebackAmount", amount));
    }
    let stopped = alert.outcome.as_ref().and_then(|outcome| outcome.amount_stopped);
    if let Some(amount) = stopped.filter(|amount| amount.micros().is_none()) {
        return Err(not_storable("outcome.amountStopped", amount));
    }
    Ok(read)
}

const CURRENCY: &str = "a currency code of three letters such as EUR";

/// What ISO 4217 codes look like. Which there are changes every few years, so that is nobody's business here.
fn is_currency_code(code: &str) -> bool {
    code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_alphabetic())
}

fn not_storable(field: &str, amount: Amount) -> FieldError {
    FieldError::new(field, format!("is {amount}: 0 to 9,223,372,036,854 with at most 6 decimal places is allowed"))
}

/// Makes an alert of what was given; whatever is missing stays empty.
pub(super) fn alert(mut record: Record<'_>, line: u64) -> Result<IncomingAlert, FieldError> {
    use Field as F;
    let record = &mut record;
    let id = record.id::<AlertId>(F::Id)?;
    let status = record.filled(F::Status)?;
    let hours_left = record.hours(F::HoursLeft)?;
    let word = |text: Option<String>| text.map(|text| text.trim().to_owned()).unwrap_or_default();
    // Both spellings may come at once, one of them empty.
    let (merchant, mergant) = (record.filled(F::EthocaMerchantId)?, record.filled(F::EthocaMergantId)?);
    let mut alert = Alert {
        id: id.unwrap_or_else(AlertId::generate),
        provider_id: record.text(F::ProviderId)?.unwrap_or_default(),
        provider: Provider::parse(&word(record.text(F::Provider)?)),
        alert_type: AlertType::parse(&word(record.text(F::Type)?)),
        alert_time: record.moment(F::AlertTimeStamp)?,
        enrollment_id: record.id(F::EnrollmentId)?,
        company_id: record.id(F::CompanyId)?,
        issuer: record.text(F::Issuer)?.unwrap_or_default(),
        card_bin: record.text(F::CardBin)?.unwrap_or_default(),
        card_last_four: record.text(F::CardLastFour)?.unwrap_or_default(),
        card_expiration_date: record.text(F::CardExpirationDate)?,
        acquirer_bin: record.text(F::AcquirerBin)?,
        status: status.as_deref().map_or(AlertStatus::Open, |status| AlertStatus::parse(status.trim())),
        status_code: record.text(F::StatusCode)?,
        rule_type: record.text(F::RuleType)?,
        rule_name: record.text(F::RuleName)?,
        installment_number: record.text(F::InstallmentNumber)?,
        pricing_tier: record.text(F::PricingTier)?,
        transaction_time: record.moment(F::TransactionTimeStamp)?,
        merchant_descriptor: record.text(F::MerchantDescriptor)?.unwrap_or_default(),
        descriptor_contact: record.text(F::DescriptorContact)?,
        ethoca_merchant_id: merchant.or(mergant),
        merchant_id: record.text(F::MerchantId)?.unwrap_or_default(),
        merchant_order_id: record.text(F::MerchantOrderId)?,
        merchant_name: record.text(F::MerchantName)?.unwrap_or_default(),
        partner_id: record.text(F::PartnerId)?,
        partner_name: record.text(F::PartnerName)?,
        client_name: record.text(F::ClientName)?,
        caid: record.text(F::Caid)?,
        mcc: record.text(F::Mcc)?,
        amount: record.decimal(F::Amount)?,
        currency: Currency::new(word(record.text(F::Currency)?)),
        transaction_type: record.text(F::TransactionType)?.unwrap_or_default(),
        initiated_by: record.text(F::InitiatedBy)?.unwrap_or_default(),
        liability: record.text(F::Liability)?,
        auth_code: record.text(F::AuthCode)?,
        source: record.text(F::Source)?,
        reason_code: record.text(F::ReasonCode)?,
        acquirer_reference_number: record.text(F::AcquirerReferenceNumber)?,
        transaction_id: record.text(F::TransactionId)?,
        chargeback_amount: record.decimal(F::ChargebackAmount)?,
        chargeback_currency: record.filled(F::ChargebackCurrency)?.map(Currency::new),
        payment_type: record.text(F::PaymentType)?,
        created_at: record.moment(F::CreatedAt)?,
        updated_at: record.moment(F::UpdatedAt)?,
        expired_at: record.moment(F::ExpiredAt)?,
        has_external_transaction: record.flag(F::HasExternalTransaction)?,
        outcome: None,
        deadline: hours_left.map_or(Deadline::Unknown, Deadline::HoursLeft),
    };
    alert.outcome = record.outcome(&alert)?;
    let expires_at = record.moment(F::ExpiresAt)?;
    Ok(IncomingAlert { line, alert, id_given: id.is_some(), status_given: status.is_some(), expires_at })
}
