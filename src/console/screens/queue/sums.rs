//! The sums of what is listed: asked for when another list is shown and when it is read again, one question at a time;
//! and a total in words: one sum stands for all, with how many currencies more there are.

use chrono::Duration;

use super::listing::Listing;
use crate::{
    Effect, Loadable, Reply,
    domain::{Alert, AlertFilter, CurrencySum, Timestamp},
    text::{counted, sanitize},
};

/// Pause between sums, as a multiple of their duration: at most 1 % of the service's time.
const REST: i32 = 100;

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
            *self = Self { of: Some(listed.clone()), wanted: true, ..Self::default() };
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
        self.rests_until = Some(now + took * REST);
        self.found.answer(answer);
    }

    /// The sums of a list, where a service has added them up or all of it is held.
    pub fn of_list(&self, listing: &Listing) -> Option<Vec<CurrencySum>> {
        if let Loadable::Loaded(sums) = &self.found
            && listing.chosen.is_none()
            && self.of.as_ref() == Some(&listing.filter)
        {
            // What is snoozed is not listed, and the service knows nothing of that.
            return CurrencySum::without(sums, &CurrencySum::of(listing.hidden().unwrap_or_default()));
        }
        let listed = listing.alerts().filter(|alert| !listing.pages.hides(alert));
        (listing.total == Some(listing.alerts().count() as u64)).then(|| CurrencySum::of(listed))
    }
}

/// Returns the sum in the currency of most alerts, and how many currencies more there are: `1,480.00 AED + 2
/// currencies`. Nothing where there is no sum.
pub fn total_words(sums: &[CurrencySum]) -> String {
    let mut priced = sums.iter().filter(|sum| sum.unpriced < sum.alerts);
    let Some(first) = priced.next() else { return String::new() };
    let first = sanitize(&first.money.to_string()).into_owned();
    match priced.count() {
        0 => first,
        others => format!("{first} + {}", counted(others as u64, "currency", "currencies")),
    }
}

/// Returns the same of alerts.
pub fn total_of<'a>(alerts: impl Iterator<Item = &'a Alert>) -> String {
    total_words(&CurrencySum::of(alerts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::from_iso;
    use crate::domain::{Currency, Provider};

    fn now() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    fn of(provider: Provider) -> AlertFilter {
        AlertFilter { providers: vec![provider], ..AlertFilter::default() }
    }

    #[test]
    fn another_list_is_added_up_at_once_and_sums_of_other_alerts_are_not_its() {
        let mut sums = ListSums::default();
        let first = sums.run_due(&of(Provider::Ethoca), now());

        let other = sums.run_due(&of(Provider::Cdrn), now());
        sums.took(&of(Provider::Ethoca), Ok(CurrencySum::of([&Alert::sample()])), now());

        let asked = [Provider::Ethoca, Provider::Cdrn].map(|provider| Some(Effect::Sums(of(provider))));
        assert_eq!([first, other], asked);
        assert_eq!(sums.found, Loadable::Loading);
    }

    #[test]
    fn what_takes_long_rests_long_before_it_is_added_up_again() {
        let mut sums = ListSums::default();
        sums.run_due(&of(Provider::Ethoca), now());
        sums.took(&of(Provider::Ethoca), Ok(Vec::new()), now() + Duration::seconds(1));

        sums.want();
        let asked = [2, 100, 101]
            .map(|seconds| sums.run_due(&of(Provider::Ethoca), now() + Duration::seconds(seconds)).is_some());

        assert_eq!(asked, [false, false, true]);
    }

    #[test]
    fn the_sum_of_most_alerts_stands_for_all_with_how_many_currencies_more_there_are() {
        let of = |amount: &str, currency: &str| Alert {
            amount: Some(amount.parse().unwrap()),
            currency: Currency::new(currency),
            ..Alert::sample()
        };
        let alerts =
            [of("1000", "USD"), of("12.50", "EUR"), of("0.10", "EUR"), Alert { amount: None, ..Alert::sample() }];

        assert_eq!(total_of(alerts.iter()), "12.60 EUR + 1 currency");
        assert_eq!(total_of(alerts[..1].iter()), "1,000.00 USD");
    }
}
