//! The drafts of answers: begun and not sent, and found again by their alerts.

use std::collections::HashSet;

use uuid::Uuid;

use super::{
    Effect, Keep,
    text::{count, counted},
};
use crate::{
    desk::AnswerDraft,
    domain::{AlertId, card::mask_card_numbers},
};

/// The drafts of this desk that are known here, the one that was begun last at the end.
#[derive(Debug, Default)]
pub struct AnswerDraftList {
    all: Vec<AnswerDraft>,
}

impl AnswerDraftList {
    /// Those that were kept.
    pub fn of(all: Vec<AnswerDraft>) -> Self {
        Self { all }
    }

    /// All of them, the one that was begun last at the end.
    pub fn all(&self) -> &[AnswerDraft] {
        &self.all
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

    /// The drafts of answers to these alerts; the one that was begun last is at the end. A case is known by each of its
    /// alerts. What is marked has to be a part of what a draft was begun for: nobody decided for the others.
    pub fn on(&self, case: bool, alerts: &[AlertId]) -> impl DoubleEndedIterator<Item = &AnswerDraft> {
        let is_for = move |draft: &&AnswerDraft| match alerts {
            _ if case => draft.alerts.iter().any(|alert| alerts.contains(alert)),
            [alone] => draft.alerts == [*alone],
            several => {
                let all: HashSet<&AlertId> = draft.alerts.iter().collect();
                several.iter().all(|alert| all.contains(alert))
            }
        };
        self.all.iter().filter(move |draft| draft.case == case).filter(is_for)
    }

    /// Keeps a draft, card numbers masked as they would be sent.
    pub fn keep(&mut self, mut draft: AnswerDraft) -> Effect {
        draft.answer.comments = mask_card_numbers(&draft.answer.comments).into_owned();
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
        AnswerDraft { id: Uuid::now_v7(), case, alerts: alerts.to_vec(), left_out: Vec::new(), answer }
    }

    #[test]
    fn a_draft_of_marks_is_found_for_some_of_its_alerts_and_not_where_another_one_is_among_them() {
        let [a, b, c, d] = alerts();
        let mut list = AnswerDraftList::default();
        list.keep(draft(false, &[a, b, d]));

        let found = [vec![a], vec![a, b], vec![a, b, c], vec![b, d], vec![b, c], vec![c]]
            .map(|marked| list.on(false, &marked).next().is_some());

        assert_eq!(found, [false, true, false, true, false, false]);
        assert!(list.on(true, &[a, b]).next().is_none(), "what was marked is no case");
    }

    #[test]
    fn a_draft_of_a_case_is_found_by_each_of_its_alerts() {
        let [a, b, c] = alerts();
        let mut list = AnswerDraftList::default();
        list.keep(draft(true, &[a, b]));

        let found = [vec![b, c], vec![c]].map(|case| list.on(true, &case).next().is_some());

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
        assert!(list.all().is_empty());
    }
}
