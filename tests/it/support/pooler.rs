//! A pooler in transaction mode, as PgBouncer has it: one connection to the server, which each transaction of any
//! client gets in turn.

use std::{net::SocketAddr, sync::Arc};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::Mutex,
    task::JoinHandle,
};

/// The pooler; it ends when dropped.
pub struct Pooler {
    pub address: SocketAddr,
    standing: JoinHandle<()>,
}

impl Drop for Pooler {
    fn drop(&mut self) {
        self.standing.abort();
    }
}

impl Pooler {
    /// A pooler before a server on this machine.
    pub async fn before(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("its address");
        let shared = Arc::new(Mutex::new(None));
        let standing = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                // Whoever goes away goes away.
                tokio::spawn(serve(client, port, Arc::clone(&shared)));
            }
        });
        Self { address, standing }
    }
}

async fn serve(mut client: TcpStream, port: u16, shared: Arc<Mutex<Option<TcpStream>>>) -> std::io::Result<()> {
    let start = loop {
        let length = client.read_u32().await?;
        let mut rest = vec![0; length as usize - 4];
        client.read_exact(&mut rest).await?;
        // A wish for encryption is refused.
        if rest.len() > 4 {
            break [length.to_be_bytes().to_vec(), rest].concat();
        }
        client.write_all(b"N").await?;
    };
    // The greeting is that of a connection of its own.
    let mut server = TcpStream::connect(("127.0.0.1", port)).await?;
    server.write_all(&start).await?;
    while relay(&mut server, &mut client).await?.0 != b'Z' {}
    shared.lock().await.get_or_insert(server);
    loop {
        // A turn begins with the first message of a transaction.
        let mut first = [0];
        client.peek(&mut first).await?;
        if first == *b"X" {
            return Ok(());
        }
        let mut turn = shared.lock().await;
        let server = turn.as_mut().expect("a connection");
        while !exchange(&mut client, server).await? {}
    }
}

/// Passes messages on until the server has answered; whether the transaction is over.
async fn exchange(client: &mut TcpStream, server: &mut TcpStream) -> std::io::Result<bool> {
    while !matches!(relay(client, server).await?.0, b'S' | b'Q') {}
    loop {
        if let (b'Z', state) = relay(server, client).await? {
            return Ok(state == b"I");
        }
    }
}

/// Passes a message on; its kind and what it holds.
async fn relay(from: &mut TcpStream, to: &mut TcpStream) -> std::io::Result<(u8, Vec<u8>)> {
    let (kind, length) = (from.read_u8().await?, from.read_u32().await?);
    let mut body = vec![0; length as usize - 4];
    from.read_exact(&mut body).await?;
    to.write_all(&[&[kind][..], &length.to_be_bytes(), &body].concat()).await?;
    Ok((kind, body))
}
