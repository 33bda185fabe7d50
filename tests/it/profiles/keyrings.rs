//! Where credentials are kept: the system's keyring, a plain file by its flag, or nowhere, and never a hang.

use std::{
    io::{BufRead, BufReader, Write},
    os::unix::net::UnixListener,
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    assert_refused,
    testing::{steps, well},
    world,
};
use crate::support::{
    terminal::Terminal,
    two_machines::{TwoMachines, errors},
};

#[test]
fn without_a_keyring_and_the_flag_nothing_is_kept_and_both_ways_on_are_named() {
    let world = world();
    let add = ["profiles", "add", "shop", "--url", &world.server.url, "--api-key-file", &world.key_file()];

    let refused = world.run(&add);

    assert_refused(
        &refused,
        1,
        &["nothing was saved: there is no system keyring here", "Start or unlock a keyring", "--plain-secrets"],
    );
    assert!(!world.config().join("profiles.toml").exists() && world.files_with(&world.key).is_empty());
}

#[test]
fn a_keyring_that_never_answers_is_given_up_with_a_word() {
    let world = world();
    world.add("shop", &[]);
    let bus = world.desk.path().join("silent-bus");
    let _silent = UnixListener::bind(&bus).unwrap();
    let address = format!("unix:path={}", bus.display());
    let begin = Instant::now();
    let run = |arguments: &[&str]| world.command(arguments).env("DBUS_SESSION_BUS_ADDRESS", &address).output().unwrap();

    let refused = run(&["profiles", "add", "far", "--url", &world.server.url, "--api-key-file", &world.key_file()]);
    let plain = run(&["alerts", "list", "--profile", "shop"]);

    assert_refused(&refused, 1, &["does not answer within 3 s", "probably locked", "--plain-secrets"]);
    assert_eq!(world.json(&["profiles", "list"]).as_array().unwrap().len(), 1);
    assert!(plain.status.success(), "what is kept in the file needs no keyring");
    assert!(begin.elapsed() < Duration::from_secs(120), "{:?}", begin.elapsed());
}

#[test]
fn a_keyring_that_gives_nothing_out_fails_its_step_of_a_test_and_the_others_are_tried() {
    let world = world();
    world.run_ok(&["profiles", "add", "shop", "--url", &world.server.url]);
    let bus = world.desk.path().join("silent-bus");
    let _silent = UnixListener::bind(&bus).unwrap();
    let address = format!("unix:path={}", bus.display());
    let test = |key: &str| {
        let mut command = world.command(&["profiles", "test", "shop", "--output", "json"]);
        command.env("DBUS_SESSION_BUS_ADDRESS", &address).env("AVERT_API_KEY", key).output().unwrap()
    };

    let withheld = test("");
    let named = test(&world.key);

    let found = steps(&withheld);
    let (yes, no, none) = (json!(true), json!(false), Value::Null);
    assert_eq!(withheld.status.code(), Some(1), "{}", errors(&withheld));
    assert_eq!(
        well(&found),
        [
            ("address", &yes),
            ("tls", &none),
            ("credential", &no),
            ("list", &none),
            ("fields", &none),
            ("clock", &yes),
            ("avert", &yes)
        ]
    );
    for words in ["does not answer within 3 s", "unlock it", "AVERT_API_KEY"] {
        assert!(found[2].2.contains(words), "{words} {found:?}");
    }
    assert!(found[6].2.contains("an operator's key is wanted"), "{found:?}");
    let found = steps(&named);
    assert_eq!(
        (named.status.code(), &found[2].1, &found[6].1),
        (Some(0), &yes, &yes),
        "what is named needs no keyring: {found:?}"
    );
}

/// A bus where nothing is started by itself: what is not there stays away.
const BUS: &str = r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
<allow own="*"/></policy></busconfig>"#;

/// GNOME's keyring on a private session bus, with a home of its own.
struct SecretService {
    bus: Child,
    keyring: Option<Child>,
    address: String,
    home: TempDir,
}

