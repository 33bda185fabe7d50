//! Whose turn it is: the max-min fair order of what several owners want done.

use std::collections::HashMap;
use std::hash::Hash;

/// What to do first, and no more than `limit`: each step goes to the owner with the fewest in hand, of whom `held` says
/// how many those are to begin with. Candidates come in the order in which each owner wants them done; between owners
/// who have equally many, it decides as well.
pub fn fair<T, O: Eq + Hash>(
    candidates: Vec<T>,
    owner: impl Fn(&T) -> O,
    mut held: HashMap<O, u32>,
    limit: usize,
) -> Vec<T> {
    let ranked = candidates.into_iter().map(|candidate| {
        let in_hand = held.entry(owner(&candidate)).or_default();
        *in_hand = in_hand.saturating_add(1);
        (*in_hand, candidate)
    });
    let mut ranked: Vec<(u32, T)> = ranked.collect();
    // Stable: what is equal stays in the order in which it came.
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.truncate(limit);
    ranked.into_iter().map(|(_, candidate)| candidate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(text: &&str) -> char {
        text.chars().next().unwrap_or_default()
    }

    fn order(candidates: &[&'static str], held: &[(char, u32)], limit: usize) -> Vec<&'static str> {
        fair(candidates.to_vec(), owner, held.iter().copied().collect(), limit)
    }

    #[test]
    fn owners_take_turns_whatever_their_number_of_candidates() {
        assert_eq!(order(&["a1", "a2", "a3", "b1", "a4", "c1"], &[], 10), ["a1", "b1", "c1", "a2", "a3", "a4"]);
        assert_eq!(order(&["a1", "a2", "a3", "b1", "b2"], &[], 4), ["a1", "b1", "a2", "b2"]);
    }

    #[test]
    fn who_has_much_in_hand_already_comes_after_those_who_have_little() {
        assert_eq!(order(&["a1", "a2", "b1", "b2"], &[('a', 1)], 3), ["b1", "a1", "b2"]);
        assert_eq!(order(&["a1", "b1"], &[('a', 200)], 1), ["b1"], "one place at a time starves nobody");
    }

    #[test]
    fn a_single_owner_keeps_its_order() {
        assert_eq!(order(&["a1", "a2", "a3"], &[('a', 7)], 2), ["a1", "a2"]);
    }
}
