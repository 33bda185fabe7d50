//! Tables of a shop's orders: which column is what, by the header that is named for it, by a preset of a shop, or by
//! its own name; and which words of a status are which state.

use std::{borrow::Cow, collections::BTreeMap, fs::File, io::BufRead, sync::LazyLock};

use serde::Deserialize;

use super::{
    conventions::Conventions,
    source::{rejected, rows_in_words},
    table::{CellKind, ColumnField, FieldColumns, Table, add_own_names, letters, listed, named_columns, place_of},
};
use crate::{
    domain::{MerchantOrder, OrderField, OrderState, RejectedRow},
    read::UnknownNames,
};

/// A column of a table of orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OrderColumn {
    Field(OrderField),
    /// A status by the words of a preset, by its place there.
    Status(usize),
    /// The time since when an order is in that state.
    Since(OrderState),
}

impl ColumnField for OrderColumn {
    fn named(name: &str) -> Option<Self> {
        OrderField::ALL.into_iter().find(|field| letters(field.as_str()) == name).map(Self::Field)
    }

    fn name(self) -> Cow<'static, str> {
        match self {
            Self::Field(field) => field.as_str().into(),
            Self::Status(_) => OrderField::State.as_str().into(),
            Self::Since(_) => OrderField::StateAt.as_str().into(),
        }
    }

    fn kind(self) -> CellKind<Self> {
        use OrderField as Field;
        match self {
            Self::Field(Field::Amount | Field::RefundedAmount) => CellKind::Amount(Some(Self::Field(Field::Currency))),
            Self::Field(Field::PaidAt | Field::StateAt) | Self::Since(_) => CellKind::Day,
            Self::Field(Field::CardBin | Field::CardLastFour | Field::Currency) => CellKind::Plain,
            Self::Field(_) | Self::Status(_) => CellKind::Text,
        }
    }
}

/// Refusal of a file of orders.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrderFileError {
    /// Its first row cannot be used, or something in it stays open.
    #[error("{0}")]
    Unusable(String),
    /// Nothing of it was understood but ids.
    #[error("nothing but ids is understood; not understood: {0}; name columns with --map, such as --map state=Header")]
    OnlyIds(String),
}

/// A streaming importer of orders, row by row.
pub struct OrderImporter {
    table: Table<OrderColumn>,
    preset: Option<&'static OrderPreset>,
    /// The order of the row before.
    last: Option<String>,
    unknown_states: UnknownNames,
    skipped: u64,
    without_amounts: bool,
}

impl OrderImporter {
    /// Reads the first row of an input, of which `file` is another handle where it is a file; none where there is
    /// nothing but blanks.
    ///
    /// # Errors
    /// The reason, and the way out.
    pub fn open(input: impl BufRead, file: Option<File>) -> Result<Option<Self>, OrderFileError> {
        let table = Table::of(input, file).map_err(OrderFileError::Unusable)?;
        let unknown_states = UnknownNames::default();
        Ok(table.map(|table| Self {
            table,
            preset: None,
            last: None,
            unknown_states,
            skipped: 0,
            without_amounts: false,
        }))
    }

    /// The first row.
    pub fn headers(&self) -> &[String] {
        self.table.headers()
    }

    /// Says which columns have another name than their field's, and how numbers and times are to be read. Without a
    /// preset, the first row tells whether it is one's.
    ///
    /// # Errors
    /// A first row that cannot be used, or cells that stay open.
    pub fn lay_out(
        &mut self,
        named: &[(String, String)],
        said: Conventions,
        preset: Option<&'static OrderPreset>,
    ) -> Result<(), OrderFileError> {
        let headers = self.table.headers();
        self.preset = preset.or_else(|| OrderPreset::recognised(headers));
        let layout = self.layout(named).map_err(OrderFileError::Unusable)?;
        let has = |field: OrderField| layout.iter().any(|(column, _)| *column == OrderColumn::Field(field));
        if !has(OrderField::OrderId) {
            let there = listed(headers);
            let why = format!(
                "no column is the order's number: name it with --map order_id=Header; the first row has {there}"
            );
            return Err(OrderFileError::Unusable(why));
        }
        let is_id = |(column, _): &(OrderColumn, Vec<usize>)| {
            use OrderField as Field;
            matches!(column, OrderColumn::Field(Field::OrderId | Field::TransactionId | Field::Arn | Field::AuthCode))
        };
        let only_ids = layout.iter().all(is_id);
        self.without_amounts = self.preset.is_some() && !has(OrderField::Currency) && has(OrderField::Amount);
        let is_kept = |(column, _): &(OrderColumn, Vec<usize>)| {
            !self.without_amounts || !matches!(column.kind(), CellKind::Amount(_))
        };
        let layout = layout.into_iter().filter(is_kept).collect();
        self.table.decide(layout, said, false).map_err(|open| OrderFileError::Unusable(rows_in_words(&open)))?;
        let ignored: Vec<String> = self.ignored().map(str::to_owned).collect();
        if only_ids && !ignored.is_empty() { Err(OrderFileError::OnlyIds(listed(&ignored))) } else { Ok(()) }
    }

