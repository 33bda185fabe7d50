//! A credential as it is typed into one line: `USER:PASS`, or a header `Name: value`.

use crate::domain::{EndpointAuth, Secret};

/// Reads a credential that somebody, such as `the deployment sends`, uses; what is wrong with it repeats nothing of it.
pub(super) fn auth_of(text: &str, by_header: bool, use_of_it: &str) -> Result<EndpointAuth, String> {
    let auth = match (text.split_once(':'), by_header) {
        (Some((username, password)), false) => {
            EndpointAuth::Basic { username: username.to_owned(), password: Secret::new(password) }
        }
        (Some((name, value)), true) => {
            EndpointAuth::Header { name: name.trim().to_owned(), value: Secret::new(value.trim()) }
        }
        (None, false) => return Err(format!("USER:PASS is needed: what {use_of_it}.")),
        (None, true) => return Err(format!("Name: value is needed: the header that {use_of_it}.")),
    };
    auth.check().map_err(|error| format!("The credential cannot be one: {} {}.", error.field, error.message))?;
    Ok(auth)
}

/// Whether a credential is a header, and what was typed.
pub(super) fn text_of(auth: &EndpointAuth) -> (bool, String) {
    match auth {
        EndpointAuth::Basic { username, password } => (false, format!("{username}:{}", password.reveal())),
        EndpointAuth::Header { name, value } => (true, format!("{name}: {}", value.reveal())),
    }
}
