//! By which clocks moments are told: the time left first, then UTC and local time, or one of them.

use avert::console::times::ShownClocks;
use rstest::rstest;

use super::rig::Made;

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
    rig.press("esc 4");
    let activity = rig.screen();

    assert!(queue.contains(closes), "{queue}");
    assert!(case.contains(&format!("WHAT HAPPENED, {heading}")), "{case}");
    assert!(activity.contains(&format!("WHEN {heading}")) || activity.contains("Nothing"), "{activity}");
    for (word, shown) in [(" UTC", clocks != ShownClocks::Local), (" local", clocks != ShownClocks::Utc)] {
        assert_eq!(queue.contains(word), shown, "{word}: {queue}");
    }
}
