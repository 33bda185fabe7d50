//! Webhook endpoints in JSON. No credential is ever in an answer.

use serde::{Deserialize, Serialize};

use super::text::{Text, bare};
use crate::domain::time::Timestamp;
use crate::domain::url::EndpointUrl;
use crate::domain::{Endpoint, EndpointId, Secret};

/// A webhook endpoint.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct EndpointJson {
    pub id: Text<EndpointId>,
    url: Text<EndpointUrl>,
    /// `Basic`, or the name of the header that holds the credential.
    auth: String,
    enabled: bool,
    created_at: Text<Timestamp>,
    disabled_at: Option<Text<Timestamp>>,
    disabled_reason: Option<String>,
    /// When a delivery was taken there last.
    last_success_at: Option<Text<Timestamp>>,
    /// Since when nothing was delivered there, where deliveries fail.
    failing_since: Option<Text<Timestamp>>,
    /// Whether deliveries are signed.
    signed: bool,
    /// Until when an older secret signs along.
    old_secret_until: Option<Text<Timestamp>>,
    /// Whether certificates of its own are trusted there, and not the authorities of the machine that sends.
    #[serde(default)]
    has_ca_certificate: bool,
}

impl From<Endpoint> for EndpointJson {
    fn from(endpoint: Endpoint) -> Self {
        let Endpoint {
            id,
            url,
            auth,
            created_at,
            disabled,
            last_success,
            failing_since,
            signed,
            old_secret_until,
            has_ca_certificate,
        } = endpoint;
        let (disabled_at, disabled_reason) = disabled.unzip();
        Self {
            id: Text(id),
            url: Text(url),
            auth,
            enabled: disabled_at.is_none(),
            created_at: Text(created_at),
            disabled_at: disabled_at.map(Text),
            disabled_reason,
            last_success_at: last_success.map(Text),
            failing_since: failing_since.map(Text),
            signed,
            old_secret_until: old_secret_until.map(Text),
            has_ca_certificate,
        }
    }
}

impl From<EndpointJson> for Endpoint {
    fn from(json: EndpointJson) -> Self {
        let EndpointJson {
            id,
            url,
            auth,
            created_at,
            disabled_at,
            disabled_reason,
            last_success_at,
            failing_since,
            signed,
            old_secret_until,
            has_ca_certificate,
            ..
        } = json;
        Self {
            id: id.0,
            url: url.0,
            auth,
            created_at: created_at.0,
            disabled: bare(disabled_at).map(|at| (at, disabled_reason.unwrap_or_default())),
            last_success: bare(last_success_at),
            failing_since: bare(failing_since),
            signed,
            old_secret_until: bare(old_secret_until),
            has_ca_certificate,
        }
    }
}

/// An endpoint, with its signing secret where that was made just now: it is told this once.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CreatedEndpointJson {
    #[serde(flatten)]
    pub endpoint: EndpointJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<Text<Secret>>,
}

impl CreatedEndpointJson {
    /// The endpoint, with the secret that was made for it.
    pub fn of(endpoint: Endpoint, made: Option<Secret>) -> Self {
        Self { endpoint: endpoint.into(), secret: made.map(Text) }
    }
}
