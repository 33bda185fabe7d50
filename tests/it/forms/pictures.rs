//! A picture of every state of the filter form, between the header and the footer of a console.

use avert::console::theme::{Theme, ThemeName};
use crossterm::event::KeyCode;
use ratatui::layout::Rect;
use rstest::rstest;

use super::{
    filter::{self, OpenFilter},
    *,
};

/// What stands in a console of this size, whose first line and last one are its own.
fn in_console((width, height): (u16, u16), draw: impl FnOnce(&mut Frame<'_>, Rect)) -> Screen {
    Screen::of(width, height, |frame| {
        let area = frame.area();
        draw(frame, Rect { y: area.y + 1, height: area.height - 2, ..area });
    })
}

/// The screen with the room around the form left out, and where the cursor is.
fn picture(screen: &Screen) -> String {
    let rows = screen.rows();
    let first = rows.iter().position(|row| !row.is_empty()).unwrap_or(0);
    let last = rows.iter().rposition(|row| !row.is_empty()).unwrap_or(0);
    let cursor = screen.cursor.map_or("no cursor".to_owned(), |at| format!("cursor at row {}, column {}", at.y, at.x));
    format!("rows {first} to {last}, {cursor}\n{}", rows[first..=last].join("\n"))
}

fn filter_state(name: &str) -> OpenFilter {
    let open = |query: &str, events: Vec<Event>| {
        let mut filter = filter::open(query);
        events.iter().for_each(|event| drop(filter.handle(event)));
        filter
    };
    match name {
        "empty" => open("", Vec::new()),
        "set" => open(
            "status:open,expired provider:ethoca type:confirmed_fraud expires:6 expired:no from:2026-01-01 \
                to:2026-01-31 \
             descriptor:acme outcome:resolved sort:-amount 4111",
            vec![key(KeyCode::Tab); 4],
        ),
        "wrong" => {
            let mut events = vec![key(KeyCode::Tab); 5];
            events.push(key(KeyCode::Char('0')));
            events.extend(vec![key(KeyCode::Tab); 2]);
            events.extend(typed("2026-02-30"));
            events.extend(vec![key(KeyCode::Tab); 5]);
            events.extend(typed("42"));
            events.push(key(KeyCode::Enter));
            open("", events)
        }
        "sorting" => open("", vec![key(KeyCode::Tab); 13]),
        other => panic!("no state {other}"),
    }
}

#[rstest]
fn the_filter_form_looks_as_it_did(
    #[values("empty", "set", "wrong", "sorting")] name: &str,
    #[values((80, 24), (120, 40))] size: (u16, u16),
) {
    let filter = filter_state(name);
    let screen = in_console(size, |frame, area| filter.form.draw(&Theme::named(ThemeName::Dark), frame, area));

    insta::assert_snapshot!(format!("filter_{name}_{}x{}", size.0, size.1), picture(&screen));
}
