//! The case: all alerts of one payment on one page, and one decision for them.

use avert::{
    console::SessionInfo,
    domain::{
        Alert, AlertId, AlertStatus, AttemptId, AuditEntry, Dialect, Outcome, Provider, Resolution, ResolutionAttempt,
        redact::with_exchange,
        resolution::{Decision, InvalidReason},
        time::Clock,
    },
    service::{OutcomeUnknown, ServiceError},
};
use chrono::Duration;
use rstest::rstest;

use super::{
    bulk::alike,
    fake::{Fate, answered_by_omar, morning, refunded_sibling},
    pictures::doubled,
    rig::{Made, Rig, assert_screens, clock, screens},
    settling::unfinished,
};

/// A morning whose first payment three networks have alerted.
pub fn three() -> Vec<Alert> {
    let mut alerts = morning(clock().now());
    let first = alerts[0].clone();
    let sibling = |number: u128, provider: Provider, minutes: i64| Alert {
        id: AlertId(uuid::Uuid::from_u128(number)),
        provider_id: format!("SIB{number}"),
        provider,
        deadline: avert::domain::Deadline::At(clock().now() + Duration::minutes(minutes)),
        ..first.clone()
    };
    alerts.push(sibling(2_001, Provider::Verifi, 300));
    alerts.push(sibling(2_002, Provider::Cdrn, 400));
    alerts
}

fn ids() -> [AlertId; 3] {
    [1, 2_001, 2_002].map(|number| AlertId(uuid::Uuid::from_u128(number)))
}

fn statuses(rig: &Rig) -> [AlertStatus; 3] {
    ids().map(|id| rig.service.alert(id).unwrap().status)
}

fn sent(rig: &Rig) -> Vec<(AlertId, Resolution)> {
    rig.service.resolutions.lock().unwrap().iter().map(|(id, request)| (*id, request.resolution.clone())).collect()
}

fn invalid(reason: InvalidReason, comments: &str) -> Resolution {
    Resolution::Current { decision: Decision::Invalid(reason), comments: comments.to_owned() }
}

#[test]
fn all_alerts_of_a_payment_stand_on_one_page_with_what_they_share_and_what_happened() {
    let mut rig = Rig::new(three());

    rig.press("enter");

    let screen = rig.screen();
    assert!(screen.contains("3 alerts on one payment") && screen.contains("3 open"), "{screen}");
    assert!(screen.contains("SIB2001") && screen.contains("card, amount, day"), "{screen}");
    assert!(screen.contains("WHAT HAPPENED") && screen.contains("CDRN alerts SIB2002"), "{screen}");
}

#[test]
fn where_one_that_waits_was_probably_refunded_by_a_rule_the_page_says_that_all_of_them_are_answered() {
    let mut alerts = three();
    alerts
        .iter_mut()
        .filter(|alert| alert.id == ids()[1])
        .for_each(|alert| alert.rule_name = Some("Above 10 AED".to_owned()));
    let mut rig = Made { size: (80, 24), ..Made::of(alerts) }.start();

    rig.press("enter");
    let page = rig.screen();
    rig.press("i");
    let form = rig.screen();

    assert!(page.contains("by VERIFI's own rule") && page.contains("i answers 3 open alerts."), "{page}");
    assert!(
        page.contains("r one refunded   ")
            && page.contains("i all invalid   ")
            && page.contains("n all not refunded   "),
        "{page}"
    );
    assert!(form.contains("3 will be sent"), "{form}");
}

#[rstest]
#[case::the_keys_of_the_page_have_room((120, 40), "r one refunded   n all not refunded   i all invalid")]
#[case::what_leads_on_goes_before_many_words(
    (80, 24),
    "r one refunded   n all not refunded   i all invalid   ? help"
)]
fn in_a_case_of_several_the_footer_leads_to_the_others_and_to_the_rest(#[case] size: (u16, u16), #[case] keys: &str) {
    let mut rig = Made { size, ..Made::of(three()) }.start();

    rig.press("enter");

    let screen = rig.screen();
    assert!(screen.lines().last().unwrap().contains(keys), "{screen}");
    let leads_on = screen.lines().last().unwrap().contains("tab next");
    assert!(leads_on || size.0 < 120, "{screen}");
}

#[rstest]
#[case::several("* n")]
#[case::a_case("enter r")]
fn what_was_said_before_does_not_stand_under_the_form_for_several(#[case] keys: &str) {
    let mut rig = Rig::new(three());
    rig.choose("mouse");
    let told = rig.screen();

    rig.press(keys);

    let form = rig.screen();
    assert!(told.contains("Mouse off: select text"), "{told}");
    assert!(form.contains("ctrl-s") && !form.contains("The mouse is"), "{form}");
}

#[test]
fn an_alert_that_is_alone_has_its_page_and_is_answered_in_its_own_form() {
    let mut rig = Rig::new(morning(clock().now()));

    rig.press("enter");
    let page = rig.screen();
    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(6));

    assert!(!page.contains("on one payment") && page.contains("WHAT HAPPENED"), "{page}");
    assert_eq!(statuses_of(&rig, 1), AlertStatus::Resolved);
}

fn statuses_of(rig: &Rig, number: u128) -> AlertStatus {
    rig.service.alert(AlertId(uuid::Uuid::from_u128(number))).unwrap().status
}

