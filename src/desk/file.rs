//! A private TOML file with atomic replacement and errors by line; changed values are merged into what people wrote
//! there.

use std::{
    fs,
    io::{self, BufRead as _, BufReader, Read, Seek as _, SeekFrom, Write as _},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use rustix::fs::OFlags;
use serde::{Serialize, de::DeserializeOwned};
use tempfile::NamedTempFile;
use toml_edit::{DocumentMut, Item, TableLike};

pub use crate::domain::cause::directory_of;
use crate::domain::{BYTE_ORDER_MARK, cause::RefusalCause};

/// An error at a file of the desk. The words are fit for a user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {message}", path.display(), line.map_or(String::new(), |line| format!(", line {line}")))]
pub struct DeskError {
    pub path: PathBuf,
    /// Line of the file at fault, counted from 1.
    pub line: Option<usize>,
    /// Fault, and its consequence for the user.
    pub message: String,
}

impl DeskError {
    /// A file that cannot be used, and why.
    pub(super) fn new(path: &Path, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: None, message: message.into() }
    }

    /// A file that cannot be used: by its cause where that is a known one, else in the system's words.
    pub(super) fn failed(path: &Path, what: &str, error: &(dyn std::error::Error + 'static)) -> Self {
        let of_io = |error: &io::Error| RefusalCause::of_io(error);
        let cause = error.downcast_ref().and_then(of_io).or_else(|| error.downcast_ref().and_then(sqlite_cause));
        let message = match cause {
            Some(RefusalCause::Damaged | RefusalCause::Failing) | None => format!("{what}: {error}"),
            Some(cause) => format!("{what}: {cause}; {}", cause.advice()),
        };
        Self::new(path, message)
    }
}

/// The cause of an error of SQLite, where it is a known one.
pub(super) fn sqlite_cause(error: &rusqlite::Error) -> Option<RefusalCause> {
    RefusalCause::of_sqlite(error.sqlite_error()?.extended_code)
}

/// A file of the desk.
#[derive(Debug, Clone)]
pub(super) struct DeskFile {
    pub(super) path: PathBuf,
}

impl DeskFile {
    /// The text of the file; `None` where there is none.
    pub(super) fn text(&self) -> Result<Option<String>, DeskError> {
        match fs::read_to_string(&self.path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed("cannot be read", &error)),
        }
    }

    /// Reads and parses the file; `None` where there is none.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<Option<T>, DeskError> {
        let Some(text) = self.text()? else { return Ok(None) };
        toml::from_str(&text).map(Some).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start));
            let line = before.map(|before| before.matches('\n').count() + 1);
            let wrong = error.message().trim_end();
            let words = format!("{wrong}; the file is kept as it is and not written to until it is mended");
            DeskError { line, ..DeskError::new(&self.path, words) }
        })
    }

    /// Replaces the file in one step: after a crash there is the old one or the new one, never half of it. What does
    /// not change stays as people wrote it, comments too.
    pub(super) fn write<T: Serialize>(&self, about: &str, content: &T) -> Result<(), DeskError> {
        let body = toml::to_string(content).map_err(|error| self.failed("cannot be written", &error))?;
        let text = match self.text()? {
            Some(text) => merge(&text, &body),
            None => format!("# {about}\n\n{body}"),
        };
        let directory = directory_of(&self.path);
        make_directory(directory)?;
        replace(directory, &self.path, text).map_err(|error| self.failed("cannot be written", &error))
    }

    /// The turn to change the file: whoever reads it to write it anew takes it first, and gives it back by dropping it.
    pub(super) fn turn(&self) -> Result<fs::File, DeskError> {
        make_directory(directory_of(&self.path))?;
        turn(&self.path.with_extension("lock")).map_err(|error| self.failed("cannot be locked", &error))
    }

    /// Removes the file, if there is one.
    pub(super) fn remove(&self) -> Result<(), DeskError> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.failed("cannot be removed", &error)),
            _ => Ok(()),
        }
    }

    fn failed(&self, what: &str, error: &(dyn std::error::Error + 'static)) -> DeskError {
        DeskError::failed(&self.path, what, error)
    }
}

