//! Bringing alerts in from files.

use std::io::{self, BufReader, Read};

use avert::{
    domain::{AlertPatch, RejectedRow, time::to_iso},
    wire::{
        Dialect,
        import::{Conventions, DateOrder, DecimalMark, FileFormat, Importer, MAX_ROW, Row},
        write,
    },
};
use proptest::prelude::*;
use rstest::rstest;

use crate::support::alerts::{noon, open_alert};

const PLAIN: &str =
    r#"{"providerId":"P-1","provider":"ETHOCA","type":"ETHOCA_CONFIRMED_FRAUD","amount":"129.90","currency":"EUR"}"#;

fn rows(content: impl AsRef<[u8]>) -> Vec<Row> {
    // A tiny buffer, so that everything that can be cut somewhere is.
    Importer::new(BufReader::with_capacity(7, content.as_ref()), None).collect()
}

fn named(provider_id: &str) -> String {
    PLAIN.replace("P-1", provider_id)
}

/// What a test wants to see of a row: its line, and either the provider id or the error.
fn seen(rows: &[Row]) -> Vec<(u64, String)> {
    rows.iter()
        .map(|row| match row {
            Ok(AlertPatch { line, alert, .. }) => (*line, alert.provider_id.clone()),
            Err(RejectedRow { line, error }) => (*line, format!("{}: {}", error.field, error.message)),
        })
        .collect()
}

#[test]
fn a_page_an_array_single_objects_and_lines_all_give_the_same_alerts() {
    let (first, second) = (named("P-1"), named("P-2"));
    let page = format!(
        "{{\"total\": 2,\n \"data\": [\n{first},\n{second}\n], \"totalPages\": 1, \"page\": 0, \"size\": 10}}\n"
    );
    let array = format!("\n[{first},\n\n {second}]");
    let lines = format!("{first}\n\n{second}\n");
    let objects = format!("{{\n{}\n\n{{\n{}", &first[1..], &second[1..]);

    assert_eq!(seen(&rows(&page)), [(3, "P-1".to_owned()), (4, "P-2".to_owned())]);
    assert_eq!(seen(&rows(&array)), [(2, "P-1".to_owned()), (4, "P-2".to_owned())]);
    assert_eq!(seen(&rows(&lines)), [(1, "P-1".to_owned()), (3, "P-2".to_owned())]);
    assert_eq!(seen(&rows(&objects)), [(1, "P-1".to_owned()), (4, "P-2".to_owned())]);
}

#[test]
fn what_the_list_operation_answers_can_be_brought_in_in_both_dialects() {
    let page = avert::domain::Page {
        data: vec![open_alert("P-1"), open_alert("P-2")],
        total: 2,
        counted: true,
        page: 0,
        size: 10,
    };

    for dialect in [Dialect::Current, Dialect::Older] {
        let read = rows(write::page(&page, dialect, noon()));

        let alerts: Vec<_> = read.into_iter().map(|row| row.unwrap().alert).collect();
        let ids: Vec<_> = alerts.iter().map(|alert| alert.id).collect();
        assert_eq!(ids, [page.data[0].id, page.data[1].id]);
        assert_eq!(alerts[0].amount.unwrap().to_string(), "129.90");
    }
}

