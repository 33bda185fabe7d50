//! The answer form: one answer for one alert, for those that are marked, or for a case; the checks of each alert, and
//! one send for all of them.
//!
//! It holds its alerts and never a row number. Enter moves on and never sends; `ctrl-s` does, or a click on it.

mod checks;
mod choice;
mod draw;
mod events;
mod fields;
mod item;
mod opening;
mod row_plan;
mod sending;
mod validation;

use std::collections::BTreeSet;

use chrono::Duration;
use ratatui::{Frame, buffer::Buffer, layout::Rect};
use uuid::Uuid;

use crate::{
    Action, AppContext, ClickTargets, Dialog, Effect, KeyContext, Message, Task, Tasks,
    desk::{AnswerDraft, Draft},
    domain::{Alert, AlertId, OrderAdvice, Timestamp, advice::advice, resolution::FieldError},
    screens::{on_every_page, why_idle_on_page},
    ui::table::Cursor,
};
pub use choice::Choice;
pub use fields::AnswerFields;
pub use item::AnswerScope;
use item::FormItem;
pub use opening::{KnownCase, again, begun, chosen, open_again, repeat, suggested_draft, take_suggested};
use row_plan::{RowPlan, duplicate_indices, orders};
pub use row_plan::{can_be_answered, cannot_be_answered, waits};

/// Above so many alerts their number is typed before they are sent.
const TYPED_ABOVE: usize = 10;

/// What is typed is on the desk before so much time has passed twice.
const KEEP_AFTER: Duration = Duration::milliseconds(150);

/// The keys that work everywhere do so while the list has the focus.
const CONTEXTS: [KeyContext; 1] = [KeyContext::Always];

/// What has the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A field of the answer.
    Answer,
    /// The list of alerts.
    List,
}

/// What a click can meet beside the fields of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Row(usize),
    Send,
    Back,
}

/// The form while it is open.
#[derive(Debug)]
pub struct AnswerForm {
    fields: AnswerFields,
    scope: AnswerScope,
    rows: Vec<FormItem>,
    /// For each alert the positions of the others that are on its payment.
    duplicate_indices: Vec<BTreeSet<usize>>,
    /// The advice of the shop's orders on each alert.
    orders: Vec<Option<OrderAdvice>>,
    /// The plan for each alert by what is said now; or what is wrong with that.
    plans: Result<Vec<RowPlan>, Vec<FieldError>>,
    part: Part,
    list: Cursor,
    /// Words of the folded lines that are unfolded.
    unfolded: BTreeSet<String>,
    /// True where the service looks payments up by one search for many alerts.
    by_one_search: bool,
    /// How many alerts' payments were asked for.
    asked: usize,
    /// It was sent while payments were still being looked up: it leaves when that ends with nothing to look at.
    /// How many needed a look then.
    kept_send: Option<usize>,
    /// The draft, as it was opened or as it was kept last.
    draft: AnswerDraft,
    /// When what was typed since is kept.
    keep_due: Option<Timestamp>,
    /// True where it was sent or closed: nothing more is kept.
    ended: bool,
    word: Option<String>,
    targets: ClickTargets<Target>,
}

impl AnswerForm {
    /// The form on alerts, with an answer chosen.
    fn new(rows: Vec<FormItem>, choice: Choice, said: &Draft, scope: AnswerScope, cx: &AppContext) -> Self {
        let fields = AnswerFields::new(first_of(scope, &rows), choice, cx.place.dialect, said);
        let draft = AnswerDraft {
            id: Uuid::now_v7(),
            case: matches!(scope, AnswerScope::Case(_)),
            alerts: rows.iter().map(|row| row.alert.id).collect(),
            left_out: Vec::new(),
            answer: fields.answer(),
        };
        let mut form = Self {
            fields,
            scope,
            duplicate_indices: duplicate_indices(&rows),
            orders: Vec::new(),
            plans: Ok(Vec::new()),
            part: Part::Answer,
            list: Cursor::default(),
            unfolded: BTreeSet::new(),
            by_one_search: cx.operator,
            asked: if rows.iter().all(FormItem::is_looked_up) { rows.len() } else { 0 },
            rows,
            kept_send: None,
            draft,
            keep_due: None,
            ended: false,
            word: None,
            targets: ClickTargets::default(),
        };
        form.work_out(cx);
        form
    }

    /// Goes on with a draft. What is typed next is no comment where a number is asked for.
    fn restore(&mut self, draft: &AnswerDraft, cx: &AppContext) {
        for row in &mut self.rows {
            row.left_out = draft.left_out.contains(&row.alert.id);
        }
        // Of a draft that is for others too, what was typed for them stays.
        if draft.case || draft.alerts.len() == self.rows.len() {
            self.draft.id = draft.id;
        }
        self.fields.fill_in(&draft.answer);
        self.draft = self.stands();
        self.work_out(cx);
        self.fields.go_to_number();
    }

    /// What stands in the form now.
    fn stands(&self) -> AnswerDraft {
        let left_out = self.rows.iter().filter(|row| row.left_out).map(|row| row.alert.id).collect();
        AnswerDraft { left_out, answer: self.fields.answer(), ..self.draft.clone() }
    }

