//! Concurrency limit: how many requests are worked on at once. Callers without a credential have few places of their
//! own, and no organization gets them all.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    extract::FromRequestParts,
    http::{Extensions, request::Parts},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::problem::{Code, Problem};
use crate::{
    domain::OrganizationId,
    inbound::connections::{Activity, HttpConnection, locked},
};

/// Most requests of callers without a credential that are worked on at once. Those that they may make are quick.
const STRANGERS: usize = 64;

/// Longest wait of such a request for a place.
pub(super) const STRANGERS_PATIENCE: Duration = Duration::from_secs(5);

/// Dynamic threshold: a caller may hold up to three times the free places, so that a newcomer always finds one.
const TIMES_WHAT_IS_LEFT: usize = 3;

/// A pool of places with dynamic thresholds: whoever has few is let in before whoever has many.
#[derive(Debug)]
pub(super) struct Shares<Whose> {
    places: usize,
    taken: Mutex<Taken<Whose>>,
}

#[derive(Debug)]
struct Taken<Whose> {
    in_all: usize,
    by: HashMap<Whose, usize>,
}

/// A place that is taken; dropping it gives it back.
#[derive(Debug)]
pub(super) struct Share<Whose: Copy + Eq + Hash> {
    pool: Arc<Shares<Whose>>,
    whose: Whose,
}

impl<Whose: Copy + Eq + Hash> Shares<Whose> {
    pub(super) fn new(places: usize) -> Arc<Self> {
        Arc::new(Self { places: places.max(1), taken: Mutex::new(Taken { in_all: 0, by: HashMap::new() }) })
    }

    /// Takes a place, where one is left and this one has not too many of them.
    pub(super) fn take(self: &Arc<Self>, whose: Whose) -> Option<Share<Whose>> {
        let mut taken = locked(&self.taken);
        let left = self.places - taken.in_all;
        let own = taken.by.get(&whose).copied().unwrap_or_default();
        if left == 0 || own >= left.saturating_mul(TIMES_WHAT_IS_LEFT) {
            return None;
        }
        taken.in_all += 1;
        taken.by.insert(whose, own + 1);
        Some(Share { pool: Arc::clone(self), whose })
    }
}

impl<Whose: Copy + Eq + Hash> Drop for Share<Whose> {
    fn drop(&mut self) {
        let mut taken = locked(&self.pool.taken);
        taken.in_all -= 1;
        let left = taken.by.get(&self.whose).copied().unwrap_or_default().saturating_sub(1);
        match left {
            0 => taken.by.remove(&self.whose),
            left => taken.by.insert(self.whose, left),
        };
    }
}

/// The places of the API: what is worked on at once, of those who are known and of strangers.
#[derive(Debug)]
pub(super) struct RequestPlaces {
    known: Arc<Shares<OrganizationId>>,
    strangers: Arc<Semaphore>,
}

impl RequestPlaces {
    pub(super) fn new(max_in_flight: usize) -> Arc<Self> {
        let strangers = Arc::new(Semaphore::new(STRANGERS.min(max_in_flight.max(1))));
        Arc::new(Self { known: Shares::new(max_in_flight), strangers })
    }
}

/// Kind of caller, by which places are given.
#[derive(Debug, Clone, Copy)]
pub(super) enum Asker {
    /// Caller without a credential, or whose credential is in the body.
    Stranger,
    /// Caller with a good credential of this organization.
    Member(OrganizationId),
}

/// A held place; dropping it frees it.
#[derive(Debug)]
enum Place {
    Strangers { _permit: OwnedSemaphorePermit },
    Members { _share: Share<OrganizationId> },
}

/// The admission of one request: its place, once it has one.
#[derive(Debug, Clone)]
pub(super) struct Admission(Arc<AdmissionState>);

#[derive(Debug)]
struct AdmissionState {
    places: Arc<RequestPlaces>,
    connection: Option<Arc<HttpConnection>>,
    held: Mutex<Option<(Asker, Place)>>,
}

impl Admission {
    /// The admission of a request, without a place yet.
    pub(super) fn new(places: &Arc<RequestPlaces>, connection: Option<Arc<HttpConnection>>) -> Self {
        Self(Arc::new(AdmissionState { places: Arc::clone(places), connection, held: Mutex::new(None) }))
    }

