//! The alert, with every field of the interface, and the words its fields use.

use chrono::Duration;

use super::ids::{AlertId, CompanyId, EnrollmentId};
use super::money::{Amount, Currency, Money};
use super::open_enum::open_enum;
use super::outcome::Outcome;
use super::time::Timestamp;

open_enum! {
    /// The network that raised the alert (interface, Alert).
    pub enum Provider {
        Ethoca = "ETHOCA",
        Verifi = "VERIFI",
        Cdrn = "CDRN",
    }
}

open_enum! {
    /// The kind of alert (interface, Alert types).
    pub enum AlertType {
        EthocaConfirmedFraud = "ETHOCA_CONFIRMED_FRAUD",
        EthocaCustomerDispute = "ETHOCA_CUSTOMER_DISPUTE",
        VerifiDispute = "VERIFI_DISPUTE",
        VerifiCancel = "VERIFI_CANCEL",
        VerifiDisputeNotice = "VERIFI_DISPUTE_NOTICE",
        VerifiFraudNotice = "VERIFI_FRAUD_NOTICE",
        VerifiCancelNotice = "VERIFI_CANCEL_NOTICE",
    }
}

impl AlertType {
    /// Whether the network only informs and waits for no answer (field notes; such an alert can still be resolved).
    pub fn is_notice(&self) -> bool {
        matches!(self, Self::VerifiDisputeNotice | Self::VerifiFraudNotice | Self::VerifiCancelNotice)
    }

    /// The type in words, without the network's prefix: `Confirmed fraud`. Unknown types are shown as they are.
    pub fn words(&self) -> &str {
        match self {
            Self::EthocaConfirmedFraud => "Confirmed fraud",
            Self::EthocaCustomerDispute => "Customer dispute",
            Self::VerifiDispute => "Dispute",
            Self::VerifiCancel => "Cancel",
            Self::VerifiDisputeNotice => "Dispute notice",
            Self::VerifiFraudNotice => "Fraud notice",
            Self::VerifiCancelNotice => "Cancel notice",
            Self::Other(text) => text,
        }
    }
}

open_enum! {
    /// The state of an alert (interface, States and transitions). The last four belong to the older dialect.
    pub enum AlertStatus {
        Open = "OPEN",
        Resolved = "RESOLVED",
        Refunded = "REFUNDED",
        Chargeback = "CHARGEBACK",
        Expired = "EXPIRED",
        Invalid = "INVALID",
        New = "NEW",
        Processing = "PROCESSING",
        NotFound = "NOT_FOUND",
        /// The older dialect's own word `OTHER`; an unknown word is `Other`.
        OtherStatus = "OTHER",
    }
}

impl AlertStatus {
    /// The values that the current dialect lists for its status filter.
    pub const CURRENT: &'static [AlertStatus] =
        &[Self::Open, Self::Resolved, Self::Refunded, Self::Chargeback, Self::Expired, Self::Invalid];
}

/// When an alert lapses, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deadline {
    /// The exact moment: known to the engine.
    At(Timestamp),
    /// A remote service's whole hours, rounded down, as they were when the alert was read.
    HoursLeft(i64),
    /// Not told.
    Unknown,
}

impl Deadline {
    /// The exact moment, where it is known.
    pub fn moment(self) -> Option<Timestamp> {
        match self {
            Self::At(moment) => Some(moment),
            Self::HoursLeft(_) | Self::Unknown => None,
        }
    }
}

/// A chargeback alert (interface, Alert). Nullable fields, and those a reduced list response leaves out, are options;
/// other text is empty where it is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are the interface's own, in its order, described there")]
pub struct Alert {
    pub id: AlertId,
    pub provider_id: String,
    pub provider: Provider,
    pub alert_type: AlertType,
    pub alert_time: Option<Timestamp>,
    pub enrollment_id: Option<EnrollmentId>,
    pub company_id: Option<CompanyId>,
    pub issuer: String,
    pub card_bin: String,
    pub card_last_four: String,
    pub card_expiration_date: Option<String>,
    pub acquirer_bin: Option<String>,
    pub status: AlertStatus,
    pub status_code: Option<String>,
    pub rule_type: Option<String>,
    pub rule_name: Option<String>,
    pub installment_number: Option<String>,
    pub pricing_tier: Option<String>,
    pub transaction_time: Option<Timestamp>,
    pub merchant_descriptor: String,
    pub descriptor_contact: Option<String>,
    pub ethoca_merchant_id: Option<String>,
    pub merchant_id: String,
    pub merchant_order_id: Option<String>,
    pub merchant_name: String,
    pub partner_id: Option<String>,
    pub partner_name: Option<String>,
    pub client_name: Option<String>,
    pub caid: Option<String>,
    pub mcc: Option<String>,
    pub amount: Option<Amount>,
    pub currency: Currency,
    /// Kept in the letter case it came in (decisions, Two dialects).
    pub transaction_type: String,
    /// Kept in the letter case it came in (decisions, Two dialects).
    pub initiated_by: String,
    pub liability: Option<String>,
    pub auth_code: Option<String>,
    pub source: Option<String>,
    pub reason_code: Option<String>,
    pub acquirer_reference_number: Option<String>,
    pub transaction_id: Option<String>,
    pub chargeback_amount: Option<Amount>,
    pub chargeback_currency: Option<Currency>,
    pub payment_type: Option<String>,
    pub created_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
    pub expired_at: Option<Timestamp>,
    pub has_external_transaction: bool,
    pub outcome: Option<Outcome>,
    /// Not a field of the interface: `hoursLeft` is derived from it, see [`Alert::hours_left`].
    pub deadline: Deadline,
}

