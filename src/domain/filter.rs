//! Filters and sorting: the meaning of every parameter of the list operation, as plain predicates over an alert.
//!
//! Stores answer the same questions through indexes; [`AlertFilter::matches`] and [`Sort::compare`] are what they are
//! tested against.

use std::{cmp::Ordering, ops::RangeInclusive};

use chrono::{Duration, NaiveDate};

use crate::{
    Alert, AlertStatus, AlertType, Amount, CalendarDay, CompanyId, Currency, Deadline, PageRequest, Provider,
    Timestamp, closed_enum, field::Kind, fold::fold,
};

/// A filter of alerts: which are wanted. An empty list and `None` mean "any"; all conditions hold together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AlertFilter {
    /// `startDate`: alert date on or after this UTC day.
    pub start_date: Option<NaiveDate>,
    /// `endDate`: alert date on or before this UTC day.
    pub end_date: Option<NaiveDate>,
    /// `transactionStartDate`: transaction date on or after this UTC day.
    pub transaction_start_date: Option<NaiveDate>,
    /// `transactionEndDate`: transaction date on or before this UTC day.
    pub transaction_end_date: Option<NaiveDate>,
    /// `provider`: any of these.
    pub providers: Vec<Provider>,
    /// `type`: any of these.
    pub types: Vec<AlertType>,
    /// `status`: any of these.
    pub statuses: Vec<AlertStatus>,
    /// `descriptor`: the merchant descriptor begins with this, letter case ignored.
    pub descriptor: Option<String>,
    /// `outcome`: the stored outcome is any of these, letter case ignored.
    pub outcomes: Vec<String>,
    /// `expired`: whether `expiredAt` is set.
    pub expired: Option<bool>,
    /// `expiresIn`: no outcome, not expired, and the deadline at most so many hours away.
    pub expires_in: Option<u32>,
    pub companies: Vec<CompanyId>,
    /// `q`: substring of provider id, descriptor, BIN or last four, letter case ignored, never across two fields.
    pub q: Option<String>,
    /// Conditions that no parameter of the list operation expresses.
    pub conditions: LocalConditions,
}

impl AlertFilter {
    /// Returns true for an alert that matches at the moment `now`.
    pub fn matches(&self, alert: &Alert, now: Timestamp) -> bool {
        within(alert.alert_time, self.start_date, self.end_date)
            && within(alert.transaction_time, self.transaction_start_date, self.transaction_end_date)
            && (self.providers.is_empty() || self.providers.contains(&alert.provider))
            && (self.types.is_empty() || self.types.contains(&alert.alert_type))
            && (self.statuses.is_empty() || self.statuses.contains(&alert.status))
            && wanted_text(self.descriptor.as_ref())
                .is_none_or(|prefix| fold(&alert.merchant_descriptor).starts_with(&fold(prefix)))
            && (self.outcomes.is_empty() || self.matches_outcome(alert))
            && self.expired.is_none_or(|expired| alert.expired_at.is_some() == expired)
            && self.expires_in.is_none_or(|hours| expires_within(alert, hours, now))
            && (self.companies.is_empty() || alert.company_id.is_some_and(|company| self.companies.contains(&company)))
            && wanted_text(self.q.as_ref())
                .is_none_or(|q| search_fields(alert).iter().any(|field| fold(field).contains(&fold(q))))
            && self.conditions.matches(alert)
    }

    fn matches_outcome(&self, alert: &Alert) -> bool {
        let stored = alert.outcome.as_ref().map(|outcome| fold(&outcome.outcome));
        stored.is_some_and(|stored| self.outcomes.iter().any(|wanted| fold(wanted) == stored))
    }
}

/// Returns the text that a text filter searches for, trimmed; `None` where it is blank.
pub fn wanted_text(given: Option<&String>) -> Option<&str> {
    given.map(|text| text.trim()).filter(|text| !text.is_empty())
}

/// Returns the four fields that `q` looks into.
pub fn search_fields(alert: &Alert) -> [&str; 4] {
    [&alert.provider_id, &alert.merchant_descriptor, &alert.card_bin, &alert.card_last_four]
}

fn within(moment: Option<Timestamp>, start: Option<NaiveDate>, end: Option<NaiveDate>) -> bool {
    if start.is_none() && end.is_none() {
        return true;
    }
    moment
        .map(|moment| moment.date_naive())
        .is_some_and(|day| start.is_none_or(|start| day >= start) && end.is_none_or(|end| day <= end))
}

/// Returns the last deadline that is at most so many hours away; `None` beyond the calendar, where every one is.
pub fn last_within(hours: u32, now: Timestamp) -> Option<Timestamp> {
    now.checked_add_signed(Duration::hours(hours.into()))
}

