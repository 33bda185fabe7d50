//! What every call out over HTTP shares, to another deployment, to a gateway, to a receiver: the beginning of an answer, and why there is none.

use std::error::Error;

use reqwest::Response;

/// The beginning of an answer, at most so many bytes. The status is the answer: a body that breaks off or never ends changes nothing about it.
pub async fn beginning(response: &mut Response, most: usize) -> Vec<u8> {
    let mut body = Vec::new();
    while body.len() < most {
        let Ok(Some(chunk)) = response.chunk().await else { break };
        body.extend_from_slice(&chunk[..chunk.len().min(most - body.len())]);
    }
    body
}

/// The innermost cause of a failure. reqwest's own words hold the address with its query, which may be a secret; the cause does not.
pub fn innermost(error: &reqwest::Error) -> String {
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    while let Some(deeper) = cause.and_then(Error::source) {
        cause = Some(deeper);
    }
    cause.map_or_else(|| "no reason given".to_owned(), ToString::to_string)
}
