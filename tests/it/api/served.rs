//! A whole engine behind the API on a port of its own, and a client for it.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use avert::{
    api::{ApiOptions, serve},
    domain::{Alert, AlertId, AlertPatch, CreatedCredential, CredentialKind, IngestOptions, KeyScope},
    engine::{ActingEngine, Engine, EngineSettings},
    providers::{
        AlertProvider, Capabilities, LookUp, Providers, Submission, SubmitResult,
        simulator::{FaultRates, Simulator},
    },
    service::{Alerts, Credentials, Intake},
    store::SharedStore,
    webhooks::{Sender, SenderSettings},
};
use reqwest::{
    Method, RequestBuilder, Response,
    dns::{Name, Resolve, Resolving},
};
use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::{Semaphore, mpsc},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use crate::support::{
    alerts::{NOON, open_alert},
    clock::ManualClock,
    engine::one_rule,
    store,
};

/// The longest a test waits for what has to come.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A network that can be told to hold every decision until it is let go.
pub struct Network {
    pub simulator: Simulator,
    holding: AtomicBool,
    gate: Semaphore,
    arrived: mpsc::UnboundedSender<()>,
}

impl Network {
    pub fn hold(&self) {
        self.holding.store(true, Ordering::SeqCst);
    }

    pub fn let_go(&self) {
        self.holding.store(false, Ordering::SeqCst);
        self.gate.add_permits(1_000);
    }
}

#[async_trait]
impl AlertProvider for Network {
    fn capabilities(&self) -> Capabilities {
        self.simulator.capabilities()
    }

    async fn submit(&self, submission: &Submission) -> SubmitResult {
        let _ = self.arrived.send(());
        if self.holding.load(Ordering::SeqCst) {
            self.gate.acquire().await.unwrap().forget();
        }
        self.simulator.submit(submission).await
    }

    async fn look_up(&self, submission: &Submission) -> LookUp {
        self.simulator.look_up(submission).await
    }
}

/// The engine, its API on a port, and what the tests need of both.
pub struct Served {
    pub address: SocketAddr,
    pub key: String,
    pub operator_key: String,
    pub engine: Engine,
    pub acting: ActingEngine,
    pub store: SharedStore,
    pub network: Arc<Network>,
    pub clock: Arc<ManualClock>,
    arrived: mpsc::UnboundedReceiver<()>,
    pub stop: CancellationToken,
    pub server: JoinHandle<std::io::Result<()>>,
    client: reqwest::Client,
    _directory: TempDir,
}

impl Served {
    pub async fn start() -> Self {
        Self::with(ApiOptions::default()).await
    }

