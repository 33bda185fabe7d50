//! Full-text search over all fields of another avert's alerts.

use async_trait::async_trait;
use url::form_urlencoded::Serializer;

use super::handle::Client;
use super::reading;
use crate::domain::{Alert, FindQuery, PageRequest};
use crate::service::{Find, ServiceError};

#[async_trait]
impl Find for Client {
    async fn find(&self, query: &FindQuery, size: u32) -> Result<Vec<Alert>, ServiceError> {
        let parameters = Serializer::new(String::new())
            .append_pair("q", query.text())
            .append_pair("size", &size.to_string())
            .finish();
        let answer = self.inner.read_route(&format!("/find?{parameters}")).await?;
        Ok(reading::page(&answer, PageRequest { page: 0, size })?.page.data)
    }
}
