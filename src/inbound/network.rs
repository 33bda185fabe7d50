//! The network of an address: what whoever holds the address cannot change at will.

use std::net::{IpAddr, Ipv6Addr};

/// The address as one that cannot be changed at will: whoever has one IPv6 address has its whole /64.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64))),
    }
}
