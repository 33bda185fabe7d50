//! Full-text search over all fields: candidates by the index of trigrams and that of beginnings, compared by the
//! domain.
//!
//! An answered alert that is not in the indexes yet is a candidate always. The indexes are asked for the rarest
//! trigrams of the searched texts. A text that has to be a value, or to begin one, is asked for as such.
//!
//! Few candidates are all read and put in order. Of many, alerts that wait for an answer are asked for before the rest,
//! and of each share each grade by itself, better ones first. The candidates that are due first, and of the rest the
//! newest, are read until enough of them match.
//!
//! If every tenth alert is a candidate, the first alerts are all read. Past them, and otherwise, the candidates are
//! marked first. Alerts that wait are mostly the newest. For them the indexes are read only between the first and the
//! last row that waits.

use std::{cell::OnceCell, sync::LazyLock};

use rusqlite::Connection;

use super::{
    beginnings::{Asked, FieldOwners, UNINDEXED, trigrams_beginning_with},
    find_index::unindexed,
    interned::Dictionary,
    marks::Marks,
    query::sort_column,
    readers::Reader,
    rows::{read_alerts, read_by_key, read_searched},
    sql::Sql,
};
use crate::{
    StoreResult,
    alert_rows::selection,
    domain::{Alert, FindQuery, MatchGrade, OrganizationId, Sort, SortField, SortOrder, find::among},
    filter::SearchShare,
    order::PagePart,
};

/// Bounds of each way before another one is taken.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    /// Most candidates that are all read.
    candidates: usize,
    /// Cost of a candidate whose row tells its place in the order, in steps along the index that is in this order.
    row: u64,
    /// Number of alerts that are read before the candidates are marked, where some tenth of all are candidates, or
    /// words are too short for the index. After them the index is asked for the trigrams that begin with one.
    walk: usize,
}

const BOUNDS: Bounds = Bounds { candidates: 300, row: 5, walk: 400 };

/// Reads those of an organization's alerts whose keys are in an array in JSON.
static READ_OWN: LazyLock<String> =
    LazyLock::new(|| selection("+a.organization = ?1 AND a.key IN (SELECT value FROM json_each(?2))"));

/// Returns the matches, best first.
pub(crate) fn find(
    reader: &mut Reader,
    organization: OrganizationId,
    query: &FindQuery,
    size: u32,
) -> StoreResult<Vec<Alert>> {
    find_within(BOUNDS, reader, organization, query, size as usize)
}

fn find_within(
    bounds: Bounds,
    reader: &mut Reader,
    organization: OrganizationId,
    query: &FindQuery,
    size: usize,
) -> StoreResult<Vec<Alert>> {
    let Some(organization) = reader.organization(organization)? else { return Ok(Vec::new()) };
    let asked = Asked::of(&reader.conn, query.words(), MatchGrade::Inside, FieldOwners::All)?;
    let few = asked.map_or(Ok(None), |asked| few_candidates(&reader.conn, &asked, bounds.candidates))?;
    if let Some(few) = few {
        let few = serde_json::Value::from(few).to_string();
        let stored = read_alerts(&reader.conn, &mut reader.dictionary, &READ_OWN, &[&organization, &few])?;
        let alerts: Vec<Alert> = stored.into_iter().map(|stored| stored.alert).collect();
        return Ok(among(query, &alerts, size).into_iter().cloned().collect());
    }
    reader.refresh_counts(organization)?;
    let (mut found, waiting) = (Vec::new(), OnceCell::new());
    for share in SearchShare::ALL {
        for grade in query.grades().iter().copied() {
            let search = Search { bounds, organization, query, share, grade, waiting: &waiting };
            let missing = size - found.len();
            if missing > 0 {
                found.extend(search.run(reader, missing)?);
            }
        }
    }
    Ok(found)
}

