//! Deliveries to real receivers: bodies, credentials, retries, order.
