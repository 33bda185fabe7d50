//! The exchange that an error is about: what was asked, what was answered, and the id by which the other side's
//! operator finds it.

use std::fmt;

use reqwest::{Method, header::HeaderMap};

use crate::domain::{exchange::with_exchange, redact};

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

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

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
