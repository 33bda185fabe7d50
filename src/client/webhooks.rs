//! Webhook endpoints of another avert, and the deliveries to them.

use async_trait::async_trait;
use reqwest::Method;

use super::{handle::Client, refusals::unreadable};
use crate::{
    domain::{
        Delivery, DeliveryFilter, DeliveryId, DeliveryLog, DeliveryPage, Endpoint, EndpointChange, EndpointId,
        NewEndpoint, SigningChange,
    },
    service::{ServiceError, Webhooks},
    wire::operator::{
        CreatedEndpointJson, DeliveryJson, DeliveryLogJson, DeliveryPageJson, EndpointChangeJson, EndpointJson,
        ListJson, MOST_ROWS, NewEndpointJson, NewSecretJson, RedeliveredJson, delivery_query,
    },
};

const CHANGED: &str = "it is not known whether anything changed: look at the endpoints";
const SENT: &str = "it is not known whether anything is sent: look at the deliveries";

#[async_trait]
impl Webhooks for Client {
    async fn endpoints(&self) -> Result<Vec<Endpoint>, ServiceError> {
        Ok(self.inner.ask::<ListJson<EndpointJson>>("/endpoints").await?.items())
    }

    async fn add_endpoint(&self, endpoint: NewEndpoint) -> Result<Endpoint, ServiceError> {
        let call = self.inner.call_with(Method::POST, "/endpoints", &NewEndpointJson::from(endpoint))?;
        Ok(self.inner.tell::<CreatedEndpointJson>(call, CHANGED).await?.endpoint.into())
    }

    /// Two requests where both the endpoint and its signing change, the signing first: a secret that is refused changes
    /// nothing.
    async fn change_endpoint(&self, id: EndpointId, mut change: EndpointChange) -> Result<Endpoint, ServiceError> {
        let (path, inner) = (format!("/endpoints/{id}"), &self.inner);
        let secret = format!("{path}/secret");
        let signing = match change.signing.take() {
            Some(SigningChange::Rotate { secret: new, overlap }) => {
                Some(inner.call_with(Method::POST, &secret, &NewSecretJson::of(new, overlap))?)
            }
            Some(SigningChange::Stop) => Some(inner.call(Method::DELETE, &secret)?),
            None => None,
        };
        if let Some(call) = signing {
            let endpoint = inner.tell::<CreatedEndpointJson>(call, CHANGED).await?.endpoint;
            if change == EndpointChange::default() {
                return Ok(endpoint.into());
            }
        }
        let call = inner.call_with(Method::PATCH, &path, &EndpointChangeJson::from(change))?;
        Ok(inner.tell::<EndpointJson>(call, CHANGED).await?.into())
    }

    async fn remove_endpoint(&self, id: EndpointId) -> Result<(), ServiceError> {
        let answer = self.inner.send(self.inner.call(Method::DELETE, &format!("/endpoints/{id}"))?, CHANGED).await?;
        match answer.status {
            204 => Ok(()),
            _ => Err(unreadable(&answer.exchange, CHANGED)),
        }
    }

    async fn test_endpoint(&self, id: EndpointId) -> Result<DeliveryLog, ServiceError> {
        let call =
            self.inner.call(Method::POST, &format!("/endpoints/{id}/test"))?.within(self.inner.http.write_timeout);
        Ok(self.inner.tell::<DeliveryLogJson>(call, SENT).await?.into())
    }

    /// Page by page, until there are as many as were asked for.
    async fn deliveries(&self, mut filter: DeliveryFilter) -> Result<DeliveryPage, ServiceError> {
        let mut all = Vec::new();
        loop {
            let page: DeliveryPage =
                self.inner.ask::<DeliveryPageJson>(&format!("/deliveries?{}", delivery_query(&filter))).await?.into();
            let left = filter.size.unwrap_or_default().saturating_sub(MOST_ROWS);
            all.extend(page.data);
            if page.next.is_none() || left == 0 {
                return Ok(DeliveryPage { data: all, next: page.next });
            }
            (filter.after, filter.size) = (page.next, Some(left));
        }
    }

    async fn delivery(&self, id: DeliveryId) -> Result<DeliveryLog, ServiceError> {
        Ok(self.inner.ask::<DeliveryLogJson>(&format!("/deliveries/{id}")).await?.into())
    }

    async fn redeliver(&self, id: DeliveryId) -> Result<Delivery, ServiceError> {
        let call = self.inner.call(Method::POST, &format!("/deliveries/{id}/redeliver"))?;
        Ok(self.inner.tell::<DeliveryJson>(call, SENT).await?.into())
    }

    async fn redeliver_exhausted(&self, endpoint: EndpointId) -> Result<u64, ServiceError> {
        let call = self.inner.call(Method::POST, &format!("/endpoints/{endpoint}/redeliver"))?;
        Ok(self.inner.tell::<RedeliveredJson>(call, SENT).await?.redelivered)
    }
}
