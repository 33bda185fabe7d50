//! Values of statements and cells of rows, the same for both databases.
//!
//! SQLite has ids as bytes and flags as numbers; PostgreSQL has types for both, and holds texts without the character
//! NUL.

use std::error::Error;
use std::sync::Arc;

use rusqlite::types::{ToSqlOutput, ValueRef};
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use uuid::Uuid;

use super::{StoreError, StoreResult};
use crate::domain::time::Timestamp;
use crate::domain::{
    AlertId, AttemptId, ClockEpoch, CompanyId, DeliveryId, EndpointId, EnrollmentId, EventId, InstanceId,
    OrganizationId,
};

/// A value as a database holds it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cell<'c> {
    Null,
    Number(i64),
    Flag(bool),
    Text(&'c str),
    Bytes(&'c [u8]),
    Id(Uuid),
}

impl<'c> Cell<'c> {
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

impl Cell<'_> {
    /// The type that PostgreSQL has for it.
    pub(super) fn kind(&self) -> Type {
        match self {
            Self::Null | Self::Text(_) => Type::TEXT,
            Self::Number(_) => Type::INT8,
            Self::Flag(_) => Type::BOOL,
            Self::Bytes(_) => Type::BYTEA,
            Self::Id(_) => Type::UUID,
        }
    }
}

fn corrupt(kind: &str) -> StoreError {
    StoreError::Corrupt(format!("a cell that should hold {kind}"))
}

impl rusqlite::ToSql for Cell<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Number(number) => ValueRef::Integer(*number),
            Self::Flag(flag) => ValueRef::Integer(i64::from(*flag)),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
            Self::Id(id) => ValueRef::Blob(id.as_bytes()),
        }))
    }
}

impl ToSql for Cell<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Number(number) => number.to_sql(kind, out),
            Self::Flag(flag) if *kind == Type::BOOL => flag.to_sql(kind, out),
            Self::Flag(flag) => i64::from(*flag).to_sql(kind, out),
            Self::Text(text) if *kind != Type::BYTEA && text.contains('\0') => {
                text.replace('\0', "\u{fffd}").to_sql(kind, out)
            }
            Self::Text(text) => text.to_sql(kind, out),
            Self::Bytes(bytes) => bytes.to_sql(kind, out),
            Self::Id(id) => id.to_sql(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl<'c> FromSql<'c> for Cell<'c> {
    fn from_sql(kind: &Type, raw: &'c [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(match *kind {
            Type::INT8 => Self::Number(i64::from_sql(kind, raw)?),
            Type::INT4 => Self::Number(i32::from_sql(kind, raw)?.into()),
            Type::BOOL => Self::Flag(bool::from_sql(kind, raw)?),
            Type::UUID => Self::Id(Uuid::from_sql(kind, raw)?),
            Type::BYTEA => Self::Bytes(raw),
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

/// What can be a value of a statement.
pub(super) trait Value: Sync {
    /// It as a database holds it.
    fn cell(&self) -> Cell<'_>;
}

/// What can be read from a cell.
pub(super) trait Column<'c>: Sized {
    /// Reads it.
    fn of(cell: Cell<'c>) -> StoreResult<Self>;
}

impl<T: Value + ?Sized> Value for &T {
    fn cell(&self) -> Cell<'_> {
        T::cell(self)
    }
}

impl<T: Value> Value for Option<T> {
    fn cell(&self) -> Cell<'_> {
        self.as_ref().map_or(Cell::Null, T::cell)
    }
}

impl<'c, T: Column<'c>> Column<'c> for Option<T> {
    fn of(cell: Cell<'c>) -> StoreResult<Self> {
        if cell == Cell::Null { Ok(None) } else { T::of(cell).map(Some) }
    }
}

impl Value for str {
    fn cell(&self) -> Cell<'_> {
        Cell::Text(self)
    }
}

impl Value for String {
    fn cell(&self) -> Cell<'_> {
        Cell::Text(self)
    }
}

impl<'c> Column<'c> for &'c str {
    fn of(cell: Cell<'c>) -> StoreResult<Self> {
        if let Cell::Text(text) = cell { Ok(text) } else { Err(corrupt("a text")) }
    }
}

