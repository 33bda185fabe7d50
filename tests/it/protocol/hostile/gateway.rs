//! A gateway that does everything a gateway can do wrong, and remembers what is true. Where it speaks so that it can be
//! understood, it says the truth; everything else is nonsense, silence or a broken line. Nothing in here protects
//! anybody: what was not promised is applied twice. Time in it is the test's.

use std::{
    collections::{HashMap, HashSet},
    future::poll_fn,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard},
    task::Context,
};

use avert::{
    domain::{AlertId, AttemptId},
    providers::Capabilities,
};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::IndexedRandom as _};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// What is sent back on the line before it is closed.
enum Reply {
    Bytes(Vec<u8>),
    /// Nothing, and the line stays open.
    Silence,
}

/// A decision that was taken in, and takes effect later.
struct Late {
    attempt: AttemptId,
    at: u64,
    /// Whether it is applied then, or refused.
    applied: bool,
    /// Whether the network says meanwhile that it is at it.
    told: bool,
}

/// What the network knows of one alert.
#[derive(Default)]
struct Case {
    calls: u64,
    /// Every decision of ours that took effect, in order.
    applied: Vec<AttemptId>,
    refused: HashSet<AttemptId>,
    seen: HashSet<AttemptId>,
    late: Vec<Late>,
    /// Somebody has answered at the network's own portal.
    answered_at_portal: bool,
}

/// What the network knows.
pub struct World {
    seed: u64,
    capabilities: Capabilities,
    now: u64,
    /// How often time has gone by. A call of an earlier turn is not looked at.
    turn: u64,
    /// Whether it has come to its senses.
    honest: bool,
    cases: HashMap<AlertId, Case>,
    /// The attempt of each decision that arrived, by its comments.
    attempts: HashMap<String, AttemptId>,
}

/// The gateway, on a port of this machine; it ends when dropped.
pub struct Gateway {
    address: SocketAddr,
    /// Where calls wait that nobody has accepted yet.
    waiting: std::net::TcpListener,
    world: Arc<Mutex<World>>,
    serving: JoinHandle<()>,
}

impl Gateway {
    pub async fn start(seed: u64, capabilities: Capabilities) -> Self {
        let waiting = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        waiting.set_nonblocking(true).unwrap();
        let (address, listener) =
            (waiting.local_addr().unwrap(), TcpListener::from_std(waiting.try_clone().unwrap()).unwrap());
        let world = World {
            seed,
            capabilities,
            now: 0,
            turn: 0,
            honest: false,
            cases: HashMap::new(),
            attempts: HashMap::new(),
        };
        let world = Arc::new(Mutex::new(world));
        let shared = Arc::clone(&world);
        let serving = tokio::spawn(async move {
            // Its turn is taken with the call: no time goes by between the two.
            let accepted = |context: &mut Context<'_>| {
                let world = shared.lock().unwrap();
                listener.poll_accept(context).map_ok(|(stream, _)| (stream, world.turn))
            };
            while let Ok((stream, turn)) = poll_fn(accepted).await {
                let world = Arc::clone(&shared);
                // A line that breaks is its caller's loss.
                tokio::spawn(async move { answer(stream, &world, turn).await.ok() });
            }
        });
        Self { address, waiting, world, serving }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    /// So many seconds go by. A call that nobody has looked at so far was given up before, or has to be: it would come
    /// in later than any network may take, and is lost on its way.
    pub fn pass(&self, seconds: u32) {
        let mut world = self.world();
        while self.waiting.accept().is_ok() {}
        world.turn += 1;
        world.pass(seconds);
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn answer(mut stream: TcpStream, world: &Mutex<World>, turn: u64) -> std::io::Result<()> {
    let mut request = Vec::new();
    let (head, length) = loop {
        if let Some(end) = request.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&request[..end]).into_owned();
            let length = head
                .lines()
                .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok())
                .unwrap_or(0);
            break (head, end + 4 + length);
        }
        if stream.read_buf(&mut request).await? == 0 {
            return Ok(());
        }
    };
    while request.len() < length {
        if stream.read_buf(&mut request).await? == 0 {
            return Ok(());
        }
    }
    let body = request.split_off(request.len().min(head.len() + 4));
    let reply = {
        let mut world = world.lock().unwrap();
        if world.turn != turn {
            return Ok(());
        }
        world.reply(&head, &body)
    };
    match reply {
        Reply::Bytes(bytes) => stream.write_all(&bytes).await,
        Reply::Silence => std::future::pending().await,
    }
}

