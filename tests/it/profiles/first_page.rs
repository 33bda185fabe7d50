//! The first page of a machine on which nothing is set up yet.

use rstest::rstest;

use super::{assert_refused, world};
use crate::support::{binary::run, terminal::Terminal};

fn leave(mut terminal: Terminal) {
    terminal.press("q");
    assert_eq!(terminal.wait_exit().0, 0);
}

/// Plain `avert` in a home that has nothing.
fn begin(home: &tempfile::TempDir) -> Terminal {
    let terminal = Terminal::start(home.path(), &[], 120, 40);
    terminal.wait_for("Nothing is set up here yet");
    terminal.wait_for("d, l, c or q:");
    terminal
}

#[test]
fn the_demo_is_offered_and_opens() {
    let home = tempfile::tempdir().unwrap();
    let mut terminal = begin(&home);

    terminal.press("x\r");
    terminal.wait_for("one of the four letters is needed");
    terminal.press("d\r");
    terminal.wait_for(" DEMO ");
    leave(terminal);

    assert!(!home.path().join("avert.db").exists());
}

#[test]
fn a_local_desk_is_offered_and_is_there_the_next_time() {
    let home = tempfile::tempdir().unwrap();
    let mut terminal = begin(&home);

    terminal.press("l\r");
    terminal.wait_for(" SANDBOX ");
    leave(terminal);
    let again = Terminal::start(home.path(), &[], 120, 40);
    again.wait_for(" SANDBOX ");
    leave(again);

    assert!(home.path().join("avert.db").exists());
}

#[test]
fn a_connection_is_asked_for_step_by_step_and_opens_then_and_the_next_time() {
    let world = world();
    let mut terminal = begin(&world.desk);

    let mut answer = |question: &str, text: &str| {
        terminal.wait_for(question);
        terminal.press(&format!("{text}\r"));
    };
    answer("d, l, c or q:", "c");
    answer("Name of the profile:", "shop");
    answer("Base URL, without /api/v1:", &world.server.url);
    answer("Client id (empty for an API key):", "");
    answer("API key (not shown):", &world.key);
    answer("which only you can read? [y/N]", "y");
    terminal.wait_for("SHOP 2");
    terminal.wait_for(" SANDBOX  shop");
    leave(terminal);
    let again = Terminal::start(world.desk.path(), &[], 120, 40);
    again.wait_for("SHOP 2");
    leave(again);

    assert!(!world.desk.path().join("avert.db").exists());
}

#[test]
fn nothing_is_made_where_nothing_is_chosen() {
    let home = tempfile::tempdir().unwrap();
    let mut terminal = begin(&home);

    terminal.press("q\r");

    assert_eq!(terminal.wait_exit().0, 0);
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn without_a_terminal_a_clear_line_and_2() {
    let home = tempfile::tempdir().unwrap();

    assert_refused(&run(home.path(), &[]), 2, &["the console needs a terminal", "avert alerts list"]);
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}

#[rstest]
fn it_has_its_pictures(#[values((80, 24), (120, 40))] size: (u16, u16)) {
    let home = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::start(home.path(), &[], size.0, size.1);

    terminal.wait_for("d, l, c or q:");

    insta::assert_snapshot!(format!("first_page@{}x{}", size.0, size.1), terminal.text());
    terminal.press("q\r");
    assert_eq!(terminal.wait_exit().0, 0);
}
