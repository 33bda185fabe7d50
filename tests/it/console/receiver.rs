//! The local receiver on the Webhooks screen: the form that starts it, what it got, and what of that is sent again.

use avert::console::effects::Effect;
use avert::console::listener::{ListenRequest, ReplayRequest, RequestFailure, RequestPart};
use avert::console::message::Message;
use avert::domain::signing::SignatureFault;
use avert::domain::time::Clock;
use avert::domain::webhook::received::{Forwarding, Receipt, ReceivedEvent, ReplayedEvent, Subject};
use avert::domain::{AlertId, EndpointAuth, Secret};
use chrono::Duration;
use rstest::rstest;
use uuid::Uuid;

use super::rig::{Made, Rig, clock};
use super::webhooks::{has, line, on};

/// What the local receiver got, as it is told.
pub fn heard(number: u64, receipt: Receipt, forwarding: Forwarding) -> Message {
    let (event, alert) = (Some("alert.created".to_owned()), Some(AlertId(Uuid::from_u128(12)).to_string()));
    let subject = if receipt == Receipt::WrongCredential { Subject::default() } else { Subject { event, alert } };
    let at = clock().now();
    Message::Heard(ReceivedEvent {
        number,
        at,
        subject,
        webhook_id: Some(format!("e-{number}")),
        receipt,
        verified: None,
        forwarding,
        recorded: None,
    })
}

/// A session at a plain deployment whose listener has started.
fn listening(size: (u16, u16)) -> Rig {
    let mut rig = Made { operator: false, size, ..Made::default() }.start();
    rig.press("3 l");
    rig.type_text("shop:s3cret");
    rig.press("enter");
    rig.update(Message::ListenStarted(Ok("127.0.0.1:9000".parse().unwrap())));
    rig
}

#[test]
fn the_receiver_has_its_pictures() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut rig = Made { operator: false, size: (width, height), ..Made::default() }.start();
        rig.press("3 l");
        rig.type_text("shop:s3cret");
        insta::assert_snapshot!(format!("listen-form@{width}x{height}"), rig.screen());
        let mut rig = listening((width, height));
        insta::assert_snapshot!(format!("listening@{width}x{height}"), rig.screen());
        let failed = Forwarding::Failed("no connection: connection refused".to_owned());
        for message in [
            heard(1, Receipt::Accepted, Forwarding::Answered(200)),
            heard(2, Receipt::WrongCredential, Forwarding::Nowhere),
            heard(3, Receipt::Accepted, failed),
            heard(4, Receipt::NotVerified(SignatureFault::Wrong), Forwarding::Nowhere),
            heard(5, Receipt::Accepted, Forwarding::OnItsWay),
        ] {
            rig.update(message);
        }
        insta::assert_snapshot!(format!("received@{width}x{height}"), rig.screen());
        let mut rig = on(Made { size: (width, height), ..Made::default() });
        rig.update(Message::ListenStarted(Ok("127.0.0.1:9000".parse().unwrap())));
        rig.update(heard(1, Receipt::Accepted, Forwarding::Nowhere));
        insta::assert_snapshot!(format!("received-beside@{width}x{height}"), rig.screen());
    }
}

#[test]
fn the_form_asks_for_a_credential_which_is_never_shown_and_starts_the_listener() {
    let mut rig = Made { operator: false, ..Made::default() }.start();

    rig.press("3 l enter");
    assert!(has(&mut rig, "USER:PASS is needed"), "{}", rig.screen());
    rig.type_text("shop:s3cret");
    assert!(!has(&mut rig, "s3cret") && has(&mut rig, "•••••••••••"), "{}", rig.screen());
    rig.press("tab tab tab");
    rig.type_text("kept.ndjson");
    rig.press("enter");

    let asked = rig.done.iter().find_map(|effect| match effect {
        Effect::StartListening(request) => Some((**request).clone()),
        _ => None,
    });
    let auth = EndpointAuth::Basic { username: "shop".to_owned(), password: Secret::new("s3cret") };
    let record = Some("kept.ndjson".into());
    assert_eq!(
        asked,
        Some(ListenRequest { address: "127.0.0.1:9000".to_owned(), auth, secret: None, forward: None, record })
    );
    assert!(!format!("{:?}", rig.done).contains("s3cret"));
}

#[test]
fn a_header_of_the_receivers_own_can_be_asked_for() {
    let mut rig = Made { operator: false, ..Made::default() }.start();

    rig.press("3 l up space tab");
    rig.type_text("shop");
    rig.press("enter");
    assert!(has(&mut rig, "Name: value is needed"), "{}", rig.screen());
    rig.type_text(": s3cret");
    rig.press("enter");

    let auth = EndpointAuth::Header { name: "shop".to_owned(), value: Secret::new("s3cret") };
    assert!(rig.done.iter().any(|effect| matches!(effect, Effect::StartListening(request) if request.auth == auth)));
}

