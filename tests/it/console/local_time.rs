//! By which clocks moments are told: the time left first, then UTC and local time, or one of them.

use avert::console::notices::NoticeSettings;
use avert::console::times::ShownClocks;
use avert::domain::Deadline;
use avert::domain::time::Clock;
use chrono::Duration;
use rstest::rstest;

use super::fake::morning;
use super::rig::{Made, clock};

#[rstest]
#[case(ShownClocks::Both, "closes in 41 min 14:45 UTC, 18:45 local", "UTC")]
#[case(ShownClocks::Utc, "closes in 41 min 14:45 UTC", "UTC")]
#[case(ShownClocks::Local, "closes in 41 min 18:45 local", "LOCAL")]
fn the_detail_the_case_and_every_column_go_by_the_clocks_that_are_wanted(
    #[case] clocks: ShownClocks,
    #[case] closes: &str,
    #[case] heading: &str,
) {
    let mut rig = Made { clocks, size: (200, 60), ..Made::default() }.start();

    let queue = rig.screen();
    rig.press("enter");
    let case = rig.screen();

    assert!(queue.contains(closes), "{queue}");
    assert!(case.contains(&format!("WHAT HAPPENED, {heading}")), "{case}");
    for (word, shown) in [(" UTC", clocks != ShownClocks::Local), (" local", clocks != ShownClocks::Utc)] {
        assert_eq!(queue.contains(word), shown, "{word}: {queue}");
    }
}

#[test]
fn where_there_is_room_both_clocks_stand_in_header_and_timeline() {
    let mut rig = Made { size: (200, 60), ..Made::default() }.start();
    let header = rig.screen().lines().next().unwrap_or_default().to_owned();
    rig.press("enter");
    let case = rig.screen();

    assert!(header.trim_end().ends_with("18:03 local  14:03 UTC"), "{header}");
    assert!(case.contains("WHAT HAPPENED, UTC and local"), "{case}");
}

#[rstest]
#[case(
    ShownClocks::Both,
    "lapses at 14:13 UTC, 18:13 local",
    "LAPSES BY HOUR   local, UTC+04:00",
    "ANSWERED PER DAY   local days"
)]
#[case(ShownClocks::Utc, "lapses at 14:13 UTC, un", "LAPSES BY HOUR   UTC", "ANSWERED PER DAY   UTC days")]
#[case(
    ShownClocks::Local,
    "lapses at 18:13 local",
    "LAPSES BY HOUR   local, UTC+04:00",
    "ANSWERED PER DAY   local days"
)]
fn notices_and_the_hours_and_days_of_insights_go_by_the_clocks_that_are_wanted(
    #[case] clocks: ShownClocks,
    #[case] told: &str,
    #[case] heading: &str,
    #[case] today: &str,
) {
    let mut alerts = morning(clock().now());
    alerts[0].deadline = Deadline::At(clock().now() + Duration::minutes(10));
    let notices = NoticeSettings { title: false, before: Duration::minutes(15), ..NoticeSettings::default() };
    let mut rig = Made { clocks, notices, size: (160, 50), ..Made::of(alerts) }.start();
    rig.advance(Duration::seconds(1));
    let notice = rig.screen();

    rig.press("2");
    rig.advance(Duration::seconds(1));

    assert!(notice.contains(told), "{notice}");
    assert!(rig.screen().contains(heading) && rig.screen().contains(today), "{}", rig.screen());
}
