//! The arguments of `avert secrets`.

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
}
