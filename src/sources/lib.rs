//! Sources: others whose webhooks become alerts and reports. How a body is signed, which bodies count, the map of their
//! fields, and how the alerts of a source are answered.

use avert_domain as domain;

pub mod expression;
pub mod justt;
pub mod polls;
pub mod stripe;

use std::{
    collections::{BTreeMap, BTreeSet},
    str::FromStr,
};

use chrono::TimeDelta;
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

use crate::domain::{
    Alert, FieldError, Provider, SignatureScheme, SourceKind, Timestamp, TruthReport, card::mask_card_numbers,
    sanitize::excerpt, time::from_iso,
};

use self::expression::{Expression, SourcePath};

/// Checks the name of a source, which is part of its route: letters, digits, `-`; at most 64.
pub fn valid_name(name: &str) -> Result<(), String> {
    let is_valid = |c: char| c.is_ascii_alphanumeric() || c == '-';
    match !name.is_empty() && name.len() <= 64 && name.chars().all(is_valid) {
        true => Ok(()),
        false => Err(format!("{:?} is no name of a source: letters, digits and - are allowed", excerpt(name))),
    }
}

/// Value that is read from its text.
macro_rules! by_text {
    ($($kind:ty),+) => {$(
        impl<'de> Deserialize<'de> for $kind {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
            }
        }
    )+};
}

by_text!(EventKey, Expression, MappedField, SourcePath, Window);

/// Place of the sender's own id of an event: headers and paths, whose texts are joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventKey(Vec<EventPart>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum EventPart {
    Header(String),
    Path(SourcePath),
}

impl FromStr for EventKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let part = |part: &str| match part.trim().strip_prefix("header:") {
            Some(name) => Ok(EventPart::Header(name.trim().to_ascii_lowercase())),
            None => part.parse().map(EventPart::Path),
        };
        text.split('+').map(part).collect::<Result<_, _>>().map(Self)
    }
}

impl EventKey {
    /// Returns the place where senders of a scheme put the id; `None` where the scheme has none.
    fn of(scheme: SignatureScheme) -> Option<Self> {
        const ITEM: &str = "notificationItems[0].NotificationRequestItem";
        let text = match scheme {
            SignatureScheme::Standard => "header:webhook-id".to_owned(),
            SignatureScheme::Stripe => "id".to_owned(),
            SignatureScheme::Shopify => "header:x-shopify-webhook-id".to_owned(),
            SignatureScheme::Adyen => format!("{ITEM}.pspReference + {ITEM}.eventCode"),
            SignatureScheme::Sha512 | SignatureScheme::Basic => return None,
        };
        text.parse().ok()
    }

    /// Returns the id; `None` where a part of it has no value.
    fn read<'h>(&self, body: &Value, header: impl Fn(&str) -> Option<&'h str>) -> Option<String> {
        let part = |part: &EventPart| match part {
            EventPart::Header(name) => header(name).map(str::to_owned),
            EventPart::Path(path) => path.scalar(body),
        };
        Some(self.0.iter().map(part).collect::<Option<Vec<_>>>()?.join(" "))
    }
}

/// Time to answer the alerts of a source, such as `72h`, `90m` or `3d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window(pub TimeDelta);

impl FromStr for Window {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let (number, unit) = text.trim().split_at_checked(text.trim().len().checked_sub(1)?)?;
            let minutes = match unit {
                "m" => 1,
                "h" => 60,
                "d" => 24 * 60,
                _ => return None,
            };
            let minutes = number.parse::<u32>().ok().filter(|number| *number > 0)?.checked_mul(minutes)?;
            Some(Self(TimeDelta::minutes(minutes.into()))).filter(|window| window.0 <= TimeDelta::days(365))
        };
        read().ok_or_else(|| format!("{:?} is no window: up to a year, such as 72h, 90m or 3d", excerpt(text)))
    }
}

/// Name of a field that a map may set: of an alert one of the interface, `expiresAt` or `hoursLeft`; else one of a
/// report, such as `transaction_id`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MappedField(String);

