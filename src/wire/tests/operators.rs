//! The operations of avert's own routes for operators.

use std::num::NonZeroU64;

use serde_json::json;

use super::{
    derived::Derived,
    interface::filtered,
    operation::{Operation, whole},
    schemas::{moment, named, uuid},
};
use crate::{
    Dialect,
    domain::{
        DeliveryState, MAX_PAGE_SIZE,
        calendar::MOST_MINUTES,
        find::{LONGEST_SEARCH, MOST_FOUND},
        truth::HELD_DAYS,
    },
    operator::{
        AlertRefundJson, AttemptDecisionJson, AttemptJson, AuditEntryJson, ChangeJson, CompanyJson,
        ContradictedAnswerJson, CountsJson, CreatedCredentialJson, CreatedEndpointJson, CredentialJson,
        CurrencySumJson, DeliveryJson, DeliveryLogJson, DeliveryPageJson, EndpointChangeJson, EndpointJson,
        HeldCountJson, IndexJson, IngestReportJson, InsightsJson, ListJson, MOST_HOURS, NewEndpointJson, NewKeyJson,
        NewRefundJson, NewReportsJson, NewSalesJson, NewSecretJson, PageJson, RedeliveredJson, RefundProofJson,
        RuleJson, SalesCountJson, SourceJson, TruthCountsJson,
    },
};

