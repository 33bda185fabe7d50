//! Units of work that are written once, on SQLite.

use std::sync::Arc;

use rusqlite::Connection;

use super::handle::SqliteStore;
use super::readers::Reader;
use super::retention;
use super::writer::{Memory, WriteKind};
use crate::domain::time::Timestamp;
use crate::domain::{Actor, CutOffs, Pruned};
use crate::store::StoreResult;
use crate::store::sql::{Job, UnitContext, UnitOfWork, Units, Way, driven, on_sqlite};

impl Units for SqliteStore {
    async fn unit<A: Send + Sync + 'static, T: Send + 'static>(
        &self,
        way: Way,
        given: A,
        job: Job<A, T>,
    ) -> StoreResult<T> {
        let kind = match way {
            Way::Visible | Way::VisibleMuch | Way::Answered => WriteKind::Visible,
            Way::Quiet | Way::Claim => WriteKind::Quiet,
            Way::Look | Way::AtOnce | Way::Read | Way::List(_) | Way::Turn(_) => {
                let (shared, by) = (Arc::clone(&self.shared), Arc::clone(&self.by));
                let read = move |reader: &mut Reader| {
                    let memory = Memory::new(&shared, &mut reader.dictionary, 0);
                    driven(job(&unit_of(&mut reader.conn, memory, &by), &given))
                };
                return match way {
                    Way::AtOnce => self.read_at_once(read).await,
                    Way::List(owner) => self.read_list(owner, read).await,
                    Way::Turn(owner) => self.read_list(owner, read).await,
                    _ => self.read(read).await,
                };
            }
        };
        self.write(kind, move |unit, by| {
            let memory = Memory::new(unit.shared, unit.dictionary, unit.change);
            driven(job(&unit_of(unit.conn, memory, by), &given))
        })
        .await
    }

    async fn prune_rows(&self, cut_offs: CutOffs, limit: u32, now: Timestamp) -> StoreResult<Pruned> {
        // Found by a reader, so that a long search holds up nobody's write.
        let found = self.read_list(None, move |reader| retention::find(reader, cut_offs, limit, now)).await?;
        if found.is_empty() {
            return Ok(Pruned::default());
        }
        self.write(WriteKind::Quiet, move |unit, _| retention::prune(unit, &found, now)).await
    }
}

fn unit_of<'u>(conn: &'u mut Connection, memory: Memory<'u>, by: &'u Actor) -> UnitOfWork<'u> {
    UnitOfWork { rows: on_sqlite(conn), by, database: UnitContext::Sqlite(memory) }
}
