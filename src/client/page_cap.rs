//! The page cap of a deployment: fewer rows a page than the interface allows.

use std::sync::atomic::{AtomicU32, Ordering};

use super::reading::PageAnswer;
use crate::domain::PageRequest;

/// The most rows that a deployment gives at once, once it was seen to give fewer than it was asked for.
#[derive(Debug, Default)]
pub(super) struct PageCap(AtomicU32);

impl PageCap {
    pub(super) fn get(&self) -> Option<u32> {
        Some(self.0.load(Ordering::Relaxed)).filter(|cap| *cap > 0)
    }

    /// Learns the service's page cap from an answer, and returns it where the answer tells of one. That is a smaller
    /// page than was asked for, though more rows follow. The answer's own size tells it or, on the first page, its
    /// number of rows.
    pub(super) fn learn(&self, asked: PageRequest, PageAnswer { page, rows }: &PageAnswer) -> Option<u32> {
        let seen = asked.page.saturating_mul(asked.size.into()).saturating_add(u64::from(*rows));
        let more_follow = if page.counted { seen < page.total } else { page.size == *rows };
        let is_told = page.size < asked.size || asked.page == 0 && page.counted;
        let cap = (0 < *rows && *rows < asked.size && more_follow && is_told).then_some(*rows)?;
        tracing::info!(asked = asked.size, rows, "the deployment gives fewer rows a page than it is asked for");
        self.0.store(cap, Ordering::Relaxed);
        Some(cap)
    }
}
