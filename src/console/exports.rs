//! Exports: the list that is being written into a file, how far it is, and what became of it.

use std::path::PathBuf;

/// An export on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningExport {
    pub number: u64,
    pub path: PathBuf,
    pub written: u64,
    /// Number of alerts in all, once that is known.
    pub total: Option<u64>,
}

/// The exports of this console, of which one runs at a time.
#[derive(Debug, Default)]
pub struct Exports {
    running: Option<RunningExport>,
    begun: u64,
}

impl Exports {
    /// The one that runs.
    pub fn running(&self) -> Option<&RunningExport> {
        self.running.as_ref()
    }

    /// One begins; its number.
    pub fn begin(&mut self, path: PathBuf) -> u64 {
        self.begun += 1;
        self.running = Some(RunningExport { number: self.begun, path, written: 0, total: None });
        self.begun
    }

    /// Takes in how far it is.
    pub fn progressed(&mut self, number: u64, written: u64, total: u64) {
        if let Some(running) = self.running.as_mut().filter(|running| running.number == number) {
            (running.written, running.total) = (written, Some(total));
        }
    }

    /// It is given up; which one it was.
    pub fn cancel(&mut self) -> Option<RunningExport> {
        self.running.take()
    }

    /// It has ended.
    pub fn ended(&mut self, number: u64) {
        self.running.take_if(|running| running.number == number);
    }
}
