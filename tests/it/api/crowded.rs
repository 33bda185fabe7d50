//! One caller does not stop the others: lists that take long, bodies that do not come, connections that do nothing.

use std::time::Duration;

use avert::api::ApiOptions;
use avert::domain::AlertId;

use super::served::{Served, refused};
use crate::support::alerts::open_alert;

#[tokio::test]
async fn a_list_over_its_time_is_given_up_and_told_which_filter_to_add() {
    let served = Served::with(ApiOptions { list_timeout: Duration::ZERO, ..ApiOptions::default() }).await;
    served.ingest((0..20).map(|_| open_alert(&AlertId::generate().to_string())).collect()).await;
    let mut given_up = 0;

    // One that is ready at its first look may come all the same.
    for _ in 0..20 {
        let answer = served.get("/api/v1/alerts?q=a&sortField=issuer&size=20").await;
        if answer.status() != 200 {
            assert_eq!(answer.headers()["retry-after"], "1");
            let problem = refused(answer, 503, "overloaded").await;
            assert!(problem["detail"].as_str().unwrap().contains("add startDate and endDate"), "{problem}");
            given_up += 1;
        }
    }

    assert!(given_up > 0);
}
