//! Attempts to resolve that have not ended, in JSON.

use serde::{Deserialize, Serialize};

use super::members::{json_type, stands_for};
use super::text::{Text, bare};
use crate::domain::time::Timestamp;
use crate::domain::{AlertId, AttemptId, Dialect, FieldError, Resolution, ResolutionAttempt, ResolutionParts};

json_type! {
    /// An attempt to record a decision with a network, of which it is not known how it ended.
    pub struct AttemptJson {
        id: Text<AttemptId>,
        alert_id: Text<AlertId>,
        state: String,
        resolution: ResolutionJson,
        /// Who decided.
        actor: String,
        started_at: Text<Timestamp>,
        /// When the network is asked next what became of it.
        next_check_at: Option<Text<Timestamp>>,
        checks: u32,
        /// What is known, in words.
        detail: String,
    }
}

/// A decision as its body said it, in the words of either dialect.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, rename_all_fields = "camelCase")]
#[cfg_attr(test, schemars(inline))]
enum ResolutionJson {
    // What only the older one has tells them apart: it has to be there, be it null.
    Older {
        refunded: String,
        resolution: String,
        #[serde(deserialize_with = "Option::deserialize")]
        #[cfg_attr(test, schemars(with = "Option<Text<crate::domain::Amount>>"))]
        amount_stopped: Option<String>,
        comments: String,
    },
    Current {
        refunded: String,
        resolution: Option<String>,
        comments: String,
    },
}

impl From<Resolution> for ResolutionJson {
    fn from(said: Resolution) -> Self {
        let ResolutionParts { refunded, resolution, amount_stopped, comments } = said.to_parts();
        let refunded = refunded.unwrap_or_default();
        match said.dialect() {
            Dialect::Current => Self::Current { refunded, resolution, comments },
            Dialect::Older => {
                Self::Older { refunded, resolution: resolution.unwrap_or_default(), amount_stopped, comments }
            }
        }
    }
}

impl TryFrom<ResolutionJson> for Resolution {
    type Error = Vec<FieldError>;

    fn try_from(json: ResolutionJson) -> Result<Self, Self::Error> {
        let (dialect, refunded, resolution, amount_stopped, comments) = match json {
            ResolutionJson::Current { refunded, resolution, comments } => {
                (Dialect::Current, refunded, resolution, None, comments)
            }
            ResolutionJson::Older { refunded, resolution, amount_stopped, comments } => {
                (Dialect::Older, refunded, Some(resolution), amount_stopped, comments)
            }
        };
        let parts = ResolutionParts { refunded: Some(refunded), resolution, amount_stopped, comments };
        // The alert's amount was the limit when it was said.
        Self::from_parts(parts, dialect, None)
    }
}

impl From<ResolutionAttempt> for AttemptJson {
    fn from(attempt: ResolutionAttempt) -> Self {
        let ResolutionAttempt { id, alert, state, resolution, started_at, next_check, checks, detail, actor } = attempt;
        Self {
            id: Text(id),
            alert_id: Text(alert),
            state,
            resolution: resolution.into(),
            actor,
            started_at: Text(started_at),
            next_check_at: next_check.map(Text),
            checks,
            detail,
        }
    }
}

impl TryFrom<AttemptJson> for ResolutionAttempt {
    type Error = Vec<FieldError>;

    fn try_from(json: AttemptJson) -> Result<Self, Self::Error> {
        let AttemptJson { id, alert_id, state, resolution, actor, started_at, next_check_at, checks, detail } = json;
        Ok(Self {
            id: id.0,
            alert: alert_id.0,
            state,
            resolution: resolution.try_into()?,
            started_at: started_at.0,
            next_check: bare(next_check_at),
            checks,
            detail,
            actor,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::resolution::{Decision, OlderRefunded, OlderWord};

    #[test]
    fn a_resolution_in_either_dialect_comes_back_as_it_was_said() {
        let comments = || "told".to_owned();
        let current = Decision::ALL.map(|decision| Resolution::Current { decision, comments: comments() });
        let older = OlderWord::KNOWN.iter().map(|word| Resolution::Older {
            word: word.clone(),
            refunded: OlderRefunded::NotSettled,
            amount_stopped: (*word == OlderWord::PartiallyStopped).then(|| "29.90".parse().unwrap()),
            comments: comments(),
        });

        for said in current.into_iter().chain(older) {
            let json = serde_json::to_string(&ResolutionJson::from(said.clone())).unwrap();

            let read: ResolutionJson = serde_json::from_str(&json).unwrap();

            assert_eq!(Resolution::try_from(read), Ok(said), "{json}");
        }
    }
}
