//! The alert, with every field of the interface, and the words its fields use.

use chrono::Duration;

use crate::{
    AlertId, Amount, Answers, CompanyId, Currency, EnrollmentId, Money, Origin, Outcome, Timestamp,
    field::{Content, ID, Merge, NAME, Section, WORD, record},
    word_enums::open_enum,
};

open_enum! {
    /// Network that raised the alert.
    pub enum Provider {
        Ethoca = "ETHOCA",
        Verifi = "VERIFI",
        Cdrn = "CDRN",
        /// No network: a payment processor, whose fraud warnings a source brings.
        Stripe = "STRIPE",
    }
}

open_enum! {
    /// Kind of alert, with its words, which leave the network out.
    pub enum AlertType {
        EthocaConfirmedFraud = "ETHOCA_CONFIRMED_FRAUD": "Confirmed fraud",
        EthocaCustomerDispute = "ETHOCA_CUSTOMER_DISPUTE": "Customer dispute",
        VerifiDispute = "VERIFI_DISPUTE": "Dispute",
        VerifiCancel = "VERIFI_CANCEL": "Cancel",
        VerifiDisputeNotice = "VERIFI_DISPUTE_NOTICE": "Dispute notice",
        VerifiFraudNotice = "VERIFI_FRAUD_NOTICE": "Fraud notice",
        VerifiCancelNotice = "VERIFI_CANCEL_NOTICE": "Cancel notice",
        /// A fraud report that nobody waits for an answer to.
        EarlyFraudWarning = "EARLY_FRAUD_WARNING": "Early fraud warning",
        /// The same of a payment that was refunded or is disputed already.
        EarlyFraudNotice = "EARLY_FRAUD_NOTICE": "Early fraud notice",
    }
}

impl Provider {
    /// The networks of the interface, each of which can have a gateway.
    pub const NETWORKS: [Self; 3] = [Self::Ethoca, Self::Verifi, Self::Cdrn];

    /// Returns true for one that only sources bring.
    pub fn is_source(&self) -> bool {
        *self == Self::Stripe
    }
}

impl AlertType {
    /// Notice types, with which a network only informs and expects no answer (such an alert can still be
    /// resolved). They are no work: no answer can be late.
    pub const NOTICES: [Self; 4] =
        [Self::VerifiDisputeNotice, Self::VerifiFraudNotice, Self::VerifiCancelNotice, Self::EarlyFraudNotice];

    /// Returns true for one that only sources bring.
    pub fn is_of_source(&self) -> bool {
        matches!(self, Self::EarlyFraudWarning | Self::EarlyFraudNotice)
    }

    /// Returns true for one of [`AlertType::NOTICES`]. An unknown type expects an answer.
    pub fn is_notice(&self) -> bool {
        Self::NOTICES.contains(self)
    }

    /// Returns the known types that expect an answer, or those that expect none.
    pub fn expecting(answer: bool) -> Vec<Self> {
        Self::KNOWN.iter().filter(|known| known.is_notice() != answer).cloned().collect()
    }
}

open_enum! {
    /// State of an alert. The last four belong to the older dialect.
    pub enum AlertStatus {
        Open = "OPEN": "Open",
        Resolved = "RESOLVED": "Resolved",
        Refunded = "REFUNDED": "Refunded",
        Chargeback = "CHARGEBACK": "Not refunded",
        Expired = "EXPIRED": "Expired",
        Invalid = "INVALID": "Invalid",
        New = "NEW": "New",
        Processing = "PROCESSING": "Processing",
        NotFound = "NOT_FOUND": "Not found",
        /// The older dialect's own word `OTHER`; an unknown word is `Other`.
        OtherStatus = "OTHER": "Other",
    }
}

impl AlertStatus {
    /// The values that the current dialect lists for its status filter.
    pub const CURRENT: &'static [AlertStatus] =
        &[Self::Open, Self::Resolved, Self::Refunded, Self::Chargeback, Self::Expired, Self::Invalid];
}

