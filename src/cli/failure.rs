//! Exit codes, and errors on stderr: 0 done, 1 failed, 2 misused, 3 not found, 4 conflict, 5 not authorized, 6 unknown
//! outcome; 128 and the number of a signal that ended it before its work was done.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use crate::{
    config::ConfigError,
    console::ConsoleError,
    desk::run_file::RunFileError,
    domain::{redact, sanitize::lines},
    service::ServiceError,
    store::StoreError,
};

/// Prints a sanitized line on stderr, written as by [`format!`].
macro_rules! say {
    ($($words:tt)*) => {
        $crate::cli::failure::say(&format!($($words)*))
    };
}

/// Makes a [`Misused`] with this message, written as by [`format!`].
macro_rules! misused {
    ($($words:tt)*) => {
        $crate::cli::failure::Misused(format!($($words)*))
    };
}

/// Returns early with a [`Misused`].
macro_rules! refuse {
    ($($words:tt)*) => {
        return Err(misused!($($words)*).into())
    };
}

macro_rules! failures {
    ($($(#[$about:meta])* $name:ident = $code:literal;)+) => {
        $(
            $(#[$about])*
            #[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
            #[error("{0}")]
            pub struct $name(pub String);
        )+

        /// Returns the exit code of a failure that is a message alone.
        fn code_of_words(cause: &(dyn std::error::Error + 'static)) -> Option<u8> {
            $(if cause.is::<$name>() {
                return Some($code);
            })+
            None
        }
    };
}

failures! {
    /// Usage error: the command line, a setting or the surroundings ask for something impossible. The text says what is
    /// allowed.
    Misused = 2;
    /// Error of something that does not exist.
    NotFound = 3;
    /// Error of data that belongs to another program, which avert cannot work on.
    NotOurs = 4;
    /// Error of an indeterminate result: it is not known whether something arrived, or a check could not be made.
    InDoubt = 6;
}

/// Failure that was reported already: exit 1 without another message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("failed in part")]
pub struct SaidAlready;

/// End by a signal before the work was done: exit 128 and the signal's number, as shells count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("ended by {0}")]
pub struct Signalled(pub &'static str);

impl Signalled {
    fn code(self) -> u8 {
        match self.0 {
            "SIGHUP" => 129,
            "SIGQUIT" => 131,
            "SIGUSR1" => 138,
            "SIGUSR2" => 140,
            "SIGTERM" => 143,
            _ => 130,
        }
    }
}

/// Reports an error on stderr and returns its exit code.
pub fn report(error: &anyhow::Error) -> ExitCode {
    // A reader that closed our output has seen enough: `avert alerts list
    // head` is no failure.
    if broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    if error.downcast_ref::<SaidAlready>().is_none() {
        say!("avert: {}", told(error));
    }
    ExitCode::from(code(error))
}

/// Joins an error with its causes; a context that its cause repeats at its beginning is left out.
pub(super) fn told(error: &anyhow::Error) -> String {
    let mut causes = error.chain().map(ToString::to_string).peekable();
    let mut words = Vec::new();
    while let Some(cause) = causes.next() {
        let repeats =
            |next: &String| next.strip_prefix(&cause).is_some_and(|rest| rest.is_empty() || rest.starts_with(": "));
        if !causes.peek().is_some_and(repeats) {
            words.push(cause);
        }
    }
    words.join(": ")
}

/// Prints help and version to stdout, usage errors to stderr.
pub fn report_usage(usage: &clap::Error) -> ExitCode {
    // Clap repeats a misplaced argument, which may be an address with a password or a control sequence.
    let told = usage.render().to_string();
    match redact::passwords(&told) {
        safe if safe == told && lines(&safe) == told => {
            // A closed stdout is no failure here either.
            let _ = usage.print();
        }
        safe => say(&safe),
    }
    ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2))
}

/// Prints one or more sanitized lines on stderr.
pub(super) fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{}", lines(text.trim_end()));
}

fn broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .any(|cause| cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe))
}

/// Returns the exit code of an error.
pub(super) fn code(error: &anyhow::Error) -> u8 {
    error.chain().find_map(known).unwrap_or(1)
}

