//! The journal written, torn, pruned and read again.

use std::io::Write as _;

use super::*;
use crate::{
    AnswerStep, JournalDecision,
    domain::{Alert, AlertId, AlertType, Provider, Resolution, resolution::Decision},
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
    Journal::open(directory.path(), "acme-eu", Some("omar"), Arc::new(Noon)).unwrap()
}

fn staged(key: &str) -> JournalStep {
    let alert = Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud);
    let refunded = Resolution::Current { decision: Decision::Refunded, comments: "by hand".to_owned() };
    JournalStep::Staged {
        decision: key.to_owned(),
        said: JournalDecision::of(&alert, &refunded),
        rule: None,
        together: None,
    }
}

fn sent(key: &str) -> JournalStep {
    JournalStep::Sent { decision: key.to_owned() }
}

/// Returns what a console finds after one that wrote these steps and died.
fn left(steps: Vec<JournalStep>) -> Leftovers {
    let directory = tempfile::tempdir().unwrap();
    let (journal, _) = open(&directory);
    for step in steps {
        journal.append(step).unwrap();
    }
    drop(journal);
    open(&directory).1
}

fn keys(left: &[LeftDecision]) -> Vec<&str> {
    left.iter().map(|left| left.key.as_str()).collect()
}

#[test]
fn a_decision_that_could_not_be_sent_did_not_leave_until_it_is_sent_once_more() {
    let not_sent = || JournalStep::NotSent { decision: "a".to_owned(), why: "no connection".to_owned() };

    let kept = left(vec![staged("a"), sent("a"), not_sent()]);
    let gone = left(vec![staged("a"), sent("a"), not_sent(), sent("a")]);

    assert_eq!((keys(&kept.unsent), keys(&kept.unanswered)), (vec!["a"], vec![]));
    assert_eq!((keys(&gone.unsent), keys(&gone.unanswered)), (vec![], vec!["a"]));
}

#[test]
fn what_did_not_leave_is_told_from_what_was_not_answered_and_from_what_is_done() {
    let recorded = JournalStep::Recorded { decision: "c".to_owned(), status: "RESOLVED".to_owned() };
    let back = JournalStep::TakenBack { decision: "d".to_owned() };
    let steps = vec![staged("a"), staged("b"), sent("b"), staged("c"), sent("c"), recorded, staged("d"), back];

    let left = left(steps);

    assert_eq!((keys(&left.unsent), keys(&left.unanswered)), (vec!["a"], vec!["b"]));
    let expected = Resolution::Current { decision: Decision::Refunded, comments: "by hand".to_owned() };
    assert_eq!(left.unanswered[0].said.resolution(), Some(expected));
    assert_eq!(left.unanswered[0].sent_at, Some(now()));
}

#[test]
fn an_unknown_fate_stays_unanswered_until_it_is_known() {
    let unknown = JournalStep::Unknown { decision: "a".to_owned(), why: "time-out".to_owned() };
    let refused = JournalStep::Refused { decision: "a".to_owned(), why: "not applied".to_owned() };

    assert_eq!(keys(&left(vec![staged("a"), sent("a"), unknown.clone()]).unanswered), ["a"]);
    assert!(left(vec![staged("a"), sent("a"), unknown, refused]).is_empty());
}

#[test]
fn a_console_that_lives_has_left_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (first, _) = open(&directory);
    first.append(staged("a")).unwrap();

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
    journal.append(staged("a")).unwrap();
    drop(journal);

    let (_, elsewhere) = Journal::open(directory.path(), "acme-us", None, Arc::new(Noon)).unwrap();

    assert!(elsewhere.is_empty());
    assert_eq!(keys(&open(&directory).1.unsent), ["a"]);
}

