//! The location of a database: a file, or an address on a server with how the way there is protected. Its password is
//! shown nowhere.

use std::{borrow::Cow, fmt, path::PathBuf, str::FromStr};

use percent_encoding::percent_decode_str;
use url::Url;

use super::Secret;
use crate::closed_enum;

closed_enum! {
    /// TLS mode of connections to a database, by the words of libpq (`sslmode`).
    pub enum DatabaseTls {
        /// Never.
        Disable = "disable",
        /// If the server offers it; an attacker in between may remove it.
        Prefer = "prefer",
        /// Always, without a check of the server; where authorities are named, with a certificate of theirs.
        Require = "require",
        /// Always, with a certificate of a trusted authority, whatever name it is for.
        VerifyCa = "verify-ca",
        /// Always, with a certificate of a trusted authority for this host.
        VerifyFull = "verify-full",
    }
}

/// The location of a database, as settings and flags name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabaseLocation {
    /// `sqlite:PATH`: a file of SQLite's.
    Sqlite(PathBuf),
    /// `postgres://...`: a database on a PostgreSQL server.
    Postgres(PostgresAddress),
}

impl FromStr for DatabaseLocation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(path) = text.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return match path.is_empty() {
                true => Err(wrong("sqlite: names no file")),
                false => Ok(Self::Sqlite(PathBuf::from(path))),
            };
        }
        text.parse().map(Self::Postgres)
    }
}

impl fmt::Display for DatabaseLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "{}", path.display()),
            Self::Postgres(address) => write!(f, "{address}"),
        }
    }
}

/// Address of a PostgreSQL database: `postgres://USER:PASSWORD@HOST:PORT/NAME?sslmode=MODE&sslrootcert=FILE`,
/// percent-encoded. `Debug` and `Display` leave the password out.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresAddress {
    pub user: String,
    pub password: Option<Secret>,
    /// A name or an address; the directory of a socket where it begins with a slash.
    pub host: String,
    pub port: u16,
    pub name: String,
    pub tls: DatabaseTls,
    /// The authorities that are trusted; without it those of this machine are.
    pub authorities: Option<PathBuf>,
}

/// Returns the error of a text that is no location of a database. It repeats nothing of the text, which may hold a
/// password.
fn wrong(what: &str) -> String {
    format!(
        "not a database: {what}; allowed: sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/NAME?sslmode=MODE, \
         percent-encoded"
    )
}

/// The port of PostgreSQL.
const PORT: u16 = 5432;

/// Values of `sslmode`: `allow` is read as `prefer`.
const MODES: &str = "disable, allow, prefer, require, verify-ca, verify-full";

/// Returns true for a host that is this machine: no network is in between.
fn is_here(host: &str) -> bool {
    let address = host.parse::<std::net::IpAddr>();
    host.starts_with('/') || host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

impl FromStr for PostgresAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let url = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
        if !matches!(url.scheme(), "postgres" | "postgresql") {
            return Err(wrong("it has another scheme"));
        }
        let decoded = |part: &str, what: &str| {
            decode(part).ok_or_else(|| wrong(&format!("its {what} is not percent-encoded UTF-8")))
        };
        let host = url.host_str().unwrap_or_default();
        // An address of version 6 stands in brackets.
        let host = decoded(host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host), "host")?;
        let user = decoded(url.username(), "user")?;
        let name = decoded(url.path().trim_start_matches('/'), "name")?;
        for (part, what) in [(&host, "host"), (&user, "user"), (&name, "database name")] {
            if part.is_empty() {
                return Err(wrong(&format!("it has no {what}")));
            }
        }
        let tls = if is_here(&host) { DatabaseTls::Prefer } else { DatabaseTls::Require };
        let password = url.password().map(|password| decoded(password, "password")).transpose()?.map(Secret::new);
        let mut address = Self { user, password, host, port: url.port().unwrap_or(PORT), name, tls, authorities: None };
        for (key, value) in url.query_pairs() {
            match &*key {
                "sslmode" => {
                    // Without TLS first and with it where that is refused is no better than the other way round.
                    let mode = if value == "allow" { DatabaseTls::Prefer.as_str() } else { &*value };
                    address.tls =
                        DatabaseTls::parse(mode).ok_or_else(|| wrong(&format!("its sslmode is none of {MODES}")))?;
                }
                "sslrootcert" => address.authorities = Some(PathBuf::from(&*value)),
                _ => return Err(wrong("it has a parameter other than sslmode and sslrootcert")),
            }
        }
        // Named authorities are to be asked, as with libpq.
        if address.tls == DatabaseTls::Require && address.authorities.is_some() {
            address.tls = DatabaseTls::VerifyCa;
        }
        Ok(address)
    }
}

/// Text without its percent-encoding.
fn decode(text: &str) -> Option<String> {
    percent_decode_str(text).decode_utf8().ok().map(Cow::into_owned)
}

