//! Reasons of a call without an answer: one table of what each says about the request, and its words.

use std::{fmt, time::Duration};

use super::{
    handshake::{HandshakeFault, cause, is_of_tunnel},
    proxy::Proxy,
    tls::ClientTls,
};

/// Reason of a call without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// No connection came about in time.
    ConnectTimeout(Duration),
    /// The host name cannot be resolved.
    Dns(String),
    /// No connection came about: refused, no route.
    Connect(String),
    /// The handshake of TLS failed: why, and what can be done about it.
    Tls(String),
    /// The proxy in between made no connection, for this reason.
    Proxy(Proxy, Box<Reason>),
    /// No answer came in time.
    Timeout(Duration),
    /// The connection broke.
    Broken(String),
    /// The answer began and broke off.
    CutShort(String),
}

impl Reason {
    /// The reason of a failed call that had so long for its connection and so long in all.
    pub(super) fn of(
        error: &reqwest::Error,
        connect: Duration,
        all: Duration,
        tls: &ClientTls,
        proxy: Option<&Proxy>,
    ) -> Self {
        let reason = match (HandshakeFault::of(error), error.is_connect(), error.is_timeout()) {
            (Some(fault), ..) => Self::Tls(format!("{fault}{}", tls.advice(&fault))),
            (None, true, true) => Self::ConnectTimeout(connect),
            (None, true, false) if error.is_dns() => Self::Dns(cause(error)),
            (None, true, false) => Self::Connect(cause(error)),
            (None, false, true) => Self::Timeout(all),
            (None, false, false) if error.is_decode() => Self::CutShort(cause(error)),
            (None, false, false) => Self::Broken(cause(error)),
        };
        match proxy {
            // Behind a tunnel it is the service whose certificate is looked at.
            Some(proxy) if reason.is_not_sent() && (!matches!(reason, Self::Tls(_)) || is_of_tunnel(error)) => {
                Self::Proxy(proxy.clone(), Box::new(reason))
            }
            _ => reason,
        }
    }

    /// Checks that the request cannot have been sent.
    pub fn is_not_sent(&self) -> bool {
        matches!(self, Self::ConnectTimeout(_) | Self::Dns(_) | Self::Connect(_) | Self::Tls(_) | Self::Proxy(..))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ConnectTimeout(limit) => write!(f, "no connection within {} s", limit.as_secs_f64()),
            Self::Dns(cause) => write!(f, "the host name cannot be resolved: {cause}"),
            Self::Connect(cause) => write!(f, "no connection: {cause}"),
            Self::Tls(fault) => write!(f, "no connection: {fault}"),
            Self::Proxy(proxy, why) => write!(f, "{proxy}: {why}"),
            Self::Timeout(limit) => write!(f, "no answer within {} s", limit.as_secs_f64()),
            Self::Broken(cause) => write!(f, "the connection broke before an answer came: {cause}"),
            Self::CutShort(cause) => write!(f, "its answer broke off: {cause}"),
        }
    }
}
