//! The header: where one is, how the service and the networks answer, how old is what is shown; never well after an
//! error.

use avert::{
    console::{SessionInfo, message::Message},
    domain::{AlertId, Environment, Provider, ResolutionAttempt, Sort},
    service::{OutcomeUnknown, ServiceError},
};
use chrono::Duration;
use rstest::rstest;

use super::{
    fake::{Fate, morning},
    rig::{Made, Rig, clock},
    settling::unfinished,
};
use avert::domain::time::Clock;

fn busy() -> ServiceError {
    ServiceError::Unavailable("the database is busy".to_owned())
}

fn header(rig: &mut Rig) -> String {
    rig.screen().lines().next().unwrap().to_owned()
}

#[rstest]
#[case(|_| Message::CountedAll(Err(busy())), "failed at 14:03")]
#[case(|id| Message::Alert(id, Err(busy())), "failed at 14:03")]
#[case(|id| Message::Deliveries(id, Err(busy())), "failed at 14:03")]
#[case(|id| Message::SameCards(vec![(id, Err(busy()))]), "failed at 14:03")]
#[case(|_| Message::Unfinished(Err(busy())), "failed at 14:03")]
#[case(|_| Message::Changed(Err(busy())), "stale since 14:03")]
#[case(|_| Message::Written(Err(busy())), "nothing can be recorded")]
fn a_call_that_fails_changes_the_header_at_once_and_its_reason_is_told(
    #[case] answer: fn(AlertId) -> Message,
    #[case] words: &str,
) {
    let mut rig = Rig::new(morning(clock().now()));
    assert!(header(&mut rig).contains("● live"));
    let failed = answer(rig.current());

    rig.app.update(failed);

    let screen = rig.screen();
    let header = screen.lines().next().unwrap();
    assert!(header.contains(words) && !header.contains("live"), "{header}");
    assert!(screen.contains("the database is busy"), "{screen}");
}

#[rstest]
#[case::the_case("enter", |id| Message::SameCards(vec![(id, Err(busy()))]))]
#[case::a_form("r", |id| Message::SameCards(vec![(id, Err(busy()))]))]
#[case::a_find("ctrl-f", |_| Message::BegunRead(uuid::Uuid::nil(), Err(busy())))]
fn a_call_that_fails_under_a_dialog_changes_the_header_at_once_until_the_service_answers(
    #[case] keys: &str,
    #[case] answer: fn(AlertId) -> Message,
) {
    let mut rig = Rig::new(morning(clock().now()));
    let failed = answer(rig.current());
    rig.press(keys);
    assert!(header(&mut rig).contains("● live"));

    rig.app.update(failed);
    let at_once = header(&mut rig);
    rig.advance(Duration::seconds(61));
    let later = header(&mut rig);

    assert!(at_once.contains("failed at 14:03") && !at_once.contains("live"), "{at_once}");
    assert!(!later.contains("failed"), "{later}");
}

#[test]
fn a_stale_list_says_since_when_and_why() {
    let mut rig = Made { operator: false, ..Made::default() }.start();
    rig.service.set_down(Some(busy()));
    rig.advance(Duration::minutes(3));

    let screen = rig.screen();

    let first = screen.lines().next().unwrap();
    assert!(first.contains("▲ stale since 14:03"), "{screen}");
    assert!(screen.contains("The list cannot be read since 14:03: the database is busy. Retry at 14:06:"), "{screen}");
    rig.service.set_down(None);
    rig.advance(Duration::seconds(31));
    assert!(header(&mut rig).contains("● live"));
}

#[test]
fn a_list_that_was_never_read_is_said_to_be_that_though_the_service_answers() {
    let mut rig = Made { operator: false, down: true, ..Made::default() }.start();

    let header = header(&mut rig);
    assert!(header.contains("▲ list not read since 14:03") && !header.contains("no reply"), "{header}");
}

#[test]
fn a_service_that_leaves_a_question_unanswered_is_not_shown_as_well() {
    let mut rig = Made { operator: false, ..Made::default() }.start();
    rig.holding = true;

    rig.advance(Duration::seconds(46));

    let header = header(&mut rig);
    assert!(header.contains("▲ no reply") && !header.contains("live"), "{header}");
}

