//! The list of what a setting may be.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::menu::{List, OpenMenu};
use crate::console::setting::SettingValue;
use crate::console::text::capitalized;
use crate::console::user_settings::UserSetting;
use crate::console::widgets::menu::Selection;
use crate::console::{Action, AppContext, Dialog, KeyContext, Message, Order, Orders};

/// Columns for the values.
const VALUES: usize = 16;

/// The list while it is open.
#[derive(Debug)]
pub struct SettingChoice {
    menu: OpenMenu,
    setting: &'static UserSetting,
    /// What it may be: what it is now among it.
    options: Vec<(SettingValue, &'static str)>,
}

impl SettingChoice {
    /// The values of a setting; the one of now is chosen.
    pub fn of(setting: &'static UserSetting, cx: &AppContext) -> Self {
        let now = (setting.current)(&cx.settings);
        let mut options = setting.options.to_vec();
        let at = options.iter().position(|(value, _)| *value == now).unwrap_or_else(|| {
            options.insert(0, (now, "as it is now"));
            0
        });
        Self { menu: OpenMenu::new(Selection::at(at), &[KeyContext::Menu], Action::MenuPick), setting, options }
    }
}

impl Dialog for SettingChoice {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        let Message::Input(event) = message else { return Vec::new() };
        let length = self.options.len();
        match (self.menu.update(event, length, cx), self.menu.chosen.index(length)) {
            (Some(Action::MenuPick), Some(at)) => {
                vec![Order::Close, Message::ChangeSetting(self.setting, self.options[at].0).into()]
            }
            (Some(Action::MenuClose), _) => vec![Order::Close],
            _ => Vec::new(),
        }
    }

    fn gives_way(&self) -> bool {
        true
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        let theme = &cx.theme;
        let now = (self.setting.current)(&cx.settings);
        let line = |(value, words): &(SettingValue, &'static str)| {
            let (sign, style) = if *value == now { ("• ", theme.accent) } else { ("  ", theme.strong) };
            Line::from(vec![
                Span::styled(sign, theme.accent),
                Span::styled(format!("{:<VALUES$}", value.shown()), style),
                Span::styled(*words, theme.quiet),
            ])
        };
        let entries = self.options.iter().map(line).collect();
        self.menu.draw(List { title: &capitalized(self.setting.label), entries, ..List::default() }, frame, area, cx);
    }
}
