//! Addresses of webhook receivers, and the guard of connections to them.
//!
//! An endpoint's address is typed text. Without a guard the engine could connect to the machine's own services, to the
//! private network behind it or to a cloud's metadata service.

use std::{
    collections::BTreeSet,
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    str::FromStr,
    sync::Arc,
};

use ipnet::IpNet;
use url::{Host, Url};

/// The setting that names loopback and private addresses which may be reached, and its environment variable.
const SETTING: &str = "[webhooks] allow (AVERT_WEBHOOKS_ALLOW)";

/// An allowed network: an IP address or a network, at every port or at one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AllowedNetwork {
    network: IpNet,
    port: Option<u16>,
}

impl AllowedNetwork {
    /// Returns this machine's addresses, at every port.
    pub fn loopback() -> [Self; 2] {
        let (v4, v6) = (Ipv4Addr::new(127, 0, 0, 0).into(), Ipv6Addr::LOCALHOST.into());
        [(v4, 8), (v6, 128)].map(|(address, length)| Self { network: IpNet::new_assert(address, length), port: None })
    }

    fn names(&self, address: IpAddr, port: Option<u16>) -> bool {
        (self.port.is_none() || self.port == port)
            && (self.network.contains(&address) || self.network.contains(&carried(address)))
    }
}

impl FromStr for AllowedNetwork {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let wrong = || {
            format!(
                "{text:?} is not allowed: an IP address or a network, with or without a port, such as 127.0.0.1:9000, \
                    10.0.0.0/8 or \
                 [fd00::/8]:9000; names are not taken"
            )
        };
        let (network, port) = split(text).ok_or_else(wrong)?;
        let port = port.map(|port| port.parse().ok().filter(|port| *port != 0).ok_or_else(wrong)).transpose()?;
        let single = network.parse::<IpAddr>().ok().map(|address| IpNet::from(address.to_canonical()));
        let network = single.or_else(|| network.parse().ok()).ok_or_else(wrong)?;
        if single.is_some() && kind(network.addr()) == AddressKind::Reserved {
            return Err(format!("{text:?} is not allowed: webhooks are never sent to a reserved address"));
        }
        Ok(Self { network: network.trunc(), port })
    }
}

/// Address or network, and port: `10.0.0.0/8:80`, `[fd00::1]:80`, or either without a port.
fn split(text: &str) -> Option<(&str, Option<&str>)> {
    if let Some(rest) = text.strip_prefix('[') {
        let (network, after) = rest.split_once(']')?;
        let port = if after.is_empty() { None } else { Some(after.strip_prefix(':')?) };
        return network.contains(':').then_some((network, port));
    }
    match text.split_once(':') {
        Some((network, port)) if !port.contains(':') => Some((network, Some(port))),
        // Several colons, or none: an address alone.
        _ => Some((text, None)),
    }
}

impl fmt::Display for AllowedNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.port, self.network) {
            (None, network) => network.fmt(f),
            (Some(port), IpNet::V4(network)) => write!(f, "{network}:{port}"),
            (Some(port), IpNet::V6(network)) => write!(f, "[{network}]:{port}"),
        }
    }
}

/// The address policy: public addresses, and of loopback and private ones those that are named. The default names none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AddressPolicy(Arc<[AllowedNetwork]>);

/// The kind of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressKind {
    /// Public address in the internet.
    Public,
    /// This machine.
    Loopback,
    /// A private network: RFC 1918, shared (CGNAT) and unique local addresses.
    Private,
    /// Reserved address, never a receiver's, such as link-local ones, where cloud metadata lives.
    Reserved,
}

/// A refused address: one that a webhook may not be sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub struct AddressRefused {
    address: IpAddr,
    port: Option<u16>,
    kind: AddressKind,
}

impl AddressRefused {
    /// Returns the refusal with the port that it was about.
    #[must_use]
    pub fn at_port(self, port: Option<u16>) -> Self {
        Self { port, ..self }
    }
}

impl fmt::Display for AddressRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => SocketAddr::new(self.address, port).fmt(f)?,
            None => self.address.fmt(f)?,
        }
        let kind = match self.kind {
            AddressKind::Loopback => "loopback",
            AddressKind::Private => "private network",
            AddressKind::Public | AddressKind::Reserved => return f.write_str(" is not an allowed address (reserved)"),
        };
        write!(f, " is not an allowed address ({kind}): {SETTING} does not name it")
    }
}