/// Writes beside the file, to the disk, then takes its name. The temporary file is private (0600) from its first byte.
pub fn replace(directory: &Path, path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let mut file = NamedTempFile::new_in(directory)?;
    file.write_all(content.as_ref())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    fs::File::open(directory)?.sync_all()?;
    Ok(())
}

/// Makes a file in a directory, which is gone again at once.
pub(super) fn try_writing(directory: &Path) -> Result<(), DeskError> {
    let tried = unnamed_file(directory).and_then(NamedTempFile::close);
    tried.map_err(|error| DeskError::failed(directory, "cannot be written", &error))
}

/// Takes a lock file, making it where there is none; it is free again when the file is dropped.
pub fn turn(path: &Path) -> io::Result<fs::File> {
    let lock = private(fs::OpenOptions::new().create(true).truncate(false).write(true)).open(path)?;
    lock.lock()?;
    Ok(lock)
}

/// Moves the bytes after the last line feed of a file of lines into one beside it (`journal.torn` of `journal.ndjson`).
/// They are half a line, from a console that died while writing it.
pub(super) fn set_torn_line_aside(file: &mut fs::File, path: &Path) -> io::Result<()> {
    let length = file.seek(SeekFrom::End(0))?;
    if length == 0 {
        return Ok(());
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    if last == *b"\n" {
        return Ok(());
    }
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let mut torn = private(fs::OpenOptions::new().create(true).append(true)).open(path.with_extension("torn"))?;
    torn.write_all(&bytes[whole..])?;
    torn.write_all(b"\n")?;
    torn.sync_data()?;
    file.set_len(whole as u64)?;
    file.sync_data()
}

/// Lines of JSON as they were read.
#[derive(Debug, Clone, PartialEq)]
pub struct LinesRead<T> {
    pub entries: Vec<T>,
    /// The numbers of those that cannot be read, from 1: what they tell is not known.
    pub unreadable: Vec<usize>,
}

impl<T> Default for LinesRead<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), unreadable: Vec::new() }
    }
}

/// Reads a file of lines of JSON, which need not exist. An incomplete last line is left out.
pub(super) fn read_lines<T: DeserializeOwned>(path: &Path) -> io::Result<LinesRead<T>> {
    let mut read = LinesRead::default();
    let file = match fs::File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(read),
        file => file?,
    };
    // Line by line: the text of months is not held beside its entries.
    let (mut file, mut line, mut number) = (BufReader::new(file), Vec::new(), 0);
    while file.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
        number += 1;
        match serde_json::from_slice(&line) {
            Ok(entry) => read.entries.push(entry),
            Err(_) if line == b"\n" => {}
            Err(_) => read.unreadable.push(number),
        }
        line.clear();
    }
    Ok(read)
}

/// Opens a file of lines to append to, and makes a missing one, which is its owner's alone.
pub(super) fn open_lines(path: &Path) -> io::Result<fs::File> {
    private(fs::OpenOptions::new().create(true).read(true).append(true)).open(path)
}

/// A file that is made is its owner's alone.
pub(super) fn private(options: &mut fs::OpenOptions) -> &mut fs::OpenOptions {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Opens a file that a command writes: a new one, or one of its own making, which `is_ours` tells by its first bytes.
/// No link is followed, and nobody else may read it. The error's words are fit for a user.
///
/// # Errors
/// When the system refuses it; [`io::ErrorKind::AlreadyExists`] where another file is there, which is left as it is.
pub fn open_own(path: &Path, append: bool, is_ours: impl FnOnce(&[u8]) -> bool) -> io::Result<fs::File> {
    let is_there = |what: &str| {
        io::Error::new(io::ErrorKind::AlreadyExists, format!("{what}, and is left as it is: name another file"))
    };
    match path.symlink_metadata() {
        Ok(there) if there.is_symlink() => return Err(is_there("is a link")),
        // A file that cannot be read back cannot be overwritten.
        Ok(there) if !there.is_file() && !there.is_dir() => return fs::OpenOptions::new().write(true).open(path),
        _ => {}
    }
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).append(append).create(true).custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    let mut file = private(&mut options).open(path)?;
    let mut first = Vec::new();
    Read::by_ref(&mut file).take(FIRST_BYTES).read_to_end(&mut first)?;
    if !first.is_empty() && !is_ours(&first) {
        return Err(is_there("holds something else"));
    }
    file.set_permissions(fs::Permissions::from_mode(0o600))?;
    file.rewind()?;
    Ok(file)
}

