//! Endpoint queues: deliveries that are leased and not yet recorded. Each endpoint has a queue, its places in flight
//! and its breaker.
//!
//! Organizations are served in turn, and of each its endpoints: one with many deliveries takes no place from those with
//! few. A slow send gives its place in the total back and keeps the one of its endpoint. So endpoints that hang use up
//! sockets, but not the others' turn. Sockets are shared by a dynamic threshold: an organization may hold as many as
//! are free.

use std::{
    collections::{HashMap, HashSet, VecDeque, hash_map::Entry},
    sync::Arc,
    time::{Duration, Instant},
};

use chrono::TimeDelta;

use crate::{
    domain::{DeliveryId, EndpointId, OrganizationId, batch, time::Timestamp},
    outbound::circuit::{Circuit, CircuitLimits},
    store::DueDelivery,
};

/// Duration from which a send no longer counts against the total.
const SLOW_AFTER: Duration = Duration::from_millis(250);
/// Most deliveries leased beyond those that can be sent at once, in all and for one endpoint.
const MOST_AHEAD: usize = 512;
/// Number of sends that does not yet prove a fast receiver.
const FEW: usize = 4;

/// The prefetch: number of deliveries leased beyond those that can be sent at once. Fast receivers get as many ahead as
/// they have taken lately, so that they need not wait for the next claim. Slow ones get none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ahead {
    /// Number for all endpoints together.
    pub(super) in_all: usize,
    /// Number for the fastest one.
    pub(super) of_one: usize,
}

/// Concurrency limits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Sends in flight in all.
    pub(super) in_flight: usize,
    /// Sends in flight for each endpoint.
    pub(super) per_endpoint: u32,
    /// Sockets, slow sends included.
    pub(super) sockets: usize,
    /// Least rest of a lease with which an attempt may begin: its longest duration and time to record it.
    pub(super) lease_left: TimeDelta,
}

#[derive(Debug)]
struct Leased {
    delivery: DueDelivery,
    until: Timestamp,
}

#[derive(Debug)]
struct EndpointQueue {
    organization: OrganizationId,
    waiting: VecDeque<Leased>,
    in_flight: u32,
    breaker: Breaker,
    /// Number of deliveries taken lately; at each further claim the earlier ones count a quarter less. When claims
    /// follow each other this comes to three times those taken during one.
    taken: usize,
}

impl EndpointQueue {
    fn of(organization: OrganizationId) -> Self {
        Self { organization, waiting: VecDeque::new(), in_flight: 0, breaker: Breaker::default(), taken: 0 }
    }

    fn ahead(&self) -> usize {
        if self.taken >= FEW { self.taken.min(MOST_AHEAD) } else { 0 }
    }

    fn can_start(&self, limits: Limits, now: Timestamp) -> bool {
        self.in_flight < self.breaker.window(limits.per_endpoint) && !self.breaker.is_open(now)
    }
}

/// Every queue.
#[derive(Debug, Default)]
pub(super) struct EndpointQueues {
    queues: HashMap<EndpointId, EndpointQueue>,
    /// Organizations with something queued, in turn, and of each its endpoints in turn.
    turn: VecDeque<(OrganizationId, VecDeque<EndpointId>)>,
    in_flight: HashMap<DeliveryId, Instant>,
    /// Sends in flight of each organization that has any.
    sockets: HashMap<OrganizationId, usize>,
}

impl EndpointQueues {
    /// Takes leased deliveries in.
    pub(super) fn accept(&mut self, deliveries: Vec<DueDelivery>, until: Timestamp) {
        let given: HashSet<EndpointId> = deliveries.iter().map(|delivery| delivery.endpoint).collect();
        for endpoint in given {
            if let Some(queue) = self.queues.get_mut(&endpoint) {
                queue.taken -= queue.taken / 4;
            }
        }
        for delivery in deliveries {
            let queue =
                self.queues.entry(delivery.endpoint).or_insert_with(|| EndpointQueue::of(delivery.organization));
            if queue.waiting.is_empty() {
                match self.turn.iter_mut().find(|(organization, _)| *organization == delivery.organization) {
                    Some((_, endpoints)) => endpoints.push_back(delivery.endpoint),
                    None => self.turn.push_back((delivery.organization, VecDeque::from([delivery.endpoint]))),
                }
            }
            queue.waiting.push_back(Leased { delivery, until });
        }
    }

