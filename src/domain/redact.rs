//! Redaction: our own secrets and card numbers out of text that others wrote, and the exchange behind an error's words.

use std::borrow::Cow;

use crate::{
    card::mask_card_numbers,
    sanitize::{line, stored_line},
};

/// Replacement of a secret.
pub const REDACTED: &str = "****";
/// Shorter secrets would redact half of every text, and guard nothing.
const SHORTEST_SECRET: usize = 4;
/// Most characters of another system's words.
const MOST_WORDS: usize = 200;

/// Returns the text without these secrets, should it repeat one.
pub fn secrets<S: AsRef<str>>(text: String, secrets: impl IntoIterator<Item = S>) -> String {
    secrets.into_iter().fold(text, |text, secret| match secret.as_ref() {
        secret if secret.len() >= SHORTEST_SECRET && text.contains(secret) => text.replace(secret, REDACTED),
        _ => text,
    })
}

/// Returns the text without the queries of addresses in it: what an address carries there may be a secret.
pub fn queries(text: &str) -> String {
    let masked = text.split(' ').map(|word| match word.split_once('?') {
        Some((address, query)) if address.contains("://") && !query.is_empty() => {
            let end = if query.ends_with(',') { "," } else { "" };
            format!("{address}?{REDACTED}{end}")
        }
        _ => word.to_owned(),
    });
    masked.collect::<Vec<_>>().join(" ")
}

/// Returns the text without the user names and passwords of addresses in it. One that is not percent-encoded may hold
/// any letter: all goes up to the last `@` of the line.
pub fn passwords(text: &str) -> String {
    let redacted = text.split('\n').map(|line| match line.split_once("://") {
        Some((scheme, rest)) => match rest.rfind('@') {
            Some(at) => format!("{scheme}://{REDACTED}{}", &rest[at..]),
            None => line.to_owned(),
        },
        None => line.to_owned(),
    });
    redacted.collect::<Vec<_>>().join("\n")
}

/// Returns another system's words for a message or the log: one line that is safe to show, at most 200 characters, no
/// card number.
pub fn words(text: &str) -> String {
    // Masked before it is cut: of a number that the cut goes through, the rest could no longer be told from other
    // digits.
    let mut words = mask_card_numbers(&line(&stored_line(text))).into_owned();
    if let Some((end, _)) = words.char_indices().nth(MOST_WORDS) {
        words.truncate(end);
        // A joiner at the end may have lost what it joined.
        return line(&words).into_owned();
    }
    words
}

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
    use proptest::prelude::*;
    use rstest::rstest;

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

    #[rstest]
    #[case("no 'postgres://desk:ho/r@se@db/desk' here", "no 'postgres://****@db/desk' here")]
    #[case(
        "no 'postgres://desk:it's \"ho://r@se\"@db/desk' here\ntry a@b",
        "no 'postgres://****@db/desk' here\ntry a@b"
    )]
    #[case("a@b and http://shop.example/", "a@b and http://shop.example/")]
    #[case("", "")]
    fn what_an_address_says_of_its_user_is_redacted(#[case] text: &str, #[case] kept: &str) {
        assert_eq!(passwords(text), kept);
    }

    #[rstest]
    #[case("wrong token tok-abcdef, tok-abcdef", &["tok-abcdef"], "wrong token ****, ****")]
    #[case("no: hunter22, ZGVzazpodW50ZXIyMg==", &["ZGVzazpodW50ZXIyMg==", "hunter22"], "no: ****, ****")]
    #[case("banana", &["a", "ana"], "banana")]
    #[case("banana", &["", "anan"], "b****a")]
    fn a_secret_that_comes_back_is_redacted_unless_it_is_too_short(
        #[case] text: &str,
        #[case] ours: &[&str],
        #[case] kept: &str,
    ) {
        assert_eq!(secrets(text.to_owned(), ours), kept);
    }

    #[rstest]
    #[case("https://a.example/?token=x", "https://a.example/?****")]
    #[case("url https://a.example/h?t=x&y=z, credential Basic", "url https://a.example/h?****, credential Basic")]
    #[case("https://a.example/h? why? https://a.example", "https://a.example/h? why? https://a.example")]
    fn the_queries_of_addresses_are_redacted(#[case] text: &str, #[case] kept: &str) {
        assert_eq!(queries(text), kept);
        assert_eq!(queries(kept), kept);
    }

    #[test]
    fn a_providers_words_are_short_and_hold_no_card_number() {
        let words = words(&format!("card 4111111111111111 {}", "x".repeat(500)));

        assert!(words.starts_with("card 411111******1111 "), "{words}");
        assert!(words.chars().count() <= 200);
    }

    #[test]
    fn a_card_number_that_the_cut_goes_through_is_masked_too() {
        let words = words(&format!("{} 4111111111111111", "x".repeat(187)));

        assert!(words.ends_with("x 411111******"), "{words}");
    }

    proptest! {
        #[test]
        fn words_are_safe_to_show(text in any::<String>(), most in 190usize..210) {
            let words = words(&format!("{}\u{200d}{text}", "x".repeat(most)));
            prop_assert_eq!(line(&words), words.as_str());
            prop_assert!(words.chars().count() <= 200);
        }
    }
}
