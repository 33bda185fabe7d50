//! The form that sends what was recorded again: which recording, all of it or one event, and where to.

use std::path::PathBuf;

use ratatui::Frame;
use ratatui::layout::Rect;

use super::typed_auth::{auth_of, text_of};
use crate::console::listener::{ReplayRequest, RequestFailure, RequestPart};
use crate::console::screens::webhooks::receiver::RecordedEvent;
use crate::console::screens::webhooks::state::{WebhooksPane, WebhooksScreen};
use crate::console::{AppContext, Dialog, Message, Order, Orders};
use crate::domain::Secret;
use crate::domain::url::{EndpointUrl, PlainHttp};
use crate::ui::form::{Entered, Field, Form};

const FILE: usize = 0;
const PART: usize = 1;
const TARGET: usize = 2;
const KIND: usize = 3;
const CREDENTIAL: usize = 4;
const SECRET: usize = 5;

/// What can be sent, where an event of the recording is under the cursor and where none is.
const PARTS: [&str; 2] = ["all of it, the oldest first", "the event under the cursor"];

/// What the receiver there may know a sender by.
const KINDS: [&str; 3] = ["nothing", "Basic", "a header of its own"];

/// The form while it is open.
#[derive(Debug)]
pub struct ReplayForm {
    form: Form,
    event: Option<RecordedEvent>,
}

impl ReplayForm {
    /// For what the receiver recorded: as it was filled in last, else as the receiver forwards it.
    pub fn of(screen: &WebhooksScreen) -> Self {
        let (listen, last) = (screen.receiver.last_request(), screen.receiver.last_replay());
        let event = screen.receiver.recorded_event().filter(|_| screen.pane == WebhooksPane::Receiver);
        let recorded = event.as_ref().map(|event| &event.recording).or_else(|| listen?.record.as_ref());
        let file = recorded.or_else(|| last.map(|last| &last.file)).cloned();
        let to = last.map(|last| last.to.reveal().to_owned()).or_else(|| listen?.forward.clone());
        Self::filled_in(file, event, to.as_deref(), last)
    }

    /// As it was filled in when nothing was sent, and why.
    pub fn refused(request: &ReplayRequest, failure: RequestFailure) -> Self {
        let event = request.only.map(|begins| RecordedEvent { recording: request.file.clone(), begins });
        let mut refused = Self::filled_in(Some(request.file.clone()), event, Some(request.to.reveal()), Some(request));
        let row = match failure.part {
            RequestPart::File => FILE,
            RequestPart::Address | RequestPart::Target => TARGET,
            RequestPart::Credential => CREDENTIAL,
            RequestPart::Secret => SECRET,
        };
        refused.form.refuse(row, failure.words);
        refused
    }

    fn filled_in(
        file: Option<PathBuf>,
        event: Option<RecordedEvent>,
        to: Option<&str>,
        last: Option<&ReplayRequest>,
    ) -> Self {
        let (kind, credential) = match last.and_then(|last| last.auth.as_ref()).map(text_of) {
            None => (0, String::new()),
            Some((by_header, text)) => (1 + usize::from(by_header), text),
        };
        let secret = last.and_then(|last| last.secret.as_ref()).map_or("", Secret::reveal);
        let parts = if event.is_some() { &PARTS[..] } else { &PARTS[..1] };
        let focus = if file.is_none() { FILE } else { TARGET };
        let file = file.map(|file| file.display().to_string()).unwrap_or_default();
        let rows = vec![
            Field::text("Recording", &file),
            Field::choice("Send", parts, usize::from(event.is_some())),
            Field::text("To", to.unwrap_or_default()).apart(),
            Field::choice("Known by", &KINDS, kind),
            Field::secret("Credential", &credential),
            Field::secret("Sign anew", secret),
        ];
        Self { form: Form::new("Send what was recorded again", "Send", rows, focus), event }
    }

    /// What is asked for, or what is wrong and where. No word repeats a secret.
    fn request(&self) -> Result<ReplayRequest, (usize, String)> {
        let form = &self.form;
        let file = form
            .given(FILE)
            .map(PathBuf::from)
            .ok_or((FILE, "The file is missing that the receiver recorded to.".to_owned()))?;
        let only = match (form.chosen(PART), &self.event) {
            (1, Some(event)) if event.recording != file => {
                let recording = event.recording.display();
                return Err((
                    FILE,
                    format!("The event under the cursor is in {recording}: of another recording all can be sent."),
                ));
            }
            (1, Some(event)) => Some(event.begins),
            _ => None,
        };
        let plain_http = PlainHttp::Unless("use `avert webhooks replay --insecure-http`");
        let to = form.given(TARGET).ok_or((TARGET, "The address is missing that it is sent to.".to_owned()))?;
        let to = EndpointUrl::parse(&to, plain_http).map_err(|error| (TARGET, format!("The address {error}.")))?;
        let auth = match form.chosen(KIND) {
            0 if form.given(CREDENTIAL).is_some() => {
                return Err((KIND, "Basic or a header: say which the credential is.".to_owned()));
            }
            0 => None,
            kind => Some(
                auth_of(&form.text(CREDENTIAL), kind == 2, "is asked for there")
                    .map_err(|wrong| (CREDENTIAL, wrong))?,
            ),
        };
        Ok(ReplayRequest { file, only, to, auth, secret: form.given(SECRET).map(Secret::new) })
    }
}

impl Dialog for ReplayForm {
    fn update(&mut self, message: &Message, _: &mut AppContext) -> Orders {
        let Message::Input(event) = message else { return Vec::new() };
        match self.form.handle(event) {
            Entered::Nothing | Entered::Reset => {}
            Entered::Leave => return vec![Order::Close],
            Entered::Submit => match self.request() {
                Ok(request) => return vec![Order::Close, Message::StartReplay(Box::new(request)).into()],
                Err((row, wrong)) => self.form.refuse(row, wrong),
            },
        }
        Vec::new()
    }

    fn lost(&self) -> Option<String> {
        self.form.lost()
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.form.draw(&cx.theme, frame, area);
    }
}
