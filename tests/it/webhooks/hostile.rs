//! Addresses that somebody might type to make avert talk to the machine it runs on, or to the network behind it. Each
//! goes through the real sender; a listener on every address of this machine counts the connections. No address beyond
//! this machine is ever dialled.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use avert::{
    domain::{DeliveryId, EndpointAuth, EndpointId, EventId, NewEndpoint, OrganizationId, Secret, url::PlainHttp},
    outbound::address::AddressPolicy,
    store::{DueDelivery, EndpointTarget},
    webhooks::{AttemptReport, GuardedResolver, Sender, SenderSettings},
};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::{net::TcpListener, task::JoinHandle};

use crate::support::{
    alerts::noon,
    receiver::{Answer, Receiver},
};

/// Spellings of this machine that are literal addresses. `{p}` is the port that the listener listens on.
const THIS_MACHINE: &[&str] = &[
    // plain
    "http://127.0.0.1:{p}/",
    "http://127.0.0.2:{p}/",
    "http://127.1.2.3:{p}/",
    "http://127.255.255.254:{p}/",
    "http://[::1]:{p}/",
    // short forms
    "http://127.1:{p}/",
    "http://127.0.1:{p}/",
    "http://127.257:{p}/",
    "http://127.0.257:{p}/",
    // decimal
    "http://2130706433:{p}/",
    "http://2130706434:{p}/",
    "http://0017700000001:{p}/",
    // octal
    "http://0177.0.0.1:{p}/",
    "http://0177.0000.0000.0001:{p}/",
    "http://017700000001:{p}/",
    "http://0177.1:{p}/",
    "http://00000177.0.0.01:{p}/",
    "http://127.0.0.01:{p}/",
    // hex
    "http://0x7f.0.0.1:{p}/",
    "http://0x7f.1:{p}/",
    "http://0x7F000001:{p}/",
    "http://0x7f.0x0.0x0.0x1:{p}/",
    "http://0X7F.0.0.0X1:{p}/",
    "http://0x0000007f000001:{p}/",
    "http://127.0.0.0x1:{p}/",
    // mixed
    "http://0x7f.0.01:{p}/",
    "http://0177.0x0.1:{p}/",
    "http://127.0x1:{p}/",
    "http://0x7f.0177.3:{p}/",
    // trailing dots, letter case, percent-encoding, userinfo, white space
    "http://127.0.0.1.:{p}/",
    "http://0x7f.1.:{p}/",
    "HTTP://127.0.0.1:{p}/",
    "hTtP://2130706433:{p}/",
    "http://%31%32%37.0.0.1:{p}/",
    "http://127%2e0%2e0%2e1:{p}/",
    "http://%30x7f.1:{p}/",
    "http://example.com@127.0.0.1:{p}/",
    "http://example.com:80@127.0.0.1:{p}/",
    "http://example.com%40@127.0.0.1:{p}/",
    "http://a:b@[::1]:{p}/",
    " http://127.0.0.1:{p}/ ",
    "\thttp://127.0.0.1:{p}/",
    "http://127.0.0.1\t:{p}/",
    "ht\ntp://127.0.0.1:{p}/",
    // slashes and backslashes
    "http:/127.0.0.1:{p}/",
    "http:127.0.0.1:{p}/",
    "http:\\\\127.0.0.1:{p}\\",
    "http:////127.0.0.1:{p}/",
    "http://127.0.0.1:{p}\\@example.com/",
    "http://127.0.0.1:{p}?@example.com/",
    "http://127.0.0.1:{p}#@example.com/",
    "http://127.0.0.1:{p}/../../@example.com",
    "http://127.0.0.1:0{p}/",
    // other digits and dots of Unicode
    "http://１２７.０.０.１:{p}/",
    "http://127。0。0。1:{p}/",
    "http://127．0．0．1:{p}/",
    "http://127｡0｡0｡1:{p}/",
    "http://①②⑦.⓪.⓪.①:{p}/",
    "http://𝟏𝟐𝟕.𝟎.𝟎.𝟏:{p}/",
    "http://¹²⁷.⁰.⁰.¹:{p}/",
    "http://０ｘ７ｆ.１:{p}/",
    "http://127.0.0.1\u{ad}:{p}/",
    // IPv6 in every spelling, and IPv4 inside it
    "http://[0:0:0:0:0:0:0:1]:{p}/",
    "http://[0000:0000:0000:0000:0000:0000:0000:0001]:{p}/",
    "http://[::0001]:{p}/",
    "http://[0::1]:{p}/",
    "http://[::0.0.0.1]:{p}/",
    "http://[::ffff:127.0.0.1]:{p}/",
    "http://[::ffff:7f00:1]:{p}/",
    "http://[::FFFF:7F00:0001]:{p}/",
    "http://[0:0:0:0:0:ffff:127.0.0.1]:{p}/",
    "http://[::ffff:127.8.8.8]:{p}/",
];

