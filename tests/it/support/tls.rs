//! Certificates made for a test: an authority, what it signs, and servers that show it.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::{
    RootCertStore, ServerConfig,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, PrivateKeyDer},
    server::WebPkiClientVerifier,
};

/// A certificate authority.
pub struct Authority {
    name: String,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate with its private key.
pub struct Certified {
    certificate: rcgen::Certificate,
    key: KeyPair,
}

impl Authority {
    /// One with a name of its own.
    pub fn new() -> Self {
        Self::called(format!("authority {}", uuid::Uuid::now_v7()))
    }

    /// Another one that bears the same name: what it signs is looked for under that name, and its signature is wrong.
    pub fn namesake(&self) -> Self {
        Self::called(self.name.clone())
    }

    fn called(name: String) -> Self {
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name.clone());
        Self { name, issuer: CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap() }
    }

    /// A certificate for this name.
    pub fn certify(&self, name: &str) -> Certified {
        self.certify_until(name, 4096)
    }

    /// A certificate for this name that ends with the first of January of this year.
    pub fn certify_until(&self, name: &str, year: i32) -> Certified {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_after = date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().unwrap();
        Certified { certificate: params.signed_by(&key, &self.issuer).unwrap(), key }
    }

    /// Its certificate.
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// Its certificate in a file.
    pub fn file(&self, directory: &Path) -> PathBuf {
        written(directory, "authority.pem", &self.issuer.pem())
    }

    /// A server that wants a client certificate of this authority.
    pub fn asking(&self, certified: &Certified) -> Arc<ServerConfig> {
        let mut trusted = RootCertStore::empty();
        trusted.add(self.issuer.der().clone()).unwrap();
        let provider = Arc::new(aws_lc_rs::default_provider());
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(trusted), provider.clone()).build().unwrap();
        let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        Arc::new(
            builder.with_client_cert_verifier(verifier).with_single_cert(certified.chain(), certified.key()).unwrap(),
        )
    }
}

impl Certified {
    /// A server's certificate that signs itself, as openssl makes it: an authority's own.
    pub fn by_itself(name: &str) -> Self {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self { certificate: params.self_signed(&key).unwrap(), key }
    }

    /// The certificate.
    pub fn pem(&self) -> String {
        self.certificate.pem()
    }

    fn chain(&self) -> Vec<CertificateDer<'static>> {
        vec![self.certificate.der().clone()]
    }

    fn key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::Pkcs8(self.key.serialize_der().into())
    }

    /// A server that shows it and wants none.
    pub fn serving(&self) -> Arc<ServerConfig> {
        let builder = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
        let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        Arc::new(builder.with_single_cert(self.chain(), self.key()).unwrap())
    }

    /// The certificate and the private key, in two files.
    pub fn files(&self, directory: &Path) -> (PathBuf, PathBuf) {
        let certificate = written(directory, "certificate.pem", &self.certificate.pem());
        (certificate, written(directory, "key.pem", &self.key.serialize_pem()))
    }

    /// Both in one file.
    pub fn file(&self, directory: &Path) -> PathBuf {
        written(directory, "both.pem", &format!("{}{}", self.certificate.pem(), self.key.serialize_pem()))
    }
}

fn written(directory: &Path, name: &str, text: &str) -> PathBuf {
    let file = directory.join(name);
    std::fs::write(&file, text).unwrap();
    file
}
