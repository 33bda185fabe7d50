//! The bounded body of a request: reads no more bytes than are taken. It discards a little beyond that, so that the
//! sender gets to read the refusal.

use std::time::Duration;

use axum::{
    body::Body,
    extract::Request,
    http::{
        HeaderMap,
        header::{CONTENT_LENGTH, EXPECT},
    },
};
use futures::StreamExt as _;

/// Most bytes of a body over the limit that are read and discarded, so that the client gets to read the refusal.
const MAX_DISCARDED: usize = 1024 * 1024;

/// The length that a request says its body has.
pub fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Reads and discards some of a body that was refused, beside the answer. So a client that is still sending gets to
/// read the refusal.
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
