//! One request and its answer: sizes bounded, redirects not followed, and always known whether it may have been sent.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use chrono::TimeDelta;
use reqwest::{
    Method, Response,
    header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};

use crate::{
    domain::{
        clock,
        redact::{self, with_exchange},
        time::{SharedClock, Timestamp},
    },
    options::{ClientError, ClientOptions, Pauses},
    outbound::{
        body::{self, Body, Unread},
        client::HttpClient,
        date,
        handshake::cause,
        proxy::Proxy,
        reason::Reason,
    },
    service::ServiceError,
    wire::{refusal::Refusal, write::RECORDED_HERE},
};

/// Most bytes of a good answer: many times a page of the largest alerts.
const MAX_ANSWER: usize = 16 * 1024 * 1024;

/// An HTTP request, which can be repeated.
#[derive(Clone)]
pub(super) struct Call {
    method: Method,
    url: String,
    headers: Vec<(&'static str, String)>,
    body: Option<(&'static str, Vec<u8>)>,
    patience: Option<Duration>,
    /// Secrets to redact where an answer repeats them.
    secrets: Vec<String>,
}

impl Call {
    pub(super) fn new(method: Method, url: &str) -> Self {
        Self { method, url: url.to_owned(), headers: Vec::new(), body: None, patience: None, secrets: Vec::new() }
    }

    pub(super) fn header(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    /// A header that carries a secret, which is told nowhere: neither a scheme before it nor what follows that.
    pub(super) fn secret_header(self, name: &'static str, value: String) -> Self {
        let bare = value.rsplit(' ').next().unwrap_or_default().to_owned();
        self.hiding(bare).header(name, value)
    }

    /// The same with a secret in it that is told nowhere, should the answer repeat it.
    pub(super) fn hiding(mut self, secret: String) -> Self {
        self.secrets.push(secret);
        self
    }

    pub(super) fn body(mut self, content_type: &'static str, bytes: Vec<u8>) -> Self {
        self.body = Some((content_type, bytes));
        self
    }

    /// Sets the timeout of the call, in place of the one for reads.
    pub(super) fn within(mut self, patience: Duration) -> Self {
        self.patience = Some(patience);
        self
    }
}

/// An HTTP answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// Wait that the service asked for (`Retry-After`).
    pub(super) retry_after: Option<Duration>,
    /// Body of the answer; of a refusal without our own secrets, should it repeat one.
    pub(super) body: Vec<u8>,
    /// True where the body was cut short: of a refusal the part that came counts.
    pub(super) cut: bool,
    /// Places of its alerts that are recorded there and reported to nobody.
    pub(super) recorded_here: Vec<usize>,
    pub(super) exchange: Exchange,
}

impl Answer {
    /// The answer as a refusal.
    pub(super) fn refusal(&self) -> Refusal {
        Refusal::read(&self.body)
    }

    /// Checks for a refusal of the credential (401, 403). A page of HTML does not count: it is a proxy's.
    pub(super) fn refuses_who_asks(&self) -> bool {
        matches!(self.status, 401 | 403) && !self.refusal().is_page
    }
}

/// Reason of a call without an answer.
#[derive(Debug)]
pub(super) enum NoAnswer {
    /// The request was not sent: no name, no connection.
    NotSent(String),
    /// The request was not sent, because the two do not trust each other: trying again changes nothing.
    Untrusted(String),
    /// Sent, or maybe sent: no answer in time.
    TimedOut(String),
    /// Sent, or maybe sent: the connection broke.
    Broken(String),
    /// Sent, and only a part of the answer came.
    BrokenOff(String),
    /// Sent, and the answer cannot be used.
    Unusable(String),
    /// Not sent, because the service asked to wait; the rest of that wait.
    TooEarly(String, Duration),
    /// Not sent, because there was no token to send it with.
    Refused(ServiceError),
}

impl From<NoAnswer> for ServiceError {
    fn from(no: NoAnswer) -> Self {
        match no {
            NoAnswer::NotSent(why) | NoAnswer::Untrusted(why) | NoAnswer::TimedOut(why) | NoAnswer::Broken(why) => {
                Self::Unreachable(why)
            }
            NoAnswer::BrokenOff(why) | NoAnswer::Unusable(why) => Self::Unavailable(why),
            NoAnswer::TooEarly(why, wait) => Self::Throttled { why, wait },
            NoAnswer::Refused(error) => error,
        }
    }
}

/// An HTTP client for one service.
#[derive(Clone)]
pub(super) struct Http {
    http: HttpClient,
    read_timeout: Duration,
    pub(super) write_timeout: Duration,
    connect_timeout: Duration,
    clock: SharedClock,
    /// Lead of the service's clock over ours, as its newest answer showed.
    clock_lead: Arc<Mutex<Option<TimeDelta>>>,
    throttle: Arc<Throttle>,
}

/// A response whose body was not read so far, with what its call was about.
pub(super) struct Begun {
    pub(super) response: Response,
    exchange: Exchange,
    secrets: Vec<String>,
    patience: Duration,
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http").finish_non_exhaustive()
    }
}

impl Http {
    pub(super) fn new(options: &ClientOptions) -> Result<Self, ClientError> {
        let tls = options.tls.read().map_err(ClientError)?;
        let proxy = Proxy::towards(options.base_url.as_url());
        let http = HttpClient::new(tls, proxy, |builder| builder.connect_timeout(options.connect_timeout).gzip(true));
        Ok(Self {
            http: http.map_err(ClientError)?,
            read_timeout: options.read_timeout,
            write_timeout: options.write_timeout,
            connect_timeout: options.connect_timeout,
            clock: options.clock.clone(),
            clock_lead: Arc::default(),
            throttle: Arc::default(),
        })
    }

