//! The copy menu, links, and the export of what is listed.

use avert::{
    console::{
        SessionInfo,
        message::{Effect, Message},
    },
    desk::links::LinkTemplates,
    domain::{Alert, AlertFilter, Dialect, RefundProof, RefundState, time::Clock},
    service::ServiceError,
    wire::write,
};
use rstest::rstest;

use super::{
    fake::morning,
    rig::{Made, Rig, assert_screens, clock, screens},
};

fn first() -> Alert {
    let alert = morning(clock().now()).remove(0);
    Alert { merchant_order_id: Some("A-10293".to_owned()), acquirer_reference_number: None, ..alert }
}

fn one() -> Rig {
    Made::of(vec![first()]).start()
}

fn copied(rig: &Rig) -> Vec<String> {
    rig.done
        .iter()
        .filter_map(|effect| if let Effect::Copy(text) = effect { Some(text.reveal().to_owned()) } else { None })
        .collect()
}

fn browsed(rig: &Rig) -> Vec<&str> {
    rig.done
        .iter()
        .filter_map(|effect| if let Effect::Browse(address) = effect { Some(address.as_str()) } else { None })
        .collect()
}

#[test]
fn the_key_twice_copies_the_id_and_once_shows_what_else_there_is() {
    let mut rig = one();
    rig.press("y");
    let menu = rig.screen();

    rig.press("y");

    assert_eq!(copied(&rig), [rig.current().to_string()]);
    assert!(menu.contains("network id") && menu.contains("A-10293") && menu.contains("raw JSON"), "{menu}");
    assert!(!rig.screen().contains("raw JSON"));
}

#[rstest]
#[case::network("n", |alert: &Alert| alert.provider_id.clone())]
#[case::order("o", |_: &Alert| "A-10293".to_owned())]
#[case::last_four("l", |alert: &Alert| alert.card_last_four.clone())]
#[case::descriptor("d", |alert: &Alert| alert.merchant_descriptor.clone())]
#[case::json("J", |alert: &Alert| String::from_utf8(write::alert(alert, Dialect::Current, clock().now())).unwrap())]
fn each_fact_has_a_key_of_its_own(#[case] key: &str, #[case] fact: fn(&Alert) -> String) {
    let mut rig = one();

    rig.press(&format!("y {key}"));

    let alert = rig.service.alert(rig.current()).unwrap();
    assert_eq!(copied(&rig), [fact(&alert)]);
}

#[test]
fn the_curl_command_of_another_deployment_is_copied_and_this_computer_has_none() {
    let curl = Some("curl -H \"X-API-KEY: $AVERT_API_KEY\" 'https://shop.example/api/v1/alerts/{id}'".to_owned());
    let place = SessionInfo { curl, remote: true, ..Made::default().place };
    let mut remote = Made { place, ..Made::of(vec![first()]) }.start();
    let mut here = one();

    remote.press("y c");
    here.press("y c");

    let command = "curl -H \"X-API-KEY: $AVERT_API_KEY\" 'https://shop.example/api/v1/alerts/";
    assert_eq!(copied(&remote), [format!("{command}{}'", remote.current())]);
    assert_eq!(copied(&here), Vec::<String>::new());
}

#[test]
fn a_fact_that_is_not_told_is_shown_as_absent_and_never_copied() {
    let mut rig = one();
    rig.press("y a");

    let screen = rig.screen();

    assert_eq!(copied(&rig), Vec::<String>::new());
    assert!(screen.contains("Nothing copied: the alert has no ARN."), "{screen}");
    assert!(screen.lines().any(|line| line.contains("ARN") && line.contains('–')), "{screen}");
}

#[test]
fn the_case_copies_too() {
    let mut rig = one();
    rig.press("enter y y");

    assert_eq!(copied(&rig), [rig.current().to_string()]);
}

fn links(order: &str, payment: Option<&str>) -> LinkTemplates {
    LinkTemplates {
        order: Some(order.parse().unwrap()),
        payment: payment.map(|payment| payment.parse().unwrap()),
        ..LinkTemplates::default()
    }
}

#[test]
fn one_link_opens_at_once() {
    let links = links("https://shop.example/orders/{merchantOrderId}", None);
    let mut rig = Made { links, browses: true, ..Made::of(vec![first()]) }.start();

    rig.press("o");

    assert_eq!(browsed(&rig), ["https://shop.example/orders/A-10293"]);
    assert_eq!(copied(&rig), Vec::<String>::new());
}

