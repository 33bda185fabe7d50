//! The filter form's rules: what is shown is what is asked for, and a wrong field is never applied.

use avert::{
    console::{
        dialogs::filter_form::FilterForm,
        theme::{Theme, ThemeName},
    },
    domain::{
        AlertFilter, AlertStatus, AlertType, Provider, Sort, SortField, SortOrder,
        query::{DEFAULT_SORT, Vocabulary, parse},
    },
    ui::form::{Entered, Form},
};
use crossterm::event::{Event, KeyCode, MouseEventKind};
use proptest::prelude::*;
use ratatui::layout::Position;
use rstest::rstest;

use super::{Screen, ctrl, key, mouse, press_at, typed};
use crate::support::size::sized;

/// What came of an event.
#[derive(Debug, PartialEq)]
pub(super) enum FilterStep {
    Stay,
    Cancel,
    Apply(Box<AlertFilter>, Sort),
}

/// The form as its dialog drives it.
pub(super) struct OpenFilter {
    offered: FilterForm,
    pub(super) form: Form,
}

impl OpenFilter {
    fn new(filter: &AlertFilter, sort: Sort, vocabulary: Vocabulary) -> Self {
        let (offered, form) = FilterForm::of(filter, sort, vocabulary);
        Self { offered, form }
    }

    pub(super) fn handle(&mut self, event: &Event) -> FilterStep {
        match self.form.handle(event) {
            Entered::Nothing => FilterStep::Stay,
            Entered::Leave => FilterStep::Cancel,
            Entered::Submit => match self.offered.read(&self.form) {
                Ok((filter, sort)) => FilterStep::Apply(Box::new(filter), sort),
                Err((field, wrong)) => {
                    self.form.refuse(field, wrong);
                    FilterStep::Stay
                }
            },
        }
    }
}

pub(super) fn open(query: &str) -> OpenFilter {
    let (filter, sort) = parse(query, Vocabulary::Desk).unwrap();
    OpenFilter::new(&filter, sort, Vocabulary::Desk)
}

fn screen(filter: &OpenFilter, width: u16, height: u16) -> Screen {
    Screen::of(width, height, |frame| filter.form.draw(&Theme::named(ThemeName::Dark), frame, frame.area()))
}

fn play(form: &mut OpenFilter, events: impl IntoIterator<Item = Event>) -> FilterStep {
    events.into_iter().fold(FilterStep::Stay, |_, event| form.handle(&event))
}

fn tabs(count: usize) -> Vec<Event> {
    vec![key(KeyCode::Tab); count]
}

fn click(form: &mut OpenFilter, text: &str) -> FilterStep {
    let at = screen(form, 120, 40).find(text);
    play(form, [press_at(at)])
}

fn applied(step: FilterStep) -> (AlertFilter, Sort) {
    match step {
        FilterStep::Apply(filter, sort) => (*filter, sort),
        step => panic!("nothing was applied: {step:?}"),
    }
}

#[rstest]
#[case("")]
#[case("status:open provider:ethoca,verifi type:confirmed_fraud expires:6 sort:-amount")]
#[case(
    "from:2026-01-01 to:2026-01-31 txfrom:2025-12-01 txto:2025-12-31 descriptor:\"ACME Shop\" \
        outcome:resolved,not_found"
)]
#[case("expired:no company:0198c0de-0000-7000-8000-000000000001,0198c0de-0000-7000-8000-000000000002 free text")]
#[case("expired:yes status:chargeback,invalid sort:id")]
fn a_filter_that_is_opened_and_applied_is_as_it_was(#[case] query: &str) {
    let mut form = open(query);

    let step = form.handle(&key(KeyCode::Enter));

    assert_eq!(applied(step), parse(query, Vocabulary::Desk).unwrap());
}

#[test]
fn of_the_older_dialect_the_form_offers_what_that_one_knows() {
    let [older, current, own] = [Vocabulary::Older, Vocabulary::Interface, Vocabulary::Desk]
        .map(|vocabulary| screen(&OpenFilter::new(&AlertFilter::default(), DEFAULT_SORT, vocabulary), 120, 40).text());

    assert!(older.contains("not found") && older.contains("processing") && !older.contains("CDRN"), "{older}");
    assert!(!current.contains("not found") && current.contains("CDRN"), "{current}");
    assert!(own.contains("not found") && own.contains("CDRN"), "this machine has alerts of both dialects: {own}");
}

