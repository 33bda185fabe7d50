//! The host allow-list: the names by which the API may be called.
//!
//! A web page can point a name of its own at this machine and have the browser call us. The Host header then carries
//! that name.

use std::net::{IpAddr, SocketAddr};

use crate::domain::url::is_localhost;

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
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

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
}