#[test]
fn without_a_browser_the_address_is_shown_and_copied() {
    let links = links("https://shop.example/orders/{merchantOrderId}", None);
    let mut rig = Made { links, ..Made::of(vec![first()]) }.start();

    rig.press("o");

    assert_eq!((browsed(&rig).len(), copied(&rig)), (0, vec!["https://shop.example/orders/A-10293".to_owned()]));
    assert!(rig.screen().contains("https://shop.example/orders/A-10293"), "{}", rig.screen());
}

#[test]
fn several_links_are_chosen_from_and_one_without_its_value_says_what_is_missing() {
    let links = links("https://shop.example/{merchantOrderId}", Some("https://pay.example/{acquirerReferenceNumber}"));
    let mut rig = Made { links, browses: true, ..Made::of(vec![first()]) }.start();

    rig.press("o");
    let menu = rig.screen();
    rig.press("j enter");
    let missing = rig.screen();
    rig.press("k enter");

    assert!(menu.contains("https://shop.example/A-10293"), "{menu}");
    assert!(missing.contains("the alert has no acquirerReferenceNumber"), "{missing}");
    assert_eq!(browsed(&rig), ["https://shop.example/A-10293"]);
}

#[test]
fn without_any_link_it_is_said_how_to_have_one() {
    let mut rig = one();

    rig.press("o");

    assert!(rig.screen().contains("No link is set for ETHOCA. Add it in the settings file: "), "{}", rig.screen());
}

#[test]
fn a_browser_that_does_not_open_leaves_the_address_copied() {
    let mut rig = one();

    rig.update(Message::NotBrowsed("https://shop.example/1".to_owned(), "No such file".to_owned()));

    assert_eq!(copied(&rig), ["https://shop.example/1"]);
    assert!(rig.screen().contains("No browser opened: No such file."), "{}", rig.screen());
}

/// A console whose files go to a directory of its own.
fn exporting(alerts: Vec<Alert>) -> (Rig, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let rig = Made { files: directory.path().to_owned(), ..Made::of(alerts) }.start();
    (rig, directory)
}

fn files(directory: &tempfile::TempDir) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap());
    let read = |entry: std::fs::DirEntry| {
        (entry.file_name().into_string().unwrap(), std::fs::read_to_string(entry.path()).unwrap())
    };
    entries.map(read).collect()
}

/// So many alerts of the same kind.
fn many(count: usize) -> Vec<Alert> {
    let one = first();
    let alert = |number| Alert {
        id: avert::domain::AlertId::generate(),
        provider_id: format!("7KQ{number:05}"),
        ..one.clone()
    };
    (0..count).map(alert).collect()
}