    /// The next delivery to send, if a place is free for one. It counts as in flight from now on.
    pub(super) fn start_next(&mut self, limits: Limits, now: Timestamp, instant: Instant) -> Option<DueDelivery> {
        if self.fast(instant) >= limits.in_flight {
            return None;
        }
        for _ in 0..self.turn.len() {
            let (organization, mut endpoints) = self.turn.pop_front()?;
            let next =
                if self.has_socket(organization, limits) { self.next_of(&mut endpoints, limits, now) } else { None };
            if !endpoints.is_empty() {
                self.turn.push_back((organization, endpoints));
            }
            if let Some(delivery) = next {
                *self.sockets.entry(organization).or_default() += 1;
                self.in_flight.insert(delivery.delivery, instant);
                return Some(delivery);
            }
        }
        None
    }

    /// The next delivery of an organization, by the turn of its endpoints.
    fn next_of(&mut self, endpoints: &mut VecDeque<EndpointId>, limits: Limits, now: Timestamp) -> Option<DueDelivery> {
        for _ in 0..endpoints.len() {
            let endpoint = endpoints.pop_front()?;
            let Some(queue) = self.queues.get_mut(&endpoint) else { continue };
            // A delivery that has waited too long here is left to its lease: another claim gets it when that has run
            // out.
            while queue.waiting.pop_front_if(|leased| leased.until - now < limits.lease_left).is_some() {}
            let next = if queue.can_start(limits, now) { queue.waiting.pop_front() } else { None };
            if !queue.waiting.is_empty() {
                endpoints.push_back(endpoint);
            }
            if let Some(leased) = next {
                queue.in_flight += 1;
                return Some(leased.delivery);
            }
        }
        None
    }

    /// Checks that an organization may use one more socket: it leaves as many free as it has then.
    fn has_socket(&self, organization: OrganizationId, limits: Limits) -> bool {
        let held = self.sockets.get(&organization).copied().unwrap_or_default();
        held < limits.sockets.saturating_sub(self.in_flight.len())
    }

    /// A send has come to its end.
    pub(super) fn finished(&mut self, delivery: DeliveryId, endpoint: EndpointId, delivered: bool, now: Timestamp) {
        self.in_flight.remove(&delivery);
        let Some(queue) = self.queues.get_mut(&endpoint) else { return };
        if let Entry::Occupied(mut held) = self.sockets.entry(queue.organization) {
            *held.get_mut() -= 1;
            if *held.get() == 0 {
                held.remove();
            }
        }
        queue.in_flight = queue.in_flight.saturating_sub(1);
        if delivered {
            queue.taken += 1;
            queue.breaker.succeeded();
        } else {
            queue.breaker.failed(now);
        }
    }

    /// Takes away what is queued for an endpoint that gets nothing any more.
    pub(super) fn remove(&mut self, endpoint: EndpointId) -> Vec<DueDelivery> {
        let queued = self.queues.get_mut(&endpoint).map(|queue| std::mem::take(&mut queue.waiting));
        queued.into_iter().flatten().map(|leased| leased.delivery).collect()
    }

    /// Forgets everything queued.
    pub(super) fn clear(&mut self) {
        self.queues.values_mut().for_each(|queue| queue.waiting.clear());
        self.turn.clear();
    }

    /// Returns the number of deliveries that may be leased ahead.
    pub(super) fn ahead(&self) -> Ahead {
        let each = || self.queues.values().map(EndpointQueue::ahead);
        Ahead { in_all: each().sum::<usize>().min(MOST_AHEAD), of_one: each().max().unwrap_or_default() }
    }

    /// Forgets how fast receivers are: what they took long ago says nothing about now.
    pub(super) fn reset_speed(&mut self) {
        self.queues.values_mut().for_each(|queue| queue.taken = 0);
    }

