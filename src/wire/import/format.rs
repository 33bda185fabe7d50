//! The formats that files of alerts are in, and how their content tells them apart.

use std::{collections::BTreeMap, io::BufRead};

use serde_json::value::RawValue;

use super::{source::MAX_ROW, source::Source};
use crate::domain::closed_enum;

closed_enum! {
    /// The format of a file of alerts.
    pub enum FileFormat {
        /// A page, an array, an object, or several of them one after the other.
        Json = "json",
        /// One object a line.
        Ndjson = "ndjson",
        /// A table: its first row names the fields, `outcome.*` those of the outcome; separated by comma, semicolon or
        /// tab.
        Csv = "csv",
    }
}

impl FileFormat {
    /// Detects the format by the beginning of the content.
    ///
    /// # Errors
    /// The source cannot be read.
    pub(super) fn detect(source: &mut Source<impl BufRead>) -> Result<Self, String> {
        let mut wanted = 16 * 1024;
        loop {
            let (beginning, whole) = source.beginning(wanted)?;
            if let Some(format) = sniff(beginning, whole) {
                return Ok(format);
            }
            if whole || wanted > MAX_ROW {
                return Ok(Self::Json);
            }
            wanted *= 4;
        }
    }
}

/// The format of a text that begins so; `None` when more of it has to be seen. `whole` says that there is no more.
fn sniff(text: &[u8], whole: bool) -> Option<FileFormat> {
    let text = text.trim_ascii_start();
    match text.first() {
        None => whole.then_some(FileFormat::Json),
        Some(b'[') => Some(FileFormat::Json),
        Some(b'{') => sniff_objects(text, whole),
        Some(_) => Some(FileFormat::Csv),
    }
}

/// Objects: one a line, or a document that goes over lines as it likes? The first line tells.
fn sniff_objects(text: &[u8], whole: bool) -> Option<FileFormat> {
    let end = text.iter().position(|byte| matches!(byte, b'\n' | b'\r')).or(whole.then_some(text.len()))?;
    let (line, rest) = (text[..end].trim_ascii_end(), text[end..].trim_ascii_start());
    match serde_json::from_slice::<BTreeMap<String, Box<RawValue>>>(line) {
        Ok(members) if members.get("data").is_some_and(|data| data.get().starts_with('[')) => Some(FileFormat::Json),
        Ok(_) => Some(FileFormat::Ndjson),
        Err(_) => match rest.first() {
            None if !whole => None,
            // `... 1` and then `{` is never JSON: this line is broken, and the next one begins another object.
            Some(b'{') if !matches!(line.last(), Some(b'{' | b'[' | b',' | b':')) => Some(FileFormat::Ndjson),
            _ => Some(FileFormat::Json),
        },
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("[{}]", FileFormat::Json)]
    #[case("  \n [", FileFormat::Json)]
    #[case("{\"total\":1, \"data\" : [{}]}", FileFormat::Json)]
    #[case("{\"data\":[\n{\"id\":1},\n{\"id\":2}]}", FileFormat::Json)]
    #[case("{\n  \"data\": [\n{}]}", FileFormat::Json)]
    #[case("{\n\"id\": \"1\"\n}\n{\n\"id\": \"2\"\n}", FileFormat::Json)]
    #[case("{\"id\":\"1\"}\n{\"id\":\"2\"}\n", FileFormat::Ndjson)]
    #[case("{\"id\":\"1\"}", FileFormat::Ndjson)]
    #[case("{\"id\":\"1\n{\"id\":\"2\"}\n", FileFormat::Ndjson)]
    #[case("{\"id\":\"1\"\n{\"id\":\"2\"}\n", FileFormat::Ndjson)]
    #[case("{\"source\":\"data\",\"x\":[1]}\n{}", FileFormat::Ndjson)]
    #[case("id,providerId\n", FileFormat::Csv)]
    #[case("\"id\";\"providerId\"\n", FileFormat::Csv)]
    #[case("", FileFormat::Json)]
    fn the_beginning_tells_the_format(#[case] text: &str, #[case] format: FileFormat) {
        assert_eq!(sniff(text.as_bytes(), true), Some(format));
    }

    #[test]
    fn a_line_that_has_not_ended_tells_nothing_yet() {
        assert_eq!(sniff(b"{\"total\":9,\"data\":[{\"id\":", false), None);
        assert_eq!(sniff(b"{\"id\":\"1\",\"comm", false), None);
    }
}
