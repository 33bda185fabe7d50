//! The server loop: connections with their limits, and a graceful shutdown.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::Extension;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpListener,
    time::Instant,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::Layer;

use crate::{
    client_address::is_among,
    engine::Engine,
    guard::new_request_id,
    inbound::{
        connections::{self, Acceptor, Connections, Ending, HeadLimits, Newcomer},
        write_timeout::WriteTimeout,
    },
    problem::{Code, Problem},
    routes::routes_until,
    state::{ApiOptions, Connected, MAX_HEAD},
};

/// Most bytes read of a head: twice the limit, so that a refusal can name the part that is too long.
const READ_OF_A_HEAD: usize = 2 * MAX_HEAD;

/// Longest time for the answer to a decision to reach its caller at shutdown.
const LAST_ANSWER: Duration = Duration::from_secs(2);

/// Serves until `cancel` is cancelled, and then accepts nothing new. Requests under way finish within
/// [`ApiOptions::drain`], decisions that are with a network within [`ApiOptions::decision_drain`]. Resolutions are the
/// engine's own tasks: they end even where their connection does not.
///
/// # Errors
/// When an allowed host is not a host name, or the listener has no address.
pub async fn serve(
    listener: TcpListener,
    engine: Engine,
    options: ApiOptions,
    cancel: CancellationToken,
) -> io::Result<()> {
    let app = routes_until(cancel.clone(), engine.clone(), listener.local_addr()?, &options)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    let open = Connections::new(options.max_connections, options.connections_per_address);
    let trusted = options.trusted_proxies.clone();
    let acceptor = Acceptor::new(listener, open, move |peer| is_among(&trusted, peer));
    let connections = TaskTracker::new();
    let cut = CancellationToken::new();
    let limits = HeadLimits { timeout: options.head_timeout, most_bytes: READ_OF_A_HEAD };
    loop {
        let Newcomer { stream, peer, connection } = tokio::select! {
            biased;
            () = cancel.cancelled() => break,
            accepted = acceptor.next() => accepted,
        };
        let app = Extension(Connected { peer: peer.ip(), connection: connection.connection() }).layer(app.clone());
        let stream = ProblemRewriter::new(WriteTimeout::new(stream, options.write_timeout));
        connections.spawn(connections::serve(
            stream,
            app,
            limits,
            connection,
            Ending { cancel: cancel.clone(), cut: cut.clone() },
        ));
    }
    drop(acceptor);
    connections.close();
    let stopped = Instant::now();
    let mut ended = tokio::time::timeout(options.drain, connections.wait()).await.is_ok();
    if !ended && engine.is_deciding() {
        tracing::info!("waiting for answers that are being sent");
        let answered = async {
            engine.decisions_ended().await;
            tokio::time::timeout(LAST_ANSWER, connections.wait()).await.is_ok()
        };
        ended = tokio::time::timeout_at(stopped + options.decision_drain, answered).await.unwrap_or(false);
    }
    if !ended {
        tracing::warn!(open = connections.len(), "requests did not end in time: their connections are cut");
        cut.cancel();
        connections.wait().await;
    }
    Ok(())
}

/// Bare refusals are short; they are looked for no further back.
const LONGEST: usize = 512;

/// First bytes of an answer.
const FIRST: &[u8] = b"HTTP/1.1 ";

/// End of an answer without a body.
const END: &[u8] = b"\r\n\r\n";

/// A problem rewriter: a stream on which bare refusals become problem documents.
pub(super) struct ProblemRewriter<S> {
    stream: S,
    /// Replacement under way: its bytes, the number written, and the length that it stands for.
    instead: Option<Instead>,
}

struct Instead {
    bytes: Vec<u8>,
    written: usize,
    for_length: usize,
}

impl<S> ProblemRewriter<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, instead: None }
    }
}

