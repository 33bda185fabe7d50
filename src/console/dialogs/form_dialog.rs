//! A form as a dialog: fields as data, and what is done with them once they are submitted.

use ratatui::{Frame, layout::Rect};

use crate::{
    AppContext, Dialog, Message, Order, Orders,
    ui::form::{Entered, Form},
};

/// Orders that a form leads to, or the field at fault and what is wrong with it.
pub type Submitted = Result<Orders, (usize, String)>;

/// Handler of a form that is submitted.
type Submit = Box<dyn FnMut(&Form, &mut AppContext) -> Submitted + Send>;

/// The dialog while it is open.
pub struct FormDialog {
    form: Form,
    submit: Submit,
}

impl FormDialog {
    /// A form, and what is done once it is submitted.
    pub fn new(form: Form, submit: impl FnMut(&Form, &mut AppContext) -> Submitted + Send + 'static) -> Self {
        Self { form, submit: Box::new(submit) }
    }
}

impl Dialog for FormDialog {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        let Message::Input(event) = message else { return Vec::new() };
        let orders = match self.form.handle(event) {
            Entered::Nothing => return Vec::new(),
            Entered::Leave => Vec::new(),
            Entered::Submit => match (self.submit)(&self.form, cx) {
                Ok(orders) => orders,
                Err((field, wrong)) => {
                    self.form.refuse(field, wrong);
                    return Vec::new();
                }
            },
        };
        [Order::Close].into_iter().chain(orders).collect()
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.form.draw(&cx.theme, frame, area);
    }
}