#[test]
fn an_unconfirmed_answer_stands_in_the_header_until_it_is_known_to_be_recorded() {
    let mut rig = Made { operator: false, ..Made::default() }.start();
    let id = rig.current();
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::told(
        "the network answered 503",
    ))));
    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(6));

    let first = header(&mut rig);
    assert!(first.contains("▲ 1 needs you: 4"), "{first}");
    rig.advance(Duration::minutes(1));
    let later = header(&mut rig);
    assert!(later.contains("▲ 1 needs you: 4"), "{later}");

    let (_, request) = rig.service.resolutions.lock().unwrap()[0].clone();
    rig.service.record(id, &request).unwrap();
    rig.advance(Duration::minutes(3));
    let landed = header(&mut rig);
    assert!(landed.contains("● live"), "{landed}");
}

#[test]
fn an_answer_that_the_engine_waits_for_stands_in_the_header_whoever_gave_it() {
    let mut rig = Rig::new(morning(clock().now()));
    let (id, now) = (rig.current(), rig.clock.now());
    rig.service
        .unfinished
        .lock()
        .unwrap()
        .push(ResolutionAttempt { started_at: now - Duration::minutes(13), ..unfinished(id, "UNKNOWN") });

    rig.hear();

    let header = header(&mut rig);
    assert!(header.contains("▲ 1 needs you: 4"), "{header}");
}

#[test]
fn a_decision_that_a_network_did_not_take_stands_in_the_header_until_it_is_seen_to() {
    let mut rig = Rig::new(morning(clock().now()));
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderFailed("it refused: closed".to_owned())));
    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(6));

    let refused = header(&mut rig);
    assert!(refused.contains("▲ 1 needs you: 4"), "{refused}");
    rig.press("k esc esc");
    let left = header(&mut rig);
    assert_eq!(left, refused, "going back sees to nothing");
    rig.press("4 x 1");
    let read = header(&mut rig);
    assert!(read.contains("● live"), "{read}");
}

#[test]
fn a_deployment_that_refuses_an_order_is_read_in_another_one_and_that_is_said() {
    let made = Made { operator: false, holding: true, ..Made::default() };
    let mut rig = made.start();
    *rig.service.refuses_orders.lock().unwrap() = true;

    rig.release();
    rig.advance(Duration::seconds(1));

    let screen = rig.screen();
    assert!(screen.contains("To answer, oldest first"), "{screen}");
    assert!(screen.lines().next().unwrap().contains("● live"), "{screen}");
    let asked = rig
        .service
        .lists
        .lock()
        .unwrap()
        .iter()
        .filter(|query| query.sort != Sort::default() && query.filter.q.is_none())
        .count();
    assert_eq!(asked, 1, "it is tried once and remembered");
}

#[test]
fn which_world_it_is_is_claimed_only_where_it_is_known() {
    let at = |environment| {
        let place = SessionInfo { name: "alerts.acme.example".to_owned(), environment, ..SessionInfo::default() };
        header(&mut Made { place, operator: false, ..Made::default() }.start())
    };

    let (unknown, production, sandbox) = (at(None), at(Some(Environment::Production)), at(Some(Environment::Sandbox)));

    assert!(
        unknown.contains("alerts.acme.example") && !unknown.contains("SANDBOX") && !unknown.contains("PRODUCTION"),
        "{unknown}"
    );
    assert!(production.contains(" PRODUCTION  alerts.acme.example"), "{production}");
    assert!(sandbox.contains(" SANDBOX  alerts.acme.example"), "{sandbox}");
}

const NAMES: [&str; 5] = ["1 Queue", "2 Insights", "3 Webhooks", "4 Activity", "5 Settings"];

/// A place of this name in the world it says.
fn place(name: &str, environment: Environment) -> SessionInfo {
    SessionInfo { name: name.to_owned(), environment: Some(environment), ..SessionInfo::default() }
}

