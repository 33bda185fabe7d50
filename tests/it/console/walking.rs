//! Walking the list: windows, cursor, search, views, columns, mouse.

use avert::{
    console::message::{Effect, Keep},
    domain::{AlertStatus, SortField, SortOrder, time::Clock},
    service::{Deployment, ServiceError},
};
use chrono::Duration;
use crossterm::event::{Event, MouseButton, MouseEventKind};
use std::sync::Arc;

use super::{
    fake::{Fate, Million, morning, refunded_sibling},
    rig::{Made, Rig, clock},
};
use avert::console::message::Message;

fn million() -> (Rig, Arc<Million>) {
    let service = Arc::new(Million::default());
    let deployment = Deployment::plain(service.clone());
    (Made { deployment: Some(deployment), size: (200, 60), ..Made::default() }.start(), service)
}

#[test]
fn a_jump_to_the_end_of_a_million_alerts_asks_for_one_page_or_two() {
    let (mut rig, service) = million();
    service.pages.lock().unwrap().clear();

    rig.press("G");

    let asked = std::mem::take(&mut *service.pages.lock().unwrap());
    assert!((1..=2).contains(&asked.len()), "{asked:?}");
    assert!(asked.contains(&9_999));
    assert_eq!(rig.current(), Million::alert(999_999).id);
}

#[test]
fn walking_a_million_alerts_never_holds_more_than_a_few_pages() {
    let (mut rig, service) = million();

    for keys in ["G", "pageup pageup pageup", "g", "pagedown pagedown pagedown"].repeat(3) {
        rig.press(keys);
    }

    assert!(rig.app.queue().listing.alerts().count() <= 800, "{}", rig.app.queue().listing.alerts().count());
    assert!(service.pages.lock().unwrap().len() <= 40);
}

#[test]
fn a_cursor_move_within_the_window_asks_the_service_for_no_list() {
    let mut rig = Made { size: (80, 24), ..Made::default() }.start();
    rig.service.lists.lock().unwrap().clear();

    rig.press("j j j k");

    assert!(rig.service.lists.lock().unwrap().is_empty());
}

#[test]
fn a_change_elsewhere_shows_within_a_second_and_leaves_the_cursor_on_its_alert() {
    let mut rig = Rig::new(morning(clock().now()));
    rig.press("j j j");
    let (before, now) = (rig.current(), rig.clock.now());
    let mut urgent = morning(now)[0].clone();
    urgent.id = avert::domain::AlertId::generate();
    urgent.merchant_descriptor = "JUST IN".to_owned();
    urgent.deadline = avert::domain::Deadline::At(now + Duration::minutes(5));

    rig.change(|alerts| alerts.push(urgent));

    assert_eq!(rig.current(), before);
    let screen = rig.screen();
    assert!(screen.contains("g 1 above") && screen.contains("18"), "{screen}");
    assert!(!screen.contains("JUST IN"), "no row moves: {screen}");
    rig.press("g");
    assert!(rig.screen().contains("JUST IN"));
}

#[test]
fn the_cursors_row_keeps_its_line_on_the_screen_while_others_come_and_go() {
    let mut rig = Rig::new(morning(clock().now()));
    rig.press("j j j");
    let (id, now) = (rig.current(), rig.clock.now());
    let mark = rig.service.alert(id).unwrap().card_last_four;
    let line = |rig: &mut Rig| rig.screen().lines().position(|line| line.contains(&mark)).unwrap();
    let before = line(&mut rig);
    let come = |minutes| {
        let deadline = avert::domain::Deadline::At(now + Duration::minutes(minutes));
        avert::domain::Alert { id: avert::domain::AlertId::generate(), deadline, ..morning(now)[0].clone() }
    };

    rig.change(|alerts| alerts.extend([come(5), come(6)]));
    let after_coming = line(&mut rig);
    rig.change(|alerts| {
        alerts.retain(|alert| alert.id == id || alert.deadline.moment() > Some(now + Duration::hours(1)));
    });
    let after_leaving = line(&mut rig);

    assert_eq!((after_coming, after_leaving), (before, before));
    assert_eq!(rig.current(), id);
}

#[test]
fn an_alert_that_leaves_stays_as_a_dimmed_row_until_the_cursor_moves() {
    let mut rig = Rig::new(morning(clock().now()));
    rig.press("j");
    let id = rig.current();

    rig.change(|alerts| alerts.iter_mut().find(|alert| alert.id == id).unwrap().status = AlertStatus::Expired);

    assert_eq!(rig.current(), id);
    assert!(rig.app.queue().listing.is_gone());
    assert!(rig.screen().contains("no longer in this list"));
    rig.press("j");
    assert!(!rig.app.queue().listing.is_gone());
    assert_ne!(rig.current(), id);
}

