//! Addresses that cannot be wrong: [`BaseUrl`] of a deployment or a gateway, [`EndpointUrl`] of a webhook endpoint; and
//! the one rule for plain http.
//!
//! Shape only. Whether an address may be connected to is decided at connect time, when its name has been resolved.

use std::{fmt, net::IpAddr, str::FromStr};

use url::{Host, ParseError, Url};

use crate::redact::REDACTED;

/// Longest address.
pub const MAX_URL_BYTES: usize = 2_048;

/// Permission for plain http. Beyond this machine others can read credentials and alerts on the way, so it has to be
/// given expressly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainHttp {
    /// Permitted anywhere.
    Allowed,
    /// Refused beyond this machine, unless it is allowed in this way.
    Unless(&'static str),
}

impl PlainHttp {
    /// Returns the permission of a setting or flag; `how` it is set, such as `say --insecure-http`.
    pub fn when(allowed: bool, how: &'static str) -> Self {
        if allowed { Self::Allowed } else { Self::Unless(how) }
    }
}

/// The base URL of a deployment or a gateway: paths are added to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(Url);

impl BaseUrl {
    /// Reads an address into its normal form.
    ///
    /// # Errors
    /// When the address is not allowed, with the allowed form.
    pub fn parse(text: &str, plain_http: PlainHttp) -> Result<Self, String> {
        let url = parse(text, plain_http)?;
        if url.query().is_some() {
            return wrong("must not hold a query (?): paths are added to the address");
        }
        Ok(Self(url))
    }

    /// Returns the address without a slash at its end.
    pub fn as_str(&self) -> &str {
        self.0.as_str().trim_end_matches('/')
    }

    /// Returns the address in its parts.
    pub fn as_url(&self) -> &Url {
        &self.0
    }

    /// Returns host and port.
    pub fn host(&self) -> String {
        let host = self.0.host_str().unwrap_or_default();
        self.0.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// Returns the host as a resolver takes it, and the port, the scheme's own where none is named.
    pub fn host_and_port(&self) -> (String, u16) {
        let host = self.0.host_str().unwrap_or_default().trim_matches(['[', ']']);
        (host.to_owned(), self.0.port_or_known_default().unwrap_or_default())
    }

    /// Returns true for an encrypted connection.
    pub fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }
}

impl FromStr for BaseUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text, PlainHttp::Unless("allow it expressly"))
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The URL of a webhook endpoint. What it carries in its query is a secret, which neither `Display` nor `Debug` shows.
#[derive(Clone, PartialEq, Eq)]
pub struct EndpointUrl(Url);

impl EndpointUrl {
    /// Reads an address into its normal form, in which no other spelling of an address can hide (`http://0x7f.1`
    /// becomes `http://127.0.0.1/`).
    ///
    /// # Errors
    /// When the address is not allowed, with the allowed form.
    pub fn parse(text: &str, plain_http: PlainHttp) -> Result<Self, String> {
        parse(text, plain_http).map(Self)
    }

    /// Returns the whole address with its secret.
    pub fn reveal(&self) -> &str {
        self.0.as_str()
    }

    /// Returns true where it carries a secret.
    pub fn has_secret(&self) -> bool {
        self.0.query().is_some_and(|query| !query.is_empty())
    }

    /// Returns true where its secret is masked by asterisks.
    pub fn is_masked(&self) -> bool {
        self.0.query() == Some(REDACTED)
    }

    /// Returns the address as it may be shown.
    #[must_use]
    pub fn masked(&self) -> Self {
        Self(masked(&self.0))
    }

    /// Returns the address in its parts.
    pub fn as_url(&self) -> &Url {
        &self.0
    }

    /// Returns true for plain http beyond this machine.
    pub fn is_in_clear(&self) -> bool {
        is_in_clear(&self.0)
    }
}

impl fmt::Debug for EndpointUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EndpointUrl({self})")
    }
}

impl fmt::Display for EndpointUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.masked().0.as_str())
    }
}

/// Returns an endpoint's address as it may be shown: asterisks in place of its query.
pub fn masked(url: &Url) -> Url {
    let mut url = url.clone();
    if url.query().is_some_and(|query| !query.is_empty()) {
        url.set_query(Some(REDACTED));
    }
    url
}

/// Returns the parts of an endpoint's address that must not appear in texts: the query, and each value in it.
pub fn secrets(url: &Url) -> Vec<String> {
    let values = url.query_pairs().map(|(_, value)| value.into_owned());
    url.query().map(str::to_owned).into_iter().chain(values).filter(|secret| !secret.is_empty()).collect()
}

