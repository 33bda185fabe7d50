//! The client's address behind trusted proxies: what `Forwarded` (RFC 7239) or `X-Forwarded-For` says, as far as those
//! who say it are trusted.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, HeaderName, HeaderValue, header::FORWARDED};
use ipnet::IpNet;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

pub(super) fn is_among(networks: &[IpNet], address: IpAddr) -> bool {
    networks.iter().any(|network| network.contains(&address.to_canonical()))
}

/// The rightmost address that is not a trusted proxy's. What stands left of it anybody could have written. Where a
/// proxy does not say whom it speaks for, it is the proxy's own address.
pub(super) fn client_address(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let mut nearest = peer.to_canonical();
    if !is_among(trusted, nearest) {
        return nearest;
    }
    let hops: Vec<_> = if headers.contains_key(FORWARDED) {
        lines(headers, &FORWARDED).flat_map(|line| split(line, ',')).map(forwarded_for).collect()
    } else {
        lines(headers, &X_FORWARDED_FOR).flat_map(|line| line.split(',')).map(|hop| node(hop.trim())).collect()
    };
    for hop in hops.into_iter().rev() {
        match hop {
            Some(address) if is_among(trusted, address) => nearest = address,
            Some(address) => return address,
            None => return nearest,
        }
    }
    nearest
}

/// Checks for a proxy on this machine that is not trusted: the request names a client, and its peer is a loopback
/// address.
pub(super) fn is_untrusted_proxy(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> bool {
    let names_client = headers.contains_key(FORWARDED) || headers.contains_key(X_FORWARDED_FOR);
    names_client && peer.to_canonical().is_loopback() && !is_among(trusted, peer)
}

/// The lines of a header, in their order; one that is no text says nothing that can be read.
fn lines<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    headers.get_all(name).iter().map(|value: &HeaderValue| value.to_str().unwrap_or("unknown"))
}

/// The address in the `for` of an element of `Forwarded`.
fn forwarded_for(element: &str) -> Option<IpAddr> {
    let mut pairs = split(element, ';').into_iter().filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(name, _)| name.trim().eq_ignore_ascii_case("for"))?;
    let value = value.trim();
    node(value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value))
}

/// Splits a text where the separator stands outside of quotation marks.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut quoted, mut escaped) = (false, false);
    let outside = |c: char| {
        let separates = !quoted && c == separator;
        quoted ^= c == '"' && !escaped;
        escaped = quoted && c == '\\' && !escaped;
        separates
    };
    text.split(outside).collect()
}

/// An address with or without a port; IPv6 in brackets or bare. `unknown` and hidden names are none.
fn node(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()));
    address.map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    const PROXY: &str = "10.0.0.1";

    fn client(peer: &str, headers: &[(&'static str, &str)]) -> String {
        let trusted = ["10.0.0.0/8", "127.0.0.1/32", "2001:db8::/32"].map(|network| network.parse().unwrap());
        let headers =
            headers.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect();
        client_address(peer.parse().unwrap(), &headers, &trusted).to_string()
    }

    #[rstest]
    #[case(&[("x-forwarded-for", "192.0.2.7")], "192.0.2.7")]
    #[case(&[("x-forwarded-for", "198.51.100.1, 192.0.2.7")], "192.0.2.7")]
    #[case(&[("x-forwarded-for", "192.0.2.7, 10.1.2.3")], "192.0.2.7")]
    #[case(&[("x-forwarded-for", "192.0.2.7"), ("x-forwarded-for", "10.1.2.3")], "192.0.2.7")]
    #[case(&[("x-forwarded-for", "192.0.2.7:4711")], "192.0.2.7")]
    #[case(&[("x-forwarded-for", "2001:db9::1")], "2001:db9::1")]
    #[case(&[("x-forwarded-for", "[2001:db9::1]:80")], "2001:db9::1")]
    #[case(&[("x-forwarded-for", "::ffff:192.0.2.7")], "192.0.2.7")]
    #[case(&[("x-forwarded-for", "10.1.2.3")], "10.1.2.3")]
    #[case(&[("x-forwarded-for", "192.0.2.7, unknown, 10.1.2.3")], "10.1.2.3")]
    #[case(&[("x-forwarded-for", "")], PROXY)]
    #[case(&[], PROXY)]
    #[case(&[("forwarded", "for=192.0.2.7")], "192.0.2.7")]
    #[case(&[("forwarded", "For=\"[2001:db9::1]:4711\";proto=https;by=203.0.113.43")], "2001:db9::1")]
    #[case(&[("forwarded", "for=198.51.100.1, proto=http; for=192.0.2.7,for=10.1.2.3")], "192.0.2.7")]
    #[case(&[("forwarded", "for=192.0.2.7;host=\"a,b;for=198.51.100.1\"")], "192.0.2.7")]
    #[case(&[("forwarded", "for=192.0.2.7;host=\"a\\\",for=198.51.100.1\"")], "192.0.2.7")]
    #[case(&[("forwarded", "for=_hidden")], PROXY)]
    #[case(&[("forwarded", "proto=https")], PROXY)]
    #[case(&[("forwarded", "for=192.0.2.7"), ("x-forwarded-for", "198.51.100.1")], "192.0.2.7")]
    fn the_rightmost_address_that_is_not_trusted_counts(
        #[case] headers: &[(&'static str, &str)],
        #[case] counts: &str,
    ) {
        assert_eq!(client(PROXY, headers), counts);
    }

    #[test]
    fn nobody_else_is_believed() {
        assert_eq!(
            client("192.0.2.1", &[("x-forwarded-for", "127.0.0.1"), ("forwarded", "for=127.0.0.1")]),
            "192.0.2.1"
        );
        assert_eq!(client("::ffff:127.0.0.1", &[("x-forwarded-for", "192.0.2.7")]), "192.0.2.7");
    }

    #[rstest]
    #[case("127.0.0.2", Some("x-forwarded-for"), true)]
    #[case("::1", Some("forwarded"), true)]
    #[case("::ffff:127.0.0.2", Some("forwarded"), true)]
    #[case("127.0.0.1", Some("x-forwarded-for"), false)]
    #[case("127.0.0.2", Some("via"), false)]
    #[case("127.0.0.2", None, false)]
    #[case("192.0.2.1", Some("x-forwarded-for"), false)]
    fn a_proxy_on_this_machine_that_is_not_trusted_is_noticed(
        #[case] peer: &str,
        #[case] header: Option<&'static str>,
        #[case] noticed: bool,
    ) {
        let trusted = ["127.0.0.1/32".parse().unwrap()];
        let headers = header
            .map(|name| (HeaderName::from_static(name), HeaderValue::from_static("for=192.0.2.7")))
            .into_iter()
            .collect();

        assert_eq!(is_untrusted_proxy(peer.parse().unwrap(), &headers, &trusted), noticed);
    }

    proptest! {
        #[test]
        fn no_header_makes_it_panic(text in "[ -~]{0,80}", forwarded in any::<bool>()) {
            client(PROXY, &[(if forwarded { "forwarded" } else { "x-forwarded-for" }, &text)]);
        }
    }
}
