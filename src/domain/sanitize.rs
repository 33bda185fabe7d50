//! Sanitizer: the one set of characters that are unsafe to show, and text without them, for a terminal, a log line or a
//! header.
//!
//! Unsafe are control characters (C0, C1, DEL), marks that turn the writing direction, and invisible characters. With
//! them a text steers the terminal, or reads as another one. Text that is stored, compared, exported as JSON or sent
//! keeps all of them but the control characters. In shown text, and in the cells of an exported table, they are
//! removed, except for the joiners between two letters, which a script needs. An emoji that is made of several falls
//! apart.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar as _;

/// Shown in the place of a control character.
const MARK: char = '·';
/// Zero-width non-joiner, zero-width joiner.
const JOINERS: [char; 2] = ['\u{200C}', '\u{200D}'];

/// Returns true for a character that shows anything but itself. Some are safe in their place all the same: [`line()`]
/// knows where.
pub fn is_unsafe(c: char) -> bool {
    is_control(c) || is_invisible(c)
}

/// Returns true for control characters, and the separators that break a line as some of them do.
fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Returns true for format characters that take no room and change how others read: Unicode's
/// Default_Ignorable_Code_Point and the bidi controls among them.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}' 
        | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}'
        | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
        | '\u{E0000}'..='\u{E0FFF}')
}

/// Returns one line that is safe to show. Control characters, line breaks among them, become `·`; invisible characters
/// are removed.
pub fn line(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let beside = |out: &str| [out.chars().next_back(), rest.clone().next()];
        if is_control(c) {
            out.push(MARK);
        } else if !is_invisible(c) || JOINERS.contains(&c) && beside(&out).iter().all(|c| c.is_some_and(is_letter)) {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Returns several lines that are safe to show: line breaks stay, of whichever form.
pub fn lines(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let lines = text.split('\n').map(|text| line(text.strip_suffix('\r').unwrap_or(text)));
    Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
}

/// Returns one line as it is stored. Control characters are removed, those that separate words become blanks, and
/// blanks at the ends are trimmed.
pub fn stored_line(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text.trim());
    }
    let blanked = text.chars().map(|c| if c.is_whitespace() && is_control(c) { ' ' } else { c });
    Cow::Owned(blanked.filter(|c| !c.is_control()).collect::<String>().trim().to_owned())
}

/// Returns several lines as they are stored: without control characters other than line breaks, and without blanks at
/// the ends.
pub fn stored_lines(text: &str) -> String {
    without_controls(text).trim().to_owned()
}

/// Returns the text as it came, less control characters other than line breaks; tabs become blanks.
pub fn without_controls(text: &str) -> String {
    text.chars().map(|c| if c == '\t' { ' ' } else { c }).filter(|&c| c == '\n' || !c.is_control()).collect()
}

