//! Signatures of webhooks: those of Standard Webhooks, with which avert signs too, and the other schemes of sources.
//! All are compared in constant time, over the raw bytes.

use std::fmt::Write as _;

use aws_lc_rs::{constant_time::verify_slices_are_equal, hmac};
use axum::http::HeaderMap;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::Value;

use crate::domain::{
    Secret, SignatureScheme,
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
    let is_signed = verify(secret, id, timestamp, body, header);
    timely(timestamp, is_signed, now)
}

/// Refuses a wrong signature, or the right one of another time.
fn timely(timestamp: &str, is_signed: bool, now: Timestamp) -> Result<(), SignatureFault> {
    let sent = timestamp.parse::<i64>().ok().filter(|_| is_signed).ok_or(SignatureFault::Wrong)?;
    match now.timestamp().saturating_sub(sent) {
        late if late > TOLERANCE_SECONDS => Err(SignatureFault::Old),
        late if late < -TOLERANCE_SECONDS => Err(SignatureFault::Ahead),
        _ => Ok(()),
    }
}

/// Headers of a request from a source, one value each.
#[derive(Debug, Clone, Copy)]
pub struct SourceHeaders<'h>(pub &'h HeaderMap);

impl<'h> SourceHeaders<'h> {
    /// Returns the only value of a header; `svix-*` counts as `webhook-*`. `None` where it is there twice.
    pub fn get(self, name: &str) -> Option<&'h str> {
        let only = |name: &str| {
            let mut given = self.0.get_all(name).iter();
            given.next().filter(|_| given.next().is_none())?.to_str().ok()
        };
        only(name).or_else(|| only(&format!("svix-{}", name.strip_prefix("webhook-")?)))
    }
}

/// Verifies the webhook of a source by its scheme, at this moment. The secret is as the sender shows it: `whsec_BASE64`
/// of Standard Webhooks, hexadecimal digits of Adyen, `user:pass` of Basic, else a text.
///
/// # Errors
/// [`SignatureFault`]; of schemes without a time only `Wrong`.
pub fn check_source(
    scheme: SignatureScheme,
    secret: &Secret,
    headers: SourceHeaders<'_>,
    body: &[u8],
    now: Timestamp,
) -> Result<(), SignatureFault> {
    let text = |name: &str| headers.get(name).unwrap_or_default();
    let hmac_of = |algorithm| hmac::Key::new(algorithm, secret.reveal().as_bytes());
    let is_right = match scheme {
        SignatureScheme::Standard => {
            let [id, timestamp, signature] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map(text);
            return check(secret, id, timestamp, body, signature, now);
        }
        SignatureScheme::Stripe => {
            let header = [text("stripe-signature"), text("x-signature")].into_iter().find(|given| !given.is_empty());
            return check_timed(&hmac_of(hmac::HMAC_SHA256), header.unwrap_or_default(), body, now);
        }
        SignatureScheme::Sha512 => {
            return check_timed(&hmac_of(hmac::HMAC_SHA512), text("x-signature"), body, now);
        }
        SignatureScheme::Shopify => {
            let tag = hmac::sign(&hmac_of(hmac::HMAC_SHA256), body);
            is_equal(&BASE64_STANDARD.encode(tag), text("x-shopify-hmac-sha256"))
        }
        SignatureScheme::Adyen => adyen_signed(secret, body).unwrap_or_default(),
        SignatureScheme::Basic => return check_basic(secret, headers),
    };
    if is_right { Ok(()) } else { Err(SignatureFault::Wrong) }
}

/// Checks the form of a scheme's secret; the error, which does not repeat it, says what is needed.
pub fn check_secret(scheme: SignatureScheme, secret: &Secret) -> Result<(), String> {
    let text = secret.reveal();
    match scheme {
        _ if text.is_empty() => Err("is empty".to_owned()),
        SignatureScheme::Standard => key_of(text).map(drop).map_err(|error| error.message),
        SignatureScheme::Adyen => adyen_key(text).map(drop).ok_or_else(|| "is no key in hexadecimal digits".to_owned()),
        SignatureScheme::Basic if !text.contains(':') => Err("has no colon: USER:PASSWORD is needed".to_owned()),
        _ => Ok(()),
    }
}

