//! The rules of bringing alerts in, each by name.

use chrono::TimeDelta;
use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::{
    alert::{Alert, AlertStatus, AlertType, Deadline, Provider},
    card::mask_card_numbers,
    ids::{AlertId, CompanyId, EnrollmentId, OutcomeId},
    money::Currency,
    outcome::Outcome,
    resolution::FieldError,
    time::{Timestamp, from_iso},
};

fn now() -> Timestamp {
    from_iso("2026-03-10T12:00:00Z").unwrap()
}

/// Completes a patch as an organization of its own would, with these windows.
fn completed(patch: AlertPatch, windows: &ResponseWindows) -> AlertPatch {
    let (company, enrollment) = (CompanyId::generate(), EnrollmentId::generate());
    patch.complete(&IntakeTerms { company, enrollment, windows, events: true, now: now() })
}

/// Returns the least that can be ingested: raised an hour ago, 23 hours left.
fn least() -> AlertPatch {
    with(|_| {})
}

fn with(change: impl FnOnce(&mut Alert)) -> AlertPatch {
    let mut alert = Alert {
        provider_id: "P-1".to_owned(),
        amount: Some("10.00".parse().unwrap()),
        currency: Currency::new("EUR"),
        alert_time: Some(now() - TimeDelta::hours(1)),
        ..Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud)
    };
    change(&mut alert);
    AlertPatch::of(alert).at(3).without("id")
}

fn outcome() -> Outcome {
    Outcome { provider_alert_id: String::new(), status: String::new(), ..Outcome::sample(AlertId::generate()) }
}

fn taken(incoming: AlertPatch) -> AlertPatch {
    completed(incoming.validate().unwrap(), &ResponseWindows::default())
}

fn refused(incoming: AlertPatch) -> FieldError {
    incoming.validate().unwrap_err()
}

#[rstest]
#[case("provider", with(|alert| alert.provider = Provider::Other("  ".to_owned())))]
#[case("type", with(|alert| alert.alert_type = AlertType::Other(String::new())))]
#[case("amount", with(|alert| alert.amount = None))]
#[case("currency", with(|alert| alert.currency = Currency::default()))]
#[case("providerId", with(|alert| alert.provider_id = String::new()))]
fn what_is_required_and_missing_is_named(#[case] field: &str, #[case] incoming: AlertPatch) {
    let error = refused(incoming);

    assert_eq!(error.field, field);
    assert!(error.message.contains("is required"), "{}", error.message);
}

#[test]
fn an_id_stands_in_for_a_provider_id() {
    let incoming = AlertPatch::of(with(|alert| alert.provider_id = String::new()).alert);
    let id = incoming.alert.id;

    let row = taken(incoming);

    assert!(row.is_by_id());
    assert_eq!(row.alert.id, id);
}

#[rstest]
#[case("-1")]
#[case("0.0000001")]
#[case("9223372036855")]
fn an_amount_that_cannot_be_stored_exactly_is_refused(#[case] amount: &str) {
    let error = refused(with(|alert| alert.amount = Some(amount.parse().unwrap())));

    assert_eq!(error.field, "amount");
    assert!(error.message.contains("at most 6 decimal places"), "{}", error.message);
    // What is allowed is ours, and must come through where card numbers are masked.
    assert_eq!(mask_card_numbers(&error.message), error.message);
}

#[test]
fn an_amount_keeps_its_digits() {
    let row = taken(with(|alert| alert.amount = Some("12.500".parse().unwrap())));

    assert_eq!(row.alert.amount.unwrap().to_string(), "12.500");
}

