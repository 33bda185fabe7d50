//! The `avert` binary: parse, run the command, turn an error into an exit code.

use std::process::ExitCode;

use avert::cli::{self, Cli};

fn main() -> ExitCode {
    match Cli::read(std::env::args_os()) {
        Ok(command_line) => match cli::run(command_line) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => cli::failure::report(&error),
        },
        Err(usage) => cli::failure::report_usage(&usage),
    }
}
