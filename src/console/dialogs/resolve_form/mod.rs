//! The resolve form: one decision on one alert, sent once, and only when every rule of the interface holds.
//!
//! In a session of the older dialect it has the older fields, in `older`. The form holds the alert's own facts and
//! never a row number. It sends nothing itself: a valid [`FormSubmission`] goes to the caller. Enter moves on and never
//! sends; `ctrl-s`, space on the button or a click on it do.

mod caution;
mod choice;
pub mod dialog;
mod draw;
mod draw_older;
mod draw_seen;
mod fields;
mod input;
mod older;
mod options;
mod plan;
mod seen;
mod several;
pub mod suggested;
#[cfg(test)]
mod tests;
mod warning;

use std::cell::Cell;

use crate::console::answer_words::answered_as;
use crate::console::times::Moments;
use crate::console::{AppContext, ClickTargets, TextInput};
use crate::desk::Draft;
use crate::domain::advice::{Advice, advice};
use crate::domain::resolution::{Decision, FieldError, InvalidReason, MAX_COMMENT_CHARS, OlderRefunded};
use crate::domain::{Alert, AlertId, Amount, Dialect, Resolution, ResolutionParts, Timestamp};

pub use caution::{Caution, KnownBefore, SaysOfMoney};
pub use choice::Choice;
use older::Older;
pub use plan::AnswerRoom;
pub use warning::FormWarning;

/// Where a decision would go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FormContext {
    /// The real world: the form wears a badge.
    pub production: bool,
    /// Nothing may be sent from here.
    pub read_only: bool,
    /// How many seconds a decision waits, and can be taken back, before it leaves; 0 for none.
    pub grace_seconds: u64,
    /// In whose words the decision is given.
    pub dialect: Dialect,
    /// How moments are told.
    pub times: Moments,
}

impl FormContext {
    /// Where decisions of this console go.
    pub fn of(cx: &AppContext) -> Self {
        Self {
            production: cx.place.is_production(),
            read_only: cx.place.read_only,
            grace_seconds: cx.settings.grace.as_secs(),
            dialect: cx.place.dialect,
            times: cx.times(),
        }
    }
}

/// What holds while the form is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormMoment {
    pub now: Timestamp,
    /// Why what is sent waits here, where it does.
    pub held_back_by: Option<&'static str>,
}

/// A submission of the form: a decision that is ready to leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormSubmission {
    pub alert_id: AlertId,
    /// Valid by construction; card numbers in its comments are masked.
    pub resolution: Resolution,
    /// What was typed, to be kept until the decision has landed.
    pub draft: Draft,
}

/// The result of a form's event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormStep {
    /// The form has taken it; draw again.
    Stay,
    /// Not for the form. Keys may mean something to the application; a mouse event still means nothing to what is
    /// behind.
    Ignored,
    /// Close the form; the draft is to be kept for the alert.
    Cancel(Draft),
    /// Close the form and send.
    Submit(Box<FormSubmission>),
    /// Close the form and go to the alert that it warns of.
    GoToWarned,
}

/// What can have the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Focus {
    Decision,
    Reason,
    /// The resolution of the older dialect.
    Word,
    /// The refund of the older dialect.
    Refund,
    /// The stopped amount of the older dialect.
    Amount,
    Comments,
    Confirmation,
    Cancel,
    Send,
}

/// What a click can meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Choice(Choice),
    Reason(InvalidReason),
    /// A resolution of the older dialect, by its place in the order of the interface.
    Word(usize),
    /// A refund of the older dialect, by its place in the form.
    Refund(usize),
    /// A field without things to choose, or a button.
    Field(Focus),
    /// The other alert that the form warns of.
    Warned,
}

/// What is wrong, each at its field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Errors {
    /// At the reason, or at the resolution of the older dialect.
    reason: Option<String>,
    refund: Option<String>,
    amount: Option<String>,
    comments: Option<String>,
    confirmation: Option<String>,
    /// Whatever stands at no field of this form, and what makes sending impossible altogether.
    form: Option<String>,
}

impl Errors {
    fn first_field(&self, older: bool) -> Option<Focus> {
        let fields = [
            (&self.reason, if older { Focus::Word } else { Focus::Reason }),
            (&self.refund, Focus::Refund),
            (&self.amount, Focus::Amount),
            (&self.comments, Focus::Comments),
            (&self.confirmation, Focus::Confirmation),
        ];
        fields.into_iter().find(|(error, _)| error.is_some()).map(|(_, focus)| focus)
    }

