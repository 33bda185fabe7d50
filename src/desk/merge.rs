//! Merging of changed values into the text of a TOML file: what stays keeps its place, its writing and its comments.

use toml_edit::{DocumentMut, Item, TableLike};

/// Some editors put it before a text.
const BYTE_ORDER_MARK: char = '\u{FEFF}';

/// Returns the edited text in the form of the original: its byte order mark and its line ends, which the parser makes
/// line feeds.
pub fn in_form_of(text: &str, made: &str) -> String {
    let (lines, with_return) = (text.matches('\n').count(), text.matches("\r\n").count());
    let made = made.trim_start_matches(BYTE_ORDER_MARK);
    // A file with both has been through several hands: what most of its lines have is taken.
    let has_returns = with_return * 2 > lines;
    let made = if has_returns { made.replace("\r\n", "\n").replace('\n', "\r\n") } else { made.to_owned() };
    let mark = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.to_string() } else { String::new() };
    mark + &made
}

/// The text with the values of another one, which says the same; that one itself where the text cannot be read.
pub(super) fn merge(text: &str, wanted: &str) -> String {
    in_form_of(text, &merge_lines(text.trim_start_matches(BYTE_ORDER_MARK), wanted))
}

fn merge_lines(text: &str, wanted: &str) -> String {
    let (head, rest) = text.split_at(head_of(text));
    let merged = match (rest.parse::<DocumentMut>(), wanted.parse::<DocumentMut>()) {
        (Ok(mut document), Ok(wanted)) => {
            merge_table(document.as_table_mut(), wanted.as_table());
            format!("{head}{document}")
        }
        _ => return wanted.to_owned(),
    };
    let says = |text: &str| text.parse::<toml::Table>().ok();
    if says(&merged).is_some_and(|merged| Some(merged) == says(wanted)) { merged } else { format!("{head}{wanted}") }
}

/// Returns the length of a file's head in bytes: comments with a blank line behind them, which belong to nothing below.
fn head_of(text: &str) -> usize {
    let is_comment = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with('#');
    let mut head = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n').take_while(is_comment) {
        at += line.len();
        if line.trim().is_empty() {
            head = at;
        }
    }
    if at == text.len() { at } else { head }
}

fn merge_table(into: &mut dyn TableLike, wanted: &dyn TableLike) {
    let gone: Vec<String> =
        into.iter().map(|(key, _)| key.to_owned()).filter(|key| !wanted.contains_key(key)).collect();
    for key in gone {
        into.remove(&key);
    }
    for (key, new) in wanted.iter() {
        match into.get_mut(key) {
            Some(old) => merge_item(old, new),
            None => {
                let mut new = new.clone();
                set_apart(&mut new);
                into.insert(key, new);
            }
        }
    }
}

/// A new table comes behind what is there, after a blank line.
fn set_apart(item: &mut Item) {
    if let Some(table) = item.as_table_mut() {
        table.set_position(None);
        if !table.is_implicit() {
            table.decor_mut().set_prefix("\n");
        }
        table.iter_mut().for_each(|(_, item)| set_apart(item));
    }
}

fn merge_item(old: &mut Item, new: &Item) {
    if let (Some(old), Some(new)) = (old.as_table_like_mut(), new.as_table_like()) {
        return merge_table(old, new);
    }
    match (old.as_value_mut(), new.as_value()) {
        (Some(old), Some(new)) => {
            if told(old).is_none_or(|old| Some(old) != told(new)) {
                // The comment around the value stays there.
                let decor = old.decor().clone();
                *old = new.clone();
                *old.decor_mut() = decor;
            }
        }
        _ => *old = new.clone(),
    }
}

/// A value however it is written.
fn told(value: &toml_edit::Value) -> Option<toml::Value> {
    format!("v = {}", value.clone().decorated("", "")).parse::<toml::Table>().ok()?.remove("v")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const TEXT: &str = "# mine\n\n[shop] # the shop's\nurl = 'https://a.example'   # by name\nrules = [\n  \"small\", \
        # first\n]\n\n# old\n[old]\nurl = \"b\"\n";

    #[rstest]
    #[case::nothing("[shop]\nurl = \"https://a.example\"\nrules = [\"small\"]\n[old]\nurl = \"b\"\n", TEXT)]
    #[case::a_value(
        "[shop]\nurl = \"c\"\nrules = [\"small\"]\n[old]\nurl = \"b\"\n",
        &TEXT.replace("'https://a.example'", "\"c\"")
    )]
    #[case::a_table_less("[shop]\nurl = \"https://a.example\"\nrules = \
        [\"small\"]\n", TEXT.split("\n# old").next().unwrap())]
    #[case::a_table_more(
        "[shop]\nurl = \"https://a.example\"\nrules = [\"small\"]\n[old]\nurl = \"b\"\n\n[new]\nurl = \"d\"\n",
        &format!("{TEXT}\n[new]\nurl = \"d\"\n")
    )]
    fn what_was_not_changed_stays_as_it_was_written(#[case] wanted: &str, #[case] expected: &str) {
        assert_eq!(merge(TEXT, wanted), expected);
    }

    #[rstest]
    #[case::the_first_table_less("[old]\nurl = \"b\"\n", "# mine\n\n\n# old\n[old]\nurl = \"b\"\n")]
    #[case::nothing_left("", "# mine\n\n")]
    #[case::a_value_above(
        "current = \"old\"\n[old]\nurl = \"b\"\n",
        "# mine\n\ncurrent = \"old\"\n\n# old\n[old]\nurl = \"b\"\n"
    )]
    fn the_head_of_a_file_stays_above_all(#[case] wanted: &str, #[case] expected: &str) {
        assert_eq!(merge(TEXT, wanted), expected);
    }

    #[test]
    fn line_ends_and_a_byte_order_mark_stay() {
        let wanted = "[shop]\nurl = \"c\"\nrules = [\"small\"]\n[old]\nurl = \"b\"\n\n[new]\nurl = \"d\"\n";
        let expected = format!("{}\n[new]\nurl = \"d\"\n", TEXT.replace("'https://a.example'", "\"c\""));
        let with_returns = |text: &str| text.replace('\n', "\r\n");

        assert_eq!(merge(&with_returns(TEXT), wanted), with_returns(&expected));
        assert_eq!(merge(&format!("\u{feff}{TEXT}"), wanted), format!("\u{feff}{expected}"));
        assert_eq!(
            merge(&format!("\u{feff}{}", with_returns(TEXT)), wanted),
            format!("\u{feff}{}", with_returns(&expected))
        );
    }

    #[test]
    fn what_cannot_be_read_is_replaced() {
        assert_eq!(merge("[", "a = 1\n"), "a = 1\n");
    }
}
