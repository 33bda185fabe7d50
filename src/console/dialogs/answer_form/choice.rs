//! Choices of an answer: what an analyst says of an alert before the reason, and the words of the older dialect for it.

use crate::domain::{
    Alert, AlertStatus, AlertType, Dialect, Resolution, ResolutionParts, decide,
    resolution::{Decision, InvalidReason, OlderRefunded, OlderWord},
};

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

    /// In words, which are the `refunded` field of the body as well.
    pub const fn words(self) -> &'static str {
        self.with_any_reason().refunded()
    }

    /// Returns its name on screens.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Refunded => "Refunded",
            Self::NotRefunded => "Not refunded",
            Self::Invalid => "Invalid",
        }
    }

    /// The decision, with some reason where it needs one.
    const fn with_any_reason(self) -> Decision {
        match self {
            Self::Refunded => Decision::Refunded,
            Self::NotRefunded => Decision::NotRefunded,
            Self::Invalid => Decision::Invalid(InvalidReason::NotFound),
        }
    }

    /// The status that follows in the current dialect; the same for every reason.
    pub(super) fn next_status(self) -> AlertStatus {
        decide(&Resolution::Current { decision: self.with_any_reason(), comments: String::new() }).status
    }
}

impl From<Decision> for Choice {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Refunded => Self::Refunded,
            Decision::NotRefunded => Self::NotRefunded,
            Decision::Invalid(_) => Self::Invalid,
        }
    }
}

/// The answer so far, in the words of the older dialect.
#[derive(Debug, Clone)]
pub(super) struct Older {
    /// What it was begun with.
    pub(super) begun: Choice,
    fraud: bool,
    word: Option<OlderWord>,
    refunded: Option<OlderRefunded>,
    /// The refund was chosen by hand: it no longer follows the word.
    refunded_by_hand: bool,
    /// The digit that may be the first one of two.
    pub(super) digit: usize,
}

/// The `refunded` words in the order of the form: key and words.
pub(super) const REFUNDS: [(OlderRefunded, char, &str); 3] = [
    (OlderRefunded::Refunded, 'r', "REFUNDED"),
    (OlderRefunded::NotRefunded, 'n', "NOT REFUNDED"),
    (OlderRefunded::NotSettled, 's', "NOT SETTLED"),
];

impl Older {
    /// The usual words of a key.
    pub(super) fn new(alert: &Alert, begun: Choice) -> Self {
        let fraud = alert.alert_type == AlertType::EthocaConfirmedFraud;
        let (word, refunded) = (usual_word(begun, fraud), usual_refund(begun));
        Self { begun, fraud, word, refunded, refunded_by_hand: false, digit: 0 }
    }

    /// Chooses a word and a refund as they were said before, whatever the key would make of them.
    pub(super) fn fill_in(&mut self, said: &ResolutionParts) {
        if let Some(word) = said.resolution.as_deref().and_then(OlderWord::known) {
            self.choose_word(word);
        }
        if let Some(refunded) = said.refunded.as_deref().and_then(OlderRefunded::known) {
            self.choose_refunded(refunded);
        }
    }

    /// Begins anew with the usual words of a key.
    pub(super) fn begin(&mut self, begun: Choice) {
        let (word, refunded) = (usual_word(begun, self.fraud), usual_refund(begun));
        *self = Self { begun, word, refunded, refunded_by_hand: false, digit: 0, fraud: self.fraud };
    }

    pub(super) fn word(&self) -> Option<&OlderWord> {
        self.word.as_ref()
    }

    /// The place of the chosen word in the order of the interface.
    pub(super) fn index(&self) -> Option<usize> {
        self.word.as_ref().and_then(|word| OlderWord::KNOWN.iter().position(|known| known == word))
    }

    pub(super) fn refunded(&self) -> Option<&OlderRefunded> {
        self.refunded.as_ref()
    }

    pub(super) fn refund_index(&self) -> Option<usize> {
        self.refunded.as_ref().and_then(|refunded| REFUNDS.iter().position(|(known, ..)| known == refunded))
    }

    /// Chooses a word. The refund follows where the word says it, until it was chosen by hand. What the word only makes
    /// likely is left to be chosen.
    pub(super) fn choose_word(&mut self, word: OlderWord) {
        if !self.refunded_by_hand {
            let begun = || {
                usual_refund(self.begun)
                    .filter(|refunded| fitting_refund(&word).is_none_or(|fitting| fitting == *refunded))
            };
            self.refunded = said_refund(&word).or_else(begun);
        }
        self.word = Some(word);
    }

