//! The companies and enrollments that alerts name.

use std::collections::HashSet;

use super::connection::Connection;
use super::fault::Work;
use crate::domain::{Alert, CompanyId, EnrollmentId};

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
