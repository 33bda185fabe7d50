//! The server loop: connections with their limits, and a graceful shutdown.

use std::{io, time::Duration};

use axum::Extension;
use tokio::{net::TcpListener, time::Instant};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::Layer;

use super::{
    client_address::is_among,
    options::{ApiOptions, MAX_HEAD},
    problem_rewriter::ProblemRewriter,
    routes::routes_until,
    state::Connected,
};
use crate::{
    engine::Engine,
    inbound::{
        accepting::{Acceptor, Newcomer},
        connection::{self, Ending, HeadLimits},
        connections::Connections,
        write_timeout::WriteTimeout,
    },
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
        let Newcomer { stream, peer, line } = tokio::select! {
            biased;
            () = cancel.cancelled() => break,
            accepted = acceptor.next() => accepted,
        };
        let app = Extension(Connected { peer: peer.ip(), line: line.line() }).layer(app.clone());
        let stream = ProblemRewriter::new(WriteTimeout::new(stream, options.write_timeout));
        connections.spawn(connection::serve(
            stream,
            app,
            limits,
            line,
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
