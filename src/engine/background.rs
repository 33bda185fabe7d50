//! The engine's background tasks: expiry, retention, reconciliation and rules.

use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{expire, handle::Engine, reconcile, rules};

impl Engine {
    /// Starts the loops: expiry, retention, reconciling and rules. They end when `cancel` is cancelled; close the
    /// tracker and wait for it, and every resolution on its way has ended too.
    pub fn start(&self, cancel: CancellationToken) -> TaskTracker {
        let _ = self.inner.loops.set(cancel.clone());
        let tasks = &self.inner.tasks;
        tasks.spawn(expire::run(self.clone(), cancel.clone()));
        tasks.spawn(expire::run_retention(self.clone(), cancel.clone()));
        tasks.spawn(reconcile::run(self.clone(), cancel.clone()));
        if !self.settings().rules.is_empty() {
            tasks.spawn(rules::run(self.clone(), cancel));
        }
        tasks.clone()
    }
}
