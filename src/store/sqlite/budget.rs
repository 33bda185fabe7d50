//! Statement budgets: a limit on the steps of a statement before it is interrupted, and the end of one that nobody
//! waits for.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Instant,
};

use rusqlite::{Connection, ErrorCode};
use tokio_util::sync::CancellationToken;

use super::worker::locked;
use crate::{StoreError, StoreResult};

/// Most steps of a statement under a budget, which can be done in another way as well: steps of SQLite's virtual
/// machine, some ten of them for each row.
pub(super) const FEW_STEPS: u32 = 150_000;
/// Most steps of one where another way is short.
pub(super) const FEWEST_STEPS: u32 = 15_000;
const STEPS_BETWEEN_CHECKS: u32 = 500;

/// Error of work that a caller's thread is not kept for.
pub(super) fn too_long_for_a_caller() -> StoreError {
    StoreError::Unavailable("it takes longer than a caller's thread may".to_owned())
}

/// The moment at which everything that runs is over.
#[derive(Debug, Clone)]
pub(super) enum Until {
    /// Once nobody waits for what is read.
    Abandoned(CancellationToken),
    /// From this moment on.
    At(Instant),
}

impl Until {
    fn has_come(&self) -> bool {
        match self {
            Self::Abandoned(abandoned) => abandoned.is_cancelled(),
            Self::At(moment) => Instant::now() >= *moment,
        }
    }
}

/// The budget of one connection.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    /// Number of checks that are left; 0 while nothing is limited.
    checks: Arc<AtomicU32>,
    end: Arc<Mutex<Option<Until>>>,
}

impl Budget {
    /// Watches over a connection.
    pub(super) fn of(conn: &mut Connection) -> rusqlite::Result<Self> {
        let budget = Self { checks: Arc::default(), end: Arc::default() };
        let watched = budget.clone();
        let look = move || match watched.checks.load(Ordering::Relaxed) {
            _ if watched.is_over() => true,
            0 => false,
            left => {
                watched.checks.store(left - 1, Ordering::Relaxed);
                left == 1
            }
        };
        conn.progress_handler(i32::try_from(STEPS_BETWEEN_CHECKS).unwrap_or(i32::MAX), Some(look))?;
        Ok(budget)
    }

    /// Interrupts whatever runs once the end has come, or nothing any more.
    pub(super) fn watch(&self, end: Option<Until>) {
        *locked(&self.end) = end;
    }

    /// Returns whether there is a moment at which everything is over.
    pub(super) fn is_hurried(&self) -> bool {
        matches!(*locked(&self.end), Some(Until::At(_)))
    }

    /// Refuses what takes longer than there is time up to that moment, if there is one.
    pub(super) fn refuse_hurried(&self) -> StoreResult<()> {
        if self.is_hurried() { Err(too_long_for_a_caller()) } else { Ok(()) }
    }

    fn is_over(&self) -> bool {
        locked(&self.end).as_ref().is_some_and(Until::has_come)
    }

    /// Runs a statement of so many steps at most; `None` when it did not come to its end within them.
    pub(super) fn run<T>(&self, steps: u32, statement: impl FnOnce() -> rusqlite::Result<T>) -> StoreResult<Option<T>> {
        self.checks.store(steps / STEPS_BETWEEN_CHECKS, Ordering::Relaxed);
        let result = statement();
        self.checks.store(0, Ordering::Relaxed);
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) && !self.is_over() => {
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_that_looks_at_too_much_is_given_up_and_others_are_not() {
        let mut conn = Connection::open_in_memory().unwrap();
        let budget = Budget::of(&mut conn).unwrap();
        let count = |upto: i64| {
            conn.query_row(
                "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) SELECT count(*) FROM n",
                [upto],
                |row| row.get::<_, i64>(0),
            )
        };

        assert_eq!(budget.run(FEW_STEPS, || count(1_000)).unwrap(), Some(1_000));
        assert_eq!(budget.run(FEW_STEPS, || count(1_000_000)).unwrap(), None);
        assert_eq!(count(1_000_000).unwrap(), 1_000_000);
    }

    #[test]
    fn a_statement_that_nobody_waits_for_is_interrupted_under_a_budget_or_not() {
        let mut conn = Connection::open_in_memory().unwrap();
        let budget = Budget::of(&mut conn).unwrap();
        let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
        let run = || conn.query_row(endless, [], |row| row.get::<_, i64>(0));
        let abandoned = CancellationToken::new();
        abandoned.cancel();

        budget.watch(Some(Until::Abandoned(abandoned)));

        assert_eq!(run().unwrap_err().sqlite_error_code(), Some(ErrorCode::OperationInterrupted));
        assert!(budget.run(FEW_STEPS, run).is_err());
    }
}
