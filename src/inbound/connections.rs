//! Connections: taken within bounds, counted by address, each from its first request to its end.
//!
//! Over a bound the one that does least gives way, the oldest first. One whose request is worked on never does.

use std::{
    cmp::Reverse,
    collections::HashMap,
    convert::Infallible,
    io,
    net::{IpAddr, Ipv6Addr, SocketAddr},
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::{Body, Bytes, HttpBody},
    response::Response,
};
use hyper::{
    Request,
    body::{Frame, Incoming, SizeHint},
    server::conn::http1,
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::Notify,
};
use tokio_util::sync::CancellationToken;
use tower::Service;

use crate::framing::StrictFraming;

/// The activity of a connection. What stands first gives way first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Activity {
    /// No whole head of a request is here.
    Idle,
    /// A head is here, and no good credential or not all of the body.
    Receiving,
    /// The answer is on its way.
    Answering,
    /// The request is worked on.
    Working,
    /// The connection gave way, and is being closed.
    Gone,
}

/// One open connection.
#[derive(Debug)]
pub struct HttpConnection {
    number: u64,
    /// The peer's address, or its network.
    from: IpAddr,
    /// Activity, and the count at which it began.
    activity: Mutex<(Activity, u64)>,
    end: CancellationToken,
    registry: Arc<Registry>,
}

impl HttpConnection {
    /// Goes on to something else; `false` once it gave way.
    pub fn becomes(&self, activity: Activity) -> bool {
        let mut now = locked(&self.activity);
        if now.0 == Activity::Gone {
            return false;
        }
        *now = (activity, self.registry.moment());
        drop(now);
        if activity < Activity::Working {
            self.registry.changed.notify_one();
        }
        true
    }

    /// Gives way, where it still does what it was seen doing.
    fn give_way(&self, seen: (Activity, u64)) -> bool {
        let mut now = locked(&self.activity);
        let as_seen = *now == seen;
        if as_seen {
            now.0 = Activity::Gone;
            self.end.cancel();
        }
        as_seen
    }
}

/// A connection that stands in the registry for as long as this lives.
#[derive(Debug)]
pub struct OpenConnection(Arc<HttpConnection>);

impl OpenConnection {
    /// The connection itself, for what reads and answers on it.
    pub fn connection(&self) -> Arc<HttpConnection> {
        Arc::clone(&self.0)
    }

    /// Ends once the connection has to give way.
    pub async fn gives_way(&self) {
        self.0.end.cancelled().await;
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.registry.forget(&self.0);
        self.0.registry.changed.notify_one();
    }
}

/// Admission of a newcomer.
#[derive(Debug)]
pub enum Admitted {
    Open(OpenConnection),
    /// The address has as many connections as it may, and all are at work.
    Refused,
    /// All connections are taken and at work: the newcomer waits for one to end.
    Full,
}

/// The registry of open connections.
#[derive(Debug)]
pub struct Connections {
    registry: Arc<Registry>,
    most: usize,
    most_of_one: usize,
}

#[derive(Debug, Default)]
struct Registry {
    opened: Mutex<OpenConnections>,
    moments: AtomicU64,
    changed: Notify,
}

#[derive(Debug, Default)]
struct OpenConnections {
    open: HashMap<u64, Arc<HttpConnection>>,
    by_address: HashMap<IpAddr, usize>,
}

impl Registry {
    /// A number for each moment at which something happened, later ones higher.
    fn moment(&self) -> u64 {
        self.moments.fetch_add(1, Ordering::Relaxed)
    }

    fn forget(&self, connection: &HttpConnection) {
        locked(&self.opened).forget(connection);
    }
}

impl OpenConnections {
    fn forget(&mut self, connection: &HttpConnection) {
        if self.open.remove(&connection.number).is_none() {
            return;
        }
        match self.by_address.get(&connection.from).copied().unwrap_or_default().saturating_sub(1) {
            0 => self.by_address.remove(&connection.from),
            left => self.by_address.insert(connection.from, left),
        };
    }

