//! Out to the alert networks: the trait every provider stands behind, with its capabilities.