/// Number of first bytes that tell whose a file is.
const FIRST_BYTES: u64 = 64;

/// Returns whether a file begins in this way, or is torn within it.
pub fn begins_with(first: &[u8], beginning: &str) -> bool {
    first.iter().zip(beginning.as_bytes()).all(|(one, other)| one == other)
}

/// Writes a new file that is there whole or not at all, for its owner alone. An existing file is never overwritten. The
/// error's words are fit for a user.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] where the file exists; else when the disk or the writer fails.
pub fn write_new(path: &Path, write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> io::Result<()> {
    let mut file = begin_new(path)?;
    write(&mut file)?;
    finish_new(file, path)
}

/// Begins a new file that has no name yet. Dropped before it is finished, it leaves nothing.
pub(super) fn begin_new(path: &Path) -> io::Result<io::BufWriter<NamedTempFile>> {
    if path.symlink_metadata().is_ok() {
        return Err(is_there_already());
    }
    unnamed_file(directory_of(path)).map(io::BufWriter::new)
}

/// Gives a whole new file its name.
pub(super) fn finish_new(file: io::BufWriter<NamedTempFile>, path: &Path) -> io::Result<()> {
    let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Err(is_there_already()),
        done => done.map(drop).map_err(|error| error.error),
    }
}

fn is_there_already() -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, "a file of this name is there already")
}

/// Makes a temporary file whose name no error tells.
fn unnamed_file(directory: &Path) -> io::Result<NamedTempFile> {
    let make = |path: &Path| private(fs::OpenOptions::new().write(true).create_new(true)).open(path);
    tempfile::Builder::new().make_in(directory, make)
}

/// Makes a directory that only its owner can enter, where there is none.
pub fn make_directory(directory: &Path) -> Result<(), DeskError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory).map_err(|error| DeskError::failed(directory, "the directory cannot be made", &error))
}

/// The text with the values of another one, which says the same; that one itself where the text cannot be read. Its
/// lines end in line feeds.
fn merge(text: &str, wanted: &str) -> String {
    let text = text.trim_start_matches(BYTE_ORDER_MARK).replace("\r\n", "\n");
    let (head, rest) = text.split_at(head_of(&text));
    let merged = match (rest.parse::<DocumentMut>(), wanted.parse::<DocumentMut>()) {
        (Ok(mut document), Ok(wanted)) => {
            merge_table(document.as_table_mut(), wanted.as_table());
            format!("{head}{document}")
        }
        _ => return wanted.to_owned(),
    };
    let says = |text: &str| text.parse::<toml::Table>().ok();
    if says(&merged) == says(wanted) { merged } else { format!("{head}{wanted}") }
}

/// Returns the length of a file's head in bytes: comments with a blank line behind them, which belong to nothing below.
fn head_of(text: &str) -> usize {
    let is_comment = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with('#');
    let comments = text.split_inclusive('\n').take_while(is_comment).map(str::len).sum::<usize>();
    let blank_line = || text[..comments].rfind("\n\n").map_or(0, |at| at + 2);
    if comments == text.len() { comments } else { blank_line() }
}

fn merge_table(into: &mut dyn TableLike, wanted: &dyn TableLike) {
    let gone: Vec<String> =
        into.iter().map(|(key, _)| key.to_owned()).filter(|key| !wanted.contains_key(key)).collect();
    for key in gone {
        into.remove(&key);
    }
    for (key, new) in wanted.iter() {
        match into.get_mut(key) {
            Some(old) => merge_item(old, new),
            None => {
                let mut new = new.clone();
                set_apart(&mut new);
                into.insert(key, new);
            }
        }
    }
}

