//! Materialized counts of alerts by kind, of each day and in all. Each commit adds rows of its own, so that nobody
//! waits for another's; the sum of its rows is the count of a kind. Added rows are merged now and then.

use std::sync::LazyLock;

use super::connection::Connection;
pub(super) use crate::alert_rows::{CountChanges, DAY_MICROS, NO_DAY};
use crate::{
    alert_rows::day_of,
    cells::storable,
    domain::{Alert, fold::fold},
    error::Work,
};

/// The SELECT of the counts, from the alerts.
pub(super) fn counted() -> String {
    format!(
        "SELECT organization, coalesce(floor(alert_time::numeric / {DAY_MICROS})::bigint, {NO_DAY}), provider, type, \
            status, outcome, expired_at IS NOT NULL, count(*)::numeric FROM alert GROUP BY 1, 2, 3, 4, 5, 6, 7"
    )
}

/// Key of a count.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct CountKey {
    day: i64,
    provider: String,
    alert_type: String,
    status: String,
    outcome: Option<String>,
    expired: bool,
}

impl CountKey {
    /// Returns the key that an alert is counted under.
    pub(super) fn of(alert: &Alert) -> Self {
        let word = |word: &str| storable(word).into_owned();
        Self {
            day: day_of(alert.alert_time),
            provider: word(alert.provider.as_str()),
            alert_type: word(alert.alert_type.as_str()),
            status: word(alert.status.as_str()),
            outcome: alert.outcome.as_ref().map(|outcome| word(&fold(&outcome.outcome))),
            expired: alert.expired_at.is_some(),
        }
    }
}

impl CountChanges<CountKey> {
    /// Writes the changes.
    pub(super) async fn write(self, conn: &Connection, organization: i64) -> Work<()> {
        let (keys, by): (Vec<CountKey>, Vec<i64>) = self.0.into_iter().filter(|(_, by)| *by != 0).unzip();
        if keys.is_empty() {
            return Ok(());
        }
        let days: Vec<i64> = keys.iter().map(|key| key.day).collect();
        let words = |pick: fn(&CountKey) -> &str| -> Vec<&str> { keys.iter().map(pick).collect() };
        let providers = words(|key| &key.provider);
        let types = words(|key| &key.alert_type);
        let statuses = words(|key| &key.status);
        let outcomes: Vec<Option<&str>> = keys.iter().map(|key| key.outcome.as_deref()).collect();
        let expired: Vec<bool> = keys.iter().map(|key| key.expired).collect();
        conn.run(
            "WITH changed AS (
                SELECT * FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[], \
                $8::bigint[])
                    AS n (day, provider, type, status, outcome, expired, alerts)
            ), by_day AS (
                INSERT INTO alert_count (organization, day, provider, type, status, outcome, expired, alerts)
                SELECT $1::bigint, changed.* FROM changed
            )
            INSERT INTO alert_total (organization, provider, type, status, outcome, expired, alerts)
            SELECT $1::bigint, provider, type, status, outcome, expired, sum(alerts)::bigint FROM changed
            GROUP BY provider, type, status, outcome, expired HAVING sum(alerts) <> 0",
            &[&organization, &days, &providers, &types, &statuses, &outcomes, &expired, &by],
        )
        .await?;
        Ok(())
    }
}

/// Makes the totals anew where only the counts of days have come.
pub(super) const TOTALS: &str = "DELETE FROM alert_total;
    INSERT INTO alert_total (organization, provider, type, status, outcome, expired, alerts, fresh)
    SELECT organization, provider, type, status, outcome, expired, sum(alerts)::bigint, false FROM alert_count
    GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(alerts) <> 0";

/// Merges some of the rows that commits have added, by day and in all. Rows that another process has locked are left to
/// it: every row goes into one sum, whichever process makes it.
pub(crate) static DRAW_TOGETHER: LazyLock<[String; 2]> =
    LazyLock::new(|| [drawing("alert_count", "day, "), drawing("alert_total", "")]);

fn drawing(table: &str, day: &str) -> String {
    format!(
        "WITH cell AS (
            SELECT DISTINCT organization, {day}provider, type, status, outcome, expired
            FROM (SELECT * FROM {table} WHERE fresh ORDER BY key LIMIT 2000) AS added
        ), part AS (
            SELECT c.key FROM {table} c JOIN cell USING (organization, {day}provider, type, status)
            WHERE c.outcome IS NOT DISTINCT FROM cell.outcome AND c.expired = cell.expired
            FOR UPDATE OF c SKIP LOCKED
        ), gone AS (
            DELETE FROM {table} USING part WHERE {table}.key = part.key RETURNING {table}.*
        )
        INSERT INTO {table} (organization, {day}provider, type, status, outcome, expired, alerts, fresh)
        SELECT organization, {day}provider, type, status, outcome, expired, sum(alerts)::bigint, false FROM gone
        GROUP BY organization, {day}provider, type, status, outcome, expired HAVING sum(alerts) <> 0"
    )
}
