//! The README's walk, each step as it is written there. Where `AVERT_WRITE_PICTURES` is set, the pictures of the README
//! are taken on the way.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use crate::support::{
    binary::{Server, avert, binary, surroundings},
    ports::free_port,
    svg::{self, Frame},
    terminal::Terminal,
};

const README: &str = include_str!("../../README.md");

const CTRL_S: &str = "\x13";
const ENTER: &str = "\r";
const ESC: &str = "\x1b";

/// Holds the README to saying this, however its lines are broken.
fn says(words: &str) {
    let readme = README.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(readme.contains(words), "the README no longer says {words:?}: its walk has changed");
}

/// What stands in the README between two texts.
fn between(begin: &str, end: &str) -> &'static str {
    README
        .split_once(begin)
        .and_then(|(_, rest)| rest.split_once(end))
        .unwrap_or_else(|| panic!("the README has {begin:?}"))
        .0
}

/// The pictures that are taken on the way.
#[derive(Default)]
struct Pictures {
    film: Vec<Frame>,
}

impl Pictures {
    /// Adds what the terminal shows to the film.
    fn take(&mut self, terminal: &Terminal, stands: u32, caption: &str) {
        self.film.push(Frame { screen: terminal.screen(), stands, caption: caption.to_owned() });
    }

    fn write(name: &str, picture: &str) {
        assert!(picture.len() < 1_000_000, "{name} has {} bytes", picture.len());
        if std::env::var_os("AVERT_WRITE_PICTURES").is_some() {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/pictures").join(name);
            fs::write(path, picture).unwrap();
        }
    }

    /// A picture of what the terminal shows.
    fn still(terminal: &Terminal, name: &str) {
        Self::write(name, &svg::picture(&terminal.screen()));
    }
}

#[test]
fn the_walk_through_the_demo_leads_where_the_readme_says() {
    let home = tempfile::tempdir().unwrap();
    let mut pictures = Pictures::default();
    let mut terminal =
        Terminal::start_with(home.path(), &["demo"], &[("COLORTERM", "truecolor"), ("NO_COLOR", "")], 120, 36);

    says("opens the **Queue**");
    terminal.wait_until("the Queue with the alert under its cursor", |screen| {
        screen.contains("To answer") && screen.contains("CARD") && screen.contains("ORDER")
    });
    Pictures::still(&terminal, "queue.svg");
    pictures.take(&terminal, 2_500, "avert demo");

    says("press `/` and type it");
    let order = between("A customer asks about order `", "`");
    terminal.press("/");
    terminal.wait_for("Search");
    pictures.take(&terminal, 1_000, "/   find an alert by its order number");
    for (place, letter) in order.char_indices() {
        terminal.press(&letter.to_string());
        terminal.wait_for(&order[..=place]);
        pictures.take(&terminal, 130, "/   find an alert by its order number");
    }
    says("Its three alerts are there, the answered one too");
    terminal.wait_until("three alerts", |screen| screen.contains("3 alerts found") && screen.contains("efunded"));
    pictures.take(&terminal, 2_000, "/   find an alert by its order number");
    says("`enter` goes to the first");
    terminal.press(ENTER);
    terminal.wait_until("the alert in the Queue", |screen| screen.contains(order) && !screen.contains("alerts found"));
    pictures.take(&terminal, 1_500, "enter   go to it");

    says("`enter` again opens the **case**");
    terminal.press(ENTER);
    terminal.wait_until("the case", |screen| {
        screen.contains("3 alerts on one payment   2 open") && screen.contains("Already refunded")
    });
    terminal.wait_for("TRANSACTION");
    Pictures::still(&terminal, "case.svg");
    pictures.take(&terminal, 3_000, "enter   the case: all alerts on this payment");
    says("`i` answers the two open as invalid, each for the reason that fits");
    let in_form = |screen: &str| {
        screen.contains("2 will be sent")
            && screen.contains("Invalid (refunded before the alert)")
            && screen.contains("Invalid (duplicate")
    };
    terminal.press("i");
    terminal.wait_until("the form of the case", in_form);
    pictures.take(&terminal, 2_500, "i   one answer for the case");
    says("`enter` never does");
    terminal.press(ENTER);
    terminal.press(CTRL_S);
    terminal.wait_for("sends in");
    pictures.take(&terminal, 1_500, "ctrl-s   send; u undoes for five seconds");
    says("`u` undoes both");
    terminal.press("u");
    terminal.wait_until("both alerts as they were", |screen| screen.contains("2 open") && !screen.contains("sends in"));
    terminal.press("i");
    terminal.wait_until("the form of the case", in_form);
    terminal.press(CTRL_S);
    says("the case shows their results");
    terminal.wait_until("both alerts answered", |screen| screen.contains("3 alerts on one payment   0 open"));
    pictures.take(&terminal, 2_500, "recorded: two alerts, one answer");

    says("`esc` goes back to the Queue");
    terminal.press(ESC);
    terminal.wait_until("the list without what was answered", |screen| {
        screen.contains("To answer") && !screen.contains("··9769")
    });
    says("`V` begins a range, `j` five times extends it, `V` marks it");
    terminal.press("V");
    terminal.wait_for("range of 1");
    for length in 2..=6 {
        terminal.press("j");
        terminal.wait_for(&format!("range of {length}"));
        pictures.take(&terminal, 300, "V   several alerts at once");
    }
    terminal.press("V");
    terminal.wait_for("6 marked");
    pictures.take(&terminal, 900, "V   several alerts at once");
    says("Now `n` opens one form for all of them");
    terminal.press("n");
    terminal.wait_for("Answer 6 alerts");
    terminal.wait_for("5 will be sent");
    pictures.take(&terminal, 3_000, "n   one form for all of them");
    says("`ctrl-s` sends them and shows how far they are. One `u` undoes all, and `n` opens the form again");
    terminal.press(CTRL_S);
    terminal.wait_for("sends in");
    terminal.press("u");
    terminal.wait_for("5 undone, 1 skipped");
    terminal.press("n");
    terminal.wait_for("5 will be sent");
    terminal.press(CTRL_S);
    terminal.wait_for("sends in");
    pictures.take(&terminal, 1_200, "ctrl-s   send");
    terminal.wait_for("5 recorded");
    pictures.take(&terminal, 2_500, "recorded, each for itself");
    terminal.press(ESC);
    says("What needs review stays marked, and `esc` unmarks it. `b` shows the last run");
    terminal.wait_for("1 marked");
    terminal.press(ESC);
    terminal.wait_until("nothing marked", |screen| screen.contains("DUE IN▲") && !screen.contains("marked"));
    terminal.press("b");
    terminal.wait_until("the page of the run", |screen| screen.contains("RESULT") && screen.contains("5 recorded"));
    terminal.press(ESC);
    terminal.wait_for("DUE IN▲");

    says("`2` is **Insights**");
    terminal.press("2");
    terminal.wait_for("DUE BY HOUR");
    terminal.wait_for("BY NETWORK");
    Pictures::still(&terminal, "insights.svg");
    pictures.take(&terminal, 2_500, "2   Insights: what is due when");
    says("`3` is **Webhooks**");
    terminal.press("3");
    terminal
        .wait_until("a delivery with its try", |screen| screen.contains("ENDPOINT") && screen.contains("Attempt 1"));
    Pictures::still(&terminal, "webhooks.svg");
    pictures.take(&terminal, 2_500, "3   Webhooks: every delivery with its attempts");
    says("`4` is **Activity**");
    terminal.press("4");
    terminal.wait_for("To do");
    terminal.press("\t");
    terminal.wait_until("today's answers", |screen| screen.contains(order) && !screen.contains("Reading…"));
    Pictures::still(&terminal, "activity.svg");
    pictures.take(&terminal, 3_000, "4   Activity: result of each answer");

    terminal.press("q");
    assert_eq!(terminal.wait_exit().0, 0);
    Pictures::write("tour.svg", &svg::film(&pictures.film));
}

