//! The time zone of every moment: the analyst's own with its name in the header, or UTC.

use rstest::rstest;

use super::rig::Made;

#[rstest]
#[case::own(false, "due in 41m  18:45", "18:03 UTC+4")]
#[case::utc(true, "due in 41m  14:45", "14:03 UTC")]
fn every_moment_is_told_in_one_zone(#[case] utc: bool, #[case] due: &str, #[case] header: &str) {
    let mut rig = Made { utc, size: (160, 48), ..Made::default() }.start();

    let screen = rig.screen();

    assert!(screen.contains(due), "{screen}");
    assert!(screen.lines().next().is_some_and(|line| line.trim_end().ends_with(header)), "{screen}");
    assert_eq!(screen.matches("UTC").count(), 1, "{screen}");
}