#[test]
fn several_pages_one_after_the_other_are_read() {
    let pages = format!(
        "{{\"data\":[{}],\"page\":0}}\n{{\"data\":[],\"page\":1}}\n{{\"page\":2,\"data\":[{}]}}",
        named("P-1"),
        named("P-2")
    );

    assert_eq!(seen(&rows(pages)), [(1, "P-1".to_owned()), (3, "P-2".to_owned())]);
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_accepted() {
    let lines = format!("\u{FEFF}{}\r\n\r\n{}\r\n", named("P-1"), named("P-2"));
    let table =
        "\u{FEFF}providerId,provider,type,amount,currency\r\nP-1,ETHOCA,T,1.00,EUR\r\n\r\nP-2,ETHOCA,T,1.00,EUR\r\n";

    assert_eq!(seen(&rows(lines)), [(1, "P-1".to_owned()), (3, "P-2".to_owned())]);
    assert_eq!(seen(&rows(table)), [(2, "P-1".to_owned()), (4, "P-2".to_owned())]);
}

#[test]
fn a_table_names_its_columns_in_any_letter_case_and_order() {
    let table = "CURRENCY;Amount;providerid;provider;TYPE;outcome.outcome;outcome.refunded;outcome;remark;hoursLeft;\
        hasExternalTransaction\n\
        EUR;10.00;P-1;verifi;VERIFI_DISPUTE;resolved;refunded;;seen;;TRUE\n\
        EUR;5;\"P;\"\"2\"\"\";verifi;VERIFI_DISPUTE;;;;seen;3;\n";
    let mut importer = Importer::new(table.as_bytes(), None);

    let read: Vec<_> = importer.by_ref().map(Result::unwrap).collect();

    assert_eq!(importer.new_unknown_fields(), ["remark"]);
    assert_eq!(importer.bytes_read(), table.len() as u64);
    assert_eq!(read[0].alert.outcome.as_ref().map(|outcome| outcome.outcome.as_str()), Some("resolved"));
    assert_eq!(read[0].alert.amount.unwrap().to_string(), "10.00");
    assert!(read[0].alert.has_external_transaction && !read[1].alert.has_external_transaction);
    assert_eq!((read[1].alert.provider_id.as_str(), read[1].alert.outcome.is_none()), ("P;\"2\"", true));
    assert_eq!(read[1].alert.deadline, avert::domain::Deadline::HoursLeft(3));
}

#[test]
fn a_broken_row_of_a_table_never_stops_the_others() {
    let table = "providerId,provider,type,amount,currency\n\
        P-1,ETHOCA,T,1.00,EUR\n\
        P-2,ETHOCA,T,1.00\n\
        P-3,ETHOCA,T,one,EUR\n\
        P-4,ETHOCA,T,\"1.00,EUR\n\
        P-5,ETHOCA,T,1.00,EUR\n\
        \"P\n6\",ETHOCA,T,1.00,EUR\n\
        P-7,ETHOCA,\"T,1.00,EUR\n\
        P-8,ETHOCA,T\"\",\"1.00\",EUR\n\
        P-9,ETHOCA,T,1.00,EUR";

    let seen = seen(&rows(table));

    assert_eq!(seen.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 3, 4, 5, 6, 7, 9, 10, 11]);
    let kept: Vec<_> = seen.iter().filter(|(_, what)| what.starts_with('P')).map(|(_, what)| what.as_str()).collect();
    assert_eq!(kept, ["P-1", "P-2", "P-5", "P\n6", "P-8", "P-9"]);
    assert!(seen[2].1.starts_with("amount: is \"one\""), "{}", seen[2].1);
    assert!(seen[3].1.contains("quotation mark"), "{}", seen[3].1);
}

#[test]
fn a_broken_line_of_ndjson_never_stops_the_others() {
    let lines = format!(
        "{}\n{{\"providerId\":\n[1]\n\"x\"\n{}\n{}",
        named("P-1"),
        named("P-2").replace("129.90", "x"),
        named("P-3")
    );

    let seen = seen(&rows(lines));

    assert_eq!(seen.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    assert!(seen[1].1.contains("line 2, column"), "{}", seen[1].1);
    assert!(seen[2].1.contains("array") && seen[3].1.contains("is \"x\""), "{seen:?}");
    assert!(seen[4].1.starts_with("amount: "), "{}", seen[4].1);
    assert_eq!(seen[5].1, "P-3");
}

#[test]
fn lines_are_known_as_such_even_when_the_first_is_broken() {
    let lines = format!("{{\"providerId\": \"P-0\n{}\n{}\n", named("P-1"), named("P-2"));

    assert_eq!(seen(&rows(lines))[1..], [(2, "P-1".to_owned()), (3, "P-2".to_owned())]);
}

#[test]
fn an_element_that_is_no_alert_leaves_the_rest_of_an_array() {
    let array = format!("[\n{},\n12,\n{{\"a\" 1}},\nnull,\n[{{}}],\n{}\n]", named("P-1"), named("P-2"));

    let seen = seen(&rows(array));

    assert_eq!(seen.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 3, 4, 5, 6, 7]);
    assert!(seen[2].1.contains("line 4, column 6"), "{}", seen[2].1);
    assert_eq!((seen[0].1.as_str(), seen[5].1.as_str()), ("P-1", "P-2"));
}

