//! The tables of a desk as every store has them: what is carried from one database to another, in an order in which
//! each row finds those that it refers to.

use std::sync::LazyLock;

use crate::domain::field::{Field, Kind};
use crate::domain::{Alert, Outcome};

/// One cell of a row on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PortableCell {
    Null,
    Number(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl PortableCell {
    /// Bytes that no other cell has, for a checksum.
    pub(super) fn canonical(&self) -> (u8, Vec<u8>) {
        match self {
            Self::Null => (0, Vec::new()),
            Self::Number(number) => (1, number.to_be_bytes().to_vec()),
            Self::Text(text) => (2, text.as_bytes().to_vec()),
            Self::Bytes(bytes) => (3, bytes.clone()),
        }
    }
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PortableKind {
    Number,
    Flag,
    Text,
    /// Text that PostgreSQL keeps as bytes.
    Octets,
    Bytes,
    /// Bytes that are sealed with the data key.
    Sealed,
    Id,
    /// A word or an id that SQLite keeps once for all who share it.
    Word,
    Reference,
}

/// A column by its name.
pub(super) type PortableColumn = (&'static str, PortableKind);

/// A table: its first columns, as many as `key` says, tell its rows apart and order them.
#[derive(Debug)]
pub(super) struct PortableTable {
    pub(super) name: &'static str,
    pub(super) key: usize,
    pub(super) columns: Vec<PortableColumn>,
}

impl PortableTable {
    fn new(name: &'static str, key: usize, columns: &[PortableColumn]) -> Self {
        Self { name, key, columns: columns.to_vec() }
    }

    /// The names of the columns that order its rows.
    pub(super) fn key_columns(&self) -> impl Iterator<Item = &'static str> {
        self.columns[..self.key].iter().map(|(name, _)| *name)
    }

    /// The place of a column.
    pub(super) fn place(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|(name, _)| *name == column)
    }

    /// The columns whose bytes are sealed with the data key.
    pub(super) fn sealed_columns(&self) -> impl Iterator<Item = &'static str> {
        self.columns.iter().filter(|(_, kind)| *kind == PortableKind::Sealed).map(|(name, _)| *name)
    }

    /// Whether new rows get a key of their own.
    pub(super) fn counts_keys(&self) -> bool {
        self.columns.first().is_some_and(|(name, _)| *name == "key")
    }
}

/// Counts are the sum of their rows, and told apart by all that they are counted by.
pub(super) const COUNTS: &str = "alert_count";

/// Where the audit log begins: one row, which is there in every database and only changed.
pub(super) const AUDIT_START: &str = "audit_start";

fn of_fields<R>(fields: &'static [Field<R>]) -> impl Iterator<Item = PortableColumn> {
    fields.iter().filter_map(|field| {
        let kind = match field.kind {
            Kind::Id(_) => PortableKind::Id,
            Kind::Reference(_) => PortableKind::Reference,
            Kind::Word(_) => PortableKind::Word,
            Kind::Text(_) | Kind::Amount(_) => PortableKind::Text,
            Kind::Moment(_) => PortableKind::Number,
            Kind::Flag(_) => PortableKind::Flag,
        };
        Some((field.column?, kind))
    })
}

