//! Profiles: deployments by name, in `profiles.toml` beside the settings, which can be edited by hand.

use std::{
    collections::BTreeMap,
    fmt,
    ops::{Not, RangeInclusive},
    path::{Path, PathBuf},
    str::FromStr,
};

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use super::file::{DeskError, DeskFile};
use crate::domain::{Dialect, Environment, MAX_PAGE_SIZE};

/// The name that no profile has: it means this machine's own desk.
pub const LOCAL: &str = "local";

/// Longest name.
const MAX_NAME: usize = 64;

/// Allowed interval between two reads of a list, in seconds.
pub const REFRESH_SECONDS: RangeInclusive<u32> = 1..=3_600;

/// The name of a profile: fit for a file's name, an account in a keyring and a header.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProfileName(String);

impl ProfileName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ProfileName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if text.eq_ignore_ascii_case(LOCAL) {
            return Err(format!("{LOCAL:?} is not allowed: it means this machine's own desk"));
        }
        match text.len() {
            1..=MAX_NAME if text.chars().all(fits) && text.starts_with(|c: char| c.is_ascii_alphanumeric()) => {
                Ok(Self(text.to_owned()))
            }
            _ => Err(format!(
                "a name has 1 to {MAX_NAME} letters, digits, -, _ and . and begins with a letter or a digit"
            )),
        }
    }
}

impl TryFrom<String> for ProfileName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map_err(|error| format!("the profile's name {text:?}: {error}"))
    }
}

impl From<ProfileName> for String {
    fn from(name: ProfileName) -> Self {
        name.0
    }
}

impl fmt::Display for ProfileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A profile: a deployment, and how one works on it. Nothing in it is secret.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Profile {
    /// Base URL.
    pub url: String,
    /// Environment of the deployment; none where nobody has said it.
    #[cfg_attr(test, schemars(with = "Option<tests::EnvironmentWord>"))]
    pub environment: Option<Environment>,
    /// The variant of the interface; none for the one that goes with the credential.
    #[cfg_attr(test, schemars(with = "Option<tests::DialectWord>"))]
    pub dialect: Option<Dialect>,
    /// The client id where its credential is a client secret; none where it is an API key.
    pub client_id: Option<String>,
    /// True where nothing may be sent or changed by way of it.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub read_only: bool,
    /// The deployment's name for the company filter.
    pub company_parameter: Option<String>,
    /// Number of alerts that the console asks for at once.
    #[serde(default, deserialize_with = "page_size")]
    #[cfg_attr(test, schemars(range(min = 1, max = MAX_PAGE_SIZE)))]
    pub page_size: Option<u32>,
    /// Interval at which the console reads a list again, in seconds.
    #[serde(default, deserialize_with = "refresh_seconds")]
    #[cfg_attr(test, schemars(range(min = 1, max = tests::SLOWEST)))]
    pub refresh_seconds: Option<u32>,
    /// Names of older files that are ignored: rules only suggest.
    #[serde(default, skip_serializing)]
    pub auto_rules: Vec<String>,
    /// Certificates of the authorities that are trusted with it, and no others (PEM); none for those of this machine.
    pub ca_file: Option<PathBuf>,
    /// The client certificate that it asks for (PEM).
    pub client_certificate: Option<PathBuf>,
    /// The private key of the client certificate (PEM), where it is in a file of its own.
    pub client_key: Option<PathBuf>,
    /// True where plain http is permitted beyond this machine.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub insecure_http: bool,
}

impl Profile {
    /// The variant that is spoken: as named, else the one that goes with the kind of its credential.
    pub fn spoken_dialect(&self) -> Dialect {
        let by_credential = if self.client_id.is_some() { Dialect::Older } else { Dialect::Current };
        self.dialect.unwrap_or(by_credential)
    }
}

fn page_size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    number(deserializer, 1..=MAX_PAGE_SIZE, "whole numbers")
}

fn refresh_seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    number(deserializer, REFRESH_SECONDS, "whole seconds")
}

fn number<'de, D: Deserializer<'de>>(
    deserializer: D,
    allowed: RangeInclusive<u32>,
    what: &str,
) -> Result<Option<u32>, D::Error> {
    let number = i64::deserialize(deserializer)?;
    let known = u32::try_from(number).ok().filter(|number| allowed.contains(number));
    known.map(Some).ok_or_else(|| {
        let (least, most) = (allowed.start(), allowed.end());
        D::Error::custom(format!("{number} is not allowed: {what} from {least} to {most}"))
    })
}

/// The profiles there are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProfileList {
    /// The one that is meant where none is named; none for this machine's own desk.
    pub current: Option<ProfileName>,
    /// Each by its name.
    #[serde(rename = "profile", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub all: BTreeMap<ProfileName, Profile>,
}

/// The file of profiles.
#[derive(Debug, Clone)]
pub struct Profiles {
    file: DeskFile,
}

