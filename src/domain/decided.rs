//! Changed facts: what of an alert that a decision was made on is another by now, so that it is to be decided anew.

use super::Alert;

impl Alert {
    /// Describes a fact behind a decision that differs from `before`: the money, the card, the payment's identifiers,
    /// or the alert's type. A fact that one side does not know, as in a reduced answer, is no change. Neither is
    /// another spelling of a number.
    pub fn changed_since(&self, before: &Self) -> Option<String> {
        if self.updated_at.zip(before.updated_at).is_some_and(|(now, then)| now < then) {
            // An older read than the one that was decided on.
            return None;
        }
        if let (Some(then), Some(now)) = (before.money(), self.money())
            && (then.currency != now.currency || then.amount.decimal() != now.amount.decimal())
        {
            return Some(format!("{then} is {now} by now"));
        }
        let others = [
            (
                "card",
                is_another(&before.card_bin, &self.card_bin)
                    || is_another(&before.card_last_four, &self.card_last_four),
            ),
            ("ARN", is_another_known(before.known_arn(), self.known_arn())),
            ("transaction", is_another_known(before.known_transaction_id(), self.known_transaction_id())),
            ("order", is_another_known(before.known_order_id(), self.known_order_id())),
            ("type", self.alert_type != before.alert_type && !before.alert_type.as_str().is_empty()),
        ];
        others.into_iter().find(|(_, differs)| *differs).map(|(what, _)| format!("its {what} is another by now"))
    }
}

fn is_another(then: &str, now: &str) -> bool {
    let (then, now) = (then.trim(), now.trim());
    !then.is_empty() && !now.is_empty() && then != now
}

fn is_another_known(then: Option<&str>, now: Option<&str>) -> bool {
    then.zip(now).is_some_and(|(then, now)| is_another(then, now))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::{AlertType, Currency, Timestamp};

    fn changed(change: impl FnOnce(&mut Alert)) -> Option<String> {
        let (arn, updated_at) = (Some("7432".to_owned()), Some(Timestamp::UNIX_EPOCH));
        let before = Alert { acquirer_reference_number: arn, updated_at, ..Alert::sample() };
        let mut now = before.clone();
        change(&mut now);
        now.changed_since(&before)
    }

    #[rstest]
    #[case::nothing(|_: &mut Alert| (), None)]
    #[case::another_amount(|alert: &mut Alert| alert.amount = "999.00".parse().ok(), Some("999.00"))]
    #[case::another_currency(|alert: &mut Alert| alert.currency = Currency::new("CHF"), Some("CHF"))]
    #[case::another_card(|alert: &mut Alert| alert.card_last_four = "0001".to_owned(), Some("its card"))]
    #[case::another_arn(|alert: &mut Alert| alert.acquirer_reference_number = Some("8".to_owned()), Some("its ARN"))]
    #[case::a_reference_that_was_none(|alert: &mut Alert| alert.acquirer_reference_number = Some("N/A".to_owned()),
        None)]
    #[case::another_type(|alert: &mut Alert| alert.alert_type = AlertType::VerifiFraudNotice, Some("its type"))]
    #[case::a_field_that_is_not_told(|alert: &mut Alert| alert.amount = None, None)]
    #[case::a_card_that_is_not_told(|alert: &mut Alert| alert.card_bin = String::new(), None)]
    #[case::another_comment(|alert: &mut Alert| alert.issuer = "Another bank".to_owned(), None)]
    fn what_a_decision_rests_on_is_compared(#[case] change: fn(&mut Alert), #[case] says: Option<&str>) {
        let words = changed(change);

        match says {
            None => assert_eq!(words, None),
            Some(says) => assert!(words.as_deref().is_some_and(|words| words.contains(says)), "{words:?}"),
        }
    }

    #[test]
    fn another_way_to_write_a_number_is_no_change_and_neither_is_an_older_read() {
        let trailing_zeros =
            changed(|alert| alert.amount = alert.amount.map(|amount| format!("{amount}00").parse().unwrap()));
        let older = changed(|alert| {
            alert.amount = "999.00".parse().ok();
            alert.updated_at = alert.updated_at.map(|at| at - chrono::TimeDelta::seconds(1));
        });

        assert_eq!([trailing_zeros, older], [None, None]);
    }
}
