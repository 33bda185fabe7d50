//! A real webhook receiver whose answers a test can change while it runs.
