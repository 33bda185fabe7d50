//! Organizations, and the companies and enrollments that each has.

use std::collections::HashSet;

use async_trait::async_trait;
use rusqlite::{Connection, TransactionBehavior};

use super::audit;
use super::connection::is_duplicate;
use super::handle::SqliteStore;
use super::readers::Reader;
use super::rows::organization_key;
use super::statements::{Statements as _, cell, micros};
use super::writer::WriteKind;
use crate::domain::audit::AuditNote;
use crate::domain::time::Timestamp;
use crate::domain::{Alert, Company, CompanyId, DEFAULT_ORGANIZATION, EnrollmentId, Organization, OrganizationId};
use crate::store::{OrganizationRecord, OrganizationStore, StoreError, StoreResult};

#[async_trait]
impl OrganizationStore for SqliteStore {
    async fn organizations(&self) -> StoreResult<Vec<OrganizationRecord>> {
        self.read(|reader| {
            reader.conn.all(
                "SELECT id, name, default_company, default_enrollment FROM organization ORDER BY name",
                [],
                |row| {
                    Ok(OrganizationRecord {
                        organization: Organization { id: row.get(0)?, name: row.get(1)? },
                        default_company: row.get(2)?,
                        default_enrollment: row.get(3)?,
                    })
                },
            )
        })
        .await
    }

    async fn add_organization(&self, record: OrganizationRecord, now: Timestamp) -> StoreResult<()> {
        self.write(WriteKind::Visible, move |unit, by| {
            insert(unit.conn, &record, now)?;
            let organization = &record.organization;
            audit::record(unit, by, organization.id, AuditNote::organization_created(organization), now)
        })
        .await
    }

    async fn companies(&self, organization: OrganizationId) -> StoreResult<Vec<Company>> {
        self.read_list(organization, move |reader| companies(reader, organization)).await
    }
}

/// Gives fresh data its organization.
pub(super) fn ensure_organization(conn: &mut Connection, now: Timestamp) -> StoreResult<()> {
    let none = |conn: &Connection| conn.one("SELECT NOT EXISTS (SELECT 1 FROM organization)", [], cell::<bool>);
    if !none(conn)? {
        return Ok(());
    }
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been faster.
    if none(&tx)? {
        let record = OrganizationRecord {
            organization: Organization { id: OrganizationId::generate(), name: DEFAULT_ORGANIZATION.to_owned() },
            default_company: CompanyId::generate(),
            default_enrollment: EnrollmentId::generate(),
        };
        insert(&tx, &record, now)?;
    }
    Ok(tx.commit()?)
}

fn insert(conn: &Connection, record: &OrganizationRecord, now: Timestamp) -> StoreResult<()> {
    let OrganizationRecord { organization, default_company, default_enrollment } = record;
    let added = conn.execute(
        "INSERT INTO organization (id, name, default_company, default_enrollment, created_at) VALUES (?1, ?2, ?3, ?4, \
            ?5)",
        (organization.id, &organization.name, default_company, default_enrollment, micros(now)),
    );
    match added {
        Ok(_) => {}
        Err(error) if is_duplicate(&error) => {
            return Err(StoreError::Conflict(format!("the organization {}", organization.name)));
        }
        Err(error) => return Err(error.into()),
    }
    list(conn, conn.last_insert_rowid(), *default_company, Some(*default_enrollment))
}

/// The companies of an organization with their enrollments, by id.
fn companies(reader: &Reader, organization: OrganizationId) -> StoreResult<Vec<Company>> {
    let Some(organization) = organization_key(&reader.conn, organization)? else { return Ok(Vec::new()) };
    let listed: Vec<(CompanyId, Option<EnrollmentId>)> = reader.conn.all(
        "SELECT c.id, e.id FROM company c LEFT JOIN enrollment e ON e.organization = c.organization AND e.company = c.id
         WHERE c.organization = ?1 ORDER BY c.id, e.id",
        [organization],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let of_one = listed.chunk_by(|(one, _), (next, _)| one == next);
    Ok(of_one
        .map(|of| Company { id: of[0].0, enrollments: of.iter().filter_map(|(_, enrollment)| *enrollment).collect() })
        .collect())
}

/// Lists a company, and an enrollment with the company that it was first seen with.
fn list(conn: &Connection, organization: i64, company: CompanyId, enrollment: Option<EnrollmentId>) -> StoreResult<()> {
    conn.run("INSERT INTO company (organization, id) VALUES (?1, ?2) ON CONFLICT DO NOTHING", (organization, company))?;
    if let Some(enrollment) = enrollment {
        let sql = "INSERT INTO enrollment (organization, id, company) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        conn.run(sql, (organization, enrollment, company))?;
    }
    Ok(())
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

    pub(super) fn write(self, conn: &Connection, organization: i64) -> StoreResult<()> {
        self.0.into_iter().try_for_each(|(company, enrollment)| list(conn, organization, company, enrollment))
    }
}
