//! What the form for several alerts tells of the whole: how many get what, and why a case's refund is not sent.

use super::gets::AnswerScope;
use super::{ManyForm, Part};
use crate::console::dialogs::resolve_form::Caution;
use crate::console::guards::Gets;
use crate::console::text::{count, sanitize};
use crate::domain::Dialect;

/// How many alerts get a decision, are left out, and should be looked at by themselves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct FormCounts {
    pub(super) sent: usize,
    pub(super) left_out: usize,
    pub(super) care: usize,
}

impl ManyForm {
    pub(super) fn counts(&self) -> FormCounts {
        let mut counts = FormCounts::default();
        for gets in self.gets.iter().flatten() {
            match gets {
                Gets::Sent(_) => counts.sent += 1,
                Gets::Out { care: false, .. } => counts.left_out += 1,
                Gets::Out { care: true, .. } => counts.care += 1,
            }
        }
        counts
    }

    /// The row of a case's refund, where that is left out: nothing is sent without it.
    pub(super) fn refund_left_out(&self) -> Option<usize> {
        let AnswerScope::Case(first) = self.purpose else { return None };
        let row = self.rows.iter().position(|row| row.alert.id == first).filter(|_| self.answer.says_refund())?;
        matches!(self.gets_of(row), Some(Gets::Out { .. })).then_some(row)
    }

    /// Whether other alerts of the case follow its refund.
    pub(super) fn follows_refund(&self) -> bool {
        matches!(self.purpose, AnswerScope::Case(_)) && self.answer.says_refund() && self.counts().sent > 1
    }

    /// Whether what speaks against an answer can be confirmed here: in a case all of it. Of many alerts each has to be looked at by itself,
    /// but for what another answer of this form fits.
    pub(super) fn can_be_confirmed(&self, cautions: &[Caution]) -> bool {
        let is_case = self.purpose != AnswerScope::Bulk;
        !cautions.is_empty() && (is_case || cautions.iter().all(|caution| *caution == Caution::RefundDenied))
    }

    /// What space does to the alert under the list's cursor.
    pub(super) fn space_words(&self) -> &'static str {
        match (self.gets_of(self.list.at), self.rows.get(self.list.at)) {
            (Some(Gets::Out { .. }), Some(row)) if row.left_out => "take in",
            (Some(Gets::Out { cautions, .. }), _) if self.can_be_confirmed(cautions) => "confirm",
            _ => "leave out",
        }
    }

    /// The same where the list has not the focus: what its space does.
    pub(super) fn space_in_list(&self) -> &'static str {
        match self.space_words() {
            "take in" => "list: space takes in",
            "confirm" => "list: space confirms",
            _ => "list: space leaves out",
        }
    }

    /// How a case whose refund is left out goes on: the keys, and what each does.
    pub(super) fn ways_on(&self, dialect: Dialect) -> Vec<[String; 2]> {
        let Some(row) = self.refund_left_out() else { return Vec::new() };
        let is_taken_in = self.rows[row].left_out;
        let can_be = matches!(self.gets_of(row), Some(Gets::Out { cautions, .. }) if is_taken_in || self.can_be_confirmed(cautions));
        let keys = if self.part == Part::List { "space" } else { "tab, then space" };
        let does = if is_taken_in { "take the refund in" } else { "refund all the same" };
        let here = can_be.then(|| [keys.to_owned(), format!(" on {}: {does}", sanitize(self.rows[row].alert.provider.as_str()))]);
        let invalid = (dialect == Dialect::Current).then(|| ["alt-i".to_owned(), ": all invalid".to_owned()]);
        here.into_iter().chain(invalid).collect()
    }

    /// Why the refund of a case is not sent, and what sends it from here.
    pub(super) fn why_not_refunded(&self, row: usize) -> String {
        // A blank that is typed in a field stays there.
        let way = if self.part == Part::List { "Space on it" } else { "In the list (tab) space" };
        let does = if self.rows[row].left_out { "adds it" } else { "sends it" };
        match self.gets_of(row) {
            Some(Gets::Out { cautions, .. }) if self.rows[row].left_out || !cautions.is_empty() => {
                format!("Nothing was sent: the refund is left out. {way} {does}.")
            }
            Some(Gets::Out { why, .. }) => format!("Nothing was sent: the refund is left out: {why}."),
            _ => String::new(),
        }
    }

    /// The words of the count: `35 will be sent`, `2 left out`.
    pub(super) fn counts_in_words(&self) -> Vec<(String, bool)> {
        let FormCounts { sent, left_out, care } = self.counts();
        let why = if self.refund_left_out().is_some() { " without the refund" } else { "" };
        let mut words = vec![(format!("{} will be sent{why}", count(sent as u64)), !why.is_empty())];
        if left_out > 0 {
            words.push((format!("{} left out", count(left_out as u64)), false));
        }
        if care > 0 {
            words.push((format!("{} {} a look", count(care as u64), if care == 1 { "needs" } else { "need" }), true));
        }
        if self.not_looked_up() > 0 {
            words.push((format!("{} not checked for doubles", count(self.not_looked_up() as u64)), true));
        }
        let not_again = self.rows.iter().filter(|row| row.not_again).count();
        if not_again > 0 {
            words.push((format!("{} not checked again for doubles", count(not_again as u64)), true));
        }
        words
    }
}
