//! Intake of alerts. A source's row is a patch: validated once, completed where the alert is new, merged where it is
//! known.

use std::{
    collections::HashMap,
    hash::{BuildHasher as _, RandomState},
};

use chrono::TimeDelta;

use crate::{
    Alert, AlertId, AlertStatus, AlertType, CompanyId, Deadline, EnrollmentId, FieldError, Outcome, Provider,
    Timestamp,
    alert::default_window,
    field::{Field, Kind, Merge},
    identity::Identifier,
    sanitize,
    time::later_by,
};

/// Set of fields of an alert, by their place in the table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FieldSet(u128);

const _: () = assert!(Alert::FIELDS.len() <= u128::BITS as usize, "a set of fields is to be wider");

impl FieldSet {
    /// Returns the fields that are not blank.
    pub fn said_by(alert: &Alert) -> Self {
        let bit = |(place, field): (usize, &Field<Alert>)| u128::from(!(field.is_blank)(alert)) << place;
        Self(Alert::FIELDS.iter().enumerate().map(bit).sum())
    }

    /// Returns true where the field at this place of the table is in the set.
    pub fn contains(self, place: usize) -> bool {
        self.0 >> place & 1 == 1
    }

    fn fields(self) -> impl Iterator<Item = &'static Field<Alert>> {
        Alert::FIELDS.iter().enumerate().filter(move |(place, _)| self.contains(*place)).map(|(_, field)| field)
    }

    /// Returns the fields that are in both.
    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) fn with(self, place: usize, is_in: bool) -> Self {
        Self(self.0 & !(1 << place) | u128::from(is_in) << place)
    }
}

/// Alert patch: the content of an alert to ingest. A new alert is stored as the patch once it is complete; a known one
/// takes over the given fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertPatch {
    /// The line or position in its source, for reports; 1-based.
    pub line: u64,
    /// `alert.deadline` is `At` where the source gave one, and `HoursLeft` where it gave the hours.
    pub alert: Alert,
    /// Fields given by the source itself. The id is the identity where it is given; otherwise provider and provider id
    /// are.
    pub given: FieldSet,
    /// True where `alert.created` is recorded if the alert is new.
    pub event: bool,
    /// True where a gateway brought it, which takes its answer.
    pub from_gateway: bool,
    /// True where its deadline is a sender's own, which goes before one that was reckoned.
    pub moves_deadline: bool,
}

impl AlertPatch {
    /// Returns a patch that gives every field of an alert that is not blank.
    pub fn of(alert: Alert) -> Self {
        Self::read(1, alert, true)
    }

    /// Returns a patch as it was read from a line of a source. A blank field was not given, such as an id of zeros
    /// alone.
    pub fn read(line: u64, mut alert: Alert, id_given: bool) -> Self {
        let given = FieldSet::said_by(&alert).with(Alert::ID, id_given && alert.id != AlertId::default());
        if alert.status == AlertStatus::default() {
            alert.status = AlertStatus::Open;
        }
        Self { line, alert, given, event: false, from_gateway: false, moves_deadline: false }
    }

    /// Returns the patch as from another line.
    #[must_use]
    pub fn at(self, line: u64) -> Self {
        Self { line, ..self }
    }

    /// Returns true for a field that was given.
    pub fn gives(&self, name: &str) -> bool {
        self.given.fields().any(|field| field.name == name)
    }

    /// Leaves out what a known alert has already: the patch tells of an earlier moment than others did since.
    #[must_use]
    pub fn told_late(mut self, known: &Alert) -> Self {
        let is_by_id = self.is_by_id();
        self.given = FieldSet(self.given.0 & !FieldSet::said_by(known).0).with(Alert::ID, is_by_id);
        self
    }

    /// Returns true where the id is the identity.
    pub fn is_by_id(&self) -> bool {
        self.given.contains(Alert::ID)
    }
}

/// Options of ingest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IngestOptions {
    /// True where `alert.created` is sent for new alerts that are still open.
    pub events: bool,
}

/// The report of an ingested batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IngestReport {
    pub created: u64,
    pub updated: u64,
    pub unchanged: u64,
    /// Rows that could not be taken, in the order of the batch.
    pub rejected: Vec<RejectedRow>,
}

