//! Probes of a service, a question each, for whoever sets a connection up or wonders why one does not work.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::Value;

use super::{
    handle::Client,
    http::{Answer, Call},
    inner::Authorization,
    reading,
};
use crate::{
    domain::{Alert, AlertQuery, Environment, PageRequest, field::Field, redact},
    service::ServiceError,
    wire::operator::IndexJson,
};

/// Finding of a probe of avert's own routes for operators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperatorProbe {
    /// The service is an avert, and accepts the operator's key.
    Operator { organization: String, environment: Environment },
    /// The service wants an operator's key, or another one.
    Refused(String),
    /// No such routes: the service is not an avert.
    Absent,
}

/// Finding of a probe of a service's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListProbe {
    /// Number of alerts in all.
    pub total: u64,
    /// Number of alerts in the sample.
    pub seen: usize,
    /// Number of the interface's fields that hold a value in the sample.
    pub come: usize,
    /// The interface's fields that hold nothing in any of those.
    pub missing: Vec<&'static str>,
}

impl Client {
    /// Reads the newest alerts, and the fields that they come with.
    ///
    /// # Errors
    /// When the service did not answer with a list.
    pub async fn probe_list(&self, size: u32) -> Result<ListProbe, ServiceError> {
        let inner = &self.inner;
        let query = AlertQuery { page: PageRequest { page: 0, size }, ..AlertQuery::default() };
        let answer = inner.list_answer(&query).await?;
        let page = reading::page(&answer, query.page)?.page;
        let names = names_with_values(&answer.body);
        let comes = |field: &Field<Alert>| names.iter().any(|name| field.is_called(name));
        // The time that is left is told beside the fields that are kept.
        let left = "hoursLeft";
        let has_left = names.iter().any(|name| name.eq_ignore_ascii_case(left));
        let missing = Alert::FIELDS.iter().filter(|field| !comes(field)).map(|field| field.name);
        let missing: Vec<_> = missing.chain((!has_left).then_some(left)).collect();
        Ok(ListProbe {
            total: page.total,
            seen: page.data.len(),
            come: Alert::FIELDS.len() + 1 - missing.len(),
            missing,
        })
    }

    /// Asks at avert's own routes, with the operator's key where there is one and without any credential else. The
    /// first request there is: its error says why no connection comes about.
    ///
    /// # Errors
    /// When no answer came at all.
    pub async fn probe_operator(&self) -> Result<OperatorProbe, ServiceError> {
        let inner = &self.inner;
        let call = match &inner.operator_key {
            Some(_) => inner.call(Method::GET, "")?,
            None => Call::new(Method::GET, &inner.base.operator("")),
        };
        Ok(said(&inner.http.send_patiently(call, &inner.pauses).await?))
    }

    /// Has a token issued where the credential is a client's, and returns whether it is one.
    ///
    /// # Errors
    /// When the token was refused, or the service did not answer.
    pub async fn probe_token(&self) -> Result<bool, ServiceError> {
        match &self.inner.access {
            Authorization::ApiKey(_) => Ok(false),
            Authorization::Token(tokens) => {
                tokens.current(&self.inner.http, &self.inner.pauses).await?;
                Ok(true)
            }
        }
    }
}

/// The members that hold something in any row of a list, as they are spelled there.
fn names_with_values(body: &[u8]) -> BTreeSet<String> {
    let list: Value = serde_json::from_slice(body).unwrap_or_default();
    let rows = match &list {
        Value::Array(rows) => Some(rows),
        Value::Object(members) => {
            members.iter().find(|(name, _)| name.eq_ignore_ascii_case("data")).and_then(|(_, rows)| rows.as_array())
        }
        _ => None,
    };
    let members = rows.into_iter().flatten().filter_map(Value::as_object).flatten();
    members.filter(|(_, value)| !value.is_null() && *value != "").map(|(name, _)| name.clone()).collect()
}

fn said(answer: &Answer) -> OperatorProbe {
    let refusal = answer.refusal();
    match answer.status {
        200..=299 => match serde_json::from_slice::<IndexJson>(&answer.body) {
            Ok(index) => OperatorProbe::Operator {
                organization: redact::words(&index.organization.name),
                environment: index.environment.0,
            },
            Err(_) => OperatorProbe::Absent,
        },
        401 | 403 if refusal.is("not_authorized") => OperatorProbe::Refused(refusal.words),
        _ => OperatorProbe::Absent,
    }
}
