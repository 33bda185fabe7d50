//! Tests of the text input.

use proptest::prelude::*;
use ratatui::{Terminal, backend::TestBackend};
use rstest::rstest;

use super::*;

fn press(input: &mut TextInput, code: KeyCode, modifiers: KeyModifiers) -> bool {
    input.key(KeyEvent::new(code, modifiers))
}

fn plain(input: &mut TextInput, code: KeyCode) -> bool {
    press(input, code, KeyModifiers::NONE)
}

/// Draws the field and says what stands in it and where the cursor is.
fn drawn(input: &TextInput, width: u16, height: u16) -> (Vec<String>, Position) {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| input.draw(frame, frame.area(), Style::new(), true)).unwrap();
    let cursor = terminal.get_cursor_position().unwrap();
    let buffer = terminal.backend().buffer();
    let rows =
        (0..height).map(|y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned());
    (rows.collect(), cursor)
}

#[test]
fn the_cursor_stands_behind_wide_letters() {
    let mut input = TextInput::one_line("東京x");

    let columns = [(); 3].map(|()| {
        let column = drawn(&input, 20, 1).1.x;
        plain(&mut input, KeyCode::Left);
        column
    });

    assert_eq!(columns, [5, 4, 2]);
}

#[test]
fn a_long_line_scrolls_so_that_the_cursor_is_seen() {
    let mut input = TextInput::one_line("0123456789abcdef");

    let (end, at_end) = drawn(&input, 9, 1);
    plain(&mut input, KeyCode::Home);
    let (start, at_start) = drawn(&input, 9, 1);

    assert_eq!((end[0].as_str(), at_end.x), ("89abcdef", 8));
    assert_eq!((start[0].as_str(), at_start.x), ("012345678", 0));
}

#[test]
fn words_are_moved_over_and_deleted_at_once() {
    let mut input = TextInput::one_line("refund under ticket");

    press(&mut input, KeyCode::Char('w'), KeyModifiers::CONTROL);
    press(&mut input, KeyCode::Left, KeyModifiers::CONTROL);
    plain(&mut input, KeyCode::Char('*'));

    assert_eq!(input.text(), "refund *under ");
}

#[rstest]
#[case("one\r\ntwo\rthree", "one\ntwo\nthree")]
#[case("é🦀", "é🦀")]
fn a_paste_of_several_lines_keeps_them(#[case] pasted: &str, #[case] text: &str) {
    let mut input = TextInput::several_lines("");

    assert_eq!(input.paste(pasted), Ok(None));
    assert_eq!(input.text(), text);
}

#[rstest]
#[case("\u{7}\u{85}", "nothing but control characters")]
#[case("a\nb", "several lines")]
#[case(&"x".repeat(10_001), "10001 characters")]
fn a_paste_that_does_not_fit_is_refused_whole_and_in_words(#[case] pasted: &str, #[case] says: &str) {
    let mut input = TextInput::one_line("before");

    let refusal = input.paste(pasted).unwrap_err();

    assert!(refusal.contains(says), "{refusal}");
    assert_eq!(input.text(), "before");
}

#[rstest]
#[case("A-1\tB-2", "A-1 B-2", None)]
#[case("a\u{85}", "a", Some("Pasted without 1 control character."))]
#[case("\u{1b}[2J\tx\u{7}", "[2J x", Some("Pasted without 2 control characters."))]
fn a_paste_comes_in_without_its_control_characters_and_that_is_said(
    #[case] pasted: &str,
    #[case] text: &str,
    #[case] says: Option<&str>,
) {
    let mut input = TextInput::one_line("");

    let told = input.paste(pasted).unwrap();

    assert_eq!((input.text().as_str(), told.as_deref()), (text, says));
}

#[test]
fn a_line_break_around_a_pasted_line_is_forgiven() {
    let mut input = TextInput::one_line("");

    input.paste("5F2RE396\n").unwrap();

    assert_eq!(input.text(), "5F2RE396");
}

#[test]
fn a_click_puts_the_cursor_before_the_letter_it_meets() {
    let mut input = TextInput::several_lines("one two three\n東x");
    let (rows, _) = drawn(&input, 9, 4);
    assert_eq!(rows[..3], ["one two", "three", "東 x"]);

    assert!(input.click(Position { x: 2, y: 1 }));
    plain(&mut input, KeyCode::Char('|'));
    drawn(&input, 9, 4);
    assert!(input.click(Position { x: 2, y: 2 }));
    plain(&mut input, KeyCode::Char('|'));

    assert_eq!(input.text(), "one two th|ree\n東|x");
    assert!(!input.click(Position { x: 0, y: 9 }));
}

#[rstest]
#[case("same card and amount", 15, &["same card and", "amount"])]
#[case("0123456789", 6, &["01234", "56789"])]
#[case("東京都庁", 6, &["東 京", "都 庁"])]
fn lines_break_at_words_and_inside_of_those_that_are_wider(
    #[case] text: &str,
    #[case] width: u16,
    #[case] rows: &[&str],
) {
    let input = TextInput::several_lines(text);

    let (mut shown, _) = drawn(&input, width, 4);
    shown.retain(|row| !row.is_empty());

    assert_eq!(shown, rows);
}