    /// The present moment.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns the lead of the service's clock over ours, as its newest answer showed.
    pub(super) fn clock_lead(&self) -> Option<TimeDelta> {
        *self.clock_lead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a request once.
    pub(super) async fn send(&self, call: Call) -> Result<Answer, NoAnswer> {
        self.answer(self.open(call).await?).await
    }

    /// Makes a request once whose answer may go on for as long as the call may take.
    pub(super) async fn open(&self, call: Call) -> Result<Begun, NoAnswer> {
        let patience = call.patience.unwrap_or(self.read_timeout);
        let (exchange, secrets) = (Exchange::of(&call.method, &call.url), call.secrets.clone());
        let request = self.request(call, patience)?;
        match self.http.client.execute(request).await {
            Ok(response) => {
                let exchange = exchange.answered(response.status().as_u16(), response.headers(), &secrets);
                Ok(Begun { response, exchange, secrets, patience })
            }
            Err(error) => Err(self.why(&error, patience, &exchange)),
        }
    }

    /// The whole of an answer that has begun.
    pub(super) async fn answer(&self, begun: Begun) -> Result<Answer, NoAnswer> {
        let Begun { mut response, exchange, secrets, patience } = begun;
        let status = response.status();
        if let Some(told) = date::of(response.headers()) {
            *self.clock_lead.lock().unwrap_or_else(PoisonError::into_inner) = Some(told - self.now());
        }
        let retry_after = date::retry_after(response.headers(), self.now());
        let recorded_here = response.headers().get(RECORDED_HERE).and_then(|places| places.to_str().ok());
        let recorded_here = recorded_here.unwrap_or_default().split(',').filter_map(|place| place.parse().ok());
        let recorded_here = recorded_here.collect();
        if !status.is_success() {
            tracing::debug!(%exchange, "the service refused a request");
        }
        if let Some(packed) = response.headers().get(CONTENT_ENCODING).filter(|packed| *packed != "identity") {
            let packed = redact::words(&String::from_utf8_lossy(packed.as_bytes()));
            return Err(NoAnswer::Unusable(
                exchange.about(&format!("its answer is packed as {packed}, which was not asked for")),
            ));
        }
        let Body { bytes: body, cut } =
            body::whole(&mut response, MAX_ANSWER).await.map_err(|unread| match unread {
                Unread::TooLarge => {
                    NoAnswer::Unusable(exchange.about(&format!("its answer is over {} MiB", MAX_ANSWER / 1024 / 1024)))
                }
                Unread::Broken(error) => match self.why(&error, patience, &exchange) {
                    NoAnswer::Broken(why) | NoAnswer::TimedOut(why) => NoAnswer::BrokenOff(why),
                    other => other,
                },
            })?;
        let body = match status.is_success() {
            true => body,
            false => redact::secrets(String::from_utf8_lossy(&body).into_owned(), secrets).into_bytes(),
        };
        Ok(Answer { status: status.as_u16(), retry_after, body, cut, recorded_here, exchange })
    }

    fn why(&self, error: &reqwest::Error, patience: Duration, exchange: &Exchange) -> NoAnswer {
        let reason = self.http.reason(error, self.connect_timeout.min(patience), patience);
        let words = exchange.about(&reason.to_string());
        match &reason {
            Reason::Tls(_) => NoAnswer::Untrusted(words),
            _ if reason.is_not_sent() => NoAnswer::NotSent(words),
            Reason::Timeout(_) => NoAnswer::TimedOut(words),
            _ => NoAnswer::Broken(words),
        }
    }

    /// Makes a request that changes nothing, again after a pause where the service was not there, and not before it
    /// wants to be asked again.
    pub(super) async fn send_patiently(&self, call: Call, pauses: &Pauses) -> Result<Answer, NoAnswer> {
        let reads = call.method == Method::GET;
        if let Some(left) = self.throttle.left(self.now()).filter(|_| reads) {
            let words =
                format!("it asked to be left alone for a while; it may be asked again in {} s", left.as_secs().max(1));
            return Err(NoAnswer::TooEarly(Exchange::of(&call.method, &call.url).about(&words), left));
        }
        let mut left = pauses.reads.iter();
        loop {
            let tried = self.send(call.clone()).await;
            let wait = match &tried {
                Err(NoAnswer::NotSent(_) | NoAnswer::Broken(_) | NoAnswer::BrokenOff(_))
                | Ok(Answer { status: 502..=504, retry_after: None, .. }) => Some(Duration::ZERO),
                Ok(Answer { status: 429 | 503, retry_after: Some(asked), .. }) => {
                    Some(*asked).filter(|asked| *asked <= pauses.longest_asked)
                }
                _ => None,
            };
            let (Some(wait), Some(pause)) = (wait, left.next()) else {
                if let (Ok(answer), true) = (&tried, reads) {
                    self.heed(answer);
                }
                return tried;
            };
            tokio::time::sleep(wait + jittered(*pause)).await;
        }
    }

    /// Takes note of whether the service wants to be left alone.
    fn heed(&self, answer: &Answer) {
        match (answer.status, answer.retry_after) {
            (429 | 503, Some(asked)) => self.throttle.ask(asked, self.now()),
            _ => self.throttle.lift(),
        }
    }

    fn request(&self, call: Call, patience: Duration) -> Result<reqwest::Request, NoAnswer> {
        let mut request = self.http.client.request(call.method, call.url).timeout(patience);
        for (name, value) in call.headers {
            let value = HeaderValue::from_str(&value).map(|mut value| {
                value.set_sensitive(true);
                value
            });
            let value = value.map_err(|_| NoAnswer::NotSent(format!("the header {name} cannot be sent")))?;
            request = request.header(HeaderName::from_static(name), value);
        }
        if let Some((content_type, bytes)) = call.body {
            request = request.header(CONTENT_TYPE, content_type).body(bytes);
        }
        request.build().map_err(|error| NoAnswer::NotSent(format!("the request cannot be made: {}", cause(&error))))
    }
}

/// Headers in which deployments tell the id of a request.
const REQUEST_IDS: [&str; 2] = ["x-request-id", "x-correlation-id"];
/// Longest id of a request that is told.
const MOST_ID: usize = 80;

/// An HTTP exchange without anything secret: no host, no query, no header but the id of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Exchange {
    method: Method,
    path: String,
    status: Option<u16>,
    request_id: Option<String>,
}

impl Exchange {
    /// A request that has no answer so far.
    pub(super) fn of(method: &Method, url: &str) -> Self {
        let path = url::Url::parse(url).map_or_else(|_| String::new(), |url| url.path().to_owned());
        Self { method: method.clone(), path, status: None, request_id: None }
    }

