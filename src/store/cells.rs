//! Values of statements and cells of rows, the same for both databases.
//!
//! SQLite has ids as bytes and flags as numbers; PostgreSQL has types for both, and holds texts without the character
//! NUL. A flag is a number until PostgreSQL's type of it is known.

use std::{borrow::Cow, error::Error, fmt, sync::Arc};

use rusqlite::types::{ToSqlOutput, ValueRef};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, private::BytesMut, to_sql_checked};
use uuid::Uuid;

use crate::{
    StoreError, StoreResult,
    domain::{
        AlertId, AttemptId, AttemptState, ClockEpoch, CompanyId, DeliveryId, DeliveryState, Dialect, EndpointId,
        EnrollmentId, Environment, EventId, EventState, InstanceId, KeyScope, OrganizationId, TruthKind,
        rule::automatic::StopReason, time::Timestamp,
    },
    error::Work,
};

/// A value as a database holds it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum SqlCell<'c> {
    Null,
    Number(i64),
    Text(&'c str),
    Bytes(&'c [u8]),
    Id(Uuid),
}

impl<'c> SqlCell<'c> {
    /// The cell of a row of SQLite.
    pub(super) fn of_sqlite(value: ValueRef<'c>) -> StoreResult<Self> {
        Ok(match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Number(number),
            ValueRef::Text(text) => Self::Text(std::str::from_utf8(text).map_err(|_| corrupt("a text"))?),
            ValueRef::Blob(bytes) => Self::Bytes(bytes),
            ValueRef::Real(_) => return Err(corrupt("a number")),
        })
    }
}

impl SqlCell<'_> {
    /// Type of the value in PostgreSQL.
    pub(super) fn kind(&self) -> Type {
        match self {
            Self::Null | Self::Text(_) => Type::TEXT,
            Self::Number(_) => Type::INT8,
            Self::Bytes(_) => Type::BYTEA,
            Self::Id(_) => Type::UUID,
        }
    }
}

fn corrupt(kind: &str) -> StoreError {
    StoreError::Corrupt(format!("a cell that should hold {kind}"))
}

/// Text without the one character that PostgreSQL cannot hold.
pub(super) fn storable(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "\u{fffd}")) } else { Cow::Borrowed(text) }
}

impl rusqlite::ToSql for SqlCell<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Number(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
            Self::Id(id) => ValueRef::Blob(id.as_bytes()),
        }))
    }
}

impl fmt::Debug for dyn ToCell + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }
}

impl<'v> ToSql for &'v (dyn ToCell + 'v) {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self.cell() {
            SqlCell::Null => Ok(IsNull::Yes),
            SqlCell::Number(number) if *kind == Type::BOOL => (number != 0).to_sql(kind, out),
            SqlCell::Number(number) => number.to_sql(kind, out),
            SqlCell::Text(text) if *kind == Type::BYTEA => text.to_sql(kind, out),
            SqlCell::Text(text) => storable(text).to_sql(kind, out),
            SqlCell::Bytes(bytes) => bytes.to_sql(kind, out),
            SqlCell::Id(id) => id.to_sql(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl<'c> FromSql<'c> for SqlCell<'c> {
    fn from_sql(kind: &Type, raw: &'c [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(match *kind {
            Type::INT8 => Self::Number(i64::from_sql(kind, raw)?),
            Type::INT4 => Self::Number(i32::from_sql(kind, raw)?.into()),
            Type::BOOL => Self::Number(bool::from_sql(kind, raw)?.into()),
            Type::UUID | Type::BYTEA => Self::Bytes(raw),
            _ => Self::Text(<&str>::from_sql(kind, raw)?),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self::Null)
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// A value apart from its row. Ids are bytes where they were read, so that rows of both databases are alike.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum SqlValue<'v> {
    Null,
    Number(i64),
    Text(Cow<'v, str>),
    Bytes(Vec<u8>),
    Id(Uuid),
}

impl SqlValue<'_> {
    /// The bytes of an id, or of what else is bytes or a text.
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
            Self::Id(id) => id.as_bytes(),
            Self::Null | Self::Number(_) => &[],
        }
    }
}

impl ToCell for SqlValue<'_> {
    fn cell(&self) -> SqlCell<'_> {
        match self {
            Self::Null => SqlCell::Null,
            Self::Number(number) => SqlCell::Number(*number),
            Self::Text(text) => SqlCell::Text(text),
            Self::Bytes(bytes) => SqlCell::Bytes(bytes),
            Self::Id(id) => SqlCell::Id(*id),
        }
    }
}