#[test]
fn an_object_over_several_lines_tells_the_true_place_of_its_fault() {
    let array = format!(
        "[\n{},\n  {{\n    \"providerId\": \"P-2\",\n    \"amount\": 1.0.0\n  }},\n{}]",
        named("P-1"),
        named("P-3")
    );

    let seen = seen(&rows(array));

    assert_eq!((seen[0].1.as_str(), seen[2].1.as_str()), ("P-1", "P-3"));
    assert_eq!(seen[1].0, 3);
    assert!(seen[1].1.contains("at line 5, column 18"), "{}", seen[1].1);
}

#[rstest]
#[case("[\n@,\n@\n", "the array is not closed at line 4, column 1")]
#[case("[\n@\n@,,\n}]", "a value is missing at line 4, column 1")]
#[case("[@,@,\n{\"a\": [1},\n {\"b\": 2}", "ends in the middle of a value at line 3, column 10")]
#[case(
    "[@,@,\n{\"a\": \"x\n\"}]",
    "control character (\\u0000-\\u001F) found while parsing a string at line 2, column 8"
)]
#[case("[@,@,\n{\"a\": \"x", "ends in the middle of a value at line 2, column 9")]
#[case("{\"data\":[@,@", "the array is not closed at line 1")]
#[case("{\"data\":[@,@], \"total\":", "ends in the middle of a value at line 1")]
#[case("[@,@]\nx", "an object or an array is needed at line 2, column 1")]
fn where_json_is_broken_the_rows_before_are_kept_and_the_place_is_told(#[case] content: &str, #[case] words: &str) {
    let seen = seen(&rows(content.replace('@', PLAIN)));

    assert_eq!(seen.len(), 3, "{seen:?}");
    assert_eq!((seen[0].1.as_str(), seen[1].1.as_str()), ("P-1", "P-1"));
    assert!(seen[2].1.contains(words), "{}", seen[2].1);
}

#[rstest]
#[case(b"\x89PNG\r\n\x1a\n\0\0".to_vec(), "no text, or UTF-16: it holds a NUL byte")]
#[case(b"\xff\xfe[\0".to_vec(), "UTF-16")]
#[case(b"name,colour\nx,y\n".to_vec(), "names fields of an alert")]
fn a_file_of_another_kind_is_refused_once(#[case] content: Vec<u8>, #[case] words: &str) {
    let seen = seen(&rows(content));

    assert_eq!(seen.len(), 1, "{seen:?}");
    assert!(seen[0].1.contains(words), "{}", seen[0].1);
}

#[test]
fn an_empty_file_holds_nothing() {
    assert!(
        rows("").is_empty() && rows(" \n\n").is_empty() && rows("[]").is_empty() && rows("{\"data\":[]}").is_empty()
    );
}

#[test]
fn the_format_can_be_named_where_the_content_does_not_tell() {
    let objects = format!("{{\n{}", &PLAIN[1..]);

    let read: Vec<_> = Importer::new(objects.as_bytes(), Some(FileFormat::Ndjson)).collect();

    assert_eq!(read.iter().filter(|row| row.is_err()).count(), 2);
}

#[test]
fn bytes_that_are_not_utf_8_cost_only_their_row() {
    let mut lines = PLAIN.as_bytes().to_vec();
    lines.extend_from_slice(b"\n{\"issuer\":\"\xff\"}\n");
    lines.extend_from_slice(named("P-2").as_bytes());

    let seen = seen(&rows(lines));

    assert_eq!((seen[0].1.as_str(), seen[2].1.as_str()), ("P-1", "P-2"));
    assert!(seen[1].1.contains("UTF-8 at byte 12"), "{}", seen[1].1);
}

