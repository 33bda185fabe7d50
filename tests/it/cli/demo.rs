//! A demo in a terminal: what it leaves behind when it is asked to end.

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use super::*;
use crate::support::binary::{binary, signal};

/// A demo in a terminal, with a directory for temporary files of its own.
struct Demo {
    child: Box<dyn Child + Send + Sync>,
    output: BufReader<Box<dyn Read + Send>>,
    _master: Box<dyn MasterPty + Send>,
}

impl Demo {
    /// Starts one and waits until its console has the screen.
    fn start(temporary: &Path) -> Self {
        let pair =
            native_pty_system().openpty(PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 }).unwrap();
        let mut command = CommandBuilder::new(binary());
        command.args(["demo", "--alerts", "40", "--theme", "dark"]);
        command.env("TMPDIR", temporary);
        command.env("HOME", temporary);
        command.env("TERM", "xterm-256color");
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut output = BufReader::new(pair.master.try_clone_reader().unwrap());
        let mut seen = Vec::new();
        while !seen.windows(8).any(|window| window == b"\x1b[?1049h") {
            let taken = output.fill_buf().expect("the console takes the screen");
            assert!(!taken.is_empty(), "the demo ended: {}", String::from_utf8_lossy(&seen));
            seen.extend_from_slice(taken);
            let length = taken.len();
            output.consume(length);
        }
        Self { child, output, _master: pair.master }
    }

    /// Its exit code.
    fn end_by(mut self, name: &str) -> u32 {
        signal(self.child.process_id().unwrap(), name);
        // The terminal closes when the process has ended; what it still writes has to be read.
        let _ = std::io::copy(&mut self.output, &mut std::io::sink());
        self.child.wait().unwrap().exit_code()
    }
}

fn left_behind(temporary: &Path) -> usize {
    let entries =
        fs::read_dir(temporary).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    entries.filter(|name| name.contains("avert-demo")).count()
}

#[rstest]
#[case("TERM", 143)]
#[case("HUP", 129)]
#[case("INT", 130)]
fn nothing_is_left_behind_by_a_demo_that_is_asked_to_end(#[case] name: &str, #[case] code: u32) {
    let temporary = home();
    let demo = Demo::start(temporary.path());
    assert_eq!(left_behind(temporary.path()), 1);

    let ended = demo.end_by(name);

    assert_eq!((ended, left_behind(temporary.path())), (code, 0));
}