/// Literal addresses that are never a receiver's, or of networks that need leave of their own.
const ELSEWHERE: &[&str] = &[
    // "this network": Linux takes it for itself
    "http://0.0.0.0:{p}/",
    "http://0:{p}/",
    "http://0x0:{p}/",
    "http://00000:{p}/",
    "http://0.0:{p}/",
    "http://0.1.2.3:{p}/",
    "http://0.255.255.255:{p}/",
    "http://[::]:{p}/",
    "http://[0:0:0:0:0:0:0:0]:{p}/",
    "http://[::ffff:0.0.0.0]:{p}/",
    "http://[::ffff:0:0]:{p}/",
    // compatible, translated, NAT64, 6to4, Teredo
    "http://[::127.0.0.1]:{p}/",
    "http://[::7f00:1]:{p}/",
    "http://[::169.254.169.254]:{p}/",
    "http://[::ffff:0:127.0.0.1]:{p}/",
    "http://[64:ff9b::127.0.0.1]:{p}/",
    "http://[64:ff9b::7f00:1]:{p}/",
    "http://[64:ff9b::10.0.0.1]:{p}/",
    "http://[64:ff9b::169.254.169.254]:{p}/",
    "http://[64:ff9b::c0a8:1]:{p}/",
    "http://[64:ff9b:1::127.0.0.1]:{p}/",
    "http://[64:ff9b:1::a00:1]:{p}/",
    "http://[64:ff9b:1:ffff:ffff:ffff:7f00:1]:{p}/",
    "http://[2002:7f00:1::]:{p}/",
    "http://[2002:7f00:1::1]:{p}/",
    "http://[2002:a00:1::1]:{p}/",
    "http://[2002:c0a8:101::]:{p}/",
    "http://[2002:a9fe:a9fe::1]:{p}/",
    "http://[2001::1]:{p}/",
    "http://[2001:0:7f00:1::]:{p}/",
    "http://[2001:0:53aa:64c:0:0:80ff:fffe]:{p}/",
    "http://[2001:10::1]:{p}/",
    "http://[2001:20::1]:{p}/",
    // private networks
    "http://10.0.0.1:{p}/",
    "http://10.255.255.255:{p}/",
    "http://10.1:{p}/",
    "http://167772161:{p}/",
    "http://0xa000001:{p}/",
    "http://012.0.0.1:{p}/",
    "http://172.16.0.1:{p}/",
    "http://172.31.255.255:{p}/",
    "http://0xac.0x10.0.1:{p}/",
    "http://192.168.0.1:{p}/",
    "http://192.168.1:{p}/",
    "http://3232235777:{p}/",
    "http://0300.0250.1.1:{p}/",
    "http://[::ffff:10.0.0.1]:{p}/",
    "http://[::ffff:c0a8:101]:{p}/",
    "http://[::ffff:172.16.5.5]:{p}/",
    // shared (CGNAT)
    "http://100.64.0.1:{p}/",
    "http://100.127.255.254:{p}/",
    "http://100.100.100.200/latest/meta-data/",
    // link-local and cloud metadata
    "http://169.254.0.1:{p}/",
    "http://169.254.169.254/latest/meta-data/",
    "http://169.254.170.2/v2/credentials",
    "http://2852039166/latest/meta-data/",
    "http://0xa9fea9fe/",
    "http://0xa9.0xfe.0xa9.0xfe/",
    "http://0251.0376.0251.0376/",
    "http://169.254.43518/",
    "http://169.16689662/",
    "http://[::ffff:169.254.169.254]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[fd00:ec2::254]/latest/meta-data/",
    "http://[fd20:ce::254]/",
    "http://192.0.0.192/opc/v2/",
    "http://[fe80::1]:{p}/",
    "http://[fe80::a9fe:a9fe]:{p}/",
    "http://[febf::1]:{p}/",
    "http://[fec0::1]:{p}/",
    "http://[fc00::1]:{p}/",
    "http://[fd12:3456:789a::1]:{p}/",
    "http://[fdff:ffff:ffff:ffff::1]:{p}/",
    // assignments, documentation, benchmarks, relays
    "http://192.0.0.1:{p}/",
    "http://192.0.2.1:{p}/",
    "http://198.51.100.7:{p}/",
    "http://203.0.113.9:{p}/",
    "http://198.18.0.1:{p}/",
    "http://198.19.255.255:{p}/",
    "http://192.88.99.1:{p}/",
    "http://[2001:db8::1]:{p}/",
    "http://[3fff::1]:{p}/",
    "http://[100::1]:{p}/",
    "http://[5f00::1]:{p}/",
    "http://[4000::1]:{p}/",
    "http://[8000::1]:{p}/",
    // multicast, reserved, broadcast
    "http://224.0.0.1:{p}/",
    "http://239.255.255.250:1900/",
    "http://240.0.0.1:{p}/",
    "http://255.255.255.255:{p}/",
    "http://4294967295:{p}/",
    "http://0xffffffff:{p}/",
    "http://[ff02::1]:{p}/",
    "http://[ff0e::1]:{p}/",
    "http://[::ffff:224.0.0.1]:{p}/",
    "http://[::ffff:255.255.255.255]:{p}/",
];

