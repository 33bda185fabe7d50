//! The flags of `avert webhooks`.

use std::path::PathBuf;

use clap::{
    Args, Subcommand,
    builder::{PossibleValuesParser, TypedValueParser as _},
};

use super::shared::word_of;
use crate::{
    config::Listen,
    domain::{AlertId, DeliveryId, DeliveryState, EndpointId, EventKind, EventTemplate},
};

/// `avert webhooks`.
#[derive(Debug, Subcommand)]
pub(crate) enum WebhooksCommand {
    /// Add an address. It needs a credential that it knows avert by: Basic or a header of its own
    Add(WebhookAddArgs),
    /// The addresses there are
    List,
    /// Change an address, its credential or its signing secret; disable or enable it
    Update(Box<WebhookUpdateArgs>),
    /// Send nothing there any more, and forget its credential
    Remove {
        /// The endpoint's id, as `avert webhooks list` shows it
        id: EndpointId,
    },
    /// Send an alert.created of a test alert, once. Exit code 1 where it fails
    Test {
        /// The endpoint's id, as `avert webhooks list` shows it
        id: EndpointId,
    },
    /// Deliveries sent and pending, newest first
    Deliveries(Box<WebhookDeliveriesArgs>),
    /// Attempts of one delivery: requests and replies
    Attempts {
        /// The delivery's id, as `avert webhooks deliveries` shows it
        id: DeliveryId,
    },
    /// Resend one delivery, or all failed ones of an endpoint
    Redeliver(WebhookRedeliverArgs),
    /// Listen here for the webhooks of a deployment: check them, record them, send them on
    Listen(Box<WebhookListenArgs>),
    /// Send a recording again. Exit code 1 where any of it fails
    Replay(Box<WebhookReplayArgs>),
}

/// `avert webhooks listen`.
#[derive(Debug, Clone, Args)]
pub(crate) struct WebhookListenArgs {
    /// Address to listen on; port 0 picks a free one. A proxy or tunnel that others reach can lead there
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    pub(crate) listen: Listen,
    #[command(flatten)]
    pub(crate) credential: CredentialArgs,
    /// Take only what is signed with the secret of a file (whsec_…), or of stdin with - [env: AVERT_WEBHOOK_SECRET]
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_file: Option<PathBuf>,
    /// Send on what is taken to this address, up to three times each
    #[arg(long, value_name = "URL")]
    pub(crate) forward: Option<String>,
    /// A header for that address, 'Name: value', from a file
    #[arg(long, value_name = "FILE", requires = "forward")]
    pub(crate) forward_header_file: Option<PathBuf>,
    /// Allow it to be plain http beyond this machine: others can read the alerts on the way
    #[arg(long, requires = "forward")]
    pub(crate) insecure_http: bool,
    /// File with the certificates (PEM) that are trusted there, and no others. Default: this machine's authorities
    #[arg(long, value_name = "FILE", requires = "forward")]
    pub(crate) ca_file: Option<PathBuf>,
    /// Add what is taken to this file before it is answered, to be sent again with `avert webhooks replay`
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
}

/// `avert webhooks replay`.
#[derive(Debug, Clone, Args)]
pub(crate) struct WebhookReplayArgs {
    /// The recording that `avert webhooks listen --record` made
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Address to send it to
    #[arg(long, value_name = "URL")]
    pub(crate) to: String,
    /// Allow it to be plain http beyond this machine: others can read the credential and the alerts on the way
    #[arg(long)]
    pub(crate) insecure_http: bool,
    /// File with the certificates (PEM) that are trusted there, and no others. Default: this machine's authorities
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) credential: CredentialArgs,
    /// Sign it anew with the secret of a file (whsec_…), or of stdin with - [env: AVERT_WEBHOOK_SECRET]
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_file: Option<PathBuf>,
}

/// `avert webhooks update`.
#[derive(Debug, Clone, Args)]
pub(crate) struct WebhookUpdateArgs {
    /// The endpoint's id, as `avert webhooks list` shows it
    pub(crate) id: EndpointId,
    /// Another address
    #[arg(long)]
    pub(crate) url: Option<String>,
    /// Allow it to be plain http beyond this machine: others can read the credential and the alerts on the way
    #[arg(long, requires = "url")]
    pub(crate) insecure_http: bool,
    /// Trust the certificates (PEM) of this file there, and no others. They are kept with the endpoint
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
    /// Trust this machine's authorities there again
    #[arg(long, conflicts_with = "ca_file")]
    pub(crate) no_ca_file: bool,
    #[command(flatten)]
    pub(crate) credential: CredentialArgs,
    /// Sign with a new secret, which is shown this once; the old one signs along for a while
    #[arg(long, group = "signing")]
    pub(crate) rotate_secret: bool,
    /// Sign with the secret of a file (whsec_…), or of stdin with -; the old one signs along for a while
    #[arg(long, value_name = "FILE", group = "signing")]
    pub(crate) secret_file: Option<PathBuf>,
    /// Sign nothing any more
    #[arg(long, group = "signing")]
    pub(crate) no_secret: bool,
    /// Send there again
    #[arg(long, conflicts_with = "disable")]
    pub(crate) enable: bool,
    /// Send nothing there; what waits is cancelled
    #[arg(long)]
    pub(crate) disable: bool,
}

