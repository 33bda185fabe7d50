//! Certificates that are trusted for one connection, in place of this machine's authorities: read from PEM or DER,
//! written as PEM.

use std::{fmt, str::FromStr, sync::Arc};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use rustls::{
    RootCertStore,
    pki_types::{CertificateDer, pem::PemObject as _},
};

use super::sanitize::BYTE_ORDER_MARK;

/// Length of a line of PEM (RFC 7468).
const PEM_LINE: usize = 64;

/// The first byte of a certificate in DER: a sequence.
const DER_SEQUENCE: u8 = 0x30;

/// Certificates of authorities, or a server's own. The default names none: this machine's authorities are trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CaCertificates(Arc<[CertificateDer<'static>]>);

impl CaCertificates {
    /// Reads PEM, with or without a byte order mark, or a certificate in DER. Private keys are left out.
    ///
    /// # Errors
    /// When it cannot be used: a sentence about the file or the field.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let bytes = bytes.strip_prefix(BYTE_ORDER_MARK.as_bytes()).unwrap_or(bytes);
        let certificates = match bytes.first() {
            Some(&DER_SEQUENCE) => vec![CertificateDer::from(bytes.to_vec())],
            _ => {
                let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(bytes).collect();
                read.map_err(|_| "holds a certificate that cannot be read".to_owned())?
            }
        };
        if certificates.is_empty() {
            return Err("holds no certificate in PEM form (BEGIN CERTIFICATE)".to_owned());
        }
        let mut store = RootCertStore::empty();
        for certificate in &certificates {
            store
                .add(certificate.clone())
                .map_err(|error| format!("holds a certificate that cannot be trusted: {error}"))?;
        }
        Ok(Self(certificates.into()))
    }

    /// Returns the certificates in DER.
    pub fn as_der(&self) -> &[CertificateDer<'static>] {
        &self.0
    }

    /// Returns true where none is named: then this machine's authorities are trusted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The certificates in PEM; an empty text names none.
impl FromStr for CaCertificates {
    type Err = String;

    fn from_str(pem: &str) -> Result<Self, Self::Err> {
        if pem.trim().is_empty() { Ok(Self::default()) } else { Self::read(pem.as_bytes()) }
    }
}

/// The certificates alone, in PEM.
impl fmt::Display for CaCertificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for certificate in &*self.0 {
            let encoded = BASE64_STANDARD.encode(certificate);
            f.write_str("-----BEGIN CERTIFICATE-----\n")?;
            for line in encoded.as_bytes().chunks(PEM_LINE) {
                writeln!(f, "{}", String::from_utf8_lossy(line))?;
            }
            f.write_str("-----END CERTIFICATE-----\n")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rcgen::KeyPair;
    use rstest::rstest;

    use super::*;

    /// Returns a certificate in PEM, and its private key.
    fn made() -> (rcgen::Certificate, String) {
        let key = KeyPair::generate().unwrap();
        let certificate =
            rcgen::CertificateParams::new(vec!["a.example".to_owned()]).unwrap().self_signed(&key).unwrap();
        (certificate, key.serialize_pem())
    }

    #[test]
    fn certificates_are_read_from_every_form_and_written_as_pem_without_what_stands_beside_them() {
        let (certificate, key) = made();
        let pem = certificate.pem();
        let one = CaCertificates::read(pem.as_bytes()).unwrap();

        let forms: [Vec<u8>; 6] = [
            format!("\u{feff}{pem}").into(),
            pem.replace('\n', "\r\n").into(),
            format!("subject=CN = a.example\n{pem}").into(),
            format!("{key}{pem}").into(),
            certificate.der().to_vec(),
            one.to_string().into(),
        ];

        for form in forms {
            assert_eq!(CaCertificates::read(&form).unwrap(), one, "{}", String::from_utf8_lossy(&form));
        }
        assert_eq!(CaCertificates::read(format!("{pem}{}", made().0.pem()).as_bytes()).unwrap().as_der().len(), 2);
        assert!(!one.to_string().contains("KEY") && " \n".parse() == Ok(CaCertificates::default()));
    }

    #[rstest]
    #[case::nothing("", "holds no certificate in PEM form")]
    #[case::something_else("hello", "holds no certificate in PEM form")]
    #[case::a_key("-----BEGIN PRIVATE KEY-----\naGVsbG8=\n-----END PRIVATE KEY-----\n", "holds no certificate")]
    #[case::an_encrypted_key(
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\naGVs\n-----END ENCRYPTED PRIVATE KEY-----\n",
        "holds no certificate"
    )]
    #[case::no_certificate_inside(
        "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n",
        "cannot be trusted"
    )]
    #[case::cut_short("-----BEGIN CERTIFICATE-----\naGVs", "cannot be read")]
    #[case::der_of_something_else("0\u{3}\u{1}", "cannot be trusted")]
    fn what_holds_no_certificate_is_told_for_what_it_is(#[case] text: &str, #[case] why: &str) {
        let error = CaCertificates::read(text.as_bytes()).unwrap_err();

        assert!(error.contains(why), "{error}");
    }
}
