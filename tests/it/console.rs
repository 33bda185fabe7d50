//! The console: screens as snapshots, the update function, the loop driven with injected input.
