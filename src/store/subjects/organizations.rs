//! Organizations, and the companies and enrollments that each has and that alerts name.

use std::collections::BTreeSet;

use futures::future::try_join_all;

use crate::{
    StoreError,
    cells::cell,
    domain::{
        Alert, Company, CompanyId, DEFAULT_ORGANIZATION, EnrollmentId, Organization, OrganizationId, audit::AuditNote,
        time::Timestamp,
    },
    error::Work,
    sql::StoreRows,
    units::{UnitOfWork, Way, units},
};

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

units! {
    /// Units of work on organizations.
    OrganizationStore:

    /// Every organization, by name. Fresh data has one, `default`.
    async fn organizations() -> Vec<OrganizationRecord> {
        Way::ByKey => all
    }

    /// Adds an organization with its default company and enrollment; a conflict where its name or id is taken.
    async fn add_organization([ref] record: OrganizationRecord, now: Timestamp) -> () {
        Way::Visible => add
    }

    /// The companies of an organization with their enrollments, by id: the default ones, and those that its alerts have
    /// named.
    async fn companies(organization: OrganizationId) -> Vec<Company> {
        Way::List(Some(organization)), organization => companies
    }
}

async fn all(unit: &UnitOfWork<'_>) -> Work<Vec<OrganizationRecord>> {
    let all = "SELECT id, name, default_company, default_enrollment FROM organization ORDER BY name";
    unit.all(all, &[], |row| {
        Ok(OrganizationRecord {
            organization: Organization { id: row.get(0)?, name: row.get(1)? },
            default_company: row.get(2)?,
            default_enrollment: row.get(3)?,
        })
    })
    .await
}

async fn add(unit: &UnitOfWork<'_>, record: &OrganizationRecord, now: Timestamp) -> Work<()> {
    let key = insert(unit, record, now).await?;
    let Organization { id, name } = &record.organization;
    unit.note(key, AuditNote::new("organization.created", id, name), now).await
}

/// Gives fresh data its organization. Nobody else may be at it.
pub(super) async fn ensure_organization(rows: &StoreRows<'_>, now: Timestamp) -> Work<()> {
    if rows.one("SELECT NOT EXISTS (SELECT 1 FROM organization)", &[], cell).await? {
        let record = OrganizationRecord {
            organization: Organization { id: OrganizationId::generate(), name: DEFAULT_ORGANIZATION.to_owned() },
            default_company: CompanyId::generate(),
            default_enrollment: EnrollmentId::generate(),
        };
        insert(rows, &record, now).await?;
    }
    Ok(())
}

/// Adds an organization; returns its key.
async fn insert(rows: &StoreRows<'_>, record: &OrganizationRecord, now: Timestamp) -> Work<i64> {
    let OrganizationRecord { organization, default_company: company, default_enrollment: enrollment } = record;
    let added = "INSERT INTO organization (id, name, default_company, default_enrollment, created_at)
        VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING RETURNING key";
    let Organization { id, name } = organization;
    let key = rows.first(added, &[id, name, company, enrollment, &now], cell).await?;
    let key: i64 = key.ok_or_else(|| StoreError::Conflict(format!("the organization {name}")))?;
    Named(BTreeSet::from([(*company, Some(*enrollment))])).write(rows, key).await?;
    Ok(key)
}

/// The companies of an organization with their enrollments, by id.
async fn companies(unit: &UnitOfWork<'_>, organization: i64) -> Work<Vec<Company>> {
    let listed = "SELECT c.id, e.id FROM company c
        LEFT JOIN enrollment e ON e.organization = c.organization AND e.company = c.id
        WHERE c.organization = ?1 ORDER BY c.id, e.id";
    let listed: Vec<(CompanyId, Option<EnrollmentId>)> =
        unit.all(listed, &[&organization], |row| Ok((row.get(0)?, row.get(1)?))).await?;
    let of_one = listed.chunk_by(|(one, _), (next, _)| one == next);
    Ok(of_one
        .map(|of| Company { id: of[0].0, enrollments: of.iter().filter_map(|(_, enrollment)| *enrollment).collect() })
        .collect())
}

/// Companies and enrollments that the alerts of a batch name, each pair once, in one order. So two that list the same
/// do not deadlock.
#[derive(Debug, Default)]
pub(crate) struct Named(BTreeSet<(CompanyId, Option<EnrollmentId>)>);

impl Named {
    pub(crate) fn note(&mut self, alert: &Alert) {
        if let Some(company) = alert.company_id {
            self.0.insert((company, alert.enrollment_id));
        }
    }

    /// Lists the companies, and each enrollment with the company that it was first seen with.
    pub(super) async fn write(self, rows: &StoreRows<'_>, organization: i64) -> Work<()> {
        let companies: BTreeSet<CompanyId> = self.0.iter().map(|(company, _)| *company).collect();
        // Sent without waiting for each other's answers.
        try_join_all(companies.iter().map(async |company| {
            let listed = "INSERT INTO company (organization, id) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
            rows.run(listed, &[&organization, company]).await
        }))
        .await?;
        let enrollments = self.0.iter().filter_map(|(company, enrollment)| Some((company, (*enrollment)?)));
        try_join_all(enrollments.map(async |(company, enrollment)| {
            let listed =
                "INSERT INTO enrollment (organization, company, id) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
            rows.run(listed, &[&organization, company, &enrollment]).await
        }))
        .await
        .map(drop)
    }
}
