//! Statement budgets: a limit on how much a statement may look at before it is given up.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rusqlite::{Connection, ErrorCode};

use crate::store::StoreResult;

/// How far a statement under a budget goes: steps of SQLite's virtual machine, some ten of them for each row.
const STEPS: u32 = 500_000;
const STEPS_BETWEEN_CHECKS: u32 = 1_000;

/// The budget of one connection.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    /// How many more checks there are; 0 while nothing is limited.
    checks: Arc<AtomicU32>,
}

impl Budget {
    /// Watches over a connection.
    pub(super) fn of(conn: &mut Connection) -> rusqlite::Result<Self> {
        let checks = Arc::new(AtomicU32::new(0));
        let watched = Arc::clone(&checks);
        let look = move || match watched.load(Ordering::Relaxed) {
            0 => false,
            left => {
                watched.store(left - 1, Ordering::Relaxed);
                left == 1
            }
        };
        conn.progress_handler(i32::try_from(STEPS_BETWEEN_CHECKS).unwrap_or(i32::MAX), Some(look))?;
        Ok(Self { checks })
    }

    /// Runs a statement under the budget; `None` when it did not come to its end.
    pub(super) fn run<T>(&self, statement: impl FnOnce() -> rusqlite::Result<T>) -> StoreResult<Option<T>> {
        self.checks.store(STEPS / STEPS_BETWEEN_CHECKS, Ordering::Relaxed);
        let result = statement();
        self.checks.store(0, Ordering::Relaxed);
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => Ok(None),
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

        assert_eq!(budget.run(|| count(1_000)).unwrap(), Some(1_000));
        assert_eq!(budget.run(|| count(1_000_000)).unwrap(), None);
        assert_eq!(count(1_000_000).unwrap(), 1_000_000);
    }
}
