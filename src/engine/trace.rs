//! Trace context (W3C): the `traceparent` of a request goes on to gateways, webhooks and the log. avert has no spans of
//! its own there, so it passes the context on as it came.

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use tracing::Span;

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// Length of the fields that every version has.
const KNOWN: usize = 55;

/// Flags that are defined: sampled, and random trace id.
const FLAGS: u8 = 0b11;

/// Returns the trace context of a request; empty where it has none, several or a malformed one.
pub fn of(headers: &HeaderMap) -> String {
    let mut given = headers.get_all(&TRACEPARENT).iter();
    let (Some(header), None) = (given.next(), given.next()) else { return String::new() };
    header.to_str().ok().and_then(read).unwrap_or_default()
}

/// Reads a trace context of any version, as one of version 00.
fn read(header: &str) -> Option<String> {
    let (known, more) = header.split_at_checked(KNOWN)?;
    let [version, trace, parent, flags] = known.split('-').collect::<Vec<_>>().try_into().ok()?;
    let is_hex = |field: &str, length| {
        field.len() == length && field.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let is_id = |field: &str, length| is_hex(field, length) && field.bytes().any(|byte| byte != b'0');
    let is_sound = is_hex(version, 2) && version != "ff" && is_id(trace, 32) && is_id(parent, 16) && is_hex(flags, 2);
    let fits = more.is_empty() || version != "00" && more.starts_with('-');
    let flags = u8::from_str_radix(flags, 16).ok()? & FLAGS;
    (is_sound && fits).then(|| format!("00-{trace}-{parent}-{flags:02x}"))
}

/// Returns the span that names a trace in each line of the log; none where there is no trace.
pub fn span(trace: &str) -> Span {
    match trace.split('-').nth(1) {
        Some(id) => tracing::error_span!("request", trace_id = id),
        None => Span::none(),
    }
}

/// Returns the header that carries a trace on; none where there is no trace.
pub(super) fn header(trace: &str) -> Option<(HeaderName, HeaderValue)> {
    let value = HeaderValue::from_str(trace).ok().filter(|value| !value.is_empty())?;
    Some((TRACEPARENT, value))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const PARENT: &str = "00f067aa0ba902b7";

    fn given(values: &[String]) -> String {
        let headers = values.iter().map(|value| (TRACEPARENT, HeaderValue::from_str(value).unwrap()));
        of(&headers.fold(HeaderMap::new(), |mut all, (name, value)| {
            all.append(name, value);
            all
        }))
    }

    #[rstest]
    #[case::sampled("00", "01", "", "01")]
    #[case::not_sampled("00", "00", "", "00")]
    #[case::a_random_id("00", "03", "", "03")]
    #[case::an_undefined_flag("00", "09", "", "01")]
    #[case::a_later_version("01", "01", "", "01")]
    #[case::a_later_version_with_more("cc", "01", "-what-the-future-brings", "01")]
    fn a_trace_goes_on_in_the_version_that_is_known(
        #[case] version: &str,
        #[case] flags: &str,
        #[case] more: &str,
        #[case] passed: &str,
    ) {
        let trace = given(&[format!("{version}-{TRACE}-{PARENT}-{flags}{more}")]);

        assert_eq!(trace, format!("00-{TRACE}-{PARENT}-{passed}"));
        assert_eq!(header(&trace).unwrap().1, trace.as_str());
    }

    #[rstest]
    #[case::no_version(&format!("{TRACE}-{PARENT}-01"))]
    #[case::the_forbidden_version(&format!("ff-{TRACE}-{PARENT}-01"))]
    #[case::capitals(&format!("00-{}-{PARENT}-01", TRACE.to_uppercase()))]
    #[case::no_trace(&format!("00-{}-{PARENT}-01", "0".repeat(32)))]
    #[case::no_parent(&format!("00-{TRACE}-{}-01", "0".repeat(16)))]
    #[case::a_short_trace(&format!("00-{}-{PARENT}0-01", &TRACE[1..]))]
    #[case::other_letters(&format!("00-{}-{PARENT}-01", TRACE.replace('f', "g")))]
    #[case::a_signed_number(&format!("00-{TRACE}-{PARENT}-+1"))]
    #[case::no_flags(&format!("00-{TRACE}-{PARENT}"))]
    #[case::more_than_the_version_has(&format!("00-{TRACE}-{PARENT}-01-more"))]
    #[case::a_later_version_with_longer_flags(&format!("01-{TRACE}-{PARENT}-011"))]
    #[case::nothing("")]
    fn a_malformed_trace_is_ignored(#[case] header: &str) {
        assert_eq!(given(&[header.to_owned()]), "");
    }

    #[test]
    fn of_two_traces_none_is_taken() {
        assert_eq!(given(&[1, 2].map(|flags| format!("00-{TRACE}-{PARENT}-0{flags}"))), "");
        assert!(header("").is_none() && span("").is_none());
    }
}
