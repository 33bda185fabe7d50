//! Alerts that may be on one payment: found by index, judged by the domain.

use std::collections::BTreeSet;

use super::fault::Work;
use super::rows;
use super::statements::cell;
use super::unit::Unit;
use crate::domain::{Alert, AlertId, Amount, OrganizationId};

/// So many of each kind of agreement are read, the newest rows first.
const MOST: i64 = 200;

const BY_CARD: &str = "SELECT key FROM alert
     WHERE organization = $1 AND card_last_four = $2 AND card_last_four <> '' AND amount_micros = $3 ORDER BY key \
     DESC LIMIT $4";
const BY_ARN: &str =
    "SELECT key FROM alert WHERE organization = $1 AND acquirer_reference_number = $2 ORDER BY key DESC LIMIT $3";
const BY_AUTH_CODE: &str =
    "SELECT key FROM alert WHERE organization = $1 AND auth_code = $2 ORDER BY key DESC LIMIT $3";

/// Each of these alerts that is there, with those that agree with it in something.
pub(super) async fn alike(
    unit: &Unit<'_>,
    organization: OrganizationId,
    ids: &[AlertId],
) -> Work<Vec<(Alert, Vec<Alert>)>> {
    let conn = &unit.conn;
    let Some(owner) = unit.organization(organization).await? else { return Ok(Vec::new()) };
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        let Some(stored) = rows::read_by_id(conn, organization, *id).await? else { continue };
        let alert = stored.alert;
        let mut keys: BTreeSet<i64> = BTreeSet::new();
        if let Some(micros) = alert.amount.and_then(Amount::micros) {
            keys.extend(conn.all(BY_CARD, &[&owner, &alert.card_last_four, &micros, &MOST], cell::<i64>).await?);
        }
        for (sql, reference) in [(BY_ARN, alert.known_arn()), (BY_AUTH_CODE, alert.known_auth_code())] {
            if let Some(reference) = reference {
                keys.extend(conn.all(sql, &[&owner, &reference, &MOST], cell::<i64>).await?);
            }
        }
        keys.remove(&stored.key);
        let keys: Vec<i64> = keys.into_iter().collect();
        let others = rows::read_by_keys(conn, &keys).await?;
        found.push((alert, others.into_iter().map(|stored| stored.alert).collect()));
    }
    Ok(found)
}
