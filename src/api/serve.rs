//! The server loop: connections with their limits, and a graceful shutdown.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::middleware::AddExtension;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Layer;

use super::options::{ApiOptions, MAX_HEAD};
use super::problem_rewriter::ProblemRewriter;
use super::routes::routes_until;
use super::state::Peer;
use super::write_timeout::WriteTimeout;
use crate::engine::Engine;

/// What is read of a head at most, so that one over the limit is refused for what is too long about it.
const READ_OF_A_HEAD: usize = 2 * MAX_HEAD;

/// Pause after a connection could not be accepted (no more file descriptors, mostly).
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves until `cancel` is cancelled; then nothing new is accepted, and requests on their way finish within [`ApiOptions::drain`].
/// Resolutions are the engine's own tasks: they end even where their connection does not.
///
/// # Errors
/// Where an allowed host is not a host name, or the listener has no address.
pub async fn serve(listener: TcpListener, engine: Engine, options: ApiOptions, cancel: CancellationToken) -> io::Result<()> {
    let app = routes_until(cancel.clone(), engine, listener.local_addr()?, &options)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    let places = std::sync::Arc::new(Semaphore::new(options.max_connections.clamp(1, Semaphore::MAX_PERMITS)));
    let connections = TaskTracker::new();
    let cut = CancellationToken::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = cancel.cancelled() => break,
            accepted = accept(&listener, &places) => accepted,
        };
        match accepted {
            Ok((stream, peer, place)) => {
                let app = Extension(Peer(peer.ip())).layer(app.clone());
                let connection = Connection { app, cancel: cancel.clone(), cut: cut.clone(), place };
                connections.spawn(connection.run(stream, options.head_timeout, options.write_timeout));
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    connections.close();
    if tokio::time::timeout(options.drain, connections.wait()).await.is_err() {
        tracing::warn!(open = connections.len(), "requests did not end in time: their connections are cut");
        cut.cancel();
        connections.wait().await;
    }
    Ok(())
}

async fn accept(listener: &TcpListener, places: &std::sync::Arc<Semaphore>) -> io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let place = places.clone().acquire_owned().await.map_err(io::Error::other)?;
    let (stream, peer) = listener.accept().await?;
    Ok((stream, peer, place))
}

struct Connection {
    app: AddExtension<Router, Peer>,
    cancel: CancellationToken,
    cut: CancellationToken,
    place: OwnedSemaphorePermit,
}

impl Connection {
    async fn run(self, stream: TcpStream, head_timeout: Duration, write_timeout: Duration) {
        // Small answers must not wait for more; where the system refuses, they are only slower.
        let _ = stream.set_nodelay(true);
        let stream = TokioIo::new(ProblemRewriter::new(WriteTimeout::new(stream, write_timeout)));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(head_timeout)
            .max_buf_size(READ_OF_A_HEAD)
            .serve_connection(stream, TowerToHyperService::new(self.app));
        let mut connection = std::pin::pin!(connection);
        let mut stopping = false;
        let ended = loop {
            tokio::select! {
                ended = connection.as_mut() => break ended,
                () = self.cancel.cancelled(), if !stopping => {
                    stopping = true;
                    connection.as_mut().graceful_shutdown();
                }
                () = self.cut.cancelled() => break Ok(()),
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection broke");
        }
        drop(self.place);
    }
}