    /// Endpoints for which nothing more is to be leased: their breaker is open, they have enough, or their organization
    /// has.
    pub(super) fn skip(&self, limits: Limits, now: Timestamp) -> Vec<EndpointId> {
        let has_enough = |queue: &EndpointQueue| {
            let held = queue.in_flight as usize + queue.waiting.len();
            held >= queue.breaker.window(limits.per_endpoint) as usize + queue.ahead()
        };
        let skipped = |queue: &EndpointQueue| {
            queue.breaker.is_open(now) || has_enough(queue) || !self.has_socket(queue.organization, limits)
        };
        self.queues.iter().filter(|(_, queue)| skipped(queue)).map(|(endpoint, _)| *endpoint).collect()
    }

    /// Returns the number of further deliveries that can be leased now and sent at once.
    pub(super) fn room(&self, limits: Limits, now: Timestamp, instant: Instant) -> usize {
        let places = limits
            .in_flight
            .saturating_sub(self.fast(instant))
            .min(limits.sockets.saturating_sub(self.in_flight.len()));
        let starts =
            |queue: &&EndpointQueue| queue.can_start(limits, now) && self.has_socket(queue.organization, limits);
        let queued: usize = self.queues.values().filter(starts).map(|queue| queue.waiting.len()).sum();
        places.saturating_sub(queued)
    }

    /// Returns the time at which the next slow send gives its place back.
    pub(super) fn next_slow(&self, instant: Instant) -> Option<Instant> {
        self.in_flight.values().map(|started| *started + SLOW_AFTER).filter(|slow| *slow > instant).min()
    }

    /// Checks that a delivery for the next free place is here already.
    pub(super) fn has_next(&self) -> bool {
        self.queues.values().any(|queue| !queue.waiting.is_empty())
    }

    pub(super) fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    fn fast(&self, instant: Instant) -> usize {
        self.in_flight.values().filter(|started| instant.saturating_duration_since(**started) < SLOW_AFTER).count()
    }
}

/// Opened by the fifth failure in a row, and later where trust was earned; the pause is doubled by each further one.
const LIMITS: CircuitLimits =
    CircuitLimits { failures: 5, first_pause: TimeDelta::seconds(5), longest_pause: TimeDelta::seconds(60) };
/// Window of an endpoint that has never answered: most deliveries in flight.
const UNPROVEN_WINDOW: u32 = 2;
/// Largest window: more than the places of one endpoint, so that single failures take none of them.
const LARGEST_WINDOW: u32 = 64;
/// Most failures in a row that trust adds to the limit: one for each delivery taken since the endpoint was last down.
/// An endpoint that fails at random 3 times in 10 has 5 failures in a row every 600 attempts, and 20 never.
const MOST_TRUST: u32 = 15;

/// The circuit breaker of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Breaker {
    circuit: Circuit,
    window: u32,
    trust: u32,
}

impl Default for Breaker {
    fn default() -> Self {
        Self { circuit: Circuit::new(LIMITS), window: UNPROVEN_WINDOW, trust: 0 }
    }
}

impl Breaker {
    /// Returns whether nothing may be sent at this moment.
    fn is_open(&self, now: Timestamp) -> bool {
        self.reopens_at(now).is_some()
    }

    /// Returns the time at which an open breaker permits the next attempt.
    fn reopens_at(&self, now: Timestamp) -> Option<Timestamp> {
        self.circuit.reopens_at(now)
    }

    /// Returns the most deliveries that the endpoint may have in flight. There are few until it has answered, then
    /// twice as many with each success, half as many with each failure.
    fn window(&self, limit: u32) -> u32 {
        self.window.min(limit).max(1)
    }

    /// The receiver took a delivery.
    fn succeeded(&mut self) {
        // An endpoint that was down earns its trust anew.
        self.trust = if self.circuit.is_unproven() { 0 } else { (self.trust + 1).min(MOST_TRUST) };
        self.circuit.succeeded();
        self.circuit.set_threshold(LIMITS.failures + self.trust);
        self.window = (self.window * 2).clamp(1, LARGEST_WINDOW);
    }

