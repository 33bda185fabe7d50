//! Alerts on their way in, their companies, and attempts that have not ended, in JSON.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    body::ResolutionJson,
    domain::{
        AlertId, AlertPatch, AttemptId, Company, CompanyId, Deadline, EnrollmentId, FieldError, IngestReport,
        RejectedRow, Resolution, ResolutionAttempt, UnknownWords,
        time::{Timestamp, to_iso},
    },
    operator::text::{Member, Text, json_type, stands_for},
    write,
};

/// So many rejected rows of one request are told one by one; the others are counted.
pub const MOST_TOLD: usize = 1_000;

/// Rows on their way in, one a line, each with what was given of it.
pub fn lines_of(rows: &[AlertPatch], now: Timestamp) -> Vec<u8> {
    rows.iter().flat_map(|row| [row_json(row, now), "\n".to_owned()].concat().into_bytes()).collect()
}

fn row_json(row: &AlertPatch, now: Timestamp) -> String {
    let mut members: Map<String, Value> = serde_json::from_str(&write::record(&row.alert, now)).unwrap_or_default();
    let hours_given = matches!(row.alert.deadline, Deadline::HoursLeft(_));
    members.retain(|name, _| match name.as_str() {
        "outcome" => true,
        "hoursLeft" => hours_given,
        name => row.gives(name),
    });
    if let Deadline::At(at) = row.alert.deadline {
        members.insert("expiresAt".to_owned(), to_iso(at).into());
    }
    Value::Object(members).to_string()
}

json_type! {
    /// Report of an ingest.
    pub struct IngestReportJson {
        created: u64,
        updated: u64,
        unchanged: u64,
        rejected_count: u64,
        /// The first rows that were rejected.
        rejected: Vec<RejectedRowJson>,
        /// Names of fields that nobody knows; they are ignored.
        unknown_fields: Vec<String>,
        /// Unknown networks; their alerts are ingested.
        #[serde(default)]
        unknown_providers: Vec<String>,
        /// Unknown alert types; their alerts are ingested.
        #[serde(default)]
        unknown_types: Vec<String>,
    }
}

json_type! {
    struct RejectedRowJson {
        line: u64,
        field: String,
        message: String,
    }
}

impl IngestReportJson {
    /// Of so many rejected rows the report holds the first.
    pub fn of(report: IngestReport, rejected_count: u64, unknown: UnknownWords) -> Self {
        let IngestReport { created, updated, unchanged, rejected } = report;
        Self {
            created,
            updated,
            unchanged,
            rejected_count,
            rejected: Member::of(rejected),
            unknown_fields: unknown.fields,
            unknown_providers: unknown.providers,
            unknown_types: unknown.types,
        }
    }
}

impl From<IngestReportJson> for IngestReport {
    fn from(json: IngestReportJson) -> Self {
        let IngestReportJson { created, updated, unchanged, rejected, .. } = json;
        Self { created, updated, unchanged, rejected: rejected.field() }
    }
}

impl Member<RejectedRow> for RejectedRowJson {
    fn of(RejectedRow { line, error: FieldError { field, message } }: RejectedRow) -> Self {
        Self { line, field, message }
    }

    fn field(self) -> RejectedRow {
        RejectedRow { line: self.line, error: FieldError { field: self.field, message: self.message } }
    }
}

json_type! {
    /// A company with its enrollments.
    pub struct CompanyJson for Company {
        id: Text<CompanyId>,
        enrollment_ids = enrollments: Vec<Text<EnrollmentId>>,
    }
}

json_type! {
    /// An attempt to record an answer with a network, whose result is not known.
    pub struct AttemptJson for ResolutionAttempt {
        id: Text<AttemptId>,
        alert_id = alert: Text<AlertId>,
        state: String,
        resolution: SaidJson,
        /// Caller who decided.
        actor: String,
        started_at: Text<Timestamp>,
        /// Time of the next look-up at the network.
        next_check_at = next_check: Option<Text<Timestamp>>,
        checks: u32,
        /// Known facts, in words.
        detail: String,
    }
}

/// An answer as its body said it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(inline, with = "ResolutionJson"))]
#[serde(try_from = "ResolutionJson", into = "ResolutionJson")]
struct SaidJson(Resolution);

impl From<SaidJson> for ResolutionJson {
    fn from(SaidJson(said): SaidJson) -> Self {
        said.into()
    }
}

impl TryFrom<ResolutionJson> for SaidJson {
    type Error = String;

    fn try_from(json: ResolutionJson) -> Result<Self, String> {
        json.try_into().map(Self)
    }
}

impl Member<Resolution> for SaidJson {
    fn of(field: Resolution) -> Self {
        Self(field)
    }

    fn field(self) -> Resolution {
        self.0
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
            let json = serde_json::to_string(&SaidJson(said.clone())).unwrap();

            let SaidJson(read) = serde_json::from_str(&json).unwrap();

            assert_eq!(read, said, "{json}");
        }
    }
}
