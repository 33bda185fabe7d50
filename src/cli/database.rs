//! The database of this machine's desk: opening it, its password and its data key.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Once},
    time::Duration,
};

use anyhow::Context as _;
use indicatif::{HumanBytes, ProgressBar};
use tokio::{
    sync::mpsc,
    task::{JoinError, JoinHandle},
};

use super::{
    ask::{allows_others, read_credential},
    context::Home,
    failure::{Misused, NotFound},
    output::progress,
    process::variable,
};
use crate::{
    config::Settings,
    domain::{
        Secret,
        database::{DatabaseLocation, PostgresAddress},
        without_mark,
    },
    store::{
        LongStep, PageCaches, PostgresOptions, PostgresStore, SchemaState, SharedStore, SqliteOptions, SqliteStore,
        postgres::migrate,
    },
    wire::event_body,
};

/// Variable with the file of passwords, which the programs of PostgreSQL read, too.
const PASSWORDS: &str = "PGPASSFILE";

/// Time until the wait is shown.
const MOMENT: Duration = Duration::from_millis(400);

/// Interval between frames of the progress that is shown.
const TICK: Duration = Duration::from_millis(100);

/// Opener of a database. A console keeps a small page cache. With a service, webhooks and networks are left to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpenedBy {
    Command,
    Console,
    Service,
}

/// Opens the database and creates a missing SQLite file.
pub(super) async fn open(home: &Home, settings: &Settings, by: OpenedBy) -> anyhow::Result<SharedStore> {
    let serves = by == OpenedBy::Service;
    let named_key = named_key_file(settings);
    match &home.database {
        DatabaseLocation::Sqlite(file) => {
            let secret_key_file = named_key.map(Path::to_owned);
            let (told, steps) = mpsc::unbounded_channel();
            let before = Arc::new(move |step, bytes| {
                let _ = told.send(word_of(step, bytes));
            });
            let caches = if by == OpenedBy::Console { PageCaches::CONSOLE } else { PageCaches::SERVICE };
            let options =
                SqliteOptions { secret_key_file, before, caches, serves, ..SqliteOptions::file(file, event_body) };
            let opening = tokio::task::spawn_blocking(move || SqliteStore::open(&options));
            Ok(with_word_of_steps(opening, steps).await.context("opening the database failed")??)
        }
        DatabaseLocation::Postgres(address) => {
            let secret_key_file = shared_key_file(settings)?.to_owned();
            let (server, connections) = (with_password(address, home)?, settings.database.connections.0);
            let options = PostgresOptions { server, connections, render: event_body, secret_key_file, serves };
            Ok(PostgresStore::open(&options).await.with_context(|| address.to_string())?)
        }
    }
}

/// Waits for an opening, and shows its steps on a terminal once it takes longer than a moment.
async fn with_word_of_steps<T>(
    mut opening: JoinHandle<T>,
    mut steps: mpsc::UnboundedReceiver<String>,
) -> Result<T, JoinError> {
    let mut bar: Option<ProgressBar> = None;
    let opened = loop {
        let word = tokio::select! {
            opened = &mut opening => break opened,
            Some(word) = steps.recv() => word,
        };
        if let Ok(opened) = tokio::time::timeout(MOMENT, &mut opening).await {
            break opened;
        }
        let bar = bar.get_or_insert_with(|| progress(None, "{spinner} {msg}  {elapsed}"));
        bar.enable_steady_tick(TICK);
        bar.set_message(word);
    };
    bar.inspect(ProgressBar::finish_and_clear);
    opened
}

fn word_of(step: LongStep, bytes: u64) -> String {
    let bytes = HumanBytes(bytes);
    match step {
        LongStep::Check => format!("checking the database ({bytes}) after an unclean end"),
        LongStep::Migration => format!("updating the database ({bytes}), after a backup"),
    }
}

/// Returns the error that a database on a server is empty, where that is why it was not opened. Most likely its address
/// is mistyped.
pub(super) async fn nothing_kept(home: &Home) -> Option<NotFound> {
    let DatabaseLocation::Postgres(address) = &home.database else { return None };
    let state = migrate::inspect(&with_password(address, home).ok()?).await.ok()?;
    let words = || {
        format!(
            "there is no avert data in {address}; name another one with AVERT_DATABASE, or make it with `avert migrate`"
        )
    };
    matches!(state, SchemaState::Empty(_)).then(|| NotFound(words()))
}

/// Reads the database that a flag names. Warns of a password in it: others on this machine can see the arguments of a
/// process.
pub(super) fn of_flag(flag: &str, text: &str) -> anyhow::Result<DatabaseLocation> {
    let location: DatabaseLocation = text.parse().map_err(|error| misused!("{flag}: {error}"))?;
    if let DatabaseLocation::Postgres(PostgresAddress { password: Some(_), .. }) = &location {
        say!(
            "warning: others on this machine can read the password that stands behind {flag}; \
                --database-password-file FILE or \
             {PASSWORDS} reads it from a file"
        );
    }
    Ok(location)
}

/// Returns the file with the data key that the settings name; `None` where they name none.
pub(super) fn named_key_file(settings: &Settings) -> Option<&Path> {
    Some(settings.secret_key_file.as_path()).filter(|file| !file.as_os_str().is_empty())
}

/// Returns the data key's file for a database on a server, which has no place beside it.
pub(super) fn shared_key_file(settings: &Settings) -> Result<&Path, Misused> {
    let missing = "a database on a server needs the file with its data key, the same for all who work on it: name it \
        with \
        AVERT_SECRET_KEY_FILE or secret_key_file (it is made where the database has none yet)";
    named_key_file(settings).ok_or_else(|| Misused(missing.to_owned()))
}

