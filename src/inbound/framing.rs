//! Strict framing of requests: one header tells where a body ends, a `Content-Length` or `Transfer-Encoding: chunked`,
//! and it stands once.
//!
//! Servers and proxies read anything else in different ways, which permits request smuggling. Such a header is spoiled
//! before the HTTP server reads it. So it is refused as every malformed head is: with 400, and the connection ends.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{
    body::Body,
    extract::Request,
    http::{
        HeaderMap,
        header::{CONTENT_LENGTH, EXPECT},
    },
};
use futures::StreamExt as _;
use tokio::io::{AsyncRead, ReadBuf};

/// Most bytes of a line that are looked at: longer than each header that frames.
const LONGEST_LINE: usize = 256;

/// The part of a request that the next line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    RequestLine,
    Headers,
    ChunkSize,
    Trailers,
    /// No request any more: the server ends the connection.
    Malformed,
}

/// A stream of requests whose framing is strict.
pub(super) struct StrictFraming<S> {
    stream: S,
    part: Part,
    /// The line so far.
    line: Vec<u8>,
    /// Number of bytes of a body before the next line.
    body: u64,
    /// Bytes of the body and the part behind the headers, once one of them has framed it.
    framed: Option<(u64, Part)>,
}

impl<S> StrictFraming<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, part: Part::RequestLine, line: Vec::new(), body: 0, framed: None }
    }

    /// Follows the requests through these bytes, and spoils what frames one in another way.
    fn follow(&mut self, mut bytes: &mut [u8]) {
        loop {
            let of_body = usize::try_from(self.body).unwrap_or(usize::MAX).min(bytes.len());
            self.body -= of_body as u64;
            bytes = &mut bytes[of_body..];
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let room = LONGEST_LINE - self.line.len();
            self.line.extend_from_slice(&bytes[..end.unwrap_or(bytes.len()).min(room)]);
            let (Some(end), true) = (end, self.part != Part::Malformed) else { return };
            let line = std::mem::take(&mut self.line);
            match self.behind(line.trim_ascii()) {
                Some((body, part)) => (self.body, self.part) = (body, part),
                None => {
                    self.part = Part::Malformed;
                    // No line may hold it, wherever it stands.
                    bytes[end] = 0;
                }
            }
            bytes = &mut bytes[end + 1..];
        }
    }

    /// Returns the bytes of a body behind a line, and the part of the line after them. `None` where no server should
    /// guess it.
    fn behind(&mut self, line: &[u8]) -> Option<(u64, Part)> {
        match (self.part, line) {
            (Part::RequestLine | Part::Trailers, b"") => Some((0, Part::RequestLine)),
            (Part::Headers, b"") => self.framed.take().or(Some((0, Part::RequestLine))),
            (Part::Headers, _) => match framing(line)? {
                Some(framed) if self.framed.replace(framed).is_some() => None,
                _ => Some((0, Part::Headers)),
            },
            (Part::RequestLine, _) => Some((0, Part::Headers)),
            (Part::ChunkSize, _) => match number(line.split(|byte| !byte.is_ascii_hexdigit()).next()?, 16)? {
                0 => Some((0, Part::Trailers)),
                size => Some((size.checked_add(2)?, Part::ChunkSize)),
            },
            (part, _) => Some((0, part)),
        }
    }
}

/// Parses the framing that a header gives the body: `Some(None)` where it gives none, `None` where its form is not
/// accepted.
fn framing(header: &[u8]) -> Option<Option<(u64, Part)>> {
    let mut parts = header.splitn(2, |byte| *byte == b':').map(<[u8]>::trim_ascii);
    let (name, value) = (parts.next().unwrap_or_default().to_ascii_lowercase(), parts.next().unwrap_or_default());
    match name.as_slice() {
        b"transfer-encoding" => value.eq_ignore_ascii_case(b"chunked").then_some(Some((0, Part::ChunkSize))),
        b"content-length" => number(value, 10).map(|length| Some((length, Part::RequestLine))),
        _ => Some(None),
    }
}

fn number(digits: &[u8], radix: u32) -> Option<u64> {
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()
}

