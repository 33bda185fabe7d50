//! Tests of the configuration, and the list of all settings that they hold.

mod schema;

use rstest::rstest;

use super::*;

fn parse(text: &str) -> Result<Settings, ConfigError> {
    Settings::parse(text, Path::new("avert.toml"))
}

fn nothing(_: &str) -> Option<String> {
    None
}

/// Every setting with its default and its help, as a settings file.
fn listing() -> String {
    let mut text =
        "#:schema ./config.schema.json\n# Every setting of avert with its default. What is stronger: a flag, then an \
        environment variable, then this file.\n# avert reads the file named by --config (or AVERT_CONFIG), else \
        config.toml in its configuration directory, where there is one.\n"
            .to_owned();
    for SettingSection { name, help, settings } in Settings::sections() {
        // A network that has a section goes to a gateway, a source that has one is set up, and a rule has limits.
        let is_example = ["providers.", "sources.", "rules."].iter().any(|begin| name.starts_with(begin));
        let mark = if is_example { "# " } else { "" };
        if !name.is_empty() {
            text += &format!("\n{}{mark}[{name}]\n", comment(help));
        }
        for (at, Setting { name: key, default, variable, help, .. }) in settings.iter().enumerate() {
            let kind = if *default == "[]" { ", comma-separated" } else { "" };
            let variable = if variable.is_empty() { String::new() } else { format!(" ({variable}{kind})") };
            let gap = if mark.is_empty() && (at > 0 || name.is_empty()) { "\n" } else { "" };
            let is_gateway = *key == "url" && name.starts_with("providers.");
            let default = if is_gateway { "\"https://gateway.example/ethoca\"" } else { default };
            text += &format!("{gap}{}{mark}{key} = {default}\n", comment(&format!("{help}{variable}")));
        }
    }
    text
}

fn comment(help: &str) -> String {
    if help.is_empty() {
        return String::new();
    }
    let wrapped =
        textwrap::wrap(help.trim(), textwrap::Options::new(118).word_splitter(textwrap::WordSplitter::NoHyphenation));
    wrapped.iter().map(|line| format!("# {line}\n")).collect()
}

#[test]
fn the_listed_defaults_are_the_defaults_and_those_of_the_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    let (file, page) = (root.join("config.default.toml"), root.join("docs/configuration.md"));
    let text = std::fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once("<!-- settings: begin -->").unwrap();
    let (_, after) = rest.split_once("<!-- settings: end -->").unwrap();
    let made = listing();
    let shown = format!("{before}<!-- settings: begin -->\n```toml\n{made}```\n<!-- settings: end -->{after}");

    if std::env::var_os("AVERT_WRITE_SETTINGS").is_some() {
        std::fs::write(&file, &made).unwrap();
        std::fs::write(&page, &shown).unwrap();
    }

    assert_eq!(parse(&made), Ok(Settings::default()));
    let hint = "run this test with AVERT_WRITE_SETTINGS=1 and look at the difference";
    assert!(std::fs::read_to_string(&file).unwrap() == made, "assets/config.default.toml is not the list: {hint}");
    assert!(std::fs::read_to_string(&page).unwrap() == shown, "assets/docs/configuration.md has another list: {hint}");
}

#[test]
fn the_variable_of_a_setting_is_found_by_its_name() {
    assert_eq!(Settings::variable_of("console", "theme"), Some("AVERT_THEME"));
    assert_eq!(Settings::variable_of("notices", "bell"), None);
}

#[rstest]
#[case(
    "database = \"mysql:x\"",
    1,
    "not a database: it has another scheme; allowed: sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/NAME"
)]
#[case("database = 5", 1, "expected the address of a database")]
#[case("[database]\nconnections = 2", 2, "\"2\" is not allowed: whole numbers from 3 to 1000")]
#[case("[database]\nadress = \"\"", 2, "unknown field `adress`, expected `address` or `connections`")]
#[case("colour = 1", 1, "unknown field `colour`, expected one of")]
#[case(
    "\n[console]\nthem = \"dark\"",
    3,
    "unknown field `them`, expected one of `theme`, `mouse`, `grace_seconds`, `keymap`, `user`, `times`, \
        `plain`"
)]
#[case("[console]\nmotion = true", 2, "unknown field `motion`, expected one of `theme`, `mouse`")]
#[case("[console]\ntheme = \"blue\"", 2, "\"blue\" is not allowed: one of auto, dark, light, high-contrast, ansi")]
#[case("[console]\nmouse = \"yes\"", 2, "\"yes\" is not allowed: true or false")]
#[case("[console]\ngrace_seconds = 2.5", 2, "\"2.5\" is not allowed: whole numbers from 0 to 60")]
#[case("[console]\ngrace_seconds = \"five\"", 2, "\"five\" is not allowed: whole numbers from 0 to 60")]
#[case("[notices]\nquiet = \"22-7\"", 2, "\"22-7\" is not allowed: two different times of day such as 22:00-07:00")]
#[case("[notices]\ndesktop = \"on\"", 2, "\"on\" is not allowed: one of off, osc9, osc777")]
#[case("[notices]\nbefore_minutes = 1441", 2, "\"1441\" is not allowed: whole numbers from 0 to 1440")]
#[case("[links]\n\norder = \"ftp://shop.example/{id}\"", 3, "an http:// or https:// address with a host is needed")]
#[case(
    "[links]\nportal = \"\"",
    2,
    "unknown field `portal`, expected one of `order`, `payment`, `ethoca`, `verifi`, `cdrn`"
)]
#[case("[console]\ngrace_seconds = 61", 2, "\"61\" is not allowed: whole numbers from 0 to 60")]
#[case("[windows]\nethoca = 0", 2, "\"0\" is not allowed: whole numbers from 1 to 8760")]
#[case(
    "[windows.types]\nVERIFI_CANSEL = 48",
    2,
    "\"VERIFI_CANSEL\" is not an alert type: one of ETHOCA_CONFIRMED_FRAUD"
)]
#[case("[serve]\nlisten = \"here\"", 2, "\"here\" is not an address and a port, such as 127.0.0.1:7317")]
#[case(
    "[serve]\ntrusted_proxies = [\"10.0.0.0/40\"]",
    2,
    "\"10.0.0.0/40\" is not allowed: an IP address or a network, such as"
)]
#[case("[serve]\nconnections_per_address = 0", 2, "\"0\" is not allowed: whole numbers from 1 to 4096")]
#[case("[serve]\nlist_seconds = 0", 2, "\"0\" is not allowed: whole numbers from 1 to 60")]
#[case("environment = \"prod\"", 1, "\"prod\" is not allowed: one of sandbox, production")]
#[case("[log]\nlevel = \"loud\"", 2, "expected one of \"off\", \"error\"")]
#[case(
    "[webhooks]\nallow = [\"10.0.0.0/8\", \"localhost\"]",
    2,
    "\"localhost\" is not allowed: an IP address or a network"
)]
#[case("[webhooks]\nendpoints_per_organization = 0", 2, "\"0\" is not allowed: whole numbers from 1 to 1000")]
#[case("[simulator\nfault = 1", 1, "")]
fn a_wrong_line_is_refused_with_its_number_and_what_is_allowed(
    #[case] text: &str,
    #[case] wrong: usize,
    #[case] words: &str,
) {
    let ConfigError::Line { line, message, .. } = parse(text).unwrap_err() else { panic!("not a line") };

    assert!(message.contains(words), "{message}");
    assert_eq!(line, wrong, "{message}");
}

