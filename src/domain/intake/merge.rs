//! Merging a patch into a known alert.

use super::patch::AlertPatch;
use crate::{
    alert::Alert,
    field::{Field, Kind, Merge},
    sanitize,
    time::Timestamp,
};

/// Merges a patch into a known alert. Given provider data are taken over; outcome, status, deadline and the service's
/// own times stay, and of a resolved alert every time does. `None` where nothing changes.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;
    use crate::outcome::Outcome;
    use crate::time::from_iso;

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
}
