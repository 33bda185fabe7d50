//! Conditional requests (RFC 9110, section 13): answers with an entity tag, and 304 where the caller has that answer
//! already.

use std::convert::Infallible;

use axum::{
    body::{Body, Bytes},
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH, VARY},
    },
    response::Response,
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use futures::stream;
use sha2::{Digest, Sha256};

use super::problem::json;

/// Bytes of the digest that an entity tag holds.
const TAG_BYTES: usize = 16;

/// The answer with its entity tag, or 304 without a body where `If-None-Match` names it.
///
/// It may be kept by the caller alone, and never used without asking: `hoursLeft` goes on by itself.
pub(super) fn tagged(request: &HeaderMap, body: Vec<u8>) -> Response {
    let digest = Sha256::digest(&body).into();
    tagged_by(request, digest, || body)
}

/// The same, by a digest that is equal exactly where the bodies are; the body is made only where it is needed.
pub(super) fn tagged_by(request: &HeaderMap, digest: [u8; 32], body: impl FnOnce() -> Vec<u8>) -> Response {
    let tag = entity_tag(&digest);
    let is_known =
        request.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok()).any(|known| names(known, &tag));
    let mut response = if is_known { not_modified() } else { json(body()) };
    let headers = response.headers_mut();
    headers.extend(HeaderValue::from_str(&tag).ok().map(|tag| (ETAG, tag)));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    headers.insert(VARY, HeaderValue::from_static("X-API-KEY, Authorization"));
    response
}

/// A 304. Its body has no length, so that none is told: it would be taken for the length of what is known.
fn not_modified() -> Response {
    let mut response = Response::new(Body::from_stream(stream::empty::<Result<Bytes, Infallible>>()));
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    response
}

/// A strong entity tag: equal where every byte of the answer is.
fn entity_tag(digest: &[u8; 32]) -> String {
    format!("\"{}\"", URL_SAFE_NO_PAD.encode(&digest[..TAG_BYTES]))
}

/// Checks that a value of `If-None-Match` names the tag, by weak comparison. No tag of ours holds a comma.
fn names(known: &str, tag: &str) -> bool {
    known.split(',').map(str::trim).any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("\"a\"", true)]
    #[case("W/\"a\"", true)]
    #[case("\"b\", \"c,d\" ,\"a\"", true)]
    #[case("*", true)]
    #[case("a", false)]
    #[case("\"A\"", false)]
    #[case("w/\"a\"", false)]
    #[case("\"aa\"", false)]
    #[case("", false)]
    fn a_tag_is_named_whole_weak_or_strong_alone_or_among_others(#[case] known: &str, #[case] named: bool) {
        assert_eq!(names(known, "\"a\""), named);
    }

    #[test]
    fn one_byte_makes_another_tag() {
        let tag = |body: &str| tagged(&HeaderMap::new(), body.into()).headers()[ETAG].clone();

        assert_eq!(tag("{}"), tag("{}"));
        assert_ne!(tag("{}"), tag("{ }"));
    }
}