fn parse(text: &str, plain_http: PlainHttp) -> Result<Url, String> {
    let text = text.trim();
    if text.is_empty() {
        return wrong("is required: an http or https address");
    }
    let url = match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.host_str().is_some_and(|host| !host.is_empty()) => {
            url
        }
        // A bare host is the likely mistake; "relative URL without a base" would not help anybody.
        Ok(_) | Err(ParseError::RelativeUrlWithoutBase) => {
            return wrong("is not an address: it starts with http:// or https:// and names a host");
        }
        Err(error) => return wrong(format!("is not an address: {error}")),
    };
    // The normal form is what is kept and read again, and may be the longer one.
    if is_too_long(text) || is_too_long(url.as_str()) {
        return wrong("is too long: at most 2048 bytes");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return wrong("must not hold a user name or password: the credential is given apart from it");
    }
    if url.fragment().is_some() {
        return wrong("must not hold a fragment (#): it would never be sent");
    }
    if url.port() == Some(0) {
        return wrong("has port 0, which nothing can listen on");
    }
    match plain_http {
        PlainHttp::Unless(how) if is_in_clear(&url) => wrong(format!(
            "is plain http beyond this machine, where others can read the credential and the alerts on the way: use \
                https, or {how}"
        )),
        _ => Ok(url),
    }
}

/// Returns true for an address that is too long. The slash at the end, which the normal form of a bare host has, does
/// not count.
fn is_too_long(text: &str) -> bool {
    text.strip_suffix('/').unwrap_or(text).len() > MAX_URL_BYTES
}

fn wrong<T>(message: impl Into<String>) -> Result<T, String> {
    Err(message.into())
}

fn is_in_clear(url: &Url) -> bool {
    url.scheme() == "http" && !is_this_machine(url)
}

/// Returns true for an address on this machine.
pub fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => is_localhost(name),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::V6(address).to_canonical().is_loopback(),
        None => false,
    }
}

