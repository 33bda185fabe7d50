//! The bounded body of an answer: never more bytes than asked for, however much is sent.

use std::time::Duration;

use reqwest::Response;
use tokio::time::Instant;

/// Most bytes of a refusal that are looked at.
const MAX_REFUSAL: usize = 64 * 1024;

/// Reason of a body that was not read to its end.
#[derive(Debug)]
pub enum Unread {
    /// The body is longer than was asked for.
    TooLarge,
    /// The connection broke, or time was up.
    Broken(reqwest::Error),
}

/// A body as it came.
#[derive(Debug)]
pub struct Body {
    pub bytes: Vec<u8>,
    /// True where more belongs to it than came or was read.
    pub cut: bool,
}

/// The whole body of a good answer, which has at most so many bytes. Of a refusal the status is the answer: what came
/// of its beginning.
pub async fn whole(response: &mut Response, most: usize) -> Result<Body, Unread> {
    let good = response.status().is_success();
    let (bytes, unread) = read(response, if good { most } else { MAX_REFUSAL }).await;
    match unread {
        Some(unread) if good => Err(unread),
        unread => Ok(Body { bytes, cut: unread.is_some() }),
    }
}

/// Returns the first bytes of a body that came within a while, however slowly the rest drips.
pub async fn beginning(response: &mut Response, most: usize, within: Duration) -> Vec<u8> {
    let (mut body, end) = (Vec::new(), Instant::now() + within);
    while body.len() < most
        && let Ok(Ok(Some(chunk))) = tokio::time::timeout_at(end, response.chunk()).await
    {
        take(&mut body, &chunk, most);
    }
    body
}

/// Takes as much of a chunk as there is room for; whether that was all of it.
fn take(body: &mut Vec<u8>, chunk: &[u8], most: usize) -> bool {
    let room = most - body.len();
    body.extend_from_slice(&chunk[..chunk.len().min(room)]);
    chunk.len() <= room
}

async fn read(response: &mut Response, most: usize) -> (Vec<u8>, Option<Unread>) {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => {
                if !take(&mut body, &chunk, most) {
                    return (body, Some(Unread::TooLarge));
                }
            }
            Ok(None) => return (body, None),
            Err(error) => return (body, Some(Unread::Broken(error))),
        }
    }
}