#[test]
fn missing_ids_and_times_are_made_and_known_to_be_made() {
    let (company, enrollment) = (CompanyId::generate(), EnrollmentId::generate());
    let terms = IntakeTerms { company, enrollment, windows: &ResponseWindows::default(), events: true, now: now() };
    let incoming = with(|alert| alert.alert_time = None);

    let row = incoming.validate().unwrap().complete(&terms);

    let alert = &row.alert;
    assert_eq!([alert.alert_time, alert.transaction_time, alert.created_at, alert.updated_at], [Some(now()); 4]);
    assert_eq!((alert.company_id, alert.enrollment_id), (Some(company), Some(enrollment)));
    assert_eq!(
        ["alertTimeStamp", "transactionTimeStamp", "companyId", "enrollmentId"].map(|name| row.gives(name)),
        [false; 4]
    );
    assert_eq!((row.line, row.is_by_id()), (3, false));
}

#[test]
fn given_ids_and_times_are_kept() {
    let company = CompanyId::generate();
    let created = now() - TimeDelta::days(3);

    let row = taken(with(|alert| {
        alert.company_id = Some(company);
        alert.created_at = Some(created);
    }));

    assert_eq!((row.alert.company_id, row.gives("companyId")), (Some(company), true));
    assert_eq!((row.alert.created_at, row.alert.alert_time), (Some(created), Some(now() - TimeDelta::hours(1))));
    assert_eq!(row.alert.transaction_time, row.alert.alert_time);
}

#[test]
fn unknown_words_are_kept_as_they_came() {
    let row = taken(with(|alert| {
        alert.provider = Provider::Other("Rdr".to_owned());
        alert.alert_type = AlertType::Other("RDR_CASE".to_owned());
    }));

    assert_eq!((row.alert.provider.as_str(), row.alert.alert_type.as_str()), ("Rdr", "RDR_CASE"));
}

#[test]
fn an_alert_has_its_networks_window_from_the_time_it_was_raised() {
    let row = taken(least());

    assert_eq!(row.alert.deadline, Deadline::At(now() + TimeDelta::hours(23)));
    assert_eq!(row.alert.status, AlertStatus::Open);
    assert!(row.event);
}

#[test]
fn a_window_can_be_set() {
    let windows = ResponseWindows::default().with("ETHOCA", TimeDelta::hours(2));

    let row = completed(least(), &windows);

    assert_eq!(row.alert.deadline, Deadline::At(now() + TimeDelta::hours(1)));
}

#[rstest]
#[case(5, 5)]
#[case(0, 1)]
#[case(-7, 1)]
fn hours_left_count_from_the_import_and_are_at_least_one(#[case] hours: i64, #[case] granted: i64) {
    let row = taken(with(|alert| alert.deadline = Deadline::HoursLeft(hours)));

    assert_eq!(row.alert.deadline, Deadline::At(now() + TimeDelta::hours(granted)));
    assert_eq!(row.alert.status, AlertStatus::Open);
}

#[test]
fn hours_left_beyond_ten_years_are_refused() {
    assert_eq!(refused(with(|alert| alert.deadline = Deadline::HoursLeft(i64::MAX))).field, "hoursLeft");
}

#[test]
fn hours_left_of_an_answered_alert_say_nothing() {
    let incoming = with(|alert| {
        alert.deadline = Deadline::HoursLeft(0);
        alert.outcome = Some(outcome());
        alert.status = AlertStatus::Resolved;
    });

    let row = taken(incoming);

    assert_eq!(row.alert.deadline, Deadline::At(now() + TimeDelta::hours(23)));
}

#[test]
fn an_open_alert_past_its_deadline_is_taken_as_expired_and_silently() {
    let row = taken(with(|alert| alert.alert_time = Some(now() - TimeDelta::hours(30))));

    assert_eq!(row.alert.status, AlertStatus::Expired);
    assert_eq!(row.alert.expired_at, Some(now() - TimeDelta::hours(6)));
    assert!(!row.event);
}

#[test]
fn an_alert_lapses_exactly_at_its_deadline() {
    let row = taken(with(|alert| alert.alert_time = Some(now() - TimeDelta::hours(24))));

    assert_eq!((row.alert.status, row.alert.expired_at, row.event), (AlertStatus::Expired, Some(now()), false));
}

