//! API keys and client credentials as one list: what whoever manages them asks of a service, in this process or across HTTP.

use async_trait::async_trait;

use super::ServiceError;
use crate::domain::{CreatedCredential, CredentialKind, CredentialList, Revoked};

/// Who may come in to an organization.
#[async_trait]
pub trait CredentialService: Send + Sync {
    /// Ids of the credentials that this very service is spoken to with.
    fn in_use(&self) -> Vec<String>;

    /// All credentials of the organization.
    async fn credentials(&self) -> Result<CredentialList, ServiceError>;

    /// Creates a credential. The secret is in the answer and nowhere else, ever.
    async fn create_credential(&self, kind: CredentialKind) -> Result<CreatedCredential, ServiceError>;

    /// Revokes a credential at once; a client's tokens with it.
    async fn revoke_credential(&self, kind: CredentialKind, id: &str) -> Result<Revoked, ServiceError>;
}