impl Profiles {
    /// The profiles of a directory.
    pub fn of(directory: &Path) -> Self {
        Self { file: DeskFile { path: directory.join("profiles.toml") } }
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.file.path
    }

    /// The profiles there are; none where there is no file.
    pub fn list(&self) -> Result<ProfileList, DeskError> {
        Ok(self.file.read()?.unwrap_or_default())
    }

    /// Changes the profiles, in one step and alone; where the change is refused, nothing is written.
    pub fn change<T, E: From<DeskError>>(&self, change: impl FnOnce(&mut ProfileList) -> Result<T, E>) -> Result<T, E> {
        let _turn = self.file.turn()?;
        let mut list = self.list()?;
        let answer = change(&mut list)?;
        let about = "Deployments that avert knows by name. Their keys and secrets are not here: see `avert login`.";
        self.file.write(about, &list)?;
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use rstest::rstest;
    use schemars::{
        JsonSchema, Schema,
        generate::{SchemaGenerator, SchemaSettings},
        json_schema,
    };

    use super::*;

    /// Most seconds between two reads, for the schema; the least is one.
    pub(super) const SLOWEST: u32 = *REFRESH_SECONDS.end();

    /// A word of an enum, for the schema.
    pub(super) enum EnvironmentWord {}
    pub(super) enum DialectWord {}

    macro_rules! schemas {
        ($($kind:ident => $schema:tt;)+) => {$(
            impl JsonSchema for $kind {
                fn inline_schema() -> bool {
                    true
                }

                fn schema_name() -> Cow<'static, str> {
                    stringify!($kind).into()
                }

                fn json_schema(_: &mut SchemaGenerator) -> Schema {
                    json_schema!($schema)
                }
            }
        )+};
    }

    schemas! {
        ProfileName => {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"};
        EnvironmentWord => {"enum": Environment::ALL.map(Environment::as_str)};
        DialectWord => {"enum": Dialect::ALL.map(Dialect::as_str)};
    }

    #[test]
    fn the_schema_of_the_file_is_what_the_types_say() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/profiles.schema.json");
        let settings = SchemaSettings::draft07().with(|it| it.inline_subschemas = true);
        let schema = settings.into_generator().into_root_schema_for::<ProfileList>();
        let made = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());

        if std::env::var_os("AVERT_WRITE_SETTINGS").is_some() {
            std::fs::write(&file, &made).unwrap();
        }