/// The same bytes with the refusal in full, where they end in a bare one.
fn rewritten(bytes: &[u8]) -> Option<Vec<u8>> {
    if !bytes.ends_with(END) {
        return None;
    }
    // Answers to requests before it may stand before it. None of ours can end like this: a body of JSON holds no line
    // breaks.
    let near = bytes.len().saturating_sub(LONGEST);
    let start = near + bytes[near..].windows(FIRST.len()).rposition(|window| window == FIRST)?;
    let head = std::str::from_utf8(&bytes[start..]).ok()?;
    let (first, headers) = head.split_once("\r\n")?;
    let status = first.get(FIRST.len()..FIRST.len() + 3)?;
    // Every answer of ours has an id, so one without is not ours.
    if headers.to_ascii_lowercase().contains("x-request-id:") || headers.matches("\r\n\r\n").count() > 1 {
        return None;
    }
    let problem = match status {
        "400" => Problem::new(Code::InvalidRequest, "this is no request as HTTP/1.1 has it"),
        "414" => Problem::new(Code::UriTooLong, "the path and its query are too long: at most 65534 bytes are allowed"),
        "431" => Problem::new(
            Code::HeadTooLarge,
            "the head of the request is too large: at most 65536 bytes and 100 headers are allowed",
        ),
        _ => return None,
    };
    let id = new_request_id();
    let id = id.to_str().unwrap_or_default();
    tracing::debug!(request = id, status, "what came is no request");
    let body = problem.body(id);
    let date =
        headers.lines().find(|line| line.to_ascii_lowercase().starts_with("date:")).map(|line| format!("{line}\r\n"));
    let mut full = format!(
        "{first}\r\ncontent-type: application/problem+json\r\nx-request-id: {id}\r\ncache-control: no-store\r\n\
         x-content-type-options: nosniff\r\nconnection: close\r\n{}content-length: {}\r\n\r\n",
        date.unwrap_or_default(),
        body.len()
    )
    .into_bytes();
    full.extend(body);
    Some([&bytes[..start], &full].concat())
}

impl<S: AsyncRead + Unpin> AsyncRead for ProblemRewriter<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> ProblemRewriter<S> {
    /// Writes all of what stands instead; then the bytes that it stands for count as written.
    fn poll_instead(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Option<usize>>> {
        while let Some(instead) = &mut self.instead {
            let rest = instead.bytes.get(instead.written..).unwrap_or_default();
            if rest.is_empty() {
                let length = instead.for_length;
                self.instead = None;
                return Poll::Ready(Ok(Some(length)));
            }
            match ready!(Pin::new(&mut self.stream).poll_write(context, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => instead.written += written,
            }
        }
        Poll::Ready(Ok(None))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ProblemRewriter<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.instead.is_none()
            && let Some(full) = rewritten(bytes)
        {
            self.instead = Some(Instead { bytes: full, written: 0, for_length: bytes.len() });
        }
        match ready!(self.poll_instead(context))? {
            Some(length) => Poll::Ready(Ok(length)),
            None => Pin::new(&mut self.stream).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let last = parts.iter().rfind(|part| !part.is_empty());
        if self.instead.is_some() || last.is_some_and(|part| part.ends_with(END)) {
            let bytes: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
            return self.poll_write(context, &bytes);
        }
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const BARE: &[u8] = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\ndate: Fri, 20 Nov 2026 \
        22:17:31 GMT\r\n\r\n";

    /// Returns the output over a stream that takes few bytes at a time.
    async fn passed_on(bytes: &[u8]) -> String {
        let (ours, mut theirs) = tokio::io::duplex(7);
        let bytes = bytes.to_vec();
        tokio::spawn(async move { ProblemRewriter::new(ours).write_all(&bytes).await });
        let mut out = String::new();
        theirs.read_to_string(&mut out).await.unwrap();
        out
    }

    #[tokio::test]
    async fn a_bare_refusal_becomes_a_problem_document_however_slowly_it_is_taken() {
        let out = passed_on(BARE).await;

        let (head, body) = out.split_once("\r\n\r\n").unwrap();
        let body_json: Value = serde_json::from_str(body).unwrap();
        assert!(
            head.starts_with("HTTP/1.1 431 Request Header Fields Too Large\r\n") && head.contains("date: Fri, 20 Nov"),
            "{head}"
        );
        assert!(head.contains(&format!("content-length: {}", body.len())), "{head}");
        assert!(head.contains(&format!("x-request-id: {}", body_json["requestId"].as_str().unwrap())), "{head}");
        assert_eq!((&body_json["code"], &body_json["status"]), (&"head_too_large".into(), &431.into()));
    }

    #[tokio::test]
    async fn a_bare_refusal_behind_an_answer_of_ours_is_told_in_full_too() {
        let ours = "HTTP/1.1 200 OK\r\nx-request-id: r-1\r\ncontent-length: 2\r\n\r\n{}";

        let out = passed_on(&[ours.as_bytes(), BARE].concat()).await;

        assert!(out.starts_with(ours) && out.ends_with('}') && out.contains("\"head_too_large\""), "{out}");
    }

    #[tokio::test]
    async fn what_is_ours_passes_as_it_is() {
        let with_id = String::from_utf8(BARE.to_vec()).unwrap().replace("\r\ndate", "\r\nX-Request-Id: r-1\r\ndate");
        let body = "x".repeat(5_000);
        let ours = format!("{with_id}{{\"a\":1}}");
        let long = format!("HTTP/1.1 400 Bad Request\r\ncontent-length: 5000\r\n\r\n{body}");

        for bytes in [with_id, ours, long, "HTTP/1.1 200 OK\r\n\r\n".to_owned(), "data".to_owned()] {
            assert_eq!(passed_on(bytes.as_bytes()).await, bytes);
        }
    }
}
