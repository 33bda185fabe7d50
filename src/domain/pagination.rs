//! Pagination of the list operation: the page that is asked for, and the page that comes.

/// Largest page, in alerts.
pub const MAX_PAGE_SIZE: u32 = 100;

/// A page request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PageRequest {
    /// Zero-based index.
    pub page: u64,
    /// Alerts a page, 1 to [`MAX_PAGE_SIZE`].
    pub size: u32,
}

impl Default for PageRequest {
    fn default() -> Self {
        Self { page: 0, size: 10 }
    }
}

/// Page of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    pub data: Vec<T>,
    /// Number of all matching alerts.
    pub total: u64,
    /// True where the provider gave the total; otherwise it is the count known so far.
    pub counted: bool,
    pub page: u64,
    pub size: u32,
}

impl<T> Page<T> {
    /// Returns the number of pages: total divided by size, rounded up.
    pub fn total_pages(&self) -> u64 {
        self.total.div_ceil(u64::from(self.size.max(1)))
    }

    /// Returns the page with each of its rows converted.
    pub fn map<U>(self, make: impl FnMut(T) -> U) -> Page<U> {
        let Self { data, total, counted, page, size } = self;
        Page { data: data.into_iter().map(make).collect(), total, counted, page, size }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_counted_rounded_up() {
        let page = Page::<u8> { data: vec![], total: 21, counted: true, page: 0, size: 10 };

        assert_eq!(page.total_pages(), 3);
    }
}
