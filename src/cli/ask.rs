//! Questions at the terminal: a line, yes or no, a secret that is not shown; without a terminal nothing is asked. And
//! credentials from files: never from a flag, which others on the machine could see.

use std::{
    fs,
    io::{self, IsTerminal, Read as _, Write},
    path::Path,
    time::Duration,
};

use anyhow::Context as _;
use crossterm::{
    event::{Event, KeyCode, KeyEventKind, KeyModifiers},
    terminal::{disable_raw_mode, enable_raw_mode},
};
use zeroize::Zeroizing;

use super::failure::{Misused, SaidAlready, Signalled};
use crate::{
    console::terminal_input::{Received, TerminalInput},
    domain::{Environment, Secret, without_mark},
};

/// Longest secret that can be typed.
const LONGEST_SECRET: usize = 4_096;

/// Returns whether somebody can be asked: questions go to stderr, answers come from stdin.
pub(super) fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks for a line and returns it without the blanks around it. The end of the input is an error.
pub(super) fn line(question: &str) -> anyhow::Result<String> {
    let mut answer = String::new();
    let mut stderr = io::stderr();
    write!(stderr, "{question}").and_then(|()| stderr.flush()).context("asking failed")?;
    if io::stdin().read_line(&mut answer).context("the answer cannot be read")? == 0 {
        say!("\nnothing was done");
        return Err(SaidAlready.into());
    }
    Ok(answer.trim().to_owned())
}

/// Asks until the answer can be read, and says what is wrong with another one.
pub(super) fn until<T>(question: &str, read: impl Fn(&str) -> Result<T, String>) -> anyhow::Result<T> {
    loop {
        match read(&line(question)?) {
            Ok(value) => return Ok(value),
            Err(wrong) => say!("  {wrong}"),
        }
    }
}

/// Asks for yes or no; an empty answer is the default, which stands in a capital letter.
pub(super) fn yes(question: &str, otherwise: bool) -> anyhow::Result<bool> {
    let choice = if otherwise { "[Y/n]" } else { "[y/N]" };
    until(&format!("{question} {choice} "), |answer| match answer.to_ascii_lowercase().as_str() {
        "" => Ok(otherwise),
        "y" | "yes" => Ok(true),
        "n" | "no" => Ok(false),
        _ => Err("y or n is needed".to_owned()),
    })
}

/// Asks for confirmation. Without a terminal, or with another answer than yes, it is an error.
pub(super) async fn confirm(question: String) -> anyhow::Result<()> {
    if !is_possible() {
        refuse!("an answer is final: add --yes to send it without a question");
    }
    let answer = tokio::task::spawn_blocking(move || line(&question)).await.context("asking failed")??;
    if matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    say!("nothing was done");
    Err(SaidAlready.into())
}

/// Asks for the environment of a deployment: sandbox or production.
pub(super) fn environment() -> anyhow::Result<Environment> {
    until("Is it production, where answers are final and cost money, or a sandbox? [production/sandbox] ", |answer| {
        let begins = |environment: &Environment| {
            !answer.is_empty() && environment.as_str().starts_with(&answer.to_ascii_lowercase())
        };
        Environment::ALL.into_iter().find(begins).ok_or_else(|| "production or sandbox is needed".to_owned())
    })
}

/// Wait for input that was pasted, which is there by then.
const AT_ONCE: Duration = Duration::from_millis(1);

/// Longest wait for one event.
const PATIENCE: Duration = Duration::from_secs(60);

