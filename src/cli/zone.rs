//! The time zone of the environment, looked at before anybody reads it.

use std::fs;
use std::path::Path;

use super::failure::Misused;

/// Where zones are by name.
const ZONES: &str = "/usr/share/zoneinfo";

/// Largest file of a zone, in bytes.
const LARGEST: u64 = 1024 * 1024;

/// Refuses a zone that is read from a device, a pipe or a large file: that would end nowhere.
pub(super) fn check(zone: Option<&str>) -> Result<(), Misused> {
    let zone = zone.unwrap_or_default();
    match fs::metadata(Path::new(ZONES).join(zone.strip_prefix(':').unwrap_or(zone))) {
        Ok(found) if !found.is_dir() && (!found.is_file() || found.len() > LARGEST) => {
            Err(misused!("TZ: {zone:?} is no time zone: a name such as Europe/Berlin is allowed"))
        }
        // What is not there stands for a rule such as CET-1, or for nothing: then times are in UTC.
        Ok(_) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(None, true)]
    #[case(Some(""), true)]
    #[case(Some("UTC"), true)]
    #[case(Some(":Europe/Berlin"), true)]
    #[case(Some("CET-1CEST,M3.5.0,M10.5.0/3"), true)]
    #[case(Some("/dev/zero"), false)]
    #[case(Some(":/dev/zero"), false)]
    #[case(Some("../../../dev/zero"), false)]
    fn only_a_zone_file_of_a_zones_size_is_read(#[case] zone: Option<&str>, #[case] fine: bool) {
        assert_eq!(check(zone).is_ok(), fine);
    }

    #[test]
    fn a_large_file_is_no_zone() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(LARGEST + 1).unwrap();

        assert!(check(file.path().to_str()).unwrap_err().0.contains("Europe/Berlin"));
    }
}