    /// The same with its answer; an id that repeats one of these secrets is told without it.
    pub(super) fn answered(self, status: u16, headers: &HeaderMap, secrets: &[String]) -> Self {
        let id = REQUEST_IDS.iter().find_map(|name| headers.get(*name)?.to_str().ok());
        let id = id.map(|id| redact::words(&redact::secrets(id.to_owned(), secrets)));
        let request_id = id.filter(|id| (1..=MOST_ID).contains(&id.len()));
        Self { status: Some(status), request_id, ..self }
    }

    /// Words about it, with the exchange behind them.
    pub(super) fn about(&self, words: &str) -> String {
        with_exchange(words, &self.to_string())
    }
}

impl fmt::Display for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)?;
        if let Some(status) = self.status {
            write!(f, ": {status}")?;
        }
        self.request_id.as_ref().map_or(Ok(()), |id| write!(f, ", request {id}"))
    }
}

/// No service is left alone for longer than this, whatever it asks for.
pub(super) const LONGEST: Duration = Duration::from_secs(10 * 60);

/// A gap with jitter: between half of it and all of it, so that those who failed together do not come again together.
pub(super) fn jittered(gap: Duration) -> Duration {
    jittered_by(gap, rand::random())
}

fn jittered_by(gap: Duration, chance: f64) -> Duration {
    gap.mul_f64(0.5 + chance.clamp(0.0, 1.0) / 2.0)
}

