//! A text cache: the searched texts of alerts that wait for an answer, by the day of the alert time. One or two letters
//! are too coarse for the trigram index, and these alerts are searched all day. Going through their texts here takes a
//! twentieth of reading them.
//!
//! Like the columns it is of one commit, and follows later ones by the days with counts touched since.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use fixedbitset::FixedBitSet;
use rusqlite::{Connection, params_from_iter};

use super::counts::{day_of_micros, on_day, touched_days};
use crate::store::StoreResult;

/// Most waiting alerts whose texts are kept: of more the memory would be too much. Half of it is the number at a desk
/// with a million alerts.
const MOST_WAITING: usize = 120_000;

/// The commit of an organization for which there are too many.
const HOPELESS: i64 = i64::MAX;

/// The texts of one day, one behind the other.
#[derive(Debug, Default)]
struct DayTexts {
    texts: String,
    /// The key of each text's alert, and where it ends.
    ends: Vec<(u32, u32)>,
}

impl DayTexts {
    /// The keys of the alerts with all the words.
    fn having<'a>(&'a self, words: &'a [String]) -> impl Iterator<Item = usize> + 'a {
        let mut start = 0;
        self.ends.iter().filter_map(move |(key, end)| {
            let text = &self.texts[start..*end as usize];
            start = *end as usize;
            words.iter().all(|word| text.contains(word)).then_some(*key as usize)
        })
    }
}

/// The texts of one organization as of one commit.
#[derive(Debug, Default)]
struct Texts {
    newest: i64,
    days: BTreeMap<i64, DayTexts>,
}

impl Texts {
    /// The texts of a commit: the days that were touched since are read again. Where that fails, nothing is known.
    fn brought_to(mut self, conn: &Connection, organization: i64, newest: i64) -> StoreResult<Self> {
        let mut fits = true;
        if self.newest == 0 {
            fits = self.read(conn, "", &[organization])?;
        } else if self.newest != newest {
            for day in touched_days(conn, organization, self.newest)? {
                self.days.remove(&day);
                let (condition, values) = on_day(organization, day);
                fits &= self.read(conn, condition, &values)?;
            }
        }
        let waiting: usize = self.days.values().map(|day| day.ends.len()).sum();
        Ok(if fits && waiting <= MOST_WAITING {
            Self { newest, ..self }
        } else {
            Self { newest: HOPELESS, ..Self::default() }
        })
    }

    fn read(&mut self, conn: &Connection, condition: &str, values: &[i64]) -> StoreResult<bool> {
        let mut statement = conn.prepare_cached(&format!(
            "SELECT a.key, a.alert_time, s.text FROM alert a INDEXED BY alert_waiting_by_time CROSS JOIN alert_search \
                s ON s.alert = a.key
             WHERE a.organization = ?1 AND a.open_deadline IS NOT NULL{condition}"
        ))?;
        let mut rows = statement.query(params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            let day = self.days.entry(day_of_micros(row.get(1)?)).or_default();
            day.texts.push_str(row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?);
            let (Ok(key), Ok(end)) = (u32::try_from(row.get::<_, i64>(0)?), u32::try_from(day.texts.len())) else {
                return Ok(false);
            };
            day.ends.push((key, end));
        }
        Ok(true)
    }
}

/// The texts for all readers of a database.
#[derive(Debug, Clone, Default)]
pub(super) struct WaitingTexts(Arc<Mutex<HashMap<i64, Texts>>>);

