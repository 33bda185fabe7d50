//! Searches over all fields against the domain's own definition: the same alerts in the same order.

use avert::domain::{
    Alert, AlertId, AlertStatus, Deadline, FindQuery,
    find::{among, find_fields},
};
use chrono::Duration;
use proptest::{
    prelude::*,
    sample::{Index, select},
};

use super::{
    Fixture,
    lists::{alerts, block_on},
    organizations::organization,
    outcome,
    resolutions::{claim, resolve},
    row,
};
use crate::support::alerts::{noon, open_alert};

contract!(
    an_alert_is_found_by_every_field_and_by_words_of_several,
    what_changes_is_found_by_what_it_is_now,
    an_answer_is_found_by_its_comment,
    another_organizations_alerts_are_not_found,
    accents_and_other_forms_of_writing_are_ignored,
    what_means_something_in_a_pattern_is_looked_for_as_it_is,
    two_characters_are_found_inside_and_one_alone_at_the_beginning,
    of_very_many_that_match_the_best_come_first_all_the_same,
);

pub(super) async fn found(fixture: &Fixture, text: &str) -> Vec<AlertId> {
    let query = FindQuery::parse(text).unwrap();
    let alerts = fixture.store.find(fixture.organization, &query, 100).await.unwrap();
    alerts.into_iter().map(|alert| alert.id).collect()
}

/// Names that differ in the form of their writing alone, and others.
const NAMES: [&str; 10] = [
    "Café Müller",
    "CAFE\u{301} MULLER",
    "Cafe Mu\u{308}ller",
    "O’Brien & Söhne",
    "O'BRIEN & SOHNE",
    "Straße ５",
    "Strasse 5",
    "ﬁne Ørsted …",
    "\u{301}",
    "´ ¨x",
];

prop_compose! {
    fn full_alerts()(
        alert in alerts(),
        order in proptest::option::of(prop_oneof!["[A-C]{1,2}-[0-2]{1,4}", "X?(10USD|4111111234)"]),
        name in proptest::option::of(select(NAMES.to_vec())),
        card in any::<bool>(),
        arn in proptest::option::of("[0-3]{6}"),
        code in proptest::option::of("[0-2a-b]{3}"),
        comment in proptest::option::of(select(vec!["refunded by hand", "Ärger, 100%", "50_off \\ \"x\"",
            "l’été à ½"])),
    ) -> Alert {
        let mut alert = Alert { merchant_order_id: order, acquirer_reference_number: arn, auth_code: code, ..alert };
        if let Some(name) = name {
            alert.merchant_name = name.to_owned();
        }
        if card {
            (alert.card_bin, alert.card_last_four) = ("411111".to_owned(), "1234".to_owned());
        }
        if let (Some(outcome), Some(comment)) = (&mut alert.outcome, comment) {
            outcome.comments = comment.to_owned();
        }
        alert
    }
}