/// The candidates in all organizations, where the indexes have no more than `most`.
fn few_candidates(conn: &Connection, asked: &Asked, most: usize) -> StoreResult<Option<Vec<i64>>> {
    let mut keys = asked.first(conn, most + 1)?;
    if keys.len() > most {
        return Ok(None);
    }
    keys.extend(unindexed(conn)?);
    Ok(Some(keys))
}

/// A search for alerts of a share that match exactly so well.
struct Search<'a> {
    bounds: Bounds,
    organization: i64,
    query: &'a FindQuery,
    share: SearchShare,
    grade: MatchGrade,
    /// Marks of the alerts that wait for an answer, once they were asked for.
    waiting: &'a OnceCell<Marks>,
}

impl Search<'_> {
    /// The first of those that match so well, so many at most.
    fn run(&self, reader: &mut Reader, missing: usize) -> StoreResult<Vec<Alert>> {
        let fields = if self.is_waiting() { FieldOwners::Own } else { FieldOwners::All };
        let asked = Asked::of(&reader.conn, self.query.words(), self.grade, fields)?;
        let short = self.short_words();
        // The index knows no word that is very short. Mostly many alerts have it, and are met soon.
        if !short.is_empty() || asked.as_ref().is_some_and(|asked| asked.is_dense) {
            let asked = asked.as_ref().filter(|_| !short.is_empty());
            let candidates = asked.map(|asked| self.mark(&reader.conn, asked)).transpose()?;
            if let Some(found) = self.walk(reader, candidates.as_ref(), missing, self.bounds.walk)? {
                return Ok(found);
            }
        }
        if short.is_empty() {
            return self.first(reader, asked.as_ref(), missing);
        }
        let mut all: Vec<String> = asked.into_iter().filter_map(|asked| asked.trigrams).collect();
        for word in short {
            // A prefix of too many trigrams is nearly everywhere.
            let Some(trigrams) = trigrams_beginning_with(&reader.conn, word)? else { continue };
            if trigrams.is_empty() {
                let unindexed = Marks::of(&reader.conn, &Sql::new(UNINDEXED))?;
                return self.sorted(reader, &unindexed, missing);
            }
            all.push(format!("({})", trigrams.join(" OR ")));
        }
        let all = (!all.is_empty()).then(|| Asked { trigrams: Some(all.join(" AND ")), heads: None, is_dense: true });
        self.first(reader, all.as_ref(), missing)
    }

    /// True for the alerts that wait for an answer.
    fn is_waiting(&self) -> bool {
        self.share == SearchShare::Waiting
    }

    /// The first that match so well, of all where no index tells candidates.
    fn first(&self, reader: &mut Reader, asked: Option<&Asked>, missing: usize) -> StoreResult<Vec<Alert>> {
        let marks = asked.map(|asked| self.mark(&reader.conn, asked)).transpose()?;
        if let Some(marks) = &marks {
            let all = if self.is_waiting() {
                self.waiting(&reader.conn)?.len()
            } else {
                reader.counts.of(self.organization).all()
            };
            // The walk meets candidates sooner the more there are.
            let marked = marks.len();
            if marked.saturating_mul(marked).saturating_mul(self.bounds.row) < all.saturating_mul(missing as u64) {
                return self.sorted(reader, marks, missing);
            }
        }
        Ok(self.walk(reader, marks.as_ref(), missing, usize::MAX)?.unwrap_or_default())
    }

    /// Marks the candidates.
    fn mark(&self, conn: &Connection, asked: &Asked) -> StoreResult<Marks> {
        let waiting = self.waiting(conn)?;
        if !self.is_waiting() {
            return Ok(asked.mark(conn, None)?.without(waiting));
        }
        Ok(match waiting.span() {
            Some(span) => asked.mark(conn, Some(span))?.common(waiting),
            None => Marks::default(),
        })
    }

    /// Marks of the alerts that wait: their index alone tells, no row is read.
    fn waiting(&self, conn: &Connection) -> StoreResult<&Marks> {
        if let Some(known) = self.waiting.get() {
            return Ok(known);
        }
        let mut waiting = Sql::new(
            "SELECT a.key FROM alert a INDEXED BY alert_waiting_by_time WHERE a.open_deadline IS NOT NULL AND \
                a.organization = ",
        );
        waiting.value(self.organization);
        let marks = Marks::of(conn, &waiting)?;
        Ok(self.waiting.get_or_init(|| marks))
    }

    /// Sorts the candidates, and reads them in their order until the page is full.
    fn sorted(&self, reader: &mut Reader, marks: &Marks, missing: usize) -> StoreResult<Vec<Alert>> {
        let (field, order) = match self.share {
            SearchShare::Waiting => (SortField::HoursLeft, SortOrder::Ascending),
            SearchShare::Rest => (SortField::AlertTimeStamp, SortOrder::Descending),
        };
        let all = PagePart { sort: Sort { field, order }, offset: 0, limit: marks.len() };
        let column = sort_column(reader, self.organization, field)?;
        let Reader { conn, dictionary, .. } = reader;
        let mut found = Vec::new();
        for key in marks.sorted(conn, self.organization, &column, all)? {
            if self.matches(conn, dictionary, key)? {
                found.push(read_by_key(conn, dictionary, key)?);
            }
            if found.len() == missing {
                break;
            }
        }
        Ok(found)
    }

    /// Returns whether an alert is the organization's and of this share, and matches so well.
    fn matches(&self, conn: &Connection, dictionary: &mut Dictionary, key: i64) -> StoreResult<bool> {
        let alert = read_searched(conn, dictionary, self.organization, self.is_waiting(), key)?;
        Ok(alert.is_some_and(|alert| self.query.grade(&alert) == Some(self.grade)))
    }

    /// The words of which no index knows anything: inside of a value they have no trigram of their own.
    fn short_words(&self) -> Vec<&str> {
        let is_short = |word: &&str| self.grade == MatchGrade::Inside && word.chars().nth(2).is_none();
        self.query.words().iter().map(String::as_str).filter(is_short).collect()
    }

    /// Walks the share in its order until the page is full; reads so many of the candidates at most, which are all
    /// where no marks are given. `None` where it has not looked at everything that it had to.
    fn walk(
        &self,
        reader: &mut Reader,
        marks: Option<&Marks>,
        missing: usize,
        most: usize,
    ) -> StoreResult<Option<Vec<Alert>>> {
        let Reader { conn, dictionary, .. } = reader;
        let (mut found, mut read) = (Vec::new(), 0);
        let ordered = match self.share {
            SearchShare::Waiting => {
                "alert_by_open_deadline WHERE a.organization = ?1 AND a.open_deadline IS NOT NULL \
                    ORDER BY a.open_deadline, a.id"
            }
            SearchShare::Rest => "alert_by_time WHERE a.organization = ?1 ORDER BY a.alert_time DESC, a.id DESC",
        };
        // Alerts that wait are not among the marks of the rest; the newest alerts are mostly such.
        let passed = (!self.is_waiting() && marks.is_none()).then(|| self.waiting(conn)).transpose()?;
        let mut statement = conn.prepare_cached(&format!("SELECT a.key FROM alert a INDEXED BY {ordered}"))?;
        let mut rows = statement.query([self.organization])?;
        while found.len() < missing
            && let Some(row) = rows.next()?
        {
            let key: i64 = row.get(0)?;
            if passed.is_some_and(|passed| passed.has(key)) || marks.is_some_and(|marks| !marks.has(key)) {
                continue;
            }
            if read == most {
                return Ok(None);
            }
            read += 1;
            if self.matches(conn, dictionary, key)? {
                found.push(read_by_key(conn, dictionary, key)?);
            }
        }
        Ok(Some(found))
    }
}