#[test]
fn the_refund_leaves_first_and_the_others_as_its_duplicates_only_when_it_is_recorded() {
    let mut rig = Rig::new(three());
    rig.press("enter r");
    rig.type_text("88213");
    let form = rig.screen();
    rig.press("ctrl-s");
    rig.holding = true;

    rig.advance(Duration::seconds(20));
    let held = rig.held();
    rig.release();
    rig.advance(Duration::seconds(1));

    assert!(form.contains("3 will be sent") && form.contains("Invalid (duplicate alert)"), "{form}");
    assert_eq!(held, 1, "the others wait for the refund");
    let duplicate = invalid(InvalidReason::Duplicate, "88213");
    let refunded = Resolution::Current { decision: Decision::Refunded, comments: "88213".to_owned() };
    assert_eq!(sent(&rig), [(ids()[0], refunded), (ids()[1], duplicate.clone()), (ids()[2], duplicate)]);
    assert_eq!(statuses(&rig), [AlertStatus::Resolved, AlertStatus::Invalid, AlertStatus::Invalid]);
}

#[test]
fn where_the_refund_is_refused_or_unknown_the_others_stay_here_and_are_asked_about() {
    let refused = ServiceError::ProviderFailed("closed by the issuer".to_owned());
    let unknown = ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::told("time-out"));
    for (error, title) in [(refused, "refund was not recorded"), (unknown, "The refund is unconfirmed")] {
        let mut rig = Rig::new(three());
        rig.service.next_resolution(Fate::Refused(error));
        rig.press("enter r ctrl-s esc");

        rig.advance(Duration::minutes(2));
        let asked = rig.screen();
        let before = rig.sent();
        rig.press("ctrl-t");
        rig.advance(Duration::minutes(2));

        assert!(asked.contains(title), "{asked}");
        assert_eq!((before, rig.sent()), (1, 1));
        assert_eq!(statuses(&rig)[1..], [AlertStatus::Open, AlertStatus::Open]);
    }
}

#[test]
fn a_case_that_is_answered_as_refunded_before_claims_no_refund_under_way() {
    let mut rig = Rig::new(three());

    rig.press("enter i 1 ctrl-s");

    let staged = rig.screen();
    assert!(!staged.contains("A refund is") && staged.contains("Answered as refunded before: "), "{staged}");
}

#[test]
fn a_case_whose_decision_has_not_left_says_how_far_each_one_is_and_claims_no_refund() {
    let mut rig = Rig::new(three());

    rig.press("enter r ctrl-s");
    let staged = rig.screen();
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderFailed("closed by the issuer".to_owned())));
    rig.advance(Duration::seconds(6));
    let refused = rig.screen();

    assert!(staged.contains("Refunded: sends in 5 s") && staged.contains("Invalid: after the refund"), "{staged}");
    assert!(staged.contains("A refund is under way: ETHOCA") && !staged.contains("Already refunded"), "{staged}");
    assert!(refused.contains("Refunded: not recorded") && refused.contains("Invalid: queued, offline"), "{refused}");
    assert!(!refused.contains("is under way"), "{refused}");
}

#[test]
fn a_refused_refund_is_told_with_its_reason_and_what_waits_names_the_keys_that_take_it_back_or_ask_again() {
    let mut rig = Rig::new(three());
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderFailed("closed by the issuer".to_owned())));
    rig.press("enter r ctrl-s esc");
    rig.advance(Duration::seconds(6));
    let told = rig.screen();

    rig.press("esc g enter j");
    let waiting = rig.screen();
    rig.press("ctrl-r");
    rig.advance(Duration::seconds(1));
    let asked = rig.screen();
    rig.press("esc u");

    assert!(told.contains("not taken: closed by the issuer"), "{told}");
    assert!(waiting.contains("u  undo") && waiting.contains("ctrl-r  send or keep"), "{waiting}");
    assert!(asked.contains("refund was not recorded"), "{asked}");
    assert!(rig.screen().contains("Undone: 2 answers."), "{}", rig.screen());
}

/// A refusal by another deployment, with the exchange behind it as the client tells it.
fn refused_by_http() -> Fate {
    let exchange = "PUT /api/v1/alerts/01a2b3c4-0000-7000-8000-000000000001/resolution: 400, request \
        01a2b3c4-0000-7000-8000-000000000002";
    Fate::Refused(ServiceError::ProviderFailed(with_exchange("case closed by issuer", exchange)))
}

#[rstest]
#[case((120, 40))]
#[case((80, 24))]
fn what_can_be_done_after_a_refused_refund_stands_before_the_exchange_that_it_was_told_by(#[case] size: (u16, u16)) {
    let mut rig = Made { size, ..Made::of(three()) }.start();
    rig.service.next_resolution(refused_by_http());
    rig.press("enter r ctrl-s");
    rig.advance(Duration::seconds(10));
    rig.press("esc");

    let told = rig.screen().split_whitespace().collect::<Vec<_>>().join(" ");
    rig.press("4");
    let steps = rig.screen();

    assert!(told.contains("case closed by issuer. Its follow-up answers are not sent:"), "{told}");
    assert!(told.contains("ctrl-r send or keep, u undo."), "{told}");
    assert!(steps.contains("case closed by issuer (PUT"), "the steps of the decision tell it: {steps}");
}

#[test]
fn the_results_of_a_run_say_why_something_failed_and_leave_the_exchange_to_activity() {
    let mut rig = Made { size: (120, 40), ..Made::of(alike(3)) }.start();
    for _ in 0..3 {
        rig.service.next_resolution(refused_by_http());
    }
    rig.press("* n ctrl-s");
    rig.advance(Duration::seconds(10));

    let page = rig.screen();

    assert_eq!(
        page.lines().filter(|line| line.contains("not taken: case closed by issuer") && !line.contains('(')).count(),
        3,
        "{page}"
    );
}

