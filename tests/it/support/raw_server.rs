//! A faulty server in the place of a real one: for each request the raw bytes that a test says, also what no server of
//! HTTP would send. The faulty way to a real avert is `link`.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use rustls::ServerConfig;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_rustls::TlsAcceptor;

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Asked {
    pub method: String,
    /// Path and query.
    pub target: String,
    /// The head's lines, in lower case up to the colon.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Asked {
    /// A header's text; empty when it is missing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// The path alone.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// A parameter of the query.
    pub fn parameter(&self, name: &str) -> Option<String> {
        let (_, query) = self.target.split_once('?')?;
        url::form_urlencoded::parse(query.as_bytes())
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.into_owned())
    }
}

/// What becomes of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Play {
    /// These bytes, and the end of the connection.
    Bytes(Vec<u8>),
    /// These bytes one by one, a little apart, for as long as anybody reads.
    Drip(Vec<u8>),
    /// These bytes, and then so many more of this one.
    Flood { head: Vec<u8>, byte: u8, count: u64 },
    /// Nothing, with the connection open for as long as the other side keeps it.
    Hang,
    /// The connection is reset.
    Reset,
}

impl Play {
    /// A whole answer.
    pub fn answer(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Self {
        Self::Bytes(answer(status, headers, body.as_ref(), body.as_ref().len()))
    }

    /// A whole answer of JSON.
    pub fn json(status: u16, body: &serde_json::Value) -> Self {
        Self::answer(status, &[("content-type", "application/json")], body.to_string())
    }
}

/// An answer that says that its body has so many bytes.
pub fn answer(status: u16, headers: &[(&str, &str)], body: &[u8], length: usize) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} Played\r\ncontent-length: {length}\r\nconnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    [head.as_bytes(), b"\r\n", body].concat()
}

type Plan = dyn Fn(&Asked, &[Asked]) -> Play + Send + Sync;

/// The server; it ends when dropped.
pub struct RawServer {
    address: SocketAddr,
    scheme: &'static str,
    asked: Arc<Mutex<Vec<Asked>>>,
    connections: Arc<AtomicUsize>,
    deaf: Arc<AtomicBool>,
    serving: JoinHandle<()>,
}

impl RawServer {
    /// A server of plain http; `plan` is given each request and those before it.
    pub async fn start(plan: impl Fn(&Asked, &[Asked]) -> Play + Send + Sync + 'static) -> Self {
        Self::serve(None, Arc::new(plan)).await
    }

    /// The same with TLS.
    pub async fn start_tls(
        tls: Arc<ServerConfig>,
        plan: impl Fn(&Asked, &[Asked]) -> Play + Send + Sync + 'static,
    ) -> Self {
        Self::serve(Some(TlsAcceptor::from(tls)), Arc::new(plan)).await
    }

    /// Whether each connection is reset before anything of it is read.
    pub fn set_deaf(&self, deaf: bool) {
        self.deaf.store(deaf, Ordering::SeqCst);
    }

    async fn serve(tls: Option<TlsAcceptor>, plan: Arc<Plan>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::<Mutex<Vec<Asked>>>::default();
        let deaf = Arc::<AtomicBool>::default();
        let hears_nothing = Arc::clone(&deaf);
        let connections = Arc::<AtomicUsize>::default();
        let accepted = Arc::clone(&connections);
        let (seen, scheme) = (Arc::clone(&asked), if tls.is_some() { "https" } else { "http" });
        let serving = tokio::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else { return };
                accepted.fetch_add(1, Ordering::SeqCst);
                let (tls, plan, asked) = (tls.clone(), Arc::clone(&plan), Arc::clone(&asked));
                let deaf = hears_nothing.load(Ordering::SeqCst);
                tokio::spawn(async move {
                    match tls {
                        _ if deaf => {
                            // The request has come, and nobody has read it.
                            let _ = stream.peek(&mut [0]).await;
                            reset(&stream);
                        }
                        None => {
                            let mut stream = stream;
                            if attend(&mut stream, &*plan, &asked).await == Some(Play::Reset) {
                                reset(&stream);
                            }
                        }
                        Some(tls) => {
                            if let Ok(mut stream) = tls.accept(stream).await
                                && attend(&mut stream, &*plan, &asked).await == Some(Play::Reset)
                            {
                                reset(stream.get_ref().0);
                            }
                        }
                    }
                });
            }
        });
        Self { address, scheme, asked: seen, connections, deaf, serving }
    }

    /// `http://127.0.0.1:PORT`, or https.
    pub fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// Host and port.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// Every request so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// How many connections were made, whatever came of them.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// How many requests with this method came.
    pub fn count(&self, method: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|asked| asked.method == method).count()
    }
}

impl Drop for RawServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn reset(stream: &TcpStream) {
    // Closing it then throws away what was sent and tells the other side so.
    stream.set_zero_linger().unwrap();
}

/// Reads a request, keeps it and does what the plan says; what that was, where there was a request.
async fn attend(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    plan: &Plan,
    asked: &Mutex<Vec<Asked>>,
) -> Option<Play> {
    let request = read(stream).await?;
    let play = {
        let mut before = asked.lock().unwrap();
        let play = plan(&request, &before);
        before.push(request);
        play
    };
    // Whoever does not read on is gone: that is no failure of the test.
    let _ = act(stream, &play).await;
    Some(play)
}

async fn act(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), play: &Play) -> std::io::Result<()> {
    match play {
        Play::Bytes(bytes) => {
            stream.write_all(bytes).await?;
            stream.shutdown().await
        }
        Play::Drip(bytes) => {
            for byte in bytes {
                stream.write_all(&[*byte]).await?;
                stream.flush().await?;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Ok(())
        }
        Play::Flood { head, byte, count } => {
            stream.write_all(head).await?;
            let chunk = vec![*byte; 64 * 1024];
            let mut left = *count;
            while left > 0 {
                let now = usize::try_from(left.min(chunk.len() as u64)).unwrap();
                stream.write_all(&chunk[..now]).await?;
                left -= now as u64;
            }
            stream.shutdown().await
        }
        Play::Hang => {
            let mut rest = [0; 64];
            while stream.read(&mut rest).await? > 0 {}
            Ok(())
        }
        Play::Reset => Ok(()),
    }
}

async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Option<Asked> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        stream.read_buf(&mut bytes).await.ok().filter(|read| *read > 0)?;
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, target) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length =
        headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, value)| value.parse().unwrap_or(0));
    while bytes.len() < end + 4 + length {
        stream.read_buf(&mut bytes).await.ok().filter(|read| *read > 0)?;
    }
    Some(Asked { method, target, headers, body: bytes[end + 4..].to_vec() })
}
