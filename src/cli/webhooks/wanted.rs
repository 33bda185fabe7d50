//! What a listener is to be, checked and made ready: for the command and for the console.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::console::listener::{RequestFailure, RequestPart};
use crate::domain::time::SharedClock;
use crate::domain::url::{EndpointUrl, PlainHttp};
use crate::domain::webhook::received::ReceivedEvent;
use crate::domain::{CaCertificates, EndpointAuth, FieldError, Secret, signing};
use crate::engine::webhooks::ReceiverSettings;
use crate::engine::webhooks::recording::Recording;
use crate::engine::webhooks::reposting::{Forwarder, Reposter};

/// How long a forwarded delivery waits between its attempts.
const PAUSES: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(2)];

/// What a listener checks, keeps and sends on.
pub(in crate::cli) struct WantedListener {
    pub(in crate::cli) auth: Option<EndpointAuth>,
    pub(in crate::cli) secret: Option<Secret>,
    pub(in crate::cli) forward: Option<Forward>,
    pub(in crate::cli) record: Option<PathBuf>,
}

/// Where a listener sends on to.
pub(in crate::cli) struct Forward {
    pub(in crate::cli) url: String,
    pub(in crate::cli) plain_http: PlainHttp,
    /// What that address asks for.
    pub(in crate::cli) auth: Option<EndpointAuth>,
    /// The certificates that are trusted there, and no others.
    pub(in crate::cli) trusted: CaCertificates,
}

impl WantedListener {
    /// The settings of such a receiver, or what is wrong with which part of it. No error repeats a secret.
    pub(in crate::cli) fn settings(
        self,
        clock: SharedClock,
        events: mpsc::Sender<ReceivedEvent>,
    ) -> Result<ReceiverSettings, RequestFailure> {
        let Self { auth, secret, forward, record } = self;
        let wrong = |error: FieldError| format!("the credential cannot be one: {} {}", error.field, error.message);
        if auth.is_none() && secret.is_none() {
            let needs = "a listener needs what it knows the deployment by: a Basic credential (--basic-file, \
                AVERT_WEBHOOK_BASIC), a header \
                         (--header-file, AVERT_WEBHOOK_HEADER) or a signing secret (--secret-file, \
                         AVERT_WEBHOOK_SECRET)";
            return Err(RequestFailure::of(RequestPart::Credential)(needs.to_owned()));
        }
        auth.iter()
            .try_for_each(EndpointAuth::check)
            .map_err(wrong)
            .map_err(RequestFailure::of(RequestPart::Credential))?;
        if let Some(secret) = &secret {
            let wrong = |error: FieldError| format!("the secret {}", error.message);
            signing::key_of(secret.reveal()).map_err(wrong).map_err(RequestFailure::of(RequestPart::Secret))?;
        }
        let forwarder = forward.map(Forward::forwarder).transpose().map_err(RequestFailure::of(RequestPart::Target))?;
        let recording = record
            .as_deref()
            .map(Recording::open)
            .transpose()
            .map_err(RequestFailure::of(RequestPart::File))?
            .map(Arc::new);
        Ok(ReceiverSettings {
            signing: secret,
            recording,
            forwarder,
            events: Some(events),
            ..ReceiverSettings::new(auth, clock)
        })
    }
}

impl Forward {
    fn forwarder(self) -> Result<Forwarder, String> {
        let url = EndpointUrl::parse(&self.url, self.plain_http)
            .map_err(|error| format!("the address to forward to {error}"))?;
        Ok(Forwarder::new(Reposter::new(url, self.auth, self.trusted)?, PAUSES))
    }
}