impl World {
    fn pass(&mut self, seconds: u32) {
        self.now += u64::from(seconds);
        for case in self.cases.values_mut() {
            let (due, waiting): (Vec<Late>, Vec<Late>) =
                std::mem::take(&mut case.late).into_iter().partition(|late| late.at <= self.now);
            case.late = waiting;
            for Late { attempt, applied, .. } in due {
                if applied && !case.answered_at_portal {
                    case.applied.push(attempt);
                } else {
                    case.refused.insert(attempt);
                }
            }
        }
    }

    /// Somebody answers an alert at the network's own portal, where nobody has answered it.
    pub fn answer_at_portal(&mut self, alert: AlertId) {
        let case = self.cases.entry(alert).or_default();
        case.answered_at_portal |= case.applied.is_empty();
    }

    /// From now on it says nothing but the truth, in so many words.
    pub fn come_to_its_senses(&mut self) {
        self.honest = true;
    }

    /// Our decisions on an alert that took effect.
    pub fn applied(&self, alert: AlertId) -> Vec<AttemptId> {
        self.cases.get(&alert).map(|case| case.applied.clone()).unwrap_or_default()
    }

    /// The attempt of a decision that arrived.
    pub fn attempt_of(&self, comments: &str) -> Option<AttemptId> {
        self.attempts.get(comments).copied()
    }

    pub fn calls(&self) -> u64 {
        self.cases.values().map(|case| case.calls).sum()
    }

