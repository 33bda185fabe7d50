//! Random keys, texts, clicks, pastes, sizes, refreshes and failures from within the screens and dialogs: nothing
//! panics, nothing leaves without the key that sends, no alert is answered twice, a read-only session writes nothing,
//! and the cursor's row stands still.

use avert::{
    console::{SessionInfo, keymap::Keymap, message::Message},
    domain::{Alert, AlertId, AlertStatus, Dialect, Environment, Provider, time::Clock},
    service::ServiceError,
};
use chrono::Duration;
use crossterm::event::{Event, MouseButton, MouseEventKind};
use proptest::{prelude::*, sample::select};

use super::{
    fake::{Fate, credentials, morning, refunded_sibling},
    rig::{Made, Rig, clock},
};
use crate::support::size::sized;

/// What leads from the Queue to each screen and dialog.
const WAYS: [&str; 40] = [
    "",
    "j r",
    "n",
    "i",
    "i 4",
    "j t",
    "space space space r",
    "space space i 3",
    "V j j V",
    "* n",
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
    ":",
    "?",
    "y",
    "o",
    "e",
    "a",
    "z",
    "2",
    "3",
    "4",
    "5",
    "5 tab",
    "5 tab n",
    "5 tab x",
    "3 f",
    "n ctrl-s q",
    "5 tab enter",
    "enter",
    "enter x",
];

/// The same where something was decided before, whose first decision was refused: what is pressed for that, and what
/// leads on from there.
const WAYS_AFTER: [(&str, &str); 18] = [
    // A decision that failed: in the list and in Activity.
    ("n ctrl-s", "k"),
    ("n ctrl-s", "k n"),
    ("n ctrl-s", "4"),
    ("n ctrl-s", "4 t"),
    ("n ctrl-s", "4 tab"),
    ("n ctrl-s", "4 enter"),
    // Several: on the page of their run, its export, what failed again, and the run in Activity.
    (RUN, ""),
    (RUN, "r"),
    (RUN, "e"),
    (RUN, "enter"),
    (RUN, "esc"),
    (RUN, "esc esc b"),
    (RUN, "4 tab"),
    (RUN, "4 tab enter"),
    (RUN, "x"),
    // A case whose refund was refused: its page, and the question about what was to follow.
    (CASE, ""),
    (CASE, "esc ctrl-r"),
    (CASE, "esc 4"),
];

/// Answers the last alerts of the list together, in either dialect.
const RUN: &str = "G k k V j j V b 9 n ctrl-s";

/// Refunds the first alert, whose payment another network has alerted too.
const CASE: &str = "enter r ctrl-s";

/// How one comes to where the random steps begin.
#[derive(Debug, Clone, Copy)]
struct Way {
    /// What is decided before.
    decided: &'static str,
    keys: &'static str,
}

fn ways() -> impl Strategy<Value = Way> {
    let after = WAYS_AFTER.map(|(decided, keys)| Way { decided, keys });
    prop_oneof![1 => select(&WAYS[..]).prop_map(|keys| Way { decided: "", keys }), 1 => select(after.to_vec())]
}