#[rstest]
#[case::a_local_desk(place("default, simulated networks", Environment::Sandbox), "default, simul")]
#[case::production(place("alerts.acme.example", Environment::Production), "alerts.acme.example")]
#[case::read_only(SessionInfo { read_only: true, ..place("acme-eu", Environment::Production) }, "READ-ONLY")]
fn at_120_columns_the_screens_keep_their_names(#[case] place: SessionInfo, #[case] whereabouts: &str) {
    let mut rig = Made { place, utc: true, ..Made::default() }.start();

    for seconds in [0, 8, 50] {
        rig.advance(Duration::seconds(seconds));
        let header = header(&mut rig);

        let shown = NAMES.iter().all(|name| header.contains(name))
            && header.contains(whereabouts)
            && header.contains("● live  ");
        assert!(shown, "{header}");
    }
}

#[rstest]
#[case::stale(|_| Message::Changed(Err(busy())), "▲ stale since 14:03")]
#[case::a_part(|_| Message::Unfinished(Err(busy())), "failed at 14:03")]
#[case::nothing_recorded(|_| Message::Written(Err(busy())), "▲ nothing can be recorded")]
fn at_120_columns_trouble_takes_no_name_from_the_screens(#[case] answer: fn(AlertId) -> Message, #[case] words: &str) {
    for place in [
        place("default, simulated networks", Environment::Sandbox),
        place("alerts.acme.example", Environment::Production),
    ] {
        let mut rig = Made { place, ..Made::default() }.start();
        let failed = answer(rig.current());

        rig.app.update(failed);

        let header = header(&mut rig);
        assert!(NAMES.iter().all(|name| header.contains(name)) && header.contains(words), "{header}");
    }
}

#[test]
fn at_100_columns_the_screens_keep_their_names_before_the_time_does() {
    let mut rig = Made { size: (100, 30), place: place("acme-eu", Environment::Production), ..Made::default() }.start();

    let header = header(&mut rig);

    assert!(NAMES.iter().all(|name| header.contains(name)) && header.contains("● live"), "{header}");
}

#[rstest]
#[case::production((80, 24), place("acme-eu", Environment::Production))]
#[case::read_only((80, 24), SessionInfo { read_only: true, ..place("acme-eu", Environment::Sandbox) })]
#[case::a_local_desk((80, 24), place("default, simulated networks", Environment::Sandbox))]
fn on_a_narrow_screen_all_are_named_by_their_first_letters_and_none_moves_when_another_is_opened(
    #[case] size: (u16, u16),
    #[case] place: SessionInfo,
) {
    let mut rig = Made { place, size, ..Made::default() }.start();

    let told = ["1", "2", "4", "5"].map(|key| {
        rig.press(key);
        header(&mut rig)
    });

    let places = |header: &String| NAMES.map(|name| header.find(&name[.."1 Que".len()]));
    assert!(places(&told[0]).iter().all(Option::is_some), "{}", told[0]);
    assert!(
        told.iter()
            .all(|header| places(header) == places(&told[0]) && header.contains("1 Queue") && !header.contains("Insi")),
        "{told:?}"
    );
}

#[test]
fn the_tabs_stay_where_they_are_over_a_page() {
    let made = Made {
        size: (80, 24),
        place: SessionInfo { demo: true, ..place("demo", Environment::Sandbox) },
        ..Made::default()
    };
    let mut rig = made.start();
    let before = header(&mut rig);

    rig.press("space space n ctrl-s");

    let page = header(&mut rig);
    assert!(rig.screen().contains("RESULT"), "{}", rig.screen());
    assert!(page.contains("2 Insights") && page.find("2 Insights") == before.find("2 Insights"), "{page}");
}

#[rstest]
#[case::a_short_name(SessionInfo { demo: true, ..place("demo", Environment::Sandbox) }, false)]
#[case::a_longer_name(place("acme-eu", Environment::Production), true)]
fn the_clock_stands_on_every_screen_or_on_none(#[case] place: SessionInfo, #[case] is_there: bool) {
    let mut rig = Made { place, size: (80, 24), ..Made::default() }.start();

    let told = ["1", "2", "3", "4", "5"].map(|key| {
        rig.press(key);
        header(&mut rig).trim_end().ends_with(" UTC")
    });

    assert_eq!(told, [is_there; 5]);
}