    /// Keeps what stands in the form, once it is time; with `at_once` whatever was typed since. A draft is text: what
    /// was not touched leaves the draft that is there as it is, and a blank one is dropped.
    fn keep_typed(&mut self, at_once: bool, cx: &mut AppContext) -> Option<Effect> {
        let stands = self.stands();
        if self.ended || stands == self.draft {
            self.keep_due = None;
            return None;
        }
        let due = *self.keep_due.get_or_insert(cx.now + KEEP_AFTER);
        if !at_once && due > cx.now {
            return None;
        }
        self.keep_due = None;
        self.draft = stands.clone();
        let is_blank = self.fields.is_bare() && stands.left_out.is_empty();
        if is_blank { cx.answer_drafts.drop(stands.id) } else { Some(cx.answer_drafts.keep(stands)) }
    }

    /// Works out the plan for each alert by what is said now.
    fn work_out(&mut self, cx: &AppContext) {
        self.orders = orders(&self.rows, &self.duplicate_indices);
        for (row, order) in self.rows.iter_mut().zip(&self.orders) {
            if !row.confirmed.is_empty() || row.known.is_some() {
                row.drop_stale_confirmations(row.refunds_known(*order, cx));
            }
        }
        self.offer_reason(cx);
        self.plans = self.planned(cx);
        self.show_facts(cx);
    }

    /// A reason is chosen beforehand only where it is advised.
    fn offer_reason(&mut self, cx: &AppContext) {
        if self.scope != AnswerScope::One {
            return;
        }
        let row = &self.rows[0];
        let duplicates = cx.known_decisions().duplicates(&row.alert, row.others());
        let advised = advice(&row.alert, duplicates.iter(), self.orders[0].as_ref());
        if let Some(reason) = advised.and_then(|advice| advice.decision.reason()) {
            self.fields.offer(reason);
        }
    }

    /// The plan for an alert; nothing where what is said is wrong for all.
    fn plan_of(&self, position: usize) -> Option<&RowPlan> {
        self.plans.as_ref().ok().and_then(|plans| plans.get(position))
    }

    /// The number that has to be typed before so many are sent.
    fn asked_number(&self) -> Option<usize> {
        let sent = self.counts().sent;
        (sent > TYPED_ABOVE).then_some(sent)
    }

    fn say(&mut self, words: &str) -> Tasks {
        self.word = Some(words.to_owned());
        Vec::new()
    }

    /// Closes it; what is marked stays so, and what stands in it is kept.
    fn close(&mut self, cx: &mut AppContext) -> Tasks {
        let kept = self.keep_typed(true, cx);
        let mut outcome = vec![Task::Close];
        outcome.extend(kept.into_iter().map(Task::from));
        self.ended = true;
        outcome
    }
}

impl Dialog for AnswerForm {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Tasks {
        let mut outcome = self.take(message, cx);
        if matches!(message, Message::Input(_) | Message::Tick) {
            outcome.extend(self.keep_typed(false, cx).into_iter().map(Task::from));
        }
        outcome
    }

    /// What others have changed is known only after they heard of a message themselves.
    fn refresh(&mut self, cx: &AppContext) {
        if self.scope == AnswerScope::One {
            self.work_out(cx);
        }
    }

    fn docks(&self) -> bool {
        true
    }

    fn draw_beside(&self, buffer: &mut Buffer, area: Rect, cx: &AppContext) {
        self.draw_detail(buffer, area, cx);
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.keep_due
    }

    fn abandon(&mut self, cx: &mut AppContext) -> Vec<Effect> {
        self.keep_typed(true, cx).into_iter().collect()
    }

    fn contexts(&self) -> &'static [KeyContext] {
        if self.part == Part::List { &CONTEXTS } else { &[] }
    }

    fn why_idle(&self, action: Action, cx: &AppContext) -> Option<&'static str> {
        why_idle_on_page(action, cx)
    }

    fn act(&mut self, action: Action, cx: &mut AppContext) -> Option<Tasks> {
        // Nothing goes on to what lies below.
        Some(if action == Action::Back { self.close(cx) } else { on_every_page(action).unwrap_or_default() })
    }

    fn in_hand(&self) -> Vec<AlertId> {
        self.rows.iter().map(|row| row.alert.id).collect()
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.draw_all(frame, area, cx);
    }

    fn draw_keys(&self, buffer: &mut Buffer, line: Rect, cx: &AppContext) {
        self.draw_offered(buffer, line, cx);
    }
}

/// The alert that stands for all of them: the refund's own, or the first that waits.
fn first_of(scope: AnswerScope, rows: &[FormItem]) -> &Alert {
    let stands_for_all = |row: &&FormItem| match scope {
        AnswerScope::Case(id) => row.alert.id == id,
        AnswerScope::One | AnswerScope::Bulk => row.alert.outcome.is_none(),
    };
    &rows.iter().find(stands_for_all).unwrap_or(&rows[0]).alert
}
