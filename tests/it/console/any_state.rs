//! Random keys, pastes, sizes, refreshes and failures from within the screens and dialogs: nothing panics, nothing leaves without the key
//! that sends, no alert is answered twice, a read-only session writes nothing, and the cursor's row stands still.

use avert::console::SessionInfo;
use avert::console::keymap::Keymap;
use avert::console::message::Message;
use avert::domain::time::Clock;
use avert::domain::{AlertId, AlertStatus, Dialect, Environment};
use avert::service::ServiceError;
use chrono::Duration;
use crossterm::event::Event;
use proptest::prelude::*;
use proptest::sample::select;

use super::fake::{Fate, credentials, morning, refunded_sibling};
use super::rig::{Made, Rig, clock};

/// What leads from the Queue to each screen and dialog.
const WAYS: [&str; 45] = [
    "",
    "j r",
    "n",
    "i",
    "i 4",
    "j t",
    "space space space b alt-r",
    "space space b alt-i 3",
    "V j j V",
    "* b",
    "j enter",
    "j enter r",
    "j enter i",
    "j enter x",
    "f",
    "/",
    "ctrl-f",
    "ctrl-f a c m e",
    "v",
    "v s",
    "v end x",
    "c",
    ":",
    "?",
    "y",
    "o",
    "e",
    "a",
    "z",
    "L",
    "L tab",
    "ctrl-g",
    "2",
    "2 s",
    "3",
    "4",
    "5",
    "5 tab",
    "5 tab n",
    "5 tab x",
    "3 f",
    "3 l",
    "3 p",
    "n ctrl-s q",
    "#",
];

/// Keys that mean something in a dialog and stand in no keymap.
const TYPED: [&str; 14] = ["alt-r", "alt-n", "alt-i", "backspace", "delete", "left", "right", "1", "2", "3", "4", "a", "-", "shift-tab"];

/// What sends: `ctrl-s`, `.`, and `space` on a button or a tick; `enter` never.
const SENDS: [&str; 3] = ["ctrl-s", ".", "space"];

/// What is pressed in forms, one after the other: what sends among it, and what never may.
const IN_FORMS: [&str; 12] = [
    "tab",
    "tab enter",
    "tab tab enter",
    "n tab tab enter",
    "tab tab tab enter",
    "alt-i 3",
    "alt-r",
    "n ctrl-s",
    "n ctrl-s k n ctrl-s",
    "k n ctrl-s",
    "tab tab space",
    "k k r ctrl-s",
];

/// Something that happens.
#[derive(Debug, Clone)]
enum Step {
    Key(String),
    Paste(String),
    Resize(u16, u16),
    Wait(i64),
    Arrive(usize),
    Leave(usize),
    Refuse,
    Down(bool),
    /// Answers are held back, and come.
    Hold(bool),
}

fn steps(sends: bool) -> impl Strategy<Value = Vec<Step>> {
    let keymap = Keymap::default();
    let bound = keymap.all().flat_map(|binding| binding.keys.iter().map(ToString::to_string));
    let typed = TYPED.into_iter().chain(SENDS).chain(["enter"]).map(str::to_owned);
    let mut keys: Vec<String> = bound.chain(typed).filter(|key| sends || !SENDS.contains(&key.as_str())).collect();
    keys.sort();
    let in_forms: Vec<&str> = IN_FORMS.into_iter().filter(|keys| sends || !keys.split(' ').any(|key| SENDS.contains(&key))).collect();
    let step = prop_oneof![
        8 => select(keys).prop_map(Step::Key),
        8 => select(in_forms).prop_map(|key| Step::Key(key.to_owned())),
        1 => "\\PC{0,300}".prop_map(Step::Paste),
        1 => (0u16..220, 0u16..70).prop_map(|(width, height)| Step::Resize(width, height)),
        2 => (0i64..9_000).prop_map(Step::Wait),
        1 => (0usize..19).prop_map(Step::Arrive),
        1 => (0usize..19).prop_map(Step::Leave),
        1 => Just(Step::Refuse),
        1 => any::<bool>().prop_map(Step::Down),
        2 => any::<bool>().prop_map(Step::Hold),
    ];
    proptest::collection::vec(step, 1..50)
}

/// Where a console is: on a production, on a sandbox of the older dialect with nothing beyond the interface, on another avert.
fn places() -> impl Strategy<Value = (SessionInfo, bool)> {
    let place =
        |environment, dialect| SessionInfo { name: "acme-eu".to_owned(), environment: Some(environment), dialect, ..Default::default() };
    prop_oneof![
        Just((place(Environment::Production, Dialect::Current), true)),
        Just((SessionInfo { remote: true, ..place(Environment::Sandbox, Dialect::Older) }, false)),
        Just((SessionInfo { remote: true, ..place(Environment::Sandbox, Dialect::Current) }, true)),
    ]
}

