//! The server loop: connections with their limits, and a graceful shutdown.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::middleware::AddExtension;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use ipnet::IpNet;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Layer;

use super::client_address::is_among;
use super::connections::{Admitted, Connections, OpenLine};
use super::options::{ApiOptions, MAX_HEAD};
use super::problem_rewriter::ProblemRewriter;
use super::routes::routes_until;
use super::state::Connected;
use super::write_timeout::WriteTimeout;
use crate::engine::Engine;

/// What is read of a head at most, so that one over the limit is refused for what is too long about it.
const READ_OF_A_HEAD: usize = 2 * MAX_HEAD;

/// How long the answer to a decision may take to reach its caller when everything ends.
const LAST_ANSWER: Duration = Duration::from_secs(2);

/// Pause after a connection could not be accepted (no more file descriptors, mostly).
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How many connections give way then.
const SHED: usize = 64;

/// Serves until `cancel` is cancelled; then nothing new is accepted, and requests on their way finish within [`ApiOptions::drain`], decisions
/// that are with a network within [`ApiOptions::decision_drain`]. Resolutions are the engine's own tasks: they end even where their
/// connection does not.
///
/// # Errors
/// Where an allowed host is not a host name, or the listener has no address.
pub async fn serve(listener: TcpListener, engine: Engine, options: ApiOptions, cancel: CancellationToken) -> io::Result<()> {
    let app = routes_until(cancel.clone(), engine.clone(), listener.local_addr()?, &options)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    let open = Connections::new(options.max_connections, options.connections_per_address);
    let connections = TaskTracker::new();
    let cut = CancellationToken::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = cancel.cancelled() => break,
            accepted = accept(&listener, &open, &options.trusted_proxies) => accepted,
        };
        match accepted {
            Ok((stream, peer, line)) => {
                let connected = Connected { peer: peer.ip(), line: line.0.clone() };
                let app = Extension(connected).layer(app.clone());
                let connection = Connection { app, cancel: cancel.clone(), cut: cut.clone(), line };
                connections.spawn(connection.run(stream, options.head_timeout, options.write_timeout));
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted; idle ones give way");
                open.shed(SHED);
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    connections.close();
    let stopped = Instant::now();
    let mut ended = tokio::time::timeout(options.drain, connections.wait()).await.is_ok();
    if !ended && engine.is_deciding() {
        tracing::info!("waiting for decisions that are with a network");
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

/// The next newcomer that is let in.
async fn accept(listener: &TcpListener, open: &Connections, trusted: &[IpNet]) -> io::Result<(TcpStream, SocketAddr, OpenLine)> {
    loop {
        let (stream, peer) = listener.accept().await?;
        loop {
            match open.admit(peer.ip(), is_among(trusted, peer.ip())) {
                Admitted::Open(line) => return Ok((stream, peer, line)),
                Admitted::Full => open.changed().await,
                Admitted::Refused => {
                    tracing::debug!(%peer, "all connections of this address are at work: one more is refused");
                    break;
                }
            }
        }
    }
}

struct Connection {
    app: AddExtension<Router, Connected>,
    cancel: CancellationToken,
    cut: CancellationToken,
    line: OpenLine,
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
                () = self.line.0.gives_way() => break Ok(()),
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection broke");
        }
    }
}