impl Column<'_> for String {
    fn of(cell: Cell<'_>) -> StoreResult<Self> {
        match cell {
            Cell::Bytes(bytes) => Ok(Self::from_utf8_lossy(bytes).into_owned()),
            _ => <&str>::of(cell).map(str::to_owned),
        }
    }
}

impl Column<'_> for Arc<str> {
    fn of(cell: Cell<'_>) -> StoreResult<Self> {
        <&str>::of(cell).map(Self::from)
    }
}

impl Value for [u8] {
    fn cell(&self) -> Cell<'_> {
        Cell::Bytes(self)
    }
}

impl Value for Vec<u8> {
    fn cell(&self) -> Cell<'_> {
        Cell::Bytes(self)
    }
}

impl<const N: usize> Value for [u8; N] {
    fn cell(&self) -> Cell<'_> {
        Cell::Bytes(self)
    }
}

impl<'c> Column<'c> for &'c [u8] {
    fn of(cell: Cell<'c>) -> StoreResult<Self> {
        if let Cell::Bytes(bytes) = cell { Ok(bytes) } else { Err(corrupt("bytes")) }
    }
}

impl Column<'_> for Vec<u8> {
    fn of(cell: Cell<'_>) -> StoreResult<Self> {
        <&[u8]>::of(cell).map(<[u8]>::to_vec)
    }
}

impl<const N: usize> Column<'_> for [u8; N] {
    fn of(cell: Cell<'_>) -> StoreResult<Self> {
        <&[u8]>::of(cell)?.try_into().map_err(|_| corrupt("a hash"))
    }
}

impl Value for bool {
    fn cell(&self) -> Cell<'_> {
        Cell::Flag(*self)
    }
}

impl Column<'_> for bool {
    fn of(cell: Cell<'_>) -> StoreResult<Self> {
        match cell {
            Cell::Flag(flag) => Ok(flag),
            Cell::Number(number) => Ok(number != 0),
            _ => Err(corrupt("a flag")),
        }
    }
}

impl Value for Timestamp {
    fn cell(&self) -> Cell<'_> {
        Cell::Number(self.timestamp_micros())
    }
}

impl Column<'_> for Timestamp {
    fn of(cell: Cell<'_>) -> StoreResult<Self> {
        let micros = i64::of(cell)?;
        Self::from_timestamp_micros(micros).ok_or_else(|| StoreError::Corrupt(format!("the moment {micros}")))
    }
}

impl Value for i64 {
    fn cell(&self) -> Cell<'_> {
        Cell::Number(*self)
    }
}

impl Column<'_> for i64 {
    fn of(cell: Cell<'_>) -> StoreResult<Self> {
        if let Cell::Number(number) = cell { Ok(number) } else { Err(corrupt("a number")) }
    }
}

macro_rules! small_numbers {
    ($($number:ty),+) => {$(
        impl Value for $number {
            fn cell(&self) -> Cell<'_> {
                Cell::Number(i64::from(*self))
            }
        }

        impl Column<'_> for $number {
            fn of(cell: Cell<'_>) -> StoreResult<Self> {
                let number = i64::of(cell)?;
                Self::try_from(number).map_err(|_| StoreError::Corrupt(format!("the number {number}")))
            }
        }
    )+};
}

small_numbers!(u16, u32);

impl Column<'_> for u64 {
    fn of(cell: Cell<'_>) -> StoreResult<Self> {
        let number = i64::of(cell)?;
        Self::try_from(number).map_err(|_| StoreError::Corrupt(format!("the number {number}")))
    }
}

impl Value for Uuid {
    fn cell(&self) -> Cell<'_> {
        Cell::Id(*self)
    }
}

impl Column<'_> for Uuid {
    fn of(cell: Cell<'_>) -> StoreResult<Self> {
        match cell {
            Cell::Id(id) => Ok(id),
            Cell::Bytes(bytes) => Self::from_slice(bytes).map_err(|_| corrupt("an id")),
            _ => Err(corrupt("an id")),
        }
    }
}

macro_rules! ids {
    ($($id:ident),+) => {$(
        impl Value for $id {
            fn cell(&self) -> Cell<'_> {
                Cell::Id(self.0)
            }
        }

        impl Column<'_> for $id {
            fn of(cell: Cell<'_>) -> StoreResult<Self> {
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
