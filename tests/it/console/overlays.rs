//! What lies over a screen looks alike: one of two widths, one frame, and what ends it as buttons in its last line, the
//! safe one first.

use avert::console::{Theme, theme::ThemeName};
use ratatui::{buffer::Buffer, style::Color};
use rstest::rstest;

use super::{
    pictures::{in_settings, on_settings},
    rig::{Made, Rig},
};

/// A dialog as it was drawn: its width, and the lines inside its edge with their place.
struct Overlay {
    width: usize,
    lines: Vec<(u16, String)>,
    left: u16,
}

/// The dialog that lies topmost, by its edge.
fn overlay(buffer: &Buffer) -> Overlay {
    let area = buffer.area;
    let row = |y: u16| (0..area.width).map(|x| buffer[(x, y)].symbol()).collect::<Vec<_>>();
    let at = |y: u16, sign: &str| row(y).iter().position(|symbol| *symbol == sign);
    let top = (0..area.height).rev().find(|y| at(*y, "╭").is_some()).expect("an edge");
    let foot = (0..area.height).rev().find(|y| at(*y, "╰").is_some()).expect("an edge");
    let (left, right) = (at(top, "╭").unwrap(), at(top, "╮").unwrap());
    let lines = (top + 1..foot).map(|y| (y, row(y)[left + 1..right].concat())).collect();
    Overlay { width: right - left + 1, lines, left: u16::try_from(left).unwrap() }
}

/// The ground of the first sign of a text in a line.
fn ground(buffer: &Buffer, dialog: &Overlay, (y, line): &(u16, String), words: &str) -> Option<Color> {
    let before = line.split(words).next()?;
    let x = dialog.left + 1 + u16::try_from(before.chars().count()).ok()?;
    Some(buffer[(x, *y)].bg)
}

fn dark() -> Theme {
    Theme::named(ThemeName::Dark)
}

/// What a console shows after these keys.
fn opened(keys: &str) -> Buffer {
    let mut rig = Made { size: (120, 40), ..Made::default() }.start();
    rig.press(keys);
    rig.advance(chrono::Duration::milliseconds(100));
    rig.draw()
}

#[rstest]
#[case::filter("f", 92, ("Cancel", Some("Apply")))]
#[case::views("v", 92, ("Close", Some("Choose")))]
#[case::name_of_a_view("v alt-s", 92, ("Cancel", Some("Save")))]
#[case::copy("y", 92, ("Close", Some("Choose")))]
#[case::note("a", 92, ("Cancel", Some("Save")))]
#[case::snooze("j j z", 92, ("Close", Some("Choose")))]
#[case::export("e", 92, ("Cancel", Some("Export")))]
#[case::help("?", 112, ("Close", Some("Choose")))]
#[case::palette(":", 112, ("Close", Some("Choose")))]
#[case::find("ctrl-f 1", 112, ("Close", None))]
fn every_dialog_has_one_of_two_widths_and_its_buttons_at_its_foot(
    #[case] keys: &str,
    #[case] width: usize,
    #[case] (safe, act): (&str, Option<&str>),
) {
    let drawn = opened(keys);

    let dialog = overlay(&drawn);

    // Below them stand keys that have no room beside them, or a form's line for a word.
    let foot = dialog.lines.iter().rev().take(2).find(|(_, line)| line.contains(safe)).expect("its buttons");
    assert_eq!(dialog.width, width, "{}", foot.1);
    let place = |words: &str| foot.1.find(words).unwrap_or_else(|| panic!("{words} in {:?}", foot.1));
    assert!(act.is_none_or(|act| place(safe) < place(act)), "{}", foot.1);
    assert_eq!(ground(&drawn, &dialog, foot, safe), dark().button.bg, "what leaves all as it is looks alike");
    assert!(
        act.is_none_or(|act| ground(&drawn, &dialog, foot, act) == dark().primary.bg),
        "what does it looks alike: {}",
        foot.1
    );
}

#[test]
fn a_question_about_what_is_final_fills_the_safe_answer_alone_and_says_when_decisions_leave() {
    let drawn = opened("r ctrl-s q");

    let dialog = overlay(&drawn);

    let foot = dialog.lines.iter().rev().find(|(_, line)| line.contains("Stay")).expect("its buttons");
    let grounds = ["Stay", "Undo and leave", "Send and leave"].map(|words| ground(&drawn, &dialog, foot, words));
    assert_eq!(grounds, [dark().primary.bg, dark().button.bg, dark().button.bg]);
    assert!(!foot.1.contains('['), "{}", foot.1);
    let said = "Sending is paused.";
    assert!(dialog.lines.iter().any(|(_, line)| line.contains(said)), "{:?}", dialog.lines);
}

#[test]
fn a_question_about_a_final_act_has_the_look_of_all() {
    let mut rig = in_settings().start();
    on_settings(&mut rig);
    rig.press("x");
    let drawn = rig.draw();

    let dialog = overlay(&drawn);

    let foot = dialog.lines.last().expect("a line");
    let grounds = ["Cancel", "Revoke"].map(|words| ground(&drawn, &dialog, foot, words));
    assert_eq!((dialog.width, grounds), (92, [dark().primary.bg, dark().button.bg]));
}

#[test]
fn the_buttons_of_a_list_are_pressed_by_the_mouse_as_by_their_keys() {
    let mut rig = Made::default().start();

    rig.press("v");
    rig.click_on("Close    esc");
    let closed = rig.screen();
    rig.press("v end");
    rig.click_on("Choose    enter");
    let chosen = rig.screen();

    assert!(closed.contains("To answer, by deadline") && !closed.contains("Close    esc"), "{closed}");
    assert!(chosen.contains("  All") && !chosen.contains("Choose    enter"), "{chosen}");
}

#[test]
fn the_help_is_paged_by_what_is_in_sight() {
    let mut rig = Made { size: (160, 44), ..Made::default() }.start();
    let listed = |rig: &mut Rig| -> Vec<String> {
        let lines =
            overlay(&rig.draw()).lines.into_iter().map(|(_, line)| line.trim_matches([' ', '█', '┃', '│']).to_owned());
        // Under its title and the field, and without what is told below.
        let lines: Vec<String> = lines.skip(3).filter(|line| !line.is_empty()).collect();
        lines[..lines.len() - 2].to_vec()
    };
    rig.press("?");
    let first = listed(&mut rig);

    rig.press("pagedown");
    let second = listed(&mut rig);
    rig.press("pageup");

    assert!(first.len() > 20 && second.len() > 20, "{first:?}\n{second:?}");
    assert_ne!(second.last(), first.last());
    assert_eq!(listed(&mut rig), first);
}
