//! The dialog that asks whether everything that was given up for an endpoint is to be sent again.

use super::confirmation::Confirmation;
use crate::console::text::{count, sanitize};
use crate::console::{ClickTargets, Effect};
use crate::domain::EndpointId;

/// Asks about so many deliveries to an endpoint, or even more than were counted.
pub fn about(endpoint: EndpointId, url: &str, deliveries: u64, more: bool) -> Confirmation {
    let url = sanitize(url).into_owned();
    Confirmation {
        question: format!("Send {} again?", how_many(deliveries, more)),
        subject: Box::new(move |_| url.clone()),
        follows: "Everything that was given up for this endpoint is due at once, the oldest first, each with the \
            webhook-id that it had: a \
                  receiver that keeps to it takes none twice.",
        warning: None,
        no: "Leave them",
        yes: ('s', "Send them again"),
        effect: Effect::SendAllAgain(endpoint),
        targets: ClickTargets::default(),
    }
}

/// `214 deliveries`, `1 delivery`, `10,000 deliveries or more`.
fn how_many(deliveries: u64, more: bool) -> String {
    let word = if deliveries == 1 { "delivery" } else { "deliveries" };
    format!("{} {word}{}", count(deliveries), if more { " or more" } else { "" })
}