    /// The columns by the headers that are named for fields, then those of the preset, then their own names.
    fn layout(&self, named: &[(String, String)]) -> Result<FieldColumns<OrderColumn>, String> {
        let headers = self.table.headers();
        let named =
            named.iter().filter_map(|(field, header)| Some((OrderColumn::named(&letters(field))?, header.clone())));
        let mut layout = named_columns(headers, &named.collect::<Vec<_>>())?;
        if let Some(preset) = self.preset {
            let is_laid_out = |layout: &FieldColumns<OrderColumn>, field| {
                layout.iter().any(|(column, _)| *column == OrderColumn::Field(field))
            };
            for (field, places) in preset.fields(headers) {
                if !is_laid_out(&layout, field) {
                    layout.push((OrderColumn::Field(field), places));
                }
            }
            if !is_laid_out(&layout, OrderField::State) {
                let statuses = preset
                    .states
                    .iter()
                    .enumerate()
                    .map(|(at, status)| (OrderColumn::Status(at), places(&status.column, headers)));
                layout.extend(statuses.filter(|(_, places)| !places.is_empty()));
                layout.extend(preset.times(headers).map(|(state, places)| (OrderColumn::Since(state), places)));
            }
        }
        add_own_names(headers, &mut layout)?;
        Ok(layout)
    }

    /// The preset by which the file is read.
    pub fn preset(&self) -> Option<&'static OrderPreset> {
        self.preset
    }

    /// Tells that amounts are left out, because no column is their currency.
    pub fn is_without_amounts(&self) -> bool {
        self.without_amounts
    }

    /// Words of status columns that are not known, each once; such orders come without a state.
    pub fn unknown_states(&self) -> &[String] {
        self.unknown_states.names()
    }

    /// Number of rows that were no orders by their status.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Bytes read of the source so far, for a progress bar.
    pub fn bytes_read(&self) -> u64 {
        self.table.bytes_read()
    }

    /// Headers that are no column of an order; they are ignored.
    pub fn ignored(&self) -> impl Iterator<Item = &str> {
        self.table.ignored()
    }
}

impl Iterator for OrderImporter {
    type Item = Result<MerchantOrder, RejectedRow>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (line, row) = self.table.next_row()?;
            let cells = match row {
                Ok(cells) => cells,
                Err(row) => return Some(Err(row)),
            };
            let id = cells
                .iter()
                .find(|(column, _)| *column == OrderColumn::Field(OrderField::OrderId))
                .map(|(_, cell)| cell.trim());
            let goes_on = self.last.is_some() && (id.is_none() || id == self.last.as_deref());
            if goes_on && self.preset.is_some_and(|preset| preset.several_rows) {
                continue;
            }
            self.last = id.map(str::to_owned);
            let told = self.preset.map_or(Some(None), |preset| state_of(preset, &cells, &mut self.unknown_states));
            let Some(state) = told else {
                self.skipped += 1;
                continue;
            };
            let since =
                cells.iter().find(|(column, _)| state.is_some_and(|state| *column == OrderColumn::Since(state)));
            let fields = cells.iter().filter_map(|(column, cell)| Some((field_of(*column)?, cell.as_ref())));
            let told = state.map(|state| (OrderField::State, state.as_str()));
            let told = told.into_iter().chain(since.map(|(_, at)| (OrderField::StateAt, at.as_ref())));
            let told: Vec<_> = told
                .filter(|(field, _)| !cells.iter().any(|(column, _)| *column == OrderColumn::Field(*field)))
                .collect();
            return Some(MerchantOrder::of_cells(fields.chain(told)).map_err(|error| rejected(line, error)));
        }
    }
}

fn field_of(column: OrderColumn) -> Option<OrderField> {
    match column {
        OrderColumn::Field(field) => Some(field),
        OrderColumn::Status(_) | OrderColumn::Since(_) => None,
    }
}

