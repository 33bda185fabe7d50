//! Criterion benchmarks.

fn main() {}