fn expires_within(alert: &Alert, hours: u32, now: Timestamp) -> bool {
    let due = match alert.deadline {
        Deadline::At(moment) => last_within(hours, now).is_none_or(|end| moment <= end),
        Deadline::HoursLeft(left) => left < i64::from(hours),
        Deadline::Unknown => false,
    };
    alert.outcome.is_none() && alert.expired_at.is_none() && alert.status != AlertStatus::Expired && due
}

closed_enum! {
    /// Property that lists are sorted by, with the word that is typed for it.
    #[derive(Default)]
    pub enum SortField {
        #[default]
        AlertTimeStamp = "alertTimeStamp": "alerted",
        TransactionTimeStamp = "transactionTimeStamp": "transaction",
        CreatedAt = "createdAt": "created",
        UpdatedAt = "updatedAt": "updated",
        ExpiredAt = "expiredAt": "expired",
        Amount = "amount": "amount",
        Currency = "currency": "currency",
        Provider = "provider": "provider",
        ProviderId = "providerId": "id",
        Type = "type": "type",
        Status = "status": "status",
        Issuer = "issuer": "issuer",
        MerchantDescriptor = "merchantDescriptor": "descriptor",
        MerchantName = "merchantName": "merchant",
        CardBin = "cardBin": "bin",
        CardLastFour = "cardLastFour": "lastfour",
        /// Value shown, which is never null. Answered and expired alerts show 0 and are less than open ones, which
        /// are sorted by their deadline.
        HoursLeft = "hoursLeft": "deadline",
    }
}

closed_enum! {
    /// Direction of a sort.
    #[derive(Default)]
    pub enum SortOrder {
        /// Smallest first.
        #[default]
        Ascending = "ASC",
        /// Largest first.
        Descending = "DESC",
    }
}

impl SortOrder {
    /// Returns the other direction.
    pub const fn reversed(self) -> Self {
        match self {
            Self::Ascending => Self::Descending,
            Self::Descending => Self::Ascending,
        }
    }
}

/// The order of a list: a field, then the id in the same direction; nulls last in either direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Sort {
    /// Field to sort by.
    pub field: SortField,
    pub order: SortOrder,
}

/// A value to sort by; all values of one field are of one kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum SortKey {
    Moment(Timestamp),
    Micros(i128),
    Text(String),
}

impl Sort {
    /// Compares two alerts; never equal for two different alerts.
    pub fn compare(self, left: &Alert, right: &Alert) -> Ordering {
        let directed = |ordering: Ordering| match self.order {
            SortOrder::Ascending => ordering,
            SortOrder::Descending => ordering.reverse(),
        };
        let by_value = match (self.key(left), self.key(right)) {
            (Some(left), Some(right)) => directed(left.cmp(&right)),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        };
        by_value.then_with(|| directed(left.id.cmp(&right.id)))
    }

    fn key(self, alert: &Alert) -> Option<SortKey> {
        if self.field == SortField::HoursLeft {
            // Answered and expired alerts show 0 hours and come before open ones.
            return Some(SortKey::Moment(alert.waits_until().unwrap_or(Timestamp::MIN_UTC)));
        }
        let field = Alert::FIELDS.iter().find(|field| field.name == self.field.as_str())?;
        match &field.kind {
            Kind::Moment(access) => (access.get)(alert).map(SortKey::Moment),
            Kind::Amount(access) => (access.get)(alert)?.micros().map(|micros| SortKey::Micros(micros.into())),
            _ => field.plain_text(alert).map(|text| SortKey::Text(text.into_owned())),
        }
    }
}

/// A list query: filter, sort and page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AlertQuery {
    pub filter: AlertFilter,
    pub sort: Sort,
    pub page: PageRequest,
}

closed_enum! {
    /// A comparison of amounts; those with the longer signs first.
    pub enum Comparison {
        AtMost = "<=",
        AtLeast = ">=",
        Less = "<",
        More = ">",
        Equal = "=",
    }
}

impl Comparison {
    /// Returns the least and the largest amount that fulfil the comparison, in millionths.
    fn micros(self, than: i64) -> (i64, i64) {
        match self {
            Self::AtMost => (i64::MIN, than),
            Self::AtLeast => (than, i64::MAX),
            Self::Less => (i64::MIN, than.saturating_sub(1)),
            Self::More => (than.saturating_add(1), i64::MAX),
            Self::Equal => (than, than),
        }
    }
}

