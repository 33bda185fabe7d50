//! Plain characters in the place of those that spreadsheets put there: full-width digits and signs, blanks of any
//! width, other apostrophes.

/// The text with ASCII digits, signs and blanks, and none around it.
pub(super) fn narrow(text: &str) -> String {
    let plain = |c: char| match c {
        // The full-width block repeats ASCII in its order.
        '！'..='～' => char::from_u32(u32::from(c) - 0xFEE0).unwrap_or(c),
        '\u{2212}' | '\u{2010}'..='\u{2013}' => '-',
        '’' | '‘' | 'ʼ' | '´' | '`' => '\'',
        '￥' => '¥',
        _ if c.is_whitespace() => ' ',
        _ => c,
    };
    text.chars().map(plain).collect::<String>().trim().to_owned()
}
