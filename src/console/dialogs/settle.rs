//! The dialog in which a person says what became of a decision that the engine cannot find out about.
//!
//! The safe button has the focus, and Enter never says the final word.

use crossterm::event::{Event, KeyCode, KeyModifiers};
use ratatui::{Frame, layout::Rect};

use crate::{
    AppContext, Dialog, Effect, Message, Order, Orders, Tone, dialog,
    domain::{Alert, AlertId, ResolutionAttempt, decide},
    text::sanitize,
    times,
    ui::form::{Entered, Form, FormField},
    unfinished::{Stage, in_words},
};

/// The fields that change.
const ALERT: usize = 0;
const ADVICE: usize = 3;
const ANSWER: usize = 4;
const IF_APPLIED: usize = 5;
const IF_NOT: usize = 6;

/// The answers to choose from; none is chosen at first.
const ANSWERS: [&str; 3] = ["unknown", "the network applied it", "the network did not apply it"];

/// The dialog.
#[derive(Debug)]
struct Settle {
    unfinished: ResolutionAttempt,
    alert: Option<Alert>,
    form: Form,
    /// It was settled by somebody else meanwhile.
    gone: bool,
}

/// Opens the dialog on the decision that waits for a person: that on the wanted alert, else the oldest. `find` knows
/// the alerts of the page.
pub fn open<'a>(wanted: Option<AlertId>, find: impl Fn(AlertId) -> Option<&'a Alert>, cx: &mut AppContext) -> Orders {
    let here = wanted.and_then(|alert| cx.unfinished.parked_on(alert));
    let Some(unfinished) = here.or_else(|| cx.unfinished.parked().next()).cloned() else {
        let words = if cx.operator { "No answer needs a result." } else { "The service's operator sets results." };
        cx.notify(Tone::Note, words);
        return Vec::new();
    };
    if cx.place.read_only {
        cx.notify(Tone::Note, "Read-only connection");
        return Vec::new();
    }
    let (id, known) = (unfinished.alert, find(unfinished.alert).cloned());
    let mut outcome = dialog::open(Settle::new(unfinished, known, cx));
    outcome.push(Effect::Get(id).into());
    outcome
}

impl Settle {
    /// Asks about a parked decision; the alert may come later.
    fn new(unfinished: ResolutionAttempt, alert: Option<Alert>, cx: &AppContext) -> Self {
        let (theme, at) = (&cx.theme, unfinished.started_at);
        let sent = format!("{}, {}, by {}", cx.times().minute(at), times::ago(at, cx.now), unfinished.actor);
        let comments = unfinished.resolution.comments().replace('\n', " / ");
        let known =
            if comments.is_empty() { known(&unfinished) } else { format!("{}; {comments}", known(&unfinished)) };
        let fields = vec![
            FormField::fact("Alert", "", theme.plain),
            FormField::fact("Sent", sanitize(&sent), theme.plain),
            FormField::fact("Known", sanitize(&known), theme.plain),
            FormField::fact("", "Check the network's portal first.", theme.quiet),
            FormField::choice("Result", &ANSWERS, 0).apart(),
            FormField::fact("If applied", "", theme.quiet),
            FormField::fact("If not", "", theme.quiet),
        ];
        let title = format!("Set the result of {}", sanitize(&in_words(&unfinished.resolution)));
        let badge = if cx.place.is_production() { " PRODUCTION " } else { "" };
        let form = Form::new(title, "Save", fields, ANSWER).by_ctrl_s("").badge(badge);
        let mut settle = Self { unfinished, alert, form, gone: false };
        settle.tell();
        settle
    }

    /// Shows what is known by now.
    fn tell(&mut self) {
        let (about, applied, not) = (self.about(), self.if_applied(), self.if_not());
        self.form.set_text(ALERT, &sanitize(&about));
        self.form.set_text(IF_APPLIED, &applied);
        self.form.set_text(IF_NOT, not);
        if self.gone {
            self.form.set_text(ADVICE, "The result is already set.");
        }
    }

    fn say(&mut self, cx: &mut AppContext) -> Orders {
        match self.form.chosen(ANSWER) {
            _ if self.gone => self.form.say("The result is already set."),
            0 => self.form.refuse(ANSWER, "Choose a or n first."),
            applied => {
                let (attempt, alert) = (self.unfinished.id, self.unfinished.alert);
                cx.unfinished.said(alert);
                return vec![Order::Close, Effect::Settle(attempt, alert, applied == 1).into()];
            }
        }
        Vec::new()
    }

    fn input(&mut self, event: &Event, cx: &mut AppContext) -> Orders {
        let letter = match event {
            Event::Key(key) if !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => key.code,
            _ => KeyCode::Null,
        };
        if let KeyCode::Char(letter @ ('a' | 'n')) = letter {
            self.form.set_chosen(ANSWER, if letter == 'a' { 1 } else { 2 });
            return Vec::new();
        }
        match self.form.handle(event) {
            Entered::Leave => vec![Order::Close],
            Entered::Submit => self.say(cx),
            Entered::Nothing | Entered::Reset | Entered::Pressed(_) => Vec::new(),
        }
    }

    /// The alert in a line.
    fn about(&self) -> String {
        let Some(alert) = &self.alert else { return format!("{}, not loaded yet", self.unfinished.alert) };
        let money = alert.money().map_or_else(String::new, |money| format!("  {money}"));
        let card = match (alert.card_bin.as_str(), alert.card_last_four.as_str()) {
            ("", "") => String::new(),
            (bin, last) => format!("  {bin}··{last}"),
        };
        format!("{} {}{money}{card}  {}", alert.provider, alert.alert_type.words(), alert.provider_id)
    }

    fn if_applied(&self) -> String {
        let next = decide(&self.unfinished.resolution).status;
        match self.alert.as_ref().map(|alert| (&alert.status, &alert.outcome)) {
            Some((status, Some(outcome))) => {
                format!(
                    "The alert is already answered ({}) and stays {status}. Only noted.",
                    sanitize(&outcome.outcome)
                )
            }
            Some((status, None)) => format!("API status {status} → {next}"),
            None => format!("API status becomes {next}"),
        }
    }

    fn if_not(&self) -> &'static str {
        match self.alert.as_ref().and_then(|alert| alert.outcome.as_ref()) {
            Some(_) => "The alert keeps its answer. Only noted.",
            None => "The alert can be answered again. Beware of a second refund.",
        }
    }
}

impl Dialog for Settle {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        match message {
            Message::Input(event) => return self.input(event, cx),
            Message::Alert(_, Ok(alert)) if alert.id == self.unfinished.alert => self.alert = Some(alert.clone()),
            Message::Unfinished(Ok(all)) => {
                self.gone |= !all.iter().any(|one| one.id == self.unfinished.id && Stage::of(one) == Stage::Parked);
            }
            _ => {}
        }
        self.tell();
        Vec::new()
    }

    fn lost(&self) -> Option<String> {
        let chosen = self.form.chosen(ANSWER) > 0 && !self.gone;
        chosen.then(|| format!("result of {}, not saved", sanitize(&in_words(&self.unfinished.resolution))))
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.form.draw(&cx.theme, frame, area);
    }
}

/// What the engine knows of it.
fn known(unfinished: &ResolutionAttempt) -> String {
    let detail = unfinished.detail.trim().trim_end_matches('.');
    let looked = match unfinished.checks {
        0 => String::new(),
        1 => "; checked once".to_owned(),
        many => format!("; checked {many} times"),
    };
    if detail.is_empty() { format!("no reply{looked}") } else { format!("{detail}{looked}") }
}
