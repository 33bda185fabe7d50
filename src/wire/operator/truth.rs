//! Disputes, fraud reports and refunds, the proof of a refund, and held answers in JSON.

use serde::{Deserialize, Serialize};

use crate::{
    domain::{
        AlertId, Amount, AnswerKind, CardScheme, ContradictedAnswer, ContradictionKind, Currency, HeldCount, Provider,
        RefundProof, RefundState, SalesCount, SalesMonth, TruthCounts, TruthKind, TruthReport, time::Timestamp,
    },
    operator::text::{Member, Text, json_type, stands_for},
};

/// Most reports of one request.
pub const MOST_REPORTS: usize = 40;

json_type! {
    /// Reports that are to be recorded.
    #[serde(deny_unknown_fields)]
    pub struct NewReportsJson {
        pub data: Vec<NewReportJson>,
    }
}

/// Declares a type of reports: of bodies, which have no other members, or of answers.
macro_rules! report_json {
    ($(#[$meta:meta])* $report:ident) => {
        json_type! {
            $(#[$meta])*
            pub struct $report for TruthReport {
                kind: Text<TruthKind>,
                /// Id at whoever reports it: with the kind the identity of the report.
                id: String,
                /// Reference of a refund, such as its own ARN.
                #[serde(default)]
                reference: Option<String>,
                #[serde(default)]
                network: Option<String>,
                /// The acquirer's reference of the payment.
                #[serde(default)]
                arn: Option<String>,
                #[serde(default)]
                transaction_id: Option<String>,
                #[serde(default)]
                order_id: Option<String>,
                /// Six or eight digits.
                #[serde(default)]
                card_bin: Option<String>,
                #[serde(default)]
                card_last_four: Option<String>,
                #[serde(default)]
                amount: Option<Text<Amount>>,
                #[serde(default)]
                currency: Option<Text<Currency>>,
                #[serde(default)]
                reason: Option<String>,
                /// Of a refund succeeded, pending, failed or canceled; of others in the words of whoever reports it.
                #[serde(default)]
                status: Option<String>,
                /// Time of the dispute, the fraud report or the refund.
                #[serde(default)]
                at: Option<Text<Timestamp>>,
            }
        }
    };
}

report_json! {
    /// A dispute, a fraud report or a refund.
    TruthReportJson
}

report_json! {
    /// A dispute, a fraud report or a refund that is to be recorded.
    #[serde(deny_unknown_fields)]
    NewReportJson
}

json_type! {
    /// Counts of recorded reports.
    pub struct TruthCountsJson for TruthCounts {
        created: u64,
        updated: u64,
        unchanged: u64,
        /// Those of them that match at least one alert.
        matched: u64,
    }
}

/// Declares a type of proofs, likewise.
macro_rules! proof_json {
    ($(#[$meta:meta])* $proof:ident) => {
        json_type! {
            $(#[$meta])*
            pub struct $proof for RefundProof {
                /// The refund's id or reference at the payment provider.
                reference: String,
                #[serde(default)]
                amount: Option<Text<Amount>>,
                #[serde(default)]
                currency: Option<Text<Currency>>,
                state: Text<RefundState>,
            }
        }
    };
}

proof_json! {
    /// Proof of a refund beside an answer.
    RefundProofJson
}

proof_json! {
    /// Proof of a refund that is to be kept.
    #[serde(deny_unknown_fields)]
    NewRefundJson
}

json_type! {
    /// Proof of a refund, with its alert.
    pub struct AlertRefundJson {
        pub alert_id: Text<AlertId>,
        #[serde(flatten)]
        pub refund: RefundProofJson,
    }
}

json_type! {
    /// Answers of one kind, and how many of them were disputed afterwards.
    pub struct HeldCountJson for HeldCount {
        network: Text<Provider>,
        issuer: String,
        answer: Text<AnswerKind>,
        /// Lead time before the deadline in minutes, at least: 0, 15, 60, 240 or 1440; -1 after it.
        minutes: Option<i64>,
        answered: u64,
        disputed: u64,
    }
}

json_type! {
    /// An answer that a later report contradicts, with both sides.
    pub struct ContradictedAnswerJson for ContradictedAnswer {
        kind: Text<ContradictionKind>,
        alert_id = alert: Text<AlertId>,
        network: Text<Provider>,
        /// The alert's id at that network.
        provider_id: String,
        answer: Text<AnswerKind>,
        answered_at: Option<Text<Timestamp>>,
        /// The dispute or the failed refund; null where only the proof says that the refund failed.
        report: Option<TruthReportJson>,
        /// The fact that the report matched by, in words.
        matched_by: String,
        refund: Option<RefundProofJson>,
    }
}

json_type! {
    /// The sales of a month on one scheme's cards.
    pub struct SalesCountJson for SalesCount {
        month: Text<SalesMonth>,
        network = scheme: Text<CardScheme>,
        count: u64,
        entered_at: Text<Timestamp>,
    }
}

json_type! {
    /// Sales that are to be entered, in place of what was entered for their month before.
    #[serde(deny_unknown_fields)]
    pub struct NewSalesJson {
        /// This month or one before, such as 2026-11.
        pub month: Text<SalesMonth>,
        pub network: Text<CardScheme>,
        pub count: u64,
    }
}