#[test]
fn an_alert_that_came_as_expired_stays_so_even_if_its_window_is_open() {
    let incoming = with(|alert| {
        alert.status = AlertStatus::Expired;
        alert.alert_time = None;
    });

    let row = taken(incoming);

    assert_eq!((row.alert.status, row.alert.expired_at), (AlertStatus::Expired, Some(now())));
    assert!(!row.event);
}

#[test]
fn history_is_taken_with_its_status_and_silently() {
    let incoming = with(|alert| {
        alert.status = AlertStatus::Chargeback;
        alert.outcome = Some(outcome());
    });

    let row = taken(incoming);

    assert_eq!(row.alert.status, AlertStatus::Chargeback);
    assert!(!row.event);
}

#[test]
fn an_outcome_brought_along_is_completed() {
    let incoming = with(|alert| {
        alert.outcome = Some(Outcome { comments: "card 4111111111111111\nsecond line\u{7}".to_owned(), ..outcome() });
        alert.status = AlertStatus::Resolved;
    });
    let id: OutcomeId = incoming.alert.outcome.as_ref().unwrap().id;

    let alert = taken(incoming).alert;

    let outcome = alert.outcome.unwrap();
    assert_eq!((outcome.id, outcome.alert_id), (id, alert.id));
    assert_eq!((outcome.provider_alert_id.as_str(), outcome.status.as_str()), ("P-1", "success"));
    assert_eq!(outcome.action_time, Some(now()));
    assert_eq!(outcome.comments, "card 411111******1111\nsecond line");
}

#[test]
fn events_can_be_silenced() {
    let (company, enrollment) = (CompanyId::generate(), EnrollmentId::generate());
    let terms = IntakeTerms { company, enrollment, windows: &ResponseWindows::default(), events: false, now: now() };

    let row = least().complete(&terms);

    assert!(!row.event);
}

#[rstest]
#[case("providerId", with(|alert| alert.provider_id = "P\u{1b}[2J".to_owned()))]
#[case("provider", with(|alert| alert.provider = Provider::Other("ETH\u{0}OCA".to_owned())))]
#[case("currency", with(|alert| alert.currency = Currency::new("E\u{202e}UR")))]
fn what_things_are_told_apart_by_is_refused_and_not_cleaned(#[case] field: &str, #[case] incoming: AlertPatch) {
    assert_eq!(refused(incoming).field, field);
}

#[test]
fn other_text_loses_its_control_characters() {
    let row = taken(with(|alert| {
        alert.merchant_descriptor = "ACME\u{1b}[31m*SHOP\nBERLIN".to_owned();
        alert.source = Some("\u{7}".to_owned());
    }));

    assert_eq!(row.alert.merchant_descriptor, "ACME[31m*SHOP BERLIN");
    assert_eq!(row.alert.source, None);
}

#[rstest]
#[case("providerId", with(|alert| alert.provider_id = "x".repeat(129)))]
#[case("merchantName", with(|alert| alert.merchant_name = "é".repeat(256)))]
#[case("ruleName", with(|alert| alert.rule_name = Some("x".repeat(256))))]
#[case("outcome.comments", with(|alert| alert.outcome = Some(Outcome { comments: "x".repeat(2_001), ..outcome() })))]
fn text_that_is_too_long_is_refused_by_name(#[case] field: &str, #[case] incoming: AlertPatch) {
    let error = refused(incoming);

    assert_eq!(error.field, field);
    assert!(error.message.contains("at most"), "{}", error.message);
}

#[rstest]
#[case("cardBin", "41111", "1111")]
#[case("cardBin", "4111111", "1111")]
#[case("cardBin", "4111111111111111", "1111")]
#[case("cardBin", "41111X", "1111")]
#[case("cardLastFour", "411111", "111")]
#[case("cardLastFour", "411111", "4111111111111111")]
fn card_data_of_another_shape_is_refused_and_not_repeated(
    #[case] field: &str,
    #[case] bin: &str,
    #[case] last_four: &str,
) {
    let error = refused(with(|alert| {
        alert.card_bin = bin.to_owned();
        alert.card_last_four = last_four.to_owned();
    }));

    assert_eq!(error.field, field);
    assert!(!error.message.contains(bin) && !error.message.contains(last_four), "{}", error.message);
}

