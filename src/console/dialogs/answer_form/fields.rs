//! The fields of an answer, in either dialect: what is chosen and typed, and the errors of what is missing.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::{Frame, layout::Rect};

use super::choice::{Choice, REFUNDS, fitting_refund, next_status, refund_of, usual_refund, usual_word};
use crate::{
    Theme,
    desk::Draft,
    domain::{
        Alert, AlertStatus, AlertType, Amount, Dialect, Money, ResolutionParts,
        card::mask_card_numbers,
        resolution::{FieldError, InvalidReason, MAX_COMMENT_CHARS, OlderRefunded, OlderWord},
    },
    ui::form::{Entered, FactLine, Form, FormField, FormOption},
};

// The first two fields are the answer and its reason, or in the older dialect its resolution and the refund.
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
    /// True where the alert is about confirmed fraud, which has words of its own in the older dialect.
    fraud: bool,
    /// Choice that the key began with in the older dialect.
    begun: Option<Choice>,
    /// True where the refund of the older dialect was chosen by hand: it no longer follows the word.
    refund_by_hand: bool,
    /// The digit that may be the first one of two.
    first_digit: usize,
    /// The most that can be stopped, where one alert is answered.
    most: Option<Money>,
    /// Number of alerts that has to be typed.
    number: Option<usize>,
    /// True after a letter that no field took: a digit within it is no choice.
    astray: bool,
}

impl AnswerFields {
    /// The fields with an answer chosen, or none yet, and with what was said before. `alert` stands for all that are
    /// answered: the older dialect's usual words depend on its type.
    pub fn new(alert: &Alert, choice: Option<Choice>, dialect: Dialect, said: &Draft) -> Self {
        let (is_older, answer) = (dialect == Dialect::Older, choice.and_then(|choice| place(&Choice::ALL, &choice)));
        let [first, second] = if is_older { older_fields() } else { current_fields(answer) };
        let fields = vec![
            first,
            second,
            FormField::text("Stopped", "").width(AMOUNT_COLUMNS),
            FormField::lines("Comments", "", COMMENT_ROWS, MAX_COMMENT_CHARS).hint("optional").apart(),
            FormField::facts("Checks").apart(),
            FormField::facts("Suggested"),
            FormField::checks("", [("Send anyway".to_owned(), false)]),
            FormField::text("Number", "").width(NUMBER_COLUMNS),
            FormField::facts("").apart(),
        ];
        let focus = match choice {
            Some(Choice::Refunded | Choice::NotRefunded) if !is_older => COMMENTS,
            Some(Choice::Invalid) if !is_older => 1,
            _ => 0,
        };
        let mut fields = Self {
            form: Form::new("", "", fields, focus),
            dialect,
            fraud: alert.alert_type == AlertType::EthocaConfirmedFraud,
            begun: None,
            refund_by_hand: false,
            first_digit: 0,
            most: None,
            number: None,
            astray: false,
        };
        if fields.is_older() {
            fields.begin(choice.unwrap_or(Choice::Invalid));
        }
        fields.show(FieldFacts::default());
        fields.fill_in(said);
        fields
    }

    fn is_older(&self) -> bool {
        self.dialect == Dialect::Older
    }

    /// The field whose options have letters: the answer, or the refund of the older dialect.
    fn keyed(&self) -> usize {
        usize::from(self.is_older())
    }

    /// The field whose options have numbers: the reason, or the resolution of the older dialect.
    fn numbered(&self) -> usize {
        1 - self.keyed()
    }

    /// Begins with the usual words of a key in the older dialect.
    fn begin(&mut self, begun: Choice) {
        (self.begun, self.refund_by_hand, self.first_digit) = (Some(begun), false, 0);
        let (word, refunded) = (usual_word(begun, self.fraud), usual_refund(begun));
        self.form.set_choice(self.numbered(), word.and_then(|word| place(&OlderWord::ALL, &word)));
        self.form.set_choice(self.keyed(), refunded.as_ref().and_then(refund_place));
    }

    /// The resolution of the older dialect that is chosen.
    fn older_word(&self) -> Option<OlderWord> {
        self.form.choice(self.numbered()).filter(|_| self.is_older()).map(|at| OlderWord::ALL[at])
    }

    /// The refund of the older dialect that is chosen.
    fn refunded(&self) -> Option<OlderRefunded> {
        self.form.choice(self.keyed()).filter(|_| self.is_older()).map(|at| REFUNDS[at].0)
    }