    /// An attempt failed.
    fn failed(&mut self, now: Timestamp) {
        self.circuit.failed(now);
        self.window /= 2;
    }
}

/// Number of results that are worth a commit of their own.
const WORTHWHILE: usize = 128;
/// Longest wait of fewer results for more.
const LONGEST_WAIT: Duration = Duration::from_millis(4);

/// Results that wait to be recorded, oldest first.
#[derive(Debug)]
pub(super) struct Gathering<T> {
    results: Vec<T>,
    /// Time since which the oldest one waits.
    since: Option<Instant>,
}

impl<T> Default for Gathering<T> {
    fn default() -> Self {
        Self { results: Vec::new(), since: None }
    }
}

impl<T: Clone> Gathering<T> {
    pub(super) fn add(&mut self, result: T, now: Instant) {
        self.results.push(result);
        self.since.get_or_insert(now);
    }

    /// Puts those back that could not be recorded, before what came since.
    pub(super) fn put_back(&mut self, earlier: &[T], now: Instant) {
        self.results.splice(0..0, earlier.iter().cloned());
        self.since = self.since.or_else(|| (!self.is_empty()).then_some(now));
    }

    /// Takes as many as one commit holds, the oldest ones.
    pub(super) fn take_batch(&mut self) -> Arc<[T]> {
        let count = self.results.len().min(batch::RECORDS);
        let batch = self.results.drain(..count).collect();
        self.since = self.since.filter(|_| !self.results.is_empty());
        batch
    }

    /// Takes them all.
    pub(super) fn take_all(&mut self) -> Arc<[T]> {
        self.since = None;
        self.results.drain(..).collect()
    }

    /// Checks that they are worth a commit: they are many, the oldest has waited long enough, or they hold something
    /// up.
    pub(super) fn is_ready(&self, hold_up: bool, now: Instant) -> bool {
        let has_waited = self.ready_at().is_some_and(|ready| ready <= now);
        !self.is_empty() && (self.len() >= WORTHWHILE || has_waited || hold_up)
    }

    /// Returns the time at which the oldest one has waited long enough.
    pub(super) fn ready_at(&self) -> Option<Instant> {
        self.since.map(|since| since + LONGEST_WAIT)
    }

    pub(super) fn len(&self) -> usize {
        self.results.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.results.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        domain::{EndpointAuth, EventId, Secret, time::from_iso},
        store::EndpointTarget,
    };

    fn gathered(count: usize, now: Instant) -> Gathering<usize> {
        let mut gathering = Gathering::default();
        (0..count).for_each(|result| gathering.add(result, now));
        gathering
    }

    #[test]
    fn few_results_that_hold_nothing_up_wait_for_more_but_not_for_long() {
        let now = Instant::now();
        let few = gathered(WORTHWHILE - 1, now);

        assert!(!few.is_ready(false, now));
        assert!(!few.is_ready(false, now + LONGEST_WAIT / 2));
        assert!(few.is_ready(false, now + LONGEST_WAIT));
        assert_eq!(few.ready_at(), Some(now + LONGEST_WAIT));
    }

    #[test]
    fn many_results_and_those_that_hold_something_up_wait_for_nothing() {
        let now = Instant::now();

        assert!(gathered(WORTHWHILE, now).is_ready(false, now));
        assert!(gathered(1, now).is_ready(true, now));
        assert!(!gathered(0, now).is_ready(true, now), "there is nothing to record");
    }

    #[test]
    fn a_commit_takes_the_oldest_and_what_it_leaves_waits_on() {
        let now = Instant::now();
        let mut gathering = gathered(batch::RECORDS + 1, now);

        let first = gathering.take_batch();
        let left = gathering.ready_at();
        let second = gathering.take_batch();

        assert_eq!((first.len(), first[0], &*second), (batch::RECORDS, 0, &[batch::RECORDS][..]));
        assert_eq!((left, gathering.ready_at()), (Some(now + LONGEST_WAIT), None));
    }

