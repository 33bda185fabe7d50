//! The context that the units of work of a store share.

use std::sync::Arc;

use crate::{
    domain::{DatabaseId, InstanceId, event::RenderEvent},
    key_file::DataKey,
};

/// The context that units of work share.
pub(super) struct StoreContext {
    /// Writes the bodies of events.
    pub(super) render: Arc<dyn RenderEvent>,
    pub(super) data_key: DataKey,
    pub(super) database: DatabaseId,
    /// This process.
    pub(super) own: InstanceId,
}