#[rstest]
#[case("37144963", "371449")]
#[case("34000000", "340000")]
#[case("41111111", "41111111")]
#[case("411111", "411111")]
#[case("", "")]
fn a_bin_has_eight_digits_at_most_and_six_for_american_express(#[case] given: &str, #[case] kept: &str) {
    let row = taken(with(|alert| alert.card_bin = given.to_owned()));

    assert_eq!(row.alert.card_bin, kept);
}

#[rstest]
#[case("providerId", |alert: &mut Alert, text: &str| alert.provider_id = text.to_owned())]
#[case("merchantOrderId", |alert: &mut Alert, text: &str| alert.merchant_order_id = Some(text.to_owned()))]
#[case("transactionId", |alert: &mut Alert, text: &str| alert.transaction_id = Some(text.to_owned()))]
#[case("acquirerReferenceNumber", |alert: &mut Alert,
    text: &str| alert.acquirer_reference_number = Some(text.to_owned()))]
#[case("authCode", |alert: &mut Alert, text: &str| alert.auth_code = Some(text.to_owned()))]
fn a_row_whose_names_of_things_are_a_card_number_is_refused(#[case] field: &str, #[case] put: fn(&mut Alert, &str)) {
    let error = refused(with(|alert| put(alert, "4111 1111-1111 1111")));

    assert_eq!(error.field, field);
    assert!(!error.message.contains("4111"), "{}", error.message);
}

#[test]
fn another_long_number_in_an_id_stays() {
    let arn = "74320456118200319945216";
    let row = taken(with(|alert| {
        alert.card_bin = "411111".to_owned();
        alert.card_last_four = "1111".to_owned();
        alert.acquirer_reference_number = Some(arn.to_owned());
        alert.transaction_id = Some("T-5555555555554444".to_owned());
    }));

    assert_eq!(row.alert.acquirer_reference_number.as_deref(), Some(arn));
    assert_eq!(row.alert.transaction_id.as_deref(), Some("T-5555555555554444"));
}

#[test]
fn a_card_number_in_prose_is_masked() {
    let row = taken(with(|alert| alert.descriptor_contact = Some("call re 4111 1111 1111 1111".to_owned())));

    assert_eq!(row.alert.descriptor_contact.as_deref(), Some("call re 4111 11** **** 1111"));
}

#[test]
fn a_time_that_no_calendar_shows_is_refused() {
    let error = refused(with(|alert| alert.alert_time = Some(Timestamp::MAX_UTC)));

    assert_eq!(error.field, "alertTimeStamp");
}

proptest! {
    #[test]
    fn no_row_makes_preparing_panic_and_what_is_taken_is_complete(
        texts in proptest::collection::vec(any::<String>(), 6),
        hours in any::<i64>(),
        raised in proptest::option::of(-62_000_000_000i64..250_000_000_000),
        answered in any::<bool>(),
    ) {
        let incoming = with(|alert| {
            alert.provider = Provider::parse(&texts[0]);
            alert.provider_id = texts[1].clone();
            alert.card_bin = texts[2].clone();
            alert.issuer = texts[3].clone();
            alert.status = AlertStatus::parse(&texts[4]);
            alert.currency = Currency::new(texts[5].clone());
            alert.alert_time = raised.and_then(|seconds| Timestamp::from_timestamp(seconds, 0));
            alert.deadline = Deadline::HoursLeft(hours);
            alert.outcome = answered.then(outcome);
        });
        if let Ok(row) = incoming.validate().map(|row| completed(row, &ResponseWindows::default())) {
            let alert = row.alert;
            prop_assert!(alert.deadline.moment().is_some());
            prop_assert!(alert.alert_time.is_some() && alert.updated_at.is_some() && alert.company_id.is_some());
            prop_assert!(!alert.issuer.contains(char::is_control));
            prop_assert!(!(row.event && alert.outcome.is_some()));
        }
    }
}

