//! Dialogs: each in a file of its own, with its state, what changes it, and how it is drawn. [`open()`] says which
//! action opens which.

pub mod alert_menus;
pub mod alert_rows;
pub mod answer_form;
pub mod case;
pub mod export;
pub mod filter_form;
pub mod find;
pub mod menu;
pub mod note_form;
pub mod palette;
pub mod question;
pub mod run_progress;
pub mod set_result;
pub mod settings_dialogs;

pub mod snooze_menu;
pub mod unsent;
pub mod views;

use super::{
    Action, AppContext, KeyContext, Tasks, dialog,
    screens::{ScreenName, Screens},
};

use answer_form::Choice;

/// Opens the dialog of an action over the screen; `None` where it has none.
pub fn open(action: Action, screens: &mut Screens, cx: &mut AppContext) -> Option<Tasks> {
    let keys = screens.shown().keys();
    let chosen = match screens.current {
        ScreenName::Activity => screens.activity.chosen(cx).and_then(|chosen| chosen.alert),
        _ => screens.queue.current().map(|alert| alert.id),
    };
    let Screens { queue, settings, .. } = screens;
    Some(match action {
        Action::Find => find::open(queue),
        Action::Note => note_form::open(queue.current()?, cx),
        Action::Snooze => snooze_menu::open(queue, cx),
        Action::Open if keys == KeyContext::Queue && queue.current().is_some() => case::open(queue, cx),
        Action::CopyId if keys == KeyContext::Queue => queue.current().map(|alert| alert_menus::copy(alert, cx))?,
        Action::OpenLink => queue.current().map(|alert| alert_menus::open_link(alert, cx))?,
        Action::Export => export::open(queue, cx),
        Action::Filter => filter_form::open(queue.filter(), queue.sort(), cx.views.vocabulary),
        Action::Open if keys == KeyContext::Settings => settings_dialogs::open_setting(settings.setting()?, cx),
        Action::Views => dialog::open(views::ViewsMenu::of(queue, cx)),
        Action::Bulk => run_progress::open(cx),
        Action::Repeat => answer_form::repeat(cx.place.may_be_production(), queue, cx),
        Action::Settle => set_result::open(chosen, cx),
        Action::Suggested => answer_form::take_suggested(queue, cx),
        Action::CredentialCreate => settings_dialogs::create(settings, cx),
        Action::CredentialRevoke => settings_dialogs::revoke(settings, cx),
        Action::StopRules => settings_dialogs::stop_rules(settings, cx),
        action => answer_form::chosen(Choice::by(action)?, queue, cx),
    })
}
