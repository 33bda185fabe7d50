//! The filter that plain words mean: states, answers, days and merchant categories, which no text of an alert says.

use super::words::Vocabulary;
use crate::domain::calendar::parse_day;
use crate::domain::code_words::{is_merchant_category, merchant_categories, merchant_category};
use crate::domain::resolution::OlderWord;
use crate::domain::{AlertFilter, AlertStatus, Calendar, CalendarDay};

/// Largest number of merchant categories that words may name, unless they are all of one's words. `shop` names none,
/// nor does `hotel`, which has some hundred codes; `car rental` does.
const MOST_CATEGORIES: usize = 6;

/// Returns the filter that words mean: a state (`expired`), an answer (`not found`), a UTC day (`2026-11-24`) or a
/// merchant category. The day is that of the alert, or of the refund where that is said and lists can filter by it. The
/// category is a code (`4722`) or its words (`travel agencies`), where lists can filter by it. The other words are
/// searched for. A time behind a day and a reason in brackets behind an answer, as they are shown, are ignored. `None`
/// where no word means any of these.
pub fn meant(text: &str, vocabulary: Vocabulary) -> Option<AlertFilter> {
    let words = words_of(text);
    if let [word] = words.as_slice()
        && let Some(filter) = alone(word, vocabulary)
    {
        return Some(filter);
    }
    let mut filter = AlertFilter::default();
    let mut rest: Vec<&str> = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if word == "not"
            && words.get(at + 1).is_some_and(|next| next != "found" && add(&mut AlertFilter::default(), next))
        {
            // No list leaves a state out; the network's word for this one is another state.
            if words[at + 1] != "refunded" {
                return None;
            }
            include(&mut filter.statuses, AlertStatus::Chargeback);
            at += 2;
            continue;
        }
        let pair = words.get(at + 1).map(|next| format!("{word}_{next}"));
        if let Some(pair) = pair.filter(|pair| add(&mut filter, pair)) {
            at += pair.split('_').count();
            continue;
        }
        if !add(&mut filter, word) {
            rest.push(word);
        }
        at += 1;
    }
    if filter == AlertFilter::default() {
        return of_categories(&rest, vocabulary);
    }
    let is_of_one_day = filter.start_date.is_some() && filter.start_date == filter.end_date;
    if is_of_one_day && filter.statuses == refunds() && vocabulary == Vocabulary::Desk {
        let day = filter.start_date.take();
        (filter.end_date, filter.statuses) = (None, Vec::new());
        filter.conditions.refunded = day.map(|date| CalendarDay { date, calendar: Calendar::UTC });
    }
    filter.q = (!rest.is_empty()).then(|| rest.join(" "));
    Some(filter)
}

/// Returns the words of a text, in lower case, without brackets behind an answer, and without a time behind a day.
fn words_of(text: &str) -> Vec<String> {
    let all: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    let mut words: Vec<String> = Vec::new();
    let mut behind_day = false;
    let mut left = all.as_slice();
    while let [word, rest @ ..] = left {
        let behind_answer = words.last().is_some_and(|answer| add(&mut AlertFilter::default(), answer));
        if word.starts_with('(')
            && behind_answer
            && let Some(end) = left.iter().position(|word| word.ends_with(')'))
        {
            left = &left[end + 1..];
            continue;
        }
        left = rest;
        if behind_day && (is_time(word) || word == "utc") {
            continue;
        }
        behind_day = parse_day(word).is_some();
        words.push(word.clone());
    }
    words
}

/// Returns true for a time of day as columns show it, to the minute or the second.
fn is_time(word: &str) -> bool {
    let is_pair = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    word.contains(':') && word.split(':').all(is_pair)
}

/// Reads a word that has a meaning only as the whole query. It is a state that is an everyday word, or a merchant
/// category code, which may be a card's last four digits as well.
fn alone(word: &str, vocabulary: Vocabulary) -> Option<AlertFilter> {
    let mut filter = AlertFilter::default();
    let state = || vocabulary.statuses().iter().find(|status| status.as_str().eq_ignore_ascii_case(word));
    if vocabulary == Vocabulary::Desk && merchant_category(word).is_some() {
        filter.conditions.mccs = vec![word.to_owned()];
    } else if !add(&mut AlertFilter::default(), word)
        && let Some(state) = state()
    {
        filter.statuses = vec![state.clone()];
    } else {
        return None;
    }
    Some(filter)
}

/// Returns the merchant categories where all typed words are of few of them: words of many categories name none.
fn of_categories(words: &[&str], vocabulary: Vocabulary) -> Option<AlertFilter> {
    let mccs = if vocabulary == Vocabulary::Desk { merchant_categories(words) } else { Vec::new() };
    if mccs.is_empty() || mccs.len() > MOST_CATEGORIES && !is_merchant_category(words) {
        return None;
    }
    let mut filter = AlertFilter::default();
    filter.conditions.mccs = mccs;
    Some(filter)
}

