//! Full-text search over all fields: the text of each alert, by its index of trigrams where the server has one.
//!
//! A sample of the alerts tells how common a word is. The index finds all matches of a rare word, and they are put in
//! order. For a common word alerts that wait for an answer are asked for before the rest, and each grade by itself,
//! better ones first. A grade is walked until there is enough: those that wait from the soonest due on, the rest from
//! the newest on. Where few match it is read by the index. The index knows the ends of values: many alerts with a word
//! inside do not hide a whole value.

use uuid::Uuid;

use super::{
    conditions::literal,
    connection::{Connection, Unit},
    rows::read_by_ids,
};
use crate::{
    cells::cell,
    composed::{Sql, limit_of},
    domain::{Alert, FindQuery, MatchGrade, OrganizationId, SortOrder},
    error::Work,
    filter::{EDGE, SearchShare, find_pattern, find_text, search_text},
    order::{direction, push_direction},
};

/// Sample size, of the alerts that wait and are due first, and of the oldest others, which tells how common a word is.
/// The newest others lie behind all that wait, and most have expired a moment ago.
const SAMPLE: i64 = 400;

/// Number of matches in a sample from which a word is common.
const COMMON: usize = 2;

/// Number of alerts that get their text at once.
const BATCH: i64 = 1_000;

/// Stands at both ends of a value in the text as the index knows it. Trigrams are of letters and digits alone, and a
/// text is in lower case.
const END: char = 'Q';

/// The text in this column as the index knows it.
pub(super) fn edged(column: &str) -> String {
    format!("replace({column}, '{EDGE}', '{}')", edge_in_index())
}

fn edge_in_index() -> String {
    format!("{END}{EDGE}{END}")
}

/// Condition on the rows of a share, and the column and direction of its order.
const fn order_of(share: SearchShare) -> (&'static str, &'static str, SortOrder) {
    match share {
        SearchShare::Waiting => ("a.open_deadline IS NOT NULL", "a.open_deadline", SortOrder::Ascending),
        SearchShare::Rest => ("a.open_deadline IS NULL", "a.alert_time", SortOrder::Descending),
    }
}

/// Returns the matches, best first.
pub(crate) async fn find(
    unit: &Unit<'_>,
    organization: OrganizationId,
    query: &FindQuery,
    size: u32,
) -> Work<Vec<Alert>> {
    let conn = &unit.conn;
    let Some(organization) = unit.organization(organization).await? else { return Ok(Vec::new()) };
    let ids = Search { conn, organization, query }.run(size as usize).await?;
    read_by_ids(conn, organization, &ids).await
}

/// A search within an organization.
struct Search<'a> {
    conn: &'a Connection,
    organization: i64,
    query: &'a FindQuery,
}

/// A matching alert of a sample, with its grade.
#[derive(Debug, Clone, Copy)]
struct Hit {
    id: Uuid,
    share: SearchShare,
    grade: MatchGrade,
}

