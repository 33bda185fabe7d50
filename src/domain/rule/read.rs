//! Reading rules: `NAME: QUERY -> refunded|not-refunded|invalid REASON ["comment"]`, a line each.

use super::{DecisionRule, RuleError};
use crate::{
    query::{Vocabulary, parse_as_said, quoted},
    resolution::{Decision, InvalidReason, valid_comments},
};

/// Most characters of a rule's name.
const LONGEST_NAME: usize = 60;

/// Reads rules in their order.
///
/// # Errors
/// When lines are not allowed: each of them, with its number and the allowed form.
pub fn parse_rules(text: &str) -> Result<Vec<DecisionRule>, Vec<RuleError>> {
    let (mut rules, mut errors): (Vec<DecisionRule>, Vec<RuleError>) = Default::default();
    for (line, text) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let text = without_comment(text).trim();
        if text.is_empty() {
            continue;
        }
        let rule = rule(text, line).and_then(|rule| {
            let same = rules.iter().find(|other| other.name.eq_ignore_ascii_case(&rule.name));
            same.map_or(Ok(()), |same| {
                Err(format!("{} is the rule in line {} already: a name of its own is needed", rule.name, same.line))
            })?;
            Ok(rule)
        });
        match rule {
            Ok(rule) => rules.push(rule),
            Err(message) => errors.push(RuleError { line, message }),
        }
    }
    if errors.is_empty() { Ok(rules) } else { Err(errors) }
}

/// Returns a line without the comment behind it: `#` begins one where a word may begin, but not in quotes.
fn without_comment(line: &str) -> &str {
    let begins = |at: usize| line[..at].chars().next_back().is_none_or(char::is_whitespace);
    outside_quotes(line).find(|(at, c)| *c == '#' && begins(*at)).map_or(line, |(at, _)| &line[..at])
}

/// Returns the characters of a line that stand outside its quotes.
fn outside_quotes(line: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut quoted, mut escaped) = (false, false);
    line.char_indices().filter(move |(_, c)| {
        let outside = !quoted;
        match c {
            _ if std::mem::take(&mut escaped) => {}
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => {}
        }
        outside
    })
}

fn rule(text: &str, line: usize) -> Result<DecisionRule, String> {
    const FORM: &str = "NAME: QUERY -> refunded|not-refunded|invalid REASON [\"comment\"]";
    let (name, rest) = text.split_once(':').ok_or_else(|| format!("a name and a colon are missing: {FORM}"))?;
    let name = name.trim();
    if name.is_empty() || name.chars().count() > LONGEST_NAME || name.contains(['"', '#']) || name.contains("->") {
        return Err(format!(
            "{name:?} is no name: 1 to {LONGEST_NAME} characters without quotes are needed, then a colon: {FORM}"
        ));
    }
    let arrow = outside_quotes(rest).filter(|(at, _)| rest[*at..].starts_with("->")).last();
    let (at, _) = arrow.ok_or_else(|| format!("-> and a decision are missing: {FORM}"))?;
    let (query, answer) = (rest[..at].trim(), rest[at + 2..].trim());
    if query.is_empty() {
        return Err("the query is empty: a rule for every alert says provider:ethoca,verifi,cdrn".to_owned());
    }
    let (filter, sort) = parse_as_said(query, Vocabulary::Desk).map_err(|error| error.to_string())?;
    if sort.is_some() {
        return Err("sort: means nothing in a rule: the first rule that matches wins".to_owned());
    }
    if !filter.outcomes.is_empty() || filter.expired.is_some() {
        return Err(
            "outcome: and expired: mean nothing in a rule: it is asked while an alert waits for its answer".to_owned()
        );
    }
    let (words, comments) = comments(answer)?;
    let decision = decision(words)?;
    let comments = valid_comments(&comments).map_err(|why| format!("the comment {why}"))?;
    Ok(DecisionRule { name: name.to_owned(), line, text: query.to_owned(), filter, decision, comments })
}

/// Returns the words of an answer, and the comment behind them.
fn comments(answer: &str) -> Result<(&str, String), String> {
    let Some((words, rest)) = answer.split_once('"') else { return Ok((answer, String::new())) };
    let (comment, end) = quoted(rest).ok_or("the comment is not closed: write a \" behind it")?;
    match rest[end..].trim() {
        "" => Ok((words, comment)),
        behind => Err(format!("{behind:?} stands behind the comment: nothing comes after it")),
    }
}

fn decision(words: &str) -> Result<Decision, String> {
    let folded: Vec<String> =
        words.split_whitespace().map(|word| word.to_ascii_lowercase().replace('_', "-")).collect();
    let reasons = || InvalidReason::ALL.map(short).join(", ");
    match folded.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["refunded"] => Ok(Decision::Refunded),
        ["not-refunded"] => Ok(Decision::NotRefunded),
        ["invalid"] => Err(format!("invalid needs its reason: {}", reasons())),
        ["invalid", word] => {
            let word = word.strip_prefix("not-refunded-").or(word.strip_prefix("refunded-")).unwrap_or(word);
            let known = |reason: &InvalidReason| short(*reason) == word;
            let reason = InvalidReason::ALL.into_iter().find(known);
            reason.map(Decision::Invalid).ok_or_else(|| format!("{word} is no reason: {}", reasons()))
        }
        _ => Err(format!("{words:?} is no decision: refunded, not-refunded or invalid with a reason ({})", reasons())),
    }
}

