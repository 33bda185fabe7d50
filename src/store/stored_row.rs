//! A row of an answer, of either database.

use super::{
    cells::{FromCell, SqlCell},
    work::Work,
};

/// A row of an answer.
pub(super) enum StoredRow<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r tokio_postgres::Row),
}

impl<'r> StoredRow<'r> {
    /// The number of columns.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Sqlite(row) => row.as_ref().column_count(),
            Self::Postgres(row) => row.len(),
        }
    }

    /// Reads a column.
    pub(super) fn get<T: FromCell<'r>>(&self, column: usize) -> Work<T> {
        let cell = match self {
            Self::Sqlite(row) => SqlCell::of_sqlite(row.get_ref(column)?)?,
            Self::Postgres(row) => row.try_get(column)?,
        };
        Ok(T::of(cell)?)
    }
}

/// The first column of a row, which mostly is the only one.
pub(super) fn cell<T: for<'c> FromCell<'c>>(row: &StoredRow<'_>) -> Work<T> {
    row.get(0)
}