/// `avert webhooks deliveries`.
#[derive(Debug, Clone, Args)]
pub(crate) struct WebhookDeliveriesArgs {
    /// Deliveries in one of these states
    #[arg(long, value_name = "STATE,…", value_delimiter = ',',
        value_parser = word_of(DeliveryState::ALL, DeliveryState::as_str))]
    pub(crate) state: Vec<DeliveryState>,
    /// Deliveries to this endpoint
    #[arg(long, value_name = "ID")]
    pub(crate) endpoint: Option<EndpointId>,
    /// Deliveries of this alert
    #[arg(long, value_name = "ID")]
    pub(crate) alert: Option<AlertId>,
    /// At most so many, 1 to 100
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) size: u32,
    /// Those behind this one: the `next` of the page before
    #[arg(long, value_name = "ID")]
    pub(crate) after: Option<DeliveryId>,
}

/// `avert webhooks redeliver`.
#[derive(Debug, Clone, Args)]
pub(crate) struct WebhookRedeliverArgs {
    /// The delivery's id, as `avert webhooks deliveries` shows it
    #[arg(required_unless_present = "exhausted", conflicts_with = "exhausted")]
    pub(crate) id: Option<DeliveryId>,
    /// All failed deliveries: exhausted, or cancelled when the endpoint was disabled
    #[arg(long, requires = "endpoint")]
    pub(crate) exhausted: bool,
    /// Of this endpoint
    #[arg(long, value_name = "ID", requires = "exhausted")]
    pub(crate) endpoint: Option<EndpointId>,
}

/// `avert webhooks add`.
#[derive(Debug, Clone, Args)]
pub(crate) struct WebhookAddArgs {
    /// Address for events: https, or on this machine
    pub(crate) url: String,
    /// Allow plain http beyond this machine: others can read the credential and the alerts on the way
    #[arg(long)]
    pub(crate) insecure_http: bool,
    /// File with the certificates (PEM) that are trusted there, and no others; they are kept with the endpoint.
    /// Default: this machine's authorities
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) credential: CredentialArgs,
    /// Sign what is sent with a new secret, which is shown this once
    #[arg(long, conflicts_with = "secret_file")]
    pub(crate) sign: bool,
    /// Sign what is sent with the secret of a file (whsec_…), or of stdin with - [env: AVERT_WEBHOOK_SECRET]
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_file: Option<PathBuf>,
    /// Events that go there
    #[arg(long, value_name = "EVENT,…", value_delimiter = ',', default_value = "alert.created,alert.resolved",
        value_parser = PossibleValuesParser::new(EventKind::KNOWN.iter().map(EventKind::as_str))
            .map(|event| EventKind::parse(&event)))]
    pub(crate) events: Vec<EventKind>,
    /// Networks of their alerts, such as ETHOCA. Default: all
    #[arg(long, value_name = "NETWORK,…", value_delimiter = ',')]
    pub(crate) providers: Vec<String>,
    /// Template of the bodies of alert.expiring, endpoint.failing and source.failing, for receivers of a line of text
    #[arg(long, value_parser = word_of(EventTemplate::ALL, |template: EventTemplate| template.as_str()))]
    pub(crate) template: Option<EventTemplate>,
    /// Minutes before its deadline at which alert.expiring calls an alert without an answer
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub(crate) minutes: u32,
}

/// The credential of an endpoint or a listener: at most one of these, else one of the two environment variables.
#[derive(Debug, Clone, Default, Args)]
#[group(multiple = false)]
pub(crate) struct CredentialArgs {
    /// Basic credential [env: AVERT_WEBHOOK_BASIC]
    #[arg(long, value_name = "USER:PASS")]
    pub(crate) basic: Option<String>,
    /// The same from a file
    #[arg(long, value_name = "FILE")]
    pub(crate) basic_file: Option<PathBuf>,
    /// A header of the receiver's choice [env: AVERT_WEBHOOK_HEADER]
    #[arg(long, value_name = "Name: value")]
    pub(crate) header: Option<String>,
    /// The same from a file
    #[arg(long, value_name = "FILE")]
    pub(crate) header_file: Option<PathBuf>,
}