impl SecretService {
    /// One that is open; none where its programs are missing, which is said, and wrong in CI.
    fn open() -> Option<Self> {
        let missing: Vec<&str> = ["dbus-daemon", "dbus-send", "gnome-keyring-daemon"]
            .into_iter()
            .filter(|program| !is_there(program))
            .collect();
        if !missing.is_empty() {
            let words = format!("LEFT OUT: the keyring is not tested, {} not here", missing.join(", "));
            assert!(std::env::var_os("CI").is_none(), "{words}");
            let _ = writeln!(std::io::stderr(), "{words}");
            return None;
        }
        let home = tempfile::tempdir().unwrap();
        let config = home.path().join("bus.conf");
        std::fs::write(&config, BUS).unwrap();
        let mut bus = Command::new("dbus-daemon")
            .arg(format!("--config-file={}", config.display()))
            .args(["--nofork", "--nosyslog", "--print-address=1"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(bus.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let mut service = Self { bus, keyring: None, address: address.trim().to_owned(), home };
        service.start(Some("password"));
        Some(service)
    }

    /// Starts the keyring; without its password it stays locked.
    fn start(&mut self, password: Option<&str>) {
        let home = self.home.path();
        let mut command = Command::new("gnome-keyring-daemon");
        command
            .args(["--foreground", "--components=secrets"])
            .arg(format!("--control-directory={}", home.join("control").display()));
        command.args(password.map(|_| "--unlock"));
        command.env("HOME", home).env("XDG_DATA_HOME", home.join("data")).env("XDG_RUNTIME_DIR", home);
        command.env("DBUS_SESSION_BUS_ADDRESS", &self.address).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
        let mut keyring = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        keyring.stdin.take().unwrap().write_all(password.unwrap_or_default().as_bytes()).unwrap();
        self.keyring = Some(keyring);
        self.wait_until_there(true);
    }

    /// Starts it anew, as after a restart of the machine: locked.
    fn lock(&mut self) {
        let mut keyring = self.keyring.take().unwrap();
        keyring.kill().unwrap();
        keyring.wait().unwrap();
        self.wait_until_there(false);
        self.start(None);
    }

    fn wait_until_there(&self, there: bool) {
        let begin = Instant::now();
        let asks = [
            "--session",
            "--print-reply",
            "--dest=org.freedesktop.DBus",
            "/",
            "org.freedesktop.DBus.NameHasOwner",
            "string:org.freedesktop.secrets",
        ];
        loop {
            let said =
                Command::new("dbus-send").args(asks).env("DBUS_SESSION_BUS_ADDRESS", &self.address).output().unwrap();
            if String::from_utf8_lossy(&said.stdout).contains(&format!("boolean {there}")) {
                return;
            }
            assert!(begin.elapsed() < Duration::from_secs(120), "{}", String::from_utf8_lossy(&said.stderr));
        }
    }

    /// Runs a command in the session that this keyring belongs to.
    fn run(&self, world: &TwoMachines, arguments: &[&str]) -> Output {
        world.command(arguments).env("DBUS_SESSION_BUS_ADDRESS", &self.address).output().unwrap()
    }

    #[track_caller]
    fn run_ok(&self, world: &TwoMachines, arguments: &[&str]) -> String {
        let output = self.run(world, arguments);
        assert!(output.status.success(), "{arguments:?}: {}", errors(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    fn credential(&self, world: &TwoMachines) -> String {
        let list: Value = serde_json::from_str(&self.run_ok(world, &["profiles", "list", "--output", "json"])).unwrap();
        list[0]["credential"].as_str().unwrap().to_owned()
    }

    /// Adds the engine as a profile whose key goes to the keyring.
    fn add(&self, world: &TwoMachines) {
        self.run_ok(
            world,
            &["profiles", "add", "shop", "--url", &world.server.url, "--api-key-file", &world.key_file()],
        );
    }
}

impl Drop for SecretService {
    fn drop(&mut self) {
        for child in self.keyring.iter_mut().chain([&mut self.bus]) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn is_there(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|directory| directory.join(program).exists()))
}

#[test]
fn a_key_lives_in_the_keyring_and_in_no_file_until_it_is_logged_out() {
    let Some(service) = SecretService::open() else { return };
    let world = world();

    service.add(&world);
    let kept = service.credential(&world);
    let total = service.run_ok(&world, &["alerts", "list", "--profile", "shop", "--output", "json"]);
    let gone = service.run_ok(&world, &["logout", "shop"]);
    let after = service.run(&world, &["alerts", "list", "--profile", "shop"]);

    assert_eq!(kept, "keyring");
    assert!(total.contains("\"total\": 2") && gone.contains("removed from this machine"), "{total} {gone}");
    assert!(world.files_with(&world.key).is_empty());
    assert_refused(&after, 5, &["profile shop has no credential"]);
}

#[test]
fn an_entry_is_kept_under_the_service_avert_and_the_profiles_name() {
    let Some(service) = SecretService::open() else { return };
    let world = world();
    service.add(&world);
    let operator = world.write("operator", "avk_test_0_operator");
    service.run_ok(&world, &["profiles", "add", "more", "--url", &world.server.url, "--operator-key-file", &operator]);

    let search = |account: &str| {
        let asks = [
            "--session",
            "--print-reply",
            "--dest=org.freedesktop.secrets",
            "/org/freedesktop/secrets",
            "org.freedesktop.Secret.Service.SearchItems",
        ];
        let attributes = format!("dict:string:string:service,avert,username,{account}");
        let said = Command::new("dbus-send")
            .args(asks)
            .arg(attributes)
            .env("DBUS_SESSION_BUS_ADDRESS", &service.address)
            .output()
            .unwrap();
        String::from_utf8_lossy(&said.stdout).matches("object path").count()
    };

    assert_eq!([search("shop"), search("more"), search("more/operator"), search("other")], [1, 0, 1, 0]);
}

#[test]
fn a_plain_credential_takes_the_place_of_the_one_in_the_keyring_and_back() {
    let Some(service) = SecretService::open() else { return };
    let world = world();
    service.add(&world);
    let login = ["login", "shop", "--api-key-file", &world.key_file()];
    let login_plainly = [&login[..], &["--plain-secrets"]].concat();

    service.run_ok(&world, &login_plainly);
    let plain = (service.credential(&world), world.files_with(&world.key).len());
    std::fs::remove_file(world.config().join("secrets.toml")).unwrap();
    let without_the_file = service.credential(&world);
    service.run_ok(&world, &login_plainly);
    service.run_ok(&world, &login);
    let back = (service.credential(&world), world.files_with(&world.key).len());

    assert_eq!((plain, back), (("file".to_owned(), 1), ("keyring".to_owned(), 0)));
    assert_eq!(without_the_file, "none", "the one that the plain one replaced has not come back");
    service.run_ok(&world, &["logout", "shop"]);
    assert_eq!(service.credential(&world), "none");
}

#[test]
fn a_locked_keyring_is_said_and_hangs_nothing() {
    let Some(mut service) = SecretService::open() else { return };
    let world = world();
    service.add(&world);
    service.lock();
    let begin = Instant::now();

    let used = service.run(&world, &["alerts", "list", "--profile", "shop"]);
    let by_file = service.run(&world, &["alerts", "list", "--profile", "shop", "--api-key-file", &world.key_file()]);
    let out = service.run(&world, &["logout", "shop"]);
    let list = service.run(&world, &["profiles", "list"]);
    let add = service
        .run(&world, &["profiles", "add", "more", "--url", &world.server.url, "--api-key-file", &world.key_file()]);
    let test = service.run(&world, &["profiles", "test", "shop", "--output", "json"]);

    let steps = steps(&test);
    assert_eq!((test.status.code(), &steps[0].1, &steps[2].1), (Some(1), &json!(true), &json!(false)), "{steps:?}");
    assert!(steps[2].2.contains("locked") && steps[2].2.contains("unlock it"), "{steps:?}");
    assert_refused(&used, 1, &["the credential of profile shop cannot be had", "locked", "AVERT_API_KEY"]);
    assert!(by_file.status.success(), "{}", errors(&by_file));
    assert_refused(&out, 1, &["whether the keyring still holds a credential of shop is not known", "unlock it"]);
    assert!(list.status.success(), "{}", errors(&list));
    assert!(String::from_utf8_lossy(&list.stdout).contains("not known"), "{list:?}");
    assert_refused(&add, 1, &["nothing was saved", "locked", "--plain-secrets"]);
    assert!(
        world.files_with(&world.key).is_empty()
            && String::from_utf8_lossy(&list.stdout).matches("http://").count() == 1
    );
    assert!(begin.elapsed() < Duration::from_secs(120), "{:?}", begin.elapsed());
}

#[test]
fn a_console_whose_keyring_is_locked_asks_for_the_credential_and_opens() {
    let Some(mut service) = SecretService::open() else { return };
    let world = world();
    service.add(&world);
    service.lock();
    let variables = [("DBUS_SESSION_BUS_ADDRESS", service.address.as_str())];
    let mut terminal = Terminal::start_with(world.desk.path(), &["open", "shop"], &variables, 120, 40);

    terminal.wait_for("What is typed now is for this once");
    terminal.press(&format!("{}\r", world.key));
    terminal.wait_for("SHOP 2");
    terminal.press("q");

    assert_eq!(terminal.wait_exit().0, 0);
    assert!(world.files_with(&world.key).is_empty());
}