#[test]
fn a_long_text_scrolls_so_that_the_cursors_row_is_seen() {
    let mut input = TextInput::several_lines("1\n2\n3\n4\n5");

    let (end, at_end) = drawn(&input, 5, 2);
    plain(&mut input, KeyCode::Up);
    plain(&mut input, KeyCode::Up);
    let (higher, at_higher) = drawn(&input, 5, 2);

    assert_eq!((end, at_end.y), (vec!["4".to_owned(), "5".to_owned()], 1));
    assert_eq!((higher, at_higher.y), (vec!["3".to_owned(), "4".to_owned()], 0));
}

#[test]
fn up_and_down_go_by_the_rows_on_the_screen() {
    let mut input = TextInput::several_lines("one two three");
    drawn(&input, 9, 4);

    plain(&mut input, KeyCode::Up);
    plain(&mut input, KeyCode::Char('|'));

    assert_eq!(input.text(), "one t|wo three");
}

#[test]
fn up_and_down_leave_the_field_where_there_is_no_line_to_go_to() {
    let mut input = TextInput::several_lines("one\ntwo");

    assert!(!plain(&mut input, KeyCode::Down));
    assert!(plain(&mut input, KeyCode::Up));
    assert!(!plain(&mut input, KeyCode::Up));
}

#[rstest]
#[case(KeyCode::Enter)]
#[case(KeyCode::Tab)]
#[case(KeyCode::Esc)]
#[case(KeyCode::F(1))]
fn keys_that_are_not_for_typing_are_left_to_the_form(#[case] code: KeyCode) {
    let mut input = TextInput::several_lines("x");

    assert!(!plain(&mut input, code));
    assert_eq!(input.text(), "x");
}

#[rstest]
#[case::on_a_terminal_that_tells_the_key('_')]
#[case::on_one_that_sends_its_old_code('7')]
#[case::by_the_key_without_shift('/')]
fn undo_is_that_of_a_shell_and_ctrl_z_is_left_to_the_terminal(#[case] undo: char) {
    let mut input = TextInput::one_line("");
    plain(&mut input, KeyCode::Char('a'));

    let stop = press(&mut input, KeyCode::Char('z'), KeyModifiers::CONTROL);
    let kept = input.text();
    press(&mut input, KeyCode::Char(undo), KeyModifiers::CONTROL);

    assert_eq!((stop, kept.as_str(), input.text().as_str()), (false, "a", ""));
    press(&mut input, KeyCode::Char('y'), KeyModifiers::CONTROL);
    assert_eq!(input.text(), "a");
}

proptest! {
    #[test]
    fn no_keys_make_it_panic_and_the_cursor_stays_in_the_field(
        text in "(\\PC|[👨‍👩‍👧é東 \n]){0,40}",
        keys in proptest::collection::vec((0usize..18, any::<bool>(), any::<bool>()), 0..40),
        width in 0u16..14,
        height in 0u16..4,
    ) {
        let codes = [KeyCode::Left, KeyCode::Right, KeyCode::Up, KeyCode::Down, KeyCode::Home, KeyCode::End,
            KeyCode::Backspace,
            KeyCode::Delete, KeyCode::Enter, KeyCode::Char('w'), KeyCode::Char('u'), KeyCode::Char('k'),
                KeyCode::Char('z'),
            KeyCode::Char('y'), KeyCode::Char('é'), KeyCode::Char('東'), KeyCode::Char('j'), KeyCode::Char('d')];
        let mut input = TextInput::several_lines(&text);
        for (index, ctrl, alt) in keys {
            let mut modifiers = KeyModifiers::NONE;
            modifiers.set(KeyModifiers::CONTROL, ctrl);
            modifiers.set(KeyModifiers::ALT, alt);
            press(&mut input, codes[index], modifiers);
            if width > 0 && height > 0 {
                let (_, cursor) = drawn(&input, width, height);
                prop_assert!(cursor.x < width && cursor.y < height);
            }
        }
        prop_assert!(!input.text().chars().any(|c| c.is_control() && c != '\n') || text.chars().any(char::is_control));
    }
}

#[test]
fn a_row_that_goes_on_with_a_line_begins_with_a_word_and_a_click_meets_it() {
    let mut input = TextInput::several_lines("one two three");

    let (rows, end) = drawn(&input, 8, 3);
    input.click(Position::new(2, 1));
    let (_, clicked) = drawn(&input, 8, 3);
    input.key(KeyCode::Char('*').into());

    assert_eq!((&rows[..2], end), (&["one two".to_owned(), "three".to_owned()][..], Position::new(5, 1)));
    assert_eq!((clicked, input.text().as_str()), (Position::new(2, 1), "one two th*ree"));
}