impl fmt::Display for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "database {} of {} on {}:{}", self.name, self.user, self.host, self.port)
    }
}

impl fmt::Debug for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresAddress({self}, {})", self.tls.as_str())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn read(text: &str) -> PostgresAddress {
        text.parse().unwrap()
    }

    #[test]
    fn every_part_of_an_address_is_read_without_its_percent_encoding() {
        let address = read(
            "postgres://desk%40shop:p%40ss%2Fw%20rd@db.example:6432/al%20erts?sslmode=verify-ca&\
                sslrootcert=/etc/ca.pem",
        );

        assert_eq!((address.user.as_str(), address.host.as_str(), address.port), ("desk@shop", "db.example", 6432));
        assert_eq!((address.password.as_ref().unwrap().reveal(), address.name.as_str()), ("p@ss/w rd", "al erts"));
        assert_eq!((address.tls, address.authorities), (DatabaseTls::VerifyCa, Some(PathBuf::from("/etc/ca.pem"))));
        assert_eq!(read("postgresql://u@%2Frun%2Fpg/desk").host, "/run/pg");
    }

    #[rstest]
    #[case("postgres://u@localhost/d", DatabaseTls::Prefer)]
    #[case("postgres://u@127.0.0.1/d", DatabaseTls::Prefer)]
    #[case("postgres://u@[::1]/d", DatabaseTls::Prefer)]
    #[case("postgres://u@%2Frun/d", DatabaseTls::Prefer)]
    #[case("postgres://u@db.example/d", DatabaseTls::Require)]
    #[case("postgres://u@10.0.0.1/d", DatabaseTls::Require)]
    #[case("postgres://u@db.example/d?sslrootcert=/etc/ca.pem", DatabaseTls::VerifyCa)]
    #[case("postgres://u@db.example/d?sslmode=require&sslrootcert=/etc/ca.pem", DatabaseTls::VerifyCa)]
    #[case("postgres://u@db.example/d?sslmode=disable", DatabaseTls::Disable)]
    #[case("postgres://u@db.example/d?sslmode=allow", DatabaseTls::Prefer)]
    #[case("postgres://u@localhost/d?sslmode=verify-full", DatabaseTls::VerifyFull)]
    fn the_way_to_another_machine_is_encrypted_unless_it_is_said_otherwise(
        #[case] text: &str,
        #[case] tls: DatabaseTls,
    ) {
        assert_eq!((read(text).tls, read(text).port), (tls, 5432));
    }

    #[rstest]
    #[case("postgres://u:horse@db.example", "no database name")]
    #[case("postgres://:horse@db.example/d", "no user")]
    #[case("postgres://u:horse@/d", "host")]
    #[case("mysql://u:horse@db.example/d", "another scheme")]
    #[case("postgres://u:horse@db.example:99999/d", "port")]
    #[case("postgres://u:horse%ff@db.example/d", "its password is not")]
    #[case("postgres://u:horse@db.example/d?sslmode=horse", "disable, allow, prefer, require, verify-ca, verify-full")]
    #[case("postgres://u:horse@db.example/d?horse=1", "other than sslmode")]
    #[case("horse", "not a database")]
    fn what_is_wrong_with_an_address_is_told_and_nothing_of_it_is_repeated(#[case] text: &str, #[case] word: &str) {
        let error = text.parse::<PostgresAddress>().unwrap_err();

        assert!(error.contains(word), "{error}");
        assert!(!format!("{error} {error:?}").contains("horse"), "{error:?}");
    }

    #[rstest]
    #[case("sqlite:a.db", "a.db")]
    #[case("sqlite:/data/a.db", "/data/a.db")]
    #[case("sqlite:///data/a.db", "/data/a.db")]
    #[case("postgres://u:horse@db.example/d", "database d of u on db.example:5432")]
    #[case("postgresql://u:horse@db.example/d", "database d of u on db.example:5432")]
    fn a_database_is_a_file_or_on_a_server(#[case] text: &str, #[case] shown: &str) {
        let location: DatabaseLocation = text.parse().unwrap();

        assert_eq!(location.to_string(), shown);
        assert!(!format!("{location:?}").contains("horse"));
    }

    #[rstest]
    #[case("mysql://u:horse@db.example/d")]
    #[case("horse.db")]
    #[case("sqlite:")]
    #[case("postgres://u:horse@db.example")]
    #[case("")]
    fn another_kind_of_database_is_refused_and_not_repeated(#[case] text: &str) {
        let error = text.parse::<DatabaseLocation>().unwrap_err();

        assert!(error.contains("sqlite:PATH") || error.contains("postgres://USER"), "{error}");
        assert!(!error.contains("horse"), "{error}");
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        let address = read("postgres://desk:horse@db.example/alerts");

        assert_eq!(address.to_string(), "database alerts of desk on db.example:5432");
        assert!(!format!("{address:?}").contains("horse"));
    }
}