/// Predicates beyond the list operation's parameters. All of them hold together, and any of a list's values; an empty
/// list means "any".
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocalConditions {
    pub amounts: Vec<(Comparison, Amount)>,
    pub currencies: Vec<Currency>,
    /// Prefixes of the issuer's name, letter case ignored.
    pub issuers: Vec<String>,
    pub mccs: Vec<String>,
    /// `true` for notices only, which expect no answer; `false` for all other alerts.
    pub notices: Option<bool>,
    /// Answered on this day.
    pub answered: Option<CalendarDay>,
}

impl LocalConditions {
    /// Returns true where no condition is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns true for an alert that fulfils all conditions. An alert fulfils no condition on a fact that it does not
    /// state, or on an amount that cannot be compared.
    pub fn matches(&self, alert: &Alert) -> bool {
        let mcc = alert.mcc.as_deref().map_or("", str::trim);
        // Zeros behind the last place of another deployment's amounts change nothing.
        let micros = alert.amount.and_then(|amount| Amount::from(amount.decimal().normalize()).micros());
        self.micros().is_none_or(|wanted| micros.is_some_and(|micros| wanted.contains(&micros)))
            && (self.currencies.is_empty() || self.currencies.iter().any(|wanted| wanted.is_same(&alert.currency)))
            && (self.issuers.is_empty() || self.wants_issuer(&alert.issuer))
            && (self.mccs.is_empty() || self.mccs.iter().any(|wanted| wanted == mcc))
            && self.notices.is_none_or(|notices| alert.alert_type.is_notice() == notices)
            && self.answered.is_none_or(|day| {
                alert.outcome.as_ref().and_then(|outcome| outcome.action_time).is_some_and(|at| day.contains(at))
            })
    }

    /// Returns the amounts that fulfil every comparison, in millionths: an empty range where none can, `None` where
    /// nothing is compared.
    pub fn micros(&self) -> Option<RangeInclusive<i64>> {
        let limit = |(comparison, than): &(Comparison, Amount)| comparison.micros(than.micros().unwrap_or(i64::MAX));
        let (least, most) =
            self.amounts.iter().map(limit).reduce(|one, other| (one.0.max(other.0), one.1.min(other.1)))?;
        Some(least..=most)
    }

    /// Returns true for an issuer's name with one of the wanted prefixes.
    pub fn wants_issuer(&self, name: &str) -> bool {
        let name = fold(name.trim());
        self.issuers.iter().any(|wanted| name.starts_with(&fold(wanted)))
    }
}

#[cfg(test)]
mod tests {
    use chrono::Duration;
    use proptest::{prelude::*, sample::select};
    use rstest::rstest;

    use super::*;
    use crate::{
        AlertType, Deadline,
        ids::AlertId,
        outcome::Outcome,
        query::{Vocabulary, parse},
        time::from_iso,
    };

    fn alert() -> Alert {
        Alert { issuer: "HSBC Bank".to_owned(), mcc: Some("5941".to_owned()), ..Alert::sample() }
    }

    fn conditions(text: &str) -> LocalConditions {
        parse(text, Vocabulary::Desk).unwrap().0.conditions
    }

    #[rstest]
    #[case("amount<130 currency:eur", true)]
    #[case("amount<129.90 currency:EUR", false)]
    #[case("amount<=129.9 currency:EUR", true)]
    #[case("amount>129.90 currency:EUR", false)]
    #[case("AMOUNT>=129.90 currency:usd,eur", true)]
    #[case("amount=129.9 currency:EUR", true)]
    #[case("amount>100 amount<125 currency:EUR", false)]
    #[case("amount<130 currency:USD", false)]
    #[case("issuer:hsbc", true)]
    #[case("issuer:\"hsbc bank\"", true)]
    #[case("issuer:bank", false)]
    #[case("mcc:5941,5942", true)]
    #[case("mcc:594", false)]
    #[case("currency:EUR provider:ethoca", true)]
    fn an_alert_is_held_to_every_condition(#[case] text: &str, #[case] wanted: bool) {
        assert_eq!(conditions(text).matches(&alert()), wanted);
    }

    #[test]
    fn what_an_alert_does_not_tell_fulfils_no_condition() {
        let silent = Alert { amount: None, issuer: String::new(), mcc: None, ..alert() };

        for text in ["amount<130 currency:EUR", "issuer:hsbc", "mcc:5941"] {
            assert!(!conditions(text).matches(&silent), "{text}");
        }
    }

    #[test]
    fn zeros_behind_an_amount_and_the_letter_case_of_its_currency_change_nothing() {
        let odd = Alert { amount: Some("19.99000000".parse().unwrap()), currency: Currency::new("eur"), ..alert() };

        assert!(conditions("amount<25 currency:EUR").matches(&odd));
    }