#[cfg(test)]
mod tests {
    use super::super::find_index::tests::as_if_just_answered;
    use super::super::writer::{Unit, WriteKind};
    use super::*;
    use crate::domain::time::Timestamp;
    use crate::domain::{AlertPatch, AlertType, CompanyId, Deadline, EnrollmentId, Organization, Outcome, Provider};
    use crate::sqlite::sql::{Statements as _, cell};
    use crate::sqlite::tests::open;
    use crate::{AlertStore as _, OrganizationRecord, OrganizationStore as _};

    /// Every third one is answered; half of the words are in many alerts, and "x7" and "~" in few.
    fn alert(number: i64) -> Alert {
        let mut alert = Alert {
            provider_id: format!("P-{number}"),
            merchant_order_id: Some(format!("SO{}", number % 13)),
            merchant_name: if number % 17 == 7 { format!("x{number}~") } else { "Acme".to_owned() },
            merchant_descriptor: if number % 5 == 0 { format!("Acme till {}", number % 4) } else { String::new() },
            alert_time: (number % 11 != 0).then(|| Timestamp::UNIX_EPOCH + chrono::TimeDelta::hours(number % 29)),
            deadline: Deadline::At(Timestamp::UNIX_EPOCH + chrono::TimeDelta::hours(number % 31)),
            ..Alert::new(crate::domain::AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud)
        };
        if number % 3 == 0 {
            alert.outcome =
                Some(Outcome { alert_id: alert.id, comments: format!("till {}", number % 5), ..Outcome::default() });
        }
        alert
    }