/// Every operation of operators.
pub(super) fn all(derived: &mut Derived) -> Vec<Operation> {
    let operator = Operation::operator;
    // Rows are taken one by one: an array is refused where nothing in it is an alert, however wrong.
    let rows = json!({"type": "array", "items": {}, "anyOf": [{"maxItems": 0}, {"contains": {"type": "object"}}]});
    let states = json!({"type": "array", "items": {"type": "string",
        "enum": DeliveryState::ALL.map(DeliveryState::as_str)}, "minItems": 1});
    // Something has to be left where blanks, and what stands for the hidden digits of a card, are taken away.
    let searched = json!({
        "type": "string", "maxLength": LONGEST_SEARCH, "pattern": "[^\\s\\u0000-\\u001f\\u007f-\\u009f,;•·…*]",
    });
    let asked_ids = json!({"type": "array", "items": uuid(), "minItems": 1, "maxItems": MAX_PAGE_SIZE});
    vec![
        operator("get", "", "getIndex", "Which routes there are").json(
            200,
            derived.answer::<IndexJson>(),
            "The service and its routes",
        ),
        operator("post", "/alerts", "takeAlertsIn", "Takes alerts in: one, an array, a page, or one a line")
            .query(
                "events",
                json!({"type": "boolean"}),
                "Whether alert.created is sent for what is new and waits for \
                an answer",
            )
            .body(
                &[
                    ("application/json", json!({"anyOf": [{"type": "object"}, rows]})),
                    ("application/x-ndjson", json!({"type": "string"})),
                ],
                "The alerts, up to 64 MiB",
            )
            .json(200, derived.answer::<IngestReportJson>(), "What became of them"),
        operator("get", "/endpoints", "listEndpoints", "The webhook endpoints").json(
            200,
            derived.answer::<ListJson<EndpointJson>>(),
            "Oldest first",
        ),
        operator("post", "/endpoints", "addEndpoint", "Adds a webhook endpoint")
            .json_body(derived.body::<NewEndpointJson>(), "Address and credential, and whether deliveries are signed")
            .json(
                201,
                derived.answer::<CreatedEndpointJson>(),
                "The endpoint, without its credential; a signing secret that was made is told this once",
            )
            .link(201, "getEndpoint", "$response.body#/id", "The endpoint")
            .link(201, "changeEndpoint", "$response.body#/id", "Changes it")
            .link(201, "removeEndpoint", "$response.body#/id", "Removes it")
            .refused(409, "The organization has as many endpoints as it may"),
        operator("get", "/endpoints/{id}", "getEndpoint", "One endpoint").id("The endpoint's id").json(
            200,
            derived.answer::<EndpointJson>(),
            "The endpoint",
        ),
        operator("patch", "/endpoints/{id}", "changeEndpoint", "Changes an endpoint, disables or enables it")
            .id("The endpoint's id")
            .json_body(derived.body::<EndpointChangeJson>(), "What is to change")
            .json(200, derived.answer::<EndpointJson>(), "The endpoint as it is now"),
        operator("delete", "/endpoints/{id}", "removeEndpoint", "Removes an endpoint with its credential")
            .id("The endpoint's id")
            .answers(204, "It is removed", &[]),
        operator(
            "post",
            "/endpoints/{id}/redeliver",
            "redeliverExhausted",
            "Resends every failed delivery of an endpoint: exhausted, or cancelled with the endpoint",
        )
        .id("The endpoint's id")
        .json(200, derived.answer::<RedeliveredJson>(), "How many")
        .refused(409, "The endpoint is disabled"),
        operator(
            "post",
            "/endpoints/{id}/test",
            "testEndpoint",
            "Sends an alert.created of a made-up alert, at once \
            and once",
        )
        .id("The endpoint's id")
        .json(200, derived.answer::<DeliveryLogJson>(), "What came of it, taken or not")
        .refused(409, "So many tests of the organization's endpoints are under way that one has to end first"),
        operator("post", "/endpoints/{id}/secret", "rotateSecret", "Signs deliveries with another secret")
            .id("The endpoint's id")
            .json_body(derived.body::<NewSecretJson>(), "The secret, or nothing where one is to be made")
            .json(
                200,
                derived.answer::<CreatedEndpointJson>(),
                "The endpoint; a secret that was made is told this \
                once",
            ),
        operator("delete", "/endpoints/{id}/secret", "removeSecret", "Signs deliveries no more")
            .id("The endpoint's id")
            .json(200, derived.answer::<EndpointJson>(), "The endpoint"),
        operator("get", "/deliveries", "listDeliveries", "Deliveries, newest first")
            .query("state", states, "In one of these states")
            .query("endpoint", uuid(), "To this endpoint")
            .query("alert", uuid(), "Of this alert")
            .query(
                "event",
                json!({"anyOf": [{"type": "string", "enum": ["alert.created", "alert.resolved"]}, uuid()]}),
                "Of this event or kind of event",
            )
            .query("from", moment(), "Events then or later")
            .query("until", moment(), "Events before")
            .query("after", uuid(), "The next of the page before")
            .query("size", whole(1, 100), "Deliveries a page; 10 where it is not given")
            .json(200, derived.answer::<DeliveryPageJson>(), "The page")
            .refused(400, "A parameter is not understood"),
        operator("get", "/deliveries/{id}", "getDelivery", "One delivery with its attempts")
            .id("The delivery's id")
            .json(200, derived.answer::<DeliveryLogJson>(), "The delivery"),
        operator("post", "/deliveries/{id}/redeliver", "redeliver", "Sends a delivery again")
            .id("The delivery's id")
            .json(200, derived.answer::<DeliveryJson>(), "The delivery, due now")
            .refused(409, "The endpoint is disabled"),
        operator("get", "/keys", "listKeys", "The API keys").json(
            200,
            derived.answer::<ListJson<CredentialJson>>(),
            "Oldest first, revoked ones too",
        ),
        operator("post", "/keys", "createKey", "Creates an API key")
            .json_body(derived.body::<NewKeyJson>(), "What the key may do")
            .json(201, derived.answer::<CreatedCredentialJson>(), "The key, told this once"),
        operator("delete", "/keys/{id}", "revokeKey", "Revokes an API key at once").text_id("The key's id").json(
            200,
            derived.answer::<CredentialJson>(),
            "The key",
        ),
        operator("get", "/clients", "listClients", "The client credentials").json(
            200,
            derived.answer::<ListJson<CredentialJson>>(),
            "Oldest first, revoked ones too",
        ),
        operator("post", "/clients", "createClient", "Creates client credentials").json(
            201,
            derived.answer::<CreatedCredentialJson>(),
            "The credentials, the secret told this once",
        ),
        operator("delete", "/clients/{id}", "revokeClient", "Revokes client credentials and their tokens at once")
            .text_id("The client id")
            .json(200, derived.answer::<CredentialJson>(), "The client"),
        operator("get", "/sources", "listSources", "The sources with their counts").json(
            200,
            derived.answer::<ListJson<SourceJson>>(),
            "In the order of their names",
        ),
        operator("get", "/rules", "listRules", "The rules that answer by themselves").json(
            200,
            derived.answer::<ListJson<RuleJson>>(),
            "In the order of the settings",
        ),
        operator(
            "post",
            "/rules/stop",
            "stopRules",
            "Stops all rules that answer by themselves until they are started",
        )
        .answers(204, "They are stopped", &[]),
        operator("post", "/rules/start", "startRules", "Starts all rules that answer by themselves again").answers(
            204,
            "They are started",
            &[],
        ),
        operator("get", "/companies", "listCompanies", "The companies with their enrollments").json(
            200,
            derived.answer::<ListJson<CompanyJson>>(),
            "The companies",
        ),
        operator("get", "/counts", "getCounts", "Alerts by status, provider and day, and money at risk")
            .query(
                "withinHours",
                whole(1, MOST_HOURS.into()),
                "How far ahead money counts as at risk; 24 where it is \
                not given",
            )
            .json(200, derived.answer::<CountsJson>(), "The counts")
            .refused(400, "A parameter is not understood"),
        operator(
            "get",
            "/duplicates",
            "findDuplicates",
            "Alerts on the payments of some alerts, by every fact that \
            tells them",
        )
        .required_query(
            "ids",
            asked_ids.clone(),
            "The ids of the alerts, with commas between them; one that is not there \
                is passed over",
        )
        .json(
            200,
            json!({"type": "object", "required": ["data"], "properties": {"data": {"type": "array",
                    "items": named("Alert")}}}),
            "The alerts that were asked for and all others on their payments, each once",
        )
        .refused(400, "A parameter is not understood"),
        operator(
            "get",
            "/find",
            "findAlerts",
            "Alerts by words in any field: order numbers, references, amounts, \
            names, comments",
        )
        .required_query(
            "q",
            searched,
            "The words, all of which have to match, each in any field; letter case, accents and other forms of \
                    writing are ignored",
        )
        .query("size", whole(1, MOST_FOUND.into()), "How many at most; 20 where it is not given")
        .json(
            200,
            json!({"type": "object", "required": ["data"], "properties": {"data": {"type": "array",
                    "items": named("Alert")}}}),
            "Open alerts first, then better matches, then the soonest due; answered and expired ones behind them, \
                    the newest first",
        )
        .refused(400, "A parameter is not understood"),
        filtered(
            operator("get", "/insights", "getInsights", "Alerts due by hour, by network and type, answered and missed"),
            Dialect::Current,
        )
        .query(
            "utcOffset",
            json!({"type": "integer", "minimum": -MOST_MINUTES, "maximum": MOST_MINUTES}),
            "How many minutes east of UTC the days are; 0 where it is not given",
        )
        .json(200, derived.answer::<InsightsJson>(), "Statistics of the alerts within the filter")
        .refused(400, "A parameter is not understood"),
        filtered(operator("get", "/sums", "getSums", "Count and sum of alerts by currency"), Dialect::Current)
            .json(
                200,
                derived.answer::<ListJson<CurrencySumJson>>(),
                "Those of the alerts within the filter, most \
                alerts first",
            )
            .refused(400, "A parameter is not understood"),
        operator("get", "/attempts", "listAttempts", "Unconfirmed answers").json(
            200,
            derived.answer::<ListJson<AttemptJson>>(),
            "Oldest first",
        ),
        operator("post", "/attempts/{id}/decision", "settleAttempt", "Sets the result of a parked answer")
            .id("The attempt's id")
            .json_body(derived.body::<AttemptDecisionJson>(), "Whether the network applied it")
            .json(200, named("Alert"), "The alert as it is then")
            .refused(409, "The attempt does not wait for a person"),
        operator("get", "/changes", "streamChanges", "Server-sent events, whose id is the change's number")
            .parameter("header", "Last-Event-ID", whole(0, u64::MAX), "Where to go on")
            .answers(
                200,
                "Events without an end, each of this \
                shape",
                &[("text/event-stream", derived.answer::<ChangeJson>())],
            )
            .refused(400, "Last-Event-ID is no number"),
        operator("get", "/audit", "listAudit", "Who changed what, when and from where")
            .query("before", whole(0, u64::MAX), "Entries before this number: the next of the page before")
            .query("size", whole(1, 100), "Entries a page; 10 where it is not given")
            .json(200, derived.answer::<PageJson<AuditEntryJson, NonZeroU64>>(), "Newest first")
            .refused(400, "A parameter is not understood"),
        operator("post", "/reports", "recordReports", "Records disputes, fraud reports and refunds, each once")
            .json_body(derived.body::<NewReportsJson>(), "The reports, at most 64 KiB")
            .json(200, derived.answer::<TruthCountsJson>(), "What became of them"),
        operator("put", "/alerts/{id}/refund", "keepRefund", "Keeps the proof of a refund beside an alert")
            .id("The alert's id")
            .json_body(derived.body::<NewRefundJson>(), "The refund")
            .json(200, derived.answer::<RefundProofJson>(), "The proof as it is kept"),
        operator("get", "/alerts/{id}/refund", "getRefund", "The proof of a refund").id("The alert's id").json(
            200,
            derived.answer::<RefundProofJson>(),
            "The proof",
        ),
        operator("get", "/refunds", "listRefunds", "The proofs of refunds of several alerts")
            .required_query("ids", asked_ids, "The ids of the alerts, with commas between them")
            .json(200, derived.answer::<ListJson<AlertRefundJson>>(), "Those that have one")
            .refused(400, "A parameter is not understood"),
        operator("get", "/held", "listHeld", "Answers, and how many of them were disputed afterwards")
            .query("days", whole(1, HELD_DAYS.into()), "Answers of so many days; 30 where it is not given")
            .json(200, derived.answer::<ListJson<HeldCountJson>>(), "By network, answer, issuer and lead time")
            .refused(400, "A parameter is not understood"),
        operator("get", "/sales", "listSales", "The sales that were entered").json(
            200,
            derived.answer::<ListJson<SalesCountJson>>(),
            "Newest month first",
        ),
        operator("put", "/sales", "enterSales", "Enters the sales of a month on one scheme's cards")
            .json_body(derived.body::<NewSalesJson>(), "The sales, in place of what was entered for their month before")
            .json(200, derived.answer::<SalesCountJson>(), "The sales as they are kept"),
        operator("get", "/contradictions", "listContradictions", "Answers that a later report contradicts").json(
            200,
            derived.answer::<ListJson<ContradictedAnswerJson>>(),
            "Those of 90 days, newest report first, at most 100",
        ),
        operator("delete", "/contradictions/{id}", "dismissContradictions", "Dismisses what contradicts an answer")
            .id("The alert's id")
            .answers(204, "It is dismissed", &[]),
    ]
}
