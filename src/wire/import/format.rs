//! The formats that files of alerts are in, and how their content tells them apart.

use serde_json::Value;

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
    /// Detects the format of a text that begins so.
    pub(super) fn of(text: &[u8]) -> Self {
        let text = text.trim_ascii_start();
        match text.first() {
            None | Some(b'[') => Self::Json,
            Some(b'{') => of_objects(text),
            Some(_) => Self::Csv,
        }
    }
}

/// Objects: one a line, or a document that goes over lines as it likes? The first line tells.
fn of_objects(text: &[u8]) -> FileFormat {
    let end = text.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(text.len());
    let (line, rest) = (text[..end].trim_ascii_end(), text[end..].trim_ascii_start());
    match serde_json::from_slice::<Value>(line) {
        Ok(object) if object["data"].is_array() => FileFormat::Json,
        Ok(_) => FileFormat::Ndjson,
        // `... 1` and then `{` is never JSON: this line is broken, and the next one begins another object.
        Err(_) if rest.starts_with(b"{") && !matches!(line.last(), Some(b'{' | b'[' | b',' | b':')) => {
            FileFormat::Ndjson
        }
        Err(_) => FileFormat::Json,
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
    #[case("{\"total\":9,\"data\":[{\"id\":", FileFormat::Json)]
    #[case("", FileFormat::Json)]
    fn the_beginning_tells_the_format(#[case] text: &str, #[case] format: FileFormat) {
        assert_eq!(FileFormat::of(text.as_bytes()), format);
    }
}
