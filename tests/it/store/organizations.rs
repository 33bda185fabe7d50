//! Organizations, and the companies and enrollments of each.

use avert::{
    domain::{Company, CompanyId, EnrollmentId, Organization, OrganizationId},
    store::{OrganizationRecord, StoreError},
};

use super::{Fixture, row};
use crate::support::alerts::{noon, open_alert};

contract!(
    an_organization_is_added_once_by_its_name,
    an_organization_has_its_default_company_and_what_its_alerts_name,
    the_same_company_id_in_two_organizations_is_two_companies,
    the_same_alert_id_in_two_organizations_is_two_alerts,
);

pub(super) fn organization(name: &str) -> OrganizationRecord {
    OrganizationRecord {
        organization: Organization { id: OrganizationId::generate(), name: name.to_owned() },
        default_company: CompanyId::generate(),
        default_enrollment: EnrollmentId::generate(),
    }
}

async fn an_organization_is_added_once_by_its_name(fixture: Fixture) {
    let added = organization("another");
    fixture.store.add_organization(added.clone(), noon()).await.unwrap();

    let again = fixture.store.add_organization(organization("another"), noon()).await;

    assert!(matches!(&again, Err(StoreError::Conflict(what)) if what.contains("another")), "{again:?}");
    let all = fixture.store.organizations().await.unwrap();
    assert_eq!(all.iter().map(|one| one.organization.name.as_str()).collect::<Vec<_>>(), ["another", "default"]);
    assert_eq!(all[0], added);
}

async fn an_organization_has_its_default_company_and_what_its_alerts_name(fixture: Fixture) {
    let default = fixture.store.organizations().await.unwrap().remove(0);
    let fresh = fixture.store.companies(fixture.organization).await.unwrap();
    let (company, enrollments) = (CompanyId::generate(), [EnrollmentId::generate(), EnrollmentId::generate()]);
    let named = enrollments.map(|enrollment| {
        let mut alert = open_alert(&enrollment.to_string());
        (alert.company_id, alert.enrollment_id) = (Some(company), Some(enrollment));
        alert
    });

    fixture.bring(&named).await;
    fixture.store.ingest(fixture.organization, vec![row(&named[0], false)], noon()).await.unwrap();

    let own = Company { id: default.default_company, enrollments: vec![default.default_enrollment] };
    assert_eq!(fresh, std::slice::from_ref(&own));
    let mut expected = vec![own, Company { id: company, enrollments: enrollments.into() }];
    expected.sort_by_key(|company| company.id);
    assert_eq!(fixture.store.companies(fixture.organization).await.unwrap(), expected);
    assert_eq!(fixture.store.companies(OrganizationId::generate()).await.unwrap(), []);
}

async fn the_same_company_id_in_two_organizations_is_two_companies(fixture: Fixture) {
    let another = organization("another");
    fixture.store.add_organization(another.clone(), noon()).await.unwrap();
    let mut alert = open_alert("P1");
    (alert.company_id, alert.enrollment_id) = (Some(CompanyId::generate()), Some(EnrollmentId::generate()));

    fixture.bring(std::slice::from_ref(&alert)).await;

    let companies = async |id| fixture.store.companies(id).await.unwrap();
    assert_eq!(companies(another.organization.id).await.len(), 1);
    fixture.store.ingest(another.organization.id, vec![row(&alert, false)], noon()).await.unwrap();
    assert_eq!(companies(another.organization.id).await.len(), 2);
    assert_eq!(companies(fixture.organization).await.len(), 2);
}

async fn the_same_alert_id_in_two_organizations_is_two_alerts(fixture: Fixture) {
    let another = organization("another");
    fixture.store.add_organization(another.clone(), noon()).await.unwrap();
    let ours = open_alert("P1");
    let theirs = avert::domain::Alert { issuer: "Another Bank".to_owned(), ..ours.clone() };
    fixture.bring(std::slice::from_ref(&ours)).await;

    let report = fixture.store.ingest(another.organization.id, vec![row(&theirs, false)], noon()).await.unwrap();

    assert_eq!((report.created, report.updated), (1, 0));
    assert_eq!(fixture.get(&ours).await.issuer, "HSBC");
    assert_eq!(
        fixture.store.get_alert(another.organization.id, ours.id).await.unwrap().unwrap().issuer,
        "Another Bank"
    );
}