impl IngestReport {
    /// Adds another batch's report.
    pub fn add(&mut self, other: Self) {
        self.created += other.created;
        self.updated += other.updated;
        self.unchanged += other.unchanged;
        self.rejected.extend(other.rejected);
    }
}

/// Unknown words of a source, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnknownWords {
    /// Names of fields; they are ignored.
    pub fields: Vec<String>,
    /// Networks; their alerts are ingested.
    pub providers: Vec<String>,
    /// Alert types; their alerts are ingested.
    pub types: Vec<String>,
}

impl UnknownWords {
    /// Adds what another part of the source had.
    pub fn add(&mut self, other: Self) {
        self.fields.extend(other.fields);
        self.providers.extend(other.providers);
        self.types.extend(other.types);
    }
}

/// A rejected row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedRow {
    /// The line or position in its source; 1-based.
    pub line: u64,
    /// The field at fault and why; the field is empty when the row as a whole is at fault.
    pub error: FieldError,
}

impl RejectedRow {
    /// Returns true where the row as a whole could not be read.
    pub fn is_unreadable(&self) -> bool {
        self.error.field.is_empty()
    }
}

/// Response windows: the time a merchant has to answer, by provider and type.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResponseWindows(HashMap<String, TimeDelta>);

impl ResponseWindows {
    /// Sets the window of a provider, or of a type, by its word.
    #[must_use]
    pub fn with(mut self, word: &str, window: TimeDelta) -> Self {
        self.0.insert(word.to_owned(), window);
        self
    }

    /// Returns the response window of an alert: its type's, else its provider's, else the network's usual one.
    pub fn of(&self, provider: &Provider, alert_type: &AlertType) -> TimeDelta {
        let set = self.0.get(alert_type.as_str()).or_else(|| self.0.get(provider.as_str()));
        set.copied().unwrap_or_else(|| default_window(provider))
    }
}

/// Facts of a row that are compared. Networks give six digits of a BIN or eight.
const FACTS: [&str; 5] = ["card", "card", "card", "amount", "currency"];

/// Facts of a source's rows so far, by identity: hashes alone, some sixty bytes of each.
#[derive(Debug, Default)]
pub struct SourceRows {
    hasher: RandomState,
    /// Line of the row, and a hash of each fact; 0 of one that was not given.
    known: HashMap<u64, (u64, [u64; FACTS.len()])>,
}

impl SourceRows {
    /// Takes a row in.
    ///
    /// # Errors
    /// When an earlier row has the same identity and another card, amount or currency.
    pub fn admit(&mut self, row: AlertPatch) -> Result<AlertPatch, RejectedRow> {
        let alert = &row.alert;
        let (field, identity) = if row.is_by_id() {
            ("id", alert.id.to_string())
        } else {
            // A row that identifies nothing is rejected by itself.
            let Some(id) = Identifier::Name.read(Some(&alert.provider_id)) else { return Ok(row) };
            ("providerId", format!("{} {id}", alert.provider))
        };
        let bin = alert.card_bin.trim();
        let amount = alert.amount.map_or_else(String::new, |amount| amount.decimal().normalize().to_string());
        let told = [
            bin.get(..6).unwrap_or_default(),
            bin.get(..8).unwrap_or_default(),
            alert.card_last_four.trim(),
            &amount,
            &alert.currency.as_str().to_ascii_uppercase(),
        ];
        let told = told.map(|text| if text.is_empty() { 0 } else { self.hasher.hash_one(text) | 1 });
        let (line, known) = self.known.entry(self.hasher.hash_one(identity)).or_insert((row.line, told));
        for ((known, told), what) in known.iter_mut().zip(told).zip(FACTS) {
            if *known == 0 {
                *known = told;
            } else if told != 0 && told != *known {
                let why = format!("is that of line {line} too, where the {what} is another: one of the two is wrong");
                return Err(RejectedRow { line: row.line, error: FieldError::new(field, why) });
            }
        }
        Ok(row)
    }
}

/// Intake terms: what alerts get that do not say it themselves.
#[derive(Debug, Clone, Copy)]
pub struct IntakeTerms<'a> {
    /// Company of alerts that name none.
    pub company: CompanyId,
    /// Enrollment of alerts that name none.
    pub enrollment: EnrollmentId,
    /// The time to answer.
    pub windows: &'a ResponseWindows,
    /// True where events of new alerts are recorded at all.
    pub events: bool,
    /// Time of the intake.
    pub now: Timestamp,
}

