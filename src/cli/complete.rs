//! Completions: the script of a shell asks this program at each tab. Values (profiles, organizations, endpoints, open
//! alerts) are those that are found here, without a keyring or a network.

use std::{ffi::OsStr, path::Path, sync::mpsc, thread, time::Duration};

use anyhow::Context as _;
use clap::{Arg, ArgMatches, Command, FromArgMatches as _, parser::ValueSource};
use clap_complete::{
    CompleteEnv, Shell,
    engine::{ArgValueCompleter, CompletionCandidate},
    env::Shells,
};

use super::{
    args::{Cli, Everywhere, RemoteArgs},
    context::Context,
    output::printable,
};
use crate::store::sqlite::names;

/// Environment variable with which a script asks: the name of its shell.
const ASKED: &str = "AVERT_COMPLETE";

/// Longest search for values.
const PATIENCE: Duration = Duration::from_millis(200);

/// Values that fit, each with a description.
type Values = anyhow::Result<Vec<(String, String)>>;

/// Answers a script that asks for completions, and returns whether one did. Errors are swallowed: somebody is typing.
pub fn complete() -> bool {
    let directory = std::env::current_dir().ok();
    let answer = CompleteEnv::with_factory(|| with_values(Cli::tree())).var(ASKED);
    answer.try_complete(std::env::args_os(), directory.as_deref()).unwrap_or(true)
}

/// Returns the script that a shell reads.
pub(super) fn script(shell: Shell) -> anyhow::Result<Vec<u8>> {
    let shells = Shells::builtins();
    let completer = shells.completer(&shell.to_string()).context("the shell has no completions")?;
    let mut script = Vec::new();
    completer.write_registration(ASKED, "avert", "avert", "avert", &mut script)?;
    if shell == Shell::Zsh {
        // Loaded by name, from a directory of fpath, it is run as the completion itself.
        script.extend(b"if [ \"$funcstack[1]\" = _avert ]; then _clap_dynamic_completer_avert \"$@\"; fi\n");
    }
    Ok(script)
}

/// Adds the search for values to the arguments of a command and of its subcommands.
fn with_values(command: Command) -> Command {
    let name = command.get_name().to_owned();
    command.mut_args(|arg| with_values_of(&name, arg)).mut_subcommands(with_values)
}

fn with_values_of(command: &str, arg: Arg) -> Arg {
    let values: fn(&OsStr) -> Vec<CompletionCandidate> = match (arg.get_id().as_str(), command) {
        ("organization", _) => |typed| candidates(typed, organizations),
        ("profile" | "wanted", _) | ("name", "show" | "test" | "use" | "remove") => |typed| candidates(typed, profiles),
        ("endpoint", _) | ("id", "update" | "remove" | "test") => |typed| candidates(typed, endpoints),
        ("alert", _) | ("id", "show" | "resolve") => |typed| candidates(typed, open_alerts),
        _ => return arg,
    };
    arg.add(ArgValueCompleter::new(values))
}

/// Returns the values that begin as the word that is typed; none where they are not found in time.
fn candidates(typed: &OsStr, find: fn(&Line, &str) -> Values) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy().into_owned();
    let (found, values) = mpsc::channel();
    let beginning = typed.clone();
    thread::spawn(move || found.send(Line::read().and_then(|line| find(&line, &beginning))));
    let values = values.recv_timeout(PATIENCE).ok().and_then(Result::ok).unwrap_or_default();
    values
        .into_iter()
        .filter(|(value, _)| value.starts_with(&typed))
        .map(|(value, about)| CompletionCandidate::new(value).help(Some(printable(&about).into_owned().into())))
        .collect()
}

/// The command line as far as it is typed: the context and the deployment that its flags name.
struct Line {
    context: Context,
    remote: RemoteArgs,
}

impl Line {
    fn read() -> anyhow::Result<Self> {
        let words = std::env::args_os().skip_while(|word| word != "--").skip(1);
        let matches = Cli::tree().ignore_errors(true).try_get_matches_from(words)?;
        let mut everywhere = Everywhere::from_arg_matches(&matches)?;
        everywhere.data_dir_by_flag = matches.value_source("data_dir") == Some(ValueSource::CommandLine);
        let (profile, url) = (named(&matches, "profile"), named(&matches, "url"));
        Ok(Self {
            context: Context::new(&everywhere, false)?,
            remote: RemoteArgs { profile, url, ..RemoteArgs::default() },
        })
    }

    /// Returns the database file of this machine, and the organization that is meant.
    fn database(&self) -> anyhow::Result<(&Path, &str)> {
        let file = self.context.home.require_file("a database on a server is not asked")?;
        Ok((file, self.context.organization().unwrap_or_default()))
    }
}

/// Returns the value of a flag, before the command or behind it.
fn named(matches: &ArgMatches, flag: &str) -> Option<String> {
    let behind = || named(matches.subcommand()?.1, flag);
    matches.try_get_one::<String>(flag).ok().flatten().cloned().or_else(behind)
}

fn profiles(line: &Line, _: &str) -> Values {
    let list = line.context.require_profiles()?.profiles.list()?;
    Ok(list.all.into_iter().map(|(name, profile)| (name.to_string(), profile.url)).collect())
}

/// Returns organizations by their names, and by their ids where a shell would split the name.
fn organizations(line: &Line, _: &str) -> Values {
    let is_word = |name: &str| name.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c));
    let value = |(id, name): (String, String)| if is_word(&name) { (name, id) } else { (id, name) };
    Ok(names::organizations(line.database()?.0)?.into_iter().map(value).collect())
}

fn endpoints(line: &Line, _: &str) -> Values {
    let (file, organization) = line.database()?;
    Ok(names::endpoints(file, organization)?)
}

/// Returns open alerts, where no other deployment is meant.
fn open_alerts(line: &Line, beginning: &str) -> Values {
    if !line.remote.means_this_machine(&line.context)? {
        return Ok(Vec::new());
    }
    let (file, organization) = line.database()?;
    Ok(names::open_alerts(file, organization, beginning)?)
}