    /// That nothing was sent, and which fields say why: by the labels that they have on the screen.
    fn not_sent(&self, older: bool) -> String {
        let fields = [
            (&self.reason, if older { "Resolution" } else { "Reason" }),
            (&self.refund, "Refund"),
            (&self.amount, "Stopped"),
            (&self.comments, "Comments"),
            (&self.confirmation, "Confirm"),
        ];
        let wrong: Vec<&str> =
            fields.into_iter().filter(|(error, _)| error.is_some()).map(|(_, label)| label).collect();
        format!("Not sent: see {}.", wrong.join(" and "))
    }
}

/// What is said to one who sends before the search for duplicates is over.
const STILL_SEARCHING: &str = "Checking duplicates first. ctrl-s again sends now.";

/// What is in the window of a form that is taller than its room, as the last frame found: rows scrolled away, most that
/// can be, rows there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct View {
    top: u16,
    most: u16,
    page: u16,
}

/// The resolve form.
#[derive(Debug, Clone)]
pub struct ResolveForm {
    alert: Alert,
    place: FormContext,
    warnings: Vec<FormWarning>,
    choice: Choice,
    /// Whether the decision is not chosen yet: a reason that is chosen makes it INVALID.
    undecided: bool,
    reason: Option<InvalidReason>,
    /// What takes the place of choice and reason in the older dialect.
    older: Option<Older>,
    comments: TextInput,
    /// The cautions that were confirmed; one that comes later has to be confirmed anew.
    confirmed: Vec<Caution>,
    /// What became of the alert while the form was open, where its facts changed.
    changed: Option<String>,
    /// Who gave the alert its outcome, where it has one and that is known.
    answered_by: Option<String>,
    /// It was sent while duplicates were still being looked for: it leaves when the search ends with nothing to
    /// confirm.
    kept_send: bool,
    focus: Focus,
    /// A decision is made again, and nothing was pressed in the form yet: nobody has tried to send in it.
    repeats: bool,
    /// Sending was tried: from now on what is missing is shown, not only what is wrong.
    tried: bool,
    /// One sentence about the last key, until the next one.
    word: Option<String>,
    /// Whether the last keys were text that no field took.
    typed_astray: bool,
    targets: ClickTargets<Target>,
    /// Rows that are scrolled away by hand; none while the window follows the focus.
    peek: Option<u16>,
    view: Cell<View>,
    now: Timestamp,
}

impl ResolveForm {
    /// Opens the form on an alert with a decision already made. The draft gives the comments and the reason back, not
    /// the decision; in the older dialect the resolution too, where it says what the decision says.
    pub fn new(
        alert: &Alert,
        choice: Choice,
        place: FormContext,
        draft: Option<Draft>,
        warnings: Vec<FormWarning>,
        now: Timestamp,
    ) -> Self {
        let draft = draft.unwrap_or_default();
        let older = (place.dialect == Dialect::Older).then(|| Older::new(alert, choice, &draft));
        let focus = match (&older, choice) {
            (Some(_), _) => Focus::Word,
            (None, Choice::Invalid) => Focus::Reason,
            (None, Choice::Refunded | Choice::NotRefunded) => Focus::Comments,
        };
        let mut form = Self {
            alert: alert.clone(),
            place,
            warnings,
            choice,
            undecided: false,
            reason: draft.resolution.as_deref().and_then(InvalidReason::parse),
            older,
            comments: TextInput::several_lines(&draft.comments),
            confirmed: Vec::new(),
            changed: None,
            answered_by: None,
            kept_send: false,
            focus,
            repeats: false,
            tried: false,
            word: None,
            typed_astray: false,
            targets: ClickTargets::default(),
            peek: None,
            view: Cell::default(),
            now,
        };
        form.offer_reason();
        form
    }

    /// Tells the form what time it is: whether the window has closed is among what it asks.
    pub fn set_now(&mut self, now: Timestamp) {
        self.now = now;
    }

    /// The alert that is being resolved.
    pub fn alert_id(&self) -> AlertId {
        self.alert.id
    }

    /// As it is known here.
    pub fn alert(&self) -> &Alert {
        &self.alert
    }

    /// What has been typed so far.
    pub fn draft(&self) -> Draft {
        match &self.older {
            Some(older) => older.draft(self.comments.text()),
            None => self.parts(self.reason),
        }
    }

