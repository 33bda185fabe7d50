//! The filter of deliveries as a form: state, endpoint and time.
//!
//! Nothing here is final, so Enter applies from anywhere.

mod draw;

use chrono::{Days, Duration, NaiveDate, NaiveDateTime, NaiveTime};
use crossterm::event::{Event, KeyCode, KeyEvent, MouseButton, MouseEventKind};
use ratatui::Frame;
use ratatui::layout::Rect;

use crate::console::keymap::Chord;
use crate::console::screens::webhooks::state::WebhooksScreen;
use crate::console::widgets::text_input::Typed;
use crate::console::{AppContext, ClickTargets, Dialog, Message, Order, Orders, TextInput, Tone};
use crate::domain::{DeliveryFilter, DeliveryState, EndpointId, Timestamp};

/// What can have the focus, in the order of Tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    States,
    Endpoint,
    From,
    Until,
    Cancel,
    Reset,
    Apply,
}

impl Place {
    const ORDER: [Self; 7] =
        [Self::States, Self::Endpoint, Self::From, Self::Until, Self::Cancel, Self::Reset, Self::Apply];
}

/// The buttons: the words of each, and the key that presses it.
const BUTTONS: [(Place, &str, &str); 3] =
    [(Place::Cancel, "Cancel", "esc"), (Place::Reset, "Reset", "ctrl-r"), (Place::Apply, "Apply", "enter")];

/// The button that a key presses from anywhere; where another one has the focus, Enter presses that.
fn pressed_by(key: KeyEvent, focus: Place) -> Option<Place> {
    let chord = Chord::from(key);
    let button = BUTTONS.iter().find(|(.., key)| key.parse() == Ok(chord)).map(|(button, ..)| *button)?;
    let has_focus = BUTTONS.iter().any(|(button, ..)| *button == focus);
    Some(if button == Place::Apply && has_focus { focus } else { button })
}

/// What a click can meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Click {
    Go(Place),
    State(usize),
    /// The next endpoint, or the one before.
    Step(bool),
}

/// The form while it is open.
#[derive(Debug)]
pub struct DeliveryFilterForm {
    states: [bool; DeliveryState::ALL.len()],
    /// Those that can be chosen, each with its address.
    endpoints: Vec<(EndpointId, String)>,
    endpoint: Option<usize>,
    from: TextInput,
    until: TextInput,
    focus: Place,
    /// Which of the states has the cursor.
    at: usize,
    /// One sentence about what is wrong, until the next key.
    word: Option<String>,
    targets: ClickTargets<Click>,
}

impl DeliveryFilterForm {
    /// Opens the form on what is shown now.
    pub fn of(screen: &WebhooksScreen) -> Self {
        let filter = &screen.filter;
        let mut endpoints: Vec<_> =
            screen.endpoint_rows().iter().map(|endpoint| (endpoint.id, endpoint.url.to_string())).collect();
        if let Some(stranger) = filter.endpoint.filter(|id| screen.known(*id).is_none()) {
            endpoints.push((stranger, "a removed endpoint".to_owned()));
        }
        let moment = |at: Option<Timestamp>| {
            TextInput::one_line(&at.map_or(String::new(), |at| at.format("%Y-%m-%d %H:%M").to_string()))
        };
        Self {
            states: DeliveryState::ALL.map(|state| filter.states.contains(&state)),
            endpoint: filter.endpoint.and_then(|id| endpoints.iter().position(|(known, _)| *known == id)),
            endpoints,
            from: moment(filter.from),
            until: moment(filter.until),
            focus: Place::States,
            at: 0,
            word: None,
            targets: ClickTargets::default(),
        }
    }

    fn input(&mut self) -> Option<&mut TextInput> {
        match self.focus {
            Place::From => Some(&mut self.from),
            Place::Until => Some(&mut self.until),
            _ => None,
        }
    }

    /// What is asked for, or what is wrong and where.
    fn filter(&self, now: Timestamp) -> Result<DeliveryFilter, (Place, String)> {
        let read =
            |place, input: &TextInput, end| moment(input.text().trim(), now, end).map_err(|wrong| (place, wrong));
        let (from, until) = (read(Place::From, &self.from, false)?, read(Place::Until, &self.until, true)?);
        if from.zip(until).is_some_and(|(from, until)| from >= until) {
            return Err((Place::Until, "The end has to come after the beginning.".to_owned()));
        }
        let states =
            DeliveryState::ALL.into_iter().zip(self.states).filter_map(|(state, on)| on.then_some(state)).collect();
        let endpoint = self.endpoint.and_then(|at| self.endpoints.get(at)).map(|(id, _)| *id);
        Ok(DeliveryFilter { states, endpoint, from, until, ..DeliveryFilter::default() })
    }

    fn apply(&mut self, now: Timestamp) -> Orders {
        match self.filter(now) {
            Ok(filter) => vec![Order::Close, Message::ShowDeliveries(filter).into()],
            Err((place, wrong)) => {
                self.focus = place;
                self.word = Some(wrong);
                Vec::new()
            }
        }
    }

    fn press(&mut self, button: Place, now: Timestamp) -> Orders {
        match button {
            Place::Reset => vec![Order::Close, Message::ShowDeliveries(DeliveryFilter::default()).into()],
            Place::Cancel => vec![Order::Close],
            _ => self.apply(now),
        }
    }

    fn move_focus(&mut self, forward: bool) {
        let (at, count) = (Place::ORDER.iter().position(|place| *place == self.focus).unwrap_or(0), Place::ORDER.len());
        self.focus = Place::ORDER[(at + if forward { 1 } else { count - 1 }) % count];
    }