#[test]
fn a_row_over_the_limit_is_refused_and_the_next_one_read() {
    let large = format!("{{\"issuer\":\"{}\"}}", "x".repeat(MAX_ROW));
    let contents = [
        format!("[{large},{PLAIN}]"),
        format!("{PLAIN}\n{large}\n{PLAIN}"),
        format!("providerId,provider,type,amount,currency\n{},ETHOCA,T,1,EUR\nP-1,ETHOCA,T,1,EUR", "x".repeat(MAX_ROW)),
    ];

    for content in contents {
        let seen: Vec<_> = seen(&Importer::new(content.as_bytes(), None).collect::<Vec<_>>());

        assert!(seen.iter().any(|(_, what)| what.contains("larger than 1024 KiB")), "{:?}", &content[..20]);
        assert_eq!(seen.last().unwrap().1, "P-1");
    }
}

/// An array that never ends.
struct Endless(usize);

impl Read for Endless {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let element = format!(",{PLAIN}");
        for byte in into.iter_mut() {
            *byte = if self.0 == 0 {
                b'['
            } else {
                element.as_bytes()[1..].iter().chain(b",").copied().nth((self.0 - 1) % element.len()).unwrap()
            };
            self.0 += 1;
        }
        Ok(into.len())
    }
}

#[test]
fn alerts_come_one_by_one_from_an_array_that_never_ends() {
    let mut importer = Importer::new(BufReader::with_capacity(512, Endless(0)), None);

    let read = importer.by_ref().take(300).filter(Result::is_ok).count();

    assert_eq!(read, 300);
    let element = PLAIN.len() as u64 + 1;
    assert!((300 * element..302 * element).contains(&importer.bytes_read()), "{}", importer.bytes_read());
}

/// A source that fails after so many bytes.
struct Failing<'a>(&'a [u8]);

impl Read for Failing<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() { Err(io::Error::other("the disk is gone")) } else { self.0.read(into) }
    }
}

#[test]
fn a_source_that_breaks_is_told_once_and_what_came_is_kept() {
    let array = format!("[{}", format!("{PLAIN},\n").repeat(400));

    let seen = seen(&Importer::new(BufReader::new(Failing(array.as_bytes())), None).collect::<Vec<_>>());

    assert_eq!(seen.len(), 401);
    assert!(seen[400].1.contains("the disk is gone"), "{}", seen[400].1);
}

#[test]
fn nesting_without_end_is_refused() {
    let seen = seen(&rows(format!("[{PLAIN},{}", "[".repeat(100_000))));

    assert_eq!(seen.len(), 2);
    assert!(seen[1].1.contains("ends in the middle of a value"), "{}", seen[1].1);
}

/// Amounts and transaction times of a table, as they are read.
fn facts(table: &str, said: Conventions) -> Vec<Result<(String, Option<String>), String>> {
    let mut importer = Importer::open(table.as_bytes(), None, None);
    importer.lay_out(&[], said);
    let words = |row: RejectedRow| format!("line {} {} {}", row.line, row.error.field, row.error.message);
    importer
        .map(|row| {
            row.map_err(words)
                .map(|patch| (patch.alert.amount.unwrap().to_string(), patch.alert.transaction_time.map(to_iso)))
        })
        .collect()
}

fn amounts(cells: &[&str], said: Conventions) -> Vec<Result<String, String>> {
    let rows: String = cells.iter().map(|cell| format!("P;ETHOCA;T;{cell};EUR\n")).collect();
    let read = facts(&format!("providerId;provider;type;amount;currency\n{rows}"), said);
    read.into_iter().map(|row| row.map(|(amount, _)| amount)).collect()
}

fn times(cells: &[&str], said: Conventions) -> Vec<Result<Option<String>, String>> {
    let rows: String = cells.iter().map(|cell| format!("P;ETHOCA;T;1;EUR;{cell}\n")).collect();
    let read = facts(&format!("providerId;provider;type;amount;currency;transactionTimeStamp\n{rows}"), said);
    read.into_iter().map(|row| row.map(|(_, time)| time)).collect()
}