impl AlertPatch {
    /// Fills in what is missing, and derives deadline, status and event. What was given stays known.
    #[must_use]
    pub fn complete(mut self, terms: &IntakeTerms<'_>) -> Self {
        let now = terms.now;
        let is_by_id = self.is_by_id();
        let alert = &mut self.alert;
        if !is_by_id && alert.id == AlertId::default() {
            alert.id = AlertId::generate();
        }
        let raised = *alert.alert_time.get_or_insert(now);
        alert.transaction_time.get_or_insert(raised);
        alert.created_at.get_or_insert(now);
        alert.updated_at.get_or_insert(now);
        alert.company_id.get_or_insert(terms.company);
        alert.enrollment_id.get_or_insert(terms.enrollment);
        let waiting = alert.status == AlertStatus::Open && alert.outcome.is_none();
        let deadline = deadline(alert, raised, waiting, terms.windows, now);
        alert.deadline = Deadline::At(deadline);
        if waiting {
            let lapsed = deadline <= now;
            alert.expired_at = lapsed.then_some(deadline);
            if lapsed {
                alert.status = AlertStatus::Expired;
            }
        } else if alert.status == AlertStatus::Expired {
            alert.expired_at.get_or_insert(deadline);
        }
        complete_outcome(alert, now);
        self.event = terms.events && alert.outcome.is_none() && alert.status != AlertStatus::Expired && deadline > now;
        self
    }
}

/// Derives the deadline: that of the row, or the response window after the alert was raised.
fn deadline(alert: &Alert, raised: Timestamp, waiting: bool, windows: &ResponseWindows, now: Timestamp) -> Timestamp {
    let by_window = later_by(raised, windows.of(&alert.provider, &alert.alert_type));
    match alert.deadline {
        Deadline::At(own) => own,
        Deadline::HoursLeft(hours) if waiting => later_by(now, TimeDelta::hours(hours.max(1))),
        // It has expired, so its deadline has passed, whatever the response window says.
        _ if alert.status == AlertStatus::Expired => alert.expired_at.unwrap_or(by_window.min(now)),
        _ => by_window,
    }
}

/// Fills in what an outcome that was brought along does not say.
fn complete_outcome(alert: &mut Alert, now: Timestamp) {
    let Some(outcome) = &mut alert.outcome else { return };
    let Outcome { alert_id, provider_alert_id, status, action_time, .. } = outcome;
    *alert_id = alert.id;
    if provider_alert_id.is_empty() {
        provider_alert_id.clone_from(&alert.provider_id);
    }
    if status.is_empty() {
        "success".clone_into(status);
    }
    action_time.get_or_insert(alert.updated_at.unwrap_or(now));
}

/// Merges a patch into a known alert. Given provider data are taken over; outcome, status, deadline and the service's
/// own times stay, and of a resolved alert every time does. A source's own deadline moves that of an open alert. `None`
/// where nothing changes.
pub fn merge(known: &Alert, mut patch: AlertPatch, now: Timestamp) -> Option<Alert> {
    let mut merged = known.clone();
    for field in patch.given.fields() {
        let takes = match field.merge {
            Merge::Take => true,
            Merge::TakeUntilResolved => known.outcome.is_none(),
            Merge::Keep => false,
        };
        if takes && !is_shown_alike(field, known, &patch.alert) {
            (field.take)(&mut merged, &mut patch.alert);
        }
    }
    // A transaction time that was made of the alert's stays made when the alert's time is another now.
    if known.transaction_time.is_some()
        && known.given_transaction_time().is_none()
        && !patch.gives("transactionTimeStamp")
    {
        merged.transaction_time = merged.alert_time;
    }
    // Whoever brought it first: what a gateway knows is answered there.
    if patch.from_gateway && known.outcome.is_none() && known.is_answered_here() {
        merged.origin = None;
    }
    if patch.moves_deadline && known.waits_until().is_some() {
        merged.deadline = patch.alert.deadline;
    }
    (merged != *known).then_some(Alert { updated_at: Some(now), ..merged })
}

/// Compares a text with the known one as an export shows it: invisible characters are no change.
fn is_shown_alike(field: &Field<Alert>, known: &Alert, given: &Alert) -> bool {
    match &field.kind {
        Kind::Word(text) | Kind::Text(text) => (text.get)(known)
            .zip((text.get)(given))
            .is_some_and(|(known, given)| known != given && sanitize::lines(known) == given),
        _ => false,
    }
}

