//! What the form for several alerts tells of the whole: how many get what, and why a case's refund is not sent.

use super::gets::AnswerScope;
use super::{ManyForm, Part};
use crate::console::dialogs::resolve_form::Caution;
use crate::console::guards::Gets;
use crate::console::text::{columns, count, sanitize};
use crate::domain::money::sums_by_currency;
use crate::domain::{Alert, Dialect, Money};

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

    /// Whether what speaks against an answer can be confirmed here: in a case all of it. Of many alerts each has to be
    /// looked at by itself, but for what another answer of this form fits, and for what has changed, which the list
    /// tells.
    pub(super) fn can_be_confirmed(&self, cautions: &[Caution]) -> bool {
        let is_case = self.purpose != AnswerScope::Bulk;
        !cautions.is_empty()
            && (is_case || cautions.iter().all(|caution| matches!(caution, Caution::RefundDenied | Caution::Changed)))
    }

    /// What space does to the alert under the list's cursor.
    pub(super) fn space_words(&self) -> &'static str {
        match (self.gets_of(self.list.at), self.rows.get(self.list.at)) {
            (Some(Gets::Out { .. }), Some(row)) if row.left_out => "add",
            (Some(Gets::Out { cautions, .. }), _) if self.can_be_confirmed(cautions) => "confirm",
            _ => "leave out",
        }
    }

    /// The same where the list has not the focus: what its space does.
    pub(super) fn space_in_list(&self) -> &'static str {
        match self.space_words() {
            "add" => "list: space adds",
            "confirm" => "list: space confirms",
            _ => "list: space leaves out",
        }
    }

    /// How a case whose refund is left out goes on: the keys, and what each does.
    pub(super) fn ways_on(&self, dialect: Dialect) -> Vec<[String; 2]> {
        let Some(row) = self.refund_left_out() else { return Vec::new() };
        let is_taken_in = self.rows[row].left_out;
        let can_be = matches!(self.gets_of(row), Some(Gets::Out { cautions,
            .. }) if is_taken_in || self.can_be_confirmed(cautions));
        let keys = if self.part == Part::List { "space" } else { "tab, then space" };
        let does = if is_taken_in { "add the refund" } else { "Send anyway" };
        let here = can_be
            .then(|| [keys.to_owned(), format!(" on {}: {does}", sanitize(self.rows[row].alert.provider.as_str()))]);
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
                format!("Not sent: the refund is left out. {way} {does}.")
            }
            Some(Gets::Out { why, .. }) => format!("Not sent: the refund is left out: {why}."),
            _ => String::new(),
        }
    }

    /// The words of the counts, each with whether somebody should see to it: `35 will be sent`, `2 left out: answered
    /// already`. Reasons are given as far as they have room, and numbers stand below each other where each count has a
    /// line.
    pub(super) fn counts_in_words(&self, room: Option<u16>) -> Vec<(String, bool)> {
        let FormCounts { sent, left_out, care } = self.counts();
        let why = if self.refund_left_out().is_some() { " without the refund" } else { "" };
        let not_again = self.rows.iter().filter(|row| row.not_again).count();
        let look = if care == 1 { "needs review" } else { "need review" };
        let counts = [
            (sent, format!("will be sent{why}"), !why.is_empty()),
            (left_out, format!("skipped{}", self.reasons(false, "skipped", room)), false),
            (care, format!("{look}{}", self.reasons(true, look, room)), true),
            (self.not_looked_up(), "duplicates not checked".to_owned(), true),
            (not_again, "duplicates not checked again".to_owned(), true),
        ];
        let counts: Vec<_> =
            counts.into_iter().enumerate().filter(|(index, (many, ..))| *index == 0 || *many > 0).collect();
        let number = |many: &usize| count(*many as u64);
        let widest =
            counts.iter().map(|(_, (many, ..))| number(many).len()).max().filter(|_| room.is_some()).unwrap_or(0);
        counts.iter().map(|(_, (many, words, care))| (format!("{:>widest$} {words}", number(many)), *care)).collect()
    }

    /// Why some are left out, each reason once and in its first words, where all of them have room behind the count's
    /// own words.
    fn reasons(&self, careful: bool, words: &str, room: Option<u16>) -> String {
        let Some(room) = room else { return String::new() };
        let mut reasons: Vec<&str> = Vec::new();
        for gets in self.gets.iter().flatten() {
            if let Gets::Out { why, care, .. } = gets
                && *care == careful
            {
                let first = why.split([';', ':']).next().unwrap_or(why);
                let first = first.strip_prefix("skipped ").unwrap_or(first);
                if !reasons.contains(&first) {
                    reasons.push(first);
                }
            }
        }
        let told = format!(": {}", reasons.join(", "));
        // A number of up to four digits stands before it.
        if columns(words).saturating_add(columns(&told)).saturating_add(6) <= room { told } else { String::new() }
    }

    /// The sums of what will be sent, by currency, as many as have room: `1,204.50 EUR  310.00 USD  +2 more`.
    pub(super) fn sum_of_sent(&self, room: u16) -> String {
        let is_sent = |(row, gets): (_, &Gets)| matches!(gets, Gets::Sent(_)).then_some(row);
        let rows = self.rows.iter().map(|row| &row.alert);
        let sums = sums(rows.zip(self.gets.iter().flatten()).filter_map(is_sent));
        let said = |shown: usize| {
            let more = sums.len() - shown;
            let more = (more > 0).then(|| format!("+{more} more"));
            sums[..shown].iter().cloned().chain(more).collect::<Vec<_>>().join("  ")
        };
        (1..=sums.len()).rev().map(said).find(|said| columns(said) <= room).unwrap_or_default()
    }
}

/// The sums of alerts by currency, the largest count first: `1,204.50 EUR  310.00 USD`.
pub(super) fn sums<'a>(alerts: impl Iterator<Item = &'a Alert>) -> Vec<String> {
    let sums = sums_by_currency(alerts.filter_map(Alert::money).map(|money| (1, money)));
    sums.iter().map(Money::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Currency;

    #[test]
    fn sums_stand_by_currency_and_the_one_of_most_alerts_first() {
        let of = |amount: &str, currency: &str| Alert {
            amount: Some(amount.parse().unwrap()),
            currency: Currency::new(currency),
            ..Alert::sample()
        };
        let alerts =
            [of("1000", "USD"), of("12.50", "EUR"), of("0.10", "EUR"), Alert { amount: None, ..Alert::sample() }];

        assert_eq!(sums(alerts.iter()), ["12.60 EUR", "1,000.00 USD"]);
    }
}
