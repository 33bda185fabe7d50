//! Every key of the keymap does something somewhere, and what it does can be done from the palette too.

use std::rc::Rc;

use avert::{
    console::{
        Effect, SessionInfo,
        app::DeskState,
        keymap::{Action, Binding, KeyContext, Keymap},
        message::Message,
        screens::queue::ListSign,
    },
    desk::SavedView,
    domain::{Alert, AlertId, Environment, time::Clock},
    service::ServiceError,
};
use chrono::Duration;
use crossterm::event::{Event, KeyEvent};

use super::{
    fake::{Fate, credentials, morning, refunded_sibling},
    listed_profiles::profiles,
    rig::{Made, Rig, clock, key},
    settling::unfinished,
    webhooks,
};

/// A state that the console can be in, and whose keys are taken there.
struct State {
    contexts: &'static [KeyContext],
    make: Rc<dyn Fn() -> Rig>,
}

fn state(contexts: &'static [KeyContext], make: impl Fn() -> Rig + 'static) -> State {
    State { contexts, make: Rc::new(make) }
}

/// A console on a morning's alerts, one of them with a refunded duplicate, after these keys.
fn queue(size: (u16, u16), keys: &str) -> Rig {
    let now = clock().now();
    let mut alerts = morning(now);
    alerts.push(refunded_sibling(&alerts[1], 1_001, now));
    let mut made = Made { size, ..Made::of(alerts) };
    made.place.environment = Some(Environment::Sandbox);
    made.kept = DeskState {
        views: vec![SavedView { name: "Mine".to_owned(), query: "provider:cdrn".to_owned() }],
        ..DeskState::default()
    };
    let mut rig = made.start();
    rig.press(keys);
    rig.advance(Duration::milliseconds(400));
    rig.draw();
    rig
}

/// The same with the keys and clients that there are.
fn settings(size: (u16, u16), keys: &str) -> Rig {
    let mut made = Made { size, profiles: profiles(), ..Made::default() };
    made.place.profiles = vec!["shop-us".to_owned()];
    let mut rig = made.start();
    let now = rig.clock.now();
    rig.service.credentials.lock().unwrap().extend(credentials(now));
    rig.press("5");
    rig.press(keys);
    rig.draw();
    rig
}

/// After a decision that the network did not take.
fn refused(size: (u16, u16), keys: &str) -> Rig {
    let mut rig = queue(size, "");
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderFailed("the case was closed".to_owned())));
    rig.press("n ctrl-s");
    rig.advance(Duration::seconds(6));
    rig.press(keys);
    rig.draw();
    rig
}

/// A console with a note of more lines than its detail has room for.
fn long_detail(keys: &str) -> Rig {
    let mut rig = queue((80, 24), "a");
    for _ in 0..16 {
        rig.type_text("a line");
        rig.press("alt-enter");
    }
    rig.press("ctrl-s");
    pressed(rig, keys)
}

fn states() -> Vec<State> {
    use KeyContext::{Activity, Always, Case, Insights, Menu, Queue, Settings, Views, Webhooks};
    const WIDE: (u16, u16) = (120, 40);
    const LOW: (u16, u16) = (120, 24);
    vec![
        state(&[Queue, Always], || queue(WIDE, "")),
        state(&[Queue, Always], || queue(WIDE, "j")),
        state(&[Queue, Always], || queue(WIDE, "G")),
        state(&[Queue, Always], || queue(LOW, "")),
        state(&[Queue, Always], || pressed(queue(LOW, ""), "J J")),
        state(&[Queue, Always], || queue(WIDE, "n ctrl-s")),
        state(&[Queue, Always], || queue(WIDE, "space j")),
        state(&[Queue, Always], || queue(WIDE, "space space n ctrl-s esc")),
        state(&[Queue, Always], || refused(WIDE, "")),
        state(&[Queue, Always], || {
            let mut rig = queue(WIDE, "j j");
            rig.change(|alerts| {
                let first = Alert { id: AlertId::generate(), provider_id: "NEW1".to_owned(), ..alerts[0].clone() };
                alerts.push(first);
            });
            rig
        }),
        state(&[Queue, Always], || {
            let mut rig = queue(WIDE, "");
            let alert = rig.current();
            rig.service.unfinished.lock().unwrap().push(unfinished(alert, "PARKED"));
            rig.hear();
            rig
        }),
        state(&[Queue, Always], || Made::of(Vec::new()).start()),
        state(&[Insights, Always], || queue(WIDE, "2")),
        state(&[Insights, Always], || queue(WIDE, "2 tab")),
        state(&[Insights, Always], || queue((80, 24), "2")),
        state(&[Insights, Always], || queue((80, 24), "2 G")),
        state(&[Webhooks, Always], || webhooks::on(Made::default())),
        state(&[Webhooks, Always], || pressed(webhooks::on(Made::default()), "j j")),
        state(&[Webhooks, Always], || pressed(webhooks::on(Made::default()), "tab j")),
        state(&[Webhooks, Always], || pressed(webhooks::on(Made { size: LOW, ..Made::default() }), "j j j enter")),
        state(&[Webhooks, Always], || {
            pressed(pressed(webhooks::on(Made { size: LOW, ..Made::default() }), "j j j enter"), "J")
        }),
        state(&[Activity, Always], || refused(WIDE, "4")),
        state(&[Activity, Always], || long_detail("4 tab tab")),
        state(&[Activity, Always], || pressed(long_detail("4 tab tab"), "J J")),
        state(&[Activity, Always], || {
            let mut rig = queue(WIDE, "");
            let alert = rig.current();
            rig.service.unfinished.lock().unwrap().push(unfinished(alert, "PARKED"));
            rig.hear();
            rig.press("4");
            rig
        }),
        state(&[Settings, Always], || settings(WIDE, "")),
        state(&[Settings, Always], || settings(WIDE, "tab j")),
        state(&[Settings, Always], || settings(WIDE, "tab tab")),
        state(&[Case, Queue, Always], || queue(WIDE, "j enter")),
        state(&[Menu], || queue(WIDE, "v")),
        state(&[Menu], || queue(WIDE, "v end")),
        state(&[Menu], || queue(WIDE, "? pagedown pagedown")),
        state(&[Views], || queue(WIDE, "v end")),
        state(&[Views], || queue(WIDE, "v end alt-x")),
    ]
}