    #[test]
    fn what_could_not_be_recorded_comes_before_what_came_since() {
        let now = Instant::now();
        let mut gathering = gathered(2, now);
        let failed = gathering.take_batch();
        gathering.add(2, now);

        gathering.put_back(&failed, now);

        assert_eq!(*gathering.take_batch(), [0, 1, 2]);
    }

    fn noon() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    fn after(failures: u32) -> Breaker {
        let mut breaker = Breaker::default();
        for _ in 0..failures {
            breaker.failed(noon());
        }
        breaker
    }

    #[test]
    fn it_opens_at_the_fifth_failure_in_a_row() {
        assert!(!after(4).is_open(noon()));
        assert!(after(5).is_open(noon()));
        assert!(!after(5).is_open(noon() + TimeDelta::seconds(5)));
        let mut interrupted = after(4);
        interrupted.succeeded();
        interrupted.failed(noon());
        assert!(!interrupted.is_open(noon()));
    }

    #[test]
    fn its_pauses_double_up_to_a_minute() {
        let pauses: Vec<i64> =
            (5..12).map(|failures| (after(failures).reopens_at(noon()).unwrap() - noon()).num_seconds()).collect();
        assert_eq!(pauses, [5, 10, 20, 40, 60, 60, 60]);
        assert!(after(u32::from(u16::MAX)).is_open(noon()));
    }

    #[test]
    fn one_success_closes_it() {
        let mut breaker = after(9);
        breaker.succeeded();
        assert!(!breaker.is_open(noon()));
    }

    #[test]
    fn an_endpoint_earns_its_places() {
        let mut breaker = Breaker::default();
        let mut windows = vec![breaker.window(8)];
        for _ in 0..3 {
            breaker.succeeded();
            windows.push(breaker.window(8));
        }
        for _ in 0..4 {
            breaker.failed(noon());
            windows.push(breaker.window(8));
        }
        assert_eq!(windows, [2, 4, 8, 8, 8, 4, 2, 1]);
    }

    #[test]
    fn each_success_earns_one_more_failure_in_a_row_up_to_twenty() {
        let opened_by = |successes: u32| {
            let mut breaker = Breaker::default();
            (0..successes).for_each(|_| breaker.succeeded());
            (1..).find(|_| {
                breaker.failed(noon());
                breaker.is_open(noon())
            })
        };

        assert_eq!([0, 1, 7, 15, 1_000].map(opened_by), [5, 6, 12, 20, 20].map(Some));
    }

    #[test]
    fn what_was_down_earns_its_trust_anew_and_its_pauses_grow_as_ever() {
        let mut breaker = Breaker::default();
        (0..100).for_each(|_| breaker.succeeded());
        (0..20).for_each(|_| breaker.failed(noon()));
        let first = breaker.reopens_at(noon());
        breaker.failed(noon());
        let second = breaker.reopens_at(noon());

        breaker.succeeded();
        (0..5).for_each(|_| breaker.failed(noon()));

        assert_eq!([first, second], [5, 10].map(|seconds| Some(noon() + TimeDelta::seconds(seconds))));
        assert!(breaker.is_open(noon()), "five are enough again");
    }

    #[test]
    fn a_clock_set_back_does_not_keep_it_open() {
        assert!(!after(5).is_open(noon() - TimeDelta::hours(1)));
    }

    const LIMITS: Limits = Limits { in_flight: 4, per_endpoint: 2, sockets: 256, lease_left: TimeDelta::seconds(20) };

    fn lease() -> Timestamp {
        noon() + TimeDelta::seconds(45)
    }

    fn due(endpoint: EndpointId) -> DueDelivery {
        due_of(OrganizationId::default(), endpoint)
    }

    fn due_of(organization: OrganizationId, endpoint: EndpointId) -> DueDelivery {
        DueDelivery {
            delivery: DeliveryId::generate(),
            organization,
            generation: 1,
            event: EventId::generate(),
            body: Arc::from("{}"),
            attempt: 1,
            endpoint,
            trace: String::new(),
            target: EndpointTarget {
                url: Secret::new("http://127.0.0.1/"),
                signing: Arc::from([]),
                ca_certificate: Arc::default(),
                auth: EndpointAuth::Basic { username: "desk".to_owned(), password: Secret::new("secret") },
            },
        }
    }