/// The deadline of an alert, as far as it is known. The soonest is the least.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Deadline {
    /// The exact moment: known to the engine.
    At(Timestamp),
    /// A remote service's whole hours, rounded down, as they were when the alert was read. Below 0 it counts none,
    /// though its status does not say that the window has closed: whether it has is not known.
    HoursLeft(i64),
    /// Unknown.
    #[default]
    Unknown,
}

impl Deadline {
    /// Returns the exact moment, where it is known.
    pub fn moment(self) -> Option<Timestamp> {
        match self {
            Self::At(moment) => Some(moment),
            Self::HoursLeft(_) | Self::Unknown => None,
        }
    }
}

record! {
    /// Chargeback alert, and the table of its fields. Nullable fields, and those that a reduced list response leaves
    /// out, are options; other text is empty where it is missing.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    pub struct Alert {
        id: AlertId => Id "id".found_as("avert id").merge(Merge::Keep).shown(Section::Provider, 10, "avert id"),
        provider_id: String => Text "providerId".found_as("network id").text(Content::Name, ID)
            .shown(Section::Provider, 0, "network id"),
        provider: Provider => Word "provider".found_as("network").text(Content::Name, WORD)
            .required("ETHOCA, VERIFI, CDRN or another network's name"),
        alert_type: AlertType => Word "type".found_as("type").column(Some("type")).text(Content::Name, WORD)
            .required("an alert type such as ETHOCA_CONFIRMED_FRAUD"),
        alert_time: Option<Timestamp> => Moment "alertTimeStamp".merge(Merge::TakeUntilResolved)
            .shown(Section::Provider, 3, "alerted"),
        enrollment_id: Option<EnrollmentId> => Reference "enrollmentId".column(Some("enrollment")),
        company_id: Option<CompanyId> => Reference "companyId".column(Some("company")),
        issuer: String => Text "issuer".found_as("issuer").longest(NAME).shown(Section::Card, 2, "issuer"),
        card_bin: String => Text "cardBin".found_as("BIN").text(Content::Bin, 8).shown(Section::Card, 0, "number"),
        card_last_four: String => Text "cardLastFour".found_as("last four").text(Content::LastFour, 4),
        card_expiration_date: Option<String> => Text "cardExpirationDate".shown(Section::Card, 1, "expires"),
        acquirer_bin: Option<String> => Text "acquirerBin".shown(Section::Transaction, 7, "acquirer"),
        status: AlertStatus => Word "status".text(Content::Name, WORD).merge(Merge::Keep),
        status_code: Option<String> => Text "statusCode".shown(Section::Provider, 9, "status code"),
        rule_type: Option<String> => Text "ruleType".longest(NAME).shown(Section::Provider, 5, "rule type"),
        rule_name: Option<String> => Text "ruleName".found_as("network's rule").longest(NAME)
            .shown(Section::Provider, 4, "network rule"),
        installment_number: Option<String> => Text "installmentNumber".shown(Section::Transaction, 5, "instalment"),
        pricing_tier: Option<String> => Text "pricingTier".shown(Section::Provider, 6, "tier"),
        transaction_time: Option<Timestamp> => Moment "transactionTimeStamp".merge(Merge::TakeUntilResolved)
            .shown(Section::Transaction, 0, "time"),
        merchant_descriptor: String => Text "merchantDescriptor".found_as("descriptor").longest(NAME)
            .shown(Section::Merchant, 1, "descriptor"),
        descriptor_contact: Option<String> => Text "descriptorContact".found_as("contact").longest(NAME)
            .shown(Section::Merchant, 4, "contact"),
        ethoca_merchant_id: Option<String> => Text "ethocaMerchantId".found_as("Ethoca id").older("ethocaMergantId")
            .longest(ID).shown(Section::Merchant, 6, "Ethoca id"),
        merchant_id: String => Text "merchantId".found_as("merchant id").longest(ID).shown(Section::Merchant, 5, "id"),
        merchant_order_id: Option<String> => Text "merchantOrderId".found_as("order").text(Content::Code, ID)
            .shown(Section::Merchant, 2, "order"),
        merchant_name: String => Text "merchantName".found_as("merchant").longest(NAME)
            .shown(Section::Merchant, 0, "name"),
        partner_id: Option<String> => Text "partnerId".found_as("partner id").longest(ID),
        partner_name: Option<String> => Text "partnerName".found_as("partner").longest(NAME)
            .shown(Section::Merchant, 8, "partner"),
        client_name: Option<String> => Text "clientName".found_as("client").longest(NAME)
            .shown(Section::Merchant, 9, "client"),
        caid: Option<String> => Text "caid".found_as("CAID").longest(ID).shown(Section::Merchant, 7, "CAID"),
        mcc: Option<String> => Text "mcc".shown(Section::Merchant, 3, "MCC"),
        amount: Option<Amount> => Amount "amount".found_as("amount").required("a decimal such as 129.90"),
        currency: Currency => Text "currency".found_as("currency").text(Content::Currency, 3)
            .required("a currency code of three letters such as EUR"),
        /// Kept in the letter case that it came in.
        transaction_type: String => Text "transactionType".shown(Section::Transaction, 1, "entry"),
        /// Kept in the letter case that it came in.
        initiated_by: String => Text "initiatedBy".shown(Section::Provider, 2, "raised by"),
        liability: Option<String> => Text "liability".longest(NAME).shown(Section::Provider, 8, "liability"),
        auth_code: Option<String> => Text "authCode".found_as("auth code").text(Content::Code, WORD)
            .shown(Section::Transaction, 2, "auth code"),
        source: Option<String> => Text "source".longest(NAME).shown(Section::Provider, 7, "source"),
        reason_code: Option<String> => Text "reasonCode".found_as("reason").longest(NAME)
            .shown(Section::Provider, 1, "reason"),
        acquirer_reference_number: Option<String> => Text "acquirerReferenceNumber".found_as("ARN")
            .text(Content::Code, ID).shown(Section::Transaction, 3, "ARN"),
        transaction_id: Option<String> => Text "transactionId".found_as("transaction").text(Content::Code, ID)
            .shown(Section::Transaction, 4, "id"),
        chargeback_amount: Option<Amount> => Amount "chargebackAmount"
            .shown(Section::Transaction, 6, "chargeback"),
        chargeback_currency: Option<Currency> => Text "chargebackCurrency".text(Content::Currency, 3),
        payment_type: Option<String> => Text "paymentType".longest(NAME).shown(Section::Card, 3, "payment"),
        created_at: Option<Timestamp> => Moment "createdAt".merge(Merge::Keep),
        updated_at: Option<Timestamp> => Moment "updatedAt".merge(Merge::Keep),
        expired_at: Option<Timestamp> => Moment "expiredAt".merge(Merge::Keep),
        has_external_transaction: bool => Flag "hasExternalTransaction",
    }
    and {
        outcome: Option<Outcome>,
        /// Deadline, which is no field of the interface: `hoursLeft` is derived from it, see [`Alert::hours_left`].
        deadline: Deadline,
        /// Source that brought it, where one did; no field of the interface.
        origin: Option<Origin>,
    }
}

