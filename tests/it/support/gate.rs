//! A gate on the way to a server: open, shut (connections break and are refused) or silent (nothing passes, and nobody
//! says so).

use std::{net::SocketAddr, sync::Arc};

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
};

/// What the gate does with connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Open,
    Shut,
    Silent,
}

/// The gate; it ends when dropped.
pub struct Gate {
    /// Where it stands.
    pub address: SocketAddr,
    way: Arc<watch::Sender<Way>>,
    standing: JoinHandle<()>,
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.standing.abort();
    }
}

impl Gate {
    /// An open gate before a port of this machine.
    pub async fn before(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("its address");
        let way = Arc::new(watch::Sender::new(Way::Open));
        let standing = tokio::spawn(stand(listener, port, Arc::clone(&way)));
        Self { address, way, standing }
    }

    /// Opens or closes it.
    pub fn set(&self, way: Way) {
        self.way.send_replace(way);
    }
}

async fn stand(listener: TcpListener, port: u16, way: Arc<watch::Sender<Way>>) {
    loop {
        let Ok((near, _)) = listener.accept().await else { return };
        tokio::spawn(pass(near, port, way.subscribe()));
    }
}

async fn pass(mut near: TcpStream, port: u16, mut way: watch::Receiver<Way>) {
    let mut far = None;
    loop {
        let now = *way.borrow_and_update();
        match now {
            // Whoever is on the way is thrown back.
            Way::Shut => return near.set_zero_linger().unwrap_or_default(),
            // What was on the way then is lost, and so is the connection.
            Way::Silent => {
                let _ = way.changed().await;
                return near.set_zero_linger().unwrap_or_default();
            }
            Way::Open => {
                let far = match &mut far {
                    Some(far) => far,
                    None => match TcpStream::connect(("127.0.0.1", port)).await {
                        Ok(connected) => far.insert(connected),
                        Err(_) => return,
                    },
                };
                tokio::select! {
                    _ = copy_bidirectional(&mut near, far) => return,
                    changed = way.changed() => if changed.is_err() { return },
                }
            }
        }
    }
}