#[test]
fn one_cell_decides_the_decimal_mark_of_its_column_wherever_it_stands() {
    let open = Conventions::default();
    let comma = Conventions { decimal: Some(DecimalMark::Comma), ..open };

    assert_eq!(amounts(&["1.234", "12,50"], open), [Ok("1234".to_owned()), Ok("12.50".to_owned())]);
    assert_eq!(amounts(&["1.234", "7", "12.50"], open), ["1.234", "7", "12.50"].map(|amount| Ok(amount.to_owned())));
    assert_eq!(amounts(&["1.234"], comma), [Ok("1234".to_owned())]);
    for (undecided, refused) in [(&["7", "1.234", "5.678"][..], 2), (&["12.50", "12,50", "1,234"], 1)] {
        let read = amounts(undecided, open);
        assert_eq!(read.iter().flatten().count(), undecided.len() - refused);
        assert!(read.iter().flat_map(|row| row.as_ref().err()).all(|why| why.contains("--decimal")), "{read:?}");
    }
    assert_eq!(
        amounts(&["12.50", "12,50"], open),
        [Ok("12.50".to_owned()), Ok("12.50".to_owned())],
        "neither can be misread"
    );
}

#[test]
fn one_cell_decides_the_order_of_day_and_month_and_a_zone_is_never_guessed() {
    let open = Conventions::default();
    let noon = |day: &str| Ok(Some(format!("{day}T12:00:00.000Z")));

    assert_eq!(times(&["05/06/2026 12:00 Z", "27/06/2026 12:00 Z"], open), [noon("2026-06-05"), noon("2026-06-27")]);
    assert_eq!(times(&["05/06/2026 12:00 Z", "06/27/2026 12:00 Z"], open), [noon("2026-05-06"), noon("2026-06-27")]);
    assert_eq!(times(&["2026-06-05 12:00", "2026-06-06 12:00 UTC"], open), [noon("2026-06-05"), noon("2026-06-06")]);
    let cases = [
        (&["05/06/2026 12:00 Z"][..], "--dates"),
        (&["27/06/2026", "06/27/2026", "05/06/2026"], "--dates"),
        (&["2026-06-05 12:00"], "--zone"),
        (&["2026-06-05 12:00 +0100", "2026-06-05 12:00 +0200", "2026-06-05 12:00"], "--zone"),
    ];
    for (cells, flag) in cases {
        let read = times(cells, open);
        let (refused, decided) = read.split_last().unwrap();
        assert!(decided.iter().all(Result::is_ok), "{read:?}");
        assert!(refused.as_ref().is_err_and(|why| why.contains(flag)), "{read:?}");
    }
    let said = Conventions { dates: Some(DateOrder::MonthFirst), zone: "-05:00".parse().ok(), ..open };
    assert_eq!(times(&["05/06/2026 7:00 AM"], said), [noon("2026-05-06")]);
}

#[rstest]
#[case::excel_for_mac("providerId,provider,type,amount,currency\rP-1,ETHOCA,T,1.00,EUR\rP-2,ETHOCA,T,1.00,EUR\r")]
#[case::excels_separator_line(
    "sep=;\r\nproviderId;provider;type;amount;currency\r\nP-1;ETHOCA;T;1,00;EUR\r\nP-2;ETHOCA;T;1,00;EUR\r\n"
)]
#[case::tabs("Provider ID\tPROVIDER\tType\tAmount\tCurrency\nP-1\tETHOCA\tT\t1.00\tEUR\nP-2\tETHOCA\tT\t1.00\tEUR\n")]
#[case::bars("provider_id|provider|type|amount|currency\nP-1|ETHOCA|T|1.00|EUR\nP-2|ETHOCA|T|1.00|EUR\n")]
#[case::commas_in_names(
    "\"provider\u{a0}id\";provider;type;amount;currency;\"a,b,c,d,e,f\"\nP-1;ETHOCA;T;1.00;EUR\nP-2;ETHOCA;T;1.00;EUR;\
        x\n"
)]
#[case::ragged(
    "providerId,provider,type,amount,currency,authCode,mcc\nP-1,ETHOCA,T,1.00,EUR\n,,,,,,\nP-2,ETHOCA,T,1.00,EUR,,,,\n"
)]
#[case::guards(
    "providerId,provider,type,amount,currency\n\"=\"\"P-1\"\"\",ETHOCA,T,1.00,EUR\nP-2,ETHOCA,T,\"=\"\"1.00\"\"\",EUR\n"
)]
#[case::currencies("providerId,provider,type,amount\nP-1,ETHOCA,T,1.00 EUR\nP-2,ETHOCA,T,€ 1.00\n")]
fn a_table_is_read_as_spreadsheets_of_any_country_write_it(#[case] table: &str) {
    let read = rows(table);

    let ids: Vec<_> = read.iter().map(|row| row.as_ref().map(|patch| patch.alert.provider_id.as_str())).collect();
    assert_eq!(ids, [Ok("P-1"), Ok("P-2")]);
    assert!(read.iter().flatten().all(|patch| patch.alert.money().unwrap().to_string() == "1.00 EUR"));
}