    /// Many deliveries, each to an endpoint of its own.
    fn many_of(organization: OrganizationId, count: usize) -> Vec<DueDelivery> {
        (0..count).map(|_| due_of(organization, EndpointId::generate())).collect()
    }

    #[test]
    fn organizations_are_served_in_turn_whatever_number_of_endpoints_they_have() {
        let [many, few] = [OrganizationId::generate(), OrganizationId::generate()];
        let mut queues = EndpointQueues::default();
        queues.accept(many_of(many, 30), lease());
        queues.accept(many_of(few, 2), lease());

        let started: Vec<OrganizationId> =
            start_all(&mut queues, noon(), Instant::now()).iter().map(|due| due.organization).collect();

        assert_eq!(started, [many, few, many, few]);
    }

    #[test]
    fn an_organization_leaves_as_many_sockets_free_as_it_has() {
        let wide = Limits { in_flight: 1_000, ..LIMITS };
        let mut queues = EndpointQueues::default();
        let mut held = Vec::new();
        for _ in 0..4 {
            let organization = OrganizationId::generate();
            queues.accept(many_of(organization, 300), lease());
            while let Some(started) = queues.start_next(wide, noon(), Instant::now()) {
                held.push(started);
            }
        }

        let of = |first: usize| held.iter().filter(|due| due.organization == held[first].organization).count();
        assert_eq!([of(0), of(128), of(192), of(224)], [128, 64, 32, 16], "each finds half of what is free");
        assert!(!queues.skip(wide, noon()).is_empty(), "nothing more is leased for those who have their share");
        let fresh = OrganizationId::generate();
        queues.accept(many_of(fresh, 1), lease());
        assert_eq!(queues.start_next(wide, noon(), Instant::now()).map(|due| due.organization), Some(fresh));
    }

    #[test]
    fn a_socket_that_is_given_back_can_be_used_again() {
        let [one, other] = [OrganizationId::generate(), OrganizationId::generate()];
        let narrow = Limits { sockets: 2, ..LIMITS };
        let mut queues = EndpointQueues::default();
        queues.accept(many_of(one, 2), lease());
        let first = queues.start_next(narrow, noon(), Instant::now()).unwrap();
        assert!(queues.start_next(narrow, noon(), Instant::now()).is_none(), "the other one is left to somebody else");
        queues.accept(many_of(other, 1), lease());
        let second = queues.start_next(narrow, noon(), Instant::now()).unwrap();
        assert_eq!(second.organization, other);

        queues.finished(second.delivery, second.endpoint, true, noon());
        queues.finished(first.delivery, first.endpoint, true, noon());

        assert!(queues.start_next(narrow, noon(), Instant::now()).is_some());
    }

    fn start_all(queues: &mut EndpointQueues, now: Timestamp, instant: Instant) -> Vec<DueDelivery> {
        std::iter::from_fn(|| queues.start_next(LIMITS, now, instant)).collect()
    }

    #[test]
    fn endpoints_are_served_in_turn_within_their_places() {
        let (busy, quiet) = (EndpointId::generate(), EndpointId::generate());
        let mut queues = EndpointQueues::default();
        queues.accept(vec![due(busy), due(busy), due(busy), due(quiet)], lease());
        let started: Vec<EndpointId> =
            start_all(&mut queues, noon(), Instant::now()).iter().map(|due| due.endpoint).collect();
        assert_eq!(started, [busy, quiet, busy]);
        assert_eq!(queues.in_flight(), 3);
    }

    #[test]
    fn a_finished_send_makes_its_place_free() {
        let endpoint = EndpointId::generate();
        let mut queues = EndpointQueues::default();
        queues.accept((0..3).map(|_| due(endpoint)).collect(), lease());
        let started = start_all(&mut queues, noon(), Instant::now());
        assert_eq!((started.len(), queues.has_next()), (2, true));
        queues.finished(started[0].delivery, endpoint, true, noon());
        assert_eq!((start_all(&mut queues, noon(), Instant::now()).len(), queues.has_next()), (1, false));
    }

