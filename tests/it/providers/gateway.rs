//! A gateway on a port of its own, and a provider on the line to it.

use std::{sync::Arc, time::Duration};

use avert::{
    domain::{AttemptId, CaCertificates, EndpointAuth, Resolution, resolution::Decision},
    providers::{Capabilities, HttpProvider, Submission, http::HttpOptions},
};
use serde_json::json;

use crate::support::{
    alerts::open_alert,
    receiver::{Answer, Receiver},
};

/// Secret that must never be seen.
pub const TOKEN: &str = "tok-5up3r-s3cr3t";

/// A statement about a decision.
pub fn stating(state: &str) -> Answer {
    Answer::Body(200, json!({"state": state, "detail": "case 4711"}).to_string().into_bytes())
}

/// A gateway that states this about every decision.
pub async fn gateway(state: &str) -> Receiver {
    Receiver::answering(stating(state)).await
}

/// Options for a gateway at this address.
pub fn options(url: impl AsRef<str>) -> HttpOptions {
    HttpOptions {
        url: url.as_ref().parse().unwrap(),
        auth: Some(EndpointAuth::bearer(TOKEN)),
        trusted: CaCertificates::default(),
        capabilities: Capabilities { lookup: true, idempotent: true, ..Capabilities::default() },
        timeout: Duration::from_secs(30),
    }
}

/// A provider on the line to this address.
pub fn provider(url: impl AsRef<str>) -> Arc<HttpProvider> {
    Arc::new(HttpProvider::new(options(url)).unwrap())
}

/// A decision on an alert.
pub fn refunded() -> Submission {
    let resolution = Resolution::Current { decision: Decision::Refunded, comments: "Ticket 10293".to_owned() };
    Submission::of(AttemptId::generate(), &open_alert("P-1"), resolution)
}
