//! Events in the commit of their change, with a delivery to each recipient.

use super::connection::Connection;
use super::rows::new_keys;
use super::statements::micros;
use crate::domain::time::Timestamp;
use crate::domain::{DeliveryId, EventId, EventKind};
use crate::store::work::Work;

/// Records events of one kind, each of the alert in a row and with its body, with a delivery to each recipient.
pub(super) async fn record(
    conn: &Connection,
    recipients: &[i64],
    kind: &EventKind,
    events: &[(i64, String)],
    now: Timestamp,
) -> Work<()> {
    if recipients.is_empty() || events.is_empty() {
        return Ok(());
    }
    let (kind, at) = (kind.as_str(), micros(now));
    let keys = new_keys(conn, "event", events.len()).await?;
    let ids: Vec<_> = keys.iter().map(|_| EventId::generate().0).collect();
    let (alerts, bodies): (Vec<i64>, Vec<&str>) = events.iter().map(|(alert, body)| (*alert, body.as_str())).unzip();
    conn.run(
        "INSERT INTO event (key, id, alert, body, kind, at)
         SELECT n.*, $5::text, $6::bigint FROM unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::text[]) AS n",
        &[&keys, &ids, &alerts, &bodies, &kind, &at],
    )
    .await?;
    // In the order of the events, and for each in that of the recipients.
    let each = || {
        keys.iter()
            .zip(&alerts)
            .flat_map(|(event, alert)| recipients.iter().map(move |endpoint| (*event, *alert, *endpoint)))
    };
    let deliveries = new_keys(conn, "delivery", each().count()).await?;
    let ids: Vec<_> = deliveries.iter().map(|_| DeliveryId::generate().0).collect();
    let (events, alerts): (Vec<i64>, Vec<i64>) = each().map(|(event, alert, _)| (event, alert)).unzip();
    let endpoints: Vec<i64> = each().map(|(_, _, endpoint)| endpoint).collect();
    conn.run(
        "INSERT INTO delivery (key, id, event, alert, endpoint, kind, at, state, due, since)
         SELECT n.*, $6::text, $7::bigint, 'pending', $7::bigint, $7::bigint FROM unnest($1::bigint[], $2::uuid[], \
         $3::bigint[], $4::bigint[], $5::bigint[]) AS n",
        &[&deliveries, &ids, &events, &alerts, &endpoints, &kind, &at],
    )
    .await?;
    Ok(())
}