    pub(super) fn choose_refunded(&mut self, refunded: OlderRefunded) {
        self.refunded_by_hand = true;
        self.refunded = Some(refunded);
    }

    /// The word of a typed number: one digit, or the second one of two.
    pub(super) fn number(&mut self, digit: usize) -> Option<OlderWord> {
        let (first, words) = (std::mem::take(&mut self.digit), OlderWord::KNOWN);
        let two = (first * 10 + digit).checked_sub(1).filter(|_| first > 0).and_then(|index| words.get(index));
        let one = digit.checked_sub(1).and_then(|index| words.get(index));
        if two.is_none() && digit * 10 <= words.len() {
            self.digit = digit;
        }
        two.or(one).cloned()
    }

    /// Returns true where the stopped amount is asked for.
    pub(super) fn is_partial(&self) -> bool {
        self.word == Some(OlderWord::PartiallyStopped)
    }

    /// Returns true where it says that money goes back because of this alert.
    pub(super) fn refunds(&self) -> bool {
        let before = matches!(self.word, Some(OlderWord::PreviouslyRefunded | OlderWord::PreviouslyCancelled));
        self.refunded == Some(OlderRefunded::Refunded) && !before
    }

    /// A word and a refund that do not go together.
    pub(super) fn contradiction(&self) -> Option<(&OlderWord, &OlderRefunded)> {
        let (word, refunded) = (self.word.as_ref()?, self.refunded.as_ref()?);
        fitting_refund(word).is_some_and(|fitting| fitting != *refunded).then_some((word, refunded))
    }

    /// The status that follows, as far as a word is chosen.
    pub(super) fn next_status(&self) -> Option<AlertStatus> {
        let word = self.word.clone()?;
        // The status is the word's alone.
        let said = Resolution::Older {
            word,
            refunded: OlderRefunded::NotRefunded,
            amount_stopped: None,
            comments: String::new(),
        };
        Some(decide(&said).status)
    }

    /// What is said so far, with this stopped amount where one is asked for.
    pub(super) fn parts(&self, amount: &str, comments: String) -> ResolutionParts {
        ResolutionParts {
            refunded: self.refunded.as_ref().map(|refunded| refunded.as_str().to_owned()),
            resolution: self.word.as_ref().map(|word| word.as_str().to_owned()),
            amount_stopped: Some(amount.trim().to_owned()).filter(|text| self.is_partial() && !text.is_empty()),
            comments,
        }
    }
}

/// The word that a key begins with. Confirmed fraud has words of its own at the network (field notes, Outcome
/// vocabulary); what an alert is invalid for has to be chosen.
fn usual_word(begun: Choice, fraud: bool) -> Option<OlderWord> {
    match (begun, fraud) {
        (Choice::Refunded, true) => Some(OlderWord::Stopped),
        (Choice::Refunded, false) => Some(OlderWord::Resolved),
        (Choice::NotRefunded, true) => Some(OlderWord::Missed),
        (Choice::NotRefunded, false) => Some(OlderWord::UnresolvedDispute),
        (Choice::Invalid, _) => None,
    }
}

fn usual_refund(begun: Choice) -> Option<OlderRefunded> {
    match begun {
        Choice::Refunded => Some(OlderRefunded::Refunded),
        Choice::NotRefunded => Some(OlderRefunded::NotRefunded),
        Choice::Invalid => None,
    }
}

/// The refund that a word says itself.
fn said_refund(word: &OlderWord) -> Option<OlderRefunded> {
    match word {
        OlderWord::PreviouslyRefunded => Some(OlderRefunded::Refunded),
        OlderWord::Missed | OlderWord::UnresolvedDispute => Some(OlderRefunded::NotRefunded),
        _ => None,
    }
}

/// The only refund that goes with a word, whether it says so itself or not.
fn fitting_refund(word: &OlderWord) -> Option<OlderRefunded> {
    match word {
        OlderWord::Notfound | OlderWord::NotFound => Some(OlderRefunded::NotRefunded),
        word => said_refund(word),
    }
}

/// The key that a word goes with.
fn says(word: &OlderWord) -> Choice {
    use OlderWord as Word;
    match word {
        Word::Missed | Word::UnresolvedDispute => Choice::NotRefunded,
        Word::PreviouslyCancelled
        | Word::PreviouslyRefunded
        | Word::Notfound
        | Word::NotFound
        | Word::OtherWord
        | Word::Other(_) => Choice::Invalid,
        Word::Stopped | Word::PartiallyStopped | Word::AccountSuspended => Choice::Refunded,
        Word::InProgress | Word::ShipperContacted | Word::Resolved => Choice::Refunded,
    }
}

