//! The drafts of answers: begun and not sent, and found again by their alerts.

use std::collections::HashSet;

use uuid::Uuid;

use super::text::{count, counted};
use super::{Effect, Keep};
use crate::desk::AnswerDraft;
use crate::domain::AlertId;
use crate::domain::card::mask_card_numbers;

/// The drafts of this desk that are known here, the one that was begun last at the end.
#[derive(Debug, Default)]
pub struct AnswerDraftList {
    all: Vec<AnswerDraft>,
    /// The one that the start has told of, until somebody goes on with it or lets it go.
    offered: Option<Uuid>,
}

impl AnswerDraftList {
    /// Those that were kept.
    pub fn of(all: Vec<AnswerDraft>) -> Self {
        Self { all, offered: None }
    }

    /// The draft that was begun last for what was marked. One that an earlier start has told of is found by its alerts
    /// alone.
    pub fn of_marks(&self) -> Option<&AnswerDraft> {
        self.all.iter().rfind(|draft| !draft.case && !draft.told && draft.alerts.len() > 1)
    }

    /// The draft that the start has told of and that nobody has gone on with yet.
    pub fn offered(&self) -> Option<&AnswerDraft> {
        self.all.iter().find(|draft| Some(draft.id) == self.offered)
    }

    /// Offers the draft that was begun last for what was marked, once, as far as its alerts wait: the desk has it that
    /// it was told of.
    pub fn offer(&mut self, waiting: &[AlertId]) -> Option<Effect> {
        let id = self.of_marks()?.id;
        let draft = self.all.iter_mut().find(|draft| draft.id == id)?;
        draft.alerts.retain(|alert| waiting.contains(alert));
        draft.left_out.retain(|alert| waiting.contains(alert));
        self.offered = Some(id);
        Some(Effect::Keep(Keep::AnswerDraft(AnswerDraft { told: true, ..draft.clone() })))
    }

    /// The draft of this id.
    pub fn get(&self, id: Uuid) -> Option<&AnswerDraft> {
        self.all.iter().find(|draft| draft.id == id)
    }

    /// For whom a draft is, in words: `3 alerts`, `3 alerts (1 of them left out)`.
    pub fn for_whom(draft: &AnswerDraft) -> String {
        let alerts = counted(draft.alerts.len() as u64, "alert", "alerts");
        match draft.left_out.len() {
            0 => alerts,
            left_out => format!("{alerts} ({} skipped)", count(left_out as u64)),
        }
    }

    /// Somebody goes on with the draft that was offered.
    pub fn taken_up(&mut self) {
        self.offered = None;
    }

    /// Lets the draft go that was offered; returns it.
    pub fn let_go(&mut self) -> Option<(AnswerDraft, Effect)> {
        let draft = self.offered()?.clone();
        let dropped = self.drop(draft.id)?;
        Some((draft, dropped))
    }

    /// The draft of an answer to what is marked, which has to be a part of what it was begun for: nobody decided for
    /// the others.
    pub fn of_marked(&self, alerts: &[AlertId]) -> Option<&AnswerDraft> {
        self.all.iter().filter(|draft| !draft.case).rfind(|draft| {
            let all: HashSet<&AlertId> = draft.alerts.iter().collect();
            alerts.iter().all(|alert| all.contains(alert))
        })
    }

    /// The drafts for a case, which is known by each of its alerts; the one that was begun last at the end.
    pub fn of_case(&self, alerts: &[AlertId]) -> impl DoubleEndedIterator<Item = &AnswerDraft> {
        self.all.iter().filter(|draft| draft.case && draft.alerts.iter().any(|alert| alerts.contains(alert)))
    }

    /// The drafts for this alert alone, each of another answer; the one that was begun last at the end.
    pub fn of_alert(&self, alert: AlertId) -> impl DoubleEndedIterator<Item = &AnswerDraft> {
        self.all.iter().filter(move |draft| !draft.case && draft.alerts == [alert])
    }

    /// Drops the drafts for this alert alone.
    pub fn drop_of(&mut self, alert: AlertId) -> Vec<Effect> {
        let ids: Vec<Uuid> = self.of_alert(alert).map(|draft| draft.id).collect();
        ids.into_iter().filter_map(|id| self.drop(id)).collect()
    }

