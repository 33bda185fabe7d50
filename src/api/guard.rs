//! Middleware around every request: size of the head, request id, host check, who the client is, admission, panics.

use std::{
    net::{IpAddr, SocketAddr},
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::Body,
    extract::{MatchedPath, Request, State},
    http::{
        HeaderMap, HeaderName, HeaderValue, Method, StatusCode,
        header::{CACHE_CONTROL, ETAG, HOST, ORIGIN, X_CONTENT_TYPE_OPTIONS},
    },
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
};
use futures::FutureExt;
use ipnet::IpNet;
use tracing::Instrument;
use uuid::Uuid;

use crate::{
    client_address::{client_address, is_untrusted_proxy},
    concurrency_limit::{Admission, RequestPlaces},
    domain::{card::mask_card_numbers, url::is_localhost},
    engine::trace,
    inbound::connections::{Activity, AnswerBody, HttpConnection},
    problem::{Code, Problem},
    state::{ApiOptions, Connected, MAX_HEAD, Peer},
};

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Longest id that a client may give its request.
const MAX_REQUEST_ID: usize = 128;

/// Paths without the check of the host: load balancers ask without a name, or by an address of their own.
const NAMELESS: [&str; 2] = ["/health", "/ready"];

/// The state of the request guard.
pub(super) struct Guard {
    hosts: Hosts,
    places: Arc<RequestPlaces>,
    trusted_proxies: Vec<IpNet>,
    /// True where the log has named a proxy that is not trusted.
    pointed_out: AtomicBool,
}

impl Guard {
    pub(super) fn new(bound: SocketAddr, options: &ApiOptions) -> Result<Self, HostError> {
        let (places, trusted_proxies) = (RequestPlaces::new(options.max_in_flight), options.trusted_proxies.clone());
        Ok(Self {
            hosts: Hosts::new(bound, &options.allowed_hosts)?,
            places,
            trusted_proxies,
            pointed_out: AtomicBool::new(false),
        })
    }

    /// The client's address. Says once where a proxy names clients and nobody believes it: limits would be everybody's
    /// together.
    fn client(&self, peer: IpAddr, headers: &HeaderMap) -> Peer {
        if is_untrusted_proxy(peer, headers, &self.trusted_proxies) && !self.pointed_out.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                %peer,
                "a request from this machine names another client (Forwarded, X-Forwarded-For), and is counted as \
                    this machine's: where \
                 that is a proxy, name it in trusted_proxies"
            );
        }
        Peer(client_address(peer, headers, &self.trusted_proxies))
    }

    /// Refuses a request that was meant for somebody else, or that a web page of somebody else sends.
    fn check_names(&self, request: &Request) -> Result<(), Problem> {
        if !self.is_named(request) && !NAMELESS.contains(&request.uri().path()) {
            let detail = "the Host header must be an address or a name that this service is bound to, with its port; \
                others are allowed with --allow-host NAME or NAME:PORT";
            return Err(Problem::new(Code::WrongHost, detail));
        }
        let foreign = |origin: &HeaderValue| !origin.to_str().is_ok_and(|origin| self.hosts.allow_origin(origin));
        if request.headers().get_all(ORIGIN).iter().any(foreign) {
            return Err(Problem::new(Code::NotAuthorized, "a web page of another origin may not call this service"));
        }
        Ok(())
    }

    /// Returns whether a request names this service, and nobody else.
    fn is_named(&self, request: &Request) -> bool {
        let mut named = request.headers().get_all(HOST).iter();
        let (Some(host), None) = (named.next(), named.next()) else { return false };
        // A request line with a whole address in it goes before the header.
        host.to_str().is_ok_and(|host| self.hosts.allow(host))
            && request.uri().authority().is_none_or(|authority| self.hosts.allow(authority.as_str()))
    }
}

