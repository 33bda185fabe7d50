//! Why a call has no answer: the one table of reasons, what each says about the request, and its words.

use std::error::Error;
use std::fmt;
use std::time::Duration;

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// No connection came about in time.
    ConnectTimeout(Duration),
    /// The host name cannot be resolved.
    Dns(String),
    /// No connection came about: refused, no route, no TLS.
    Connect(String),
    /// No answer came in time.
    Timeout(Duration),
    /// The connection broke.
    Broken(String),
}

impl Reason {
    /// The reason of a failed call that had so long for its connection and so long in all.
    pub fn of(error: &reqwest::Error, connect: Duration, all: Duration) -> Self {
        match (error.is_connect(), error.is_timeout()) {
            (true, true) => Self::ConnectTimeout(connect),
            (true, false) if error.is_dns() => Self::Dns(cause(error)),
            (true, false) => Self::Connect(cause(error)),
            (false, true) => Self::Timeout(all),
            (false, false) => Self::Broken(cause(error)),
        }
    }

    /// Whether the request cannot have been sent.
    pub fn is_not_sent(&self) -> bool {
        matches!(self, Self::ConnectTimeout(_) | Self::Dns(_) | Self::Connect(_))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ConnectTimeout(limit) => write!(f, "no connection within {} s", limit.as_secs_f64()),
            Self::Dns(cause) => write!(f, "the host name cannot be resolved: {cause}"),
            Self::Connect(cause) => write!(f, "no connection: {cause}"),
            Self::Timeout(limit) => write!(f, "no answer within {} s", limit.as_secs_f64()),
            Self::Broken(cause) => write!(f, "the connection broke before an answer came: {cause}"),
        }
    }
}

/// The innermost cause of a failure. reqwest's own words hold the address with its query, which may be a secret; the cause does not.
pub fn cause(error: &reqwest::Error) -> String {
    let innermost = sources(error).last();
    innermost.map_or_else(|| "no reason given".to_owned(), ToString::to_string)
}

/// A cause of this type, where the failure has one.
pub fn find<T: Error + 'static>(error: &reqwest::Error) -> Option<&T> {
    sources(error).find_map(|source| source.downcast_ref())
}

fn sources(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |error| (*error).source())
}
