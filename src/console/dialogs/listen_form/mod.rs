//! The form that starts the local listener: where, what a sender is known by, and what becomes of what is taken.

mod draw;

use std::path::PathBuf;

use crossterm::event::{Event, KeyCode, KeyEvent, MouseButton, MouseEventKind};
use ratatui::Frame;
use ratatui::layout::Rect;

use crate::console::listener::ListenRequest;
use crate::console::widgets::text_input::Typed;
use crate::console::{AppContext, ClickTargets, Dialog, Message, Order, Orders, TextInput, Tone};
use crate::domain::{EndpointAuth, Secret};

/// What can have the focus, in the order of Tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    Address,
    Kind,
    Credential,
    Secret,
    Forward,
    Record,
    Start,
    Cancel,
}

impl Entry {
    const ORDER: [Self; 8] =
        [Self::Address, Self::Kind, Self::Credential, Self::Secret, Self::Forward, Self::Record, Self::Start, Self::Cancel];

    /// The fields to type in, in the order of [`ListenForm::texts`].
    const TYPED: [Self; 5] = [Self::Address, Self::Credential, Self::Secret, Self::Forward, Self::Record];

    /// Whether what is typed is shown as dots.
    fn is_secret(self) -> bool {
        matches!(self, Self::Credential | Self::Secret)
    }
}

/// The form while it is open.
#[derive(Debug)]
pub struct ListenForm {
    texts: [TextInput; 5],
    /// Whether the credential is a header, and not Basic.
    by_header: bool,
    focus: Entry,
    /// One sentence about what is wrong, until the next key.
    word: Option<String>,
    targets: ClickTargets<Entry>,
}

impl Default for ListenForm {
    fn default() -> Self {
        let texts = ["127.0.0.1:9000", "", "", "", ""].map(TextInput::one_line);
        Self { texts, by_header: false, focus: Entry::Credential, word: None, targets: ClickTargets::default() }
    }
}

impl ListenForm {
    fn place(entry: Entry) -> Option<usize> {
        Entry::TYPED.iter().position(|typed| *typed == entry)
    }

    fn input(&mut self) -> Option<&mut TextInput> {
        Self::place(self.focus).map(|at| &mut self.texts[at])
    }

    fn text(&self, entry: Entry) -> String {
        Self::place(entry).map(|at| self.texts[at].text().trim().to_owned()).unwrap_or_default()
    }

    /// What is asked for, or what is wrong and where. No word repeats a secret.
    fn request(&self) -> Result<ListenRequest, (Entry, String)> {
        let some = |entry| Some(self.text(entry)).filter(|text| !text.is_empty());
        let address =
            some(Entry::Address).ok_or((Entry::Address, "Where is missing: an address and a port, such as 127.0.0.1:9000.".to_owned()))?;
        let credential = self.text(Entry::Credential);
        let auth = match (credential.split_once(':'), self.by_header) {
            (Some((username, password)), false) => EndpointAuth::Basic { username: username.to_owned(), password: Secret::new(password) },
            (Some((name, value)), true) => EndpointAuth::Header { name: name.trim().to_owned(), value: Secret::new(value.trim()) },
            (None, false) => return Err((Entry::Credential, "USER:PASS is needed: what the deployment sends.".to_owned())),
            (None, true) => return Err((Entry::Credential, "Name: value is needed: the header that the deployment sends.".to_owned())),
        };
        auth.check().map_err(|error| (Entry::Credential, format!("The credential cannot be one: {} {}.", error.field, error.message)))?;
        Ok(ListenRequest {
            address,
            auth,
            secret: some(Entry::Secret).map(Secret::new),
            forward: some(Entry::Forward),
            record: some(Entry::Record).map(PathBuf::from),
        })
    }

    fn start(&mut self) -> Orders {
        match self.request() {
            Ok(request) => vec![Order::Close, Message::StartListening(Box::new(request)).into()],
            Err((entry, wrong)) => {
                self.focus = entry;
                self.word = Some(wrong);
                Vec::new()
            }
        }
    }

    fn press(&mut self) -> Orders {
        match self.focus {
            Entry::Cancel => vec![Order::Close],
            _ => self.start(),
        }
    }

    fn move_focus(&mut self, forward: bool) {
        let (at, count) = (Entry::ORDER.iter().position(|entry| *entry == self.focus).unwrap_or(0), Entry::ORDER.len());
        self.focus = Entry::ORDER[(at + if forward { 1 } else { count - 1 }) % count];
    }

    fn key(&mut self, key: KeyEvent) -> Orders {
        self.word = None;
        match (key.code, self.focus) {
            (KeyCode::Esc, _) => return vec![Order::Close],
            (KeyCode::Enter, _) => return self.press(),
            (KeyCode::Tab | KeyCode::Down, _) => self.move_focus(true),
            (KeyCode::BackTab | KeyCode::Up, _) => self.move_focus(false),
            (KeyCode::Char(' ') | KeyCode::Left | KeyCode::Right, Entry::Kind) => self.by_header = !self.by_header,
            (KeyCode::Char(' '), Entry::Start | Entry::Cancel) => return self.press(),
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
}

impl Dialog for ListenForm {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        match message {
            Message::Input(Event::Key(key)) => return self.key(*key),
            Message::Input(Event::Paste(text)) => match self.input() {
                Some(input) => self.word = input.paste(text).err(),
                None => cx.notify(Tone::Note, "Nothing was pasted: text goes into a field to type in."),
            },
            Message::Input(event) => {
                let Some(entry) = self.targets.clicked(event) else { return Vec::new() };
                match entry {
                    Entry::Kind => self.by_header = !self.by_header,
                    _ => self.focus = entry,
                }
                if matches!(entry, Entry::Start | Entry::Cancel) {
                    return self.press();
                }
                if let (Event::Mouse(mouse), Some(input), false) = (event, self.input(), entry.is_secret())
                    && mouse.kind == MouseEventKind::Down(MouseButton::Left)
                {
                    input.click((mouse.column, mouse.row).into());
                }
            }
            _ => {}
        }
        Vec::new()
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.draw_form(&cx.draw_context(), frame, area);
    }
}
