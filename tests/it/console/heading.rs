//! The lines over the list: counts, what is marked, what lapses and its sums; and what is searched for.

use avert::domain::time::Clock;
use avert::domain::{Alert, AlertId, Deadline};
use chrono::Duration;
use rstest::rstest;

use super::fake::morning;
use super::rig::{Made, Rig, clock};

/// The line over the list.
fn heading(rig: &mut Rig) -> String {
    rig.screen().lines().find(|line| line.contains("Open")).unwrap().to_owned()
}

#[rstest]
#[case((60, 16), "▲ 5 in 4 h   148.40 EUR  +3")]
#[case((80, 24), "▲ 5 lapse within 4 h   148.40 EUR  +3 more")]
fn what_lapses_has_its_sum_at_every_size(#[case] size: (u16, u16), #[case] words: &str) {
    let mut rig = Made { size, ..Made::default() }.start();

    assert!(heading(&mut rig).contains(words), "{}", rig.screen());
}

#[test]
fn a_large_sum_is_shortened_and_stays_beside_large_counts() {
    let now = clock().now();
    let open: Vec<Alert> = morning(now).into_iter().filter(|alert| !alert.is_over() && !alert.alert_type.is_notice()).collect();
    let many: Vec<Alert> = (0..6_472)
        .map(|number| Alert {
            id: AlertId::generate(),
            provider_id: format!("M-{number}"),
            amount: Some("9876543210".parse().unwrap()),
            deadline: Deadline::At(now + Duration::minutes(30)),
            ..open[number % open.len()].clone()
        })
        .collect();
    for size in [(60, 16), (80, 24), (120, 40)] {
        let mut rig = Made { size, ..Made::of(many.clone()) }.start();

        let heading = heading(&mut rig);

        assert!(size.0 > 60 || heading.contains("T "), "{heading}");
        assert!(heading.contains("6,472") && heading.contains("in 4 h") && heading.contains('+'), "{heading}");
    }
}

#[test]
fn what_is_marked_has_a_sum_of_its_own_beside_what_lapses() {
    let mut rig = Made { size: (80, 24), ..Made::default() }.start();

    rig.press("space space");

    let heading = heading(&mut rig);
    assert!(heading.contains("2 marked  ") && heading.contains("  b") && heading.contains("▲ 5"), "{heading}");
    let between = heading.split("2 marked").nth(1).unwrap().split('▲').next().unwrap();
    assert!(["EUR", "AED", "USD", "JPY"].iter().any(|currency| between.contains(currency)), "{heading}");
}

#[test]
fn a_deployment_that_adds_nothing_up_says_so() {
    let mut rig = Made { operator: false, ..Made::default() }.start();

    assert!(rig.screen().contains("what lapses soon, and sums, are not told here"), "{}", rig.screen());
}

#[test]
fn the_search_is_the_last_chip_to_go() {
    let mut rig = Made { size: (100, 30), ..Made::default() }.start();
    rig.press("/");
    rig.type_text("provider:ethoca,verifi,cdrn from:2026-11-01 to:2026-11-30 harbour");

    rig.press("enter");
    rig.advance(Duration::milliseconds(500));

    let chips = rig.screen().lines().find(|line| line.contains("status:open")).unwrap().to_owned();
    assert!(chips.contains("…  harbour"), "{chips}");
}
