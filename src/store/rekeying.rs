//! The data key, rotated while processes work on the database. A new one is written beside the file in use, and
//! everything is sealed anew with it in one unit of work. Then the new one takes the place of the old one.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    SharedStore, StoreError, StoreResult,
    domain::time::Timestamp,
    encryption::{self, Seal, put_key},
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
    let old = Seal::from_file(file, false)?;
    let new = prepare(file, &old, new_file, &mut step)?;
    let check = encryption::key_check(&new)?;
    let sealed = store.seal_anew(new, now).await?;
    step("everything is sealed anew");
    let placed = put_in_place(file, &check, step);
    let not_in_place = placed.as_ref().err().map(ToString::to_string);
    // A process that runs here may have been quicker.
    let kept = placed.ok().and_then(|here| here.or_else(|| kept(file, &old)));
    Ok(RotatedDataKey { sealed, kept, not_in_place })
}

/// Prepares the new key beside the file in use.
fn prepare(file: &Path, in_use: &Seal, new_file: Option<&Path>, step: &mut impl FnMut(&str)) -> StoreResult<Seal> {
    let next = next(file);
    let wanted = new_file.map(|named| Seal::from_file(named, true)).transpose()?;
    // A rotation that was prepared or broken off goes on.
    let is_prepared = fs::symlink_metadata(&next).is_ok();
    let key = if is_prepared { Seal::from_file(&next, false)? } else { wanted.clone().unwrap_or_else(Seal::generate) };
    let (shown, holder) = (next.display(), new_file.unwrap_or(&next).display());
    if wanted.is_some_and(|wanted| wanted != key) {
        let what = "holds another new key, of a rotation that was prepared or broken off; go on with it";
        return Err(StoreError::Unusable(format!("{shown}: {what} (--new-key-file {shown}), or remove it")));
    }
    if key == *in_use {
        let what = "holds the key that is in use already; name a file that is not there yet";
        return Err(StoreError::Unusable(format!("{holder}: {what}")));
    }
    if !is_prepared {
        let unwritable = StoreError::of_file(&next, "cannot be written, the new key; nothing was changed");
        put_key(&next, &key.text()).map_err(unwritable)?;
        step("the new key is beside the old one");
    }
    Ok(key)
}
