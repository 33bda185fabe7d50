//! The data key, rotated while processes work on the database. A new one is written beside the file in use, and
//! everything is sealed anew with it in one unit of work. Then the new one takes the place of the old one.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    SharedStore, StoreError, StoreResult,
    domain::{time::Timestamp, without_mark},
    encryption::{self, Seal, made_key, put_key},
    key_file::{kept, next, put_in_place},
};

/// A data key that was rotated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RotatedDataKey {
    /// Number of values that were sealed anew.
    pub sealed: u64,
    /// Path at which the key before is kept; backups that were made before need it.
    pub kept: Option<PathBuf>,
    /// Reason for which the file in use could not be replaced; `None` where it was. Processes then read the new key
    /// from the file beside it.
    pub not_in_place: Option<String>,
}

/// Seals everything in a database with a new key, which takes the place of the one in this file. The new key is one of
/// avert's making, or the one in another file, which is made where there is none. `step` hears of each step on the file
/// system.
///
/// # Errors
/// [`Unusable`](StoreError::Unusable) with the file that is at fault. Nothing was sealed anew then.
pub async fn rotate_data_key(
    store: &SharedStore,
    file: &Path,
    new_file: Option<&Path>,
    now: Timestamp,
    mut step: impl FnMut(&str),
) -> StoreResult<RotatedDataKey> {
    prepare(file, new_file, &mut step)?;
    let new = Seal::from_file(&next(file), false)?;
    let (check, old) = (encryption::key_check(&new)?, key_in(file)?);
    let sealed = store.seal_anew(new, now).await?;
    step("everything is sealed anew");
    let placed = put_in_place(file, &check, step);
    let not_in_place = placed.as_ref().err().map(ToString::to_string);
    // A process that runs here may have been quicker.
    let kept = placed.ok().and_then(|here| here.or_else(|| kept(file, &old)));
    Ok(RotatedDataKey { sealed, kept, not_in_place })
}

/// Prepares the new key beside the file in use.
fn prepare(file: &Path, new_file: Option<&Path>, step: &mut impl FnMut(&str)) -> StoreResult<()> {
    let (next, in_use) = (next(file), key_in(file)?);
    let is_there = |path: &Path| fs::symlink_metadata(path).is_ok();
    if let Some(named) = new_file.filter(|named| !is_there(named)) {
        put_new(named, &made_key())?;
        step("the named file is made");
    }
    let wanted = new_file.map(key_in).transpose()?;
    // A rotation that was prepared or broken off goes on.
    let is_prepared = is_there(&next);
    let key = if is_prepared { key_in(&next)? } else { wanted.clone().unwrap_or_else(made_key) };
    let (shown, holder) = (next.display(), new_file.unwrap_or(&next).display());
    if wanted.is_some_and(|wanted| wanted != key) {
        let what = "holds another new key, of a rotation that was prepared or broken off; go on with it";
        return Err(StoreError::Unusable(format!("{shown}: {what} (--new-key-file {shown}), or remove it")));
    }
    if key == in_use {
        let what = "holds the key that is in use already; name a file that is not there yet";
        return Err(StoreError::Unusable(format!("{holder}: {what}")));
    }
    if !is_prepared {
        put_new(&next, &key)?;
        step("the new key is beside the old one");
    }
    Ok(())
}

fn put_new(path: &Path, key: &str) -> StoreResult<()> {
    put_key(path, key).map_err(StoreError::of_file(path, "cannot be written, the new key; nothing was changed"))
}

/// The key in a file, as text.
fn key_in(file: &Path) -> StoreResult<String> {
    Seal::from_file(file, false)?;
    let text = fs::read_to_string(file).map_err(StoreError::of_file(file, "cannot be read"))?;
    Ok(without_mark(&text).trim().to_owned())
}
