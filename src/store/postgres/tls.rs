//! TLS of connections to a server, as libpq's `sslmode` has it: whether there is any, and whether the server has to prove who it is.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
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
        let verifier = Proof::wanted_by(address, Arc::clone(&provider))?;
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = builder.map_err(|error| StoreError::Unavailable(format!("TLS cannot be set up: {error}")))?;
        let config = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth();
        Ok(Self(Arc::new(config)))
    }
}

/// The certificates of a file.
fn named(file: &Path) -> StoreResult<Vec<CertificateDer<'static>>> {
    let certificates = CertificateDer::pem_file_iter(file).and_then(Iterator::collect);
    certificates.map_err(|error| unusable(file, &error.to_string()))
}

/// What checks certificates by these authorities.
fn checking(
    file: &Path,
    authorities: &[CertificateDer<'static>],
    provider: Arc<CryptoProvider>,
) -> StoreResult<Arc<dyn ServerCertVerifier>> {
    let mut roots = RootCertStore::empty();
    for certificate in authorities {
        roots.add(certificate.clone()).map_err(|error| unusable(file, &error.to_string()))?;
    }
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
    Ok(verifier.map_err(|_| unusable(file, "holds no certificate; name a PEM file of authorities"))?)
}

fn unusable(file: &Path, what: &str) -> StoreError {
    StoreError::Unusable(format!("sslrootcert {}: {what}", file.display()))
}

/// How much a server has to prove.
#[derive(Debug)]
struct Proof {
    /// Who tells whether a certificate is good; nobody where any is.
    trusted: Option<Arc<dyn ServerCertVerifier>>,
    /// The certificates of the file that was named; a server may show one of them itself.
    named: Vec<CertificateDer<'static>>,
    /// Whether it may be for another name.
    any_name: bool,
    provider: Arc<CryptoProvider>,
}

impl Proof {
    /// By the authorities of a file, or those of this machine.
    fn wanted_by(address: &PostgresAddress, provider: Arc<CryptoProvider>) -> StoreResult<Self> {
        let mut named_there = Vec::new();
        let trusted = match (address.tls, &address.authorities) {
            (DatabaseTls::Disable | DatabaseTls::Prefer | DatabaseTls::Require, _) => None,
            (DatabaseTls::VerifyCa | DatabaseTls::VerifyFull, Some(file)) => {
                named_there = named(file)?;
                Some(checking(file, &named_there, Arc::clone(&provider))?)
            }
            (DatabaseTls::VerifyCa | DatabaseTls::VerifyFull, None) => {
                let verifier = Verifier::new(Arc::clone(&provider))
                    .map_err(|error| StoreError::Unusable(format!("the authorities of this machine cannot be read: {error}")))?;
                Some(Arc::new(verifier) as Arc<dyn ServerCertVerifier>)
            }
        };
        Ok(Self { trusted, named: named_there, any_name: address.tls == DatabaseTls::VerifyCa, provider })
    }

    /// Whether this is what is said of a certificate only because it is an authority's own, and it is one of those that were named. Its
    /// dates have been looked at by then.
    fn is_named_itself(&self, certificate: &CertificateDer<'_>, error: &rustls::Error) -> bool {
        let of_an_authority = match error {
            rustls::Error::InvalidCertificate(CertificateError::Other(error)) => error.to_string() == "CaUsedAsEndEntity",
            _ => false,
        };
        of_an_authority && self.named.iter().any(|named| named == certificate)
    }
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
            Err(error) if self.is_named_itself(end_entity, &error) => {
                if !self.any_name {
                    verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                }
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair, date_time_ymd};
    use rstest::rstest;

    use super::*;

    /// A certificate for `db.example` that is its own authority, good until the first of January of a year.
    fn own_authority(key: &KeyPair, year: i32) -> rcgen::Certificate {
        let mut params = CertificateParams::new(vec!["db.example".to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.not_after = date_time_ymd(year, 1, 1);
        params.self_signed(key).unwrap()
    }

    /// What a server is told that shows a certificate, where another one, or the same, is named as `sslrootcert`.
    fn told(mode: &str, named: &rcgen::Certificate, shown: &rcgen::Certificate, host: &str) -> Result<ServerCertVerified, rustls::Error> {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("root.pem");
        std::fs::write(&file, named.pem()).unwrap();
        let address = format!("postgres://u@db.example/d?sslmode={mode}&sslrootcert={}", file.display()).parse().unwrap();
        let proof = Proof::wanted_by(&address, Arc::new(aws_lc_rs::default_provider())).unwrap();
        let now = UnixTime::since_unix_epoch(Duration::from_secs(1_800_000_000));
        proof.verify_server_cert(shown.der(), &[], &ServerName::try_from(host.to_owned()).unwrap(), &[], now)
    }

    #[rstest]
    #[case("verify-full", "db.example", true)]
    #[case("verify-full", "other.example", false)]
    #[case("verify-ca", "other.example", true)]
    #[case("require", "other.example", true)]
    fn a_server_may_show_the_very_certificate_that_is_named_as_its_authority(#[case] mode: &str, #[case] host: &str, #[case] good: bool) {
        let certificate = own_authority(&KeyPair::generate().unwrap(), 4096);

        let told = told(mode, &certificate, &certificate, host);

        assert_eq!(told.is_ok(), good, "{told:?}");
    }

    #[rstest]
    #[case("verify-full")]
    #[case("verify-ca")]
    fn a_certificate_whose_time_is_over_or_that_is_not_the_named_one_is_refused(#[case] mode: &str) {
        let key = KeyPair::generate().unwrap();
        let [named, over] = [4096, 2020].map(|year| own_authority(&key, year));
        let stranger = own_authority(&KeyPair::generate().unwrap(), 4096);

        let over = told(mode, &over, &over, "db.example").unwrap_err();
        let with_the_same_key = told(mode, &named, &own_authority(&key, 4095), "db.example");

        assert!(
            matches!(over, rustls::Error::InvalidCertificate(CertificateError::Expired | CertificateError::ExpiredContext { .. })),
            "{over:?}"
        );
        assert!(with_the_same_key.is_err() && told(mode, &named, &stranger, "db.example").is_err());
    }
}
