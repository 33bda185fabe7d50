//! The proxy of the environment: which addresses are reached by one, and its name without its credentials.

use std::fmt;

use hyper::Uri;
use hyper_util::client::proxy::matcher::Matcher;
use url::Url;

use crate::domain::url::is_this_machine;

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

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

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
