//! The part of an export that is on the disk already: records a line each, with a mark behind each page. An export can
//! be resumed from its last mark.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, BufWriter, Write},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use serde::Deserialize;
use tempfile::NamedTempFile;

use super::run_file;
use crate::{
    desk::{directory_of, export::PageMark, whole_list::PageWalk},
    domain::AlertId,
};

/// Part of an export: a file beside the target, `FILE.part`, held by one export at a time.
pub(super) struct ExportPart {
    target: PathBuf,
    path: PathBuf,
    file: BufWriter<File>,
    written: u64,
}

/// Line of the part: the head, a record, or a mark.
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

/// Returns whether an export is whole: its file exists, and no part is beside it. An export takes its file's name only
/// at its end.
pub(super) fn is_whole(target: &Path) -> bool {
    target.is_file() && !part_of(target).exists()
}

/// Returns the path of the part of an export.
fn part_of(target: &Path) -> PathBuf {
    run_file::beside(target, ".part")
}

impl ExportPart {
    /// Opens the part of an export, and the page walk as of its last mark. `about` describes the export: a part of
    /// another one is refused.
    pub(super) fn open(target: &Path, resume: bool, about: &str) -> anyhow::Result<(Self, PageWalk)> {
        let path = part_of(target);
        if target.exists() {
            refuse!("{}: is there already: name another file, or remove it", target.display());
        }
        let file = run_file::open(&path, "{\"export\":", "export")?;
        if file.metadata()?.len() > 0 && !resume {
            return Err(run_file::left_behind(&path, "export").into());
        }
        // The alerts in it, and the last mark with the number of alerts before it.
        let (mut met, mut mark): (Vec<AlertId>, _) = (Vec::new(), None);
        run_file::read(&file, &path, |line| {
            let read: PartLine =
                serde_json::from_slice(line).map_err(|error| format!("is no part of an export: {error}"))?;
            match read {
                PartLine { export: Some(known), .. } if known != about => {
                    return Err("is the part of an export of something else: of another place, by another filter or \
                        with other details"
                        .to_owned());
                }
                PartLine { id: Some(AlertIdText(id)), .. } => {
                    met.push(id.parse().map_err(|_| "holds an alert without an id")?);
                }
                PartLine { mark: newest, .. } => mark = newest.map(|newest| (newest, met.len())).or(mark.take()),
            }
            Ok(())
        })?;
        let is_new = file.metadata()?.len() == 0;
        let written = met.len() as u64;
        let mut part = Self { target: target.to_owned(), path, file: BufWriter::new(file), written };
        if is_new {
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

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of alerts in it.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Writes a record, given as JSON.
    pub(super) fn put_record(&mut self, record: &str) -> io::Result<()> {
        self.written += 1;
        self.line(record)
    }

    /// Marks a page as whole, and syncs it to the disk.
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

    /// Passes on each record in it, in the order in which they came.
    pub(super) fn records(&mut self, mut give: impl FnMut(&str) -> io::Result<()>) -> anyhow::Result<()> {
        self.file.flush()?;
        for line in BufReader::new(File::open(&self.path)?).lines() {
            let line = line?;
            if serde_json::from_str::<PartLine>(&line)?.id.is_some() {
                give(&line)?;
            }
        }
        Ok(())
    }

    /// Opens a temporary file beside the target, which takes its name when it is whole.
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