#[test]
fn what_waits_here_after_a_refused_refund_has_its_keys_in_the_footer_and_is_not_called_on_its_way() {
    let mut rig = Rig::new(three());
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderFailed("closed by the issuer".to_owned())));
    rig.press("enter r ctrl-s esc");
    rig.advance(Duration::minutes(1));
    let dialog = rig.screen();
    rig.press("esc");

    let footer = rig.screen().lines().last().unwrap_or_default().to_owned();
    rig.press("3 ctrl-r");
    let asked = rig.screen();
    rig.press("esc 1 g enter n");

    assert!(footer.contains("2 answers queued, not sent  ctrl-r send or keep  u undo"), "{footer}");
    assert!(asked.contains("refund was not recorded"), "asked on every screen:\n{asked}");
    assert!(rig.screen().contains("queued until the refund is"), "{}", rig.screen());
    let named = dialog.lines().filter(|line| line.contains("Invalid (duplicate"));
    assert!(
        named.clone().count() == 2 && named.clone().all(|line| line.contains("due ")),
        "deadlines are told in full:\n{dialog}"
    );
}

#[test]
fn what_shares_the_payment_of_another_one_alone_does_not_follow_the_refund() {
    let mut alerts = three();
    let arn = Some("74320456118200319940007".to_owned());
    for alert in alerts.iter_mut().filter(|alert| ids().contains(&alert.id)) {
        alert.auth_code = None;
        alert.acquirer_reference_number = arn.clone().filter(|_| alert.id != ids()[0]);
        if alert.id == ids()[2] {
            (alert.card_bin, alert.card_last_four) = (String::new(), String::new());
        }
    }
    let mut rig = Rig::new(alerts);

    rig.press("enter r");

    let form = rig.screen();
    assert!(form.contains("not proven to be the same"), "{form}");
    assert!(form.contains("2 will be sent") && form.contains("1 needs review"), "{form}");
}

#[test]
fn the_reason_follows_from_a_refund_that_has_not_left_yet() {
    let mut rig = Rig::new(three());
    rig.press("r ctrl-s ctrl-f");
    rig.type_text("SIB2001");
    rig.advance(Duration::milliseconds(400));

    rig.press("alt-enter i");

    let form = rig.screen();
    assert!(form.contains("Refunded: sends in"), "{form}");
    assert!(form.contains("2 will be sent") && form.contains("refunded before the alert"), "{form}");
}

#[test]
fn one_undo_takes_the_whole_case_back() {
    let mut rig = Made { size: (80, 24), ..Made::of(three()) }.start();

    rig.press("enter r ctrl-s");
    let queued = rig.screen();
    rig.press("u");
    rig.advance(Duration::minutes(1));

    assert!(queued.lines().last().unwrap().contains("u undo"), "{queued}");
    assert_eq!(rig.sent(), 0);
    assert!(rig.app.ledger().staged().is_empty());
}

#[test]
fn none_of_it_refunded_is_one_decision_too() {
    let mut rig = Rig::new(three());

    rig.press("enter n ctrl-s");
    rig.advance(Duration::seconds(6));

    assert_eq!(statuses(&rig), [AlertStatus::Chargeback, AlertStatus::Chargeback, AlertStatus::Chargeback]);
}

#[test]
fn where_one_is_refunded_already_a_refund_is_held_back_and_invalid_has_each_ones_reason() {
    let now = clock().now();
    let mut alerts = three();
    // Refunded an hour ago: after two of them were raised, before the third.
    let mut paid = refunded_sibling(&alerts[0], 1_001, now);
    if let Some(outcome) = &mut paid.outcome {
        outcome.action_time = Some(now - Duration::hours(1));
    }
    let refund = format!(
        "Already refunded: {} {} \"{}\".",
        paid.provider,
        paid.provider_id,
        paid.outcome.as_ref().unwrap().comments
    );
    alerts.push(paid);
    let late = alerts.iter_mut().find(|alert| alert.id == ids()[2]).unwrap();
    late.alert_time = Some(now - Duration::minutes(10));
    let mut rig = Rig::new(alerts);
    rig.press("enter");
    let page = rig.screen();
    rig.press("r ctrl-s");
    let refused = rig.screen();
    rig.advance(Duration::seconds(6));
    let none = rig.sent();

    rig.press("esc i ctrl-s");
    let staged = rig.screen();
    rig.advance(Duration::seconds(6));

    assert!(page.contains(&refund), "{page}");
    assert!(staged.contains(&refund), "the refund is another alert's, whatever is under way:\n{staged}");
    assert!(refused.contains("possible double refund"), "{refused}");
    assert_eq!(none, 0);
    let (duplicate, before) = (invalid(InvalidReason::Duplicate, ""), invalid(InvalidReason::PreviouslyRefunded, ""));
    let mut sent = sent(&rig);
    sent.sort_by_key(|(id, _)| *id);
    assert_eq!(sent, [(ids()[0], duplicate.clone()), (ids()[1], duplicate), (ids()[2], before)]);
}

#[test]
fn an_alert_is_taken_out_of_the_decision_by_space_and_a_guard_is_ticked_by_it() {
    let mut alerts = three();
    let lapsed = alerts.iter_mut().find(|alert| alert.id == ids()[2]).unwrap();
    lapsed.deadline = avert::domain::Deadline::At(clock().now() - Duration::minutes(1));
    let mut rig = Rig::new(alerts);
    rig.press("/ esc enter n");
    let form = rig.screen();

    rig.press("tab");
    for _ in 0..3 {
        rig.press("space");
    }
    let ticked = rig.screen();

    assert!(form.contains("2 will be sent") && form.contains("expired"), "{form}");
    assert!(ticked.contains("1 will be sent") && ticked.contains("2 skipped"), "{ticked}");
}

