//! The resolve form: one decision on one alert, sent once, and only when every rule of the interface holds.
//!
//! The form holds the alert's own facts and never a row number. It sends nothing itself: a valid [`Submission`] goes to the caller.
//! Enter moves on and never sends; `ctrl-s`, space on the button or a click on it do.

mod draw;
mod input;
mod seen;

use std::cell::RefCell;

use ratatui::layout::Rect;

use crate::console::widgets::text_input::TextInput;
use crate::desk::Draft;
use crate::domain::resolution::{CurrentBody, Decision, FieldError, InvalidReason, MAX_COMMENT_CHARS};
use crate::domain::{Alert, AlertId, AlertStatus, Resolution, decide};

pub use seen::{Sibling, SiblingState, Warning};

/// What an analyst says of an alert, before the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Choice {
    /// Refunded because of the alert.
    Refunded,
    /// Not refunded.
    NotRefunded,
    /// The alert does not call for a decision; needs a reason.
    Invalid,
}

impl Choice {
    /// Every choice, in the order of the form.
    pub const ALL: [Self; 3] = [Self::Refunded, Self::NotRefunded, Self::Invalid];

    /// The key that makes it, where the focus is on the decision.
    pub const fn key(self) -> char {
        match self {
            Self::Refunded => 'r',
            Self::NotRefunded => 'n',
            Self::Invalid => 'i',
        }
    }

    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Refunded => "refunded",
            Self::NotRefunded => "not refunded",
            Self::Invalid => "invalid",
        }
    }

    /// The `refunded` field of the body.
    pub const fn wire(self) -> &'static str {
        match self {
            Self::Refunded => "REFUNDED",
            Self::NotRefunded => "NOT REFUNDED",
            Self::Invalid => "INVALID",
        }
    }

    /// The status that follows; the same for every reason.
    fn next_status(self) -> AlertStatus {
        let decision = match self {
            Self::Refunded => Decision::Refunded,
            Self::NotRefunded => Decision::NotRefunded,
            Self::Invalid => Decision::Invalid(InvalidReason::NotFound),
        };
        decide(&Resolution::Current { decision, comments: String::new() }).status
    }
}

/// Where a decision would go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    /// The real world: the form wears a badge.
    pub production: bool,
    /// Nothing may be sent from here.
    pub read_only: bool,
    /// How many seconds a decision waits, and can be taken back, before it leaves; 0 for none.
    pub grace_seconds: u64,
}

/// A decision that is ready to leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    /// On which alert.
    pub alert_id: AlertId,
    /// Valid by construction; card numbers in its comments are masked.
    pub resolution: Resolution,
    /// What was typed, to be kept until the decision has landed.
    pub draft: Draft,
}

/// What an event did to the form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormStep {
    /// The form has taken it; draw again.
    Stay,
    /// Not for the form. Keys may mean something to the application; a mouse event still means nothing to what is behind.
    Ignored,
    /// Close the form; the draft is to be kept for the alert.
    Cancel(Draft),
    /// Close the form and send.
    Submit(Box<Submission>),
}

/// What can have the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Focus {
    Decision,
    Reason,
    Comments,
    Confirmation,
    Cancel,
    Send,
}

/// What a click can meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spot {
    Choice(Choice),
    Reason(InvalidReason),
    Comments,
    Confirmation,
    Cancel,
    Send,
}

/// What is wrong, each at its field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Errors {
    reason: Option<String>,
    comments: Option<String>,
    confirmation: Option<String>,
    /// Whatever stands at no field of this form, and what makes sending impossible altogether.
    form: Option<String>,
}

impl Errors {
    fn first_field(&self) -> Option<Focus> {
        let fields = [(&self.reason, Focus::Reason), (&self.comments, Focus::Comments), (&self.confirmation, Focus::Confirmation)];
        fields.into_iter().find(|(error, _)| error.is_some()).map(|(_, focus)| focus)
    }
}

/// The resolve form.
#[derive(Debug)]
pub struct ResolveForm {
    alert: Alert,
    place: Place,
    warnings: Vec<Warning>,
    choice: Choice,
    reason: Option<InvalidReason>,
    comments: TextInput,
    confirmed: bool,
    /// Sending was tried while doubles were still being looked for; the next try does not wait for them.
    impatient: bool,
    focus: Focus,
    /// Sending was tried: from now on what is missing is shown, not only what is wrong.
    tried: bool,
    /// One sentence about the last key, until the next one.
    word: Option<String>,
    pressed: Option<Spot>,
    spots: RefCell<Vec<(Rect, Spot)>>,
}

impl ResolveForm {
    /// Opens the form on an alert with a decision already made. The draft gives the comments and the reason back, not the decision.
    pub fn new(alert: &Alert, choice: Choice, place: Place, draft: Option<Draft>, warnings: Vec<Warning>) -> Self {
        let draft = draft.unwrap_or_default();
        let mut form = Self {
            alert: alert.clone(),
            place,
            warnings,
            choice,
            reason: draft.reason,
            comments: TextInput::several_lines(&draft.comments),
            confirmed: false,
            impatient: false,
            focus: Focus::Decision,
            tried: false,
            word: None,
            pressed: None,
            spots: RefCell::default(),
        };
        form.choose(choice);
        if choice == Choice::Invalid {
            form.focus = Focus::Reason;
        }
        form
    }

    /// The alert that is being resolved.
    pub fn alert_id(&self) -> AlertId {
        self.alert.id
    }

    /// What has been typed so far.
    pub fn draft(&self) -> Draft {
        Draft { refunded: Some(self.choice.wire().to_owned()), reason: self.reason, comments: self.comments.text() }
    }

