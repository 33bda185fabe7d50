//! Why a call has no answer: the one table of reasons, what each says about the request, and its words.

use std::fmt;
use std::time::Duration;

use super::causes::cause;
use super::handshake::HandshakeFault;

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// No connection came about in time.
    ConnectTimeout(Duration),
    /// The host name cannot be resolved.
    Dns(String),
    /// No connection came about: refused, no route.
    Connect(String),
    /// The handshake of TLS failed.
    Tls(HandshakeFault),
    /// No answer came in time.
    Timeout(Duration),
    /// The connection broke.
    Broken(String),
    /// The answer began and broke off.
    CutShort(String),
}

impl Reason {
    /// The reason of a failed call that had so long for its connection and so long in all.
    pub fn of(error: &reqwest::Error, connect: Duration, all: Duration) -> Self {
        if let Some(fault) = HandshakeFault::of(error) {
            return Self::Tls(fault);
        }
        match (error.is_connect(), error.is_timeout()) {
            (true, true) => Self::ConnectTimeout(connect),
            (true, false) if error.is_dns() => Self::Dns(cause(error)),
            (true, false) => Self::Connect(cause(error)),
            (false, true) => Self::Timeout(all),
            (false, false) if error.is_decode() => Self::CutShort(cause(error)),
            (false, false) => Self::Broken(cause(error)),
        }
    }

    /// Whether the request cannot have been sent.
    pub fn is_not_sent(&self) -> bool {
        matches!(self, Self::ConnectTimeout(_) | Self::Dns(_) | Self::Connect(_) | Self::Tls(_))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ConnectTimeout(limit) => write!(f, "no connection within {} s", limit.as_secs_f64()),
            Self::Dns(cause) => write!(f, "the host name cannot be resolved: {cause}"),
            Self::Connect(cause) => write!(f, "no connection: {cause}"),
            Self::Tls(fault) => write!(f, "no connection: {fault}"),
            Self::Timeout(limit) => write!(f, "no answer within {} s", limit.as_secs_f64()),
            Self::Broken(cause) => write!(f, "the connection broke before an answer came: {cause}"),
            Self::CutShort(cause) => write!(f, "its answer broke off: {cause}"),
        }
    }
}
