//! Sessions on a server: the connection, and the settings that make a session independent of the server's defaults.

use std::time::Duration;

use deadpool_postgres::Connect;
use futures::future::BoxFuture;
use tokio::task::JoinHandle;
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config, Error};

use super::fault::in_words;
use super::tls::Tls;
use crate::domain::database::{DatabaseTls, PostgresAddress};
use crate::store::StoreResult;

/// Longest wait for a connection to the server.
pub(super) const CONNECT: Duration = Duration::from_secs(4);

/// Sets a session up.
const SESSION: &str = include_str!("../../../assets/postgres/session.sql");

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
        config
            .connect_timeout(CONNECT)
            .tcp_user_timeout(Duration::from_secs(5))
            .keepalives_idle(Duration::from_secs(5));
        config.application_name("avert");
        Ok(Self { config, tls: Tls::of(address)? })
    }

    /// Opens a connection outside a pool, which is driven until it ends.
    pub(super) async fn client(&self) -> Result<Client, Error> {
        Ok(self.begin().await?.0)
    }

    async fn begin(&self) -> Result<(Client, JoinHandle<()>), Error> {
        let (client, connection) = self.config.connect(self.tls.clone()).await?;
        let driven = tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(error = in_words(&error), "a connection to the database has ended");
            }
        });
        client.batch_execute(SESSION).await?;
        metrics::counter!("avert_store_connections_total").increment(1);
        Ok((client, driven))
    }
}

impl Connect for DatabaseServer {
    fn connect(&self, _: &Config) -> BoxFuture<'_, Result<(Client, JoinHandle<()>), Error>> {
        Box::pin(self.begin())
    }
}