    /// Takes the alert as it is now, when a refresh brought news of it. Other alerts are passed over.
    pub fn update_alert(&mut self, alert: &Alert) {
        if alert.id == self.alert.id {
            self.alert = alert.clone();
        }
    }

    /// Takes what has been found out about the alert meanwhile. While the search runs again, what it found before still stands, and a
    /// refund once seen does for as long as the form is open: refunds are final. One not seen before has to be confirmed anew.
    pub fn set_warnings(&mut self, warnings: Vec<Warning>) {
        let known = std::mem::replace(&mut self.warnings, warnings);
        if self.warnings.iter().any(|warning| warning.is_refunded() && !known.iter().any(|old| old.is_same_refund(warning))) {
            self.confirmed = false;
        }
        let looking = self.is_looking();
        for old in known {
            let still_there = self.warnings.iter().any(|warning| warning.is_same_sibling(&old));
            if !still_there && (old.is_refunded() || looking && matches!(old, Warning::Sibling(_))) {
                self.warnings.push(old);
            }
        }
        self.offer_reason();
        self.keep_focus_on_a_field();
    }

    /// Whether the search for doubles has not come back yet.
    fn is_looking(&self) -> bool {
        self.warnings.contains(&Warning::Looking)
    }

    /// The body as it stands, before the rules. (A session of the older dialect will have another one, with its own fields.)
    fn body(&self) -> CurrentBody {
        let reason = self.reason.filter(|_| self.choice == Choice::Invalid);
        CurrentBody {
            refunded: Some(self.choice.wire().to_owned()),
            resolution: reason.map(|reason| reason.as_str().to_owned()),
            comments: Some(self.comments.text()),
        }
    }

    /// The resolution, or everything that is wrong with it.
    fn check(&self) -> Result<Resolution, Errors> {
        let mut errors = Errors::default();
        if let Some(outcome) = &self.alert.outcome {
            errors.form = Some(format!("This alert has an outcome now ({}): nothing can be sent.", outcome.outcome));
        } else if self.place.read_only {
            errors.form = Some("This profile is read-only: nothing can be sent from it.".to_owned());
        }
        if self.needs_confirmation() && !self.confirmed {
            errors.confirmation = Some("it may be paid twice: tick this to send it nevertheless".to_owned());
        }
        match self.body().validate() {
            Ok(resolution) if errors == Errors::default() => Ok(resolution),
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
            ("resolution", _) => errors.reason = Some("choose a reason, 1 to 4: an invalid alert needs one".to_owned()),
            ("comments", Some(over @ 1..)) => errors.comments = Some(format!("{over} too many: at most {MAX_COMMENT_CHARS}")),
            ("comments", _) => errors.comments = Some(format!("the text {}", error.message)),
            (field, _) => errors.form = Some(format!("{field} {}", error.message)),
        }
    }

    /// What is wrong as far as it should be shown now: an overlong text at once, what is missing once sending was tried.
    fn shown_errors(&self) -> Errors {
        let errors = self.check().err().unwrap_or_default();
        if self.tried { errors } else { Errors { comments: errors.comments, ..Errors::default() } }
    }

    fn comment_chars(&self) -> usize {
        self.comments.text().chars().count()
    }

    /// Whether a refund has to be confirmed once more, because somebody has (probably) refunded already.
    fn needs_confirmation(&self) -> bool {
        self.choice == Choice::Refunded && (self.alert.network_rule_applied() || self.warnings.iter().any(Warning::is_refunded))
    }

    /// The fields in the order of Tab.
    fn order(&self) -> Vec<Focus> {
        let mut order = vec![Focus::Decision];
        order.extend((self.choice == Choice::Invalid).then_some(Focus::Reason));
        order.push(Focus::Comments);
        order.extend(self.needs_confirmation().then_some(Focus::Confirmation));
        // The safe button comes first.
        order.extend([Focus::Cancel, Focus::Send]);
        order
    }

    fn move_focus(&mut self, forward: bool) {
        let order = self.order();
        let at = order.iter().position(|focus| *focus == self.focus).unwrap_or(0);
        let step = if forward { 1 } else { order.len() - 1 };
        self.focus = order[(at + step) % order.len()];
    }

    fn keep_focus_on_a_field(&mut self) {
        if !self.order().contains(&self.focus) {
            self.focus = Focus::Decision;
        }
    }

    fn choose(&mut self, choice: Choice) {
        if choice != self.choice {
            (self.confirmed, self.impatient) = (false, false);
        }
        self.choice = choice;
        self.offer_reason();
        self.keep_focus_on_a_field();
    }

    /// A reason is chosen beforehand only where a warning knows it.
    fn offer_reason(&mut self) {
        if self.choice == Choice::Invalid && self.reason.is_none() {
            let refunded_first = self.warnings.iter().filter(|warning| warning.is_refunded()).chain(&self.warnings);
            self.reason = refunded_first.filter_map(|warning| warning.offers(&self.alert)).next();
        }
    }

    fn submit(&mut self) -> FormStep {
        match self.check() {
            Ok(_) if self.choice == Choice::Refunded && self.is_looking() && !self.impatient => {
                self.impatient = true;
                self.word = Some("Still looking for doubles. Once more sends without waiting.".to_owned());
                FormStep::Stay
            }
            Ok(resolution) => FormStep::Submit(Box::new(Submission { alert_id: self.alert.id, resolution, draft: self.draft() })),
            Err(errors) => {
                self.tried = true;
                if let Some(field) = errors.first_field() {
                    self.focus = field;
                }
                self.word = Some(errors.form.unwrap_or_else(|| "Nothing was sent: see what is marked.".to_owned()));
                FormStep::Stay
            }
        }
    }
}
