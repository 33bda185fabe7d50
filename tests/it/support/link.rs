//! A faulty way to a real avert: a proxy in front of it, which passes everything on and loses the decisions it is told
//! to. The faulty server that stands in the place of one is `raw_server`.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    http::Method,
    response::Response,
};
use tokio::{net::TcpListener, runtime::Runtime};

/// What becomes of a decision on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passage {
    /// It arrives, and so does its answer.
    Whole,
    /// The connection breaks before the service has got it.
    LostRequest,
    /// The connection breaks after the service has answered it.
    LostAnswer,
    /// The service has answered it, and its answer stays on the way.
    HeldAnswer,
}

/// The proxy; it ends when dropped.
pub struct Link {
    /// Where a client finds it: `http://ADDRESS`.
    pub url: String,
    shared: Arc<Shared>,
    _runtime: Runtime,
}

struct Shared {
    service: String,
    client: reqwest::Client,
    /// What becomes of the next decisions.
    next: Mutex<VecDeque<Passage>>,
    /// The paths of all decisions that came here, in their order.
    decisions: Mutex<Vec<String>>,
}

impl Link {
    /// A way to a service at this URL.
    pub fn to(service: &str) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("its address"));
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .expect("a client");
        let shared = Arc::new(Shared {
            service: service.to_owned(),
            client,
            next: Mutex::default(),
            decisions: Mutex::default(),
        });
        let routes = Router::new().fallback(pass).with_state(Arc::clone(&shared));
        runtime.spawn(async move { axum::serve(listener, routes).await.expect("the way is open") });
        Self { url, shared, _runtime: runtime }
    }

    /// Says what becomes of the next decision that is not spoken for.
    pub fn next(&self, passage: Passage) {
        self.shared.next.lock().unwrap().push_back(passage);
    }

    /// The paths of all decisions that came here, in their order.
    pub fn decisions(&self) -> Vec<String> {
        self.shared.decisions.lock().unwrap().clone()
    }
}

/// The task of the connection unwinds, quietly, and its socket goes with it.
fn break_off() -> ! {
    std::panic::resume_unwind(Box::new("broken off by the test"))
}

async fn pass(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let body: Bytes = axum::body::to_bytes(body, 1 << 20).await.expect("a body");
    let path = head.uri.path_and_query().expect("a path").to_string();
    let passage = if head.method == Method::PUT {
        shared.decisions.lock().unwrap().push(path.clone());
        shared.next.lock().unwrap().pop_front().unwrap_or(Passage::Whole)
    } else {
        Passage::Whole
    };
    if passage == Passage::LostRequest {
        break_off();
    }
    let mut headers = head.headers;
    headers.remove("host");
    let sent = shared
        .client
        .request(head.method, format!("{}{path}", shared.service))
        .headers(headers)
        .body(body)
        .send()
        .await;
    // A service that is not there is one whose connection breaks.
    let Ok(answer) = sent else { break_off() };
    let (status, headers) = (answer.status(), answer.headers().clone());
    let Ok(body) = answer.bytes().await else { break_off() };
    match passage {
        Passage::LostAnswer => break_off(),
        Passage::HeldAnswer => std::future::pending().await,
        Passage::Whole | Passage::LostRequest => {
            let mut response = Response::new(Body::from(body));
            *response.status_mut() = status;
            *response.headers_mut() = headers;
            response
        }
    }
}