#[test]
fn all_pages_of_the_list_are_exported_as_csv_readable_by_its_owner_alone() {
    let (mut rig, directory) = exporting(many(950));

    rig.press("e enter");

    let files = files(&directory);
    let [(name, text)] = files.as_slice() else { panic!("one file: {files:?}\n{}", rig.screen()) };
    assert_eq!(
        (name.as_str(), text.lines().count(), text.lines().next()),
        ("avert-to-answer-20261120-1803.csv", 951, Some("providerId"))
    );
    assert!(rig.screen().contains("Exported 950 alerts to"), "{}", rig.screen());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(directory.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn what_is_exported_is_what_is_listed_in_its_filter() {
    let (mut rig, directory) = exporting(many(30));
    rig.press("/");
    rig.type_text("status:open 7KQ00007");
    rig.press("enter e enter");

    let files = files(&directory);

    assert_eq!(files[0].0, "avert-found-20261120-1803.csv", "{}", rig.screen());
    assert_eq!(files[0].1.lines().skip(1).collect::<Vec<_>>(), ["7KQ00007"]);
    let lists = rig.service.lists.lock().unwrap();
    assert!(lists.last().is_some_and(|query| query.filter != AlertFilter::default()));
}

#[test]
fn an_export_has_the_proofs_of_refunds() {
    let alerts = many(3);
    let (mut rig, directory) = exporting(alerts.clone());
    let state = RefundState::Succeeded;
    let proof = RefundProof { reference: "re_1".to_owned(), amount: None, currency: None, state };
    rig.service.refunds.lock().unwrap().push((alerts[1].id, proof));

    rig.press("e enter");

    let text = &files(&directory)[0].1;
    assert_eq!(text.lines().filter(|line| line.ends_with(" re_1")).collect::<Vec<_>>(), ["7KQ00001 re_1"]);
}

#[test]
fn a_tilde_in_a_path_is_the_home_and_the_ending_is_that_of_the_format() {
    let (mut rig, directory) = exporting(many(3));
    rig.press("e ctrl-u");
    rig.type_text("~/three");

    rig.press("enter");

    let files = files(&directory);
    assert_eq!(files.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["three.csv"], "{}", rig.screen());
}

#[test]
fn a_file_that_is_there_is_never_written_over() {
    let (mut rig, directory) = exporting(many(3));
    let path = directory.path().join("avert-to-answer-20261120-1803.csv");
    std::fs::write(&path, "mine").unwrap();

    rig.press("e enter");

    assert_eq!(files(&directory), [("avert-to-answer-20261120-1803.csv".to_owned(), "mine".to_owned())]);
    assert!(rig.screen().contains("a file of this name is there already"), "{}", rig.screen());
}

#[test]
fn an_export_that_breaks_off_leaves_no_file_and_says_why() {
    let (mut rig, directory) = exporting(many(3));
    rig.holding = true;
    rig.press("e enter");
    rig.service.set_down(Some(ServiceError::Unreachable("no connection".to_owned())));

    rig.release();

    assert_eq!(files(&directory), []);
    let screen = rig.screen();
    assert!(screen.contains("Not exported to") && screen.contains("no connection"), "{screen}");
}

#[test]
fn an_export_goes_on_without_its_dialog_and_can_be_given_up() {
    let (mut rig, _directory) = exporting(many(3));
    rig.holding = true;
    rig.press("e enter");
    rig.update(Message::Exporting(1_200, 4_000));
    let progress = rig.screen();
    rig.press("esc j e");
    let again = rig.screen();

    rig.press("x");

    assert!(
        progress.contains("1,200 of 4,000 alerts") && again.contains("1,200 of 4,000 alerts"),
        "{progress}\n{again}"
    );
    assert!(rig.done.contains(&Effect::GiveUpExport));
    let screen = rig.screen();
    assert!(screen.contains("stopped at 1,200 of 4,000 alerts."), "{screen}");
}

#[test]
fn a_read_only_profile_copies_opens_and_exports() {
    let directory = tempfile::tempdir().unwrap();
    let place = SessionInfo { read_only: true, remote: true, name: "there".to_owned(), ..SessionInfo::default() };
    let links = links("https://shop.example/{merchantOrderId}", None);
    let files_here = directory.path().to_owned();
    let mut rig =
        Made { place, links, browses: true, operator: false, files: files_here, ..Made::of(vec![first()]) }.start();

    rig.press("y y o e enter");

    assert_eq!((copied(&rig).len(), browsed(&rig).len(), files(&directory).len()), (1, 1, 1), "{}", rig.screen());
}

/// What is on the screen after these keys, at each size, on a morning whose alerts have links.
fn pictures(name: &str, keys: &str) {
    let links = || {
        links("https://shop.example/orders/{merchantOrderId}", Some("https://pay.example/{acquirerReferenceNumber}"))
    };
    let taken = screens(|size| {
        let mut rig = Made { size, links: links(), browses: true, ..Made::default() }.start();
        rig.holding = true;
        rig.press(keys);
        rig
    });
    assert_screens!(name, taken);
}

#[test]
fn the_copy_menu_in_pictures() {
    pictures("menu", "j y");
}

#[test]
fn a_fact_that_is_absent_in_pictures() {
    pictures("absent", "j j y o");
}

#[test]
fn the_links_in_pictures() {
    pictures("links", "j o");
}

#[test]
fn the_form_of_an_export_in_pictures() {
    pictures("export-form", "e");
}

#[test]
fn an_export_that_goes_on_in_pictures() {
    let taken = screens(|size| {
        let mut rig = Made { size, ..Made::default() }.start();
        rig.holding = true;
        rig.press("e enter");
        rig.update(Message::Exporting(1_200, 4_000));
        rig
    });
    assert_screens!("exporting", taken);
}
