//! Credentials and signing secrets of webhooks: from flags, files and the environment.

use std::io::{self, Read as _};
use std::path::Path;

use anyhow::Context as _;

use crate::cli::args::CredentialArgs;
use crate::cli::credential_file::{LARGEST_FILE, read_credential};
use crate::cli::failure::Misused;
use crate::domain::{CaCertificates, EndpointAuth, Secret, without_mark};
use crate::outbound::tls;

/// Environment variables with the credential and the signing secret, where no flag has it.
const BASIC_VARIABLE: &str = "AVERT_WEBHOOK_BASIC";
const HEADER_VARIABLE: &str = "AVERT_WEBHOOK_HEADER";
const SECRET_VARIABLE: &str = "AVERT_WEBHOOK_SECRET";

/// The credential of an endpoint, from the flags, else from the environment. No error repeats it.
pub(super) fn credential(
    args: &CredentialArgs,
    lookup: impl Fn(&str) -> Option<String>,
) -> anyhow::Result<EndpointAuth> {
    let needs =
        "an endpoint needs a credential that it knows avert by: one of --basic, --basic-file, --header, --header-file";
    Ok(given(args, lookup)?.ok_or_else(|| misused!("{needs}, {BASIC_VARIABLE}, {HEADER_VARIABLE}"))?)
}

/// The same; nothing where none is given.
pub(super) fn given(
    args: &CredentialArgs,
    lookup: impl Fn(&str) -> Option<String>,
) -> anyhow::Result<Option<EndpointAuth>> {
    let CredentialArgs { basic, basic_file, header, header_file } = args;
    if let Some(text) = basic {
        warn_of_the_flag("--basic");
        return from_basic(text, "--basic").map(Some);
    }
    if let Some(file) = basic_file {
        return from_basic(&read_credential(file)?, "the file of --basic-file").map(Some);
    }
    if let Some(text) = header {
        warn_of_the_flag("--header");
        return from_header(text, "--header").map(Some);
    }
    if let Some(file) = header_file {
        return from_header(&read_credential(file)?, "the file of --header-file").map(Some);
    }
    let set = |name| lookup(name).filter(|text: &String| !text.is_empty());
    match (set(BASIC_VARIABLE), set(HEADER_VARIABLE)) {
        (Some(text), None) => from_basic(&text, BASIC_VARIABLE).map(Some),
        (None, Some(text)) => from_header(&text, HEADER_VARIABLE).map(Some),
        (None, None) => Ok(None),
        (Some(_), Some(_)) => {
            refuse!("{BASIC_VARIABLE} and {HEADER_VARIABLE} are both set: there is one credential")
        }
    }
}

/// Others on this machine can see the arguments of a process.
fn warn_of_the_flag(flag: &str) {
    say!("warning: others on this machine can read what stands behind {flag}; {flag}-file FILE reads it from a file");
}

/// The header of a file, `Name: value`.
pub(super) fn header_of(file: &Path, flag: &str) -> anyhow::Result<EndpointAuth> {
    from_header(&read_credential(file)?, &format!("the file of {flag}"))
}

fn from_basic(text: &str, place: &str) -> anyhow::Result<EndpointAuth> {
    let (username, password) =
        text.split_once(':').ok_or_else(|| misused!("{place}: USER:PASS is needed, there is no colon"))?;
    Ok(EndpointAuth::Basic { username: username.to_owned(), password: Secret::new(password) })
}

fn from_header(text: &str, place: &str) -> anyhow::Result<EndpointAuth> {
    let (name, value) =
        text.split_once(':').ok_or_else(|| misused!("{place}: 'Name: value' is needed, there is no colon"))?;
    Ok(EndpointAuth::Header { name: name.trim().to_owned(), value: Secret::new(value.trim()) })
}

/// The certificates of the file that a flag names.
pub(super) fn ca_file(file: Option<&Path>) -> anyhow::Result<Option<CaCertificates>> {
    Ok(file.map(tls::ca_file).transpose().map_err(Misused)?)
}

/// The signing secret of a file, or of stdin with `-`, else of the environment.
pub(super) fn signing_secret(
    file: Option<&Path>,
    lookup: impl Fn(&str) -> Option<String>,
) -> anyhow::Result<Option<Secret>> {
    let given = match file {
        Some(file) if file == Path::new("-") => {
            let mut text = String::new();
            io::stdin().take(LARGEST_FILE).read_to_string(&mut text).context("stdin cannot be read")?;
            Some(without_mark(&text).to_owned())
        }
        Some(file) => Some(read_credential(file)?),
        None => lookup(SECRET_VARIABLE).filter(|text| !text.is_empty()),
    };
    Ok(given.map(|text| Secret::new(text.trim())))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rstest::rstest;

    use super::*;

    fn nothing(_: &str) -> Option<String> {
        None
    }

    fn basic(username: &str, password: &str) -> EndpointAuth {
        EndpointAuth::Basic { username: username.to_owned(), password: Secret::new(password) }
    }

    #[test]
    fn a_password_may_hold_colons() {
        let args = CredentialArgs { basic: Some("shop:s3:cret".to_owned()), ..CredentialArgs::default() };

        assert_eq!(credential(&args, nothing).unwrap(), basic("shop", "s3:cret"));
    }

    #[test]
    fn a_secret_may_stand_in_a_file_behind_a_byte_order_mark() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("secret");
        fs::write(&file, "\u{feff}whsec_x\r\n").unwrap();

        assert_eq!(signing_secret(Some(&file), nothing).unwrap().unwrap().reveal(), "whsec_x");
    }

    #[test]
    fn a_credential_may_stand_in_a_file_with_a_line_break_at_its_end() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("credential");
        fs::write(&file, "X-API-Key: s3cret\n").unwrap();
        let args = CredentialArgs { header_file: Some(file), ..CredentialArgs::default() };

        let expected = EndpointAuth::Header { name: "X-API-Key".to_owned(), value: Secret::new("s3cret") };
        assert_eq!(credential(&args, nothing).unwrap(), expected);
    }

    #[test]
    fn the_environment_is_asked_where_no_flag_has_it() {
        let lookup = |name: &str| (name == BASIC_VARIABLE).then(|| "shop:s3cret".to_owned());

        assert_eq!(credential(&CredentialArgs::default(), lookup).unwrap(), basic("shop", "s3cret"));
    }

    #[rstest]
    #[case(CredentialArgs { basic: Some("s3cret".to_owned()), ..CredentialArgs::default() })]
    #[case(CredentialArgs { header: Some("s3cret".to_owned()), ..CredentialArgs::default() })]
    #[case(CredentialArgs::default())]
    fn an_unusable_credential_is_a_misuse_and_is_not_repeated(#[case] args: CredentialArgs) {
        let error = credential(&args, nothing).unwrap_err();

        assert!(error.is::<Misused>());
        assert!(!format!("{error:#}").contains("s3cret"));
    }
}
