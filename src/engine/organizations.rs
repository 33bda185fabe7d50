//! Organizations (tenants): created, found by name or id, never mixed.

use super::handle::{Engine, service_error};
use crate::{
    domain::{
        CompanyId, EnrollmentId, FieldError, Organization, OrganizationId,
        organization::{is_same_name, new_name},
    },
    service::ServiceError,
    store::{Actor, OrganizationRecord},
};

/// Longest name, in characters.
const MAX_NAME: usize = 64;

impl Engine {
    /// Every organization, by name.
    ///
    /// # Errors
    /// When the store cannot answer.
    pub async fn organizations(&self) -> Result<Vec<OrganizationRecord>, ServiceError> {
        self.store().organizations().await.map_err(service_error)
    }

    /// Creates an organization with a default company and enrollment of its own. Only a person at this machine can; so
    /// the audit log says.
    ///
    /// # Errors
    /// When the name is not valid, or taken, if only in other letters' case.
    pub async fn create_organization(&self, name: &str) -> Result<OrganizationRecord, ServiceError> {
        let name =
            valid_name(name).map_err(|message| ServiceError::InvalidRequest(vec![FieldError::new("name", message)]))?;
        if let Some(known) =
            self.organizations().await?.iter().find(|known| is_same_name(&known.organization.name, &name))
        {
            return Err(ServiceError::Conflict(format!("the organization {} exists already", known.organization.name)));
        }
        let record = OrganizationRecord {
            organization: Organization { id: OrganizationId::generate(), name },
            default_company: CompanyId::generate(),
            default_enrollment: EnrollmentId::generate(),
        };
        let signed = self.store().signed(Actor::at_this_machine());
        signed.add_organization(record.clone(), self.now()).await.map_err(service_error)?;
        tracing::info!(organization = %record.organization.name, id = %record.organization.id, "organization created");
        Ok(record)
    }
}

/// The name as it is kept, or what is wrong with it. A name never looks like an id: either may be given to name an
/// organization.
fn valid_name(text: &str) -> Result<String, String> {
    let name = new_name(text)?;
    let length = name.chars().count();
    if name.is_empty() {
        return Err("is empty: 1 to 64 characters are needed".to_owned());
    }
    if length > MAX_NAME {
        return Err(format!("has {length} characters: at most {MAX_NAME} are allowed"));
    }
    if uuid::Uuid::parse_str(&name).is_ok() {
        return Err("is a UUID, which only ids are".to_owned());
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("", "empty")]
    #[case("   ", "empty")]
    #[case("a\nb", "U+000A")]
    #[case("018f0000-0000-7000-8000-000000000001", "UUID")]
    #[case(&"x".repeat(65), "65 characters")]
    fn what_is_no_name_is_told(#[case] text: &str, #[case] words: &str) {
        assert!(valid_name(text).unwrap_err().contains(words));
    }
}
