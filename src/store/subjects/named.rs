//! The companies and enrollments that alerts name.

use std::collections::BTreeSet;

use futures::future::try_join_all;

use crate::{
    domain::{Alert, CompanyId, EnrollmentId},
    sql::StoreRows,
    work::Work,
};

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
