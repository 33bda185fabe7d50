//! Alerts that may be on one payment: found by index, judged by the domain.

use std::collections::BTreeSet;

use rusqlite::params;

use super::readers::Reader;
use super::rows::{self, organization_key};
use super::statements::Statements as _;
use crate::domain::{Alert, AlertId, Amount, OrganizationId};
use crate::store::StoreResult;

/// So many of each kind of agreement are read, the newest rows first.
const MOST: i64 = 200;

const BY_CARD: &str = "SELECT key FROM alert INDEXED BY alert_by_card
     WHERE organization = ?1 AND card_last_four = ?2 AND card_last_four <> '' AND amount_micros = ?3 ORDER BY key \
     DESC LIMIT ?4";
const BY_ARN: &str = "SELECT key FROM alert INDEXED BY alert_by_arn
     WHERE organization = ?1 AND acquirer_reference_number = ?2 ORDER BY key DESC LIMIT ?3";
const BY_AUTH_CODE: &str = "SELECT key FROM alert INDEXED BY alert_by_auth_code
     WHERE organization = ?1 AND auth_code = ?2 ORDER BY key DESC LIMIT ?3";

/// Each of these alerts that is there, with those that agree with it in something.
pub(super) fn alike(
    reader: &mut Reader,
    organization: OrganizationId,
    ids: &[AlertId],
) -> StoreResult<Vec<(Alert, Vec<Alert>)>> {
    let Some(organization) = organization_key(&reader.conn, organization)? else { return Ok(Vec::new()) };
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        let Some(stored) = rows::read_by_id(&reader.conn, &mut reader.dictionary, organization, *id)? else { continue };
        let alert = stored.alert;
        let mut keys: BTreeSet<i64> = BTreeSet::new();
        if let Some(micros) = alert.amount.and_then(Amount::micros) {
            keys.extend(reader.conn.all(
                BY_CARD,
                params![organization, alert.card_last_four, micros, MOST],
                |row| Ok(row.get::<_, i64>(0)?),
            )?);
        }
        for (sql, reference) in [(BY_ARN, alert.known_arn()), (BY_AUTH_CODE, alert.known_auth_code())] {
            if let Some(reference) = reference {
                keys.extend(
                    reader.conn.all(sql, params![organization, reference, MOST], |row| Ok(row.get::<_, i64>(0)?))?,
                );
            }
        }
        keys.remove(&stored.key);
        let mut others = Vec::with_capacity(keys.len());
        for key in keys {
            others.push(rows::read_by_key(&reader.conn, &mut reader.dictionary, key)?);
        }
        found.push((alert, others));
    }
    Ok(found)
}
