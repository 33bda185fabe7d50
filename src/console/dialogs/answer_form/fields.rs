//! The fields of an answer, in either dialect: what is chosen and typed, and the errors of what is missing.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::{Frame, layout::Rect};

use super::choice::{Choice, fitting_refund};
use crate::{
    Theme,
    desk::Draft,
    domain::{
        Alert, AlertType, Dialect, ResolutionParts,
        card::mask_card_numbers,
        resolution::{Decision, FieldError, InvalidReason, MAX_COMMENT_CHARS, OlderRefunded, OlderWord},
    },
    ui::form::{Entered, FactLine, Form, FormField, FormOption},
};

// The fields by their places. In the older dialect the answer is the refund, and its reason the resolution.
const ANSWER: usize = 0;
const REASON: usize = 1;
const AMOUNT: usize = 2;
const COMMENTS: usize = 3;
const CHECKS: usize = 4;
const SUGGESTED: usize = 5;
pub(super) const ANYWAY: usize = 6;
pub(super) const NUMBER: usize = 7;
const THEN: usize = 8;

/// Columns of the field for an amount: enough for any that there is, with its decimals.
const AMOUNT_COLUMNS: u16 = 18;

/// Columns of the field for a number of alerts.
const NUMBER_COLUMNS: u16 = 7;

/// Rows of the comments.
const COMMENT_ROWS: u16 = 3;

/// Shown below comments that hold a card number.
const CARD: &str = "card number: only BIN and last four are sent";

/// Facts around the fields, for the next frame.
#[derive(Debug, Default)]
pub(super) struct FieldFacts {
    pub(super) checks: Vec<FactLine>,
    pub(super) suggested: Vec<FactLine>,
    /// The outcome of sending, in words.
    pub(super) then: Vec<FactLine>,
    /// True or false where Send anyway is asked for, ticked or not.
    pub(super) anyway: Option<bool>,
    /// Number of alerts that has to be typed.
    pub(super) number: Option<usize>,
}

/// The fields of an answer: what is chosen and typed is the form's alone.
#[derive(Debug)]
pub struct AnswerFields {
    pub(super) form: Form,
    dialect: Dialect,
    /// Words of the answers in the body, and those of their reasons, in the order of the form.
    answers: [&'static str; 3],
    reasons: Vec<&'static str>,
    /// True where the alert is about confirmed fraud, which has words of its own in the older dialect.
    fraud: bool,
    /// The digit that may be the first one of two.
    first_digit: usize,
}

impl AnswerFields {
    /// The fields with an answer chosen, and with what was said before. `alert` stands for all that are answered: the
    /// older dialect's usual words depend on its type.
    pub fn new(alert: &Alert, choice: Choice, dialect: Dialect, said: &Draft) -> Self {
        let [answer, reason] = answer_and_reason(dialect);
        let fields = vec![
            answer,
            reason,
            FormField::text("Stopped", "").width(AMOUNT_COLUMNS),
            FormField::lines("Comments", "", COMMENT_ROWS, MAX_COMMENT_CHARS).hint("optional").apart(),
            FormField::facts("Checks").apart(),
            FormField::facts("Suggested"),
            FormField::checks("", [("Send anyway".to_owned(), false)]),
            FormField::text("Number", "").width(NUMBER_COLUMNS),
            FormField::facts("").apart(),
        ];
        let focus = if choice == Choice::Invalid { REASON } else { COMMENTS };
        let fraud = alert.alert_type == AlertType::EthocaConfirmedFraud;
        let form = Form::new("", "", fields, focus);
        let (answers, reasons) = match dialect {
            Dialect::Current => {
                (Choice::ALL.map(Choice::words), InvalidReason::ALL.map(InvalidReason::as_str).to_vec())
            }
            Dialect::Older => {
                (OlderRefunded::ALL.map(OlderRefunded::as_str), OlderWord::ALL.map(OlderWord::as_str).to_vec())
            }
        };
        let mut fields = Self { form, dialect, answers, reasons, fraud, first_digit: 0 };
        fields.begin(choice);
        fields.show(FieldFacts::default());
        fields.fill_in(said);
        fields
    }

    fn is_older(&self) -> bool {
        self.dialect == Dialect::Older
    }

    /// Chooses an answer; in the older dialect its usual words.
    fn begin(&mut self, choice: Choice) {
        [ANSWER, REASON].into_iter().for_each(|field| self.form.set_choice(field, None));
        match (self.dialect, choice.usual_words(self.fraud)) {
            (Dialect::Current, _) => self.choose_answer(choice.words()),
            (Dialect::Older, None) => {}
            (Dialect::Older, Some((word, refunded))) => {
                self.choose_reason(word.as_str());
                self.choose_answer(refunded.as_str());
            }
        }
    }

