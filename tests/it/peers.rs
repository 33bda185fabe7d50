//! What libraries of others make of avert. They come from PyPI, so these run only where they are asked for:
//! `cargo test --test it peers:: -- --ignored`.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::binary::{Server, run_ok};

/// A Python of its own in this directory, with these packages.
fn python(directory: &Path, packages: &[&str]) -> PathBuf {
    let environment = directory.join("python");
    run("python3".as_ref(), &["-m", "venv", environment.to_str().unwrap()]);
    let python = environment.join("bin/python");
    run(&python, &[&["-m", "pip", "install", "--quiet", "--disable-pip-version-check"], packages].concat());
    python
}

fn run(program: &Path, arguments: &[&str]) {
    let status = Command::new(program).args(arguments).status().unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    assert!(status.success(), "{} {arguments:?}", program.display());
}

#[test]
#[ignore = "installs packages from PyPI"]
fn oauth_clients_get_tokens_that_a_jwt_library_accepts() {
    let directory = tempfile::tempdir().unwrap();
    let python = python(directory.path(), &["pyjwt[crypto]==2.*", "requests-oauthlib==2.*", "authlib==1.*"]);
    let data = directory.path().join("data");
    let client: Value = serde_json::from_str(&run_ok(&data, &["clients", "create", "--output", "json"])).unwrap();
    let server = Server::start(&data, &[]);

    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/oauth.py");
    run(&python, &[script, &server.url, client["client_id"].as_str().unwrap(), client["client_secret"].as_str().unwrap()]);
}