mod validate;

pub use validate::MAX_HOURS_LEFT;
pub(crate) use validate::check;

#[cfg(test)]
mod tests {
    mod rules;

    use proptest::prelude::*;
    use rstest::rstest;
    use uuid::Uuid;

    use super::*;
    use crate::{Answers, Origin, outcome::Outcome, time::from_iso};

    /// Sets a field to one of a few values; not at all where there is none.
    fn set(alert: &mut Alert, field: &Field<Alert>, value: Option<u8>) {
        let Some(value) = value else { return };
        match &field.kind {
            Kind::Id(id) | Kind::Reference(id) => (id.set)(alert, Uuid::from_u128(value.into())),
            Kind::Word(text) | Kind::Text(text) => (text.set)(alert, value.to_string().into()),
            Kind::Moment(moment) => (moment.set)(alert, Timestamp::from_timestamp(value.into(), 0).unwrap()),
            Kind::Amount(amount) => (amount.set)(alert, value.to_string().parse().unwrap()),
            Kind::Flag(flag) => (flag.set)(alert, true),
        }
    }

    fn alerts() -> impl Strategy<Value = Alert> {
        let values = proptest::collection::vec(proptest::option::of(1u8..4), Alert::FIELDS.len());
        (values, any::<bool>()).prop_map(|(values, answered)| {
            let mut alert = Alert::default();
            Alert::FIELDS.iter().zip(values).for_each(|(field, value)| set(&mut alert, field, value));
            alert.outcome = answered.then(|| Outcome::sample(alert.id));
            alert
        })
    }

    /// Returns the alert with one field of another.
    fn with(alert: &Alert, field: &Field<Alert>, other: &Alert) -> Alert {
        let mut changed = alert.clone();
        (field.take)(&mut changed, &mut other.clone());
        changed
    }

    fn now() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    #[test]
    fn a_transaction_time_that_was_made_up_stays_made_up_when_the_alerts_time_changes() {
        let made = Alert { transaction_time: Alert::sample().alert_time, ..Alert::sample() };
        let later = Alert { alert_time: Some(now()), ..made.clone() };

        let merged = merge(&made, AlertPatch::of(later).without("transactionTimeStamp"), now()).unwrap();

        assert_eq!(
            (merged.alert_time, merged.transaction_time, merged.given_transaction_time()),
            (Some(now()), Some(now()), None)
        );
    }

    #[test]
    fn a_text_less_what_nobody_sees_is_no_news() {
        let known = Alert { merchant_descriptor: "SOFT\u{ad}X".to_owned(), ..Alert::sample() };
        let exported = Alert { merchant_descriptor: "SOFTX".to_owned(), ..known.clone() };
        let other = Alert { merchant_descriptor: "SOFTY".to_owned(), ..known.clone() };

        assert_eq!(merge(&known, AlertPatch::of(exported), now()), None);
        assert!(merge(&known, AlertPatch::of(other), now()).is_some());
    }

    proptest! {
        #[test]
        fn a_patch_that_is_merged_again_changes_nothing(known in alerts(), news in alerts()) {
            let patch = AlertPatch::of(news);
            let merged = merge(&known, patch.clone(), now()).unwrap_or(known);

            prop_assert_eq!(merge(&merged, patch, now()), None);
        }

        #[test]
        fn what_was_not_given_stays_as_it_is(known in alerts(), news in alerts(), gone in 0..Alert::FIELDS.len()) {
            let field = &Alert::FIELDS[gone];
            prop_assume!(field.name != "updatedAt");
            // A made-up transaction time follows the alert's own: see above.
            prop_assume!(known.transaction_time.is_none() || known.given_transaction_time().is_some());
            let patch = AlertPatch::of(news).without(field.name);

            let merged = merge(&known, patch.clone(), now()).unwrap_or_else(|| known.clone());

            for field in Alert::FIELDS.iter().filter(|field| !patch.gives(field.name) && field.name != "updatedAt") {
                prop_assert_eq!(&with(&merged, field, &known), &merged, "{}", field.name);
            }
        }

        #[test]
        fn outcome_status_deadline_and_the_services_own_times_stay_whatever_is_given(known in alerts(),
            news in alerts()) {
            let merged = merge(&known, AlertPatch::of(news), now()).unwrap_or_else(|| known.clone());

            prop_assert_eq!((&merged.outcome, &merged.status, merged.deadline), (&known.outcome, &known.status,
                known.deadline));
            prop_assert_eq!((merged.id, merged.created_at, merged.expired_at), (known.id, known.created_at,
                known.expired_at));
            if known.outcome.is_some() {
                prop_assert_eq!((merged.alert_time, merged.transaction_time), (known.alert_time,
                    known.transaction_time));
            }
        }
    }

