//! Files of another kind, known by their first bytes: workbooks, web pages, archives, other encodings.

/// Bytes that are looked at.
pub(super) const LOOKED_AT: usize = 4_096;

const AS_CSV: &str = "save it as CSV UTF-8";

/// Beginnings, and the kind of file that has them with the way out.
const KINDS: [(&[u8], &str, &str); 5] = [
    (b"\xD0\xCF\x11\xE0", "an old Excel workbook (.xls)", AS_CSV),
    (b"\xFF\xFE", "UTF-16", AS_CSV),
    (b"\xFE\xFF", "UTF-16", AS_CSV),
    (b"\x1F\x8B", "packed by gzip", "unpack it first"),
    (b"%PDF", "a PDF", "export it as CSV UTF-8 where it comes from"),
];

/// The kind of file that begins so, and the way out; none where it may be text with rows.
pub fn kind(beginning: &[u8]) -> Option<String> {
    let told = |kind: &str, way_out: &str| Some(format!("is {kind}: {way_out}"));
    if let Some((_, kind, way_out)) = KINDS.iter().find(|(bytes, ..)| beginning.starts_with(bytes)) {
        return told(kind, way_out);
    }
    let holds = |word: &[u8]| beginning.windows(word.len()).any(|bytes| bytes.eq_ignore_ascii_case(word));
    if beginning.starts_with(b"PK\x03\x04") || beginning.starts_with(b"PK\x05\x06") {
        return match () {
            () if holds(b"opendocument.spreadsheet") => told("an OpenDocument workbook (.ods)", AS_CSV),
            () if holds(b"xl/") || holds(b"[Content_Types].xml") => told("an Excel workbook (.xlsx)", AS_CSV),
            () => told("a ZIP archive or a Numbers workbook", "unpack it, or save it as CSV UTF-8"),
        };
    }
    if beginning.trim_ascii_start().starts_with(b"<") {
        let page = holds(b"<html") || holds(b"<!doctype html") || holds(b"<table") || holds(b"<body");
        return if page { told("a web page (HTML)", AS_CSV) } else { told("XML", AS_CSV) };
    }
    let nul = beginning.iter().position(|byte| *byte == 0)?;
    // Latin letters are one byte of two in UTF-16.
    let nuls = |parity: usize| beginning.iter().skip(parity).step_by(2).filter(|byte| **byte == 0).count();
    let pairs = beginning.len() / 2;
    if nuls(0).max(nuls(1)) * 2 > pairs {
        return told("UTF-16 without its mark", AS_CSV);
    }
    let line = 1 + beginning[..nul].iter().filter(|byte| **byte == b'\n').count();
    Some(format!("is no text: it holds a NUL byte in line {line}; {AS_CSV}"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(b"PK\x03\x04\x14\0\x06\0[Content_Types].xml", "Excel workbook (.xlsx)")]
    #[case(b"PK\x03\x04..mimetypeapplication/vnd.oasis.opendocument.spreadsheet", ".ods")]
    #[case(b"PK\x03\x04alerts.csv", "ZIP archive")]
    #[case(b"\xD0\xCF\x11\xE0\xA1\xB1", "old Excel workbook")]
    #[case(b"\x1F\x8B\x08\0", "gzip")]
    #[case(b"%PDF-1.7", "PDF")]
    #[case(b"\r\n <!DOCTYPE html><html>", "web page")]
    #[case(b"<table><tr>", "web page")]
    #[case(b"<?xml version=\"1.0\"?><Workbook>", "XML")]
    #[case(b"\xFF\xFEi\0d\0", "UTF-16")]
    #[case(b"i\0d\0,\0a\0\n\0", "UTF-16")]
    #[case(b"\0i\0d\0,\0a", "UTF-16")]
    #[case(b"id,provider\nx,\0,y\n", "NUL byte in line 2")]
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
