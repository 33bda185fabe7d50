//! The journal written, torn, pruned and read again.

use std::io::Write as _;

use super::*;
use crate::{
    domain::{Alert, AlertId, AlertType, Provider, Resolution, resolution::Decision, time::from_iso},
    ledger::{
        history::DecisionRecord,
        steps::{JournalDecision, Notification},
    },
};

fn now() -> Timestamp {
    from_iso("2026-03-10T12:00:00Z").unwrap()
}

struct Noon;

impl crate::domain::time::Clock for Noon {
    fn now(&self) -> Timestamp {
        now()
    }
}

fn open(directory: &tempfile::TempDir) -> (Journal, Leftovers) {
    open_on("acme-eu", directory)
}

fn open_on(place: &str, directory: &tempfile::TempDir) -> (Journal, Leftovers) {
    let journal = Journal::open(directory.path(), place, Some("omar"), Arc::new(Noon)).unwrap();
    let left = journal.leftovers().unwrap();
    (journal, left)
}

fn merged(directory: &tempfile::TempDir) -> PathBuf {
    directory.path().join(FILE)
}

/// A step of a decision, by its key.
type Step<'k> = (&'k str, JournalStep);

fn staged(key: &str) -> Step<'_> {
    let alert = Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud);
    let refunded = Resolution::Current { decision: Decision::Refunded, comments: "by hand".to_owned() };
    (key, JournalStep::staged(JournalDecision::of(&alert, &refunded), None))
}

fn sent(key: &str) -> Step<'_> {
    (key, JournalStep::Sent)
}

fn recorded(key: &str) -> Step<'_> {
    (key, JournalStep::Recorded { status: "RESOLVED".to_owned() })
}

fn append_at(journal: &Journal, steps: Vec<Step<'_>>, at: Timestamp) {
    let entry = |(key, step): Step<'_>| JournalEntry { at, ..journal.entry(Some(key), step) };
    journal.append(&steps.into_iter().map(entry).collect::<Vec<_>>()).unwrap();
}

fn append(journal: &Journal, steps: Vec<Step<'_>>) {
    append_at(journal, steps, now());
}

/// Writes these bytes at the end of what is merged.
fn write_merged(directory: &tempfile::TempDir, bytes: &[u8]) {
    OpenOptions::new().append(true).open(merged(directory)).unwrap().write_all(bytes).unwrap();
}

/// Returns what a console finds after one that wrote these steps and died.
fn left(steps: Vec<Step<'_>>) -> Leftovers {
    let directory = tempfile::tempdir().unwrap();
    let (journal, _) = open(&directory);
    steps.into_iter().for_each(|step| append(&journal, vec![step]));
    drop(journal);
    open(&directory).1
}

fn keys(left: &[DecisionRecord]) -> Vec<&str> {
    left.iter().map(|left| left.key.as_str()).collect()
}

#[test]
fn a_decision_that_could_not_be_sent_did_not_leave_until_it_is_sent_once_more() {
    let not_sent = || ("a", JournalStep::NotSent { why: "no connection".to_owned() });

    let kept = left(vec![staged("a"), sent("a"), not_sent()]);
    let gone = left(vec![staged("a"), sent("a"), not_sent(), sent("a")]);

    assert_eq!((keys(&kept.unsent), keys(&kept.unanswered)), (vec!["a"], vec![]));
    assert_eq!((keys(&gone.unsent), keys(&gone.unanswered)), (vec![], vec!["a"]));
}

#[test]
fn what_did_not_leave_is_told_from_what_was_not_answered_and_from_what_is_done() {
    let back = ("d", JournalStep::TakenBack);
    let steps = vec![staged("a"), staged("b"), sent("b"), staged("c"), sent("c"), recorded("c"), staged("d"), back];

    let left = left(steps);

    assert_eq!((keys(&left.unsent), keys(&left.unanswered)), (vec!["a"], vec!["b"]));
    let expected = Resolution::Current { decision: Decision::Refunded, comments: "by hand".to_owned() };
    assert_eq!(left.unanswered[0].said.resolution(), Some(expected));
    assert_eq!(left.unanswered[0].sent_at(), Some(now()));
}

