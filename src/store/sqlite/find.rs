//! Full-text search over all fields: candidates by the index of trigrams, judged by the domain.
//!
//! What matches better comes first, so each grade is asked for by itself. Candidates that are few are put in order and read from the top until
//! there are enough; where they are many, the alerts themselves are gone through in that order, for matches are met soon.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::interned::Dictionary;
use super::query::Sql;
use super::readers::Reader;
use super::rows::{organization_key, read_by_key};
use super::statements::{Statements as _, cell};
use crate::domain::{Alert, FindQuery, MatchGrade, OrganizationId};
use crate::store::StoreResult;
use crate::store::searched::{find_patterns, find_text};

/// How far each way goes before another one is taken.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    /// Up to so many candidates are put in order.
    candidates: i64,
    /// So many alerts are gone through before candidates are put in order all the same, however many they are.
    walk: u64,
}

const BOUNDS: Bounds = Bounds { candidates: 20_000, walk: 10_000 };

/// What is found, best first.
pub(super) fn find(reader: &mut Reader, organization: OrganizationId, query: &FindQuery, size: u32) -> StoreResult<Vec<Alert>> {
    find_within(BOUNDS, reader, organization, query, size)
}

fn find_within(bounds: Bounds, reader: &mut Reader, organization: OrganizationId, query: &FindQuery, size: u32) -> StoreResult<Vec<Alert>> {
    let Some(organization) = organization_key(&reader.conn, organization)? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for grade in MatchGrade::ALL {
        let search = Search { bounds, organization, query, grade, missing: size as usize - found.len() };
        if search.missing == 0 {
            break;
        }
        found.extend(search.run(reader)?);
    }
    Ok(found)
}

/// A search for alerts that match exactly so well.
struct Search<'a> {
    bounds: Bounds,
    organization: i64,
    query: &'a FindQuery,
    grade: MatchGrade,
    missing: usize,
}

/// What comes first, of alerts that match equally well.
const ORDER: &str = " ORDER BY a.open_deadline IS NULL, a.alert_time DESC, a.id DESC";

impl Search<'_> {
    fn run(&self, reader: &mut Reader) -> StoreResult<Vec<Alert>> {
        let patterns = find_patterns(self.query, self.grade);
        let expression = all_trigrams(&patterns);
        if let Some(expression) = &expression
            && candidates(&reader.conn, expression, self.bounds.candidates)? <= self.bounds.candidates
        {
            return self.judge(reader, &self.ordered_candidates(expression), u64::MAX).map(|judged| judged.found);
        }
        let walked = self.walk(reader)?;
        if walked.is_done {
            return Ok(walked.found);
        }
        let expression = match expression {
            Some(expression) => expression,
            // Nothing is as long as a trigram: whatever begins with the longest of them will do.
            None => {
                let longest = patterns.iter().max_by_key(|pattern| pattern.chars().count());
                any_trigram(&reader.conn, longest.map_or("", String::as_str))?
            }
        };
        if expression.is_empty() {
            return Ok(Vec::new());
        }
        self.judge(reader, &self.ordered_candidates(&expression), u64::MAX).map(|judged| judged.found)
    }

    /// The candidates in order.
    fn ordered_candidates(&self, expression: &str) -> Sql {
        let mut sql = Sql::new("SELECT a.key FROM alert_find f CROSS JOIN alert a ON a.key = f.rowid WHERE a.organization = ");
        sql.value(self.organization);
        sql.push(" AND f.alert_find MATCH ");
        sql.value(expression.to_owned());
        sql.push(ORDER);
        sql
    }

    /// Goes through all alerts in order, what waits for an answer first.
    fn walk(&self, reader: &mut Reader) -> StoreResult<Judged> {
        let walk = |index: &str, condition: &str| {
            let mut sql = Sql::new(&format!("SELECT a.key FROM alert a INDEXED BY {index} WHERE a.organization = "));
            sql.value(self.organization);
            sql.push(&format!(" AND a.open_deadline {condition} ORDER BY a.alert_time DESC, a.id DESC"));
            sql
        };
        let mut judged = self.judge(reader, &walk("alert_by_open_deadline", "IS NOT NULL"), self.bounds.walk)?;
        if judged.is_done && judged.found.len() < self.missing {
            let others = Search { missing: self.missing - judged.found.len(), ..*self };
            let rest = others.judge(reader, &walk("alert_by_time", "IS NULL"), self.bounds.walk)?;
            judged.is_done = rest.is_done;
            judged.found.extend(rest.found);
        }
        Ok(judged)
    }

    /// Reads the alerts of a statement in its order until there are enough that match, or so many have been read.
    fn judge(&self, reader: &mut Reader, ordered: &Sql, most: u64) -> StoreResult<Judged> {
        let Reader { conn, dictionary, .. } = reader;
        let mut statement = conn.prepare_cached(&ordered.text)?;
        let mut rows = statement.query(params_from_iter::<&Vec<Value>>(&ordered.values))?;
        let mut judged = Judged { found: Vec::new(), is_done: true };
        let mut looked_at = 0;
        while judged.found.len() < self.missing
            && let Some(row) = rows.next()?
        {
            if looked_at == most {
                judged.is_done = false;
                break;
            }
            looked_at += 1;
            let alert = read_by_key(conn, dictionary, row.get(0)?)?;
            if self.query.grade(&alert) == Some(self.grade) {
                judged.found.push(alert);
            }
        }
        Ok(judged)
    }
}

