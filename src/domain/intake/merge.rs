//! Merging a patch into a known alert.

use super::patch::AlertPatch;
use crate::domain::alert::Alert;
use crate::domain::field::Merge;
use crate::domain::time::Timestamp;

/// Merges a patch into a known alert: given provider data are taken over; outcome, status, deadline and the service's own times stay, and
/// of a resolved alert every time does. `None` where nothing changes.
pub fn merge(known: &Alert, mut patch: AlertPatch, now: Timestamp) -> Option<Alert> {
    let mut merged = known.clone();
    for field in patch.given.fields() {
        let takes = match field.merge {
            Merge::Take => true,
            Merge::TakeUntilResolved => known.outcome.is_none(),
            Merge::Keep => false,
        };
        if takes {
            (field.take)(&mut merged, &mut patch.alert);
        }
    }
    (merged != *known).then(|| Alert { updated_at: Some(now), ..merged })
}
