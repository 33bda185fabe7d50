//! Reads a list to its end, page by page, checks it against the announced total, and reports a shortfall.

use std::collections::HashMap;

use crate::domain::{Alert, AlertId, Page, count::count};

/// Most passes through a list: it is read again from its beginning when it changed or did not add up.
const MOST_PASSES: u32 = 3;

/// A walk through the pages of a list.
#[derive(Debug)]
pub struct PageWalk {
    /// Each alert with the pass that saw it last.
    seen: HashMap<AlertId, u32>,
    pass: u32,
    /// The page that is asked for next.
    page: u64,
    /// Different alerts of this pass, and of them those of pages before.
    found: u64,
    before: u64,
    total: u64,
    /// True where the total changed in the course of this pass.
    changed: bool,
    /// True where the newest page with anything new was not full.
    ended: bool,
}

/// A page as it came: how many rows of how many it can hold, and what it says of the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageFacts {
    pub rows: u64,
    pub size: u64,
    pub total: u64,
    /// True where the total was told; else it is the number known so far.
    pub counted: bool,
}

impl PageFacts {
    /// Returns the facts of a page.
    pub fn of(page: &Page<Alert>) -> Self {
        Self { rows: page.data.len() as u64, size: page.size.into(), total: page.total, counted: page.counted }
    }
}

/// Step that follows a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// This page.
    Page(u64),
    /// All are there.
    Done,
    /// All cannot be had.
    Short(Shortfall),
}

/// Reason of a list that is not whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortfall {
    /// A page held nothing but what pages before it held.
    Repeated(u64),
    /// A page was empty before all were there.
    Empty(u64),
    /// The list changed each time that it was read.
    Changing,
}

impl PageWalk {
    /// A walk that has not begun.
    pub fn start() -> Self {
        let (pass, page, found, before, total) = (1, 0, 0, 0, 0);
        Self { seen: HashMap::new(), pass, page, found, before, total, changed: false, ended: false }
    }

    /// Reads a list from its beginning of which these were met already.
    pub fn begun(met: Vec<AlertId>) -> Self {
        Self { seen: met.into_iter().map(|id| (id, 0)).collect(), ..Self::start() }
    }

    /// Records that an alert was met, and returns whether it is new to every pass.
    pub fn meet(&mut self, id: AlertId) -> bool {
        let before = self.seen.insert(id, self.pass);
        self.found += u64::from(before != Some(self.pass));
        before.is_none()
    }

    /// Returns the step that follows a page whose alerts were all met.
    pub fn follow(&mut self, page: PageFacts) -> Next {
        let number = self.page;
        let before = std::mem::replace(&mut self.before, self.found);
        self.page += 1;
        self.changed |= page.counted && number > 0 && page.total != self.total;
        self.total = page.total;
        if self.found > before {
            self.ended = page.rows < page.size;
            // Behind a full page there may be another one, whatever the total says; behind any, where nobody has
            // counted.
            let last = page.counted && self.ended && self.found >= self.total;
            return if last { self.end() } else { Next::Page(self.page) };
        }
        let all = if page.counted { self.found >= self.total } else { self.ended || page.rows == 0 };
        if all || self.changed {
            return self.end();
        }
        Next::Short(if page.rows == 0 { Shortfall::Empty(number) } else { Shortfall::Repeated(number) })
    }

    fn end(&mut self) -> Next {
        if self.changed { self.again() } else { Next::Done }
    }

    /// Alerts that came or went while the list was read have moved others from page to page: it is read again.
    fn again(&mut self) -> Next {
        if self.pass == MOST_PASSES {
            return Next::Short(Shortfall::Changing);
        }
        self.pass += 1;
        (self.page, self.found, self.before) = (0, 0, 0);
        (self.changed, self.ended) = (false, false);
        Next::Page(0)
    }
}