/// Days after a payment within which the schemes take most chargebacks.
pub const CHARGEBACK_DAYS: i64 = 120;

impl Alert {
    /// The place of its id in the table.
    pub const ID: usize = 0;

    /// Returns an alert with the few facts that are always there; everything else empty.
    pub fn new(id: AlertId, provider: Provider, alert_type: AlertType) -> Self {
        Self { id, provider, alert_type, status: AlertStatus::Open, ..Self::default() }
    }

    /// Returns true where its answer is recorded here and reported to nobody.
    pub fn is_answered_here(&self) -> bool {
        self.origin.as_ref().is_some_and(|origin| origin.answers == Answers::Here)
    }

    /// Returns true for an alert that was answered, or expired without an answer.
    pub fn is_over(&self) -> bool {
        self.outcome.is_some() || self.status == AlertStatus::Expired
    }

    /// Returns true for an alert without an answer that has expired, or whose known deadline has passed.
    pub fn is_closed(&self, now: Timestamp) -> bool {
        let end = self.expired_at.or_else(|| self.deadline.moment());
        self.outcome.is_none() && (self.status == AlertStatus::Expired || end.is_some_and(|end| end <= now))
    }

    /// Expires at its deadline, whenever that was noticed.
    pub fn expire(&mut self, now: Timestamp) {
        self.status = AlertStatus::Expired;
        self.expired_at = self.deadline.moment();
        self.updated_at = Some(now);
    }

