//! The formats that files of alerts are in, and how their content tells them apart.

use std::io::BufRead;

use super::document::FirstObject;
use super::row::MAX_ROW;
use super::source::Source;
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
    let end = match text.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
        None if whole => text.len(),
        // A page may stand on one line, however long it is.
        None => return (FirstObject::of(text) == FirstObject::Page).then_some(FileFormat::Json),
        Some(end) => end,
    };
    let line = text[..end].trim_ascii_end();
    match FirstObject::of(line) {
        FirstObject::Page => Some(FileFormat::Json),
        // A text is never broken over lines in JSON: then this line is broken, and lines are what the file is made of.
        FirstObject::Whole | FirstObject::InText => Some(FileFormat::Ndjson),
        FirstObject::Part => match text[end..].trim_ascii_start().first() {
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
    fn a_long_page_on_one_line_is_known_by_its_beginning() {
        assert_eq!(sniff(b"{\"total\":9,\"data\":[{\"id\":", false), Some(FileFormat::Json));
        assert_eq!(sniff(b"{\"id\":\"1\",\"comm", false), None);
    }
}
