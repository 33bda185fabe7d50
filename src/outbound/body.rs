//! The bounded body of an answer: never more bytes than asked for, however much is sent.

use reqwest::Response;

/// Most bytes of a refusal that are looked at.
const MAX_REFUSAL: usize = 64 * 1024;

/// Why a body was not read to its end.
#[derive(Debug)]
pub enum Unread {
    /// There is more than was asked for.
    TooLarge,
    /// The connection broke, or time was up.
    Broken(reqwest::Error),
}

/// The whole body of a good answer, which has at most so many bytes. Of a refusal the status is the answer: what came of its beginning.
pub async fn whole(response: &mut Response, most: usize) -> Result<Vec<u8>, Unread> {
    if !response.status().is_success() {
        return Ok(beginning(response, MAX_REFUSAL).await);
    }
    let (body, unread) = read(response, most).await;
    unread.map_or(Ok(body), Err)
}

/// What came of the first bytes of a body.
pub async fn beginning(response: &mut Response, most: usize) -> Vec<u8> {
    read(response, most).await.0
}

async fn read(response: &mut Response, most: usize) -> (Vec<u8>, Option<Unread>) {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => {
                let room = most - body.len();
                body.extend_from_slice(&chunk[..chunk.len().min(room)]);
                if chunk.len() > room {
                    return (body, Some(Unread::TooLarge));
                }
            }
            Ok(None) => return (body, None),
            Err(error) => return (body, Some(Unread::Broken(error))),
        }
    }
}
