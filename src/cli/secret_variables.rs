//! Secrets of the environment: one variable holds the secret, the one of the same name with `_FILE` names its file.

use std::{fmt, fs, path::Path};

use super::{
    ask::{allows_others, read_credential},
    failure::Misused,
    process::variable,
};

pub(super) const API_KEY: SecretVariable = SecretVariable::of("AVERT_API_KEY", "AVERT_API_KEY_FILE");
pub(super) const OPERATOR_KEY: SecretVariable = SecretVariable::of("AVERT_OPERATOR_KEY", "AVERT_OPERATOR_KEY_FILE");
pub(super) const CLIENT_SECRET: SecretVariable = SecretVariable::of("AVERT_CLIENT_SECRET", "AVERT_CLIENT_SECRET_FILE");
pub(super) const ETHOCA: SecretVariable = SecretVariable::of("AVERT_ETHOCA_CREDENTIAL", "AVERT_ETHOCA_CREDENTIAL_FILE");
pub(super) const VERIFI: SecretVariable = SecretVariable::of("AVERT_VERIFI_CREDENTIAL", "AVERT_VERIFI_CREDENTIAL_FILE");
pub(super) const CDRN: SecretVariable = SecretVariable::of("AVERT_CDRN_CREDENTIAL", "AVERT_CDRN_CREDENTIAL_FILE");
pub(super) const WEBHOOK_BASIC: SecretVariable = SecretVariable::of("AVERT_WEBHOOK_BASIC", "AVERT_WEBHOOK_BASIC_FILE");
pub(super) const WEBHOOK_HEADER: SecretVariable =
    SecretVariable::of("AVERT_WEBHOOK_HEADER", "AVERT_WEBHOOK_HEADER_FILE");
pub(super) const WEBHOOK_SECRET: SecretVariable =
    SecretVariable::of("AVERT_WEBHOOK_SECRET", "AVERT_WEBHOOK_SECRET_FILE");

/// Pair of environment variables of a secret. It is shown as the first of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct SecretVariable {
    /// Variable that holds the secret.
    pub(super) name: &'static str,
    /// Variable that names a file with the secret alone.
    file: &'static str,
}

impl SecretVariable {
    const fn of(name: &'static str, file: &'static str) -> Self {
        Self { name, file }
    }

    /// Returns the one of the two variables that is set here.
    pub(super) fn set(self) -> Option<&'static str> {
        [self.name, self.file].into_iter().find(|name| variable(name).is_some())
    }

    /// Reads the secret, which may have blanks around it; `None` where neither variable is set. Warns of a file that
    /// other users can read.
    ///
    /// # Errors
    /// Both are set; the file cannot be read, or is empty.
    pub(super) fn read(self, lookup: impl Fn(&str) -> Option<String>) -> Result<Option<String>, Misused> {
        secret_of(self.name, self.file, lookup)
    }
}

/// Reads a secret as [`SecretVariable::read`] does, by the names of its two variables.
///
/// # Errors
/// Both are set; the file cannot be read, or is empty.
pub(super) fn secret_of(
    name: &str,
    file: &str,
    lookup: impl Fn(&str) -> Option<String>,
) -> Result<Option<String>, Misused> {
    match (lookup(name), lookup(file)) {
        (Some(_), Some(_)) => Err(misused!("{name} and {file} are both set: one of them has the secret")),
        (secret, None) => Ok(secret),
        (None, Some(path)) => {
            let secret = read_credential(Path::new(&path)).map_err(|Misused(error)| misused!("{file}: {error}"))?;
            // Not the group: its bits are the mask of the access list by which systemd hands a credential over.
            if fs::metadata(&path).is_ok_and(|there| allows_others(&there, 0o007)) {
                say!("warning: {file}: {path} is open to other users: chmod 600 it");
            }
            Ok(Some(secret))
        }
    }
}

impl fmt::Display for SecretVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Reads the API key from variables, where `FILE` stands for a file with this text.
    fn read(text: &str, variables: &[(&str, &str)]) -> Result<Option<String>, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(&file, text).unwrap();
        let path = file.path().to_str().unwrap();
        let lookup =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let read = API_KEY.read(|name| Some(lookup(name)?.replace("FILE", path)));
        read.map_err(|error| error.to_string().replace(path, "FILE"))
    }

    #[rstest]
    #[case(&[], None)]
    #[case(&[("AVERT_API_KEY", "s3cret")], Some("s3cret"))]
    #[case(&[("AVERT_API_KEY_FILE", "FILE")], Some(" s3cret "))]
    fn a_secret_is_in_a_variable_or_in_the_file_that_another_names(
        #[case] variables: &[(&str, &str)],
        #[case] expected: Option<&str>,
    ) {
        assert_eq!(read(" s3cret \n", variables), Ok(expected.map(str::to_owned)));
    }

    #[rstest]
    #[case(&[("AVERT_API_KEY", "s3cret"), ("AVERT_API_KEY_FILE", "FILE")],
        "AVERT_API_KEY and AVERT_API_KEY_FILE are both set: one of them has the secret")]
    #[case(&[("AVERT_API_KEY_FILE", "FILE")],
        "AVERT_API_KEY_FILE: FILE: is empty: a file with the credential is needed")]
    #[case(&[("AVERT_API_KEY_FILE", "FILE/no")], "AVERT_API_KEY_FILE: FILE/no: cannot be read: ")]
    fn a_secret_that_is_not_one_is_refused_in_words(#[case] variables: &[(&str, &str)], #[case] words: &str) {
        let refused = read("\n", variables).unwrap_err();

        assert!(refused.starts_with(words) && !refused.contains("s3cret"), "{refused}");
    }
}