#[test]
fn an_id_is_made_only_where_there_is_none_and_it_is_not_the_identity() {
    let nameless = with(|alert| alert.id = AlertId::default()).alert;
    let named = with(|_| {});
    let windows = ResponseWindows::default();

    let made = completed(AlertPatch::read(1, nameless.clone(), false), &windows).alert.id;
    let of_zeros = completed(AlertPatch::read(1, nameless, true), &windows);
    let kept = completed(named.clone(), &windows).alert.id;

    assert!(made != AlertId::default() && of_zeros.alert.id != AlertId::default() && !of_zeros.is_by_id());
    assert_eq!(kept, named.alert.id);
}

#[rstest]
#[case("N/A", "identifies nothing")]
#[case("0", "identifies nothing")]
#[case("00000000-0000-0000-0000-000000000000", "identifies nothing")]
#[case("5.36E+18", "a spreadsheet has made a number of it")]
fn a_row_whose_provider_id_identifies_nothing_is_refused_and_told_why(#[case] id: &str, #[case] why: &str) {
    let error = refused(with(|alert| alert.provider_id = id.to_owned()));

    assert_eq!(error.field, "providerId");
    assert!(error.message.contains(id) && error.message.contains(why), "{}", error.message);
}

#[test]
fn what_identifies_nothing_is_kept_as_text_elsewhere() {
    let row = taken(with(|alert| {
        alert.merchant_order_id = Some("N/A".to_owned());
        alert.transaction_id = Some("0".to_owned());
        alert.acquirer_reference_number = Some("5.36E+18".to_owned());
        alert.auth_code = Some("111111".to_owned());
    }));

    let Alert { merchant_order_id, transaction_id, acquirer_reference_number, auth_code, .. } = &row.alert;
    let kept = [merchant_order_id, transaction_id, acquirer_reference_number, auth_code].map(Option::as_deref);
    assert_eq!(kept, ["N/A", "0", "5.36E+18", "111111"].map(Some));
    assert_eq!((row.alert.known_arn(), row.alert.known_auth_code()), (None, None));
    assert_eq!((row.alert.known_order_id(), row.alert.known_transaction_id()), (None, None));
}

fn row_of_source(line: u64, change: impl FnOnce(&mut Alert)) -> AlertPatch {
    with(|alert| {
        (alert.card_bin, alert.card_last_four) = ("411111".to_owned(), "0042".to_owned());
        change(alert);
    })
    .at(line)
}

#[rstest]
#[case::unchanged(|_: &mut Alert| {}, None)]
#[case::other_text(|alert: &mut Alert| alert.issuer = "HSBC".to_owned(), None)]
#[case::the_same_amount(|alert: &mut Alert| alert.amount = "10".parse().ok(), None)]
#[case::the_same_currency(|alert: &mut Alert| alert.currency = Currency::new("eur"), None)]
#[case::more_of_the_card(|alert: &mut Alert| alert.card_bin = "41111122".to_owned(), None)]
#[case::no_card(|alert: &mut Alert| (alert.card_bin, alert.card_last_four) = Default::default(), None)]
#[case::another_network(|alert: &mut Alert| (alert.provider, alert.amount) = (Provider::Cdrn, "11".parse().ok()), None)]
#[case::another_card(|alert: &mut Alert| alert.card_last_four = "7777".to_owned(), Some("card"))]
#[case::another_bin(|alert: &mut Alert| alert.card_bin = "555555".to_owned(), Some("card"))]
#[case::another_amount(|alert: &mut Alert| alert.amount = "10.01".parse().ok(), Some("amount"))]
#[case::another_currency(|alert: &mut Alert| alert.currency = Currency::new("USD"), Some("currency"))]
fn a_second_row_of_a_source_that_contradicts_the_first_is_refused(
    #[case] change: fn(&mut Alert),
    #[case] what: Option<&str>,
) {
    let mut rows = SourceRows::default();
    rows.admit(row_of_source(2, |_| {})).unwrap();

    let told = rows.admit(row_of_source(3, change)).map_err(|rejected| rejected.error.message);

    assert_eq!(
        told.as_ref().err().map(|why| (why.contains("line 2"), why.contains(what.unwrap_or("-")))),
        what.map(|_| (true, true))
    );
}

