//! The use cases of the alert service; the only writer of alerts.