/// Wraps routes in the guard, with fallbacks for unknown routes and methods.
pub(super) fn guarded(routes: Router, guard: Arc<Guard>) -> Router {
    routes
        .fallback(|| async { Problem::new(Code::RouteNotFound, "there is no such route") })
        .method_not_allowed_fallback(|| async {
            Problem::new(Code::MethodNotAllowed, "this route knows other methods, see the Allow header")
        })
        .layer(from_fn_with_state(guard, around))
}

async fn around(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let span = trace::span(&trace::of(request.headers()));
    answer(&guard, request, next).instrument(span).await
}

async fn answer(guard: &Guard, mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    let (method, route) = (method_name(request.method()), request.extensions().get::<MatchedPath>().cloned());
    let id = request_id(&request);
    let connected = request.extensions_mut().remove::<Connected>();
    if let Some(Connected { peer, .. }) = &connected {
        let client = guard.client(*peer, request.headers());
        request.extensions_mut().insert(client);
    }
    let connection = connected.map(|connected| connected.connection);
    let answer = match check_head(&request).and_then(|()| guard.check_names(&request)) {
        Err(problem) => problem.into_response(),
        Ok(()) => admit(guard, connection.clone(), request, next, &id).await,
    };
    count(method, route.as_ref().map_or("none", MatchedPath::as_str), answer.status(), began.elapsed());
    let answer = finish(answer, &id);
    match connection {
        Some(connection) => answer.map(|body| Body::new(AnswerBody::of(body, connection))),
        None => answer,
    }
}

/// Refuses a head over the limit: so many bytes as it has the way heads are written, with one blank after each colon.
fn check_head(request: &Request) -> Result<(), Problem> {
    let uri = request.uri();
    let authority = uri.authority().map_or(0, |authority| authority.as_str().len());
    let scheme = uri.scheme_str().map_or(0, |scheme| scheme.len() + "://".len());
    let target = uri.path_and_query().map_or(0, |target| target.as_str().len());
    let line = request.method().as_str().len() + scheme + authority + target + "  HTTP/1.1\r\n".len();
    let headers: usize =
        request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len()).sum();
    match line + headers + "\r\n".len() <= MAX_HEAD {
        true => Ok(()),
        false => Err(Problem::new(
            Code::HeadTooLarge,
            format!("the head of the request is too large: at most {MAX_HEAD} bytes are allowed"),
        )),
    }
}

/// Records a request's metrics. Routes are told as they are written in the router, so there are only so many.
fn count(method: &'static str, route: &str, status: StatusCode, took: Duration) {
    let route = route.to_owned();
    metrics::counter!("avert_http_requests_total", "method" => method, "route" => route.clone(),
        "status" => status.as_u16().to_string())
    .increment(1);
    metrics::histogram!("avert_http_request_seconds", "method" => method, "route" => route).record(took);
}

/// The method, where it is one that everybody knows.
fn method_name(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}

async fn admit(
    guard: &Guard,
    connection: Option<Arc<HttpConnection>>,
    mut request: Request,
    next: Next,
    id: &HeaderValue,
) -> Response {
    if let Some(connection) = &connection {
        connection.becomes(Activity::Receiving);
    }
    let admission = Admission::new(&guard.places, connection);
    request.extensions_mut().insert(admission.clone());
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let answer = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    admission.leave();
    match answer {
        Ok(response) => response,
        Err(_) => {
            tracing::error!(%method, %path, request = id.to_str().unwrap_or_default(),
                "a request made a handler panic");
            Problem::new(Code::Internal, "the service made a mistake; it is in its log under this requestId")
                .into_response()
        }
    }
}

/// The client's own id where it is sane and holds no card number (it is logged), else a new one.
fn request_id(request: &Request) -> HeaderValue {
    let safe = |id: &HeaderValue| id.to_str().is_ok_and(|id| mask_card_numbers(id) == id);
    let sane = |id: &&HeaderValue| {
        let bytes = id.as_bytes();
        safe(id)
            && (1..=MAX_REQUEST_ID).contains(&bytes.len())
            && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:/+=~".contains(byte))
    };
    let given = request.headers().get(X_REQUEST_ID).filter(sane).cloned();
    given.unwrap_or_else(new_request_id)
}

