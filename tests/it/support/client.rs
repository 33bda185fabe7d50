//! A client of a deployment, as its users set one up.

use avert::{
    client::{AccessCredential, Client, ClientOptions},
    domain::{Secret, time::SharedClock},
    wire::Dialect,
};

/// A client of the deployment at an address; with an operator's key, where there is one.
pub fn client_of(
    url: &str,
    dialect: Dialect,
    credential: AccessCredential,
    operator_key: Option<&str>,
    clock: SharedClock,
) -> Client {
    let options = ClientOptions::new(url.parse().unwrap(), dialect, credential, clock);
    Client::new(ClientOptions { operator_key: operator_key.map(Secret::new), ..options }).unwrap()
}
