//! The filter form as a dialog.

use ratatui::Frame;
use ratatui::layout::Rect;

use super::{FilterForm, FilterStep};
use crate::console::{AppContext, Dialog, Message, Order, Orders};

impl Dialog for FilterForm {
    fn update(&mut self, message: &Message, _: &mut AppContext) -> Orders {
        let Message::Input(event) = message else { return Vec::new() };
        match self.handle(event) {
            FilterStep::Apply(filter, sort) => vec![Order::Close, Message::List(*filter, sort).into()],
            FilterStep::Cancel => vec![Order::Close],
            FilterStep::Stay | FilterStep::Ignored => Vec::new(),
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        FilterForm::draw(self, frame, area, &cx.theme);
    }
}
