//! Whatever is pressed, clicked, pasted or changed: nothing panics, and what always holds holds.

use avert::{
    console::message::Message,
    domain::{AlertId, AlertStatus, time::Clock},
    service::ServiceError,
};
use chrono::Duration;
use crossterm::event::{Event, MouseButton, MouseEventKind};
use proptest::{prelude::*, sample::select};

use super::{
    fake::{Fate, morning, refunded_sibling},
    rig::{Made, Rig, clock},
};
use crate::support::size::sized;

/// Something that happens.
#[derive(Debug, Clone)]
enum Step {
    Key(&'static str),
    Text(String),
    Paste(String),
    Click(u16, u16),
    Drag(u16, u16),
    Wheel(bool, u16, u16),
    Resize(u16, u16),
    Wait(i64),
    Arrive(usize),
    Leave(usize),
    Fail,
    Down(bool),
    Hold(bool),
}

/// Every key that means something somewhere, but `ctrl-s` and the space on a button: what sends is pressed on purpose
/// only.
const KEYS: [&str; 55] = [
    "V",
    "b",
    "w",
    "alt-n",
    "r",
    "n",
    "i",
    "u",
    "enter",
    "esc",
    "/",
    "f",
    "v",
    "s",
    "y",
    "j",
    "k",
    "down",
    "up",
    "pagedown",
    "pageup",
    "g",
    "G",
    "J",
    "K",
    "ctrl-r",
    "ctrl-f",
    "?",
    "tab",
    "left",
    "right",
    "home",
    "end",
    "backspace",
    "1",
    "5",
    "3",
    "4",
    "x",
    "t",
    "a",
    "q",
    "ctrl-c",
    "ctrl-n",
    "ctrl-p",
    "ctrl-d",
    "ctrl-u",
    "0",
    ":",
    "-",
    "*",
    ".",
    "ctrl-z",
    "z",
    "P",
];

fn steps(sends: bool) -> impl Strategy<Value = Vec<Step>> {
    let mut keys: Vec<&'static str> = KEYS.to_vec();
    if sends {
        keys.extend(["ctrl-s", "space", "ctrl-s"]);
    }
    let step = prop_oneof![
        12 => select(keys).prop_map(Step::Key),
        1 => "\\PC{0,12}".prop_map(Step::Text),
        1 => any::<String>().prop_map(Step::Paste),
        2 => (0u16..210, 0u16..70).prop_map(|(x, y)| Step::Click(x, y)),
        1 => (0u16..210, 0u16..70).prop_map(|(x, y)| Step::Drag(x, y)),
        1 => (any::<bool>(), 0u16..210, 0u16..70).prop_map(|(down, x, y)| Step::Wheel(down, x, y)),
        1 => (0u16..220, 0u16..70).prop_map(|(width, height)| Step::Resize(width, height)),
        2 => (0i64..7_000).prop_map(Step::Wait),
        1 => (0usize..19).prop_map(Step::Arrive),
        1 => (0usize..19).prop_map(Step::Leave),
        1 => Just(Step::Fail),
        1 => any::<bool>().prop_map(Step::Down),
        1 => any::<bool>().prop_map(Step::Hold),
    ];
    proptest::collection::vec(step, 1..60)
}

fn start() -> Rig {
    let now = clock().now();
    let mut alerts = morning(now);
    alerts.push(refunded_sibling(&alerts[1], 1_001, now));
    alerts.push(refunded_sibling(&alerts[2], 1_002, now));
    let rules =
        "small: amount<100 currency:EUR,USD,GBP -> refunded \"below the fee\"\nrest: currency:AED -> not-refunded";
    Made { rules, ..Made::of(alerts) }.start()
}

fn take(rig: &mut Rig, step: Step) {
    match step {
        Step::Key(key) => rig.press(key),
        Step::Text(text) => rig.type_text(&text),
        Step::Paste(text) => rig.update(Message::Input(Event::Paste(text))),
        Step::Click(x, y) => rig.click(x, y),
        Step::Drag(x, y) => {
            rig.mouse(MouseEventKind::Down(MouseButton::Left), x, y);
            rig.mouse(MouseEventKind::Drag(MouseButton::Left), y, x);
        }
        Step::Wheel(down, x, y) => {
            rig.mouse(if down { MouseEventKind::ScrollDown } else { MouseEventKind::ScrollUp }, x, y);
        }
        Step::Resize(width, height) => rig.resize(width, height),
        Step::Wait(milliseconds) => rig.advance(Duration::milliseconds(milliseconds)),
        Step::Arrive(like) => rig.change(|alerts| {
            let mut alert = alerts[like].clone();
            alert.id = AlertId::generate();
            alerts.push(alert);
        }),
        Step::Leave(which) => rig.change(|alerts| alerts[which].status = AlertStatus::Expired),
        Step::Fail => rig.service.next_resolution(Fate::Refused(ServiceError::ProviderFailed("no".to_owned()))),
        Step::Down(down) => rig.service.set_down(down.then(|| ServiceError::Unavailable("busy".to_owned()))),
        Step::Hold(true) => rig.holding = true,
        Step::Hold(false) => rig.release(),
    }
}

/// A refresh or a change never takes the cursor off its alert.
fn only_the_user_moves(step: &Step) -> bool {
    matches!(step, Step::Wait(_) | Step::Arrive(_) | Step::Leave(_) | Step::Down(_) | Step::Fail)
}

fn check(rig: &mut Rig) {
    let listing = &rig.app.queue().listing;
    let rows = listing.rows();
    assert!(rows == 0 || listing.cursor < rows);
    assert!(listing.top <= listing.cursor);
    if let (Some(id), Some(alert)) = (listing.cursor_id, listing.current()) {
        assert_eq!(id, alert.id, "the cursor's alert is the one in its row");
    }
    rig.draw();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: sized(12, 10000), ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics_and_only_the_user_moves_the_cursor(steps in steps(true)) {
        let mut rig = start();
        for step in steps {
            let before = rig.app.queue().listing.cursor_id;
            let listing = rig.app.queue().listing.id;
            let moves = !only_the_user_moves(&step);
            take(&mut rig, step);
            check(&mut rig);
            // Typing that rests may bring another list; within one list the cursor's alert stays.
            if !moves && rig.app.queue().listing.id == listing && let Some(before) = before {
                prop_assert_eq!(rig.app.queue().listing.cursor_id, Some(before));
            }
        }
        // Whatever was sent was sent once for each decision.
        let sent = rig.service.resolutions.lock().unwrap();
        let keys: std::collections::HashSet<_> = sent.iter().map(|(_,
            request)| request.idempotency_key.clone()).collect();
        prop_assert_eq!(keys.len(), sent.len());
        drop(sent);
        prop_assert_eq!(rig.service.answered_twice(), []);
    }

    #[test]
    fn nothing_is_ever_sent_without_the_key_or_the_button_that_sends(steps in steps(false)) {
        let mut rig = start();
        for step in steps.into_iter().filter(|step| !matches!(step, Step::Click(..) | Step::Drag(..) | Step::Text(_))) {
            take(&mut rig, step);
        }
        rig.release();
        rig.advance(Duration::seconds(30));

        prop_assert_eq!(rig.sent(), 0);
    }
}
