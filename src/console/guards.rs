//! The guards that an answer is held to: why an alert cannot be answered, and what warns against an answer.

use super::answer_words::answered_as;
use super::dialogs::answer_form::{Caution, SaysOfMoney};
use super::known_decisions::KnownDecisions;
use super::resolving::subject;
use super::unfinished::{Stage, in_words};
use super::{Loadable, times};
use crate::domain::advice::{Advice, AdviceBasis, refund_warning};
use crate::domain::duplicate::{Duplicate, DuplicateState};
use crate::domain::resolution::Decision;
use crate::domain::{Alert, OrderAdvice, Resolution, Timestamp, duplicate};

/// Plan for one alert of a form.
#[derive(Debug, Clone, PartialEq)]
pub enum Gets {
    Sent(Resolution),
    /// It is left out, and why; `care` where it should be looked at by itself.
    Out {
        why: String,
        care: bool,
        /// What would have to be confirmed.
        cautions: Vec<Caution>,
    },
}

impl Gets {
    /// Left out, and why.
    pub fn out(why: impl Into<String>) -> Self {
        Self::Out { why: why.into(), care: false, cautions: Vec::new() }
    }

    /// Left out, to be looked at by itself, and why.
    pub fn care(why: impl Into<String>) -> Self {
        Self::Out { why: why.into(), care: true, cautions: Vec::new() }
    }

    /// Left out until this is confirmed.
    pub fn doubt(caution: Caution) -> Self {
        Self::Out { why: caution.words().to_owned(), care: true, cautions: vec![caution] }
    }
}

/// How the reason begins of what has its answer: that says by itself that it gets none.
const ANSWERED: &str = "already answered";

/// That an alert is left out because it has this answer.
pub fn skip_answered(answer: &str) -> Gets {
    Gets::out(format!("{ANSWERED}: {answer}"))
}

/// Why an alert is left out, in the words of its row.
pub fn left_out_words(why: &str) -> String {
    if ["skipped", ANSWERED].iter().any(|lead| why.starts_with(lead)) {
        why.to_owned()
    } else {
        format!("skipped: {why}")
    }
}

/// Why an alert cannot be answered at all now; nothing where it can be.
pub fn cannot_be_answered(alert: &Alert, known: KnownDecisions<'_>) -> Option<Gets> {
    if alert.outcome.is_some() {
        return Some(skip_answered(&answered_as(alert)));
    }
    if let Some(waiting) = known.here.waiting().find(|decision| decision.alert.id == alert.id) {
        let follows = "queued until the refund is recorded";
        return Some(Gets::out(if waiting.follows() { follows } else { "queued, not sent" }));
    }
    if known.here.is_underway(alert.id) {
        return Some(Gets::out("an answer is queued"));
    }
    if let Some(unfinished) = known.unfinished.of(alert.id) {
        return Some(match Stage::of(unfinished) {
            Stage::Sending => Gets::out("sending"),
            Stage::Unknown => Gets::care("unconfirmed"),
            Stage::Parked => Gets::care("unconfirmed"),
        });
    }
    if known.here.is_checking(alert.id) {
        return Some(Gets::doubt(Caution::MayHaveArrived));
    }
    known.history.answered_on(alert.id).map(|_| Gets::doubt(Caution::ListBehind))
}

/// What speaks against a decision on an alert that can be answered, as far as it was not confirmed; `others` are on its
/// payment, `advised_by` is what the shop's order advises, and `exact` says that one matches exactly.
pub fn find_warning<'o>(
    alert: &Alert,
    resolution: &Resolution,
    others: impl Iterator<Item = &'o Alert>,
    (advised_by, exact): (Option<&OrderAdvice>, bool),
    confirmed: &[Caution],
    known: KnownDecisions<'_>,
) -> Option<Gets> {
    if let (Resolution::Older { amount_stopped: Some(stopped), .. }, Some(disputed)) = (resolution, alert.money()) {
        if stopped.decimal() > disputed.amount.decimal() {
            return Some(Gets::care("the stopped amount is more than its own"));
        }
        if stopped.decimal().normalize().scale() > disputed.decimals() {
            return Some(Gets::care("too many decimals for its currency"));
        }
    }
    let order = advised_by.filter(|order| order.was_refunded_before());
    let on_payment: Vec<&Alert> = others.filter(|other| known.foreseen(other).refund_is_likely()).collect();
    let refunded = on_payment.first().copied();
    let says =
        SaysOfMoney { refunds: resolution.gives_money_back(), refunded_before: resolution.says_refunded_before() };
    let mut cautions = Caution::against(alert, says, refunded.is_some() || order.is_some(), known.now);
    let doubles = known.duplicates(alert, on_payment.iter().copied());
    let denied =
        denied_refund(alert, resolution, &doubles, advised_by).filter(|_| !cautions.contains(&Caution::NetworkRule));
    cautions.extend(denied.map(|_| Caution::RefundDenied));
    let is_open = resolution.gives_money_back() && advised_by.is_some_and(|order| order.leaves_refund_open);
    cautions.extend(is_open.then_some(Caution::RefundOpen));
    cautions.extend((exact && resolution.says_not_found()).then_some(Caution::OrderFound));
    // Money comes first; what may have arrived already, before it.
    cautions.sort_by_key(|caution| !matches!(caution, Caution::MayHaveArrived | Caution::RefundDenied));
    let caution = *cautions.first()?;
    if cautions.iter().all(|caution| confirmed.contains(caution)) {
        return None;
    }
    if let Some(denied) = denied.filter(|_| caution == Caution::RefundDenied) {
        return Some(Gets::Out {
            why: denied_words(denied, &doubles, advised_by, resolution, known.now),
            care: true,
            cautions,
        });
    }
    let by = match (refunded, order) {
        _ if caution != Caution::PaidTwice => String::new(),
        (Some(other), _) if !known.answered(other).refund_is_likely() => {
            let how_far = if known.may_have_arrived(other.id) { "is unconfirmed" } else { "is under way" };
            format!(": a refund of {} {how_far}", subject(other))
        }
        (Some(other), _) => {
            let is_sure = known.foreseen(other).was_refunded();
            format!(": {} is {}", subject(other), if is_sure { "refunded" } else { "probably refunded by its network" })
        }
        (None, Some(order)) => format!(": its order was {}", order.why),
        (None, None) => String::new(),
    };
    Some(Gets::Out { why: format!("{}{by}", caution.words()), care: true, cautions })
}

