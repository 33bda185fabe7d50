//! Tables of a shop's orders: which column is what, by the header that is named for it, by a preset of a shop, or by
//! its own name; and which words of a status are which state.

use std::{borrow::Cow, collections::BTreeMap, fs::File, io::Read, sync::LazyLock};

use serde::Deserialize;

use super::{
    conventions::Conventions,
    table::{CellKind, ColumnField, FieldColumns, Table, lay_out, letters, listed, place_of},
};
use crate::{
    domain::{MerchantOrder, OrderState, RejectedRow},
    read::UnknownNames,
};

/// A column of a table of orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OrderColumn {
    /// The field of this name.
    Field(&'static str),
    /// A status by the words of a preset, by its place there.
    Status(usize),
    /// The time since when an order is in that state.
    Since(OrderState),
}

impl ColumnField for OrderColumn {
    fn named(name: &str) -> Option<Self> {
        MerchantOrder::FIELDS.iter().map(|field| field.name).find(|field| letters(field) == name).map(Self::Field)
    }

    fn name(self) -> Cow<'static, str> {
        match self {
            Self::Field(name) => name.into(),
            Self::Status(_) => "state".into(),
            Self::Since(_) => "state_at".into(),
        }
    }

    fn kind(self) -> CellKind<Self> {
        match self {
            Self::Field("amount" | "refunded_amount") => CellKind::Amount(Some(Self::Field("currency"))),
            Self::Field("paid_at" | "state_at") | Self::Since(_) => CellKind::Day,
            Self::Field("card_bin" | "card_last_four" | "currency") => CellKind::Plain,
            Self::Field(_) | Self::Status(_) => CellKind::Text,
        }
    }
}

/// A streaming importer of orders, row by row.
pub struct OrderImporter {
    table: Table<OrderColumn>,
    /// Preset by which the file is read.
    pub preset: Option<&'static OrderPreset>,
    /// The order of the row before.
    last: Option<String>,
    /// Words of status columns that are not known; such orders come without a state.
    pub unknown_states: UnknownNames,
    /// Number of rows that were no orders by their status.
    pub skipped: u64,
    /// True where amounts are left out, because no column is their currency.
    pub without_amounts: bool,
    /// True where nothing but ids is understood of a file with other columns.
    pub only_ids: bool,
}

impl OrderImporter {
    /// Reads the first row of an input, of which `file` is another handle where it is a file; none where there is
    /// nothing but blanks.
    ///
    /// # Errors
    /// The reason, and the way out.
    pub fn open(input: impl Read, file: Option<File>) -> Result<Option<Self>, String> {
        let unknown_states = UnknownNames::default();
        let importer = |table| Self {
            table,
            preset: None,
            last: None,
            unknown_states,
            skipped: 0,
            without_amounts: false,
            only_ids: false,
        };
        Ok(Table::of(input, file)?.map(importer))
    }

    /// The first row.
    pub fn headers(&self) -> &[String] {
        self.table.headers()
    }

    /// Says which columns have another name than their field's, and how numbers and times are to be read. Without a
    /// preset, the first row tells whether it is one's.
    ///
    /// # Errors
    /// A first row that cannot be used.
    pub fn lay_out(
        &mut self,
        named: &[(String, String)],
        said: Conventions,
        preset: Option<&'static OrderPreset>,
    ) -> Result<(), String> {
        let headers = self.table.headers();
        self.preset = preset.or_else(|| OrderPreset::recognised(headers));
        let named =
            named.iter().filter_map(|(field, header)| Some((OrderColumn::named(&letters(field))?, header.clone())));
        let named: Vec<(OrderColumn, String)> = named.collect();
        let mut of_preset = self.preset.map_or_else(Vec::new, |preset| preset.layout(headers));
        if named.iter().any(|(column, _)| *column == OrderColumn::Field("state")) {
            of_preset.retain(|(column, _)| matches!(column, OrderColumn::Field(_)));
        }
        let mut layout = lay_out(headers, &named, of_preset)?;
        let has = |name: &'static str| layout.iter().any(|(column, _)| *column == OrderColumn::Field(name));
        if !has("order_id") {
            let there = listed(headers);
            return Err(format!(
                "no column is the order's number: name it with --map order_id=Header; the first row has {there}"
            ));
        }
        let is_id = |(column, _): &(OrderColumn, Vec<usize>)| {
            matches!(column, OrderColumn::Field("order_id" | "transaction_id" | "arn" | "auth_code"))
        };
        let only_ids = layout.iter().all(is_id);
        self.without_amounts = self.preset.is_some() && !has("currency") && has("amount");
        layout.retain(|(column, _)| !self.without_amounts || !matches!(column.kind(), CellKind::Amount(_)));
        self.table.decide(layout, said, false)?;
        self.only_ids = only_ids && self.ignored().next().is_some();
        Ok(())
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
            let cell = |wanted| cells.iter().find(|(column, _)| *column == wanted).map(|(_, cell)| cell.as_ref());
            let id = cell(OrderColumn::Field("order_id")).map(str::trim);
            let goes_on = self.last.is_some() && (id.is_none() || id == self.last.as_deref());
            if goes_on && self.preset.is_some_and(|preset| preset.several_rows) {
                continue;
            }
            self.last = id.map(str::to_owned);
            let told = self.preset.map_or(Ok(None), |preset| state_of(preset, &cells, &mut self.unknown_states));
            let Ok(state) = told else {
                self.skipped += 1;
                continue;
            };
            // Columns of their own go before what the preset tells of the state.
            let told = state.map(|state| ("state", state.as_str()));
            let since = state.and_then(|state| cell(OrderColumn::Since(state))).map(|at| ("state_at", at));
            let own = cells.iter().filter_map(|(column, cell)| match column {
                OrderColumn::Field(field) => Some((*field, cell.as_ref())),
                OrderColumn::Status(_) | OrderColumn::Since(_) => None,
            });
            let order = MerchantOrder::of_cells(told.into_iter().chain(since).chain(own));
            return Some(order.map_err(|error| RejectedRow { line, error }));
        }
    }
}