#[test]
fn a_torn_last_line_is_set_aside_and_the_lines_before_it_hold() {
    let directory = tempfile::tempdir().unwrap();
    let (journal, _) = open(&directory);
    journal.append(staged("a")).unwrap();
    let mut file = OpenOptions::new().append(true).open(journal.path()).unwrap();
    file.write_all(b"{\"at\":\"2026-03").unwrap();
    drop(journal);

    let (journal, left) = open(&directory);
    journal.append(staged("b")).unwrap();

    assert_eq!(keys(&left.unsent), ["a"]);
    assert_eq!(fs::read_to_string(directory.path().join("journal.torn")).unwrap(), "{\"at\":\"2026-03\n");
    let text = fs::read_to_string(journal.path()).unwrap();
    assert!(text.lines().all(|line| serde_json::from_str::<JournalEntry>(line).is_ok()), "{text}");
}

#[test]
fn lines_beyond_the_retention_are_pruned_and_unreadable_ones_stay() {
    let directory = tempfile::tempdir().unwrap();
    let (journal, _) = open(&directory);
    journal.append_at(vec![staged("old")], now() - KEPT - Duration::seconds(1)).unwrap();
    journal.append_at(vec![staged("young")], now() - KEPT).unwrap();
    let mut file = OpenOptions::new().append(true).open(journal.path()).unwrap();
    file.write_all(b"written by hand\n").unwrap();
    drop(journal);

    let (journal, left) = open(&directory);

    assert_eq!(keys(&left.unsent), ["young"]);
    let text = fs::read_to_string(journal.path()).unwrap();
    assert_eq!((text.lines().count(), text.contains("written by hand")), (2, true));
}

/// Writes a line of these bytes into a journal.
fn write_line(journal: &Journal, line: &[u8]) {
    let mut file = OpenOptions::new().append(true).open(journal.path()).unwrap();
    file.write_all(&[line, b"\n"].concat()).unwrap();
}

#[test]
fn a_line_that_cannot_be_read_is_told_by_its_number() {
    let directory = tempfile::tempdir().unwrap();
    for (key, line) in [("a", &b"written by hand"[..]), ("b", b"and again")] {
        open(&directory).0.append(staged(key)).unwrap();
        write_line(&open(&directory).0, line);
    }
    let (journal, _) = open(&directory);

    let read = journal.read().unwrap();

    assert_eq!((read.entries.len(), read.unreadable), (2, vec![2, 4]));
}

#[test]
fn a_byte_that_is_no_text_spoils_its_own_line_alone_and_stays() {
    let directory = tempfile::tempdir().unwrap();
    let (journal, _) = open(&directory);
    journal.append_at(vec![staged("old")], now() - KEPT - Duration::seconds(1)).unwrap();
    journal.append(staged("a")).unwrap();
    write_line(&journal, b"{\"at\":\"\xff\"}");
    journal.append(staged("b")).unwrap();
    drop(journal);

    let (journal, left) = open(&directory);

    let part = journal.read().unwrap();
    assert_eq!(keys(&left.unsent), ["a", "b"]);
    assert_eq!((part.entries.len(), part.unreadable), (2, vec![1]));
    assert!(fs::read(journal.path()).unwrap().contains(&0xff));
}

fn told(words: &str) -> JournalStep {
    JournalStep::Notified { tone: "note".to_owned(), words: words.to_owned(), alert: None, decision: None }
}

#[test]
fn half_a_line_is_left_for_later() {
    let directory = tempfile::tempdir().unwrap();
    let (journal, _) = open(&directory);
    journal.append(told("one")).unwrap();
    OpenOptions::new().append(true).open(journal.path()).unwrap().write_all(b"{\"at\":").unwrap();

    let read = journal.read().unwrap();

    let steps: Vec<_> = read.entries.iter().map(|entry| (&entry.step, entry.user.as_deref())).collect();
    assert_eq!((steps, read.unreadable), (vec![(&told("one"), Some("omar"))], vec![]));
}

#[test]
fn what_was_lost_with_the_last_console_is_told_until_another_one_writes() {
    let directory = tempfile::tempdir().unwrap();
    let (journal, _) = open(&directory);
    journal.append(JournalStep::lost("a count")).unwrap();
    let (living, meanwhile) = open(&directory);
    drop(journal);
    let (next, after) = open(&directory);
    living.append(staged("a")).unwrap();
    drop((living, next));

    let (_, later) = open(&directory);

    assert_eq!(meanwhile.lost, Vec::<String>::new());
    assert_eq!(after.lost, ["Lost when the console was ended: a count."]);
    assert_eq!(later.lost, Vec::<String>::new());
}

