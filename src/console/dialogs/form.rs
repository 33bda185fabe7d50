//! The measures of a form: a panel with labels, and what belongs to them beside them.

use ratatui::layout::Rect;

use crate::console::widgets::panel::{Panel, PanelWidth};

/// The measures of a form in an area.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measures {
    /// What it stands on.
    pub panel: Panel,
    /// Columns of the labels.
    pub label: u16,
    /// Columns beside the labels.
    pub content: u16,
}

impl Measures {
    /// Those of a form with labels of this width; none where it has no room at all.
    pub fn of(area: Rect, label: u16) -> Option<Self> {
        let panel = Panel::of(PanelWidth::Dialog, area);
        let content = panel.room().checked_sub(label).filter(|content| *content >= 20)?;
        Some(Self { panel, label, content })
    }
}