#[test]
fn every_parameter_can_be_set_by_keys_alone() {
    let mut form = open("");
    let mut events = typed("4111");
    events.extend(tabs(1));
    events.extend(typed("acme"));
    events.extend(tabs(1));
    events.extend([
        key(KeyCode::Right),
        key(KeyCode::Char(' ')),
        key(KeyCode::Tab),
        key(KeyCode::End),
        key(KeyCode::Char(' ')),
    ]);
    events.extend([key(KeyCode::Tab), key(KeyCode::Char(' ')), key(KeyCode::Tab)]);
    events.extend(typed("12"));
    events.extend([key(KeyCode::Tab), key(KeyCode::Right), key(KeyCode::Right), key(KeyCode::Tab)]);
    for text in
        ["2026-01-01", "2026-01-31", "2025-12-01", "2025-12-31", "resolved", "0198c0de-0000-7000-8000-000000000001"]
    {
        events.extend(typed(text));
        events.extend(tabs(1));
    }
    events.extend([key(KeyCode::Char('m')), key(KeyCode::Tab), key(KeyCode::Right), key(KeyCode::Enter)]);

    let set = applied(play(&mut form, events));

    let query = "provider:verifi type:cancel_notice status:open expires:12 expired:no from:2026-01-01 to:2026-01-31 \
        txfrom:2025-12-01 \
                 txto:2025-12-31 descriptor:acme outcome:resolved company:0198c0de-0000-7000-8000-000000000001 \
                 sort:-merchant 4111";
    assert_eq!(set, parse(query, Vocabulary::Desk).unwrap());
}

#[rstest]
#[case("2026-02-30", 7, "✗ takes a day such as 2026-01-31 (YYYY-MM-DD)")]
#[case("yesterday", 8, "✗ takes a day such as 2026-01-31 (YYYY-MM-DD)")]
#[case("2026-1", 9, "✗ takes a day such as 2026-01-31 (YYYY-MM-DD)")]
#[case("0", 5, "✗ takes whole hours, 1 or more, such as 6")]
#[case("six", 5, "✗ takes whole hours, 1 or more, such as 6")]
#[case("99999999999", 5, "✗ takes whole hours, 1 or more, such as 6")]
#[case("42", 12, "✗ takes company ids (UUIDs)")]
fn a_wrong_field_says_so_below_itself_and_nothing_is_applied(
    #[case] text: &str,
    #[case] tab: usize,
    #[case] says: &str,
) {
    let mut form = open("");
    play(&mut form, tabs(tab));

    play(&mut form, typed(text));
    let step = form.handle(&key(KeyCode::Enter));

    let screen = screen(&form, 80, 24);
    assert_eq!(step, FilterStep::Stay);
    assert!(screen.has(says), "{}", screen.text());
    let field = screen.cursor.unwrap();
    assert_eq!(screen.find(says).y, field.y + 1, "the focus is on the field at fault");
}

#[test]
fn a_range_that_ends_before_it_begins_is_an_error_at_its_beginning() {
    let mut form = open("from:2026-02-01");
    play(&mut form, tabs(8));

    play(&mut form, typed("2026-01-31"));

    assert_eq!(form.handle(&key(KeyCode::Enter)), FilterStep::Stay);
    assert!(screen(&form, 80, 24).has("✗ the range begins on 2026-02-01, after its end on 2026-01-31"));
}

#[test]
fn everything_can_be_chosen_with_the_mouse() {
    let mut form = open("");

    click(&mut form, "[ ] ETHOCA");
    click(&mut form, "[ ] fraud notice");
    click(&mut form, "[ ] open");
    click(&mut form, "( ) no");
    click(&mut form, "(•) deadline");
    click(&mut form, "( ) alerted");
    click(&mut form, "( ) descending");
    click(&mut form, "start of the merchant descriptor");
    play(&mut form, typed("acme"));
    let (filter, sort) = applied(click(&mut form, "Apply"));

    let wanted = AlertFilter {
        providers: vec![Provider::Ethoca],
        types: vec![AlertType::VerifiFraudNotice],
        statuses: vec![AlertStatus::Open],
        expired: Some(false),
        descriptor: Some("acme".to_owned()),
        ..AlertFilter::default()
    };
    assert_eq!((filter, sort), (wanted, Sort { field: SortField::AlertTimeStamp, order: SortOrder::Descending }));
}