#[rstest]
#[case("P-1,ETHOCA,T,1.00,EUR,surplus", "has 6 cells, the first row 5")]
#[case("P-1,ETHOCA,T,12,50,EUR", "has 6 cells")]
#[case("P-1,ETHOCA,T,€ 1.00,USD", "the currency of the row is USD")]
#[case("P-1,ETHOCA,T,$ 1.00,", "a currency code")]
#[case("P-1,ETHOCA,T,(1.00),EUR", "0 or more")]
#[case("P-\0,ETHOCA,T,1.00,EUR", "NUL byte")]
fn a_row_that_can_be_misunderstood_is_told_with_its_line(#[case] row: &str, #[case] words: &str) {
    let table = format!("providerId,provider,type,amount,currency\n{}{row}\n", "P-0,ETHOCA,T,1.00,EUR\n".repeat(900));

    let seen = seen(&rows(table));

    assert!(seen.len() == 901 && seen[900].0 == 902 && seen[900].1.contains(words), "{:?}", seen.last());
}

#[test]
fn other_bytes_than_utf_8_are_told_by_line_and_cell() {
    let latin =
        b"providerId,provider,type,amount,currency,issuer\nP-1,ETHOCA,T,1.00,EUR,Caf\xE9\nP-2,ETHOCA,T,1.00,EUR,Cafe\n";
    let header = b"providerId,provider,type,amount,currency,Geb\xFChr\nP-1,ETHOCA,T,1.00,EUR,1\n";

    let (latin, header) = (seen(&rows(latin)), seen(&rows(header)));

    assert_eq!(latin[0], (2, "issuer: is not UTF-8: save the file as CSV UTF-8".to_owned()));
    assert_eq!(latin[1].1, "P-2");
    assert!(header.len() == 1 && header[0].1.contains("column 6 of the first row"), "{header:?}");
}

#[test]
fn columns_of_another_name_are_those_that_are_named() {
    let mut importer = Importer::open("Fall;Netz;type;amount;currency\nP-1;ETHOCA;T;1;EUR\n".as_bytes(), None, None);

    importer.lay_out(
        &[("providerId", "Fall"), ("provider", "netz")].map(|(field, header)| (field.to_owned(), header.to_owned())),
        Conventions::default(),
    );

    assert_eq!(seen(&importer.collect::<Vec<_>>()), [(2, "P-1".to_owned())]);
}

proptest! {
    #[test]
    fn no_content_makes_reading_panic_or_go_on_for_ever(content in proptest::collection::vec(any::<u8>(), 0..300),
        format in 0_usize..4) {
        let format = FileFormat::ALL.get(format).copied();

        let read = Importer::new(content.as_slice(), format).count();

        prop_assert!(read <= content.len() + 1);
    }

    #[test]
    fn almost_json_and_almost_csv_never_panic(content in "[\\[\\]\\{\\}\",:;a\\n\\\\ d]{0,200}", format in 0_usize..4) {
        let format = FileFormat::ALL.get(format).copied();

        let read = Importer::new(content.as_bytes(), format).count();

        prop_assert!(read <= content.len() + 1);
    }

    #[test]
    fn whatever_stands_in_one_quoted_cell_comes_back_as_it_was(text in "[^\r\u{0}\\s='][^\r\u{0}]{0,40}") {
        let table = format!("providerId,provider,type,amount,currency,issuer\nP-1,ETHOCA,T,1,EUR,\"{}\"\n",
            text.replace('"', "\"\""));

        let read = rows(table);

        prop_assert_eq!(read.len(), 1);
        prop_assert_eq!(&read[0].as_ref().unwrap().alert.issuer, &text);
    }
}