#[test]
fn a_case_whose_refund_is_left_out_sends_nothing_and_says_from_where_it_is_sent() {
    let mut alerts = three();
    alerts.push(refunded_sibling(&alerts[0], 1_001, clock().now()));
    let mut rig = Rig::new(alerts);
    rig.press("enter r");
    let form = rig.screen();
    rig.press("ctrl-s");
    let refused = rig.screen();

    rig.press("tab ctrl-s");
    let in_list = rig.screen();
    rig.press("space");
    let ticked = rig.screen();

    assert!(form.contains("0 will be sent") && form.contains("follows the refund"), "{form}");
    assert!(form.contains("alt-i all invalid") && in_list.contains("space send anyway"), "{form}{in_list}");
    assert!(refused.contains("Nothing to send: tab to the list, space sends anyway."), "{refused}");
    assert!(ticked.contains("3 will be sent"), "{ticked}");
    assert_eq!(rig.sent(), 0);
}

#[test]
fn a_refund_that_is_left_out_by_hand_keeps_what_follows_it_here_too() {
    let mut rig = Rig::new(three());

    rig.press("enter r tab space space");

    let form = rig.screen();
    assert!(form.contains("0 will be sent") && form.contains("skipped by you"), "{form}");
    assert!(!form.contains("all invalid"), "nothing was refunded: {form}");
}

#[test]
fn the_form_of_a_case_says_that_each_alert_gets_a_reason_of_its_own_until_one_is_chosen() {
    for size in [(80, 24), (120, 40)] {
        let mut alerts = three();
        alerts.push(refunded_sibling(&alerts[0], 1_001, clock().now()));
        let mut rig = Made { size, ..Made::of(alerts) }.start();
        rig.press("enter i");
        let form = rig.screen();

        rig.press("alt-i 2");

        let chosen = rig.screen();
        assert!(form.contains("Each with its own reason."), "{form}");
        assert!(!chosen.contains("Each with its own"), "{chosen}");
    }
}

#[test]
fn the_form_of_a_case_tells_its_payment_once_and_that_the_refund_leaves_first() {
    for size in [(80, 24), (120, 40)] {
        let mut rig = Made { size, ..Made::of(three()) }.start();

        rig.press("enter r");

        let form = rig.screen();
        assert!(form.contains("same payment   129.90 EUR") && !form.contains("389.70"), "{form}");
        assert!(
            form.contains("Final 5 s after ctrl-s. u undoes") && form.contains("The refund is sent first"),
            "{form}"
        );
    }
}

#[test]
fn the_timeline_tells_the_minute_of_what_happened() {
    for size in [(80, 50), (120, 50), (200, 60)] {
        let mut rig = Made { size, ..Made::of(three()) }.start();

        rig.press("enter");

        let screen = rig.screen();

        let row =
            screen.lines().find(|line| line.contains("CDRN alerts SIB2002")).unwrap_or_else(|| panic!("{screen}"));
        assert!(!row.contains('…'), "{row}");
    }
}

#[test]
fn the_head_of_a_case_says_why_its_alerts_belong_together() {
    let mut rig = Rig::new(three());

    rig.press("enter");

    let screen = rig.screen();
    assert!(screen.contains("matched by card, amount") && screen.contains("first due in 41m"), "{screen}");
}

#[test]
fn the_older_dialect_decides_a_case_in_its_own_words() {
    let mut made = Made::of(three());
    made.place.dialect = Dialect::Older;
    let mut rig = made.start();

    rig.press("enter r ctrl-s");
    rig.advance(Duration::seconds(6));

    let sent: Vec<String> = sent(&rig).iter().map(|(_, resolution)| resolution.to_string()).collect();
    assert_eq!(sent, ["STOPPED, REFUNDED", "OTHER, NOT REFUNDED", "OTHER, NOT REFUNDED"]);
}

#[test]
fn the_case_of_what_was_found_is_opened_from_the_find() {
    let mut rig = Rig::new(three());
    rig.press("ctrl-f");
    rig.type_text("SIB2002");
    rig.advance(Duration::milliseconds(400));

    rig.press("alt-enter");

    assert!(rig.screen().contains("3 alerts on one payment"), "{}", rig.screen());
}

#[test]
fn what_is_said_of_an_answered_alert_does_not_stand_under_the_form_of_another() {
    let mut alerts = three();
    let refunded = alerts.iter_mut().find(|alert| alert.id == ids()[0]).unwrap();
    *refunded = Alert { id: refunded.id, ..refunded_sibling(refunded, 1, clock().now()) };
    let mut rig = Rig::new(alerts);
    rig.show_view(avert::desk::BuiltIn::All);
    while rig.current() != ids()[0] {
        rig.press("j");
    }
    rig.press("enter");
    rig.press("r");
    let in_case = rig.screen();
    rig.press("esc r");
    let in_queue = rig.screen();
    while rig.current() == ids()[0] {
        rig.press("j");
    }
    rig.press("n");
    let form = rig.screen();

    assert!(in_case.contains("answered or queued"), "{in_case}");
    assert!(!in_queue.contains("tab goes to one") && in_queue.contains("Already answered: Refunded"), "{in_queue}");
    assert!(form.contains("ctrl-s") && !form.contains("already answered"), "{form}");
}

