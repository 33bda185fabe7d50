//! Known gateways, by network: an engine without it neither decides in its place nor asks the simulator what became of
//! a decision.
//!
//! The database knows, not the settings: a command that is started without its settings finds the same alerts.

use std::sync::Arc;

use super::handle::{Engine, Gateways, locked};
use crate::{domain::Provider, store::StoreResult};

impl Engine {
    /// Records which networks have a gateway, with its address, and which have none any more. Nothing is written where
    /// that is known.
    ///
    /// # Errors
    /// When the store cannot do it now.
    pub async fn keep_gateways(&self, set: impl IntoIterator<Item = (Provider, Option<String>)>) -> StoreResult<()> {
        let known = self.store().gateways().await?;
        let of = |network: &Provider| known.iter().find(|(known, _)| known == network).map(|(_, url)| url.clone());
        let changed: Vec<_> = set.into_iter().filter(|(network, url)| of(network) != *url).collect();
        if changed.is_empty() { Ok(()) } else { self.store().keep_gateways(changed).await }
    }

    /// The networks that have a gateway here, read again when something has changed.
    async fn gateways(&self) -> StoreResult<Gateways> {
        // Taken before the read: what changes meanwhile is read again.
        let number = *self.inner.changes.borrow();
        if let Some((read_at, known)) = &*locked(&self.inner.gateways)
            && *read_at == number
        {
            return Ok(Arc::clone(known));
        }
        let known = Gateways::from(self.store().gateways().await?);
        *locked(&self.inner.gateways) = Some((number, Arc::clone(&known)));
        Ok(known)
    }

    /// Returns the reason for which a network is closed from here. Another engine on this database sends its decisions
    /// to a gateway, and this one has none.
    pub(super) async fn closed(&self, network: &Provider) -> Option<String> {
        if self.inner.providers.has_own(network) {
            return None;
        }
        match self.gateways().await {
            Ok(known) => {
                let (_, url) = known.iter().find(|(known, _)| known == network)?;
                Some(format!(
                    "not sent: decisions to {network} go through a gateway here ({url}); these settings name none: \
                        give --config FILE"
                ))
            }
            // Better none than one that the wrong side has answered.
            Err(error) => Some(format!(
                "not sent: it cannot be seen whether answers to {network} go through a gateway here: {error}"
            )),
        }
    }
}