/// Returns true for `localhost` or a name below it, which is this machine wherever it is asked (RFC 6761).
pub fn is_localhost(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    const GUARDED: PlainHttp = PlainHttp::Unless("say so");

    #[rstest]
    #[case("http://127.0.0.1:9000/hook", "http://127.0.0.1:9000/hook")]
    #[case(" https://Example.com/a?b=c ", "https://example.com/a?b=c")]
    #[case("https://example.com:443", "https://example.com/")]
    #[case("http://0x7f.1/", "http://127.0.0.1/")]
    #[case("http://2130706433", "http://127.0.0.1/")]
    #[case("http://[::1]:8080/x", "http://[::1]:8080/x")]
    #[case("http://LOCALHOST:8080", "http://localhost:8080/")]
    fn an_address_is_given_back_in_its_normal_form(#[case] text: &str, #[case] normal: &str) {
        assert_eq!(EndpointUrl::parse(text, GUARDED).unwrap().reveal(), normal);
    }

    #[test]
    fn an_address_that_is_taken_can_be_read_again_from_its_normal_form() {
        let of_length =
            |length: usize| format!("https://a.example?{}", "b".repeat(length - "https://a.example?".len()));
        let bare = format!("https://{}", "b.".repeat(MAX_URL_BYTES)).split_at(MAX_URL_BYTES).0.to_owned();

        for text in [of_length(MAX_URL_BYTES - 1), of_length(MAX_URL_BYTES), bare, of_length(100) + &"ä".repeat(900)] {
            let again =
                EndpointUrl::parse(&text, GUARDED).map(|taken| EndpointUrl::parse(taken.reveal(), GUARDED).is_ok());
            assert_ne!(again, Ok(false), "{text}");
        }
        assert!(EndpointUrl::parse(&of_length(MAX_URL_BYTES - 1), GUARDED).is_ok());
        assert!(EndpointUrl::parse(&of_length(MAX_URL_BYTES), GUARDED).is_err(), "its normal form has a slash more");
    }

    #[rstest]
    #[case("https://gateway.example", "https://gateway.example")]
    #[case("https://Gateway.example/ethoca/", "https://gateway.example/ethoca")]
    #[case(" http://127.0.0.1:9000/ ", "http://127.0.0.1:9000")]
    #[case("http://localhost:9000/a", "http://localhost:9000/a")]
    fn a_base_has_no_slash_at_its_end(#[case] text: &str, #[case] normal: &str) {
        assert_eq!(BaseUrl::parse(text, GUARDED).unwrap().as_str(), normal);
    }

    #[rstest]
    #[case("", "required")]
    #[case("example.com/hook", "starts with http")]
    #[case("ftp://example.com", "http:// or https://")]
    #[case("file:///etc/passwd", "http:// or https://")]
    #[case("http://", "is not an address")]
    #[case("http://user:hunter22@example.com", "user name")]
    #[case("http://hunter22@example.com", "user name")]
    #[case("https://example.com/#part", "fragment")]
    #[case("https://example.com/?key=hunter22#part", "fragment")]
    #[case("http://example.com:0/", "port 0")]
    #[case("http://example.com:99999/", "is not an address")]
    fn an_address_that_cannot_work_is_refused_with_its_reason_and_not_repeated(
        #[case] text: &str,
        #[case] words: &str,
    ) {
        for error in
            [BaseUrl::parse(text, GUARDED).unwrap_err(), EndpointUrl::parse(text, PlainHttp::Allowed).unwrap_err()]
        {
            assert!(error.contains(words) && !error.contains("hunter22"), "{error}");
        }
    }

    #[rstest]
    #[case("https://shop.example/hooks?token=hunter22&x=1", "https://shop.example/hooks?****")]
    #[case("https://shop.example/?hunter22", "https://shop.example/?****")]
    #[case("https://shop.example/hooks?", "https://shop.example/hooks?")]
    #[case("https://shop.example/hooks", "https://shop.example/hooks")]
    fn what_an_address_carries_in_its_query_is_not_shown(#[case] text: &str, #[case] shown: &str) {
        let url = EndpointUrl::parse(text, GUARDED).unwrap();

        assert_eq!((url.to_string().as_str(), url.reveal()), (shown, text));
        assert_eq!(format!("{url:?}"), format!("EndpointUrl({shown})"));
        assert_eq!((url.masked().is_masked(), url.masked().masked()), (url.has_secret(), url.masked()));
    }

    #[test]
    fn what_must_not_come_back_is_the_query_and_its_values() {
        let url = EndpointUrl::parse("https://shop.example/?token=hun%20ter&x=1", GUARDED).unwrap();

        assert_eq!(secrets(url.as_url()), ["token=hun%20ter&x=1", "hun ter", "1"]);
    }

    #[test]
    fn paths_are_added_to_a_base_so_it_holds_no_query() {
        let error = BaseUrl::parse("https://example.com/?key=hunter22", GUARDED).unwrap_err();

        assert!(error.contains("query") && !error.contains("hunter22"), "{error}");
        assert!(EndpointUrl::parse("https://example.com/?key=1", GUARDED).is_ok());
    }

    #[rstest]
    #[case("http://example.com")]
    #[case("http://10.0.0.1")]
    #[case("http://[::ffff:10.0.0.1]")]
    #[case("http://localhost.example.com")]
    #[case("http://notlocalhost")]
    #[case("http://app.localhost.example.")]
    #[case("http://localhost..")]
    #[case("http://127.0.0.1.example.com")]
    fn plain_http_beyond_this_machine_is_a_choice(#[case] text: &str) {
        let (base, endpoint) = (BaseUrl::parse(text, GUARDED), EndpointUrl::parse(text, GUARDED));

        for error in [base.unwrap_err(), endpoint.unwrap_err()] {
            assert!(error.starts_with("is plain http beyond this machine") && error.ends_with("or say so"), "{error}");
        }
        assert!(
            BaseUrl::parse(text, PlainHttp::Allowed).is_ok()
                && EndpointUrl::parse(text, PlainHttp::when(true, "")).is_ok()
        );
    }

    proptest! {
        #[test]
        fn what_is_accepted_stays_as_it_is(
            text in "https?://[a-z]{1,8}(\\.[a-z]{2,4})?(:[1-9][0-9]{1,3})?(/[a-z0-9]{0,5}){0,3}",
        ) {
            let endpoint = EndpointUrl::parse(&text, PlainHttp::Allowed).unwrap();
            prop_assert_eq!(EndpointUrl::parse(endpoint.reveal(), PlainHttp::Allowed).unwrap(), endpoint);
            let base = BaseUrl::parse(&text, PlainHttp::Allowed).unwrap();
            let again = BaseUrl::parse(base.as_str(), PlainHttp::Allowed).unwrap();
            prop_assert_eq!(again.as_str(), base.as_str());
        }

        #[test]
        fn no_text_breaks_the_reading(text in any::<String>()) {
            let _ = BaseUrl::parse(&text, GUARDED);
            let _ = EndpointUrl::parse(&text, GUARDED);
        }
    }

    #[rstest]
    #[case("https://api.example", "api.example", false)]
    #[case("https://api.example:8443/v1", "api.example:8443", false)]
    #[case("http://localhost:7317", "localhost:7317", true)]
    #[case("http://127.0.0.9:7317", "127.0.0.9:7317", true)]
    #[case("http://[::1]:7317", "[::1]:7317", true)]
    #[case("http://app.localhost:7317", "app.localhost:7317", true)]
    #[case("http://a.b.localhost.", "a.b.localhost.", true)]
    fn a_base_tells_its_host_and_whether_it_is_this_machine(
        #[case] text: &str,
        #[case] host: &str,
        #[case] here: bool,
    ) {
        let url = BaseUrl::parse(text, GUARDED).unwrap();

        assert_eq!((url.host().as_str(), is_this_machine(url.as_url()), url.to_string().as_str()), (host, here, text));
    }

    #[rstest]
    #[case("https://shop.example/hook", false)]
    #[case("http://127.0.0.1:9000/hook", false)]
    #[case("http://shop.example/hook", true)]
    fn plain_http_beyond_this_machine_is_in_clear(#[case] text: &str, #[case] in_clear: bool) {
        assert_eq!(EndpointUrl::parse(text, PlainHttp::Allowed).unwrap().is_in_clear(), in_clear);
    }
}
