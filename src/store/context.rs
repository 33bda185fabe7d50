//! The context that the units of work of a store share.

use crate::{
    domain::{DatabaseId, InstanceId, RenderEvent},
    key_file::DataKey,
};

/// The context that units of work share.
pub(super) struct StoreContext {
    /// Writes the bodies of events.
    pub(super) render: RenderEvent,
    pub(super) data_key: DataKey,
    pub(super) database: DatabaseId,
    /// This process.
    pub(super) own: InstanceId,
}