impl FromStr for MappedField {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let field = Self(name.to_owned());
        match SourceKind::ALL.into_iter().any(|kind| field.is_of(kind)) {
            true => Ok(field),
            false => Err(format!("{:?} is no field that can be mapped, such as providerId", excerpt(name))),
        }
    }
}

impl MappedField {
    fn is_of(&self, kind: SourceKind) -> bool {
        match kind.truth() {
            Some(_) => self.report_name().is_some(),
            None => {
                ["expiresAt", "hoursLeft"].contains(&self.0.as_str())
                    || Alert::FIELDS.iter().any(|field| field.name == self.0)
            }
        }
    }

    /// Returns the name of this field of a report, where it is one.
    fn report_name(&self) -> Option<&'static str> {
        TruthReport::FIELDS.iter().map(|field| field.name).find(|name| *name == self.0)
    }
}

/// Values of a condition, one of which has to be there, in any letter case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneOf(Vec<String>);

impl<'de> Deserialize<'de> for OneOf {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = |value: Value| match value {
            Value::String(text) => Ok(text),
            bare @ (Value::Bool(_) | Value::Number(_)) => Ok(bare.to_string()),
            _ => Err(de::Error::custom("a text, a number, true or false is needed, or a list of them")),
        };
        match Value::deserialize(deserializer)? {
            Value::Array(all) => all.into_iter().map(text).collect::<Result<_, _>>().map(Self),
            one => Ok(Self(vec![text(one)?])),
        }
    }
}

/// Conditions on a body: all have to match.
pub type EventConditions = BTreeMap<SourcePath, OneOf>;

/// Expressions by the fields that they make.
pub type FieldMap = BTreeMap<MappedField, Expression>;

/// A source in a file: a preset, or what the settings say beside it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SourceForm {
    pub signature: Option<SignatureScheme>,
    pub event: Option<EventKey>,
    /// Time of an event by its sender: of two about one thing the later one counts.
    pub sent: Option<Expression>,
    /// Array in a body, each value of which is an event of its own.
    pub each: Option<SourcePath>,
    pub window: Option<Window>,
    /// Kind of the events that do not say another themselves; alerts where it is left out.
    pub kind: Option<SourceKind>,
    /// Events that are taken; others are ignored.
    pub when: EventConditions,
    /// Fields of every event of this kind.
    pub map: FieldMap,
    /// Kinds of events; empty where there is one.
    pub events: Vec<EventForm>,
}

/// One kind of event of a source: its conditions, and the fields beside those of every event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EventForm {
    /// Kind of its own, in place of the source's.
    pub kind: Option<SourceKind>,
    pub when: EventConditions,
    pub map: FieldMap,
}

/// The presets by name.
const PRESETS: [(&str, &str); 8] = [
    ("justt", include_str!("../../assets/sources/justt.toml")),
    ("chargeblast", include_str!("../../assets/sources/chargeblast.toml")),
    ("chargebackstop", include_str!("../../assets/sources/chargebackstop.toml")),
    ("chargeflow", include_str!("../../assets/sources/chargeflow.toml")),
    ("whop", include_str!("../../assets/sources/whop.toml")),
    ("stripe", include_str!("../../assets/sources/stripe.toml")),
    ("shopify", include_str!("../../assets/sources/shopify.toml")),
    ("adyen", include_str!("../../assets/sources/adyen.toml")),
];

impl SourceForm {
    /// Returns a preset.
    ///
    /// # Errors
    /// No such preset; the text names them all.
    pub fn preset(name: &str) -> Result<Self, String> {
        let Some((_, text)) = PRESETS.iter().find(|(known, _)| *known == name) else {
            let all = PRESETS.map(|(known, _)| known).join(", ");
            return Err(format!("{:?} is no preset: one of {all}", excerpt(name)));
        };
        toml::from_str(text).map_err(|error| format!("the preset {name}: {error}"))
    }

