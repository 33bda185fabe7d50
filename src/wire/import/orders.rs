//! CSV of a shop's orders: which column is what, by its name or by the header that is named for it, and one order a row.

use std::collections::BTreeMap;
use std::io::BufRead;

use csv::ByteRecord;

use super::csv_rows::CsvRows;
use super::row::rejected;
use super::source::Source;
use crate::domain::{FieldError, MerchantOrder, OrderField, RejectedRow};

/// A streaming importer of orders, row by row.
pub struct OrderImporter<R> {
    rows: CsvRows<R>,
    columns: Vec<Option<OrderField>>,
    headers: Vec<String>,
}

/// Why the first row of a file of orders cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrderHeaderError {
    #[error("{0}")]
    Unreadable(String),
    /// Two columns are the same thing.
    #[error("the columns {first:?} and {second:?} are both {}: name one of them with --map {}=Header", field.as_str(), field.as_str())]
    Twice { field: OrderField, first: String, second: String },
    /// There is no such header.
    #[error("there is no column {header:?} for {}: the first row has {}", field.as_str(), listed(there))]
    NoSuchHeader { field: OrderField, header: String, there: Vec<String> },
    /// Nothing says which order a row is.
    #[error("no column is the order's number: name it with --map order_id=Header; the first row has {}", listed(there))]
    NoOrderId { there: Vec<String> },
}

fn listed(headers: &[String]) -> String {
    headers.iter().take(40).map(|header| format!("{header:?}")).collect::<Vec<_>>().join(", ")
}

impl<R: BufRead> OrderImporter<R> {
    /// Begins to read a file whose columns have these headers, or those that were named before and are there, or else their own names in any
    /// spelling; none where it is empty.
    pub fn new(
        input: R,
        named: &BTreeMap<OrderField, String>,
        before: &BTreeMap<OrderField, String>,
    ) -> Result<Option<Self>, OrderHeaderError> {
        let mut source = Source::new(input);
        source.begin().map_err(OrderHeaderError::Unreadable)?;
        let mut rows = CsvRows::new(source);
        let Some(headers) = rows.header().map_err(OrderHeaderError::Unreadable)? else { return Ok(None) };
        if headers.iter().any(|header| header.trim().contains('\r')) {
            let why = "its lines end with a carriage return alone: save it with the line ends of Windows or Unix";
            return Err(OrderHeaderError::Unreadable(why.to_owned()));
        }
        let mut all = named.clone();
        all.extend(
            before.iter().filter(|(_, header)| place_of(header, &headers).is_some()).map(|(field, header)| (*field, header.clone())),
        );
        let columns = columns(&headers, &all)?;
        Ok(Some(Self { rows, columns, headers }))
    }

    /// Bytes read of the source so far, for a progress bar.
    pub fn bytes_read(&self) -> u64 {
        self.rows.bytes_read()
    }

    /// Whether the file has a column of this header.
    pub fn has(&self, header: &str) -> bool {
        place_of(header, &self.headers).is_some()
    }

    /// Headers that are no column of an order; they are ignored.
    pub fn ignored(&self) -> impl Iterator<Item = &str> {
        let pairs = self.headers.iter().zip(&self.columns);
        pairs.filter(|(header, column)| column.is_none() && !header.is_empty()).map(|(header, _)| header.as_str())
    }
}

impl<R: BufRead> Iterator for OrderImporter<R> {
    type Item = Result<MerchantOrder, RejectedRow>;

    fn next(&mut self) -> Option<Self::Item> {
        let (line, cells) = self.rows.next_row()?;
        let order = match cells {
            Ok(cells) => order_of(&self.columns, cells),
            Err(what) => Err(FieldError::new("", what)),
        };
        Some(order.map_err(|error| rejected(line, error)))
    }
}

fn order_of(columns: &[Option<OrderField>], cells: &ByteRecord) -> Result<MerchantOrder, FieldError> {
    let mut known = Vec::with_capacity(columns.len());
    for (column, cell) in columns.iter().zip(cells) {
        let Some(column) = *column else { continue };
        let cell = std::str::from_utf8(cell).map_err(|_| FieldError::new(column.as_str(), "is not UTF-8"))?;
        known.push((column, cell));
    }
    MerchantOrder::of_cells(known)
}

fn place_of(header: &str, headers: &[String]) -> Option<usize> {
    headers.iter().position(|there| there.trim().eq_ignore_ascii_case(header.trim()))
}