    #[test]
    fn an_amount_that_no_order_knows_fulfils_no_comparison() {
        for amount in ["-3", "0.0000001"] {
            let odd = Alert { amount: Some(amount.parse().unwrap()), ..alert() };

            assert!(!conditions("amount<25 currency:EUR").matches(&odd), "{amount}");
        }
    }

    proptest! {
        #[test]
        fn amounts_are_compared_as_the_decimals_they_are(
            micros in prop_oneof![0..50i64, 0..i64::MAX],
            // Around the amount, or anywhere.
            than in prop_oneof![(-2..=2i64).prop_map(Err), (0..=i64::MAX).prop_map(Ok)],
            comparison in select(&Comparison::ALL[..]),
        ) {
            let amount = Amount::from_micros(micros.into()).decimal();
            let than = than.unwrap_or_else(|step: i64| micros.saturating_add(step).max(0));
            let than = Amount::from_micros(than.into()).decimal();
            let conditions = LocalConditions { amounts: vec![(comparison, than.into())], ..LocalConditions::default() };
            let alert = Alert { amount: Some(amount.into()), ..alert() };

            let expected = match comparison {
                Comparison::AtMost => amount <= than,
                Comparison::AtLeast => amount >= than,
                Comparison::Less => amount < than,
                Comparison::More => amount > than,
                Comparison::Equal => amount == than,
            };
            prop_assert_eq!(conditions.matches(&alert), expected);
        }
    }

    fn listed() -> Alert {
        let mut alert = Alert::new(AlertId::generate(), Provider::Verifi, AlertType::VerifiDispute);
        alert.provider_id = "8F2C77AA0193".to_owned();
        alert.merchant_descriptor = "ACME*Travel DXB".to_owned();
        alert.card_bin = "552201".to_owned();
        alert.card_last_four = "8831".to_owned();
        alert.alert_time = from_iso("2026-01-10T23:59:59.999999Z");
        alert
    }

    fn day(text: &str) -> Option<NaiveDate> {
        text.parse().ok()
    }

    #[rstest]
    #[case(day("2026-01-10"), None, true)]
    #[case(day("2026-01-11"), None, false)]
    #[case(None, day("2026-01-10"), true)]
    #[case(None, day("2026-01-09"), false)]
    fn both_ends_of_a_date_range_are_included(
        #[case] start: Option<NaiveDate>,
        #[case] end: Option<NaiveDate>,
        #[case] wanted: bool,
    ) {
        let filter = AlertFilter { start_date: start, end_date: end, ..AlertFilter::default() };

        assert_eq!(filter.matches(&listed(), Timestamp::default()), wanted);
    }

    #[test]
    fn any_number_of_hours_can_be_asked_for() {
        let filter = AlertFilter { expires_in: Some(u32::MAX), ..AlertFilter::default() };
        let now = from_iso("2026-01-10T00:00:00Z").unwrap();

        assert!(filter.matches(&Alert { deadline: Deadline::At(now), ..alert() }, now));
    }

    #[rstest]
    #[case("8f2c", true)]
    #[case("travel dxb", true)]
    #[case("52201", true)]
    #[case("8831", true)]
    #[case("1", true)]
    #[case("DXB552201", false)]
    #[case("DXB 552201", false)]
    fn a_search_looks_into_four_fields_and_never_across_two(#[case] q: &str, #[case] wanted: bool) {
        let filter = AlertFilter { q: Some(q.to_owned()), ..AlertFilter::default() };

        assert_eq!(filter.matches(&listed(), Timestamp::default()), wanted);
    }

    #[rstest]
    #[case("acme*", true)]
    #[case("travel", false)]
    fn a_descriptor_is_a_prefix_without_letter_case(#[case] descriptor: &str, #[case] wanted: bool) {
        let filter = AlertFilter { descriptor: Some(descriptor.to_owned()), ..AlertFilter::default() };

        assert_eq!(filter.matches(&listed(), Timestamp::default()), wanted);
    }

    #[test]
    fn expires_in_wants_alerts_that_still_wait() {
        let now = from_iso("2026-01-11T00:00:00Z").unwrap();
        let filter = AlertFilter { expires_in: Some(2), ..AlertFilter::default() };
        let waiting = Alert { deadline: Deadline::At(now + Duration::hours(2)), ..alert() };
        let later = Alert { deadline: Deadline::At(now + Duration::hours(2) + Duration::microseconds(1)), ..alert() };
        let answered = Alert { outcome: Some(Outcome::sample(waiting.id)), ..waiting.clone() };
        let expired = Alert { expired_at: Some(now), ..waiting.clone() };

        let wanted = [&waiting, &later, &answered, &expired].map(|alert| filter.matches(alert, now));

        assert_eq!(wanted, [true, false, false, false]);
    }

