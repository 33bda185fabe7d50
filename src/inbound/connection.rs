//! One connection, from its first request to its end.

use std::{convert::Infallible, time::Duration};

use axum::{body::Body, response::Response};
use hyper::{Request, body::Incoming, server::conn::http1};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;
use tower::Service;

use super::{connections::OpenLine, framing::StrictFraming};

/// Limits of the heads of requests.
#[derive(Debug, Clone, Copy)]
pub struct HeadLimits {
    /// Longest time for one head, and for an idle connection.
    pub timeout: Duration,
    /// Most bytes of one head that are read.
    pub most_bytes: usize,
}

/// Signals that end a connection.
#[derive(Debug, Clone)]
pub struct Ending {
    /// Ends it after the request under way.
    pub cancel: CancellationToken,
    /// Ends it at once.
    pub cut: CancellationToken,
}

/// Serves the requests of a connection until it ends, is made to, or has to give way to another.
pub async fn serve<S, A>(stream: S, app: A, limits: HeadLimits, line: OpenLine, ending: Ending)
where
    S: AsyncRead + AsyncWrite + Unpin,
    A: Service<Request<Incoming>, Response = Response<Body>, Error = Infallible> + Clone,
{
    let (reading, writing) = tokio::io::split(stream);
    let stream = tokio::io::join(StrictFraming::new(reading), writing);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.timeout)
        .max_buf_size(limits.most_bytes)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(app));
    let mut connection = std::pin::pin!(connection);
    let mut stopping = false;
    let ended = loop {
        tokio::select! {
            ended = connection.as_mut() => break ended,
            () = ending.cancel.cancelled(), if !stopping => {
                stopping = true;
                connection.as_mut().graceful_shutdown();
            }
            () = ending.cut.cancelled() => break Ok(()),
            () = line.gives_way() => break Ok(()),
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke");
    }
}