    #[test]
    fn slow_sends_give_their_place_back_to_others() {
        let mut queues = EndpointQueues::default();
        let began = Instant::now();
        queues.accept((0..5).map(|_| due(EndpointId::generate())).collect(), lease());
        assert_eq!(start_all(&mut queues, noon(), began).len(), 4);
        assert_eq!(queues.room(LIMITS, noon(), began), 0);
        assert_eq!(queues.next_slow(began), Some(began + SLOW_AFTER));
        assert_eq!(start_all(&mut queues, noon(), began + SLOW_AFTER).len(), 1);
    }

    #[test]
    fn a_lease_that_is_nearly_over_is_not_used() {
        let endpoint = EndpointId::generate();
        let mut queues = EndpointQueues::default();
        queues.accept(vec![due(endpoint)], lease());
        assert!(queues.start_next(LIMITS, noon() + TimeDelta::seconds(26), Instant::now()).is_none());
        assert!(queues.start_next(LIMITS, noon(), Instant::now()).is_none(), "it was let go");
    }

    #[test]
    fn an_endpoint_that_fails_is_skipped_until_its_breaker_lets_one_through() {
        let endpoint = EndpointId::generate();
        let mut queues = EndpointQueues::default();
        for _ in 0..5 {
            queues.accept(vec![due(endpoint)], lease());
            let started = queues.start_next(LIMITS, noon(), Instant::now()).unwrap();
            queues.finished(started.delivery, endpoint, false, noon());
        }
        assert_eq!(queues.skip(LIMITS, noon()), [endpoint]);
        let later = noon() + TimeDelta::seconds(5);
        assert!(queues.skip(LIMITS, later).is_empty());
        queues.accept(vec![due(endpoint), due(endpoint)], later + TimeDelta::seconds(45));
        assert!(queues.start_next(LIMITS, noon(), Instant::now()).is_none());
        assert_eq!(start_all(&mut queues, later, Instant::now()).len(), 1);
        assert_eq!(queues.skip(LIMITS, later), [endpoint]);
    }

    #[test]
    fn a_fast_endpoint_gets_as_much_ahead_as_it_has_taken_and_a_slow_one_nothing() {
        let (fast, slow) = (EndpointId::generate(), EndpointId::generate());
        let mut queues = EndpointQueues::default();
        queues.accept((0..10).map(|_| due(fast)).chain((0..2).map(|_| due(slow))).collect(), lease());
        assert_eq!(queues.ahead(), Ahead { in_all: 0, of_one: 0 });
        for _ in 0..8 {
            let started = start_all(&mut queues, noon(), Instant::now());
            for due in started.into_iter().filter(|due| due.endpoint == fast) {
                queues.finished(due.delivery, fast, true, noon());
            }
        }
        assert_eq!(queues.ahead(), Ahead { in_all: 10, of_one: 10 });
        assert_eq!(queues.skip(LIMITS, noon()), [slow]);
        queues.accept((0..10).map(|_| due(fast)).collect(), lease());
        assert_eq!(queues.ahead(), Ahead { in_all: 8, of_one: 8 }, "what it took before it was given more counts less");
        assert_eq!(queues.skip(LIMITS, noon()).len(), 2);
        queues.reset_speed();
        assert_eq!(queues.ahead(), Ahead { in_all: 0, of_one: 0 });
    }

    #[test]
    fn room_counts_what_is_queued_already_but_not_what_cannot_start() {
        let endpoint = EndpointId::generate();
        let mut queues = EndpointQueues::default();
        let instant = Instant::now();
        assert_eq!(queues.room(LIMITS, noon(), instant), 4);
        queues.accept((0..3).map(|_| due(endpoint)).collect(), lease());
        assert_eq!(queues.room(LIMITS, noon(), instant), 1);
        assert_eq!(start_all(&mut queues, noon(), instant).len(), 2);
        assert_eq!(queues.room(LIMITS, noon(), instant), 2);
    }
}
