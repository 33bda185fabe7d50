//! Tests of the provider contract: what every status and every statement means.

use proptest::prelude::*;
use rstest::rstest;
use serde_json::json;

use super::*;
use crate::domain::{
    Alert, AlertId, AlertType, Currency, Provider,
    resolution::{Decision as CurrentDecision, InvalidReason, OlderRefunded, OlderWord, Resolution},
};

fn submission(resolution: Resolution) -> Submission {
    let alert = Alert {
        provider_id: "5F2RE396 &?".to_owned(),
        amount: Some("129.90".parse().unwrap()),
        currency: Currency::new("EUR"),
        ..Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaCustomerDispute)
    };
    Submission::of(AttemptId::generate(), &alert, resolution)
}

fn invalid() -> Submission {
    let decision = CurrentDecision::Invalid(InvalidReason::Duplicate);
    submission(Resolution::Current { decision, comments: "double of \"A\"".to_owned() })
}

fn answer(status: u16, body: &str) -> Result<GatewayAnswer, Unanswered> {
    Ok(GatewayAnswer { status, body: body.to_owned() })
}

fn stated(state: &str) -> String {
    json!({"state": state, "detail": "the case is closed"}).to_string()
}

#[test]
fn a_decision_of_the_current_dialect_is_sent_with_everything_that_a_network_asks_for() {
    let submission = invalid();

    let body: Value = serde_json::from_slice(&decision(&submission)).unwrap();

    let expected = json!({
        "attemptId": submission.attempt.to_string(),
        "alertId": submission.alert.to_string(),
        "provider": "ETHOCA",
        "providerId": "5F2RE396 &?",
        "type": "ETHOCA_CUSTOMER_DISPUTE",
        "amount": "129.90",
        "currency": "EUR",
        "dialect": "current",
        "refunded": "INVALID",
        "resolution": "NOT_REFUNDED_DUPLICATE",
        "amountStopped": null,
        "comments": "double of \"A\"",
    });
    assert_eq!(body, expected);
}

#[test]
fn a_decision_of_the_older_dialect_keeps_its_words_and_its_exact_amount() {
    let resolution = Resolution::Older {
        word: OlderWord::PartiallyStopped,
        refunded: OlderRefunded::NotSettled,
        amount_stopped: Some("100.00".parse().unwrap()),
        comments: String::new(),
    };

    let body: Value = serde_json::from_slice(&decision(&submission(resolution))).unwrap();

    let told =
        ["dialect", "refunded", "resolution", "amountStopped", "comments"].map(|field| body[field].as_str().unwrap());
    assert_eq!(told, ["older", "NOT SETTLED", "PARTIALLY_STOPPED", "100.00", ""]);
}

#[test]
fn a_look_up_names_the_attempt_and_the_alert() {
    let submission = invalid();

    let address = look_up_address(&"https://gateway.example/ethoca".parse().unwrap(), &submission);

    let (attempt, alert) = (submission.attempt, submission.alert);
    let expected = format!(
        "https://gateway.example/ethoca/decisions/{attempt}?provider=ETHOCA&providerId=5F2RE396+%26%3F&alertId={alert}"
    );
    assert_eq!(address, expected);
}

#[rstest]
#[case(200, "applied")]
#[case(201, "applied")]
fn a_yes_is_said_in_so_many_words(#[case] status: u16, #[case] state: &str) {
    assert_eq!(submitted(answer(status, &stated(state)), AttemptId::generate()), SubmitResult::Accepted);
}

#[rstest]
#[case("")]
#[case("OK")]
#[case("<html>Welcome</html>")]
#[case("{}")]
#[case(r#"{"state": true}"#)]
#[case(r#"{"state": "APPLIED"}"#)]
#[case(r#"{"state": "not_known"}"#)]
#[case(r#"{"state": "applied", "attemptId": "00000000-0000-0000-0000-000000000000"}"#)]
fn a_good_status_without_those_words_is_a_doubt(#[case] body: &str) {
    let said = submitted(answer(200, body), AttemptId::generate());

    assert!(matches!(said, SubmitResult::Indeterminate(Cause::Unreadable(_))), "{said:?}");
}

#[test]
fn an_answer_may_name_the_attempt_that_it_is_about() {
    let attempt = AttemptId::generate();
    let body = json!({"state": "applied", "attemptId": attempt.to_string().to_uppercase()}).to_string();

    assert_eq!(submitted(answer(200, &body), attempt), SubmitResult::Accepted);
}

