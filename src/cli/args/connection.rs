//! The flags that a connection is made with: the files of a credential, and those of TLS.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::outbound::tls::TlsFiles;

/// Credentials for a deployment: an API key or a client, and an operator's key beside it.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AccessArgs {
    /// File with the API key
    #[arg(long, value_name = "FILE", conflicts_with_all = ["client_id", "client_secret_file"])]
    pub(crate) api_key_file: Option<PathBuf>,
    /// Client id, for bearer tokens
    #[arg(long, value_name = "ID")]
    pub(crate) client_id: Option<String>,
    /// File with the client secret
    #[arg(long, value_name = "FILE")]
    pub(crate) client_secret_file: Option<PathBuf>,
    /// File with a key of scope operator, where it is an avert
    #[arg(long, value_name = "FILE")]
    pub(crate) operator_key_file: Option<PathBuf>,
}

impl AccessArgs {
    /// Merges these flags with others, which fill in what these leave out.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            api_key_file: self.api_key_file.or(other.api_key_file),
            client_id: self.client_id.or(other.client_id),
            client_secret_file: self.client_secret_file.or(other.client_secret_file),
            operator_key_file: self.operator_key_file.or(other.operator_key_file),
        }
    }

    /// Returns the file with the API key, or with the client secret.
    pub(crate) fn credential_file(&self) -> Option<&Path> {
        self.api_key_file.as_deref().or(self.client_secret_file.as_deref())
    }

    /// Returns whether they name a credential, or a part of one, beside the operator's key.
    pub(crate) fn names_credential(&self) -> bool {
        self.credential_file().is_some() || self.client_id.is_some()
    }
}

/// Whom to trust, and which certificate to show.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct TlsArgs {
    /// File with the certificates (PEM) that are trusted for it, of authorities or its own, and no others. Default:
    /// this machine's authorities
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
    /// File with the client certificate (PEM) that it asks for; its private key may be in the same file
    #[arg(long, value_name = "FILE")]
    pub(crate) client_certificate: Option<PathBuf>,
    /// File with the private key (PEM) of the client certificate
    #[arg(long, value_name = "FILE")]
    pub(crate) client_key: Option<PathBuf>,
}

impl TlsArgs {
    /// Merges these flags with others, which fill in what these leave out.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            ca_file: self.ca_file.or(other.ca_file),
            client_certificate: self.client_certificate.or(other.client_certificate),
            client_key: self.client_key.or(other.client_key),
        }
    }

    /// Returns the TLS files that they name.
    pub(crate) fn files(&self) -> TlsFiles {
        let Self { ca_file, client_certificate, client_key } = self.clone();
        TlsFiles { ca_file, client_certificate, client_key }
    }

    /// Returns the TLS files with absolute paths, so that they are found from every directory.
    pub(crate) fn files_from_anywhere(&self) -> TlsFiles {
        let from_anywhere = |file: Option<PathBuf>| file.map(|file| std::path::absolute(&file).unwrap_or(file));
        let TlsFiles { ca_file, client_certificate, client_key } = self.files();
        TlsFiles {
            ca_file: from_anywhere(ca_file),
            client_certificate: from_anywhere(client_certificate),
            client_key: from_anywhere(client_key),
        }
    }
}