impl FromCell<'_> for SqlValue<'static> {
    fn of(cell: SqlCell<'_>) -> StoreResult<Self> {
        Ok(match cell {
            SqlCell::Null => Self::Null,
            SqlCell::Number(number) => Self::Number(number),
            SqlCell::Text(text) => text.to_owned().into(),
            SqlCell::Bytes(bytes) => Self::Bytes(bytes.to_vec()),
            SqlCell::Id(id) => Self::Bytes(id.as_bytes().to_vec()),
        })
    }
}

impl ToSql for SqlValue<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        (self as &dyn ToCell).to_sql(kind, out)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl<'v, T: Into<SqlValue<'v>>> From<Option<T>> for SqlValue<'v> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, T::into)
    }
}

macro_rules! sql_values {
    ($($kind:ty: |$value:ident| $of:expr),+ $(,)?) => {$(
        impl<'v> From<$kind> for SqlValue<'v> {
            fn from($value: $kind) -> Self {
                $of
            }
        }
    )+};
}

sql_values!(
    i64: |number| Self::Number(number),
    bool: |flag| Self::Number(flag.into()),
    String: |text| Self::Text(Cow::Owned(text)),
    &'v str: |text| Self::Text(Cow::Borrowed(text)),
    &[u8; 32]: |hash| Self::Bytes(hash.to_vec()),
    Uuid: |id| Self::Id(id),
);

/// A type that can be a value of a statement.
pub(super) trait ToCell: Sync {
    /// Returns the value as a database holds it.
    fn cell(&self) -> SqlCell<'_>;
}

/// Values of a statement.
pub(super) type BoundValues<'a> = &'a [&'a dyn ToCell];

/// A type that can be read from a cell.
pub(super) trait FromCell<'c>: Sized {
    /// Reads the value.
    fn of(cell: SqlCell<'c>) -> StoreResult<Self>;
}

impl<T: ToCell + ?Sized> ToCell for &T {
    fn cell(&self) -> SqlCell<'_> {
        T::cell(self)
    }
}

impl<T: ToCell> ToCell for Option<T> {
    fn cell(&self) -> SqlCell<'_> {
        self.as_ref().map_or(SqlCell::Null, T::cell)
    }
}

impl<'c, T: FromCell<'c>> FromCell<'c> for Option<T> {
    fn of(cell: SqlCell<'c>) -> StoreResult<Self> {
        if cell == SqlCell::Null { Ok(None) } else { T::of(cell).map(Some) }
    }
}

macro_rules! values {
    ($($kind:ty: |$value:ident| $cell:expr),+ $(,)?) => {$(
        impl ToCell for $kind {
            fn cell(&self) -> SqlCell<'_> {
                let $value = self;
                $cell
            }
        }
    )+};
}

values!(
    str: |text| SqlCell::Text(text),
    String: |text| SqlCell::Text(text),
    [u8]: |bytes| SqlCell::Bytes(bytes),
    Vec<u8>: |bytes| SqlCell::Bytes(bytes),
    bool: |flag| SqlCell::Number((*flag).into()),
    u16: |number| SqlCell::Number((*number).into()),
    u32: |number| SqlCell::Number((*number).into()),
    i64: |number| SqlCell::Number(*number),
    Timestamp: |moment| SqlCell::Number(moment.timestamp_micros()),
    Uuid: |id| SqlCell::Id(*id),
);

impl<'c> FromCell<'c> for SqlCell<'c> {
    fn of(cell: Self) -> StoreResult<Self> {
        Ok(cell)
    }
}

impl<'c> FromCell<'c> for &'c str {
    fn of(cell: SqlCell<'c>) -> StoreResult<Self> {
        if let SqlCell::Text(text) = cell { Ok(text) } else { Err(corrupt("a text")) }
    }
}

impl FromCell<'_> for String {
    fn of(cell: SqlCell<'_>) -> StoreResult<Self> {
        match cell {
            SqlCell::Bytes(bytes) => Ok(Self::from_utf8_lossy(bytes).into_owned()),
            _ => <&str>::of(cell).map(str::to_owned),
        }
    }
}

impl FromCell<'_> for Arc<str> {
    fn of(cell: SqlCell<'_>) -> StoreResult<Self> {
        <&str>::of(cell).map(Self::from)
    }
}

impl FromCell<'_> for Arc<[u8]> {
    fn of(cell: SqlCell<'_>) -> StoreResult<Self> {
        <&[u8]>::of(cell).map(Self::from)
    }
}

impl<const N: usize> ToCell for [u8; N] {
    fn cell(&self) -> SqlCell<'_> {
        SqlCell::Bytes(self)
    }
}