    /// Ends the connection that does least, of one address or of all; of several the oldest. Where all addresses count,
    /// it is one of the address with most. Returns `false` where every one is at work.
    fn make_room(&mut self, from: Option<IpAddr>) -> bool {
        loop {
            let candidates = self.open.values().filter(|connection| from.is_none_or(|from| connection.from == from));
            let seen = candidates
                .map(|connection| (*locked(&connection.activity), connection))
                .filter(|((activity, _), _)| *activity < Activity::Working);
            let rank = |((activity, since), connection): &((Activity, u64), &Arc<HttpConnection>)| {
                (*activity, Reverse(self.by_address.get(&connection.from).copied().unwrap_or_default()), *since)
            };
            let Some((seen, connection)) =
                seen.min_by_key(rank).map(|(seen, connection)| (seen, Arc::clone(connection)))
            else {
                return false;
            };
            if connection.give_way(seen) {
                self.forget(&connection);
                return true;
            }
        }
    }
}

impl Connections {
    /// No connection yet, at most so many, and so many of one address.
    pub fn new(most: usize, most_of_one: usize) -> Self {
        Self { registry: Arc::default(), most: most.max(1), most_of_one: most_of_one.max(1) }
    }

    /// Takes a newcomer in, and has another one give way where a bound is reached. A trusted proxy stands for many
    /// callers: no bound of one address holds for it. An address of this machine may be a proxy's too, and is not
    /// refused for its bound.
    pub fn admit(&self, peer: IpAddr, trusted: bool) -> Admitted {
        let from = network(peer);
        let mut opened = locked(&self.registry.opened);
        let own = opened.by_address.get(&from).copied().unwrap_or_default();
        if !trusted && own >= self.most_of_one && !opened.make_room(Some(from)) && !peer.to_canonical().is_loopback() {
            return Admitted::Refused;
        }
        if opened.open.len() >= self.most && !opened.make_room(None) {
            return Admitted::Full;
        }
        let number = self.registry.moment();
        let activity = Mutex::new((Activity::Idle, number));
        let connection = Arc::new(HttpConnection {
            number,
            from,
            activity,
            end: CancellationToken::new(),
            registry: Arc::clone(&self.registry),
        });
        opened.open.insert(number, Arc::clone(&connection));
        *opened.by_address.entry(from).or_default() += 1;
        Admitted::Open(OpenConnection(connection))
    }

    /// Ends so many connections that do little, because the machine has no room for more.
    pub fn shed(&self, count: usize) {
        let mut opened = locked(&self.registry.opened);
        for _ in 0..count {
            if !opened.make_room(None) {
                break;
            }
        }
    }

    /// Waits until one has ended, or does less.
    pub async fn changed(&self) {
        self.registry.changed.notified().await;
    }
}

