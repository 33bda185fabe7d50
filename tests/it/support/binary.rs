//! Runs the real binary: commands to their end, the server until it is stopped or killed.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Output, Stdio},
};

/// The binary under test: the one that cargo built for the tests, or another named by `AVERT_SMOKE_BINARY`.
pub fn binary() -> PathBuf {
    std::env::var_os("AVERT_SMOKE_BINARY").map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_avert")), PathBuf::from)
}

/// A home of its own, and no keyring: that of whoever runs the tests is left alone.
pub fn surroundings(home: &Path) -> [(&'static str, PathBuf); 4] {
    let bus = format!("unix:path={}", home.join("no-bus").display());
    let config = home.join(".config");
    [
        ("HOME", home.to_owned()),
        ("XDG_CONFIG_HOME", config),
        ("XDG_RUNTIME_DIR", home.to_owned()),
        ("DBUS_SESSION_BUS_ADDRESS", bus.into()),
    ]
}

/// A command of the binary on this data directory, with nothing of the caller's own surroundings; its webhooks reach
/// this machine and a private address.
pub fn avert(data_dir: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(binary());
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("AVERT_")) {
        command.env_remove(name);
    }
    for (name, value) in surroundings(data_dir) {
        command.env(name, value);
    }
    command
        .env("AVERT_DATA_DIR", data_dir)
        .env("NO_COLOR", "1")
        .env("AVERT_WEBHOOKS_ALLOW", "127.0.0.0/8,::1,10.0.0.9")
        .args(arguments)
        .stdin(Stdio::null());
    command
}

/// Runs a command of the binary to its end.
pub fn run(data_dir: &Path, arguments: &[&str]) -> Output {
    avert(data_dir, arguments).output().expect("the binary starts")
}

/// Runs a command that has to succeed and returns its standard output.
pub fn run_ok(data_dir: &Path, arguments: &[&str]) -> String {
    let output = run(data_dir, arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "avert {arguments:?} ended with {}: {errors}", output.status);
    String::from_utf8(output.stdout).expect("UTF-8 on standard output")
}

/// A running `avert serve`; killed when dropped.
pub struct Server {
    child: Child,
    stdout: BufReader<ChildStdout>,
    /// `http://ADDRESS`, as its first line told.
    pub url: String,
}

impl Server {
    /// Starts `avert serve` on a free port and waits for its first line.
    pub fn start(data_dir: &Path, arguments: &[&str]) -> Self {
        Self::start_logging(data_dir, arguments, Stdio::inherit())
    }

    /// The same with its log going elsewhere.
    pub fn start_logging(data_dir: &Path, arguments: &[&str], log: Stdio) -> Self {
        Self::start_at(data_dir, "127.0.0.1:0", arguments, log)
    }

    /// The same at an address.
    pub fn start_at(data_dir: &Path, listen: &str, arguments: &[&str], log: Stdio) -> Self {
        let mut command = avert(data_dir, &["serve", "--listen", listen]);
        command.args(arguments);
        Self::spawn(command, log)
    }

    /// The same by a command of the test's own.
    pub fn spawn(mut command: Command, log: Stdio) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().expect("the binary starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("a first line");
        let url = line
            .trim()
            .strip_prefix("listening on ")
            .unwrap_or_else(|| panic!("unexpected first line: {line:?}"))
            .to_owned();
        Self { child, stdout, url }
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends the process the hard way: no handler of its own runs.
    pub fn kill_9(mut self) {
        self.child.kill().expect("the process can be killed");
        self.child.wait().expect("the process has ended");
    }

    /// Asks the process to end (SIGTERM) and waits until it has; returns its exit code.
    pub fn terminate(mut self) -> Option<i32> {
        signal(self.child.id(), "TERM");
        let mut rest = String::new();
        // The pipe closes when the process ends; reading it keeps the child from blocking on a full one.
        while self.stdout.read_line(&mut rest).is_ok_and(|read| read > 0) {}
        self.child.wait().expect("the process has ended").code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal by name to a process.
pub fn signal(process: u32, name: &str) {
    let status = Command::new("sh").args(["-c", &format!("kill -{name} {process}")]).status().expect("a shell");
    assert!(status.success(), "kill -{name} {process}");
}
