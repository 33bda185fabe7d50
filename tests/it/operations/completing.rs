//! Completions in real shells: commands, flags, and the values that are here.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use rstest::rstest;
use serde_json::Value;

use crate::support::{
    binary::{avert, binary, run_ok},
    operations::{alerts, import},
};

/// Completes the last of these words in bash.
const BASH: &str = r#"
    source "$1"; shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_TYPE=9
    _clap_complete_avert avert "${!#}"
    printf '%s\n' "${COMPREPLY[@]}"
"#;

/// The same in zsh, which loads the script by its name; what it would show is printed instead.
const ZSH: &str = r#"
    fpath=(${1:h} $fpath); shift
    autoload -Uz compinit && compinit -u -d "$HOME/dump"
    _describe() { print -rl -- "${(@P)argv[-1]}" }
    words=("$@") CURRENT=$#
    _avert
"#;

/// The same in fish, which finds the script where it is installed.
const FISH: &str = r#"complete --do-complete (string join ' ' -- $argv[2..])"#;

/// A home with two organizations, alerts, an endpoint and a profile.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        import(home.path(), &alerts(1..=3));
        let key = home.path().join("key");
        fs::write(&key, "a key").unwrap();
        let home = Self(home);
        home.ok(&["webhooks", "add", "http://127.0.0.1:9/hook", "--basic", "desk:hunter22"]);
        home.ok(&["organizations", "create", "Acme Shop"]);
        let key = key.to_str().unwrap();
        home.ok(&["profiles", "add", "shop", "--url", "https://a.example", "--api-key-file", key, "--plain-secrets"]);
        home
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn ok(&self, arguments: &[&str]) -> String {
        run_ok(self.path(), arguments)
    }

    /// The values of a member in what a command lists.
    fn listed(&self, arguments: &[&str], member: &str) -> Vec<String> {
        let listed = self.ok(&[arguments, &["--output", "ndjson"]].concat());
        let rows = listed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut values: Vec<_> = rows.map(|row| row[member].as_str().unwrap().to_owned()).collect();
        values.sort();
        values
    }

    fn endpoints(&self) -> Vec<String> {
        self.listed(&["webhooks", "list", "--organization", "default"], "id")
    }

    fn open_alerts(&self) -> Vec<String> {
        self.listed(&["alerts", "list", "--organization", "default"], "id")
    }

    /// A shell that finds the binary and nothing of the caller's own surroundings.
    fn shell(&self, shell: &str) -> Command {
        let mut command = Command::new(shell);
        for (name, value) in avert(self.path(), &[]).get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let (binary, path) = (binary(), std::env::var_os("PATH").unwrap());
        let directories = [binary.parent().unwrap().to_owned()].into_iter().chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(directories).unwrap()).env("XDG_DATA_HOME", self.path().join("data"));
        command
    }

    /// What bash offers for the last of these words, flags left out.
    fn offers(&self, words: &[&str]) -> Vec<String> {
        let script = self.path().join("avert.bash");
        fs::write(&script, self.ok(&["completions", "bash"])).unwrap();
        offered(self.shell("bash").args(["--norc", "--noprofile", "-c", BASH, "bash"]).arg(script).args(words))
    }
}

/// What a shell printed, sorted: the values alone.
fn offered(shell: &mut Command) -> Vec<String> {
    let output = shell.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let text = String::from_utf8(output.stdout).unwrap();
    let values = text.lines().map(|line| line.split(['\t', ':']).next().unwrap().to_owned());
    let mut values: Vec<_> = values.filter(|value| !value.is_empty() && !value.starts_with('-')).collect();
    values.sort();
    values
}

#[test]
fn commands_and_values_that_are_here_are_offered() {
    let home = Home::new();
    let (endpoints, alerts) = (home.endpoints(), home.open_alerts());
    let organizations = home.listed(&["organizations", "list"], "id");
    let begun = &alerts[1][..30];

    assert_eq!(home.offers(&["avert", "profi"]), ["profiles"]);
    assert_eq!(home.offers(&["avert", "open", "s"]), ["shop"]);
    assert_eq!(home.offers(&["avert", "alerts", "list", "--profile", ""]), ["shop"]);
    assert_eq!(home.offers(&["avert", "profiles", "use", ""]), ["shop"]);
    assert_eq!(home.offers(&["avert", "webhooks", "remove", ""]), endpoints);
    assert_eq!(home.offers(&["avert", "webhooks", "deliveries", "--endpoint", ""]), endpoints);
    assert_eq!(home.offers(&["avert", "alerts", "show", ""]), alerts);
    assert_eq!(home.offers(&["avert", "alerts", "resolve", begun]), [&*alerts[1]]);
    // A name of two words stands as its id.
    let offered = home.offers(&["avert", "keys", "list", "--organization", ""]);
    assert!(offered.len() == 2 && offered.contains(&"default".to_owned()), "{offered:?}");
    assert!(offered.iter().any(|value| organizations.contains(value)), "{offered:?}");
}

