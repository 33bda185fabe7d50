//! Files of another kind, known by their first bytes: workbooks, web pages, archives, other encodings.

/// Beginnings, and the kind of file that has them.
const KINDS: [(&[u8], &str); 6] = [
    (b"PK\x03\x04", "a workbook (.xlsx, .ods, .numbers) or a ZIP archive"),
    (b"\xD0\xCF\x11\xE0", "an old Excel workbook (.xls)"),
    (b"\xFF\xFE", "UTF-16"),
    (b"\xFE\xFF", "UTF-16"),
    (b"\x1F\x8B", "an archive (gzip)"),
    (b"%PDF", "a PDF"),
];

/// The kind of file that begins so, and the way out; none where it may be text with rows.
pub fn kind(beginning: &[u8]) -> Option<String> {
    let kind = match KINDS.iter().find(|(bytes, _)| beginning.starts_with(bytes)) {
        Some((_, kind)) => kind,
        None if beginning.trim_ascii_start().starts_with(b"<") => "a web page or XML",
        None if beginning.contains(&0) => "no text, or UTF-16: it holds a NUL byte",
        None => return None,
    };
    Some(format!("is {kind}: save it as CSV UTF-8"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(b"PK\x03\x04\x14\0\x06\0[Content_Types].xml", ".xlsx")]
    #[case(b"\xD0\xCF\x11\xE0\xA1\xB1", "old Excel workbook")]
    #[case(b"\x1F\x8B\x08\0", "gzip")]
    #[case(b"%PDF-1.7", "PDF")]
    #[case(b"\r\n <!DOCTYPE html><html>", "web page")]
    #[case(b"<?xml version=\"1.0\"?><Workbook>", "XML")]
    #[case(b"\xFF\xFEi\0d\0", "UTF-16")]
    #[case(b"\0i\0d\0,\0a", "UTF-16")]
    #[case(b"id,provider\nx,\0,y\n", "NUL byte")]
    fn a_file_of_another_kind_is_named(#[case] beginning: &[u8], #[case] words: &str) {
        let told = kind(beginning).unwrap();

        assert!(told.contains(words) && told.chars().all(|c| !c.is_control()), "{told:?}");
    }

    #[rstest]
    #[case(b"id,provider\n")]
    #[case(b"{\"id\": 1}")]
    #[case(b"Name,\xE9t\xE9\n")]
    #[case(b"")]
    fn text_is_not(#[case] beginning: &[u8]) {
        assert_eq!(kind(beginning), None);
    }
}
