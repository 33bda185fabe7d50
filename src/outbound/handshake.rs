//! Causes of a failed call and of a failed TLS handshake, in words that a person can act on.

use std::{error::Error, fmt, io};

use rustls::{AlertDescription, CertificateError, InvalidMessage, pki_types::UnixTime};

use crate::domain::{Timestamp, redact};

/// Most names of a certificate that are told.
const MOST_NAMES: usize = 3;

/// The fault of a TLS handshake: no request was read by the other side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandshakeFault {
    /// The certificate's authority is not trusted.
    UnknownIssuer,
    /// The certificate is an authority's own, as a self-signed one mostly is.
    OwnAuthority,
    /// The certificate is for other names; those it is for, where they were told.
    WrongName(String),
    /// The certificate's time is over, or has not come: since or until when, where that was told.
    NotNow(String),
    /// The other side wants a client certificate, or not this one.
    ClientCertificate(String),
    /// Anything else.
    Other(String),
}

impl HandshakeFault {
    /// The failed handshake of a call, where that is why it has no answer.
    pub(super) fn of(error: &reqwest::Error) -> Option<Self> {
        match find::<rustls::Error>(error)? {
            rustls::Error::InvalidCertificate(why) => Some(Self::of_certificate(why)),
            // Alerts about our certificate, or the lack of one, come when our side of the handshake is done.
            rustls::Error::AlertReceived(alert) if is_about_certificates(*alert) => {
                Some(Self::ClientCertificate(words(*alert)))
            }
            rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
                Some(Self::Other("what answers there does not speak TLS: is it an address of plain http?".to_owned()))
            }
            rustls::Error::General(why) => Some(Self::Other(why.clone())),
            why if error.is_connect() => Some(Self::Other(why.to_string())),
            _ => None,
        }
    }

    fn of_certificate(why: &CertificateError) -> Self {
        match why {
            // An authority that is trusted has the same name and another key.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => Self::UnknownIssuer,
            CertificateError::NotValidForName => Self::WrongName(String::new()),
            CertificateError::NotValidForNameContext { presented, .. } => {
                let names: Vec<&str> = presented.iter().take(MOST_NAMES).map(|name| bare(name)).collect();
                Self::WrongName(redact::words(&names.join(", ")))
            }
            CertificateError::Expired => Self::NotNow("has expired".to_owned()),
            CertificateError::ExpiredContext { not_after, .. } => {
                Self::NotNow(format!("expired on {}", day(*not_after)))
            }
            CertificateError::NotValidYet => Self::NotNow("is not valid yet".to_owned()),
            CertificateError::NotValidYetContext { not_before, .. } => {
                Self::NotNow(format!("is not valid before {}", day(*not_before)))
            }
            why if is_of_an_authority(why) => Self::OwnAuthority,
            other => Self::Other(redact::words(&format!("its certificate is refused: {other}"))),
        }
    }
}

impl fmt::Display for HandshakeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownIssuer => f.write_str("its certificate comes from an authority that is not trusted here"),
            Self::OwnAuthority => f.write_str("its certificate is an authority's own, which is not named as trusted"),
            Self::WrongName(names) if names.is_empty() => f.write_str("its certificate names no host (subjectAltName)"),
            Self::WrongName(names) => write!(f, "its certificate is for another name: {names}"),
            Self::NotNow(when) => write!(f, "its certificate {when}, by this machine's clock"),
            Self::ClientCertificate(said) => {
                write!(f, "it refused the handshake, as for want of a client certificate that it takes ({said})")
            }
            Self::Other(why) => f.write_str(why),
        }
    }
}

/// Returns whether a server's certificate is refused because it is an authority's own.
pub(super) fn is_of_an_authority(why: &CertificateError) -> bool {
    matches!(why, CertificateError::Other(why) if why.to_string() == "CaUsedAsEndEntity")
}

/// Checks for an alert with which a server refuses the client's certificate, or the lack of one.
fn is_about_certificates(alert: AlertDescription) -> bool {
    matches!(
        alert,
        AlertDescription::CertificateRequired
            | AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::AccessDenied
            // A signature that is wrong: the certificate's own, or the one made with its key (RFC 8446, 6.2).
            | AlertDescription::DecryptError
            | AlertDescription::HandshakeFailure
    )
}

/// `CertificateRequired` as "certificate required".
fn words(alert: AlertDescription) -> String {
    let name = format!("{alert:?}").replace("CA", "Ca");
    let spaced: String = name.chars().flat_map(|c| c.is_uppercase().then_some(' ').into_iter().chain([c])).collect();
    spaced.trim().to_lowercase()
}

