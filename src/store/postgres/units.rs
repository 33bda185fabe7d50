//! Units of work that are written once, on PostgreSQL.

use super::fault::Work;
use super::handle::{ANSWERED_PATIENCE, LONG_PATIENCE, Mode, PATIENCE, PostgresStore, WriteKind};
use super::retention;
use super::unit::Unit;
use crate::domain::time::Timestamp;
use crate::domain::{CutOffs, Pruned};
use crate::store::StoreResult;
use crate::store::sql::{self, Job, StoreRows, UnitContext, Units, Way};

impl Units for PostgresStore {
    async fn unit<A: Send + Sync + 'static, T: Send + 'static>(
        &self,
        way: Way,
        given: A,
        job: Job<A, T>,
    ) -> StoreResult<T> {
        if let Way::Claim = way {
            self.pool.keep().await?;
        }
        let (mode, patience) = match way {
            Way::Look | Way::AtOnce | Way::Turn(_) => (Mode::Look, PATIENCE),
            Way::Read | Way::List(_) => (Mode::Read, PATIENCE),
            Way::Visible => (Mode::Write(WriteKind::Visible), PATIENCE),
            Way::VisibleMuch => (Mode::Write(WriteKind::Visible), LONG_PATIENCE),
            Way::Quiet | Way::Claim => (Mode::Write(WriteKind::Quiet), PATIENCE),
            Way::Answered => (Mode::Write(WriteKind::Answered), ANSWERED_PATIENCE),
        };
        self.repeat(mode, patience, |unit| Box::pin(done(unit, job, &given))).await
    }

    async fn prune_rows(&self, cut_offs: CutOffs, limit: u32, now: Timestamp) -> StoreResult<Pruned> {
        self.write_much(WriteKind::Quiet, |unit| Box::pin(retention::prune(unit, cut_offs, limit, now))).await
    }
}

async fn done<A: Sync, T>(unit: &Unit<'_>, job: Job<A, T>, given: &A) -> Work<T> {
    let rows = StoreRows::Postgres(&unit.conn);
    job(&sql::UnitOfWork { rows, by: unit.by, database: UnitContext::Postgres(unit) }, given).await
}
