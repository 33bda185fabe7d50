//! Alerts on their way in, their companies, and attempts that have not ended, in JSON.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    body::as_body,
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
        #[serde(flatten)]
        pub counts: IngestCountsJson,
        rejected_count: u64,
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
    pub struct IngestCountsJson for IngestReport {
        created: u64,
        updated: u64,
        unchanged: u64,
        /// The first rows that were rejected.
        rejected: Vec<RejectedRowJson>,
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
        let UnknownWords { fields, providers, types } = unknown;
        Self {
            counts: report.into(),
            rejected_count,
            unknown_fields: fields,
            unknown_providers: providers,
            unknown_types: types,
        }
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
        /// The answer as its body said it.
        #[serde(with = "as_body")]
        #[cfg_attr(test, schemars(with = "crate::body::ResolutionJson"))]
        resolution: Resolution,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::resolution::{Decision, OlderRefunded, OlderWord};

    #[derive(Serialize, Deserialize)]
    struct Said(#[serde(with = "as_body")] Resolution);

    #[test]
    fn a_resolution_in_either_dialect_comes_back_as_it_was_said() {
        let comments = || "told".to_owned();
        let current = Decision::ALL.map(|decision| Resolution::Current { decision, comments: comments() });
        let older = OlderWord::ALL.map(|word| Resolution::Older {
            word,
            refunded: OlderRefunded::NotSettled,
            amount_stopped: (word == OlderWord::PartiallyStopped).then(|| "29.90".parse().unwrap()),
            comments: comments(),
        });

        for said in current.into_iter().chain(older) {
            let json = serde_json::to_string(&Said(said.clone())).unwrap();

            let Said(read) = serde_json::from_str(&json).unwrap();

            assert_eq!(read, said, "{json}");
        }
    }
}
