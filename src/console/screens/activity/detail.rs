//! Draws the detail of a row of the Activity screen: the steps of an answer and what was sent, or the facts of another
//! item.

use ratatui::{buffer::Buffer, layout::Rect};

use super::{
    proof::{RowTone, live, step_words},
    rows::{ActivityItem, row_of},
    state::ActivityScreen,
};
use crate::{
    Action, AppContext, decisions::PendingDecision, desk::DecisionRecord, resolving::UNCHECKED,
    screens::facts::FactSheet,
};

/// Draws the detail of an item, scrolled as it was left.
pub fn draw(screen: &ActivityScreen, item: &ActivityItem<'_>, cx: &AppContext, buffer: &mut Buffer, area: Rect) {
    let mut sheet = FactSheet::new(&cx.theme, area.width);
    put(item, cx, &mut sheet);
    screen.scroll.draw(&sheet.lines, &cx.theme, buffer, area);
}

fn put(item: &ActivityItem<'_>, cx: &AppContext, sheet: &mut FactSheet<'_>) {
    let (theme, row) = (cx.theme, row_of(item, cx));
    let title = match item {
        ActivityItem::Noted(note) => &note.text,
        ActivityItem::Told(told) => &told.words,
        _ => &row.what,
    };
    sheet.say(title, theme.strong);
    sheet.gap();
    if let ActivityItem::Decision(record) = item {
        put_steps(record, cx, sheet);
        sheet.gap();
        put_sent(record, sheet);
        return;
    }
    let when = item.at().map(|at| cx.times().minute(at)).unwrap_or_default();
    sheet.fact("when", &when, theme.plain);
    sheet.fact("by", &row.who, theme.plain);
    match item {
        ActivityItem::Audit(entry) => {
            sheet.fact("from", &entry.origin, theme.plain);
            sheet.fact("about", &entry.subject, theme.plain);
            sheet.fact("detail", &entry.detail, theme.plain);
            sheet.fact("entry", &entry.number.to_string(), theme.quiet);
            return;
        }
        _ => sheet.fact("alert", &row.named, theme.plain),
    }
    match item {
        ActivityItem::Attempt(attempt) => {
            sheet.fact("known", &attempt.detail, theme.plain);
            sheet.fact("result", &row.result, row.tone.of(&theme));
        }
        ActivityItem::Draft(draft) => sheet.fact("comments", &draft.answer.comments, theme.plain),
        ActivityItem::Noted(_) => sheet.fact("", "Kept on this computer; the service never sees it.", theme.quiet),
        _ => {}
    }
}

fn put_steps(record: &DecisionRecord, cx: &AppContext, sheet: &mut FactSheet<'_>) {
    let (theme, times) = (cx.theme, cx.times());
    let user = record.user.as_deref().map(|user| format!(" by {user}")).unwrap_or_default();
    let rule = record.rule.as_deref().map(|rule| format!(" by desk rule {rule}")).unwrap_or_default();
    for (index, (at, step)) in record.happened().enumerate() {
        let (mut words, tone) = step_words(step);
        if index == 0 {
            words = format!("{words}{rule}{user}");
        }
        sheet.fact(&times.row(*at, cx.now), &words, tone.of(&theme));
    }
    if let Some(why) = &record.unlooked {
        sheet.fact("", &format!("{UNCHECKED}: {why}"), theme.warning);
    }
    let pending = live(record, cx);
    if let Some(due) = pending.and_then(PendingDecision::leaves_at) {
        sheet.fact(&times.row(due, cx.now), "it is sent", RowTone::Under.of(&theme));
    }
    if let Some(polling) = pending.and_then(|decision| decision.polling.as_ref()) {
        if cx.unfinished.parked_on(record.said.alert.id).is_some() {
            let key = cx.key(Action::Settle);
            sheet.fact("", &format!("Check the network's portal; {key} sets the result."), theme.warning);
        } else if let Some(at) = polling.next_wake() {
            let words = "next look; it is never sent twice";
            sheet.fact(&times.row(at, cx.now), words, RowTone::Under.of(&theme));
        }
    }
    if record.dismissed {
        sheet.fact("", "dismissed", theme.quiet);
    }
}

/// Adds the answer that went out, or would have.
fn put_sent(record: &DecisionRecord, sheet: &mut FactSheet<'_>) {
    let (theme, said) = (sheet.theme, &record.said);
    sheet.fact(if record.sent_at().is_some() { "sent" } else { "not sent" }, &said.refunded, theme.plain);
    sheet.fact("resolution", said.resolution.as_deref().unwrap_or_default(), theme.plain);
    sheet.fact("amountStopped", said.amount_stopped.as_deref().unwrap_or_default(), theme.plain);
    sheet.fact("comments", &said.comments, theme.plain);
    sheet.fact("alert", &format!("{} {}", said.alert.provider, said.alert.provider_id), theme.plain);
    sheet.fact("key", &record.key, theme.quiet);
}
