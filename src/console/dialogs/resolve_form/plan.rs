//! How the resolve form is laid out: what gives way where there is less room.

use super::options::{rows_of_decisions, rows_of_refunds};
use super::seen::{Attention, Seen};
use super::{Choice, Errors, ResolveForm};
use crate::console::text::wrap;
use crate::domain::Timestamp;
use crate::domain::resolution::OlderWord;

/// A layout plan: what gives way where there is less room.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    /// Empty rows after title, decision, reason, comments, then; between seen and confirm; before the buttons.
    pub(super) gaps: [u16; 7],
    /// Whether the line of facts is shown.
    pub(super) facts: bool,
    /// Rows of the comments.
    pub(super) comments: u16,
    /// Whether what will happen takes one line instead of two.
    pub(super) short_then: bool,
    /// How the resolutions of the older dialect stand.
    pub(super) words: Words,
}

/// How the resolutions of the older dialect stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Words {
    /// One on a line, each with its meaning.
    List,
    /// Two on a line, the chosen one's meaning below.
    Grid,
    /// Two on a line.
    BareGrid,
}

impl Words {
    /// How many lines they take.
    pub(super) fn rows(self) -> u16 {
        let words = u16::try_from(OlderWord::KNOWN.len()).unwrap_or(u16::MAX);
        match self {
            Self::List => words,
            Self::Grid => words.div_ceil(2) + 1,
            Self::BareGrid => words.div_ceil(2),
        }
    }
}

const fn plan(gaps: [u16; 7], facts: bool, comments: u16, short_then: bool, words: Words) -> Plan {
    Plan { gaps, facts, comments, short_then, words }
}

impl Plan {
    /// What is answered alone, in so many columns beside the labels.
    pub(super) fn of_answer(content: u16, comments: u16) -> Self {
        plan([0; 7], false, comments, true, if content < GRID { Words::List } else { Words::Grid })
    }
}

/// For the fields of the current dialect, the roomiest first.
const PLANS: [Plan; 8] = [
    plan([1; 7], true, 4, false, Words::List),
    plan([1; 7], true, 3, false, Words::List),
    plan([1, 1, 1, 0, 0, 0, 1], true, 3, false, Words::List),
    plan([1, 1, 1, 0, 0, 0, 1], true, 3, true, Words::List),
    plan([1, 0, 0, 0, 0, 0, 1], true, 3, true, Words::List),
    plan([1, 0, 0, 0, 0, 0, 0], true, 2, true, Words::List),
    plan([0; 7], false, 2, true, Words::List),
    plan([0; 7], false, 1, true, Words::List),
];

/// For the fields of the older dialect, the roomiest first.
const OLDER_PLANS: [Plan; 10] = [
    plan([1; 7], true, 4, false, Words::List),
    plan([1; 7], true, 3, false, Words::List),
    plan([1, 1, 1, 0, 0, 0, 1], true, 3, true, Words::List),
    plan([1, 0, 1, 0, 0, 0, 1], true, 2, true, Words::List),
    plan([1, 1, 1, 0, 0, 0, 1], true, 3, true, Words::Grid),
    plan([1, 0, 1, 0, 0, 0, 1], true, 2, true, Words::Grid),
    plan([1, 0, 0, 0, 0, 0, 0], true, 2, true, Words::Grid),
    plan([0; 7], false, 2, true, Words::Grid),
    plan([0; 7], false, 1, true, Words::Grid),
    plan([0; 7], false, 1, true, Words::BareGrid),
];

/// The computed layout of the form for a frame.
pub(super) struct Sheet {
    pub(super) errors: Errors,
    /// Lines of what to have seen, each with whether it begins a new thing.
    pub(super) seen: Vec<(Attention, String, bool)>,
    pub(super) plan: Plan,
    /// Rows between the title and the buttons.
    pub(super) body: u16,
    /// Rows of the whole form, where there is room for them.
    pub(super) height: u16,
}

/// Margins, title, buttons and the line of words: they never scroll.
const FRAME: u16 = 5;

/// Columns that two resolutions of the older dialect need beside each other.
const GRID: u16 = 53;

impl ResolveForm {
    /// Chooses the first plan that fits into a height and knows how high it comes out. `tallest` counts what could be asked for too, so
    /// that the form stays where it is when the answer changes.
    pub(super) fn sheet(&self, content: u16, height: u16, now: Timestamp, tallest: bool) -> Sheet {
        let errors = self.shown_errors();
        let seen = wrapped(&self.seen(now), content.saturating_sub(2));
        let body = |plan: &Plan| {
            let confirmation = if self.needs_confirmation() { plan.gaps[5] + 1 + line(&errors.confirmation) } else { 0 };
            let then = if plan.short_then { 1 } else { 2 };
            plan.gaps[0]
                + u16::from(plan.facts)
                + self.rows_of_answer(plan, &errors, content, tallest)
                + plan.comments
                + 1
                + plan.gaps[3]
                + then
                + plan.gaps[4]
                + u16::try_from(seen.len()).unwrap_or(u16::MAX / 2)
                + confirmation
                + plan.gaps[6]
        };
        let plans: &[Plan] = if self.older.is_some() { &OLDER_PLANS } else { &PLANS };
        let with_room = |plan: &Plan| Plan { words: if content < GRID { Words::List } else { plan.words }, ..*plan };
        let mut plans = plans.iter().map(with_room);
        // What does not fit even by the tightest plan is scrolled.
        let tightest = with_room(&plans.clone().next_back().unwrap_or(PLANS[0]));
        let plan = plans.find(|plan| FRAME + body(plan) <= height).unwrap_or(tightest);
        let body = body(&plan);
        Sheet { errors, seen, plan, body, height: FRAME + body }
    }

    /// Rows of what is answered: the decision with its reason, or resolution, refund and stopped amount.
    pub(super) fn rows_of_answer(&self, plan: &Plan, errors: &Errors, content: u16, tallest: bool) -> u16 {
        let [_, after_decision, after_reason, ..] = plan.gaps;
        match &self.older {
            Some(older) => {
                let amount = if older.is_partial() || tallest { 1 + line(&errors.amount) } else { 0 };
                let refund = rows_of_refunds(content) + line(&errors.refund);
                plan.words.rows() + line(&errors.reason) + after_decision + refund + amount + after_reason
            }
            None if self.choice == Choice::Invalid || tallest => {
                rows_of_decisions(content) + after_decision + 4 + line(&errors.reason) + after_reason
            }
            None => rows_of_decisions(content) + after_decision,
        }
    }
}

fn line(error: &Option<String>) -> u16 {
    u16::from(error.is_some())
}

/// Lines of at most so many columns, each with whether it begins a new thing.
fn wrapped(seen: &[Seen], columns: u16) -> Vec<(Attention, String, bool)> {
    let lines = |seen: &Seen| {
        let tone = seen.tone;
        wrap(&seen.text, columns).into_iter().enumerate().map(move |(index, line)| (tone, line, index == 0))
    };
    seen.iter().flat_map(lines).collect()
}
