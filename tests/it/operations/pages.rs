//! Manual pages know every command.

use crate::support::binary::{run, run_ok};

#[test]
fn a_shell_that_nobody_knows_is_refused_with_those_that_are_known() {
    let home = tempfile::tempdir().unwrap();

    let output = run(home.path(), &["completions", "tcsh"]);

    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("bash"));
}

#[test]
fn the_manual_page_is_printed_and_the_pages_of_all_commands_are_written() {
    let home = tempfile::tempdir().unwrap();
    let pages = home.path().join("man/man1");

    let page = run_ok(home.path(), &["man"]);
    run_ok(home.path(), &["man", pages.to_str().unwrap()]);

    assert!(page.contains(".TH avert 1"), "{page}");
    for name in ["avert.1", "avert-serve.1", "avert-keys-create.1", "avert-restore.1"] {
        assert!(pages.join(name).exists(), "{name}");
    }
}