impl WaitingTexts {
    /// The keys of waiting alerts with all these texts, in the snapshot that the connection reads from, where `newest`
    /// is the newest commit. `None` where the texts are not at hand: there are too many, another reader has them, or
    /// they are of a later snapshot.
    pub(super) fn having(
        &self,
        conn: &Connection,
        (organization, newest): (i64, i64),
        words: &[String],
    ) -> StoreResult<Option<FixedBitSet>> {
        let Ok(mut all) = self.0.try_lock() else { return Ok(None) };
        if all.get(&organization).is_some_and(|texts| texts.newest > newest) {
            return Ok(None);
        }
        // A cache that fails midway is dropped.
        let texts = all.remove(&organization).unwrap_or_default().brought_to(conn, organization, newest)?;
        let texts = all.entry(organization).insert_entry(texts).into_mut();
        let mut keys = FixedBitSet::new();
        texts.days.values().flat_map(|day| day.having(words)).for_each(|key| keys.grow_and_insert(key));
        Ok((texts.newest == newest).then_some(keys))
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use crate::domain::time::Timestamp;
    use crate::domain::{Alert, AlertId, AlertPatch, AlertType, Deadline, OrganizationId, Provider};
    use crate::store::sqlite::SqliteStore;
    use crate::store::sqlite::statements::Statements as _;
    use crate::store::sqlite::tests::open;
    use crate::store::{AlertStore as _, OrganizationStore as _};

    fn at(hours: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + TimeDelta::hours(hours)
    }

    fn alert(number: i64) -> Alert {
        Alert {
            provider_id: format!("P{number}"),
            merchant_descriptor: format!(
                "{}x{number}",
                ["nordwind", "Büro", "visa"][usize::try_from(number % 3).unwrap()]
            ),
            alert_time: (number % 7 != 0).then(|| at(number)),
            deadline: Deadline::At(at(100 + number)),
            ..Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud)
        }
    }

    /// The keys of what waits with these texts: as they are told here, and as the tables have it.
    async fn told(store: &SqliteStore, organization: OrganizationId) -> Vec<(Vec<usize>, Vec<usize>)> {
        let read = store.read_list(organization, move |reader| {
            let key = reader.organization(organization)?.unwrap();
            let waiting: Vec<(usize, String)> = reader.conn.all(
                "SELECT a.key, s.text FROM alert a JOIN alert_search s ON s.alert = a.key WHERE a.open_deadline IS \
                    NOT NULL",
                [],
                |row| Ok((usize::try_from(row.get::<_, i64>(0)?).unwrap(), row.get(1)?)),
            )?;
            let mut told = Vec::new();
            for words in [vec!["n"], vec!["ü"], vec!["1"], vec!["x2"], vec!["v", "3"], vec!["z", "nothing"]] {
                let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
                let has = |(_, text): &&(usize, String)| words.iter().all(|word| text.contains(word));
                let mut expected: Vec<usize> = waiting.iter().filter(has).map(|(key, _)| *key).collect();
                expected.sort_unstable();
                let found = reader.waiting_with(key, &words)?.unwrap();
                told.push((found.ones().collect(), expected));
            }
            Ok(told)
        });
        read.await.unwrap()
    }

    #[tokio::test]
    async fn texts_of_what_waits_follow_whatever_is_taken_in_changed_or_lapses() {
        let (_directory, store) = open();
        let organization = store.organizations().await.unwrap()[0].organization.id;
        let alerts: Vec<Alert> = (1..=40).map(alert).collect();
        let rows = |alerts: &[Alert]| alerts.iter().cloned().map(AlertPatch::of).collect::<Vec<_>>();
        store.ingest(organization, rows(&alerts[..30]), at(0)).await.unwrap();
        let mut steps = vec![told(&store, organization).await];

        store.ingest(organization, rows(&alerts[30..]), at(0)).await.unwrap();
        steps.push(told(&store, organization).await);
        store.expire_due(at(120), 100).await.unwrap();
        steps.push(told(&store, organization).await);
        let named =
            |number: usize, name: &str| Alert { merchant_descriptor: name.to_owned(), ..alerts[number].clone() };
        store.ingest(organization, rows(&[named(33, "visa"), named(34, "n"), named(27, "ü")]), at(0)).await.unwrap();
        steps.push(told(&store, organization).await);

        for (step, told) in steps.into_iter().enumerate() {
            assert!(told.iter().filter(|(_, expected)| !expected.is_empty()).count() > 3);
            for (found, expected) in told {
                assert_eq!(found, expected, "after step {step}");
            }
        }
    }
}
