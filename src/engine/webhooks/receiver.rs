//! The local webhook receiver: a small HTTP server that takes deliveries as a merchant's system would, checks them,
//! records and forwards them.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Extension, Router,
    body::Body,
    extract::{Request, State},
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
    },
    response::{IntoResponse, Response},
    routing::post,
};
use subtle::ConstantTimeEq as _;
use tokio::{
    net::TcpListener,
    sync::{OwnedSemaphorePermit, mpsc},
};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};
use tower::Layer as _;

use super::{
    recording::{RecordedDelivery, Recording},
    reposting::Forwarder,
    signature,
};
use crate::{
    domain::{
        EndpointAuth, Secret,
        signing::SignatureFault,
        time::SharedClock,
        webhook::delivery::{Forwarding, Receipt, ReceivedEvent, Subject},
    },
    inbound::{
        connections::{
            self, Acceptor, Activity, AnswerBody, Connections, Ending, HeadLimits, HttpConnection, Newcomer,
        },
        framing::{announced, discard, read},
        write_timeout::WriteTimeout,
    },
    outbound::credential::basic,
};

/// Longest body that is taken.
const MAX_BODY_BYTES: usize = 1024 * 1024;
/// Most bytes of a head that are read.
const MAX_HEAD_BYTES: usize = 64 * 1024;
/// Most open connections; where there are more, the one that does least gives way. Behind a proxy all come from one
/// address.
const MOST_CONNECTIONS: usize = 256;
/// Seconds after which a sender may retry a delivery that could not be kept.
const COME_AGAIN: &str = "30";
/// The scheme of Basic credentials.
const BASIC: &str = "Basic ";

/// Configuration of a receiver.
#[derive(Clone)]
pub struct ReceiverSettings {
    /// The credential it asks for; nothing where signatures alone are looked at.
    pub auth: Option<EndpointAuth>,
    /// The secret that requests have to be signed with; nothing where signatures are not looked at.
    pub signing: Option<Secret>,
    /// Recording of accepted deliveries, written before they are answered.
    pub recording: Option<Arc<Recording>>,
    /// Forwarder of accepted deliveries.
    pub forwarder: Option<Forwarder>,
    /// Channel of the event of each delivery. A slow reader slows the receiver down.
    pub events: Option<mpsc::Sender<ReceivedEvent>>,
    /// Longest time for a request to arrive, for an answer to be read, and for an idle connection to stay.
    pub patience: Duration,
    /// Clock of the events' times.
    pub clock: SharedClock,
}

impl ReceiverSettings {
    /// A receiver that checks this credential, and nothing else.
    pub fn new(auth: impl Into<Option<EndpointAuth>>, clock: SharedClock) -> Self {
        Self {
            auth: auth.into(),
            signing: None,
            recording: None,
            forwarder: None,
            events: None,
            patience: Duration::from_secs(10),
            clock,
        }
    }
}

/// A receiver that runs until it is stopped or dropped.
pub struct Receiver {
    address: SocketAddr,
    tasks: TaskTracker,
    cut: CancellationToken,
    stop: DropGuard,
}

impl Receiver {
    /// Answers on a bound listener. Needs a tokio runtime.
    pub fn start(listener: TcpListener, settings: ReceiverSettings) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let (tasks, cancel, cut) = (TaskTracker::new(), CancellationToken::new(), CancellationToken::new());
        let limits = HeadLimits { timeout: settings.patience, most_bytes: MAX_HEAD_BYTES };
        let patience = settings.patience;
        let reception = Arc::new(Reception { settings, tasks: tasks.clone(), cut: cut.clone() });
        let routes = Router::new().fallback(post(receive)).with_state(reception);
        let acceptor = Acceptor::new(listener, Connections::new(MOST_CONNECTIONS, MOST_CONNECTIONS), |_| true);
        let (connections, ending) = (tasks.clone(), Ending { cancel: cancel.clone(), cut: cut.clone() });
        tasks.spawn(async move {
            loop {
                let Newcomer { stream, connection, .. } = tokio::select! {
                    biased;
                    () = ending.cancel.cancelled() => break,
                    accepted = acceptor.next() => accepted,
                };
                let app = Extension(connection.connection()).layer(routes.clone());
                connections.spawn(connections::serve(
                    WriteTimeout::new(stream, patience),
                    app,
                    limits,
                    connection,
                    ending.clone(),
                ));
            }
        });
        tasks.close();
        Ok(Self { address, tasks, cut, stop: cancel.drop_guard() })
    }

    /// The address it is bound to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of an endpoint that is this receiver.
    pub fn url(&self) -> String {
        format!("http://{}/webhooks", self.address)
    }

    /// Takes nothing new and waits so long for what is on its way; then it is cut. Afterwards no event is told any
    /// more.
    pub async fn stop(self, patience: Duration) {
        drop(self.stop);
        if tokio::time::timeout(patience, self.tasks.wait()).await.is_err() {
            self.cut.cancel();
            self.tasks.wait().await;
        }
    }
}