    pub async fn with(options: ApiOptions) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = store::open(directory.path());
        let clock = ManualClock::at(NOON);
        let (sender, arrived) = mpsc::unbounded_channel();
        let capabilities = Capabilities {
            lookup: true,
            idempotent: true,
            consistency_lag: Duration::from_secs(60),
            ..Capabilities::default()
        };
        let simulator = Simulator::new(capabilities, FaultRates::default(), 7);
        let network =
            Arc::new(Network { simulator, holding: AtomicBool::new(false), gate: Semaphore::new(0), arrived: sender });
        let wait_for_winner = Duration::from_millis(50);
        let settings = EngineSettings { wait_for_winner, rules: one_rule(), ..EngineSettings::default() };
        let engine = Engine::new(store.clone(), Providers::all(network.clone()), clock.clone(), settings);
        engine.set_test_sender(sender_to_nowhere());
        let acting = engine.acting_for(engine.local_caller(None).await.unwrap());
        let key =
            acting.create_credential(CredentialKind::Key(KeyScope::Alerts)).await.unwrap().secret.reveal().to_owned();
        let operator_key =
            acting.create_credential(CredentialKind::Key(KeyScope::Operator)).await.unwrap().secret.reveal().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let server = tokio::spawn(serve(listener, engine.clone(), options, stop.clone()));
        let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
        Self {
            address,
            key,
            operator_key,
            engine,
            acting,
            store,
            network,
            clock,
            arrived,
            stop,
            server,
            client,
            _directory: directory,
        }
    }

    /// Brings alerts in; they come back as the engine has stored them.
    pub async fn ingest(&self, alerts: Vec<Alert>) -> Vec<Alert> {
        let ids: Vec<AlertId> = alerts.iter().map(|alert| alert.id).collect();
        let rows = alerts.into_iter().zip(1..).map(|(alert, line)| AlertPatch::of(alert).at(line));
        let report = self.acting.ingest(rows.collect(), IngestOptions { events: true }).await.unwrap();
        assert_eq!(report.rejected, []);
        let mut stored = Vec::new();
        for id in ids {
            stored.push(self.acting.get(id).await.unwrap());
        }
        stored
    }

    /// One open alert.
    pub async fn alert(&self) -> AlertId {
        let alert = open_alert(&AlertId::generate().to_string());
        self.ingest(vec![alert]).await[0].id
    }

    /// A request with the key.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.bare(method, path).header("X-API-KEY", &self.key)
    }

    /// A request without a credential.
    pub fn bare(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("http://{}{path}", self.address))
    }

    pub async fn get(&self, path: &str) -> Response {
        self.request(Method::GET, path).send().await.unwrap()
    }

    /// A resolution with this body.
    pub fn put(&self, id: impl std::fmt::Display, body: impl Into<reqwest::Body>) -> RequestBuilder {
        let request = self.request(Method::PUT, &format!("/api/v1/alerts/{id}/resolution"));
        request.header("Content-Type", "application/json").body(body)
    }

    /// Another organization on the same data.
    pub async fn another_organization(&self) -> ActingEngine {
        self.engine.create_organization("another").await.unwrap();
        self.engine.acting_for(self.engine.local_caller(Some("another")).await.unwrap())
    }

    /// The key of another organization on the same data.
    pub async fn key_of_another_organization(&self) -> String {
        let acting = self.another_organization().await;
        acting.create_credential(CredentialKind::Key(KeyScope::Alerts)).await.unwrap().secret.reveal().to_owned()
    }

    /// A request for a token with this form.
    pub fn ask_for_token(&self, form: impl Into<reqwest::Body>) -> RequestBuilder {
        self.bare(Method::POST, "/auth/token").header("Content-Type", "application/x-www-form-urlencoded").body(form)
    }

    /// A token for new client credentials of this organization; they come with it.
    pub async fn token_for(&self, acting: &ActingEngine) -> (String, CreatedCredential) {
        let created = acting.create_credential(CredentialKind::Client).await.unwrap();
        let form = format!(
            "grant_type=client_credentials&client_id={}&client_secret={}",
            created.credential.id,
            created.secret.reveal()
        );
        let answer = json(self.ask_for_token(form).send().await.unwrap(), 200).await;
        (answer["access_token"].as_str().unwrap().to_owned(), created)
    }

    /// A token of the organization.
    pub async fn token(&self) -> String {
        self.token_for(&self.acting).await.0
    }

    /// Waits until the server has ended.
    pub async fn ends(&mut self) {
        tokio::time::timeout(PATIENCE, &mut self.server).await.expect("the server ends").unwrap().unwrap();
    }

    /// Waits until a decision is with the network.
    pub async fn decision_arrives(&mut self) {
        tokio::time::timeout(PATIENCE, self.arrived.recv()).await.expect("a decision reaches the network").unwrap();
    }

    /// Lets the network take what it holds, and waits until that is stored.
    pub async fn let_go_and_store(&self) {
        let mut changes = self.store.changes();
        changes.mark_unchanged();
        self.network.let_go();
        tokio::time::timeout(PATIENCE, changes.changed()).await.expect("the outcome is stored").unwrap();
    }

    /// The alert as the API tells it.
    pub async fn read(&self, id: AlertId) -> Value {
        json(self.get(&format!("/api/v1/alerts/{id}")).await, 200).await
    }

    /// Sends bytes on a connection of their own and returns everything that comes back until it is closed.
    pub async fn raw(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let mut answer = Vec::new();
        // The server may hang up before everything is sent.
        let _ = stream.write_all(bytes.as_ref()).await;
        let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer))
            .await
            .expect("the server closes the connection");
        String::from_utf8_lossy(&answer).into_owned()
    }
}

/// The body of an answer that must have this status.
pub async fn json(response: Response, status: u16) -> Value {
    let given = response.status().as_u16();
    let text = response.text().await.unwrap();
    assert_eq!(given, status, "{text}");
    serde_json::from_str(&text).unwrap()
}

/// Checks a refusal for everything that every refusal carries, and returns its body.
pub async fn refused(response: Response, status: u16, code: &str) -> Value {
    let given = response.status().as_u16();
    let headers = response.headers().clone();
    let text = response.text().await.unwrap();
    assert_eq!(given, status, "{text}");
    let body: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(body["code"], code, "{text}");
    assert_eq!(body["status"], status);
    assert_eq!(headers["content-type"], "application/problem+json");
    assert_eq!(body["requestId"].as_str().unwrap(), headers["x-request-id"].to_str().unwrap());
    for field in ["type", "title", "detail"] {
        assert!(body[field].as_str().is_some_and(|text| !text.is_empty()), "{field} in {text}");
    }
    body
}

/// The fields at fault in a refusal.
pub fn fields(problem: &Value) -> Vec<&str> {
    problem["errors"].as_array().unwrap().iter().map(|error| error["field"].as_str().unwrap()).collect()
}

/// A sender for which no name has an address.
fn sender_to_nowhere() -> Sender {
    struct NoNames;

    impl Resolve for NoNames {
        fn resolve(&self, _: Name) -> Resolving {
            Box::pin(async { Err("no such name".into()) })
        }
    }

    let names: Arc<dyn Resolve> = Arc::new(NoNames);
    Sender::with_names(SenderSettings::default(), &names).unwrap()
}