/// Which part of which field a word is, or all of it, or a word of its own.
#[derive(Debug, Clone)]
enum Word {
    Part(Index, Index, Index, Index),
    All(Index, Index),
    Own(&'static str),
}

fn words() -> impl Strategy<Value = Vec<Word>> {
    let part =
        any::<(Index, Index, Index, Index)>().prop_map(|(alert, field, from, to)| Word::Part(alert, field, from, to));
    let all = any::<(Index, Index)>().prop_map(|(alert, field)| Word::All(alert, field));
    let own = select(vec!["acme", "a", "1", "00", "c-", "ä", "100%", "_", "\\", "\"", "nobody", "…", "10.00"]);
    let written = select(vec![
        "cafe",
        "mul",
        "müller",
        "o'b",
        "O’Br",
        "ss",
        "ß",
        "fi",
        "10usd",
        "EUR10",
        "4111111234",
        "e",
        "l'e",
    ]);
    let own = prop_oneof![own, written].prop_map(Word::Own);
    proptest::collection::vec(prop_oneof![3 => part, 1 => all, 1 => own], 1..3)
}

fn typed(words: &[Word], alerts: &[Alert]) -> String {
    let text = |word: &Word| match word {
        Word::Own(text) => (*text).to_owned(),
        Word::All(alert, field) => field.get(&find_fields(alert.get(alerts))).value.clone().into_owned(),
        Word::Part(alert, field, from, to) => {
            let fields = find_fields(alert.get(alerts));
            let chars: Vec<char> = field.get(&fields).value.chars().collect();
            let (one, other) = (from.index(chars.len()), to.index(chars.len()));
            chars[one.min(other)..=one.max(other)].iter().collect()
        }
    };
    words.iter().map(text).collect::<Vec<_>>().join(" ")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 40, failure_persistence: None,
        ..ProptestConfig::default() })]

    #[test]
    fn a_search_finds_what_the_domain_says_in_its_order(
        mut alerts in proptest::collection::vec(full_alerts(), 1..160),
        searches in proptest::collection::vec((words(), select(vec![1u32, 7, 100])), 60),
    ) {
        alerts.sort_by_key(|alert| alert.id);
        alerts.dedup_by_key(|alert| alert.id);
        block_on(async {
            for fixture in Fixture::on_each().await {
                fixture.bring(&alerts).await;
                // What has just been answered may not be indexed yet.
                let mut alerts = alerts.clone();
                for alert in alerts.iter_mut().filter(|alert| alert.outcome.is_none()).step_by(2) {
                    *alert = resolve(&fixture, claim(&fixture, alert)).await;
                }
                for (words, size) in &searches {
                    let text = typed(words, &alerts);
                    let Ok(query) = FindQuery::parse(&text) else { continue };
                    let expected: Vec<AlertId> = among(&query, &alerts,
                        *size as usize).into_iter().map(|alert| alert.id).collect();
                    let found = fixture.store.find(fixture.organization, &query, *size).await.unwrap();
                    assert_eq!(found.into_iter().map(|alert| alert.id).collect::<Vec<_>>(), expected, "{text:?}");
                }
            }
        });
    }
}

async fn an_alert_is_found_by_every_field_and_by_words_of_several(fixture: Fixture) {
    let wanted = Alert {
        acquirer_reference_number: Some("74537604221234567890123".to_owned()),
        transaction_id: Some("tx_9Q".to_owned()),
        ..open_alert("ETH-1")
    };
    let other = Alert { merchant_order_id: Some("B-1".to_owned()), amount: None, ..open_alert("ETH-2") };
    fixture.bring(&[wanted.clone(), other]).await;

    for text in [
        "eth-1",
        "A-10293",
        "74537604221234567890123",
        "tx_9q",
        "129.90",
        "129.9 EUR",
        "10293 acme",
        &wanted.id.to_string(),
    ] {
        assert_eq!(found(&fixture, text).await, [wanted.id], "{text}");
    }
    assert_eq!(found(&fixture, "hsbc 411111…1234").await.len(), 2);
    assert_eq!(found(&fixture, "A-10293 nobody").await, []);
}

async fn what_changes_is_found_by_what_it_is_now(fixture: Fixture) {
    let alert = open_alert("ETH-1");
    fixture.bring(std::slice::from_ref(&alert)).await;
    let changed = Alert { merchant_order_id: Some("NEW-7".to_owned()), ..alert.clone() };

    fixture
        .store
        .ingest(fixture.organization, vec![row(&changed, false)], noon() + Duration::seconds(1))
        .await
        .unwrap();

    assert_eq!((found(&fixture, "new-7").await, found(&fixture, "a-10293").await), (vec![alert.id], vec![]));
}

async fn an_answer_is_found_by_its_comment(fixture: Fixture) {
    let alert = open_alert("ETH-1");
    fixture.bring(std::slice::from_ref(&alert)).await;
    let before = found(&fixture, "10 march").await;

    resolve(&fixture, claim(&fixture, &alert)).await;

    assert_eq!((before, found(&fixture, "10 march eth-1").await), (vec![], vec![alert.id]));
    assert_eq!(found(&fixture, "10 march eth-2").await, []);
}

async fn another_organizations_alerts_are_not_found(fixture: Fixture) {
    fixture.bring(&[open_alert("ETH-1")]).await;
    let stranger = avert::domain::OrganizationId::generate();
    let other = organization("other");
    fixture.store.add_organization(other.clone(), noon()).await.unwrap();
    let query = FindQuery::parse("eth").unwrap();

    for organization in [stranger, other.organization.id] {
        assert_eq!(fixture.store.find(organization, &query, 10).await.unwrap(), []);
    }
}