/// State that the requests of a receiver share.
struct Reception {
    settings: ReceiverSettings,
    tasks: TaskTracker,
    cut: CancellationToken,
}

impl Reception {
    fn event(&self, webhook_id: Option<String>, receipt: Receipt) -> ReceivedEvent {
        let (at, subject) = (self.settings.clock.now(), Subject::default());
        ReceivedEvent { at, subject, webhook_id, receipt, verified: None, forwarding: Forwarding::Nowhere }
    }

    async fn tell(&self, event: ReceivedEvent) {
        if let Some(events) = &self.settings.events {
            // Whoever was told and is gone wants to know no more.
            let _ = events.send(event).await;
        }
    }

    /// Compares in constant time.
    fn authorizes(&self, headers: &HeaderMap) -> bool {
        let same = |given: &[u8], expected: &str| bool::from(given.ct_eq(expected.as_bytes()));
        match &self.settings.auth {
            None => self.settings.signing.is_some(),
            Some(EndpointAuth::Basic { username, password }) => {
                let given = headers.get(AUTHORIZATION).map(|value| value.as_bytes().split_at_checked(BASIC.len()));
                given.flatten().is_some_and(|(scheme, pair)| {
                    // The case of the scheme does not matter.
                    scheme.eq_ignore_ascii_case(BASIC.as_bytes())
                        && same(pair, &basic(username, password.reveal())[BASIC.len()..])
                })
            }
            Some(EndpointAuth::Header { name, value }) => {
                headers.get(name).is_some_and(|given| same(given.as_bytes(), value.reveal()))
            }
        }
    }

    /// Verifies that the signature is right and fresh; `None` where none is asked for.
    fn verifies(&self, delivery: &RecordedDelivery) -> Option<Result<(), SignatureFault>> {
        let secret = self.settings.signing.as_ref()?;
        let [id, timestamp, signature] =
            [&delivery.webhook_id, &delivery.webhook_timestamp, &delivery.webhook_signature]
                .map(|header| header.as_deref().unwrap_or_default());
        Some(signature::check(secret, id, timestamp, &delivery.body, signature, self.settings.clock.now()))
    }

