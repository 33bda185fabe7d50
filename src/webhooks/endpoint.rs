//! The SSRF guard: which addresses a webhook may be sent to, decided when the connection is made.
//!
//! An endpoint's address is text that somebody typed. Without a guard it could make the engine talk to the machine's own services, to
//! the private network behind it or to a cloud's metadata service. A check when the endpoint is added would not do: the name can
//! resolve to something else later. So the resolver that the connection uses leaves out what is not allowed, and addresses that stand
//! literally in the URL, which no resolver ever sees, are checked before the request.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

/// The address policy: which addresses beyond the public internet may be connected to. The default is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AddressPolicy {
    /// This machine: 127.0.0.0/8 and `::1`. For the demo and for engines that are themselves bound to loopback.
    pub allow_loopback: bool,
    /// The private network: RFC 1918, shared (CGNAT) and unique local addresses. Never link-local ones, where cloud metadata lives.
    pub allow_private: bool,
}

/// The kind of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressKind {
    /// Out in the internet.
    Public,
    /// This machine.
    Loopback,
    /// A private network.
    Private,
    /// Never a receiver's address; the text says why.
    Special(&'static str),
}

/// A refused address: one that a webhook may not be sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    address: IpAddr,
    kind: AddressKind,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            AddressKind::Public => "public",
            AddressKind::Loopback => "loopback",
            AddressKind::Private => "private network",
            AddressKind::Special(kind) => kind,
        };
        write!(f, "not sent: {} is not an allowed address ({kind})", self.address)
    }
}

impl std::error::Error for Refused {}

impl AddressPolicy {
    /// Public addresses and this machine.
    pub const LOOPBACK: Self = Self { allow_loopback: true, allow_private: false };

    /// Whether an address may be connected to.
    pub fn check(self, address: IpAddr) -> Result<(), Refused> {
        let kind = kind(address);
        let allowed = match kind {
            AddressKind::Public => true,
            AddressKind::Loopback => self.allow_loopback,
            AddressKind::Private => self.allow_private,
            AddressKind::Special(_) => false,
        };
        if allowed { Ok(()) } else { Err(Refused { address, kind }) }
    }

    /// Checks the address that stands in a URL, if its host is one. A name is checked when it is resolved.
    pub fn check_literal(self, url: &Url) -> Result<(), Refused> {
        match url.host() {
            Some(Host::Ipv4(address)) => self.check(address.into()),
            Some(Host::Ipv6(address)) => self.check(address.into()),
            Some(Host::Domain(_)) | None => Ok(()),
        }
    }

    /// The allowed ones of the addresses of a name. An error when there are some, and none is allowed.
    pub fn filter(self, addresses: impl IntoIterator<Item = SocketAddr>) -> Result<Vec<SocketAddr>, Refused> {
        let mut refused = None;
        let allowed: Vec<SocketAddr> = addresses
            .into_iter()
            .filter(|address| match self.check(address.ip()) {
                Ok(()) => true,
                Err(error) => {
                    refused.get_or_insert(error);
                    false
                }
            })
            .collect();
        match refused {
            Some(error) if allowed.is_empty() => Err(error),
            _ => Ok(allowed),
        }
    }
}

/// Tells what kind of address one is. Addresses that carry an IPv4 address inside (mapped, compatible, NAT64, 6to4) are what that one
/// is, so that no wrapping gets around the guard; where they carry a public one they are still refused, except mapped and NAT64 ones.
pub fn kind(address: IpAddr) -> AddressKind {
    match address {
        IpAddr::V4(address) => kind_v4(address),
        IpAddr::V6(address) => kind_v6(address),
    }
}

fn kind_v4(address: Ipv4Addr) -> AddressKind {
    let [a, b, c, _] = address.octets();
    match (a, b, c) {
        (0, ..) => AddressKind::Special("unspecified"),
        (127, ..) => AddressKind::Loopback,
        (10, ..) | (172, 16..=31, _) | (192, 168, _) | (100, 64..=127, _) => AddressKind::Private,
        (169, 254, _) => AddressKind::Special("link-local"),
        (192, 0, 0) => AddressKind::Special("protocol assignments"),
        (192, 0, 2) | (198, 51, 100) | (203, 0, 113) => AddressKind::Special("documentation"),
        (192, 88, 99) => AddressKind::Special("6to4 relay"),
        (198, 18..=19, _) => AddressKind::Special("benchmarking"),
        (224..=239, ..) => AddressKind::Special("multicast"),
        (240..=255, ..) => AddressKind::Special("reserved"),
        _ => AddressKind::Public,
    }
}