#[test]
fn in_a_case_the_money_stands_once_and_the_alert_under_the_cursor_is_not_named_again() {
    let mut rig = Made { size: (120, 40), ..Made::of(three()) }.start();

    rig.press("enter");

    let screen = rig.screen();
    let body = screen.lines().skip(1).collect::<Vec<_>>().join("\n");
    assert_eq!(body.matches("129.90").count(), 1, "{body}");
    assert!(body.matches("Open").count() == 3 && body.contains("NETWORK ID"), "{body}");
    let happened = body.lines().position(|line| line.contains("WHAT HAPPENED")).unwrap();
    assert!(
        body.lines().nth(happened + 1).unwrap().contains("paid")
            || body.lines().nth(happened + 1).unwrap().contains("alerts"),
        "{body}"
    );
}

#[test]
fn once_a_case_is_answered_the_cursor_of_the_list_is_on_the_next_alert_to_answer() {
    let mut rig = Rig::new(three());

    rig.press("enter r ctrl-s esc");

    assert!(!ids().contains(&rig.current()), "{}", rig.screen());
    assert!(rig.screen().contains("undo"), "{}", rig.screen());
}

#[rstest]
#[case::of_the_case("enter r", "Answer 3 alerts, same payment", "CDRN")]
#[case::of_marks("space space n", "Answer 2 alerts", "avert id")]
fn a_form_of_several_stands_beside_the_facts_of_one(
    #[case] keys: &str,
    #[case] title: &str,
    #[case] fact: &str,
    #[values((120, 40), (160, 48))] size: (u16, u16),
) {
    let mut rig = Made { size, ..Made::of(three()) }.start();

    rig.press(keys);

    let screen = rig.screen();
    let beside: Vec<&str> = screen.lines().filter_map(|line| line.split_once('│').map(|(_, beside)| beside)).collect();
    assert!(screen.contains(title), "{screen}");
    assert!(beside.iter().any(|line| line.contains("TRANSACTION")), "{screen}");
    assert!(screen.contains(fact), "{screen}");
}

#[test]
fn the_cursor_moves_among_the_alerts_of_the_case_and_esc_goes_back_to_the_list() {
    let mut rig = Rig::new(three());
    let before = rig.current();

    rig.press("enter j y y");
    let copied = rig.screen();
    rig.press("tab tab esc esc");

    assert!(copied.contains("Copied the avert id: 00000000-0000-0000-0000-0000000007d1"), "{copied}");
    assert_eq!(rig.current(), before);
    assert!(!rig.screen().contains("3 alerts on one payment"), "{}", rig.screen());
}

#[test]
fn a_key_that_means_nothing_in_the_case_says_so_and_one_goes_to_the_alert_that_is_warned_of() {
    let mut rig = Rig::new(three());
    rig.press("enter");
    let here = |rig: &mut Rig| rig.screen().lines().find(|line| line.contains('▌')).unwrap_or_default().to_owned();
    let before = here(&mut rig);

    rig.press("%");
    let unknown = rig.screen();
    rig.press("s");
    let idle = rig.screen();
    rig.press(".");
    let none_made = rig.screen();
    rig.press("w");

    assert!(unknown.contains("% ("), "{unknown}");
    assert!(idle.contains("s (sort) is not available here: not available here."), "{idle}");
    assert!(none_made.contains(". (repeat) is not available here: a case is answered by one form."), "{none_made}");
    assert_ne!(here(&mut rig), before);
    assert!(here(&mut rig).contains("SIB"), "{}", rig.screen());
}

#[test]
fn an_invalid_answer_is_never_told_as_a_refund() {
    let mut alerts = three();
    let word = |alert: &mut Alert, status, outcome: &str, refunded: &str, reason: Option<&str>| {
        alert.status = status;
        alert.outcome = Some(Outcome {
            alert_id: alert.id,
            action_time: Some(clock().now() - Duration::hours(1)),
            outcome: outcome.to_owned(),
            refunded: refunded.to_owned(),
            dispute_reason_code: reason.map(str::to_owned),
            ..Outcome::default()
        });
    };
    let [.., verifi, cdrn] = alerts.as_mut_slice() else { unreachable!("two siblings") };
    word(verifi, AlertStatus::Invalid, "previously_refunded", "refunded", Some("previously_refunded"));
    word(cdrn, AlertStatus::Invalid, "other", "not refunded", Some("duplicate"));
    let mut rig = Rig::new(alerts);

    rig.press("enter");

    let screen = rig.screen();
    let row = |network: &str| {
        screen.lines().find(|line| line.contains("  Fraud  ") && line.contains(network)).unwrap_or_default()
    };
    assert!(row("VERIFI").contains("Invalid (refunded before the alert)"), "{screen}");
    assert!(row("CDRN").contains("Invalid (duplicate alert) 1h ago"), "{screen}");
    assert!(!screen.contains("VERIFI: REFUNDED"), "{screen}");
}

#[test]
fn what_lands_elsewhere_is_seen_while_the_case_is_open() {
    let mut rig = Rig::new(three());
    rig.press("enter");

    rig.change(|alerts| {
        let alert = alerts.iter_mut().find(|alert| alert.id == ids()[1]).unwrap();
        let refunded = refunded_sibling(alert, 1, clock().now());
        (alert.status, alert.outcome) = (refunded.status, refunded.outcome);
    });

    assert!(rig.screen().contains("Already refunded: VERIFI SIB2001"), "{}", rig.screen());
}

