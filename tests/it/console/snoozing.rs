//! Snoozing: an alert leaves its views for a while, never long enough to lapse, and comes back by itself.

use avert::{
    console::{
        SessionInfo,
        app::DeskState,
        message::{Effect, Keep, Message},
    },
    desk::SnoozedAlert,
    domain::{Alert, AlertId, AlertStatus, Deadline, time::Clock},
};
use chrono::Duration;
use rstest::rstest;

use super::{
    bulk::alike,
    fake::{morning, refunded_sibling},
    rig::{Made, Rig, assert_screens, clock, screens},
};

fn id(number: u128) -> AlertId {
    AlertId(uuid::Uuid::from_u128(number))
}

fn rows(rig: &Rig) -> Vec<AlertId> {
    let listing = &rig.app.queue().listing;
    listing.window().into_iter().filter_map(|(_, row)| listing.row(row)).map(|alert| alert.id).collect()
}

/// The cursor on an alert that closes in 220 minutes.
fn on_the_fifth() -> Rig {
    let mut rig = Made::default().start();
    rig.press("j j j j");
    assert_eq!(rig.current(), id(5));
    rig
}

fn kept(alerts: &[Alert], minutes: i64) -> DeskState {
    let until = clock().now() + Duration::minutes(minutes);
    DeskState {
        snoozed: alerts.iter().map(|alert| SnoozedAlert { alert: alert.into(), until }).collect(),
        ..DeskState::default()
    }
}

#[test]
fn a_snoozed_alert_leaves_the_view_is_counted_and_comes_back_by_itself() {
    let mut rig = on_the_fifth();

    rig.press("z enter");
    let (gone, cursor, screen) = (rows(&rig), rig.current(), rig.screen());
    rig.advance(Duration::minutes(14));
    let still = rows(&rig);
    rig.advance(Duration::minutes(1));
    let back = rig.screen();

    assert!(!gone.contains(&id(5)) && !still.contains(&id(5)), "{screen}");
    assert_eq!(cursor, id(6), "the cursor goes on to the next one");
    assert!(screen.contains("1 snoozed") && screen.contains("Snoozed until 14:18"), "{screen}");
    assert!(rows(&rig).contains(&id(5)) && rig.current() == id(6), "{back}");
    assert!(back.contains("ETHOCA 12,000 JPY is back from snooze."), "{back}");
    assert!(rig.done.iter().any(|effect| matches!(effect, Effect::Keep(Keep::NoSnooze(ids, _)) if ids == &[id(5)])));
}

#[test]
fn what_is_offered_is_cut_to_an_hour_before_the_deadline_and_says_so() {
    let mut rig = on_the_fifth();

    rig.press("z");

    let screen = rig.screen();
    assert!(screen.contains("15m    until 14:18") && screen.contains("1h     until 15:03"), "{screen}");
    assert!(screen.contains("2h39   until 16:43"), "{screen}");
    assert!(!screen.contains("4 h         until"), "{screen}");
}

#[test]
fn who_snoozes_is_told_where_to_unsnooze_and_it_does() {
    let mut rig = on_the_fifth();
    rig.press("z enter");
    let told = rig.screen();

    rig.show_view(avert::desk::BuiltIn::Snoozed);
    rig.press("z");
    let menu = rig.screen();
    rig.press("enter");

    assert!(told.contains("Unsnooze in the view Snoozed."), "{told}");
    assert!(menu.contains("unsnooze"), "{menu}");
    assert!(rig.screen().contains("Unsnoozed."), "{}", rig.screen());
}

#[test]
fn where_nothing_is_left_it_says_why() {
    let mut rig = Made::default().start();

    rig.press("z");

    let screen = rig.screen();
    assert!(screen.contains("Not snoozed: it is due within an hour."), "{screen}");
    assert_eq!(rows(&rig)[0], id(1));
}

#[test]
fn a_view_lists_what_is_snoozed_with_what_it_is_now_and_a_snooze_can_be_ended_there() {
    let mut rig = on_the_fifth();
    rig.press("z enter");

    rig.show_view(avert::desk::BuiltIn::Snoozed);
    rig.advance(Duration::milliseconds(400));
    let (listed, screen) = (rows(&rig), rig.screen());
    rig.press("z enter");
    rig.advance(Duration::milliseconds(400));
    let empty = rig.screen();

    assert_eq!(listed, [id(5)], "{screen}");
    assert!(screen.contains("Snoozed, by deadline") && screen.contains("snoozed until 14:18"), "{screen}");
    assert!(empty.contains("Unsnoozed."), "{empty}");
    rig.show_view(avert::desk::BuiltIn::ToAnswer);
    rig.advance(Duration::milliseconds(400));
    assert!(rows(&rig).contains(&id(5)));
}