#[test]
fn nothing_is_green_while_a_list_that_is_not_read_again_gets_older_behind_a_form() {
    let mut rig = Made { operator: false, utc: true, ..Made::default() }.start();
    rig.press("r");
    let mut said = vec![header(&mut rig)];

    rig.advance(Duration::minutes(11));
    said.push(header(&mut rig));
    rig.press("esc");
    rig.advance(Duration::seconds(1));
    said.push(header(&mut rig));

    assert!(said[0].contains("● live"), "{}", said[0]);
    assert!(said[1].contains("· stale since 14:03") && !said[1].contains('●'), "{}", said[1]);
    assert!(said[2].contains("● live"), "{}", said[2]);
}

#[test]
fn a_case_is_read_again_as_the_list_would_be_and_is_never_stale() {
    let mut rig = Made { operator: false, ..Made::default() }.start();
    rig.press("enter");
    let id = rig.current();

    rig.advance(Duration::minutes(11));
    rig.service.change(|alerts| {
        alerts
            .iter_mut()
            .filter(|alert| alert.id == id)
            .for_each(|alert| alert.merchant_descriptor = "RENAMED".to_owned());
    });
    rig.advance(Duration::minutes(2));

    let header = header(&mut rig);
    assert!(header.contains("● live"), "{header}");
    assert!(rig.screen().contains("RENAMED"), "{}", rig.screen());
}

#[test]
fn the_page_of_a_run_is_of_this_console_and_never_stale() {
    let mut rig = Rig::new(morning(clock().now()));
    rig.press("space space n ctrl-s");

    rig.advance(Duration::minutes(11));

    let header = header(&mut rig);
    assert!(header.contains("● live"), "{header}");
}

#[rstest]
#[case((80, 24))]
fn the_environment_and_the_profile_stay_beside_any_trouble(#[case] size: (u16, u16)) {
    let mut rig = Made { size, ..Made::default() }.start();
    for provider in [Provider::Ethoca, Provider::Verifi, Provider::Cdrn] {
        rig.service
            .next_resolution(Fate::Refused(ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::told("time-out"))));
        let at = rig.app.queue().listing.alerts().find(|alert| alert.provider == provider).unwrap().id;
        rig.update(Message::GoToAlert(at));
        rig.press("n ctrl-s");
        rig.advance(Duration::seconds(6));
    }

    let header = header(&mut rig);

    assert!(header.contains("PRODUCTION  acme-eu") && header.contains("▲ 3 need you"), "{header}");
}

#[rstest]
#[case::with_the_clock(120, "▲ offline, retry 14:03:01   ")]
#[case::before_the_clock(110, "▲ offline, retry 14:03:01")]
#[case::cut(80, "  ▲ offline, ret")]
fn a_header_says_that_it_is_offline_and_when_it_tries_again_as_far_as_there_is_room(
    #[case] width: u16,
    #[case] words: &str,
) {
    let mut rig = Made { size: (width, 40), ..Made::default() }.start();
    rig.service.set_down(Some(ServiceError::Unreachable("no connection".to_owned())));

    rig.press("ctrl-r");
    let at_once = header(&mut rig);
    for _ in 0..40 {
        rig.advance(Duration::seconds(1));
    }
    let later = header(&mut rig);

    let names = if width < 100 { ["1 Queue", "2 Ins", "3 Web", "4 Act", "5 Set"] } else { NAMES };
    assert!(names.iter().all(|name| at_once.contains(name)) && at_once.contains(words), "{at_once}");
    assert_eq!(later.contains("retry 14:0"), words.contains("retry"), "{later}");
    assert!(later.contains(words.trim().split(',').next().unwrap()), "{later}");
}

#[test]
fn while_a_line_says_when_it_is_tried_again_a_narrow_header_keeps_the_names_of_the_screens() {
    let mut rig = Made { size: (80, 24), ..Made::default() }.start();
    rig.service.set_down(Some(ServiceError::Unreachable("no connection".to_owned())));

    rig.press("ctrl-r");

    let screen = rig.screen();
    let header = screen.lines().next().unwrap();
    assert!(header.contains("2 Ins  3 Web  4 Act  5 Set") && header.contains("▲ offline, ret"), "{screen}");
    let told = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("Retry at"), "{screen}");
}