    /// What is said so far in the current dialect, for this reason.
    fn parts(&self, reason: Option<InvalidReason>) -> ResolutionParts {
        ResolutionParts {
            refunded: (!self.undecided).then(|| self.choice.words().to_owned()),
            resolution: reason.map(|reason| reason.as_str().to_owned()),
            amount_stopped: None,
            comments: self.comments.text(),
        }
    }

    /// Takes the alert as it is now, if it is the form's own. Whether the facts that a decision rests on changed: all
    /// is looked for anew then, and what was confirmed has to be confirmed anew, that change too.
    pub fn update_alert(&mut self, alert: &Alert) -> bool {
        if alert.id != self.alert.id {
            return false;
        }
        let changed = alert.changed_since(&self.alert);
        self.alert = alert.clone();
        let is_changed = changed.is_some() && self.alert.outcome.is_none();
        if is_changed {
            self.changed = changed;
            self.confirmed.clear();
            if self.drop_kept_send() {
                self.word = Some("Not sent: the alert changed.".to_owned());
            }
        }
        is_changed
    }

    /// Takes who gave the alert its outcome, where that is known.
    pub fn set_answered_by(&mut self, by: Option<String>) {
        self.answered_by = by;
    }

    /// Takes what has been found out about the alert meanwhile. While the search runs again, what it found before still
    /// stands, and a refund once seen does for as long as the form is open: refunds are final. One not seen before has
    /// to be confirmed anew.
    pub fn set_warnings(&mut self, warnings: Vec<FormWarning>) {
        let known = std::mem::replace(&mut self.warnings, warnings);
        if self
            .warnings
            .iter()
            .any(|warning| warning.is_refunded() && !known.iter().any(|old| old.is_same_refund(warning)))
        {
            self.confirmed.clear();
        }
        let looking = self.is_searching();
        for old in known {
            let still_there = self.warnings.iter().any(|warning| warning.is_same_duplicate(&old));
            if !still_there && (old.is_refunded() || looking && matches!(old, FormWarning::Duplicate(_))) {
                self.warnings.push(old);
            }
        }
        self.offer_reason();
        self.keep_focus_on_a_field();
    }

    /// Whether the search for duplicates has not come back yet.
    fn is_searching(&self) -> bool {
        self.warnings.contains(&FormWarning::Searching)
    }

    /// The decision by the rules of its dialect, or all that is wrong with it.
    fn validated(&self) -> Result<Resolution, Vec<FieldError>> {
        Resolution::from_parts(self.said(), self.place.dialect, self.alert.money().as_ref())
    }

    /// What is said so far, as it would be sent.
    fn said(&self) -> ResolutionParts {
        match &self.older {
            Some(older) => older.parts(self.comments.text()),
            None => self.parts(self.reason.filter(|_| self.choice == Choice::Invalid)),
        }
    }

    /// The resolution, or everything that is wrong with it.
    fn check(&self) -> Result<Resolution, Box<Errors>> {
        let mut errors = Box::<Errors>::default();
        if self.alert.outcome.is_some() {
            errors.form = Some(format!("Already answered: {}.", answered_as(&self.alert)));
        } else if self.place.read_only {
            errors.form = Some("Read-only connection".to_owned());
        }
        if let Some(doubt) = self.cautions().first().filter(|_| !self.is_confirmed()) {
            errors.confirmation = Some(format!("{}: tick \"Send anyway\" first", doubt.words()));
        }
        match self.validated() {
            Ok(resolution) if *errors == Errors::default() => Ok(resolution),
            Ok(_) => Err(errors),
            Err(found) => {
                for error in found {
                    self.place_error(&mut errors, &error);
                }
                Err(errors)
            }
        }
    }