/// Returns JSON that is safe to show and loses nothing: unsafe characters of its strings are written as `\u` escapes.
pub fn json(text: &str) -> Cow<'_, str> {
    // The line breaks of pretty JSON are its own: in strings they are escaped already.
    let stands = |c: char| is_unsafe(c) && c != '\n';
    if !text.contains(stands) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut units = [0; 2];
    for c in text.chars() {
        if stands(c) {
            c.encode_utf16(&mut units).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Returns a cell that no spreadsheet takes for a formula: one that might be gets an apostrophe before it. Plain
/// numbers stay numbers.
pub fn spreadsheet_cell(text: &str) -> Cow<'_, str> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let number = digits.splitn(2, '.').all(are_digits);
    if is_formula(text) && !number { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

/// Returns a cell of a file that is opened elsewhere: never a spreadsheet formula, and without characters that are
/// unsafe to show here. Control characters other than line breaks are removed, tabs become blanks.
pub fn exported_cell(text: &str) -> String {
    lines(&without_controls(&spreadsheet_cell(text))).into_owned()
}

/// Returns the text of a cell, less the apostrophe that [`spreadsheet_cell`] put before it.
pub fn unguarded_cell(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|text| is_formula(text)).unwrap_or(cell)
}

/// Recognises a text that a spreadsheet takes for a formula, apostrophes before it set aside.
fn is_formula(text: &str) -> bool {
    let text = text.trim_start_matches('\'');
    // Blanks and invisible characters are skipped by some; full-width signs are signs to others.
    let first = text.chars().find(|c| !c.is_whitespace() && !is_unsafe(*c));
    matches!(first, Some('=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠')) || text.starts_with(['\t', '\r', '\n'])
}

/// Returns true for one or more ASCII digits.
pub fn are_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns true for a letter, or a mark on one: a vowel sign, a virama.
fn is_letter(c: char) -> bool {
    !is_invisible(c) && (c.is_alphabetic() || !c.is_ascii() && c.width() == Some(0))
}

/// Returns the beginning of a text, as an error repeats it: at most 60 characters.
pub fn excerpt(text: &str) -> String {
    text.chars().take(60).collect()
}

/// Byte order mark: what editors on Windows put before a text in UTF-8.
pub const BYTE_ORDER_MARK: &str = "\u{FEFF}";

/// Returns a text without the mark that may stand before it.
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("ACME*SHOP", "ACME*SHOP")]
    #[case("  ACME\tSHOP\n", "ACME SHOP")]
    #[case("red \u{1b}[31malert\u{7}", "red [31malert")]
    #[case("c1 \u{9b}31m", "c1 31m")]
    #[case("one\u{2028}two\u{85}three", "one two three")]
    #[case("evil\u{202e}txt.exe", "evil\u{202e}txt.exe")]
    #[case("می\u{200c}خواهم 東京", "می\u{200c}خواهم 東京")]
    fn a_line_is_stored_as_it_came_less_control_characters(#[case] text: &str, #[case] stored: &str) {
        assert_eq!(stored_line(text), stored);
    }

    #[test]
    fn text_of_several_lines_keeps_its_line_breaks() {
        assert_eq!(stored_lines("one\r\ntwo\u{1b}\n"), "one\ntwo");
        assert_eq!(lines("one\r\n\u{200b}two\u{1b}[2J\n\nthree"), "one\ntwo·[2J\n\nthree");
    }

    #[rstest]
    #[case("ACME\u{1b}[2J", "ACME·[2J")]
    #[case("a\u{7}b\nc\u{9b}", "a·b·c·")]
    #[case("a\u{2028}b\u{2029}c\u{7f}", "a·b·c·")]
    #[case("user\u{202e}gpj.exe", "usergpj.exe")]
    #[case("pay\u{200b}pal \u{61c}\u{2066}x\u{2069}\u{feff}", "paypal x")]
    #[case("so\u{ad}ft \u{3164}\u{2061}fill", "soft fill")]
    #[case("a\u{fe00}\u{fe0f}\u{e0100}b \u{e0041}\u{e0042}", "ab ")]
    #[case("4111\u{200d}1111 \u{200c}\u{200d}", "41111111 ")]
    #[case("\u{1f3f4}\u{e0061}\u{e0062}", "\u{1f3f4}")]
    #[case("\u{1f600}\u{fe0f}\u{fe0e}\u{200d}x", "\u{1f600}x")]
    #[case("👨\u{200d}👩\u{200d}👧 ❤\u{fe0f} 1\u{fe0f}\u{20e3}", "👨👩👧 ❤ 1\u{20e3}")]
    #[case("a\u{200d}\u{2764} €\u{200c}€", "a\u{2764} €€")]
    fn text_from_outside_cannot_steer_the_terminal(#[case] text: &str, #[case] shown: &str) {
        assert_eq!(line(text), shown);
    }

    #[rstest]
    #[case::latin("ACME*SHOP ÅRHUS, Ærø & Sønner")]
    #[case::decomposed("A\u{30a}rhus")]
    #[case::chinese_and_japanese("東京タワー 葛城市")]
    #[case::korean("서울 한글")]
    #[case::persian("می\u{200c}خواهم خانه\u{200c}ها")]
    #[case::arabic_with_marks("مُحَمَّد")]
    #[case::hebrew("שָׁלוֹם")]
    #[case::hindi("क्\u{200d}ष क्\u{200c}ष")]
    #[case::bengali("র\u{200d}্য")]
    #[case::sinhala("ශ්\u{200d}රී")]
    #[case::thai("สวัสดี")]
    #[case::skin_tone("👩🏽 🚀")]
    fn ordinary_text_of_any_script_is_shown_as_it_is(#[case] text: &str) {
        assert_eq!(line(text), text);
    }

    #[rstest]
    #[case::a_formula("=HYPERLINK(\"http://x\")", "'=HYPERLINK(\"http://x\")")]
    #[case::a_sum("+1+1", "'+1+1")]
    #[case::a_call("@SUM(A1)", "'@SUM(A1)")]
    #[case::a_difference("-1-1", "'-1-1")]
    #[case::a_command("-cmd|' /C calc'!A0", "'-cmd|' /C calc'!A0")]
    #[case::behind_a_tab("\t=1", "'\t=1")]
    #[case::behind_a_return("\r=1", "'\r=1")]
    #[case::a_tab("\tx", "'\tx")]
    #[case::behind_blanks("  =1", "'  =1")]
    #[case::behind_what_nobody_sees("\u{feff}=1", "'\u{feff}=1")]
    #[case::full_width("＝1", "'＝1")]
    #[case::a_telephone("+49 30 12", "'+49 30 12")]
    #[case::an_amount("-12.50", "-12.50")]
    #[case::a_number("1234.5", "1234.5")]
    #[case::a_name("ACME*SHOP", "ACME*SHOP")]
    #[case::an_id("0198c0de-0000", "0198c0de-0000")]
    #[case::a_lone_sign("-", "'-")]
    #[case::a_fraction_alone("-.5", "'-.5")]
    #[case::a_point_at_the_end("-5.", "'-5.")]
    #[case::half_a_number("-1.x2", "'-1.x2")]
    #[case::nothing("", "")]
    fn a_cell_never_starts_a_formula_and_a_number_stays_one(#[case] text: &str, #[case] cell: &str) {
        assert_eq!(spreadsheet_cell(text), cell);
    }

    #[rstest]
    #[case::turned_around("ACME\u{202e}POHS", "ACMEPOHS")]
    #[case::isolated("\u{2066}=1\u{2069}", "'=1")]
    #[case::not_seen("pay\u{200b}pal", "paypal")]
    #[case::controls("\u{1b}[2J one\ttwo", "[2J one two")]
    #[case::several_lines("one\r\ntwo", "one\ntwo")]
    #[case::joined("می\u{200c}خواهم", "می\u{200c}خواهم")]
    fn a_cell_of_a_file_holds_what_is_shown(#[case] text: &str, #[case] cell: &str) {
        assert_eq!(exported_cell(text), cell);
    }

    /// Text in which unsafe characters are frequent, and those beside which some of them are safe.
    fn hostile() -> impl Strategy<Value = String> {
        let of = |chars: &str| proptest::sample::select(chars.chars().collect::<Vec<_>>());
        let frequent = of("aیक्1 葛ᠠ👩❤🏴🏽\u{200b}\
            \u{200c}\u{200d}\u{fe0e}\u{fe0f}\u{20e3}\u{180b}\u{180e}\u{202e}\u{e0061}\u{e007f}\u{e0100}\u{1b}\n\r");
        proptest::collection::vec(prop_oneof![3 => frequent, 1 => any::<char>()], 0..24)
            .prop_map(|chars| chars.into_iter().collect())
    }

    proptest! {
        #[test]
        fn what_is_shown_holds_nothing_unsafe_but_in_its_place(text in hostile()) {
            let shown = line(&text).into_owned();
            let chars: Vec<char> = shown.chars().collect();
            for (index, &c) in chars.iter().enumerate().filter(|(_, c)| is_unsafe(**c)) {
                let before = index.checked_sub(1).map(|at| chars[at]);
                let after = chars.get(index + 1).copied();
                let seen = |c: Option<char>| c.is_some_and(|c| !is_control(c) && !c.is_whitespace());
                prop_assert!(!is_control(c) && seen(before), "{shown:?}");
                prop_assert!(JOINERS.contains(&c) && after.is_some_and(is_letter), "{shown:?}");
            }
        }

        #[test]
        fn json_holds_nothing_unsafe_and_loses_nothing(text in hostile()) {
            let written = serde_json::to_string(&text).unwrap();
            let shown = json(&written);
            prop_assert!(!shown.contains(is_unsafe), "{shown:?}");
            prop_assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
        }

        #[test]
        fn the_guard_of_a_cell_comes_off_again(text in "['=+@ a1.-]{0,8}|\\PC{0,20}") {
            let cell = spreadsheet_cell(&text);
            prop_assert_eq!(unguarded_cell(&cell), text.as_str());
        }

        #[test]
        fn no_cell_begins_as_a_formula_but_numbers(text in "[-=+@\t\r \u{feff}a1.]{0,6}") {
            let cell = spreadsheet_cell(&text);
            let number = cell.parse::<f64>().is_ok() && !cell.starts_with('+');
            prop_assert!(number || !cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{cell:?}");
        }

        #[test]
        fn what_was_made_safe_stays_as_it_is(text in hostile()) {
            for make in [line, lines] {
                let once = make(&text).into_owned();
                prop_assert_eq!(make(&once), once.as_str());
            }
            let stored = stored_line(&text);
            prop_assert!(!stored.contains(char::is_control));
            prop_assert_eq!(stored_line(&stored), stored.as_ref());
        }

        #[test]
        fn text_without_unsafe_characters_is_shown_as_it_is(text in "[^\\p{C}\\p{Zl}\\p{Zp}]{0,40}") {
            prop_assume!(!text.contains(is_unsafe));
            prop_assert!(matches!(line(&text), Cow::Borrowed(_)));
            prop_assert_eq!(line(&text), text.as_str());
        }
    }
}