impl Search<'_> {
    async fn run(&self, size: usize) -> Work<Vec<Uuid>> {
        let sample = self.sample().await?;
        let hits = |share, grades: &[MatchGrade]| {
            let hits = sample.iter().filter(|hit| hit.share == share && grades.contains(&hit.grade));
            hits.map(|hit| hit.id).collect::<Vec<_>>()
        };
        // The loosest grade that leaves little is asked for at once with those that are better.
        let all = self.query.grades();
        let is_rare = |rare: &usize| {
            let grades = &all[..*rare];
            self.is_indexed(grades) && SearchShare::ALL.into_iter().all(|share| hits(share, grades).len() < COMMON)
        };
        let (at_once, others) = all.split_at((1..=all.len()).rev().find(is_rare).unwrap_or(0));
        if others.is_empty() {
            return self.by_index(None, all, size).await;
        }
        let mut found = Vec::new();
        for share in SearchShare::ALL {
            for grades in std::iter::once(at_once).chain(others.chunks(1)) {
                let missing = size - found.len();
                if missing == 0 || grades.is_empty() {
                    continue;
                }
                let hits = hits(share, grades);
                found.extend(if share == SearchShare::Waiting && hits.len() >= missing {
                    hits.into_iter().take(missing).collect()
                } else if let [grade] = grades
                    && (hits.len() >= COMMON || !self.is_indexed(grades))
                {
                    self.walk(share, *grade, missing).await?
                } else {
                    self.by_index(Some(share), grades, missing).await?
                });
            }
        }
        Ok(found)
    }

    /// Returns whether the index knows something of the loosest of these grades. That is a trigram inside of a word, or
    /// one with an end of a value.
    fn is_indexed(&self, grades: &[MatchGrade]) -> bool {
        !grades.contains(&MatchGrade::Inside) || self.query.words().iter().any(|word| word.chars().nth(2).is_some())
    }

    /// Returns matches among some alerts of each share; those that wait are the first, in order.
    async fn sample(&self) -> Work<Vec<Hit>> {
        let mut sql = Sql::new("SELECT a.id, a.waits, ");
        self.push_grade(&mut sql);
        sql.push(" FROM ((SELECT a.id, a.open_deadline, true AS waits, a.find_text");
        self.push_ordered(&mut sql, SearchShare::Waiting, SortOrder::Ascending);
        sql.with(" LIMIT ", SAMPLE);
        sql.push(") UNION ALL (SELECT a.id, a.open_deadline, false, a.find_text");
        self.push_ordered(&mut sql, SearchShare::Rest, SortOrder::Ascending);
        sql.with(" LIMIT ", SAMPLE);
        sql.push(")) a WHERE ");
        self.push_match(&mut sql, MatchGrade::Inside);
        sql.push(" ORDER BY a.open_deadline, a.id");
        self.conn
            .made(&sql, |row| {
                let share = if row.get(1)? { SearchShare::Waiting } else { SearchShare::Rest };
                let grade = MatchGrade::ALL.get(row.get::<u32>(2)? as usize);
                Ok(Hit { id: row.get(0)?, share, grade: grade.copied().unwrap_or(MatchGrade::Inside) })
            })
            .await
    }

    /// Returns the best matches of these grades, of one share or of both: the index finds them all.
    async fn by_index(&self, share: Option<SearchShare>, grades: &[MatchGrade], most: usize) -> Work<Vec<Uuid>> {
        let mut sql = Sql::new("SELECT a.id FROM (SELECT a.id, a.alert_time, a.open_deadline, ");
        self.push_grade(&mut sql);
        sql.with(" AS grade FROM alert a WHERE a.organization = ", self.organization);
        if let Some(share) = share {
            sql.push(&format!(" AND {}", order_of(share).0));
        }
        if let Some(loosest) = grades.last() {
            sql.push(" AND ");
            self.push_indexed_match(&mut sql, *loosest);
        }
        if let Some(best) = grades.first() {
            self.push_no_better(&mut sql, *best);
        }
        // Without the OFFSET an index in the order would be walked instead.
        sql.push(
            " OFFSET 0) a ORDER BY a.open_deadline IS NULL, a.grade, a.open_deadline, \
            CASE WHEN a.open_deadline IS NOT NULL THEN a.id END, a.alert_time DESC NULLS LAST, a.id DESC",
        );
        sql.with(" LIMIT ", limit_of(most as u64));
        self.conn.made(&sql, cell).await
    }

    /// Returns the first of one share that match with exactly this grade. Those without a time come behind the others;
    /// all that wait have a deadline.
    async fn walk(&self, share: SearchShare, grade: MatchGrade, most: usize) -> Work<Vec<Uuid>> {
        let (condition, column, order) = order_of(share);
        let mut sql = Sql::new(&format!("SELECT a.id FROM (SELECT a.key, {column} AS place, a.id"));
        self.push_ordered(&mut sql, share, order);
        // Each row is read by itself, until there is enough.
        sql.push(
            " OFFSET 0) ordered CROSS JOIN LATERAL (SELECT a.id, a.find_text FROM alert a WHERE a.key = \
            ordered.key OFFSET 0) a WHERE ",
        );
        self.push_match(&mut sql, grade);
        self.push_no_better(&mut sql, grade);
        sql.push(&format!(" ORDER BY ordered.place {0}, ordered.id {0}", direction(order)));
        sql.with(" LIMIT ", limit_of(most as u64));
        let mut found: Vec<Uuid> = self.conn.made(&sql, cell).await?;
        let missing = most - found.len();
        if missing > 0 && share == SearchShare::Rest {
            let mut sql = Sql::new("SELECT a.id FROM alert a");
            sql.with(" WHERE a.organization = ", self.organization);
            sql.push(&format!(" AND a.alert_time IS NULL AND {condition} AND "));
            self.push_match(&mut sql, grade);
            self.push_no_better(&mut sql, grade);
            sql.with(" ORDER BY a.id DESC LIMIT ", limit_of(missing as u64));
            found.extend(self.conn.made(&sql, cell::<Uuid>).await?);
        }
        Ok(found)
    }

    /// FROM, WHERE and ORDER BY of a share's alerts that have a place in its order.
    fn push_ordered(&self, sql: &mut Sql, share: SearchShare, order: SortOrder) {
        let (condition, column, _) = order_of(share);
        sql.with(" FROM alert a WHERE a.organization = ", self.organization);
        sql.push(&format!(" AND {condition} AND {column} IS NOT NULL"));
        push_direction(sql, Some(column), order);
    }

    /// Adds the grade of a matching alert, as its place.
    fn push_grade(&self, sql: &mut Sql) {
        sql.push("CASE");
        for (place, grade) in MatchGrade::ALL.into_iter().enumerate().filter(|(_, grade)| *grade != MatchGrade::Inside)
        {
            sql.push(" WHEN ");
            self.push_match(sql, grade);
            sql.push(&format!(" THEN {place}"));
        }
        sql.push(&format!(" ELSE {} END", MatchGrade::ALL.len() - 1));
    }

    /// Adds the condition that an alert matches at least as well as this.
    fn push_match(&self, sql: &mut Sql, grade: MatchGrade) {
        self.push_patterns(sql, grade, "a.find_text", EDGE);
    }

    /// The same by the index.
    fn push_indexed_match(&self, sql: &mut Sql, grade: MatchGrade) {
        self.push_patterns(sql, grade, &edged("a.find_text"), &edge_in_index());
    }

    /// Adds the condition that every word matches so well.
    fn push_patterns(&self, sql: &mut Sql, grade: MatchGrade, text: &str, edge: &str) {
        for (place, word) in self.query.words().iter().enumerate() {
            let pattern = find_pattern(word, grade).replace(EDGE, edge);
            sql.push(if place == 0 { "(" } else { " AND " });
            sql.with(&format!("{text} LIKE "), format!("%{}%", literal(&pattern)));
        }
        sql.push(")");
    }

    /// Adds the condition that no grade better than this is reached.
    fn push_no_better(&self, sql: &mut Sql, grade: MatchGrade) {
        if let Some(better) = MatchGrade::ALL.into_iter().rev().find(|better| *better < grade) {
            sql.push(" AND NOT (");
            self.push_match(sql, better);
            sql.push(")");
        }
    }
}

