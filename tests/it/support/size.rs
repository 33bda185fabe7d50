//! Sizes of tests that try the same again and again: small in a plain run, by `AVERT_FULL` as large as is promised.

/// How often to try: `plain` times, or the share of `full` that `AVERT_FULL` says (1 is all, 0.01 a hundredth).
pub fn sized<N: TryFrom<u64>>(plain: u64, full: u64) -> N {
    let share = std::env::var("AVERT_FULL").map_or(0.0, |text| text.parse::<f64>().expect("AVERT_FULL is a number"));
    let share_of_full = (full as f64 * share).ceil() as u64;
    N::try_from(plain.max(share_of_full)).unwrap_or_else(|_| panic!("AVERT_FULL is too large"))
}