    /// Puts an error of the interface's rules to its field, in the words of the form.
    fn place_error(&self, errors: &mut Errors, error: &FieldError) {
        match (error.field.as_str(), self.comment_chars().checked_sub(MAX_COMMENT_CHARS)) {
            ("resolution", _) if self.older.is_some() => {
                errors.reason = Some("choose a resolution, 1 to 13".to_owned());
            }
            ("resolution", _) => errors.reason = Some("choose a reason, 1 to 4".to_owned()),
            ("refunded", _) if self.older.is_some() => {
                errors.refund = Some("choose the refund: r, n or s".to_owned());
            }
            ("refunded", _) if self.undecided => {
                errors.form = Some("Not sent: choose an answer, alt-r, alt-n or alt-i.".to_owned());
            }
            ("amountStopped", _) => {
                let typed = self.older.as_ref().map(|older| older.amount.text()).unwrap_or_default();
                errors.amount = Some(match typed.trim().parse::<Amount>() {
                    _ if typed.is_empty() => "the stopped amount is needed".to_owned(),
                    Err(error) => error.to_string(),
                    Ok(_) => {
                        let most = self.alert.money().map_or_else(String::new, |money| format!(" and at most {money}"));
                        format!("the amount must be more than 0{most}")
                    }
                });
            }
            ("comments", Some(over @ 1..)) => {
                errors.comments = Some(format!("{over} too many (at most {MAX_COMMENT_CHARS})"));
            }
            ("comments", _) => errors.comments = Some(format!("the text {}", error.message)),
            (field, _) => errors.form = Some(format!("{field} {}", error.message)),
        }
    }

    /// What is wrong as far as it should be shown now: an overlong text at once, an amount once it is typed, what is
    /// missing once sending was tried.
    fn shown_errors(&self) -> Errors {
        let errors = self.check().err().map(|errors| *errors).unwrap_or_default();
        if self.tried {
            return errors;
        }
        let typed = self.focus != Focus::Amount && self.older.as_ref().is_some_and(|older| !older.amount.is_empty());
        Errors { comments: errors.comments, amount: errors.amount.filter(|_| typed), ..Errors::default() }
    }

    fn comment_chars(&self) -> usize {
        self.comments.text().chars().count()
    }

    /// Whether the answer says that money goes back because of this alert.
    fn refunds(&self) -> bool {
        self.older.as_ref().map_or(self.choice == Choice::Refunded, Older::refunds)
    }

    /// Whether the answer says that money had gone back before.
    fn says_refunded_before(&self) -> bool {
        match &self.older {
            Some(older) => older.says_refunded_before(),
            None => self.choice == Choice::Invalid && self.reason == Some(InvalidReason::PreviouslyRefunded),
        }
    }

    /// Whether the answer says that no money goes back nor has gone back.
    fn denies_refund(&self) -> bool {
        self.older.as_ref().map_or(self.choice == Choice::NotRefunded, Older::denies_refund)
    }

    /// Whether the answer says that money goes back, and nothing tells whether that of the cancelled order went back
    /// already.
    fn leaves_refund_open(&self) -> bool {
        self.refunds() && self.warnings.iter().any(|warning| matches!(warning, FormWarning::Cancelled(_)))
    }

    /// What speaks so much against the answer that it has to be confirmed once more; the gravest first.
    fn cautions(&self) -> Vec<Caution> {
        let says = SaysOfMoney { refunds: self.refunds(), refunded_before: self.says_refunded_before() };
        let known = KnownBefore {
            answered: self.warnings.iter().any(|warning| matches!(warning, FormWarning::ListBehind(_))),
            may_have_arrived: self.warnings.iter().any(FormWarning::may_arrive),
            refunded_elsewhere: self.warnings.iter().any(FormWarning::is_refunded),
        };
        let mut cautions = Caution::against(&self.alert, says, known, self.now);
        if self.denies_refund() && known.refunded_elsewhere && !cautions.contains(&Caution::NetworkRule) {
            cautions.push(Caution::RefundDenied);
        }
        cautions.extend(self.changed.as_ref().map(|_| Caution::Changed));
        cautions
    }

    fn needs_confirmation(&self) -> bool {
        self.alert.outcome.is_none() && !self.cautions().is_empty()
    }

    /// Whether every caution that there is has been confirmed.
    fn is_confirmed(&self) -> bool {
        self.cautions().iter().all(|doubt| self.confirmed.contains(doubt))
    }

    fn toggle_confirmation(&mut self) {
        self.confirmed = if self.is_confirmed() { Vec::new() } else { self.cautions() };
    }

    /// The reason of an INVALID answer that fits instead, where money has gone back already and this answer says that
    /// it goes back again or that it has not.
    fn fitting_reason(&self) -> Option<InvalidReason> {
        let reason = self.advice().filter(|advice| advice.after_refund)?.decision.reason()?;
        // The key leads to a reason that was chosen before, where one was.
        let leads_there = self.older.is_some() || self.reason.is_none_or(|chosen| chosen == reason);
        (leads_there && self.alert.outcome.is_none() && self.says_wrong_of_refund()).then_some(reason)
    }