    /// Reopens it after an expiry that came before its time.
    pub fn undo_expiry(&mut self, now: Timestamp) {
        self.status = AlertStatus::Open;
        self.expired_at = None;
        self.updated_at = Some(now);
    }

    /// Returns the exact deadline of an alert that is open and has not expired.
    pub fn waits_until(&self) -> Option<Timestamp> {
        self.deadline.moment().filter(|_| !self.is_over())
    }

    /// Returns the hours to the deadline, rounded down, never below 0; 0 once the alert is answered or expired.
    pub fn hours_left(&self, now: Timestamp) -> i64 {
        if self.is_over() {
            return 0;
        }
        match self.deadline {
            Deadline::At(moment) => (moment - now).num_hours().max(0),
            Deadline::HoursLeft(hours) => hours.max(0),
            Deadline::Unknown => 0,
        }
    }

    /// Returns the transaction's time, where it was given. The alert's own time that stands in for it (decisions,
    /// Alerts and time) is no fact of the transaction.
    pub fn given_transaction_time(&self) -> Option<Timestamp> {
        let micros = |at: Timestamp| at.timestamp_micros();
        self.transaction_time.filter(|at| self.alert_time.map(micros) != Some(micros(*at)))
    }

    /// Returns true for a payment so old that a chargeback is unlikely: more than [`CHARGEBACK_DAYS`].
    pub fn is_past_chargebacks(&self, now: Timestamp) -> bool {
        self.given_transaction_time().is_some_and(|paid| now - paid > Duration::days(CHARGEBACK_DAYS))
    }

    /// Returns the disputed money, where the amount is known.
    pub fn money(&self) -> Option<Money> {
        self.amount.map(|amount| Money { amount, currency: self.currency.clone() })
    }

    /// Returns true for an alert that was answered with a refund.
    pub fn was_refunded(&self) -> bool {
        self.status == AlertStatus::Refunded
            || self.outcome.as_ref().is_some_and(|outcome| outcome.refunded.eq_ignore_ascii_case("refunded"))
    }

    /// Returns true where its answer says that money had gone back before: no refund at the time of the answer.
    pub fn says_refunded_before(&self) -> bool {
        let before = ["previously_refunded", "previously_cancelled"];
        self.outcome
            .as_ref()
            .is_some_and(|outcome| before.iter().any(|word| outcome.outcome.eq_ignore_ascii_case(word)))
    }

    /// Returns true where VERIFI's own rule has probably refunded already.
    pub fn network_rule_applied(&self) -> bool {
        self.provider == Provider::Verifi && (self.rule_name.is_some() || self.rule_type.is_some())
    }

    /// Returns true where its money has gone back, or probably has: by an answer or, without one, by the network's own
    /// rule.
    pub fn refund_is_likely(&self) -> bool {
        self.was_refunded() || self.outcome.is_none() && self.network_rule_applied()
    }
}

/// Returns true for an answer that counts as a refund, by the status that it led to and the outcome's own word.
pub fn is_refund(status: &AlertStatus, refunded: &str) -> bool {
    *status != AlertStatus::Invalid && refunded.eq_ignore_ascii_case("refunded")
}

