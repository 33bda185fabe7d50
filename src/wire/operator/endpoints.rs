//! Webhook endpoints in JSON. No credential is ever in an answer.

use serde::{Deserialize, Serialize};

use super::{
    members::{Member, json_type, stands_for},
    text::Text,
};
use crate::domain::{Endpoint, EndpointId, Secret, time::Timestamp, url::EndpointUrl};

json_type! {
    /// A webhook endpoint.
    #[derive(Clone)]
    pub struct EndpointJson for Endpoint {
        pub id: Text<EndpointId>,
        url: Text<EndpointUrl>,
        /// `Basic`, or the name of the header that holds the credential.
        auth: String,
        created_at: Text<Timestamp>,
        #[serde(flatten)]
        disabled: DisabledJson,
        /// Time of the last successful delivery.
        last_success_at = last_success: Option<Text<Timestamp>>,
        /// Since when nothing was delivered there, where deliveries fail.
        failing_since: Option<Text<Timestamp>>,
        /// True where deliveries are signed.
        signed: bool,
        /// Until when an older secret signs along.
        old_secret_until: Option<Text<Timestamp>>,
        /// True where certificates of its own are trusted, and not the authorities of the machine that sends.
        #[serde(default)]
        has_ca_certificate: bool,
    }
}

json_type! {
    #[derive(Clone)]
    struct DisabledJson {
        enabled: bool,
        disabled_at: Option<Text<Timestamp>>,
        disabled_reason: Option<String>,
    }
}

impl Member<Option<(Timestamp, String)>> for DisabledJson {
    fn of(disabled: Option<(Timestamp, String)>) -> Self {
        let (at, disabled_reason) = disabled.unzip();
        Self { enabled: at.is_none(), disabled_at: Member::of(at), disabled_reason }
    }

    fn field(self) -> Option<(Timestamp, String)> {
        Some((self.disabled_at?.0, self.disabled_reason.unwrap_or_default()))
    }
}

json_type! {
    /// An endpoint, with its signing secret where that was made just now: it is told this once.
    pub struct CreatedEndpointJson {
        #[serde(flatten)]
        pub endpoint: EndpointJson,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub secret: Option<Text<Secret>>,
    }
}

impl CreatedEndpointJson {
    /// The endpoint, with the secret that was made for it.
    pub fn of(endpoint: Endpoint, made: Option<Secret>) -> Self {
        Self { endpoint: endpoint.into(), secret: made.map(Text) }
    }
}