async fn accents_and_other_forms_of_writing_are_ignored(fixture: Fixture) {
    // Ids have no letters beyond `f`: none has such a word by chance.
    let named = |id: &str, name: &str| Alert { merchant_name: name.to_owned(), ..open_alert(id) };
    let alerts = [named("1", "Kafé Müller"), named("2", "KAFE\u{301} MULLER"), named("3", "kafe mu\u{308}ller")];
    let others =
        [named("4", "O’Brien"), named("5", "o`brien"), named("6", "Straße Ｎｏ４２"), named("7", "STRASSE NO42")];
    fixture.bring(&[&alerts[..], &others].concat()).await;

    for (text, count) in [
        ("kafé", 3),
        ("KAFE", 3),
        ("muller", 3),
        ("ull", 3),
        ("kafe müller", 3),
        ("o'brien", 2),
        ("O’BRIEN", 2),
        ("o'b", 2),
    ] {
        assert_eq!(found(&fixture, text).await.len(), count, "{text}");
    }
    for text in ["strasse no42", "straße", "aß", "ｎｏ４２"] {
        assert_eq!(found(&fixture, text).await.len(), 2, "{text}");
    }
    let answered = resolve(&fixture, claim(&fixture, &alerts[0])).await;
    assert!(found(&fixture, "kafe").await.contains(&answered.id));
}

async fn what_means_something_in_a_pattern_is_looked_for_as_it_is(fixture: Fixture) {
    fixture.bring(&["100%off", "1000off", "a_b", "axb", "back\\slash", "backslash", "qu\"ote"].map(open_alert)).await;

    for text in ["100%", "a_b", "back\\s", "u\"o", "%o", "NOT a_b OR"] {
        assert_eq!(found(&fixture, text).await.len(), usize::from(!text.contains("OR")), "{text}");
    }
}

async fn two_characters_are_found_inside_and_one_alone_at_the_beginning(fixture: Fixture) {
    let plain = |id: &str| Alert { merchant_order_id: None, ..open_alert(id) };
    let (inside, at_the_end) = (plain("a~b"), plain("ab~!"));
    fixture.bring(&[inside.clone(), at_the_end.clone(), plain("ab")]).await;

    let first = plain("~ab");
    fixture.bring(std::slice::from_ref(&first)).await;

    assert_eq!(found(&fixture, "~!").await, [at_the_end.id]);
    assert_eq!(found(&fixture, "~b").await, [inside.id]);
    assert_eq!(found(&fixture, "~").await, [first.id]);
    assert_eq!(found(&fixture, "b ~").await.len(), 3, "beside another word it may stand inside");
}

async fn of_very_many_that_match_the_best_come_first_all_the_same(fixture: Fixture) {
    let alert = |number: i64| {
        let order = match number % 40 {
            0 => "77".to_owned(),
            1 => format!("77-{number}"),
            _ => format!("x77-{number}"),
        };
        let plain = open_alert(&format!("N{number}"));
        let alert_time = plain.alert_time.filter(|_| number % 9 != 0).map(|at| at - Duration::minutes(number % 97));
        let deadline = Deadline::At(noon() + Duration::minutes(number % 89));
        let mut alert = Alert { alert_time, deadline, merchant_order_id: Some(order), ..plain };
        if number % 7 < 5 {
            alert.outcome = Some(outcome(&alert, "resolved"));
            alert.status = AlertStatus::Resolved;
        }
        alert
    };
    let alerts: Vec<Alert> = (0..1_400).map(alert).collect();
    fixture.bring(&alerts).await;

    for text in ["77", "x77", "acme", "acme 77", "77 n1", "agreed", "acme*shop berlin"] {
        let query = FindQuery::parse(text).unwrap();
        for size in [7, 60, 100] {
            let expected: Vec<AlertId> =
                among(&query, &alerts, size as usize).into_iter().map(|alert| alert.id).collect();
            let found = fixture.store.find(fixture.organization, &query, size).await.unwrap();
            assert_eq!(found.into_iter().map(|alert| alert.id).collect::<Vec<_>>(), expected, "{text}, {size}");
        }
    }
}