/// The name in `DnsName("localhost")`.
fn bare(name: &str) -> &str {
    name.split_once('"').and_then(|(_, rest)| rest.split_once('"')).map_or(name, |(name, _)| name)
}

fn day(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    Timestamp::from_timestamp(seconds, 0)
        .map_or_else(|| "a day of its own".to_owned(), |time| time.date_naive().to_string())
}

/// The innermost cause of a failure. reqwest's own words hold the address with its query, which may be a secret; the
/// cause does not.
pub fn cause(error: &reqwest::Error) -> String {
    let innermost = sources(error).last();
    innermost.map_or_else(|| "no reason given".to_owned(), |innermost| in_words(&innermost.to_string()))
}

/// Returns whether the failure is one of the way to a proxy, or of what a proxy said to being asked for a connection.
pub(super) fn is_of_tunnel(error: &reqwest::Error) -> bool {
    sources(error).any(|source| TUNNELS.iter().any(|begins| source.to_string().starts_with(begins)))
}

/// Prefixes of a proxy's errors.
const TUNNELS: [&str; 2] = ["tunnel error: ", "SOCKS error: "];

/// The words of a system's error: without its number, and as what goes on in a sentence.
fn in_words(text: &str) -> String {
    match TUNNELS.iter().find_map(|begins| text.strip_prefix(begins)) {
        Some("failed to create underlying connection") => return "it cannot be reached".to_owned(),
        Some("proxy authorization required") => {
            return "it wants other credentials, http://USER:PASSWORD@HOST:PORT (407)".to_owned();
        }
        Some("unsuccessful") => return "it refuses to connect to the service".to_owned(),
        _ => {}
    }
    let words =
        text.rsplit_once(" (os error ").filter(|(_, number)| number.ends_with(')')).map_or(text, |(words, _)| words);
    let mut letters = words.chars();
    match (letters.next(), letters.clone().next()) {
        // A name such as `TLS` stays as it is.
        (Some(first), Some(second)) if !second.is_uppercase() => first.to_lowercase().chain(letters).collect(),
        _ => words.to_owned(),
    }
}

/// A cause of this type, where the failure has one.
pub fn find<T: Error + 'static>(error: &reqwest::Error) -> Option<&T> {
    sources(error).find_map(|source| source.downcast_ref().or_else(|| wrapped(source)))
}

/// Finds an error that an IO error wraps and that is none of its sources.
fn wrapped<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let inner = error.downcast_ref::<io::Error>()?.get_ref()?;
    inner.downcast_ref().or_else(|| wrapped(inner))
}

fn sources(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |error| (*error).source())
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use rstest::rstest;
    use rustls::OtherError;

    use super::*;

    #[rstest]
    #[case("Connection refused (os error 111)", "connection refused")]
    #[case("No route to host (os error 113)", "no route to host")]
    #[case("TLS close_notify was missing", "TLS close_notify was missing")]
    #[case("unexpected end of file", "unexpected end of file")]
    #[case("", "")]
    #[case("tunnel error: unsuccessful", "it refuses to connect to the service")]
    #[case("SOCKS error: failed to create underlying connection", "it cannot be reached")]
    #[case("tunnel error: unexpected end of file", "tunnel error: unexpected end of file")]
    fn a_systems_error_is_said_in_words_alone(#[case] text: &str, #[case] words: &str) {
        assert_eq!(in_words(text), words);
    }

    #[test]
    fn an_authoritys_own_certificate_is_told_in_words() {
        let why = CertificateError::Other(OtherError(Arc::new(io::Error::other("CaUsedAsEndEntity"))));

        assert!(HandshakeFault::of_certificate(&why).to_string().contains("an authority's own"));
    }

    #[rstest]
    #[case(AlertDescription::CertificateRequired, "certificate required")]
    #[case(AlertDescription::UnknownCA, "unknown ca")]
    fn an_alert_is_told_in_words(#[case] alert: AlertDescription, #[case] told: &str) {
        assert_eq!(words(alert), told);
    }

    #[test]
    fn a_certificate_that_is_over_is_told_with_its_day() {
        let march = UnixTime::since_unix_epoch(Duration::from_secs(1_773_144_000));
        let fault = HandshakeFault::of_certificate(&CertificateError::ExpiredContext { time: march, not_after: march });

        assert_eq!(fault.to_string(), "its certificate expired on 2026-03-10, by this machine's clock");
    }
}
