//! Text on the screen: what came from outside is sanitized, measured in columns, and cut where it must be.

use std::{
    borrow::Cow,
    iter::{once, repeat},
};

use ratatui::{
    style::Style,
    text::{Line, Span},
};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

pub use crate::domain::{
    count::{count, counted},
    sanitize::line as sanitize,
};

/// Shown where a text was cut.
pub const CUT: &str = "…";

/// How many columns a text takes.
pub fn columns(text: &str) -> u16 {
    u16::try_from(text.width()).unwrap_or(u16::MAX)
}

/// The last of these graphemes, each with its place, that so many columns have room for.
fn last_within<'t>(graphemes: impl Iterator<Item = (usize, &'t str)>, room: usize) -> Option<(usize, &'t str)> {
    let mut used = 0;
    let within = graphemes.take_while(|(_, grapheme)| {
        used += grapheme.width();
        used <= room
    });
    within.last()
}

/// The text within so many columns; where something is left out, it ends with [`CUT`].
pub fn cut(text: &str, columns: u16) -> Cow<'_, str> {
    let room = usize::from(columns);
    if text.width() <= room {
        return Cow::Borrowed(text);
    }
    let Some(room) = room.checked_sub(1) else { return Cow::Borrowed("") };
    let end = last_within(text.grapheme_indices(true), room).map_or(0, |(at, grapheme)| at + grapheme.len());
    Cow::Owned(format!("{}{CUT}", text[..end].trim_end()))
}

/// The text in lines of at most so many columns, broken at blanks where there are any.
pub fn wrap(text: &str, columns: u16) -> Vec<String> {
    let room = usize::from(columns.max(1));
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_inclusive(char::is_whitespace) {
            if line.width() + word.trim_end().width() > room && !line.is_empty() {
                lines.push(line.trim_end().to_owned());
                line.clear();
            }
            if line.is_empty() && word.trim().is_empty() {
                continue;
            }
            for grapheme in word.graphemes(true) {
                let is_blank = grapheme.trim().is_empty();
                if !is_blank && line.width() + grapheme.width() > room && !line.is_empty() {
                    lines.push(std::mem::take(&mut line));
                }
                line.push_str(grapheme);
            }
        }
        lines.push(line.trim_end().to_owned());
    }
    lines
}