    /// The whole body, or how the request is refused.
    async fn body(&self, request: Request) -> Result<Vec<u8>, Response> {
        let too_large =
            || (StatusCode::PAYLOAD_TOO_LARGE, format!("at most {MAX_BODY_BYTES} bytes are taken\n")).into_response();
        if announced(request.headers()).is_some_and(|length| length > MAX_BODY_BYTES as u64) {
            discard(request, self.settings.patience);
            return Err(too_large());
        }
        match tokio::time::timeout(self.settings.patience, read(request.into_body(), MAX_BODY_BYTES)).await {
            Ok(Ok(Some(body))) => Ok(body),
            Ok(Ok(None)) => Err(too_large()),
            Ok(Err(_)) => Err((StatusCode::BAD_REQUEST, "the body broke off before its end\n").into_response()),
            Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "the body did not come in time\n").into_response()),
        }
    }

    /// Checks a delivery that has the right credential, keeps it, and says what became of it.
    async fn take(self: &Arc<Self>, delivery: RecordedDelivery) -> Receipt {
        let mut event = self.event(delivery.webhook_id.clone(), Receipt::Accepted);
        event.subject = delivery.subject();
        let verified = self.verifies(&delivery);
        event.verified = verified.map(|verified| verified.is_ok());
        let mut to_forward = None;
        if let Some(Err(fault)) = verified {
            event.receipt = Receipt::NotVerified(fault);
        } else {
            match self.keep(&delivery).await {
                Ok(place) => to_forward = place,
                Err(why) => event.receipt = Receipt::NotKept(why),
            }
        }
        let receipt = event.receipt.clone();
        match to_forward {
            Some(place) => drop(self.tasks.spawn(Arc::clone(self).forward(delivery, event, place))),
            None => self.tell(event).await,
        }
        receipt
    }

    /// Records a delivery, and holds a place for it where it is to be forwarded; both where that is asked for.
    async fn keep(&self, delivery: &RecordedDelivery) -> Result<Option<OwnedSemaphorePermit>, String> {
        let place = match &self.settings.forwarder {
            Some(forwarder) => Some(forwarder.place().ok_or("too many deliveries wait to be forwarded")?),
            None => None,
        };
        if let Some(recording) = &self.settings.recording {
            let unwritten = |error| format!("{}: cannot be written: {error}", recording.path().display());
            recording.add(delivery.clone()).await.map_err(unwritten)?;
        }
        Ok(place)
    }

    async fn forward(self: Arc<Self>, delivery: RecordedDelivery, event: ReceivedEvent, _place: OwnedSemaphorePermit) {
        let Some(forwarder) = &self.settings.forwarder else { return };
        let result = tokio::select! {
            result = forwarder.forward(&delivery) => result,
            () = self.cut.cancelled() => Err("the listener ended before an answer came".to_owned()),
        };
        let forwarding = result.map_or_else(Forwarding::Failed, Forwarding::Answered);
        self.tell(ReceivedEvent { forwarding, ..event }).await;
    }
}

async fn receive(
    State(reception): State<Arc<Reception>>,
    Extension(connection): Extension<Arc<HttpConnection>>,
    request: Request,
) -> Response {
    connection.becomes(Activity::Receiving);
    answer(&reception, &connection, request).await.map(|body| Body::new(AnswerBody::of(body, connection)))
}

async fn answer(reception: &Arc<Reception>, connection: &HttpConnection, request: Request) -> Response {
    let headers = request.headers().clone();
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    if !reception.authorizes(&headers) {
        discard(request, reception.settings.patience);
        reception.tell(reception.event(text("webhook-id"), Receipt::WrongCredential)).await;
        return refused(reception.settings.auth.as_ref());
    }
    let body = match reception.body(request).await {
        Ok(body) => body,
        Err(refusal) => return refusal,
    };
    connection.becomes(Activity::Working);
    let delivery = RecordedDelivery {
        received_at: reception.settings.clock.now(),
        content_type: text(CONTENT_TYPE.as_str()),
        content_encoding: text(CONTENT_ENCODING.as_str()),
        webhook_id: text("webhook-id"),
        webhook_timestamp: text("webhook-timestamp"),
        webhook_signature: text("webhook-signature"),
        body,
    };
    match reception.take(delivery).await {
        Receipt::Accepted => (StatusCode::OK, "received\n").into_response(),
        Receipt::WrongCredential => refused(reception.settings.auth.as_ref()),
        Receipt::NotVerified(fault) => {
            tracing::warn!("a delivery was not taken: {fault}");
            (StatusCode::UNAUTHORIZED, format!("{fault}\n")).into_response()
        }
        Receipt::NotKept(why) => {
            tracing::warn!("a delivery was not taken: {why}");
            let again = [(RETRY_AFTER, HeaderValue::from_static(COME_AGAIN))];
            (StatusCode::SERVICE_UNAVAILABLE, again, "it cannot be kept now\n").into_response()
        }
    }
}

fn refused(auth: Option<&EndpointAuth>) -> Response {
    let refusal = (StatusCode::UNAUTHORIZED, "wrong credential\n").into_response();
    match auth {
        Some(EndpointAuth::Basic { .. }) => {
            ([(WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"webhooks\", charset=\"UTF-8\""))], refusal)
                .into_response()
        }
        Some(EndpointAuth::Header { .. }) | None => refusal,
    }
}
