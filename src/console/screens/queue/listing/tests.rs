//! Tests of the windowed list.

use chrono::Duration;
use rstest::rstest;

use super::{super::pages::KEPT, *};
use crate::domain::{AlertType, MAX_PAGE_SIZE, Provider, SortField, SortOrder, time::from_iso};

const SORT: Sort = Sort { field: SortField::AlertTimeStamp, order: SortOrder::Ascending };

/// Alerts one minute after the other.
fn alerts(count: i64) -> Vec<Alert> {
    let start = from_iso("2026-03-10T12:00:00Z").unwrap();
    (0..count)
        .map(|minute| {
            let alert_time = Some(start + Duration::minutes(minute));
            Alert { alert_time, ..Alert::new(AlertId::generate(), Provider::Cdrn, AlertType::VerifiCancel) }
        })
        .collect()
}

fn page_of(all: &[Alert], need: &Need) -> Page<Alert> {
    let size = usize::try_from(MAX_PAGE_SIZE).unwrap();
    let start = usize::try_from(need.ticket.page).unwrap() * size;
    let data = all.iter().skip(start).take(size).cloned().collect();
    Page { data, total: all.len() as u64, counted: true, page: need.ticket.page, size: MAX_PAGE_SIZE }
}

fn load(listing: &mut Listing, all: &[Alert]) -> usize {
    let needs = listing.needs();
    for need in &needs {
        listing.accept(need.ticket, Ok(page_of(all, need))).unwrap();
    }
    needs.len()
}

fn refresh(listing: &mut Listing, all: &[Alert]) {
    for need in listing.refresh() {
        listing.accept(need.ticket, Ok(page_of(all, &need))).unwrap();
    }
}

fn listing(all: &[Alert], height: u16) -> Listing {
    let mut listing = Listing::new(1, AlertFilter::default(), SORT, height);
    load(&mut listing, all);
    load(&mut listing, all);
    listing
}

#[test]
fn only_pages_around_the_window_are_asked_for() {
    let all = alerts(1_000);
    let mut listing = Listing::new(1, AlertFilter::default(), SORT, 40);

    assert_eq!(load(&mut listing, &all), 1);
    assert_eq!(load(&mut listing, &all), 0);
    listing.move_to(999);
    assert_eq!(load(&mut listing, &all), 1);
    assert_eq!(listing.current(), all.last());
}

#[test]
fn few_pages_are_kept_however_far_one_walks() {
    let all = alerts(5_000);
    let mut listing = listing(&all, 40);

    for row in (0..5_000).step_by(30) {
        listing.move_to(row);
        load(&mut listing, &all);
        assert_eq!(listing.cursor_id, Some(all[usize::try_from(row).unwrap()].id));
    }

    assert!(listing.alerts().count() <= KEPT * 100, "{}", listing.alerts().count());
}

#[test]
fn the_cursors_alert_stays_under_it_when_others_come_before_it() {
    let all = alerts(300);
    let mut listing = listing(&all[10..], 20);
    listing.move_to(150);
    load(&mut listing, &all[10..]);
    let (id, line) = (listing.cursor_id, listing.cursor - listing.top);

    refresh(&mut listing, &all);

    assert_eq!((listing.cursor_id, listing.cursor), (id, 160));
    assert_eq!(listing.current().map(|alert| alert.id), id);
    assert_eq!(listing.cursor - listing.top, line);
}

#[test]
fn the_cursors_row_keeps_its_line_at_the_beginning_of_the_list_too() {
    let all = alerts(30);
    let mut listing = listing(&all[3..], 20);
    listing.move_to(4);

    refresh(&mut listing, &all);

    assert_eq!((listing.top, listing.cursor), (3, 7));
}

#[test]
fn the_cursors_row_keeps_its_line_when_rows_above_it_leave() {
    let all = alerts(30);
    let mut listing = listing(&all, 20);
    listing.move_to(4);

    refresh(&mut listing, &all[3..]);

    assert_eq!((listing.top, listing.lead, listing.cursor), (0, 3, 1));
    assert_eq!(listing.current(), Some(&all[4]));
    listing.move_by(1);
    assert_eq!((listing.top, listing.lead, listing.cursor), (0, 0, 2), "blank lines go when the cursor moves");
}

#[test]
fn lines_below_the_last_row_are_filled_by_a_key_at_the_end_of_the_list() {
    let all = alerts(60);
    let mut listing = listing(&all, 20);
    listing.move_to(59);
    listing.move_to(55);
    refresh(&mut listing, &all[..56]);

    let before = (listing.top, listing.cursor);
    listing.move_by(1);

    assert_eq!((before, (listing.top, listing.cursor)), ((40, 55), (36, 55)));
}