#[test]
fn a_database_is_named_alone_or_with_its_connections() {
    let alone = parse("database = \"sqlite:a.db\"").unwrap().database;
    let whole = parse("[database]\naddress = \"sqlite:a.db\"\nconnections = 5").unwrap().database;
    let given =
        Settings::load(None, |name| (name == "AVERT_DATABASE_CONNECTIONS").then(|| "5".to_owned())).unwrap().database;

    assert_eq!((alone.address, alone.connections.0), (whole.address, 20));
    assert_eq!((whole.connections.0, given.connections.0), (5, 5));
}

#[test]
fn the_environment_is_stronger_than_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("avert.toml");
    std::fs::write(&file, "[console]\ntheme = \"dark\"\nmouse = false").unwrap();

    let settings = Settings::load(Some(&file), |name| (name == "AVERT_THEME").then(|| "light".to_owned())).unwrap();

    assert_eq!((settings.console.theme, settings.console.mouse), (ThemeSetting::Light, false));
}

#[test]
fn trusted_proxies_are_addresses_and_networks_separated_by_commas() {
    let settings =
        Settings::load(None, |name| (name == "AVERT_TRUSTED_PROXIES").then(|| "127.0.0.1, 10.0.0.0/8,::1".to_owned()))
            .unwrap();

    let proxies: Vec<String> = settings.serve.trusted_proxies.iter().map(|proxy| proxy.0.to_string()).collect();
    assert_eq!(proxies, ["127.0.0.1/32", "10.0.0.0/8", "::1/128"]);
}

#[rstest]
#[case("AVERT_THEME", "blue", "AVERT_THEME: \"blue\" is not allowed: one of auto, dark, light, high-contrast, ansi")]
#[case("AVERT_WINDOW_CDRN", "-1", "AVERT_WINDOW_CDRN: \"-1\" is not allowed: whole numbers from 1 to 8760")]
#[case(
    "AVERT_TRUSTED_PROXIES",
    "127.0.0.1, proxy",
    "AVERT_TRUSTED_PROXIES: \"proxy\" is not allowed: an IP address or a network, such as 127.0.0.1 or 10.0.0.0/8"
)]
#[case(
    "AVERT_WEBHOOKS_ALLOW",
    "127.0.0.1,169.254.1.1",
    "AVERT_WEBHOOKS_ALLOW: \"169.254.1.1\" is not allowed: webhooks are never sent to a reserved address"
)]
#[case("AVERT_MOUSE", "maybe", "AVERT_MOUSE: \"maybe\" is not allowed: true or false")]
fn a_wrong_variable_is_refused_with_its_name(#[case] variable: &str, #[case] text: &str, #[case] words: &str) {
    let error = Settings::load(None, |name| (name == variable).then(|| text.to_owned())).unwrap_err();

    assert_eq!(error.to_string(), words);
}

#[test]
fn networks_that_webhooks_may_reach_are_listed_in_the_file_or_with_commas() {
    let listed = parse("[webhooks]\nallow = [\"127.0.0.1:9000\", \"10.0.0.0/8\"]").unwrap();
    let given =
        Settings::load(None, |name| (name == "AVERT_WEBHOOKS_ALLOW").then(|| "127.0.0.1:9000, 10.0.0.0/8,".to_owned()))
            .unwrap();

    assert_eq!(listed.webhooks, given.webhooks);
    assert_eq!(given.webhooks.allow.len(), 2);
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let error = Settings::load(Some(Path::new("/nowhere/avert.toml")), nothing).unwrap_err();

    assert!(error.to_string().starts_with("the settings file /nowhere/avert.toml cannot be read: "), "{error}");
}

#[test]
fn localhost_is_an_address() {
    assert_eq!("localhost:0".parse::<Listen>().unwrap().to_string(), "127.0.0.1:0");
}
