//! Organizations (tenants) and their companies with enrollments.

use super::{CompanyId, EnrollmentId, OrganizationId};

/// The name of the organization that every database begins with.
pub const DEFAULT_ORGANIZATION: &str = "default";

/// A company of an organization, with its enrollments at providers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Company {
    pub id: CompanyId,
    pub enrollments: Vec<EnrollmentId>,
}

/// Which organization, by a name that people use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Organization {
    pub id: OrganizationId,
    pub name: String,
}