    fn says_wrong_of_refund(&self) -> bool {
        let denied = self.denies_refund() && self.warnings.iter().any(FormWarning::is_refunded);
        denied || self.cautions().iter().any(|caution| matches!(caution, Caution::PaidTwice | Caution::NetworkRule))
    }

    /// What the warnings advise together.
    fn advice(&self) -> Option<Advice> {
        let duplicates = self.warnings.iter().filter_map(FormWarning::duplicate);
        advice(&self.alert, duplicates, self.warnings.iter().find_map(FormWarning::order))
    }

    /// Whether the answer is this one so far.
    fn says(&self, decision: Decision) -> bool {
        match &self.older {
            Some(older) => match decision {
                Decision::Refunded => older.refunds(),
                Decision::NotRefunded => older.refunded() == Some(&OlderRefunded::NotRefunded),
                Decision::Invalid(reason) => older.word() == Some(&reason.older_word()),
            },
            None if self.choice == Choice::Invalid => self.reason.is_some() && self.reason == decision.reason(),
            None => self.choice == decision.into(),
        }
    }

    /// A reason is chosen beforehand only where it is advised.
    fn offer_reason(&mut self) {
        if self.choice != Choice::Invalid {
            return;
        }
        let offered = self.advice().and_then(|advice| advice.decision.reason());
        match (&mut self.older, offered) {
            (Some(older), Some(reason)) if older.word().is_none() => older.choose_word(reason.older_word()),
            (None, Some(reason)) if self.reason.is_none() => self.reason = Some(reason),
            _ => {}
        }
    }

    /// The sending that was kept while duplicates were looked for: it leaves once the search has ended with nothing to
    /// confirm. A search that failed has not ended so.
    pub fn send_kept(&mut self) -> FormStep {
        if !self.kept_send || self.is_searching() && self.alert.outcome.is_none() {
            return FormStep::Stay;
        }
        self.kept_send = false;
        if self.alert.outcome.is_none()
            && self.warnings.iter().any(|warning| matches!(warning, FormWarning::NotSearched(_)))
        {
            self.word = Some("Not sent: duplicates not checked. ctrl-s sends.".to_owned());
            return FormStep::Stay;
        }
        if self.alert.outcome.is_none() && self.leaves_refund_open() {
            self.word = Some("Not sent: refund unknown. ctrl-s sends.".to_owned());
            return FormStep::Stay;
        }
        self.submit()
    }

    /// Calls a kept sending off; whether there was one.
    fn drop_kept_send(&mut self) -> bool {
        std::mem::take(&mut self.kept_send)
    }

    /// Makes a decision again before anything was pressed in the form; where it has to be looked at first, that is said
    /// calmly. `of_one`: a stopped amount was taken out of it.
    fn repeat(&mut self, of_one: bool) -> FormStep {
        self.repeats = true;
        let why = match of_one {
            true => "Not repeated: a stopped amount fits one payment only.",
            false if self.fitting_reason().is_some() => "Not repeated: another answer is suggested.",
            false if self.leaves_refund_open() => "Not repeated: refund unknown.",
            false => return self.submit(),
        };
        self.word = Some(why.to_owned());
        FormStep::Stay
    }

    fn submit(&mut self) -> FormStep {
        match self.check() {
            Ok(_) if self.refunds() && self.is_searching() && !self.kept_send => {
                self.kept_send = true;
                self.word = Some(STILL_SEARCHING.to_owned());
                FormStep::Stay
            }
            Ok(resolution) => {
                FormStep::Submit(Box::new(FormSubmission { alert_id: self.alert.id, resolution, draft: self.draft() }))
            }
            Err(errors) => {
                self.tried = !self.repeats;
                if let Some(field) = errors.first_field(self.older.is_some()) {
                    self.focus = field;
                }
                let older = self.older.is_some();
                let doubt = self.cautions().first().filter(|_| self.repeats && errors.confirmation.is_some()).copied();
                self.word = Some(match (doubt, &errors.form) {
                    (_, Some(why)) => why.clone(),
                    (Some(doubt), None) => format!("Not repeated: {}.", doubt.words()),
                    (None, None) => errors.not_sent(older),
                });
                FormStep::Stay
            }
        }
    }
}