impl PageWalk {
    /// Describes a list that is not whole, and why.
    pub fn words(&self, why: Shortfall) -> String {
        let from_1 = |is_so| match is_so {
            true => ", as if it numbered them from 1 (the interface numbers them from 0)",
            false => "",
        };
        let why = match why {
            Shortfall::Repeated(page) => format!("its page {page} repeats pages before it{}", from_1(page == 1)),
            Shortfall::Empty(page) => format!("its page {page} is empty already{}", from_1(page == 0)),
            Shortfall::Changing => {
                format!("it changed each of the {MOST_PASSES} times that it was read; try again when less is going on")
            }
        };
        let (total, read) = (count(self.total), count(self.seen.len() as u64));
        format!("the list is not whole: the deployment counts {total} alerts and {read} could be read; {why}")
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Walks through a list whose page `n` of a pass is `page(pass, n)`: rows and total. Tells how it ended and how
    /// many there were.
    fn walked(size: u64, page: impl Fn(u32, u64) -> (Vec<u128>, Option<u64>)) -> (Next, u64) {
        let (mut walk, mut next) = (PageWalk::start(), Next::Page(0));
        for _ in 0..100 {
            let Next::Page(number) = next else { break };
            let (rows, total) = page(walk.pass, number);
            for id in &rows {
                walk.meet(AlertId(uuid::Uuid::from_u128(*id)));
            }
            let facts =
                PageFacts { rows: rows.len() as u64, size, total: total.unwrap_or_default(), counted: total.is_some() };
            next = walk.follow(facts);
        }
        (next, walk.seen.len() as u64)
    }

    /// Rows of page `number` of a list of so many, `size` a page.
    fn rows(number: u64, size: u64, of: u64) -> Vec<u128> {
        (number * size..((number + 1) * size).min(of)).map(u128::from).collect()
    }

    #[rstest]
    #[case::part_of_a_page(0)]
    #[case::one(7)]
    #[case::full_pages(20)]
    #[case::more(25)]
    fn a_list_is_done_when_all_are_there(#[case] of: u64) {
        assert_eq!(walked(10, |_, number| (rows(number, 10, of), Some(of))), (Next::Done, of));
    }

    #[test]
    fn smaller_pages_than_were_asked_for_are_read_to_the_end_too() {
        assert_eq!(walked(100, |_, number| (rows(number, 10, 25), Some(25))), (Next::Done, 25));
    }

    #[test]
    fn more_alerts_than_the_total_tells_are_read_too() {
        assert_eq!(walked(10, |_, number| (rows(number, 10, 25), Some(10))), (Next::Done, 25));
    }

    #[rstest]
    #[case::numbered_from_1(|number: u64| rows(number.saturating_sub(1), 10, 25), Shortfall::Repeated(1), 10)]
    #[case::nothing_on_page_0(|number: u64| if number == 0 { Vec::new() } else { rows(number - 1, 10, 25) },
        Shortfall::Empty(0), 0)]
    #[case::a_page_twice(|number: u64| rows(number.min(1), 10, 25), Shortfall::Repeated(2), 20)]
    #[case::fewer_than_counted(|number: u64| rows(number, 10, 24), Shortfall::Empty(3), 24)]
    fn a_list_that_is_not_whole_is_told(#[case] page: fn(u64) -> Vec<u128>, #[case] why: Shortfall, #[case] seen: u64) {
        assert_eq!(walked(10, |_, number| (page(number), Some(25))), (Next::Short(why), seen));
    }

    #[rstest]
    #[case::part_of_a_page(|number: u64| rows(number, 10, 7), Next::Done, 7)]
    #[case::full_pages(|number: u64| rows(number, 10, 20), Next::Done, 20)]
    #[case::pages_of_its_own_size(|number: u64| rows(number, 4, 10), Next::Done, 10)]
    #[case::no_pages_at_all(|_| rows(0, 7, 7), Next::Done, 7)]
    #[case::numbered_from_1(|number: u64| rows(number.saturating_sub(1), 10, 25),
        Next::Short(Shortfall::Repeated(1)), 10)]
    fn a_list_that_nobody_has_counted_ends_where_nothing_new_comes(
        #[case] page: fn(u64) -> Vec<u128>,
        #[case] end: Next,
        #[case] seen: u64,
    ) {
        assert_eq!(walked(10, |_, number| (page(number), None)), (end, seen));
    }

    #[test]
    fn of_a_list_that_was_read_in_part_what_was_met_is_not_new() {
        let mut walk = PageWalk::begun(rows(0, 10, 10).into_iter().map(uuid::Uuid::from_u128).map(AlertId).collect());
        let (mut next, mut new) = (Next::Page(0), 0);

        while let Next::Page(number) = next {
            let rows = rows(number, 10, 25);
            new += rows.iter().filter(|id| walk.meet(AlertId(uuid::Uuid::from_u128(**id)))).count();
            next = walk.follow(PageFacts { rows: rows.len() as u64, size: 10, total: 25, counted: true });
        }

        assert_eq!((next, walk.seen.len(), new), (Next::Done, 25, 15));
    }

    #[test]
    fn a_list_that_changed_while_it_was_read_is_read_again() {
        let grows_once = |pass, number| {
            if pass == 1 && number == 0 { (rows(0, 10, 25), Some(25)) } else { (rows(number, 10, 26), Some(26)) }
        };
        let always = |pass: u32, number: u64| (rows(number, 10, 25), Some(25 + u64::from(pass) * 10 - number));

        assert_eq!(walked(10, grows_once), (Next::Done, 26));
        assert_eq!(walked(10, always).0, Next::Short(Shortfall::Changing));
    }
}