    #[test]
    fn a_window_is_the_types_before_the_providers_before_the_usual_one() {
        let windows =
            ResponseWindows::default().with("VERIFI", TimeDelta::hours(48)).with("VERIFI_CANCEL", TimeDelta::hours(12));

        assert_eq!(windows.of(&Provider::Verifi, &AlertType::VerifiCancel), TimeDelta::hours(12));
        assert_eq!(windows.of(&Provider::Verifi, &AlertType::VerifiDispute), TimeDelta::hours(48));
        assert_eq!(windows.of(&Provider::Ethoca, &AlertType::EthocaConfirmedFraud), TimeDelta::hours(24));
        assert_eq!(windows.of(&Provider::Cdrn, &AlertType::Other("X".to_owned())), TimeDelta::hours(72));
    }

    fn rejected(field: &str) -> RejectedRow {
        RejectedRow { line: 3, error: FieldError::new(field, "is wrong") }
    }

    #[test]
    fn reports_of_batches_are_summed_up() {
        let mut all = IngestReport { created: 1, updated: 2, unchanged: 3, rejected: vec![rejected("amount")] };

        all.add(IngestReport { created: 10, updated: 20, unchanged: 30, rejected: vec![rejected("")] });

        let rejected = vec![rejected("amount"), rejected("")];
        assert_eq!(all, IngestReport { created: 11, updated: 22, unchanged: 33, rejected });
    }

    #[test]
    fn unknown_words_of_all_parts_are_told() {
        let words = |text: &str| vec![text.to_owned()];
        let mut all = UnknownWords { fields: words("a"), providers: words("b"), types: words("c") };

        all.add(UnknownWords { fields: words("d"), providers: Vec::new(), types: words("e") });

        assert_eq!(all.fields, ["a", "d"]);
        assert_eq!((all.providers, all.types), (words("b"), vec!["c".to_owned(), "e".to_owned()]));
    }

    #[test]
    fn a_row_without_a_field_at_fault_is_unreadable() {
        assert_eq!([rejected(""), rejected("amount")].map(|row| row.is_unreadable()), [true, false]);
    }

    #[rstest]
    #[case::a_gateway(true, true)]
    #[case::a_file(false, false)]
    fn an_alert_of_a_source_is_answered_at_the_gateway_that_knows_it_too(
        #[case] from_gateway: bool,
        #[case] moves: bool,
    ) {
        let origin = Some(Origin { source: "justt".to_owned(), answers: Answers::Here, reference: String::new() });
        let known = Alert { origin, ..Alert::sample() };
        let patch = AlertPatch { from_gateway, ..AlertPatch::of(Alert { origin: None, ..known.clone() }) };

        let merged = merge(&known, patch, now());

        assert_eq!(merged.map(|merged| merged.origin), moves.then_some(None));
    }

    #[rstest]
    #[case::of_an_open_alert(AlertStatus::Open, true, true)]
    #[case::of_an_expired_one(AlertStatus::Expired, true, false)]
    #[case::that_was_reckoned(AlertStatus::Open, false, false)]
    fn a_deadline_of_a_sources_own_moves_one_that_was_reckoned(
        #[case] status: AlertStatus,
        #[case] moves_deadline: bool,
        #[case] moves: bool,
    ) {
        let known = Alert { deadline: Deadline::At(now()), status, ..Alert::sample() };
        let sooner = Deadline::At(now() - TimeDelta::hours(1));
        let patch = AlertPatch { moves_deadline, ..AlertPatch::of(Alert { deadline: sooner, ..known.clone() }) };

        let merged = merge(&known, patch, now());

        assert_eq!(merged.map(|merged| merged.deadline), moves.then_some(sooner));
    }
}
