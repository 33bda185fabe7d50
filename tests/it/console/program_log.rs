//! The log dialog: what the program logged, the newest first, as grave as is wanted.

use avert::console::program_log::{LogLine, LogSeverity};
use avert::console::times::ShownClocks;
use avert::domain::time::Clock;
use chrono::Duration;

use super::rig::{Made, Rig};

fn line(rig: &Rig, number: u64, severity: LogSeverity, text: &str) -> LogLine {
    LogLine { number, at: rig.clock.now(), severity, part: "client".to_owned(), text: text.to_owned() }
}

fn logged(size: (u16, u16)) -> Rig {
    let mut rig = Made { size, ..Made::default() }.start();
    let long = "https 10.0.0.7:443 cannot be reached: connection refused; it is tried again by itself in a while, and \
        every decision waits here until then";
    rig.log = vec![
        line(&rig, 1, LogSeverity::Note, "listening for changes"),
        line(&rig, 2, LogSeverity::Detail, "the service refused a request GET /api/v1/alerts"),
        line(&rig, 3, LogSeverity::Warning, long),
        line(&rig, 4, LogSeverity::Error, "recording a decision: failed error=no answer came"),
    ];
    rig.press("ctrl-g");
    rig
}

#[test]
fn it_has_its_pictures() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut rig = logged((width, height));
        rig.press("down");
        insta::assert_snapshot!(format!("log@{width}x{height}"), rig.screen());
    }
}

#[test]
fn what_is_less_grave_is_left_out_by_a_key() {
    let mut rig = logged((120, 40));
    assert!(rig.screen().contains("listening for changes"), "{}", rig.screen());

    rig.press("l");
    assert!(
        !rig.screen().contains("listening for changes") && rig.screen().contains("2 of 4 events"),
        "{}",
        rig.screen()
    );
    rig.press("l");
    assert!(
        !rig.screen().contains("cannot be reached") && rig.screen().contains("recording a decision"),
        "{}",
        rig.screen()
    );
    rig.press("l");

    assert!(rig.screen().contains("listening for changes"), "{}", rig.screen());
}

#[test]
fn what_comes_stands_on_top_and_who_reads_an_event_stays_on_it() {
    let mut rig = logged((120, 40));
    rig.press("down");
    let more = line(&rig, 5, LogSeverity::Note, "works again");
    rig.log.push(more);

    rig.advance(Duration::seconds(2));

    assert!(rig.screen().contains("works again"), "{}", rig.screen());
    rig.press("up");
    assert!(rig.screen().contains("recording a decision: failed"), "{}", rig.screen());
}

#[test]
fn an_empty_log_says_so_and_esc_closes_it() {
    let mut rig = Made::default().start();
    rig.press("ctrl-g");
    assert!(rig.screen().contains("Nothing was logged yet."), "{}", rig.screen());

    rig.press("esc");

    assert!(!rig.screen().contains("Nothing was logged"), "{}", rig.screen());
}

#[test]
fn its_times_are_by_the_clock_that_the_settings_ask_for() {
    let mut rig = Made { clocks: ShownClocks::Local, ..Made::default() }.start();
    rig.log = vec![line(&rig, 1, LogSeverity::Note, "listening for changes")];

    rig.press("ctrl-g");

    assert!(
        rig.screen().contains("newest first, LOCAL") && rig.screen().contains("18:03:00 · note"),
        "{}",
        rig.screen()
    );
}