    /// Chooses a reason, or a resolution of the older dialect. The refund follows where that says it, until it was
    /// chosen by hand.
    fn choose_numbered(&mut self, at: usize) {
        self.form.set_choice(self.numbered(), Some(at));
        if let Some(begun) = self.begun.filter(|_| !self.refund_by_hand) {
            self.form.set_choice(self.keyed(), refund_of(OlderWord::ALL[at], begun).as_ref().and_then(refund_place));
        }
    }

    /// Chooses an answer, or a refund of the older dialect by hand.
    fn choose_keyed(&mut self, at: usize) {
        self.refund_by_hand = true;
        self.form.set_choice(self.keyed(), Some(at));
    }

    /// Returns true where the stopped amount is asked for.
    fn is_partial(&self) -> bool {
        self.older_word() == Some(OlderWord::PartiallyStopped)
    }

    /// The same where so much can be stopped at most.
    #[must_use]
    pub fn of(mut self, most: Option<Money>) -> Self {
        let note = most.as_ref().map_or_else(String::new, |most| format!("of {most}"));
        self.form.set_note(AMOUNT, &note, false);
        Self { most, ..self }
    }

    /// The answer so far, as it would be sent.
    pub fn answer(&self) -> ResolutionParts {
        let comments = self.comments();
        if self.is_older() {
            return ResolutionParts {
                refunded: self.refunded().map(|refunded| refunded.as_str().to_owned()),
                resolution: self.older_word().map(|word| word.as_str().to_owned()),
                amount_stopped: self.form.given(AMOUNT).filter(|_| self.is_partial()),
                comments,
            };
        }
        ResolutionParts {
            refunded: self.choice().map(|choice| choice.words().to_owned()),
            resolution: self.reason().map(|reason| reason.as_str().to_owned()),
            amount_stopped: None,
            comments,
        }
    }

    /// The comments; blanks alone are none.
    fn comments(&self) -> String {
        Some(self.form.raw_text(COMMENTS)).filter(|text| !text.trim().is_empty()).unwrap_or_default()
    }

    /// The answer that is chosen, where one is; what the key began with in the older dialect.
    pub fn choice(&self) -> Option<Choice> {
        self.begun.or_else(|| self.form.choice(self.keyed()).map(|at| Choice::ALL[at]))
    }

    fn reason(&self) -> Option<InvalidReason> {
        self.form.choice(self.numbered()).filter(|_| self.is_invalid()).map(|at| InvalidReason::ALL[at])
    }

    /// Returns true where it is Invalid, which asks for a reason.
    fn is_invalid(&self) -> bool {
        !self.is_older() && self.choice() == Some(Choice::Invalid)
    }

    /// Returns true where it is Invalid and no reason is chosen.
    pub(super) fn is_without_reason(&self) -> bool {
        self.is_invalid() && self.reason().is_none()
    }

    /// Returns true where it says that money goes back because of the alert.
    pub fn refunds(&self) -> bool {
        let before = matches!(self.older_word(), Some(OlderWord::PreviouslyRefunded | OlderWord::PreviouslyCancelled));
        match self.dialect {
            Dialect::Older => self.refunded() == Some(OlderRefunded::Refunded) && !before,
            Dialect::Current => self.choice() == Some(Choice::Refunded),
        }
    }

    /// Returns true where nothing was typed.
    pub fn is_bare(&self) -> bool {
        self.comments().is_empty() && self.form.raw_text(AMOUNT).is_empty()
    }

    /// The API status that follows, as far as it is known.
    pub(super) fn next_status(&self) -> Option<AlertStatus> {
        match self.dialect {
            Dialect::Older => self.older_word().map(next_status),
            Dialect::Current => self.choice().map(Choice::next_status),
        }
    }

    /// The answer in words, as far as it is chosen.
    pub(super) fn answer_words(&self) -> Option<String> {
        match self.dialect {
            Dialect::Older => self.older_word().map(|word| word.as_str().to_owned()),
            Dialect::Current => self.choice().map(|choice| choice.label().to_owned()),
        }
    }

    /// A word and a refund of the older dialect that contradict each other.
    pub(super) fn contradiction(&self) -> Option<String> {
        let (word, refunded) = (self.older_word()?, self.refunded()?);
        let contradicts = fitting_refund(word).is_some_and(|fitting| fitting != refunded);
        contradicts.then(|| format!("{} contradicts {}", word.as_str(), refunded.as_str()))
    }

