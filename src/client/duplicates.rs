//! The search for duplicates over another avert's alerts.

use std::collections::HashSet;

use async_trait::async_trait;

use super::handle::Client;
use super::reading;
use crate::domain::filter::MAX_PAGE_SIZE;
use crate::domain::{Alert, AlertId, PageRequest, duplicate};
use crate::service::{Duplicates, ServiceError};

#[async_trait]
impl Duplicates for Client {
    async fn duplicates(&self, ids: Vec<AlertId>) -> Result<Vec<(AlertId, Vec<Alert>)>, ServiceError> {
        let mut found: Vec<(AlertId, Vec<Alert>)> = Vec::with_capacity(ids.len());
        for ids in ids.chunks(MAX_PAGE_SIZE as usize) {
            let asked: HashSet<AlertId> = ids.iter().copied().collect();
            let names: Vec<String> = ids.iter().map(ToString::to_string).collect();
            let answer = self.inner.read_route(&format!("/duplicates?ids={}", names.join(","))).await?;
            let all = reading::page(&answer, PageRequest { page: 0, size: MAX_PAGE_SIZE })?.page.data;
            // All on one list: which are on whose payment is told by their facts, as it is everywhere.
            let of = |alert: &Alert| (alert.id, duplicate::of(alert, &all).into_iter().cloned().collect());
            found.extend(all.iter().filter(|alert| asked.contains(&alert.id)).map(of));
        }
        Ok(found)
    }
}