impl Alert {
    /// An alert with the few facts that are always there; everything else empty.
    pub fn new(id: AlertId, provider: Provider, alert_type: AlertType) -> Self {
        Self {
            id,
            provider_id: String::new(),
            provider,
            alert_type,
            alert_time: None,
            enrollment_id: None,
            company_id: None,
            issuer: String::new(),
            card_bin: String::new(),
            card_last_four: String::new(),
            card_expiration_date: None,
            acquirer_bin: None,
            status: AlertStatus::Open,
            status_code: None,
            rule_type: None,
            rule_name: None,
            installment_number: None,
            pricing_tier: None,
            transaction_time: None,
            merchant_descriptor: String::new(),
            descriptor_contact: None,
            ethoca_merchant_id: None,
            merchant_id: String::new(),
            merchant_order_id: None,
            merchant_name: String::new(),
            partner_id: None,
            partner_name: None,
            client_name: None,
            caid: None,
            mcc: None,
            amount: None,
            currency: Currency::default(),
            transaction_type: String::new(),
            initiated_by: String::new(),
            liability: None,
            auth_code: None,
            source: None,
            reason_code: None,
            acquirer_reference_number: None,
            transaction_id: None,
            chargeback_amount: None,
            chargeback_currency: None,
            payment_type: None,
            created_at: None,
            updated_at: None,
            expired_at: None,
            has_external_transaction: false,
            outcome: None,
            deadline: Deadline::Unknown,
        }
    }

    /// Hours to the deadline, rounded down, never below 0; 0 once there is an outcome (interface, Rules 1).
    pub fn hours_left(&self, now: Timestamp) -> i64 {
        if self.outcome.is_some() {
            return 0;
        }
        match self.deadline {
            Deadline::At(moment) => (moment - now).num_hours().max(0),
            Deadline::HoursLeft(hours) => hours.max(0),
            Deadline::Unknown => 0,
        }
    }

    /// Time to the exact deadline of an alert that still waits for an answer; negative once it has passed.
    pub fn time_left(&self, now: Timestamp) -> Option<Duration> {
        match (&self.outcome, self.deadline) {
            (None, Deadline::At(moment)) => Some(moment - now),
            _ => None,
        }
    }

    /// The disputed money, where the amount is known.
    pub fn money(&self) -> Option<Money> {
        self.amount.map(|amount| Money { amount, currency: self.currency.clone() })
    }

    /// Whether it was answered with a refund.
    pub fn was_refunded(&self) -> bool {
        self.status == AlertStatus::Refunded
            || self.outcome.as_ref().is_some_and(|outcome| outcome.refunded.eq_ignore_ascii_case("refunded"))
    }

    /// Whether VERIFI's own rule has probably refunded already (field notes, T1).
    pub fn network_rule_applied(&self) -> bool {
        self.provider == Provider::Verifi && (self.rule_name.is_some() || self.rule_type.is_some())
    }
}

/// The time a merchant has to answer from `alertTimeStamp` on, unless configured otherwise (decisions, Alerts and time).
pub fn default_window(provider: &Provider) -> Duration {
    match provider {
        Provider::Ethoca => Duration::hours(24),
        Provider::Verifi | Provider::Cdrn | Provider::Other(_) => Duration::hours(72),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::time::from_iso;

    fn open_alert(deadline: Deadline) -> Alert {
        Alert { deadline, ..Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud) }
    }

    #[rstest]
    #[case("2026-01-02T00:00:00Z", 24)]
    #[case("2026-01-01T00:59:59Z", 0)]
    #[case("2026-01-01T01:00:00Z", 1)]
    #[case("2025-12-31T00:00:00Z", 0)]
    fn hours_left_are_whole_hours_rounded_down_and_never_negative(#[case] deadline: &str, #[case] hours: i64) {
        let alert = open_alert(Deadline::At(from_iso(deadline).unwrap()));

        assert_eq!(alert.hours_left(from_iso("2026-01-01T00:00:00Z").unwrap()), hours);
    }

    #[test]
    fn hours_left_are_zero_once_there_is_an_outcome() {
        let now = from_iso("2026-01-01T00:00:00Z").unwrap();
        let mut alert = open_alert(Deadline::At(now + Duration::hours(5)));

        alert.outcome = Some(Outcome::sample(alert.id));

        assert_eq!(alert.hours_left(now), 0);
    }

    #[test]
    fn an_unknown_word_is_kept_as_it_came() {
        assert_eq!(Provider::parse("Mystery").as_str(), "Mystery");
        assert_eq!(Provider::parse("ethoca"), Provider::Ethoca);
        assert_eq!(AlertStatus::parse("OTHER"), AlertStatus::OtherStatus);
    }
}
