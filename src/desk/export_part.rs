//! Part of an export to a file: it keeps what was read, a record a line, and can be resumed from it.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, BufWriter, Write as _},
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::{
    domain::AlertId,
    file::write_new,
    records::{Cells, RecordFormat, RecordWriter},
    run_file::{self, RunFileError, failed},
};

/// Part of an export: a file beside the target, `FILE.part`, held by one export at a time.
pub struct ExportPart {
    target: PathBuf,
    path: PathBuf,
    file: BufWriter<File>,
}

/// Line of the part: the head, or a record.
#[derive(Deserialize)]
struct PartLine {
    export: Option<String>,
    id: Option<String>,
}

/// Returns whether an export is whole: its file exists, and no part is beside it. An export takes its file's name only
/// at its end.
pub fn is_whole(target: &Path) -> bool {
    target.is_file() && !part_of(target).exists()
}

/// Returns the path of the part of an export.
fn part_of(target: &Path) -> PathBuf {
    run_file::beside(target, ".part")
}

impl ExportPart {
    /// Opens the part of an export, and the alerts in it. `about` describes the export: a part of another one is
    /// refused.
    pub fn open(target: &Path, resume: bool, about: &str) -> Result<(Self, Vec<AlertId>), RunFileError> {
        let path = part_of(target);
        if target.exists() {
            let shown = target.display();
            return Err(RunFileError::Unusable(format!("{shown}: is there already: name another file, or remove it")));
        }
        let file = run_file::open(&path, "{\"export\":", "export")?;
        let is_new = file.metadata().map_err(failed(&path))?.len() == 0;
        if !is_new && !resume {
            return Err(run_file::left_behind(&path, "export"));
        }
        let mut met = Vec::new();
        run_file::read(&file, &path, |line| {
            let read: PartLine =
                serde_json::from_slice(line).map_err(|error| format!("is no part of an export: {error}"))?;
            if read.export.is_some_and(|known| known != about) {
                return Err("is the part of an export of something else: of another place, by another filter or with \
                    other details"
                    .to_owned());
            }
            if let Some(id) = read.id {
                met.push(id.parse::<AlertId>().map_err(|_| "holds an alert without an id")?);
            }
            Ok(())
        })?;
        let is_new = file.metadata().map_err(failed(&path))?.len() == 0;
        let mut part = Self { target: target.to_owned(), path, file: BufWriter::new(file) };
        if is_new {
            let head = serde_json::json!({ "export": about }).to_string();
            part.put(&head).map_err(failed(&part.path))?;
        }
        Ok((part, met))
    }

    /// Returns the path of the part, `FILE.part`.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a record as a line.
    pub fn put(&mut self, record: &str) -> io::Result<()> {
        writeln!(self.file, "{record}").map_err(|error| unwritten(&self.path, &error))
    }

    /// Writes the records of the part in a format, gives the whole its name, and removes the part. Returns their
    /// number.
    ///
    /// # Errors
    /// When one of the files cannot be read, written or removed.
    pub fn finish(mut self, format: RecordFormat, columns: Vec<String>) -> io::Result<u64> {
        self.file.flush()?;
        let mut count = 0;
        write_new(&self.target, |whole| {
            let mut writer = RecordWriter::new(format, columns, Cells::default(), whole)?;
            for line in BufReader::new(File::open(&self.path)?).lines().skip(1) {
                writer.put(&line?)?;
            }
            count = writer.finish()?.0;
            Ok(())
        })
        .map_err(|error| unwritten(&self.target, &error))?;
        std::fs::remove_file(&self.path)?;
        Ok(count)
    }
}

fn unwritten(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{} cannot be written: {error}", path.display()))
}