    /// Returns it with what stands in another form instead: single conditions and fields too, in every kind of event.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        self.signature = other.signature.or(self.signature);
        self.event = other.event.or(self.event);
        self.sent = other.sent.or(self.sent);
        self.window = other.window.or(self.window);
        self.kind = other.kind.or(self.kind);
        self.when.extend(other.when);
        for event in self.events.iter_mut().filter(|event| event.kind.is_none()) {
            event.map.retain(|field, _| !other.map.contains_key(field));
        }
        self.map.extend(other.map);
        self
    }

    /// Returns the scheme with the reader of bodies.
    ///
    /// # Errors
    /// Where no signature is named, or a map has a field that its kind of events has not.
    pub fn reader(mut self) -> Result<(SignatureScheme, BodyReader), String> {
        let Some(scheme) = self.signature else {
            let all = SignatureScheme::ALL.map(SignatureScheme::as_str).join(", ");
            return Err(format!("a preset or a signature is needed: one of {all}"));
        };
        self.event = self.event.or_else(|| EventKey::of(scheme));
        let kind = self.kind.unwrap_or_default();
        let maps = [(kind, &self.map)].into_iter();
        let maps = maps.chain(self.events.iter().map(|event| (event.kind.unwrap_or(kind), &event.map)));
        for (kind, map) in maps {
            if let Some(MappedField(name)) = map.keys().find(|field| !field.is_of(kind)) {
                return Err(format!("{:?} is no field of events of the kind {}", excerpt(name), kind.as_str()));
            }
        }
        Ok((scheme, BodyReader(self)))
    }
}

/// Result of the reading of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadBody {
    /// Fields of an alert by name, as texts for intake.
    Alert(Vec<(String, String)>),
    Report(Box<TruthReport>),
    Ignored,
    /// Reasons by field.
    Unmapped(Vec<FieldError>),
}

/// Reader of a source's bodies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyReader(SourceForm);

impl BodyReader {
    /// Returns the sender's id of an event, by its headers in lower case; `None` where it has none.
    pub fn event_id<'h>(&self, body: &Value, header: impl Fn(&str) -> Option<&'h str>) -> Option<String> {
        self.0.event.as_ref()?.read(body, header)
    }

    /// Returns the events of a body: itself, or one for each value of the array that holds them.
    pub fn events(&self, body: Value) -> Vec<Value> {
        let each = self.0.each.as_ref().map(|path| path.each(&body)).unwrap_or_default();
        if each.is_empty() { vec![body] } else { each }
    }

    /// Returns the time of an event by its sender, where it tells one.
    pub fn sent_at(&self, body: &Value) -> Option<Timestamp> {
        from_iso(&self.0.sent.as_ref()?.of(body).ok()??)
    }

    /// Returns true where some events are alerts of this provider, whatever they hold.
    pub fn brings(&self, provider: &Provider) -> bool {
        let maps = [&self.0.map].into_iter().chain(self.0.events.iter().map(|event| &event.map));
        maps.filter_map(|map| map.get(&MappedField("provider".to_owned()))).any(|made| made.always(provider.as_str()))
    }

    /// Returns the time to answer, where the source sets one.
    pub fn window(&self) -> Option<TimeDelta> {
        self.0.window.map(|window| window.0)
    }

    /// Maps the body of an event.
    pub fn read(&self, body: &Value) -> ReadBody {
        let SourceForm { kind, when, map, events, .. } = &self.0;
        let unmapped = |why: &str| ReadBody::Unmapped(vec![FieldError::new("", why)]);
        if !holds(when, body) {
            return if body.is_object() { ReadBody::Ignored } else { unmapped("the body is no object") };
        }
        // Where the settings set all that the kinds set, none is needed.
        let is_blank = |event: &&EventForm| event.kind.is_none() && event.map.is_empty();
        let event = events.iter().find(|event| holds(&event.when, body)).or_else(|| events.iter().find(is_blank));
        if !events.is_empty() && event.is_none() {
            let paths: BTreeSet<_> = events.iter().flat_map(|event| event.when.keys()).collect();
            let reason = |path: &SourcePath| {
                let had = |text: String| format!("is {:?}", excerpt(&mask_card_numbers(&text)));
                let had = path.scalar(body).map_or("is missing".to_owned(), had);
                FieldError::new(path.to_string(), format!("{had}: no kind of event has it with the others here"))
            };
            return ReadBody::Unmapped(paths.into_iter().map(reason).collect());
        }
        let own = event.map(|event| &event.map);
        let own_kind = event.and_then(|event| event.kind);
        let is_common = |field: &MappedField| own_kind.is_none() && !own.is_some_and(|own| own.contains_key(field));
        let common = map.iter().filter(|(field, _)| is_common(field));
        let (mut fields, mut reasons) = (Vec::new(), Vec::new());
        for (field, expression) in common.chain(own.into_iter().flatten()) {
            match expression.of(body) {
                Ok(text) => fields.extend(text.map(|text| (field, text))),
                Err(why) => reasons.push(FieldError::new(&field.0, why)),
            }
        }
        if !reasons.is_empty() {
            return ReadBody::Unmapped(reasons);
        }
        if fields.is_empty() {
            return unmapped("no field of the map has a value: write the map of this source");
        }
        match own_kind.or(*kind).unwrap_or_default().truth() {
            None => ReadBody::Alert(fields.into_iter().map(|(field, text)| (field.0.clone(), text)).collect()),
            Some(kind) => {
                let cells = fields.iter().filter_map(|(field, text)| Some((field.report_name()?, text.as_str())));
                TruthReport::of_cells(kind, cells)
                    .map_or_else(|error| ReadBody::Unmapped(vec![error]), |report| ReadBody::Report(Box::new(report)))
            }
        }
    }
}