#[test]
fn a_snooze_survives_a_restart_and_the_first_row_in_sight_has_the_cursor() {
    let alerts = morning(clock().now());
    let mut rig = Made { kept: kept(&alerts[..3], 30), ..Made::of(alerts) }.start();

    let screen = rig.screen();
    assert_eq!((rows(&rig)[0], rig.current()), (id(4), id(4)), "{screen}");
    assert!(screen.contains("3 snoozed"), "{screen}");
    rig.advance(Duration::minutes(30));

    let back = rig.screen();
    rig.press("g");
    assert!(back.contains("3 alerts are back from snooze.") && back.contains("g 3 above"), "{back}");
    assert_eq!((rows(&rig)[0], rig.current()), (id(1), id(1)));
}

#[test]
fn the_cursor_keeps_its_line_while_snoozed_alerts_above_it_come_back() {
    let alerts = morning(clock().now());
    let mut rig = Made { kept: kept(&alerts[1..3], 30), ..Made::of(alerts) }.start();
    rig.press("j j");
    let line = |rig: &Rig| {
        let listing = &rig.app.queue().listing;
        listing.window().into_iter().find(|(_, row)| *row == listing.cursor).map(|(line, _)| line)
    };
    let before = (rig.current(), line(&rig));

    rig.advance(Duration::minutes(31));

    assert_eq!((rig.current(), line(&rig)), before);
}

#[test]
fn a_view_of_snoozed_alerts_alone_says_so_and_nothing_can_be_decided_there() {
    let alerts = morning(clock().now());
    let mut rig = Made { kept: kept(&alerts, 30), ..Made::of(alerts) }.start();

    let screen = rig.screen();
    rig.press("j G r ctrl-s");
    rig.advance(Duration::seconds(10));

    assert!(screen.contains("All alerts here are snoozed.") && screen.contains("17 snoozed"), "{screen}");
    assert_eq!((rig.app.queue().listing.cursor_id, rig.sent()), (None, 0));
    rig.advance(Duration::minutes(30));
    assert_eq!(rig.current(), id(1));
}

#[test]
fn marked_alerts_are_snoozed_together_each_to_its_own_deadline() {
    let mut rig = Made::default().start();
    rig.press("space space space space space z");
    let menu = rig.screen();

    rig.press("down down enter");

    let screen = rig.screen();
    assert!(menu.contains("Snooze 5 alerts") && menu.contains("2h39   until 16:43"), "{menu}");
    assert!(screen.contains("1 alert stays") && screen.contains("4 snoozed"), "{screen}");
    assert!(!screen.contains("marked"), "{screen}");
    let snoozed = rig
        .done
        .iter()
        .find_map(|effect| if let Effect::Keep(Keep::Snooze(new, _)) = effect { Some(new.clone()) } else { None })
        .unwrap();
    for SnoozedAlert { alert, until } in snoozed {
        let Deadline::At(deadline) = rig.service.alert(alert.id).unwrap().deadline else { panic!("a deadline") };
        assert!(deadline - until >= Duration::hours(1), "{alert:?}");
    }
}

#[test]
fn all_of_a_filter_and_a_range_pass_over_what_is_snoozed() {
    let mut rig = on_the_fifth();
    rig.press("z enter");

    rig.press("*");
    let all = rig.screen();
    rig.press("esc esc g V j j j j");
    let range = rig.screen();
    rig.press("V");
    let marked = rig.screen();

    assert!(all.contains("16 marked"), "{all}");
    assert!(range.contains("range of 5"), "{range}");
    assert!(marked.contains("5 marked"), "{marked}");
    assert_eq!(rig.current(), id(6), "and the cursor passed over it");
}