fn pressed(mut rig: Rig, keys: &str) -> Rig {
    rig.press(keys);
    rig.advance(Duration::milliseconds(400));
    rig.draw();
    rig
}

/// Whether a key has anything done or shown. That it has nothing to do is no deed.
fn does_something(rig: &mut Rig, event: KeyEvent) -> bool {
    let before = rig.draw();
    let effects = rig.app.update(Message::Input(Event::Key(event)));
    if !effects.is_empty() {
        return true;
    }
    rig.draw() != before && !is_refused(rig)
}

fn is_refused(rig: &mut Rig) -> bool {
    let screen = rig.screen();
    screen.contains("is not available here") || screen.contains("No such key here")
}

/// Those of the keys, each with its binding, that do something in none of their states. A console is made anew only
/// after a key has done something.
fn dead<'k>(states: &[State], keys: Vec<(&'k Binding, String)>) -> Vec<(&'k Binding, String)> {
    states.iter().fold(keys, |dead, state| {
        let mut rig = (state.make)();
        let mut still_dead = Vec::new();
        for (binding, name) in dead {
            if !state.contexts.contains(&binding.context) {
                still_dead.push((binding, name));
            } else if does_something(&mut rig, key(&name)) {
                rig = (state.make)();
            } else {
                still_dead.push((binding, name));
                rig.advance(Duration::minutes(1));
            }
        }
        still_dead
    })
}

#[test]
fn no_key_of_the_keymap_is_dead() {
    let (keymap, states) = (Keymap::default(), states());
    let keys = keymap.all().flat_map(|binding| binding.keys.iter().map(move |chord| (binding, chord.to_string())));

    let dead: Vec<String> = dead(&states, keys.collect())
        .into_iter()
        .map(|(binding, chord)| format!("{chord} ({:?}): {}", binding.context, binding.about))
        .collect();

    assert!(dead.is_empty(), "{dead:#?}");
}

#[test]
fn whatever_a_key_does_the_palette_does_too() {
    let (keymap, states) = (Keymap::default(), states());
    // Keys that move within a list that is open mean nothing where none is.
    let meant = keymap.all().filter(|binding| {
        let is_of_list = matches!(binding.context, KeyContext::Menu | KeyContext::Views);
        !is_of_list && !binding.keys.is_empty() && binding.action != Action::Help
    });

    let missing: Vec<String> = meant
        .filter(|binding| {
            // What a list does is offered where the list can be opened.
            let in_list = binding.context == KeyContext::Views;
            let places = states.iter().filter(|state| in_list || state.contexts.contains(&binding.context));
            let does =
                |state: &State| in_list || does_something(&mut (state.make)(), key(&binding.keys[0].to_string()));
            !places.into_iter().filter(|state| does(state)).any(|state| does_by_palette(&mut (state.make)(), binding))
        })
        .map(|binding| format!("{:?} ({:?})", binding.action, binding.context))
        .collect();

    assert!(missing.is_empty(), "{missing:#?}");
}

