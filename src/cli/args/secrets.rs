//! The arguments of `avert secrets`.

use std::path::PathBuf;

use clap::Subcommand;

/// `avert secrets`.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum SecretsCommand {
    /// Put a new key in the place of one, without a stop
    #[command(subcommand)]
    Rotate(RotateCommand),
}

/// `avert secrets rotate`.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum RotateCommand {
    /// The key that access tokens are signed with. Tokens of the one before are taken for 600 s more
    Signing,
    /// The key that credentials, secrets and addresses in the database are encrypted with. Backups made before need the
    /// one before
    Data {
        /// The file with the new key, made where there is none. Needed on PostgreSQL, where every machine has to have
        /// it
        #[arg(long, value_name = "KEYFILE")]
        new_key_file: Option<PathBuf>,
    },
}
