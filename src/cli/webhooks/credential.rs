//! Credentials and signing secrets of webhooks: from flags, files and the environment.

use std::{
    io::{self, Read as _},
    path::Path,
};

use anyhow::Context as _;

use crate::{
    cli::{
        args::CredentialArgs,
        ask::{LARGEST_FILE, parts, read_credential},
        failure::Misused,
        secret_variables::{SecretVariable, WEBHOOK_BASIC, WEBHOOK_HEADER, WEBHOOK_SECRET},
    },
    domain::{CaCertificates, EndpointAuth, Secret, without_mark},
    outbound::tls,
};

/// Returns the credential of an endpoint, from the flags, else from the environment. No error repeats it.
pub(super) fn credential(
    args: &CredentialArgs,
    lookup: impl Fn(&str) -> Option<String>,
) -> anyhow::Result<EndpointAuth> {
    given(args, lookup)?.ok_or_else(|| {
        misused!(
            "an endpoint needs a credential that it knows avert by: one of --basic, --basic-file, --header, \
                --header-file, {WEBHOOK_BASIC}, {WEBHOOK_HEADER}"
        )
        .into()
    })
}

/// Returns the credential of an endpoint, if one is given: from the flags, else from the environment.
pub(super) fn given(
    args: &CredentialArgs,
    lookup: impl Fn(&str) -> Option<String>,
) -> anyhow::Result<Option<EndpointAuth>> {
    let CredentialArgs { basic, basic_file, header, header_file } = args;
    let basic = of_flags("--basic", basic.as_ref(), basic_file.as_deref())?;
    let header = of_flags("--header", header.as_ref(), header_file.as_deref())?;
    let of_variable = |of: SecretVariable| Ok::<_, Misused>(of.read(&lookup)?.map(|text| (text, of.to_string())));
    let (basic, header) = match (basic, header) {
        (None, None) => (of_variable(WEBHOOK_BASIC)?, of_variable(WEBHOOK_HEADER)?),
        given => given,
    };
    match (basic, header) {
        (None, None) => Ok(None),
        (Some((text, place)), None) => {
            let (username, password) = parts(&text, &place, "USER:PASS")?;
            Ok(Some(EndpointAuth::Basic { username: username.to_owned(), password: Secret::new(password) }))
        }
        (None, Some((text, place))) => Ok(Some(from_header(&text, &place)?)),
        (Some(_), Some(_)) => {
            refuse!("{WEBHOOK_BASIC} and {WEBHOOK_HEADER} are both set: there is one credential")
        }
    }
}

/// Returns the text of a flag, or of its sibling's file, and its origin.
fn of_flags(flag: &str, text: Option<&String>, file: Option<&Path>) -> Result<Option<(String, String)>, Misused> {
    if let Some(text) = text {
        say!(
            "warning: others on this machine can read what stands behind {flag}; {flag}-file FILE reads it from a file"
        );
        return Ok(Some((text.clone(), flag.to_owned())));
    }
    file.map(|file| Ok((read_credential(file)?, format!("the file of {flag}-file")))).transpose()
}

/// Reads the header of a file, `Name: value`.
pub(super) fn header_of(file: &Path, flag: &str) -> Result<EndpointAuth, Misused> {
    from_header(&read_credential(file)?, &format!("the file of {flag}"))
}

fn from_header(text: &str, place: &str) -> Result<EndpointAuth, Misused> {
    let (name, value) = parts(text, place, "'Name: value'")?;
    Ok(EndpointAuth::Header { name: name.trim().to_owned(), value: Secret::new(value.trim()) })
}

/// Reads the certificates of the file that a flag names.
pub(super) fn ca_file(file: Option<&Path>) -> anyhow::Result<Option<CaCertificates>> {
    Ok(file.map(tls::ca_file).transpose().map_err(Misused)?)
}

/// Returns the signing secret of a file, or of stdin with `-`, else of the environment.
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
        None => WEBHOOK_SECRET.read(lookup)?,
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
        let lookup = |name: &str| (name == WEBHOOK_BASIC.name).then(|| "shop:s3cret".to_owned());

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
