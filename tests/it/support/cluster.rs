//! A desk in a PostgreSQL database of the tests' own server, worked on by the real binary: a home for each node, one
//! key for all.

use std::{
    path::PathBuf,
    process::{Command, Output, Stdio},
};

use super::{
    binary::{Server, avert},
    postgres::Database,
};

/// The desk.
pub struct Cluster {
    pub database: Database,
    homes: tempfile::TempDir,
}

impl Cluster {
    /// In a database with avert's tables; `None` where PostgreSQL is not installed.
    pub async fn migrated() -> Option<Self> {
        Some(Self { database: Database::fresh().await?, homes: tempfile::tempdir().unwrap() })
    }

    /// In a database with nothing in it.
    pub async fn empty() -> Option<Self> {
        Some(Self { database: Database::empty().await?, homes: tempfile::tempdir().unwrap() })
    }

    /// Its address by the server's socket.
    pub fn address(&self) -> String {
        let server = self.database.server();
        format!("postgres://{}@{}:{}/{}", server.user, server.host.replace('/', "%2F"), server.port, server.name)
    }

    /// Its address by TCP, as this user.
    pub fn address_of(&self, user: &str) -> String {
        let server = self.database.server();
        format!("postgres://{user}@127.0.0.1:{}/{}", server.port, server.name)
    }

    /// The file with the data key.
    pub fn key_file(&self) -> PathBuf {
        self.homes.path().join("shared.key")
    }

    /// The data directory of a node.
    pub fn home(&self, node: &str) -> PathBuf {
        let home = self.homes.path().join(node);
        std::fs::create_dir_all(&home).unwrap();
        home
    }

    /// A command on a node, which reaches the database at this address.
    pub fn command_at(&self, address: &str, node: &str, arguments: &[&str]) -> Command {
        let mut command = avert(&self.home(node), arguments);
        command.env("AVERT_DATABASE", address).env("AVERT_SECRET_KEY_FILE", self.key_file());
        command
    }

    /// A command on a node.
    pub fn command(&self, node: &str, arguments: &[&str]) -> Command {
        self.command_at(&self.address(), node, arguments)
    }

    /// Runs a command on a node to its end.
    pub fn run(&self, node: &str, arguments: &[&str]) -> Output {
        self.command(node, arguments).output().expect("the binary starts")
    }

    /// Runs a command on a node that has to succeed and returns its standard output.
    pub fn run_ok(&self, node: &str, arguments: &[&str]) -> String {
        let output = self.run(node, arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "avert {arguments:?} ended with {}: {errors}", output.status);
        String::from_utf8(output.stdout).expect("UTF-8 on standard output")
    }

    /// A key of this scope.
    pub fn key(&self, scope: &str) -> String {
        self.run_ok("a", &["keys", "create", "--scope", scope]).trim().to_owned()
    }

    /// Starts `avert serve` on a node, which reaches the database at this address.
    pub fn serve_at(&self, address: &str, node: &str, arguments: &[&str]) -> Server {
        let mut command = self.command_at(address, node, &["serve", "--listen", "127.0.0.1:0"]);
        command.args(arguments);
        Server::spawn(command, Stdio::inherit())
    }

    /// Starts `avert serve` on a node.
    pub fn serve(&self, node: &str, arguments: &[&str]) -> Server {
        self.serve_at(&self.address(), node, arguments)
    }
}