/// Returns the default response window, from `alertTimeStamp` on: 24 h for Ethoca, 72 h for others.
pub fn default_window(provider: &Provider) -> Duration {
    match provider {
        Provider::Ethoca => Duration::hours(24),
        Provider::Verifi | Provider::Cdrn | Provider::Stripe | Provider::Other(_) => Duration::hours(72),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::time::from_iso;
    use chrono::TimeDelta;

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
    fn a_transaction_time_that_is_the_alerts_own_was_not_given() {
        let given = Alert::sample();
        let made = Alert { transaction_time: given.alert_time, ..Alert::sample() };

        assert_eq!((given.given_transaction_time(), made.given_transaction_time()), (given.transaction_time, None));
    }

    #[test]
    fn an_unknown_word_is_kept_as_it_came() {
        assert_eq!(Provider::parse("Mystery").as_str(), "Mystery");
        assert_eq!(Provider::parse("ethoca"), Provider::Ethoca);
        assert_eq!(AlertStatus::parse("OTHER"), AlertStatus::OtherStatus);
    }

    #[test]
    fn notices_are_the_types_that_say_so_and_each_type_has_words_of_its_own() {
        let told: Vec<(bool, &str)> = AlertType::KNOWN.iter().map(|known| (known.is_notice(), known.words())).collect();

        let expected = [
            (false, "Confirmed fraud"),
            (false, "Customer dispute"),
            (false, "Dispute"),
            (false, "Cancel"),
            (true, "Dispute notice"),
            (true, "Fraud notice"),
            (true, "Cancel notice"),
            (false, "Early fraud warning"),
            (true, "Early fraud notice"),
        ];
        assert_eq!(told, expected);
        assert_eq!(AlertType::parse("RDR").words(), "RDR");
    }

    #[test]
    fn only_an_exact_deadline_is_a_moment() {
        let at = from_iso("2026-01-01T00:00:00Z").unwrap();

        assert_eq!(
            [Deadline::At(at), Deadline::HoursLeft(3), Deadline::Unknown].map(Deadline::moment),
            [Some(at), None, None]
        );
    }

    #[test]
    fn money_is_known_with_its_amount() {
        let alert = Alert::sample();

        assert_eq!(alert.money().map(|money| money.to_string()).as_deref(), Some("129.90 EUR"));
        assert_eq!(Alert { amount: None, ..alert }.money(), None);
    }

    #[rstest]
    #[case(Provider::Verifi, Some("R"), None, true)]
    #[case(Provider::Verifi, None, Some("T"), true)]
    #[case(Provider::Verifi, None, None, false)]
    #[case(Provider::Ethoca, Some("R"), Some("T"), false)]
    fn only_verifi_applies_rules(
        #[case] provider: Provider,
        #[case] name: Option<&str>,
        #[case] kind: Option<&str>,
        #[case] applied: bool,
    ) {
        let (rule_name, rule_type) = (name.map(str::to_owned), kind.map(str::to_owned));
        let alert = Alert { provider, rule_name, rule_type, ..Alert::sample() };

        assert_eq!(alert.network_rule_applied(), applied);
    }

    #[test]
    fn an_alert_expires_at_its_deadline_whenever_that_is_noticed_and_is_open_again_once_that_is_undone() {
        let deadline = Timestamp::UNIX_EPOCH + TimeDelta::hours(5);
        let (noticed, undone) = (deadline + TimeDelta::hours(2), deadline + TimeDelta::hours(3));
        let mut alert = Alert { deadline: Deadline::At(deadline), ..Alert::sample() };

        alert.expire(noticed);
        assert_eq!(
            (alert.status.clone(), alert.expired_at, alert.updated_at),
            (AlertStatus::Expired, Some(deadline), Some(noticed))
        );

        alert.undo_expiry(undone);
        assert_eq!((alert.status, alert.expired_at, alert.updated_at), (AlertStatus::Open, None, Some(undone)));
    }
}