    /// Takes a place, and keeps it until the request is answered or [`Admission::leave`] gives it back.
    pub(super) async fn enter(&self, asker: Asker) -> Result<(), Problem> {
        let state = &*self.0;
        let full = || Problem::new(Code::Overloaded, "too many requests are worked on at once, try again");
        let place = match asker {
            Asker::Member(organization) => {
                Place::Members { _share: state.places.known.take(organization).ok_or_else(full)? }
            }
            Asker::Stranger => {
                let place =
                    tokio::time::timeout(STRANGERS_PATIENCE, Arc::clone(&state.places.strangers).acquire_owned()).await;
                Place::Strangers { _permit: place.ok().and_then(Result::ok).ok_or_else(full)? }
            }
        };
        if !state.connection.as_ref().is_none_or(|connection| connection.becomes(Activity::Working)) {
            return Err(Problem::new(Code::Overloaded, "the connection gave way to another one, try again"));
        }
        *locked(&state.held) = Some((asker, place));
        Ok(())
    }

    /// Gives the place back.
    pub(super) fn leave(&self) -> Option<Asker> {
        let held = locked(&self.0.held).take();
        if held.is_some()
            && let Some(connection) = &self.0.connection
        {
            connection.becomes(Activity::Receiving);
        }
        held.map(|(asker, _)| asker)
    }
}

/// Takes a place for a request, where it stands under a guard.
pub(super) async fn enter(extensions: &Extensions, asker: Asker) -> Result<(), Problem> {
    match extensions.get::<Admission>() {
        Some(admission) => admission.enter(asker).await,
        None => Ok(()),
    }
}

/// Reads a body without a place; afterwards the request has its place again, where it had one.
pub(super) async fn reading<T>(extensions: &Extensions, body: impl Future<Output = T>) -> Result<T, Problem> {
    let admission = extensions.get::<Admission>().cloned();
    let asker = admission.as_ref().and_then(Admission::leave);
    let body = body.await;
    if let (Some(admission), Some(asker)) = (admission, asker) {
        admission.enter(asker).await?;
    }
    Ok(body)
}

/// Extractor of a place for what anybody may ask.
pub(super) struct StrangersPlace;

impl<S: Send + Sync> FromRequestParts<S> for StrangersPlace {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        enter(&parts.extensions, Asker::Stranger).await.map(|()| Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes as many shares as it gets.
    fn all_for(shares: &Arc<Shares<char>>, whose: char) -> Vec<Share<char>> {
        std::iter::from_fn(|| shares.take(whose)).collect()
    }

    #[test]
    fn one_alone_has_three_of_four_places_and_each_newcomer_finds_some() {
        let shares = Shares::new(512);

        let taken = ['a', 'b', 'c', 'd'].map(|whose| all_for(&shares, whose));

        assert_eq!(taken.each_ref().map(Vec::len), [384, 96, 24, 6]);
        drop(taken);
        assert_eq!(all_for(&shares, 'e').len(), 384);
    }

    #[test]
    fn one_place_is_anybodys() {
        let shares = Shares::new(1);

        let place = shares.take('a');

        assert!(place.is_some() && shares.take('a').is_none() && shares.take('b').is_none());
        drop(place);
        assert!(shares.take('b').is_some());
    }

    #[tokio::test]
    async fn strangers_take_none_of_the_places_of_those_who_are_known() {
        let places = RequestPlaces::new(1);
        let stranger = Admission::new(&places, None);
        let member = Admission::new(&places, None);
        let nobody = OrganizationId::generate();

        stranger.enter(Asker::Stranger).await.unwrap();

        assert!(member.enter(Asker::Member(nobody)).await.is_ok());
        assert!(Admission::new(&places, None).enter(Asker::Member(nobody)).await.is_err());
        // The next one waits for the first to be answered, and then has its place.
        let next = Admission::new(&places, None);
        let mut waiting = Box::pin(next.enter(Asker::Stranger));
        assert!(futures::poll!(&mut waiting).is_pending());
        stranger.leave();
        assert!(waiting.await.is_ok());
    }

    #[tokio::test]
    async fn a_body_on_its_way_holds_no_place_and_needs_one_when_it_is_here() {
        let places = RequestPlaces::new(1);
        let (first, second) = (Admission::new(&places, None), Admission::new(&places, None));
        let mut extensions = Extensions::new();
        extensions.insert(first.clone());
        let organization = OrganizationId::generate();
        first.enter(Asker::Member(organization)).await.unwrap();
        let (come, body) = tokio::sync::oneshot::channel::<u8>();

        let mut read = Box::pin(reading(&extensions, body));
        assert!(futures::poll!(&mut read).is_pending());
        second.enter(Asker::Member(organization)).await.unwrap();
        come.send(7).unwrap();

        assert_eq!(read.await.unwrap_err().code(), Code::Overloaded);
        second.leave();
        assert!(first.enter(Asker::Member(organization)).await.is_ok());
    }
}