/// Adds what a word names; whether it names something.
fn add(filter: &mut AlertFilter, word: &str) -> bool {
    if let Some(day) = parse_day(word) {
        let first = filter.start_date.map_or(day, |start| start.min(day));
        filter.end_date = Some(filter.end_date.map_or(day, |end| end.max(day)));
        filter.start_date = Some(first);
        return true;
    }
    // An answer of the older dialect has a state of its own.
    let states: Vec<AlertStatus> = match word {
        "refunded" => refunds().into(),
        _ => AlertStatus::CURRENT.iter().filter(|status| status.as_str().eq_ignore_ascii_case(word)).cloned().collect(),
    };
    if !states.is_empty() {
        states.into_iter().for_each(|state| include(&mut filter.statuses, state));
        return true;
    }
    let is_outcome = OlderWord::KNOWN.iter().any(|known| known.as_str().eq_ignore_ascii_case(word));
    if is_outcome {
        include(&mut filter.outcomes, word.to_owned());
    }
    is_outcome
}

/// Returns the states of an alert that was refunded, in both dialects.
fn refunds() -> [AlertStatus; 2] {
    [AlertStatus::Resolved, AlertStatus::Refunded]
}

fn include<T: PartialEq>(all: &mut Vec<T>, one: T) {
    if !all.contains(&one) {
        all.push(one);
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::query::{DEFAULT_SORT, render};

    #[rstest]
    #[case("expired", Some("status:expired"))]
    #[case("Open CHARGEBACK", Some("status:open,chargeback"))]
    #[case("refunded nordwind", Some("status:resolved,refunded nordwind"))]
    #[case("2026-11-24", Some("from:2026-11-24 to:2026-11-24"))]
    #[case("2026-11-24 acme 2026-11-20 shop", Some("from:2026-11-20 to:2026-11-24 acme shop"))]
    #[case("unresolved dispute", Some("outcome:unresolved_dispute"))]
    #[case("previously refunded", Some("outcome:previously_refunded"))]
    #[case("previously_refunded", Some("outcome:previously_refunded"))]
    #[case("not found", Some("outcome:not_found"))]
    #[case("resolved refunded", Some("status:resolved,refunded"))]
    #[case("not refunded acme", Some("status:chargeback acme"))]
    #[case("refunded (acme", Some("status:resolved,refunded (acme"))]
    #[case("refunded (by hand) acme", Some("status:resolved,refunded acme"))]
    #[case("2026-11-24 09:12", Some("from:2026-11-24 to:2026-11-24"))]
    #[case("2026-11-24 09:12 UTC acme", Some("from:2026-11-24 to:2026-11-24 acme"))]
    #[case("INVALID (duplicate alert)", Some("status:invalid"))]
    #[case("expired acme (berlin)", Some("status:expired acme (berlin)"))]
    #[case("processing", None)]
    #[case("4722", None)]
    #[case("not expired", None)]
    #[case("not here", None)]
    #[case("previously", None)]
    #[case("nordwind 55.10", None)]
    #[case("", None)]
    fn words_that_no_text_says_mean_a_filter(#[case] text: &str, #[case] expected: Option<&str>) {
        assert_eq!(meant(text, Vocabulary::Interface).map(|filter| render(&filter, DEFAULT_SORT)).as_deref(), expected);
    }

    #[rstest]
    #[case("refunded 2026-11-25 acme", "refunded:2026-11-25 acme")]
    #[case("refunded 2026-11-25 2026-11-26", "status:resolved,refunded from:2026-11-25 to:2026-11-26")]
    #[case("expired 2026-11-25", "status:expired from:2026-11-25 to:2026-11-25")]
    #[case("4722", "mcc:4722")]
    #[case("Travel agencies", "mcc:4722")]
    #[case("electronic", "mcc:5065,5732,7622")]
    #[case("expired travel", "status:expired travel")]
    #[case("processing", "status:processing")]
    #[case("new", "status:new")]
    #[case("other", "outcome:other")]
    #[case("not_found", "outcome:not_found")]
    #[case("expired 4722", "status:expired 4722")]
    fn a_day_of_refunds_a_category_and_every_state_are_meant_where_lists_can_tell_them(
        #[case] text: &str,
        #[case] expected: &str,
    ) {
        assert_eq!(
            meant(text, Vocabulary::Desk).map(|filter| render(&filter, DEFAULT_SORT)).as_deref(),
            Some(expected)
        );
    }

    #[rstest]
    #[case("hotel", Vocabulary::Desk)]
    #[case("stor", Vocabulary::Desk)]
    #[case("nordwind travel", Vocabulary::Desk)]
    #[case("travel agencies", Vocabulary::Interface)]
    #[case("travel agencies", Vocabulary::Older)]
    fn words_of_many_categories_or_of_none_and_where_lists_cannot_tell_them_mean_nothing(
        #[case] text: &str,
        #[case] vocabulary: Vocabulary,
    ) {
        assert_eq!(meant(text, vocabulary), None);
    }
}
