//! What stands in the place of a list that there is nothing of to draw: it is being loaded, it cannot be, or it is empty.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::console::text::{sanitize, wrap};
use crate::console::{Action, DrawContext, Loadable, Pen};

/// The words of a list: what it is called, and what is said where it is empty.
pub struct ListWords<'w> {
    /// `The endpoints`
    pub name: &'w str,
    pub empty: &'w str,
}

/// Whether there is something of a list to draw; else says in its place why there is not.
pub fn has_rows<T>(
    data: &Loadable<T>,
    is_empty: impl FnOnce(&T) -> bool,
    words: &ListWords<'_>,
    draw: &DrawContext<'_>,
    buffer: &mut Buffer,
    area: Rect,
) -> bool {
    let theme = draw.theme;
    let (text, style) = match data {
        Loadable::Loaded(data) if is_empty(data) => (words.empty.to_owned(), theme.plain),
        Loadable::Loaded(_) => return true,
        Loadable::Failed(error) => {
            let again = format!("It is tried again by itself; {} tries at once.", draw.key(Action::Refresh));
            let why = sanitize(&error.to_string()).into_owned();
            (format!("{} cannot be shown: {}. {again}", words.name, why.trim_end_matches('.')), theme.danger)
        }
        Loadable::NotAsked | Loadable::Loading => ("Loading…".to_owned(), theme.quiet),
    };
    for (line, row) in wrap(&text, area.width).iter().zip(area.rows()) {
        Pen::new(buffer, row).put(line, style);
    }
    false
}
