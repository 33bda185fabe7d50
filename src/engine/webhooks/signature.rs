//! Signatures of deliveries as Standard Webhooks has them: HMAC-SHA256 of id, time and body, one for each secret.

use aws_lc_rs::hmac;
use base64::{Engine as _, prelude::BASE64_STANDARD};

use crate::domain::{
    Secret,
    resolution::FieldError,
    signing::{SignatureFault, key_of},
    time::Timestamp,
};

/// The version that stands before a signature.
const VERSION: &str = "v1";

/// Largest difference between the time of a signed request and ours, in seconds (Standard Webhooks).
const TOLERANCE_SECONDS: i64 = 5 * 60;

/// The header `webhook-signature`: a signature for each secret, newest first. `timestamp` is that of the header
/// `webhook-timestamp`.
pub fn sign(secrets: &[Secret], id: &str, timestamp: &str, body: &[u8]) -> Result<String, FieldError> {
    let mut signatures = Vec::with_capacity(secrets.len());
    for secret in secrets {
        let tag = hmac::sign(&key(secret)?, &content(id, timestamp, body));
        signatures.push(format!("{VERSION},{}", BASE64_STANDARD.encode(tag)));
    }
    Ok(signatures.join(" "))
}

/// Verifies that one of the signatures in a header was made with this secret. Compares in constant time; other versions
/// are skipped.
pub fn verify(secret: &Secret, id: &str, timestamp: &str, body: &[u8], header: &str) -> bool {
    let Ok(key) = key(secret) else { return false };
    let content = content(id, timestamp, body);
    header.split(' ').filter_map(|signature| signature.split_once(',')).any(|(version, encoded)| {
        version == VERSION
            && BASE64_STANDARD.decode(encoded).is_ok_and(|tag| hmac::verify(&key, &content, &tag).is_ok())
    })
}

/// Verifies a delivery that came at this moment: its signature first, then its age.
pub fn check(
    secret: &Secret,
    id: &str,
    timestamp: &str,
    body: &[u8],
    header: &str,
    now: Timestamp,
) -> Result<(), SignatureFault> {
    let sent = timestamp
        .parse::<i64>()
        .ok()
        .filter(|_| verify(secret, id, timestamp, body, header))
        .ok_or(SignatureFault::Wrong)?;
    match now.timestamp().saturating_sub(sent) {
        late if late > TOLERANCE_SECONDS => Err(SignatureFault::Old),
        late if late < -TOLERANCE_SECONDS => Err(SignatureFault::Ahead),
        _ => Ok(()),
    }
}

fn key(secret: &Secret) -> Result<hmac::Key, FieldError> {
    key_of(secret.reveal()).map(|key| hmac::Key::new(hmac::HMAC_SHA256, &key))
}

fn content(id: &str, timestamp: &str, body: &[u8]) -> Vec<u8> {
    [id.as_bytes(), b".", timestamp.as_bytes(), b".", body].concat()
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    /// The example of the Standard Webhooks libraries' own tests.
    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const TIME: &str = "1614265330";
    const BODY: &[u8] = br#"{"test": 2432232314}"#;
    const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    fn secret(text: &str) -> Secret {
        Secret::new(text)
    }

    #[test]
    fn it_signs_as_the_standards_example_does() {
        assert_eq!(sign(&[secret(SECRET)], ID, TIME, BODY).unwrap(), SIGNATURE);
        assert!(verify(&secret(SECRET), ID, TIME, BODY, SIGNATURE));
    }

    #[test]
    fn each_secret_signs_and_each_receiver_finds_its_own() {
        let (new, old) = (Secret::for_signing(), secret(SECRET));

        let header = sign(&[new.clone(), old.clone()], ID, TIME, BODY).unwrap();

        assert_eq!(header.split(' ').count(), 2);
        assert!(header.ends_with(SIGNATURE));
        assert!(verify(&new, ID, TIME, BODY, &header) && verify(&old, ID, TIME, BODY, &header));
        assert!(!verify(&Secret::for_signing(), ID, TIME, BODY, &header));
    }

    #[test]
    fn anything_changed_is_seen() {
        let right = secret(SECRET);
        for (id, time, body, header) in [
            ("msg_another", TIME, BODY, SIGNATURE),
            (ID, "1614265331", BODY, SIGNATURE),
            (ID, TIME, b"{}".as_slice(), SIGNATURE),
            (ID, TIME, BODY, "v1,h0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
            (ID, TIME, BODY, "v1a,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
            (ID, TIME, BODY, "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
            (ID, TIME, BODY, "v1,"),
            (ID, TIME, BODY, ""),
        ] {
            assert!(!verify(&right, id, time, body, header), "{id} {time} {header}");
        }
    }

    #[rstest]
    #[case::in_time(SECRET, TIME, 0, Ok(()))]
    #[case::as_late_as_may_be(SECRET, TIME, 300, Ok(()))]
    #[case::as_early_as_may_be(SECRET, TIME, -300, Ok(()))]
    #[case::old(SECRET, TIME, 301, Err(SignatureFault::Old))]
    #[case::ahead(SECRET, TIME, -301, Err(SignatureFault::Ahead))]
    #[case::old_and_wrong("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", TIME, 301, Err(SignatureFault::Wrong))]
    #[case::another_time(SECRET, "1614265331", 0, Err(SignatureFault::Wrong))]
    #[case::no_time(SECRET, "noon", 0, Err(SignatureFault::Wrong))]
    fn a_wrong_signature_and_a_wrong_time_are_told_apart(
        #[case] known: &str,
        #[case] timestamp: &str,
        #[case] later: i64,
        #[case] found: Result<(), SignatureFault>,
    ) {
        let now = DateTime::from_timestamp_secs(TIME.parse::<i64>().unwrap() + later).unwrap();

        assert_eq!(check(&secret(known), ID, timestamp, BODY, SIGNATURE, now), found);
    }

    #[test]
    fn no_timestamp_overflows() {
        for timestamp in [i64::MIN, i64::MAX, 0].map(|seconds| seconds.to_string()) {
            let header = sign(&[secret(SECRET)], ID, &timestamp, BODY).unwrap();

            assert!(check(&secret(SECRET), ID, &timestamp, BODY, &header, Timestamp::MAX_UTC).is_err());
        }
    }

    #[test]
    fn a_secret_that_is_none_signs_and_verifies_nothing() {
        assert!(sign(&[secret("whsec_")], ID, TIME, BODY).is_err());
        assert!(!verify(&secret("nonsense"), ID, TIME, BODY, SIGNATURE));
    }

    proptest! {
        #[test]
        fn no_header_breaks_the_check(header in any::<String>(), body in any::<Vec<u8>>()) {
            prop_assert!(!verify(&secret(SECRET), ID, TIME, &body, &header));
        }
    }
}