    /// Fills in what was said before, whatever the key would make of it.
    pub fn fill_in(&mut self, said: &ResolutionParts) {
        let (word, refunded) = (said.resolution.as_deref(), said.refunded.as_deref());
        self.form.set_text(AMOUNT, said.amount_stopped.as_deref().unwrap_or_default());
        self.form.set_text(COMMENTS, &said.comments);
        if self.is_older() {
            let word = word.and_then(OlderWord::known).and_then(|word| place(&OlderWord::ALL, &word));
            word.into_iter().for_each(|at| self.choose_numbered(at));
            let refunded = refunded.and_then(OlderRefunded::known).as_ref().and_then(refund_place);
            refunded.into_iter().for_each(|at| self.choose_keyed(at));
        } else {
            let reason = word.and_then(InvalidReason::parse).and_then(|reason| place(&InvalidReason::ALL, &reason));
            self.form.set_choice(self.numbered(), reason);
        }
        self.show_fields();
    }

    /// Chooses an answer with its comment, as it is suggested.
    pub(super) fn take(&mut self, reason: Option<InvalidReason>, choice: Choice, comments: &str) {
        match (self.dialect, reason) {
            (Dialect::Older, None) => self.begin(choice),
            (Dialect::Current, _) => self.form.set_choice(self.keyed(), place(&Choice::ALL, &choice)),
            (Dialect::Older, Some(_)) => {}
        }
        reason.into_iter().for_each(|reason| self.choose_reason(reason));
        if !comments.is_empty() {
            self.form.set_text(COMMENTS, comments);
        }
        self.form.set_focus(COMMENTS);
        self.show_fields();
    }

    /// Chooses a reason of Invalid, or its word in the older dialect.
    fn choose_reason(&mut self, reason: InvalidReason) {
        let at = match self.dialect {
            Dialect::Older => place(&OlderWord::ALL, &reason.older_word()),
            Dialect::Current => place(&InvalidReason::ALL, &reason),
        };
        at.into_iter().for_each(|at| self.choose_numbered(at));
    }

    /// Chooses a reason that is advised, where none is chosen yet.
    pub(super) fn offer(&mut self, reason: InvalidReason) {
        if self.choice() == Some(Choice::Invalid) && self.form.choice(self.numbered()).is_none() {
            self.choose_reason(reason);
            self.show_fields();
        }
    }

    /// Takes the focus to the number, where one is asked for.
    pub(super) fn go_to_number(&mut self) {
        if self.form.is_shown(NUMBER) {
            self.form.set_focus(NUMBER);
        }
    }

    /// Types a digit into the number.
    pub(super) fn type_number(&mut self, key: KeyEvent) {
        self.go_to_number();
        self.form.handle(&Event::Key(key));
    }

    /// Goes to Send anyway; `wrong`: why it is needed.
    pub(super) fn ask_anyway(&mut self, wrong: Option<String>) {
        if self.form.is_shown(ANYWAY) {
            self.form.set_focus(ANYWAY);
            self.form.set_error(ANYWAY, wrong);
        }
    }

    /// The sentence about the last key.
    pub fn word(&self) -> Option<&str> {
        self.form.word()
    }

    /// Shows the fields that belong to the answer.
    fn show_fields(&mut self) {
        self.form.set_shown(self.numbered(), self.is_older() || self.is_invalid());
        self.form.set_shown(AMOUNT, self.is_partial());
        self.keep_focus();
        self.note_comments();
    }

    /// Nothing is decided by what is typed on where a field goes away.
    fn keep_focus(&mut self) {
        if self.form.focus().is_none_or(|field| !self.form.is_shown(field)) {
            self.form.set_focus(COMMENTS);
        }
    }

    fn note_comments(&mut self) {
        let text = self.form.raw_text(COMMENTS);
        let over = text.chars().count().checked_sub(MAX_COMMENT_CHARS).filter(|over| *over > 0);
        let note = match over {
            Some(over) => format!("✗ {over} too many (at most {MAX_COMMENT_CHARS})"),
            None if mask_card_numbers(&text) != text => "card number: only BIN and last four are sent".to_owned(),
            None => String::new(),
        };
        let hint = if note.is_empty() { "alt-enter starts a line" } else { &note };
        self.form.set_note(COMMENTS, hint, !note.is_empty());
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
        if std::mem::replace(&mut self.number, number) != number {
            self.form.set_error(NUMBER, None);
        }
        let note = number.map_or_else(String::new, |number| format!("type {number} to confirm"));
        self.form.set_note(NUMBER, &note, false);
        self.keep_focus();
    }