impl AddressPolicy {
    /// Permits public addresses, and these.
    pub fn new(allowed: impl IntoIterator<Item = AllowedNetwork>) -> Self {
        Self(allowed.into_iter().collect())
    }

    /// Permits public addresses and this machine, at every port.
    pub fn loopback() -> Self {
        Self::new(AllowedNetwork::loopback())
    }

    /// Returns the ports that the rules mention.
    pub fn ports(&self) -> BTreeSet<u16> {
        self.0.iter().filter_map(|allowed| allowed.port).collect()
    }

    /// Checks that an address may be connected to, at a port or at one that is none of [`AddressPolicy::ports`].
    pub fn check(&self, address: IpAddr, port: Option<u16>) -> Result<(), AddressRefused> {
        let kind = kind(address);
        let allowed = match kind {
            AddressKind::Public => true,
            AddressKind::Loopback | AddressKind::Private => self.0.iter().any(|allowed| allowed.names(address, port)),
            AddressKind::Reserved => false,
        };
        if allowed { Ok(()) } else { Err(AddressRefused { address, port, kind }) }
    }

    /// Checks the address that stands in a URL, if its host is one. A name is checked when it is resolved.
    pub fn check_literal(&self, url: &Url) -> Result<(), AddressRefused> {
        let port = url.port_or_known_default();
        match url.host() {
            Some(Host::Ipv4(address)) => self.check(address.into(), port),
            Some(Host::Ipv6(address)) => self.check(address.into(), port),
            Some(Host::Domain(_)) | None => Ok(()),
        }
    }

    /// Returns the allowed addresses of a name. An error where it has addresses, and none is allowed.
    pub fn filter(
        &self,
        addresses: impl IntoIterator<Item = SocketAddr>,
        port: Option<u16>,
    ) -> Result<Vec<SocketAddr>, AddressRefused> {
        let checked = addresses.into_iter().map(|address| self.check(address.ip(), port).map(|()| address));
        let (allowed, refused): (Vec<_>, Vec<_>) = checked.partition(Result::is_ok);
        match refused.into_iter().find_map(Result::err) {
            Some(error) if allowed.is_empty() => Err(error),
            _ => Ok(allowed.into_iter().flatten().collect()),
        }
    }
}

/// Returns the IPv4 address that the kernel or the network takes out of an IPv6 one (mapped, NAT64); otherwise the
/// address itself.
fn carried(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => match v6.segments() {
            [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)).into(),
            _ => address.to_canonical(),
        },
        IpAddr::V4(_) => address,
    }
}

/// Returns the kind of an address. One that carries an IPv4 address inside (mapped, compatible, NAT64, 6to4) is of that
/// one's kind, so that no wrapping bypasses the guard. Where it carries a public one it is still refused, unless it is
/// mapped or NAT64.
pub fn kind(address: IpAddr) -> AddressKind {
    match carried(address) {
        IpAddr::V4(address) => kind_v4(address),
        IpAddr::V6(address) => kind_v6(address),
    }
}

fn kind_v4(address: Ipv4Addr) -> AddressKind {
    let [a, b, c, _] = address.octets();
    match (a, b, c) {
        (127, ..) => AddressKind::Loopback,
        (10, ..) | (172, 16..=31, _) | (192, 168, _) | (100, 64..=127, _) => AddressKind::Private,
        // Unspecified, multicast and reserved; link-local.
        (0 | 224..=255, ..) | (169, 254, _) => AddressKind::Reserved,
        // Protocol assignments, documentation, 6to4 relay, benchmarking.
        (192, 0, 0 | 2) | (198, 51, 100) | (203, 0, 113) => AddressKind::Reserved,
        (192, 88, 99) | (198, 18..=19, _) => AddressKind::Reserved,
        _ => AddressKind::Public,
    }
}