fn adyen_key(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let digits = text.as_bytes().iter().map(digit).collect::<Option<Vec<_>>>()?;
    let is_key = !digits.is_empty() && digits.len().is_multiple_of(2);
    is_key.then(|| digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// Verifies HTTP Basic with this `user:pass`.
///
/// # Errors
/// [`SignatureFault::Wrong`].
pub fn check_basic(secret: &Secret, headers: SourceHeaders<'_>) -> Result<(), SignatureFault> {
    let given = headers.get("authorization").and_then(|text| text.trim().split_once(' '));
    let given = given.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("basic")).map_or("", |(_, given)| given.trim());
    match is_equal(&BASE64_STANDARD.encode(secret.reveal()), given) {
        true => Ok(()),
        false => Err(SignatureFault::Wrong),
    }
}

/// Verifies a header `t=UNIX,v1=HEX`, with one `v1` or several, over `UNIX.body`.
fn check_timed(key: &hmac::Key, header: &str, body: &[u8], now: Timestamp) -> Result<(), SignatureFault> {
    let parts = || header.split(',').filter_map(|part| part.trim().split_once('='));
    let timestamp = parts().find(|(name, _)| *name == "t").map_or("", |(_, timestamp)| timestamp);
    let tag = hmac::sign(key, &[timestamp.as_bytes(), b".", body].concat());
    let expected = tag.as_ref().iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    let is_signed = parts().any(|(name, given)| name == VERSION && is_equal(&expected, &given.to_ascii_lowercase()));
    timely(timestamp, is_signed, now)
}

/// Verifies the signature in each notification of Adyen over its fields; `None` where one has none, or there is no
/// notification.
fn adyen_signed(secret: &Secret, body: &[u8]) -> Option<bool> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, &adyen_key(secret.reveal())?);
    let body: Value = serde_json::from_slice(body).ok()?;
    let items = body.get("notificationItems")?.as_array().filter(|items| !items.is_empty())?;
    for item in items {
        let item = item.get("NotificationRequestItem")?;
        let field = |name: &str| match name.split('.').try_fold(item, |value, name| value.get(name)) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(bare) => bare.to_string(),
        };
        let signed = [
            "pspReference",
            "originalReference",
            "merchantAccountCode",
            "merchantReference",
            "amount.value",
            "amount.currency",
            "eventCode",
            "success",
        ];
        let expected = BASE64_STANDARD.encode(hmac::sign(&key, signed.map(field).join(":").as_bytes()));
        if !is_equal(&expected, &field("additionalData.hmacSignature")) {
            return Some(false);
        }
    }
    Some(true)
}

fn is_equal(expected: &str, given: &str) -> bool {
    verify_slices_are_equal(expected.as_bytes(), given.as_bytes()).is_ok()
}

fn key(secret: &Secret) -> Result<hmac::Key, FieldError> {
    key_of(secret.reveal()).map(|key| hmac::Key::new(hmac::HMAC_SHA256, &key))
}

