//! Sums by currency of the alerts within a filter.

use super::fault::Work;
use super::list::planned;
use super::statements::Sql;
use super::unit::Unit;
use crate::domain::time::Timestamp;
use crate::domain::{AlertFilter, Amount, Currency, CurrencySum, Money, OrganizationId};

/// Count and sum of the alerts within a filter for each currency, largest count first.
pub(super) async fn sums(
    unit: &Unit<'_>,
    organization: OrganizationId,
    filter: &AlertFilter,
    now: Timestamp,
) -> Work<Vec<CurrencySum>> {
    let Some(organization) = unit.organization(organization).await? else { return Ok(Vec::new()) };
    let Some((wanted, _)) = planned(&unit.conn, organization, filter, now).await? else { return Ok(Vec::new()) };
    // In two parts, because the sum of many large amounts does not fit into a bigint.
    let mut sql = Sql::new(
        "SELECT a.currency, count(*), coalesce(sum(a.amount_micros / 1000000), 0)::bigint,
             coalesce(sum(a.amount_micros % 1000000), 0)::bigint, count(a.amount_micros)",
    );
    wanted.push_alerts(&mut sql);
    sql.push(" GROUP BY a.currency ORDER BY count(*) DESC, a.currency");
    unit.conn
        .made(&sql, |row| {
            let (alerts, whole, fraction, priced): (i64, i64, i64, i64) =
                (row.try_get(1)?, row.try_get(2)?, row.try_get(3)?, row.try_get(4)?);
            let amount = Amount::from_micros(i128::from(whole) * 1_000_000 + i128::from(fraction));
            Ok(CurrencySum {
                alerts: alerts.unsigned_abs(),
                money: Money { amount, currency: Currency::new(row.try_get::<_, String>(0)?) },
                unpriced: (alerts - priced).unsigned_abs(),
            })
        })
        .await
}