/// Statements that nobody can mean.
const UNBELIEVABLE: [&str; 14] = [
    r#"{"state": "applied", "attemptId": "00000000-0000-0000-0000-000000000000"}"#,
    r#"{"state": "refused", "attemptId": "00000000-0000-0000-0000-000000000000"}"#,
    r#"{"state": "not_known", "attemptId": ""}"#,
    r#"{"state": "applied", "attemptId": 4711}"#,
    r#"{"state": "applied", "attemptId": null}"#,
    r#"{"state": "applied", "attemptId": ["00000000-0000-0000-0000-000000000000"]}"#,
    r#"{"state": ["applied"]}"#,
    r#"{"state": true}"#,
    r#"{"state": null}"#,
    r#"{"state": "applied", "detail": 4711}"#,
    r#"{"state": "refused", "state": "applied"}"#,
    r#"{"state": "applied", "state": "applied"}"#,
    r#"{"state": "refused", "detail": "case 1", "detail": "case 2"}"#,
    r#"{"state": "applied", "attemptId": "00000000-0000-0000-0000-000000000000", "attemptId": "ATTEMPT"}"#,
];

#[test]
fn a_statement_about_another_attempt_or_of_wrong_types_or_twice_is_a_doubt_whatever_its_status() {
    let attempt = AttemptId::generate();
    for body in UNBELIEVABLE.map(|body| body.replace("ATTEMPT", &attempt.to_string())) {
        for status in [200, 201, 400, 404, 422] {
            let said = submitted(answer(status, &body), attempt);
            assert!(matches!(said, SubmitResult::Indeterminate(Cause::Unreadable(_))), "{status} {body}: {said:?}");
        }
        for status in [200, 404] {
            let found = looked_up(answer(status, &body), attempt);
            assert!(
                matches!(&found, LookUp::Failed(why) if why.starts_with("its answer could not be read")),
                "{status} {body}: {found:?}"
            );
        }
    }
}

#[test]
fn what_a_gateway_adds_to_a_statement_changes_nothing() {
    let body = r#"{"detail": null, "state": "applied", "case": {"state": "refused"}, "tries": 2}"#;

    assert_eq!(submitted(answer(200, body), AttemptId::generate()), SubmitResult::Accepted);
}

#[rstest]
#[case(200, "refused", "the case is closed")]
#[case(422, "refused", "the case is closed")]
#[case(200, "answered_otherwise", "the network holds another answer to this alert: the case is closed")]
#[case(400, "answered_otherwise", "the network holds another answer to this alert: the case is closed")]
fn a_refusal_of_the_decision_says_so(#[case] status: u16, #[case] state: &str, #[case] why: &str) {
    let said = submitted(answer(status, &stated(state)), AttemptId::generate());

    assert_eq!(said, SubmitResult::Declined(Declined::Refused(why.to_owned())));
}

#[rstest]
#[case(400, r#"{"detail": "amount is missing"}"#, "it answered 400: amount is missing")]
#[case(401, "", "it does not accept avert's credential (401)")]
#[case(403, r#"{"error": "invalid_scope"}"#, "it does not allow this with avert's credential (403): invalid_scope")]
#[case(404, "<html><body>nginx</body></html>", "it does not know the path or the alert (404)")]
#[case(415, "JSON only", "it answered 415: JSON only")]
#[case(429, r#"{"message": "slow down"}"#, "it gets too many calls (429): slow down")]
#[case(400, r#"{"error": "a", "error": "b"}"#, "it answered 400: b")]
#[case(400, r#"{"state": "rejected"}"#, "it answered 400")]
#[case(422, "no \u{1b}[31mcard 4111111111111111", "it answered 422: no [31mcard 411111******1111")]
fn any_other_4xx_turns_the_call_away(#[case] status: u16, #[case] body: &str, #[case] why: &str) {
    let said = submitted(answer(status, body), AttemptId::generate());

    assert_eq!(said, SubmitResult::Declined(Declined::TurnedAway(why.to_owned())));
}

#[rstest]
#[case(202, r#"{"state": "pending"}"#, Cause::Undecided)]
#[case(408, "", Cause::ServerError(408))]
#[case(409, r#"{"state": "applied"}"#, Cause::AlreadyActioned)]
#[case(500, r#"{"state": "refused"}"#, Cause::ServerError(500))]
#[case(503, "", Cause::ServerError(503))]
#[case(307, r#"{"state": "applied"}"#, Cause::Unreadable("a redirect (307), and redirects are not \
    followed".to_owned()))]