/// What is advised instead of an answer that money does not go back, where money has gone back already.
fn denied_refund(
    alert: &Alert,
    resolution: &Resolution,
    doubles: &[Duplicate],
    order: Option<&OrderAdvice>,
) -> Option<Advice> {
    let advised = refund_warning(alert, doubles.iter(), order)?;
    let fits = match (resolution, advised.decision) {
        (Resolution::Current { decision, .. }, advised) => *decision == advised,
        (Resolution::Older { word, .. }, Decision::Invalid(reason)) => {
            resolution.says_refunded_before() || *word == reason.older_word()
        }
        (Resolution::Older { .. }, _) => false,
    };
    // Another refund would pay twice: that is a caution of its own.
    (!fits && !resolution.gives_money_back()).then_some(advised)
}

/// What is known of the refund that an answer passes over, what fits, and which alert's it was: `refunded 55 min ago;
/// invalid fits: VERIFI 298140461388`. Where it is cut, the end of an id is.
fn denied_words(
    advised: Advice,
    doubles: &[Duplicate],
    order: Option<&OrderAdvice>,
    said: &Resolution,
    now: Timestamp,
) -> String {
    let rank = |double: &&Duplicate| match double.state {
        DuplicateState::Refunded { .. } => 0,
        DuplicateState::OnItsWay(_) | DuplicateState::MayHaveArrived(_) => 1,
        _ => 2,
    };
    let (known, whose) = match (doubles.iter().min_by_key(rank), order) {
        (Some(double), _) if advised.basis == AdviceBasis::Duplicates => {
            let known = match &double.state {
                DuplicateState::Refunded { at: Some(at) } => format!("refunded {}", times::ago(*at, now)),
                DuplicateState::Refunded { at: None } => "already refunded".to_owned(),
                DuplicateState::OnItsWay(said) if !said.gives_money_back() => {
                    format!("{} is under way", in_words(said))
                }
                DuplicateState::OnItsWay(_) => "a refund is under way".to_owned(),
                DuplicateState::MayHaveArrived(_) => "a refund is unconfirmed".to_owned(),
                _ => Caution::NetworkRule.words().to_owned(),
            };
            (known, format!(": {} {}", double.provider, double.provider_id))
        }
        (_, Some(order)) if advised.basis == AdviceBasis::Order => {
            (format!("its order was {}", order.why), String::new())
        }
        _ => (Caution::NetworkRule.words().to_owned(), String::new()),
    };
    let fits = match (said, advised.decision) {
        (Resolution::Current { decision: Decision::Invalid(_), .. }, Decision::Invalid(reason)) => {
            reason.words().to_owned()
        }
        (Resolution::Current { .. }, Decision::Invalid(_)) => "Invalid".to_owned(),
        (Resolution::Older { .. }, Decision::Invalid(reason)) => reason.older_word().to_string(),
        (_, decision) => decision.words(),
    };
    format!("{known}; {fits} fits{whose}")
}

/// Of what a search for an alert's doubles found, what is on its payment.
pub fn on_its_payment(alert: &Alert, found: &[Alert]) -> Vec<Alert> {
    found.iter().filter(|other| duplicate::evidence(alert, other).is_some()).cloned().collect()
}

/// How many alerts' payments are looked up at a time: many where the service does it by one search, few where it is
/// asked for each card.
pub const fn looked_up_at_once(by_one_search: bool) -> usize {
    if by_one_search { 100 } else { 8 }
}

/// Returns true where it is known of an alert, as far as it can be, what was looked for on its payment.
pub fn is_searched<T>(alert: &Alert, found: &Loadable<T>) -> bool {
    alert.outcome.is_some() || matches!(found, Loadable::Loaded(_) | Loadable::Failed(_))
}