/// Asks for a secret, which is not shown while it is typed.
pub(super) fn secret(question: &str) -> anyhow::Result<Secret> {
    // Before the question is shown: an answer that is typed at once is not shown either.
    let hidden = Hidden::begin().context("the terminal cannot be kept from showing what is typed")?;
    let mut input = TerminalInput::open().context("the terminal cannot be read")?;
    let typed = hidden_line(question, &mut input);
    // Text that was pasted after the secret's line is no answer to anything that follows.
    while matches!(input.next(AT_ONCE), Ok(Some(_))) {}
    drop(hidden);
    say!("");
    let typed = typed?;
    let secret = Secret::new(typed.trim());
    if secret.reveal().is_empty() {
        say!("nothing was typed, nothing was done");
        return Err(SaidAlready.into());
    }
    Ok(secret)
}

/// Asks for the credential of a deployment: a client secret with a client id, else an API key.
pub(super) fn credential(by_client: bool) -> anyhow::Result<Secret> {
    secret(if by_client { "Client secret (not shown): " } else { "API key (not shown): " })
}

/// Raw mode of the terminal until it is dropped: typed text is not shown.
struct Hidden;

impl Hidden {
    fn begin() -> io::Result<Self> {
        enable_raw_mode().map(|()| Self)
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        let _ = disable_raw_mode();
    }
}

fn hidden_line(question: &str, input: &mut TerminalInput) -> anyhow::Result<Zeroizing<String>> {
    let mut stderr = io::stderr();
    write!(stderr, "{question}").and_then(|()| stderr.flush()).context("asking failed")?;
    // Never longer than its capacity: growing would leave copies behind.
    let mut typed = Zeroizing::new(String::with_capacity(LONGEST_SECRET));
    loop {
        match input.next(PATIENCE).context("the secret cannot be read from the terminal")? {
            Some(Received::Event(Event::Key(key))) if key.kind != KeyEventKind::Release => {
                match (key.code, key.modifiers.contains(KeyModifiers::CONTROL)) {
                    // A pasted line feed comes as ctrl-j.
                    (KeyCode::Enter, _) | (KeyCode::Char('d' | 'j'), true) => return Ok(typed),
                    (KeyCode::Char('c'), true) => return Err(Signalled("SIGINT").into()),
                    (KeyCode::Char('u'), true) => typed.clear(),
                    (KeyCode::Backspace, _) => drop(typed.pop()),
                    (KeyCode::Char(c), false) if typed.len() + c.len_utf8() <= LONGEST_SECRET => typed.push(c),
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

/// Largest credential file in bytes.
pub(super) const LARGEST_FILE: u64 = 64 * 1024;

/// Reads a credential file, without the line break at its end. An empty one is an error.
pub(super) fn read_credential(file: &Path) -> Result<String, Misused> {
    let shown = file.display();
    let mut text = String::new();
    match fs::File::open(file).and_then(|opened| opened.take(LARGEST_FILE + 1).read_to_string(&mut text)) {
        Err(error) => Err(misused!("{shown}: cannot be read: {error}")),
        Ok(length) if length as u64 > LARGEST_FILE => {
            Err(misused!("{shown}: is larger than {} KiB: a file with the credential is needed", LARGEST_FILE / 1024))
        }
        Ok(_) if without_mark(&text).trim().is_empty() => {
            Err(misused!("{shown}: is empty: a file with the credential is needed"))
        }
        Ok(_) => Ok(without_mark(&text).trim_end_matches(['\n', '\r']).to_owned()),
    }
}

/// Reads the one credential of a file, without blanks around it.
pub(super) fn credential_in(file: &Path) -> Result<Secret, Misused> {
    Ok(Secret::new(read_credential(file)?.trim()))
}

/// Splits a credential of this form, such as `USER:PASSWORD`. No error repeats it.
pub(super) fn parts<'c>(credential: &'c str, place: &str, form: &str) -> Result<(&'c str, &'c str), Misused> {
    credential.split_once(':').ok_or_else(|| misused!("{place}: {form} is needed, there is no colon"))
}

/// Returns whether a file's mode allows other users any of these bits: 0o022 to write, 0o077 anything.
pub(super) fn allows_others(file: &fs::Metadata, bits: u32) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.permissions().mode() & bits != 0
}
