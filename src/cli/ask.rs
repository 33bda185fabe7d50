//! Questions at the terminal: a line, yes or no, a secret that is not shown. Without a terminal nothing is ever asked.

use std::io::{self, IsTerminal, Write};

use anyhow::Context as _;

use super::failure::{SaidAlready, say};
use crate::domain::{Environment, Secret};

/// Whether somebody can be asked: questions go to stderr, answers come from stdin.
pub(super) fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// The answer to a question, without the blanks around it. Whoever ends the input instead has said no to everything.
pub(super) fn line(question: &str) -> anyhow::Result<String> {
    let mut answer = String::new();
    let mut stderr = io::stderr();
    write!(stderr, "{question}").and_then(|()| stderr.flush()).context("asking failed")?;
    if io::stdin().read_line(&mut answer).context("the answer cannot be read")? == 0 {
        say("\nnothing was done");
        return Err(SaidAlready.into());
    }
    Ok(answer.trim().to_owned())
}

/// The answer to a question until it is one that can be taken; what is wrong with another one is said.
pub(super) fn until<T>(question: &str, read: impl Fn(&str) -> Result<T, String>) -> anyhow::Result<T> {
    loop {
        match read(&line(question)?) {
            Ok(value) => return Ok(value),
            Err(wrong) => say(&format!("  {wrong}")),
        }
    }
}

/// Yes or no; an empty answer is the one that stands there in a capital letter.
pub(super) fn yes(question: &str, otherwise: bool) -> anyhow::Result<bool> {
    let choice = if otherwise { "[Y/n]" } else { "[y/N]" };
    until(&format!("{question} {choice} "), |answer| match answer.to_ascii_lowercase().as_str() {
        "" => Ok(otherwise),
        "y" | "yes" => Ok(true),
        "n" | "no" => Ok(false),
        _ => Err("y or n is needed".to_owned()),
    })
}

/// Which of the two worlds a deployment is, where nothing says it.
pub(super) fn environment() -> anyhow::Result<Environment> {
    until("Is it production, where decisions are final and cost money, or a sandbox? [production/sandbox] ", |answer| {
        let begins = |environment: &Environment| !answer.is_empty() && environment.as_str().starts_with(&answer.to_ascii_lowercase());
        Environment::ALL.into_iter().find(begins).ok_or_else(|| "production or sandbox is needed".to_owned())
    })
}

/// A secret, which is not shown while it is typed.
pub(super) fn secret(question: &str) -> anyhow::Result<Secret> {
    let typed = rpassword::prompt_password(question).context("the secret cannot be read from the terminal")?;
    let secret = Secret::new(typed.trim());
    if secret.reveal().is_empty() {
        say("nothing was typed, nothing was done");
        return Err(SaidAlready.into());
    }
    Ok(secret)
}
