//! Links: addresses of an order, a payment or a network's portal, made of templates and an alert's fields.

use std::{borrow::Cow, fmt, str::FromStr};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::Url;

use crate::domain::{Alert, Provider};

/// Characters that an address percent-encodes: all but letters, digits, and RFC 3986's other unreserved characters.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Placeholders of a template, by the interface's names. None is of the card: addresses are written into logs.
const PLACEHOLDERS: [&str; 11] = [
    "id",
    "provider",
    "providerId",
    "merchantOrderId",
    "transactionId",
    "acquirerReferenceNumber",
    "authCode",
    "merchantId",
    "merchantDescriptor",
    "amount",
    "currency",
];

/// A link template: an http or https address with placeholders such as `{merchantOrderId}` behind its host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkTemplate(String);

impl LinkTemplate {
    /// Returns the address for an alert.
    ///
    /// # Errors
    /// When the alert lacks the value of a placeholder, which the error names.
    pub fn address(&self, alert: &Alert) -> Result<String, String> {
        fill(&self.0, |name| {
            let field = Alert::FIELDS.iter().find(|field| field.name == name);
            let value = field.and_then(|field| field.plain_text(alert));
            // A browser takes a step of dots for a way up, encoded or not.
            let value = value.filter(|value| value.chars().any(|sign| sign != '.' && !sign.is_whitespace()));
            value.map(Cow::into_owned).ok_or_else(|| format!("the alert has no {name}"))
        })
    }
}

/// Puts values in the place of a template's placeholders.
fn fill(template: &str, value: impl Fn(&str) -> Result<String, String>) -> Result<String, String> {
    let (mut address, mut rest) = (String::with_capacity(template.len()), template);
    while let Some((before, behind)) = rest.split_once('{') {
        let (name, after) = behind.split_once('}').ok_or("a { has no }")?;
        address.push_str(before);
        address.extend(utf8_percent_encode(&value(name)?, ENCODED));
        rest = after;
    }
    Ok(address + rest)
}

impl FromStr for LinkTemplate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        check(text).map_err(|what| format!("{text:?} is not allowed: {what}"))?;
        Ok(Self(text.to_owned()))
    }
}

/// Checks a template as an address.
fn check(template: &str) -> Result<(), String> {
    const FORM: &str = "an http:// or https:// address with a host is needed, such as \
        https://shop.example/orders/{merchantOrderId}";
    let filled = |with: &str| {
        fill(template, |name| match PLACEHOLDERS.contains(&name) {
            true => Ok(with.to_owned()),
            false => {
                let allowed = PLACEHOLDERS.map(|name| format!("{{{name}}}")).join(", ");
                Err(format!("there is no {{{name}}}, what may stand there is one of {allowed}"))
            }
        })
    };
    let (one, other) = (filled("a")?, filled("b")?);
    if one.contains(|sign: char| sign.is_control() || sign.is_whitespace() || sign == '}') {
        return Err("an address has no blanks, control characters or lone braces".to_owned());
    }
    let (one, other) = Url::parse(&one).ok().zip(Url::parse(&other).ok()).ok_or(FORM)?;
    if !matches!(one.scheme(), "http" | "https") || one.host_str().is_none_or(str::is_empty) {
        return Err(FORM.to_owned());
    }
    if !one.username().is_empty() || one.password().is_some() {
        return Err("it holds a name or password, which every log would hold too".to_owned());
    }
    if one.origin() != other.origin() {
        return Err("placeholders stand behind the host, never in it".to_owned());
    }
    Ok(())
}

impl fmt::Display for LinkTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The link templates of a desk, those that were set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkTemplates {
    pub order: Option<LinkTemplate>,
    pub payment: Option<LinkTemplate>,
    pub ethoca: Option<LinkTemplate>,
    pub verifi: Option<LinkTemplate>,
    pub cdrn: Option<LinkTemplate>,
}

/// A link of an alert: what it leads to, and the address, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertLink {
    pub to: &'static str,
    pub address: Result<String, String>,
}