#[test]
fn in_the_older_dialect_the_case_says_what_its_keys_do_in_the_same_words() {
    let mut made = Made::of(three());
    made.place.dialect = Dialect::Older;
    let mut rig = made.start();

    rig.press("enter");

    let page = rig.screen();
    assert!(page.contains("r one refunded") && page.contains("i all invalid"), "{page}");
    assert!(page.contains("r reports this one as refunded, the others as duplicates."), "{page}");
}

#[test]
fn in_the_older_dialect_a_refund_says_what_the_others_of_its_case_are_answered() {
    let now = clock().now();
    let mut alerts = three();
    let mut paid = refunded_sibling(&alerts[0], 1_001, now);
    if let Some(outcome) = &mut paid.outcome {
        outcome.action_time = Some(now - Duration::hours(1));
    }
    alerts.push(paid);
    let late = alerts.iter_mut().find(|alert| alert.id == ids()[2]).unwrap();
    late.alert_time = Some(now - Duration::minutes(10));
    let mut made = Made { size: (160, 40), ..Made::of(alerts) };
    made.place.dialect = Dialect::Older;
    let mut rig = made.start();
    rig.press("enter");
    let page = rig.screen();

    rig.press("i ctrl-s");
    rig.advance(Duration::seconds(6));

    assert!(page.contains("i answers 3 open alerts."), "{page}");
    let mut sent: Vec<String> = sent(&rig).iter().map(|(_, resolution)| resolution.to_string()).collect();
    sent.sort();
    assert_eq!(sent, ["OTHER, NOT REFUNDED", "OTHER, NOT REFUNDED", "PREVIOUSLY_REFUNDED, REFUNDED"]);
}

#[test]
fn what_has_lapsed_does_not_wait_and_a_key_that_could_do_nothing_is_not_offered() {
    let mut alerts = three();
    let lapsed = alerts.iter_mut().find(|alert| alert.id == ids()[2]).unwrap();
    lapsed.status = AlertStatus::Expired;
    lapsed.expired_at = Some(clock().now() - Duration::minutes(1));
    let mut rig = Rig::new(alerts);
    rig.press("enter");
    let open = rig.screen();
    rig.press("G");
    let on_lapsed = rig.screen();
    rig.press("g n ctrl-s");
    let decided = rig.screen();
    rig.press("r");
    let refused = rig.screen();

    assert!(open.contains("2 open") && open.contains("r one refunded"), "{open}");
    assert!(on_lapsed.contains("n all not refunded"), "{on_lapsed}");
    assert!(decided.contains("0 open"), "{decided}");
    for key in ["one refunded", "not refunded   ", "i invalid"] {
        assert!(!decided.contains(key), "{key}: {decided}");
    }
    assert!(refused.contains("answered or queued"), "{refused}");
}

#[test]
fn a_case_says_by_what_the_alert_under_the_cursor_is_matched() {
    let now = clock().now();
    let mut alerts = three();
    let mut paid = refunded_sibling(&alerts[0], 1_001, now);
    paid.alert_time = Some(now - Duration::days(400));
    // What one of them lacks is no longer shared by all.
    paid.acquirer_reference_number = None;
    alerts.push(paid);
    let mut rig = Made { size: (160, 40), ..Made::of(alerts) }.start();
    rig.press("enter");
    let page = rig.screen();

    rig.press("i ctrl-s");
    rig.advance(Duration::seconds(6));

    assert!(page.contains("STATE") && page.contains("matched by card, amount, day, ARN, auth code"), "{page}");
    assert!(page.contains("16 Oct 2025"), "what happened in another year says so: {page}");
    let screen = rig.screen();
    let signs: Vec<&str> = screen.lines().filter(|line| line.contains("  Fraud  ")).collect();
    assert_eq!(signs.len(), 4, "{screen}");
}

/// A case that stands open while a colleague refunds one of its alerts, of which the console does not hear.
fn refunded_unheard() -> Rig {
    let mut rig = Rig::new(three());
    rig.press("enter");
    rig.service.change(|alerts| {
        let alert = alerts.iter_mut().find(|alert| alert.id == ids()[1]).unwrap();
        let refunded = refunded_sibling(alert, 1, clock().now());
        (alert.status, alert.outcome) = (refunded.status, refunded.outcome);
    });
    rig.holding_searches = true;
    rig
}

#[test]
fn a_refund_from_a_case_that_was_open_for_long_waits_for_the_doubles_and_is_held_by_what_is_found() {
    let mut rig = refunded_unheard();

    rig.press("r ctrl-s");
    let waits = rig.screen();
    rig.release();
    let found = rig.screen();
    rig.advance(Duration::seconds(10));

    assert!(waits.contains("Checking duplicates first"), "{waits}");
    assert!(found.contains("Not sent: see the"), "{found}");
    assert_eq!(rig.sent(), 0);
}

#[test]
fn a_refund_from_a_case_sends_nothing_where_the_doubles_cannot_be_looked_for() {
    let mut rig = refunded_unheard();

    rig.press("r ctrl-s");
    rig.service.set_down(Some(ServiceError::Unavailable("the database is busy".to_owned())));
    rig.release();
    let failed = rig.screen();
    rig.service.set_down(None);
    rig.advance(Duration::seconds(4));

    assert!(failed.contains("Not sent: duplicates not checked"), "{failed}");
    assert_eq!((rig.sent(), rig.app.ledger().staged().len()), (0, 0));
}

