//! `avert organizations`: the organizations with their companies and enrollments.

use serde_json::json;

use super::{
    args::OrganizationsCommand,
    context::Context,
    local::Local,
    output::{ListColumns, Report},
};
use crate::{
    domain::{Company, CompanyId, EnrollmentId},
    service::Intake,
    store::OrganizationRecord,
};

pub(super) async fn run(context: Context, command: OrganizationsCommand) -> anyhow::Result<()> {
    let local = match &command {
        OrganizationsCommand::Create { .. } => Local::making(&context).await?,
        OrganizationsCommand::List | OrganizationsCommand::Show { .. } => Local::existing(&context).await?,
    };
    let answer = match command {
        OrganizationsCommand::Create { name } => {
            let created = local.engine.create_organization(&name).await?;
            let organization = &created.organization;
            Report::one(
                columns().record(&created),
                format!("organization {} has the id {}", organization.name, organization.id),
            )
        }
        OrganizationsCommand::List => columns().report(&local.engine.organizations().await?, None),
        OrganizationsCommand::Show { organization } => {
            let acting = local.acting(context.organization(&organization)).await?;
            shown(&acting.caller().organization, &acting.companies().await?)
        }
    };
    context.output.print(&answer)
}

fn columns() -> ListColumns<'static, OrganizationRecord> {
    ListColumns::new()
        .both("id", "ID", |one: &OrganizationRecord| json!(one.organization.id.to_string()))
        .both("name", "NAME", |one| json!(one.organization.name))
        .member("defaultCompanyId", |one| json!(one.default_company.to_string()))
        .member("defaultEnrollmentId", |one| json!(one.default_enrollment.to_string()))
}

/// Prints a row for each enrollment, or for a company that has none. The JSON document is the organization with all of
/// them.
fn shown(organization: &OrganizationRecord, companies: &[Company]) -> Report {
    let mut lines = Vec::new();
    for company in companies {
        lines.extend(company.enrollments.iter().map(|enrollment| (company.id, Some(*enrollment))));
        if company.enrollments.is_empty() {
            lines.push((company.id, None));
        }
    }
    let default = (organization.default_company, Some(organization.default_enrollment));
    let report = ListColumns::new()
        .member("organization", |_: &(CompanyId, Option<EnrollmentId>)| json!(organization.organization.name))
        .both("companyId", "COMPANY", |(company, _)| json!(company.to_string()))
        .both("enrollmentId", "ENROLLMENT", |(_, enrollment)| json!(enrollment.map(|id| id.to_string())))
        .shown("", |line| if *line == default { "default".to_owned() } else { String::new() })
        .report(&lines, None);
    let nested = companies.iter().map(|company| {
        let enrollments: Vec<String> = company.enrollments.iter().map(ToString::to_string).collect();
        json!({"id": company.id.to_string(), "enrollments": enrollments})
    });
    let mut document = columns().record(organization);
    document["companies"] = nested.collect();
    Report { document, ..report }
}