/// What each header is the column of.
fn columns(headers: &[String], named: &BTreeMap<OrderField, String>) -> Result<Vec<Option<OrderField>>, OrderHeaderError> {
    let mut columns: Vec<Option<OrderField>> = vec![None; headers.len()];
    for (field, header) in named {
        let Some(position) = place_of(header, headers) else {
            return Err(OrderHeaderError::NoSuchHeader { field: *field, header: header.clone(), there: headers.to_vec() });
        };
        if let Some(other) = columns[position].replace(*field) {
            let why = format!("--map gives the column {:?} to {} and to {}: one of them", header, other.as_str(), field.as_str());
            return Err(OrderHeaderError::Unreadable(why));
        }
    }
    for (position, header) in headers.iter().enumerate() {
        let field = OrderField::ALL.into_iter().find(|field| letters(field.as_str()) == letters(header));
        let Some(field) = field.filter(|field| columns[position].is_none() && !named.contains_key(field)) else { continue };
        if let Some(first) = columns.iter().position(|column| *column == Some(field)) {
            return Err(OrderHeaderError::Twice { field, first: headers[first].clone(), second: header.clone() });
        }
        columns[position] = Some(field);
    }
    match columns.contains(&Some(OrderField::OrderId)) {
        true => Ok(columns),
        false => Err(OrderHeaderError::NoOrderId { there: headers.to_vec() }),
    }
}

/// A name without letter case and what parts its words: `Order ID`, `orderId` and `order_id` are one.
fn letters(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, named: &[(OrderField, &str)]) -> Result<Option<OrderImporter<std::io::Cursor<Vec<u8>>>>, OrderHeaderError> {
        let named = named.iter().map(|(field, header)| (*field, (*header).to_owned())).collect();
        OrderImporter::new(std::io::Cursor::new(text.as_bytes().to_vec()), &named, &BTreeMap::new())
    }

    fn seen(text: &str, named: &[(OrderField, &str)]) -> Vec<Result<String, (u64, String)>> {
        let rows = read(text, named).unwrap().unwrap();
        rows.map(|row| row.map(|order| order.order_id).map_err(|row| (row.line, format!("{} {}", row.error.field, row.error.message))))
            .collect()
    }

    #[test]
    fn columns_are_known_in_any_spelling_and_separated_as_spreadsheets_do() {
        let text = "\u{FEFF}Order ID;Transaction-Id;cardLastFour;Note\r\nA-1;T-1;1234;x\r\n";

        let mut rows = read(text, &[]).unwrap().unwrap();

        assert_eq!(rows.ignored().collect::<Vec<_>>(), ["Note"]);
        let order = rows.next().unwrap().unwrap();
        assert_eq!(
            (order.order_id.as_str(), order.transaction_id.as_deref(), order.card_last_four.as_deref()),
            ("A-1", Some("T-1"), Some("1234"))
        );
    }

    #[test]
    fn a_header_that_is_named_is_the_column_and_the_usual_name_is_not() {
        let text = "order_id,Name\n1,#1001\n";

        assert_eq!(seen(text, &[(OrderField::OrderId, "name")]), [Ok("#1001".to_owned())]);
    }

    #[test]
    fn a_row_that_is_wrong_is_told_with_its_line_and_the_others_are_read() {
        let text = "order_id,amount,currency\nA-1,ten,EUR\n\nA-2,\"5.00\nA-3,5.00,EUR\nA-4\n,1.00,EUR\n";

        let rows = seen(text, &[]);

        let lines: Vec<_> = rows.iter().map(|row| row.as_ref().map_err(|(line, _)| *line)).collect();
        assert_eq!(lines, [Err(2), Err(4), Ok(&"A-3".to_owned()), Err(6), Err(7)]);
        assert!(matches!(&rows[0], Err((_, why)) if why.starts_with("amount is \"ten\"")), "{rows:?}");
    }

    #[test]
    fn a_first_row_that_cannot_be_used_says_what_is_there_and_what_to_do() {
        let words = |text: &str, named: &[(OrderField, &str)]| read(text, named).err().map(|error| error.to_string()).unwrap_or_default();

        assert!(words("a,b\n", &[]).contains("--map order_id=Header; the first row has \"a\", \"b\""));
        assert!(words("order_id\n", &[(OrderField::Arn, "Ref")]).contains("no column \"Ref\" for arn"));
        assert!(words("order_id,Order Id\n", &[]).contains("are both order_id"));
        assert!(words("order_id,x\n", &[(OrderField::Arn, "x"), (OrderField::AuthCode, "x")]).contains("one of them"));
        assert!(read("\n \n", &[]).unwrap().is_none());
    }
}