#[test]
fn the_audit_log_is_asked_once_for_a_case_and_again_where_an_alert_got_its_answer() {
    let mut rig = Rig::new(three());
    let entry = AuditEntry { actor: "key 7Qd2Kx".to_owned(), ..answered_by_omar(ids()[1], clock().now()) };
    let asked = |rig: &Rig| *rig.service.audit_asked.lock().unwrap();
    let before = asked(&rig);

    rig.press("enter");
    let opened = asked(&rig) - before;
    rig.hear();
    let heard = asked(&rig) - before;
    rig.service.audit.lock().unwrap().push(entry);
    rig.change(|alerts| {
        let alert = alerts.iter_mut().find(|alert| alert.id == ids()[1]).unwrap();
        let refunded = refunded_sibling(alert, 1, clock().now());
        (alert.status, alert.outcome) = (refunded.status, refunded.outcome);
    });

    assert_eq!((opened, heard, asked(&rig) - before), (1, 1, 2));
    let screen = rig.screen();
    assert!(screen.contains("VERIFI: Refunded by key 7Qd2Kx"), "{screen}");
}

/// The titles of a case's columns up to what each would get, the networks of its rows in order, and the row of the
/// cursor.
fn rows_of_case(rig: &mut Rig) -> (String, Vec<String>, Option<usize>) {
    let screen = rig.screen();
    let heads = screen.lines().position(|line| line.contains("STATE")).unwrap();
    let titles = screen.lines().nth(heads).unwrap().split("WITH").next().unwrap().trim_end().to_owned();
    let rows: Vec<&str> = screen.lines().skip(heads + 1).take(3).collect();
    let network = |row: &&str| {
        row.split_whitespace().find(|word| ["ETHOCA", "VERIFI", "CDRN"].contains(word)).unwrap().to_owned()
    };
    (titles, rows.iter().map(network).collect(), rows.iter().position(|row| row.starts_with('▌')))
}

#[test]
fn a_case_keeps_its_order_and_the_cursors_row_while_it_is_decided() {
    for width in [100, 120, 130, 140, 150, 160] {
        let mut rig = Made { size: (width, 40), ..Made::of(three()) }.start();
        rig.press("enter j");
        let (_, order, cursor) = rows_of_case(&mut rig);

        rig.press("n ctrl-s");
        let (_, staged, at) = rows_of_case(&mut rig);
        assert_eq!((&staged, &at), (&order, &cursor), "{}", rig.screen());
        rig.advance(Duration::seconds(20));
        let (_, recorded, at) = rows_of_case(&mut rig);

        assert_eq!((recorded, at), (order, cursor), "{}", rig.screen());
    }
}

#[test]
fn an_alert_that_a_colleague_answers_keeps_its_row_in_the_case() {
    let mut rig = Made { size: (120, 40), ..Made::of(three()) }.start();
    rig.press("enter j");
    let (_, order, cursor) = rows_of_case(&mut rig);

    rig.change(|alerts| {
        let alert = alerts.iter_mut().find(|alert| alert.id == ids()[0]).unwrap();
        let refunded = refunded_sibling(alert, 1, clock().now());
        (alert.status, alert.outcome) = (refunded.status, refunded.outcome);
    });

    let (_, after, at) = rows_of_case(&mut rig);
    assert_eq!((after, at), (order, cursor), "{}", rig.screen());
}

/// A case whose refund was refused, so that its others wait here; the question about them is answered with wait.
fn refund_refused() -> Rig {
    let mut rig = Made { size: (160, 40), ..Made::of(three()) }.start();
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderFailed("closed by the issuer".to_owned())));
    rig.press("enter r ctrl-s");
    rig.advance(Duration::seconds(10));
    rig.press("esc esc esc");
    rig
}

/// A case whose refund the engine has parked, so that its others wait here; the question about them is answered with
/// wait.
fn refund_parked() -> Rig {
    let mut rig = Made { size: (160, 40), ..Made::of(three()) }.start();
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::told("time-out"))));
    rig.press("enter r ctrl-s");
    rig.advance(Duration::seconds(10));
    rig.service.unfinished.lock().unwrap()[0].state = "PARKED".to_owned();
    rig.hear();
    rig.press("esc");
    rig
}

#[test]
fn a_parked_decision_of_a_case_has_its_sign_there_and_no_more_is_said_than_that_it_may_have_arrived() {
    let mut rig = refund_parked();

    let screen = rig.screen();

    assert!(screen.lines().any(|line| line.contains("Refunded is unconfirmed")), "{screen}");
    assert!(
        screen.contains("⚠ A refund is unconfirmed: ETHOCA") && screen.contains("A second refund would pay"),
        "{screen}"
    );
    assert!(!screen.contains("on its way"), "{screen}");
}

#[rstest]
#[case::on_its_alert("")]
#[case::on_another_alert("tab")]
fn a_person_says_in_the_case_what_became_of_its_parked_decision(#[case] keys: &str) {
    let mut rig = refund_parked();
    rig.press(keys);

    let footer = rig.screen();
    rig.press("?");
    rig.type_text("set result");
    let help = rig.screen();
    rig.press("esc p");
    let dialog = rig.screen();
    rig.press("a ctrl-s");

    assert!(footer.contains("p set result"), "{footer}");
    assert!(help.contains("Set the result of an unconfirmed answer"), "{help}");
    assert!(dialog.contains("Set the result of Refunded") && dialog.contains("129.90"), "{dialog}");
    assert_eq!(statuses(&rig)[0], AlertStatus::Resolved, "{}", rig.screen());
}

