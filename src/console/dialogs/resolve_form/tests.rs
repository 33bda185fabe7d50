//! Tests that several alerts are held to what the form of one warns of.

use chrono::Duration;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::console::decisions::Decisions;
use crate::console::guards::speaks_against;
use crate::console::known_decisions::KnownDecisions;
use crate::console::unfinished::Unfinished;
use crate::desk::History;
use crate::domain::duplicate::RefundTime;
use crate::domain::time::from_iso;
use crate::domain::{OrderAdvice, Outcome, Provider};

fn now() -> Timestamp {
    from_iso("2026-03-03T12:00:00Z").unwrap()
}

fn alert() -> Alert {
    Alert { alert_time: Some(now() - Duration::hours(2)), ..Alert::sample() }
}

/// Another alert on the payment: it waits, or was refunded so many hours ago.
fn other((provider, refunded, is_ruled): (Provider, Option<i64>, bool)) -> Alert {
    let id = AlertId::generate();
    let outcome = refunded.map(|hours| Outcome {
        action_time: (hours < 9).then(|| now() - Duration::hours(hours)),
        ..Outcome::sample(id)
    });
    Alert { id, provider, outcome, rule_name: is_ruled.then(|| "Above 10 AED".to_owned()), ..alert() }
}

fn order(refund: RefundTime) -> OrderAdvice {
    let decision = match refund {
        RefundTime::Since => Decision::Refunded,
        RefundTime::Before | RefundTime::Unknown => Decision::Invalid(InvalidReason::PreviouslyRefunded),
    };
    OrderAdvice {
        decision,
        why: "refunded",
        refund: Some(refund),
        refunded_at: None,
        leaves_refund_open: false,
        only_warns: false,
    }
}

proptest! {
    #[test]
    fn what_the_form_of_one_alert_has_another_answer_for_is_never_sent_with_others_unasked(
        others in vec((select(vec![Provider::Ethoca, Provider::Verifi]), option::of(0..12_i64),
            any::<bool>()).prop_map(other), 0..4),
        refund in option::of(select(vec![RefundTime::Before, RefundTime::Since, RefundTime::Unknown])),
        choice in select(vec![Choice::Refunded, Choice::NotRefunded, Choice::Invalid]),
        reason in select(InvalidReason::ALL.to_vec()),
        dialect in select(Dialect::ALL.to_vec()),
    ) {
        let (alert, here, unfinished, history) = (alert(), Decisions::default(), Unfinished::default(),
            History::default());
        let known = KnownDecisions { here: &here, unfinished: &unfinished, history: &history, now: now() };
        let order = refund.map(order);
        let mut warnings: Vec<FormWarning> = known.duplicates(&alert,
            &others).into_iter().map(FormWarning::Duplicate).collect();
        warnings.extend(order.map(|order| FormWarning::Order("NW-1".to_owned(), order)));
        let place = FormContext { dialect, ..FormContext::default() };
        let draft = (choice == Choice::Invalid).then(|| Draft { resolution: Some(reason.resolution(dialect)),
            ..Draft::default() });
        let form = ResolveForm::new(&alert, choice, place, draft, warnings, now());
        let Ok(resolution) = form.validated() else { return Ok(()) };

        let asked = speaks_against(&alert, &resolution, others.iter(), order.as_ref(), &[], known);

        let instead = form.fitting_reason();
        prop_assert!(instead.is_none() || asked.is_some(), "{resolution} though {instead:?} fits");
        prop_assert!(instead.is_none() || !form.cautions().is_empty(), "the form asks as well");
    }
}
