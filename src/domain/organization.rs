//! Organizations (tenants) and their companies with enrollments.

use super::{CompanyId, EnrollmentId, OrganizationId};

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