/// Returns the file with the data key of a SQLite file, and whether it is the one beside it. Any other place is the
/// operator's business.
pub(super) fn key_file_of(database: &Path, settings: &Settings) -> (PathBuf, bool) {
    match named_key_file(settings) {
        Some(named) => (named.to_owned(), false),
        None => (database.with_file_name("secret.key"), true),
    }
}

/// Returns the file with the data key; `None` where it has to be named and is not.
pub(super) fn key_file(home: &Home, settings: &Settings) -> Option<PathBuf> {
    match &home.database {
        DatabaseLocation::Sqlite(file) => Some(key_file_of(file, settings).0),
        DatabaseLocation::Postgres(_) => named_key_file(settings).map(Path::to_owned),
    }
}

/// Completes an address with its password: of the named file, else its own, else the one that `PGPASSFILE` has for it.
pub(super) fn with_password(address: &PostgresAddress, home: &Home) -> anyhow::Result<PostgresAddress> {
    let password = match (home.password_file.as_deref(), &address.password) {
        (Some(file), _) => Some(Secret::new(read_credential(file)?)),
        (None, Some(own)) => Some(own.clone()),
        (None, None) => {
            let file = variable(PASSWORDS).map(PathBuf::from);
            file.and_then(|file| kept_password(&read_passwords(&file)?, address))
        }
    };
    Ok(PostgresAddress { password, ..address.clone() })
}

/// Reads a file of passwords. One that cannot be used is left out with a warning, as PostgreSQL's own programs do.
fn read_passwords(file: &Path) -> Option<String> {
    static SAID: Once = Once::new();
    let text = match std::fs::metadata(file) {
        Ok(there) if allows_others(&there, 0o077) => Err("is open to other users: chmod 600 it".to_owned()),
        _ => std::fs::read_to_string(file).map_err(|error| format!("cannot be read: {error}")),
    };
    match text {
        Ok(text) => Some(without_mark(&text).to_owned()),
        Err(what) => {
            // A command may read it several times.
            SAID.call_once(|| say!("warning: {PASSWORDS} is left out: {} {what}", file.display()));
            None
        }
    }
}

/// Returns the password of the first line that matches this address. A line is `HOST:PORT:NAME:USER:PASSWORD`, with `*`
/// for any, and a backslash before colons and backslashes.
fn kept_password(text: &str, address: &PostgresAddress) -> Option<Secret> {
    let is_socket = address.host.starts_with('/');
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let [host, port, name, user, password] = fields(line).try_into().ok()?;
        let fits = |field: &String, wanted: &str| field == "*" || unescaped(field) == wanted;
        let fits_host = fits(&host, &address.host) || (is_socket && host == "localhost");
        let all = fits_host
            && fits(&port, &address.port.to_string())
            && fits(&name, &address.name)
            && fits(&user, &address.user);
        all.then(|| Secret::new(unescaped(&password)))
    })
}

/// Splits the first five fields off a line, as they are written.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (letter, fields.last_mut()) {
            (':', _) => fields.push(String::new()),
            ('\\', Some(field)) => field.extend([Some(letter), letters.next()].into_iter().flatten()),
            (_, Some(field)) => field.push(letter),
            (_, None) => {}
        }
    }
    fields.truncate(5);
    fields
}

/// Removes a field's backslashes.
fn unescaped(field: &str) -> String {
    let mut text = String::with_capacity(field.len());
    let mut letters = field.chars();
    while let Some(letter) = letters.next() {
        text.extend(if letter == '\\' { letters.next() } else { Some(letter) });
    }
    text
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("db.example:5432:desk:avert:horse", Some("horse"))]
    #[case("# of the desk\n*:*:*:avert:horse\n*:*:*:*:stapler", Some("horse"))]
    #[case("*:*:*:another:stapler\n*:*:desk:*:h\\:or\\\\se:more", Some("h:or\\se"))]
    #[case("db.example:6432:*:*:stapler", None)]
    #[case("localhost:*:*:*:stapler", None)]
    #[case("\\*:*:*:*:stapler", None)]
    #[case("*:*:*:horse", None)]
    #[case("", None)]
    fn a_password_is_found_in_the_first_line_that_fits(#[case] text: &str, #[case] expected: Option<&str>) {
        let address = "postgres://avert@db.example/desk".parse().unwrap();

        assert_eq!(kept_password(text, &address).as_ref().map(Secret::reveal), expected);
    }

    #[test]
    fn a_socket_is_of_this_host() {
        let address = "postgres://avert@%2Frun%2Fpostgresql/desk".parse().unwrap();

        assert!(kept_password("localhost:*:*:*:horse", &address).is_some());
        assert!(kept_password("/run/postgresql:5432:desk:avert:horse", &address).is_some());
    }

    #[test]
    fn a_file_that_is_named_is_stronger_than_the_address() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("password");
        std::fs::write(&file, "battery staple\n").unwrap();
        let address: PostgresAddress = "postgres://avert:horse@db.example/desk".parse().unwrap();
        let home = Home::at(directory.path().to_owned());
        let named = Home { password_file: Some(file), ..home.clone() };

        assert_eq!(with_password(&address, &named).unwrap().password.unwrap().reveal(), "battery staple");
        assert_eq!(with_password(&address, &home).unwrap().password.unwrap().reveal(), "horse");
    }
}
