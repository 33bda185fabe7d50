//! Which database: by environment, settings and flag, with a password from several places, which is repeated nowhere.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    process::Output,
    time::{Duration, Instant},
};

use rstest::rstest;

use crate::support::{binary::avert, cluster::Cluster, operations::refused, postgres::GUARDED};

/// Everything that a command has written.
fn all(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The password of the guarded user as an address has it.
fn encoded() -> String {
    url::form_urlencoded::byte_serialize(GUARDED.1.as_bytes()).collect::<String>().replace('+', "%20")
}

#[rstest]
#[case("mysql://desk:horse@db.example/desk")]
#[case("postgres://desk:horse@db.example")]
#[case("postgres://desk:horse@db.example:5432/desk?sslmode=maybe")]
#[case("postgres://desk:ho/rse:horse@db.example/desk")]
fn an_address_that_cannot_be_read_is_a_misuse_and_not_repeated(#[case] address: &str) {
    let home = tempfile::tempdir().unwrap();
    let settings = home.path().join("avert.toml");
    fs::write(&settings, format!("database = \"{address}\"\n")).unwrap();
    let settings = settings.to_str().unwrap();

    let by_variable = avert(home.path(), &["keys", "list"]).env("AVERT_DATABASE", address).output().unwrap();
    let by_settings = avert(home.path(), &["--config", settings, "keys", "list"]).output().unwrap();
    let by_flag = avert(home.path(), &["serve", "--database", address]).output().unwrap();
    let doctor = avert(home.path(), &["--config", settings, "doctor"]).output().unwrap();
    let at_a_wrong_place = avert(home.path(), &["serve", address]).output().unwrap();

    for (output, named) in [(&by_variable, "AVERT_DATABASE"), (&by_settings, "avert.toml:1"), (&by_flag, "--database")]
    {
        let said = refused(output, 2);
        assert!(said.contains(named) && said.contains("postgres://USER:PASSWORD@HOST:PORT/NAME"), "{said}");
    }
    refused(&at_a_wrong_place, 2);
    assert_eq!(doctor.status.code(), Some(1));
    for output in [by_variable, by_settings, by_flag, doctor, at_a_wrong_place] {
        assert!(!all(&output).contains("horse"), "{}", all(&output));
    }
    assert!(!home.path().join("avert.db").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_keeps_a_database_from_being_opened_is_told_in_time_and_without_the_password() {
    let Some(cluster) = Cluster::migrated().await else { return };
    let right = cluster.address_of(GUARDED.0);
    let with = |password: &str| right.replace("guarded@", &format!("guarded:{password}@"));
    let (port, name) = (cluster.database.server().port.to_string(), cluster.database.server().name);
    // Nobody answers there, and nobody refuses either.
    let (nowhere, silent) = (
        "postgres://guarded:horse@127.0.0.1:1/desk",
        "postgres://guarded:horse@10.255.255.1:5432/desk?sslmode=disable",
    );

    for (address, named) in [
        (with("horse"), "password authentication failed"),
        (with("horse"), port.as_str()),
        (right.clone(), "password"),
        (with(&encoded()).replace(&name, "no_such_desk"), "no_such_desk"),
        (nowhere.to_owned(), "127.0.0.1:1"),
        (silent.to_owned(), "10.255.255.1:5432"),
    ] {
        for arguments in
            [&["-vv", "alerts", "list"][..], &["-vv", "serve", "--listen", "127.0.0.1:0"], &["-vv", "doctor"]]
        {
            let began = Instant::now();
            let output = cluster.command_at(&address, "a", arguments).output().unwrap();

            let said = all(&output);
            assert_eq!(output.status.code(), Some(1), "{address} {arguments:?}: {said}");
            assert!(began.elapsed() < Duration::from_secs(60), "{address} {arguments:?}: {:?}", began.elapsed());
            assert!(said.contains(named) && !said.contains("horse"), "{address} {arguments:?}: {said}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_comes_from_the_address_a_file_or_the_file_of_passwords() {
    let Some(cluster) = Cluster::migrated().await else { return };
    let (user, password) = GUARDED;
    let bare = cluster.address_of(user);
    let whole = bare.replace("guarded@", &format!("guarded:{}@", encoded()));
    let wrong = bare.replace("guarded@", "guarded:wrong@");
    let home = cluster.home("a");
    let write = |name: &str, text: &str, mode: u32| {
        let file = home.join(name);
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        file
    };
    let alone = write("password", &format!("{password}\n"), 0o600);
    let line = format!("# of the desk\n*:*:*:guarded:{}\n", password.replace(':', "\\:"));
    let (passwords, open) = (write("passwords", &line, 0o600), write("open", &line, 0o644));
    let list = |address: &str| cluster.command_at(address, "a", &["keys", "list"]);

    let in_address = list(&whole).output().unwrap();
    let in_file = list(&wrong).args(["--database-password-file", alone.to_str().unwrap()]).output().unwrap();
    let in_variable = list(&bare).env("AVERT_DATABASE_PASSWORD_FILE", &alone).output().unwrap();
    let in_passwords = list(&bare).env("PGPASSFILE", &passwords).output().unwrap();
    let in_open_ones = list(&bare).env("PGPASSFILE", &open).output().unwrap();
    let in_an_empty_one =
        list(&whole).env("AVERT_DATABASE_PASSWORD_FILE", write("empty", "\n", 0o600)).output().unwrap();

    for output in [in_address, in_file, in_variable, in_passwords] {
        assert_eq!(output.status.code(), Some(0), "{}", all(&output));
    }
    let said = refused(&in_open_ones, 1);
    assert!(said.matches("PGPASSFILE is left out").count() == 1 && said.contains("chmod 600"), "{said}");
    let said = refused(&in_an_empty_one, 2);
    assert!(said.contains("empty: is empty"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flag_is_stronger_and_a_password_in_it_is_taken_with_a_warning() {
    let Some(cluster) = Cluster::migrated().await else { return };
    let whole = cluster.address_of(GUARDED.0).replace("guarded@", &format!("guarded:{}@", encoded()));
    let log = cluster.home("a").join("log");

    let mut command =
        cluster.command_at("postgres://nobody@127.0.0.1:1/nowhere", "a", &["serve", "--listen", "127.0.0.1:0"]);
    command.args(["--database", &whole]);
    let server = crate::support::binary::Server::spawn(command, fs::File::create(&log).unwrap().into());

    assert_eq!(server.terminate(), Some(0));
    let said = fs::read_to_string(log).unwrap();
    assert!(
        said.contains("others on this machine can read the password") && said.contains("--database-password-file FILE"),
        "{said}"
    );
    assert!(!said.contains("horse") && !said.contains(&encoded()), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_data_directory_is_not_looked_into_for_what_is_in_the_database() {
    let Some(cluster) = Cluster::migrated().await else { return };
    let home = cluster.home("a");
    let of_the_file = String::from_utf8(avert(&home, &["keys", "create"]).output().unwrap().stdout).unwrap();
    assert!(of_the_file.starts_with("avk_"), "{of_the_file}");

    let listed = cluster.run_ok("a", &["keys", "list", "--output", "json"]);
    cluster.run_ok("b", &["keys", "create"]);
    let there = cluster.run_ok("a", &["keys", "list", "--output", "json"]);
    let here = String::from_utf8(avert(&home, &["keys", "list", "--output", "json"]).output().unwrap().stdout).unwrap();

    let count = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap().as_array().unwrap().len();
    assert_eq!((count(&listed), count(&there), count(&here)), (0, 1, 1));
    assert!(!cluster.home("b").join("avert.db").exists() && !cluster.home("b").join("secret.key").exists());
}
