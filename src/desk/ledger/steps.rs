//! The steps of the desk journal: a line's statement about a decision, or a notification; and the fate of a decision
//! whose latest step is known.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    domain::{Alert, AlertId, Dialect, Resolution, ResolutionParts, Timestamp, card::mask_card_numbers},
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
        let dialect = if self.older { Dialect::Older } else { Dialect::Current };
        Resolution::from_parts(self.draft(), dialect, None).ok()
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

/// A decision that was made, and by what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StagedAnswer {
    #[serde(flatten)]
    pub said: JournalDecision,
    /// The rule that staged it; `None` where a person made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The run that it is part of; `None` where it was made alone, and in lines of versions that did not write it down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together: Option<JournalRun>,
}

/// A notification of the person at the console.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notification {
    /// `good`, `note` or `bad`; in lines of earlier versions also `lost`.
    pub tone: String,
    pub words: String,
    /// Alert that it was about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alert: Option<JournalAlert>,
}

/// A step of a decision, as a line of the journal tells it, or what else the journal keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum JournalStep {
    /// A decision was made; it is sent after its undo time.
    Staged(Box<StagedAnswer>),
    /// Undone before it was sent.
    TakenBack,
    /// Sending begins; no reply yet.
    Sent,
    /// Certainly not sent, and why; it waits.
    NotSent { why: String },
    /// Reason for which duplicates could not be looked for again right before it was sent.
    Unlooked { why: String },
    /// A person said that the network took it: its next step, that it is recorded, rests on that.
    #[serde(rename = "settled")]
    ResultSet,
    /// Recorded, with the alert's status.
    Recorded { status: String },
    /// Outcome found as decided; it is not known whether by it.
    AsDecided { status: String },
    /// Another decision was first.
    Overtaken { status: String },
    /// Certainly not recorded, and why.
    Refused { why: String },
    /// Not recorded, and its alert was found answered since, by another decision.
    Answered { status: String },
    /// Unconfirmed: it is not known whether it arrived.
    Unknown { why: String },
    /// Never sent: its console ended before, as a later one has read.
    #[serde(alias = "read")]
    NeverLeft,
    /// Dismissed by a person after it failed: it calls for nobody any more.
    Dismissed {
        /// True where that is taken back: it calls for a person again.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        taken_back: bool,
    },
    /// The person at the console was told something; its decision's own steps say the same.
    Notified(Box<Notification>),
    /// Older versions wrote it, and nothing rests on it.
    #[serde(alias = "typing", alias = "closed", alias = "runDismissed")]
    Obsolete,
}

impl JournalStep {
    /// The making of a decision by a person, by itself or in a run.
    pub fn staged(said: JournalDecision, together: Option<JournalRun>) -> Self {
        Self::Staged(Box::new(StagedAnswer { said, rule: None, together }))
    }

    /// Name of the step, as the journal writes it.
    pub fn name(&self) -> String {
        let line = serde_json::to_value(self).unwrap_or_default();
        line["step"].as_str().unwrap_or_default().to_owned()
    }

    /// The status that the alert had by then.
    pub fn status(&self) -> Option<&str> {
        match self {
            Self::Recorded { status }
            | Self::AsDecided { status }
            | Self::Overtaken { status }
            | Self::Answered { status } => Some(status),
            _ => None,
        }
    }

    /// Returns the reason, where one was told.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::NotSent { why } | Self::Refused { why } | Self::Unknown { why } => Some(why),
            _ => None,
        }
    }

    /// The same with card numbers in its reason masked.
    #[must_use]
    pub fn masked(mut self) -> Self {
        if let Self::NotSent { why } | Self::Refused { why } | Self::Unknown { why } = &mut self {
            *why = mask_card_numbers(why).into_owned();
        }
        self
    }

    /// Returns the fate of a decision whose latest step this is.
    pub fn fate(&self) -> Fate {
        match self {
            Self::TakenBack => Fate::Undone,
            Self::Sent => Fate::Sending,
            Self::Recorded { .. } | Self::AsDecided { .. } => Fate::Recorded,
            Self::Overtaken { .. } | Self::Answered { .. } => Fate::AlreadyAnswered,
            Self::Refused { .. } | Self::NeverLeft => Fate::NotRecorded,
            Self::Unknown { .. } => Fate::Unconfirmed,
            _ => Fate::Queued,
        }
    }
}

/// A line of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalEntry {
    pub at: Timestamp,
    /// The console that wrote it, or the command.
    pub session: Uuid,
    /// The profile or deployment that it worked on.
    pub place: String,
    /// Name of the person at the console, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    #[serde(flatten)]
    pub step: JournalStep,
    /// The decision that it is a step of, by its idempotency key; of a notification, the one whose own steps say the
    /// same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
}

/// The console or command that writes lines, and where it works.
#[derive(Debug, Clone, Default)]
pub struct JournalWriter {
    pub session: Uuid,
    pub place: String,
    pub user: Option<String>,
}

impl JournalWriter {
    /// The line of a step.
    pub fn entry(&self, at: Timestamp, decision: Option<String>, step: JournalStep) -> JournalEntry {
        let Self { session, place, user } = self.clone();
        JournalEntry { at, session, place, user, step, decision }
    }
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