/// A row of a payment that was never made.
struct NoOrder;

/// The strongest state that the status columns of a row tell: money that is gone weighs most.
fn state_of(
    preset: &OrderPreset,
    cells: &[(OrderColumn, Cow<'_, str>)],
    unknown: &mut UnknownNames,
) -> Result<Option<OrderState>, NoOrder> {
    const STRENGTH: [OrderState; 5] =
        [OrderState::Paid, OrderState::Shipped, OrderState::Delivered, OrderState::Cancelled, OrderState::Refunded];
    let mut strongest = None;
    for (column, cell) in cells {
        let OrderColumn::Status(at) = column else { continue };
        match preset.states[*at].meaning(cell) {
            Some("skip") => return Err(NoOrder),
            Some(word) => strongest = strongest.max(STRENGTH.iter().position(|state| state.as_str() == word)),
            None => unknown.add(cell.trim()),
        }
    }
    Ok(strongest.map(|place| STRENGTH[place]))
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
    several_rows: bool,
    /// Headers of each field, the best first.
    columns: BTreeMap<String, Vec<String>>,
    /// Headers of the time since when an order is in a state.
    state_at: BTreeMap<String, Vec<String>>,
    states: Vec<StatusColumn>,
}

/// A column that tells an order's state.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StatusColumn {
    column: Vec<String>,
    /// The state of an order where this column holds anything.
    any: Option<String>,
    /// May stand before each word.
    #[serde(default)]
    prefix: String,
    /// Its words: a state, `none` where it tells nothing, `skip` where no payment was made.
    #[serde(default)]
    words: BTreeMap<String, String>,
}

impl StatusColumn {
    /// The meaning of a cell; none of a word that is not known.
    fn meaning(&self, cell: &str) -> Option<&str> {
        let cell = letters(cell);
        let bare = cell.strip_prefix(&letters(&self.prefix)).unwrap_or(&cell);
        let known = || self.words.iter().find(|(word, _)| letters(word) == bare).map(|(_, meaning)| meaning);
        self.any.as_ref().or_else(known).map(String::as_str)
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

    fn recognised(headers: &[String]) -> Option<&'static Self> {
        Self::all().iter().find(|preset| preset.recognised_by.iter().all(|names| !places(names, headers).is_empty()))
    }

    /// Its columns, those that are there.
    fn layout(&self, headers: &[String]) -> FieldColumns<OrderColumn> {
        let fields =
            self.columns.iter().filter_map(|(field, names)| Some((OrderColumn::named(&letters(field))?, names)));
        let since = self
            .state_at
            .iter()
            .filter_map(|(state, names)| Some((OrderColumn::Since(OrderState::parse(state)?), names)));
        let statuses = self.states.iter().enumerate().map(|(at, status)| (OrderColumn::Status(at), &status.column));
        let all = fields.chain(since).chain(statuses).map(|(column, names)| (column, places(names, headers)));
        all.filter(|(_, places)| !places.is_empty()).collect()
    }
}

/// The columns of headers, in their order.
fn places(names: &[String], headers: &[String]) -> Vec<usize> {
    let mut places: Vec<usize> = names.iter().filter_map(|name| place_of(name, headers)).collect();
    places.dedup();
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, named: &[(&str, &str)]) -> Result<OrderImporter, String> {
        let named: Vec<_> = named.iter().map(|(field, header)| ((*field).to_owned(), (*header).to_owned())).collect();
        let mut orders = OrderImporter::open(text.as_bytes(), None)?.ok_or("is empty")?;
        orders.lay_out(&named, Conventions::default(), None).map(|()| orders)
    }

    fn seen(text: &str, named: &[(&str, &str)]) -> Vec<Result<String, (u64, String)>> {
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

        assert_eq!(seen(text, &[("order_id", "name")]), [Ok("#1001".to_owned())]);
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
        let words = |text: &str, named: &[(&str, &str)]| read(text, named).err().unwrap_or_default();

        assert!(words("a,b\n", &[]).contains("--map order_id=Header; the first row has \"a\", \"b\""));
        assert!(words("order_id\n", &[("arn", "Ref")]).contains("no column \"Ref\" for arn"));
        assert!(words("order_id,Order Id\n", &[]).contains("are both order_id"));
        assert!(words("order_id,x\n", &[("arn", "x"), ("auth_code", "x")]).contains("one of them"));
        assert!(["order_id,arn,x\n", "order_id,arn\n"].map(|text| read(text, &[]).unwrap().only_ids) == [true, false]);
        assert_eq!(words("\n \n", &[]), "is empty");
    }

    #[test]
    fn every_preset_can_be_read_and_names_fields_and_states_that_there_are() {
        assert_eq!(OrderPreset::all().len(), FILES.len());
        for preset in OrderPreset::all() {
            assert!(
                preset.columns.keys().all(|field| OrderColumn::named(&letters(field)).is_some()),
                "{}",
                preset.name
            );
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

        assert_eq!(meanings, [Some("shipped"), Some("shipped"), Some("none"), Some("none"), None]);
    }
}
