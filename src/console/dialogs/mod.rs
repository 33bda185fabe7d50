//! Dialogs: each in a file of its own, with its state, what changes it, and how it is drawn. [`open()`] says which
//! action opens which.

pub mod alert_rows;
pub mod alert_search;
pub mod answer_form;
pub mod case;
pub mod columns;
pub mod confirmation;
pub mod copy_menu;
pub mod delivery_filter;
pub mod earlier_session;
pub mod export_form;
pub mod export_progress;
pub mod filter_form;
pub mod find;
pub mod form_dialog;
pub mod found_rows;
pub mod leave;
pub mod links_menu;
pub mod menu;
pub mod new_credential;
pub mod note_form;
pub mod page_keys;
pub mod palette;
pub mod pick;
pub mod question;
pub mod reconnected;
pub mod run_progress;
pub mod secret;
pub mod setting_choice;
pub mod settle;
pub mod snooze_menu;
pub mod views;

use super::{
    Action, AppContext, KeyContext, Order, Orders, dialog,
    screens::{ScreenName, Screens, queue::state::Queue},
};

use answer_form::Choice;

/// Opens the dialog of an action over the screen; `None` where it has none.
pub fn open(action: Action, screens: &mut Screens, cx: &mut AppContext) -> Option<Orders> {
    let keys = screens.shown().keys();
    let chosen = match screens.current {
        ScreenName::Activity => screens.activity.chosen(cx).and_then(|chosen| chosen.alert),
        _ => screens.queue.current().map(|alert| alert.id),
    };
    let Screens { queue, webhooks, settings, .. } = screens;
    Some(match action {
        Action::Find => find::open(queue),
        Action::Note => note_form::open(queue.current()?, cx),
        Action::Snooze => snooze_menu::open(queue, cx),
        Action::Open if keys == KeyContext::Queue && queue.current().is_some() => case::open(queue, cx),
        Action::CopyId if keys == KeyContext::Queue => queue.current().map(|alert| copy_menu::open(alert, cx))?,
        Action::OpenLink => queue.current().map(|alert| links_menu::open(alert, cx))?,
        Action::Export => export_form::open(queue, cx),
        Action::Filter => dialog::open(filter_form::FilterForm::new(queue.filter(), queue.sort(), cx.views.vocabulary)),
        Action::DeliveryFilter if webhooks.is_offered() => delivery_filter::open(webhooks, cx),
        Action::Open if keys == KeyContext::Settings => setting_choice::open(settings.setting()?, cx),
        Action::Views => dialog::open(views::ViewsMenu::of(queue, cx)),
        Action::Columns => dialog::open(columns::ColumnsMenu::of(queue)),
        Action::Refund => answer_form::chosen(Choice::Refunded, queue, cx),
        Action::NotRefunded => answer_form::chosen(Choice::NotRefunded, queue, cx),
        Action::Invalid => answer_form::chosen(Choice::Invalid, queue, cx),
        Action::Bulk if !queue.marked.is_empty() => answer_form::marked(None, queue, cx),
        Action::Bulk => run_progress::open(cx),
        Action::Repeat => repeat(cx.place.may_be_production(), queue, cx),
        Action::Settle => settle::open(chosen, |id| queue.listing.find(id), cx),
        Action::Suggested => answer_form::take_suggested(queue, cx),
        Action::CredentialCreate => new_credential::open(settings, cx),
        Action::CredentialRevoke => confirmation::revoke(settings, cx),
        _ => return None,
    })
}

/// Makes the last decision again, in a form where that is wanted or something has to be confirmed.
fn repeat(in_form: bool, queue: &mut Queue, cx: &mut AppContext) -> Orders {
    let orders = match cx.last_made.clone() {
        Some(last) => answer_form::repeat(&last, in_form, queue, cx),
        None => answer_form::nothing_to_repeat(cx),
    };
    // Whoever repeats without a form does not expect one.
    let is_unexpected = !in_form && orders.iter().any(|order| matches!(order, Order::Open(_)));
    cx.typed_ahead = is_unexpected.then_some((cx.now, cx.now));
    orders
}

/// Opens the form of the last decision, for one that was chosen in a list: nothing is sent by a choice.
pub fn repeat_in_form(screens: &mut Screens, cx: &mut AppContext) -> Orders {
    repeat(true, &mut screens.queue, cx)
}
