//! `avert doctor`: finds what is wrong here and what to do. Changes nothing but what it is asked to clean.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{
    args::DoctorArgs,
    ask::allows_others,
    context::{Context, is_absent},
    database::{key_file, with_password},
    failure::SaidAlready,
    journal::cannot_be_read,
    networks,
    output::{ListColumns, Report},
    profile_access::ProfileAccess,
};
use crate::{
    config::ConfigError,
    console::text::counted,
    desk::{
        directory_of,
        ledger::files::{FILE, read_whole},
    },
    domain::{
        database::DatabaseLocation,
        time::{Clock as _, SystemClock},
    },
    engine::doctor::{Examination, Finding, Grade, examine},
    store::sqlite::is_idle,
};

/// Free bytes of the disk below which it is an error.
const TOO_LITTLE: u64 = 100 << 20;
/// Free bytes of the disk below which it is a notice.
const LITTLE: u64 = 1 << 30;

/// Advice on a file that cannot be read.
const READABLE: &str = "make it readable for the user who runs avert";

/// Prefix of a temporary file's name, before six letters.
const TEMPORARY: &[u8] = b".tmp";

/// Runs the checks. `wrong_settings` is the error of the settings; the context has the defaults then.
pub(super) async fn run(
    context: &Context,
    wrong_settings: Option<&ConfigError>,
    args: DoctorArgs,
) -> anyhow::Result<()> {
    let files = own_files(context);
    let leftovers = || files.iter().filter(|file| is_temporary(file) && file.exists());
    if args.clean && is_idle(context.home.directory()) {
        for file in leftovers() {
            std::fs::remove_file(file)?;
            say!("removed {}, which a command that was killed had left", file.display());
        }
    }
    let mut findings = vec![match wrong_settings {
        None => Finding::fine("settings", "every value is understood"),
        Some(error) => Finding::wrong(
            "settings",
            error.to_string(),
            "mend it: until then no command runs; the rest here is told by the defaults",
        ),
    }];
    let directory = context.home.directory();
    findings.push(data_directory(directory));
    findings.extend(files.iter().filter_map(|file| open_to_others(file)));
    findings.extend(leftovers().map(|file| {
        let found = format!("{} is left of a command that was killed", file.display());
        let advice = "nothing needs it; `avert doctor --clean` removes it once nobody is at work";
        Finding::notice("leftovers", found, advice)
    }));
    findings.extend(room(directory));
    let known = database(context).await;
    findings.extend(networks::examine(&context.settings, &known.gateways));
    findings.extend(context.profiles.iter().flat_map(profiles));
    findings.extend(journals(files.iter().filter(|file| file.ends_with(FILE))));
    findings.extend(known.findings);

    let of = |grade: Grade| findings.iter().filter(|finding| finding.grade == grade).count();
    let (wrong, notices) = (of(Grade::Wrong), of(Grade::Notice));
    let summary = match (wrong, notices) {
        (0, 0) => "Nothing is wrong.".to_owned(),
        (0, notices) => format!("Nothing is wrong; {notices} to look at."),
        (wrong, notices) => format!("{wrong} wrong, {notices} to look at."),
    };
    let advice = |finding: &Finding| match finding.advice.as_ref() {
        "" => String::new(),
        advice => format!("-> {advice}"),
    };
    let report = ListColumns::new()
        .shown("", |finding: &Finding| finding.grade.as_str().to_owned())
        .both("check", "CHECK", |finding| json!(finding.check))
        .member("state", |finding| json!(finding.grade.as_str()))
        .both("found", "FOUND", |finding| json!(finding.found))
        .member("advice", |finding| json!(finding.advice))
        .shown("WHAT TO DO", advice)
        .report(&findings, Some(summary));
    let document = json!({"wrong": wrong, "notices": notices, "checks": report.document});
    context.output.print(&Report { document, ..report })?;
    // The findings have said what is wrong.
    if wrong > 0 { Err(SaidAlready.into()) } else { Ok(()) }
}

async fn database(context: &Context) -> Examination {
    let (key_file, now) = (key_file(&context.home, &context.settings), SystemClock.now());
    let only = |finding: Finding| Examination { findings: vec![finding], ..Examination::default() };
    match &context.home.database {
        DatabaseLocation::Sqlite(file)
            if is_absent(file) && key_file.iter().all(|key| is_absent(key)) && knows_profiles(context) =>
        {
            let (found, advice) =
                (format!("{} does not exist", file.display()), "nothing, where only the profiles are worked with");
            only(Finding::notice("database", found, advice))
        }
        file @ DatabaseLocation::Sqlite(_) => examine(file, key_file.as_deref(), now).await,
        DatabaseLocation::Postgres(address) => match with_password(address, &context.home) {
            Ok(server) => examine(&DatabaseLocation::Postgres(server), key_file.as_deref(), now).await,
            Err(error) => {
                let found = format!("{address}: {error:#}");
                only(Finding::wrong("database", found, "name a file with its password"))
            }
        },
    }
}

fn knows_profiles(context: &Context) -> bool {
    context.profiles.iter().any(|access| access.profiles.list().is_ok_and(|list| !list.all.is_empty()))
}