#[test]
fn cancel_leaves_all_as_it_was() {
    assert_eq!(open("").handle(&key(KeyCode::Esc)), FilterStep::Cancel);
    assert_eq!(click(&mut open(""), "Cancel"), FilterStep::Cancel);
}

#[test]
fn a_paste_goes_into_the_field_with_the_focus_and_nowhere_else() {
    let mut form = open("");

    form.handle(&Event::Paste("5F2RE396\n".to_owned()));
    play(&mut form, tabs(2));
    form.handle(&Event::Paste("x".to_owned()));

    assert!(screen(&form, 80, 24).has("Nothing was pasted: text goes into a field to type in."));
    assert_eq!(applied(form.handle(&key(KeyCode::Enter))).0.q.as_deref(), Some("5F2RE396"));
}

#[test]
fn values_that_this_version_does_not_know_are_shown_and_kept() {
    let filter = AlertFilter {
        statuses: vec![AlertStatus::Processing],
        providers: vec![Provider::Other("RDR".to_owned())],
        ..AlertFilter::default()
    };
    let mut form = OpenFilter::new(&filter, DEFAULT_SORT, Vocabulary::Desk);

    let shown = screen(&form, 80, 24);
    let step = form.handle(&key(KeyCode::Enter));

    assert!(shown.has("[x] RDR") && shown.has("[x] processing"), "{}", shown.text());
    assert_eq!(applied(step), (filter, DEFAULT_SORT));
}

#[test]
fn where_there_is_less_room_the_form_scrolls_to_the_focus_and_by_the_wheel() {
    let mut form = open("");

    let top = screen(&form, 80, 16);
    play(&mut form, tabs(13));
    let bottom = screen(&form, 80, 16);
    play(&mut form, vec![mouse(MouseEventKind::ScrollUp, Position { x: 20, y: 8 }); 10]);
    let looked_back = screen(&form, 80, 16);

    assert_eq!((top.has("Search"), top.has("Sort by")), (true, false));
    assert_eq!((bottom.has("Search"), bottom.has("Sort by")), (false, true));
    assert_eq!((looked_back.has("Search"), looked_back.has("Sort by")), (true, false));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(sized(30, 40_000)))]

    #[test]
    fn no_keys_and_no_size_make_it_panic(keys in prop::collection::vec(0usize..14, 0..60), width in 1u16..130,
        height in 1u16..45) {
        let codes = [KeyCode::Tab, KeyCode::BackTab, KeyCode::Up, KeyCode::Down, KeyCode::Left, KeyCode::Right,
            KeyCode::Enter,
            KeyCode::Home, KeyCode::End, KeyCode::Char(' '), KeyCode::Char('2'), KeyCode::Char('-'),
                KeyCode::Char('x'), KeyCode::Backspace];
        let mut form = open("status:open");
        for chunk in keys.chunks(12) {
            chunk.iter().for_each(|index| drop(form.handle(&key(codes[*index]))));
            screen(&form, width, height);
        }
    }

    #[test]
    fn what_is_applied_can_be_typed(keys in prop::collection::vec(0usize..14, 0..80)) {
        let codes = [KeyCode::Tab, KeyCode::Tab, KeyCode::Tab, KeyCode::Down, KeyCode::Left, KeyCode::Right,
            KeyCode::Char(','),
            KeyCode::End, KeyCode::Char(' '), KeyCode::Char('2'), KeyCode::Char('"'), KeyCode::Char('-'),
                KeyCode::Char(':'), KeyCode::Char('x')];
        let mut form = open("");
        for index in keys {
            form.handle(&key(codes[index]));
        }
        if let FilterStep::Apply(filter, sort) = form.handle(&ctrl('s')) {
            let text = avert::domain::query::render(&filter, sort);
            prop_assert_eq!(parse(&text, Vocabulary::Desk), Ok((*filter, sort)), "{}", text);
        }
    }
}
