//! Changes settings of a console in the settings file: one value changes, and comments stay.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use toml_edit::{DocumentMut, Item, Value, table, value};

use crate::{
    config::Settings,
    console::{
        Preferences,
        setting::{SettingValue, SettingsKeeper},
        user_settings::USER_SETTINGS,
    },
    desk::{directory_of, make_directory, replace, turn},
};

/// Settings file of this user.
pub(super) struct SettingsFile<R> {
    path: PathBuf,
    /// Reads the preferences that a console opens with.
    read: R,
}

impl<R: Fn() -> anyhow::Result<Preferences>> SettingsFile<R> {
    /// Returns the file of this name, which need not exist yet.
    pub(super) fn at(path: PathBuf, read: R) -> Self {
        Self { path, read }
    }
}

impl<R: Fn() -> anyhow::Result<Preferences> + Send + Sync> SettingsKeeper for SettingsFile<R> {
    fn read(&self) -> Result<Vec<SettingValue>, String> {
        let preferences = (self.read)().map_err(|error| format!("{error:#}"))?;
        Ok(USER_SETTINGS.iter().map(|setting| (setting.current)(&preferences)).collect())
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.path.clone()]
    }

    fn keep(&self, table: &str, key: &str, value: SettingValue) -> Result<(), String> {
        let value = match value {
            SettingValue::Word(word) => word.into(),
            SettingValue::Number(number) => i64::from(number).into(),
            SettingValue::Flag(flag) => flag.into(),
            SettingValue::Hours(hours) => hours.map_or_else(String::new, |hours| hours.to_string()).into(),
        };
        change(&self.path, table, key, value)
    }
}

/// Changes one value of a settings file. The file is read under a lock, so other changes stay.
fn change(path: &Path, table: &str, key: &str, value: Value) -> Result<(), String> {
    let unwritable = |error: io::Error| format!("{}: {error}", path.display());
    // A symbolic link is followed: the file that it leads to changes.
    let file = match fs::canonicalize(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(unwritable(error)),
    };
    let directory = directory_of(&file);
    make_directory(directory).map_err(|error| error.to_string())?;
    let _turn = turn(&file.with_extension("lock")).map_err(unwritable)?;
    let before = fs::metadata(&file).ok();
    let text = match &before {
        Some(there) if !there.is_file() => {
            return Err(format!("{} is no file that could be written", path.display()));
        }
        Some(_) => fs::read_to_string(&file).map_err(unwritable)?,
        None => String::new(),
    };
    // A file with a mistake is for its user to mend; it is not overwritten.
    Settings::parse(&text, path).map_err(|error| error.to_string())?;
    let changed = with_value(&text, table, key, value).map_err(|why| format!("{}: {why}", path.display()))?;
    Settings::parse(&changed, path).map_err(|error| error.to_string())?;
    if changed == text {
        return Ok(());
    }
    replace(directory, &file, &changed).map_err(unwritable)?;
    // The file keeps its permissions.
    before.map_or(Ok(()), |before| fs::set_permissions(&file, before.permissions())).map_err(unwritable)
}

/// Returns the text with one value changed; the rest of it stays as it is written.
fn with_value(text: &str, name: &str, key: &str, new: Value) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.message().to_owned())?;
    let entry = document.entry(name).or_insert_with(table);
    let entry = entry.as_table_like_mut().ok_or_else(|| format!("{name} is no table"))?;
    match entry.get_mut(key).and_then(Item::as_value_mut) {
        Some(known) => {
            // A comment behind the value stays there.
            let decor = known.decor().clone();
            *known = new;
            *known.decor_mut() = decor;
        }
        None => {
            entry.insert(key, value(new));
        }
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::console::user_settings::USER_SETTINGS;

    #[rstest]
    #[case("", "[console]\ntheme = \"light\"\n")]
    #[case(
        "# mine\n[console]\ntheme = \"dark\" # at night\nmouse = false\n",
        "# mine\n[console]\ntheme = \"light\" # at night\nmouse = false\n"
    )]
    #[case(
        "organization = \"acme\" # the one\n",
        "organization = \"acme\" # the one\n\n[console]\ntheme = \"light\"\n"
    )]
    #[case("console.mouse = true\n", "console.mouse = true\nconsole.theme = \"light\"\n")]
    #[case("console = { mouse = true }\n", "console = { mouse = true , theme = \"light\" }\n")]
    #[case(
        "[log]\nlevel = \"warn\"\n\n[console] # here\n",
        "[log]\nlevel = \"warn\"\n\n[console] # here\ntheme = \"light\"\n"
    )]
    fn one_value_changes_and_everything_else_stays_as_it_is_written(#[case] before: &str, #[case] after: &str) {
        assert_eq!(with_value(before, "console", "theme", "light".into()), Ok(after.to_owned()));
    }

    #[test]
    fn every_setting_and_each_of_its_values_is_one_that_the_file_may_hold() {
        for setting in USER_SETTINGS {
            for (value, _) in setting.options {
                let directory = tempfile::tempdir().unwrap();
                let path = directory.path().join("config.toml");

                SettingsFile::at(path.clone(), || Ok(Preferences::default()))
                    .keep(setting.table, setting.key, *value)
                    .unwrap();

                let text = fs::read_to_string(&path).unwrap();
                let written = if *value == SettingValue::Hours(None) { "\"\"".to_owned() } else { value.to_string() };
                assert!(Settings::parse(&text, &path).is_ok() && text.contains(&written), "{text}");
            }
        }
    }

    #[test]
    fn what_others_changed_meanwhile_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config.toml");
        let file = SettingsFile::at(path.clone(), || Ok(Preferences::default()));
        file.keep("console", "theme", SettingValue::Word("light")).unwrap();

        fs::write(&path, "# by hand\nenvironment = \"production\"\n").unwrap();
        file.keep("console", "theme", SettingValue::Word("dark")).unwrap();

        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, "# by hand\nenvironment = \"production\"\n\n[console]\ntheme = \"dark\"\n");
    }

    #[test]
    fn a_file_with_a_mistake_is_not_written_over() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config.toml");
        fs::write(&path, "[console]\nthem = 1\n").unwrap();

        let refused = SettingsFile::at(path.clone(), || Ok(Preferences::default()))
            .keep("console", "theme", SettingValue::Word("dark"))
            .unwrap_err();

        assert!(refused.contains("config.toml:2: unknown field `them`"), "{refused}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "[console]\nthem = 1\n");
    }

    #[test]
    fn a_new_file_is_its_owners_alone_and_one_that_was_there_keeps_its_mode_and_the_link_to_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let (real, link) = (directory.path().join("dotfiles.toml"), directory.path().join("config.toml"));
        fs::write(&real, "").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        let new = directory.path().join("new.toml");
        std::os::unix::fs::symlink(&real, &link).unwrap();

        for file in [&link, &new] {
            SettingsFile::at(file.clone(), || Ok(Preferences::default()))
                .keep("console", "theme", SettingValue::Word("ansi"))
                .unwrap();
        }

        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let modes = [&real, &new].map(|file| fs::metadata(file).unwrap().permissions().mode() & 0o777);
        assert_eq!(modes, [0o640, 0o600]);
        assert!(fs::read_to_string(&real).unwrap().contains("ansi"));
    }
}
