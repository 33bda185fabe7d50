//! The part of an export that is on the disk already: records a line each, with a mark behind each page, so that it can
//! be gone on with.

use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Deserialize;
use tempfile::NamedTempFile;

use crate::desk::export::PageMark;
use crate::desk::whole_list::PageWalk;
use crate::desk::{begins_with, directory_of, open_own};
use crate::domain::AlertId;

/// A file beside the target, `FILE.part`, held by one export at a time.
pub(super) struct ExportPart {
    target: PathBuf,
    path: PathBuf,
    file: BufWriter<File>,
    written: u64,
}

/// A line of the part: what it is about, a record, or a mark.
#[derive(Deserialize)]
struct PartLine {
    export: Option<String>,
    id: Option<AlertIdText>,
    #[serde(flatten)]
    mark: Option<PageMark>,
}

#[derive(Deserialize)]
#[serde(transparent)]
struct AlertIdText(String);

/// A part as it was found.
struct PartRead {
    /// How many bytes of it are whole lines.
    whole: u64,
    /// The alerts in them.
    met: Vec<AlertId>,
    /// The last mark, and how many of the alerts stand before it.
    mark: Option<(PageMark, usize)>,
}

/// Whether a file is there, and nothing beside it that could be gone on with: an export takes its file's name only when
/// it is whole.
pub(super) fn is_whole(target: &Path) -> bool {
    target.is_file() && !part_of(target).exists()
}

/// The part of an export to a file.
fn part_of(target: &Path) -> PathBuf {
    let mut path = target.as_os_str().to_owned();
    path.push(".part");
    PathBuf::from(path)
}

impl ExportPart {
    /// Opens the part of an export to this file, and the walk that it stands at. `about` says what is exported: a part
    /// of something else is not gone on with.
    pub(super) fn open(target: &Path, resume: bool, about: &str) -> anyhow::Result<(Self, PageWalk)> {
        let path = part_of(target);
        let wrong = |file: &Path, what: &str| misused!("{}: {what}", file.display());
        if target.exists() {
            return Err(wrong(target, "is there already: name another file, or remove it").into());
        }
        let file = open_own(&path, false, |first| begins_with(first, "{\"export\":"))
            .map_err(|error| wrong(&path, &format!("cannot be written: {error}")))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(wrong(&path, "another export is at it").into()),
            Err(TryLockError::Error(error)) => return Err(wrong(&path, &format!("cannot be locked: {error}")).into()),
        }
        let empty = file.metadata()?.len() == 0;
        if !empty && !resume {
            return Err(wrong(
                &path,
                "is there from an export that broke off: --resume goes on with it, and whoever wants to begin anew \
                    removes it",
            )
            .into());
        }
        let mut part = Self { target: target.to_owned(), path, file: BufWriter::new(file), written: 0 };
        let PartRead { whole, mut met, mark } = part.read(about)?;
        part.written = met.len() as u64;
        part.file.get_ref().set_len(whole)?;
        part.file.seek(SeekFrom::End(0))?;
        if whole == 0 {
            part.line(&serde_json::json!({ "export": about }).to_string())?;
        }
        let walk = match mark {
            Some((PageMark { page, total, steady: true }, marked)) => {
                let behind = met.split_off(marked);
                PageWalk::resumed(met, behind, page, total)
            }
            _ => PageWalk::begun(met),
        };
        Ok((part, walk))
    }

    /// What of it can be gone on with.
    fn read(&mut self, about: &str) -> anyhow::Result<PartRead> {
        let wrong = |what: &str| misused!("{}: {what}", self.path.display());
        let (mut whole, mut met, mut mark, mut line) = (0, Vec::new(), None, Vec::new());
        let mut reader = BufReader::new(self.file.get_ref());
        // What a death cut short is no line.
        while reader.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
            let read: PartLine =
                serde_json::from_slice(&line).map_err(|error| wrong(&format!("is no part of an export: {error}")))?;
            match read {
                PartLine { export: Some(known), .. } if known != about => {
                    let words = "is the part of an export of something else: of another place, by another filter or \
                        with other details";
                    return Err(wrong(words).into());
                }
                PartLine { id: Some(AlertIdText(id)), .. } => {
                    met.push(id.parse().map_err(|_| wrong("holds an alert without an id"))?);
                }
                PartLine { mark: Some(newest), .. } => mark = Some((newest, met.len())),
                PartLine { .. } => {}
            }
            whole += line.len() as u64;
            line.clear();
        }
        Ok(PartRead { whole, met, mark })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// How many alerts are in it.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Writes a record, given as JSON.
    pub(super) fn put_record(&mut self, record: &str) -> io::Result<()> {
        self.written += 1;
        self.line(record)
    }

    /// Marks that a page is whole, and brings it to the disk.
    pub(super) fn mark(&mut self, mark: PageMark) -> io::Result<()> {
        self.line(&serde_json::to_string(&mark)?)?;
        self.file.flush().and_then(|()| self.file.get_ref().sync_data()).map_err(|error| self.unwritable(&error))
    }

    fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.file, "{text}").map_err(|error| self.unwritable(&error))
    }

    fn unwritable(&self, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{} cannot be written: {error}", self.path.display()))
    }

    /// Gives each record in it, in the order it came.
    pub(super) fn records(&mut self, mut give: impl FnMut(&str) -> io::Result<()>) -> anyhow::Result<()> {
        self.file.flush()?;
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(0))?;
        for line in BufReader::new(file).lines() {
            let line = line?;
            if serde_json::from_str::<PartLine>(&line)?.id.is_some() {
                give(&line)?;
            }
        }
        Ok(())
    }

    /// A file beside the target that takes its name when it is whole.
    pub(super) fn target(&self) -> anyhow::Result<BufWriter<NamedTempFile>> {
        let directory = directory_of(&self.target);
        Ok(BufWriter::new(NamedTempFile::new_in(directory)?))
    }

    /// Gives the whole export its name, and removes the part.
    pub(super) fn replace(self, whole: BufWriter<NamedTempFile>) -> anyhow::Result<()> {
        let whole = whole.into_inner().map_err(io::IntoInnerError::into_error)?;
        whole.as_file().sync_all()?;
        whole
            .persist_noclobber(&self.target)
            .with_context(|| format!("{} cannot be written", self.target.display()))?;
        std::fs::remove_file(&self.path).with_context(|| format!("{} cannot be removed", self.path.display()))
    }
}
