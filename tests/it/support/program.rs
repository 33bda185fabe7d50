//! Programs of others: found on this machine, started as ordinary processes, ended when dropped.

use std::{
    fs::File,
    io::Write as _,
    net::{SocketAddr, TcpStream},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process_group};

/// The longest that a test waits for a program to listen.
const PATIENCE: Duration = Duration::from_secs(60);

/// Finds a program; `None` where it is not installed. With CI set that is wrong.
pub fn find(program: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&paths).chain(["/usr/sbin".into()]).map(|path| path.join(program));
    let found = found.into_iter().find(|path| path.is_file());
    if found.is_none() {
        let words = format!("LEFT OUT: {program} is not here");
        assert!(std::env::var_os("CI").is_none(), "{words}");
        let _ = writeln!(std::io::stderr(), "{words}");
    }
    found
}

/// A running program with all that it has started.
pub struct Program(Child);

impl Program {
    /// Starts a program in a directory, which gets its log, and waits until it listens on a port of this machine.
    pub fn start(command: &mut Command, directory: &Path, port: u16) -> Self {
        let log = directory.join("log");
        let file = File::create(&log).unwrap();
        let command = command.current_dir(directory).env("HOME", directory).process_group(0).stdin(Stdio::null());
        let child = command.stdout(file.try_clone().unwrap()).stderr(file).spawn().expect("the program starts");
        let mut program = Self(child);
        let until = Instant::now() + PATIENCE;
        while TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], port))).is_err() {
            let ended = program.0.try_wait().unwrap();
            assert!(
                ended.is_none() && Instant::now() < until,
                "{command:?} does not listen: {}",
                std::fs::read_to_string(&log).unwrap()
            );
            thread::sleep(Duration::from_millis(10));
        }
        program
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
        let _ = self.0.wait();
    }
}