#[test]
fn lines_of_a_later_version_are_passed_over_and_stay() {
    let directory = tempfile::tempdir().unwrap();
    let (journal, _) = open(&directory);
    journal.append(staged("a")).unwrap();
    let later = b"{\"at\":\"2026-03-10T12:00:00Z\",\
        \"session\":\"0196a7de-0000-7000-8000-000000000000\",\"place\":\"acme-eu\",\"step\":\"dreamt\"}\n";
    OpenOptions::new().append(true).open(journal.path()).unwrap().write_all(later).unwrap();
    drop(journal);

    let (journal, left) = open(&directory);

    assert_eq!(keys(&left.unsent), ["a"]);
    assert_eq!(journal.read().unwrap().entries.len(), 1);
    assert!(fs::read_to_string(journal.path()).unwrap().contains("dreamt"));
}

#[cfg(unix)]
#[test]
fn the_journal_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let (journal, _) = open(&directory);
    journal.append(staged("a")).unwrap();

    assert_eq!(fs::metadata(journal.path()).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn what_never_leaves_is_told_once_its_console_is_gone() {
    let directory = tempfile::tempdir().unwrap();
    let (runs, _) = open(&directory);
    let (staging, _) = open(&directory);
    staging.append_all(vec![staged("a"), staged("b"), sent("b")]).unwrap();
    runs.append(staged("own")).unwrap();
    let never_left = || {
        let (history, _) = read_history(directory.path(), now()).unwrap();
        let records = history.records().iter().filter(|record| *record.step() == AnswerStep::NeverLeft);
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
    second.append(staged("b")).unwrap();
    first.append(staged("a")).unwrap();
    drop(second);

    let (third, _) = open(&directory);

    let merged = fs::read_to_string(third.path()).unwrap();
    assert_eq!((merged.lines().count(), files_of_running(directory.path()).len()), (1, 2));
    assert!(merged.contains(r#""decision":"b""#), "{merged}");
    let steps = third.read().unwrap().entries.into_iter().map(|entry| entry.session);
    assert_eq!(steps.collect::<Vec<_>>()[0], first.session(), "what began first stands first");
}

#[test]
fn a_merge_that_was_broken_off_is_finished_and_nothing_is_there_twice() {
    let directory = tempfile::tempdir().unwrap();
    let (journal, _) = open(&directory);
    journal.append_all(vec![staged("a"), sent("a")]).unwrap();
    let own = fs::read(running_path(directory.path(), journal.session())).unwrap();
    let first = own.split_inclusive(|byte| *byte == b'\n').next().unwrap();
    fs::write(journal.path(), first).unwrap();
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

    let refused = journal.append(staged("a"));
    swap(own);
    journal.append(sent("a")).unwrap();

    assert!(refused.unwrap_err().to_string().contains("cannot be written"));
    let steps: Vec<_> = journal.read().unwrap().entries.into_iter().map(|entry| entry.step).collect();
    assert!(matches!(&steps[..], [JournalStep::Staged { .. }, JournalStep::Sent { .. }]), "{steps:?}");
}

#[test]
fn the_journal_of_an_earlier_version_is_read_and_its_unfinished_answers_are_found() {
    let directory = tempfile::tempdir().unwrap();
    let (journal, _) = open(&directory);
    journal.append_all(vec![staged("a"), staged("b"), sent("b")]).unwrap();
    let lines = fs::read(running_path(directory.path(), journal.session())).unwrap();
    drop(journal);
    let earlier = tempfile::tempdir().unwrap();
    fs::write(earlier.path().join(FILE), lines).unwrap();

    let (_, left) = open(&earlier);

    assert_eq!((keys(&left.unsent), keys(&left.unanswered)), (vec!["a"], vec!["b"]));
}