fn kind_v6(address: Ipv6Addr) -> AddressKind {
    let segments = address.segments();
    let inside = |high: u16, low: u16| {
        let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
        Ipv4Addr::new(a, b, c, d)
    };
    match segments {
        [0, 0, 0, 0, 0, 0, 0, 0] => AddressKind::Special("unspecified"),
        [0, 0, 0, 0, 0, 0, 0, 1] => AddressKind::Loopback,
        // IPv4-mapped: the kernel connects to the IPv4 address. NAT64: the network does.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => kind_v4(inside(high, low)),
        [0x64, 0xff9b, 1, ..] => AddressKind::Special("local NAT64"),
        [0, 0, 0, 0, 0, 0, ..] => AddressKind::Special("IPv4-compatible"),
        [0, 0, 0, 0, 0xffff, 0, ..] => AddressKind::Special("IPv4-translated"),
        [0x100, 0, 0, ..] => AddressKind::Special("discard-only"),
        [0x2001, 0..=0x1ff, ..] => AddressKind::Special("protocol assignments"),
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => AddressKind::Special("documentation"),
        [0x2002, ..] => AddressKind::Special("6to4"),
        [0x5f00, ..] => AddressKind::Special("segment routing"),
        [0xfc00..=0xfdff, ..] => AddressKind::Private,
        [0xfe80..=0xfebf, ..] => AddressKind::Special("link-local"),
        [0xfec0..=0xfeff, ..] => AddressKind::Special("site-local"),
        [0xff00..=0xffff, ..] => AddressKind::Special("multicast"),
        // Only 2000::/3 is given out as global unicast.
        [0x2000..=0x3fff, ..] => AddressKind::Public,
        _ => AddressKind::Special("reserved"),
    }
}

/// The system's resolver.
#[derive(Debug, Clone, Copy)]
pub struct SystemNames;

impl Resolve for SystemNames {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let found: Addrs = Box::new(found.into_iter());
            Ok(found)
        })
    }
}

/// A DNS resolver with the SSRF guard behind it: what a name resolves to when the connection is made is what is checked.
#[derive(Clone)]
pub struct GuardedResolver {
    policy: AddressPolicy,
    names: Arc<dyn Resolve>,
}

impl GuardedResolver {
    /// The allowed ones of the addresses that this resolver finds.
    pub fn new(policy: AddressPolicy, names: Arc<dyn Resolve>) -> Self {
        Self { policy, names }
    }
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let policy = self.policy;
        let found = self.names.resolve(name);
        Box::pin(async move {
            let allowed: Addrs = Box::new(policy.filter(found.await?)?.into_iter());
            Ok(allowed)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ANY: AddressPolicy = AddressPolicy { allow_loopback: true, allow_private: true };

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
            assert!(AddressPolicy::default().check(ip(text)).is_err(), "{text}");
            assert!(AddressPolicy::LOOPBACK.check(ip(text)).is_ok(), "{text}");
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
            assert!(AddressPolicy::LOOPBACK.check(ip(text)).is_err(), "{text}");
            assert!(ANY.check(ip(text)).is_ok(), "{text}");
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
            assert!(matches!(kind(ip(text)), AddressKind::Special(_)), "{text}");
            assert!(ANY.check(ip(text)).is_err(), "{text}");
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
            assert!(AddressPolicy::LOOPBACK.check_literal(&url).is_ok(), "{text}");
        }
        assert!(AddressPolicy::default().check_literal(&Url::parse("http://example.com/").unwrap()).is_ok());
    }

    #[test]
    fn of_a_names_addresses_only_the_allowed_ones_are_used() {
        let of = |texts: &[&str]| texts.iter().map(|text| SocketAddr::new(ip(text), 443)).collect::<Vec<_>>();
        let policy = AddressPolicy::default();
        assert_eq!(policy.filter(of(&["10.0.0.1", "1.1.1.1"])).unwrap(), of(&["1.1.1.1"]));
        let refused = policy.filter(of(&["10.0.0.1", "127.0.0.1"])).unwrap_err();
        assert_eq!(refused.to_string(), "not sent: 10.0.0.1 is not an allowed address (private network)");
        assert_eq!(policy.filter([]).unwrap(), []);
    }

    proptest! {
        #[test]
        fn wrapping_an_ipv4_address_never_opens_a_door(bits in any::<u32>()) {
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
            for policy in [AddressPolicy::default(), AddressPolicy::LOOPBACK] {
                if policy.check(plain.into()).is_err() {
                    for address in wrapped {
                        // `::1` is this machine by its own right.
                        prop_assert!(address == Ipv6Addr::LOCALHOST || policy.check(address.into()).is_err(), "{} in {}", plain, address);
                    }
                }
            }
        }

        #[test]
        fn the_guard_agrees_with_the_standard_library(bits in any::<u128>()) {
            let address = Ipv6Addr::from_bits(bits);
            let local = address.is_loopback() || address.is_unspecified() || address.is_multicast() || address.is_unique_local()
                || address.is_unicast_link_local();
            prop_assert!(!(local && kind(address.into()) == AddressKind::Public));
        }

        #[test]
        fn ipv4_agrees_with_the_standard_library(bits in any::<u32>()) {
            let address = Ipv4Addr::from_bits(bits);
            let local = address.is_loopback() || address.is_unspecified() || address.is_multicast() || address.is_private()
                || address.is_link_local() || address.is_broadcast() || address.is_documentation();
            prop_assert!(!(local && kind(address.into()) == AddressKind::Public));
        }
    }
}