#[test]
fn an_unknown_fate_stays_unanswered_until_it_is_known() {
    let unknown = ("a", JournalStep::Unknown { why: "time-out".to_owned() });
    let refused = ("a", JournalStep::Refused { why: "not applied".to_owned() });

    assert_eq!(keys(&left(vec![staged("a"), sent("a"), unknown.clone()]).unanswered), ["a"]);
    assert!(left(vec![staged("a"), sent("a"), unknown, refused]).is_empty());
}

#[test]
fn a_console_that_lives_has_left_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (first, _) = open(&directory);
    append(&first, vec![staged("a")]);

    let (_second, meanwhile) = open(&directory);
    drop(first);
    let (_third, afterwards) = open(&directory);

    assert!(meanwhile.is_empty(), "{meanwhile:?}");
    assert_eq!(keys(&afterwards.unsent), ["a"]);
}

#[test]
fn another_place_hears_nothing_of_it() {
    let directory = tempfile::tempdir().unwrap();
    let (journal, _) = open(&directory);
    append(&journal, vec![staged("a")]);
    drop(journal);

    let (_, elsewhere) = open_on("acme-us", &directory);

    assert!(elsewhere.is_empty());
    assert_eq!(keys(&open(&directory).1.unsent), ["a"]);
}

#[test]
fn a_torn_last_line_is_set_aside_and_the_lines_before_it_hold() {
    let directory = tempfile::tempdir().unwrap();
    let (journal, _) = open(&directory);
    append(&journal, vec![staged("a")]);
    write_merged(&directory, b"{\"at\":\"2026-03");
    drop(journal);

    let (journal, left) = open(&directory);
    append(&journal, vec![staged("b")]);

    assert_eq!(keys(&left.unsent), ["a"]);
    assert_eq!(fs::read_to_string(directory.path().join("journal.torn")).unwrap(), "{\"at\":\"2026-03\n");
    let text = fs::read_to_string(merged(&directory)).unwrap();
    assert!(text.lines().all(|line| serde_json::from_str::<JournalEntry>(line).is_ok()), "{text}");
}

#[test]
fn lines_beyond_the_retention_are_pruned_and_unreadable_ones_stay() {
    let directory = tempfile::tempdir().unwrap();
    let (journal, _) = open(&directory);
    append_at(&journal, vec![staged("old")], now() - KEPT - Duration::seconds(1));
    append_at(&journal, vec![staged("young")], now() - KEPT);
    write_merged(&directory, b"written by hand\n");
    drop(journal);

    let (_journal, left) = open(&directory);

    assert_eq!(keys(&left.unsent), ["young"]);
    let text = fs::read_to_string(merged(&directory)).unwrap();
    assert_eq!((text.lines().count(), text.contains("written by hand")), (2, true));
}

#[test]
fn a_line_that_cannot_be_read_is_told_by_its_number() {
    let directory = tempfile::tempdir().unwrap();
    for (key, line) in [("a", &b"written by hand\n"[..]), ("b", b"and again\n")] {
        append(&open(&directory).0, vec![staged(key)]);
        drop(open(&directory));
        write_merged(&directory, line);
    }
    let (journal, _) = open(&directory);

    let read = journal.read().unwrap();

    assert_eq!((read.entries.len(), read.unreadable), (2, vec![2, 4]));
}

#[test]
fn a_byte_that_is_no_text_spoils_its_own_line_alone_and_stays() {
    let directory = tempfile::tempdir().unwrap();
    let (journal, _) = open(&directory);
    append_at(&journal, vec![staged("old")], now() - KEPT - Duration::seconds(1));
    append(&journal, vec![staged("a")]);
    write_merged(&directory, b"{\"at\":\"\xff\"}\n");
    append(&journal, vec![staged("b")]);
    drop(journal);

    let (journal, left) = open(&directory);

    let part = journal.read().unwrap();
    assert_eq!(keys(&left.unsent), ["a", "b"]);
    assert_eq!((part.entries.len(), part.unreadable), (2, vec![1]));
    assert!(fs::read(merged(&directory)).unwrap().contains(&0xff));
}

