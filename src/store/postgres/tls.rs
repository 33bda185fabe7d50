//! TLS of connections to a server, as libpq's `sslmode` has it: whether there is any, and whether the server has to prove who it is.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_platform_verifier::Verifier;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::{TlsConnector, client};

use crate::domain::database::{DatabaseTls, PostgresAddress};
use crate::store::{StoreError, StoreResult};

/// A maker of TLS connections for one address.
#[derive(Clone)]
pub(super) struct Tls(Arc<ClientConfig>);

impl Tls {
    /// Reads the authorities of an address.
    pub(super) fn of(address: &PostgresAddress) -> StoreResult<Self> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let trusted = match address.tls {
            DatabaseTls::VerifyCa | DatabaseTls::VerifyFull => Some(trusted(address, &provider)?),
            DatabaseTls::Disable | DatabaseTls::Prefer | DatabaseTls::Require => None,
        };
        let verifier = Proof { trusted, any_name: address.tls == DatabaseTls::VerifyCa, provider: Arc::clone(&provider) };
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = builder.map_err(|error| StoreError::Unavailable(format!("TLS cannot be set up: {error}")))?;
        let config = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth();
        Ok(Self(Arc::new(config)))
    }
}

/// What checks certificates: the authorities of a file, or those of this machine.
fn trusted(address: &PostgresAddress, provider: &Arc<CryptoProvider>) -> StoreResult<Arc<dyn ServerCertVerifier>> {
    let Some(file) = &address.authorities else {
        let verifier = Verifier::new(Arc::clone(provider));
        let verifier =
            verifier.map_err(|error| StoreError::Unusable(format!("the authorities of this machine cannot be read: {error}")))?;
        return Ok(Arc::new(verifier));
    };
    let unusable = |what: String| StoreError::Unusable(format!("sslrootcert {}: {what}", file.display()));
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(|error| unusable(error.to_string()))? {
        let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
        roots.add(certificate).map_err(|error| unusable(error.to_string()))?;
    }
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider)).build();
    Ok(verifier.map_err(|_| unusable("holds no certificate; name a PEM file of authorities".to_owned()))?)
}

/// How much a server has to prove.
#[derive(Debug)]
struct Proof {
    /// Who tells whether a certificate is good; nobody where any is.
    trusted: Option<Arc<dyn ServerCertVerifier>>,
    /// Whether it may be for another name.
    any_name: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Proof {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(trusted) = &self.trusted else { return Ok(ServerCertVerified::assertion()) };
        match trusted.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // Names are looked at last, when the chain has been found good.
            Err(rustls::Error::InvalidCertificate(CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }))
                if self.any_name =>
            {
                Ok(ServerCertVerified::assertion())
            }
            proved => proved,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Tls {
    type Stream = Encrypted<S>;
    type TlsConnect = TlsTo;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<TlsTo> {
        // A socket has none, and is not encrypted.
        Ok(TlsTo { config: Arc::clone(&self.0), name: ServerName::try_from(host.to_owned()).ok() })
    }
}

/// A handshake with a host that is to come.
pub(super) struct TlsTo {
    config: Arc<ClientConfig>,
    name: Option<ServerName<'static>>,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for TlsTo {
    type Stream = Encrypted<S>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Encrypted<S>>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let nameless = || io::Error::new(io::ErrorKind::InvalidInput, "there are no certificates for a host of this name");
            let name = self.name.ok_or_else(nameless)?;
            TlsConnector::from(self.config).connect(name, stream).await.map(Encrypted)
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
