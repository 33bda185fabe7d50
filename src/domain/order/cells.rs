//! Reading an order from the cells of a row: what is allowed in each column, and card numbers cut to BIN and last four.

use std::borrow::Cow;

use super::{MerchantOrder, OrderState};
use crate::{
    FieldError,
    card::{BIN_DIGITS, LAST_DIGITS},
    field::{Field, Kind},
    identity::Identifier,
    intake::check,
    sanitize,
    time::{from_iso, to_iso},
};

/// Number of a card's first and last digits together.
const MOST_OF_A_CARD: usize = BIN_DIGITS + LAST_DIGITS;

impl MerchantOrder {
    /// Returns an order from its cells; an empty one says nothing.
    ///
    /// # Errors
    /// When a cell is not allowed: the first such cell and the allowed values. No message repeats card data.
    pub fn of_cells<'a>(cells: impl IntoIterator<Item = (&'static str, &'a str)>) -> Result<Self, FieldError> {
        read_cells(Self::FIELDS, cells)
    }

    /// Returns the cell of a field, where the order has a value.
    pub fn cell(&self, field: &Field<Self>) -> Option<String> {
        match &field.kind {
            Kind::Moment(access) => (access.get)(self).map(to_iso),
            _ => field.plain_text(self).map(Cow::into_owned),
        }
    }
}

/// Reads a record from its cells, by name; an empty one says nothing, and so does one that is no field's.
///
/// # Errors
/// When a cell is not allowed: the first such cell and the allowed values. No message repeats card data.
pub(crate) fn read_cells<'a, R: Default>(
    fields: &'static [Field<R>],
    cells: impl IntoIterator<Item = (&'static str, &'a str)>,
) -> Result<R, FieldError> {
    let mut record = R::default();
    for (name, cell) in cells {
        let cell = sanitize::stored_line(cell);
        if !cell.is_empty() {
            put(&mut record, fields, name, &cell).map_err(|why| FieldError::new(name, why))?;
        }
    }
    check(&mut record, fields, "")?;
    let is_given = |field: &&Field<R>| !(field.is_blank)(&record);
    let currency = fields.iter().filter(is_given).any(|field| field.name == "currency");
    let amount = fields.iter().filter(is_given).find(|field| matches!(field.kind, Kind::Amount(_)));
    match amount.filter(|_| !currency) {
        Some(amount) => Err(FieldError::new("currency", format!("is missing: the currency of {}", amount.name))),
        None => Ok(record),
    }
}

fn put<R>(record: &mut R, fields: &'static [Field<R>], name: &str, cell: &str) -> Result<(), String> {
    let shown = sanitize::excerpt(cell);
    let named = |name: &str| fields.iter().find(|field| field.name == name);
    let Some(field) = named(name) else { return Ok(()) };
    match (name, &field.kind) {
        ("card_bin" | "card_last_four", Kind::Text(own)) => {
            let (bin, last_four) = card_digits(cell);
            let (digits, other, rest, why) = if name == "card_bin" {
                (bin, "card_last_four", last_four, "must be the first 6 or 8 digits of the card")
            } else {
                let why = "must be the last 4 digits of the card (a spreadsheet drops zeros that a number begins with)";
                (last_four, "card_bin", bin, why)
            };
            (own.set)(record, digits.ok_or(why)?.into());
            if let (Some(rest), Some(Field { kind: Kind::Text(other), is_blank, .. })) = (rest, named(other))
                && is_blank(record)
            {
                (other.set)(record, rest.into());
            }
        }
        ("currency", Kind::Text(text)) => (text.set)(record, cell.to_ascii_uppercase().into()),
        ("state", Kind::Word(word)) => (word.set)(record, state(cell)?.as_str().into()),
        (_, Kind::Amount(amount)) => {
            let wrong = |_| format!("is {shown:?}: a decimal such as 129.90 is needed, without currency or grouping");
            (amount.set)(record, cell.parse().map_err(wrong)?);
        }
        (_, Kind::Moment(moment)) => {
            let wrong = || format!("is {shown:?}: a date or time such as 2026-03-03 is needed");
            (moment.set)(record, from_iso(cell).ok_or_else(wrong)?);
        }
        (_, Kind::Word(text) | Kind::Text(text)) if field.required.is_some() => {
            (text.set)(record, Identifier::Name.require(cell)?.into());
        }
        (_, Kind::Word(text) | Kind::Text(text)) => (text.set)(record, cell.into()),
        _ => {}
    }
    Ok(())
}