/// Returns the exit code of a service's error.
pub(super) fn code_of_service(error: &ServiceError) -> u8 {
    match error {
        ServiceError::NotAuthorized(_) | ServiceError::ReadOnly => 5,
        ServiceError::AlertNotFound(_) | ServiceError::NotFound(_) => 3,
        ServiceError::AlreadyResolved(_)
        | ServiceError::ResolutionInProgress
        | ServiceError::WaitsForPerson(_)
        | ServiceError::IdempotencyKeyReused
        | ServiceError::Conflict(_) => 4,
        ServiceError::ProviderOutcomeUnknown(_) | ServiceError::Indeterminate(_) => 6,
        ServiceError::InvalidResolution(_) | ServiceError::InvalidRequest(_) => 2,
        ServiceError::ProviderFailed(_)
        | ServiceError::Refused(_)
        | ServiceError::Unavailable(_)
        | ServiceError::Unreachable(_)
        | ServiceError::Throttled { .. }
        | ServiceError::NotReached(_)
        | ServiceError::NotSent(_) => 1,
    }
}

fn known(cause: &(dyn std::error::Error + 'static)) -> Option<u8> {
    if let Some(error) = cause.downcast_ref::<ServiceError>() {
        return Some(code_of_service(error));
    }
    if let Some(error) = cause.downcast_ref::<StoreError>() {
        return Some(match error {
            // A database of a newer avert stays one: a supervisor that restarts for this would loop.
            StoreError::Conflict(_) | StoreError::Newer(_) => 4,
            StoreError::Unusable(_) | StoreError::Unavailable(_) | StoreError::Corrupt(_) | StoreError::Refused(..) => {
                1
            }
        });
    }
    if let Some(signalled) = cause.downcast_ref::<Signalled>() {
        return Some(signalled.code());
    }
    if let Some(ConsoleError::Terminated { signal, .. }) = cause.downcast_ref::<ConsoleError>() {
        return Some(Signalled(signal).code());
    }
    if cause.is::<ConfigError>() || matches!(cause.downcast_ref(), Some(RunFileError::Unusable(_))) {
        return Some(2);
    }
    code_of_words(cause)
}

#[cfg(test)]
mod tests {
    use anyhow::Context;
    use rstest::rstest;

    use super::*;
    use crate::domain::AlertId;
    use crate::service::OutcomeUnknown;

    #[rstest]
    #[case(ServiceError::AlertNotFound(AlertId::generate()), 3)]
    #[case(ServiceError::NotFound("key abc".to_owned()), 3)]
    #[case(ServiceError::ResolutionInProgress, 4)]
    #[case(ServiceError::NotAuthorized("no".to_owned()), 5)]
    #[case(ServiceError::ReadOnly, 5)]
    #[case(ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::told("time-out")), 6)]
    #[case(ServiceError::Indeterminate("time-out".to_owned()), 6)]
    #[case(ServiceError::ProviderFailed("refused".to_owned()), 1)]
    #[case(ServiceError::Refused("no".to_owned()), 1)]
    #[case(ServiceError::InvalidRequest(Vec::new()), 2)]
    fn each_answer_of_a_service_has_its_code(#[case] error: ServiceError, #[case] expected: u8) {
        let wrapped = Err::<(), _>(error).context("while doing something").unwrap_err();

        assert_eq!(code(&wrapped), expected);
    }

    #[test]
    fn a_misuse_is_2_and_an_error_without_a_name_is_1() {
        assert_eq!(code(&Misused("no".to_owned()).into()), 2);
        assert_eq!(code(&anyhow::anyhow!("disk full")), 1);
    }

    #[test]
    fn a_context_that_its_cause_repeats_is_told_once() {
        let error =
            anyhow::anyhow!("avert.db: is another program's").context("avert.db").context("it cannot be opened");

        assert_eq!(told(&error), "it cannot be opened: avert.db: is another program's");
    }

    #[test]
    fn a_pipe_that_nobody_reads_is_known_wherever_it_is_in_the_chain() {
        let broken = anyhow::Error::from(io::Error::from(io::ErrorKind::BrokenPipe)).context("writing the page");

        assert!(broken_pipe(&broken));
        assert!(!broken_pipe(&anyhow::anyhow!("disk full")));
    }
}
