//! What the address of a network's gateway may be: the service that an integrator puts before a network.

use std::net::IpAddr;

use url::{Host, Url};

use super::endpoint::valid_url;

/// Reads the address of a gateway and gives it in its normal form, without a slash at its end. Paths are added to it.
///
/// Plain http is for this machine; beyond it others can read the credential and the alerts on the way, so it has to be allowed expressly.
///
/// # Errors
/// What was wrong and what is allowed. The address is not repeated: it might hold a password.
pub fn valid_gateway(text: &str, insecure_http: bool) -> Result<String, String> {
    let normal = valid_url(text).map_err(|error| error.message.replace("the endpoint's Basic credential", "a Basic credential"))?;
    let url = Url::parse(&normal).map_err(|error| format!("is not an address: {error}"))?;
    if url.query().is_some() {
        return Err("must not hold a query (?): paths are added to the address".to_owned());
    }
    if url.scheme() == "http" && !is_this_machine(&url) && !insecure_http {
        return Err("is plain http beyond this machine, where others can read the credential and the alerts on the way: \
                    use https, or allow it with insecure_http = true"
            .to_owned());
    }
    Ok(normal.trim_end_matches('/').to_owned())
}

fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::V6(address).to_canonical().is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("https://gateway.example", "https://gateway.example")]
    #[case("https://Gateway.example/ethoca/", "https://gateway.example/ethoca")]
    #[case("http://127.0.0.1:9000", "http://127.0.0.1:9000")]
    #[case("http://localhost:9000/a", "http://localhost:9000/a")]
    #[case("http://[::1]:9000", "http://[::1]:9000")]
    fn an_address_comes_back_in_its_normal_form(#[case] text: &str, #[case] normal: &str) {
        assert_eq!(valid_gateway(text, false).as_deref(), Ok(normal));
    }

    #[rstest]
    #[case("", "is required")]
    #[case("gateway.example", "http://")]
    #[case("ftp://gateway.example", "http://")]
    #[case("https://user:hunter22@gateway.example", "user name")]
    #[case("https://gateway.example/?key=hunter22", "query")]
    #[case("https://gateway.example/#a", "fragment")]
    #[case("http://gateway.example", "plain http")]
    #[case("http://10.0.0.1", "plain http")]
    #[case("http://localhost.example", "plain http")]
    fn an_address_that_cannot_be_used_or_is_not_safe_is_refused_without_being_repeated(#[case] text: &str, #[case] words: &str) {
        let error = valid_gateway(text, false).unwrap_err();

        assert!(error.contains(words) && !error.contains("hunter22"), "{error}");
    }

    #[test]
    fn plain_http_beyond_this_machine_is_a_choice() {
        assert_eq!(valid_gateway("http://10.0.0.1", true).as_deref(), Ok("http://10.0.0.1"));
    }
}
