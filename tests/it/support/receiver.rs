//! A real webhook receiver whose answers a test can change while it runs.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, Method, Uri},
    response::Response,
};
use tokio::{
    net::TcpListener,
    sync::{Semaphore, watch},
    task::JoinHandle,
};

/// The longest a test waits for a request that has to come.
const PATIENCE: Duration = Duration::from_secs(120);

/// What the receiver does with a request, from now on.
#[derive(Debug, Clone)]
pub enum Answer {
    /// A status and nothing else.
    Status(u16),
    /// A status with a header.
    With(u16, &'static str, String),
    /// A status with a body.
    Body(u16, Vec<u8>),
    /// A status once the gate has let this request through.
    Gated(Arc<Semaphore>, u16),
    /// No answer, ever.
    Hang,
    /// The connection is closed without an answer.
    Close,
    /// A status, the first bytes of a body, and then nothing more, ever.
    HalfBody(u16),
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: Method,
    pub path: String,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Request {
    /// A header's text; empty when it is missing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("a header of text"))
    }

    /// The body as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("a body of JSON")
    }

    /// `event` of the body.
    pub fn event(&self) -> String {
        self.json()["event"].as_str().expect("an event").to_owned()
    }
}

struct Shared {
    answers: Mutex<(Vec<Answer>, Answer)>,
    requests: Mutex<Vec<Request>>,
    count: watch::Sender<usize>,
}

/// A receiver on a free port of this machine; it ends when dropped.
pub struct Receiver {
    address: SocketAddr,
    shared: Arc<Shared>,
    serving: JoinHandle<()>,
}

impl Receiver {
    /// A receiver that answers 200.
    pub async fn start() -> Self {
        Self::answering(Answer::Status(200)).await
    }

    /// A receiver that answers like this.
    pub async fn answering(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("its address");
        let shared = Arc::new(Shared {
            answers: Mutex::new((Vec::new(), answer)),
            requests: Mutex::default(),
            count: watch::Sender::new(0),
        });
        let routes = Router::new().fallback(receive).with_state(shared.clone());
        let serving = tokio::spawn(async move { axum::serve(listener, routes).await.expect("the receiver serves") });
        Self { address, shared, serving }
    }

    /// The URL to send to.
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// The same place by another host name or address.
    pub fn url_by(&self, host: &str) -> String {
        format!("http://{host}:{}/hook", self.address.port())
    }

    /// Answers like this from now on.
    pub fn answer(&self, answer: Answer) {
        self.shared.answers.lock().unwrap().1 = answer;
    }

    /// Answers the next requests like these, one each, before it goes on as told by [`Receiver::answer`].
    pub fn answer_next(&self, answers: impl IntoIterator<Item = Answer>) {
        let mut next: Vec<Answer> = answers.into_iter().collect();
        next.reverse();
        self.shared.answers.lock().unwrap().0 = next;
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// How many requests have come.
    pub fn count(&self) -> usize {
        self.shared.requests.lock().unwrap().len()
    }

    /// Waits until so many requests have come, and returns all of them.
    pub async fn wait_for(&self, count: usize) -> Vec<Request> {
        let mut seen = self.shared.count.subscribe();
        let waiting = tokio::time::timeout(PATIENCE, seen.wait_for(|seen| *seen >= count)).await;
        assert!(waiting.is_ok(), "{} of {count} requests came", self.count());
        self.requests()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn receive(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let answer = {
        let mut answers = shared.answers.lock().unwrap();
        answers.0.pop().unwrap_or_else(|| answers.1.clone())
    };
    let count = {
        let mut requests = shared.requests.lock().unwrap();
        requests.push(Request { method, path: uri.to_string(), headers, body: body.to_vec() });
        requests.len()
    };
    shared.count.send_if_modified(|seen| {
        let more = count > *seen;
        *seen = (*seen).max(count);
        more
    });
    let response = Response::builder();
    let response = match answer {
        Answer::Status(status) => response.status(status).body(Body::empty()),
        Answer::With(status, name, value) => response.status(status).header(name, value).body(Body::empty()),
        Answer::Body(status, body) => response.status(status).body(Body::from(body)),
        Answer::Gated(gate, status) => {
            gate.acquire().await.expect("an open gate").forget();
            response.status(status).body(Body::empty())
        }
        Answer::Hang => std::future::pending().await,
        // The task of the connection unwinds, quietly, and its socket goes with it.
        Answer::Close => std::panic::resume_unwind(Box::new("closed by the test")),
        Answer::HalfBody(status) => {
            use futures::StreamExt as _;
            let first = futures::stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(b"half"))]);
            response.status(status).body(Body::from_stream(first.chain(futures::stream::pending())))
        }
    };
    response.expect("a response")
}