    #[test]
    fn blanks_around_a_text_are_not_part_of_it_and_blanks_alone_are_no_filter() {
        let now = Timestamp::UNIX_EPOCH;
        let text = |text: &str| Some(text.to_owned());

        let spaced = AlertFilter { q: text("  8f2c\t"), descriptor: text(" acme "), ..AlertFilter::default() };
        let blank = AlertFilter { q: text(" \u{a0}"), descriptor: text(" "), ..AlertFilter::default() };

        assert!(spaced.matches(&listed(), now) && blank.matches(&Alert::default(), now));
    }

    #[rstest]
    #[case(SortOrder::Ascending)]
    #[case(SortOrder::Descending)]
    fn nulls_come_last_in_either_order(#[case] order: SortOrder) {
        let sort = Sort { field: SortField::ExpiredAt, order };
        let with = Alert { expired_at: from_iso("2026-01-01T00:00:00Z"), ..alert() };

        assert_eq!(sort.compare(&with, &listed()), Ordering::Less);
        assert_eq!(sort.compare(&listed(), &with), Ordering::Greater);
    }

    #[test]
    fn what_shows_no_hours_left_stands_before_what_waits_and_equal_ones_by_id() {
        let at = |deadline: &str| Alert { deadline: Deadline::At(from_iso(deadline).unwrap()), ..alert() };
        let soon = at("2026-01-12T00:00:00Z");
        let later = at("2026-01-13T00:00:00Z");
        let lapsed = Alert { status: AlertStatus::Expired, ..at("2026-01-14T00:00:00Z") };
        let answered = at("2026-01-15T00:00:00Z");
        let answered = Alert { outcome: Some(Outcome::sample(answered.id)), ..answered };
        let sorted = |order| {
            let mut alerts = vec![&later, &answered, &soon, &lapsed];
            alerts.sort_by(|one, other| Sort { field: SortField::HoursLeft, order }.compare(one, other));
            alerts.into_iter().map(|alert| alert.id).collect::<Vec<_>>()
        };

        let (up, mut down) = (sorted(SortOrder::Ascending), sorted(SortOrder::Descending));

        assert_eq!(up, [lapsed.id.min(answered.id), lapsed.id.max(answered.id), soon.id, later.id]);
        down.reverse();
        assert_eq!(up, down);
    }

    #[test]
    fn the_id_decides_between_equals_in_the_direction_of_the_sort() {
        let (first, second) = (listed(), listed());

        let up = Sort { field: SortField::Currency, order: SortOrder::Ascending }.compare(&first, &second);
        let down = Sort { field: SortField::Currency, order: SortOrder::Descending }.compare(&first, &second);

        assert_eq!(up, first.id.cmp(&second.id));
        assert_eq!(down, up.reverse());
    }

    #[test]
    fn whether_it_has_expired_is_asked_either_way() {
        let now = Timestamp::UNIX_EPOCH;
        let alerts = [listed(), Alert { expired_at: Some(now), ..alert() }];
        let wanted = |expired| {
            let filter = AlertFilter { expired: Some(expired), ..AlertFilter::default() };
            alerts.each_ref().map(|alert| filter.matches(alert, now))
        };

        assert_eq!([true, false].map(wanted), [[false, true], [true, false]]);
    }

    #[test]
    fn outcomes_are_wanted_in_any_letter_case_and_what_has_none_is_not() {
        let now = Timestamp::UNIX_EPOCH;
        let filter =
            AlertFilter { outcomes: vec!["missed".to_owned(), "Resolved".to_owned()], ..AlertFilter::default() };
        let with = |outcome: &str| {
            let outcome = Outcome { outcome: outcome.to_owned(), ..Outcome::sample(AlertId::generate()) };
            filter.matches(&Alert { outcome: Some(outcome), ..alert() }, now)
        };

        assert_eq!((with("resolved"), with("other"), filter.matches(&listed(), now)), (true, false, false));
    }

    #[rstest]
    #[case(1, true)]
    #[case(2, false)]
    #[case(3, false)]
    fn whole_hours_of_a_service_may_hide_minutes(#[case] left: i64, #[case] wanted: bool) {
        let filter = AlertFilter { expires_in: Some(2), ..AlertFilter::default() };

        assert_eq!(
            filter.matches(&Alert { deadline: Deadline::HoursLeft(left), ..alert() }, Timestamp::UNIX_EPOCH),
            wanted
        );
    }
}