/// A new table comes behind what is there, after a blank line.
fn set_apart(item: &mut Item) {
    if let Some(table) = item.as_table_mut() {
        table.set_position(None);
        if !table.is_implicit() {
            table.decor_mut().set_prefix("\n");
        }
        table.iter_mut().for_each(|(_, item)| set_apart(item));
    }
}

fn merge_item(old: &mut Item, new: &Item) {
    if let (Some(old), Some(new)) = (old.as_table_like_mut(), new.as_table_like()) {
        return merge_table(old, new);
    }
    match (old.as_value_mut(), new.as_value()) {
        (Some(old), Some(new)) => {
            if told(old).is_none_or(|old| Some(old) != told(new)) {
                // The comment around the value stays there.
                let decor = old.decor().clone();
                *old = new.clone();
                *old.decor_mut() = decor;
            }
        }
        _ => *old = new.clone(),
    }
}

/// A value however it is written.
fn told(value: &toml_edit::Value) -> Option<toml::Value> {
    format!("v = {}", value.clone().decorated("", "")).parse::<toml::Table>().ok()?.remove("v")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn file() -> (tempfile::TempDir, DeskFile) {
        let directory = tempfile::tempdir().unwrap();
        let file = DeskFile { path: directory.path().join("deep").join("some.toml") };
        (directory, file)
    }

    #[test]
    fn what_is_written_is_read_back_and_a_missing_file_is_nothing() {
        let (_directory, file) = file();
        let content = BTreeMap::from([("a".to_owned(), "x\ny".to_owned())]);

        let before = file.read::<BTreeMap<String, String>>().unwrap();
        file.write("About it.", &content).unwrap();

        assert_eq!(before, None);
        assert_eq!(file.read().unwrap(), Some(content));
    }

    #[test]
    fn a_file_of_the_desk_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let (_directory, file) = file();

        file.write("About it.", &BTreeMap::from([("a", 1)])).unwrap();
        file.write("About it.", &BTreeMap::from([("a", 2)])).unwrap();

        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&file.path), 0o600);
        assert_eq!(mode(file.path.parent().unwrap()), 0o700);
        assert_eq!(fs::read_dir(file.path.parent().unwrap()).unwrap().count(), 1, "no temporary file is left behind");
    }

    #[test]
    fn a_new_file_is_whole_or_not_there_and_never_written_over() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("new.csv");
        let write = |text: &'static str| move |file: &mut dyn io::Write| file.write_all(text.as_bytes());

        let torn = write_new(&path, |file| write("half")(file).and(Err(io::Error::other("the list ended"))));
        let left = fs::read_dir(directory.path()).unwrap().count();
        let written = write_new(&path, write("whole"));
        let again = write_new(&path, write("other"));

        assert_eq!((torn.unwrap_err().to_string().as_str(), left), ("the list ended", 0));
        assert!(written.is_ok());
        assert_eq!(again.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
    }

    #[test]
    fn why_a_new_file_was_not_written_names_no_temporary_file() {
        let directory = tempfile::tempdir().unwrap();

        let error = write_new(&directory.path().join("not").join("there.csv"), |_| Ok(())).unwrap_err();

        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(!error.to_string().contains("tmp"), "{error}");
    }

    #[test]
    fn a_file_of_ours_is_gone_on_with_and_another_one_is_left_as_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let open = |name: &str| open_own(&at(name), true, |first| begins_with(first, "{\"ours\":"));
        fs::write(at("ours"), "{\"ours\":1}\n").unwrap();
        fs::set_permissions(at("ours"), fs::Permissions::from_mode(0o644)).unwrap();
        fs::write(at("torn"), "{\"ou").unwrap();
        fs::write(at("other"), "PRECIOUS").unwrap();
        std::os::unix::fs::symlink(at("ours"), at("link")).unwrap();
        std::os::unix::fs::symlink(at("nothing"), at("dangling")).unwrap();

        let taken =
            ["new", "ours", "torn"].map(|name| open(name).map(|mut file| file.write_all(b"+").unwrap()).is_ok());
        let refused = ["other", "link", "dangling"].map(|name| open(name).unwrap_err().kind());

        assert_eq!((taken, refused), ([true; 3], [io::ErrorKind::AlreadyExists; 3]));
        assert_eq!(fs::read_to_string(at("ours")).unwrap(), "{\"ours\":1}\n+");
        assert_eq!(fs::read_to_string(at("other")).unwrap(), "PRECIOUS");
        assert!(!at("nothing").exists());
        for name in ["new", "ours", "torn"] {
            assert_eq!(fs::metadata(at(name)).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
        }
    }

    #[test]
    fn a_new_file_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("new.csv");

        write_new(&path, |file| file.write_all(b"x")).unwrap();

        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_broken_file_is_reported_with_its_line() {
        let (directory, _) = file();
        let file = DeskFile { path: directory.path().join("some.toml") };
        fs::write(&file.path, "a = 1\nb = = 2\n").unwrap();

        let error = file.read::<BTreeMap<String, i64>>().unwrap_err();

        assert_eq!(error.line, Some(2));
        assert!(error.to_string().contains("some.toml, line 2: "), "{error}");
    }
}