    /// Chance of a call that is the same in every run, whatever else goes on.
    fn chance(&mut self, alert: AlertId) -> StdRng {
        let case = self.cases.entry(alert).or_default();
        case.calls += 1;
        let low = u64::try_from(alert.0.as_u128() & u128::from(u64::MAX)).unwrap();
        StdRng::seed_from_u64(self.seed ^ low ^ case.calls.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    fn reply(&mut self, head: &str, body: &[u8]) -> Reply {
        let line = head.lines().next().unwrap_or_default();
        if line.starts_with("POST") {
            let body: Value = serde_json::from_slice(body).expect("a decision of JSON");
            let text = |name: &str| body[name].as_str().expect("a text").to_owned();
            let (attempt, alert) = (text("attemptId").parse().unwrap(), text("alertId").parse().unwrap());
            self.attempts.insert(text("comments"), attempt);
            return self.decide(attempt, alert);
        }
        let (_, rest) = line.split_once("/decisions/").expect("a look-up");
        let attempt = rest.get(..36).unwrap().parse().unwrap();
        let (_, alert) = rest.split_once("alertId=").expect("an alert");
        self.look_up(attempt, alert.get(..36).unwrap().parse().unwrap())
    }

    fn decide(&mut self, attempt: AttemptId, alert: AlertId) -> Reply {
        let mut chance = self.chance(alert);
        let (now, honest, capabilities) = (self.now, self.honest, self.capabilities);
        let case = self.cases.entry(alert).or_default();
        let again = !case.seen.insert(attempt);
        let ours = case.applied.contains(&attempt);
        let at_work = case.late.iter().any(|late| late.attempt == attempt);
        let promised = match () {
            () if !again => None,
            () if capabilities.idempotent && ours => Some("applied"),
            () if capabilities.idempotent && at_work => Some("pending"),
            () if (capabilities.idempotent || capabilities.final_error_only) && case.refused.contains(&attempt) => {
                Some("refused")
            }
            () if capabilities.final_error_only && (ours || at_work) => Some("conflict"),
            () => None,
        };
        let truth = promised.or(case.answered_at_portal.then_some("answered_otherwise"));
        if let Some(state) = truth {
            return if !honest && chance.random_ratio(1, 3) {
                nonsense(&mut chance, attempt, true)
            } else {
                stated(&mut chance, attempt, state)
            };
        }
        // Later, within the time that the network may take; and much later where it says so.
        let soon = now + chance.random_range(1..30);
        match chance.random_range(0..if honest { 2 } else { 10 }) {
            0 | 1 => {
                case.applied.push(attempt);
                stated(&mut chance, attempt, "applied")
            }
            2 => {
                case.refused.insert(attempt);
                stated(&mut chance, attempt, "refused")
            }
            3 => turned_away(&mut chance),
            4 => {
                let late = Late { attempt, at: soon * 9, applied: chance.random_bool(0.5), told: true };
                case.late.push(late);
                stated(&mut chance, attempt, "pending")
            }
            5 | 6 => {
                case.applied.push(attempt);
                nonsense(&mut chance, attempt, true)
            }
            7 | 8 => {
                case.late.push(Late { attempt, at: soon, applied: true, told: false });
                nonsense(&mut chance, attempt, true)
            }
            _ => nonsense(&mut chance, attempt, true),
        }
    }

    fn look_up(&mut self, attempt: AttemptId, alert: AlertId) -> Reply {
        assert!(self.capabilities.lookup, "look-ups were not promised");
        let mut chance = self.chance(alert);
        let honest = self.honest;
        let case = self.cases.entry(alert).or_default();
        let state = match () {
            () if case.applied.contains(&attempt) => "applied",
            () if case.refused.contains(&attempt) => "refused",
            () if case.answered_at_portal => "answered_otherwise",
            () if case.late.iter().any(|late| late.attempt == attempt && late.told) => "pending",
            () => "not_known",
        };
        match chance.random_range(0..if honest { 6 } else { 10 }) {
            0..6 => stated(&mut chance, attempt, state),
            6 | 7 => turned_away(&mut chance),
            _ => nonsense(&mut chance, attempt, false),
        }
    }
}

fn http(status: u16, body: &[u8]) -> Reply {
    let mut bytes =
        format!("HTTP/1.1 {status} Whatever\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len())
            .into_bytes();
    bytes.extend_from_slice(body);
    Reply::Bytes(bytes)
}

/// The truth, in one of the ways in which it can be said.
fn stated(chance: &mut StdRng, attempt: AttemptId, state: &str) -> Reply {
    let statuses: &[u16] = match state {
        "applied" => &[200, 201],
        "pending" => &[200, 202],
        "conflict" => &[409],
        "not_known" => &[200, 404],
        _ => &[200],
    };
    let body = match chance.random_range(0..3) {
        0 => json!({"state": state}),
        1 => json!({"state": state, "attemptId": attempt.to_string().to_uppercase(), "detail": "case 4711"}),
        _ => {
            json!({"detail": null, "attemptId": attempt.to_string(), "state": state, "tries": [1,
                {"state": "refused"}]})
        }
    };
    http(*statuses.choose(chance).unwrap(), body.to_string().as_bytes())
}

/// The call was not looked at: nothing was applied by it.
fn turned_away(chance: &mut StdRng) -> Reply {
    let bodies = ["", "<html>no</html>", r#"{"error": "no", "error": "no"}"#, r#"{"state": "rejected"}"#];
    http(*[400, 401, 403, 404, 415, 429].choose(chance).unwrap(), bodies.choose(chance).unwrap().as_bytes())
}

/// Nothing that can be understood, whatever took effect.
fn nonsense(chance: &mut StdRng, attempt: AttemptId, to_a_decision: bool) -> Reply {
    let other = AttemptId::generate();
    let unbelievable = [
        format!(r#"{{"state": "applied", "attemptId": "{other}"}}"#),
        format!(r#"{{"state": "refused", "attemptId": "{other}"}}"#),
        format!(r#"{{"state": "not_known", "attemptId": "{other}"}}"#),
        r#"{"state": "refused", "attemptId": 7}"#.to_owned(),
        r#"{"state": "applied", "attemptId": null}"#.to_owned(),
        r#"{"state": ["refused"]}"#.to_owned(),
        r#"{"state": false}"#.to_owned(),
        r#"{"state": "refused", "state": "applied"}"#.to_owned(),
        r#"{"state": "applied", "state": "refused"}"#.to_owned(),
        format!(r#"{{"attemptId": "{attempt}", "state": "refused", "attemptId": "{attempt}"}}"#),
        r#"{"state": "refused", "detail": {"why": "no"}}"#.to_owned(),
    ];
    let meaningless = [
        "",
        "OK",
        "null",
        "[]",
        "{}",
        "{",
        "\u{FEFF}",
        r#"{"state": "APPLIED"}"#,
        r#"{"state": " refused"}"#,
        "<html></html>",
    ];
    match chance.random_range(0..16) {
        0..4 => {
            http(*[200, 201, 400, 404, 422].choose(chance).unwrap(), unbelievable.choose(chance).unwrap().as_bytes())
        }
        4 | 5 => http(*[200, 201, 202, 204].choose(chance).unwrap(), meaningless.choose(chance).unwrap().as_bytes()),
        6 => http(*[500, 502, 503, 504, 599, 408].choose(chance).unwrap(), br#"{"state": "refused"}"#),
        7 => http(*[301, 302, 307, 308].choose(chance).unwrap(), br#"{"state": "applied"}"#),
        8 if to_a_decision => http(400, br#"{"state": "applied"}"#),
        8 => http(500, br#"{"state": "not_known"}"#),
        9 => http(200, &vec![b' '; 70_000]),
        10 => http(200, b"{\"state\": \"appl\xFFied\"}"),
        11 => Reply::Bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n{\"state\": \"refused\"".to_vec()),
        12 => Reply::Bytes(b"HTTP/1.1 103 Early Hints\r\n\r\n".to_vec()),
        13 => Reply::Bytes(b"SSH-2.0-OpenSSH_9.6\r\n".to_vec()),
        14 => Reply::Bytes(Vec::new()),
        _ => Reply::Silence,
    }
}