/// What was found, and whether nothing more was to be looked at.
struct Judged {
    found: Vec<Alert>,
    is_done: bool,
}

/// How many candidates there are; of more than `most` it is only known that they are more.
fn candidates(conn: &Connection, expression: &str, most: i64) -> StoreResult<i64> {
    conn.one("SELECT count(*) FROM (SELECT 1 FROM alert_find WHERE alert_find MATCH ?1 LIMIT ?2)", (expression, most + 1), cell)
}

/// The expression of the full-text index that asks for every trigram of these patterns; none where no pattern has one.
fn all_trigrams(patterns: &[String]) -> Option<String> {
    let mut trigrams: Vec<String> = Vec::new();
    for pattern in patterns {
        let chars: Vec<char> = pattern.chars().collect();
        for trigram in chars.windows(3).map(|trigram| quoted(&trigram.iter().collect::<String>())) {
            if !trigrams.contains(&trigram) {
                trigrams.push(trigram);
            }
        }
    }
    if trigrams.is_empty() { None } else { Some(trigrams.join(" AND ")) }
}

/// The expression that asks for any trigram that begins with this text; empty where there is none.
fn any_trigram(conn: &Connection, beginning: &str) -> StoreResult<String> {
    let end = format!("{beginning}{}", char::MAX);
    let terms: Vec<String> = conn.all("SELECT term FROM alert_find_term WHERE term >= ?1 AND term < ?2", [beginning, &end], cell)?;
    Ok(terms.iter().map(|term| quoted(term)).collect::<Vec<_>>().join(" OR "))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// Puts an alert into the index.
pub(super) fn index(conn: &Connection, key: i64, text: &str) -> StoreResult<()> {
    conn.run("INSERT INTO alert_find (rowid, text) VALUES (?1, ?2)", (key, text))?;
    Ok(())
}

/// Puts an alert into the index as it is now, where that has changed.
pub(super) fn index_anew(conn: &Connection, key: i64, old: &str, new: &str) -> StoreResult<()> {
    if old != new {
        conn.run("INSERT INTO alert_find (alert_find, rowid, text) VALUES ('delete', ?1, ?2)", (key, old))?;
        index(conn, key, new)?;
    }
    Ok(())
}

/// Puts every alert into the index, which is empty.
pub(super) fn index_all(conn: &Connection) -> StoreResult<()> {
    let mut dictionary = Dictionary::new();
    let mut keys = conn.prepare("SELECT key FROM alert ORDER BY key")?;
    let mut rows = keys.query([])?;
    while let Some(row) = rows.next()? {
        let key = row.get(0)?;
        index(conn, key, &find_text(&read_by_key(conn, &mut dictionary, key)?))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::domain::event::RenderEvent;
    use crate::domain::find::among;
    use crate::domain::time::Timestamp;
    use crate::domain::{AlertPatch, AlertType, Deadline, EventKind, Outcome, Provider};
    use crate::store::sqlite::{SqliteOptions, SqliteStore};
    use crate::store::{AlertStore as _, OrganizationStore as _};

    struct NoEvents;

    impl RenderEvent for NoEvents {
        fn render(&self, _: &EventKind, _: &Alert, _: Timestamp) -> String {
            String::new()
        }
    }

    /// Every third one is answered; half of the words are in many alerts, and "x7" and "~" in few.
    fn alert(number: i64) -> Alert {
        let mut alert = Alert {
            provider_id: format!("P-{number}"),
            merchant_order_id: Some(format!("SO{}", number % 13)),
            merchant_name: if number % 17 == 7 { format!("x{number}~") } else { "Acme".to_owned() },
            alert_time: (number % 11 != 0).then(|| Timestamp::UNIX_EPOCH + chrono::TimeDelta::hours(number % 29)),
            deadline: Deadline::At(Timestamp::UNIX_EPOCH),
            ..Alert::new(crate::domain::AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud)
        };
        if number % 3 == 0 {
            alert.outcome = Some(Outcome { alert_id: alert.id, comments: format!("till {}", number % 5), ..Outcome::default() });
        }
        alert
    }

    #[tokio::test]
    async fn whichever_way_is_taken_the_same_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&SqliteOptions::directory(directory.path(), Arc::new(NoEvents))).unwrap();
        let organization = store.organizations().await.unwrap()[0].organization.id;
        let alerts: Vec<Alert> = (1..=120).map(alert).collect();
        store.ingest(organization, alerts.iter().cloned().map(AlertPatch::of).collect(), Timestamp::UNIX_EPOCH).await.unwrap();

        for text in ["so1", "acme", "till so1", "p-12", "x7", "~", "7~", "o1", "1", "acme till 3", "nobody", "q", "qx", "ethoca"] {
            let query = FindQuery::parse(text).unwrap();
            for size in [1, 5, 100] {
                let expected: Vec<_> = among(&query, &alerts, size).into_iter().map(|alert| alert.id).collect();
                for (candidates, walk) in [(20_000, 10_000), (3, 10_000), (3, 10), (3, 0), (0, 1)] {
                    let (query, bounds) = (query.clone(), Bounds { candidates, walk });
                    let size = u32::try_from(size).unwrap();
                    let found =
                        store.read_list(organization, move |reader| find_within(bounds, reader, organization, &query, size)).await.unwrap();
                    let found: Vec<_> = found.into_iter().map(|alert| alert.id).collect();
                    assert_eq!(found, expected, "{text:?}, {size}, {bounds:?}");
                }
            }
        }
    }
}