    /// Chooses an answer by its word in the body.
    fn choose_answer(&mut self, word: &str) {
        if let Some(at) = place(&self.answers, word) {
            self.form.set_choice(ANSWER, Some(at));
        }
    }

    /// Chooses a reason by its word in the body, or a resolution of the older dialect.
    fn choose_reason(&mut self, word: &str) {
        if let Some(at) = place(&self.reasons, word) {
            self.choose_numbered(at);
        }
    }

    /// The resolution of the older dialect that is chosen.
    fn older_word(&self) -> Option<OlderWord> {
        self.form.choice(REASON).filter(|_| self.is_older()).map(|at| OlderWord::ALL[at])
    }

    /// The refund of the older dialect that is chosen.
    fn refunded(&self) -> Option<OlderRefunded> {
        self.form.choice(ANSWER).filter(|_| self.is_older()).map(|at| OlderRefunded::ALL[at])
    }

    /// Chooses a reason, or a resolution of the older dialect with the only refund that goes with it.
    fn choose_numbered(&mut self, at: usize) {
        self.form.set_choice(REASON, Some(at));
        if let Some(refunded) = self.older_word().and_then(fitting_refund) {
            self.choose_answer(refunded.as_str());
        }
    }

    /// Returns true where the stopped amount is asked for.
    fn is_partial(&self) -> bool {
        self.older_word() == Some(OlderWord::PartiallyStopped)
    }

    /// The answer so far, as it would be sent.
    pub fn answer(&self) -> ResolutionParts {
        let shown = |field| self.form.choice(field).filter(|_| self.form.is_shown(field));
        ResolutionParts {
            refunded: shown(ANSWER).map(|at| self.answers[at].to_owned()),
            resolution: shown(REASON).map(|at| self.reasons[at].to_owned()),
            amount_stopped: self.form.given(AMOUNT).filter(|_| self.form.is_shown(AMOUNT)),
            comments: self.comments(),
        }
    }

    /// The comments; blanks alone are none.
    fn comments(&self) -> String {
        Some(self.form.raw_text(COMMENTS)).filter(|text| !text.trim().is_empty()).unwrap_or_default()
    }

    /// The answer that is chosen; in the older dialect what its word says.
    pub fn choice(&self) -> Choice {
        match self.dialect {
            Dialect::Older => self.older_word().map_or(Choice::Invalid, Choice::of_word),
            Dialect::Current => Choice::ALL[self.form.chosen(ANSWER)],
        }
    }

    /// Returns true where a reason is asked for and none is chosen.
    pub(super) fn is_without_reason(&self) -> bool {
        self.form.is_shown(REASON) && self.form.choice(REASON).is_none()
    }

    /// Returns true where it says that money goes back because of the alert.
    pub fn refunds(&self) -> bool {
        let before = matches!(self.older_word(), Some(OlderWord::PreviouslyRefunded | OlderWord::PreviouslyCancelled));
        match self.dialect {
            Dialect::Older => self.refunded() == Some(OlderRefunded::Refunded) && !before,
            Dialect::Current => self.choice() == Choice::Refunded,
        }
    }

    /// Returns true where nothing was typed.
    pub fn is_bare(&self) -> bool {
        self.comments().is_empty() && self.form.raw_text(AMOUNT).is_empty()
    }

    /// The answer in words, as far as it is chosen.
    pub(super) fn answer_words(&self) -> Option<String> {
        match self.dialect {
            Dialect::Older => self.older_word().map(|word| word.as_str().to_owned()),
            Dialect::Current => Some(self.choice().label().to_owned()),
        }
    }

    /// Fills in what was said before, as far as that says something.
    pub fn fill_in(&mut self, said: &ResolutionParts) {
        self.form.set_text(AMOUNT, said.amount_stopped.as_deref().unwrap_or_default());
        self.form.set_text(COMMENTS, &said.comments);
        said.resolution.iter().for_each(|word| self.choose_reason(word));
        said.refunded.iter().for_each(|word| self.choose_answer(word));
        self.show_fields();
    }