fn start(place: SessionInfo, operator: bool, way: &str) -> Rig {
    let now = clock().now();
    let mut alerts = morning(now);
    alerts.push(refunded_sibling(&alerts[1], 1_001, now));
    // Where nothing waits, a decision is with the service at once.
    let grace = std::time::Duration::from_secs(if place.environment == Some(Environment::Production) { 5 } else { 0 });
    let made = Made { place, operator, grace, rules: "small: amount<100 currency:EUR -> refunded \"below the fee\"", ..Made::of(alerts) };
    let mut rig = made.start();
    rig.service.credentials.lock().unwrap().extend(credentials(now));
    rig.press(way);
    rig.advance(Duration::milliseconds(400));
    rig
}

fn take(rig: &mut Rig, step: &Step) {
    match step {
        Step::Key(key) => rig.press(key),
        Step::Paste(text) => rig.update(Message::Input(Event::Paste(text.clone()))),
        Step::Resize(width, height) => rig.resize(*width, *height),
        Step::Wait(milliseconds) => rig.advance(Duration::milliseconds(*milliseconds)),
        Step::Arrive(like) => rig.change(|alerts| {
            let mut alert = alerts[*like].clone();
            alert.id = AlertId::generate();
            alerts.push(alert);
        }),
        Step::Leave(which) => rig.change(|alerts| alerts[*which].status = AlertStatus::Expired),
        Step::Refuse => rig.service.next_resolution(Fate::Refused(ServiceError::ProviderFailed("no".to_owned()))),
        Step::Hold(true) => rig.holding = true,
        Step::Hold(false) => rig.release(),
        Step::Down(down) => rig.service.set_down(down.then(|| ServiceError::Unavailable("busy".to_owned()))),
    }
}

/// The list and the place in it that is looked at: as long as the list and its height are the same, the cursor's line is.
fn cursors_line(rig: &Rig) -> Option<((u64, u16, AlertId), u64)> {
    let queue = rig.app.queue();
    let listing = &queue.listing;
    let list = (listing.id(), queue.regions().rows.height, listing.cursor_id()?);
    Some((list, listing.lead() + listing.lines_between(listing.top(), listing.cursor())))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn from_wherever_one_is_nothing_panics_and_no_alert_is_answered_twice(
        (place, operator) in places(),
        way in select(&WAYS[..]),
        steps in steps(true),
    ) {
        let mut rig = start(place, operator, way);
        for step in &steps {
            take(&mut rig, step);
            rig.draw();
        }
        rig.release();
        rig.service.set_down(None);
        rig.advance(Duration::seconds(30));

        prop_assert_eq!(rig.service.answered_twice(), []);
    }

    #[test]
    fn from_wherever_one_is_nothing_leaves_without_a_key_that_sends(
        (place, operator) in places(),
        way in select(&WAYS[..]).prop_filter("it stages something", |way| !way.contains("ctrl-s")),
        steps in steps(false),
    ) {
        let mut rig = start(place, operator, way);

        steps.iter().for_each(|step| take(&mut rig, step));
        rig.release();
        rig.service.set_down(None);
        rig.advance(Duration::seconds(30));

        prop_assert_eq!(rig.sent(), 0);
    }

    #[test]
    fn a_read_only_session_writes_nothing_whatever_is_pressed(
        (place, operator) in places(),
        way in select(&WAYS[..]),
        steps in steps(true),
    ) {
        let mut rig = start(SessionInfo { read_only: true, ..place }, operator, way);
        let written = |rig: &Rig| {
            let service = &rig.service;
            let credentials = service.credentials.lock().unwrap().clone();
            let endpoints = service.endpoints.lock().unwrap().len();
            let (sent, settled) = (service.sent_webhooks.lock().unwrap().len(), service.settled.lock().unwrap().len());
            (rig.sent(), credentials, endpoints, sent, settled)
        };
        let before = written(&rig);

        for step in &steps {
            take(&mut rig, step);
            rig.draw();
        }
        rig.release();
        rig.service.set_down(None);
        rig.advance(Duration::seconds(30));

        prop_assert_eq!(written(&rig), before);
    }

    #[test]
    fn the_cursors_row_keeps_its_line_while_others_come_and_go(
        (place, operator) in places(),
        down in 0u64..18,
        height in 16u16..50,
        others in proptest::collection::vec((any::<bool>(), 0usize..19, 0i64..40_000), 1..12),
    ) {
        let mut rig = start(place, operator, "");
        rig.resize(120, height);
        (0..down).for_each(|_| rig.press("j"));
        rig.advance(Duration::seconds(1));

        for (arrives, which, wait) in others {
            let before = cursors_line(&rig);
            take(&mut rig, &if arrives { Step::Arrive(which) } else { Step::Leave(which) });
            take(&mut rig, &Step::Wait(wait));
            rig.draw();
            let after = cursors_line(&rig);
            if before.map(|(list, _)| list) == after.map(|(list, _)| list) {
                prop_assert_eq!(before, after);
            }
        }
    }
}