/// The strongest state that the status columns of a row tell: money that is gone weighs most. None of a row that is no
/// order.
fn state_of(
    preset: &OrderPreset,
    cells: &[(OrderColumn, Cow<'_, str>)],
    unknown: &mut UnknownNames,
) -> Option<Option<OrderState>> {
    const STRENGTH: [OrderState; 5] =
        [OrderState::Paid, OrderState::Shipped, OrderState::Delivered, OrderState::Cancelled, OrderState::Refunded];
    let mut strongest: Option<OrderState> = None;
    for (column, cell) in cells {
        let OrderColumn::Status(at) = column else { continue };
        match preset.states[*at].meaning(cell) {
            Some(StatusWord::NoOrder) => return None,
            Some(StatusWord::Nothing) => {}
            Some(StatusWord::State(state)) => {
                let strength = |state: OrderState| STRENGTH.iter().position(|known| *known == state);
                strongest = strongest.filter(|before| strength(*before) >= strength(state)).or(Some(state));
            }
            None => unknown.add(cell.trim()),
        }
    }
    Some(strongest)
}

/// A shop's order file, known by its header.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrderPreset {
    pub name: String,
    /// In words.
    pub title: String,
    /// A file is one of these where it has a column of each line.
    recognised_by: Vec<Vec<String>>,
    /// An order goes over several rows, of which the first has all that it is.
    pub(super) several_rows: bool,
    /// Headers of each field, the best first.
    columns: BTreeMap<String, Vec<String>>,
    /// Headers of the time since when an order is in a state.
    state_at: BTreeMap<String, Vec<String>>,
    pub(super) states: Vec<StatusColumn>,
}

/// A column that tells an order's state.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StatusColumn {
    pub(super) column: Vec<String>,
    /// The state of an order where this column holds anything.
    any: Option<String>,
    /// May stand before each word.
    #[serde(default)]
    prefix: String,
    /// Its words: a state, `none` where it tells nothing, `skip` where the row is no order.
    #[serde(default)]
    words: BTreeMap<String, String>,
}

/// Meaning of a word of a status column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatusWord {
    State(OrderState),
    Nothing,
    NoOrder,
}

impl StatusColumn {
    /// The meaning of a cell; none of a word that is not known.
    pub(super) fn meaning(&self, cell: &str) -> Option<StatusWord> {
        let cell = letters(cell);
        let bare = cell.strip_prefix(&letters(&self.prefix)).unwrap_or(&cell);
        let word = self
            .any
            .as_ref()
            .or_else(|| self.words.iter().find(|(word, _)| letters(word) == bare).map(|(_, state)| state));
        match word?.as_str() {
            "none" => Some(StatusWord::Nothing),
            "skip" => Some(StatusWord::NoOrder),
            state => OrderState::parse(state).map(StatusWord::State),
        }
    }
}

static PRESETS: LazyLock<Vec<OrderPreset>> =
    LazyLock::new(|| FILES.iter().filter_map(|text| toml::from_str(text).ok()).collect());

const FILES: [&str; 3] = [
    include_str!("../../../assets/orders/shopify.toml"),
    include_str!("../../../assets/orders/woocommerce.toml"),
    include_str!("../../../assets/orders/stripe.toml"),
];

impl OrderPreset {
    /// All that there are.
    pub fn all() -> &'static [Self] {
        &PRESETS
    }

    /// Returns the preset with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().iter().find(|preset| preset.name.eq_ignore_ascii_case(name))
    }

    pub(super) fn recognised(headers: &[String]) -> Option<&'static Self> {
        Self::all().iter().find(|preset| preset.recognised_by.iter().all(|names| !places(names, headers).is_empty()))
    }

    /// The columns of each field, those that are there.
    pub(super) fn fields(&self, headers: &[String]) -> impl Iterator<Item = (OrderField, Vec<usize>)> {
        present(&self.columns, OrderField::parse, headers)
    }

    /// The columns of the time of each state.
    pub(super) fn times(&self, headers: &[String]) -> impl Iterator<Item = (OrderState, Vec<usize>)> {
        present(&self.state_at, OrderState::parse, headers)
    }
}

fn present<T>(
    columns: &BTreeMap<String, Vec<String>>,
    parse: fn(&str) -> Option<T>,
    headers: &[String],
) -> impl Iterator<Item = (T, Vec<usize>)> {
    let columns = columns.iter().filter_map(move |(name, names)| Some((parse(name)?, places(names, headers))));
    columns.filter(|(_, places)| !places.is_empty())
}

