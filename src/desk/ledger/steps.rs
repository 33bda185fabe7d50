//! The steps of the desk journal: a line's statement about a decision, a text in a form, or a notification; and the
//! fate of an answer whose latest step is known.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    domain::{Alert, AlertId, Dialect, Resolution, ResolutionParts},
    drafts::Draft,
};

/// An alert as the journal names it: enough to find it and to speak of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JournalAlert {
    #[serde(with = "text")]
    pub id: AlertId,
    pub provider: String,
    pub provider_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<String>,
    #[serde(default)]
    pub currency: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub card_last_four: String,
    /// The merchant's order, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
}

impl From<&Alert> for JournalAlert {
    fn from(alert: &Alert) -> Self {
        Self {
            id: alert.id,
            provider: alert.provider.as_str().to_owned(),
            provider_id: alert.provider_id.clone(),
            amount: alert.amount.map(|amount| amount.to_string()),
            currency: alert.currency.as_str().to_owned(),
            card_last_four: alert.card_last_four.clone(),
            order: alert.merchant_order_id.clone(),
        }
    }
}

/// Prefix of the keys of decisions that a command sent.
const OF_COMMANDS: &str = "command-";

/// A new idempotency key of a decision, by which the journal knows it.
pub fn new_key() -> String {
    format!("console-{}", Uuid::now_v7())
}

/// The same of a decision that a command sends.
pub fn new_command_key() -> String {
    format!("{OF_COMMANDS}{}", Uuid::now_v7())
}

/// Returns whether a command sent the decision of this key.
pub fn is_of_command(key: &str) -> bool {
    key.starts_with(OF_COMMANDS)
}

/// A decision as the journal keeps it: what would be sent, card numbers in its comments masked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JournalDecision {
    pub alert: JournalAlert,
    /// True where it is in the words of the older dialect.
    #[serde(default)]
    pub older: bool,
    pub refunded: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount_stopped: Option<String>,
    #[serde(default)]
    pub comments: String,
}

impl JournalDecision {
    /// Builds the entry of a decision on an alert.
    pub fn of(alert: &Alert, resolution: &Resolution) -> Self {
        let ResolutionParts { refunded, resolution: word, amount_stopped, comments } = resolution.to_parts();
        let older = matches!(resolution, Resolution::Older { .. });
        Self {
            alert: alert.into(),
            older,
            refunded: refunded.unwrap_or_default(),
            resolution: word,
            amount_stopped,
            comments,
        }
    }

    /// Returns the draft that fills a form in to make it again.
    pub fn draft(&self) -> Draft {
        let Self { refunded, resolution, amount_stopped, comments, .. } = self.clone();
        Draft { refunded: Some(refunded), resolution, amount_stopped, comments }
    }

    /// The decision; none where this version cannot read it.
    pub fn resolution(&self) -> Option<Resolution> {
        let parts = ResolutionParts {
            refunded: Some(self.refunded.clone()),
            resolution: self.resolution.clone(),
            amount_stopped: self.amount_stopped.clone(),
            comments: self.comments.clone(),
        };
        Resolution::from_parts(parts, if self.older { Dialect::Older } else { Dialect::Current }, None).ok()
    }
}

/// A run as the journal names it: decisions that were made together, by one form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JournalRun {
    /// The idempotency key of its first decision.
    pub first: String,
    /// Origin of its alerts, in words: `the view Open`; `None` where they are the case of one payment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// A step of an answer, as the journal tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerStep {
    /// Queued: made, and sent after the undo time.
    Staged,
    /// Undone before it was sent.
    TakenBack,
    /// Sent; no reply yet.
    Sent,
    /// Not sent, and why; it waits.
    NotSent(String),
    /// Recorded, with the alert's status.
    Recorded(String),
    /// Outcome as decided, whether by it or by another, with the alert's status.
    AsDecided(String),
    /// Another decision was first, with the alert's status.
    Overtaken(String),
    /// Certainly not recorded, and why.
    Refused(String),
    /// Not recorded, and its alert has an outcome since by another decision, with the alert's status.
    Answered(String),
    /// Unconfirmed: it is not known whether it arrived; with the reason.
    Unknown(String),
    /// Never sent: its console ended before.
    NeverLeft,
}

