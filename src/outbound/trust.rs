//! Verification of a server's certificate: one rule for every connection, by named certificates or by this machine's
//! authorities.

use std::sync::{Arc, LazyLock};

use rustls::{
    CertificateError, ClientConfig, ConfigBuilder, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::{
        WantsClientCert, WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::ParsedCertificate,
};
use rustls_platform_verifier::Verifier;

use super::handshake::is_of_an_authority;
use crate::domain::CaCertificates;

/// The algorithms of every connection.
static PROVIDER: LazyLock<Arc<CryptoProvider>> = LazyLock::new(|| Arc::new(aws_lc_rs::default_provider()));

/// The authorities of this machine, read once for the whole process and only when a server is to be verified by them.
static THIS_MACHINE: LazyLock<Result<Verifier, rustls::Error>> = LazyLock::new(|| {
    Verifier::new(Arc::clone(&PROVIDER)).map_err(|error| {
        tracing::warn!(%error, "this machine has no certificates of authorities");
        rustls::Error::General(
            "this machine has no certificates of authorities; SSL_CERT_FILE names a file of them".to_owned(),
        )
    })
});

/// Proof that a server has to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerProof {
    /// No proof: the connection is encrypted, to whomever.
    Nothing,
    /// The certificate is trusted, whatever name it is for.
    Certificate,
    /// The certificate is trusted and for this host.
    CertificateAndName,
}

/// Starts the set-up of a TLS client that trusts the named certificates and no others, or this machine's authorities
/// where none is named.
///
/// # Errors
/// When TLS cannot be set up; the text says why.
pub fn client(
    named: &CaCertificates,
    proof: ServerProof,
) -> Result<ConfigBuilder<ClientConfig, WantsClientCert>, String> {
    let builder = ClientConfig::builder_with_provider(Arc::clone(&PROVIDER)).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| format!("TLS cannot be set up: {error}"))?;
    Ok(builder.dangerous().with_custom_certificate_verifier(Arc::new(ServerTrust::of(named, proof)?)))
}

/// A server certificate verifier.
#[derive(Debug)]
struct ServerTrust {
    /// Verifier of chains that lead to a named certificate, or to this machine's authorities where none is named.
    chain: Option<Arc<WebPkiServerVerifier>>,
    /// A server may show one of them itself.
    named: CaCertificates,
    proof: ServerProof,
}

impl ServerTrust {
    fn of(named: &CaCertificates, proof: ServerProof) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        for certificate in named.as_der() {
            roots.add(certificate.clone()).map_err(|error| error.to_string())?;
        }
        let verifier = || WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&PROVIDER)).build();
        let chain = (!named.is_empty()).then(verifier).transpose().map_err(|error| error.to_string())?;
        Ok(Self { chain, named: named.clone(), proof })
    }

    fn chain(&self) -> Result<&dyn ServerCertVerifier, rustls::Error> {
        match &self.chain {
            Some(chain) => Ok(&**chain),
            None => THIS_MACHINE.as_ref().map(|verifier| verifier as &dyn ServerCertVerifier).map_err(Clone::clone),
        }
    }

    /// Checks that a certificate is refused only for want of an authority above it, and is one of those that were
    /// named. Its dates have been checked by then; a wrong signature is that of an authority with the same name.
    fn is_named_itself(&self, certificate: &CertificateDer<'_>, error: &rustls::Error) -> bool {
        let rustls::Error::InvalidCertificate(why) = error else { return false };
        let alone =
            matches!(why, CertificateError::UnknownIssuer | CertificateError::BadSignature) || is_of_an_authority(why);
        alone && self.named.as_der().iter().any(|named| named == certificate)
    }
}

impl ServerCertVerifier for ServerTrust {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if self.proof == ServerProof::Nothing {
            return Ok(ServerCertVerified::assertion());
        }
        match self.chain()?.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // Names are looked at last, when the chain has been found good.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.proof == ServerProof::Certificate => Ok(ServerCertVerified::assertion()),
            Err(error) if self.is_named_itself(end_entity, &error) => {
                if self.proof == ServerProof::CertificateAndName {
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
        verify_tls12_signature(message, cert, dss, &PROVIDER.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &PROVIDER.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        PROVIDER.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
    use rstest::rstest;

    use super::*;

    const HOST: &str = "db.example";

    /// A certificate for a host that is its own authority, as openssl makes it, good until the first of January of a
    /// year.
    fn own_authority(key: &KeyPair, year: i32) -> rcgen::Certificate {
        let mut params = CertificateParams::new(vec![HOST.to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.not_after = date_time_ymd(year, 1, 1);
        params.self_signed(key).unwrap()
    }

    /// A certificate for a host that an authority signed which nobody names.
    fn leaf(year: i32) -> rcgen::Certificate {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let mut params = CertificateParams::new(vec![HOST.to_owned()]).unwrap();
        params.not_after = date_time_ymd(year, 1, 1);
        params.signed_by(&KeyPair::generate().unwrap(), &issuer).unwrap()
    }

    /// The verdict on a server that shows a certificate, where another one, or the same, is named.
    fn verdict(
        proof: ServerProof,
        named: &rcgen::Certificate,
        shown: &rcgen::Certificate,
        host: &str,
    ) -> Result<(), rustls::Error> {
        let trust = ServerTrust::of(&named.pem().parse().unwrap(), proof).unwrap();
        let now = UnixTime::since_unix_epoch(Duration::from_secs(1_800_000_000));
        trust.verify_server_cert(shown.der(), &[], &ServerName::try_from(host.to_owned()).unwrap(), &[], now).map(drop)
    }

    #[rstest]
    #[case(ServerProof::CertificateAndName, HOST, true)]
    #[case(ServerProof::CertificateAndName, "other.example", false)]
    #[case(ServerProof::Certificate, "other.example", true)]
    #[case(ServerProof::Nothing, "other.example", true)]
    fn a_server_may_show_the_very_certificate_that_is_named(
        #[case] proof: ServerProof,
        #[case] host: &str,
        #[case] good: bool,
    ) {
        for certificate in [own_authority(&KeyPair::generate().unwrap(), 4096), leaf(4096)] {
            let verdict = verdict(proof, &certificate, &certificate, host);

            assert_eq!(verdict.is_ok(), good, "{verdict:?}");
        }
    }

    #[rstest]
    #[case(ServerProof::CertificateAndName)]
    #[case(ServerProof::Certificate)]
    fn a_certificate_whose_time_is_over_or_that_is_not_the_named_one_is_refused(#[case] proof: ServerProof) {
        let key = KeyPair::generate().unwrap();
        let named = own_authority(&key, 4096);

        for over in [own_authority(&key, 2020), leaf(2020)] {
            let told = verdict(proof, &over, &over, HOST).unwrap_err();
            assert!(
                matches!(told, rustls::Error::InvalidCertificate(CertificateError::ExpiredContext { .. })),
                "{told:?}"
            );
        }
        for stranger in [own_authority(&key, 4095), own_authority(&KeyPair::generate().unwrap(), 4096), leaf(4096)] {
            assert!(verdict(proof, &named, &stranger, HOST).is_err());
        }
    }
}
