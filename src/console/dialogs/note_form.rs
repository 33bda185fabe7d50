//! The form that takes a note on an alert: several lines, counted while they are typed, kept on this machine.

use chrono::Duration;
use crossterm::event::{Event, KeyCode, KeyModifiers, MouseButton, MouseEventKind};
use ratatui::Frame;
use ratatui::layout::Rect;

use crate::console::pen::put_right;
use crate::console::resolving::subject;
use crate::console::text::{cut, sanitize};
use crate::console::widgets::buttons::{Button, draw_buttons};
use crate::console::widgets::panel::{Panel, PanelWidth};
use crate::console::widgets::text_input::Typed;
use crate::console::{
    Action, AppContext, ClickTargets, Dialog, Effect, Message, Order, Orders, Pen, TextInput, Tone, dialog,
};
use crate::desk::{JournalAlert, Note};
use crate::domain::card::mask_card_numbers;
use crate::domain::note::{MAX_NOTE_CHARS, note_text};
use crate::domain::{Alert, AlertId, Timestamp};

/// What is typed rests so long before it is kept.
const KEEP_AFTER: Duration = Duration::milliseconds(300);

/// Rows of the field.
const ROWS: u16 = 5;

/// What a click can meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NoteTarget {
    Keep,
    Leave,
}

/// The form while it is open.
#[derive(Debug)]
pub struct NoteForm {
    alert: AlertId,
    named: JournalAlert,
    /// The alert in a few words.
    about: String,
    input: TextInput,
    /// What is on the desk of it, and when what was typed since is to be.
    kept: String,
    due: Option<Timestamp>,
    /// What is wrong with it, until the next key.
    wrong: Option<String>,
    targets: ClickTargets<NoteTarget>,
}

/// Opens the form on an alert, with what was typed before.
pub fn open(alert: &Alert, cx: &AppContext) -> Orders {
    let typed = cx.notes.draft(alert.id).unwrap_or_default().to_owned();
    let about = format!("{}  {}", subject(alert), alert.provider_id);
    dialog::open(NoteForm {
        alert: alert.id,
        named: alert.into(),
        about,
        input: TextInput::several_lines(&typed),
        kept: typed,
        due: None,
        wrong: None,
        targets: ClickTargets::default(),
    })
}

/// Takes in whether a note is on the desk.
pub fn kept(note: Note, answer: Result<(), String>, cx: &mut AppContext) -> Orders {
    match answer {
        Ok(()) => {
            cx.notes.kept(note);
            cx.notify(Tone::Note, "Noted. Notes stay on this machine.");
            Vec::new()
        }
        Err(why) => {
            let key = cx.key(Action::Note);
            let why = why.trim_end_matches('.');
            cx.notify(
                Tone::Bad,
                format!("Not noted, it could not be kept on the desk: {why}. {key} opens it again as it was typed."),
            );
            // Where there is room by now, it outlives the console.
            let typed = cx.notes.draft(note.alert).unwrap_or(&note.text).to_owned();
            vec![Effect::Keep(cx.notes.keep_draft(note.alert, &typed)).into()]
        }
    }
}

impl NoteForm {
    /// Keeps what was typed, once it is time.
    fn keep_typed(&mut self, cx: &mut AppContext) -> Orders {
        if self.due.take_if(|due| *due <= cx.now).is_none() {
            return Vec::new();
        }
        self.keep_draft(cx).into_iter().map(Order::from).collect()
    }

    fn keep_draft(&mut self, cx: &mut AppContext) -> Vec<Effect> {
        let typed = self.input.text();
        if typed == self.kept {
            return Vec::new();
        }
        self.kept.clone_from(&typed);
        vec![Effect::Keep(cx.notes.keep_draft(self.alert, &typed))]
    }

    /// Keeps the note, or says what is wrong with it.
    fn submit(&mut self, cx: &mut AppContext) -> Orders {
        let text = match note_text(&self.input.text()) {
            Ok(text) => text,
            Err(error) => {
                self.wrong = Some(error.to_string());
                return Vec::new();
            }
        };
        let note =
            Note { at: cx.now, alert: self.alert, user: cx.place.user.clone(), text, about: Some(self.named.clone()) };
        // It is a draft until it is known to be on the disk.
        vec![Order::Close, Effect::Keep(cx.notes.begin(note)).into()]
    }

    fn leave(&mut self, cx: &mut AppContext) -> Orders {
        [Order::Close].into_iter().chain(self.keep_draft(cx).into_iter().map(Order::from)).collect()
    }

