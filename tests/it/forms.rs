//! Resolve form and filter form: rules as sentences, and a picture of every state at four sizes.

mod filter;
mod older;
mod pictures;
mod resolve;

use avert::console::dialogs::resolve_form::{Choice, FormContext, FormMoment, FormStep, FormWarning, ResolveForm};
use avert::console::theme::{Theme, ThemeName};
use avert::console::times::{Moments, Zone};
use avert::desk::Draft;
use avert::domain::duplicate::{Duplicate, DuplicateEvidence, DuplicateState};
use avert::domain::resolution::InvalidReason;
use avert::domain::{Alert, AlertType, Currency, Deadline, Dialect, Provider};
use chrono::Duration;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use ratatui::{Frame, Terminal};

use crate::support::alerts::{noon, open_alert};

const PRODUCTION: FormContext =
    FormContext { production: true, read_only: false, grace_seconds: 5, dialect: Dialect::Current, times: TIMES };

const TIMES: Moments = Moments { zone: Zone::Utc, by_minutes: false };

const OLDER: FormContext = FormContext { dialect: Dialect::Older, ..PRODUCTION };

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

fn double(state: DuplicateState) -> FormWarning {
    FormWarning::Duplicate(Duplicate {
        provider: Provider::Ethoca,
        provider_id: "5F2RE396".to_owned(),
        evidence: DuplicateEvidence::CardAmountAndDay,
        state,
    })
}

fn refunded_double() -> FormWarning {
    double(DuplicateState::Refunded { at: Some(noon() - Duration::hours(3)) })
}

fn form(choice: Choice) -> ResolveForm {
    ResolveForm::new(&travel_alert(), choice, PRODUCTION, None, Vec::new(), noon())
}

fn draft(reason: Option<InvalidReason>, comments: &str) -> Option<Draft> {
    let resolution = reason.map(|reason| reason.as_str().to_owned());
    Some(Draft { resolution, comments: comments.to_owned(), ..Draft::default() })
}

/// The reason as far as it is chosen.
fn reason(form: &ResolveForm) -> Option<InvalidReason> {
    form.draft().resolution.as_deref().and_then(InvalidReason::known)
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

    /// The resolve form as it looks at noon.
    fn resolve(form: &ResolveForm, width: u16, height: u16) -> Self {
        Self::of(width, height, |frame| {
            form.draw(
                frame,
                frame.area(),
                &Theme::named(ThemeName::Dark),
                FormMoment { now: noon(), held_back_by: None },
            );
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
fn play(form: &mut ResolveForm, events: impl IntoIterator<Item = Event>) -> FormStep {
    events.into_iter().fold(FormStep::Ignored, |_, event| form.handle(&event))
}

fn typed(text: &str) -> Vec<Event> {
    text.chars().map(|c| key(KeyCode::Char(c))).collect()
}

/// Tab from a fresh form into its comments.
fn into_comments(form: &mut ResolveForm) {
    let comments = Screen::resolve(form, 120, 40).find("Comments");
    let field = Position { x: comments.x + 13, y: comments.y };
    play(form, [press_at(field), release_at(field)]);
}
