//! Bars out of block characters.

/// A cell of a bar: lower than its line, so that bars below each other stay apart.
const ACROSS: &str = "▆";

/// How many eighths of so many cells a value takes where `most` takes all; anything but nothing takes one at least.
fn eighths(value: u64, most: u64, cells: u16) -> u64 {
    let all = u128::from(cells) * 8;
    let part = u128::from(value) * all / u128::from(most.max(1));
    u64::try_from(part.min(all)).unwrap_or(0).max(u64::from(value > 0 && cells > 0))
}

/// A bar of at most so many cells; the most there is takes all of them, and anything but nothing takes one at least.
pub fn bar(value: u64, most: u64, cells: u16) -> String {
    let filled = (eighths(value, most, cells) + 4) / 8;
    ACROSS.repeat(usize::try_from(filled).unwrap_or(0).max(usize::from(value > 0 && cells > 0)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::console::text::columns;

    #[rstest]
    #[case(8, 8, "▆▆▆▆")]
    #[case(4, 8, "▆▆")]
    #[case(3, 8, "▆▆")]
    #[case(1, 1_000, "▆")]
    #[case(0, 8, "")]
    #[case(0, 0, "")]
    #[case(9, 8, "▆▆▆▆")]
    fn a_bar_is_as_long_as_its_share(#[case] value: u64, #[case] most: u64, #[case] drawn: &str) {
        assert_eq!(bar(value, most, 4), drawn);
    }

    proptest! {
        #[test]
        fn a_bar_never_leaves_its_room(value in any::<u64>(), most in any::<u64>(), cells in 0u16..200) {
            prop_assert!(columns(&bar(value, most, cells)) <= cells);
        }
    }
}
