//! The chain of causes of a failed call: its innermost words, and a cause of a certain type.

use std::{error::Error, io};

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
    use rstest::rstest;

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
}
