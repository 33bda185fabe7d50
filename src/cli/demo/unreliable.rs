//! The demo's unreliable receiver: it fails all automatic attempts of some events, and accepts them when they are
//! resent.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Seconds between the attempts of a demo: a failed delivery is to be seen within a minute.
pub(super) const GAPS_SECONDS: [i64; 3] = [3, 6, 12];

/// Number of events of which one fails. It is large enough that the endpoint earns some trust, and further attempts.
const ONE_OF: u32 = 10;

/// Number of attempts by event.
type Tries = Arc<Mutex<HashMap<String, usize>>>;

/// Starts the receiver and returns its address.
pub(super) async fn start(cancel: CancellationToken) -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let router = Router::new().route("/", post(take)).with_state(Tries::default());
    tokio::spawn(async move { axum::serve(listener, router).with_graceful_shutdown(cancel.cancelled_owned()).await });
    Ok(address)
}

async fn take(State(tries): State<Tries>, headers: HeaderMap) -> (StatusCode, &'static str) {
    let id = headers.get("webhook-id").and_then(|id| id.to_str().ok()).unwrap_or_default().to_owned();
    if !is_failed(&id) {
        return (StatusCode::OK, "taken");
    }
    let mut tries = tries.lock().unwrap_or_else(PoisonError::into_inner);
    let tried = tries.entry(id).or_default();
    *tried += 1;
    if *tried > GAPS_SECONDS.len() + 1 {
        return (StatusCode::OK, "taken");
    }
    (StatusCode::SERVICE_UNAVAILABLE, "the order system is being maintained")
}

/// Returns whether the automatic attempts of an event fail.
fn is_failed(id: &str) -> bool {
    crc32fast::hash(id.as_bytes()).is_multiple_of(ONE_OF)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn tried(tries: &Tries, id: &str) -> StatusCode {
        let mut headers = HeaderMap::new();
        headers.insert("webhook-id", id.parse().unwrap());
        take(State(Arc::clone(tries)), headers).await.0
    }

    #[tokio::test]
    async fn of_some_events_every_try_fails_and_what_is_sent_again_is_taken() {
        let tries = Tries::default();
        let failed = (0..).map(|number| format!("evt_{number}")).find(|id| is_failed(id)).unwrap();

        for _ in 0..=GAPS_SECONDS.len() {
            assert_eq!(tried(&tries, &failed).await, StatusCode::SERVICE_UNAVAILABLE);
        }

        assert_eq!(tried(&tries, &failed).await, StatusCode::OK);
        let taken = (0..).map(|number| format!("evt_{number}")).find(|id| !is_failed(id)).unwrap();
        assert_eq!(tried(&tries, &taken).await, StatusCode::OK);
    }
}