impl Choice {
    /// The one that a decision was made by.
    pub fn of(resolution: &Resolution) -> Self {
        match resolution {
            Resolution::Current { decision, .. } => Self::from(*decision),
            Resolution::Older { word, .. } => says(word),
        }
    }

    /// The one that so much of a decision was made by; it is open, as for invalid, where the parts do not say.
    pub fn of_parts(parts: &ResolutionParts, dialect: Dialect) -> Self {
        Self::said_in(parts, dialect).unwrap_or(Self::Invalid)
    }

    /// The same, where the parts say.
    pub fn said_in(parts: &ResolutionParts, dialect: Dialect) -> Option<Self> {
        let word = || parts.resolution.as_deref().and_then(OlderWord::known).map(|word| says(&word));
        let said = || Self::ALL.into_iter().find(|choice| parts.refunded.as_deref() == Some(choice.words()));
        if dialect == Dialect::Older { word() } else { said() }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::{AlertId, Provider};

    fn alert(kind: AlertType) -> Alert {
        Alert::new(AlertId::generate(), Provider::Ethoca, kind)
    }

    fn begun(choice: Choice, kind: AlertType) -> Older {
        Older::new(&alert(kind), choice)
    }

    #[rstest]
    #[case(Choice::Refunded, AlertType::EthocaConfirmedFraud, Some("STOPPED"), Some("REFUNDED"))]
    #[case(Choice::Refunded, AlertType::EthocaCustomerDispute, Some("RESOLVED"), Some("REFUNDED"))]
    #[case(Choice::Refunded, AlertType::VerifiDispute, Some("RESOLVED"), Some("REFUNDED"))]
    #[case(Choice::NotRefunded, AlertType::EthocaConfirmedFraud, Some("MISSED"), Some("NOT REFUNDED"))]
    #[case(Choice::NotRefunded, AlertType::VerifiCancel, Some("UNRESOLVED_DISPUTE"), Some("NOT REFUNDED"))]
    #[case(Choice::Invalid, AlertType::EthocaConfirmedFraud, None, None)]
    fn each_key_begins_with_the_words_of_its_kind(
        #[case] choice: Choice,
        #[case] kind: AlertType,
        #[case] word: Option<&str>,
        #[case] refunded: Option<&str>,
    ) {
        let older = begun(choice, kind);

        assert_eq!(
            (older.word().map(OlderWord::as_str), older.refunded().map(OlderRefunded::as_str)),
            (word, refunded)
        );
    }

    #[test]
    fn the_refund_follows_the_word_until_it_is_chosen_by_hand() {
        let mut older = begun(Choice::Refunded, AlertType::VerifiDispute);
        let refund_of = |older: &mut Older, word| {
            older.choose_word(word);
            older.refunded().cloned()
        };

        assert_eq!(refund_of(&mut older, OlderWord::Missed), Some(OlderRefunded::NotRefunded));
        assert_eq!(refund_of(&mut older, OlderWord::Stopped), Some(OlderRefunded::Refunded));
        older.choose_refunded(OlderRefunded::NotSettled);
        assert_eq!(refund_of(&mut older, OlderWord::Missed), Some(OlderRefunded::NotSettled));
    }

    #[rstest]
    #[case(&[1], Some("STOPPED"))]
    #[case(&[9], Some("OTHER"))]
    #[case(&[1, 0], Some("RESOLVED"))]
    #[case(&[1, 3], Some("NOT_FOUND"))]
    #[case(&[1, 4], Some("MISSED"))]
    #[case(&[2, 1], Some("STOPPED"))]
    #[case(&[1, 3, 1], Some("STOPPED"))]
    #[case(&[0], None)]
    fn numbers_choose_of_one_digit_or_two(#[case] digits: &[usize], #[case] word: Option<&str>) {
        let mut older = begun(Choice::Invalid, AlertType::VerifiDispute);

        let chosen = digits.iter().fold(None, |_, digit| older.number(*digit));

        assert_eq!(chosen.as_ref().map(OlderWord::as_str), word);
    }

    #[rstest]
    #[case(Choice::Refunded, None)]
    #[case(Choice::NotRefunded, Some(OlderRefunded::NotRefunded))]
    #[case(Choice::Invalid, None)]
    fn not_found_says_nothing_of_money_by_itself(#[case] choice: Choice, #[case] refunded: Option<OlderRefunded>) {
        let mut older = begun(choice, AlertType::VerifiDispute);

        let chosen = [OlderWord::Notfound, OlderWord::NotFound].map(|word| {
            older.choose_word(word);
            older.refunded().cloned()
        });

        assert_eq!(chosen, [refunded.clone(), refunded]);
    }
}