#[test]
fn a_search_that_cannot_be_understood_says_so_and_changes_nothing() {
    let mut rig = Rig::new(morning(clock().now()));
    rig.press("/");

    rig.type_text("provider:nobody");
    rig.advance(Duration::milliseconds(500));
    rig.press("enter");

    assert_eq!(rig.app.queue().listing.total, Some(17));
    assert!(rig.screen().contains("provider:nobody: "), "{}", rig.screen());
}

#[test]
fn a_view_is_chosen_by_key() {
    let mut rig = Rig::new(morning(clock().now()));

    rig.press("v down enter");

    assert_eq!(rig.app.queue().view.name, "Due within 6 hours");
    assert_eq!(rig.app.queue().listing.total, Some(6));
}

#[test]
fn the_console_begins_on_what_is_to_answer_divided_as_it_was_left() {
    let mut kept = avert::console::app::DeskState::default();
    kept.layout.divider = Some(50);

    let rig = Made { kept, ..Made::default() }.start();

    let queue = rig.app.queue();
    assert_eq!((queue.view.name.as_str(), queue.divider), ("To answer", 50));
    assert!(queue.listing.alerts().all(|alert| alert.outcome.is_none() && !alert.alert_type.is_notice()));
}

#[test]
fn a_view_of_ones_own_is_saved_chosen_and_deleted() {
    let mut rig = Rig::new(morning(clock().now()));
    rig.press("/");
    rig.type_text("provider:cdrn");
    rig.press("enter v alt-s");
    rig.type_text("CDRN only");
    rig.press("enter");
    assert!(rig.done.iter().any(|effect| matches!(effect,
            Effect::Keep(Keep::View(view))
                if view.name == "CDRN only" && view.query == "status:open provider:cdrn notices:no")));

    rig.press("v home up");
    rig.press("esc v");
    assert!(rig.screen().contains("CDRN only"));
    rig.press("delete d");

    assert!(rig.done.contains(&Effect::Keep(Keep::NoView("CDRN only".to_owned()))));
    assert!(!rig.screen().contains("• CDRN only"));
}

#[test]
fn a_view_is_deleted_only_where_that_is_confirmed_and_the_built_in_ones_stay() {
    let mut rig = Rig::new(morning(clock().now()));
    rig.press("v alt-s");
    rig.type_text("Mine");
    rig.press("enter v end alt-x");
    let asked = rig.screen();
    rig.press("enter");
    let cancelled = rig.screen();

    rig.press("home alt-x");

    assert!(asked.contains("Delete the view Mine?"), "{asked}");
    assert!(cancelled.contains("▌ Mine "), "{cancelled}");
    assert!(rig.screen().contains("The built-in views stay."), "{}", rig.screen());
    assert!(!rig.done.iter().any(|effect| matches!(effect, Effect::Keep(Keep::NoView(_)))), "{}", rig.screen());
}

#[test]
fn a_list_without_rows_has_no_heads_of_columns() {
    let mut rig = Rig::new(morning(clock().now()));
    let with_rows = rig.screen();

    rig.press("/");
    rig.type_text("provider:cdrn amount>99999 currency:EUR");
    rig.press("enter");
    rig.advance(Duration::milliseconds(500));
    let without = rig.screen();

    assert!(with_rows.contains("DUE IN") && with_rows.contains("AMOUNT"), "{with_rows}");
    assert!(without.contains("No match.") && !without.contains("DUE IN") && !without.contains("AMOUNT"), "{without}");
}

#[test]
fn a_built_in_name_is_refused_for_a_view_of_ones_own() {
    let mut rig = Rig::new(morning(clock().now()));

    rig.press("v alt-s");
    rig.type_text("to answer");
    rig.press("enter");

    assert!(rig.screen().contains("name of a built-in view"));
    assert!(!rig.done.iter().any(|effect| matches!(effect, Effect::Keep(Keep::View(_)))));
}

#[test]
fn a_column_is_sorted_by_in_place_and_the_other_way_round() {
    let mut rig = Rig::new(morning(clock().now()));

    rig.press("s");
    assert_eq!(rig.app.queue().sort().field, SortField::Provider);
    rig.choose("reverse");
    rig.press("g");

    assert_eq!(
        (rig.app.queue().sort().field, rig.app.queue().sort().order),
        (SortField::Provider, SortOrder::Descending)
    );
    assert_eq!(rig.app.queue().current().unwrap().provider.as_str(), "VERIFI");
}