#[test]
fn rows_of_a_source_are_held_to_all_that_was_said_of_their_alert_before() {
    let mut rows = SourceRows::default();
    let bare = row_of_source(2, |alert| (alert.card_bin, alert.card_last_four) = Default::default());
    let other_card = row_of_source(4, |alert| alert.card_last_four = "7777".to_owned());

    let told = [bare, row_of_source(3, |_| {}), other_card].map(|row| rows.admit(row).is_ok());
    let by_id = |amount: &str| {
        let id = AlertId(Uuid::from_u128(7));
        AlertPatch::of(row_of_source(5, |alert| (alert.id, alert.amount) = (id, amount.parse().ok())).alert)
    };
    let by_ids =
        ["1", "2"].map(|amount| rows.admit(by_id(amount)).map(|_| ()).map_err(|rejected| rejected.error.field));

    assert_eq!(told, [true, true, false]);
    assert_eq!(by_ids, [Ok(()), Err("id".to_owned())]);
}

#[test]
fn an_open_alert_with_an_outcome_does_not_wait_and_does_not_lapse() {
    let answered = with(|alert| {
        alert.outcome = Some(outcome());
        alert.alert_time = Some(now() - TimeDelta::days(9));
    });

    let row = completed(answered, &ResponseWindows::default());

    assert_eq!((row.alert.status, row.alert.expired_at, row.event), (AlertStatus::Open, None, false));
}

#[rstest]
#[case(0, false)]
#[case(1, true)]
fn what_neither_waits_nor_lapsed_is_told_while_its_window_is_open(#[case] micros: i64, #[case] told: bool) {
    let row = completed(
        with(|alert| {
            alert.status = AlertStatus::New;
            alert.deadline = Deadline::At(now() + TimeDelta::microseconds(micros));
        }),
        &ResponseWindows::default(),
    );

    assert_eq!((row.event, row.alert.deadline), (told, Deadline::At(now() + TimeDelta::microseconds(micros))));
}

#[test]
fn a_field_can_be_put_into_a_set_and_taken_out_of_it() {
    let name = |place: usize| Alert::FIELDS[place].name;
    let patch = least();
    let place = (1..Alert::FIELDS.len()).find(|place| !patch.gives(name(*place))).unwrap();

    let more = patch.given.with(place, true);

    assert!(more.contains(place) && !more.with(place, false).contains(place));
    assert_eq!(more.and(patch.given), patch.given);
    assert_eq!(more.with(place, false), patch.given);
}

#[rstest]
#[case("EURO")]
#[case("EU")]
#[case("EU1")]
fn a_currency_is_three_letters(#[case] code: &str) {
    let error = refused(with(|alert| alert.currency = Currency::new(code)));

    assert_eq!(error.field, "currency");
    assert!(error.message.contains("three letters"), "{}", error.message);
}

#[rstest]
#[case(MAX_HOURS_LEFT, true)]
#[case(MAX_HOURS_LEFT + 1, false)]
fn hours_left_have_a_bound_that_is_still_allowed(#[case] hours: i64, #[case] allowed: bool) {
    assert_eq!(with(|alert| alert.deadline = Deadline::HoursLeft(hours)).validate().is_ok(), allowed);
}

#[rstest]
#[case("\u{e9}", 0, true)]
#[case("\u{e9}", 1, false)]
#[case("e", 0, true)]
#[case("e", 1, false)]
fn the_length_of_a_text_is_counted_in_characters(#[case] letter: &str, #[case] more: usize, #[case] allowed: bool) {
    let longest = Alert::FIELDS.iter().find(|field| field.name == "issuer").unwrap().text.longest;

    let checked = with(|alert| alert.issuer = letter.repeat(longest + more)).validate();

    assert_eq!(checked.is_ok(), allowed);
}