/// What is no address of a receiver at all: other schemes, zones, broken spellings.
const NONSENSE: &[&str] = &[
    "ftp://127.0.0.1:{p}/",
    "file:///etc/passwd",
    "file://127.0.0.1:{p}/etc/passwd",
    "gopher://127.0.0.1:{p}/_POST",
    "dict://127.0.0.1:{p}/info",
    "ldap://127.0.0.1:{p}/",
    "ws://127.0.0.1:{p}/",
    "unix:///var/run/docker.sock",
    "data:text/plain,hello",
    "javascript:alert(1)",
    "jar:http://127.0.0.1:{p}!/",
    "//127.0.0.1:{p}/",
    "127.0.0.1:{p}",
    "localhost:{p}/hook",
    "http://",
    "http:///",
    "http://:{p}/",
    "http://[::1%25lo]:{p}/",
    "http://[fe80::1%25eth0]:{p}/",
    "http://[fe80::1%eth0]:{p}/",
    "http://[::1:{p}/",
    "http://::1:{p}/",
    "http://[127.0.0.1]:{p}/",
    "http://127.0.0.1.1:{p}/",
    "http://127.0.0.256:{p}/",
    "http://256.0.0.1:{p}/",
    "http://4294967296:{p}/",
    "http://0x100000000:{p}/",
    "http://127.0.0.09:{p}/",
    "http://1.2.3.4.5:{p}/",
    "http://0x7g.1:{p}/",
    "http://127.0.0.1:{p}{p}/",
    "http://127.0.0.1:-1/",
    "http://127.0.0.1:{p}@/",
    "http://127.0.0.1%00.example.com:{p}/",
    "http://127.0.0.1%20:{p}/",
    "http://127.0.0.1 .example.com:{p}/",
    "http://[::ffff:127.0.0.1:{p}/",
    "http://[::ffff:127.0.0.256]:{p}/",
];