#[test]
fn the_key_of_a_case_is_for_its_own_parked_decision_before_an_older_one_elsewhere() {
    let mut rig = Made { size: (160, 40), ..Made::of(three()) }.start();
    let elsewhere = AlertId(uuid::Uuid::from_u128(3));
    let parked = |alert, number| ResolutionAttempt {
        id: AttemptId(uuid::Uuid::from_u128(number)),
        ..unfinished(alert, "PARKED")
    };
    *rig.service.unfinished.lock().unwrap() = vec![parked(elsewhere, 1), parked(ids()[2], 2)];
    rig.hear();
    rig.press("enter");

    let case = rig.screen();
    rig.press("p a ctrl-s");

    assert!(case.lines().any(|line| line.contains("SIB2002") && line.contains("Refunded: ")), "{case}");
    assert_eq!(*rig.service.settled.lock().unwrap(), [(AttemptId(uuid::Uuid::from_u128(2)), true)]);
}

#[test]
fn what_was_to_follow_a_refused_refund_follows_the_one_that_is_made_instead() {
    let mut rig = refund_refused();
    rig.update(avert::console::message::Message::GoToAlert(ids()[0]));

    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(30));

    assert_eq!(statuses(&rig), [AlertStatus::Resolved, AlertStatus::Invalid, AlertStatus::Invalid], "{}", rig.screen());
}

#[test]
fn while_another_refund_is_made_instead_it_is_not_said_that_there_is_none() {
    let mut rig = refund_refused();
    rig.update(avert::console::message::Message::GoToAlert(ids()[0]));
    rig.press("r ctrl-s");

    rig.press("ctrl-r");

    let asked = rig.screen();
    assert!(asked.contains("The refund is unconfirmed") && asked.contains("are sent once"), "{asked}");
    assert!(!asked.contains("not recorded: Activity ("), "{asked}");
}

#[test]
fn whoever_leaves_with_what_waits_for_a_refund_is_asked_what_becomes_of_it() {
    let mut rig = refund_refused();

    rig.press("q s");

    let asked = rig.screen();
    assert!(asked.contains("refund was not recorded") && asked.contains("2 answers queued, not sent"), "{asked}");
    assert!(!rig.has_quit() && rig.sent() == 1);
}

#[test]
fn an_alert_that_another_refunded_is_not_offered_for_sending_and_the_payment_is_called_refunded() {
    let mut rig = Made { size: (160, 40), ..Made::of(three()) }.start();
    rig.press("enter r ctrl-s esc");
    rig.service.change(|alerts| {
        let alert = alerts.iter_mut().find(|alert| alert.id == ids()[1]).unwrap();
        *alert = Alert {
            id: ids()[1],
            provider_id: alert.provider_id.clone(),
            ..refunded_sibling(alert, 1_001, clock().now())
        };
    });

    rig.advance(Duration::seconds(10));

    let asked = rig.screen();
    assert!(asked.contains("1 answer queued, not sent") && asked.contains("CDRN"), "{asked}");
    assert!(asked.contains("not sent. The payment is refunded.") && !asked.contains("may be wrong"), "{asked}");
    assert_eq!(rig.sent(), 0);
}

fn pictures(name: &str, dialect: Dialect, state: impl Fn(&mut Rig)) {
    let taken = screens(|size| {
        let mut made = Made { size, ..Made::of(three()) };
        made.place.dialect = dialect;
        let mut rig = made.start();
        rig.press("enter");
        state(&mut rig);
        rig.advance(Duration::milliseconds(200));
        rig
    });
    assert_screens!(name, taken);
}

#[test]
fn a_case_of_three_in_pictures() {
    pictures("three", Dialect::Current, |rig| rig.press("j"));
}

#[test]
fn a_case_and_its_form_in_the_older_dialect_in_pictures() {
    pictures("older", Dialect::Older, |_| {});
    pictures("older-form", Dialect::Older, |rig| rig.press("r"));
    pictures("older-form-other", Dialect::Older, |rig| rig.press("i"));
}

#[test]
fn a_case_that_waits_for_its_refund_in_pictures() {
    pictures("staged", Dialect::Current, |rig| {
        rig.press("r ctrl-s");
        rig.advance(Duration::seconds(2));
    });
}

#[test]
fn the_question_about_what_was_to_follow_a_refund_in_pictures() {
    let refused = ServiceError::ProviderFailed("closed by the issuer".to_owned());
    let unknown = ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::told("time-out"));
    for (name, error) in [("refund-refused", refused), ("refund-unknown", unknown)] {
        pictures(name, Dialect::Current, |rig| {
            rig.service.next_resolution(Fate::Refused(error.clone()));
            rig.press("r ctrl-s esc");
            rig.advance(Duration::minutes(2));
        });
    }
}

#[test]
fn a_read_only_session_is_told_what_fits_and_offered_no_key_that_answers() {
    for (read_only, key) in [(false, true), (true, false)] {
        let place = SessionInfo { read_only, ..Made::default().place };
        let mut rig = Made { place, size: (200, 60), ..doubled() }.start();
        rig.press("j");
        rig.advance(Duration::milliseconds(100));
        let detail = rig.screen();
        rig.press("enter");
        rig.advance(Duration::milliseconds(100));
        let case = rig.screen();

        assert_eq!(detail.contains("t  Invalid (duplicate alert)"), key, "{detail}");
        assert_eq!(detail.contains("Suggested: Invalid (duplicate alert)"), read_only, "{detail}");
        assert!(case.contains("A second refund would pay the cardholder twice."), "{case}");
        assert_eq!(case.contains("i answers 1 open alert."), key, "{case}");
        assert!(!case.contains("opens the form"), "{case}");
    }
}