/// An id for a request that has none.
pub(super) fn new_request_id() -> HeaderValue {
    let mut buffer = Uuid::encode_buffer();
    let id: &str = Uuid::now_v7().hyphenated().encode_lower(&mut buffer);
    HeaderValue::from_str(id).unwrap_or_else(|_| HeaderValue::from_static("unknown"))
}

/// Writes problems down and adds what every answer carries.
fn finish(mut response: Response, id: &HeaderValue) -> Response {
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        let id = id.to_str().unwrap_or_default();
        if problem.code().status().is_server_error() {
            tracing::warn!(request = id, code = problem.code().as_str(), "a request was not answered");
        }
        *response.body_mut() = Body::from(problem.body(id));
    }
    let headers = response.headers_mut();
    headers.insert(X_REQUEST_ID, id.clone());
    // An answer with an entity tag says itself how it may be kept.
    if !headers.contains_key(ETAG) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// An invalid entry of the host allow-list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a host name such as desk.example.com, with or without a port")]
pub struct HostError(pub String);

/// The host allow-list, and the port that a bare name stands for.
#[derive(Debug, Clone)]
pub(super) struct Hosts {
    names: Vec<(Host, Option<u16>)>,
    port: u16,
    /// Bound to every address of the machine: every literal address is ours, because only names can be pointed
    /// elsewhere.
    any_address: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    Address(IpAddr),
    /// Host name in lower case.
    Name(String),
}

impl Hosts {
    pub(super) fn new(bound: SocketAddr, allowed: &[String]) -> Result<Self, HostError> {
        let mut names = vec![(Host::Address(bound.ip()), None)];
        if bound.ip().is_loopback() || bound.ip().is_unspecified() {
            names.push((Host::Name("localhost".to_owned()), None));
        }
        for text in allowed {
            names.push(split(text.trim()).ok_or_else(|| HostError(text.clone()))?);
        }
        Ok(Self { names, port: bound.port(), any_address: bound.ip().is_unspecified() })
    }

    /// Checks that an authority (`host` or `host:port`) is one of ours.
    pub(super) fn allow(&self, authority: &str) -> bool {
        let Some((host, port)) = split(authority) else { return false };
        let fits = |own: Option<u16>| {
            port.is_none_or(|port| port == own.unwrap_or(self.port)) && (own.is_none() || port == own)
        };
        let any_address = self.any_address && matches!(host, Host::Address(_)) && fits(None);
        any_address || self.names.iter().any(|(name, own)| *name == host && fits(*own))
    }

    /// Checks that the origin of a web page is one of ours.
    pub(super) fn allow_origin(&self, origin: &str) -> bool {
        let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        authority.is_some_and(|authority| self.allow(authority))
    }
}

fn split(authority: &str) -> Option<(Host, Option<u16>)> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (address, rest) = rest.split_once(']')?;
            let port = if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) };
            (Host::Address(IpAddr::V6(address.parse().ok()?)), port)
        }
        None => {
            let (host, port) = authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port)));
            (name(host)?, port)
        }
    };
    match port {
        None => Some((host, None)),
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => Some((host, Some(port.parse().ok()?))),
        Some(_) => None,
    }
}

fn name(text: &str) -> Option<Host> {
    if let Ok(address) = text.parse() {
        return Some(Host::Address(address));
    }
    let fits = !text.is_empty()
        && text.len() <= 253
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'));
    // Below it is this machine too, wherever it is asked.
    fits.then(|| Host::Name(if is_localhost(text) { "localhost".to_owned() } else { text.to_ascii_lowercase() }))
}