#[test]
fn what_comes_is_shown_at_once_with_what_became_of_it() {
    let mut rig = listening((120, 40));
    assert!(
        has(&mut rig, "listening at http://127.0.0.1:9000") && has(&mut rig, "public https address"),
        "{}",
        rig.screen()
    );

    rig.update(heard(1, Receipt::Accepted, Forwarding::OnItsWay));
    assert!(line(&mut rig, "✓ taken").contains("forwarding…"), "{}", rig.screen());
    rig.update(heard(1, Receipt::Accepted, Forwarding::Answered(200)));
    rig.update(heard(2, Receipt::WrongCredential, Forwarding::Nowhere));

    assert!(line(&mut rig, "✓ taken").contains("forwarded, 200"), "{}", rig.screen());
    assert!(has(&mut rig, "! wrong credential") && has(&mut rig, "1 taken, 1 refused"), "{}", rig.screen());
}

#[test]
fn an_accepted_event_refreshes_the_queue_at_once_and_nothing_else_does() {
    let mut rig = listening((120, 40));
    let asked = |rig: &Rig| rig.service.lists.lock().unwrap().len();
    let before = asked(&rig);

    rig.update(heard(1, Receipt::WrongCredential, Forwarding::Nowhere));
    rig.update(heard(2, Receipt::NotVerified(SignatureFault::Wrong), Forwarding::Nowhere));
    assert_eq!(asked(&rig), before);
    rig.update(heard(3, Receipt::Accepted, Forwarding::OnItsWay));
    rig.advance(Duration::milliseconds(250));
    let after = asked(&rig);
    rig.update(heard(3, Receipt::Accepted, Forwarding::Answered(200)));
    rig.advance(Duration::milliseconds(250));

    assert!(after > before, "{after}");
    assert_eq!(asked(&rig), after, "the same event told once more is nothing new");
}

#[test]
fn l_stops_the_listener_and_what_came_stays() {
    let mut rig = listening((120, 40));
    rig.update(heard(1, Receipt::Accepted, Forwarding::Nowhere));

    rig.press("l");
    assert!(has(&mut rig, "being stopped"), "{}", rig.screen());
    rig.update(Message::ListenStopped);

    assert!(rig.done.contains(&Effect::StopListening));
    assert!(has(&mut rig, "not listening") && has(&mut rig, "✓ taken"), "{}", rig.screen());
}

/// What was asked to listen last.
fn listen_request(rig: &Rig) -> ListenRequest {
    let asked = rig.done.iter().rev().find_map(|effect| match effect {
        Effect::StartListening(request) => Some((**request).clone()),
        _ => None,
    });
    asked.expect("a listener was asked for")
}

/// What was asked to be sent again, in order.
fn replays(rig: &Rig) -> Vec<ReplayRequest> {
    let asked = rig.done.iter().filter_map(|effect| match effect {
        Effect::Replay(request) => Some((**request).clone()),
        _ => None,
    });
    asked.collect()
}

fn failure(part: RequestPart, words: &str) -> RequestFailure {
    RequestFailure { part, words: words.to_owned() }
}

#[rstest]
#[case(RequestPart::Address, "Where", "cannot answer at 127.0.0.1:9000: address in use")]
#[case(RequestPart::Secret, "Signed with", "the secret is too short")]
#[case(RequestPart::Target, "Forward to", "the address to forward to has no host")]
#[case(RequestPart::File, "Record to", "kept.ndjson: another listener records into it")]
fn a_form_that_fails_comes_back_with_what_was_typed_and_the_error_at_its_field(
    #[case] part: RequestPart,
    #[case] label: &str,
    #[case] words: &str,
) {
    let mut rig = Made { operator: false, ..Made::default() }.start();
    rig.press("3 l up space tab");
    rig.type_text("X-Key: s3cret");
    rig.press("tab");
    rig.type_text("whsec_c2VjcmV0");
    rig.press("tab");
    rig.type_text("http://127.0.0.1:9100/in");
    rig.press("tab");
    rig.type_text("kept.ndjson");
    rig.press("enter");
    let first = listen_request(&rig);

    rig.update(Message::ListenStarted(Err(failure(part, words))));

    let screen = rig.screen();
    let lines: Vec<&str> = screen.lines().collect();
    let at = lines.iter().position(|line| line.contains(&format!("│  {label} "))).unwrap();
    assert!(lines[at + 1].contains(&format!("✗ {words}")), "{screen}");
    assert!(!screen.contains("s3cret"), "{screen}");
    rig.press("enter");
    assert_eq!(
        (rig.done.iter().filter(|effect| matches!(effect, Effect::StartListening(_))).count(), listen_request(&rig)),
        (2, first)
    );
}

