//! The dialog in which a person says what became of a decision that the engine cannot find out about. No answer is
//! chosen at first, and Enter never says the final word.

use super::question::{FormDialog, Submitted};
use crate::{
    AppContext, Effect, Tasks, Tone,
    answer_words::in_words,
    decisions::alert_of,
    dialog,
    domain::{AlertId, ResolutionAttempt, decide},
    resolving::subject,
    text::sanitize,
    times,
    ui::form::{Form, FormField},
};

/// The field of the answer.
const ANSWER: usize = 4;

/// The answers to choose from; none is chosen at first.
const ANSWERS: [&str; 3] = ["unknown", "applied", "not applied"];

/// Opens the dialog on the decision that waits for a person: that on the wanted alert, else the oldest.
pub fn open(wanted: Option<AlertId>, cx: &mut AppContext) -> Tasks {
    let here = wanted.and_then(|alert| cx.unfinished.parked_on(alert));
    let Some(attempt) = here.or_else(|| cx.unfinished.parked().next()).cloned() else {
        let words = if cx.operator { "No answer needs a result." } else { "The service's operator sets results." };
        cx.notify(Tone::Note, words);
        return Vec::new();
    };
    if cx.place.read_only {
        cx.notify(Tone::Note, "Read-only connection");
        return Vec::new();
    }
    let title = format!("Set the result of {}", sanitize(&in_words(&attempt.resolution)));
    let badge = if cx.place.is_production() { " PRODUCTION " } else { "" };
    let form = Form::new(title, "Save", fields(&attempt, cx), ANSWER).by_ctrl_s().badge(badge);
    dialog::open(FormDialog::new(form, move |form, cx| submit(&attempt, form.chosen(ANSWER), cx)))
}

/// Says what is known of it, and what follows from either answer.
fn fields(attempt: &ResolutionAttempt, cx: &AppContext) -> Vec<FormField> {
    let (theme, at) = (&cx.theme, attempt.started_at);
    let about =
        cx.alert_named(attempt.alert).map(|named| format!("{}  {}", subject(&alert_of(named)), named.provider_id));
    let about = about.unwrap_or_else(|| attempt.alert.to_string());
    let sent = format!("{}, {}, by {}", cx.times().minute(at), times::ago(at, cx.now), attempt.actor);
    let detail = attempt.detail.trim().trim_end_matches('.');
    let comments = attempt.resolution.comments().replace('\n', " / ");
    let known = [if detail.is_empty() { "no reply" } else { detail }, &comments].map(str::to_owned);
    let known = known.into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join("; ");
    let next = format!("API status becomes {}", decide(&attempt.resolution).status);
    vec![
        FormField::fact("Alert", sanitize(&about), theme.plain),
        FormField::fact("Sent", sanitize(&sent), theme.plain),
        FormField::fact("Known", sanitize(&known), theme.plain),
        FormField::fact("", "Check the network's portal first.", theme.quiet),
        FormField::choice("Result", &ANSWERS, 0).apart(),
        FormField::fact("If applied", next, theme.quiet),
        FormField::fact("If not", "The alert can be answered again. Beware of a second refund.", theme.quiet),
    ]
}

/// Tells the engine what was chosen, where nobody did meanwhile.
fn submit(attempt: &ResolutionAttempt, chosen: usize, cx: &mut AppContext) -> Submitted {
    if cx.unfinished.parked_on(attempt.alert).is_none_or(|parked| parked.id != attempt.id) {
        return Err((ANSWER, "The result is already set.".to_owned()));
    }
    if chosen == 0 {
        return Err((ANSWER, "Choose a or n first.".to_owned()));
    }
    cx.unfinished.said(attempt.alert);
    Ok(vec![Effect::SetResult(attempt.id, attempt.alert, chosen == 1).into()])
}
