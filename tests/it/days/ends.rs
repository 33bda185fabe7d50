//! The ends that a console can come to: what becomes of what was typed and staged, and of the terminal.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use avert::{
    console::{Preferences, Session, SessionInfo},
    domain::{
        Timestamp,
        time::{Clock, SystemClock},
    },
};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use super::{CTRL_S, Day, alert, leave, open_form};
use crate::{
    console::{
        fake::{Fake, morning},
        rig::records,
    },
    support::{
        binary::{binary, signal},
        terminal::Terminal,
    },
};

fn two() -> Day {
    Day::with("", (1..=2).map(|number| alert(number, "ETHOCA", "ETHOCA_CUSTOMER_DISPUTE", number * 3)))
}

/// That the alternate screen, the mouse, pasting, the cursor and the title are as they were before.
fn assert_given_back(written: &[u8]) {
    let written = String::from_utf8_lossy(written);
    let after = |on: &str, off: &str| {
        let (on, off) = (written.rfind(on), written.rfind(off));
        assert!(off > on, "{on:?} at {on:?}, undone at {off:?}");
    };
    for (on, off) in [
        ("\x1b[?1049h", "\x1b[?1049l"),
        ("\x1b[?25l", "\x1b[?25h"),
        ("\x1b[?1000h", "\x1b[?1000l"),
        ("\x1b[?2004h", "\x1b[?2004l"),
        ("\x1b[22;0t", "\x1b[23;0t"),
    ] {
        after(on, off);
    }
}

/// A console in whose form on the first alert stands a text.
fn typing(day: &Day) -> Terminal {
    let mut terminal = day.open(120, 40);
    open_form(&mut terminal, "n");
    terminal.press("goods were delivered");
    terminal.wait_for("goods were delivered");
    terminal
}

/// That the next console has the text in that form.
fn assert_typed_text_is_there(day: &Day) {
    let mut terminal = day.open_with(&[], 120, 40);
    terminal.wait_for("SHOP 1 ");
    open_form(&mut terminal, "n");
    terminal.wait_for("goods were delivered");
    terminal.press("\x1b");
    terminal.wait_gone("alt-enter starts a line");
    leave(terminal);
}

#[test]
fn ctrl_z_without_a_shell_to_go_back_to_is_told_and_the_console_goes_on() {
    let day = two();
    let mut terminal = typing(&day);

    terminal.press("\x1a");

    terminal.wait_for("No shell to go back to");
    terminal.press(" in May");
    terminal.wait_for("goods were delivered in May");
    terminal.press("\x1b");
    terminal.wait_gone("alt-enter starts a line");
    leave(terminal);
}

/// As under `docker exec` or `nsenter`: to the console the session that it belongs to has the number 0.
#[cfg(target_os = "linux")]
#[test]
fn a_console_opens_in_a_session_of_another_pid_namespace() {
    let namespace = ["--user", "--map-root-user", "--pid", "--fork"];
    if !Command::new("unshare").args(namespace).arg("true").output().is_ok_and(|ended| ended.status.success()) {
        eprintln!("skipped: no PID namespace can be made here");
        return;
    }
    let day = two();
    let line = format!("{} open --config {}; exit $?", binary().display(), day.path().join("day.toml").display());
    let arguments = [&namespace[..], &["sh", "-c", &line]].concat();

    let terminal = Terminal::start_program(Path::new("unshare"), day.path(), &arguments, &[], 120, 40);

    terminal.wait_for("SHOP 1 ");
    leave(terminal);
}

#[cfg(target_os = "linux")]
#[test]
fn a_console_that_was_stopped_from_outside_takes_its_terminal_again() {
    let day = two();
    let mut terminal = typing(&day);
    signal(terminal.process(), "STOP");
    let shell = File::options().read(true).write(true).open(format!("/proc/{}/fd/0", terminal.process())).unwrap();
    let line_edited = |modes: &Termios| modes.local_modes.contains(LocalModes::ICANON | LocalModes::ECHO);
    let mut modes = tcgetattr(&shell).unwrap();
    modes.local_modes |= LocalModes::ICANON | LocalModes::ECHO;
    tcsetattr(&shell, OptionalActions::Now, &modes).unwrap();
    assert!(line_edited(&tcgetattr(&shell).unwrap()));

    signal(terminal.process(), "CONT");

    terminal.wait_until("the console in a terminal of single keys", |screen| {
        screen.contains("goods were delivered") && !line_edited(&tcgetattr(&shell).unwrap())
    });
    drop(shell);
    terminal.press(" in May");
    terminal.wait_for("goods were delivered in May");
    terminal.press("\x1b");
    terminal.wait_gone("alt-enter starts a line");
    leave(terminal);
}

