//! The order of a list: the column of each sort field, its direction, and a part of all that is in it.

use crate::{
    composed::Sql,
    domain::{Sort, SortField, SortOrder},
};

/// Position of rows without a value in a sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nulls {
    /// There are none.
    Never,
    /// Last in either direction.
    Last,
    /// With the least value.
    Least,
}

impl Nulls {
    /// Returns whether rows without a value are met before those with one, from the beginning of a sort or backwards
    /// from its end.
    pub(super) fn come_first(self, order: SortOrder, backwards: bool) -> bool {
        (self == Self::Least && order == SortOrder::Ascending) != backwards
    }
}

/// The column of a sort field.
#[derive(Debug, Clone, Copy)]
pub(super) struct OrderColumn {
    pub(super) value: &'static str,
    pub(super) nulls: Nulls,
    /// The index of SQLite that is in its order; none for columns of words, which are keys there.
    pub(super) index: Option<&'static str>,
}

const fn nullable(value: &'static str, index: &'static str) -> OrderColumn {
    OrderColumn { value, nulls: Nulls::Last, index: Some(index) }
}

const fn text(value: &'static str, index: &'static str) -> OrderColumn {
    OrderColumn { value, nulls: Nulls::Never, index: Some(index) }
}

const fn word(value: &'static str) -> OrderColumn {
    OrderColumn { value, nulls: Nulls::Never, index: None }
}

/// The column of a sort field.
pub(super) const fn column_of(field: SortField) -> OrderColumn {
    match field {
        SortField::AlertTimeStamp => nullable("a.alert_time", "alert_by_time"),
        SortField::TransactionTimeStamp => nullable("a.transaction_time", "alert_by_transaction_time"),
        SortField::CreatedAt => nullable("a.created_at", "alert_by_created_at"),
        SortField::UpdatedAt => nullable("a.updated_at", "alert_by_updated_at"),
        SortField::ExpiredAt => nullable("a.expired_at", "alert_by_expired_at"),
        SortField::Amount => nullable("a.amount_micros", "alert_by_amount"),
        SortField::Currency => text("a.currency", "alert_by_currency"),
        SortField::Provider => word("a.provider"),
        SortField::ProviderId => text("a.provider_id", "alert_by_identity"),
        SortField::Type => word("a.type"),
        SortField::Status => word("a.status"),
        SortField::Issuer => text("a.issuer", "alert_by_issuer"),
        SortField::MerchantDescriptor => text("a.merchant_descriptor", "alert_by_merchant_descriptor"),
        SortField::MerchantName => text("a.merchant_name", "alert_by_merchant_name"),
        SortField::CardBin => text("a.card_bin", "alert_by_card_bin"),
        SortField::CardLastFour => text("a.card_last_four", "alert_by_card_last_four"),
        SortField::HoursLeft => {
            OrderColumn { nulls: Nulls::Least, ..nullable("a.open_deadline", "alert_by_open_deadline") }
        }
    }
}

/// An order as SQL has it.
pub(super) const fn direction(order: SortOrder) -> &'static str {
    match order {
        SortOrder::Ascending => "ASC",
        SortOrder::Descending => "DESC",
    }
}

/// The ORDER BY of rows that all have a value to sort by, or none. It has no word on nulls, so that an index serves
/// both directions.
pub(super) fn push_direction(sql: &mut Sql, value: Option<&str>, order: SortOrder) {
    let direction = direction(order);
    let value = value.map_or_else(String::new, |value| format!("{value} {direction}, "));
    sql.push(&format!(" ORDER BY {value}a.id {direction}"));
}

/// The column of a sort.
#[derive(Debug, Clone)]
pub(super) struct SortColumn {
    /// The column or expression.
    pub(super) value: String,
    /// The index that is in its order, where there is one.
    pub(super) index: Option<&'static str>,
    pub(super) nulls: Nulls,
    /// For a column of words: their keys, in the order of the words.
    pub(super) words: Option<Vec<i64>>,
}

/// The index of SQLite in the order of the id, which decides between alerts that are equal otherwise.
pub(super) const BY_ID: &str = "alert_by_id";

/// Returns whether an index holds only rows with a value to sort by.
pub(super) fn is_partial(index: &str) -> bool {
    matches!(index, "alert_by_expired_at" | "alert_by_open_deadline")
}

/// The ORDER BY of a whole sort, from its beginning or backwards from its end. An index of SQLite serves it wherever
/// the nulls are.
pub(super) fn push_order(sql: &mut Sql, column: &SortColumn, order: SortOrder, backwards: bool) {
    let direction = direction(if backwards { order.reversed() } else { order });
    let nulls = match column.nulls {
        Nulls::Never => "",
        nulls if nulls.come_first(order, backwards) => " NULLS FIRST",
        _ => " NULLS LAST",
    };
    sql.push(&format!(" ORDER BY {} {direction}{nulls}, a.id {direction}", column.value));
}

/// Part of all matches, in an order.
#[derive(Debug, Clone, Copy)]
pub(super) struct PagePart {
    pub(super) sort: Sort,
    pub(super) offset: u64,
    pub(super) limit: u64,
}

impl PagePart {
    /// Takes what is wanted of the next group, which holds so many, where groups follow each other; leaves the rest.
    pub(super) fn take(&mut self, group: u64) -> Option<Self> {
        if self.offset >= group || self.limit == 0 {
            self.offset = self.offset.saturating_sub(group);
            return None;
        }
        let taken = Self { limit: self.limit.min(group - self.offset), ..*self };
        (self.offset, self.limit) = (0, self.limit - taken.limit);
        Some(taken)
    }

    /// The same part of `total` as it is met from the end; what is in it comes in the opposite order.
    pub(super) fn seen_from_end(self, total: u64) -> Self {
        let sort = Sort { order: self.sort.order.reversed(), ..self.sort };
        Self { sort, offset: total.saturating_sub(self.offset + self.limit), ..self }
    }

    /// The same part from the end, where fewer matches lie before it there.
    pub(super) fn backwards(self, total: u64) -> Option<Self> {
        Some(self.seen_from_end(total)).filter(|back| back.offset < self.offset)
    }
}