#[cfg(test)]
mod merge_tests {
    use rstest::rstest;

    use super::*;

    const TEXT: &str = "# mine\n\n[shop] # the shop's\nurl = 'https://a.example'   # by name\nrules = [\n  \"small\", \
        # first\n]\n\n# old\n[old]\nurl = \"b\"\n";

    #[rstest]
    #[case::nothing("[shop]\nurl = \"https://a.example\"\nrules = [\"small\"]\n[old]\nurl = \"b\"\n", TEXT)]
    #[case::a_value(
        "[shop]\nurl = \"c\"\nrules = [\"small\"]\n[old]\nurl = \"b\"\n",
        &TEXT.replace("'https://a.example'", "\"c\"")
    )]
    #[case::a_table_less("[shop]\nurl = \"https://a.example\"\nrules = \
        [\"small\"]\n", TEXT.split("\n# old").next().unwrap())]
    #[case::a_table_more(
        "[shop]\nurl = \"https://a.example\"\nrules = [\"small\"]\n[old]\nurl = \"b\"\n\n[new]\nurl = \"d\"\n",
        &format!("{TEXT}\n[new]\nurl = \"d\"\n")
    )]
    fn what_was_not_changed_stays_as_it_was_written(#[case] wanted: &str, #[case] expected: &str) {
        assert_eq!(merge(TEXT, wanted), expected);
    }

    #[rstest]
    #[case::the_first_table_less("[old]\nurl = \"b\"\n", "# mine\n\n\n# old\n[old]\nurl = \"b\"\n")]
    #[case::nothing_left("", "# mine\n\n")]
    #[case::a_value_above(
        "current = \"old\"\n[old]\nurl = \"b\"\n",
        "# mine\n\ncurrent = \"old\"\n\n# old\n[old]\nurl = \"b\"\n"
    )]
    fn the_head_of_a_file_stays_above_all(#[case] wanted: &str, #[case] expected: &str) {
        assert_eq!(merge(TEXT, wanted), expected);
    }

    #[test]
    fn a_file_of_another_system_gets_line_feeds() {
        let wanted = "[shop]\nurl = \"c\"\nrules = [\"small\"]\n[old]\nurl = \"b\"\n\n[new]\nurl = \"d\"\n";
        let expected = format!("{}\n[new]\nurl = \"d\"\n", TEXT.replace("'https://a.example'", "\"c\""));

        assert_eq!(merge(&format!("\u{feff}{}", TEXT.replace('\n', "\r\n")), wanted), expected);
    }

    #[test]
    fn what_cannot_be_read_is_replaced() {
        assert_eq!(merge("[", "a = 1\n"), "a = 1\n");
    }
}
