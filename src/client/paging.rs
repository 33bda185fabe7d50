//! Paging of a list whose deployment gives fewer rows a page than it is asked for: a page is put together from its
//! smaller ones.

use super::{
    http::Answer,
    inner::Inner,
    reading::{self, PageAnswer},
    refusals::refused_read,
};
use crate::{
    domain::{Alert, AlertQuery, Page, PageRequest},
    service::ServiceError,
    wire::query,
};

/// The query string of what is asked. What no parameter says is refused here, and nothing is sent.
pub(super) fn written(query: &AlertQuery, company_parameter: &str) -> Result<String, ServiceError> {
    query::write(query, company_parameter).map_err(|error| ServiceError::InvalidRequest(vec![error]))
}

impl Inner {
    /// A page of the list, with all its rows.
    pub(super) async fn list(&self, query: &AlertQuery) -> Result<Page<Alert>, ServiceError> {
        if let Some(cap) = self.page_cap.get().filter(|cap| *cap < query.page.size) {
            return self.put_together(query, cap).await;
        }
        let answer = self.page(query, query.page).await?;
        match self.page_cap.learn(query.page, &answer) {
            Some(cap) => self.put_together(query, cap).await,
            None => Ok(answer.page),
        }
    }

    async fn page(&self, query: &AlertQuery, page: PageRequest) -> Result<PageAnswer, ServiceError> {
        let query = AlertQuery { page, ..query.clone() };
        reading::page(&self.list_answer(&query).await?, page)
    }

    /// The answer to a query of the list, which is a good one.
    pub(super) async fn list_answer(&self, query: &AlertQuery) -> Result<Answer, ServiceError> {
        let answer = self.read(&self.base.alerts(&written(query, &self.company_parameter)?)).await?;
        match answer.status {
            200..=299 => Ok(answer),
            _ => Err(refused_read(&answer, None)),
        }
    }

    /// The rows of a page from as many of this size as they lie in.
    async fn put_together(&self, query: &AlertQuery, cap: u32) -> Result<Page<Alert>, ServiceError> {
        let PageRequest { page, size } = query.page;
        let (first, width) = (page.saturating_mul(size.into()), u64::from(cap));
        let end = first.saturating_add(size.into());
        let mut whole = Page { data: Vec::new(), total: 0, counted: true, page, size };
        for part in first / width..end.div_ceil(width) {
            let PageAnswer { page: read, rows } = self.page(query, PageRequest { page: part, size: cap }).await?;
            (whole.total, whole.counted) = (read.total, read.counted);
            let places = part * width..;
            whole.data.extend(
                places.zip(read.data).filter(|(place, _)| (first..end).contains(place)).map(|(_, alert)| alert),
            );
            if rows < cap || read.counted && (part + 1) * width >= read.total {
                break;
            }
        }
        Ok(whole)
    }
}
