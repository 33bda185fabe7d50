//! The plain look: the same screen without box drawing and blocks, which screen readers would read out one by one.

use ratatui::buffer::Buffer;

/// What stands in the place of a symbol that only draws; `None` for one that says something.
fn plain(symbol: &str) -> Option<&'static str> {
    let mut letters = symbol.chars();
    let (Some(letter), None) = (letters.next(), letters.next()) else { return None };
    match letter {
        // The row under the cursor is told by a letter as well as by its colour.
        '▌' => Some(">"),
        '▎' => Some(" "),
        // Bars of figures: how long they are is still seen.
        '━' | '▀'..='▐' => Some("="),
        '\u{2500}'..='\u{259f}' => Some(" "),
        _ => None,
    }
}

/// Takes the marks of cursors away from what lies behind a dialog: the only one that is left is that of the dialog.
pub(super) fn unmark(buffer: &mut Buffer) {
    for cell in buffer.content.iter_mut().filter(|cell| cell.symbol() == "▌") {
        cell.set_symbol(" ");
    }
}

/// Takes what only draws out of a frame.
pub(super) fn simplify(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if let Some(instead) = plain(cell.symbol()) {
            cell.set_symbol(instead);
        }
    }
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;

    #[test]
    fn lines_and_blocks_go_and_words_signs_and_the_cursor_stay() {
        let text = "╭─╮│┃▌⚠ 東京 ■━━─ █▇ ✓";
        let mut buffer = Buffer::empty(Rect::new(0, 0, 40, 1));
        buffer.set_string(0, 0, text, Style::new());

        simplify(&mut buffer);

        let line: String = buffer.content.iter().map(ratatui::buffer::Cell::symbol).collect();
        assert!(line.starts_with("     >⚠"), "{line:?}");
        assert!(line.contains("東") && line.contains("==") && line.contains('✓'), "{line:?}");
        assert!(!line.chars().any(|letter| ('\u{2500}'..='\u{259f}').contains(&letter)), "{line:?}");
    }
}