/// Keys that mean something in a dialog and stand in no keymap.
const TYPED: [&str; 14] =
    ["alt-r", "alt-n", "alt-i", "backspace", "delete", "left", "right", "1", "2", "3", "4", "a", "-", "shift-tab"];

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
    Text(String),
    Paste(String),
    /// On one of the words that are seen.
    Click(usize),
    /// The same, let go so many rows further down, or at the top again.
    Drag(usize, u16),
    Wheel(bool, u16, u16),
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
    let in_forms: Vec<&str> =
        IN_FORMS.into_iter().filter(|keys| sends || !keys.split(' ').any(|key| SENDS.contains(&key))).collect();
    // A click may be on a button, which a press that is let go in another row never is; and what is typed may press
    // one.
    let click = move |word| if sends { Step::Click(word) } else { Step::Drag(word, 7) };
    let presses = move |c: &char| sends || ![' ', '.'].contains(c);
    let step = prop_oneof![
        8 => select(keys).prop_map(Step::Key),
        8 => select(in_forms).prop_map(|key| Step::Key(key.to_owned())),
        1 => "\\PC{0,12}".prop_map(move |text| Step::Text(text.chars().filter(presses).collect())),
        1 => "\\PC{0,300}".prop_map(Step::Paste),
        4 => (0usize..10_000).prop_map(click),
        1 => (0usize..10_000, 1u16..15).prop_map(|(word, rows)| Step::Drag(word, rows)),
        1 => (any::<bool>(), 0u16..120, 0u16..40).prop_map(|(down, x, y)| Step::Wheel(down, x, y)),
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

/// Where a console is: on a production, on a sandbox of the older dialect with nothing beyond the interface, on another
/// avert.
fn places() -> impl Strategy<Value = (SessionInfo, bool)> {
    let place = |environment, dialect| SessionInfo {
        name: "acme-eu".to_owned(),
        environment: Some(environment),
        dialect,
        ..Default::default()
    };
    prop_oneof![
        Just((place(Environment::Production, Dialect::Current), true)),
        Just((SessionInfo { remote: true, ..place(Environment::Sandbox, Dialect::Older) }, false)),
        Just((SessionInfo { remote: true, ..place(Environment::Sandbox, Dialect::Current) }, true)),
    ]
}

fn start(place: SessionInfo, operator: bool, way: Way) -> Rig {
    let now = clock().now();
    let mut alerts = morning(now);
    alerts.push(refunded_sibling(&alerts[1], 1_001, now));
    let (id, provider_id) = (AlertId(uuid::Uuid::from_u128(2_001)), "SIB2001".to_owned());
    alerts.push(Alert { id, provider_id, provider: Provider::Verifi, ..alerts[0].clone() });
    // Where nothing waits, a decision is with the service at once.
    let undo_window =
        std::time::Duration::from_secs(if place.environment == Some(Environment::Production) { 5 } else { 0 });
    let made = Made {
        place,
        operator,
        undo_window,
        rules: "small: amount<100 currency:EUR -> refunded \"below the fee\"",
        ..Made::of(alerts)
    };
    let mut rig = made.start();
    rig.service.credentials.lock().unwrap().extend(credentials(now));
    if !way.decided.is_empty() {
        rig.service.next_resolution(refusal());
        rig.press(way.decided);
        // What was decided has left, and what has not waits for a word.
        rig.advance(Duration::seconds(20));
    }
    rig.press(way.keys);
    rig.advance(Duration::milliseconds(400));
    rig
}

/// The state that keys lead to from a production's Queue.
pub fn started(keys: &'static str) -> Rig {
    let place = SessionInfo { environment: Some(Environment::Production), ..SessionInfo::default() };
    start(place, true, Way { decided: "", keys })
}

fn refusal() -> Fate {
    Fate::Refused(ServiceError::ProviderFailed("no".to_owned()))
}

/// Where a word of the screen begins, and how many rows the screen has.
fn seen(rig: &mut Rig, word: usize) -> (u16, u16, u16) {
    let buffer = rig.draw();
    let area = buffer.area;
    let is_blank = |x: u16, y: u16| buffer[(x, y)].symbol().trim().is_empty();
    let begins = |x: u16, y: u16| !is_blank(x, y) && (x == 0 || is_blank(x - 1, y));
    let rows = (0..area.height).flat_map(|y| (0..area.width).map(move |x| (x, y)));
    let words: Vec<(u16, u16)> = rows.filter(|(x, y)| begins(*x, *y)).collect();
    let (x, y) = words.get(word % words.len().max(1)).copied().unwrap_or_default();
    (x, y, area.height)
}

fn take(rig: &mut Rig, step: &Step) {
    match step {
        Step::Key(key) => rig.press(key),
        Step::Text(text) => rig.type_text(text),
        Step::Click(word) => {
            let (x, y, _) = seen(rig, *word);
            rig.click(x, y);
        }
        Step::Drag(word, rows) => {
            let (x, y, height) = seen(rig, *word);
            // Never in the row where it was pressed.
            let to = if height < 2 { y + 1 } else { (y + 1 + rows % (height - 1)) % height };
            rig.mouse(MouseEventKind::Down(MouseButton::Left), x, y);
            rig.mouse(MouseEventKind::Drag(MouseButton::Left), x, to);
            rig.mouse(MouseEventKind::Up(MouseButton::Left), x, to);
        }
        Step::Wheel(down, x, y) => {
            rig.mouse(if *down { MouseEventKind::ScrollDown } else { MouseEventKind::ScrollUp }, *x, *y);
        }
        Step::Paste(text) => rig.update(Message::Input(Event::Paste(text.clone()))),
        Step::Resize(width, height) => rig.resize(*width, *height),
        Step::Wait(milliseconds) => rig.advance(Duration::milliseconds(*milliseconds)),
        Step::Arrive(like) => rig.change(|alerts| {
            let mut alert = alerts[*like].clone();
            alert.id = AlertId::generate();
            alerts.push(alert);
        }),
        Step::Leave(which) => rig.change(|alerts| alerts[*which].status = AlertStatus::Expired),
        Step::Refuse => rig.service.next_resolution(refusal()),
        Step::Hold(true) => rig.holding = true,
        Step::Hold(false) => rig.release(),
        Step::Down(down) => rig.service.set_down(down.then(|| ServiceError::Unavailable("busy".to_owned()))),
    }
}

/// Leaves what has these words: where a press of the mouse alone sends, wherever it is let go, and where enter can
/// choose `.`.
fn leave(rig: &mut Rig, words: &[&str]) {
    for _ in 0..9 {
        let screen = rig.screen();
        if !words.iter().any(|words| screen.contains(words)) {
            return;
        }
        rig.press("esc");
    }
    panic!("esc leads out of it:\n{}", rig.screen());
}

/// What may be around the cursor: marks, a range, and several of them.
const AROUND: [&str; 6] = ["", "space space", "V j j", "V k k", "space space V j", "space V k k V"];

/// What happens while somebody looks at a list: others come and go, time goes by, answers are held back and come, and
/// the cursor is moved.
fn others() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0usize..19).prop_map(Step::Arrive),
        3 => (0usize..19).prop_map(Step::Leave),
        3 => (0i64..40_000).prop_map(Step::Wait),
        2 => any::<bool>().prop_map(Step::Hold),
        1 => select(vec!["j", "k", "space"]).prop_map(|key| Step::Key(key.to_owned())),
    ]
}

