//! Connections: the pool with its time-outs, transactions that end with whoever began them, and statements in one call.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadpool_postgres::{Hook, Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime, TimeoutType};
use futures::TryStreamExt as _;
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config, Row, SimpleQueryMessage};

use super::fault::{Work, ends_the_connection, in_words, is_read_only, unreachable};
use super::statements::{Sql, Values};
use super::tls::Tls;
use crate::domain::database::{DatabaseTls, PostgresAddress};
use crate::store::{StoreError, StoreResult};

/// Most connections of one process: three of them and some commands stay within PostgreSQL's default of 100.
const MOST_CONNECTIONS: usize = 20;

/// How long it may take to reach the server.
pub(super) const CONNECT: Duration = Duration::from_secs(4);

/// How long a unit of work waits for a connection.
const ACQUIRE: Duration = Duration::from_secs(5);

/// How long may be waited for what follows a commit, which has been answered by then.
const BEHIND_A_COMMIT: Duration = Duration::from_secs(1);

/// How long a statement may take, and a transaction may stand still: a process that is stopped in the middle keeps nobody waiting for longer.
/// No statement here runs for so long that compiling it would pay.
const ON_THE_SERVER: &str = "-c statement_timeout=60s -c lock_timeout=6s -c idle_in_transaction_session_timeout=10s -c client_encoding=UTF8 \
     -c timezone=UTC -c standard_conforming_strings=on -c jit=off";

/// A server, and how it is reached.
#[derive(Clone)]
pub(super) struct DatabaseServer {
    config: Config,
    tls: Tls,
}

impl DatabaseServer {
    /// The server at an address, with avert's time-outs.
    pub(super) fn at(address: &PostgresAddress) -> StoreResult<Self> {
        let mut config = Config::new();
        config.host(&address.host).port(address.port).user(&address.user).dbname(&address.name);
        if let Some(password) = &address.password {
            config.password(password.reveal());
        }
        config.ssl_mode(match address.tls {
            DatabaseTls::Disable => SslMode::Disable,
            DatabaseTls::Prefer => SslMode::Prefer,
            DatabaseTls::Require | DatabaseTls::VerifyCa | DatabaseTls::VerifyFull => SslMode::Require,
        });
        config.connect_timeout(CONNECT).tcp_user_timeout(Duration::from_secs(5)).keepalives_idle(Duration::from_secs(5));
        config.options(ON_THE_SERVER).application_name("avert");
        Ok(Self { config, tls: Tls::of(address)? })
    }

    /// Opens a connection outside the pool, which is driven until it ends.
    pub(super) async fn connect(&self) -> Result<Client, tokio_postgres::Error> {
        let (client, connection) = self.config.connect(self.tls.clone()).await?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to the database has ended");
            }
        });
        Ok(client)
    }
}

/// A pool of connections to a server, none of which is opened yet.
pub(super) fn pool(server: &DatabaseServer) -> StoreResult<Pool> {
    let DatabaseServer { config, tls } = server.clone();
    let manager = Manager::from_config(config, tls, ManagerConfig { recycling_method: RecyclingMethod::Fast });
    let built = Pool::builder(manager)
        .max_size(MOST_CONNECTIONS)
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(ACQUIRE))
        .create_timeout(Some(ACQUIRE))
        .recycle_timeout(Some(ACQUIRE))
        .post_create(Hook::sync_fn(|_, _| {
            metrics::counter!("avert_store_connections_total").increment(1);
            Ok(())
        }))
        .build();
    built.map_err(|error| StoreError::Unavailable(format!("no connections can be made: {error}")))
}

/// A connection from the pool. One that is lost, or dropped within a transaction, is closed, and the server rolls back. One that may only read
/// is closed with all that wait in the pool: whether they may write was settled when they were opened, and new ones hear of a change.
pub(super) struct Connection {
    client: Option<Object>,
    in_transaction: AtomicBool,
    lost: AtomicBool,
    read_only: AtomicBool,
    changed: AtomicBool,
}

impl Connection {
    /// Waits for one.
    pub(super) async fn take(pool: &Pool) -> Work<Self> {
        let client = pool.get().await.map_err(|error| match error {
            PoolError::Timeout(TimeoutType::Wait) => {
                StoreError::Unavailable("every connection to it has been at work for too long; try again".to_owned())
            }
            PoolError::Timeout(_) => StoreError::Unavailable("the server does not answer".to_owned()),
            PoolError::Backend(error) => unreachable(&error),
            PoolError::Closed => StoreError::Unavailable("the store is closed".to_owned()),
            other => StoreError::Unavailable(other.to_string()),
        })?;
        let [in_transaction, lost, read_only, changed] = std::array::from_fn(|_| AtomicBool::new(false));
        Ok(Self { client: Some(client), in_transaction, lost, read_only, changed })
    }

    fn client(&self) -> Work<&Object> {
        Ok(self.client.as_ref().ok_or_else(|| StoreError::Unavailable("the connection to it is closed".to_owned()))?)
    }

    /// What came of a statement; a connection that it has cost is not used again.
    fn noticed<T>(&self, done: Result<T, tokio_postgres::Error>) -> Result<T, tokio_postgres::Error> {
        if done.as_ref().is_err_and(ends_the_connection) {
            self.lost.store(true, Ordering::Relaxed);
        }
        if done.as_ref().is_err_and(is_read_only) {
            self.read_only.store(true, Ordering::Relaxed);
        }
        done
    }

