//! How the alerts of a case stand to a decision for it: which ones wait for one, and what each would get, in the words
//! of the dialect.

use crate::{
    AppContext,
    dialogs::answer_form::{Choice, KnownCase, RowPlan, cannot_be_answered},
    domain::{Alert, AlertId, Resolution, resolution::Decision},
    text::counted,
    unfinished::in_words,
};

/// How an alert stands to a decision for its case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Waits,
    /// Its window has closed: it takes part only where it is ticked.
    Lapsed,
    /// No answer is asked for: the same.
    Notice,
    /// A decision on it is held here, is with the network, or nobody knows what became of it.
    Decided,
    Answered,
}

impl Standing {
    pub(super) fn of(alert: &Alert, cx: &AppContext) -> Self {
        if alert.outcome.is_some() {
            Self::Answered
        } else if cannot_be_answered(alert, cx.known_decisions()).is_some() {
            Self::Decided
        } else if alert.is_closed(cx.now) {
            Self::Lapsed
        } else if alert.alert_type.is_notice() {
            Self::Notice
        } else {
            Self::Waits
        }
    }

    /// Returns true where a decision can be made on it, ticked or not.
    pub(super) fn can_be_answered(self) -> bool {
        matches!(self, Self::Waits | Self::Lapsed | Self::Notice)
    }
}

/// Counts the alerts that stand so, in words: `2 open`, `1 expired`, `1 decided`.
pub(super) fn counts(alerts: &[Alert], cx: &AppContext) -> Vec<String> {
    let of = |standing| alerts.iter().filter(|alert| Standing::of(alert, cx) == standing).count() as u64;
    let (expired, notices, decided) = (of(Standing::Lapsed), of(Standing::Notice), of(Standing::Decided));
    let rest = [
        (expired, format!("{expired} expired")),
        (notices, counted(notices, "notice", "notices")),
        (decided, format!("{decided} decided")),
    ];
    let rest = rest.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| words);
    std::iter::once(format!("{} open", of(Standing::Waits))).chain(rest).collect()
}

/// What each alert of a case that waits would get by the key that fits: a refund and what follows it, or an answer as
/// invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Foreseen {
    /// True where it is the refund of the alert under the cursor; else money has gone back already, or is about to.
    pub(super) refunds: bool,
    gets: Vec<(AlertId, String)>,
    /// How many of them are sent something.
    pub(super) sent: usize,
}

impl Foreseen {
    /// Foresees what the form for the case sends as it opens; `refunded` where money has gone back already, or is about
    /// to.
    pub(super) fn of(case: &KnownCase<'_>, refunded: bool, cx: &AppContext) -> Option<Self> {
        let waits = |alert: &Alert| Standing::of(alert, cx) == Standing::Waits;
        let shows = case.alerts.iter().any(waits) && case.alerts.len() > 1;
        if !shows || cx.place.read_only {
            return None;
        }
        let plans = case.foresee(if refunded { Choice::Invalid } else { Choice::Refunded }, cx);
        let words = |(at, alert): (usize, &Alert)| {
            let words = match plans.as_ref().map(|plans| &plans[at]) {
                Some(RowPlan::Sent(resolution)) => sent_words(resolution),
                Some(RowPlan::Out { cautions, .. }) if !cautions.is_empty() => "needs Send anyway".to_owned(),
                Some(RowPlan::Out { .. }) => "not sent".to_owned(),
                None => "needs a reason".to_owned(),
            };
            (alert.id, words)
        };
        // Of what does not wait the state says why it is not sent; where it is what the others follow, it has to be
        // ticked.
        let is_told = |alert: &Alert| {
            waits(alert) || !refunded && alert.id == case.first.id && Standing::of(alert, cx).can_be_answered()
        };
        let sent = plans.iter().flatten().filter(|plan| plan.is_sent()).count();
        let gets = case.alerts.iter().enumerate().filter(|(_, alert)| is_told(alert)).map(words).collect();
        Some(Self { refunds: !refunded, gets, sent })
    }

    /// What an alert would get.
    pub(super) fn gets(&self, id: AlertId) -> &str {
        self.gets.iter().find(|(alert, _)| *alert == id).map_or("", |(_, words)| words)
    }
}

/// Answer in few words: of Invalid its reason alone.
fn sent_words(resolution: &Resolution) -> String {
    match resolution {
        Resolution::Current { decision: Decision::Invalid(reason), .. } => reason.words().to_owned(),
        other => in_words(other),
    }
}
