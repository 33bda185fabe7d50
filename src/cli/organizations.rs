//! `avert organizations`: whose alerts, keys, clients and webhooks there are.

use serde_json::{Value, json};

use super::args::OrganizationsCommand;
use super::context::Context;
use super::local::Local;
use super::output::{ListColumns, Report, Rows};
use crate::domain::Company;
use crate::service::Intake;
use crate::store::OrganizationRecord;

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

/// As a table and line by line: each enrollment, or a company that has none. As a document: the organization with all
/// that it has.
fn shown(organization: &OrganizationRecord, companies: &[Company]) -> Report {
    let default = |is_it: bool| if is_it { "default" } else { "" };
    let (mut rows, mut records, mut nested) = (Vec::new(), Vec::new(), Vec::new());
    for company in companies {
        let enrollments: Vec<String> = company.enrollments.iter().map(ToString::to_string).collect();
        let lines = if enrollments.is_empty() { vec![None] } else { enrollments.iter().map(Some).collect() };
        for enrollment in lines {
            let of_default = company.id == organization.default_company;
            rows.push(vec![
                company.id.to_string(),
                enrollment.cloned().unwrap_or_default(),
                default(of_default && enrollment.is_some_and(|id| *id == organization.default_enrollment.to_string()))
                    .to_owned(),
            ]);
            records.push(json!({
                "organization": organization.organization.name, "companyId": company.id.to_string(),
                    "enrollmentId": enrollment,
            }));
        }
        nested.push(json!({"id": company.id.to_string(), "enrollments": enrollments}));
    }
    let mut document = columns().record(organization);
    document["companies"] = Value::Array(nested);
    let table = Rows { head: vec!["COMPANY", "ENROLLMENT", ""], rows, ..Rows::default() };
    Report::new(document, records, &["organization", "companyId", "enrollmentId"], table)
}
