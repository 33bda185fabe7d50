//! Secrets that deliveries are signed with, as Standard Webhooks writes them: `whsec_` and the base64 of 24 to 64
//! bytes.

use std::ops::RangeInclusive;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use chrono::TimeDelta;

use crate::{FieldError, Secret, Timestamp};

/// Prefix of a secret.
const PREFIX: &str = "whsec_";
/// Length of a secret, in bytes.
const BYTES: RangeInclusive<usize> = 24..=64;
/// Length of a secret that avert makes, in bytes.
const MADE_BYTES: usize = 32;

/// Default time for which the old secret signs along with a new one.
pub const OVERLAP: TimeDelta = TimeDelta::hours(24);
/// The longest that the old secret can sign along.
pub const LONGEST_OVERLAP: TimeDelta = TimeDelta::hours(720);
/// Largest number of secrets that sign at once: the newest and those before it.
pub const MOST_SECRETS: usize = 3;

/// Reason that a signed delivery is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureFault {
    /// None of its signatures was made with the secret, or it has none.
    #[error("wrong signature")]
    Wrong,
    #[error("the signature is right, but its timestamp is over 5 minutes old: compare the clocks")]
    Old,
    #[error("the signature is right, but its timestamp is over 5 minutes ahead: compare the clocks")]
    Ahead,
}

/// Returns the bytes of a secret, or its error, which does not repeat it.
pub fn key_of(secret: &str) -> Result<Vec<u8>, FieldError> {
    let wrong = |message: &str| FieldError::new("secret", message);
    let encoded = secret
        .strip_prefix(PREFIX)
        .ok_or_else(|| wrong("must begin with whsec_: whsec_ and the base64 of 24 to 64 bytes"))?;
    let key = BASE64_STANDARD.decode(encoded).map_err(|_| wrong("is not base64 (with its padding) behind whsec_"))?;
    if BYTES.contains(&key.len()) { Ok(key) } else { Err(wrong("has too few or too many bytes: 24 to 64 are allowed")) }
}

impl Secret {
    /// Returns a new secret of random bytes to sign deliveries with.
    pub fn for_signing() -> Self {
        let key: [u8; MADE_BYTES] = rand::random();
        Self::new(format!("{PREFIX}{}", BASE64_STANDARD.encode(key)))
    }
}

/// Checks how long an old secret is to sign along.
pub fn valid_overlap(overlap: TimeDelta) -> Result<(), FieldError> {
    if (TimeDelta::zero()..=LONGEST_OVERLAP).contains(&overlap) {
        return Ok(());
    }
    Err(FieldError::new("overlapHours", format!("is not allowed: 0 to {}", LONGEST_OVERLAP.num_hours())))
}

/// Rotates secrets: returns the end of signing of each known secret (newest first, each with its end) once another one
/// signs. `None` where it signs no more and is erased. Returns `None` as a whole where the other one is the newest
/// already.
pub fn rotate(
    known: &[(Secret, Option<Timestamp>)],
    secret: &Secret,
    overlap: TimeDelta,
    now: Timestamp,
) -> Option<Vec<Option<Timestamp>>> {
    if known.first().is_some_and(|(newest, _)| newest == secret) {
        return None;
    }
    let end = now.checked_add_signed(overlap).unwrap_or(Timestamp::MAX_UTC);
    let mut signing = 1;
    let along = |(old, ends_at): &(Secret, Option<Timestamp>)| {
        let until = ends_at.map_or(end, |known| known.min(end));
        let kept = signs_at(Some(until), now) && old != secret && signing < MOST_SECRETS;
        signing += usize::from(kept);
        kept.then_some(until)
    };
    Some(known.iter().map(along).collect())
}

/// Returns true for a secret that still signs at `now`; `None` never ends.
pub fn signs_at(ends_at: Option<Timestamp>, now: Timestamp) -> bool {
    ends_at.is_none_or(|end| end > now)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: usize) -> String {
        format!("{PREFIX}{}", BASE64_STANDARD.encode(vec![7; bytes]))
    }

    #[test]
    fn a_secret_of_24_to_64_bytes_is_taken() {
        for bytes in [24, 32, 64] {
            assert_eq!(key_of(&of(bytes)).unwrap(), vec![7; bytes]);
        }
    }

    #[test]
    fn what_is_no_secret_is_refused_without_being_repeated() {
        let bare = of(32).trim_start_matches(PREFIX).to_owned();
        for text in [
            String::new(),
            bare,
            of(23),
            of(65),
            format!("{PREFIX}not base64!"),
            of(32).trim_end_matches('=').to_owned(),
        ] {
            let error = key_of(&text).unwrap_err();

            assert_eq!(error.field, "secret");
            assert!(text.len() < 10 || !error.message.contains(&text[PREFIX.len()..]), "{}", error.message);
        }
    }

    #[test]
    fn each_secret_that_is_made_is_another_one_and_fit() {
        let (one, another) = (Secret::for_signing(), Secret::for_signing());

        assert!(one != another);
        assert_eq!(key_of(one.reveal()).unwrap().len(), MADE_BYTES);
    }

    #[test]
    fn an_overlap_is_none_to_thirty_days() {
        for (hours, fit) in [(-1, false), (0, true), (24, true), (720, true), (721, false)] {
            assert_eq!(valid_overlap(TimeDelta::hours(hours)).is_ok(), fit, "{hours}");
        }
    }

    #[test]
    fn old_secrets_sign_along_until_their_end_and_two_of_them_at_most() {
        let (now, hour) = (Timestamp::UNIX_EPOCH, TimeDelta::hours(1));
        let [a, b, c, d, other] = ["a", "b", "c", "d", "other"].map(Secret::new);
        let known = [(a.clone(), None), (b.clone(), Some(now + hour)), (c, Some(now + hour)), (d, Some(now))];

        assert_eq!(rotate(&known, &a, hour, now), None, "it is the newest already");
        assert_eq!(
            rotate(&known, &other, hour * 2, now),
            Some(vec![Some(now + hour * 2), Some(now + hour), None, None])
        );
        assert_eq!(rotate(&known, &other, TimeDelta::zero(), now), Some(vec![None; 4]));
        assert_eq!(
            rotate(&known, &b, hour, now),
            Some(vec![Some(now + hour), None, Some(now + hour), None]),
            "it is not kept twice"
        );
    }
}
