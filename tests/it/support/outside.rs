//! The world outside of the process under test: three networks behind gateways that speak the provider contract, and a
//! merchant's receiver. It remembers everything, outlives every death of the process, and fails in every way by chance.
//!
//! Nothing in here protects anybody: a network that does not promise to count a repeat once applies it twice, and one
//! alert may be answered twice. Whoever relies on more than was promised is seen.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use avert::domain::{AlertId, AttemptId};
use axum::{
    Router,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

/// What a network does with the first call about an attempt, beside taking the decision and saying so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// It takes its time before, and after.
    Slow,
    /// It breaks off, and the decision takes effect a little later.
    Late,
    /// It breaks off before the decision has taken effect, or after.
    Break { applied: bool },
    /// It answers 503 before the decision has taken effect, or after.
    Error { applied: bool },
    /// It refuses for good.
    Refusal,
}

/// A decision that a network has taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// Whose it is.
    pub attempt: AttemptId,
    /// What it says of the refund.
    pub refunded: String,
}

/// An event that the merchant's receiver was sent.
#[derive(Debug, Clone)]
pub struct Told {
    /// The body, the same every time.
    pub body: Value,
    /// How often it came.
    pub times: u32,
    /// Whether it was answered 200 once.
    pub taken: bool,
}

#[derive(Debug)]
struct World {
    rng: StdRng,
    applied: BTreeMap<AlertId, Vec<Applied>>,
    refused: HashSet<AttemptId>,
    /// Attempts that it said it does not know: it takes none of them any more.
    denied: HashSet<AttemptId>,
    /// Attempts whose first call is being worked on.
    at_work: HashSet<AttemptId>,
    /// Attempts that were submitted, and those that were asked about: they fail only the first time.
    submitted: HashSet<AttemptId>,
    looked_up: HashSet<AttemptId>,
    told: HashMap<String, (Vec<u8>, Told)>,
    /// Events that came with two bodies.
    altered: Vec<String>,
    /// Every network takes its time with everything, until told otherwise.
    held: bool,
    calls: u64,
}

/// Networks and receiver on one port of this machine; they end when dropped.
pub struct Outside {
    address: SocketAddr,
    shared: Arc<Shared>,
    serving: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    world: Mutex<World>,
    seen: watch::Sender<usize>,
    faults: bool,
}

impl Shared {
    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }
}

/// How long a network takes at most before a late decision takes effect. Far below the settle time of
/// [`Outside::settings`].
pub const LATEST: Duration = Duration::from_millis(300);

impl Outside {
    /// A world whose networks and receiver fail by chance, or never.
    pub async fn start(seed: u64, faults: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("its address");
        let world = World {
            rng: StdRng::seed_from_u64(seed),
            applied: BTreeMap::new(),
            refused: HashSet::new(),
            denied: HashSet::new(),
            at_work: HashSet::new(),
            submitted: HashSet::new(),
            looked_up: HashSet::new(),
            told: HashMap::new(),
            altered: Vec::new(),
            held: false,
            calls: 0,
        };
        let shared = Arc::new(Shared { world: Mutex::new(world), seen: watch::Sender::new(0), faults });
        let routes = Router::new()
            .route("/{network}/decisions", post(decide))
            .route("/{network}/decisions/{attempt}", get(look_up))
            .route("/hook", post(hear))
            .with_state(shared.clone());
        let serving =
            tokio::spawn(async move { axum::serve(listener, routes).await.expect("the world outside serves") });
        Self { address, shared, serving }
    }

