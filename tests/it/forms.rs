//! Resolve form and filter form: rules, snapshots.
