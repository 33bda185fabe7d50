//! The plain look: the same screen without box drawing and blocks, which screen readers would read out one by one.

use ratatui::buffer::Buffer;

/// Returns the substitute of a symbol that only draws; `None` for one that says something.
fn plain(symbol: &str) -> Option<&'static str> {
    let mut letters = symbol.chars();
    let (Some(letter), None) = (letters.next(), letters.next()) else { return None };
    match letter {
        // The row under the cursor is told by a letter as well as by its colour.
        '▌' => Some(">"),
        '▎' => Some(" "),
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

/// Clears what stands beside a dialog that was just drawn: a line is read from end to end, and a scrap of the list
/// would be read with it.
pub(super) fn clear_beside(before: &Buffer, buffer: &mut Buffer) {
    let area = buffer.area;
    let is_drawn = |x: u16, y: u16, buffer: &Buffer| buffer[(x, y)] != before[(x, y)];
    let drawn: Vec<(u16, u16)> =
        area.positions().map(|at| (at.x, at.y)).filter(|(x, y)| is_drawn(*x, *y, buffer)).collect();
    let extent = |of: fn(&(u16, u16)) -> u16| Some((drawn.iter().map(of).min()?, drawn.iter().map(of).max()?));
    let Some(((left, right), (top, bottom))) = extent(|at| at.0).zip(extent(|at| at.1)) else { return };
    for y in top..=bottom {
        for x in (area.left()..left).chain(right + 1..area.right()) {
            buffer[(x, y)].set_symbol(" ");
        }
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
        assert!(line.contains("東") && line.contains('✓'), "{line:?}");
        assert!(!line.chars().any(|letter| ('\u{2500}'..='\u{259f}').contains(&letter)), "{line:?}");
    }

    #[test]
    fn nothing_stands_beside_a_dialog_and_what_is_above_it_stays() {
        let mut behind = Buffer::empty(Rect::new(0, 0, 20, 3));
        for y in 0..3 {
            behind.set_string(0, y, "left           right", Style::new());
        }
        let mut buffer = behind.clone();
        buffer.set_string(5, 1, "| ask? |", Style::new());

        clear_beside(&behind, &mut buffer);

        let line = |y: u16| (0..20).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        assert_eq!([line(0), line(1)], ["left           right", "     | ask? |       "]);
    }
}