    #[tokio::test]
    async fn whichever_way_is_taken_the_same_is_found() {
        let (_directory, store) = open();
        let organization = store.organizations().await.unwrap()[0].organization.id;
        let alerts: Vec<Alert> = (1..=120).map(alert).collect();
        let other = OrganizationRecord {
            organization: Organization { id: OrganizationId::generate(), name: "other".to_owned() },
            default_company: CompanyId::generate(),
            default_enrollment: EnrollmentId::generate(),
        };
        store.add_organization(other.clone(), Timestamp::UNIX_EPOCH).await.unwrap();
        let strangers = (1..=120).map(alert).map(AlertPatch::of).collect();
        store.ingest(other.organization.id, strangers, Timestamp::UNIX_EPOCH).await.unwrap();
        store
            .ingest(organization, alerts.iter().cloned().map(AlertPatch::of).collect(), Timestamp::UNIX_EPOCH)
            .await
            .unwrap();
        // A third of what is answered is not in the index yet.
        let every_ninth = |unit: &mut Unit<'_>| {
            let keys: Vec<i64> = unit.conn.all("SELECT alert FROM outcome WHERE alert % 9 = 0", &[], cell)?;
            keys.into_iter().try_for_each(|key| as_if_just_answered(unit.conn, unit.dictionary, key))
        };
        store.threads.writer.write(WriteKind::Quiet, every_ninth).await.unwrap();

        for text in [
            "so1",
            "acme",
            "till so1",
            "p-12",
            "x7",
            "~",
            "7~",
            "o1",
            "1",
            "acme till 3",
            "acme till 1",
            "till 2",
            "nobody",
            "q",
            "qx",
            "ethoca",
            "1 ~",
            "acme 7~",
            "1 q",
            "e 9",
        ] {
            let query = FindQuery::parse(text).unwrap();
            for size in [1, 5, 100] {
                let expected: Vec<_> = among(&query, &alerts, size).into_iter().map(|alert| alert.id).collect();
                for (candidates, row, walk) in [
                    (1_000, 5, 400),
                    (3, 0, 400),
                    (3, 5, 7),
                    (3, u64::MAX, 0),
                    (0, u64::MAX, 1),
                    (0, 5, 30),
                    (0, 0, 2_000),
                ] {
                    let (query, bounds) = (query.clone(), Bounds { candidates, row, walk });
                    let found = store
                        .read_list(organization, move |reader| find_within(bounds, reader, organization, &query, size))
                        .await
                        .unwrap();
                    let found: Vec<_> = found.into_iter().map(|alert| alert.id).collect();
                    assert_eq!(found, expected, "{text:?}, {size}, {bounds:?}");
                }
            }
        }
    }
}