/// Names, and what they resolve to here.
const NAMES: &[(&str, &[&str])] = &[
    ("localhost", &["127.0.0.1", "::1"]),
    ("localhost.", &["127.0.0.1"]),
    ("LOCALHOST", &["127.0.0.1"]),
    ("foo.localhost", &["127.0.0.1"]),
    ("ip6-localhost", &["::1"]),
    ("localhost.localdomain", &["127.0.0.1"]),
    ("127.0.0.1.nip.example", &["127.0.0.1"]),
    ("lvh.example", &["127.0.0.1"]),
    ("v6.example", &["::1"]),
    ("mapped.example", &["::ffff:127.0.0.1"]),
    ("compatible.example", &["::127.0.0.1"]),
    ("nat64.example", &["64:ff9b::7f00:1"]),
    ("local-nat64.example", &["64:ff9b:1::7f00:1"]),
    ("six-to-four.example", &["2002:7f00:1::1"]),
    ("teredo.example", &["2001:0:7f00:1::"]),
    ("any.example", &["0.0.0.0"]),
    ("any6.example", &["::"]),
    ("intranet.example", &["10.0.0.1"]),
    ("router.example", &["192.168.1.1"]),
    ("office.example", &["172.16.0.1", "10.0.0.1", "127.0.0.1"]),
    ("carrier.example", &["100.64.0.1"]),
    ("unique.example", &["fd00::1"]),
    ("metadata.google.internal", &["169.254.169.254"]),
    ("metadata.example", &["fd00:ec2::254"]),
    ("link.example", &["fe80::1"]),
    ("bench.example", &["198.18.0.1"]),
    ("cast.example", &["224.0.0.1"]),
    ("everybody.example", &["255.255.255.255"]),
    ("documents.example", &["2001:db8::1"]),
    ("xn--bcher-kva.example", &["127.0.0.1"]),
    ("bücher.example", &["127.0.0.1"]),
    ("127.0.0.1.example", &["127.0.0.1"]),
    ("0x7f000001.example", &["127.0.0.1"]),
];

/// A resolver that knows [`NAMES`] and no other, and answers each time with the next of what it was told.
struct Names {
    answers: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    asked: AtomicUsize,
}

impl Names {
    fn new(names: impl IntoIterator<Item = (String, Vec<Vec<IpAddr>>)>) -> Arc<Self> {
        Arc::new(Self { answers: Mutex::new(names.into_iter().collect()), asked: AtomicUsize::new(0) })
    }

    fn of_the_list() -> Arc<Self> {
        let known = NAMES.iter().map(|(name, addresses)| {
            // As the URL's host is written when it is looked up.
            let host = url::Url::parse(&format!("http://{name}/")).unwrap().host_str().unwrap().to_owned();
            (host, vec![addresses.iter().map(|address| address.parse().unwrap()).collect()])
        });
        Self::new(known)
    }
}

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let mut answers = self.answers.lock().unwrap();
        let found = answers.get_mut(name.as_str()).map(|answers| match answers.len() {
            1 => answers[0].clone(),
            _ => answers.remove(0),
        });
        Box::pin(async move {
            let found = found.ok_or("no such name")?;
            let found: Addrs = Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(found)
        })
    }
}

/// Listens on every address of this machine, v4 and v6, and counts who connects.
struct Listener {
    port: u16,
    connections: Arc<AtomicUsize>,
    serving: Vec<JoinHandle<()>>,
}

