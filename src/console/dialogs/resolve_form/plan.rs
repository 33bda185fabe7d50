//! How the resolve form is laid out: what gives way where there is less room.

use super::options::{rows_of_decisions, rows_of_refunds};
use super::seen::{Attention, Seen};
use super::{Choice, Errors, Focus, FormMoment, ResolveForm};
use crate::console::text::wrap_even;
use crate::domain::resolution::OlderWord;

/// A layout plan: what gives way where there is less room.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    /// Empty rows after the head, decision, reason, comments, then; between seen and confirm; before the buttons.
    pub(super) gaps: [u16; 7],
    /// Rows of the comments.
    pub(super) comments: u16,
    /// Whether what will happen takes one line instead of two.
    pub(super) short_then: bool,
    /// How the resolutions of the older dialect stand.
    pub(super) words: Words,
    /// Whether what was chosen of several reasons or resolutions stands alone while the focus is elsewhere.
    pub(super) chosen_alone: bool,
    /// Whether each of several alerts gets a reason of its own while none is chosen.
    pub(super) each_its_own: bool,
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

const fn plan(gaps: [u16; 7], comments: u16, short_then: bool, words: Words) -> Plan {
    Plan { gaps, comments, short_then, words, chosen_alone: false, each_its_own: false }
}

/// How much room what is answered has where it is drawn alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerRoom {
    /// Empty rows after the decision and after the reason.
    pub gap: u16,
    /// Rows of the comments.
    pub comments: u16,
    /// Whether what was chosen of several reasons or resolutions stands alone while the focus is elsewhere.
    pub chosen_alone: bool,
    /// Whether each of several alerts gets a reason of its own while none is chosen.
    pub each_its_own: bool,
}

impl Plan {
    /// What is answered alone, in so many columns beside the labels.
    pub(super) fn of_answer(content: u16, room: AnswerRoom) -> Self {
        let words = if content < GRID { Words::List } else { Words::Grid };
        Self {
            chosen_alone: room.chosen_alone,
            each_its_own: room.each_its_own,
            ..plan([0, room.gap, room.gap, 0, 0, 0, 0], room.comments, true, words)
        }
    }
}

/// For the fields of the current dialect, the roomiest first.
const PLANS: [Plan; 8] = [
    plan([1; 7], 4, false, Words::List),
    plan([1; 7], 3, false, Words::List),
    plan([1, 1, 1, 0, 0, 0, 1], 3, false, Words::List),
    plan([1, 1, 1, 0, 0, 0, 1], 3, true, Words::List),
    plan([1, 0, 0, 0, 0, 0, 1], 3, true, Words::List),
    plan([1, 0, 0, 0, 0, 0, 0], 2, true, Words::List),
    plan([0; 7], 2, true, Words::List),
    plan([0; 7], 1, true, Words::List),
];

/// For the fields of the older dialect, the roomiest first.
const OLDER_PLANS: [Plan; 10] = [
    plan([1; 7], 4, false, Words::List),
    plan([1; 7], 3, false, Words::List),
    plan([1, 1, 1, 0, 0, 0, 1], 3, true, Words::List),
    plan([1, 0, 1, 0, 0, 0, 1], 2, true, Words::List),
    plan([1, 1, 1, 0, 0, 0, 1], 3, true, Words::Grid),
    plan([1, 0, 1, 0, 0, 0, 1], 2, true, Words::Grid),
    plan([1, 0, 0, 0, 0, 0, 0], 2, true, Words::Grid),
    plan([0; 7], 2, true, Words::Grid),
    plan([0; 7], 1, true, Words::Grid),
    plan([0; 7], 1, true, Words::BareGrid),
];

/// The computed layout of the form for a frame.
pub(super) struct Sheet {
    pub(super) errors: Errors,
    /// Lines of what to have seen, each with whether it begins a new thing.
    pub(super) seen: Vec<(Attention, String, bool)>,
    pub(super) plan: Plan,
    /// Rows between the head and the buttons.
    pub(super) body: u16,
    /// Rows of the whole form, where there is room for them.
    pub(super) height: u16,
}

/// Margins, title and facts, buttons and the line of words: they never scroll.
const FRAME: u16 = 3 + HEAD + 1;

/// Rows of the head: the title, and how long the window is open.
pub(super) const HEAD: u16 = 2;

/// Columns that two resolutions of the older dialect need beside each other.
const GRID: u16 = 53;

