//! The fields of an answer, in either dialect: what is chosen and typed, and the errors of what is missing.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::{Frame, layout::Rect};

use super::choice::{Choice, Older, REFUNDS};
use crate::{
    Theme,
    desk::Draft,
    domain::{
        Alert, AlertStatus, Amount, Dialect, Money, ResolutionParts,
        card::mask_card_numbers,
        resolution::{FieldError, InvalidReason, MAX_COMMENT_CHARS, OlderWord},
    },
    ui::form::{Entered, FactLine, Form, FormField, FormOption},
};

const ANSWER: usize = 0;
const REASON: usize = 1;
const WORD: usize = 2;
const REFUND: usize = 3;
const AMOUNT: usize = 4;
const COMMENTS: usize = 5;
const CHECKS: usize = 6;
const SUGGESTED: usize = 7;
const ANYWAY: usize = 8;
const NUMBER: usize = 9;
const THEN: usize = 10;

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

/// The fields of an answer.
#[derive(Debug)]
pub struct AnswerFields {
    form: Form,
    /// What takes the place of answer and reason in the older dialect.
    older: Option<Older>,
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
        let older = (dialect == Dialect::Older).then(|| Older::new(alert, choice.unwrap_or(Choice::Invalid)));
        let answer = choice.and_then(|choice| place(&Choice::ALL, &choice));
        let answers = Choice::ALL.map(|choice| option(format!("alt-{}", choice.key()), choice.label(), ""));
        let reasons = InvalidReason::ALL.iter().enumerate();
        let reasons = reasons.map(|(at, reason)| option(format!("{}", at + 1), reason.words(), ""));
        let words = OlderWord::KNOWN.iter().enumerate();
        let words = words.map(|(at, word)| option(format!("{:>2}", at + 1), word.as_str(), word.words()));
        let refunds = REFUNDS.map(|(_, key, words)| option(format!("alt-{key}"), words, ""));
        let fields = vec![
            FormField::keyed("Answer", answers.into(), answer),
            FormField::list("Reason", reasons.collect(), None, false),
            FormField::list("Resolution", words.collect(), None, true),
            FormField::keyed("Refund", refunds.into(), None),
            FormField::text("Stopped", "").width(AMOUNT_COLUMNS),
            FormField::lines("Comments", "", COMMENT_ROWS, MAX_COMMENT_CHARS).hint("optional").apart(),
            FormField::facts("Checks").apart(),
            FormField::facts("Suggested"),
            FormField::checks("", [("Send anyway".to_owned(), false)]),
            FormField::text("Number", "").width(NUMBER_COLUMNS),
            FormField::facts("").apart(),
        ];
        let focus = match (&older, choice) {
            (Some(_), _) => WORD,
            (None, Some(Choice::Refunded | Choice::NotRefunded)) => COMMENTS,
            (None, Some(Choice::Invalid)) => REASON,
            (None, None) => ANSWER,
        };
        let form = Form::new("", "", fields, focus);
        let mut fields = Self { form, older, most: None, number: None, astray: false };
        fields.show(FieldFacts::default());
        fields.fill_in(said);
        fields
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
        match &self.older {
            Some(older) => older.parts(&self.form.raw_text(AMOUNT), comments),
            None => ResolutionParts {
                refunded: self.choice().map(|choice| choice.words().to_owned()),
                resolution: self.reason().map(|reason| reason.as_str().to_owned()),
                amount_stopped: None,
                comments,
            },
        }
    }

    /// The comments; blanks alone are none.
    fn comments(&self) -> String {
        Some(self.form.raw_text(COMMENTS)).filter(|text| !text.trim().is_empty()).unwrap_or_default()
    }

    /// The answer that is chosen, where one is; what the key began with in the older dialect.
    pub fn choice(&self) -> Option<Choice> {
        match &self.older {
            Some(older) => Some(older.begun),
            None => self.form.choice(ANSWER).map(|at| Choice::ALL[at]),
        }
    }

    fn reason(&self) -> Option<InvalidReason> {
        let is_invalid = self.older.is_none() && self.choice() == Some(Choice::Invalid);
        self.form.choice(REASON).filter(|_| is_invalid).map(|at| InvalidReason::ALL[at])
    }

    /// Returns true where it is Invalid and no reason is chosen.
    pub(super) fn is_without_reason(&self) -> bool {
        self.older.is_none() && self.choice() == Some(Choice::Invalid) && self.reason().is_none()
    }

    /// Returns true where it says that money goes back because of the alert.
    pub fn refunds(&self) -> bool {
        match &self.older {
            Some(older) => older.refunds(),
            None => self.choice() == Some(Choice::Refunded),
        }
    }

    /// Returns true where nothing was typed.
    pub fn is_bare(&self) -> bool {
        self.comments().is_empty() && self.form.raw_text(AMOUNT).is_empty()
    }

    /// The API status that follows, as far as it is known.
    pub(super) fn next_status(&self) -> Option<AlertStatus> {
        match &self.older {
            Some(older) => older.next_status(),
            None => self.choice().map(Choice::next_status),
        }
    }

    /// The answer in words, as far as it is chosen.
    pub(super) fn answer_words(&self) -> Option<String> {
        match &self.older {
            Some(older) => older.word().map(ToString::to_string),
            None => self.choice().map(|choice| choice.label().to_owned()),
        }
    }

    /// A word and a refund of the older dialect that contradict each other.
    pub(super) fn contradiction(&self) -> Option<String> {
        let (word, refunded) = self.older.as_ref()?.contradiction()?;
        Some(format!("{word} contradicts {refunded}"))
    }

    /// Fills in what was said before, whatever the key would make of it.
    pub fn fill_in(&mut self, said: &ResolutionParts) {
        let reason = said.resolution.as_deref().and_then(InvalidReason::parse);
        self.form.set_choice(REASON, reason.and_then(|reason| place(&InvalidReason::ALL, &reason)));
        self.form.set_text(AMOUNT, said.amount_stopped.as_deref().unwrap_or_default());
        self.form.set_text(COMMENTS, &said.comments);
        if let Some(older) = &mut self.older {
            older.fill_in(said);
        }
        self.show_older();
        self.follow();
    }

    /// Chooses an answer with its comment, as it is suggested.
    pub(super) fn take(&mut self, reason: Option<InvalidReason>, choice: Choice, comments: &str) {
        match (&mut self.older, reason) {
            (Some(older), Some(reason)) => older.choose_word(reason.older_word()),
            (Some(older), None) => older.begin(choice),
            (None, reason) => {
                self.set_answer(choice);
                if let Some(reason) = reason {
                    self.form.set_choice(REASON, place(&InvalidReason::ALL, &reason));
                }
            }
        }
        self.show_older();
        if !comments.is_empty() {
            self.form.set_text(COMMENTS, comments);
        }
        self.form.set_focus(COMMENTS);
        self.follow();
    }

    /// Chooses a reason that is advised, where none is chosen yet.
    pub(super) fn offer(&mut self, reason: InvalidReason) {
        if self.choice() != Some(Choice::Invalid) {
            return;
        }
        match &mut self.older {
            Some(older) if older.word().is_none() => older.choose_word(reason.older_word()),
            None if self.form.choice(REASON).is_none() => {
                self.form.set_choice(REASON, place(&InvalidReason::ALL, &reason));
            }
            _ => {}
        }
        self.show_older();
    }

    /// Number of alerts that was typed.
    pub(super) fn number(&self) -> String {
        self.form.text(NUMBER)
    }

    /// Shows that a number has to be typed, and goes there.
    pub(super) fn ask_number(&mut self, wrong: String) {
        self.form.refuse(NUMBER, wrong);
    }

    /// Empties the number.
    pub(super) fn clear_number(&mut self) {
        self.form.set_text(NUMBER, "");
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

    /// Returns true where Send anyway is ticked.
    pub(super) fn is_ticked(&self) -> bool {
        self.form.is_ticked(ANYWAY)
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

    pub(super) fn is_at_end(&self, forward: bool) -> bool {
        self.form.is_at_end(forward)
    }

    pub(super) fn enter(&mut self, first: bool) {
        self.form.enter(first);
    }

    /// Takes into the answer of the older dialect what was chosen in its fields, and shows the fields that belong to
    /// the answer.
    fn follow(&mut self) {
        if let Some(older) = &mut self.older {
            if let Some(at) = self.form.choice(WORD).filter(|at| older.index() != Some(*at)) {
                older.choose_word(OlderWord::KNOWN[at].clone());
            }
            if let Some(at) = self.form.choice(REFUND).filter(|at| older.refund_index() != Some(*at)) {
                older.choose_refunded(REFUNDS[at].0.clone());
            }
        }
        let is_invalid = self.choice() == Some(Choice::Invalid);
        let is_partial = self.older.as_ref().is_some_and(Older::is_partial);
        let shown = [
            (ANSWER, self.older.is_none()),
            (REASON, self.older.is_none() && is_invalid),
            (WORD, self.older.is_some()),
            (REFUND, self.older.is_some()),
            (AMOUNT, is_partial),
        ];
        shown.into_iter().for_each(|(field, shown)| self.form.set_shown(field, shown));
        self.keep_focus();
        self.note_comments();
    }

    /// Nothing is decided by what is typed on where a field goes away.
    fn keep_focus(&mut self) {
        if self.form.focus().is_none_or(|field| !self.form.is_shown(field)) {
            self.form.set_focus(COMMENTS);
        }
    }

    /// Shows the choices of the older dialect, which may follow from each other.
    fn show_older(&mut self) {
        let Some(older) = &self.older else { return };
        let (word, refund, is_partial) = (older.index(), older.refund_index(), older.is_partial());
        self.form.set_choice(WORD, word);
        self.form.set_choice(REFUND, refund);
        self.form.set_shown(AMOUNT, is_partial);
        self.keep_focus();
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
        let is_older = self.older.is_some();
        match (error.field.as_str(), is_older) {
            ("resolution", true) => (WORD, "Resolution", "choose a resolution, 1 to 13".to_owned()),
            ("resolution", false) => (REASON, "Reason", "choose a reason, 1 to 4".to_owned()),
            ("refunded", true) => (REFUND, "Refund", "choose the refund: r, n or s".to_owned()),
            ("refunded", false) => (ANSWER, "Answer", "choose an answer: alt-r, alt-n or alt-i".to_owned()),
            ("amountStopped", _) => {
                let typed = self.form.text(AMOUNT);
                let words = match typed.parse::<Amount>() {
                    _ if typed.is_empty() => "the stopped amount is needed".to_owned(),
                    Err(error) => error.to_string(),
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

    /// Rows that it takes in so many columns, and at most so many.
    pub(super) fn rows(&self, width: u16, most: u16, theme: &Theme) -> u16 {
        self.form.rows(width, most, theme)
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

impl AnswerFields {
    /// Takes an event of the terminal.
    pub fn handle(&mut self, event: &Event) -> Entered {
        let before = self.chosen();
        let entered = match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.key(*key),
            event => {
                self.astray = false;
                self.form.handle(event)
            }
        };
        self.follow();
        if matches!(event, Event::Mouse(_)) && self.chosen() != before {
            self.go_on();
        }
        self.show_older();
        entered
    }

    fn chosen(&self) -> [Option<usize>; 4] {
        [ANSWER, REASON, WORD, REFUND].map(|field| self.form.choice(field))
    }

    fn key(&mut self, key: KeyEvent) -> Entered {
        self.form.hush();
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        // AltGr arrives as both together, and makes characters.
        let alt = key.modifiers.contains(KeyModifiers::ALT) && !control;
        if let Some(older) = self.older.as_mut().filter(|_| !matches!(key.code, KeyCode::Char('0'..='9'))) {
            older.digit = 0;
        }
        let types = matches!(self.form.focus(), Some(AMOUNT | COMMENTS | NUMBER));
        match key.code {
            KeyCode::Char(letter) if alt && self.choose_by(letter) => {
                self.astray = false;
                Entered::Nothing
            }
            KeyCode::Char(digit)
                if !control && !alt && self.form.focus() == Some(NUMBER) && !digit.is_ascii_digit() =>
            {
                self.form.set_error(NUMBER, Some("Digits only.".to_owned()));
                Entered::Nothing
            }
            KeyCode::Char(letter) if !control && !alt && !types => self.character(letter, key),
            KeyCode::Enter if !alt => {
                if self.form.is_at_end(true) {
                    self.form.say("ctrl-s sends, enter does not.");
                } else {
                    self.form.move_focus(true);
                }
                Entered::Nothing
            }
            _ => {
                self.astray = false;
                self.form.handle(&Event::Key(key))
            }
        }
    }

    /// Takes a character beside the texts: it chooses, or is refused in words. A digit within what is typed there is no
    /// choice: an answer is final.
    fn character(&mut self, c: char, key: KeyEvent) -> Entered {
        let astray = std::mem::replace(&mut self.astray, true);
        let is_invalid = self.choice() == Some(Choice::Invalid);
        match (c, self.form.focus()) {
            (' ', Some(ANYWAY)) => {
                self.astray = false;
                return self.form.handle(&Event::Key(key));
            }
            ('0'..='9', Some(WORD | REASON)) if astray => self.form.say("Up and down choose, tab goes on."),
            ('0'..='9', Some(WORD | REASON)) => {
                self.astray = false;
                self.digit(c);
            }
            ('0'..='9', Some(ANSWER)) if is_invalid => {
                self.astray = false;
                self.digit(c);
            }
            ('0'..='9', Some(ANSWER)) => self.form.say("A reason goes only with Invalid."),
            (_, Some(ANSWER | REFUND)) if self.choose_by(c) => self.astray = false,
            (_, Some(WORD | REASON)) => self.form.say("A digit chooses. Tab goes to the comments."),
            _ => {
                let letter = if self.older.is_some() { 's' } else { 'i' };
                self.form.say(format!("Type in the comments. alt-r, alt-n, alt-{letter} choose."));
            }
        }
        Entered::Nothing
    }

    /// Chooses an answer by its letter, or the refund of the older dialect, and goes on to what is to be filled in
    /// next. False where it is no such letter.
    fn choose_by(&mut self, c: char) -> bool {
        let c = c.to_ascii_lowercase();
        let types = matches!(self.form.focus(), Some(AMOUNT | COMMENTS));
        if let Some(older) = &mut self.older {
            if c == Choice::Invalid.key() {
                self.form.set_focus(WORD);
                return true;
            }
            let Some((refunded, ..)) = REFUNDS.into_iter().find(|(_, key, _)| *key == c) else { return false };
            older.choose_refunded(refunded);
            if !types {
                self.go_on();
            }
            self.show_older();
            return true;
        }
        let Some(choice) = Choice::ALL.into_iter().find(|choice| choice.key() == c) else { return false };
        self.set_answer(choice);
        self.form.set_focus(if choice == Choice::Invalid { REASON } else { COMMENTS });
        true
    }

    fn set_answer(&mut self, choice: Choice) {
        self.form.set_choice(ANSWER, place(&Choice::ALL, &choice));
        self.form.set_shown(REASON, choice == Choice::Invalid);
    }

    /// Chooses a reason by its digit, or a word of the older dialect by its number.
    fn digit(&mut self, c: char) {
        let digit = c.to_digit(10).and_then(|digit| usize::try_from(digit).ok()).unwrap_or(0);
        if let Some(older) = &mut self.older {
            match older.number(digit) {
                Some(word) => {
                    // A 1 may be the first digit of two.
                    let is_whole = older.digit == 0;
                    older.choose_word(word);
                    self.show_older();
                    if is_whole {
                        self.go_on();
                    }
                }
                None => self.form.say(format!("No resolution {digit}.")),
            }
            return;
        }
        match digit.checked_sub(1).filter(|at| *at < InvalidReason::ALL.len()) {
            Some(at) => {
                self.form.set_choice(REASON, Some(at));
                self.form.set_focus(COMMENTS);
            }
            None => self.form.say(format!("No reason {digit}.")),
        }
    }

    /// Goes on to what is still asked for.
    fn go_on(&mut self) {
        let next = match &self.older {
            Some(older) if older.refunded().is_none() => REFUND,
            Some(older) if older.is_partial() && self.form.text(AMOUNT).is_empty() => AMOUNT,
            None if self.choice() == Some(Choice::Invalid) && self.form.choice(REASON).is_none() => REASON,
            _ => COMMENTS,
        };
        self.form.set_shown(AMOUNT, self.older.as_ref().is_some_and(Older::is_partial));
        self.form.set_focus(next);
    }
}
