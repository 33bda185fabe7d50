//! Exchange behind the words of an error, for the operators of the other side. Where room is short it gives way to the
//! reader's next step.

use std::borrow::Cow;

/// Words about an exchange, with it behind them.
pub fn with_exchange(words: &str, exchange: &str) -> String {
    format!("{words} ({exchange})")
}

/// Words without the exchanges in them: `network refused: closed (PUT /alerts/7: 400, request r-7)` is `network
/// refused: closed`.
pub fn without_exchange(words: &str) -> Cow<'_, str> {
    let mut left = Cow::Borrowed(words);
    while let Some((from, to)) = find(&left) {
        left.to_mut().replace_range(from..to, "");
    }
    left
}

/// Returns the position of an exchange, with the blank before it: a method in capitals and a path, in brackets.
fn find(words: &str) -> Option<(usize, usize)> {
    words.match_indices(" (").find_map(|(from, opening)| {
        let inside = &words[from + opening.len()..];
        let (method, rest) = inside.split_once(' ')?;
        let is_method = method.len() >= 3 && method.bytes().all(|byte| byte.is_ascii_uppercase());
        let end = inside.find(')').filter(|_| is_method && rest.starts_with('/'))?;
        Some((from, from + opening.len() + end + 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_behind_words_is_taken_off_again_wherever_more_was_said_after_it() {
        let told = with_exchange("closed by the issuer", "PUT /sandbox/api/v1/alerts/7/resolution: 400, request r-7");

        let short =
            [told.clone(), format!("network refused: {told}; nothing was sent"), format!("{told}, then {told}")];

        assert_eq!(
            short.map(|words| without_exchange(&words).into_owned()),
            [
                "closed by the issuer",
                "network refused: closed by the issuer; nothing was sent",
                "closed by the issuer, then closed by the issuer"
            ]
        );
    }

    #[test]
    fn other_brackets_stay() {
        for words in
            ["INVALID (duplicate alert)", "it answered 500 (a fault)", "INVALID (NOT FOUND)", "lost (PUT nothing", ""]
        {
            assert_eq!(without_exchange(words), words);
        }
    }
}