/// Rate limiting that the service asked for (Retry-After): until when it is not read.
#[derive(Debug, Default)]
pub(super) struct Throttle(Mutex<Option<(Timestamp, Timestamp)>>);

impl Throttle {
    /// Takes note that the service asked to be left alone for so long.
    pub(super) fn ask(&self, wait: Duration, now: Timestamp) {
        let wait = TimeDelta::from_std(wait.min(LONGEST)).unwrap_or_default();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, now + wait));
    }

    /// Takes note that it answers.
    pub(super) fn lift(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Returns the rest of that pause.
    pub(super) fn left(&self, now: Timestamp) -> Option<Duration> {
        let asked = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back leaves nobody waiting for longer than was asked.
        let (_, until) = asked.filter(|(since, until)| clock::waits(*since, *until, now))?;
        (until - now).to_std().ok()
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    #[test]
    fn a_gap_with_jitter_is_between_its_half_and_itself() {
        let gap = Duration::from_secs(1);

        assert_eq!([0.0, 0.5, 1.0].map(|chance| jittered_by(gap, chance).as_millis()), [500, 750, 1000]);
        assert!((0..1000).map(|_| jittered(gap)).all(|wait| (gap / 2..=gap).contains(&wait)));
        assert_ne!(jittered(gap), jittered(gap), "not always the same");
    }

    #[test]
    fn a_service_is_left_alone_for_as_long_as_it_asked_and_ten_minutes_at_most() {
        let (throttle, now) = (Throttle::default(), Timestamp::UNIX_EPOCH);
        assert_eq!(throttle.left(now), None);

        throttle.ask(Duration::from_secs(7), now);
        assert_eq!(throttle.left(now + TimeDelta::seconds(4)), Some(Duration::from_secs(3)));
        assert_eq!(throttle.left(now + TimeDelta::seconds(7)), None);
        assert_eq!(throttle.left(now - TimeDelta::hours(1)), None, "a clock that was set back");
        throttle.ask(Duration::MAX, now);
        assert_eq!(throttle.left(now), Some(LONGEST));
        throttle.lift();
        assert_eq!(throttle.left(now), None);
    }

    #[test]
    fn it_tells_method_path_status_and_the_id_of_the_request_and_no_query() {
        let asked = Exchange::of(&Method::GET, "https://user:pw@alerts.example.com/sandbox/api/v1/alerts?q=4111");
        let headers = HeaderMap::from_iter([("x-request-id".parse().unwrap(), HeaderValue::from_static("r-7 s3cret"))]);

        let answered = asked.clone().answered(503, &headers, &["s3cret".to_owned()]);

        assert_eq!(asked.to_string(), "GET /sandbox/api/v1/alerts");
        assert_eq!(answered.about("it is busy"), "it is busy (GET /sandbox/api/v1/alerts: 503, request r-7 ****)");
    }

    #[test]
    fn an_id_without_end_is_left_out() {
        let headers =
            HeaderMap::from_iter([("x-request-id".parse().unwrap(), HeaderValue::try_from("x".repeat(900)).unwrap())]);

        assert_eq!(
            Exchange::of(&Method::GET, "https://a.example/x").answered(500, &headers, &[]).to_string(),
            "GET /x: 500"
        );
    }
}