    /// Where webhooks are sent.
    pub fn hook(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Settings of an engine that reaches the networks: each promises another thing about lost answers, and `cdrn`
    /// nothing.
    pub fn settings(&self) -> String {
        let network = |name: &str, promise: &str| {
            format!(
                "[providers.{name}]\nurl = \"http://{}/{name}\"\nauth = \"none\"\n{promise}\ntimeout_seconds = \
                    5\nsettle_seconds = 3\n",
                self.address
            )
        };
        [network("ethoca", "lookup = true"), network("verifi", "idempotent = true"), network("cdrn", "")].concat()
    }

    /// What the networks hold, by alert, in the order of its taking effect.
    pub fn applied(&self) -> BTreeMap<AlertId, Vec<Applied>> {
        self.shared.world().applied.clone()
    }

    /// How many calls the networks have got.
    pub fn calls(&self) -> u64 {
        self.shared.world().calls
    }

    /// What the receiver was told, by `webhook-id`.
    pub fn told(&self) -> BTreeMap<String, Told> {
        self.shared.world().told.iter().map(|(id, (_, told))| (id.clone(), told.clone())).collect()
    }

    /// Events that came again with another body.
    pub fn altered(&self) -> Vec<String> {
        self.shared.world().altered.clone()
    }

    /// Has the networks hold every decision that comes, or lets go of them all.
    pub fn hold(&self, held: bool) {
        self.shared.world().held = held;
        self.shared.seen.send_modify(|_| {});
    }

    /// How many requests have come, and each further one.
    pub fn seen(&self) -> watch::Receiver<usize> {
        self.shared.seen.subscribe()
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl World {
    fn fault(&mut self) -> Option<Fault> {
        let faults = [
            Fault::Slow,
            Fault::Slow,
            Fault::Late,
            Fault::Break { applied: false },
            Fault::Break { applied: true },
            Fault::Error { applied: false },
            Fault::Error { applied: true },
            Fault::Refusal,
        ];
        // One call in three goes wrong.
        faults.get(self.rng.random_range(0..3 * faults.len())).copied()
    }

    fn has(&self, alert: AlertId, attempt: AttemptId) -> bool {
        self.applied.get(&alert).is_some_and(|all| all.iter().any(|one| one.attempt == attempt))
    }
}

fn statement(status: StatusCode, state: &str) -> Response {
    (status, axum::Json(json!({ "state": state, "detail": "the world outside" }))).into_response()
}

/// The task of the connection unwinds, quietly, and its socket goes with it.
fn break_off() -> ! {
    std::panic::resume_unwind(Box::new("broken off by the test"))
}

/// POST /{network}/decisions. The work is done whether the caller still listens or not.
async fn decide(State(shared): State<Arc<Shared>>, Path(network): Path<String>, body: Bytes) -> Response {
    let work = tokio::spawn(submit(shared.clone(), network, body));
    let answer = work.await.expect("a network does not fail of itself");
    answer.unwrap_or_else(|| break_off())
}

async fn submit(shared: Arc<Shared>, network: String, body: Bytes) -> Option<Response> {
    let body: Value = serde_json::from_slice(&body).expect("a decision of JSON");
    let attempt: AttemptId = body["attemptId"].as_str().expect("an attempt").parse().expect("its id");
    let alert: AlertId = body["alertId"].as_str().expect("an alert").parse().expect("its id");
    let decision = Applied { attempt, refunded: body["refunded"].as_str().expect("a decision").to_owned() };
    let (fault, delays) = {
        let mut world = shared.world();
        world.calls += 1;
        if network == "verifi" {
            // This one knows its first answer, and says when it has none yet.
            if world.has(alert, attempt) {
                return Some(statement(StatusCode::OK, "applied"));
            }
            if world.refused.contains(&attempt) {
                return Some(statement(StatusCode::OK, "refused"));
            }
            if world.at_work.contains(&attempt) {
                return Some(statement(StatusCode::ACCEPTED, "pending"));
            }
        }
        world.at_work.insert(attempt);
        let fault = if world.submitted.insert(attempt) && shared.faults { world.fault() } else { None };
        (fault, [(); 2].map(|()| world.rng.random_range(Duration::ZERO..=LATEST)))
    };
    shared.seen.send_modify(|count| *count += 1);
    let mut changed = shared.seen.subscribe();
    while shared.world().held {
        changed.changed().await.ok()?;
    }
    let apply = || {
        let mut world = shared.world();
        world.at_work.remove(&attempt);
        (!world.denied.contains(&attempt)).then(|| world.applied.entry(alert).or_default().push(decision.clone()))
    };
    let after = |applied: bool| {
        if applied {
            apply();
        } else {
            shared.world().at_work.remove(&attempt);
        }
    };
    match fault {
        None => {
            apply()?;
            Some(statement(StatusCode::OK, "applied"))
        }
        Some(Fault::Slow) => {
            tokio::time::sleep(delays[0]).await;
            apply()?;
            tokio::time::sleep(delays[1]).await;
            Some(statement(StatusCode::OK, "applied"))
        }
        Some(Fault::Late) => {
            let (shared, decision) = (shared.clone(), decision.clone());
            tokio::spawn(async move {
                tokio::time::sleep(delays[0]).await;
                let mut world = shared.world();
                world.at_work.remove(&attempt);
                if !world.denied.contains(&attempt) {
                    world.applied.entry(alert).or_default().push(decision);
                }
            });
            None
        }
        Some(Fault::Break { applied }) => {
            after(applied);
            None
        }
        Some(Fault::Error { applied }) => {
            after(applied);
            Some(StatusCode::SERVICE_UNAVAILABLE.into_response())
        }
        Some(Fault::Refusal) => {
            let mut world = shared.world();
            world.at_work.remove(&attempt);
            world.refused.insert(attempt);
            Some(statement(StatusCode::OK, "refused"))
        }
    }
}

/// GET /{network}/decisions/{attempt}
async fn look_up(State(shared): State<Arc<Shared>>, Path((network, attempt)): Path<(String, String)>) -> Response {
    let attempt: AttemptId = attempt.parse().expect("an attempt's id");
    assert_eq!(network, "ethoca", "no other network has promised look-ups");
    let mut world = shared.world();
    world.calls += 1;
    let first = world.looked_up.insert(attempt) && shared.faults;
    if first && world.rng.random_ratio(1, 8) {
        return StatusCode::BAD_GATEWAY.into_response();
    }
    let applied = world.applied.values().flatten().any(|one| one.attempt == attempt);
    match (applied, world.refused.contains(&attempt)) {
        (true, _) => statement(StatusCode::OK, "applied"),
        (false, true) => statement(StatusCode::OK, "refused"),
        (false, false) => {
            world.denied.insert(attempt);
            statement(StatusCode::NOT_FOUND, "not_known")
        }
    }
}

/// POST /hook: fails now and then the first time that it sees an event.
async fn hear(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    let id = headers["webhook-id"].to_str().expect("text").to_owned();
    let answer = {
        let mut world = shared.world();
        let fails = !world.told.contains_key(&id) && shared.faults && world.rng.random_ratio(1, 8);
        let breaks = world.rng.random_bool(0.5);
        let told = || Told { body: serde_json::from_slice(&body).expect("an event of JSON"), times: 0, taken: false };
        let (first, told) = world.told.entry(id.clone()).or_insert_with(|| (body.to_vec(), told()));
        told.times += 1;
        told.taken |= !fails;
        if first.as_slice() != body.as_ref() {
            world.altered.push(id);
        }
        (!fails).then_some(StatusCode::OK).or((!breaks).then_some(StatusCode::INTERNAL_SERVER_ERROR))
    };
    shared.seen.send_modify(|count| *count += 1);
    answer.map_or_else(|| break_off(), IntoResponse::into_response)
}