#[case(400, r#"{"state": "applied"}"#, Cause::Unreadable("it contradicts its own status, 400".to_owned()))]
#[case(999, "", Cause::Unreadable("the status 999 has no meaning here".to_owned()))]
fn what_is_neither_yes_nor_no_is_a_doubt(#[case] status: u16, #[case] body: &str, #[case] cause: Cause) {
    assert_eq!(submitted(answer(status, body), AttemptId::generate()), SubmitResult::Indeterminate(cause));
}

#[rstest]
#[case(Unanswered::NotSent("no connection".to_owned()),
    SubmitResult::Declined(Declined::NotSent("no connection".to_owned())))]
#[case(Unanswered::Lost(Cause::Broken("it broke".to_owned())),
    SubmitResult::Indeterminate(Cause::Broken("it broke".to_owned())))]
#[case(Unanswered::TooLarge(65_536), SubmitResult::Indeterminate(Cause::Unreadable("it is over 64 KiB".to_owned())))]
fn only_what_was_not_sent_is_a_no(#[case] no: Unanswered, #[case] said: SubmitResult) {
    assert_eq!(submitted(Err(no), AttemptId::generate()), said);
}

#[rstest]
#[case(200, "applied", LookUp::Applied)]
#[case(200, "refused", LookUp::Refused("the case is closed".to_owned()))]
#[case(200, "answered_otherwise", LookUp::AnsweredOtherwise("the case is closed".to_owned()))]
#[case(200, "pending", LookUp::NotTold("it has received the answer, but not applied it yet".to_owned()))]
#[case(200, "not_known", LookUp::NotKnown)]
#[case(404, "not_known", LookUp::NotKnown)]
fn a_look_up_says_what_became_of_a_decision(#[case] status: u16, #[case] state: &str, #[case] found: LookUp) {
    assert_eq!(looked_up(answer(status, &stated(state)), AttemptId::generate()), found);
}

#[rstest]
#[case(404, "", false)]
#[case(404, "<html>no such page</html>", false)]
#[case(401, r#"{"state": "not_known"}"#, false)]
#[case(429, "", false)]
#[case(302, r#"{"state": "not_known"}"#, false)]
#[case(200, "", true)]
#[case(200, r#"{"state": "gone"}"#, true)]
#[case(204, "", true)]
#[case(500, r#"{"state": "not_known"}"#, true)]
#[case(408, r#"{"state": "not_known"}"#, true)]
fn nothing_else_says_that_a_decision_is_not_known(#[case] status: u16, #[case] body: &str, #[case] ill: bool) {
    let found = looked_up(answer(status, body), AttemptId::generate());

    assert_eq!(matches!(found, LookUp::Failed(_)), ill, "{found:?}");
    assert_eq!(matches!(found, LookUp::NotTold(_)), !ill, "{found:?}");
}

proptest! {
    #[test]
    fn whatever_a_gateway_says_its_words_are_one_short_harmless_line(status in 400_u16..500, body in any::<String>()) {
        let result = submitted(answer(status, &body), AttemptId::generate());
        if let SubmitResult::Declined(Declined::TurnedAway(words) | Declined::Refused(words)) = result {
            prop_assert!(words.chars().count() <= 300 && crate::domain::sanitize::line(&words) == words, "{words:?}");
        }
    }
}

#[test]
fn the_example_of_the_document_is_what_is_sent() {
    let document = include_str!("../../../../../assets/docs/provider-contract.md");
    let (_, example) = document.split_once("Content-Type: application/json\n\n").unwrap();
    let example: Value = serde_json::from_str(example.split_once("```").unwrap().0).unwrap();

    let sent: Value = serde_json::from_slice(&decision(&invalid())).unwrap();

    let fields = |json: &Value| json.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(fields(&example), fields(&sent));
    for state in ["applied", "refused", "answered_otherwise", "pending", "not_known"] {
        assert!(document.contains(&format!("| `{state}` |")), "{state}");
        assert!(statement(&stated(state), AttemptId::generate()).is_ok());
    }
}

#[test]
fn the_example_of_a_page_is_one() {
    let document = include_str!("../../../../../assets/docs/provider-contract.md");
    let (_, example) = document.split_once("```json\n{\n  \"data\"").unwrap();
    let example = format!("{{\"data\"{}", example.split_once("```").unwrap().0);

    let page = page(answer(200, &example)).unwrap();

    assert_eq!((page.rows.len(), page.cursor.as_deref()), (1, Some("2026-03-10T11:58:00Z/4711")));
    assert!(page.rows[0].contains("\"providerId\": \"5F2RE3960S9ASDC2F026BF16\""));
}