fn holds(conditions: &EventConditions, body: &Value) -> bool {
    conditions.iter().all(|(path, OneOf(allowed))| {
        path.scalar(body).is_some_and(|text| allowed.iter().any(|allowed| allowed.eq_ignore_ascii_case(&text)))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::domain::TruthKind;

    fn form(text: &str) -> SourceForm {
        toml::from_str(text).unwrap()
    }

    fn read(form: SourceForm, body: &Value) -> ReadBody {
        form.reader().unwrap().1.read(body)
    }

    /// Fields by name, of a body that was mapped.
    fn mapped(form: SourceForm, body: &Value) -> BTreeMap<String, String> {
        match read(form, body) {
            ReadBody::Alert(fields) => fields.into_iter().collect(),
            other => panic!("{other:?}"),
        }
    }

    fn reported(form: SourceForm, body: &Value) -> TruthReport {
        match read(form, body) {
            ReadBody::Report(report) => *report,
            other => panic!("{other:?}"),
        }
    }

    const OWN: &str = "
        signature = 'sha512'
        when = { type = ['alert.created', 'alert.updated'], live = true }
        map = { provider = \"='ETHOCA'\", providerId = 'data.id', amount = 'data.cents | minor(data.currency)' }
    ";

    #[test]
    fn a_body_is_mapped_where_every_condition_holds() {
        let body =
            json!({"type": "Alert.Created", "live": true, "data": {"id": "A-1", "cents": 100, "currency": "eur"}});

        let fields = mapped(form(OWN), &body);

        let expected = [("amount", "1.00"), ("provider", "ETHOCA"), ("providerId", "A-1")];
        assert_eq!(fields, expected.map(|(name, text)| (name.to_owned(), text.to_owned())).into());
    }

    #[rstest]
    #[case(json!({"type": "alert.deleted", "live": true}))]
    #[case(json!({"type": "alert.created", "live": false}))]
    #[case(json!({"type": ["alert.created"], "live": true}))]
    #[case(json!({"live": true}))]
    fn what_the_conditions_do_not_ask_for_is_ignored(#[case] body: Value) {
        assert_eq!(read(form(OWN), &body), ReadBody::Ignored);
    }

    #[rstest]
    #[case(json!([]))]
    #[case(json!(null))]
    #[case(json!([{"type": "alert.created", "live": true}]))]
    fn what_is_no_object_is_not_ignored_but_unmapped(#[case] body: Value) {
        let ReadBody::Unmapped(reasons) = read(form(OWN), &body) else { panic!("not unmapped") };

        assert_eq!(reasons[0].to_string(), "the body is no object");
    }

    #[test]
    fn every_field_that_cannot_be_made_is_told() {
        let body =
            json!({"type": "alert.created", "live": true, "data": {"id": {}, "cents": "1.5", "currency": "EUR"}});

        let ReadBody::Unmapped(reasons) = read(form(OWN), &body) else { panic!("mapped") };

        let words: Vec<String> = reasons.iter().map(|reason| format!("{} {}", reason.field, reason.message)).collect();
        assert_eq!(
            words,
            [
                "amount is \"1.5\": a whole number of minor units is needed",
                "providerId data.id is an object: a text or a number is needed"
            ]
        );
    }

    #[test]
    fn the_first_kind_of_event_that_fits_makes_its_fields_beside_the_common_ones() {
        let text = "
            signature = 'basic'
            map = { provider = \"='ETHOCA'\", type = \"='COMMON'\" }
            [[events]]
            when = { kind = 'a' }
            map = { type = \"='A'\" }
            [[events]]
            when = { kind = ['a', 'b'] }
            map = { issuer = 'bank' }
        ";
        let of = |kind: &str| mapped(form(text), &json!({"kind": kind, "bank": "HSBC"}));

        assert_eq!((of("a")["type"].as_str(), of("a").get("issuer")), ("A", None));
        assert_eq!((of("b")["type"].as_str(), of("b")["issuer"].as_str()), ("COMMON", "HSBC"));
        assert!(matches!(read(form(text), &json!({"kind": "c"})), ReadBody::Unmapped(_)));
    }

    #[test]
    fn events_of_another_kind_than_the_sources_become_reports_by_their_own_fields_alone() {
        let text = "
            signature = 'basic'
            map = { provider = \"='ETHOCA'\", amount = 'cents | minor(currency)', currency = 'currency' }
            [[events]]
            when = { type = 'alert' }
            [[events]]
            kind = 'refund'
            when = { type = 'refund' }
            map = { id = 'id', status = 'state', transaction_id = 'charge' }
        ";
        let body = json!({"type": "refund", "id": "re_1", "state": "succeeded", "charge": "ch_1", "cents": 1,
            "currency": "EUR"});

        let report = reported(form(text), &body);

        let expected = TruthReport {
            kind: TruthKind::Refund,
            id: "re_1".to_owned(),
            status: Some("succeeded".to_owned()),
            transaction_id: Some("ch_1".to_owned()),
            ..TruthReport::default()
        };
        assert_eq!(report, expected);
        let wrong = text.replace("transaction_id", "transactionId");
        assert!(
            form(&wrong).reader().unwrap_err().contains("\"transactionId\" is no field of events of the kind refund")
        );
    }

    #[test]
    fn each_value_of_an_array_of_events_is_an_event_of_its_own() {
        let (_, reader) = form("signature = 'basic'\neach = 'a.items'\nsent = 'at | unix'").reader().unwrap();
        let of = |items: Value| json!({"at": 1_763_672_592, "a": {"items": items, "b": 1}});

        assert_eq!(reader.events(of(json!([1, {"c": 2}]))), [of(json!([1])), of(json!([{"c": 2}]))]);
        for whole in [of(json!([])), of(json!("none")), json!(null)] {
            assert_eq!(reader.events(whole.clone()), [whole]);
        }
        assert_eq!(reader.sent_at(&of(json!([]))).map(|at| at.timestamp()), Some(1_763_672_592));
        assert_eq!(reader.sent_at(&json!({"at": "noon"})), None);
    }

    #[test]
    fn the_settings_change_single_conditions_and_fields_of_a_preset() {
        let own = form("window = '3d'\nmap = { provider = \"='OTHER'\" }\nwhen = { livemode = true }");
        let preset = SourceForm::preset("justt").unwrap().with(own);
        let body = |live: bool| {
            json!({"type": "pre_chargeback_alert.received", "livemode": live, "data": {
                "provider": "Ethoca", "alertType": "issuer_alert", "providerAlertId": "A-1"}})
        };

        let fields = mapped(preset.clone(), &body(true));

        assert_eq!((fields["provider"].as_str(), fields["type"].as_str()), ("OTHER", "ETHOCA_CONFIRMED_FRAUD"));
        assert_eq!(read(preset.clone(), &body(false)), ReadBody::Ignored);
        assert_eq!(preset.reader().unwrap().1.window(), Some(TimeDelta::days(3)));
    }

    #[test]
    fn every_preset_is_read_and_those_without_a_map_leave_their_events_unmapped() {
        let bodies = [
            ("chargeblast", json!({"id": "1", "alertId": "A"})),
            ("whop", json!({"type": "dispute_alert.created"})),
            ("chargebackstop", json!({"type": "alert.created", "id": "1"})),
            ("chargeflow", json!({"id": "1"})),
        ];

        for (name, _) in PRESETS {
            SourceForm::preset(name).unwrap().reader().unwrap();
        }
        for (name, body) in bodies {
            assert!(matches!(read(SourceForm::preset(name).unwrap(), &body), ReadBody::Unmapped(_)), "{name}");
        }
        assert!(SourceForm::preset("square").unwrap_err().contains("one of justt, chargeblast"));
        assert!(SourceForm::default().reader().unwrap_err().contains("one of standard, stripe, sha512"));
    }

    /// The example of Justt's public description.
    fn justt() -> Value {
        json!({"type": "pre_chargeback_alert.received", "timestamp": "2022-03-15T09:39:24.514Z", "data": {
            "alertTimestamp": "2025-01-02T03:04:05Z", "alertType": "issuer_alert", "type": "Fraud",
            "arn": "12345678901234567890123", "authorizationCode": "301008",
            "internalAlertId": "8a979c83-9a9b-4e2a-9a4a-1a2b3c4d5e6f", "provider": "Ethoca",
            "providerAlertId": "ALERT-987654", "merchantDescriptor": "Dennis Windows",
            "transaction": {"transactionId": "txn_00123456789", "amount": 123.45, "currency": "USD",
                "card": {"bin": "411111", "last4": "1234"}, "timestamp": "2025-01-02T03:04:05Z"}}})
    }

    #[rstest]
    #[case("Ethoca", "issuer_alert", "Fraud", "ETHOCA", "ETHOCA_CONFIRMED_FRAUD")]
    #[case("ethoca", "customerdispute_alert", "Dispute", "ETHOCA", "ETHOCA_CUSTOMER_DISPUTE")]
    #[case("verifi", "customerdispute_alert", "Dispute", "CDRN", "VERIFI_DISPUTE")]
    #[case("verifi", "issuer_alert", "RDR", "VERIFI", "VERIFI_DISPUTE_NOTICE")]
    #[case("Verifi RDR", "issuer_alert", "Fraud", "VERIFI", "VERIFI_DISPUTE_NOTICE")]
    fn justts_networks_become_ours(
        #[case] network: &str,
        #[case] alert_type: &str,
        #[case] kind: &str,
        #[case] provider: &str,
        #[case] ours: &str,
    ) {
        let mut body = justt();
        body["data"]["provider"] = network.into();
        body["data"]["alertType"] = alert_type.into();
        body["data"]["type"] = kind.into();

        let fields = mapped(SourceForm::preset("justt").unwrap(), &body);

        assert_eq!((fields["provider"].as_str(), fields["type"].as_str()), (provider, ours));
        assert_eq!((fields["providerId"].as_str(), fields["amount"].as_str()), ("ALERT-987654", "123.45"));
    }

    #[test]
    fn a_network_that_justts_preset_does_not_know_is_no_reason_to_ignore_an_alert() {
        let mut body = justt();
        body["data"]["provider"] = "new".into();

        assert!(matches!(read(SourceForm::preset("justt").unwrap(), &body), ReadBody::Unmapped(_)));
    }

    #[test]
    fn a_card_number_in_a_field_that_decides_is_masked_before_it_is_cut() {
        let mut body = justt();
        body["data"]["alertType"] = json!(format!("{}4111111111111111", "x".repeat(50)));

        let ReadBody::Unmapped(reasons) = read(SourceForm::preset("justt").unwrap(), &body) else { panic!("mapped") };

        assert!(!reasons.iter().any(|reason| reason.to_string().contains("4111111")), "{reasons:?}");
    }

    #[rstest]
    #[case(json!("weird"), "data.alertType is \"weird\": no kind of event has it with the others here")]
    #[case(json!(null), "data.alertType is missing: no kind of event has it with the others here")]
    fn an_event_that_fits_no_kind_names_what_decides_and_fits_a_map_of_ones_own(
        #[case] alert_type: Value,
        #[case] words: &str,
    ) {
        let mut body = justt();
        body["data"]["alertType"] = alert_type;
        let preset = SourceForm::preset("justt").unwrap();
        let own = "map = { provider = \"='ETHOCA'\", type = \"='ETHOCA_CONFIRMED_FRAUD'\" }";

        let ReadBody::Unmapped(reasons) = read(preset.clone(), &body) else { panic!("not unmapped") };
        let fields = mapped(preset.with(form(own)), &body);

        assert!(reasons.iter().any(|reason| reason.to_string() == words), "{reasons:?}");
        assert_eq!(
            (fields["type"].as_str(), fields["providerId"].as_str()),
            ("ETHOCA_CONFIRMED_FRAUD", "ALERT-987654")
        );
    }

    #[rstest]
    #[case(true, "EARLY_FRAUD_WARNING")]
    #[case(false, "EARLY_FRAUD_NOTICE")]
    fn stripes_warning_is_an_alert_or_a_notice(#[case] actionable: bool, #[case] alert_type: &str) {
        let charge = json!({"id": "ch_1", "amount": 100, "currency": "isk",
            "payment_method_details": {"card": {"last4": "4242"}}});
        let body = json!({"id": "evt_1", "type": "radar.early_fraud_warning.created", "data": {"object": {
            "id": "issfr_1", "actionable": actionable, "charge": charge, "created": 1_763_672_592,
            "fraud_type": "misc"}}});

        let fields = mapped(SourceForm::preset("stripe").unwrap(), &body);

        assert_eq!((fields["provider"].as_str(), fields["type"].as_str()), ("STRIPE", alert_type));
        assert_eq!((fields["amount"].as_str(), fields["currency"].as_str()), ("1.00", "ISK"));
        assert_eq!((fields["transactionId"].as_str(), fields["cardLastFour"].as_str()), ("ch_1", "4242"));
    }

    /// The fields of a report but its time.
    fn said(report: &TruthReport) -> String {
        let TruthReport { kind, id, reference, network, arn, transaction_id, order_id, reason, status, .. } = report;
        let money = report.money().map(|money| money.to_string());
        let texts = [reference, network, arn, transaction_id, order_id, &money, reason, status];
        let texts: Vec<&str> = texts.into_iter().flatten().map(String::as_str).collect();
        format!("{} {id} {}", kind.as_str(), texts.join(" "))
    }

    fn item(event_code: &str) -> Value {
        json!({"live": "false", "notificationItems": [{"NotificationRequestItem": {
            "additionalData": {"arn": "74112900000000000000001"}, "amount": {"currency": "EUR", "value": 1000},
            "eventCode": event_code, "eventDate": "2026-03-01T10:00:00+01:00", "merchantReference": "Order-1",
            "originalReference": "PAY1", "paymentMethod": "mc", "pspReference": "PSP1", "reason": "Fraud",
            "success": "true"}}]})
    }

    fn stripe(kind: &str, object: &Value) -> Value {
        json!({"id": "evt_1", "type": kind, "created": 1_763_672_592, "data": {"object": object}})
    }

    #[rstest]
    #[case(
        "adyen",
        item("CHARGEBACK"),
        "dispute PSP1 mc 74112900000000000000001 PAY1 Order-1 10.00 EUR Fraud chargeback"
    )]
    #[case(
        "adyen",
        item("NOTIFICATION_OF_FRAUD"),
        "fraud PSP1 mc 74112900000000000000001 PAY1 Order-1 10.00 EUR Fraud"
    )]
    #[case("shopify", json!({"id": 285_332_461_i64, "order_id": 625_362_839, "type": "chargeback", "amount": "11.50",
        "currency": "USD", "reason": "fraudulent", "network_reason_code": "4837", "status": "won",
        "initiated_at": "2026-03-01T10:00:00+01:00"}), "dispute 285332461 625362839 11.50 USD 4837 won")]
    #[case("stripe", stripe("charge.dispute.closed", &json!({"id": "dp_1", "charge": "ch_1", "amount": 100,
        "currency": "isk", "reason": "fraudulent", "status": "lost", "created": 1_763_672_592})),
        "dispute dp_1 ch_1 1 ISK fraudulent lost")]
    #[case("stripe", stripe("refund.failed", &json!({"id": "re_1", "charge": "ch_1", "amount": 100, "currency": "eur",
        "status": "canceled", "created": 1_763_672_592,
        "destination_details": {"card": {"reference": "74112900000000000000001"}}})),
        "refund re_1 74112900000000000000001 ch_1 1.00 EUR failed")]
    fn disputes_fraud_reports_and_refunds_become_reports(
        #[case] preset: &str,
        #[case] body: Value,
        #[case] words: &str,
    ) {
        let report = reported(SourceForm::preset(preset).unwrap(), &body);

        assert_eq!(said(&report), words);
        assert!(report.at.is_some());
    }

    #[rstest]
    #[case("signature = 'standard'", Some("msg_1"))]
    #[case("signature = 'stripe'", Some("evt_1"))]
    #[case("signature = 'shopify'", Some("b-1"))]
    #[case("signature = 'adyen'", Some("PSP CHARGEBACK"))]
    #[case("signature = 'sha512'", None)]
    #[case("signature = 'basic'\nevent = 'header:Webhook-Id + id'", Some("msg_1 evt_1"))]
    #[case("signature = 'basic'\nevent = 'absent'", None)]
    fn the_senders_id_is_where_its_scheme_or_the_settings_put_it(#[case] text: &str, #[case] id: Option<&str>) {
        let body = json!({"id": "evt_1",
            "notificationItems": [{"NotificationRequestItem": {"pspReference": "PSP", "eventCode": "CHARGEBACK"}}]});
        let header = |name: &str| match name {
            "webhook-id" => Some("msg_1"),
            "x-shopify-webhook-id" => Some("b-1"),
            _ => None,
        };

        assert_eq!(form(text).reader().unwrap().1.event_id(&body, header).as_deref(), id);
    }

    #[rstest]
    #[case("signature = 'md5'", "\"md5\" is not allowed: one of standard, stripe")]
    #[case("window = '72'", "\"72\" is no window: up to a year, such as 72h, 90m or 3d")]
    #[case("window = '0h'", "is no window")]
    #[case("window = '400d'", "is no window")]
    #[case("map = { providerID = 'id' }", "\"providerID\" is no field that can be mapped")]
    #[case("map = { providerId = 'id | shout' }", "\"shout\" is no function")]
    #[case("when = { type = {} }", "a text, a number, true or false is needed")]
    #[case("when = { 'a b' = 1 }", "\"a b\" is no path")]
    #[case("colour = 1", "unknown field `colour`")]
    fn what_is_no_source_is_refused_in_words(#[case] text: &str, #[case] words: &str) {
        let error = toml::from_str::<SourceForm>(text).unwrap_err().to_string();

        assert!(error.contains(words), "{error}");
    }

    #[rstest]
    #[case("stripe-eu", true)]
    #[case("A1", true)]
    #[case("", false)]
    #[case("a b", false)]
    #[case("a/b", false)]
    #[case("ä", false)]
    fn a_name_is_part_of_a_route(#[case] name: &str, #[case] is_valid: bool) {
        assert_eq!(valid_name(name).is_ok(), is_valid);
    }

    proptest! {
        #[test]
        fn no_body_breaks_a_preset(text in "\\PC{0,20}", number in any::<i64>(), at in 0..PRESETS.len()) {
            let (_, reader) = SourceForm::preset(PRESETS[at].0).unwrap().reader().unwrap();
            let charge = json!({"amount": number, "currency": text});
            let data = json!({"object": {"id": text, "created": number, "charge": charge}});
            let body = json!({"type": "radar.early_fraud_warning.created", "id": number, "data": data});

            reader.read(&body);
            reader.event_id(&body, |_| None);
        }
    }
}