/// The columns of headers, in their order.
pub(super) fn places(names: &[String], headers: &[String]) -> Vec<usize> {
    let mut places = Vec::new();
    for place in names.iter().filter_map(|name| place_of(name, headers)) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, named: &[(OrderField, &str)]) -> Result<OrderImporter, String> {
        let named: Vec<_> =
            named.iter().map(|(field, header)| (field.as_str().to_owned(), (*header).to_owned())).collect();
        let opened = OrderImporter::open(text.as_bytes(), None).map_err(|error| error.to_string())?;
        let mut orders = opened.ok_or("is empty")?;
        orders.lay_out(&named, Conventions::default(), None).map(|()| orders).map_err(|error| error.to_string())
    }

    fn seen(text: &str, named: &[(OrderField, &str)]) -> Vec<Result<String, (u64, String)>> {
        let rows = read(text, named).unwrap();
        rows.map(|row| {
            row.map(|order| order.order_id)
                .map_err(|row| (row.line, format!("{} {}", row.error.field, row.error.message)))
        })
        .collect()
    }

    #[test]
    fn columns_are_known_in_any_spelling_and_separated_as_spreadsheets_do() {
        let text = "\u{FEFF}Order ID;Transaction-Id;cardLastFour;Note\r\nA-1;T-1;1234;x\r\n";

        let mut rows = read(text, &[]).unwrap();

        assert_eq!(rows.ignored().collect::<Vec<_>>(), ["Note"]);
        let order = rows.next().unwrap().unwrap();
        assert_eq!(
            (order.order_id.as_str(), order.transaction_id.as_deref(), order.card_last_four.as_deref()),
            ("A-1", Some("T-1"), Some("1234"))
        );
    }

    #[test]
    fn a_header_that_is_named_is_the_column_and_the_usual_name_is_not() {
        let text = "order_id,Name,state\n1,#1001,paid\n";

        assert_eq!(seen(text, &[(OrderField::OrderId, "name")]), [Ok("#1001".to_owned())]);
    }

    #[test]
    fn a_row_that_is_wrong_is_told_with_its_line_and_the_others_are_read() {
        let text = "order_id,amount,currency\nA-1,ten,EUR\n\nA-2,\"5.00\nA-3,5.00,EUR\nA-4\n,1.00,EUR\n";

        let rows = seen(text, &[]);

        let lines: Vec<_> = rows.iter().map(|row| row.as_ref().map_err(|(line, _)| *line)).collect();
        assert_eq!(lines, [Err(2), Err(4), Ok(&"A-3".to_owned()), Ok(&"A-4".to_owned()), Err(7)]);
        assert!(matches!(&rows[0], Err((_, why)) if why.starts_with("amount is \"ten\"")), "{rows:?}");
    }

    #[test]
    fn a_first_row_that_cannot_be_used_says_what_is_there_and_what_to_do() {
        let words = |text: &str, named: &[(OrderField, &str)]| read(text, named).err().unwrap_or_default();

        assert!(words("a,b\n", &[]).contains("--map order_id=Header; the first row has \"a\", \"b\""));
        assert!(words("order_id\n", &[(OrderField::Arn, "Ref")]).contains("no column \"Ref\" for arn"));
        assert!(words("order_id,Order Id\n", &[]).contains("are both order_id"));
        assert!(words("order_id,x\n", &[(OrderField::Arn, "x"), (OrderField::AuthCode, "x")]).contains("one of them"));
        assert!(words("order_id,arn,x\n", &[]).contains("nothing but ids is understood; not understood: \"x\""));
        assert_eq!(words("\n \n", &[]), "is empty");
    }

    #[test]
    fn every_preset_can_be_read_and_names_fields_and_states_that_there_are() {
        assert_eq!(OrderPreset::all().len(), FILES.len());
        for preset in OrderPreset::all() {
            assert!(preset.columns.keys().all(|field| OrderField::parse(field).is_some()), "{}", preset.name);
            assert!(preset.state_at.keys().all(|state| OrderState::parse(state).is_some()), "{}", preset.name);
            let words = preset.states.iter().flat_map(|status| status.words.values().chain(&status.any));
            for word in words {
                assert!(
                    matches!(word.as_str(), "none" | "skip") || OrderState::parse(word).is_some(),
                    "{}: {word}",
                    preset.name
                );
            }
        }
    }

    #[test]
    fn a_word_is_known_in_any_spelling_and_behind_its_prefix() {
        let status = &OrderPreset::named("WooCommerce").unwrap().states[0];

        let meanings = ["wc-completed", "Completed", "On hold", "on-hold", "Packing"].map(|word| status.meaning(word));

        let shipped = Some(StatusWord::State(OrderState::Shipped));
        assert_eq!(meanings, [shipped, shipped, Some(StatusWord::Nothing), Some(StatusWord::Nothing), None]);
    }
}