#[test]
fn a_find_goes_to_a_snoozed_alert_and_a_decision_on_it_ends_its_snooze() {
    let alerts = morning(clock().now());
    let fifth = alerts[4].clone();
    let mut rig = Made { kept: kept(&alerts[4..5], 30), ..Made::of(alerts) }.start();

    rig.update(Message::GoToFound(Box::new(fifth)));
    rig.advance(Duration::milliseconds(400));
    let found = rig.screen();
    rig.press("n ctrl-s");
    rig.advance(Duration::seconds(6));

    assert!(found.contains("snoozed until"), "{found}");
    assert_eq!(rig.service.alert(id(5)).unwrap().status, AlertStatus::Chargeback);
    assert!(rig.done.iter().any(|effect| matches!(effect, Effect::Keep(Keep::NoSnooze(ids, _)) if ids == &[id(5)])));
}

#[test]
fn an_alert_can_be_snoozed_in_its_case_and_where_nothing_may_be_sent() {
    let place = SessionInfo { read_only: true, remote: true, ..SessionInfo::default() };
    let mut rig = Made { place, operator: false, ..Made::default() }.start();
    rig.press("j j j j enter z enter");
    let case = rig.screen();
    rig.press("esc");

    assert!(case.contains("snoozed"), "{case}");
    assert!(!rows(&rig).contains(&id(5)), "{}", rig.screen());
}

#[test]
fn what_was_answered_elsewhere_meanwhile_is_no_longer_hidden() {
    let alerts = morning(clock().now());
    let mut rig = Made { kept: kept(&alerts[4..5], 240), ..Made::of(alerts) }.start();
    rig.show_view(avert::desk::BuiltIn::All);
    rig.advance(Duration::milliseconds(400));
    let hidden = rows(&rig).contains(&id(5));

    let now = rig.clock.now();
    rig.change(|alerts| {
        let alert = alerts.iter_mut().find(|alert| alert.id == id(5)).unwrap();
        alert.outcome = refunded_sibling(alert, 9_001, now).outcome;
        alert.status = AlertStatus::Resolved;
    });

    assert!(!hidden && rows(&rig).contains(&id(5)), "{}", rig.screen());
}

#[test]
fn rows_that_are_hidden_among_many_pages_cost_no_row_in_sight() {
    let now = clock().now();
    let alerts: Vec<Alert> = (0..220u128)
        .map(|number| Alert {
            id: id(10_000 + number),
            deadline: Deadline::At(now + Duration::hours(20) + Duration::minutes(i64::try_from(number).unwrap())),
            ..morning(now)[0].clone()
        })
        .collect();
    let mut rig = Made { kept: kept(&alerts[..90], 60), size: (120, 40), ..Made::of(alerts) }.start();

    let first = rows(&rig);
    let height = first.len();
    let mut seen = vec![rig.current()];
    for _ in 1..130 {
        rig.press("j");
        seen.push(rig.current());
        assert_eq!(rows(&rig).len(), height, "the window is full");
    }
    rig.press("g");

    assert_eq!(first[0], id(10_090));
    assert_eq!(seen, (90..220u128).map(|number| id(10_000 + number)).collect::<Vec<_>>());
    assert_eq!(rows(&rig), first);
}

/// Exports what is listed; what the form says, and the networks' ids in the file.
fn exported(rig: &mut Rig, directory: &tempfile::TempDir) -> (String, Vec<String>) {
    rig.press("e");
    let form = rig.screen();
    rig.press("enter");
    let file = std::fs::read_dir(directory.path()).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(file).unwrap();
    (form, text.lines().skip(1).map(str::to_owned).collect())
}

/// The networks' ids of the alerts that are in sight.
fn in_sight(rig: &Rig) -> Vec<String> {
    let listing = &rig.app.queue().listing;
    rows(rig).into_iter().filter_map(|id| listing.find(id)).map(|alert| alert.provider_id.clone()).collect()
}

#[test]
fn an_export_has_the_alerts_that_its_view_shows_and_its_form_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let mut rig = Made { files: directory.path().to_owned(), ..Made::default() }.start();
    rig.press("j j j j z enter");

    let shown = in_sight(&rig);
    let (form, written) = exported(&mut rig, &directory);
    rig.show_view(avert::desk::BuiltIn::Snoozed);
    let aside = in_sight(&rig);
    let (form_of_aside, written_of_aside) = exported(&mut rig, &directory);

    assert_eq!((&written, aside.len()), (&shown, 1));
    assert_eq!(written_of_aside, aside);
    assert!(form.contains(&format!("Export  {} alerts (snoozed excluded)", shown.len())), "{form}");
    assert!(form_of_aside.contains("Export  1 snoozed alert"), "{form_of_aside}");
}

