//! Rejected rows of an import: the first hundred on stderr, then a count; all of them in a file on request.

use std::{fs, os::unix::fs::PermissionsExt as _};

use serde_json::{Value, json};

use crate::support::{
    binary::{run, run_ok},
    operations::{alerts, refused},
};

#[test]
fn a_damaged_file_ends_its_list_on_stderr_and_writes_all_of_it_where_that_is_asked() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("damaged.ndjson").to_str().unwrap().to_owned();
    let rejects = home.path().join("rejects.ndjson");
    fs::write(&file, format!("{}{}", "{\"amount\": \"\u{202e}\"}\n".repeat(250), alerts(1..=2))).unwrap();

    let bare = refused(&run(home.path(), &["import", &file]), 1);
    let whole = refused(&run(home.path(), &["import", &file, "--rejects", rejects.to_str().unwrap()]), 1);

    for (said, last) in
        [(&bare, "--rejects FILE writes all of them".to_owned()), (&whole, format!("all are in {}", rejects.display()))]
    {
        assert_eq!(said.lines().filter(|line| line.starts_with("line ")).count(), 100, "{said}");
        assert_eq!(said.lines().last(), Some(format!("and 150 more rejected rows; {last}").as_str()));
    }
    let text = fs::read_to_string(&rejects).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines.len(), &lines[0]["line"], &lines[249]["line"]), (250, &json!(1), &json!(250)));
    assert!(
        lines.iter().all(|line| line["field"].is_string() && !line["reason"].as_str().unwrap().is_empty()),
        "{text}"
    );
    assert!(!text.contains('\u{202e}'));
    assert_eq!(fs::metadata(&rejects).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(run_ok(home.path(), &["alerts", "list"]).contains("of 2 alerts"), "the others are kept");
}

#[test]
fn a_file_for_rejects_that_cannot_be_written_is_told_before_anything_is_taken_in() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file.ndjson").to_str().unwrap().to_owned();
    fs::write(&file, alerts(1..=2)).unwrap();

    let said = refused(&run(home.path(), &["import", &file, "--rejects", "/nowhere/rejects"]), 2);
    let itself = refused(&run(home.path(), &["import", &file, "--rejects", &file]), 2);

    assert!(itself.contains("is the file that is read"), "{itself}");
    assert_eq!(fs::read_to_string(&file).unwrap(), alerts(1..=2));
    assert!(said.contains("--rejects /nowhere/rejects: cannot be written"), "{said}");
    assert!(!home.path().join("avert.db").exists());
}
