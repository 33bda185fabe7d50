//! TLS of a client: the files that say whom it trusts and which certificate it shows.

use std::{
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustls::{
    ClientConfig,
    client::ResolvesClientCert,
    crypto::aws_lc_rs,
    pki_types::{PrivateKeyDer, pem::PemObject as _},
    sign::{CertifiedKey, SingleCertAndKey},
};
use zeroize::Zeroizing;

use super::{
    handshake::HandshakeFault,
    trust::{self, ServerProof},
};
use crate::domain::CaCertificates;

/// A file larger than this holds something else: all authorities of a system take a quarter of it.
const LARGEST_FILE: u64 = 1024 * 1024;

/// TLS settings: PEM files by their paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// Certificates of the authorities that are trusted, and no others; without it those of this machine are.
    pub ca_file: Option<PathBuf>,
    /// The client certificate, with those between it and its authority; its private key may be in the same file.
    pub client_certificate: Option<PathBuf>,
    /// The private key of the client certificate, where it is in a file of its own.
    pub client_key: Option<PathBuf>,
}

/// TLS of a client: whom it trusts, and the certificate that it shows. The default trusts this machine's authorities
/// and shows none.
#[derive(Debug, Clone, Default)]
pub struct ClientTls {
    trusted: CaCertificates,
    identity: Option<Arc<CertifiedKey>>,
}

impl TlsFiles {
    /// Merges with another choice, whose files count where this one names none. A client certificate comes with its own
    /// key.
    pub fn or(self, other: Self) -> Self {
        let (client_certificate, client_key) = match self.client_certificate {
            Some(certificate) => (Some(certificate), self.client_key),
            None => (other.client_certificate, self.client_key.or(other.client_key)),
        };
        Self { ca_file: self.ca_file.or(other.ca_file), client_certificate, client_key }
    }

    /// Reads the files.
    ///
    /// # Errors
    /// When a file cannot be used; the text says which one, and why.
    pub fn read(&self) -> Result<ClientTls, String> {
        let trusted = self.ca_file.as_deref().map(ca_file).transpose()?.unwrap_or_default();
        let identity = match (&self.client_certificate, &self.client_key) {
            (Some(certificate), key) => Some(Arc::new(identity(certificate, key.as_deref())?)),
            (None, Some(_)) => return Err("a client key needs the client certificate that it belongs to".to_owned()),
            (None, None) => None,
        };
        Ok(ClientTls { trusted, identity })
    }
}

impl From<CaCertificates> for ClientTls {
    fn from(trusted: CaCertificates) -> Self {
        Self { trusted, identity: None }
    }
}

impl ClientTls {
    /// The set-up of such a client.
    pub(super) fn config(&self) -> Result<ClientConfig, String> {
        let builder = trust::client(&self.trusted, ServerProof::CertificateAndName)?;
        let mut config = match &self.identity {
            Some(identity) => {
                let shown: Arc<dyn ResolvesClientCert> = Arc::new(SingleCertAndKey::from(Arc::clone(identity)));
                builder.with_client_cert_resolver(shown)
            }
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }

    /// Returns the way out of a failed handshake, as the end of an error's text.
    pub(super) fn advice(&self, fault: &HandshakeFault) -> &'static str {
        match fault {
            HandshakeFault::UnknownIssuer if !self.trusted.is_empty() => {
                "; the CA file holds another one, or the server leaves out one in between"
            }
            HandshakeFault::UnknownIssuer => {
                "; where it is the right one, name the file of that authority's certificate (--ca-file)"
            }
            HandshakeFault::OwnAuthority => {
                "; where it is the right one, name the file of this very certificate (--ca-file)"
            }
            HandshakeFault::ClientCertificate(_) if self.identity.is_none() => {
                "; name one with --client-certificate and --client-key"
            }
            _ => "",
        }
    }
}

/// Reads the certificates of a file.
///
/// # Errors
/// When the file has a flaw; the text names both.
pub fn ca_file(file: &Path) -> Result<CaCertificates, String> {
    CaCertificates::read(&read(file)?).map_err(|why| unusable(file, &why))
}

fn identity(certificate: &Path, key: Option<&Path>) -> Result<CertifiedKey, String> {
    let mut pem = read(certificate)?;
    let certificates = CaCertificates::read(&pem).map_err(|why| unusable(certificate, &why))?.as_der().to_vec();
    let key_file = key.unwrap_or(certificate);
    if let Some(key) = key {
        pem.push(b'\n');
        pem.extend_from_slice(&read(key)?);
    }
    let private = PrivateKeyDer::from_pem_slice(&pem).map_err(|_| {
        let encrypted = pem.windows(9).any(|words| words == b"ENCRYPTED");
        unusable(
            key_file,
            match (encrypted, key) {
                (true, _) => "holds a private key that is encrypted: it has to be decrypted first",
                (false, Some(_)) => "holds no private key in PEM form (BEGIN PRIVATE KEY)",
                (false, None) => "holds no private key: name the file that does, as the client key",
            },
        )
    })?;
    CertifiedKey::from_der(certificates, private, &aws_lc_rs::default_provider()).map_err(|error| {
        unusable(key_file, &format!("holds a private key that does not go with the client certificate: {error}"))
    })
}

fn read(file: &Path) -> Result<Zeroizing<Vec<u8>>, String> {
    let mut bytes = Zeroizing::new(Vec::new());
    let opened = File::open(file).and_then(|opened| opened.take(LARGEST_FILE + 1).read_to_end(&mut bytes));
    opened.map_err(|error| unusable(file, &format!("cannot be read: {error}")))?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(unusable(file, "is larger than 1 MiB: a file with certificates alone is needed"));
    }
    Ok(bytes)
}

fn unusable(file: &Path, what: &str) -> String {
    format!("{}: {what}", file.display())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn a_client_certificate_that_is_named_comes_with_its_own_key() {
        let files = |ca: Option<&str>, certificate: Option<&str>, key: Option<&str>| TlsFiles {
            ca_file: ca.map(PathBuf::from),
            client_certificate: certificate.map(PathBuf::from),
            client_key: key.map(PathBuf::from),
        };
        let kept = files(Some("ca"), Some("kept"), Some("kept.key"));

        assert_eq!(files(None, None, None).or(kept.clone()), kept);
        assert_eq!(files(Some("mine"), Some("other"), None).or(kept), files(Some("mine"), Some("other"), None));
    }

    #[rstest]
    #[case::missing("/nowhere/ca.pem", "cannot be read")]
    #[case::a_folder("/", "cannot be read")]
    #[case::something_else("FILE", "no certificate in PEM form")]
    fn a_file_that_cannot_be_used_is_named_with_the_reason(#[case] path: &str, #[case] why: &str) {
        let directory = tempfile::tempdir().unwrap();
        let written = directory.path().join("ca.pem");
        std::fs::write(&written, "hello").unwrap();
        let file = if path == "FILE" { written } else { PathBuf::from(path) };

        let error = TlsFiles { ca_file: Some(file.clone()), ..TlsFiles::default() }.read().unwrap_err();

        assert!(error.contains(why) && error.starts_with(&file.display().to_string()), "{error}");
    }
}
