//! Units of work that are written once, on PostgreSQL.

use super::fault::Work;
use super::handle::{LONG_PATIENCE, Mode, PATIENCE, PostgresStore, WriteKind};
use super::retention;
use super::unit::Unit;
use crate::domain::time::Timestamp;
use crate::domain::{CutOffs, Pruned};
use crate::store::StoreResult;
use crate::store::sql::{self, Database, Job, Rows, Units, Way};

impl Units for PostgresStore {
    async fn unit<A: Send + Sync + 'static, T: Send + 'static>(
        &self,
        way: Way,
        given: A,
        job: Job<A, T>,
    ) -> StoreResult<T> {
        let (mode, patience) = match way {
            Way::Look | Way::AtOnce => (Mode::Look, PATIENCE),
            Way::Read | Way::List(_) => (Mode::Read, PATIENCE),
            Way::Visible => (Mode::Write(WriteKind::Visible), PATIENCE),
            Way::VisibleMuch => (Mode::Write(WriteKind::Visible), LONG_PATIENCE),
            Way::Quiet => (Mode::Write(WriteKind::Quiet), PATIENCE),
        };
        self.repeat(mode, patience, |unit| Box::pin(done(unit, job, &given))).await
    }

    async fn prune_rows(&self, cut_offs: CutOffs, limit: u32, now: Timestamp) -> StoreResult<Pruned> {
        self.write_much(WriteKind::Quiet, |unit| Box::pin(retention::prune(unit, cut_offs, limit, now))).await
    }
}

async fn done<A: Sync, T>(unit: &Unit<'_>, job: Job<A, T>, given: &A) -> Work<T> {
    let rows = Rows::Postgres(&unit.conn);
    job(&sql::Unit { rows, by: unit.by, database: Database::Postgres(unit) }, given).await
}
