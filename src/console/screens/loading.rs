//! What stands in the place of a list that there is nothing of to draw: it is being loaded, it cannot be, or it is
//! empty.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::console::pen::put_lines;
use crate::console::text::{sanitize, wrap};
use crate::console::{Action, DrawContext, Loadable};

/// The words of a list: what it is called, and what is said where it is empty.
pub struct ListWords<'w> {
    /// `The endpoints`
    pub name: &'w str,
    pub empty: &'w str,
}

/// What stands in the place of a list, where there is nothing of it to draw.
pub fn in_its_place<T>(
    data: &Loadable<T>,
    is_empty: impl FnOnce(&T) -> bool,
    words: &ListWords<'_>,
    draw: &DrawContext<'_>,
) -> Option<(String, Style)> {
    let theme = draw.theme;
    match data {
        Loadable::Loaded(data) if is_empty(data) => Some((words.empty.to_owned(), theme.plain)),
        Loadable::Loaded(_) => None,
        Loadable::Failed(error) => {
            let again = format!("Retrying. {} retries now.", draw.key(Action::Refresh));
            let why = sanitize(&error.to_string()).into_owned();
            Some((format!("{} cannot be shown: {}. {again}", words.name, why.trim_end_matches('.')), theme.danger))
        }
        Loadable::NotAsked | Loadable::Loading => Some(("Loading…".to_owned(), theme.quiet)),
    }
}

/// Returns true where there is something of a list to draw; else says in its place why there is not.
pub fn has_rows<T>(
    data: &Loadable<T>,
    is_empty: impl FnOnce(&T) -> bool,
    words: &ListWords<'_>,
    draw: &DrawContext<'_>,
    buffer: &mut Buffer,
    area: Rect,
) -> bool {
    let Some((text, style)) = in_its_place(data, is_empty, words, draw) else { return true };
    put_lines(buffer, area, wrap(&text, area.width).into_iter().map(|line| (line, style)));
    false
}