    /// The next endpoint or the one before; every one of them stands before the first.
    fn step(&mut self, forward: bool) {
        let places = self.endpoints.len() + 1;
        let at = self.endpoint.map_or(0, |at| at + 1);
        let next = (at + if forward { 1 } else { places - 1 }) % places;
        self.endpoint = next.checked_sub(1);
    }

    fn key(&mut self, key: KeyEvent, now: Timestamp) -> Orders {
        self.word = None;
        if let Some(button) = pressed_by(key, self.focus) {
            return self.press(button, now);
        }
        match (key.code, self.focus) {
            (KeyCode::Tab | KeyCode::Down, _) => self.move_focus(true),
            (KeyCode::BackTab | KeyCode::Up, _) => self.move_focus(false),
            (KeyCode::Right, Place::States) => self.at = (self.at + 1) % self.states.len(),
            (KeyCode::Left, Place::States) => self.at = (self.at + self.states.len() - 1) % self.states.len(),
            (KeyCode::Char(' '), Place::States) => self.states[self.at] = !self.states[self.at],
            (KeyCode::Right | KeyCode::Char(' '), Place::Endpoint) => self.step(true),
            (KeyCode::Left, Place::Endpoint) => self.step(false),
            (KeyCode::Char(' '), Place::Apply | Place::Reset | Place::Cancel) => return self.press(self.focus, now),
            _ => {
                if let Some(input) = self.input()
                    && input.key(key) == Typed::Changed
                {
                    self.word = None;
                }
            }
        }
        Vec::new()
    }

    fn click(&mut self, click: Click, now: Timestamp) -> Orders {
        match click {
            Click::State(at) => {
                (self.focus, self.at) = (Place::States, at);
                self.states[at] = !self.states[at];
            }
            Click::Step(forward) => {
                self.focus = Place::Endpoint;
                self.step(forward);
            }
            Click::Go(place) => {
                self.focus = place;
                if matches!(place, Place::Apply | Place::Reset | Place::Cancel) {
                    return self.press(place, now);
                }
            }
        }
        Vec::new()
    }
}

/// A moment: a UTC day, a day and time, or how long ago (`90min`, `6h`, `2d`). As an end, a day is meant whole.
fn moment(text: &str, now: Timestamp, end: bool) -> Result<Option<Timestamp>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let day = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok();
    let day = day.and_then(|day| if end { day.checked_add_days(Days::new(1)) } else { Some(day) });
    let at = day
        .map(|day| day.and_time(NaiveTime::MIN))
        .or_else(|| NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M").ok());
    let ago = || {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let count: i64 = digits.trim().parse().ok().filter(|count| *count >= 0)?;
        let ago = match &text[digits.len()..] {
            "min" => Duration::try_minutes(count),
            "h" => Duration::try_hours(count),
            "d" => Duration::try_days(count),
            _ => None,
        };
        now.checked_sub_signed(ago?)
    };
    let found = at.map(|at| at.and_utc()).or_else(ago);
    found
        .map(Some)
        .ok_or_else(|| format!("{text} is no moment: 2026-11-20, 2026-11-20 08:30, or 90min, 6h, 2d for so long ago."))
}

impl Dialog for DeliveryFilterForm {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        match message {
            Message::Input(Event::Key(key)) => return self.key(*key, cx.now),
            Message::Input(Event::Paste(text)) => match self.input() {
                Some(input) => self.word = input.paste(text).unwrap_or_else(Some),
                None => cx.notify(Tone::Note, "Nothing was pasted: text goes into a field to type in."),
            },
            Message::Input(event) => {
                let Some(click) = self.targets.clicked(event) else { return Vec::new() };
                let orders = self.click(click, cx.now);
                if let (Event::Mouse(mouse), Some(input)) = (event, self.input())
                    && mouse.kind == MouseEventKind::Down(MouseButton::Left)
                {
                    input.click((mouse.column, mouse.row).into());
                }
                return orders;
            }
            _ => {}
        }
        Vec::new()
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.draw_form(&cx.draw_context(), frame, area);
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::time::{from_iso, to_iso};

    #[rstest]
    #[case("2026-11-20", false, "2026-11-20T00:00:00.000Z")]
    #[case("2026-11-20", true, "2026-11-21T00:00:00.000Z")]
    #[case("2026-11-20 08:30", true, "2026-11-20T08:30:00.000Z")]
    #[case("90min", false, "2026-11-20T10:30:00.000Z")]
    #[case("6h", true, "2026-11-20T06:00:00.000Z")]
    #[case("2 d", false, "2026-11-18T12:00:00.000Z")]
    fn a_moment_is_a_day_a_time_or_so_long_ago(#[case] text: &str, #[case] end: bool, #[case] at: &str) {
        let now = from_iso("2026-11-20T12:00:00Z").unwrap();

        assert_eq!(moment(text, now, end).unwrap().map(to_iso).as_deref(), Some(at));
    }

    #[rstest]
    #[case("soon")]
    #[case("-2h")]
    #[case("2w")]
    #[case("2026-02-30")]
    #[case("99999999999999999999h")]
    #[case("9999999999999d")]
    #[case("é")]
    fn what_is_no_moment_is_refused_with_what_is_allowed(#[case] text: &str) {
        let wrong = moment(text, Timestamp::UNIX_EPOCH, true).unwrap_err();

        assert!(wrong.contains(text) && wrong.contains("2026-11-20 08:30"), "{wrong}");
    }
}