/// Returns the short word for a reason: the interface's own without what it says of the money.
fn short(reason: InvalidReason) -> String {
    reason.code().replace('_', "-")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[test]
    fn rules_are_read_in_their_order_with_their_lines() {
        let text = "# small ones are not worth a dispute\n\nSmall orders: amount<25 currency:EUR -> refunded \"below \
            the fee, ticket #7\" # ours\n\
                    strangers: descriptor:\"a -> b\" -> Invalid NOT_REFUNDED_NOT_FOUND\ngone: mcc:5941 -> \
                    not-refunded\n";

        let rules = parse_rules(text).unwrap();

        let seen: Vec<_> =
            rules.iter().map(|rule| (rule.line, rule.name.as_str(), rule.decision, rule.comments.as_str())).collect();
        assert_eq!(
            seen,
            [
                (3, "Small orders", Decision::Refunded, "below the fee, ticket #7"),
                (4, "strangers", Decision::Invalid(InvalidReason::NotFound), ""),
                (5, "gone", Decision::NotRefunded, ""),
            ]
        );
        assert_eq!(
            (rules[0].text.as_str(), rules[1].filter.descriptor.as_deref()),
            ("amount<25 currency:EUR", Some("a -> b"))
        );
    }

    #[rstest]
    #[case("refund everything", "a name and a colon are missing")]
    #[case(": mcc:1 -> refunded", "is no name")]
    #[case("a: mcc:1", "-> and a decision are missing")]
    #[case("a: -> refunded", "the query is empty")]
    #[case("a: colour:red -> refunded", "there is no colour")]
    #[case("a: amount<25 -> refunded", "currency:EUR")]
    #[case("a: mcc:1 sort:amount -> refunded", "sort: means nothing")]
    #[case("a: outcome:resolved -> refunded", "while an alert waits")]
    #[case("a: expired:yes -> refunded", "while an alert waits")]
    #[case("a: mcc:1 -> invalid", "previously-refunded, chargeback-received, duplicate, not-found")]
    #[case("a: mcc:1 -> invalid because", "because is no reason")]
    #[case("a: mcc:1 -> maybe", "is no decision")]
    #[case("a: mcc:1 -> refunded soon", "is no decision")]
    #[case("a: mcc:1 -> refunded \"soon", "not closed")]
    #[case("a: mcc:1 -> refunded \"soon\" and", "nothing comes after it")]
    fn a_wrong_line_is_told_with_its_number_and_what_is_allowed(#[case] line: &str, #[case] words: &str) {
        let errors = parse_rules(&format!("# rules\n{line}\n")).unwrap_err();

        assert_eq!((errors.len(), errors[0].line), (1, 2));
        assert!(errors[0].message.contains(words), "{}", errors[0].message);
    }

    #[test]
    fn signs_that_divide_a_line_may_stand_in_words_and_in_quotes() {
        let text = "\u{feff}a: descriptor:A#1->B -> refunded \"say \\\" -> # so\" # ours";

        let rules = parse_rules(text).unwrap();

        let seen: Vec<_> =
            rules.iter().map(|rule| (rule.name.as_str(), rule.text.as_str(), rule.comments.as_str())).collect();
        assert_eq!(seen, [("a", "descriptor:A#1->B", "say \" -> # so")]);
    }

    #[test]
    fn a_name_has_at_most_sixty_characters() {
        let rules = [60, 61].map(|length| parse_rules(&format!("{}: mcc:1 -> refunded", "é".repeat(length))));

        assert!(rules[0].is_ok() && rules[1].is_err());
    }

    #[test]
    fn every_wrong_line_is_told_and_two_rules_have_two_names() {
        let errors = parse_rules("a: mcc:1 -> refunded\nA: mcc:2 -> refunded\nnonsense\n").unwrap_err();

        assert_eq!(errors.iter().map(|error| error.line).collect::<Vec<_>>(), [2, 3]);
        assert!(errors[0].message.contains("line 1"), "{}", errors[0].message);
    }

    #[test]
    fn a_comment_that_is_too_long_is_refused_and_a_card_number_in_it_masked() {
        let long = parse_rules(&format!("a: mcc:1 -> refunded \"{}\"", "x".repeat(251))).unwrap_err();
        let masked = parse_rules("a: mcc:1 -> refunded \"card 4111111111111111\"").unwrap();

        assert!(long[0].message.contains("250"), "{}", long[0].message);
        assert_eq!(masked[0].comments, "card 411111******1111");
    }

    proptest! {
        #[test]
        fn no_text_makes_reading_panic(text in "(\\PC|[a-z:\"#> -]|\n){0,80}") {
            if let Err(errors) = parse_rules(&text) {
                prop_assert!(errors.iter().all(|error| error.line >= 1 && error.line <= text.lines().count()));
            }
        }
    }
}