impl Listener {
    async fn start() -> Self {
        let connections = Arc::new(AtomicUsize::new(0));
        let v4 = TcpListener::bind("0.0.0.0:0").await.unwrap();
        let port = v4.local_addr().unwrap().port();
        // Where the system has no IPv6, or takes both on one, there is nothing more to listen on.
        let v6 = TcpListener::bind(("::1", port)).await.ok();
        let serve = |listener: TcpListener| {
            let counted = Arc::clone(&connections);
            tokio::spawn(async move {
                while let Ok((connection, _)) = listener.accept().await {
                    counted.fetch_add(1, Ordering::SeqCst);
                    drop(connection);
                }
            })
        };
        let serving = [Some(v4), v6].into_iter().flatten().map(serve).collect();
        Self { port, connections, serving }
    }

    fn count(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.serving.iter().for_each(JoinHandle::abort);
    }
}

fn sender(addresses: AddressPolicy, names: Arc<Names>) -> Sender {
    let names: Arc<dyn Resolve> = names;
    Sender::with_names(SenderSettings { addresses, timeout: Duration::from_secs(5) }, &names).unwrap()
}

fn auth() -> EndpointAuth {
    EndpointAuth::Basic { username: "desk".to_owned(), password: Secret::new("hunter22") }
}

async fn send(sender: &Sender, url: &str) -> AttemptReport {
    let due = DueDelivery {
        delivery: DeliveryId::generate(),
        generation: 1,
        event: EventId::generate(),
        body: Arc::from("{}"),
        attempt: 1,
        organization: OrganizationId::default(),
        endpoint: EndpointId::generate(),
        trace: String::new(),
        target: EndpointTarget {
            url: Secret::new(url),
            auth: auth(),
            signing: Arc::from([]),
            ca_certificate: Arc::default(),
        },
    };
    sender.send(&due, noon()).await
}

fn on_port(texts: &[&str], port: u16) -> Vec<String> {
    texts.iter().map(|text| text.replace("{p}", &port.to_string())).collect()
}

/// The names of the list as URLs.
fn by_name(port: u16) -> Vec<String> {
    NAMES.iter().map(|(name, _)| format!("http://{name}:{port}/hook")).collect()
}

#[tokio::test]
async fn no_hostile_address_is_ever_connected_to() {
    let listener = Listener::start().await;
    let sender = sender(AddressPolicy::default(), Names::of_the_list());
    let literal = on_port(THIS_MACHINE, listener.port).into_iter().chain(on_port(ELSEWHERE, listener.port));
    let refused: Vec<String> = literal.chain(by_name(listener.port)).collect();
    let nonsense = on_port(NONSENSE, listener.port);
    assert!(refused.len() + nonsense.len() >= 150, "{}", refused.len() + nonsense.len());

    for url in &refused {
        let error = send(&sender, url).await.error.unwrap_or_else(|| panic!("{url} was answered"));
        assert!(error.starts_with("not sent: "), "{url}: {error}");
    }
    for url in &nonsense {
        let tried = send(&sender, url).await;
        assert!(tried.error.is_some(), "{url} was answered");
    }

    assert_eq!(listener.count(), 0, "somebody connected");
}

#[tokio::test]
async fn the_listener_counts_each_of_them_where_this_machine_is_allowed() {
    let listener = Listener::start().await;
    let v6 = listener.serving.len() == 2;
    let sender = sender(AddressPolicy::loopback(), Names::of_the_list());
    let mut dialled = 0;

    for url in on_port(THIS_MACHINE, listener.port) {
        let known = url::Url::parse(&url).unwrap();
        if !v6 && matches!(known.host(), Some(url::Host::Ipv6(address)) if address.to_ipv4_mapped().is_none()) {
            continue;
        }
        let before = listener.count();
        let error = send(&sender, &url).await.error.unwrap_or_default();
        assert!(!error.starts_with("not sent: "), "{url}: {error}");
        dialled += 1;
        assert!(listener.count() > before, "{url} did not connect: {error}");
    }
    send(&sender, &format!("http://lvh.example:{}/", listener.port)).await;

    assert!(listener.count() > dialled && dialled > 60, "{} of {dialled}", listener.count());
}