    /// Begins a transaction in this mode.
    pub(super) async fn begin(&self, mode: &str) -> Work<()> {
        self.in_transaction.store(true, Ordering::Relaxed);
        Ok(self.noticed(self.client()?.batch_execute(&format!("BEGIN {mode}")).await)?)
    }

    /// Ends the transaction, doing this afterwards; the number that it answers with, where it answers. What fails behind the commit is not the
    /// transaction, and is only logged.
    pub(super) async fn commit(&self, afterwards: &str) -> Work<Option<u64>> {
        let answers = self.client()?.simple_query_raw(&format!("COMMIT; {afterwards}")).await;
        let mut answers = std::pin::pin!(self.noticed(answers)?);
        // The first answer is the one to COMMIT.
        self.noticed(answers.try_next().await)?;
        self.in_transaction.store(false, Ordering::Relaxed);
        let behind = async {
            let mut number = None;
            while let Some(answer) = self.noticed(answers.try_next().await)? {
                if let SimpleQueryMessage::Row(row) = answer {
                    number = row.get(0).and_then(|number| number.parse().ok());
                }
            }
            Ok::<_, tokio_postgres::Error>(number)
        };
        match tokio::time::timeout(BEHIND_A_COMMIT, behind).await {
            Ok(Ok(number)) => Ok(number),
            Ok(Err(error)) => {
                tracing::warn!(error = in_words(&error), "a change was stored, and those who wait for news hear of it with the next one");
                Ok(None)
            }
            Err(_) => {
                self.lost.store(true, Ordering::Relaxed);
                Ok(None)
            }
        }
    }

    /// Undoes the transaction. Where that fails the connection is given up, and the server does it.
    pub(super) async fn roll_back(&self) {
        if let Ok(client) = self.client()
            && client.batch_execute("ROLLBACK").await.is_ok()
        {
            self.in_transaction.store(false, Ordering::Relaxed);
        }
    }

    /// Whether a statement has changed anything.
    pub(super) fn has_changed(&self) -> bool {
        self.changed.load(Ordering::Relaxed)
    }

    /// Notes that a statement with an answer has changed something.
    pub(super) fn mark_changed(&self) {
        self.changed.store(true, Ordering::Relaxed);
    }

    /// Runs a statement that has no answer; how many rows it changed.
    pub(super) async fn run(&self, sql: &str, values: Values<'_>) -> Work<u64> {
        let rows = self.try_run(sql, values).await?;
        Ok(rows?)
    }

    /// The same, with what the server says against it.
    pub(super) async fn try_run(&self, sql: &str, values: Values<'_>) -> Work<Result<u64, tokio_postgres::Error>> {
        let client = self.client()?;
        let statement = self.noticed(client.prepare_cached(sql).await)?;
        let done = self.noticed(client.execute(&statement, values).await);
        if matches!(done, Ok(1..)) {
            self.mark_changed();
        }
        Ok(done)
    }

    /// Runs statements that have no values and no answer.
    pub(super) async fn batch(&self, sql: &str) -> Work<()> {
        Ok(self.noticed(self.client()?.batch_execute(sql).await)?)
    }

    async fn query(&self, sql: &str, values: Values<'_>) -> Work<Vec<Row>> {
        let client = self.client()?;
        let statement = self.noticed(client.prepare_cached(sql).await)?;
        Ok(self.noticed(client.query(&statement, values).await)?)
    }

    /// Reads every row of the answer.
    pub(super) async fn all<T>(&self, sql: &str, values: Values<'_>, read: impl Fn(&Row) -> Work<T> + Send) -> Work<Vec<T>> {
        self.query(sql, values).await?.iter().map(read).collect()
    }

    /// Reads the first row of the answer, where there is one.
    pub(super) async fn first<T>(&self, sql: &str, values: Values<'_>, read: impl FnOnce(&Row) -> Work<T> + Send) -> Work<Option<T>> {
        self.query(sql, values).await?.first().map(read).transpose()
    }

    /// Reads the row that is always there.
    pub(super) async fn one<T>(&self, sql: &str, values: Values<'_>, read: impl FnOnce(&Row) -> Work<T> + Send) -> Work<T> {
        let found = self.first(sql, values, read).await?;
        Ok(found.ok_or_else(|| StoreError::Corrupt("a row that is always there is missing".to_owned()))?)
    }

    /// Reads every row of the answer to SQL that was made for this once: it is planned for its values and not remembered.
    pub(super) async fn made<T>(&self, sql: &Sql, read: impl Fn(&Row) -> Work<T> + Send) -> Work<Vec<T>> {
        let rows = self.noticed(self.client()?.query_typed(&sql.text, &sql.bound()).await)?;
        rows.iter().map(read).collect()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let read_only = *self.read_only.get_mut();
        if (*self.in_transaction.get_mut() || *self.lost.get_mut() || read_only)
            && let Some(client) = self.client.take()
        {
            if let Some(pool) = Object::pool(&client).filter(|_| read_only) {
                pool.retain(|_, _| false);
            }
            drop(Object::take(client));
        }
    }
}
