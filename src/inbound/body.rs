//! The bounded body of a request: never more bytes than are taken, and a little of what is not, so that its sender gets
//! to hear why.

use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, EXPECT};
use futures::StreamExt as _;

/// So much of a body over the limit is read and thrown away, so that the client gets to hear why.
const MAX_DISCARDED: usize = 1024 * 1024;

/// The length that a request says its body has.
pub fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Reads some of a body that was refused and throws it away, beside the answer, so that a client that is still sending
/// gets to hear it.
pub fn discard(request: Request, timeout: Duration) {
    // A client that waits to hear whether it may send would be told so by reading on.
    if !request.headers().contains_key(EXPECT) {
        tokio::spawn(tokio::time::timeout(timeout, read(request.into_body(), 0)));
    }
}

/// The body, or nothing where it has more than so many bytes.
pub async fn read(body: Body, most: usize) -> Result<Option<Vec<u8>>, axum::Error> {
    let mut kept = Vec::new();
    let mut total = 0_usize;
    let mut chunks = body.into_data_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk?;
        total = total.saturating_add(chunk.len());
        if total <= most {
            kept.extend_from_slice(&chunk);
        } else if total > most + MAX_DISCARDED {
            break;
        }
    }
    Ok((total <= most).then_some(kept))
}