impl AnswerStep {
    /// Name of the step, where programs read it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Staged => "staged",
            Self::TakenBack => "takenBack",
            Self::Sent => "sent",
            Self::NotSent(_) => "notSent",
            Self::Recorded(_) => "recorded",
            Self::AsDecided(_) => "asDecided",
            Self::Overtaken(_) => "overtaken",
            Self::Refused(_) => "refused",
            Self::Answered(_) => "answered",
            Self::Unknown(_) => "unknown",
            Self::NeverLeft => "neverLeft",
        }
    }

    /// The line by which the journal tells it of a decision; that it was made is told by more.
    pub fn line(self, decision: String) -> Option<JournalStep> {
        Some(match self {
            Self::Staged => return None,
            Self::TakenBack => JournalStep::TakenBack { decision },
            Self::Sent => JournalStep::Sent { decision },
            Self::NotSent(why) => JournalStep::NotSent { decision, why },
            Self::Recorded(status) => JournalStep::Recorded { decision, status },
            Self::AsDecided(status) => JournalStep::AsDecided { decision, status },
            Self::Overtaken(status) => JournalStep::Overtaken { decision, status },
            Self::Refused(why) => JournalStep::Refused { decision, why },
            Self::Answered(status) => JournalStep::Answered { decision, status },
            Self::Unknown(why) => JournalStep::Unknown { decision, why },
            Self::NeverLeft => JournalStep::Read { decision },
        })
    }

    /// The status that the alert had by then.
    pub fn status(&self) -> Option<&str> {
        match self {
            Self::Recorded(status) | Self::AsDecided(status) | Self::Overtaken(status) | Self::Answered(status) => {
                Some(status)
            }
            _ => None,
        }
    }

    /// Returns the reason, where one was told.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::NotSent(why) | Self::Refused(why) | Self::Unknown(why) => Some(why),
            _ => None,
        }
    }

    /// Returns the fate of an answer whose latest step this is.
    pub fn fate(&self) -> Fate {
        match self {
            Self::Staged | Self::NotSent(_) => Fate::Queued,
            Self::TakenBack => Fate::Undone,
            Self::Sent => Fate::Sending,
            Self::Recorded(_) | Self::AsDecided(_) => Fate::Recorded,
            Self::Overtaken(_) | Self::Answered(_) => Fate::AlreadyAnswered,
            Self::Refused(_) | Self::NeverLeft => Fate::NotRecorded,
            Self::Unknown(_) => Fate::Unconfirmed,
        }
    }
}

/// A step of the journal. A decision goes by its idempotency key, but for that of a command to which another key was
/// named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum JournalStep {
    /// A decision was made; it is sent after its undo time.
    Staged {
        decision: String,
        #[serde(flatten)]
        said: JournalDecision,
        /// The rule that staged it; `None` where a person made it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
        /// The run that it is part of; `None` where it was made alone, and in lines of versions that did not write it
        /// down.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        together: Option<JournalRun>,
    },
    /// Undone before it was sent.
    TakenBack { decision: String },
    /// Sending begins.
    Sent { decision: String },
    /// Certainly not sent; it waits.
    NotSent { decision: String, why: String },
    /// Reason for which duplicates could not be looked for again right before it was sent.
    Unlooked { decision: String, why: String },
    /// A person said that the network took it: its next step, that it is recorded, rests on that.
    Settled { decision: String },
    /// Recorded.
    Recorded { decision: String, status: String },
    /// Alert found answered as it says; it is not known whether by it.
    AsDecided { decision: String, status: String },
    /// Another decision was first.
    Overtaken { decision: String, status: String },
    /// Certainly not recorded.
    Refused { decision: String, why: String },
    /// Not recorded, and its alert was found answered since, by another decision.
    Answered { decision: String, status: String },
    /// Unconfirmed: it is not known whether it arrived.
    Unknown { decision: String, why: String },
    /// Text in an open form, which earlier versions wrote down.
    #[serde(alias = "closed")]
    Typing,
    /// Read at a later start that this decision was not sent.
    Read { decision: String },
    /// Dismissed by a person after it failed: it calls for nobody any more.
    Dismissed {
        decision: String,
        /// True where that is taken back: it calls for a person again.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        taken_back: bool,
    },
    /// Results of a run dismissed: older versions wrote it, nothing rests on it.
    RunDismissed {
        /// The key of its first decision.
        run: String,
    },
    /// Notification of the person at the console.
    Notified {
        /// `good`, `note`, `bad`, or `lost` at the end of a console.
        tone: String,
        words: String,
        /// Alert that it was about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        alert: Option<JournalAlert>,
        /// The decision whose own steps say the same.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decision: Option<String>,
    },
}