#[test]
fn the_cursors_row_keeps_its_line_when_rows_below_it_leave_at_the_end() {
    let all = alerts(60);
    let mut listing = listing(&all, 20);
    listing.move_to(59);
    listing.move_to(50);
    let line = listing.cursor - listing.top;

    refresh(&mut listing, &all[..53]);

    assert_eq!((listing.cursor, listing.cursor - listing.top), (50, line));
}

#[test]
fn a_list_whose_order_is_refused_is_read_in_the_interfaces_own() {
    let mut listing =
        Listing::new(1, AlertFilter::default(), Sort { field: SortField::HoursLeft, order: SortOrder::Ascending }, 20);
    let refused = listing.needs().remove(0);

    let (fell_back, again) = (listing.fall_back(), listing.fall_back());

    assert!(fell_back && !again);
    let need = listing.needs().remove(0);
    assert_eq!(need.query.sort, Sort::default());
    assert_eq!(listing.sort.field, SortField::HoursLeft);
    assert_eq!(
        listing.accept(refused.ticket, Ok(page_of(&[], &refused))),
        Ok(false),
        "an draft for the old order is late"
    );
}

#[test]
fn an_alert_that_leaves_stays_as_a_ghost_until_the_cursor_moves() {
    let all = alerts(30);
    let mut listing = listing(&all, 20);
    listing.move_to(5);
    let rest: Vec<_> = all.iter().filter(|alert| alert.id != all[5].id).cloned().collect();

    refresh(&mut listing, &rest);

    assert_eq!(listing.row(5), Some(&all[5]));
    assert_eq!((listing.row(4), listing.row(6)), (Some(&all[4]), Some(&all[6])));
    assert_eq!((listing.rows(), listing.total), (30, Some(29)));

    listing.move_by(1);

    assert_eq!(listing.current(), Some(&all[6]));
    assert_eq!((listing.cursor, listing.rows()), (5, 29));
}

#[rstest]
#[case(-1, 4)]
#[case(1, 6)]
#[case(10, 15)]
fn leaving_a_ghost_goes_to_the_row_that_was_seen_there(#[case] step: i64, #[case] seen: usize) {
    let all = alerts(30);
    let mut listing = listing(&all, 20);
    listing.move_to(5);
    let rest: Vec<_> = all.iter().filter(|alert| alert.id != all[5].id).cloned().collect();
    refresh(&mut listing, &rest);

    listing.move_by(step);

    assert_eq!(listing.current(), Some(&all[seen]));
}

#[test]
fn a_list_that_empties_keeps_the_ghost_alone() {
    let all = alerts(1);
    let mut listing = listing(&all, 20);

    refresh(&mut listing, &[]);

    assert_eq!((listing.rows(), listing.current()), (1, Some(&all[0])));
    listing.move_by(1);
    assert_eq!(listing.rows(), 1);
}

#[test]
fn a_stale_answer_changes_nothing() {
    let all = alerts(300);
    let mut listing = listing(&all, 20);
    listing.move_to(250);
    let late = listing.needs();
    refresh(&mut listing, &all[..10]);

    for need in late {
        assert_eq!(listing.accept(need.ticket, Ok(page_of(&all, &need))), Ok(false));
    }

    assert_eq!(listing.total, Some(10));
}

#[test]
fn a_failed_refresh_keeps_what_is_shown() {
    let all = alerts(50);
    let mut listing = listing(&all, 20);
    let need = listing.refresh().remove(0);

    let error = listing.accept(need.ticket, Err(ServiceError::Unavailable("busy".to_owned()))).unwrap_err();

    assert_eq!(error, ServiceError::Unavailable("busy".to_owned()));
    assert!(!listing.is_refreshing());
    assert_eq!(listing.current(), Some(&all[0]));
}

#[test]
fn a_page_that_failed_is_asked_for_again_when_it_is_needed() {
    let mut listing = Listing::new(1, AlertFilter::default(), SORT, 20);
    let need = listing.needs().remove(0);
    assert!(listing.needs().is_empty());

    let refused = listing.accept(need.ticket, Err(ServiceError::Unavailable("busy".to_owned())));

    assert!(refused.is_err());
    assert_eq!(listing.needs().len(), 1);
}

#[test]
fn scrolling_takes_the_cursor_along_only_at_the_edge() {
    let all = alerts(90);
    let mut listing = listing(&all, 20);
    listing.move_to(10);

    listing.scroll_by(5);
    assert_eq!((listing.top, listing.cursor), (5, 10));
    listing.scroll_by(10);
    assert_eq!((listing.top, listing.cursor), (15, 15));
    listing.scroll_by(1_000);
    assert_eq!((listing.top, listing.cursor), (70, 70));
    listing.scroll_by(-1_000);
    assert_eq!((listing.top, listing.cursor), (0, 19));
}
