//! Out to the merchant: the deliveries that the outbox holds.
