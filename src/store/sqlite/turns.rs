//! A fair queue: each owner of waiting work gets a turn before any gets a second one, within bounds for each and for
//! all.

use std::{
    collections::{HashMap, VecDeque},
    hash::Hash,
};

/// The bounds of a fair queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Most work of one owner that is done at the same time.
    pub(super) at_once: usize,
    /// Most work of one owner that may wait.
    pub(super) waiting: usize,
    /// Most work that may wait in all.
    pub(super) waiting_in_all: usize,
}

/// Waiting work of one owner, and the number of its running ones.
#[derive(Debug)]
struct Share<Work> {
    waiting: VecDeque<Work>,
    running: usize,
}

/// A bounded round-robin queue of work by its owner.
#[derive(Debug)]
pub(super) struct FairQueue<Whose, Work> {
    bounds: Bounds,
    shares: HashMap<Whose, Share<Work>>,
    /// Owners of waiting work, in the order of their turns.
    turns: VecDeque<Whose>,
    waiting: usize,
}

impl<Whose: Copy + Eq + Hash, Work> FairQueue<Whose, Work> {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self { bounds, shares: HashMap::new(), turns: VecDeque::new(), waiting: 0 }
    }

    fn share(&mut self, whose: Whose) -> &mut Share<Work> {
        self.shares.entry(whose).or_insert_with(|| Share { waiting: VecDeque::new(), running: 0 })
    }

    fn running(&self, whose: &Whose) -> usize {
        self.shares.get(whose).map_or(0, |share| share.running)
    }

    /// Puts work in the queue; gives it back where a bound is reached.
    pub(super) fn push(&mut self, whose: Whose, work: Work) -> Result<(), Work> {
        let waiting = self.shares.get(&whose).map_or(0, |share| share.waiting.len());
        if waiting >= self.bounds.waiting || self.waiting >= self.bounds.waiting_in_all {
            return Err(work);
        }
        self.share(whose).waiting.push_back(work);
        if waiting == 0 {
            self.turns.push_back(whose);
        }
        self.waiting += 1;
        Ok(())
    }

    /// Takes the next work of an owner whose share is not used up. The owner with the least running work comes first,
    /// and among equals the one whose turn it is. [`FairQueue::done`] has to follow.
    pub(super) fn pop(&mut self) -> Option<(Whose, Work)> {
        let bound = self.bounds.at_once;
        let turns = self.turns.iter().enumerate().map(|(turn, whose)| (self.running(whose), turn));
        let (_, turn) = turns.filter(|(running, _)| *running < bound).min()?;
        let whose = self.turns.remove(turn)?;
        let share = self.shares.get_mut(&whose)?;
        let work = share.waiting.pop_front()?;
        share.running += 1;
        if !share.waiting.is_empty() {
            self.turns.push_back(whose);
        }
        self.waiting -= 1;
        Some((whose, work))
    }

    /// Begins work that did not wait, where no other owner's turn comes first and its owner's share is not used up.
    /// [`FairQueue::done`] has to follow.
    pub(super) fn begin(&mut self, whose: Whose) -> bool {
        let has_turn = |whose| self.running(whose) < self.bounds.at_once;
        if !has_turn(&whose) || self.turns.iter().any(has_turn) {
            return false;
        }
        self.share(whose).running += 1;
        true
    }

    /// Ends work that was popped or begun.
    pub(super) fn done(&mut self, whose: Whose) {
        if let Some(share) = self.shares.get_mut(&whose) {
            share.running = share.running.saturating_sub(1);
            if share.running == 0 && share.waiting.is_empty() {
                self.shares.remove(&whose);
            }
        }
    }

    /// Returns whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(at_once: usize, waiting: usize, waiting_in_all: usize) -> FairQueue<char, u32> {
        FairQueue::new(Bounds { at_once, waiting, waiting_in_all })
    }

    fn popped(queue: &mut FairQueue<char, u32>) -> Vec<(char, u32)> {
        std::iter::from_fn(|| queue.pop()).collect()
    }

    #[test]
    fn whoever_comes_late_waits_for_one_turn_of_each_and_not_for_all_that_waits() {
        let mut queue = queue(9, 9, 99);
        for (whose, work) in [('a', 1), ('a', 2), ('a', 3), ('b', 4), ('a', 5), ('c', 6), ('b', 7)] {
            queue.push(whose, work).unwrap();
        }

        assert_eq!(popped(&mut queue), [('a', 1), ('b', 4), ('c', 6), ('a', 2), ('b', 7), ('a', 3), ('a', 5)]);
        assert!(queue.is_empty());
    }

    #[test]
    fn nobody_has_more_than_a_share_at_work_at_once() {
        let mut queue = queue(2, 9, 99);
        for work in 1..=4 {
            queue.push('a', work).unwrap();
        }

        let first = popped(&mut queue);
        queue.push('b', 5).unwrap();
        let anothers = popped(&mut queue);
        queue.done('a');

        assert_eq!((first, anothers), (vec![('a', 1), ('a', 2)], vec![('b', 5)]));
        assert_eq!(popped(&mut queue), [('a', 3)]);
    }

    #[test]
    fn what_did_not_wait_begins_where_nobody_waits_for_a_turn_that_he_can_have() {
        let mut queue = queue(2, 9, 99);
        let at_first = [queue.begin('a'), queue.begin('a'), queue.begin('a')];
        queue.push('a', 1).unwrap();
        let beside_who_has_his_share = queue.begin('b');
        queue.push('c', 2).unwrap();
        let before_another = queue.begin('b');
        let turns = popped(&mut queue);
        queue.done('a');
        let before_himself = queue.begin('a');

        assert_eq!((at_first, beside_who_has_his_share, before_another), ([true, true, false], true, false));
        assert_eq!((turns, before_himself), (vec![('c', 2)], false));
        assert_eq!(queue.pop(), Some(('a', 1)));
    }

    #[test]
    fn whoever_has_least_at_work_goes_before_whose_turn_it_is() {
        let mut queue = queue(9, 9, 99);
        for (whose, work) in [('a', 1), ('b', 2), ('a', 3), ('b', 4)] {
            queue.push(whose, work).unwrap();
        }
        let first = [queue.pop(), queue.pop()];
        queue.push('c', 5).unwrap();
        queue.done('b');

        assert_eq!(first, [Some(('a', 1)), Some(('b', 2))]);
        assert_eq!(popped(&mut queue), [('b', 4), ('c', 5), ('a', 3)]);
    }

    #[test]
    fn what_is_over_a_bound_is_given_back_and_others_are_taken_in() {
        let mut queue = queue(1, 2, 3);

        assert_eq!([1, 2, 3].map(|work| queue.push('a', work)), [Ok(()), Ok(()), Err(3)]);
        assert_eq!([4, 5].map(|work| queue.push('b', work)), [Ok(()), Err(5)]);
        assert_eq!(queue.pop(), Some(('a', 1)));
        assert_eq!(queue.push('c', 6), Ok(()));
    }

    #[test]
    fn who_has_nothing_left_is_forgotten() {
        let mut queue = queue(1, 2, 3);
        queue.push('a', 1).unwrap();

        let work = queue.pop();
        queue.done('a');

        assert_eq!(work, Some(('a', 1)));
        assert!(queue.shares.is_empty() && queue.turns.is_empty());
    }
}