/// The list and the place in it that is looked at: as long as the list and its height are the same, the cursor's line
/// is.
fn cursors_line(rig: &Rig) -> Option<((u64, u16, AlertId), u64)> {
    let queue = rig.app.queue();
    let listing = &queue.listing;
    let list = (listing.id, queue.regions().rows.height, listing.cursor_id?);
    Some((list, listing.lead + listing.cursor - listing.top))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: sized(12, 20_000), ..ProptestConfig::default() })]

    #[test]
    fn from_wherever_one_is_nothing_panics_and_no_alert_is_answered_twice(
        (place, operator) in places(),
        way in ways(),
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
        way in ways().prop_filter("it stages something", |way| !way.keys.contains("ctrl-s")),
        steps in steps(false),
    ) {
        let mut rig = start(place, operator, way);
        let sent = rig.sent();

        for step in &steps {
            if !way.decided.is_empty() {
                leave(&mut rig, &[" Palette", " Help"]);
            }
            // Only now: a form may have lain below the help.
            if matches!(step, Step::Drag(..)) {
                leave(&mut rig, &["Send now", "Send and leave", "ctrl-s send"]);
            }
            take(&mut rig, step);
        }
        rig.release();
        rig.service.set_down(None);
        rig.advance(Duration::seconds(30));

        prop_assert_eq!(rig.sent(), sent);
    }

    #[test]
    fn a_read_only_session_writes_nothing_whatever_is_pressed(
        (place, operator) in places(),
        way in ways(),
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
        around in select(&AROUND[..]),
        others in proptest::collection::vec(others(), 1..16),
    ) {
        let mut rig = start(place, operator, Way { decided: "", keys: "" });
        rig.resize(120, height);
        (0..down).for_each(|_| rig.press("j"));
        rig.press(around);
        rig.advance(Duration::seconds(1));
        rig.draw();

        for other in others {
            let before = cursors_line(&rig);
            take(&mut rig, &other);
            rig.draw();
            let after = cursors_line(&rig);
            let moved = matches!(&other, Step::Key(_));
            if !moved && before.map(|(list, _)| list) == after.map(|(list, _)| list) {
                prop_assert_eq!(before, after);
            }
        }
    }
}
