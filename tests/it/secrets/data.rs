//! `avert secrets rotate data`: what is sealed is sealed anew while `avert serve` works, and a kill anywhere leaves one
//! usable state.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use avert::{
    domain::{
        EndpointAuth,
        time::{Clock as _, SystemClock},
    },
    store::{SharedStore, rekeying::rotate_data_key},
};
use serde_json::Value;

use crate::{
    operations::kills::kill_behind,
    support::{
        binary::{Server, run, run_ok},
        cluster::Cluster,
        operations::{alerts, refused},
        receiver::Receiver,
        store::open,
    },
};

/// The names of the files with keys in a directory.
fn keys(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut keys: Vec<String> = names.filter(|name| name.contains(".key")).collect();
    keys.sort();
    keys
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        match entry.path().is_dir() {
            true => copy_all(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

/// What the doctor says of the key, by check.
fn said_of_keys(home: &Path) -> Vec<String> {
    let report: Value = serde_json::from_slice(&run(home, &["doctor", "--output", "json"]).stdout).unwrap();
    let bad = report["checks"].as_array().unwrap().iter().filter(|check| check["state"] != "ok");
    bad.map(|check| check["check"].as_str().unwrap().to_owned())
        .filter(|check| ["key", "key file", "rotation"].contains(&&**check))
        .collect()
}

/// Waits until something is so, which takes a node's heartbeat at most.
async fn until(what: &str, is_so: impl Fn() -> bool) {
    let (began, mut tick) = (Instant::now(), tokio::time::interval(Duration::from_millis(50)));
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(120), "never so: {what}");
        tick.tick().await;
    }
}

/// The password of the only endpoint, as the store opens it.
async fn password(store: &SharedStore) -> String {
    let organization = store.organizations().await.unwrap()[0].organization.id;
    let endpoint = store.endpoints(organization).await.unwrap()[0].id;
    match store.target(organization, endpoint, SystemClock.now()).await.unwrap().unwrap().auth {
        EndpointAuth::Basic { password, .. } => password.reveal().to_owned(),
        EndpointAuth::Header { .. } => panic!("another credential"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotation_killed_behind_any_step_leaves_one_usable_state() {
    let (home, states) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run_ok(
        home.path(),
        &["webhooks", "add", "https://shop.example/hook?token=a", "--basic", "shop:hunter22", "--sign"],
    );
    let store = open(home.path());
    let mut steps = Vec::new();

    let step = |step: &str| {
        copy_all(home.path(), &states.path().join(steps.len().to_string()));
        steps.push(step.to_owned());
    };
    rotate_data_key(&store, &home.path().join("secret.key"), None, SystemClock.now(), step).await.unwrap();
    store.close();

    assert_eq!(
        steps,
        [
            "the new key is beside the old one",
            "everything is sealed anew",
            "the old key is kept",
            "the new key is in its place"
        ]
    );
    for (at, step) in steps.iter().enumerate() {
        let home = states.path().join(at.to_string());
        let before = said_of_keys(&home);
        let (backup, elsewhere) = (home.join("backup"), tempfile::tempdir().unwrap());
        run_ok(&home, &["backup", backup.to_str().unwrap()]);
        run_ok(elsewhere.path(), &["restore", backup.to_str().unwrap()]);
        assert_eq!(
            password(&open(elsewhere.path())).await,
            "hunter22",
            "a backup goes with its key behind step {step}"
        );
        let store = open(&home);
        assert_eq!(password(&store).await, "hunter22", "{step}");
        store.close();
        let left = said_of_keys(&home);
        let prepared = at == 0;
        assert_eq!(before, if at < 3 { vec!["rotation"] } else { vec![] }, "{step}");
        assert_eq!(left, if prepared { vec!["rotation"] } else { vec![] }, "{step}");
        assert_eq!(keys(&home).contains(&"secret.key.new".to_owned()), prepared, "{step}");

        run_ok(&home, &["secrets", "rotate", "data"]);
        assert_eq!(password(&open(&home)).await, "hunter22", "{step}");
        assert!(said_of_keys(&home).is_empty(), "{step}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_binary_killed_while_it_rotates_leaves_one_usable_state() {
    let mut killed = 0;
    for changes in (1..=13).step_by(2) {
        let home = tempfile::tempdir().unwrap();
        run_ok(
            home.path(),
            &["webhooks", "add", "https://shop.example/hook?token=a", "--basic", "shop:hunter22", "--sign"],
        );

        killed += usize::from(kill_behind(home.path(), home.path(), changes, &["secrets", "rotate", "data"]));

        assert!(said_of_keys(home.path()).iter().all(|check| check == "rotation"), "killed behind change {changes}");
        let store = open(home.path());
        assert_eq!(password(&store).await, "hunter22", "killed behind change {changes}");
        store.close();
        run_ok(home.path(), &["secrets", "rotate", "data"]);
        assert_eq!(password(&open(home.path())).await, "hunter22", "killed behind change {changes}");
        assert!(said_of_keys(home.path()).is_empty(), "killed behind change {changes}");
    }
    assert!(killed > 0, "some were killed before their end");
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_and_tokens_go_on_over_a_rotation_on_a_file() {
    let home = tempfile::tempdir().unwrap();
    let receiver = Receiver::start().await;
    run_ok(home.path(), &["webhooks", "add", &receiver.url(), "--basic", "shop:hunter22"]);
    let file = home.path().join("alerts.ndjson");
    fs::write(&file, alerts(1..=2)).unwrap();
    let server = Server::start(home.path(), &[]);
    let kept = home.path().join("backup");
    run_ok(home.path(), &["backup", kept.to_str().unwrap()]);
    let before = fs::read_to_string(home.path().join("secret.key")).unwrap();

    let told: Value =
        serde_json::from_str(&run_ok(home.path(), &["secrets", "rotate", "data", "--output", "json"])).unwrap();
    run_ok(home.path(), &["import", file.to_str().unwrap()]);
    let heard = receiver.wait_for(2).await;

    assert_eq!(heard[0].header("authorization"), heard[1].header("authorization"));
    assert!(heard[0].header("authorization").starts_with("Basic "));
    let old = told["keptKey"].as_str().unwrap();
    assert_eq!((fs::read_to_string(old).unwrap(), &told["inPlace"]), (before, &Value::Bool(true)), "{told}");
    assert!(reqwest::get(format!("{}/ready", server.url)).await.unwrap().status().is_success());
    assert!(said_of_keys(home.path()).is_empty());
    #[cfg(unix)]
    for name in ["secret.key", old.rsplit('/').next().unwrap()] {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(home.path().join(name)).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
    }
    assert_eq!(server.terminate(), Some(0));
    // The backup of before comes back with its own key, one of behind it with the new one.
    run_ok(home.path(), &["backup", home.path().join("later").to_str().unwrap()]);
    for backup in ["backup", "later"] {
        run_ok(home.path(), &["restore", home.path().join(backup).to_str().unwrap()]);
        assert_eq!(password(&open(home.path())).await, "hunter22", "{backup}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_go_on_over_a_rotation_and_one_without_the_new_key_says_so() {
    let Some(cluster) = Cluster::migrated().await else { return };
    let receiver = Receiver::start().await;
    cluster.run_ok("a", &["webhooks", "add", &receiver.url(), "--basic", "shop:hunter22"]);
    let elsewhere = cluster.home("b").join("its.key");
    fs::copy(cluster.key_file(), &elsewhere).unwrap();
    let here = cluster.serve("a", &[]);
    let mut command = cluster.command("b", &["serve", "--listen", "127.0.0.1:0"]);
    command.env("AVERT_SECRET_KEY_FILE", &elsewhere);
    let there = Server::spawn(command, std::process::Stdio::inherit());
    let ready = async |server: &Server| {
        let answer = reqwest::get(format!("{}/ready", server.url)).await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    let new_key = cluster.home("a").join("new.key");
    let rotate = ["secrets", "rotate", "data", "--new-key-file", new_key.to_str().unwrap()];

    let unnamed = refused(&cluster.run("a", &rotate[..3]), 2);
    let said = cluster.run_ok("a", &rotate);
    let (with, without) = (ready(&here).await, ready(&there).await);
    let mut doctor = cluster.command("b", &["doctor", "--output", "json"]);
    let doctor = doctor.env("AVERT_SECRET_KEY_FILE", &elsewhere).output().unwrap();
    fs::copy(&new_key, elsewhere.with_extension("key.new")).unwrap();
    let then = ready(&there).await;
    here.terminate();
    let file = cluster.home("a").join("alerts.ndjson");
    fs::write(&file, alerts(1..=1)).unwrap();
    cluster.run_ok("a", &["import", file.to_str().unwrap()]);
    let heard = receiver.wait_for(1).await;

    assert!(unnamed.contains("--new-key-file KEYFILE") && unnamed.contains("shared.key.new"), "{unnamed}");
    assert!(said.contains("keyFile") && said.contains("shared.key"), "{said}");
    assert_eq!(with.0, 200, "{with:?}");
    assert!(without.0 == 503 && without.1.contains("the data key was rotated"), "{without:?}");
    assert!(
        String::from_utf8_lossy(&doctor.stdout).contains("does not hold the key that the database was sealed with")
    );
    assert_eq!(then.0, 200, "{then:?}");
    assert!(heard[0].header("authorization").starts_with("Basic "));
    assert_eq!(fs::read_to_string(cluster.key_file()).unwrap(), fs::read_to_string(&new_key).unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_idles_puts_a_new_key_in_its_place_and_has_room_for_the_next() {
    let Some(cluster) = Cluster::migrated().await else { return };
    cluster.run_ok("a", &["webhooks", "add", "https://shop.example/hook", "--basic", "shop:hunter22"]);
    let key = cluster.home("b").join("secret.key");
    let beside = key.with_extension("key.new");
    fs::copy(cluster.key_file(), &key).unwrap();
    let on_b = |arguments: &[&str]| {
        let mut command = cluster.command("b", arguments);
        command.env("AVERT_SECRET_KEY_FILE", &key);
        command
    };
    let nodes =
        [(); 2].map(|()| Server::spawn(on_b(&["serve", "--listen", "127.0.0.1:0"]), std::process::Stdio::inherit()));
    let text = |file: &Path| fs::read_to_string(file).unwrap();

    for round in 0..2 {
        let (new, before) = (cluster.home("a").join(format!("{round}.key")), text(&key));
        fs::write(&new, format!("{}\n", ["A", "B"][round].repeat(42) + "E=")).unwrap();
        fs::copy(&new, &beside).unwrap();
        let said = cluster.run_ok("a", &["secrets", "rotate", "data", "--new-key-file", new.to_str().unwrap()]);
        until("the new key is in its place", || !beside.exists()).await;

        assert_eq!(text(&key), text(&new), "{said}");
        let kept = keys(&cluster.home("b")).into_iter().filter(|name| name.contains(".before-rotation."));
        assert_eq!(kept.filter(|name| text(&cluster.home("b").join(name)) == before).count(), 1, "kept once");
    }

    assert!(nodes.map(Server::terminate).iter().all(|code| *code == Some(0)));
    let restarted = on_b(&["webhooks", "list"]).output().unwrap();
    assert!(restarted.status.success(), "{restarted:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_says_where_the_new_key_is_behind_a_rotation_in_place() {
    let Some(cluster) = Cluster::migrated().await else { return };
    cluster.run_ok("a", &["keys", "list"]);
    let beside = cluster.key_file().with_extension("key.new");

    let said = cluster.run_ok("a", &["secrets", "rotate", "data", "--new-key-file", beside.to_str().unwrap()]);

    let place = cluster.key_file().display().to_string();
    assert!(said.contains(&place) && !beside.exists(), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_lies_ready_hides_no_wrong_one() {
    let Some(cluster) = Cluster::migrated().await else { return };
    cluster.run_ok("a", &["keys", "list"]);
    let here = tempfile::tempdir().unwrap();
    run_ok(here.path(), &["organizations", "create", "second"]);
    let beside = cluster.key_file().with_extension("key.new");
    for file in [&beside, &here.path().join("secret.key.new")] {
        fs::write(file, "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\n").unwrap();
    }
    let doctors = || [cluster.run("a", &["doctor"]), run(here.path(), &["doctor"])];

    let prepared = doctors();
    for file in [&cluster.key_file(), &here.path().join("secret.key")] {
        fs::write(file, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n").unwrap();
    }
    let wrong = doctors();

    for doctor in prepared {
        let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
        assert!(doctor.status.success() && said.contains("`avert secrets rotate data --new-key-file "), "{said}");
        assert!(said.contains("is the one that the database was sealed with"), "{said}");
    }
    for doctor in wrong {
        let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
        assert!(doctor.status.code() == Some(1) && said.contains("wrong key"), "{said}");
    }
}

#[test]
fn a_rotation_that_cannot_be_is_refused_in_words() {
    let home = tempfile::tempdir().unwrap();
    run_ok(home.path(), &["keys", "create"]);
    let key = home.path().join("secret.key");
    let rotate = |more: &[&str]| refused(&run(home.path(), &[&["secrets", "rotate", "data"], more].concat()), 1);
    let (same, other) = (home.path().join("same"), home.path().join("other"));
    fs::copy(&key, &same).unwrap();

    let in_use = rotate(&["--new-key-file", key.to_str().unwrap()]);
    let same = rotate(&["--new-key-file", same.to_str().unwrap()]);
    fs::write(&other, "hunter2").unwrap();
    let no_key = rotate(&["--new-key-file", other.to_str().unwrap()]);
    fs::write(&key, "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\n").unwrap();
    let wrong = rotate(&[]);

    assert!(in_use.contains("holds the key that is in use already"), "{in_use}");
    assert!(same.contains("holds the key that is in use already"), "{same}");
    assert!(no_key.contains("32 bytes in base64"), "{no_key}");
    assert!(wrong.contains("is not the key that"), "{wrong}");
    assert_eq!(keys(home.path()), ["secret.key"]);
}