/// Locks a mutex though it may be poisoned: no holder leaves half a change behind.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

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
pub async fn serve<S, A>(stream: S, app: A, limits: HeadLimits, open: OpenConnection, ending: Ending)
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
            () = open.gives_way() => break Ok(()),
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke");
    }
}

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
    pub connection: OpenConnection,
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
                    Admitted::Open(connection) => {
                        // Small answers must not wait for more; where the system refuses, they are only slower.
                        let _ = stream.set_nodelay(true);
                        return Ok(Newcomer { stream, peer, connection });
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

/// The body of an answer: once it has ended, its connection is idle.
pub struct AnswerBody {
    body: Body,
    connection: Arc<HttpConnection>,
}

impl AnswerBody {
    /// The body of an answer on a connection.
    pub fn of(body: Body, connection: Arc<HttpConnection>) -> Self {
        connection.becomes(Activity::Answering);
        Self { body, connection }
    }
}

impl Drop for AnswerBody {
    fn drop(&mut self) {
        self.connection.becomes(Activity::Idle);
    }
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The address as one that cannot be changed at will: whoever has one IPv6 address has its whole /64.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn open(connections: &Connections, from: &str) -> OpenConnection {
        match connections.admit(address(from), false) {
            Admitted::Open(connection) => connection,
            other => panic!("{other:?}"),
        }
    }

    fn gone(connection: &OpenConnection) -> bool {
        connection.0.end.is_cancelled()
    }

    #[test]
    fn at_the_bound_of_an_address_its_own_oldest_idle_connection_gives_way() {
        let connections = Connections::new(100, 2);
        let other = open(&connections, "192.0.2.9");
        let (first, second) = (open(&connections, "192.0.2.1"), open(&connections, "192.0.2.1"));
        // The first has done something since, so the second is idle for longer.
        first.0.becomes(Activity::Working);
        first.0.becomes(Activity::Idle);

        let third = open(&connections, "192.0.2.1");

        assert_eq!([&other, &first, &second, &third].map(gone), [false, false, true, false]);
        assert!(!second.0.becomes(Activity::Receiving), "what gave way takes no request any more");
    }

    #[test]
    fn what_does_least_gives_way_first_and_what_is_worked_on_never() {
        let connections = Connections::new(100, 4);
        let opened = [Activity::Working, Activity::Answering, Activity::Receiving, Activity::Idle].map(|activity| {
            let connection = open(&connections, "192.0.2.1");
            connection.0.becomes(activity);
            connection
        });
        let (mut given_way, mut newcomers) = (Vec::new(), Vec::new());

        for _ in 0..3 {
            let newcomer = open(&connections, "192.0.2.1");
            newcomer.0.becomes(Activity::Working);
            given_way.push(opened.each_ref().map(gone));
            newcomers.push(newcomer);
        }

        let (yes, no) = (true, false);
        assert_eq!(given_way, [[no, no, no, yes], [no, no, yes, yes], [no, yes, yes, yes]]);
        assert!(matches!(connections.admit(address("192.0.2.1"), false), Admitted::Refused));
        assert!(matches!(connections.admit(address("192.0.2.2"), false), Admitted::Open(_)));
    }

    #[test]
    fn a_trusted_proxy_has_no_bound_of_its_own_and_this_machine_is_not_refused_for_it() {
        let connections = Connections::new(100, 1);
        let busy = ["192.0.2.1", "127.0.0.1", "::ffff:127.0.0.1"].map(|from| {
            let connection = open(&connections, from);
            connection.0.becomes(Activity::Working);
            connection
        });

        assert!(matches!(connections.admit(address("192.0.2.1"), true), Admitted::Open(_)));
        assert!(matches!(connections.admit(address("127.0.0.1"), false), Admitted::Open(_)));
        assert!(matches!(connections.admit(address("192.0.2.1"), false), Admitted::Refused));
        assert!(!busy.iter().any(gone));
    }

    #[test]
    fn at_the_bound_of_all_an_idle_one_of_whoever_has_most_gives_way() {
        let connections = Connections::new(4, 4);
        let oldest = open(&connections, "192.0.2.9");
        let greedy = [(); 3].map(|()| open(&connections, "192.0.2.1"));

        let newcomer = open(&connections, "192.0.2.2");

        assert_eq!(greedy.each_ref().map(gone), [true, false, false]);
        assert!(!gone(&oldest) && !gone(&newcomer));
    }

    #[tokio::test]
    async fn where_all_are_at_work_a_newcomer_waits_for_one_to_end() {
        let connections = Connections::new(1, 1);
        let connection = open(&connections, "192.0.2.1");
        connection.0.becomes(Activity::Working);
        assert!(matches!(connections.admit(address("192.0.2.2"), false), Admitted::Full));

        drop(connection);
        connections.changed().await;

        assert!(matches!(connections.admit(address("192.0.2.2"), false), Admitted::Open(_)));
    }

    #[test]
    fn what_has_ended_is_forgotten_whether_it_gave_way_or_not() {
        let connections = Connections::new(100, 1);
        let (first, second) = (open(&connections, "192.0.2.1"), open(&connections, "192.0.2.1"));

        drop((first, second));

        let opened = locked(&connections.registry.opened);
        assert!(opened.open.is_empty() && opened.by_address.is_empty());
    }
}