/// Whether the palette lists what a binding does, and does it.
fn does_by_palette(rig: &mut Rig, binding: &Binding) -> bool {
    let before = rig.draw();
    rig.press(":");
    rig.type_text(&binding.about);
    let is_listed = rig.screen().contains(&*binding.words);
    let effects = rig.app.update(Message::Input(Event::Key(key("enter"))));
    let acts = effects.iter().any(|effect| !matches!(effect, Effect::GiveUpFind | Effect::Keep(_)));
    is_listed && (acts || rig.draw() != before) && !is_refused(rig)
}

/// The hints of the footer, each with its key. Some places say in words of their own what their keys do.
fn hints(rig: &mut Rig, keymap: &Keymap, has_own_words: bool) -> Vec<String> {
    let screen = rig.screen();
    let footer = screen.lines().last().unwrap_or_default().to_owned();
    let known: Vec<String> =
        keymap.all().flat_map(|binding| binding.keys.first().map(|key| format!("{key} {}", binding.words))).collect();
    // A screen may have words of its own for a key.
    let known: Vec<String> = known.into_iter().chain(["j scroll", "tab out", "b answer"].map(str::to_owned)).collect();
    let has_key = |chunk: &str| {
        keymap.all().any(|binding| binding.keys.first().is_some_and(|key| chunk.starts_with(&format!("{key} "))))
    };
    let mut hints = Vec::new();
    for chunk in footer.split("   ").map(str::trim).filter(|chunk| !chunk.is_empty()) {
        let is_known = chunk.starts_with("r refunded, ")
            || known.iter().any(|hint| hint == chunk)
            || (has_own_words && has_key(chunk) && !chunk.contains('…'));
        // What is on its way stands behind the hints.
        assert!(is_known || !rig.app.ledger().staged().is_empty(), "{chunk:?} is no whole hint: {footer}");
        if is_known {
            hints.push(chunk.split(' ').next().unwrap_or_default().to_owned());
        }
    }
    hints
}

#[test]
fn every_hint_is_whole_and_its_key_does_something() {
    let (keymap, states) = (Keymap::default(), states());

    for (number, state) in states.iter().enumerate().filter(|(_, state)| state.contexts.contains(&KeyContext::Always)) {
        let make = || {
            let mut rig = (state.make)();
            rig.resize(80, 24);
            rig.draw();
            rig
        };
        let own_words = [KeyContext::Case, KeyContext::Webhooks];
        let has_own_words = state.contexts.iter().any(|context| own_words.contains(context));
        for hint in hints(&mut make(), &keymap, has_own_words) {
            assert!(does_something(&mut make(), key(&hint)), "{hint} in state {number}:\n{}", make().screen());
        }
    }
}

#[test]
fn the_help_explains_every_sign_of_the_list() {
    let mut rig = queue((120, 60), "?");
    rig.type_text("sign");

    let screen = rig.screen();

    for sign in ListSign::ALL {
        assert!(screen.contains(sign.about()), "{sign:?}\n{screen}");
    }
    rig.press("enter");
    assert!(rig.screen().contains("type") || rig.screen().contains("sign"), "{}", rig.screen());
}

#[test]
fn a_key_that_means_nothing_says_so_and_is_kept_nowhere() {
    let mut rig = queue((120, 40), "2");
    let before = rig.done.len();

    rig.press("W");
    assert!(rig.screen().contains("No such key here: W (? help)."), "{}", rig.screen());
    rig.press("y");

    assert!(rig.screen().contains("y (copy) is not available here: no alert is here."), "{}", rig.screen());
    assert_eq!(rig.done.len(), before);
}

#[test]
fn an_empty_desk_says_what_to_do_and_an_empty_view_does_not() {
    let words = |made: Made| made.start().screen();

    let here = words(Made::of(Vec::new()));
    for command in ["avert import FILE", "avert serve"] {
        assert!(here.contains(command), "{here}");
    }
    let remote = words(Made {
        operator: false,
        place: SessionInfo { remote: true, ..Made::default().place },
        ..Made::of(Vec::new())
    });
    assert!(remote.contains("avert profiles test") && !remote.contains("avert import"), "{remote}");
    let demo = words(Made { place: SessionInfo { demo: true, ..Made::default().place }, ..Made::of(Vec::new()) });
    assert!(demo.contains("No alerts yet.") && !demo.contains("avert import"), "{demo}");
    let mut filtered = queue((120, 40), "/");
    filtered.type_text("nobody here");
    filtered.advance(Duration::milliseconds(400));
    let filtered = filtered.screen();
    assert!(!filtered.contains("avert import") && !filtered.contains("There are no alerts"), "{filtered}");
}