/// Runs lines of the README in a shell, at home.
fn shell(home: &Path, lines: &str) {
    let directory = binary().parent().unwrap().to_owned();
    let path = format!("{}:{}", directory.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("sh");
    command
        .args(["-ec", lines])
        .current_dir(home)
        .env("PATH", path)
        .env_remove("AVERT_DATA_DIR")
        .env_remove("XDG_DATA_HOME");
    for (name, value) in surroundings(home) {
        command.env(name, value);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{lines}\n{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_webhook_that_failed_is_sent_again_as_the_readme_says() {
    let home = tempfile::tempdir().unwrap();
    let address = format!("127.0.0.1:{}", free_port());
    let table = between("```csv\n", "```");
    fs::write(home.path().join("alerts.csv"), table).unwrap();
    let lines = between("cargo install --path .\n", "\navert   ").replace("127.0.0.1:9000", &address);
    assert!(lines.contains("avert webhooks add") && lines.contains("avert import"), "{lines}");

    shell(home.path(), &lines);
    let variables = [("AVERT_DATA_DIR", ""), ("XDG_DATA_HOME", ""), ("AVERT_WEBHOOKS_ALLOW", address.as_str())];
    let mut terminal = Terminal::start_with(home.path(), &[], &variables, 120, 40);
    terminal.wait_for("ACME*SHOP 42");
    says("`3` shows the endpoint failing, and the delivery with its attempts and `connection refused`");
    terminal.press("3");
    terminal.wait_until("a failing endpoint", |screen| {
        screen.contains("failing for") && screen.contains("connection refused")
    });
    says("avert webhooks listen --listen 127.0.0.1:9000 --basic-file credential");
    let credential = home.path().join("credential");
    let mut listen = avert(home.path(), &["webhooks", "listen", "--listen", &address, "--basic-file"]);
    listen.arg(credential);
    let _listener = Server::spawn(listen, Stdio::inherit());
    says("In the console `s` resends the delivery");
    terminal.press("s");

    says("It is `delivered`, and the listener prints a line");
    terminal.wait_for("✓ delivered");
    terminal.press("q");
    assert_eq!(terminal.wait_exit().0, 0);
}

#[test]
fn every_picture_of_the_readme_is_there_and_small_and_whole() {
    let named: Vec<&str> = README
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|link| link.ends_with(".svg"))
        .collect();

    let sizes: Vec<usize> = named
        .iter()
        .map(|path| {
            let picture = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path))
                .unwrap_or_else(|error| panic!("{path}: {error}"));
            assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"), "{path}");
            picture.len()
        })
        .collect();

    assert_eq!(named.len(), 6, "{named:?}");
    assert!(sizes.iter().all(|size| *size < 1_000_000) && sizes.iter().sum::<usize>() < 1_500_000, "{sizes:?}");
}