    fn input(&mut self, event: &Event, cx: &mut AppContext) -> Orders {
        match event {
            Event::Key(key) => match (key.code, key.modifiers) {
                (KeyCode::Esc, _) => return self.leave(cx),
                (KeyCode::Char('s'), KeyModifiers::CONTROL) => return self.submit(cx),
                // A line of its own, as in any text; enter never keeps.
                (KeyCode::Enter, KeyModifiers::NONE) => {
                    self.wrong = Some("ctrl-s keeps it, alt-enter begins a new line".to_owned());
                }
                _ => {
                    if self.input.key(*key) == Typed::Changed {
                        self.wrong = None;
                    }
                }
            },
            Event::Paste(text) => match self.input.paste(text) {
                Ok(changed) => changed.into_iter().for_each(|words| cx.notify(Tone::Note, words)),
                Err(why) => cx.notify(Tone::Bad, why),
            },
            Event::Mouse(mouse) if mouse.kind == MouseEventKind::Down(MouseButton::Left) => {
                match self.targets.at((mouse.column, mouse.row).into()) {
                    Some(NoteTarget::Keep) => return self.submit(cx),
                    Some(NoteTarget::Leave) => return self.leave(cx),
                    None => drop(self.input.click((mouse.column, mouse.row).into())),
                }
            }
            _ => {}
        }
        if self.input.text() != self.kept {
            self.due.get_or_insert(cx.now + KEEP_AFTER);
        }
        self.keep_typed(cx)
    }
}

impl Dialog for NoteForm {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        match message {
            Message::Input(event) => self.input(event, cx),
            Message::Tick => self.keep_typed(cx),
            _ => Vec::new(),
        }
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.due
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.targets.clear();
        let theme = &cx.theme;
        let inside = Panel::of(PanelWidth::Dialog, area).open(ROWS + 5, theme, frame.buffer_mut());
        let line = |offset: u16| Rect { y: inside.y + offset, height: 1, ..inside };
        let mut pen = Pen::new(frame.buffer_mut(), line(0));
        pen.put("Note  ", theme.strong);
        let about = sanitize(&self.about).into_owned();
        let room = pen.room();
        pen.put(&cut(&about, room), theme.quiet);
        let field = Rect { y: inside.y + 2, height: ROWS.min(inside.height.saturating_sub(5)), ..inside };
        self.input.draw_field(frame, field, theme, true, "");

        let text = self.input.text();
        let count = text.chars().count();
        let over = count > MAX_NOTE_CHARS;
        let below = Rect { y: field.bottom(), height: 1, ..inside };
        put_right(
            frame.buffer_mut(),
            below,
            &format!("{count}/{MAX_NOTE_CHARS}"),
            if over { theme.danger } else { theme.quiet },
        );
        let left = Rect { width: below.width.saturating_sub(9), ..below };
        let wrong = self
            .wrong
            .clone()
            .or_else(|| over.then(|| format!("{} too many: at most {MAX_NOTE_CHARS}", count - MAX_NOTE_CHARS)));
        match wrong {
            Some(wrong) => drop(Pen::new(frame.buffer_mut(), left).put(&format!("✗ {wrong}"), theme.danger)),
            None if mask_card_numbers(&text) != text => {
                Pen::new(frame.buffer_mut(), left)
                    .put("a card number: only its BIN and last four digits are kept", theme.warning);
            }
            None => {
                let ways = ["Notes stay on this machine; the service never sees them.", "Notes stay on this machine."];
                let mut pen = Pen::new(frame.buffer_mut(), left);
                ways.iter().find_map(|words| pen.put_whole(words, theme.quiet));
            }
        }
        let kept = Some(("draft kept".to_owned(), theme.quiet));
        let leave = Button { note: kept, ..Button::quiet(Some(NoteTarget::Leave), "Cancel", "esc") };
        let keep = Button::primary(Some(NoteTarget::Keep), "Keep", "ctrl-s");
        let row = Rect { y: field.bottom() + 2, height: 1, ..inside };
        // The field has the focus.
        draw_buttons(&[leave, keep], None, 0, (theme, frame.buffer_mut(), row), |area, target| {
            target.into_iter().for_each(|target| self.targets.push(area, target));
        });
    }

    fn abandon(&mut self, cx: &mut AppContext) -> Vec<Effect> {
        self.keep_draft(cx)
    }
}
