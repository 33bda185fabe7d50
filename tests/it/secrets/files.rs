//! Secrets of the environment, each in a file that a variable names, as systemd and containers hand them over.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    process::Command,
};

use rstest::rstest;
use tempfile::TempDir;

use crate::support::{
    binary::{avert, run_ok},
    operations::refused,
};

const LIST: &[&str] = &["alerts", "list"];
const LIST_ELSEWHERE: &[&str] = &["alerts", "list", "--url", "http://127.0.0.1:9"];
const LIST_AS_CLIENT: &[&str] = &["alerts", "list", "--url", "http://127.0.0.1:9", "--client-id", "desk"];
const ADD: &[&str] = &["webhooks", "add", "http://127.0.0.1:9/"];
const ADD_SIGNED: &[&str] = &["webhooks", "add", "http://127.0.0.1:9/", "--basic", "shop:pass"];

/// A desk with alerts of its own.
fn desk() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    run_ok(home.path(), &["keys", "create"]);
    home
}

/// A command there, where the network of this variable, if it is one's, has a gateway without a credential.
fn command(home: &TempDir, variable: &str, arguments: &[&str]) -> Command {
    let network = ["ethoca", "verifi", "cdrn"].into_iter().find(|name| variable.contains(&name.to_uppercase()));
    let gateway = network.map(|name| format!("[providers.{name}]\nurl = \"https://gateway.example\"\n"));
    let settings = home.path().join("settings.toml");
    fs::write(&settings, gateway.unwrap_or_default()).unwrap();
    let mut command = avert(home.path(), arguments);
    command.env("AVERT_CONFIG", settings);
    command
}

#[rstest]
#[case("AVERT_API_KEY", LIST_ELSEWHERE)]
#[case("AVERT_CLIENT_SECRET", LIST_AS_CLIENT)]
#[case("AVERT_OPERATOR_KEY", LIST_ELSEWHERE)]
#[case("AVERT_ETHOCA_CREDENTIAL", LIST)]
#[case("AVERT_VERIFI_CREDENTIAL", LIST)]
#[case("AVERT_CDRN_CREDENTIAL", LIST)]
#[case("AVERT_WEBHOOK_BASIC", ADD)]
#[case("AVERT_WEBHOOK_HEADER", ADD)]
#[case("AVERT_WEBHOOK_SECRET", ADD_SIGNED)]
fn each_secret_may_be_in_a_file_and_not_in_two_places(#[case] variable: &str, #[case] arguments: &[&str]) {
    let home = desk();
    let (by_file, missing) = (format!("{variable}_FILE"), home.path().join("missing"));
    let command = || {
        let mut command = command(&home, variable, arguments);
        // An operator's key goes beside another one.
        if variable == "AVERT_OPERATOR_KEY" {
            command.env("AVERT_API_KEY", "k");
        }
        command.env(&by_file, &missing);
        command
    };

    let unreadable = refused(&command().output().unwrap(), 2);
    let both = refused(&command().env(variable, "s3cret").output().unwrap(), 2);

    assert!(unreadable.contains(&format!("{by_file}: {}: cannot be read", missing.display())), "{unreadable}");
    assert!(both.contains(&format!("{variable} and {by_file} are both set")) && !both.contains("s3cret"), "{both}");
}

#[rstest]
#[case("AVERT_CDRN_CREDENTIAL_FILE", "token\n", LIST)]
#[case("AVERT_WEBHOOK_BASIC_FILE", "shop:pass\n", ADD)]
#[case("AVERT_WEBHOOK_HEADER_FILE", "X-API-Key: value\n", ADD)]
#[case("AVERT_WEBHOOK_SECRET_FILE", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", ADD_SIGNED)]
fn a_secret_that_others_can_read_is_used_with_a_warning_that_names_its_file(
    #[case] variable: &str,
    #[case] text: &str,
    #[case] arguments: &[&str],
) {
    let home = desk();
    let file = home.path().join("secret");
    fs::write(&file, text).unwrap();
    let warned = |mode| {
        fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        let output = command(&home, variable, arguments).env(variable, &file).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        said.contains(&format!("{variable}: {} is open to other users", file.display()))
    };

    assert_eq!([0o604, 0o640, 0o600].map(warned), [true, false, false]);
}
