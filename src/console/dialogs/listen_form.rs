//! The form that starts the local listener: where, what a sender is known by, and what becomes of what is taken.

use std::path::PathBuf;

use ratatui::Frame;
use ratatui::layout::Rect;

use super::typed_auth::{auth_of, text_of};
use crate::console::listener::{ListenRequest, RequestFailure, RequestPart};
use crate::console::{AppContext, Dialog, Message, Order, Orders};
use crate::domain::Secret;
use crate::ui::form::{Entered, Field, Form};

const ADDRESS: usize = 0;
const KIND: usize = 1;
const CREDENTIAL: usize = 2;
const SECRET: usize = 3;
const FORWARD: usize = 4;
const RECORD: usize = 5;

/// The kinds of a credential, as they can be chosen.
const KINDS: [&str; 2] = ["Basic", "a header of its own"];

/// The form while it is open.
#[derive(Debug)]
pub struct ListenForm {
    form: Form,
}

impl ListenForm {
    /// As it was filled in last, where it was.
    pub fn of(last: Option<&ListenRequest>) -> Self {
        let text = |part: Option<&str>| part.unwrap_or_default().to_owned();
        let (by_header, credential) = last.map_or((false, String::new()), |last| text_of(&last.auth));
        let record = last.and_then(|last| last.record.as_deref()).map(|file| file.display().to_string());
        let rows = vec![
            Field::text("Where", last.map_or("127.0.0.1:9000", |last| &last.address)),
            Field::choice("Known by", &KINDS, usize::from(by_header)).apart(),
            Field::secret("Credential", &credential),
            Field::secret("Signed with", last.and_then(|last| last.secret.as_ref()).map_or("", Secret::reveal)),
            Field::text("Forward to", &text(last.and_then(|last| last.forward.as_deref()))).apart(),
            Field::text("Record to", &text(record.as_deref())),
        ];
        Self { form: Form::new("Listen here for this deployment's webhooks", "Listen", rows, CREDENTIAL) }
    }

    /// As it was filled in when nothing came of it, and why.
    pub fn refused(request: &ListenRequest, failure: RequestFailure) -> Self {
        let mut refused = Self::of(Some(request));
        let row = match failure.part {
            RequestPart::Address => ADDRESS,
            RequestPart::Credential => CREDENTIAL,
            RequestPart::Secret => SECRET,
            RequestPart::Target => FORWARD,
            RequestPart::File => RECORD,
        };
        refused.form.refuse(row, failure.words);
        refused
    }

    /// What is asked for, or what is wrong and where. No word repeats a secret.
    fn request(&self) -> Result<ListenRequest, (usize, String)> {
        let form = &self.form;
        let address = form
            .given(ADDRESS)
            .ok_or((ADDRESS, "Where is missing: an address and a port, such as 127.0.0.1:9000.".to_owned()))?;
        let auth = auth_of(&form.text(CREDENTIAL), form.chosen(KIND) == 1, "the deployment sends")
            .map_err(|wrong| (CREDENTIAL, wrong))?;
        Ok(ListenRequest {
            address,
            auth,
            secret: form.given(SECRET).map(Secret::new),
            forward: form.given(FORWARD),
            record: form.given(RECORD).map(PathBuf::from),
        })
    }
}

impl Dialog for ListenForm {
    fn update(&mut self, message: &Message, _: &mut AppContext) -> Orders {
        let Message::Input(event) = message else { return Vec::new() };
        match self.form.handle(event) {
            Entered::Nothing | Entered::Reset => {}
            Entered::Leave => return vec![Order::Close],
            Entered::Submit => match self.request() {
                Ok(request) => return vec![Order::Close, Message::StartListening(Box::new(request)).into()],
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
