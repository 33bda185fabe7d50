//! Rate limits: of failures at the token endpoint, by client and address, and of the requests of sources.
//!
//! Time is counted by a clock that cannot be set. So a clock that jumps lets nobody in and locks nobody out.

use std::{
    collections::HashMap,
    hash::Hash,
    net::IpAddr,
    num::NonZeroU32,
    sync::{Arc, Mutex},
    time::Duration,
};

use governor::{
    Quota, RateLimiter,
    clock::{Clock, DefaultClock},
    middleware::NoOpMiddleware,
    state::keyed::HashMapStateStore,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

use crate::inbound::connections::{locked, network};

/// Above so many keys, those that are quiet again are forgotten.
const MANY: usize = 10_000;

/// A rate limiter by key: so many at once, and again so many each minute.
pub(super) struct RateLimit<K: Clone + Eq + Hash, C: Clock = DefaultClock> {
    limiter: RateLimiter<K, HashMapStateStore<K>, C, NoOpMiddleware<C::Instant>>,
    clock: C,
}

impl<K: Clone + Eq + Hash, C: Clock + Clone> RateLimit<K, C> {
    pub(super) fn new(per_minute: NonZeroU32, clock: C) -> Self {
        let limiter = RateLimiter::new(Quota::per_minute(per_minute), HashMapStateStore::default(), clock.clone());
        Self { limiter, clock }
    }

    /// Counts one; `Err` tells after how many seconds the next one may come.
    pub(super) fn count_key(&self, key: &K) -> Result<(), u64> {
        if self.limiter.len() > MANY {
            self.limiter.retain_recent();
        }
        self.limiter.check_key(key).map_err(|refused| seconds(refused.wait_time_from(self.clock.now())))
    }
}

/// A client id (none for clients that are not known) and where it asks from.
type Asker = (Option<String>, IpAddr);

/// A rate limiter of failures at the token endpoint.
pub(super) type TokenLimit<C = DefaultClock> = RateLimit<Asker, C>;

impl<C: Clock + Clone> TokenLimit<C> {
    /// Counts a failure; `Err` tells after how many seconds the next one may come.
    pub(super) fn count(&self, client: Option<&str>, from: IpAddr) -> Result<(), u64> {
        self.count_key(&(client.map(str::to_owned), network(from)))
    }
}

/// Requests of a source in a minute.
const SOURCE_PER_MINUTE: NonZeroU32 = NonZeroU32::new(600).expect("more than zero");

/// Requests to a source from one address in a minute, of which not even the body is read beyond.
const ARRIVALS_PER_MINUTE: NonZeroU32 = NonZeroU32::new(1_200).expect("more than zero");

/// Bodies of sources that are held at once, each up to a megabyte.
const SOURCE_BODIES: usize = 64;

/// Most of them from one address: one that is slow leaves places to others.
const BODIES_PER_ADDRESS: usize = 8;

/// Limits of the requests of sources.
pub(super) struct SourceLimits {
    /// Before the body is read: by the source's name and the address.
    pub(super) arrivals: RateLimit<(String, IpAddr)>,
    /// By the source's name and whether the signature was right: those that are wrong leave no less to the others.
    pub(super) requests: RateLimit<(String, bool)>,
    bodies: Semaphore,
    bodies_by_address: Mutex<HashMap<IpAddr, Arc<Semaphore>>>,
}

impl SourceLimits {
    /// Waits for a place for a body from this address, until it is dropped.
    pub(super) async fn body_place(&self, from: IpAddr) -> Option<(OwnedSemaphorePermit, SemaphorePermit<'_>)> {
        let own = {
            let mut all = locked(&self.bodies_by_address);
            all.retain(|_, own| Arc::strong_count(own) > 1);
            let own = all.entry(network(from)).or_insert_with(|| Arc::new(Semaphore::new(BODIES_PER_ADDRESS)));
            Arc::clone(own)
        };
        let own = own.acquire_owned().await.ok()?;
        Some((own, self.bodies.acquire().await.ok()?))
    }
}

impl Default for SourceLimits {
    fn default() -> Self {
        Self {
            arrivals: RateLimit::new(ARRIVALS_PER_MINUTE, DefaultClock::default()),
            requests: RateLimit::new(SOURCE_PER_MINUTE, DefaultClock::default()),
            bodies: Semaphore::new(SOURCE_BODIES),
            bodies_by_address: Mutex::default(),
        }
    }
}

/// Whole seconds, rounded up, 1 at least.
fn seconds(wait: Duration) -> u64 {
    let partly = u64::from(wait.subsec_nanos() > 0);
    (wait.as_secs() + partly).max(1)
}

#[cfg(test)]
mod tests {
    use governor::clock::FakeRelativeClock;

    use super::*;

    const HERE: &str = "192.0.2.1";

    fn limit(per_minute: u32) -> (TokenLimit<FakeRelativeClock>, FakeRelativeClock) {
        let clock = FakeRelativeClock::default();
        (TokenLimit::new(NonZeroU32::new(per_minute).unwrap(), clock.clone()), clock)
    }

    fn from(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn so_many_are_admitted_at_once_and_the_next_hears_when_to_come_again() {
        let (limit, clock) = limit(6);

        let admitted = (0..6).all(|_| limit.count(Some("a"), from(HERE)).is_ok());
        let refused = limit.count(Some("a"), from(HERE));
        clock.advance(Duration::from_secs(9));
        let still = limit.count(Some("a"), from(HERE));
        clock.advance(Duration::from_secs(1));

        assert!(admitted);
        assert_eq!((refused, still), (Err(10), Err(1)));
        assert_eq!(limit.count(Some("a"), from(HERE)), Ok(()));
    }

    #[test]
    fn one_client_or_address_does_not_use_up_anothers_share() {
        let (limit, _) = limit(1);

        limit.count(Some("a"), from(HERE)).unwrap();

        assert!(limit.count(Some("a"), from(HERE)).is_err());
        assert_eq!(limit.count(Some("b"), from(HERE)), Ok(()));
        assert_eq!(limit.count(Some("a"), from("192.0.2.2")), Ok(()));
        assert_eq!(limit.count(None, from(HERE)), Ok(()));
    }

    #[test]
    fn another_spelling_or_another_address_of_the_same_network_is_no_other_asker() {
        let (limit, _) = limit(1);

        limit.count(None, from(HERE)).unwrap();
        limit.count(None, from("2001:db8::1")).unwrap();

        assert!(limit.count(None, from("::ffff:192.0.2.1")).is_err());
        assert!(limit.count(None, from("2001:db8::ffff")).is_err());
        assert_eq!(limit.count(None, from("2001:db8:0:1::1")), Ok(()));
    }

    #[tokio::test]
    async fn an_address_whose_bodies_do_not_come_leaves_places_to_others() {
        let limits = SourceLimits::default();
        let mut held = Vec::new();
        for _ in 0..BODIES_PER_ADDRESS {
            held.push(limits.body_place(from(HERE)).await.unwrap());
        }

        let mut next = Box::pin(limits.body_place(from(HERE)));

        assert!(futures::poll!(&mut next).is_pending());
        assert!(futures::poll!(Box::pin(limits.body_place(from("192.0.2.2")))).is_ready());
        held.pop();
        assert!(futures::poll!(&mut next).is_ready());
    }

    #[test]
    fn askers_that_are_quiet_again_are_forgotten() {
        let (limit, clock) = limit(60);
        for number in 0..=u32::try_from(MANY).unwrap() {
            limit.count(None, IpAddr::V4(number.into())).unwrap();
        }

        clock.advance(Duration::from_secs(120));
        limit.count(None, from(HERE)).unwrap();

        assert_eq!(limit.limiter.len(), 1);
    }
}