/// Wraps spans after each other, broken at blanks where there are any.
pub fn wrap_spans(spans: &[Span<'_>], columns: u16) -> Vec<Line<'static>> {
    let (mut text, mut styles) = (String::new(), Vec::new());
    for Span { content, style } in spans {
        text.push_str(content);
        styles.extend(content.chars().filter(|c| !c.is_whitespace()).map(|_| *style));
    }
    // Only blanks are left out where a line is broken.
    let mut styles = styles.into_iter();
    let styled = |line: String| {
        let mut spans: Vec<(String, Style)> = Vec::new();
        for c in line.chars() {
            let style = if c.is_whitespace() { None } else { styles.next() };
            match (spans.last_mut(), style) {
                (Some((text, last)), style) if style.is_none_or(|style| style == *last) => text.push(c),
                (_, Some(style)) => spans.push((c.to_string(), style)),
                _ => {}
            }
        }
        spans.into_iter().map(|(text, style)| Span::styled(text, style)).collect()
    };
    wrap(&text, columns).into_iter().map(styled).collect()
}

/// The text in at most so many lines; where something is left out, the last one ends with [`CUT`].
pub fn wrap_to(text: &str, columns: u16, most: usize) -> Vec<String> {
    let mut lines = wrap(text, columns);
    if lines.len() > most {
        let rest = lines.split_off(most.saturating_sub(1)).join(" ");
        lines.push(cut(&rest, columns).into_owned());
    }
    lines
}

/// Wraps a text beside a lead: what does not fit its first line stands under its first word.
pub fn hanging(lead: Span<'static>, text: &str, style: Style, columns: u16) -> Vec<Line<'static>> {
    let indent = lead.width();
    let blank = Span::styled(" ".repeat(indent), lead.style);
    let lines = wrap(text, room_beside(indent, columns)).into_iter();
    let leads = once(lead).chain(repeat(blank));
    leads.zip(lines).map(|(lead, line)| Line::from(vec![lead, Span::styled(line, style)])).collect()
}

/// Returns the columns that are left beside a lead: a few, however wide it is.
pub fn room_beside(lead: usize, columns: u16) -> u16 {
    let lead = u16::try_from(lead).unwrap_or(u16::MAX);
    columns.saturating_sub(lead).max(8)
}

/// The text in lines of at most so many columns; what is left of a broken line stands under its first word.
pub fn wrap_indented(text: &str, columns: u16) -> Vec<String> {
    let broken = |line: &str| {
        let begin = line.trim_start();
        let indent = line.len() - begin.len();
        wrap(begin, room_beside(indent, columns))
            .into_iter()
            .map(move |part| format!("{:indent$}{part}", ""))
            .collect::<Vec<_>>()
    };
    text.lines().flat_map(broken).collect()
}

/// JSON with a line for each of its values; as it is where it is none.
pub fn indented_json(json: &str) -> String {
    let value = serde_json::from_str::<serde_json::Value>(json).ok();
    value.and_then(|value| serde_json::to_string_pretty(&value).ok()).unwrap_or_else(|| json.to_owned())
}

/// The text with a capital at its beginning.
pub fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[test]
    fn styled_texts_keep_their_styles_where_a_line_is_broken() {
        let (plain, key) = (Style::new(), Style::new().bold());
        let spans = |spans: &[(&'static str, Style)]| -> Vec<Span<'static>> {
            spans.iter().map(|(text, style)| Span::styled(*text, *style)).collect()
        };

        let lines = wrap_spans(&spans(&[("pays twice. ", plain), ("ctrl-x", key), (" answers it", plain)]), 14);

        let expected = [&[("pays twice.", plain)][..], &[("ctrl-x ", key), ("answers", plain)], &[("it", plain)]];
        assert_eq!(lines, expected.map(|line| Line::from(spans(line))));
    }

    #[rstest]
    #[case("ACME STREAM", 11, "ACME STREAM")]
    #[case("ACME STREAM", 10, "ACME STRE…")]
    #[case("ACME STREAM", 6, "ACME…")]
    #[case("東京タワー", 6, "東京…")]
    #[case("anything", 0, "")]
    fn a_cut_is_measured_in_columns_and_shown(#[case] text: &str, #[case] room: u16, #[case] shown: &str) {
        assert_eq!(cut(text, room), shown);
    }

    #[test]
    fn lines_break_at_blanks_and_long_words_anywhere() {
        assert_eq!(wrap("no second refund is due", 10), ["no second", "refund is", "due"]);
        assert_eq!(wrap("ABCDEFGHIJKL", 5), ["ABCDE", "FGHIJ", "KL"]);
        assert_eq!(wrap("not taken, it said: 503", 9), ["not", "taken, it", "said: 503"]);
    }

    #[test]
    fn what_does_not_fit_the_last_line_is_cut_there() {
        assert_eq!(wrap_to("no second refund is due", 10, 3), ["no second", "refund is", "due"]);
        assert_eq!(wrap_to("no second refund is due", 10, 2), ["no second", "refund is…"]);
    }

    #[test]
    fn a_broken_line_of_json_goes_on_under_its_beginning() {
        let json = indented_json(r#"{"id":7,"name":"no second refund"}"#);

        assert_eq!(wrap_indented(&json, 18), ["{", "  \"id\": 7,", "  \"name\": \"no", "  second refund\"", "}"]);
        assert_eq!(indented_json("{broken"), "{broken");
    }

    proptest! {
        #[test]
        fn nothing_is_ever_wider_than_its_room(text in "\\PC{0,40}", room in 1u16..30) {
            // A single sign may be wider than the narrowest room; lines of two columns and more always hold.
            prop_assert!(columns(&cut(&text, room)) <= room);
            for line in wrap(&text, room.max(2)) {
                prop_assert!(columns(&line) <= room.max(2) || line.graphemes(true).count() == 1, "{:?}", line);
            }
        }
    }
}