/// The tone of what ended with a console that was ended from outside.
const LOST: &str = "lost";

impl JournalStep {
    /// Reports text or a choice that was lost with the console.
    pub fn lost(what: &str) -> Self {
        Self::Notified {
            tone: LOST.to_owned(),
            words: format!("Lost when the console was ended: {what}."),
            alert: None,
            decision: None,
        }
    }

    /// The words of the same.
    pub(crate) fn lost_words(&self) -> Option<&str> {
        if let Self::Notified { tone, words, .. } = self { Some(words.as_str()).filter(|_| tone == LOST) } else { None }
    }

    /// Returns whether it has to be on the disk before anything else is done. Notifications may be lost with the
    /// machine.
    pub(crate) fn is_binding(&self) -> bool {
        !matches!(self, Self::Notified { .. })
    }

    /// The key of the decision that it is a step of.
    pub fn decision(&self) -> Option<&str> {
        match self {
            Self::Staged { decision, .. }
            | Self::TakenBack { decision }
            | Self::Sent { decision }
            | Self::NotSent { decision, .. }
            | Self::Unlooked { decision, .. }
            | Self::Settled { decision }
            | Self::Recorded { decision, .. }
            | Self::AsDecided { decision, .. }
            | Self::Overtaken { decision, .. }
            | Self::Refused { decision, .. }
            | Self::Answered { decision, .. }
            | Self::Unknown { decision, .. }
            | Self::Read { decision }
            | Self::Dismissed { decision, .. } => Some(decision),
            Self::Typing | Self::RunDismissed { .. } | Self::Notified { .. } => None,
        }
    }
}

/// A line of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// Time of the entry, in UTC.
    pub at: String,
    /// The console that wrote it, or the command.
    pub session: Uuid,
    /// The profile or deployment that it worked on.
    pub place: String,
    /// Name of the person at the console, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    #[serde(flatten)]
    pub step: JournalStep,
}

/// Values as their text.
pub(crate) mod text {
    use std::{fmt::Display, str::FromStr};

    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(crate) fn serialize<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// The fate of an answer, as far as it is known on this workstation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Made, and not sent: in its undo time, or on hold.
    Queued,
    /// With the service.
    Sending,
    /// Sent, and it is not known whether it arrived.
    Unconfirmed,
    /// The alert has the outcome that was meant.
    Recorded,
    /// The alert has another outcome.
    AlreadyAnswered,
    /// Certainly not recorded.
    NotRecorded,
    /// Undone before it was sent.
    Undone,
}

impl Fate {
    /// Returns true where it may still become the alert's outcome.
    pub fn goes_on(self) -> bool {
        self.may_have_arrived() || self == Self::Queued
    }

    /// Returns true where it was sent and its result is not known.
    pub fn may_have_arrived(self) -> bool {
        matches!(self, Self::Sending | Self::Unconfirmed)
    }
}