#[test]
fn text_in_an_open_form_outlives_a_line_that_hangs_up() {
    let day = two();
    let terminal = typing(&day);

    signal(terminal.process(), "HUP");
    let (code, written) = terminal.wait_exit();
    assert_typed_text_is_there(&day);

    assert_ne!(code, 0);
    assert_given_back(&written);
    assert_eq!(day.statuses([1, 2]), ["OPEN", "OPEN"]);
}

#[test]
fn text_in_a_form_for_several_outlives_a_line_that_hangs_up_and_its_key_opens_it() {
    let day = two();
    let mut terminal = day.open(120, 40);
    terminal.press("*");
    terminal.wait_for("2 marked");
    terminal.press("n");
    terminal.wait_for("Answer 2 alerts");
    terminal.press("\x1bn");
    terminal.wait_for("2 will be sent");
    terminal.press("goods were delivered");
    terminal.wait_for("goods were delivered");

    signal(terminal.process(), "HUP");
    let (code, _) = terminal.wait_exit();
    let mut terminal = day.open_with(&[], 120, 40);
    terminal.press("4");
    terminal.wait_for("not sent: \"goods were delivered\"");
    terminal.press("t");
    terminal.wait_until("the form as it was left", |screen| {
        screen.contains("Answer 2 alerts")
            && screen.contains("goods were delivered")
            && screen.contains("2 will be sent")
    });
    terminal.press("\x1b");
    terminal.wait_gone("Answer 2 alerts");
    leave(terminal);

    assert_ne!(code, 0);
    assert_eq!(day.statuses([1, 2]), ["OPEN", "OPEN"]);
}

#[test]
fn a_decision_in_its_grace_does_not_leave_when_the_console_is_told_to_end() {
    let day = two();
    let mut terminal = day.open_with(&[("AVERT_GRACE_SECONDS", "60")], 120, 40);
    terminal.wait_for("SHOP 1 ");
    open_form(&mut terminal, "n");
    terminal.press(CTRL_S);
    // The form tells of undoing, too.
    terminal.wait_gone("Comments");

    signal(terminal.process(), "TERM");
    let (code, written) = terminal.wait_exit();

    let said = String::from_utf8_lossy(&written).into_owned();
    assert_ne!(code, 0);
    assert!(said.contains("1 queued answer was undone"), "{said}");
    assert_given_back(&written);
    assert_eq!(day.status(1), "OPEN");
}

#[test]
fn a_console_whose_terminal_is_closed_ends_by_itself_and_keeps_its_text() {
    let day = two();
    let terminal = typing(&day);

    terminal.close();

    assert_typed_text_is_there(&day);
}

#[test]
fn a_storm_of_sizes_leaves_the_cursor_on_its_alert_and_the_screen_whole() {
    let day = two();
    let mut terminal = day.open(120, 40);
    terminal.press("j");
    terminal.wait_for("network id  DAY-2");

    for round in 0..60_u16 {
        terminal.resize(20 + round * 37 % 190, 4 + round * 13 % 60);
    }
    terminal.resize(120, 40);

    terminal.wait_for("network id  DAY-2");
    leave(terminal);
}

#[test]
fn a_window_that_was_small_for_a_moment_is_drawn_anew_and_the_key_after_it_is_heard() {
    let day = two();
    let mut terminal = day.open(120, 40);

    // Stopped, the console hears of all of it at once, and of a size that is the one it had.
    signal(terminal.process(), "STOP");
    terminal.resize(20, 4);
    terminal.resize(120, 40);
    terminal.press("j");
    signal(terminal.process(), "CONT");

    terminal.wait_for("network id  DAY-2");
    terminal.wait_for("SHOP 1 ");
    leave(terminal);
}

#[test]
fn a_terminal_that_tells_no_colours_gets_a_console_all_the_same() {
    let day = two();

    // The theme is to be found out, and nobody answers.
    let terminal = day.open_with(&[("AVERT_THEME", ""), ("COLORTERM", "")], 120, 40);

    terminal.wait_for("SHOP 1 ");
    leave(terminal);
}