#[test]
fn what_is_snoozed_is_left_out_of_all_pages_of_an_export_unless_it_is_answered() {
    let directory = tempfile::tempdir().unwrap();
    let mut alerts = alike(300);
    let kept = kept(&alerts[280..283], 60);
    alerts[281].status = AlertStatus::Chargeback;
    alerts[281].expired_at = Some(clock().now());
    let ids = [280, 281, 282].map(|at: usize| alerts[at].provider_id.clone());
    let mut rig = Made { files: directory.path().to_owned(), kept, ..Made::of(alerts) }.start();
    rig.show_view(avert::desk::BuiltIn::All);

    let (form, written) = exported(&mut rig, &directory);

    assert!(form.contains("Export  300 alerts (snoozed excluded)"), "{form}");
    assert_eq!(written.len(), 298);
    assert_eq!(ids.map(|id| written.contains(&id)), [false, true, false]);
}

#[test]
fn whole_hours_that_have_run_out_bring_a_snoozed_alert_back() {
    let is_shown = |hours| {
        let mut alerts = morning(clock().now());
        alerts[4].deadline = Deadline::HoursLeft(hours);
        let made = Made { kept: kept(&alerts[4..5], 200), ..Made::of(alerts) };
        rows(&made.start()).contains(&id(5))
    };

    assert_eq!([3, 1, 0].map(is_shown), [false, false, true]);
}

#[test]
fn what_cannot_be_kept_as_snoozed_says_so() {
    let mut rig = on_the_fifth();
    rig.desk_answers = Err("snoozed.toml: no space left".to_owned());

    rig.press("z enter");

    let screen = rig.screen();
    assert!(screen.contains("Not saved: snoozed.toml: no space left"), "{screen}");
}

#[rstest]
#[case::where_the_service_adds_up(true)]
#[case::where_it_does_not(false)]
fn what_is_put_aside_is_neither_counted_nor_added_up_with_what_is_listed(#[case] operator: bool) {
    let mut rig = Made { operator, ..Made::of(alike(4)) }.start();

    rig.press("z enter");
    rig.advance(Duration::seconds(1));

    let heading = rig.screen().lines().find(|line| line.contains("by deadline")).unwrap().to_owned();
    assert!(heading.contains("3") && heading.contains("1 snoozed") && heading.contains("3.00 "), "{heading}");
}

#[test]
fn where_it_is_not_known_who_of_a_list_is_put_aside_it_is_said_that_they_are_counted() {
    let mut rig = Made { operator: false, ..Made::of(alike(500)) }.start();

    rig.press("z enter");

    let screen = rig.screen();
    assert!(screen.contains("500") && screen.contains("up to 1 snoozed"), "{screen}");
}

fn pictures(name: &str, state: impl Fn(&mut Rig)) {
    let taken = screens(|size| {
        let mut rig = Made { size, ..Made::default() }.start();
        state(&mut rig);
        rig.advance(Duration::milliseconds(400));
        rig
    });
    assert_screens!(name, taken);
}

#[test]
fn the_menu_in_pictures() {
    pictures("menu", |rig| rig.press("j j j j z"));
}

#[test]
fn the_menu_of_several_in_pictures() {
    pictures("menu-of-several", |rig| rig.press("space space space space space z"));
}

#[test]
fn the_view_of_what_is_snoozed_in_pictures() {
    pictures("view", |rig| {
        rig.press("j j j j z enter z enter");
        rig.show_view(avert::desk::BuiltIn::Snoozed);
    });
}

#[test]
fn waking_in_pictures() {
    pictures("waking", |rig| {
        rig.press("j j j j z enter");
        rig.show_view(avert::desk::BuiltIn::Snoozed);
        rig.press("z");
    });
}

#[test]
fn the_case_of_a_snoozed_alert_offers_its_menu() {
    let alerts = morning(clock().now());
    let mut rig = Made { kept: kept(&alerts[4..5], 60), size: (160, 40), ..Made::default() }.start();
    rig.show_view(avert::desk::BuiltIn::Snoozed);
    assert_eq!(rig.current(), id(5), "{}", rig.screen());

    rig.press("enter");
    let case = rig.screen();

    assert!(case.contains("z snooze"), "{case}");
}