#[test]
fn a_click_takes_a_row_and_opens_the_cursors() {
    let mut rig = Rig::new(morning(clock().now()));
    rig.click_on("··1190");
    assert_eq!(rig.app.queue().current().unwrap().merchant_descriptor, "ACME*TRAVEL KWI");
    assert!(!rig.screen().contains("esc back"), "{}", rig.screen());
    rig.click_on("··1190");

    assert!(rig.screen().contains("esc back"), "{}", rig.screen());
}

#[test]
fn titles_chips_and_footer_keys_can_be_clicked() {
    let mut rig = Rig::new(morning(clock().now()));

    rig.click_on("AMOUNT");
    assert_eq!(rig.app.queue().sort().field, SortField::Amount);
    rig.press("/");
    rig.type_text("provider:cdrn");
    rig.press("enter");
    rig.advance(Duration::milliseconds(500));
    rig.click_on("provider:cdrn");
    assert!(rig.app.queue().filter().providers.is_empty());
    rig.click_on("? help");

    assert!(rig.screen().contains("Keys and commands"));
}

#[test]
fn the_wheel_scrolls_and_the_divider_is_dragged() {
    let mut rig = Made { size: (120, 24), ..Made::default() }.start();
    rig.draw();

    rig.mouse(MouseEventKind::ScrollDown, 10, 12);
    assert_eq!(rig.app.queue().listing.top, 1);
    let divider = rig.app.queue().regions().divider.unwrap();
    rig.mouse(MouseEventKind::Down(MouseButton::Left), divider.x, 10);
    rig.mouse(MouseEventKind::Drag(MouseButton::Left), 60, 10);
    rig.mouse(MouseEventKind::Up(MouseButton::Left), 60, 10);

    assert_eq!(rig.app.queue().divider, 50);
}

#[test]
fn a_click_beside_a_menu_does_not_reach_the_list_behind_it() {
    let mut rig = Rig::new(morning(clock().now()));
    let before = rig.current();
    rig.press("v");
    rig.draw();

    rig.click(5, 20);

    assert_eq!(rig.current(), before);
    assert!(rig.screen().contains("Views"));
}

#[test]
fn the_mouse_is_given_back_and_taken_again() {
    let mut rig = Rig::new(morning(clock().now()));

    rig.choose("mouse");
    rig.choose("mouse");

    assert_eq!(
        rig.done.iter().filter(|effect| matches!(effect, Effect::Mouse(_))).collect::<Vec<_>>(),
        [&Effect::Mouse(false), &Effect::Mouse(true)]
    );
}

#[test]
fn an_alert_is_copied_by_its_id_and_as_json() {
    let mut rig = Rig::new(morning(clock().now()));

    rig.press("y y y J");

    let copied: Vec<_> = rig
        .done
        .iter()
        .filter_map(|effect| match effect {
            Effect::Copy(text) => Some(text.reveal()),
            _ => None,
        })
        .collect();
    assert_eq!(copied[0], rig.current().to_string());
    assert!(copied[1].contains("\"providerId\""));
}

#[test]
fn a_paste_where_no_field_is_open_is_refused_with_a_word() {
    let mut rig = Rig::new(morning(clock().now()));

    rig.update(Message::Input(Event::Paste("rrr\nqqq".to_owned())));

    assert!(rig.screen().contains("Not pasted"));
    assert!(!rig.has_quit());
}

#[test]
fn a_service_that_does_not_answer_is_asked_again_and_what_was_loaded_stays() {
    let mut rig = Rig::new(morning(clock().now()));
    rig.service.set_down(Some(ServiceError::Unavailable("busy".to_owned())));
    rig.hear();
    let screen = rig.screen();
    assert!(screen.contains("stale since 14:03"), "{screen}");
    assert!(screen.contains("ACME*SHOP"), "{screen}");

    rig.service.set_down(None);
    rig.advance(Duration::seconds(40));

    assert!(rig.screen().contains("● live"));
}

#[test]
fn without_news_of_changes_the_list_is_loaded_again_by_itself() {
    let mut rig = Made { operator: false, ..Made::default() }.start();
    rig.service.change(|alerts| alerts.truncate(3));

    rig.advance(Duration::seconds(16));

    assert_eq!(rig.app.queue().listing.total, Some(3));
}

#[test]
fn below_the_smallest_size_nothing_but_leaving_and_resizing_works() {
    let mut rig = Rig::new(morning(clock().now()));
    let before = rig.current();
    rig.resize(79, 30);
    assert!(rig.screen().contains("avert needs 80 x 24"));

    rig.press("j r ? v /");
    rig.resize(120, 40);

    assert_eq!(rig.current(), before);
    assert!(!rig.screen().contains("Recorded as"));
    rig.resize(40, 10);
    rig.press("q");
    assert!(rig.has_quit());
}