    /// Shows the errors at their fields and goes to the first one. Returns in which fields they are, in a sentence.
    pub fn refuse(&mut self, wrong: &[FieldError]) -> String {
        let mut found: Vec<(usize, &str, String)> = wrong.iter().map(|error| self.placed(error)).collect();
        found.sort_by_key(|(field, ..)| *field);
        for (field, _, words) in found.iter().rev() {
            self.form.refuse(*field, words.clone());
        }
        let labels: Vec<&str> = found.iter().map(|(_, label, _)| *label).collect();
        format!("Not sent: see {}.", labels.join(" and "))
    }

    /// The field of an error, its label, and the error in its words.
    fn placed(&self, error: &FieldError) -> (usize, &'static str, String) {
        match (error.field.as_str(), self.is_older()) {
            ("resolution", true) => (self.numbered(), "Resolution", "choose a resolution, 1 to 13".to_owned()),
            ("resolution", false) => (self.numbered(), "Reason", "choose a reason, 1 to 4".to_owned()),
            ("refunded", true) => (self.keyed(), "Refund", "choose the refund: r, n or s".to_owned()),
            ("refunded", false) => (self.keyed(), "Answer", "choose an answer: alt-r, alt-n or alt-i".to_owned()),
            ("amountStopped", _) => {
                let typed = self.form.text(AMOUNT);
                let words = match typed.parse::<Amount>() {
                    _ if typed.is_empty() => "the stopped amount is needed".to_owned(),
                    Err(error) => error,
                    Ok(_) => {
                        let most = self.most.as_ref().map_or_else(String::new, |most| format!(" and at most {most}"));
                        format!("the amount must be more than 0{most}")
                    }
                };
                (AMOUNT, "Stopped", words)
            }
            _ => {
                let over = self.form.raw_text(COMMENTS).chars().count().saturating_sub(MAX_COMMENT_CHARS);
                let words = match over {
                    0 => format!("the text {}", error.message),
                    over => format!("{over} too many (at most {MAX_COMMENT_CHARS})"),
                };
                (COMMENTS, "Comments", words)
            }
        }
    }

    /// Draws the fields.
    pub fn draw(&self, theme: &Theme, frame: &mut Frame<'_>, area: Rect) {
        self.form.draw_inside(theme, frame, area);
    }
}

/// Place of one among all there are.
fn place<T: PartialEq>(all: &[T], one: &T) -> Option<usize> {
    all.iter().position(|known| known == one)
}

fn option(key: String, words: &str, aside: &str) -> FormOption {
    FormOption { key, words: words.to_owned(), aside: aside.to_owned() }
}

/// Place of a refund of the older dialect in the form.
fn refund_place(refunded: &OlderRefunded) -> Option<usize> {
    REFUNDS.iter().position(|(known, ..)| known == refunded)
}

/// The answer and its reason.
fn current_fields(answer: Option<usize>) -> [FormField; 2] {
    let answers = Choice::ALL.map(|choice| option(format!("alt-{}", choice.key()), choice.label(), ""));
    let reasons = InvalidReason::ALL.iter().zip(1..).map(|(reason, at)| option(format!("{at}"), reason.words(), ""));
    let reasons = FormField::list("Reason", reasons.collect(), None, false);
    [FormField::keyed("Answer", answers.into(), answer), reasons]
}

/// The resolution and the refund of the older dialect.
fn older_fields() -> [FormField; 2] {
    let words = OlderWord::ALL.iter().zip(1..);
    let words = words.map(|(word, at)| option(format!("{at:>2}"), word.as_str(), word.words()));
    let refunds = REFUNDS.iter().map(|(_, key, words)| option(format!("alt-{key}"), words, ""));
    let words = FormField::list("Resolution", words.collect(), None, true);
    [words, FormField::keyed("Refund", refunds.collect(), None)]
}

