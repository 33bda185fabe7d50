//! Sessions on a server: the connection, and the settings that make a session independent of the server's defaults.
//!
//! TLS of connections to a server, as libpq's `sslmode` has it: encryption, and proof of the server's identity.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use deadpool_postgres::Connect;
use futures::future::BoxFuture;
use rustls::pki_types::ServerName;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    task::JoinHandle,
};
use tokio_postgres::{
    Client, Config, Error,
    config::SslMode,
    tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream},
};
use tokio_rustls::{TlsConnector, client};

use super::fault::in_words;
use crate::{
    StoreError, StoreResult,
    domain::{
        CaCertificates,
        database::{DatabaseTls, PostgresAddress},
    },
    outbound::{
        tls::ca_file,
        trust::{self, ServerProof},
    },
};

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
        let (mode, proof) = match address.tls {
            DatabaseTls::Disable => (SslMode::Disable, ServerProof::Nothing),
            DatabaseTls::Prefer => (SslMode::Prefer, ServerProof::Nothing),
            DatabaseTls::Require => (SslMode::Require, ServerProof::Nothing),
            DatabaseTls::VerifyCa => (SslMode::Require, ServerProof::Certificate),
            DatabaseTls::VerifyFull => (SslMode::Require, ServerProof::CertificateAndName),
        };
        config
            .ssl_mode(mode)
            .application_name("avert")
            .connect_timeout(CONNECT)
            .tcp_user_timeout(Duration::from_secs(5))
            .keepalives_idle(Duration::from_secs(5));
        Ok(Self { config, tls: Tls::of(address, proof)? })
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

/// A maker of TLS connections to one host.
#[derive(Clone)]
pub(super) struct Tls {
    connector: TlsConnector,
    /// Nothing where certificates know no such name. A socket has none, and is not encrypted.
    host: Option<ServerName<'static>>,
}

impl Tls {
    /// Reads the certificates that an address names.
    fn of(address: &PostgresAddress, proof: ServerProof) -> StoreResult<Self> {
        let named = match &address.authorities {
            Some(file) if proof != ServerProof::Nothing => ca_file(file),
            _ => Ok(CaCertificates::default()),
        };
        let named = named.map_err(|why| format!("sslrootcert {why}"));
        let config = named.and_then(|named| trust::client(&named, proof)).map_err(StoreError::Unusable)?;
        let connector = Arc::new(config.with_no_client_auth()).into();
        Ok(Self { connector, host: ServerName::try_from(address.host.clone()).ok() })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Tls {
    type Stream = Encrypted<S>;
    type TlsConnect = Self;
    type Error = io::Error;

    fn make_tls_connect(&mut self, _: &str) -> io::Result<Self> {
        Ok(self.clone())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Tls {
    type Stream = Encrypted<S>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Encrypted<S>>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let nameless =
                || io::Error::new(io::ErrorKind::InvalidInput, "there are no certificates for a host of this name");
            self.connector.connect(self.host.ok_or_else(nameless)?, stream).await.map(Encrypted)
        })
    }
}

/// An encrypted stream.
pub(super) struct Encrypted<S>(client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}