impl<S: AsyncRead + Unpin> AsyncRead for StrictFraming<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, into))?;
        self.follow(&mut into.filled_mut()[before..]);
        Poll::Ready(Ok(()))
    }
}

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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    /// Returns these bytes as they remain when they come in parts of this size, and the part where they end.
    fn read(text: &str, size: usize) -> (Vec<u8>, Part) {
        let mut bytes = text.as_bytes().to_vec();
        let mut framing = StrictFraming::new(());
        bytes.chunks_mut(size).for_each(|part| framing.follow(part));
        (bytes, framing.part)
    }

    const PUT: &str = "PUT /a HTTP/1.1\r\nHost: a\r\n";

    #[rstest]
    #[case::no_body("GET / HTTP/1.1\r\nHost: a\r\n\r\n")]
    #[case::a_length("PUT / HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody")]
    #[case::no_length("PUT / HTTP/1.1\r\ncontent-length:0\r\n\r\n")]
    #[case::chunks(
        "PUT / HTTP/1.1\r\nTransfer-Encoding:\tChunked \r\n\r\n3;a=b\r\na\nb\r\nA\r\n0123456789\r\n0\r\nX: y\r\n\r\n"
    )]
    #[case::a_body_that_looks_like_a_head(
        "PUT / HTTP/1.1\r\nContent-Length: 48\r\n\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
    )]
    #[case::a_chunk_that_looks_like_one(
        "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n15\r\n\nContent-Length: 1\r\n\n\r\n0\r\nContent-Length: \
            9\r\n\r\n"
    )]
    #[case::line_feeds_alone("GET / HTTP/1.1\nHost: a\n\n")]
    #[case::empty_lines_before("\r\n\r\nGET / HTTP/1.1\r\n\r\n")]
    #[case::names_that_are_longer(
        "GET / HTTP/1.1\r\nX-Content-Length: 1\r\nContent-Length-X: 2\r\nX: transfer-encoding: a\r\n\r\n"
    )]
    fn requests_that_are_framed_once_pass_as_they_are(#[case] request: &str) {
        let several = request.repeat(3);
        for size in [1, 2, 7, several.len()] {
            assert_eq!(read(&several, size), (several.clone().into_bytes(), Part::RequestLine), "in parts of {size}");
        }
    }

    #[rstest]
    #[case::coding_twice("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")]
    #[case::equal_lengths("Content-Length: 3\r\nContent-Length: 3\r\n")]
    #[case::two_lengths("Content-Length: 3\r\nX: y\r\ncontent-LENGTH: 4\r\n")]
    #[case::a_length_and_a_coding("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n")]
    #[case::a_coding_and_a_length("transfer-encoding: chunked\r\nContent-Length: 3\r\n")]
    #[case::a_list_of_codings("Transfer-Encoding: chunked, chunked\r\n")]
    #[case::an_unknown_coding("Transfer-Encoding: gzip, chunked\r\n")]
    #[case::another_coding("Transfer-Encoding: xchunked\r\n")]
    #[case::a_coding_with_a_parameter("Transfer-Encoding: chunked;a=b\r\n")]
    #[case::no_coding("Transfer-Encoding: \r\n")]
    #[case::a_blank_before_the_colon("Content-Length : 3\r\nContent-Length: 3\r\n")]
    #[case::a_list_of_lengths("Content-Length: 3, 3\r\n")]
    #[case::a_length_of_nothing("Content-Length:\r\n")]
    fn another_framing_is_spoiled_on_its_own_line_however_it_comes(#[case] headers: &str) {
        let head = format!("{PUT}{headers}");
        for size in [1, 3, head.len()] {
            let (bytes, part) = read(&format!("{head}\r\n"), size);

            assert_eq!(part, Part::Malformed);
            assert_eq!(bytes.iter().position(|byte| *byte == 0), Some(head.len() - 1), "in parts of {size}");
        }
    }

    #[test]
    fn a_second_request_on_a_connection_is_looked_at_too() {
        for first in ["Content-Length: 2\r\n\r\nab", "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", "\r\n"] {
            let requests = format!("{PUT}{first}{PUT}Content-Length: 1\r\nContent-Length: 1\r\n\r\n");

            assert_eq!(read(&requests, requests.len()).1, Part::Malformed, "{first}");
        }
    }

    proptest! {
        #[test]
        fn how_bytes_are_parted_changes_nothing(text in "((GET|PUT) / HTTP/1.1\r\n|Content-Length: \
            [0-9]\r\n|Transfer-Encoding: chunked\r\n|\r\n|[0-9a-f]{1,2}\r\n|[a-z:\n]){0,20}", size in 1usize..9) {
            prop_assert_eq!(read(&text, size), read(&text, text.len().max(1)));
        }
    }
}
