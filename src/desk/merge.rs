//! Merging of changed values into the text of a TOML file: what stays keeps its place, its writing and its comments.

use toml_edit::{DocumentMut, Item, TableLike};

/// The text with the values of another one; that one itself where the text cannot be read.
pub(super) fn merge(text: &str, wanted: &str) -> String {
    match (text.parse::<DocumentMut>(), wanted.parse::<DocumentMut>()) {
        (Ok(mut document), Ok(wanted)) => {
            merge_table(document.as_table_mut(), wanted.as_table());
            document.to_string()
        }
        _ => wanted.to_owned(),
    }
}

fn merge_table(into: &mut dyn TableLike, wanted: &dyn TableLike) {
    let gone: Vec<String> = into.iter().map(|(key, _)| key.to_owned()).filter(|key| !wanted.contains_key(key)).collect();
    for key in gone {
        into.remove(&key);
    }
    for (key, new) in wanted.iter() {
        match into.get_mut(key) {
            Some(old) => merge_item(old, new),
            None => drop(into.insert(key, new.clone())),
        }
    }
}

fn merge_item(old: &mut Item, new: &Item) {
    if let (Some(old), Some(new)) = (old.as_table_like_mut(), new.as_table_like()) {
        return merge_table(old, new);
    }
    match (old.as_value_mut(), new.as_value()) {
        (Some(old), Some(new)) => {
            if told(old) != told(new) {
                // What stands around the value, a comment, stays there.
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

    const TEXT: &str = "# mine\n\n[shop] # the shop's\nurl = 'https://a.example'   # by name\nrules = [\n  \"small\", # first\n]\n\n# old\n[old]\nurl = \"b\"\n";

    #[rstest]
    #[case::nothing("[shop]\nurl = \"https://a.example\"\nrules = [\"small\"]\n[old]\nurl = \"b\"\n", TEXT)]
    #[case::a_value(
        "[shop]\nurl = \"c\"\nrules = [\"small\"]\n[old]\nurl = \"b\"\n",
        &TEXT.replace("'https://a.example'", "\"c\"")
    )]
    #[case::a_table_less("[shop]\nurl = \"https://a.example\"\nrules = [\"small\"]\n", TEXT.split("\n# old").next().unwrap())]
    #[case::a_table_more(
        "[shop]\nurl = \"https://a.example\"\nrules = [\"small\"]\n[old]\nurl = \"b\"\n\n[new]\nurl = \"d\"\n",
        &format!("{TEXT}\n[new]\nurl = \"d\"\n")
    )]
    fn what_was_not_changed_stays_as_it_was_written(#[case] wanted: &str, #[case] expected: &str) {
        assert_eq!(merge(TEXT, wanted), expected);
    }

    #[test]
    fn what_cannot_be_read_is_replaced() {
        assert_eq!(merge("[", "a = 1\n"), "a = 1\n");
    }
}