#[test]
fn a_terminal_that_shrinks_before_it_says_so_is_drawn_as_it_is() {
    let mut rig = Made { size: (200, 60), ..Made::default() }.start();
    rig.press("G r");

    rig.shrink_silently(90, 24);

    assert!(rig.screen().contains("Recorded as"));
}

#[test]
fn an_idle_console_wants_to_be_woken_for_the_age_and_the_clock_alone() {
    let mut rig = Rig::new(morning(clock().now()));
    rig.advance(Duration::seconds(50));

    let wake = rig.app.next_wake();

    assert_eq!(wake, avert::domain::time::from_iso("2026-11-20T14:04:00Z").unwrap());
    assert!(rig.app.take_dirty());
    assert!(!rig.app.take_dirty(), "what was drawn is not drawn again");
    rig.mouse(MouseEventKind::Moved, 10, 10);
    assert!(!rig.app.take_dirty(), "a mouse that only moves changes nothing");
}

#[test]
fn news_hide_no_row_of_the_list() {
    let mut rig = Made { size: (80, 24), ..Made::default() }.start();
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderFailed("expired ".repeat(5))));
    rig.press("r ctrl-s G");

    rig.advance(Duration::seconds(6));

    let screen = rig.screen();
    assert!(screen.contains("not recorded: Activity ("), "{screen}");
    let regions = rig.app.queue().regions();
    let shown = screen.lines().skip(usize::from(regions.rows.y)).take(usize::from(regions.rows.height));
    assert!(
        shown.clone().all(|line| line.contains(" VERIFI ") || line.contains(" CDRN ") || line.contains(" ETHOCA ")),
        "{screen}"
    );
    assert!(shown.last().is_some_and(|line| line.starts_with('▌')), "{screen}");
}

#[test]
fn doubles_in_the_loaded_list_bear_a_mark() {
    let mut alerts = morning(clock().now());
    let double = avert::domain::Alert {
        id: avert::domain::AlertId::generate(),
        provider: avert::domain::Provider::Cdrn,
        ..alerts[4].clone()
    };
    alerts.push(double);
    let mut rig = Rig::new(alerts);

    let marked = rig.screen().lines().filter(|line| line.contains("h39 =") && line.contains("4111")).count();

    assert_eq!(marked, 2, "{}", rig.screen());
}

#[test]
fn a_double_that_is_not_in_the_list_is_marked_once_it_was_looked_for() {
    let mut alerts = morning(clock().now());
    alerts.push(refunded_sibling(&alerts[1], 1_001, clock().now()));
    let mut rig = Made { operator: false, ..Made::of(alerts) }.start();
    assert!(!rig.screen().contains("1h09 ⚠"), "{}", rig.screen());

    rig.press("j");
    rig.advance(Duration::milliseconds(100));
    rig.press("j");
    rig.advance(Duration::milliseconds(100));

    assert!(rig.screen().contains("1h09 ⚠  VERIFI"), "{}", rig.screen());
}

#[test]
fn the_help_finds_a_key_by_a_word_and_runs_it() {
    let mut rig = Rig::new(morning(clock().now()));

    rig.press("?");
    rig.type_text("last row");
    rig.press("enter");

    assert_eq!(rig.app.queue().listing.cursor, 16);
}

#[test]
fn the_line_that_a_row_above_the_cursors_leaves_says_so() {
    let mut rig = Made { size: (80, 24), ..Made::default() }.start();
    rig.press("j j j n ctrl-s");
    let before = line_of_cursor(&mut rig);

    rig.advance(Duration::seconds(10));

    let screen = rig.screen();
    let heads = screen.lines().position(|line| line.contains("NETWORK")).unwrap();
    let first = screen.lines().nth(heads + 1).unwrap().to_owned();
    assert!(first.contains("1 alert no longer listed"), "{screen}");
    assert_eq!(line_of_cursor(&mut rig), before, "its row keeps its line: {screen}");
    rig.press("j");
    assert!(!rig.screen().contains("no longer listed"), "{}", rig.screen());
}

/// The line of the screen that the cursor's row is on.
fn line_of_cursor(rig: &mut Rig) -> usize {
    rig.screen().lines().position(|line| line.starts_with('▌')).unwrap()
}

#[test]
fn a_list_whose_order_no_column_shows_says_it_in_its_title_however_little_room_there_is() {
    let mut rig = Made { size: (100, 30), ..Made::default() }.start();

    rig.press("v end enter");
    rig.advance(Duration::milliseconds(200));

    assert!(rig.screen().contains("All, newest first"), "{}", rig.screen());
}
