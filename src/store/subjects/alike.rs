//! Alerts that may be on one payment: found by index, judged by the domain.

use std::collections::BTreeSet;

use crate::{
    alert_rows::Stored,
    domain::{Alert, AlertId, Amount, OrganizationId},
    stored_row::cell,
    units::UnitOfWork,
    work::Work,
};

/// Number of rows that are read of each kind of agreement, the newest first.
const MOST: i64 = 200;

const BY_CARD: &str = "SELECT key FROM alert/*-*/ INDEXED BY alert_by_card/*+*/
    WHERE organization = ?1 AND card_last_four = ?2 AND card_last_four <> '' AND amount_micros = ?3
    ORDER BY key DESC LIMIT ?4";
const BY_ARN: &str = "SELECT key FROM alert/*-*/ INDEXED BY alert_by_arn/*+*/
    WHERE organization = ?1 AND acquirer_reference_number = ?2 ORDER BY key DESC LIMIT ?3";
const BY_AUTH_CODE: &str = "SELECT key FROM alert/*-*/ INDEXED BY alert_by_auth_code/*+*/
    WHERE organization = ?1 AND auth_code = ?2 ORDER BY key DESC LIMIT ?3";

/// Each of these alerts that exists, with those that agree with it in something.
pub(super) async fn alike(
    unit: &UnitOfWork<'_>,
    organization: OrganizationId,
    ids: &[AlertId],
) -> Work<Vec<(Alert, Vec<Alert>)>> {
    let Some(owner) = unit.organization(organization).await? else { return Ok(Vec::new()) };
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        let Some(Stored { key, alert }) = unit.alert_by_id(owner, *id).await? else { continue };
        let mut keys: BTreeSet<i64> = BTreeSet::new();
        if let Some(micros) = alert.amount.and_then(Amount::micros) {
            keys.extend(unit.all(BY_CARD, &[&owner, &alert.card_last_four, &micros, &MOST], cell::<i64>).await?);
        }
        for (sql, reference) in [(BY_ARN, alert.known_arn()), (BY_AUTH_CODE, alert.known_auth_code())] {
            if let Some(reference) = reference {
                keys.extend(unit.all(sql, &[&owner, &reference, &MOST], cell::<i64>).await?);
            }
        }
        keys.remove(&key);
        let keys: Vec<i64> = keys.into_iter().collect();
        let others = unit.alerts_by_keys(&keys).await?;
        found.push((alert, others.into_iter().map(|stored| stored.alert).collect()));
    }
    Ok(found)
}