#[test]
fn a_terminal_that_tells_no_colours_and_announces_all_of_them_gets_the_dark_ones() {
    let day = two();

    let terminal = day.open_with(&[("AVERT_THEME", ""), ("COLORTERM", "truecolor"), ("NO_COLOR", "")], 120, 40);

    terminal.wait_for("SHOP 1 ");
    let (column, row) = terminal.find("SHOP 1 ").unwrap();
    let page = terminal.screen().cell(row - 1, column - 1).map(vt100::Cell::bgcolor);
    assert!(matches!(page, Some(vt100::Color::Rgb(red, ..)) if red < 0x40), "{page:?}");
    leave(terminal);
}

#[test]
fn the_background_is_found_among_answers_that_nobody_asked_for() {
    let day = two();
    let page = || {
        let mut terminal = day.open_with(&[("AVERT_THEME", ""), ("COLORTERM", "truecolor"), ("NO_COLOR", "")], 120, 40);
        terminal.wait_written("\x1b]11;?");
        terminal.press("\x1bP>|tmux 3.4\x1b\\\x1b[?62;4c\x1b]10;rgb:0000/0000/0000\x1b\\");
        terminal.press("\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[0n");
        terminal.wait_for("SHOP 1 ");
        let (column, row) = terminal.find("SHOP 1 ").unwrap();
        let page = terminal.screen().cell(row - 1, column - 1).map(vt100::Cell::bgcolor);
        leave(terminal);
        page
    };

    // A terminal that takes more than a second to answer is taken for a dark one.
    let mut pages = std::iter::repeat_with(page).take(5);

    assert!(pages.any(|page| matches!(page, Some(vt100::Color::Rgb(red, ..)) if red > 0xc0)));
}

/// Names the file at whose sight the clock of [`a_panic_gives_the_terminal_back_and_says_where_its_report_is`] breaks.
const BREAKS_AT: &str = "AVERT_TEST_CLOCK_BREAKS_AT";

/// A clock that breaks once a file is there.
struct BreakingClock(PathBuf);

impl Clock for BreakingClock {
    fn now(&self) -> Timestamp {
        assert!(!self.0.exists(), "the clock broke");
        SystemClock.now()
    }
}

/// The console with a clock that breaks, in the terminal of this process.
fn open_with_a_clock_that_breaks(at: PathBuf) {
    avert::telemetry::report_panics(at.with_file_name("reports"));
    let session = Session {
        deployment: Fake::with(morning(SystemClock.now()), Arc::new(SystemClock)).deployment(),
        clock: Arc::new(BreakingClock(at)),
        place: SessionInfo { name: "breaking".to_owned(), ..SessionInfo::default() },
        settings: Preferences::default(),
        desk_dir: None,
        alert_json: Arc::new(|_, _| String::new()),
        alert_records: records(),
        log_trouble: None,
        rules: None,
        profiles: None,
        keeper: None,
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(avert::console::run(session)).unwrap();
}

#[test]
fn a_panic_gives_the_terminal_back_and_says_where_its_report_is() {
    // The test is both: the one who looks, and the process that is looked at.
    if let Some(at) = std::env::var_os(BREAKS_AT) {
        return open_with_a_clock_that_breaks(at.into());
    }
    let home = tempfile::tempdir().unwrap();
    let at = home.path().join("broken");
    let name = "days::ends::a_panic_gives_the_terminal_back_and_says_where_its_report_is";
    let itself = std::env::current_exe().unwrap();
    let arguments = [name, "--exact", "--nocapture"];
    let terminal =
        Terminal::start_program(&itself, home.path(), &arguments, &[(BREAKS_AT, at.to_str().unwrap())], 120, 40);
    terminal.wait_for("ACME STREAM");

    std::fs::write(&at, "").unwrap();
    let (code, written) = terminal.wait_exit();

    let said = String::from_utf8_lossy(&written).into_owned();
    assert_ne!(code, 0);
    assert_given_back(&written);
    let reports: Vec<_> =
        std::fs::read_dir(home.path().join("reports")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [report] = reports.as_slice() else { panic!("one report, not {reports:?}: {said}") };
    assert!(said.contains(&report.display().to_string()), "{said}");
    assert!(std::fs::read_to_string(report).unwrap().contains("the clock broke"));
}
