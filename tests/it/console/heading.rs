//! The lines over the list: counts, sums of what is listed or marked; and what is searched for.

use avert::{
    desk::BuiltIn,
    domain::{Alert, AlertFilter, AlertId, Deadline, time::Clock},
    service::ServiceError,
};
use chrono::Duration;
use rstest::rstest;

use super::{
    fake::morning,
    rig::{Made, Rig, clock},
};

/// The line over the list.
fn heading(rig: &mut Rig) -> String {
    rig.screen().lines().nth(2).unwrap().to_owned()
}

#[rstest]
#[case((80, 24))]
#[case((120, 40))]
fn what_is_listed_has_its_sum_at_every_size(#[case] size: (u16, u16)) {
    let mut rig = Made { size, ..Made::default() }.start();

    let heading = heading(&mut rig);

    assert!(heading.contains("17") && heading.contains("813.22 USD + 4"), "{heading}");
}

#[rstest]
#[case((80, 24))]
#[case((120, 40))]
fn a_list_that_cannot_be_read_says_as_of_when_its_rows_are_until_it_can(#[case] size: (u16, u16)) {
    let mut rig = Made { size, ..Made::default() }.start();
    let live = heading(&mut rig);
    rig.service.set_down(Some(ServiceError::Unreachable("no connection".to_owned())));

    rig.press("ctrl-r");
    rig.advance(Duration::minutes(2));
    let offline = heading(&mut rig);
    rig.service.set_down(None);
    rig.press("ctrl-r");
    let again = heading(&mut rig);

    assert!(offline.contains("as of 14:03") && offline.contains("813.22 USD"), "{offline}");
    assert!(!live.contains("as of") && !again.contains("as of"), "{live} {again}");
}

#[test]
fn the_sum_follows_the_filter() {
    let mut rig = Made { size: (80, 24), ..Made::default() }.start();

    rig.press("/");
    rig.type_text("descriptor:acme*travel");
    rig.press("enter");
    rig.advance(Duration::milliseconds(500));

    let heading = heading(&mut rig);
    assert!(heading.contains("1,810.00 AED") && !heading.contains("USD"), "{heading}");
}

#[rstest]
#[case((80, 24))]
#[case((120, 40))]
fn while_a_range_is_marked_its_sum_stands_in_the_place_of_the_lists(#[case] size: (u16, u16)) {
    let mut rig = Made { size, ..Made::default() }.start();

    rig.press("V j j");

    let heading = heading(&mut rig);
    // 129.90 and 18.50 EUR, and 1,480.00 AED.
    assert!(
        heading.contains("range of 3") && heading.contains("148.40 EUR") && !heading.contains("813.22"),
        "{heading}"
    );
}

#[test]
fn sums_give_way_before_the_name_of_the_view_does() {
    let mut rig = Made { size: (80, 24), ..Made::default() }.start();

    rig.list(AlertFilter::default());

    let heading = heading(&mut rig);
    assert!(heading.contains("To answer (cha"), "{heading}");
}

#[test]
fn a_large_sum_stays_beside_large_counts() {
    let now = clock().now();
    let open: Vec<Alert> =
        morning(now).into_iter().filter(|alert| !alert.is_over() && !alert.alert_type.is_notice()).collect();
    let many: Vec<Alert> = (0..1_472)
        .map(|number| Alert {
            id: AlertId::generate(),
            provider_id: format!("M-{number}"),
            card_last_four: format!("{number:04}"),
            auth_code: None,
            acquirer_reference_number: None,
            amount: Some("9876543210".parse().unwrap()),
            deadline: Deadline::At(now + Duration::minutes(30)),
            ..open[number % open.len()].clone()
        })
        .collect();
    for size in [(80, 24), (120, 40)] {
        let mut rig = Made { size, ..Made::of(many.clone()) }.start();

        let heading = heading(&mut rig);

        assert!(heading.contains("1,472") && heading.contains("050.00 USD + 4"), "{heading}");
    }
}

#[test]
fn what_is_marked_has_a_sum_of_its_own() {
    let mut rig = Made { size: (80, 24), ..Made::default() }.start();

    rig.press("space space");

    let heading = heading(&mut rig);
    assert!(heading.contains("2 marked  "), "{heading}");
    let sum = heading.split("2 marked").nth(1).unwrap();
    assert!(["EUR", "AED", "USD", "JPY"].iter().any(|currency| sum.contains(currency)), "{heading}");
}

#[rstest]
#[case::expired(BuiltIn::Expired, "Expired, newest first ")]
#[case::open(BuiltIn::ToAnswer, "To answer, by deadline ")]
#[case::all(BuiltIn::All, "All, newest first ")]
fn a_view_is_named_with_what_it_is_sorted_by_in_plain_words(#[case] view: BuiltIn, #[case] words: &str) {
    for size in [(80, 24), (200, 60)] {
        let mut rig = Made { size, ..Made::default() }.start();

        rig.show_view(view);

        assert!(rig.screen().contains(words), "{}", rig.screen());
    }
}

#[test]
fn the_sum_is_left_out_where_a_deployment_adds_nothing_up() {
    let few = morning(clock().now());
    let many =
        (0..500).map(|number| Alert { id: AlertId::generate(), provider_id: format!("M-{number}"), ..few[0].clone() });
    let mut rig = Made { operator: false, ..Made::of(many.collect()) }.start();
    let mut all_held = Made { operator: false, ..Made::of(few.clone()) }.start();

    let (of_many, of_few) = (heading(&mut rig), heading(&mut all_held));

    assert!(of_many.contains("500") && !of_many.contains("USD"), "{of_many}");
    assert!(of_few.contains("813.22 USD"), "what is held whole is added up here: {of_few}");
}

#[test]
fn the_search_is_the_last_chip_to_go() {
    let mut rig = Made { size: (100, 30), ..Made::default() }.start();
    rig.press("/");
    rig.type_text("provider:ethoca,verifi,cdrn from:2026-11-01 to:2026-11-30 harbour");

    rig.press("enter");
    rig.advance(Duration::milliseconds(500));

    let chips = rig.screen().lines().find(|line| line.contains("harbour")).unwrap().to_owned();
    assert!(chips.contains("harbour"), "{chips}");
}