/// Every table, in order.
pub(super) static TABLES: LazyLock<Vec<PortableTable>> = LazyLock::new(|| {
    use PortableKind::{Bytes, Flag, Id, Number, Octets, Sealed, Text, Word};
    let mut alert = PortableTable::new(
        "alert",
        1,
        &[
            ("key", Number),
            ("organization", Number),
            ("outcome", Word),
            ("deadline", Number),
            ("open_deadline", Number),
            ("amount_micros", Number),
        ],
    );
    alert.columns.extend(of_fields(Alert::FIELDS));
    let mut outcome = PortableTable::new("outcome", 1, &[("alert", Number)]);
    outcome.columns.extend(of_fields(Outcome::FIELDS));
    let credential = |scoped: bool| {
        let mut columns = vec![
            ("key", Number),
            ("id", Text),
            ("organization", Number),
            ("hash", Bytes),
            ("created_at", Number),
            ("last_used_at", Number),
            ("revoked_at", Number),
        ];
        if scoped {
            columns.extend([("scope", Text), ("environment", Text)]);
        }
        columns
    };
    vec![
        PortableTable::new("fact", 1, &[("name", Text), ("value", Bytes)]),
        PortableTable::new(
            "organization",
            1,
            &[
                ("key", Number),
                ("id", Id),
                ("name", Text),
                ("default_company", Id),
                ("default_enrollment", Id),
                ("created_at", Number),
            ],
        ),
        PortableTable::new("company", 2, &[("organization", Number), ("id", Id)]),
        PortableTable::new("enrollment", 2, &[("organization", Number), ("id", Id), ("company", Id)]),
        alert,
        outcome,
        PortableTable::new(
            COUNTS,
            7,
            &[
                ("organization", Number),
                ("day", Number),
                ("provider", Word),
                ("type", Word),
                ("status", Word),
                ("outcome", Word),
                ("expired", Flag),
                ("alerts", Number),
            ],
        ),
        PortableTable::new(
            "resolution_attempt",
            1,
            &[
                ("key", Number),
                ("id", Id),
                ("organization", Number),
                ("alert", Number),
                ("dialect", Text),
                ("resolution", Text),
                ("refunded", Text),
                ("amount_stopped", Text),
                ("comments", Text),
                ("body_hash", Bytes),
                ("idempotency_key", Text),
                ("state", Text),
                ("generation", Number),
                ("instance", Id),
                ("started_at", Number),
                ("deadline", Number),
                ("next_check", Number),
                ("lease_until", Number),
                ("checks", Number),
                ("detail", Text),
                ("ended_at", Number),
                ("actor", Text),
                ("origin", Text),
                ("epoch", Id),
                ("calls_over", Number),
                ("check_count", Number),
                ("lease_count", Number),
                ("person", Text),
            ],
        ),
        PortableTable::new(
            "endpoint",
            1,
            &[
                ("key", Number),
                ("id", Id),
                ("organization", Number),
                ("url", Text),
                ("sealed_url", Sealed),
                ("auth", Text),
                ("header_name", Text),
                ("credential", Sealed),
                ("created_at", Number),
                ("disabled_at", Number),
                ("disabled_reason", Text),
                ("failing_since", Number),
                ("failed_at", Number),
                ("succeeded_at", Number),
                ("removed_at", Number),
                ("ca_certificate", Text),
            ],
        ),
        PortableTable::new(
            "signing_secret",
            1,
            &[
                ("key", Number),
                ("id", Id),
                ("endpoint", Number),
                ("secret", Sealed),
                ("created_at", Number),
                ("ends_at", Number),
            ],
        ),
        PortableTable::new(
            "event",
            1,
            &[("key", Number), ("id", Id), ("alert", Number), ("kind", Text), ("at", Number), ("body", Text)],
        ),
        PortableTable::new(
            "delivery",
            1,
            &[
                ("key", Number),
                ("id", Id),
                ("event", Number),
                ("endpoint", Number),
                ("alert", Number),
                ("kind", Text),
                ("at", Number),
                ("test", Flag),
                ("state", Text),
                ("attempts", Number),
                ("earlier_attempts", Number),
                ("due", Number),
                ("since", Number),
                ("lease_until", Number),
                ("generation", Number),
                ("instance", Id),
                ("last_result", Text),
                ("delivered_at", Number),
                ("given_up_at", Number),
            ],
        ),
        PortableTable::new(
            "delivery_attempt",
            2,
            &[
                ("delivery", Number),
                ("attempt", Number),
                ("started_at", Number),
                ("duration", Number),
                ("status", Number),
                ("error", Text),
                ("answer", Octets),
                ("sent", Text),
            ],
        ),
        PortableTable::new("api_key", 1, &credential(true)),
        PortableTable::new("client", 1, &credential(false)),
        PortableTable::new(
            "pull",
            1,
            &[
                ("source", Text),
                ("cursor", Octets),
                ("generation", Number),
                ("instance", Id),
                ("lease_until", Number),
                ("next_at", Number),
                ("since", Number),
                ("pulled_at", Number),
                ("failures", Number),
                ("failure", Text),
            ],
        ),
        PortableTable::new(
            "signing_key",
            1,
            &[("single", Number), ("id", Text), ("private_key", Sealed), ("created_at", Number)],
        ),
        PortableTable::new("retired_signing_key", 1, &[("id", Text), ("public_key", Bytes), ("ends_at", Number)]),
        PortableTable::new(
            "clock",
            1,
            &[
                ("single", Number),
                ("epoch", Id),
                ("date", Number),
                ("count", Number),
                ("jump_ahead", Number),
                ("jump_since", Number),
                ("jump_observed", Number),
                ("jump_observations", Number),
            ],
        ),
        PortableTable::new(
            "audit",
            1,
            &[
                ("number", Number),
                ("at", Number),
                ("organization", Number),
                ("actor", Text),
                ("origin", Text),
                ("action", Text),
                ("subject", Text),
                ("detail", Text),
                ("previous", Bytes),
                ("hash", Bytes),
                ("person", Text),
            ],
        ),
        PortableTable::new(AUDIT_START, 1, &[("single", Number), ("number", Number), ("hash", Bytes)]),
    ]
});

/// So many rows are on their way at once.
pub(super) const BATCH: usize = 2_000;

/// A fact that is written only to see whether that can be done.
pub(super) const PROBED: &str = "probed_at";

/// A row on its way.
pub(super) type PortableRow = Vec<PortableCell>;

/// The text that searches look into, of an alert's row.
pub(super) fn search_text_of(table: &PortableTable, row: &[PortableCell]) -> String {
    let mut alert = Alert::default();
    for field in Alert::FIELDS {
        let Some(cell) = field.column.and_then(|column| table.place(column)).and_then(|place| row.get(place)) else {
            continue;
        };
        if let (Kind::Text(access), PortableCell::Text(text)) = (&field.kind, cell) {
            (access.set)(&mut alert, text.into());
        }
    }
    super::searched::search_text(&alert)
}