#[test]
fn the_form_opens_again_as_it_was_filled_in_last() {
    let mut rig = listening((120, 40));
    rig.press("l");
    rig.update(Message::ListenStopped);

    rig.press("l enter");

    let auth = EndpointAuth::Basic { username: "shop".to_owned(), password: Secret::new("s3cret") };
    assert_eq!(
        (
            rig.done.iter().filter(|effect| matches!(effect, Effect::StartListening(_))).count(),
            listen_request(&rig).auth
        ),
        (2, auth)
    );
}

/// A session whose listener records and forwards, and has got an event that begins at byte 512 of its recording.
fn recording(size: (u16, u16)) -> Rig {
    let mut rig = Made { operator: false, size, ..Made::default() }.start();
    rig.press("3 l");
    rig.type_text("shop:s3cret");
    rig.press("tab tab");
    rig.type_text("http://127.0.0.1:9100/in");
    rig.press("tab");
    rig.type_text("kept.ndjson");
    rig.press("enter");
    rig.update(Message::ListenStarted(Ok("127.0.0.1:9000".parse().unwrap())));
    let Message::Heard(event) = heard(1, Receipt::Accepted, Forwarding::Answered(503)) else { unreachable!() };
    rig.update(Message::Heard(ReceivedEvent { recorded: Some(512), ..event }));
    rig
}

fn replayed(result: Result<u16, String>) -> Message {
    let Message::Heard(ReceivedEvent { at, subject, webhook_id, .. }) =
        heard(1, Receipt::Accepted, Forwarding::Nowhere)
    else {
        unreachable!()
    };
    Message::Replayed(ReplayedEvent { at, subject, webhook_id, result })
}

#[test]
fn a_replay_has_its_pictures() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut rig = recording((width, height));
        rig.press("p");
        insta::assert_snapshot!(format!("replay-form@{width}x{height}"), rig.screen());
        rig.press("left enter");
        rig.update(replayed(Ok(200)));
        rig.update(replayed(Err("no connection: connection refused".to_owned())));
        insta::assert_snapshot!(format!("replaying@{width}x{height}"), rig.screen());
        rig.update(Message::ReplayEnded(Err(failure(
            RequestPart::File,
            "cannot be read: No such file or directory (os error 2)",
        ))));
        insta::assert_snapshot!(format!("replay-refused@{width}x{height}"), rig.screen());
    }
}

#[test]
fn the_event_under_the_cursor_is_sent_again_to_where_it_was_to_be_forwarded() {
    let mut rig = recording((120, 40));

    rig.press("p enter");

    let [ReplayRequest { file, only, to, auth, secret }] = &replays(&rig)[..] else { panic!("one replay") };
    assert_eq!((file.to_str(), *only, to.reveal()), (Some("kept.ndjson"), Some(512), "http://127.0.0.1:9100/in"));
    assert_eq!((auth, secret), (&None, &None), "the credential of the deployment is none of that address");
}

#[test]
fn all_of_a_typed_recording_goes_to_a_typed_address_with_its_credential_and_signed_anew() {
    let mut rig = Made { operator: false, ..Made::default() }.start();

    rig.press("3 p");
    rig.type_text("old.ndjson");
    rig.press("tab tab");
    rig.type_text("http://127.0.0.1:9200/in?token=hidden");
    rig.press("tab right right tab");
    rig.type_text("X-Key: s3cret");
    rig.press("tab");
    rig.type_text("whsec_c2VjcmV0");
    assert!(!has(&mut rig, "s3cret") && !has(&mut rig, "whsec_c2"), "{}", rig.screen());
    rig.press("enter");

    let [request] = &replays(&rig)[..] else { panic!("one replay") };
    assert_eq!(
        (request.file.to_str(), request.only, request.to.reveal()),
        (Some("old.ndjson"), None, "http://127.0.0.1:9200/in?token=hidden")
    );
    assert_eq!(request.auth, Some(EndpointAuth::Header { name: "X-Key".to_owned(), value: Secret::new("s3cret") }));
    assert_eq!(request.secret, Some(Secret::new("whsec_c2VjcmV0")));
    assert!(
        has(&mut rig, "Sending again to http://127.0.0.1:9200/in?") && !has(&mut rig, "hidden"),
        "{}",
        rig.screen()
    );
    assert!(!format!("{:?}", rig.done).contains("s3cret"));
}