/// Returns the first digits and the last four of a card, as far as a cell has them. Shops write blanks and hyphens
/// between, and signs in the place of hidden digits.
fn card_digits(cell: &str) -> (Option<String>, Option<String>) {
    let is_hidden = |c: char| matches!(c, '*' | 'x' | 'X' | '•' | '·' | '.' | '#');
    if !cell.chars().all(|c| c.is_ascii_digit() || matches!(c, ' ' | '-') || is_hidden(c)) {
        return (None, None);
    }
    let digits: String = cell.chars().filter(char::is_ascii_digit).collect();
    let is_american_express = digits.starts_with("34") || digits.starts_with("37");
    let bin = match digits.len() {
        // With 8 of an American Express card's 15 digits and the last four, 3 would be left to guess.
        8 if is_american_express && cell.contains(is_hidden) => None,
        8 if !is_american_express => Some(8),
        6 | 8 | MOST_OF_A_CARD.. => Some(BIN_DIGITS),
        _ => None,
    };
    let last_four = matches!(digits.len(), LAST_DIGITS | MOST_OF_A_CARD..).then(|| digits.len() - LAST_DIGITS);
    (bin.map(|end| digits[..end].to_owned()), last_four.map(|start| digits[start..].to_owned()))
}

fn state(cell: &str) -> Result<OrderState, String> {
    // The word is spelled in two ways.
    let cell = if cell.eq_ignore_ascii_case("canceled") { OrderState::Cancelled.as_str() } else { cell };
    OrderState::known(cell).ok_or_else(|| {
        let allowed: Vec<&str> = OrderState::ALL.iter().map(|state| state.as_str()).collect();
        format!("is {:?}: one of {} is allowed", sanitize::excerpt(cell), allowed.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::card::mask_card_numbers;

    fn read(cells: &[(&'static str, &str)]) -> Result<MerchantOrder, FieldError> {
        MerchantOrder::of_cells([("order_id", "A-1")].into_iter().chain(cells.iter().copied()))
    }

    #[test]
    fn cells_become_an_order_and_empty_ones_say_nothing() {
        let order = read(&[
            ("amount", "129.90"),
            ("currency", "eur"),
            ("paid_at", "2026-03-01T00:00:00Z"),
            ("state", "Canceled"),
            ("arn", "  "),
        ])
        .unwrap();

        assert_eq!(order.money().unwrap().to_string(), "129.90 EUR");
        assert_eq!(
            (order.paid_at.map(to_iso).as_deref(), order.state),
            (Some("2026-03-01T00:00:00.000Z"), Some(OrderState::Cancelled))
        );
        assert_eq!(order.arn, None);
    }

    #[rstest]
    #[case("card_bin", "4111 1111 1111 1111", Some("411111"), Some("1111"))]
    #[case("card_bin", "411111******1234", Some("411111"), Some("1234"))]
    #[case("card_bin", "41111122", Some("41111122"), None)]
    #[case("card_bin", "37144963", Some("371449"), None)]
    #[case("card_last_four", "**** 1234", None, Some("1234"))]
    #[case("card_last_four", "4111111111111111", Some("411111"), Some("1111"))]
    fn of_a_card_the_first_digits_and_the_last_four_are_kept_and_nothing_more(
        #[case] field: &'static str,
        #[case] cell: &str,
        #[case] bin: Option<&str>,
        #[case] last_four: Option<&str>,
    ) {
        let order = read(&[(field, cell)]).unwrap();

        assert_eq!((order.card_bin.as_deref(), order.card_last_four.as_deref()), (bin, last_four));
    }

    #[rstest]
    #[case("amount", "1,299.00", "a decimal such as 129.90")]
    #[case("amount", "-5", "0 to 9,223,372,036,854")]
    #[case("currency", "EURO", "three letters")]
    #[case("card_bin", "4111", "first 6 or 8 digits")]
    #[case("card_last_four", "42", "drops zeros")]
    #[case("card_last_four", "none", "last 4 digits")]
    #[case("paid_at", "0001-03-01T00:00:00Z", "1970 to 2999")]
    #[case("state", "fulfilled", "paid, shipped, delivered, refunded, cancelled")]
    #[case("transaction_id", "4111111111111111", "is a card number")]
    #[case("order_id", "5.36E+18", "a spreadsheet has made a number of it")]
    #[case("order_id", "N/A", "identifies nothing")]
    fn a_wrong_cell_is_told_with_what_is_allowed(#[case] field: &'static str, #[case] cell: &str, #[case] words: &str) {
        let error = read(&[("currency", "EUR"), (field, cell)]).unwrap_err();

        assert_eq!(error.field, field);
        assert!(error.message.contains(words) && !error.message.contains("411111111111"), "{error:?}");
    }

    #[test]
    fn an_order_needs_its_number_and_an_amount_its_currency() {
        let nameless = MerchantOrder::of_cells([("state", "paid")]).unwrap_err();
        let bare = read(&[("refunded_amount", "5.00")]).unwrap_err();

        assert_eq!((nameless.field.as_str(), bare.field.as_str()), ("order_id", "currency"));
        assert!(bare.message.contains("refunded_amount"), "{bare:?}");
    }

    proptest! {
        #[test]
        fn no_cell_makes_reading_panic_or_keeps_a_card_number(cell in "\\PC{0,30}", index in 0_usize..13) {
            if let Ok(order) = read(&[("currency", "EUR"), (MerchantOrder::FIELDS[index].name, &cell)]) {
                let kept = format!("{order:?}");
                prop_assert_eq!(mask_card_numbers(&kept), kept.as_str());
            }
        }
    }
}