#[tokio::test]
async fn networks_that_need_leave_are_not_opened_by_leave_for_this_machine() {
    let listener = Listener::start().await;
    let sender = sender(AddressPolicy::loopback(), Names::of_the_list());

    // What wraps this machine's address for a network to unwrap is this machine's, and allowed with it; nothing listens
    // there.
    let wraps_loopback = |url: &str| url.contains("64:ff9b::127") || url.contains("64:ff9b::7f");
    for url in on_port(ELSEWHERE, listener.port).iter().filter(|url| !wraps_loopback(url)) {
        let error = send(&sender, url).await.error.unwrap_or_else(|| panic!("{url} was answered"));
        assert!(error.starts_with("not sent: "), "{url}: {error}");
    }

    assert_eq!(listener.count(), 0);
}

#[tokio::test]
async fn a_name_that_was_public_when_it_was_looked_at_is_refused_when_it_is_this_machine_at_the_connection() {
    let listener = Listener::start().await;
    let (public, loopback): (IpAddr, IpAddr) = ("93.184.215.14".parse().unwrap(), "127.0.0.1".parse().unwrap());
    let turns = [
        ("rebind.example", loopback),
        ("rebind6.example", "::1".parse().unwrap()),
        ("inside.example", "10.0.0.1".parse().unwrap()),
    ];
    let names = Names::new(turns.map(|(name, second)| (name.to_owned(), vec![vec![public], vec![second]])));
    let sender = sender(AddressPolicy::default(), Arc::clone(&names));

    for (name, _) in turns {
        // Somebody checks the name first, and finds nothing wrong with it.
        let checked =
            GuardedResolver::new(AddressPolicy::default(), None, names.clone()).resolve(name.parse().unwrap()).await;
        assert_eq!(checked.ok().unwrap().map(|address| address.ip()).collect::<Vec<_>>(), [public]);
        let asked = names.asked.load(Ordering::SeqCst);

        let error = send(&sender, &format!("http://{name}:{}/", listener.port)).await.error.unwrap();

        assert!(error.starts_with("not sent: "), "{name}: {error}");
        assert_eq!(
            names.asked.load(Ordering::SeqCst),
            asked + 1,
            "what is checked is what is connected to: one look-up"
        );
    }
    assert_eq!(listener.count(), 0);
}

#[tokio::test]
async fn an_allowed_receiver_cannot_send_us_elsewhere() {
    let listener = Listener::start().await;
    let sender = sender(AddressPolicy::loopback(), Names::of_the_list());
    let targets = [
        "http://127.0.0.1:{p}/",
        "http://[::1]:{p}/",
        "http://0.0.0.0:{p}/",
        "//127.0.0.1:{p}/",
        "http://lvh.example:{p}/",
    ];
    let receiver = Receiver::start().await;

    for status in [300, 301, 302, 303, 307, 308] {
        for target in on_port(&targets, listener.port) {
            receiver.answer(Answer::With(status, "location", target));
            assert_eq!(send(&sender, &receiver.url()).await.status(), Some(status));
        }
    }
    receiver.answer(Answer::With(200, "refresh", format!("0; url=http://127.0.0.1:{}/", listener.port)));
    assert_eq!(send(&sender, &receiver.url()).await.status(), Some(200));

    assert_eq!((receiver.count(), listener.count()), (31, 0));
}

#[test]
fn what_is_no_receivers_address_is_refused_when_it_is_typed() {
    for url in on_port(NONSENSE, 9_000) {
        assert!(NewEndpoint::parse(&url, PlainHttp::Allowed, auth(), None).is_err(), "{url}");
    }
}
