//! Keys and clicks in the fields of an answer: what they choose, and where the focus goes on to.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::{
    super::{
        choice::Choice,
        older::{Older, REFUNDS},
    },
    AMOUNT, ANSWER, ANYWAY, AnswerFields, COMMENTS, NUMBER, REASON, REFUND, WORD, place,
};
use crate::{domain::resolution::InvalidReason, ui::form::Entered};

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

    pub(super) fn set_answer(&mut self, choice: Choice) {
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
