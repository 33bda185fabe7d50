//! Host names to addresses, for every call that goes out: `localhost` and what is below it is this machine (RFC 6761),
//! the rest the system's.

use std::{
    io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::domain::url::is_localhost;

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
}