fn kind_v6(address: Ipv6Addr) -> AddressKind {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 1] => AddressKind::Loopback,
        [0xfc00..=0xfdff, ..] => AddressKind::Private,
        // Protocol assignments, documentation, 6to4.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x2002, ..] | [0x3fff, 0..=0xfff, ..] => AddressKind::Reserved,
        // Only 2000::/3 is given out as global unicast.
        [0x2000..=0x3fff, ..] => AddressKind::Public,
        _ => AddressKind::Reserved,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn allowing(texts: &[&str]) -> AddressPolicy {
        AddressPolicy::new(texts.iter().map(|text| text.parse().unwrap()))
    }

    /// Every loopback and private address.
    fn any() -> AddressPolicy {
        let private = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"];
        AddressPolicy::new(AllowedNetwork::loopback().into_iter().chain(private.map(|text| text.parse().unwrap())))
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn public_addresses_are_allowed() {
        for text in [
            "1.1.1.1",
            "100.63.255.255",
            "172.15.0.1",
            "172.32.0.1",
            "192.167.1.1",
            "2606:4700:4700::1111",
            "::ffff:1.1.1.1",
            "64:ff9b::101:101",
        ] {
            assert_eq!(kind(ip(text)), AddressKind::Public, "{text}");
        }
    }

    #[test]
    fn addresses_of_this_machine_need_leave() {
        for text in ["127.0.0.1", "127.255.0.9", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1"] {
            assert_eq!(kind(ip(text)), AddressKind::Loopback, "{text}");
            assert!(AddressPolicy::default().check(ip(text), Some(443)).is_err(), "{text}");
            assert!(AddressPolicy::loopback().check(ip(text), Some(443)).is_ok(), "{text}");
        }
    }

    #[test]
    fn private_addresses_need_leave_of_their_own() {
        for text in [
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "100.64.0.1",
            "100.127.255.255",
            "fc00::1",
            "fdff::1",
            "::ffff:10.1.2.3",
        ] {
            assert_eq!(kind(ip(text)), AddressKind::Private, "{text}");
            assert!(AddressPolicy::loopback().check(ip(text), Some(443)).is_err(), "{text}");
            assert!(any().check(ip(text), Some(443)).is_ok(), "{text}");
        }
    }

    #[test]
    fn addresses_that_are_never_a_receivers_are_refused_whatever_is_allowed() {
        for text in [
            "0.0.0.0",
            "0.1.2.3",
            "169.254.169.254",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::2",
            "::127.0.0.1",
            "::ffff:169.254.169.254",
            "::ffff:0:127.0.0.1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::7f00:1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:101:101::",
            "3fff::1",
            "5f00::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "4000::1",
        ] {
            assert!(matches!(kind(ip(text)), AddressKind::Reserved), "{text}");
            assert!(any().check(ip(text), Some(443)).is_err(), "{text}");
        }
    }

    #[rstest]
    #[case("127.0.0.1", "127.0.0.1/32")]
    #[case(" 127.0.0.1:9000 ", "127.0.0.1/32:9000")]
    #[case("10.0.0.0/8", "10.0.0.0/8")]
    #[case("10.1.2.3/8:8080", "10.0.0.0/8:8080")]
    #[case("::1", "::1/128")]
    #[case("[::1]", "::1/128")]
    #[case("[::1]:9000", "[::1/128]:9000")]
    #[case("fd00::/8", "fd00::/8")]
    #[case("[fd00::/8]:443", "[fd00::/8]:443")]
    #[case("::ffff:10.0.0.1", "10.0.0.1/32")]
    fn an_address_or_a_network_is_read_with_or_without_a_port(#[case] text: &str, #[case] shown: &str) {
        let read: AllowedNetwork = text.parse().unwrap();

        assert_eq!(read.to_string(), shown);
        assert_eq!(shown.parse(), Ok(read));
    }

    #[rstest]
    #[case("localhost", "names are not taken")]
    #[case("localhost:9000", "names are not taken")]
    #[case("hooks.example", "names are not taken")]
    #[case("", "an IP address or a network")]
    #[case("*", "an IP address or a network")]
    #[case("127.1", "an IP address or a network")]
    #[case("10.0.0.0/33", "an IP address or a network")]
    #[case("127.0.0.1:0", "an IP address or a network")]
    #[case("127.0.0.1:99999", "an IP address or a network")]
    #[case("127.0.0.1:", "an IP address or a network")]
    #[case("[127.0.0.1]:80", "an IP address or a network")]
    #[case("[::1]80", "an IP address or a network")]
    #[case("http://127.0.0.1", "an IP address or a network")]
    #[case("169.254.169.254", "reserved")]
    fn what_names_no_network_is_refused_with_what_is_allowed(#[case] text: &str, #[case] words: &str) {
        let error = text.parse::<AllowedNetwork>().unwrap_err();

        assert!(error.contains(words), "{error}");
    }

    #[test]
    fn an_address_is_reached_where_it_is_named_and_at_the_port_that_is_named() {
        let policy = allowing(&["127.0.0.1:9000", "10.1.0.0/16", "[fd00::/8]:443"]);
        let reached = |text: &str, port| policy.check(ip(text), port).is_ok();

        for (text, port) in [
            ("127.0.0.1", Some(9_000)),
            ("::ffff:127.0.0.1", Some(9_000)),
            ("10.1.2.3", Some(1)),
            ("10.1.2.3", None),
            ("::ffff:10.1.2.3", None),
            ("fd00::7", Some(443)),
        ] {
            assert!(reached(text, port), "{text} {port:?}");
        }
        for (text, port) in [
            ("127.0.0.1", Some(9_001)),
            ("127.0.0.1", None),
            ("127.0.0.2", Some(9_000)),
            ("::1", Some(9_000)),
            ("10.2.0.1", Some(443)),
            ("fd00::7", None),
            ("fc00::7", Some(443)),
        ] {
            assert!(!reached(text, port), "{text} {port:?}");
        }
        assert_eq!(policy.ports(), BTreeSet::from([443, 9_000]));
    }

    #[test]
    fn a_network_that_is_named_opens_no_address_that_is_never_a_receivers() {
        let policy = allowing(&["0.0.0.0/0", "::/0", "169.254.0.0/16"]);

        for text in ["169.254.169.254", "0.0.0.0", "224.0.0.1", "fe80::1", "::", "255.255.255.255"] {
            assert!(policy.check(ip(text), Some(80)).is_err(), "{text}");
        }
    }

    #[test]
    fn literal_addresses_are_seen_in_every_spelling() {
        for text in [
            "http://127.1/",
            "http://0x7f000001/",
            "http://2130706433/",
            "http://0177.0.0.1/",
            "http://[::ffff:7f00:1]/",
            "http://[::1]:80/",
        ] {
            let url = Url::parse(text).unwrap();
            assert!(AddressPolicy::default().check_literal(&url).is_err(), "{text}");
            assert!(AddressPolicy::loopback().check_literal(&url).is_ok(), "{text}");
        }
        assert!(AddressPolicy::default().check_literal(&Url::parse("http://example.com/").unwrap()).is_ok());
    }

    #[test]
    fn of_a_names_addresses_only_the_allowed_ones_are_used() {
        let of = |texts: &[&str]| texts.iter().map(|text| SocketAddr::new(ip(text), 443)).collect::<Vec<_>>();
        let policy = AddressPolicy::default();
        assert_eq!(policy.filter(of(&["10.0.0.1", "1.1.1.1"]), Some(443)).unwrap(), of(&["1.1.1.1"]));
        let refused = policy.filter(of(&["10.0.0.1", "127.0.0.1"]), Some(443)).unwrap_err();
        let setting = "[webhooks] allow (AVERT_WEBHOOKS_ALLOW)";
        assert_eq!(
            refused.to_string(),
            format!("10.0.0.1:443 is not an allowed address (private network): {setting} does not name it")
        );
        assert_eq!(policy.filter([], None).unwrap(), []);
    }

    proptest! {
        #[test]
        fn wrapping_an_ipv4_address_never_opens_a_door(bits in proptest::prelude::any::<u32>()) {
            let plain = Ipv4Addr::from_bits(bits);
            let [a, b, c, d] = plain.octets();
            let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
            let wrapped = [
                plain.to_ipv6_mapped(),
                plain.to_ipv6_compatible(),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, high, low),
                Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
                Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, high, low),
            ];
            for policy in [AddressPolicy::default(), AddressPolicy::loopback()] {
                if policy.check(plain.into(), None).is_err() {
                    for address in wrapped {
                        // `::1` is this machine by its own right.
                        prop_assert!(address == Ipv6Addr::LOCALHOST || policy.check(address.into(), None).is_err(),
                            "{} in {}", plain, address);
                    }
                }
            }
        }

        #[test]
        fn the_guard_agrees_with_the_standard_library(bits in proptest::prelude::any::<u128>()) {
            let address = Ipv6Addr::from_bits(bits);
            let local = address.is_loopback() || address.is_unspecified() || address.is_multicast()
                || address.is_unique_local()
                || address.is_unicast_link_local();
            prop_assert!(!(local && kind(address.into()) == AddressKind::Public));
        }

        #[test]
        fn ipv4_agrees_with_the_standard_library(bits in proptest::prelude::any::<u32>()) {
            let address = Ipv4Addr::from_bits(bits);
            let local = address.is_loopback() || address.is_unspecified() || address.is_multicast()
                || address.is_private()
                || address.is_link_local() || address.is_broadcast() || address.is_documentation();
            prop_assert!(!(local && kind(address.into()) == AddressKind::Public));
        }
    }
}
