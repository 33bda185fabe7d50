//! Full-text search over all fields: the text of each alert, by its index of trigrams where the server has one.

use super::conditions::literal;
use super::connection::Connection;
use super::fault::Work;
use super::rows::{organization_key, read_by_keys};
use super::statements::{Sql, Value, cell, limit_of};
use super::unit::Unit;
use crate::domain::find::among;
use crate::domain::{Alert, FindQuery, MatchGrade, OrganizationId};
use crate::store::searched::{find_patterns, find_text};

/// Up to so many that match are all read and put in order here.
const FEW: i64 = 1_000;

/// So many alerts get their text at once.
const BATCH: i64 = 1_000;

/// What is found, best first.
pub(super) async fn find(unit: &Unit<'_>, organization: OrganizationId, query: &FindQuery, size: u32) -> Work<Vec<Alert>> {
    let conn = &unit.conn;
    let Some(organization) = organization_key(conn, organization).await? else { return Ok(Vec::new()) };
    let mut sql = Sql::new("SELECT a.key FROM alert a");
    sql.with(" WHERE a.organization = ", Value::Number(organization));
    sql.push(" AND ");
    push_match(&mut sql, query, MatchGrade::Inside);
    sql.with(" LIMIT ", Value::Number(FEW + 1));
    let few: Vec<i64> = conn.made(&sql, cell).await?;
    if few.len() as i64 <= FEW {
        let alerts: Vec<Alert> = read_by_keys(conn, &few).await?.into_iter().map(|stored| stored.alert).collect();
        return Ok(among(query, &alerts, size as usize).into_iter().cloned().collect());
    }
    let mut keys: Vec<i64> = Vec::new();
    let mut better: Option<MatchGrade> = None;
    for grade in MatchGrade::ALL {
        // What has no time stands behind what has one, and an index on it serves both.
        for condition in [
            "a.open_deadline IS NOT NULL AND a.alert_time IS NOT NULL",
            "a.open_deadline IS NOT NULL AND a.alert_time IS NULL",
            "a.open_deadline IS NULL AND a.alert_time IS NOT NULL",
            "a.open_deadline IS NULL AND a.alert_time IS NULL",
        ] {
            let missing = u64::from(size) - keys.len() as u64;
            if missing == 0 {
                break;
            }
            let mut sql = Sql::new("SELECT a.key FROM alert a");
            sql.with(" WHERE a.organization = ", Value::Number(organization));
            sql.push(&format!(" AND {condition} AND "));
            push_match(&mut sql, query, grade);
            if let Some(better) = better {
                sql.push(" AND NOT (");
                push_match(&mut sql, query, better);
                sql.push(")");
            }
            sql.with(" ORDER BY a.alert_time DESC, a.id DESC LIMIT ", Value::Number(limit_of(missing)));
            keys.extend(conn.made(&sql, cell::<i64>).await?);
        }
        better = Some(grade);
    }
    Ok(read_by_keys(conn, &keys).await?.into_iter().map(|stored| stored.alert).collect())
}

/// Adds the condition that every word matches at least as well as this.
fn push_match(sql: &mut Sql, query: &FindQuery, grade: MatchGrade) {
    for (place, pattern) in find_patterns(query, grade).into_iter().enumerate() {
        if place > 0 {
            sql.push(" AND ");
        }
        sql.with("a.find_text LIKE ", Value::Text(format!("%{}%", literal(&pattern))));
    }
}

/// Gives every alert its text.
pub(super) async fn index_all(conn: &Connection) -> Work<()> {
    let mut last = 0;
    loop {
        let next = "SELECT key FROM alert WHERE key > $1 ORDER BY key LIMIT $2";
        let keys: Vec<i64> = conn.all(next, &[&last, &BATCH], cell).await?;
        let Some(newest) = keys.last() else { return Ok(()) };
        last = *newest;
        let texts: Vec<String> = read_by_keys(conn, &keys).await?.iter().map(|stored| find_text(&stored.alert)).collect();
        let update =
            "UPDATE alert SET find_text = new.text FROM unnest($1::bigint[], $2::text[]) AS new (key, text) WHERE alert.key = new.key";
        conn.run(update, &[&keys, &texts]).await?;
    }
}