#[test]
fn half_a_line_is_left_for_later() {
    let directory = tempfile::tempdir().unwrap();
    let (journal, _) = open(&directory);
    let told = Notification { tone: "note".to_owned(), words: "one".to_owned(), alert: None };
    let entry = journal.entry(None, JournalStep::Notified(Box::new(told)));
    journal.append(std::slice::from_ref(&entry)).unwrap();
    write_merged(&directory, b"{\"at\":");

    let read = journal.read().unwrap();

    assert_eq!(entry.user.as_deref(), Some("omar"));
    assert_eq!((read.entries, read.unreadable), (vec![entry], vec![]));
}

#[test]
fn lines_of_a_later_version_are_passed_over_and_stay() {
    let directory = tempfile::tempdir().unwrap();
    let (journal, _) = open(&directory);
    append(&journal, vec![staged("a")]);
    let later = b"{\"at\":\"2026-03-10T12:00:00Z\",\
        \"session\":\"0196a7de-0000-7000-8000-000000000000\",\"place\":\"acme-eu\",\"step\":\"dreamt\"}\n";
    write_merged(&directory, later);
    drop(journal);

    let (journal, left) = open(&directory);

    assert_eq!(keys(&left.unsent), ["a"]);
    assert_eq!(journal.read().unwrap().entries.len(), 1);
    assert!(fs::read_to_string(merged(&directory)).unwrap().contains("dreamt"));
}

