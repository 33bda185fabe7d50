//! The time budget of one list: over it, the list is refused and its read is cancelled.

use std::time::Duration;

use super::problem::{Code, Problem};
use crate::{domain::AlertFilter, service::ServiceError};

/// Advice for a list over its budget that has nothing to leave out.
pub(super) const AGAIN: &str = "try again in a moment";

/// Waits for a list within its budget; over it, the refusal gives this advice. The read ends as soon as nobody waits
/// for it.
pub(super) async fn within<T>(
    budget: Duration,
    advice: &str,
    list: impl Future<Output = Result<T, ServiceError>>,
) -> Result<T, Problem> {
    tokio::select! {
        biased;
        list = list => Ok(list?),
        () = passed(budget) => {
            let seconds = budget.as_secs_f32();
            Err(Problem::new(Code::Overloaded, format!("the answer was not ready within {seconds} s: {advice}")))
        }
    }
}

/// Waits until a budget is spent; none at all is spent at once, where a timer would take its next tick.
async fn passed(budget: Duration) {
    if !budget.is_zero() {
        tokio::time::sleep(budget).await;
    }
}

/// The advice to add a filter.
pub(super) fn add(filter: &str) -> String {
    format!("add {filter} to the query, so that there is less to look at")
}

/// The filter that a query lacks and that leaves least to look at.
pub(super) fn missing_filter(filter: &AlertFilter) -> &'static str {
    if filter.start_date.is_none() || filter.end_date.is_none() {
        "startDate and endDate"
    } else if filter.statuses.is_empty() {
        "status"
    } else if filter.providers.is_empty() {
        "provider"
    } else if filter.types.is_empty() {
        "type"
    } else {
        "a startDate and endDate that are closer together"
    }
}

#[cfg(test)]
mod tests {
    use axum::http::header::RETRY_AFTER;
    use axum::response::IntoResponse;
    use chrono::NaiveDate;
    use rstest::rstest;

    use super::*;
    use crate::domain::{AlertStatus, AlertType, Provider};

    #[tokio::test]
    async fn a_list_that_takes_too_long_is_overload_and_names_the_filter() {
        let refused = within::<()>(Duration::ZERO, &add("status"), std::future::pending()).await.unwrap_err();

        assert_eq!(refused.code(), Code::Overloaded);
        assert!(String::from_utf8(refused.body("r-1")).unwrap().contains("add status to the query"));
        assert!(refused.into_response().headers().contains_key(RETRY_AFTER));
    }

    #[tokio::test]
    async fn a_list_within_its_time_is_what_it_is() {
        let ready = within(Duration::from_secs(60), AGAIN, async { Ok(7) }).await;

        assert_eq!(ready.ok(), Some(7));
    }

    fn whole() -> AlertFilter {
        let day = NaiveDate::from_ymd_opt(2026, 3, 10);
        AlertFilter {
            start_date: day,
            end_date: day,
            statuses: vec![AlertStatus::Open],
            providers: vec![Provider::Ethoca],
            types: vec![AlertType::EthocaConfirmedFraud],
            ..AlertFilter::default()
        }
    }

    #[rstest]
    #[case(AlertFilter::default(), "startDate and endDate")]
    #[case(AlertFilter { end_date: None, ..whole() }, "startDate and endDate")]
    #[case(AlertFilter { statuses: Vec::new(), ..whole() }, "status")]
    #[case(AlertFilter { providers: Vec::new(), ..whole() }, "provider")]
    #[case(AlertFilter { types: Vec::new(), ..whole() }, "type")]
    #[case(whole(), "a startDate and endDate that are closer together")]
    fn the_filter_that_is_named_is_one_that_the_query_lacks(#[case] filter: AlertFilter, #[case] named: &str) {
        assert_eq!(missing_filter(&filter), named);
    }
}