impl LinkTemplates {
    /// Returns the links of an alert: its order, its payment, its network's portal, as far as their templates are set.
    pub fn of(&self, alert: &Alert) -> Vec<AlertLink> {
        let portal = match alert.provider {
            Provider::Ethoca => ("Ethoca's portal", &self.ethoca),
            Provider::Verifi => ("Verifi's portal", &self.verifi),
            Provider::Cdrn => ("CDRN's portal", &self.cdrn),
            Provider::Stripe | Provider::Other(_) => ("", &None),
        };
        let all = [("order", &self.order), ("payment", &self.payment), portal];
        let link = |(to, template): (&'static str, &Option<LinkTemplate>)| {
            Some(AlertLink { to, address: template.as_ref()?.address(alert) })
        };
        all.into_iter().filter_map(link).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn with_order(order: &str) -> Alert {
        Alert { merchant_order_id: Some(order.to_owned()), ..Alert::sample() }
    }

    fn template(text: &str) -> LinkTemplate {
        text.parse().unwrap()
    }

    #[test]
    fn values_are_encoded_and_stay_where_they_stand() {
        let address = template("https://shop.example/orders/{merchantOrderId}?by={provider}")
            .address(&with_order("A/1?x=ä b&../#"));

        assert_eq!(address.unwrap(), "https://shop.example/orders/A%2F1%3Fx%3D%C3%A4%20b%26..%2F%23?by=ETHOCA");
    }

    #[rstest]
    #[case::nothing_given(None)]
    #[case::blank(Some("  "))]
    #[case::a_way_up(Some(".."))]
    fn what_the_alert_does_not_tell_is_named(#[case] order: Option<&str>) {
        let alert = Alert { merchant_order_id: order.map(str::to_owned), ..Alert::sample() };

        assert_eq!(
            template("https://shop.example/{merchantOrderId}/x").address(&alert),
            Err("the alert has no merchantOrderId".to_owned())
        );
    }

    #[rstest]
    #[case::another_scheme("javascript:alert({id})", "an http:// or https:// address")]
    #[case::a_file("file:///etc/{id}", "an http:// or https:// address")]
    #[case::no_address("shop.example/{id}", "an http:// or https:// address")]
    #[case::unknown(
        "https://shop.example/{orderNumber}",
        "there is no {orderNumber}, what may stand there is one of {id}, {provider}"
    )]
    #[case::the_card("https://shop.example/{cardLastFour}", "there is no {cardLastFour}")]
    #[case::in_the_host("https://{merchantId}.shop.example/", "placeholders stand behind the host")]
    #[case::in_the_port("https://shop.example{merchantId}/", "placeholders stand behind the host")]
    #[case::a_password("https://me:secret@shop.example/{id}", "name or password")]
    #[case::not_closed("https://shop.example/{id", "a { has no }")]
    #[case::not_opened("https://shop.example/id}", "lone braces")]
    #[case::a_line_break("https://shop.example/\n{id}", "control characters")]
    fn what_is_no_template_is_refused_with_what_is_allowed(#[case] text: &str, #[case] words: &str) {
        let wrong = text.parse::<LinkTemplate>().unwrap_err();

        assert!(wrong.contains(words), "{wrong}");
    }

    #[test]
    fn an_alert_has_the_links_that_are_set_and_its_own_networks_portal() {
        let templates = LinkTemplates {
            payment: Some(template("https://pay.example/{transactionId}")),
            ethoca: Some(template("https://ethoca.example/{providerId}")),
            cdrn: Some(template("https://cdrn.example/{providerId}")),
            ..LinkTemplates::default()
        };

        let alert = Alert {
            provider: Provider::Ethoca,
            provider_id: "7KQ".to_owned(),
            transaction_id: None,
            ..Alert::sample()
        };
        let links = templates.of(&alert);

        assert_eq!(
            links.iter().map(|link| (link.to, link.address.is_ok())).collect::<Vec<_>>(),
            [("payment", false), ("Ethoca's portal", true)]
        );
    }

    proptest! {
        #[test]
        fn no_value_changes_what_an_address_leads_to(value in "\\PC{1,40}") {
            let address = template("https://shop.example/orders/{merchantOrderId}/end\
                ?q={merchantOrderId}#{merchantOrderId}")
                .address(&with_order(&value));

            if let Ok(address) = address {
                let url = Url::parse(&address).unwrap();
                prop_assert_eq!(url.host_str(), Some("shop.example"));
                prop_assert_eq!(url.path_segments().unwrap().count(), 3);
                prop_assert!(address.is_ascii() && url.path().ends_with("/end"));
            }
        }
    }
}
