//! What the disk and the system refuse is told by its cause, and only damage sends to a backup; what is believed is
//! looked at before.

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    process::{Command, Output},
    time::{Duration, Instant},
};

use rstest::rstest;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{
    binary::{Server, avert, binary, run, run_ok},
    operations::{alerts, import, refused},
};

/// An HTTP client of a desk that is served.
struct Caller {
    http: reqwest::Client,
    url: String,
    key: String,
}

impl Caller {
    async fn status(&self, path: &str) -> u16 {
        self.http
            .get(format!("{}{path}", self.url))
            .header("X-API-KEY", &self.key)
            .send()
            .await
            .unwrap()
            .status()
            .as_u16()
    }

    async fn refund(&self, id: &str) -> u16 {
        let request =
            self.http.put(format!("{}/api/v1/alerts/{id}/resolution", self.url)).header("X-API-KEY", &self.key);
        let request = request.header("Content-Type", "application/json").body(r#"{"refunded":"REFUNDED"}"#);
        request.send().await.unwrap().status().as_u16()
    }

    /// Waits for an answer of this status.
    async fn until(&self, path: &str, status: u16) {
        let began = Instant::now();
        while self.status(path).await != status {
            assert!(began.elapsed() < Duration::from_secs(120), "{path} never answers {status}");
        }
    }
}

fn key(home: &Path) -> String {
    let created: Value = serde_json::from_str(&run_ok(home, &["keys", "create", "--output", "json"])).unwrap();
    created["key"].as_str().unwrap().to_owned()
}

fn ids(home: &Path) -> Vec<String> {
    let listed: Value = serde_json::from_str(&run_ok(home, &["alerts", "list", "--output", "json"])).unwrap();
    listed["data"].as_array().unwrap().iter().map(|alert| alert["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn nothing_is_answered_while_another_directory_is_at_the_path_and_all_goes_on_when_it_is_back() {
    let place = tempfile::tempdir().unwrap();
    let home = place.path().join("data");
    import(&home, &alerts(1..=3));
    let (key, ids) = (key(&home), ids(&home));
    let server = Server::start(&home, &[]);
    let caller = Caller { http: reqwest::Client::new(), url: server.url.clone(), key };

    fs::rename(&home, place.path().join("moved")).unwrap();
    let moved = caller.refund(&ids[0]).await;
    caller.until("/health", 503).await;
    let while_moved = [caller.status("/api/v1/alerts").await, caller.status("/ready").await];
    fs::rename(place.path().join("moved"), &home).unwrap();
    caller.until("/ready", 200).await;
    let back = caller.refund(&ids[0]).await;

    assert_eq!((moved, while_moved, back), (503, [503, 503], 200));
}

/// A desk whose service was killed with decisions in its log.
async fn killed() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    import(home.path(), &alerts(1..=20));
    let (key, ids) = (key(home.path()), ids(home.path()));
    let server = Server::start(home.path(), &[]);
    let caller = Caller { http: reqwest::Client::new(), url: server.url.clone(), key };
    for id in &ids[..10] {
        assert_eq!(caller.refund(id).await, 200);
    }
    // The number of the newest change is written four times a second.
    let newest = || fs::read_to_string(home.path().join("avert.db-newest")).unwrap_or_default();
    let began = Instant::now();
    let last = || newest().split_whitespace().last().and_then(|word| word.parse::<u64>().ok()).unwrap_or_default();
    while last() < 12 {
        assert!(began.elapsed() < Duration::from_secs(120), "{:?}", newest());
    }
    server.kill_9();
    home
}

fn flip(log: &Path, at: usize) {
    let mut bytes = fs::read(log).unwrap();
    bytes[at] ^= 1;
    fs::write(log, bytes).unwrap();
}

#[rstest]
#[case::a_bit_in_the_middle(|log: &Path| flip(log, fs::read(log).unwrap().len() / 2), "frame")]
#[case::a_bit_in_the_header(|log: &Path| flip(log, 17), "header")]
#[case::a_missing_log(|log: &Path| fs::remove_file(log).unwrap(), "missing or cut")]
#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_has_lost_decisions_is_refused_by_all_and_left_as_it_is(
    #[case] spoil: fn(&Path),
    #[case] word: &str,
) {
    let home = killed().await;
    let log = home.path().join("avert.db-wal");
    spoil(&log);
    let before = fs::read(&log).ok();
    let backup = home.path().join("backup").to_str().unwrap().to_owned();

    for command in [vec!["alerts", "list"], vec!["backup", &backup]] {
        let said = refused(&run(home.path(), &command), 1);
        assert!(
            said.contains(word) && said.contains("it is damaged") && said.contains("avert restore FILE"),
            "{command:?}: {said}"
        );
    }
    let doctor = run(home.path(), &["doctor"]);

    let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(!doctor.status.success() && said.contains(word), "{said}");
    assert_eq!(fs::read(&log).ok().unwrap_or_default(), before.unwrap_or_default(), "the log is as it was");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_takes_the_place_of_a_desk_that_ends_later() {
    let home = tempfile::tempdir().unwrap();
    import(home.path(), &alerts(1..=3));
    let backup = home.path().join("backup").to_str().unwrap().to_owned();
    run_ok(home.path(), &["backup", &backup]);
    import(home.path(), &alerts(4..=6));

    run_ok(home.path(), &["restore", &backup]);

    assert!(run_ok(home.path(), &["alerts", "list"]).contains("of 3 alerts"));
}

#[test]
fn a_schema_that_was_changed_is_refused_by_all_with_what_is_missing_or_foreign() {
    let home = tempfile::tempdir().unwrap();
    import(home.path(), &alerts(1..=3));
    let at = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    let (before, after) = (at("before"), at("after"));
    run_ok(home.path(), &["backup", &before]);
    let change =
        |sql: &str| rusqlite::Connection::open(home.path().join("avert.db")).unwrap().execute_batch(sql).unwrap();
    change("CREATE TABLE notes (n INTEGER)");
    run_ok(home.path(), &["backup", &after]);
    change("DROP INDEX delivery_pending; CREATE TRIGGER evil AFTER INSERT ON outcome BEGIN DELETE FROM delivery; END");

    let check = run(home.path(), &["migrate", "--check"]);
    let commands = [vec!["alerts", "list"], vec!["backup", &before, "--force"]];
    let mut said: Vec<String> = commands.iter().map(|command| refused(&run(home.path(), command), 1)).collect();
    said.push(refused(&check, check.status.code().filter(|code| *code != 0).unwrap()));
    said.push(String::from_utf8(run(home.path(), &["doctor", "--output", "json"]).stdout).unwrap());

    for said in said {
        assert!(
            said.contains("index delivery_pending is missing") && said.contains("trigger evil on outcome"),
            "{said}"
        );
    }
}

/// Runs a script with a small disk of its own mounted at `$1`; nothing where this machine does not let it.
fn on_a_small_disk(place: &Path, script: &str) -> Option<Output> {
    let mut command = Command::new("unshare");
    for (name, value) in avert(&place.join("data"), &[]).get_envs() {
        value.map(|value| command.env(name, value));
    }
    let script = format!("mount -t tmpfs -o size=6m tmpfs \"$1\"; bin=$2; export AVERT_ORGANIZATION=default; {script}");
    let output = command.args(["-rm", "sh", "-c", &script, "sh"]).arg(place).arg(binary()).output().ok()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (!said.contains("unshare:") && !said.contains("mount:")).then_some(output)
}

const FILL: &str = "$bin generate --alerts 50 >/dev/null 2>&1; dd if=/dev/zero of=\"$1/fill\" bs=4k 2>/dev/null;";

#[rstest]
#[case::after_a_clean_end("")]
#[case::without_what_readers_share("rm -f \"$1\"/data/*-shm; cat /dev/zero >> \"$1/fill\" 2>/dev/null;")]
fn a_full_disk_is_read_from_and_is_never_taken_for_damage(#[case] more: &str) {
    let place = tempfile::tempdir().unwrap();
    let script = format!(
        "{FILL} {more} $bin alerts list >/dev/null; echo list $?; $bin keys create; echo keys $?; rm \"$1/fill\"; \
            $bin keys create >/dev/null; echo again $?"
    );

    let Some(output) = on_a_small_disk(place.path(), &script) else { return };

    let (told, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(told.contains("list 0") && told.contains("keys 1") && told.contains("again 0"), "{told}\n{said}");
    assert!(said.contains("the disk is full") && said.contains("KiB free in") && !said.contains("restore"), "{said}");
}

#[test]
fn a_read_only_directory_is_read_and_backed_up() {
    let place = tempfile::tempdir().unwrap();
    let script = "$bin generate --alerts 50 >/dev/null 2>&1; mkdir \"$1/out\"; mount -t tmpfs tmpfs \"$1/out\"; mount \
        -o remount,ro \"$1\";
        $bin alerts list >/dev/null; echo list $?; $bin backup \"$1/out/b\" >/dev/null; echo backup $?; $bin keys \
        create; echo keys $?";

    let Some(output) = on_a_small_disk(place.path(), script) else { return };

    let (told, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(told.contains("list 0") && told.contains("backup 0") && told.contains("keys 1"), "{told}\n{said}");
    assert!(said.contains("it is read-only") && !said.contains("restore"), "{said}");
}

#[rstest]
#[case(&["alerts", "list"], 12, "too many files are open")]
#[case(&["serve", "--listen", "127.0.0.1:0"], 32, "the limit of open files is 32, and 64 are needed")]
fn too_few_open_files_are_told(#[case] arguments: &[&str], #[case] limit: u32, #[case] words: &str) {
    let home = tempfile::tempdir().unwrap();
    import(home.path(), &alerts(1..=3));
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit -n {limit}; exec \"$@\""), "sh"]).arg(binary()).args(arguments);
    for (name, value) in avert(home.path(), &[]).get_envs() {
        value.map(|value| shell.env(name, value));
    }

    let said = refused(&shell.output().unwrap(), 1);

    assert!(said.contains(words) && said.contains("ulimit -n") && !said.contains("restore"), "{said}");
}

#[test]
fn a_file_of_results_that_is_somebody_elses_is_left_as_it_is() {
    let home = tempfile::tempdir().unwrap();
    import(home.path(), &alerts(1..=1));
    let at = |name: &str| home.path().join(name);
    fs::write(at("rows"), json!({"id": ids(home.path())[0], "refunded": "REFUNDED"}).to_string()).unwrap();
    fs::write(at("victim"), "PRECIOUS").unwrap();
    symlink(at("victim"), at("rows.results")).unwrap();
    let resolve = ["alerts", "resolve", "--from", &at("rows").to_string_lossy(), "--yes"].map(str::to_owned);
    let resolve: Vec<&str> = resolve.iter().map(String::as_str).collect();

    let by_link = refused(&run(home.path(), &resolve), 2);
    fs::remove_file(at("rows.results")).unwrap();
    fs::copy(at("victim"), at("rows.results")).unwrap();
    let by_name = refused(&run(home.path(), &resolve), 2);

    assert!(by_link.contains("is a link") && by_name.contains("holds something else"), "{by_link}{by_name}");
    assert!([at("victim"), at("rows.results")].iter().all(|file| fs::read_to_string(file).unwrap() == "PRECIOUS"));
}

#[test]
fn doctor_names_files_that_others_can_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = tempfile::tempdir().unwrap();
    import(home.path(), &alerts(1..=1));
    let at = |name: &str| home.path().join(name);
    fs::set_permissions(at("avert.db"), fs::Permissions::from_mode(0o644)).unwrap();

    let open = run(home.path(), &["doctor"]);

    let said = String::from_utf8_lossy(&open.stdout).into_owned();
    assert!(!open.status.success() && said.contains("avert.db can be read by other users"), "{said}");
}

#[test]
fn a_backup_is_not_made_into_a_file_that_is_named_like_a_stream() {
    let home = tempfile::tempdir().unwrap();
    import(home.path(), &alerts(1..=1));

    let said = refused(&run(home.path(), &["backup", "-"]), 2);

    assert!(said.contains("a backup is a file"), "{said}");
}
