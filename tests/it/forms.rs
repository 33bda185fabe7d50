//! The fields of the answer form and the filter form: rules as sentences, and a picture of every state.

mod answer;
mod filter;
mod older;
mod pictures;

use avert::{
    console::{
        dialogs::answer_form::{AnswerFields, Choice},
        theme::{Theme, ThemeName},
    },
    desk::Draft,
    domain::{Alert, AlertType, Currency, Deadline, Dialect, Provider, Resolution},
    ui::form::Entered,
};
use chrono::Duration;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::{
    Frame, Terminal,
    backend::TestBackend,
    buffer::Buffer,
    layout::{Position, Rect},
};

use crate::support::alerts::{noon, open_alert};

/// The alert of the design's pictures: VERIFI, 70 minutes before its deadline.
fn travel_alert() -> Alert {
    Alert {
        provider: Provider::Verifi,
        alert_type: AlertType::VerifiDispute,
        card_bin: "552201".to_owned(),
        card_last_four: "8831".to_owned(),
        merchant_descriptor: "ACME*TRAVEL DXB".to_owned(),
        amount: "1480".parse().ok(),
        currency: Currency::new("AED"),
        deadline: Deadline::At(noon() + Duration::minutes(70)),
        ..open_alert("8F2C77AA0193")
    }
}

fn form(choice: Choice) -> AnswerFields {
    with_draft(choice, Dialect::Current, &Draft::default())
}

fn with_draft(choice: Choice, dialect: Dialect, said: &Draft) -> AnswerFields {
    AnswerFields::new(&travel_alert(), choice, dialect, said)
}

/// The answer by the rules of its dialect; what is wrong stands at its fields.
fn sent_in(form: &mut AnswerFields, dialect: Dialect) -> Option<Resolution> {
    match Resolution::from_parts(form.answer(), dialect, travel_alert().money().as_ref()) {
        Ok(resolution) => Some(resolution),
        Err(wrong) => {
            form.refuse(&wrong);
            None
        }
    }
}

fn sent(form: &mut AnswerFields) -> Option<Resolution> {
    sent_in(form, Dialect::Current)
}

fn key(code: KeyCode) -> Event {
    Event::Key(KeyEvent::from(code))
}

fn ctrl(c: char) -> Event {
    Event::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL))
}

fn alt(c: char) -> Event {
    Event::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::ALT))
}

fn mouse(kind: MouseEventKind, at: Position) -> Event {
    Event::Mouse(MouseEvent { kind, column: at.x, row: at.y, modifiers: KeyModifiers::NONE })
}

fn press_at(at: Position) -> Event {
    mouse(MouseEventKind::Down(MouseButton::Left), at)
}

fn release_at(at: Position) -> Event {
    mouse(MouseEventKind::Up(MouseButton::Left), at)
}

/// Everything a test wants of a drawn screen.
struct Screen {
    buffer: Buffer,
    cursor: Option<Position>,
}

impl Screen {
    fn of(width: u16, height: u16, draw: impl FnOnce(&mut Frame<'_>)) -> Self {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(draw).unwrap();
        let cursor = terminal.backend().cursor_visible().then(|| terminal.backend().cursor_position());
        Self { buffer: terminal.backend().buffer().clone(), cursor }
    }

    /// The fields, and the sentence about the last key below them.
    fn answer(form: &AnswerFields, width: u16, height: u16) -> Self {
        let theme = Theme::named(ThemeName::Dark);
        Self::of(width, height, |frame| {
            let area = frame.area();
            form.draw(&theme, frame, Rect { height: area.height - 1, ..area });
            frame.render_widget(form.word().unwrap_or_default(), Rect { y: area.height - 1, height: 1, ..area });
        })
    }

    fn rows(&self) -> Vec<String> {
        let area = self.buffer.area;
        (0..area.height)
            .map(|y| (0..area.width).map(|x| self.buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned())
            .collect()
    }

    fn text(&self) -> String {
        self.rows().join("\n")
    }

    /// Where a text begins.
    fn find(&self, text: &str) -> Position {
        let found = self.rows().iter().enumerate().find_map(|(y, row)| {
            let at = row.find(text)?;
            Some(Position { x: u16::try_from(row[..at].chars().count()).unwrap(), y: u16::try_from(y).unwrap() })
        });
        found.unwrap_or_else(|| panic!("{text:?} is not on the screen:\n{}", self.text()))
    }

    fn has(&self, text: &str) -> bool {
        self.rows().iter().any(|row| row.contains(text))
    }
}

/// Applies events and gives back what the last one did.
fn play(form: &mut AnswerFields, events: impl IntoIterator<Item = Event>) -> Entered {
    events.into_iter().fold(Entered::Nothing, |_, event| form.handle(&event))
}

fn typed(text: &str) -> Vec<Event> {
    text.chars().map(|c| key(KeyCode::Char(c))).collect()
}
