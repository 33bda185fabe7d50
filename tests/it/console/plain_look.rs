//! The plain look, for screen readers: what has the cursor is told by a letter, and nothing else has that letter.

use chrono::Duration;
use rstest::rstest;

use super::rig::{Made, Rig};

fn plain() -> Rig {
    Made { plain: true, size: (80, 24), ..Made::default() }.start()
}

/// The lines whose entry or row is marked as the one with the cursor.
fn marked(rig: &mut Rig) -> Vec<String> {
    rig.screen().lines().filter(|line| line.contains(" >") || line.starts_with('>')).map(str::to_owned).collect()
}

#[rstest]
#[case::palette(":")]
#[case::help("?")]
#[case::views("v")]
#[case::copy("y")]
fn the_chosen_entry_has_the_only_mark(#[case] key: &str) {
    let mut rig = plain();
    let in_the_list = marked(&mut rig);
    rig.press(key);
    let first = marked(&mut rig);

    rig.press("down down");
    let third = marked(&mut rig);

    assert_eq!((in_the_list.len(), first.len(), third.len()), (1, 1, 1), "{first:?} {third:?}");
    assert_ne!(first, third);
}

#[test]
fn what_is_found_has_the_only_mark() {
    let mut rig = plain();
    rig.press("ctrl-f");
    rig.type_text("acme");
    rig.advance(Duration::milliseconds(500));

    rig.press("down");

    let marked = marked(&mut rig);
    assert!(marked.len() == 1 && marked[0].contains("descriptor ACME"), "{marked:?}");
}

#[test]
fn over_a_case_the_chosen_entry_has_the_only_mark() {
    let mut rig = plain();
    rig.press("enter :");

    rig.press("down");

    assert_eq!(marked(&mut rig).len(), 1, "{}", rig.screen());
}

#[rstest]
#[case::views("v")]
#[case::copy("y")]
fn a_dialog_has_whole_lines_and_no_scrap_of_the_list_beside_it(#[case] keys: &str) {
    let mut rig = Made { plain: true, size: (120, 40), ..Made::default() }.start();
    let list = rig.screen();

    rig.press(keys);

    let screen = rig.screen();
    let column = |line: &str, at: usize, width: usize| line.chars().skip(at).take(width).collect::<String>();
    // In the middle stands the dialog.
    let is_of_dialog = |(before, now): &(&str, &str)| column(before, 50, 20) != column(now, 50, 20);
    let lines = list.lines().zip(screen.lines()).filter(is_of_dialog);
    let scraps: Vec<_> =
        lines.filter(|(_, now)| [0, 108].iter().any(|at| !column(now, *at, 12).trim().is_empty())).collect();
    assert!(scraps.is_empty(), "{scraps:#?}\n{screen}");
}
