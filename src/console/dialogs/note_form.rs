//! The form that takes a note on an alert: several lines, counted while they are typed, kept on this machine.

use chrono::Duration;
use crossterm::event::Event;
use ratatui::{Frame, layout::Rect};

use crate::{
    Action, AppContext, Dialog, Effect, Message, Task, Tasks, Tone,
    desk::{
        JournalAlert, Note,
        notes::{MAX_NOTE_CHARS, note_text},
    },
    dialog,
    domain::{Alert, AlertId, Timestamp, card::mask_card_numbers},
    resolving::subject,
    text::sanitize,
    ui::form::{Entered, Form, FormField},
};

/// Debounce of a draft: typed text rests so long before it is kept.
const KEEP_AFTER: Duration = Duration::milliseconds(300);

/// Rows of the field.
const ROWS: u16 = 5;

/// Shown below the field, and in its place where the text holds a card number.
const STAYS: &str = "Notes stay on this computer. esc saves a draft.";
const CARD: &str = "card number: only BIN and last four are kept";

/// The form while it is open.
#[derive(Debug)]
pub struct NoteForm {
    alert: AlertId,
    named: JournalAlert,
    form: Form,
    /// What is on the desk of it, and when what was typed since is to be.
    kept: String,
    due: Option<Timestamp>,
}

/// Opens the form on an alert, with what was typed before.
pub fn open(alert: &Alert, cx: &AppContext) -> Tasks {
    let typed = cx.notes.draft(alert.id).unwrap_or_default().to_owned();
    let about = format!("{}  {}", subject(alert), alert.provider_id);
    let field = FormField::lines("", &typed, ROWS, MAX_NOTE_CHARS).note(STAYS);
    let form = Form::new("Note", "Save", vec![field], 0).about(sanitize(&about)).by_ctrl_s();
    dialog::open(NoteForm { alert: alert.id, named: alert.into(), form, kept: typed, due: None })
}

/// Takes in whether a note is on the desk.
pub fn kept(note: Note, answer: Result<(), String>, cx: &mut AppContext) -> Tasks {
    match answer {
        Ok(()) => {
            cx.notes.kept(note);
            cx.notify(Tone::Note, "Note saved on this computer.");
        }
        // Its text is a draft still, which is kept once more before anybody leaves.
        Err(why) => {
            let (key, why) = (cx.key(Action::Note), why.trim_end_matches('.'));
            cx.notify(Tone::Bad, format!("Note not saved: {why}. {key} opens it again."));
        }
    }
    Vec::new()
}

impl NoteForm {
    /// Keeps what was typed, once it is time.
    fn keep_typed(&mut self, cx: &mut AppContext) -> Tasks {
        if self.due.take_if(|due| *due <= cx.now).is_none() {
            return Vec::new();
        }
        self.keep_draft(cx).into_iter().map(Task::from).collect()
    }

    fn keep_draft(&mut self, cx: &mut AppContext) -> Vec<Effect> {
        let typed = self.form.raw_text(0);
        if typed == self.kept {
            return Vec::new();
        }
        self.kept.clone_from(&typed);
        vec![Effect::Keep(cx.notes.keep_draft(self.alert, &typed))]
    }

    /// Keeps the note, or says what is wrong with it.
    fn submit(&mut self, cx: &mut AppContext) -> Tasks {
        let text = match note_text(&self.form.raw_text(0)) {
            Ok(text) => text,
            Err(error) => {
                self.form.refuse(0, error);
                return Vec::new();
            }
        };
        let note =
            Note { at: cx.now, alert: self.alert, user: cx.place.user.clone(), text, about: Some(self.named.clone()) };
        // It is a draft until it is known to be on the disk.
        vec![Task::Close, Effect::Keep(cx.notes.begin(note)).into()]
    }

    fn leave(&mut self, cx: &mut AppContext) -> Tasks {
        [Task::Close].into_iter().chain(self.keep_draft(cx).into_iter().map(Task::from)).collect()
    }

    fn input(&mut self, event: &Event, cx: &mut AppContext) -> Tasks {
        match self.form.handle(event) {
            Entered::Leave => return self.leave(cx),
            Entered::Submit => return self.submit(cx),
            Entered::Nothing => {}
        }
        let text = self.form.raw_text(0);
        let has_card = mask_card_numbers(&text) != text;
        self.form.set_note(0, if has_card { CARD } else { STAYS }, has_card);
        if text != self.kept {
            self.due.get_or_insert(cx.now + KEEP_AFTER);
        }
        self.keep_typed(cx)
    }
}

impl Dialog for NoteForm {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Tasks {
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
        self.form.draw(&cx.theme, frame, area);
    }

    fn abandon(&mut self, cx: &mut AppContext) -> Vec<Effect> {
        self.keep_draft(cx)
    }
}
