//! `avert sales`: what is entered is kept on the desk of the deployment that is meant; what is wrong is refused in
//! words.

use super::*;

const SET: [&str; 7] = ["sales", "set", "2026-01", "--network", "visa", "--count", "118200"];

/// The file of sales of this computer's desk, or of another deployment's.
fn entered(home: &TempDir) -> String {
    fs::read_to_string(walk(home.path())).unwrap()
}

#[test]
fn a_month_has_one_count_of_a_network() {
    let home = home();

    let said = run_ok(home.path(), &SET);
    run_ok(home.path(), &["sales", "set", "2026-02", "--network", "mastercard", "--count", "7"]);
    let last = parsed(&run_ok(
        home.path(),
        &["sales", "set", "2026-01", "--network", "visa", "--count", "9", "--output", "json"],
    ));

    assert!(said.contains("sales of January 2026 on Visa cards: 118,200"), "{said}");
    assert_eq!((&last["month"], &last["network"], &last["count"]), (&json!("2026-01"), &json!("visa"), &json!(9)));
    let text = entered(&home);
    assert!(text.contains("count = 9") && text.contains("count = 7") && !text.contains("118200"), "{text}");
}

#[test]
fn each_deployment_has_sales_of_its_own_and_no_credential_is_asked_for() {
    let home = home();

    run_ok(home.path(), &[&SET[..], &["--url", "https://shop.example"]].concat());

    assert!(walk(home.path()).to_string_lossy().contains("hosts/shop.example"));
    assert!(entered(&home).contains("118200"));
}

#[cfg(unix)]
#[test]
fn the_file_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = home();

    run_ok(home.path(), &SET);

    let found = walk(home.path());
    let mode = fs::metadata(&found).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600, "{}", found.display());
}

/// The file of sales somewhere below a directory.
#[cfg(unix)]
fn walk(directory: &Path) -> std::path::PathBuf {
    let mut folders = vec![directory.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path if path.ends_with("sales.toml") => return path,
                _ => {}
            }
        }
    }
    panic!("there is no file of sales");
}

#[rstest]
#[case(&["2026-13", "--network", "visa", "--count", "1"], &["2026-13", "no month", "2026-11"])]
#[case(&["2026-01", "--network", "amex", "--count", "1"], &["amex", "visa", "mastercard"])]
#[case(&["2026-01", "--network", "visa", "--count", "many"], &["many"])]
#[case(&["2026-01", "--network", "visa", "--count", "1000000000001"], &["1000000000000"])]
#[case(&["9999-01", "--network", "visa", "--count", "1"], &["9999-01", "still to come"])]
#[case(&["2026-01", "--count", "1"], &["--network"])]
fn what_is_wrong_is_refused_in_words(#[case] given: &[&str], #[case] expected: &[&str]) {
    let home = home();

    assert_refused(&run(home.path(), &[&["sales", "set"], given].concat()), 2, expected);
}

#[test]
fn a_file_that_cannot_be_read_is_told_with_its_line_and_kept() {
    let home = home();
    run_ok(home.path(), &SET);
    #[cfg(unix)]
    {
        let path = walk(home.path());
        fs::write(&path, "[[sales]]\nmonth = 5\n").unwrap();

        assert_refused(&run(home.path(), &SET), 2, &["sales.toml, line 2"]);
        assert_eq!(fs::read_to_string(path).unwrap(), "[[sales]]\nmonth = 5\n");
    }
}
