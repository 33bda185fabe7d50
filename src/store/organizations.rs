//! Organizations, and the companies and enrollments of each.

use async_trait::async_trait;

use super::error::StoreResult;
use crate::domain::time::Timestamp;
use crate::domain::{Company, CompanyId, EnrollmentId, Organization, OrganizationId};

/// An organization with the company and the enrollment of alerts that name none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrganizationRecord {
    /// Id and name.
    pub organization: Organization,
    /// Company of alerts that name none.
    pub default_company: CompanyId,
    /// Enrollment of alerts that name none.
    pub default_enrollment: EnrollmentId,
}

/// Units of work on organizations.
#[async_trait]
pub trait OrganizationStore: Send + Sync {
    /// Every organization, by name. Fresh data has one, `default`.
    async fn organizations(&self) -> StoreResult<Vec<OrganizationRecord>>;

    /// Adds an organization with its default company and enrollment; a conflict where its name or id is taken.
    async fn add_organization(&self, record: OrganizationRecord, now: Timestamp) -> StoreResult<()>;

    /// The companies of an organization with their enrollments, by id: the default ones, and those that its alerts have
    /// named.
    async fn companies(&self, organization: OrganizationId) -> StoreResult<Vec<Company>>;
}
