//! The list of what a setting may be.

use ratatui::text::{Line, Span};

use super::pick;
use crate::{AppContext, Message, Order, Orders, setting::SettingValue, text::capitalized, user_settings::UserSetting};

/// Columns for the values.
const VALUES: usize = 16;

/// Opens the values of a setting; the one of now is chosen.
pub fn open(setting: &'static UserSetting, cx: &AppContext) -> Orders {
    let (now, theme) = ((setting.current)(&cx.settings), &cx.theme);
    let mut options = setting.options.to_vec();
    let at = options.iter().position(|(value, _)| *value == now).unwrap_or_else(|| {
        options.insert(0, (now, "current"));
        0
    });
    let line = |(index, (value, words)): (usize, &(SettingValue, &'static str))| {
        let (sign, style) = if index == at { ("• ", theme.accent) } else { ("  ", theme.strong) };
        let value = format!("{:<VALUES$}", value.shown());
        Line::from(vec![
            Span::styled(sign, theme.accent),
            Span::styled(value, style),
            Span::styled(*words, theme.quiet),
        ])
    };
    let entries = options.iter().enumerate().map(line).collect();
    pick::open(capitalized(setting.label), at, entries, move |at, _| {
        vec![Order::Close, Message::ChangeSetting(setting, options[at].0).into()]
    })
}