#[test]
fn values_are_of_the_organization_directory_and_deployment_of_the_line() {
    let home = Home::new();
    let (alerts, nothing) = (home.open_alerts(), Vec::<String>::new());
    let (elsewhere, data) = (home.path().join("elsewhere"), home.path().to_str().unwrap());
    let of = |words: &[&str]| home.offers(&[&["avert"], words, &["alerts", "show", ""]].concat());

    assert_eq!(of(&["--organization", "Acme Shop"]), nothing);
    assert_eq!(of(&["--organization", "default"]), alerts);
    assert_eq!(of(&["--data-dir", elsewhere.to_str().unwrap()]), nothing);
    assert!(!elsewhere.exists());
    assert_eq!(of(&["--url", "https://a.example"]), nothing);
    home.ok(&["profiles", "use", "shop"]);
    assert_eq!(of(&[]), nothing);
    assert_eq!(of(&["--data-dir", data]), alerts);
}

#[rstest]
#[case::a_server("AVERT_DATABASE", "postgres://avert@127.0.0.1:1/avert")]
#[case::no_database("AVERT_DATABASE", "sqlite:/nowhere/avert.db")]
#[case::wrong_settings("AVERT_GRACE_SECONDS", "never")]
#[case::no_settings("AVERT_CONFIG", "/nowhere/config.toml")]
fn what_cannot_be_looked_up_offers_nothing_and_says_nothing(#[case] variable: &str, #[case] value: &str) {
    let home = Home::new();
    let script = home.path().join("avert.bash");
    fs::write(&script, home.ok(&["completions", "bash"])).unwrap();

    let mut shell = home.shell("bash");
    shell.env(variable, value).args(["--norc", "--noprofile", "-c", BASH, "bash"]).arg(script);

    assert_eq!(offered(shell.args(["avert", "alerts", "show", ""])), Vec::<String>::new());
}

#[test]
fn a_locked_database_holds_the_line_up_for_a_moment_only() {
    let home = Home::new();
    let lock = rusqlite::Connection::open(home.path().join("avert.db")).unwrap();
    lock.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; DELETE FROM alert WHERE key < 0").unwrap();
    let began = Instant::now();

    let offered = home.offers(&["avert", "alerts", "show", ""]);

    assert_eq!(offered, Vec::<String>::new());
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

#[rstest]
#[case("bash", "bash-completion/completions/avert", "bash-completion", BASH)]
#[case("zsh", "zsh/site-functions/_avert", "fpath=(", ZSH)]
#[case("fish", "fish/vendor_completions.d/avert.fish", "New shells", FISH)]
fn a_shell_completes_by_the_script_that_was_installed(
    #[case] shell: &str,
    #[case] file: &str,
    #[case] next: &str,
    #[case] program: &str,
) {
    let home = Home::new();
    let installed = home.path().join("data").join(file);
    let output = avert(home.path(), &["completions", shell, "--install"])
        .env("XDG_DATA_HOME", home.path().join("data"))
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();

    assert!(said.contains(installed.to_str().unwrap()) && said.contains(next), "{said}");
    assert_eq!(fs::read_to_string(&installed).unwrap(), home.ok(&["completions", shell]));
    if Command::new(shell).arg("-c").arg("true").output().is_err() {
        let words = format!("LEFT OUT: completions are not tried in {shell}, which is not here");
        assert!(std::env::var_os("CI").is_none(), "{words}");
        let _ = writeln!(std::io::stderr(), "{words}");
        return;
    }
    let mut command = home.shell(shell);
    match shell {
        "bash" => command.args(["--norc", "--noprofile", "-c", program, "bash"]),
        "zsh" => command.args(["-f", "-c", program, "zsh"]),
        _ => command.args(["-c", program]),
    };
    assert_eq!(offered(command.arg(installed).args(["avert", "alerts", "show", ""])), home.open_alerts());
}

#[test]
fn the_manual_is_installed_where_man_looks() {
    let home = tempfile::tempdir().unwrap();
    let pages: PathBuf = home.path().join(".local/share/man/man1");

    let said = run_ok(home.path(), &["man", "--install"]);

    assert!(said.contains(pages.to_str().unwrap()) && said.contains("MANPATH"), "{said}");
    assert!(pages.join("avert.1").exists() && pages.join("avert-alerts-show.1").exists());
}