impl AnswerFields {
    /// Takes an event of the terminal.
    pub fn handle(&mut self, event: &Event) -> Entered {
        let before = self.chosen();
        let entered = match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.key(*key),
            event => self.pass_on(event),
        };
        if matches!(event, Event::Mouse(_)) && self.chosen() != before {
            self.go_on();
        }
        self.show_fields();
        entered
    }

    fn chosen(&self) -> [Option<usize>; 2] {
        [self.form.choice(self.numbered()), self.form.choice(self.keyed())]
    }

    /// Hands an event to the form. The refund of the older dialect follows the resolution that is chosen there.
    fn pass_on(&mut self, event: &Event) -> Entered {
        self.astray = false;
        let [number, letter] = self.chosen();
        let entered = self.form.handle(event);
        match self.chosen() {
            [Some(now), _] if Some(now) != number => self.choose_numbered(now),
            [_, now] => self.refund_by_hand |= now != letter,
        }
        entered
    }

    fn key(&mut self, key: KeyEvent) -> Entered {
        self.form.hush();
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        // AltGr arrives as both together, and makes characters.
        let alt = key.modifiers.contains(KeyModifiers::ALT) && !control;
        let types = matches!(self.form.focus(), Some(AMOUNT | COMMENTS | NUMBER));
        let first_digit = std::mem::take(&mut self.first_digit);
        match key.code {
            KeyCode::Char(letter) if alt && self.choose_by(letter) => self.astray = false,
            KeyCode::Char(digit)
                if !control && !alt && self.form.focus() == Some(NUMBER) && !digit.is_ascii_digit() =>
            {
                self.form.set_error(NUMBER, Some("Digits only.".to_owned()));
            }
            KeyCode::Char(' ') if !types && self.form.focus() == Some(ANYWAY) => {
                return self.pass_on(&Event::Key(key));
            }
            KeyCode::Char(letter) if !control && !alt && !types => self.character(letter, first_digit),
            KeyCode::Enter if !alt && self.form.is_at_end(true) => self.form.say("ctrl-s sends, enter does not."),
            KeyCode::Enter if !alt => self.form.move_focus(true),
            _ => return self.pass_on(&Event::Key(key)),
        }
        Entered::Nothing
    }

    /// Takes a character beside the texts: it chooses, or is refused in words. A digit within what is typed there is no
    /// choice: an answer is final.
    fn character(&mut self, c: char, first_digit: usize) {
        let astray = std::mem::replace(&mut self.astray, true);
        let focus = self.form.focus();
        let (is_numbered, is_keyed) = (focus == Some(self.numbered()), focus == Some(self.keyed()));
        match c.to_digit(10) {
            Some(_) if is_numbered && astray => self.form.say("Up and down choose, tab goes on."),
            Some(_) if is_keyed && !self.is_older() && !self.is_invalid() => {
                self.form.say("A reason goes only with Invalid.");
            }
            Some(digit) if is_numbered || is_keyed && !self.is_older() => {
                self.astray = false;
                self.digit(first_digit, digit as usize);
            }
            None if is_keyed && self.choose_by(c) => self.astray = false,
            _ if is_numbered => self.form.say("A digit chooses. Tab goes to the comments."),
            _ => {
                let letter = if self.is_older() { 's' } else { 'i' };
                self.form.say(format!("Type in the comments. alt-r, alt-n, alt-{letter} choose."));
            }
        }
    }

    /// Chooses an answer by its letter, or the refund of the older dialect, and goes on to what is to be filled in
    /// next. False where it is no such letter.
    fn choose_by(&mut self, c: char) -> bool {
        let c = c.to_ascii_lowercase();
        let types = matches!(self.form.focus(), Some(AMOUNT | COMMENTS));
        if self.is_older() && c == Choice::Invalid.key() {
            self.form.set_focus(self.numbered());
            return true;
        }
        let found = match self.dialect {
            Dialect::Older => REFUNDS.iter().position(|(_, key, _)| *key == c),
            Dialect::Current => Choice::ALL.iter().position(|choice| choice.key() == c),
        };
        let Some(at) = found else { return false };
        self.choose_keyed(at);
        if !self.is_older() {
            self.form.set_focus(if self.is_invalid() { self.numbered() } else { COMMENTS });
        } else if !types {
            self.go_on();
        }
        true
    }

    /// Chooses a reason, or a word of the older dialect, by its number.
    fn digit(&mut self, first: usize, digit: usize) {
        let (count, name) = match self.dialect {
            Dialect::Older => (OlderWord::ALL.len(), "resolution"),
            Dialect::Current => (InvalidReason::ALL.len(), "reason"),
        };
        let numbered = |number: usize| number.checked_sub(1).filter(|at| *at < count);
        let two = numbered(first * 10 + digit).filter(|_| first > 0);
        let Some(at) = two.or(numbered(digit)) else { return self.form.say(format!("No {name} {digit}.")) };
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
        self.form.set_focus(match self.dialect {
            Dialect::Older if self.refunded().is_none() => self.keyed(),
            Dialect::Older if self.is_partial() && self.form.text(AMOUNT).is_empty() => AMOUNT,
            Dialect::Current if self.is_without_reason() => self.numbered(),
            _ => COMMENTS,
        });
    }
}