/// Checks that the profiles can be used, and that their plain credentials are readable by their owner alone. No finding
/// where there are no profiles.
fn profiles(access: &ProfileAccess) -> Vec<Finding> {
    let (profiles, secrets) = (access.profiles.path(), access.secrets.path());
    let mut findings = Vec::new();
    if profiles.exists() {
        findings.push(match access.profiles.list() {
            Err(error) => {
                let advice = "mend it, or move it away: until then no profile can be used";
                Finding::wrong("profiles", error.to_string(), advice)
            }
            Ok(list) => match list.current.filter(|name| !list.all.contains_key(name)) {
                Some(name) => {
                    let shown = profiles.display();
                    let found = format!("{shown}: the current profile is {name}, and there is none of that name");
                    Finding::wrong("profiles", found, "avert profiles use NAME, or avert profiles use local")
                }
                None => {
                    let many = counted(list.all.len() as u64, "profile", "profiles");
                    Finding::fine("profiles", format!("{many}, every line is understood"))
                }
            },
        });
    }
    if std::fs::metadata(secrets).is_ok_and(|there| allows_others(&there, 0o077)) {
        let shown = secrets.display();
        let found = format!("{shown} is open to other users");
        findings.push(Finding::wrong("profiles", found, format!("chmod 600 {shown}")));
    }
    findings
}

/// Checks that every line of these journals can be read.
fn journals<'f>(files: impl Iterator<Item = &'f PathBuf>) -> Vec<Finding> {
    let (mut findings, mut read) = (Vec::new(), 0);
    for file in files {
        match read_whole(directory_of(file)) {
            Err(error) => findings.push(Finding::wrong("journal", error.to_string(), READABLE)),
            Ok(part) if part.unreadable.is_empty() => read += 1,
            Ok(part) => {
                let found = format!("{}: {}", file.display(), cannot_be_read(&part.unreadable));
                let advice = "an answer may stand there: look at the alerts of that time with the network; then mend \
                    the line, or move it away while no console is open";
                findings.push(Finding::wrong("journal", found, advice));
            }
        }
    }
    if findings.is_empty() && read > 0 {
        let found = format!("{}, every line can be read", counted(read, "journal", "journals"));
        findings.push(Finding::fine("journal", found));
    }
    findings
}

/// Lists the files of a directory, and so many levels down.
fn files_below(directory: &Path, depth: usize) -> Vec<PathBuf> {
    let inside = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let (directories, mut files): (Vec<_>, Vec<_>) =
        inside.filter(|path| !path.is_symlink()).partition(|path| path.is_dir());
    files.extend(directories.iter().filter(|_| depth > 0).flat_map(|directory| files_below(directory, depth - 1)));
    files
}

/// Lists the files in the data directory and in its desks.
fn own_files(context: &Context) -> Vec<PathBuf> {
    let home = &context.home;
    [files_below(home.directory(), 0), files_below(&home.data_dir.join("desk"), 3)].concat()
}

/// Checks that others cannot read a file of alerts and answers: database, log, copies, orders, journals.
fn open_to_others(file: &Path) -> Option<Finding> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let is_ours = name == FILE || name.ends_with(".backup") || name.contains(".db");
    let is_open = is_ours && std::fs::metadata(file).is_ok_and(|there| allows_others(&there, 0o077));
    let shown = file.display();
    is_open
        .then(|| Finding::wrong("files", format!("{shown} can be read by other users"), format!("chmod 600 {shown}")))
}

/// Returns whether it has the name of a temporary file. Unless a command is at work, a killed one has left it.
fn is_temporary(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().as_encoded_bytes();
    name.len() == TEMPORARY.len() + 6 && name.starts_with(TEMPORARY)
}

fn data_directory(directory: &Path) -> Finding {
    let shown = directory.display();
    let wrong =
        |what: &str, advice: &str| Finding::wrong("data directory", format!("{shown}{what}"), advice.to_owned());
    match std::fs::metadata(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let advice = "nothing, where this is a new place: the first command makes it";
            Finding::notice("data directory", format!("{shown} does not exist"), advice)
        }
        Err(error) => wrong(&format!(": {error}"), READABLE),
        Ok(there) if !there.is_dir() => wrong(" is no directory", "name another one with --data-dir"),
        Ok(there) if allows_others(&there, 0o022) => {
            wrong(" can be written by other users", &format!("chmod 700 {shown}"))
        }
        // This file is deleted at once, also after an error.
        Ok(_) => match tempfile::tempfile_in(directory) {
            Ok(_) => Finding::fine("data directory", shown.to_string()),
            Err(error) => wrong(&format!(" cannot be written: {error}"), "give the user who runs avert write access"),
        },
    }
}

/// Checks the free space of the disk.
fn room(directory: &Path) -> Option<Finding> {
    let disk = rustix::fs::statvfs(directory).ok()?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let found = format!("{} MiB free", free >> 20);
    Some(match free {
        free if free < TOO_LITTLE => Finding::wrong("disk", found, "make room: without it answers are refused"),
        free if free < LITTLE => Finding::notice("disk", found, "make room soon"),
        _ => Finding::fine("disk", found),
    })
}