    /// A draft that is for this alert too.
    pub fn with(&self, alert: AlertId) -> Option<&AnswerDraft> {
        self.all.iter().rfind(|draft| draft.alerts.contains(&alert))
    }

    /// Reads what was marked for the answer that was begun last; to open its form, or to tell of it.
    pub fn read_marks(&self, opens: bool) -> Option<Effect> {
        self.of_marks().map(|draft| Effect::ReadAlerts(draft.alerts.clone(), opens))
    }

    /// Keeps a draft, card numbers masked as they would be sent.
    pub fn keep(&mut self, mut draft: AnswerDraft) -> Effect {
        draft.answer.comments = mask_card_numbers(&draft.answer.comments).into_owned();
        // Somebody has gone on with it: the next start tells of it again.
        draft.told = false;
        if self.offered == Some(draft.id) {
            self.taken_up();
        }
        self.all.retain(|known| known.id != draft.id);
        self.all.push(draft.clone());
        Effect::Keep(Keep::AnswerDraft(draft))
    }

    /// A draft was staged: nobody goes on with it, and the desk has it until its decisions have left.
    pub fn staged(&mut self, draft: AnswerDraft) -> Effect {
        let id = draft.id;
        let kept = self.keep(draft);
        self.all.retain(|known| known.id != id);
        kept
    }

    /// Drops a draft, if it is there.
    pub fn drop(&mut self, id: Uuid) -> Option<Effect> {
        let before = self.all.len();
        self.all.retain(|known| known.id != id);
        (self.all.len() < before).then_some(Effect::Keep(Keep::NoAnswerDraft(id)))
    }

    /// An alert is answered: drafts for answered alerts alone are dropped.
    pub fn concluded(&mut self, alert: AlertId) -> Vec<Effect> {
        self.all.iter_mut().for_each(|draft| draft.alerts.retain(|other| *other != alert));
        let over: Vec<Uuid> = self.all.iter().filter(|draft| draft.alerts.is_empty()).map(|draft| draft.id).collect();
        over.into_iter().filter_map(|id| self.drop(id)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::Draft;

    fn alerts<const N: usize>() -> [AlertId; N] {
        std::array::from_fn(|_| AlertId::generate())
    }

    fn draft(case: bool, alerts: &[AlertId]) -> AnswerDraft {
        let answer = Draft { comments: "so far".to_owned(), ..Draft::default() };
        AnswerDraft { id: Uuid::now_v7(), case, alerts: alerts.to_vec(), left_out: Vec::new(), answer, told: false }
    }

    #[test]
    fn a_draft_of_marks_is_found_for_all_or_some_of_its_alerts_and_not_where_another_one_is_among_them() {
        let [a, b, c] = alerts();
        let mut list = AnswerDraftList::default();
        list.keep(draft(false, &[a, b]));

        let found =
            [vec![a], vec![a, b], vec![a, b, c], vec![b, c], vec![c]].map(|marked| list.of_marked(&marked).is_some());

        assert_eq!(found, [true, true, false, false, false]);
        assert!(list.of_case(&[a, b]).next().is_none(), "what was marked is no case");
    }

    #[test]
    fn a_draft_of_a_case_is_found_by_each_of_its_alerts() {
        let [a, b, c] = alerts();
        let mut list = AnswerDraftList::default();
        list.keep(draft(true, &[a, b]));

        let found = [vec![b, c], vec![c]].map(|case| list.of_case(&case).next().is_some());

        assert_eq!(found, [true, false]);
    }

    #[test]
    fn a_draft_is_dropped_once_the_last_of_its_alerts_is_answered() {
        let [a, b] = alerts();
        let mut list = AnswerDraftList::default();
        let kept = draft(false, &[a, b]);
        list.keep(kept.clone());

        let first = list.concluded(a);
        let last = list.concluded(b);

        assert_eq!((first, last), (vec![], vec![Effect::Keep(Keep::NoAnswerDraft(kept.id))]));
        assert!(list.of_marks().is_none());
    }
}
