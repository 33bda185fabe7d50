//! A worker thread, which takes its work from a queue and ends when that is closed.

use std::{
    sync::{Mutex, MutexGuard, PoisonError, mpsc::Sender},
    thread::{Builder, JoinHandle},
};

use tokio::sync::oneshot;

use crate::{StoreError, StoreResult};

/// A worker thread, and the sending end of the queue that it takes from.
#[derive(Debug)]
pub(crate) struct Worker<S> {
    running: Mutex<Option<(S, JoinHandle<()>)>>,
}

impl<S> Worker<S> {
    /// Starts the thread, which does `work` until the queue is closed.
    pub(crate) fn start(name: &str, queue: S, work: impl FnOnce() + Send + 'static) -> StoreResult<Self> {
        let thread = Builder::new().name(name.to_owned()).spawn(work);
        let thread =
            thread.map_err(|error| StoreError::Unavailable(format!("the thread {name} cannot be started: {error}")))?;
        Ok(Self { running: Mutex::new(Some((queue, thread))) })
    }

    /// Gives the queue to `put`, unless it is closed.
    pub(crate) fn with_queue<T>(&self, put: impl FnOnce(&S) -> T) -> Option<T> {
        locked(&self.running).as_ref().map(|(queue, _)| put(queue))
    }

    /// Finishes the work that was asked for and ends the thread.
    pub(crate) fn close(&self) {
        let running = locked(&self.running).take();
        if let Some((queue, thread)) = running {
            drop(queue);
            // It catches panics of the work, and has none of its own.
            let _ = thread.join();
        }
    }
}

impl<S> Drop for Worker<S> {
    fn drop(&mut self) {
        self.close();
    }
}

impl<Work> Worker<Sender<Work>> {
    /// Hands work over; none is taken after the end.
    pub(crate) fn hand_over(&self, work: Work) -> StoreResult<()> {
        match self.with_queue(|queue| queue.send(work)) {
            Some(Ok(())) => Ok(()),
            _ => Err(StoreError::Unavailable("the store is closed".to_owned())),
        }
    }
}

/// Waits for the result of work.
pub(crate) async fn hear<T>(told: oneshot::Receiver<StoreResult<T>>) -> StoreResult<T> {
    told.await.unwrap_or_else(|_| {
        Err(StoreError::Unavailable("the work was broken off by a fault in avert; it is in the log".to_owned()))
    })
}

/// Locks a mutex though it may be poisoned: no holder leaves half a change behind.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