#[cfg(test)]
mod tests {
    use axum::{Extension, body::to_bytes, http::StatusCode, routing::get};
    use proptest::prelude::*;
    use rstest::rstest;
    use serde_json::Value;
    use tokio::sync::Semaphore;
    use tower::ServiceExt;

    use super::*;
    use crate::{
        concurrency_limit::{Asker, StrangersPlace},
        domain::OrganizationId,
        state::MAX_BODY,
    };

    fn hosts(bound: &str) -> Hosts {
        Hosts::new(bound.parse().unwrap(), &["Desk.example.com".to_owned(), "proxy.example.com:8443".to_owned()])
            .unwrap()
    }

    #[rstest]
    #[case("127.0.0.1:7317", "127.0.0.1", true)]
    #[case("127.0.0.1:7317", "127.0.0.1:7317", true)]
    #[case("127.0.0.1:7317", "localhost:7317", true)]
    #[case("127.0.0.1:7317", "LOCALHOST", true)]
    #[case("127.0.0.1:7317", "avert.localhost:7317", true)]
    #[case("127.0.0.1:7317", "avert.localhost:80", false)]
    #[case("127.0.0.1:7317", "avertlocalhost:7317", false)]
    #[case("192.168.1.20:7317", "avert.localhost:7317", false)]
    #[case("127.0.0.1:7317", "desk.example.com", true)]
    #[case("127.0.0.1:7317", "DESK.example.com:7317", true)]
    #[case("127.0.0.1:7317", "proxy.example.com:8443", true)]
    #[case("127.0.0.1:7317", "proxy.example.com", false)]
    #[case("127.0.0.1:7317", "proxy.example.com:7317", false)]
    #[case("127.0.0.1:7317", "localhost:80", false)]
    #[case("127.0.0.1:7317", "evil.example.com", false)]
    #[case("127.0.0.1:7317", "evil.example.com:7317", false)]
    #[case("127.0.0.1:7317", "localhost.evil.example.com", false)]
    #[case("127.0.0.1:7317", "10.0.0.1:7317", false)]
    #[case("127.0.0.1:7317", "127.1:7317", false)]
    #[case("127.0.0.1:7317", "", false)]
    #[case("127.0.0.1:7317", "localhost:", false)]
    #[case("127.0.0.1:7317", "localhost:7317:7317", false)]
    #[case("127.0.0.1:7317", "user@localhost:7317", false)]
    #[case("127.0.0.1:7317", "localhost:7317/", false)]
    #[case("[::1]:7317", "[::1]:7317", true)]
    #[case("[::1]:7317", "[0:0:0:0:0:0:0:1]", true)]
    #[case("[::1]:7317", "::1", false)]
    #[case("0.0.0.0:7317", "192.168.1.20:7317", true)]
    #[case("0.0.0.0:7317", "[fe80::1]:7317", true)]
    #[case("0.0.0.0:7317", "192.168.1.20:80", false)]
    #[case("0.0.0.0:7317", "evil.example.com:7317", false)]
    #[case("192.168.1.20:7317", "192.168.1.20:7317", true)]
    #[case("192.168.1.20:7317", "localhost:7317", false)]
    fn only_bound_and_allowed_names_are_answered_to(
        #[case] bound: &str,
        #[case] authority: &str,
        #[case] allowed: bool,
    ) {
        assert_eq!(hosts(bound).allow(authority), allowed);
    }

    #[rstest]
    #[case("http://127.0.0.1:7317", true)]
    #[case("https://desk.example.com", true)]
    #[case("http://evil.example.com", false)]
    #[case("null", false)]
    #[case("file://", false)]
    #[case("http://127.0.0.1:7317/path", false)]
    #[case("127.0.0.1:7317", false)]
    fn only_our_own_pages_may_call(#[case] origin: &str, #[case] allowed: bool) {
        assert_eq!(hosts("127.0.0.1:7317").allow_origin(origin), allowed);
    }