#[cfg(unix)]
#[test]
fn the_journal_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let (journal, _) = open(&directory);
    append(&journal, vec![staged("a")]);

    assert_eq!(fs::metadata(merged(&directory)).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn what_never_leaves_is_told_once_its_console_is_gone() {
    let directory = tempfile::tempdir().unwrap();
    let (runs, _) = open(&directory);
    let (staging, _) = open(&directory);
    append(&staging, vec![staged("a"), staged("b"), sent("b")]);
    append(&runs, vec![staged("own")]);
    let never_left = || {
        let (history, _) = read_history(directory.path(), now()).unwrap();
        let records = history.records().iter().filter(|record| record.step() == Some(&JournalStep::NeverLeft));
        records.map(|record| record.key.clone()).collect::<Vec<_>>()
    };

    let while_it_runs = never_left();
    drop(staging);

    assert_eq!((while_it_runs, never_left()), (vec![], vec!["a".to_owned()]));
}

#[test]
fn each_process_writes_a_file_of_its_own_and_those_that_have_ended_are_merged() {
    let directory = tempfile::tempdir().unwrap();
    let (first, _) = open(&directory);
    let (second, _) = open(&directory);
    append(&second, vec![staged("b")]);
    append(&first, vec![staged("a")]);
    drop(second);

    let (third, _) = open(&directory);

    let merged = fs::read_to_string(merged(&directory)).unwrap();
    assert_eq!((merged.lines().count(), files_of_running(directory.path()).len()), (1, 2));
    assert!(merged.contains(r#""decision":"b""#), "{merged}");
    let steps = third.read().unwrap().entries.into_iter().map(|entry| entry.session);
    assert_eq!(steps.collect::<Vec<_>>()[0], first.session(), "what began first stands first");
}

#[test]
fn a_merge_that_was_broken_off_is_finished_and_nothing_is_there_twice() {
    let directory = tempfile::tempdir().unwrap();
    let (journal, _) = open(&directory);
    append(&journal, vec![staged("a"), sent("a")]);
    let own = fs::read(running_path(directory.path(), journal.session())).unwrap();
    let first = own.split_inclusive(|byte| *byte == b'\n').next().unwrap();
    fs::write(merged(&directory), first).unwrap();
    let meanwhile = journal.read().unwrap().entries.len();
    drop(journal);

    let (next, left) = open(&directory);

    assert_eq!((meanwhile, next.read().unwrap().entries.len(), keys(&left.unanswered)), (2, 2, vec!["a"]));
}

#[cfg(target_os = "linux")]
#[test]
fn steps_that_a_full_disk_does_not_take_are_written_before_the_next_ones() {
    let directory = tempfile::tempdir().unwrap();
    let (journal, _) = open(&directory);
    let full = || OpenOptions::new().read(true).append(true).open("/dev/full").unwrap();
    let swap = |file| std::mem::replace(&mut journal.own.as_ref().unwrap().lock().unwrap().file, file);
    let own = swap(full());

    let (key, step) = staged("a");
    let refused = journal.append(&[journal.entry(Some(key), step)]);
    swap(own);
    append(&journal, vec![sent("a")]);

    assert!(refused.unwrap_err().to_string().contains("cannot be written"));
    let steps: Vec<_> = journal.read().unwrap().entries.into_iter().map(|entry| entry.step).collect();
    assert!(matches!(&steps[..], [JournalStep::Staged(_), JournalStep::Sent]), "{steps:?}");
}

#[test]
fn the_journal_of_an_earlier_version_is_read_and_its_unfinished_answers_are_found() {
    let directory = tempfile::tempdir().unwrap();
    let (journal, _) = open(&directory);
    append(&journal, vec![staged("a"), staged("b"), sent("b")]);
    let lines = fs::read(running_path(directory.path(), journal.session())).unwrap();
    drop(journal);
    let earlier = tempfile::tempdir().unwrap();
    fs::write(earlier.path().join(FILE), lines).unwrap();

    let (_, left) = open(&earlier);

    assert_eq!((keys(&left.unsent), keys(&left.unanswered)), (vec!["a"], vec!["b"]));
}

#[test]
fn every_line_that_an_earlier_version_wrote_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let alert = "\"alert\":{\"id\":\"0196a7de-0000-7000-8000-000000000001\",\"provider\":\"ETHOCA\",\
        \"providerId\":\"7\",\"amount\":\"129.90\",\"currency\":\"EUR\"}";
    let staged = |key: &str, more: &str| {
        format!("\"step\":\"staged\",\"decision\":\"{key}\",{alert},\"older\":false,\"refunded\":\"REFUNDED\"{more}")
    };
    let steps = [
        staged(
            "a",
            ",\"comments\":\"by hand\",\"rule\":\"small\",\"together\":{\"first\":\"a\",\"from\":\"the view Open\"}",
        ),
        "\"step\":\"unlooked\",\"decision\":\"a\",\"why\":\"busy\"".to_owned(),
        "\"step\":\"sent\",\"decision\":\"a\"".to_owned(),
        "\"step\":\"unknown\",\"decision\":\"a\",\"why\":\"time-out\"".to_owned(),
        "\"step\":\"settled\",\"decision\":\"a\"".to_owned(),
        "\"step\":\"recorded\",\"decision\":\"a\",\"status\":\"RESOLVED\"".to_owned(),
        staged("b", ""),
        "\"step\":\"read\",\"decision\":\"b\"".to_owned(),
        "\"step\":\"dismissed\",\"decision\":\"b\"".to_owned(),
        "\"step\":\"dismissed\",\"decision\":\"b\",\"takenBack\":true".to_owned(),
        format!("\"step\":\"typing\",{alert},\"text\":\"so far\""),
        format!("\"step\":\"closed\",{alert}"),
        "\"step\":\"runDismissed\",\"run\":\"a\"".to_owned(),
        format!(
            "\"step\":\"notified\",\"tone\":\"lost\",\"words\":\"Its own steps say so.\",{alert},\"decision\":\"a\""
        ),
        format!("\"step\":\"notified\",\"tone\":\"lost\",\"words\":\"Lost.\",{alert},\"decision\":\"gone\""),
    ];
    let line = |step: &String| {
        format!(
            "{{\"at\":\"2026-03-10T11:59:00.120Z\",\"session\":\"0196a7de-0000-7000-8000-000000000000\",\
                \"place\":\"acme-eu\",\"user\":\"ada\",{step}}}\n"
        )
    };
    fs::write(merged(&directory), steps.iter().map(line).collect::<String>()).unwrap();

    let (journal, _) = open(&directory);
    let read = journal.read().unwrap();

    assert_eq!((read.entries.len(), read.unreadable.clone()), (steps.len(), vec![]));
    let history = History::of(read.entries);
    let [a, b] = ["a", "b"].map(|key| history.record(key).unwrap());
    assert_eq!((a.result_set_by.as_deref(), a.unlooked.as_deref()), (Some("ada"), Some("busy")));
    assert_eq!((a.rule.as_deref(), a.together.as_ref().map(|run| run.first.as_str())), (Some("small"), Some("a")));
    assert_eq!((b.step(), b.dismissed), (Some(&JournalStep::NeverLeft), false));
    let told: Vec<&str> = history.notifications().iter().map(|told| told.said.words.as_str()).collect();
    assert_eq!(told, ["Lost."]);
}