        let kept = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            kept == made,
            "assets/profiles.schema.json is not what the types say: run this test with AVERT_WRITE_SETTINGS=1 and \
                look at the difference"
        );
    }

    fn profiles() -> (tempfile::TempDir, Profiles) {
        let directory = tempfile::tempdir().unwrap();
        let profiles = Profiles::of(&directory.path().join("avert"));
        (directory, profiles)
    }

    fn named(name: &str) -> ProfileName {
        name.parse().unwrap()
    }

    fn shop() -> Profile {
        Profile {
            url: "https://alerts.example".to_owned(),
            environment: Some(Environment::Production),
            dialect: Some(Dialect::Older),
            client_id: Some("shop-1".to_owned()),
            read_only: true,
            company_parameter: Some("company".to_owned()),
            page_size: Some(25),
            refresh_seconds: Some(30),
            auto_rules: Vec::new(),
            ca_file: Some("/etc/shop/ca.pem".into()),
            client_certificate: Some("/etc/shop/desk.pem".into()),
            client_key: Some("/etc/shop/desk.key".into()),
            insecure_http: true,
        }
    }

    fn keep(profiles: &Profiles, name: &str, profile: Profile) {
        let insert = |list: &mut ProfileList| Ok::<_, DeskError>(list.all.insert(named(name), profile));
        profiles.change(insert).unwrap();
    }

    #[test]
    fn rules_that_an_older_file_names_are_read_and_not_kept() {
        let (_directory, profiles) = profiles();
        let text = "[profile.shop]\nurl = \"https://alerts.example\"\nauto_rules = [\"small\"]\n";
        std::fs::create_dir_all(profiles.path().parent().unwrap()).unwrap();
        std::fs::write(profiles.path(), text).unwrap();

        let named = profiles.list().unwrap().all[&named("shop")].auto_rules.clone();
        keep(&profiles, "other", shop());

        assert_eq!(named, ["small"]);
        assert!(!std::fs::read_to_string(profiles.path()).unwrap().contains("auto_rules"));
    }

    #[test]
    fn every_key_of_a_profile_is_kept() {
        let (_directory, profiles) = profiles();

        keep(&profiles, "shop", shop());
        keep(&profiles, "other", Profile { url: "http://localhost:1".to_owned(), ..Profile::default() });

        let list = profiles.list().unwrap();
        assert_eq!(list.all[&named("shop")], shop());
        assert_eq!(list.all.len(), 2);
    }

    #[rstest]
    #[case::returns("# mine\r\n\r\n[profile.shop] # the shop's\r\nurl = \"https://a.example\"\r\n")]
    #[case::a_byte_order_mark("\u{feff}[profile.shop]\nurl = \"https://a.example\"\n")]
    #[case::both("\u{feff}# mine\r\n[profile.shop]\r\nurl = \"https://a.example\"\r\n")]
    fn a_file_of_another_system_is_read_and_gets_line_feeds(#[case] text: &str) {
        let (_directory, profiles) = profiles();
        std::fs::create_dir_all(profiles.path().parent().unwrap()).unwrap();
        std::fs::write(profiles.path(), text).unwrap();

        let read = profiles.list().unwrap().all[&named("shop")].url.clone();
        keep(&profiles, "shop2", Profile { url: "https://b.example".to_owned(), ..Profile::default() });

        let changed = std::fs::read_to_string(profiles.path()).unwrap();
        let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
        assert_eq!(read, "https://a.example");
        assert_eq!(changed, format!("{text}\n[profile.shop2]\nurl = \"https://b.example\"\n"));
    }

    #[test]
    fn the_file_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let (_directory, profiles) = profiles();

        keep(&profiles, "shop", shop());

        for path in [profiles.path().to_owned(), profiles.path().with_extension("lock")] {
            assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn many_who_change_it_at_once_lose_nothing() {
        let (_directory, profiles) = profiles();

        std::thread::scope(|scope| {
            for number in 0..16 {
                let profiles = &profiles;
                scope.spawn(move || keep(profiles, &format!("p{number}"), Profile::default()));
            }
        });

        assert_eq!(profiles.list().unwrap().all.len(), 16);
    }

    #[test]
    fn what_is_refused_changes_nothing() {
        let (_directory, profiles) = profiles();
        keep(&profiles, "shop", shop());

        let refused = profiles.change(|list| {
            list.all.clear();
            Err::<(), _>(DeskError::new(Path::new(""), "no"))
        });

        assert!(refused.is_err() && profiles.list().unwrap().all.len() == 1);
    }

    #[rstest]
    #[case("[profile.a]\nurl = \"u\"\ncolour = 1", 3, "unknown field `colour`, expected one of `url`, `environment`")]
    #[case("currant = \"a\"", 1, "unknown field `currant`")]
    #[case(
        "[profile.a]\nurl = \"u\"\nenvironment = \"live\"",
        3,
        "\"live\" is not allowed: one of sandbox, production"
    )]
    #[case("[profile.a]\nurl = \"u\"\n\ndialect = \"old\"", 4, "\"old\" is not allowed: one of current, older")]
    #[case("[profile.a]\nurl = \"u\"\npage_size = 101", 3, "101 is not allowed: whole numbers from 1 to 100")]
    #[case("[profile.a]\nurl = \"u\"\nrefresh_seconds = 0", 3, "0 is not allowed: whole seconds from 1 to 3600")]
    #[case("[profile.Local]\nurl = \"u\"", 1, "it means this machine's own desk")]
    #[case("[profile.\"../a\"]\nurl = \"u\"", 1, "letters, digits")]
    #[case("[profile.a]\nread_only = true", 1, "missing field `url`")]
    fn a_wrong_line_is_named_and_the_file_is_not_written_to(
        #[case] text: &str,
        #[case] line: usize,
        #[case] words: &str,
    ) {
        let directory = tempfile::tempdir().unwrap();
        let profiles = Profiles::of(directory.path());
        std::fs::write(profiles.path(), text).unwrap();

        let error = profiles.list().unwrap_err();
        let unchanged = profiles.change(|_| Ok::<_, DeskError>(()));

        assert!(error.message.contains(words), "{error}");
        assert_eq!(error.line, Some(line), "{error}");
        assert!(unchanged.is_err() && std::fs::read_to_string(profiles.path()).unwrap() == text);
    }

    #[rstest]
    #[case("shop-1.eu_x", true)]
    #[case("", false)]
    #[case("-x", false)]
    #[case(".hidden", false)]
    #[case("a/operator", false)]
    #[case("a b", false)]
    #[case("LOCAL", false)]
    fn a_name_is_fit_for_files_and_keyrings(#[case] text: &str, #[case] fits: bool) {
        assert_eq!(text.parse::<ProfileName>().is_ok(), fits);
    }

    #[test]
    fn the_dialect_goes_with_the_credential_unless_it_is_named() {
        let by_key = Profile::default();
        let by_client = Profile { client_id: Some("i".to_owned()), ..Profile::default() };
        let named = Profile { dialect: Some(Dialect::Current), ..by_client.clone() };

        assert_eq!(
            [by_key, by_client, named].map(|profile| profile.spoken_dialect()),
            [Dialect::Current, Dialect::Older, Dialect::Current]
        );
    }
}