    #[rstest]
    #[case("http://desk.example.com")]
    #[case("")]
    #[case("a b")]
    fn what_is_no_host_name_cannot_be_allowed(#[case] text: &str) {
        assert!(Hosts::new("127.0.0.1:1".parse().unwrap(), &[text.to_owned()]).is_err());
    }

    proptest! {
        #[test]
        fn no_authority_makes_the_check_panic(authority in "\\PC{0,40}") {
            let _ = hosts("0.0.0.0:7317").allow(&authority);
            let _ = hosts("0.0.0.0:7317").allow_origin(&authority);
        }
    }

    #[rstest]
    #[case(MAX_HEAD, true)]
    #[case(MAX_HEAD + 1, false)]
    fn a_head_has_so_many_bytes_and_no_more(#[case] length: usize, #[case] fits: bool) {
        let text = "GET /health?a=b HTTP/1.1\r\nhost: localhost\r\nx-large: \r\n\r\n";
        let request = Request::builder().uri("/health?a=b").header("host", "localhost");
        let request = request.header("x-large", "x".repeat(length - text.len())).body(Body::empty()).unwrap();

        assert_eq!(check_head(&request).is_ok(), fits);
    }

    fn guarded_with(routes: Router, max_in_flight: usize) -> Router {
        let options = ApiOptions { max_in_flight, ..ApiOptions::default() };
        guarded(routes, Arc::new(Guard::new("127.0.0.1:7317".parse().unwrap(), &options).unwrap()))
    }

    fn request(path: &str) -> Request {
        Request::builder()
            .uri(path)
            .header(HOST, "localhost")
            .header("x-request-id", "r-1")
            .body(Body::empty())
            .unwrap()
    }

    async fn boom(_: StrangersPlace) -> &'static str {
        panic!("boom")
    }

    async fn told(response: Response) -> (StatusCode, Value) {
        let status = response.status();
        let body = to_bytes(response.into_body(), MAX_BODY).await.unwrap();
        (status, serde_json::from_slice(&body).unwrap())
    }

    #[tokio::test]
    async fn a_panic_is_answered_and_the_next_request_too() {
        let routes = Router::new().route("/boom", get(boom)).route("/fine", get(|_: StrangersPlace| async { "fine" }));
        let app = guarded_with(routes, 1);

        let (status, body) = told(app.clone().oneshot(request("/boom")).await.unwrap()).await;
        let next = app.oneshot(request("/fine")).await.unwrap();

        assert_eq!(
            (status.as_u16(), body["code"].as_str(), body["requestId"].as_str()),
            (500, Some("internal_error"), Some("r-1"))
        );
        assert_eq!(next.status(), StatusCode::OK);
        assert_eq!(next.headers()["x-request-id"], "r-1");
    }

    #[tokio::test]
    async fn work_over_the_limit_is_turned_away_and_told_when_to_come_again() {
        let gate = Arc::new(Semaphore::new(0));
        let (entered, mut inside) = tokio::sync::mpsc::channel(1);
        let held = gate.clone();
        let organization = OrganizationId::generate();
        let routes = Router::new().route(
            "/slow",
            get(move |Extension(admission): Extension<Admission>| async move {
                if let Err(full) = admission.enter(Asker::Member(organization)).await {
                    return full.into_response();
                }
                entered.send(()).await.unwrap();
                held.acquire().await.unwrap().forget();
                "done".into_response()
            }),
        );
        let app = guarded_with(routes, 1);

        let first = tokio::spawn(app.clone().oneshot(request("/slow")));
        inside.recv().await.unwrap();
        let second = app.oneshot(request("/slow")).await.unwrap();
        gate.add_permits(1);

        assert_eq!((second.status().as_u16(), second.headers()["retry-after"].to_str().unwrap()), (503, "1"));
        assert_eq!(told(second).await.1["code"], "overloaded");
        assert_eq!(first.await.unwrap().unwrap().status(), StatusCode::OK);
    }
}