impl<'c> FromCell<'c> for &'c [u8] {
    fn of(cell: SqlCell<'c>) -> StoreResult<Self> {
        if let SqlCell::Bytes(bytes) = cell { Ok(bytes) } else { Err(corrupt("bytes")) }
    }
}

impl FromCell<'_> for Vec<u8> {
    fn of(cell: SqlCell<'_>) -> StoreResult<Self> {
        <&[u8]>::of(cell).map(<[u8]>::to_vec)
    }
}

impl<const N: usize> FromCell<'_> for [u8; N] {
    fn of(cell: SqlCell<'_>) -> StoreResult<Self> {
        <&[u8]>::of(cell)?.try_into().map_err(|_| corrupt("a hash"))
    }
}

impl FromCell<'_> for bool {
    fn of(cell: SqlCell<'_>) -> StoreResult<Self> {
        if let SqlCell::Number(number) = cell { Ok(number != 0) } else { Err(corrupt("a flag")) }
    }
}

impl FromCell<'_> for Timestamp {
    fn of(cell: SqlCell<'_>) -> StoreResult<Self> {
        let micros = i64::of(cell)?;
        Self::from_timestamp_micros(micros).ok_or_else(|| StoreError::Corrupt(format!("the moment {micros}")))
    }
}

impl FromCell<'_> for i64 {
    fn of(cell: SqlCell<'_>) -> StoreResult<Self> {
        if let SqlCell::Number(number) = cell { Ok(number) } else { Err(corrupt("a number")) }
    }
}

macro_rules! small_numbers {
    ($($number:ty),+) => {$(
        impl FromCell<'_> for $number {
            fn of(cell: SqlCell<'_>) -> StoreResult<Self> {
                let number = i64::of(cell)?;
                Self::try_from(number).map_err(|_| StoreError::Corrupt(format!("the number {number}")))
            }
        }
    )+};
}

small_numbers!(u16, u32, u64);

impl FromCell<'_> for Uuid {
    fn of(cell: SqlCell<'_>) -> StoreResult<Self> {
        Self::from_slice(<&[u8]>::of(cell)?).map_err(|_| corrupt("an id"))
    }
}

macro_rules! ids {
    ($($id:ident),+) => {$(
        impl ToCell for $id {
            fn cell(&self) -> SqlCell<'_> {
                SqlCell::Id(self.0)
            }
        }

        impl FromCell<'_> for $id {
            fn of(cell: SqlCell<'_>) -> StoreResult<Self> {
                Uuid::of(cell).map(Self)
            }
        }
    )+};
}

ids!(
    AlertId,
    AttemptId,
    ClockEpoch,
    CompanyId,
    DeliveryId,
    EndpointId,
    EnrollmentId,
    EventId,
    InstanceId,
    OrganizationId
);

macro_rules! words {
    ($($word:ident),+ $(,)?) => {$(
        impl ToCell for $word {
            fn cell(&self) -> SqlCell<'_> {
                SqlCell::Text(self.as_str())
            }
        }

        impl FromCell<'_> for $word {
            fn of(cell: SqlCell<'_>) -> StoreResult<Self> {
                let word = <&str>::of(cell)?;
                let unknown = || {
                    let known = Self::ALL.map(Self::as_str).join(", ");
                    StoreError::Corrupt(format!("the word {word:?}, which is none of {known}"))
                };
                Self::parse(word).ok_or_else(unknown)
            }
        }
    )+};
}

words!(AttemptState, DeliveryState, Dialect, Environment, EventState, KeyScope, StopReason, TruthKind);

/// A row of an answer.
pub(super) enum StoredRow<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r tokio_postgres::Row),
}

impl<'r> StoredRow<'r> {
    /// Reads a column.
    pub(super) fn get<T: FromCell<'r>>(&self, column: usize) -> Work<T> {
        let cell = match self {
            Self::Sqlite(row) => SqlCell::of_sqlite(row.get_ref(column)?)?,
            Self::Postgres(row) => row.try_get(column)?,
        };
        Ok(T::of(cell)?)
    }
}

/// The error where a row is missing that is always there.
pub(super) fn missing_row() -> StoreError {
    StoreError::Corrupt("a row that is always there is missing".to_owned())
}

/// Converts a time to microseconds since 1970, as rows hold it.
pub(super) fn micros(moment: Timestamp) -> i64 {
    moment.timestamp_micros()
}

/// The first column of a row, which mostly is the only one.
pub(super) fn cell<T: for<'c> FromCell<'c>>(row: &StoredRow<'_>) -> Work<T> {
    row.get(0)
}
