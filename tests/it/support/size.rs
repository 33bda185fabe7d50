//! Sizes of tests that try the same again and again: small in a plain run, by `AVERT_FULL` as large as is promised.

/// How often to try: `plain` times, or the part of `full` that `AVERT_FULL` says (1 is all, 100 a hundredth).
pub fn sized<N: TryFrom<u64>>(plain: u64, full: u64) -> N {
    let part = std::env::var("AVERT_FULL").map(|text| text.parse::<u64>().expect("AVERT_FULL is a whole number"));
    let size = part.map_or(plain, |part| plain.max(full.div_ceil(part)));
    N::try_from(size).unwrap_or_else(|_| panic!("AVERT_FULL makes it too large"))
}
