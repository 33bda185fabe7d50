//! Counts in words and sentences: thousands grouped, as everywhere.

/// Returns a count with its thousands grouped: `1,204,331`.
pub fn count(number: u64) -> String {
    grouped(&number.to_string())
}

/// Digits in groups of three.
pub fn grouped(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns a count with its noun: `1 alert`, `2 alerts`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped() {
        assert_eq!([count(0), count(999), count(1_204_331)], ["0", "999", "1,204,331"]);
    }
}
