//! Random sizes: whatever the terminal's size, a screen says the same words or fewer, none of them cut without an
//! ellipsis or covered by another part.

use std::collections::BTreeSet;

use proptest::{prelude::*, sample::select};

use super::{any_state::started, rig::Rig};
use crate::support::size::sized;

/// Keys to every screen; what lies over one covers words of it.
const SCREENS: [&str; 9] = ["", "V j j V", "n ctrl-s", "2", "3", "4", "4 tab", "5", "j enter"];

/// The size at which everything has room.
const ROOMY: (u16, u16) = (240, 70);

/// Fewest letters of a word that counts.
const FEWEST: usize = 4;

/// Words that stand for what has no room, so only a small screen says them.
const FOR_THE_REST: [&str; 2] = ["more", "scroll"];

/// The words of the screen without those that an ellipsis ends.
fn words(rig: &mut Rig) -> BTreeSet<String> {
    let screen = rig.screen();
    let mut words = BTreeSet::new();
    for line in screen.lines() {
        let mut letters = String::new();
        for c in line.chars().chain([' ']) {
            if c.is_alphabetic() {
                letters.push(c);
                continue;
            }
            let word = std::mem::take(&mut letters);
            if word.chars().count() >= FEWEST && c != '…' && !FOR_THE_REST.contains(&word.as_str()) {
                words.insert(word);
            }
        }
    }
    words
}

proptest! {
    #![proptest_config(ProptestConfig { cases: sized(12, 10_000), ..ProptestConfig::default() })]

    #[test]
    fn no_size_cuts_or_covers_a_word(way in select(&SCREENS[..]), width in 80u16..=240, height in 24u16..=70) {
        let mut rig = started(way);
        rig.resize(ROOMY.0, ROOMY.1);
        let whole = words(&mut rig);

        rig.resize(width, height);
        let shown = words(&mut rig);

        let strange: Vec<&String> = shown.difference(&whole).collect();
        prop_assert!(strange.is_empty(), "{strange:?} at {width} x {height} after {way:?}\n{}", rig.screen());
    }
}
