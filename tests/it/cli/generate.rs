//! Made-up alerts for a desk that is to be measured.

use super::*;

#[test]
fn a_desk_without_alerts_is_filled_for_several_organizations() {
    let home = home();

    let output = run(home.path(), &["generate", "--alerts", "2000", "--seed", "7", "--output", "json"]);

    let made = parsed(&String::from_utf8(output.stdout.clone()).unwrap());
    let counts: Vec<u64> = made.as_array().unwrap().iter().map(|one| one["alerts"].as_u64().unwrap()).collect();
    assert_eq!((output.status.code(), counts), (Some(0), vec![2000, 120, 120]), "{}", words(&output));
    for (name, total) in [("default", 2000), ("made-up-2", 120), ("made-up-3", 120)] {
        let of = |filter: &[&str]| {
            let all = [&["alerts", "list", "--organization", name, "--output", "json"], filter].concat();
            parsed(&String::from_utf8(run(home.path(), &all).stdout).unwrap())["total"].as_u64().unwrap()
        };
        assert_eq!((of(&[]), of(&["--status", "OPEN"])), (total, total / 20), "{name}");
    }
}

#[test]
fn what_is_made_up_never_joins_alerts_that_are_there_nor_a_desk_of_production() {
    let home = home();
    let here = ["generate", "--alerts", "20", "--organizations", "1"];
    assert_eq!(run(home.path(), &here).status.code(), Some(0));

    let again = run(home.path(), &here);
    let elsewhere = home.path().join("production");
    let production = avert(&elsewhere, &here).env("AVERT_ENVIRONMENT", "production").output().unwrap();

    assert_refused(&again, 2, &["default has 20 alerts"]);
    assert_refused(&production, 2, &["environment is production"]);
    assert!(!elsewhere.exists());
}