impl ResolveForm {
    /// Chooses the first plan that fits into a height and knows how high it comes out. `tallest` counts what could be
    /// asked for too, so that the form stays where it is when the answer changes.
    pub(super) fn sheet(&self, content: u16, height: u16, moment: FormMoment, tallest: bool) -> Sheet {
        let errors = self.shown_errors();
        let seen = wrapped(&self.seen(moment), content.saturating_sub(2));
        let body = |plan: &Plan| {
            let instead = u16::from(self.fitting_reason().is_some());
            let asked = if self.needs_confirmation() { 1 + line(&errors.confirmation) } else { 0 };
            let confirmation = if instead + asked > 0 { plan.gaps[5] + instead + asked } else { 0 };
            let then = if plan.short_then { 1 } else { 2 };
            plan.gaps[0]
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
        let mut tightest = with_room(&plans.clone().next_back().unwrap_or(PLANS[0]));
        if self.must_tell_meanings(content, height, &errors) {
            tightest.words = Words::List;
        }
        let plan = plans
            .find(|plan| FRAME + body(plan) <= height && self.tells_meanings(plan, content, height, &errors))
            .unwrap_or(tightest);
        let body = body(&plan);
        Sheet { errors, seen, plan, body, height: FRAME + body }
    }

    /// How many rows the form takes at most, whatever is chosen: what speaks against one answer may say nothing of
    /// another.
    pub(super) fn tallest(&self, content: u16, height: u16, moment: FormMoment) -> u16 {
        let own = self.sheet(content, height, moment, true).height;
        if self.older.is_some() {
            return own;
        }
        let others = Choice::ALL.into_iter().filter(|choice| *choice != self.choice);
        let of_others =
            others.map(|choice| Self { choice, ..self.clone() }.sheet(content, height, moment, true).height);
        of_others.chain([own]).max().unwrap_or(own)
    }

    /// Whether of the reasons, or the older dialect's resolutions, only the chosen one is shown.
    pub(super) fn shows_chosen_alone(&self, plan: &Plan, errors: &Errors) -> bool {
        let (focus, is_chosen) = match &self.older {
            Some(older) => (Focus::Word, older.word().is_some()),
            None => (Focus::Reason, self.reason.is_some() || plan.each_its_own),
        };
        plan.chosen_alone && is_chosen && self.focus != focus && errors.reason.is_none()
    }

    /// Whether a line says that no reason is chosen, and each of several alerts gets its own: where there is room for
    /// one more.
    pub(super) fn each_has_its_own(&self, plan: &Plan) -> bool {
        plan.each_its_own
            && plan.comments > 1
            && self.older.is_none()
            && self.choice == Choice::Invalid
            && self.reason.is_none()
    }

    /// Whether a resolution of the older dialect is being chosen where all have room with their meanings beside the
    /// other fields: what comes below is scrolled meanwhile.
    fn must_tell_meanings(&self, content: u16, height: u16, errors: &Errors) -> bool {
        let tightest = plan([0; 7], 1, true, Words::List);
        let answer = self.rows_of_answer(&tightest, errors, content, false) + tightest.comments + 1;
        self.focus == Focus::Word && FRAME + answer <= height
    }

    /// Whether a plan tells the meanings of the older dialect's resolutions where they have to be.
    fn tells_meanings(&self, plan: &Plan, content: u16, height: u16, errors: &Errors) -> bool {
        plan.words == Words::List || !self.must_tell_meanings(content, height, errors)
    }

    /// Rows of what is answered: the decision with its reason, or resolution, refund and stopped amount.
    pub(super) fn rows_of_answer(&self, plan: &Plan, errors: &Errors, content: u16, tallest: bool) -> u16 {
        let [_, after_decision, after_reason, ..] = plan.gaps;
        match &self.older {
            Some(older) => {
                let amount = if older.is_partial() || tallest { 1 + line(&errors.amount) } else { 0 };
                let refund = rows_of_refunds(content) + line(&errors.refund);
                let words = if self.shows_chosen_alone(plan, errors) { 1 } else { plan.words.rows() };
                words + line(&errors.reason) + after_decision + refund + amount + after_reason
            }
            None if self.choice == Choice::Invalid || tallest => {
                let own = u16::from(self.each_has_its_own(plan));
                let reasons = if self.shows_chosen_alone(plan, errors) { 1 } else { 4 + own };
                rows_of_decisions(content) + after_decision + reasons + line(&errors.reason) + after_reason
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
        wrap_even(&seen.text, columns).into_iter().enumerate().map(move |(index, line)| (tone, line, index == 0))
    };
    seen.iter().flat_map(lines).collect()
}