fn content(id: &str, timestamp: &str, body: &[u8]) -> Vec<u8> {
    [id.as_bytes(), b".", timestamp.as_bytes(), b".", body].concat()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;
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
    fn an_empty_secret_is_none_of_any_scheme() {
        assert!(SignatureScheme::ALL.into_iter().all(|scheme| check_secret(scheme, &secret("")).is_err()));
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

    /// A body, signed at this moment by the libraries of Stripe, Svix and Adyen, and by Python's hmac.
    const EVENT: &str = r#"{"id":"evt_1","type":"radar.early_fraud_warning.created"}"#;
    const SIGNED_AT: i64 = 1_763_672_592;
    const STRIPE: &str = "t=1763672592,v1=7f3561af661303ee8c312565a0368c1835bac52d89ab071f905822ca34d4cfef";
    const SHA512: &str = "t=1763672592,v1=6ecefc4908f455cf8a4d9b7f762bfe6ae04f9465518675b7f98125d7894f88e4\
        35b66fe2a3a174ba0af2431eb242b27e417fcdac289fb2c557f3016b3c2ef176";
    const SVIX: &str = "v1,4s/WWgFfMHhgndJ5OKLDUtQp5AjYM44VaVcEDigcz8o=";
    const SHOPIFY: &str = "BL7D5gTG+ETO5cyD62ZqIL+FnyomKHJlkyoVtudFekA=";
    const ADYEN_KEY: &str = "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056";

    fn adyen(signature: &str) -> String {
        format!(
            r#"{{"live":"false","notificationItems":[{{"NotificationRequestItem":{{"pspReference":"7914073381342284",
            "originalReference":"","merchantAccountCode":"TestMerchant","amount":{{"value":1130,"currency":"EUR"}},
            "merchantReference":"TestPayment-1407325143704","eventCode":"CHARGEBACK","success":"true",
            "additionalData":{{"hmacSignature":"{signature}"}}}}}}]}}"#
        )
    }

    fn headers(all: &[(&'static str, &str)]) -> HeaderMap {
        all.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    /// Scheme, secret, headers and body of a good request of each kind.
    fn requests() -> Vec<(SignatureScheme, &'static str, HeaderMap, String)> {
        let several = STRIPE.replace(",v1=", ",v1=00,v0=11,v1=");
        let svix = headers(&[("svix-id", "msg_1"), ("svix-timestamp", "1763672592"), ("svix-signature", SVIX)]);
        let standard =
            headers(&[("webhook-id", "msg_1"), ("webhook-timestamp", "1763672592"), ("webhook-signature", SVIX)]);
        let event = || EVENT.to_owned();
        vec![
            (SignatureScheme::Standard, SECRET, standard, event()),
            (SignatureScheme::Standard, SECRET, svix, event()),
            (SignatureScheme::Stripe, "whsec_test_secret", headers(&[("stripe-signature", STRIPE)]), event()),
            (SignatureScheme::Stripe, "whsec_test_secret", headers(&[("stripe-signature", &several)]), event()),
            (SignatureScheme::Sha512, "cbs_secret", headers(&[("x-signature", SHA512)]), event()),
            (SignatureScheme::Shopify, "shpss_secret", headers(&[("x-shopify-hmac-sha256", SHOPIFY)]), event()),
            (
                SignatureScheme::Adyen,
                ADYEN_KEY,
                HeaderMap::new(),
                adyen("efIqwDA7R4agEYkCQaLBcvxyFzD6nPVOCGO5LHjsZVE="),
            ),
            (SignatureScheme::Basic, "shop:s3cret", headers(&[("authorization", "basic c2hvcDpzM2NyZXQ=")]), event()),
        ]
    }

    fn judged(scheme: SignatureScheme, known: &str, headers: &HeaderMap, body: &str, later: i64) -> bool {
        let now = DateTime::from_timestamp_secs(SIGNED_AT + later).unwrap();
        check_source(scheme, &secret(known), SourceHeaders(headers), body.as_bytes(), now).is_ok()
    }

    #[test]
    fn what_the_senders_own_libraries_sign_is_taken() {
        for (scheme, known, headers, body) in requests() {
            assert!(judged(scheme, known, &headers, &body, 0), "{scheme:?} {headers:?}");
        }
    }

    #[test]
    fn another_secret_another_body_and_a_missing_or_doubled_header_are_refused() {
        for (scheme, known, headers, body) in requests() {
            let other = match scheme {
                SignatureScheme::Standard => "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD".to_owned(),
                _ => known.replace(['1', 's'], "2"),
            };
            let mut doubled = headers.clone();
            for (name, value) in &headers {
                doubled.append(name, value.clone());
            }

            assert!(!judged(scheme, &other, &headers, &body, 0), "{scheme:?}");
            assert!(!judged(scheme, "", &headers, &body, 0), "{scheme:?}");
            if scheme != SignatureScheme::Basic {
                let changed = body.replace("1", "2");
                assert!(!judged(scheme, known, &headers, &changed, 0), "{scheme:?}");
            }
            if scheme != SignatureScheme::Adyen {
                assert!(!judged(scheme, known, &HeaderMap::new(), &body, 0), "{scheme:?}");
                assert!(!judged(scheme, known, &doubled, &body, 0), "{scheme:?}");
            }
        }
    }

    #[test]
    fn five_minutes_are_allowed_either_way_where_there_is_a_time_and_no_hour() {
        for (scheme, known, headers, body) in requests() {
            let is_timed =
                [SignatureScheme::Standard, SignatureScheme::Stripe, SignatureScheme::Sha512].contains(&scheme);
            let taken = [-3600, -301, -300, 300, 301, 3600].map(|later| judged(scheme, known, &headers, &body, later));

            assert_eq!(
                taken,
                if is_timed { [false, false, true, true, false, false] } else { [true; 6] },
                "{scheme:?}"
            );
        }
    }

    #[test]
    fn of_several_notifications_each_has_to_be_signed() {
        let signed = adyen("efIqwDA7R4agEYkCQaLBcvxyFzD6nPVOCGO5LHjsZVE=");
        let item = &signed[signed.find(r#"{"Notif"#).unwrap()..signed.len() - 2];
        let of = |items: &str| format!(r#"{{"notificationItems":[{items}]}}"#);
        let none = HeaderMap::new();
        let taken = |body: &str| judged(SignatureScheme::Adyen, ADYEN_KEY, &none, body, 0);

        assert!(taken(&of(item)) && taken(&of(&format!("{item},{item}"))));
        assert!(!taken(&of(&format!("{item},{}", item.replace("CHARGEBACK", "AUTHORISATION")))));
        assert!(!taken(&of("")) && !taken(&of("7")) && !taken("[]") && !taken("no JSON") && !taken(&adyen("")));
    }

    proptest! {
        #[test]
        fn no_request_breaks_a_scheme(value in "[ -~]{0,60}", body in any::<Vec<u8>>(), at in 0..8_usize) {
            let (scheme, known, mut headers, _) = requests().remove(at);
            for header in headers.values_mut() {
                *header = value.parse().unwrap();
            }

            let now = DateTime::from_timestamp_secs(SIGNED_AT).unwrap();
            prop_assert!(check_source(scheme, &secret(known), SourceHeaders(&headers), &body, now).is_err());
        }
    }

    proptest! {
        #[test]
        fn no_header_breaks_the_check(header in any::<String>(), body in any::<Vec<u8>>()) {
            prop_assert!(!verify(&secret(SECRET), ID, TIME, &body, &header));
        }
    }
}
