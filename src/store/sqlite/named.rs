//! The companies and enrollments that alerts name.

use std::collections::HashSet;

use rusqlite::Connection;

use super::statements::Statements as _;
use crate::domain::{Alert, CompanyId, EnrollmentId};
use crate::store::StoreResult;

/// Lists a company, and an enrollment with the company that it was first seen with.
fn list(conn: &Connection, organization: i64, company: CompanyId, enrollment: Option<EnrollmentId>) -> StoreResult<()> {
    conn.run(
        "INSERT INTO company (organization, id) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        (organization, company.0.as_bytes()),
    )?;
    if let Some(enrollment) = enrollment {
        let sql = "INSERT INTO enrollment (organization, id, company) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        conn.run(sql, (organization, enrollment.0.as_bytes(), company.0.as_bytes()))?;
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
