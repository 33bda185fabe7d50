//! The `avert` binary: answer completions, else parse, run the command, turn an error into an exit code.

use std::process::ExitCode;

use avert::cli::{self, Cli};

fn main() -> ExitCode {
    if cli::complete() {
        return ExitCode::SUCCESS;
    }
    match Cli::read(std::env::args_os()) {
        Ok(command_line) => match cli::run(command_line) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => cli::failure::report(&error),
        },
        Err(usage) => cli::failure::report_usage(&usage),
    }
}