/// Gives every alert its texts.
pub(super) async fn index_all(conn: &Connection) -> Work<()> {
    let mut last = Some(0);
    while let Some(indexed) = last {
        last = index_behind(conn, indexed).await?;
    }
    Ok(())
}

/// Gives the next alerts the texts that searches look into, those behind this one; texts that are current are not
/// written. Returns the last one's key.
pub(super) async fn index_behind(conn: &Connection, last: i64) -> Work<Option<i64>> {
    let next = "SELECT key FROM alert WHERE key > $1 ORDER BY key LIMIT $2";
    let keys: Vec<i64> = conn.all(next, &[&last, &BATCH], cell).await?;
    let alerts = conn.rows().alerts_by_keys(&keys).await?;
    let (searched, found): (Vec<String>, Vec<String>) =
        alerts.iter().map(|stored| (search_text(&stored.alert), find_text(&stored.alert))).unzip();
    let update = "UPDATE alert SET searched = new.searched, find_text = new.found
        FROM unnest($1::bigint[], $2::text[], $3::text[]) AS new (key, searched, found)
        WHERE alert.key = new.key AND (alert.searched, alert.find_text) <> (new.searched, new.found)";
    conn.run(update, &[&keys, &searched, &found]).await?;
    Ok(keys.last().copied())
}
