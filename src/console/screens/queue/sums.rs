//! The sums of what is listed: asked for when another list has been shown for a moment and when it is read again, one
//! question at a time.

use std::ops::Not as _;

use chrono::Duration;

use super::listing::Listing;
use crate::{
    Effect, Loadable, Reply,
    domain::{AlertFilter, CurrencySum, Timestamp},
    service::ServiceError,
};

/// Pause between sums, as a multiple of their duration: at most 5 % of the service's time.
const REST: i32 = 20;

/// Another list is added up when it has been shown so long: its rows come first.
const SETTLES: Duration = Duration::milliseconds(300);

/// The sums of a list.
#[derive(Debug, Default)]
pub struct ListSums {
    /// Of which alerts.
    of: Option<AlertFilter>,
    found: Loadable<Vec<CurrencySum>>,
    wanted: bool,
    /// Since when a question is on its way.
    asked_at: Option<Timestamp>,
    rests_until: Option<Timestamp>,
}

impl ListSums {
    /// Wants them anew: something may have changed.
    pub fn want(&mut self) {
        self.wanted = true;
    }

    /// Asks for the sums of what is listed, where they are other ones or wanted anew and it is time.
    pub fn run_due(&mut self, listed: &AlertFilter, now: Timestamp) -> Option<Effect> {
        if self.of.as_ref() != Some(listed) {
            let rests_until = self.of.as_ref().map(|_| now + SETTLES);
            *self = Self { of: Some(listed.clone()), wanted: true, rests_until, ..Self::default() };
        }
        if !self.wanted || self.asked_at.is_some() || self.rests_until.is_some_and(|until| until > now) {
            return None;
        }
        self.wanted = false;
        self.asked_at = Some(now);
        self.found.ask();
        Some(Effect::Sums(listed.clone()))
    }

    /// When [`ListSums::run_due`] has something to do by itself.
    pub fn due(&self) -> Option<Timestamp> {
        self.rests_until.filter(|_| self.wanted && self.asked_at.is_none())
    }

    /// Takes in the sums of the alerts within a filter.
    pub fn took(&mut self, filter: &AlertFilter, answer: Reply<Vec<CurrencySum>>, now: Timestamp) {
        if self.of.as_ref() != Some(filter) {
            return;
        }
        let took = self.asked_at.take().map_or(Duration::zero(), |asked| (now - asked).max(Duration::zero()));
        self.rests_until = took.is_zero().not().then(|| now + took * REST);
        self.found.answer(answer);
    }
}

/// The sums of a list, which a service adds up or not; or why they are not known, in words.
pub fn known_sums(listing: &Listing, asked: &ListSums, is_counted: bool) -> Result<Vec<CurrencySum>, &'static str> {
    const NOT_TOLD: &str = "no sums here";
    if listing.chosen().is_some() || !is_counted {
        let listed = listing.alerts().filter(|alert| !listing.passes_over(alert));
        let holds_all = listing.total() == Some(listing.held() as u64);
        return if holds_all { Ok(CurrencySum::of(listed)) } else { Err(NOT_TOLD) };
    }
    match &asked.found {
        Loadable::Loaded(sums) if asked.of.as_ref() == Some(listing.filter()) => {
            // What is snoozed is not listed, and the service knows nothing of that.
            let hidden = CurrencySum::of(listing.hidden().unwrap_or_default());
            CurrencySum::without(sums, &hidden).ok_or("sum …")
        }
        Loadable::Failed(ServiceError::NotFound(_)) => Err(NOT_TOLD),
        Loadable::Failed(_) => Err("sum unknown"),
        _ => Err("sum …"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::from_iso;
    use crate::domain::{Alert, Provider};

    fn now() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    fn of(provider: Provider) -> AlertFilter {
        AlertFilter { providers: vec![provider], ..AlertFilter::default() }
    }

    #[test]
    fn another_list_is_added_up_when_it_has_been_shown_for_a_moment() {
        let mut sums = ListSums::default();
        let first = sums.run_due(&of(Provider::Ethoca), now());

        let at_once = sums.run_due(&of(Provider::Cdrn), now());
        let due = sums.due();
        sums.took(&of(Provider::Ethoca), Ok(CurrencySum::of([&Alert::sample()])), now());
        let then = sums.run_due(&of(Provider::Cdrn), now() + SETTLES);

        assert_eq!((first, at_once), (Some(Effect::Sums(of(Provider::Ethoca))), None));
        assert_eq!((due, then), (Some(now() + SETTLES), Some(Effect::Sums(of(Provider::Cdrn)))));
        assert_eq!(sums.found, Loadable::Loading, "sums of other alerts are not those of these");
    }

    #[test]
    fn what_takes_long_rests_long_before_it_is_added_up_again() {
        let mut sums = ListSums::default();
        sums.run_due(&of(Provider::Ethoca), now());
        sums.took(&of(Provider::Ethoca), Ok(Vec::new()), now() + Duration::seconds(1));

        sums.want();
        let asked = [2, 20, 21]
            .map(|seconds| sums.run_due(&of(Provider::Ethoca), now() + Duration::seconds(seconds)).is_some());

        assert_eq!(asked, [false, false, true]);
    }
}
