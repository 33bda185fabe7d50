//! The acceptor: new connections within bounds, and room for them where the machine has none left.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use tokio::net::{TcpListener, TcpStream};

use super::connections::{Admitted, Connections, OpenLine};

/// Pause after a connection could not be accepted (no more file descriptors, mostly).
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Number of connections that give way then.
const SHED: usize = 64;

/// A listener with bounds.
pub struct Acceptor<Trusts> {
    listener: TcpListener,
    open: Connections,
    /// Checks that an address stands for many callers, as a proxy's does.
    trusts: Trusts,
}

/// A connection that was let in.
#[derive(Debug)]
pub struct Newcomer {
    pub stream: TcpStream,
    pub peer: SocketAddr,
    pub line: OpenLine,
}

impl<Trusts: Fn(IpAddr) -> bool> Acceptor<Trusts> {
    /// Accepts at a listener, within the bounds of what is open.
    pub fn new(listener: TcpListener, open: Connections, trusts: Trusts) -> Self {
        Self { listener, open, trusts }
    }

    /// The next newcomer that is let in. Where none can be accepted, idle connections give way, and it is tried again.
    pub async fn next(&self) -> Newcomer {
        loop {
            match self.accept().await {
                Ok(accepted) => return accepted,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted; idle ones give way");
                    self.open.shed(SHED);
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    async fn accept(&self) -> io::Result<Newcomer> {
        loop {
            let (stream, peer) = self.listener.accept().await?;
            loop {
                match self.open.admit(peer.ip(), (self.trusts)(peer.ip())) {
                    Admitted::Open(line) => {
                        // Small answers must not wait for more; where the system refuses, they are only slower.
                        let _ = stream.set_nodelay(true);
                        return Ok(Newcomer { stream, peer, line });
                    }
                    Admitted::Full => self.open.changed().await,
                    Admitted::Refused => {
                        tracing::debug!(%peer, "all connections of this address are at work: one more is refused");
                        break;
                    }
                }
            }
        }
    }
}
