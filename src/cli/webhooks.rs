//! `avert webhooks`: the addresses that are told of new and resolved alerts.

use std::fs;
use std::path::Path;

use anyhow::{anyhow, bail};
use serde_json::{Value, json};

use super::Context;
use super::args::{CredentialArgs, WebhooksCommand};
use super::failure::Misused;
use super::local::Local;
use super::output::{Answer, Rows, columns_of};
use crate::domain::time::to_iso;
use crate::service::{Endpoint, EndpointAuth, NewEndpoint, OperatorService, Secret};

/// Environment variables with the credential, where no flag has it.
const BASIC_VARIABLE: &str = "AVERT_WEBHOOK_BASIC";
const HEADER_VARIABLE: &str = "AVERT_WEBHOOK_HEADER";

/// A credential file larger than this holds something else.
const LARGEST_FILE: u64 = 64 * 1024;

pub(super) async fn run(context: Context, command: WebhooksCommand) -> anyhow::Result<()> {
    let answer = match command {
        WebhooksCommand::Add(args) => {
            let auth = credential(&args.credential, |name| std::env::var(name).ok())?;
            let local = Local::making(&context.home, &context.settings).await?;
            let acting = local.acting(context.organization(&args.organization)).await?;
            let endpoint = acting.add_endpoint(NewEndpoint { url: args.url, auth, signing: None }).await?;
            let record = record(&endpoint);
            Answer {
                table: Rows { note: Some(format!("endpoint {} added: {}", endpoint.id, endpoint.url)), ..Rows::default() },
                columns: columns_of(&record),
                document: record.clone(),
                records: vec![record],
            }
        }
        WebhooksCommand::List { organization } => {
            let local = Local::existing(&context.home, &context.settings).await?;
            let acting = local.acting(context.organization(&organization)).await?;
            listing(&acting.endpoints().await?)
        }
    };
    context.output.print(&answer)?;
    Ok(())
}

/// The credential of the flags, else of the environment. No error repeats it.
fn credential(args: &CredentialArgs, lookup: impl Fn(&str) -> Option<String>) -> anyhow::Result<EndpointAuth> {
    let CredentialArgs { basic, basic_file, header, header_file } = args;
    if let Some(text) = basic {
        return from_basic(text, "--basic");
    }
    if let Some(file) = basic_file {
        return from_basic(&read_credential(file)?, "the file of --basic-file");
    }
    if let Some(text) = header {
        return from_header(text, "--header");
    }
    if let Some(file) = header_file {
        return from_header(&read_credential(file)?, "the file of --header-file");
    }
    let given = |name| lookup(name).filter(|text: &String| !text.is_empty());
    match (given(BASIC_VARIABLE), given(HEADER_VARIABLE)) {
        (Some(text), None) => from_basic(&text, BASIC_VARIABLE),
        (None, Some(text)) => from_header(&text, HEADER_VARIABLE),
        (Some(_), Some(_)) => {
            bail!(Misused(format!("{BASIC_VARIABLE} and {HEADER_VARIABLE} are both set: an endpoint has one credential")))
        }
        (None, None) => bail!(Misused(format!(
            "an endpoint needs a credential that it knows avert by: one of --basic, --basic-file, --header, --header-file, {BASIC_VARIABLE}, {HEADER_VARIABLE}"
        ))),
    }
}

fn from_basic(text: &str, place: &str) -> anyhow::Result<EndpointAuth> {
    let (username, password) = text.split_once(':').ok_or_else(|| Misused(format!("{place}: USER:PASS is needed, there is no colon")))?;
    Ok(EndpointAuth::Basic { username: username.to_owned(), password: Secret::new(password) })
}

fn from_header(text: &str, place: &str) -> anyhow::Result<EndpointAuth> {
    let (name, value) = text.split_once(':').ok_or_else(|| Misused(format!("{place}: 'Name: value' is needed, there is no colon")))?;
    Ok(EndpointAuth::Header { name: name.trim().to_owned(), value: Secret::new(value.trim()) })
}

/// The text of a credential file, without the line break at its end.
pub(super) fn read_credential(file: &Path) -> anyhow::Result<String> {
    let unusable = |what: String| anyhow!(Misused(format!("{}: {what}", file.display())));
    let metadata = fs::metadata(file).map_err(|error| unusable(format!("cannot be read: {error}")))?;
    if metadata.is_dir() {
        return Err(unusable("is a directory: a file with the credential is needed".to_owned()));
    }
    if metadata.len() > LARGEST_FILE {
        return Err(unusable(format!("is larger than {} KiB: a file with the credential alone is needed", LARGEST_FILE / 1024)));
    }
    let text = fs::read_to_string(file).map_err(|error| unusable(format!("cannot be read: {error}")))?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

fn record(endpoint: &Endpoint) -> Value {
    json!({
        "id": endpoint.id.to_string(),
        "url": endpoint.url,
        "auth": endpoint.auth,
        "createdAt": to_iso(endpoint.created_at),
        "disabledAt": endpoint.disabled.as_ref().map(|(at, _)| to_iso(*at)),
        "disabledReason": endpoint.disabled.as_ref().map(|(_, reason)| reason),
    })
}

fn listing(endpoints: &[Endpoint]) -> Answer {
    let records: Vec<Value> = endpoints.iter().map(record).collect();
    let state = |endpoint: &Endpoint| match &endpoint.disabled {
        None => "active".to_owned(),
        Some((at, reason)) => format!("disabled {}: {reason}", to_iso(*at)),
    };
    let row = |endpoint: &Endpoint| {
        vec![endpoint.id.to_string(), endpoint.url.clone(), endpoint.auth.clone(), to_iso(endpoint.created_at), state(endpoint)]
    };
    Answer {
        table: Rows {
            head: vec!["ID", "URL", "AUTH", "CREATED", "STATE"],
            rows: endpoints.iter().map(row).collect(),
            note: endpoints.is_empty().then(|| "there are no endpoints; `avert webhooks add URL` adds one".to_owned()),
            ..Rows::default()
        },
        columns: ["id", "url", "auth", "createdAt", "disabledAt", "disabledReason"].map(str::to_owned).to_vec(),
        document: Value::Array(records.clone()),
        records,
    }
}

#[cfg(test)]
mod tests {
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
