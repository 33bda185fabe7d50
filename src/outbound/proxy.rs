//! The way out: host names to addresses, and the proxy of the environment, named without its credentials.

use std::{
    fmt, io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
};

use hyper::Uri;
use hyper_util::client::proxy::matcher::Matcher;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::Url;

use crate::domain::url::{is_localhost, is_this_machine};

/// A proxy, by its host and port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxy(String);

impl Proxy {
    /// The proxy by which an address is reached; none on this machine, and where the environment names none for it.
    pub fn towards(url: &Url) -> Option<Self> {
        if is_this_machine(url) { None } else { Self::named_by(&Matcher::from_system(), url) }
    }

    fn named_by(environment: &Matcher, url: &Url) -> Option<Self> {
        let proxy = environment.intercept(&url.as_str().parse::<Uri>().ok()?)?;
        let host = proxy.uri().host()?;
        Some(Self(proxy.uri().port_u16().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))))
    }
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the proxy {} (HTTPS_PROXY, HTTP_PROXY or ALL_PROXY)", self.0)
    }
}

/// Resolves a host name or a literal address.
///
/// # Errors
/// When the system knows no address of it.
pub async fn look_up(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    if is_localhost(host) {
        // The family that is tried last is the one whose refusal is told.
        return Ok(vec![(Ipv6Addr::LOCALHOST, port).into(), (Ipv4Addr::LOCALHOST, port).into()]);
    }
    Ok(tokio::net::lookup_host((host, port)).await?.collect())
}

/// The resolver of HTTP clients.
#[derive(Debug, Clone, Copy)]
pub struct HostNames;

impl Resolve for HostNames {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found: Addrs = Box::new(look_up(name.as_str(), 0).await?.into_iter());
            Ok(found)
        })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("localhost")]
    #[case("app.localhost")]
    #[case("A.B.LocalHost.")]
    #[tokio::test]
    async fn a_name_below_localhost_is_this_machine_whatever_a_resolver_says(#[case] name: &str) {
        let found = look_up(name, 9).await.unwrap();

        assert!(
            found.len() == 2 && found.iter().all(|address| address.ip().is_loopback() && address.port() == 9),
            "{found:?}"
        );
    }

    #[rstest]
    #[case("http://user:hunter22@proxy.example:3128", Some("proxy.example:3128"))]
    #[case("http://user:hunter22@hunter23@proxy.example:3128", Some("proxy.example:3128"))]
    #[case("socks5h://user:hunter22@[::1]:1080", Some("[::1]:1080"))]
    #[case("proxy.example", Some("proxy.example"))]
    #[case("", None)]
    fn a_proxy_is_named_without_its_credentials(#[case] set: &str, #[case] named: Option<&str>) {
        let environment = Matcher::builder().all(set).build();

        let proxy = Proxy::named_by(&environment, &"https://alerts.example/".parse().unwrap());

        assert_eq!(proxy, named.map(|name| Proxy(name.to_owned())));
    }
}
