//! Subscriptions of endpoints: which events go where.

use crate::{
    cells::{BoundValues, StoredRow},
    domain::{EventKind, EventTemplate, Provider, Subscription},
    error::{Work, WorkFault},
    sql::StoreRows,
};

/// The columns of a subscription.
const SUBSCRIPTION: &str = "e.events, e.providers, e.template, e.minutes";

/// Reads the columns of a subscription from this one on.
pub(super) fn subscription(row: &StoredRow<'_>, from: usize) -> Work<Subscription> {
    let words = |column| Ok::<_, WorkFault>(row.get::<&str>(column)?.split(',').filter(|word| !word.is_empty()));
    Ok(Subscription {
        events: words(from)?.map(EventKind::parse).collect(),
        providers: words(from + 1)?.map(Provider::parse).collect(),
        template: EventTemplate::parse(row.get(from + 2)?),
        minutes: row.get(from + 3)?,
    })
}

/// An enabled endpoint, and the events that go there.
pub(super) struct Recipient {
    pub(super) key: i64,
    pub(super) organization: i64,
    pub(super) subscription: Subscription,
}

/// The enabled endpoints that meet a condition, with the lock of PostgreSQL that is asked for.
pub(super) async fn enabled(
    rows: &StoreRows<'_>,
    condition: &str,
    values: BoundValues<'_>,
    lock: &str,
) -> Work<Vec<Recipient>> {
    let enabled = format!(
        "SELECT {SUBSCRIPTION}, e.key, e.organization FROM endpoint e WHERE e.disabled_at IS NULL AND {condition}
        ORDER BY e.key{lock}"
    );
    let read = |row: &StoredRow<'_>| {
        Ok(Recipient { subscription: subscription(row, 0)?, key: row.get(4)?, organization: row.get(5)? })
    };
    rows.all(&enabled, values, read).await
}

/// The endpoints that an organization's events can go to. None of them is disabled before this unit of work ends:
/// nothing would cancel what is recorded for it here.
pub(super) async fn recipients(rows: &StoreRows<'_>, organization: i64) -> Work<Vec<Recipient>> {
    enabled(rows, "e.organization = ?1", &[&organization], "/*+ FOR KEY SHARE*/").await
}

/// The keys of those that an event of an alert goes to.
pub(super) fn takers(recipients: &[Recipient], kind: &EventKind, provider: &Provider) -> Vec<i64> {
    let takes = |recipient: &&Recipient| recipient.subscription.takes(kind, Some(provider));
    recipients.iter().filter(takes).map(|recipient| recipient.key).collect()
}
