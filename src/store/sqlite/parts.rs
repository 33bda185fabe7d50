//! Parts of a list as pages, filled from groups that follow each other.

use crate::domain::Sort;
use crate::store::StoreResult;

/// Part of all matches, in an order. It lies within the total.
#[derive(Debug, Clone, Copy)]
pub(super) struct PagePart {
    pub(super) sort: Sort,
    pub(super) offset: u64,
    pub(super) limit: u64,
}

impl PagePart {
    /// The same part of `total` as it is met from the end; its keys come in the opposite order.
    pub(super) fn seen_from_end(self, total: u64) -> Self {
        let sort = Sort { order: self.sort.order.reversed(), ..self.sort };
        Self { sort, offset: total.saturating_sub(self.offset + self.limit), ..self }
    }

    /// The same part from the end, where fewer matches lie before it there.
    pub(super) fn backwards(self, total: u64) -> Option<Self> {
        Some(self.seen_from_end(total)).filter(|back| back.offset < self.offset)
    }
}

pub(super) fn reversed(mut keys: Vec<i64>) -> Vec<i64> {
    keys.reverse();
    keys
}

/// A page while it is filled from groups that follow each other: so many are still to be skipped, so many wanted.
pub(super) struct Filling {
    skip: u64,
    pub(super) left: u64,
    pub(super) keys: Vec<i64>,
}

impl Filling {
    pub(super) fn of(part: PagePart) -> Self {
        Self { skip: part.offset, left: part.limit, keys: Vec::new() }
    }

    /// Takes the wanted part of the next group, which holds so many.
    pub(super) fn take(
        &mut self,
        of: PagePart,
        total: u64,
        page: impl FnOnce(PagePart) -> StoreResult<Vec<i64>>,
    ) -> StoreResult<()> {
        if self.skip >= total {
            self.skip -= total;
            return Ok(());
        }
        let limit = self.left.min(total - self.skip);
        self.keys.extend(page(PagePart { offset: self.skip, limit, ..of })?);
        (self.skip, self.left) = (0, self.left - limit);
        Ok(())
    }
}