#[rstest]
#[case::no_file("3 p enter", "", "The file is missing")]
#[case::no_address("3 p x tab tab enter", "", "The address is missing")]
#[case::plain_http("3 p x tab tab", "http://shop.example/", "The address is plain http beyond this machine")]
#[case::no_kind("3 p x tab tab", "http://127.0.0.1/\ta\tb:c", "say which the credential is")]
fn what_cannot_be_sent_is_said_at_its_field_and_nothing_is_sent(
    #[case] keys: &str,
    #[case] text: &str,
    #[case] words: &str,
) {
    let mut rig = Made { operator: false, ..Made::default() }.start();

    rig.press(keys);
    for (index, part) in text.split('\t').enumerate() {
        if index > 0 {
            rig.press("tab");
        }
        if part != "a" {
            rig.type_text(part);
        }
    }
    if !text.is_empty() {
        rig.press("enter");
    }

    assert!(has(&mut rig, words), "{}", rig.screen());
    assert_eq!(replays(&rig), []);
}

#[test]
fn an_event_of_one_recording_is_not_looked_for_in_another() {
    let mut rig = recording((120, 40));

    rig.press("p up up ctrl-u");
    rig.type_text("other.ndjson");
    rig.press("enter");
    assert!(has(&mut rig, "is in kept.ndjson") && replays(&rig).is_empty(), "{}", rig.screen());
    rig.press("tab left enter");

    assert_eq!(replays(&rig)[0].only, None);
}

#[rstest]
#[case(&[Ok(200)], "1 delivery was sent again to http://127.0.0.1:9100/in and taken.")]
#[case(&[Ok(200), Ok(204)], "2 deliveries were sent again to http://127.0.0.1:9100/in, and all were taken.")]
#[case(&[Ok(200), Ok(500), Err("no connection".to_owned())], "3 deliveries were sent again to \
    http://127.0.0.1:9100/in; 2 were not taken.")]
#[case(&[], "The recording holds nothing")]
fn each_result_is_a_row_and_the_end_says_how_many_were_taken(
    #[case] results: &[Result<u16, String>],
    #[case] words: &str,
) {
    let mut rig = recording((120, 40));
    rig.press("p left enter");

    for result in results {
        rig.update(replayed(result.clone()));
        let shown = match result {
            Ok(status @ 200..300) => format!("taken, {status}"),
            Ok(status) => format!("not taken, {status}"),
            Err(why) => format!("not taken: {why}"),
        };
        assert!(line(&mut rig, "sent again  ").contains(&shown), "{}", rig.screen());
    }
    rig.update(Message::ReplayEnded(Ok(())));

    assert!(has(&mut rig, words) && !has(&mut rig, "stops it   "), "{}", rig.screen());
    assert_eq!(rig.screen().matches("→ sent again").count(), results.len());
    assert!(has(&mut rig, "1 taken"), "what came is counted by itself: {}", rig.screen());
}

#[test]
fn p_stops_a_replay_and_what_was_sent_until_then_is_said() {
    let mut rig = recording((120, 40));
    rig.press("p left enter");
    rig.update(replayed(Ok(200)));

    rig.press("p");
    assert!(has(&mut rig, "is being stopped") && rig.done.contains(&Effect::StopReplay), "{}", rig.screen());
    rig.update(replayed(Ok(200)));
    rig.update(Message::ReplayEnded(Ok(())));

    assert!(has(&mut rig, "Stopped: 2 deliveries were sent again"), "{}", rig.screen());
    assert_eq!(replays(&rig).len(), 1);
}

#[test]
fn a_replay_that_sends_nothing_brings_its_form_back_and_says_why_at_the_field() {
    let mut rig = recording((120, 40));
    rig.press("p enter");

    rig.update(Message::ReplayEnded(Err(failure(RequestPart::File, "cannot be read: No such file"))));

    assert!(has(&mut rig, "✗ cannot be read: No such file"), "{}", rig.screen());
    rig.press("enter");
    let [first, second] = &replays(&rig)[..] else { panic!("two replays") };
    assert_eq!(first, second);
}

#[test]
fn a_goes_to_the_alert_of_an_event() {
    let mut rig = listening((120, 40));
    rig.update(heard(1, Receipt::Accepted, Forwarding::Nowhere));

    rig.press("a");

    assert!(has(&mut rig, "Open, by deadline"), "{}", rig.screen());
    assert_eq!(rig.current().0.as_u128(), 12);
}

#[test]
fn while_it_listens_the_footer_says_that_the_key_stops_it() {
    let mut rig = listening((200, 60));

    let footer = line(&mut rig, "? help");

    assert!(footer.contains("l stop listening"), "{footer}");
}