    /// Chooses an answer with its comment, as it is suggested.
    pub(super) fn take(&mut self, decision: Decision, comments: &str) {
        self.begin(decision.into());
        decision.reason().into_iter().for_each(|reason| self.choose_reason(&reason.resolution(self.dialect)));
        if !comments.is_empty() {
            self.form.set_text(COMMENTS, comments);
        }
        self.form.set_focus(COMMENTS);
        self.show_fields();
    }

    /// Chooses a reason that is advised, where none is chosen yet.
    pub(super) fn offer(&mut self, reason: InvalidReason) {
        if self.choice() == Choice::Invalid && self.form.choice(REASON).is_none() {
            self.choose_reason(&reason.resolution(self.dialect));
            self.show_fields();
        }
    }

    /// Takes the focus to the number, where one is asked for.
    pub(super) fn go_to_number(&mut self) {
        if self.form.is_shown(NUMBER) {
            self.form.set_focus(NUMBER);
        }
    }

    /// Goes to Send anyway; `wrong`: why it is needed.
    pub(super) fn ask_anyway(&mut self, wrong: String) {
        if self.form.is_shown(ANYWAY) {
            self.form.set_focus(ANYWAY);
            self.form.set_error(ANYWAY, Some(wrong));
        }
    }

    /// The sentence about the last key.
    pub fn word(&self) -> Option<&str> {
        self.form.word()
    }

    /// Shows the fields that belong to the answer. Nothing is decided by what is typed on where a field goes away.
    fn show_fields(&mut self) {
        self.form.set_shown(REASON, self.is_older() || self.choice() == Choice::Invalid);
        self.form.set_shown(AMOUNT, self.is_partial());
        if self.form.focus().is_none_or(|field| !self.form.is_shown(field)) {
            self.form.set_focus(COMMENTS);
        }
        let text = self.form.raw_text(COMMENTS);
        let has_card = mask_card_numbers(&text) != text;
        self.form.set_note(COMMENTS, if has_card { CARD } else { "alt-enter starts a line" }, has_card);
    }

    /// Shows these facts around the fields.
    pub(super) fn show(&mut self, facts: FieldFacts) {
        let FieldFacts { checks, suggested, then, anyway, number } = facts;
        self.form.set_facts(CHECKS, checks);
        self.form.set_facts(SUGGESTED, suggested);
        self.form.set_facts(THEN, then);
        self.form.set_shown(ANYWAY, anyway.is_some());
        self.form.set_ticked(ANYWAY, anyway == Some(true));
        self.form.set_shown(NUMBER, number.is_some());
        let note = number.map_or_else(String::new, |number| format!("type {number} to confirm"));
        self.form.set_note(NUMBER, &note, false);
        self.show_fields();
    }

    /// Shows the errors at their fields and goes to the first one.
    pub fn refuse(&mut self, wrong: &[FieldError]) {
        let mut found: Vec<(usize, String)> = wrong.iter().map(|error| self.placed(error)).collect();
        found.sort_by_key(|(field, _)| std::cmp::Reverse(*field));
        found.into_iter().for_each(|(field, words)| self.form.refuse(field, words));
    }

    /// The field of an error, and its words: what was not chosen is asked for by its keys.
    fn placed(&self, error: &FieldError) -> (usize, String) {
        match error.field.as_str() {
            "resolution" => (REASON, format!("choose one: 1 to {}", self.reasons.len())),
            "refunded" => {
                let [refund, none, last] = letters(self.dialect);
                (ANSWER, format!("choose one: alt-{refund}, alt-{none} or alt-{last}"))
            }
            "amountStopped" => (AMOUNT, error.message.clone()),
            _ => (COMMENTS, format!("the text {}", error.message)),
        }
    }

