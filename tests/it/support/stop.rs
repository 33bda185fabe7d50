//! A place at which the world stops for one process, so that it can die there, or go on long after.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use avert::providers::{AlertProvider, Capabilities, LookUp, Simulator, Submission, SubmitResult};
use tokio::sync::Semaphore;

/// The longest a test waits for a process to come to its place.
const PATIENCE: Duration = Duration::from_secs(60);

/// One place: before or after a call of the store or of the network. Who comes to it first stays there.
#[derive(Debug)]
pub struct Stop {
    place: String,
    free: AtomicBool,
    reached: Semaphore,
    go_on: Semaphore,
}

impl Stop {
    /// A stop at a place such as `after claim_resolution`.
    pub fn at(place: &str) -> Arc<Self> {
        Arc::new(Self {
            place: place.to_owned(),
            free: AtomicBool::new(true),
            reached: Semaphore::new(0),
            go_on: Semaphore::new(0),
        })
    }

    /// No stop at all.
    pub fn nowhere() -> Arc<Self> {
        Self::at("")
    }

    /// Comes by. Whoever is the first at the place waits there until told to go on.
    pub async fn pass(&self, when: &str, method: &str) {
        let here = self.place.strip_prefix(when).is_some_and(|rest| rest.trim_start() == method);
        if here && self.free.swap(false, Ordering::SeqCst) {
            self.reached.add_permits(1);
            self.go_on.acquire().await.expect("an open semaphore").forget();
        }
    }

    /// Waits until somebody stands here.
    pub async fn reached(&self) {
        let reached = tokio::time::timeout(PATIENCE, self.reached.acquire()).await;
        reached.unwrap_or_else(|_| panic!("nobody came to: {}", self.place)).expect("an open semaphore").forget();
    }

    /// Lets whoever stands here go on.
    pub fn let_go(&self) {
        self.go_on.add_permits(1);
    }
}

/// A network that a process may stop on its way to, or on its way back from.
#[derive(Debug)]
pub struct StoppingNetwork {
    /// The network itself, which outlives every process.
    pub network: Arc<Simulator>,
    /// Where it stops.
    pub stop: Arc<Stop>,
}

#[async_trait]
impl AlertProvider for StoppingNetwork {
    fn capabilities(&self) -> Capabilities {
        self.network.capabilities()
    }

    async fn submit(&self, submission: &Submission) -> SubmitResult {
        self.stop.pass("before", "submit").await;
        let answer = self.network.submit(submission).await;
        self.stop.pass("after", "submit").await;
        answer
    }

    async fn look_up(&self, submission: &Submission) -> LookUp {
        self.stop.pass("before", "look_up").await;
        let found = self.network.look_up(submission).await;
        self.stop.pass("after", "look_up").await;
        found
    }
}
