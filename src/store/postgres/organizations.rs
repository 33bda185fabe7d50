//! Organizations, and the companies and enrollments that each has.

use std::collections::HashSet;

use async_trait::async_trait;

use super::connection::Connection;
use super::fault::{Work, is_duplicate};
use super::handle::{PostgresStore, WriteKind};
use super::rows::{known_organization, organization_key};
use super::statements::{cell, micros};
use super::unit::Unit;
use crate::domain::audit::AuditNote;
use crate::domain::time::Timestamp;
use crate::domain::{Alert, Company, CompanyId, DEFAULT_ORGANIZATION, EnrollmentId, Organization, OrganizationId};
use crate::store::{OrganizationRecord, OrganizationStore, StoreError, StoreResult};

#[async_trait]
impl OrganizationStore for PostgresStore {
    async fn organizations(&self) -> StoreResult<Vec<OrganizationRecord>> {
        self.look(|unit| Box::pin(all(&unit.conn))).await
    }

    async fn add_organization(&self, record: OrganizationRecord, now: Timestamp) -> StoreResult<()> {
        self.write(WriteKind::Visible, |unit| Box::pin(add(unit, &record, now))).await
    }

    async fn companies(&self, organization: OrganizationId) -> StoreResult<Vec<Company>> {
        self.read(|unit| Box::pin(companies(unit, organization))).await
    }
}

async fn all(conn: &Connection) -> Work<Vec<OrganizationRecord>> {
    conn.all("SELECT id, name, default_company, default_enrollment FROM organization ORDER BY name", &[], |row| {
        Ok(OrganizationRecord {
            organization: Organization { id: OrganizationId(row.try_get(0)?), name: row.try_get(1)? },
            default_company: CompanyId(row.try_get(2)?),
            default_enrollment: EnrollmentId(row.try_get(3)?),
        })
    })
    .await
}

async fn add(unit: &Unit<'_>, record: &OrganizationRecord, now: Timestamp) -> Work<()> {
    insert(&unit.conn, record, now).await?;
    let organization = &record.organization;
    unit.note(
        known_organization(&unit.conn, organization.id).await?,
        AuditNote::organization_created(organization),
        now,
    );
    Ok(())
}

/// Gives fresh data its organization. Nobody else may be at it.
pub(super) async fn ensure_organization(conn: &Connection, now: Timestamp) -> Work<()> {
    if conn.one("SELECT EXISTS (SELECT 1 FROM organization)", &[], cell::<bool>).await? {
        return Ok(());
    }
    let record = OrganizationRecord {
        organization: Organization { id: OrganizationId::generate(), name: DEFAULT_ORGANIZATION.to_owned() },
        default_company: CompanyId::generate(),
        default_enrollment: EnrollmentId::generate(),
    };
    insert(conn, &record, now).await
}

async fn insert(conn: &Connection, record: &OrganizationRecord, now: Timestamp) -> Work<()> {
    let OrganizationRecord { organization, default_company, default_enrollment } = record;
    let added = "INSERT INTO organization (id, name, default_company, default_enrollment, created_at) VALUES ($1, $2, \
        $3, $4, $5)";
    let values = (micros(now), organization.id.0);
    match conn
        .try_run(added, &[&values.1, &organization.name, &default_company.0, &default_enrollment.0, &values.0])
        .await?
    {
        Ok(_) => {}
        Err(error) if is_duplicate(&error) => {
            return Err(StoreError::Conflict(format!("the organization {}", organization.name)).into());
        }
        Err(error) => return Err(error.into()),
    }
    let mut named = Named::default();
    named.0.insert((*default_company, Some(*default_enrollment)));
    named.write(conn, known_organization(conn, organization.id).await?).await
}

/// The companies of an organization with their enrollments, by id.
async fn companies(unit: &Unit<'_>, organization: OrganizationId) -> Work<Vec<Company>> {
    let Some(organization) = organization_key(&unit.conn, organization).await? else { return Ok(Vec::new()) };
    let listed = "SELECT c.id, e.id FROM company c LEFT JOIN enrollment e ON e.organization = c.organization AND \
        e.company = c.id
        WHERE c.organization = $1 ORDER BY c.id, e.id";
    let listed = unit
        .conn
        .all(listed, &[&organization], |row| {
            Ok((CompanyId(row.try_get(0)?), row.try_get::<_, Option<_>>(1)?.map(EnrollmentId)))
        })
        .await?;
    let of_one = listed.chunk_by(|(one, _), (next, _)| one == next);
    Ok(of_one
        .map(|of| Company { id: of[0].0, enrollments: of.iter().filter_map(|(_, enrollment)| *enrollment).collect() })
        .collect())
}

/// What the alerts of a batch name, each pair once.
#[derive(Debug, Default)]
pub(super) struct Named(HashSet<(CompanyId, Option<EnrollmentId>)>);

impl Named {
    pub(super) fn note(&mut self, alert: &Alert) {
        if let Some(company) = alert.company_id {
            self.0.insert((company, alert.enrollment_id));
        }
    }

    /// Lists the companies, and each enrollment with the company that it was first seen with.
    pub(super) async fn write(self, conn: &Connection, organization: i64) -> Work<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        // In one order, so that two who list the same do not wait for each other.
        let mut named: Vec<_> = self.0.into_iter().collect();
        named.sort_unstable();
        let companies: Vec<_> = named.iter().map(|(company, _)| company.0).collect();
        conn.run(
            "INSERT INTO company (organization, id) SELECT DISTINCT $1::bigint, n.id FROM unnest($2::uuid[]) AS n \
                (id) ORDER BY n.id
             ON CONFLICT DO NOTHING",
            &[&organization, &companies],
        )
        .await?;
        let pairs = named.iter().filter_map(|(company, enrollment)| Some((company.0, (*enrollment)?.0)));
        let (companies, enrollments): (Vec<_>, Vec<_>) = pairs.unzip();
        conn.run(
            "INSERT INTO enrollment (organization, company, id)
             SELECT $1::bigint, n.company, n.id FROM unnest($2::uuid[], $3::uuid[]) AS n (company, id) ORDER BY n.id
             ON CONFLICT DO NOTHING",
            &[&organization, &companies, &enrollments],
        )
        .await?;
        Ok(())
    }
}