    /// Draws the fields.
    pub fn draw(&self, theme: &Theme, frame: &mut Frame<'_>, area: Rect) {
        self.form.draw_inside(theme, frame, area);
    }
}

/// Place of a word among others, in any letter case.
fn place(words: &[&str], word: &str) -> Option<usize> {
    words.iter().position(|known| known.eq_ignore_ascii_case(word))
}

/// The letters of the answers in their order, or of the refunds of the older dialect.
pub(super) const fn letters(dialect: Dialect) -> [char; 3] {
    match dialect {
        Dialect::Current => ['r', 'n', 'i'],
        Dialect::Older => ['r', 'n', 's'],
    }
}

/// The field of the answer and that of its reason, each option with its key.
fn answer_and_reason(dialect: Dialect) -> [FormField; 2] {
    let option =
        |key: String, words: &str, aside: &str| FormOption { key, words: words.to_owned(), aside: aside.to_owned() };
    let keyed = |words: [&str; 3]| {
        let options = letters(dialect).into_iter().zip(words);
        options.map(|(letter, words)| option(format!("alt-{letter}"), words, "")).collect()
    };
    match dialect {
        Dialect::Current => {
            let reasons = InvalidReason::ALL.iter().zip(1..);
            let reasons = reasons.map(|(reason, at)| option(format!("{at}"), reason.words(), ""));
            let answer = FormField::keyed("Answer", keyed(Choice::ALL.map(Choice::label)), None);
            [answer, FormField::list("Reason", reasons.collect(), None, false)]
        }
        Dialect::Older => {
            let words = OlderWord::ALL.iter().zip(1..);
            let words = words.map(|(word, at)| option(format!("{at:>2}"), word.as_str(), word.words()));
            let refund = FormField::keyed("Refund", keyed(OlderRefunded::ALL.map(OlderRefunded::as_str)), None);
            [refund, FormField::list("Resolution", words.collect(), None, true)]
        }
    }
}

impl AnswerFields {
    /// Takes an event of the terminal.
    pub fn handle(&mut self, event: &Event) -> Entered {
        let chosen = |form: &Form| [ANSWER, REASON].map(|field| form.choice(field));
        let before = chosen(&self.form);
        let entered = match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.key(*key),
            event => self.pass_on(event),
        };
        if matches!(event, Event::Mouse(_)) && chosen(&self.form) != before {
            self.go_on();
        }
        self.show_fields();
        entered
    }

    /// Hands an event to the form. The refund of the older dialect follows the resolution that is chosen there.
    fn pass_on(&mut self, event: &Event) -> Entered {
        let before = self.form.choice(REASON);
        let entered = self.form.handle(event);
        let now = self.form.choice(REASON).filter(|now| Some(*now) != before);
        now.into_iter().for_each(|now| self.choose_numbered(now));
        entered
    }

    fn key(&mut self, key: KeyEvent) -> Entered {
        self.form.hush();
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        // AltGr arrives as both together, and makes characters.
        let alt = key.modifiers.contains(KeyModifiers::ALT) && !control;
        let focus = self.form.focus();
        let types = matches!(focus, Some(AMOUNT | COMMENTS | NUMBER));
        let first_digit = std::mem::take(&mut self.first_digit);
        match key.code {
            KeyCode::Char(letter) if alt && self.choose_by(letter) => {}
            KeyCode::Char(' ') if focus == Some(ANYWAY) => return self.pass_on(&Event::Key(key)),
            KeyCode::Char(letter) if !control && !alt && !types => match letter.to_digit(10) {
                Some(digit) if focus == Some(REASON) => self.digit(first_digit, digit as usize),
                _ => self.form.say("Text goes into the comments: tab goes there."),
            },
            KeyCode::Enter if !alt && self.form.is_at_end(true) => self.form.say("ctrl-s sends, enter does not."),
            KeyCode::Enter if !alt => self.form.move_focus(true),
            _ => return self.pass_on(&Event::Key(key)),
        }
        Entered::Nothing
    }

    /// Chooses an answer by its letter, and goes on to what is to be filled in next. False where it is no such letter.
    fn choose_by(&mut self, letter: char) -> bool {
        let at = letters(self.dialect).iter().position(|known| known.eq_ignore_ascii_case(&letter));
        if at.is_some() {
            self.form.set_choice(ANSWER, at);
            self.go_on();
        }
        at.is_some()
    }

    /// Chooses a reason, or a word of the older dialect, by its number.
    fn digit(&mut self, first: usize, digit: usize) {
        let count = self.reasons.len();
        let numbered = |number: usize| number.checked_sub(1).filter(|at| *at < count);
        let two = numbered(first * 10 + digit).filter(|_| first > 0);
        let Some(at) = two.or(numbered(digit)) else { return self.form.say(format!("1 to {count} choose.")) };
        self.choose_numbered(at);
        // A 1 may be the first digit of two.
        if two.is_none() && digit * 10 <= count {
            self.first_digit = digit;
        } else {
            self.go_on();
        }
    }

    /// Goes on to what is still asked for.
    fn go_on(&mut self) {
        self.show_fields();
        let asked = [
            (REASON, self.is_without_reason()),
            (ANSWER, self.form.choice(ANSWER).is_none()),
            (AMOUNT, self.is_partial() && self.form.text(AMOUNT).is_empty()),
        ];
        let next = asked.into_iter().find(|(_, is_open)| *is_open);
        self.form.set_focus(next.map_or(COMMENTS, |(field, _)| field));
    }
}
